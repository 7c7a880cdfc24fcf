"""Whether two robots are the same but for names: a match of their parts that keeps numbers and what hangs on what.

A part's colour begins as all that it says but for names. Names that it gives to other parts are links, and colours are
refined by those of linked parts until nothing changes (Weisfeiler and Leman, 1968). Parts that stay alike are tried.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trundle.robot.component import Component
from trundle.robot.parameters import Resolver
from trundle.robot.parts import FAMILIES as ALL_FAMILIES
from trundle.robot.parts import Parts
from trundle.robot.structure import body_names
from trundle.robot.values import Value

# Of numbers, relative: text with a unit and formulas round.
_ROUNDING = 1e-12
# Sensors change nothing.
FAMILIES = [family for family in ALL_FAMILIES if family != "sensors"]
# Fields that name other parts.
_NAMING = frozenset({"parent", "drives", "mounted_on", "battery", "wheels", "joint", "follows", "body"})
# Fields that say nothing of mechanics: names, looks, and whose numbers were taken.
_SILENT = frozenset({"name", "shapes", "as_given", "model", "movement"})


@dataclass(frozen=True)
class _Graph:
    """The parts of a robot: what they say, as keys with words or numbers, and the parts that they name, by role."""

    said: Sequence[tuple[tuple[str, object], ...]]
    links: Sequence[tuple[tuple[str, float, int], ...]]


def same_mechanics(one: Parts, other: Parts) -> bool:
    """Whether two robots differ in names only."""
    graphs = _graph(one), _graph(other)
    if len(graphs[0].said) != len(graphs[1].said):
        return False
    alike = _alike([number for graph in graphs for number in _numbers(graph)])
    first = len(graphs[0].said)
    said = [
        tuple((key, alike[x] if isinstance(x, float) else x) for key, x in words)
        for graph in graphs
        for words in graph.said
    ]
    links = [
        [((role, alike[number]), offset + at) for role, number, at in named]
        for graph, offset in zip(graphs, (0, first), strict=True)
        for named in graph.links
    ]
    return _match(_ranked(said), links, first)


def _graph(robot: Parts) -> _Graph:
    """The base, then every part in the order of the families."""
    resolve = Resolver(robot, robot.own_numbers)
    names = [name for family in FAMILIES for name in getattr(robot, family)]
    index = {"base": 0} | {name: place + 1 for place, name in enumerate(names)}
    index |= {name: index[joint] for name, joint in body_names(robot).items()}
    fed = {motor: battery for battery, motors in robot.fed.items() for motor in motors}
    gravity = zip("xyz", map(float, resolve.gravity()), strict=True)  # type: ignore[arg-type]
    said: list[tuple[tuple[str, object], ...]] = [(("base", robot.base), *gravity, *_body(robot, resolve))]
    links: list[tuple[tuple[str, float, int], ...]] = [()]
    for family in FAMILIES:
        for name, component in getattr(robot, family).items():
            words: list[tuple[str, object]] = [("family", family), ("kind", type(component).__name__)]
            named: list[tuple[str, float, int]] = []
            for key, entry in _entries(component, "", resolve):
                if isinstance(entry, _Naming):
                    owner, _, part = entry.name.partition(".")
                    named.append((f"{key}.{part}", entry.number, index[owner]))
                else:
                    words.append((key, entry))
            if name in fed:
                named.append(("fed", 0.0, index[fed[name]]))
            said.append(tuple(words))
            links.append(tuple(named))
    return _Graph(said, links)


def _body(robot: Parts, resolve: Resolver) -> Iterator[tuple[str, object]]:
    """What the base's body says; a base without one is one without mass."""
    if robot.body is not None:
        yield from ((key, x) for key, x in _entries(robot.body, ".body", resolve) if x != 0.0)


@dataclass(frozen=True)
class _Naming:
    """A part that a field names, and a number that goes with it (a ratio)."""

    name: str
    number: float = 0.0


def _entries(component: Component, path: str, resolve: Resolver) -> Iterator[tuple[str, object]]:
    """The fields of a component and of all components inside it that mean something to mechanics, by their paths."""
    for field in type(component).model_fields:
        inner, at = getattr(component, field), f"{path}.{field}"
        if field in _SILENT or (isinstance(inner, Component) and not inner.in_equations):
            continue
        if isinstance(inner, Component):
            yield from _entries(inner, at, resolve)
        elif field == "battery":
            continue  # what feeds a motor without a word, too, is asked of the robot
        elif field in _NAMING and isinstance(inner, str):
            yield at, _Naming(inner)
        elif field in _NAMING and isinstance(inner, Mapping):
            yield from ((at, _Naming(str(name), float(resolve(ratio)))) for name, ratio in inner.items())
        elif isinstance(inner, tuple):
            for place, entry in enumerate(inner):
                key = f"{at}.{place}"
                yield key, _Naming(entry) if isinstance(entry, str) else float(resolve(entry))
        else:
            yield at, float(resolve(inner)) if isinstance(inner, Value) else inner


def _numbers(graph: _Graph) -> Iterator[float]:
    yield from (x for words in graph.said for _, x in words if isinstance(x, float))
    yield from (number for named in graph.links for _, number, _ in named)


def _alike(numbers: Sequence[float]) -> dict[float, float]:
    """For every number the least of those that are the same but for rounding."""
    found: dict[float, float] = {}
    before = -math.inf
    for number in sorted(set(numbers)):
        same = math.isclose(number, before, rel_tol=_ROUNDING)
        found[number] = found[before] if same else number
        before = number
    return found


def _ranked(said: Sequence[object]) -> list[int]:
    """A whole number for every distinct thing."""
    ranks: dict[object, int] = {}
    return [ranks.setdefault(each, len(ranks)) for each in said]


def _refined(colours: list[int], links: Sequence[Sequence[tuple[object, int]]]) -> list[int]:
    """Colours told apart by those of what parts name and of what names them, until nothing changes."""
    while True:
        around: list[list[tuple[str, object, int]]] = [[] for _ in colours]
        for place, named in enumerate(links):
            for role, at in named:
                around[place].append(("to", role, colours[at]))
                around[at].append(("from", role, colours[place]))
        seen = zip(colours, around, strict=True)
        new = _ranked([(colour, tuple(sorted(near, key=repr))) for colour, near in seen])
        if len(set(new)) == len(set(colours)):
            return new
        colours = new


def _match(colours: list[int], links: Sequence[Sequence[tuple[object, int]]], first: int) -> bool:
    """Whether the first so many parts match the others; of parts that stay alike one is told apart and tried."""
    colours = _refined(colours, links)
    ours, theirs = Counter(colours[:first]), Counter(colours[first:])
    if ours != theirs:
        return False
    alike = next((colour for colour, count in ours.items() if count > 1), None)
    if alike is None:
        return True
    mine, fresh = colours.index(alike), max(colours) + 1
    others = [place for place in range(first, len(colours)) if colours[place] == alike]
    return any(
        _match([fresh if place in (mine, other) else c for place, c in enumerate(colours)], links, first)
        for other in others
    )

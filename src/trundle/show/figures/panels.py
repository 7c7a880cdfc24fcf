"""What the figures of values over time show: curves sorted into panels. The curves of a panel share its axes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import parse
from trundle.errors import InputError
from trundle.mechanics.quantities import UNSEEN
from trundle.results import Run
from trundle.results.between import further_points
from trundle.results.columns import with_angles
from trundle.results.run import STATES
from trundle.robot import Robot, units
from trundle.show.figures.looks import driven_part, fixed_places, places
from trundle.show.figures.style import COLOURS, unit_label
from trundle.show.verdicts import RunVerdict, verdicts

# More lines than this in one panel cannot be told apart; the rest goes to a further panel.
_MOST_LINES = 8
# What varies by less than this, of the largest value beside it and at most of 1 in its unit, is no motion to be shown.
_NO_MOTION = 1e-4
# Curves that begin nearer to 0 than this (m, J) are shown as they are.
_AFAR = 100.0
_FROM_AFAR = unit_label("position", "m"), unit_label("energy", "J")
_MEASURES = (
    units.ANGLE, units.SPEED, units.RATE, units.CURRENT, units.VOLTAGE, units.TORQUE, units.FORCE, units.POWER,
    units.TEMPERATURE,
)  # fmt: skip
_QUANTITIES = {measure.unit: measure.name for measure in _MEASURES} | {"m": "position", "J": "energy"}
# Loads by body mass.
_QUANTITIES |= {"N m/kg": "torque", "N/kg": "force", "W/kg": "power"}
# What has no unit, by which of its owner's numbers it is.
_RATIOS = {"charge": "charge (1 is full)"}
ENERGIES = {
    "energy.work": "work put in",
    "energy.losses": "losses",
    "energy.stored": "stored",
    "energy.kinetic": "kinetic",
    "energy.potential": "potential",
    "energy.internal": "in springs and coils",
}
# What the motors of a panel drive, where those of others drive something else.
_DRIVEN = {"spin": "drives", "steering": "steering", "joint": "joints"}
# What a column of a wheel's panels shows, by the kinds of its curves.
_AT_CONTACTS = {"load": "force", "ground": "force", "slip": "slip", "use": "force / (μ load)"}
# Places in the palette: of loads and the use of friction, beside what is along and across; and of what dashes mean.
_PLACES, _GREY = {"load": 0, "use": 3}, 6
# Between what a curve is and the ground that it is on.
_ON = " on "


@dataclass(frozen=True)
class Panel:
    """Curves of one unit by their names.

    `title` stands above the panel, "" for none. `least` is the smallest range that is worth an axis: curves that vary
    less are shown as flat lines. `log` puts the magnitudes on a logarithmic axis. `limits` are values that the curves
    are held against, drawn across where they leave the curves readable. `bands` has the lower and upper edge of the
    spread around curves that are means. `reach` are values that the axis shows in any case, as panels beside it do.
    `between` has times and values (2, k) that curves run through between their samples. `labels` says what legends call
    curves whose names are longer, `fixed` which have places in the palette.
    """

    title: str
    label: str
    curves: Mapping[str, FloatArray]
    least: float = 0.0
    log: bool = False
    limits: tuple[float, ...] = ()
    reach: tuple[float, ...] = ()
    bands: Mapping[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    between: Mapping[str, FloatArray] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)

    @property
    def places(self) -> dict[str, int]:
        """The curves' places in the palette."""
        return places(self.curves, self.fixed)


@lru_cache(maxsize=4)
def described(text: str) -> Robot:
    """The robot of a description, as runs carry it."""
    return parse(text, maps={}).robot


def states(run: Run) -> list[Panel]:
    """Panels of coordinates, speeds, currents, batteries, what controllers do, and further states.

    The base's speeds stand with the others. Currents are shown whether they are states or outputs.
    """
    groups = {group: with_angles(run.groups[group], run) for group in STATES}
    groups["speeds"] = list(dict.fromkeys((*run.base_speeds, *groups["speeds"])))
    further = groups.pop("currents")
    groups["currents"] = [
        name for name, unit in run.units.items() if unit == "A" and name in (*further, *run.groups["outputs"])
    ]
    outputs = run.groups["outputs"]
    commands = [name for name in outputs if run.column(name).kind == "command"]
    groups["batteries"] = [name for name in outputs if run.units.get(name) == "V" and name not in commands]
    groups["batteries"] += [name for name in further if run.column(name).what in _RATIOS]
    groups["commands"] = commands
    robot = robot_of(run)
    controllers = () if robot is None else robot.controllers
    groups["controllers"] = [name for name in outputs if run.column(name).owner in controllers]
    groups["further states"] = [name for name in seen(run, further) if name not in chain(*groups.values())]
    return [panel for group, names in groups.items() for panel in by_kind(run, names, group)]


def inputs(run: Run) -> list[Panel]:
    """Panels of the inputs."""
    return by_kind(run, seen(run, run.groups["inputs"]))


def seen(run: Run, names: Iterable[str]) -> list[str]:
    """Those names that people look at."""
    return [name for name in names if run.column(name).kind not in UNSEEN]


def checks(run: Run) -> list[Panel]:
    """Residuals and the energy balance, as far as the run holds them."""
    judged = [_judged(run, each) for each in verdicts(run) if each.of in run]
    energies = {label: run[name] for name, label in ENERGIES.items() if name in run}
    # The potential energy of a robot on level ground, say, is rounding throughout and would only hide the axis.
    least = 1e-9 * max(map(_largest, energies.values()), default=0.0)
    energies = {label: values for label, values in energies.items() if _largest(values) > least}
    if not energies:
        return judged
    label, further = unit_label("energy", run.units.get("energy.work", "J")), _further(run, ENERGIES)
    told = {ENERGIES[name]: points for name, points in further.items() if ENERGIES[name] in energies}
    return [*judged, Panel("energy", label, energies, between=told)]


def _judged(run: Run, check: RunVerdict) -> Panel:
    """A check over time, with what it is held against; energies that a step makes or loses add up."""
    unit, name = run.units.get(check.of, ""), check.of
    title = ": ".join(filter(None, (check.name, check.value, check.verdict)))
    adds_up = name.startswith("energy.made")
    label = unit_label("energy" if adds_up else f"|{name.rpartition('.')[2]}|".replace("_", " "), unit)
    reach = check.bounds if adds_up else ()
    return Panel(title, label, {name: run[name]}, log=not adds_up, limits=check.bounds, reach=reach)


def contacts(run: Run) -> list[Panel]:
    """Panels of what the wheels do on the ground, one a wheel for slips, forces and the use of friction.

    Panels of a wheel have its name for a title, those of one label share their axis. Wheels that don't slip show the
    forces that hold them. Where a wheel may touch several grounds a curve is seen while it bears on its own.
    """
    curves, panels = list(_contact_curves(run)), []
    wheels = list(dict.fromkeys(each.wheel for each in curves))
    for label in dict.fromkeys(each.label for each in curves):
        column = [each for each in curves if each.label == label]
        between = _further(run, [each.name for each in column])
        reach = ends(np.concatenate([*(each.values for each in column), *(at[1] for at in between.values())]))
        unit = run.units.get(column[0].name, "")
        alike = [_largest(values) for name, values in run.values.items() if run.units.get(name, "") == unit]
        least = _NO_MOTION * min(1.0, max(alike, default=1.0))
        for wheel in dict.fromkeys(each.wheel for each in column):
            here = {each.name: each for each in column if each.wheel == wheel}
            panel = Panel(
                wheel, label, {name: each.values for name, each in here.items()}, least, reach=reach,
                between=_further(run, here), labels={name: each.what for name, each in here.items()},
                fixed={name: each.place for name, each in here.items()},
            )  # fmt: skip
            panels.append(panel)
    return sorted(panels, key=lambda panel: wheels.index(panel.title))


def contact_legend(run: Run) -> dict[str, int]:
    """What colours mean in panels of contacts, and dashes where wheels touch several grounds: places in the palette."""
    whats, grounds = dict[int, dict[str, None]](), dict[str, int]()
    for each in _contact_curves(run):
        what, _, ground = each.what.partition(_ON)
        rounds = each.place // len(COLOURS)
        whats.setdefault(each.place % len(COLOURS), {})[what] = None
        grounds |= {f"on {ground}": _GREY + rounds * len(COLOURS)} if ground else {}
    return {", ".join(names): colour for colour, names in sorted(whats.items())} | grounds


class _ContactCurve(NamedTuple):
    """What a wheel does on the ground: its name, its panel, what it is, its place in the palette."""

    name: str
    wheel: str
    label: str
    what: str
    place: int
    values: FloatArray


def _contact_curves(run: Run) -> Iterator[_ContactCurve]:
    """Slips, loads and forces, and the use of friction, wheel by wheel; of wheels that don't slip forces alone.

    Of a ground among several there is no curve while it bears nothing.
    """
    loads = {run.column(name).owner: run[name] for name in _of_kinds(run, "load")}
    apart = {owner.rpartition(".")[0] for owner in loads} & set(loads)
    every = [(name, *run.column(name), run[name]) for name in _of_kinds(run, "slip", "load", "ground")]
    every = every if slips(run) else [each for each in every if each[3] == "ground"]
    for owner, values in friction_use(run).items():
        every.append((f"friction in use of {owner}", owner, "friction in use", "use", values))
    seen, grounds = Counter[tuple[str, str]](), dict[str, int]()
    for name, owner, what, kind, values in every:
        seen[owner, kind] += 1
        place, says = _PLACES.get(kind, seen[owner, kind]), what.replace("_", " ")
        wheel, _, ground = owner.rpartition(".")
        if wheel in apart:
            place += len(COLOURS) * grounds.setdefault(ground, len(grounds))
            says, values = f"{says}{_ON}{ground}", np.where(loads[owner] > 0, values, np.nan)
        if owner not in apart:
            label = unit_label(_AT_CONTACTS[kind], run.units.get(name, ""))
            yield _ContactCurve(name, wheel if wheel in apart else owner, label, says, place, values)


def loads(run: Run) -> list[Panel]:
    """Net moments and powers of joints, of a run that motion was measured for."""
    net = [name for name in run.groups["outputs"] if run.column(name).what.partition("_")[0] == "net"]
    if not net:
        return []
    joints = {run.column(name).owner for name in net}
    powers = [part["power"] for owner, part in run.parts.items() if owner in joints and "power" in part]
    return [
        panel
        for title, every in (("net moments and forces", net), ("powers that joints put in", powers))
        for part, named in _alike(run, every).items()
        for panel in by_kind(run, named, f"{title}: {part}".removesuffix(": "), by_owner=True)
    ]


def _alike(run: Run, names: Sequence[str]) -> dict[str, list[str]]:
    """Values of many joints by what their joints' names begin with, so that both hips are seen together."""
    if len(names) <= _MOST_LINES:
        return {"": list(names)}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(run.column(name).owner.partition("_")[0], []).append(name)
    return groups


# The figures of values over time by their names; a run without what they show has none.
OVER_TIME = {"states": states, "inputs": inputs, "contacts": contacts, "loads": loads, "checks": checks}


def over_time(run: Run, what: str, names: Sequence[str] = ()) -> list[Panel]:
    """The panels of one of these figures, or of the values of these names."""
    return by_kind(run, names) if names else OVER_TIME[what](run)


def slips(run: Run) -> bool:
    """Whether a wheel of the run can slip."""
    return bool(_of_kinds(run, "slip"))


def _of_kinds(run: Run, *kinds: str) -> list[str]:
    """The values of these kinds, in the kinds' order."""
    return [name for kind in kinds for name in run.values if run.column(name).kind == kind]


def friction_use(run: Run) -> dict[str, FloatArray]:
    """|F| / (μ N) of the wheels that slip by a coefficient: 1 where all the friction that the load gives is used."""
    if "yaml" not in run.description:
        return {}
    robot, used = described(run.description["yaml"]), {}
    read = robot.resolver({**robot.parameter_values(), **run.description.get("parameters", {})})
    loads = {run.column(load).owner: run[load] for load in _of_kinds(run, "load")}
    for name, load in loads.items():
        # A wheel that touches several grounds has a load and forces with each.
        wheel = robot.wheels.get(name.partition(".")[0])
        parts = [part for part in run.parts[name].values() if run.column(part).kind == "ground"]
        if wheel is not None and wheel.law.pushes and wheel.law.default_counts("friction") and parts:
            force = np.sqrt(sum(np.square(run[part]) for part in parts))
            # Over terrain with regions a run says how much friction there is where the wheel was.
            there = f"{name}.friction"
            grip = load * (run[there] if there in run else float(read(wheel.law.friction)))
            used[name] = np.divide(force, grip, out=np.zeros_like(force), where=grip > 0)
    return used


def by_kind(run: Run, names: Iterable[str], title: str = "", by_owner: bool = False) -> list[Panel]:
    """The values sorted into panels by unit and kind. A group with too many curves is cut into several panels.

    Values that are mere rounding beside the largest of all are shown flat. `by_owner`: legends call curves by their
    owners, as the title says the rest.
    """
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"values are named by text, not by {name!r}", hint='write run.plot.states("x", "theta")'
            )
    kinds = _kinds(run, names)
    largest = max((_largest(curve) for curves in kinds.values() for curve in curves.values()), default=0.0)
    least, fixed = _NO_MOTION * min(1.0, largest), fixed_places(run, robot_of(run))
    owners = (
        {name: run.column(name).owner for curves in kinds.values() for name in curves} if by_owner else {}
    )
    several = len({driven for *_, driven in kinds if driven}) > 1
    panels = []
    for (unit, what, _, driven), curves in kinds.items():
        label = unit_label(_QUANTITIES.get(unit) or _RATIOS.get(what, "value"), unit)
        told = f"{title}: {_DRIVEN[driven]}".removeprefix(": ") if several and driven else ""
        for part in split(curves):
            above, told = told or ("" if panels else title), ""
            panels.append(
                Panel(above, label, part, least, between=_further(run, part), labels=owners, fixed=fixed)
            )
    return panels


def _kinds(run: Run, names: Iterable[str]) -> dict[tuple[str, str, bool, str], dict[str, FloatArray]]:
    """The values by unit, what of their owners they are, whether those are wheels, and what motors drive."""
    robot = robot_of(run)
    wheels, motors = (robot.wheels, robot.motors) if robot is not None else ((), ())
    kinds: dict[tuple[str, str, bool, str], dict[str, FloatArray]] = {}
    for name in names:
        owner, what, _ = run.column(name)
        unit = run.units.get(name, "s" if name == "time" else "")
        driven = driven_part(robot, owner)[1] if robot is not None and owner in motors else ""
        # A wheel's spin soon dwarfs every angle that matters for the path: those of joints and steering stand apart.
        kind = unit, what if owner else "", owner in wheels, driven
        # Speeds of one's own choice (`front.speed`) go with the base's.
        kind = (unit, "", False, "") if what == "speed" else kind
        kinds.setdefault(kind, {})[name] = run[name]
    return kinds


def from_afar(panel: Panel) -> Panel:
    """The panel with curves that are far off, beside what moves in it, less a round number that their labels name.

    So maps' eastings, northings and elevations share an axis, and energies at an elevation.
    """
    if panel.label not in _FROM_AFAR:
        return panel
    moves = max((float(np.ptp(found)) for found in map(ends, panel.curves.values()) if found), default=0.0)
    unit = 10.0 ** math.floor(math.log10(max(moves, _NO_MOTION)))
    starts = {name: found[0] for name, values in panel.curves.items() if (found := ends(values[:1]))}
    bases = {name: round(at / unit) * unit for name, at in starts.items() if abs(at) > max(_AFAR, 10 * moves)}
    if not bases:
        return panel
    return replace(
        panel,
        curves={name: values - bases.get(name, 0.0) for name, values in panel.curves.items()},
        between={name: np.array([at[0], at[1] - bases.get(name, 0.0)]) for name, at in panel.between.items()},
        labels={
            **panel.labels,
            **{name: _less(panel.labels.get(name, name), at) for name, at in bases.items()},
        },
    )


def _less(label: str, base: float) -> str:
    return f"{label} {'+' if base < 0 else '−'} {abs(base):.12g}"


def _further(run: Run, names: Iterable[str]) -> dict[str, FloatArray]:
    """Points of these values between their samples."""
    return {name: further_points(run, name) for name in names if name in run.values}


def split(curves: Mapping[str, FloatArray]) -> list[dict[str, FloatArray]]:
    """The curves in parts that are few enough for a panel."""
    parts = np.array_split(np.array(list(curves)), -(-len(curves) // _MOST_LINES)) if curves else []
    return [{str(name): curves[str(name)] for name in part} for part in parts]


def robot_of(run: Run) -> Robot | None:
    """The robot of a run; None where the description can't be read."""
    try:
        return described(run.description["yaml"])
    except (InputError, KeyError):
        return None


def ends(values: FloatArray) -> tuple[float, ...]:
    """The lowest and the highest of values, none where no value is finite."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else ()


def _largest(array: FloatArray) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else float("nan")

"""Places of wheels that a URDF file rounds, made to agree: one floor for all, steered wheels side by side.

Files from CAD round places and radii to 1e-4 m or so, while a description's agree to 1e-6 m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import cast

from trundle.arrays import Triple
from trundle.documents.urdf.additions import Extension
from trundle.documents.urdf.elements import UrdfData
from trundle.documents.urdf.links import Tree, vector
from trundle.robot import units
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import Value, read_value
from trundle.spatial.motions import transform_point
from trundle.spatial.vectors import add, apply, transpose

# A wheel is moved by at most so much (m), and onto the floor by at most this share of its radius: more is no rounding.
_MOST_MOVED = 1e-3
_MOST_SHARE = 0.05
# Places that are nearer agree (robot/checks.py).
_SAME = 1e-6
# Formulas of parameters over one another are followed so far.
_MOST_STEPS = 20


def with_agreeing_places(
    tree: Tree, extension: Extension, given: Mapping[str, UrdfData]
) -> tuple[Mapping[str, UrdfData], tuple[str, ...]]:
    """What a file says of wheels, at places that agree, and in words which wheels were moved.

    Farther ones stay and are refused elsewhere; so do those whose own keys say where they are.
    """
    if not extension.wheeled:  # feet stand wherever their joints have them
        return given, ()
    placed = [
        wheel.name for wheel in extension.on_joints if "at" not in wheel.data and "parent" not in wheel.data
    ]
    given, moved = _on_one_floor(tree, given, placed, dict(_radii(extension)))
    given, aligned = _side_by_side(extension, given, placed)
    return given, (*moved, *aligned)


def _on_one_floor(
    tree: Tree, given: Mapping[str, UrdfData], placed: Sequence[str], radii: Mapping[str, float]
) -> tuple[Mapping[str, UrdfData], tuple[str, ...]]:
    """Wheels at the height that most touch; of heights that as many touch the one in the middle."""
    touched = {name: _height(tree, given[name]) - radii[name] for name in placed if name in radii}
    if not touched:
        return given, ()
    middle = median(touched.values())
    shared = {z: sum(abs(other - z) < _SAME for other in touched.values()) for z in touched.values()}
    floor = min(shared, key=lambda z: (-shared[z], abs(z - middle)))
    off = {name: floor - z for name, z in touched.items()}
    near = {
        name: up
        for name, up in off.items()
        if _SAME <= abs(up) <= min(_MOST_MOVED, _MOST_SHARE * radii[name])
    }
    if not near:
        return given, ()
    words = ", ".join(f"{name} by {up * 1e3:.2g} mm" for name, up in near.items())
    note = f"wheels that miss the floor z = {floor:.6g} m by rounding were put on it: {words}"
    return {**given, **{name: _lifted(tree, given[name], up) for name, up in near.items()}}, (note,)


def _side_by_side(
    extension: Extension, given: Mapping[str, UrdfData], placed: Sequence[str]
) -> tuple[Mapping[str, UrdfData], tuple[str, ...]]:
    """The wheels of Ackermann linkages at one x, the mean of theirs."""
    notes: list[str] = []
    for coupling in extension.additions:
        pair = coupling.data.get("wheels") if coupling.family == "couplings" else None
        if not isinstance(pair, list) or len(pair) != 2 or not all(name in placed for name in pair):
            continue
        (x, *left), (other, *right) = (cast("Triple", given[name]["at"]) for name in pair)
        same = given[pair[0]]["parent"] == given[pair[1]]["parent"]
        if same and _SAME < abs(x - other) <= _MOST_MOVED:
            mean = (x + other) / 2
            moved = {name: [mean, *rest] for name, rest in zip(pair, (left, right), strict=True)}
            given = {**given, **{name: {**given[name], "at": place} for name, place in moved.items()}}
            words = f"{pair[0]} and {pair[1]}, {abs(x - other) * 1e3:.2g} mm apart along x by rounding"
            notes.append(f"{words}, were put side by side for the coupling {coupling.name!r}")
    return given, tuple(notes)


def _height(tree: Tree, data: UrdfData) -> float:
    """How high a wheel's centre is above the root (m), all joints at zero."""
    place = transform_point(tree.at_zero(str(data["parent"])), cast("Triple", data["at"]))
    return vector(place)[2]


def _lifted(tree: Tree, data: UrdfData, up: float) -> UrdfData:
    """The same wheel, higher by `up` (m)."""
    turned = apply(transpose(tree.at_zero(str(data["parent"])).rotation), (0.0, 0.0, up))
    place = add(cast("Triple", data["at"]), turned)
    return {**data, "at": list(vector(place))}


def _radii(extension: Extension) -> Iterator[tuple[str, float]]:
    """The wheels' radii (m) by name, with the parameters' own numbers; without those that are none."""
    known = _parameters(extension)
    for wheel in extension.on_joints:
        with suppress(ExpressionError, KeyError):
            yield wheel.name, read_value(wheel.data["radius"], units.LENGTH).number_in(known)


def _parameters(extension: Extension) -> dict[str, float]:
    """The numbers of the parameters, formulas over others too; without those that have none."""
    values: dict[str, Value] = {}
    for addition in extension.additions:
        if addition.family == "parameters":
            with suppress(ExpressionError):
                values[addition.name] = read_value(addition.value)
    known: dict[str, float] = {}
    for _ in range(_MOST_STEPS):  # a formula's number is known once those that it uses are
        before = len(known)
        for name, value in values.items():
            with suppress(ExpressionError, KeyError):
                known[name] = value.number_in(known)
        if len(known) == before:
            break
    return known

"""Markers on a robot: where they are at a posture, how that changes with it, and between which limits it may be; and
how well they fit: what is no fit is refused, and what is poor is told.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.documents.document import read_text
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError, did_you_mean, require_known, warn
from trundle.files import path_of
from trundle.mechanics.frames import world_poses
from trundle.model.arguments import named, three
from trundle.model.mechanism import Mechanism
from trundle.model.moving import MovingMechanism
from trundle.model.programs import program_of
from trundle.program import Kernel, compile_program
from trundle.robot.bodies import drive_axes
from trundle.scalars import Scalar
from trundle.spatial.motions import transform_point

# By a marker's name the link that carries it, and its place in the link's frame (m).
Markers = Mapping[str, tuple[str, Sequence[float | str]]]

# Of the robot's size. OpenSim's best practices for inverse kinematics accept 2 to 4 cm at most, of a person's 1.8 m.
_POOR = 0.05
# How far (rad) beyond its range an angle still is usual: a knee that hyperextends is fitted.
MARGIN = np.radians(15.0)
# Postures that the robot's size is measured at.
_LOOKS = 32
_CAUSES = (
    "are they in the unit that the file says (mm, m), the same way up, and where `markers` says on each body?"
)


@dataclass(frozen=True, eq=False)
class MarkerModel:
    """A robot's markers as functions of its coordinates q (c,), of which some are known and the others looked for.

    names, markers: of the coordinates and the markers. start: the usual posture, to begin at. slides: which coordinates
        are lengths. quaternions: where such start.
    motions_of: of a motion δ the coordinate that it moves, and −1; or where the quaternion starts that it turns, and
        about which axis.
    lower, upper: the coordinates' limits, infinite where there are none.
    least, greatest: the usual ranges of angles that are looked for, likewise; they neither stop nor weigh.
    """

    names: tuple[str, ...]
    markers: tuple[str, ...]
    start: FloatArray
    slides: npt.NDArray[np.bool_]
    quaternions: tuple[int, ...]
    motions_of: tuple[tuple[int, int], ...]
    lower: FloatArray
    upper: FloatArray
    least: FloatArray
    greatest: FloatArray
    _kernel: Kernel
    _speeds: int
    _parameters: FloatArray

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The markers' places (k, 3m), m, in the world, and their slopes by the coordinates (k, 3m, c), at q (k, c)."""
        speeds = np.zeros((self._speeds, len(q)))
        # Fits take tens of batches: nothing that a loop would be taken for.
        places, slopes = self._kernel(np.ascontiguousarray(q.T), speeds, self._parameters, often=False)
        return places.T, np.moveaxis(slopes, -1, 0).reshape(len(q), len(places), q.shape[1])

    def motions(self, q: FloatArray) -> FloatArray:
        """E(q), (k, c, t): how the coordinates change with δ; of a quaternion ½ q ⊗ (0, δ)."""
        matrix = np.zeros((*q.shape, len(self.motions_of)))
        for to, of in self._plain:
            np.einsum("kjj->kj", matrix[:, of, to])[...] = 1.0
        for to, of in self._turning:
            matrix[:, of, to] = _turns(q[:, of])
        return matrix

    def inward(self, slopes: FloatArray, q: FloatArray) -> FloatArray:
        """Slopes by the coordinates (k, r, c) as slopes by motions δ (k, r, t): times E(q), most of which is zeros."""
        found = np.empty((*slopes.shape[:2], len(self.motions_of)))
        for to, of in self._plain:
            found[:, :, to] = slopes[:, :, of]
        for to, of in self._turning:
            found[:, :, to] = slopes[:, :, of] @ _turns(q[:, of])
        return found

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """The postures (k, c) after motions (k, t), within the limits, their quaternions at length 1."""
        there = q.copy()
        for to, of in self._plain:
            there[:, of] += step[:, to]
        for to, of in self._turning:
            there[:, of] += (_turns(q[:, of]) @ step[:, to, None])[:, :, 0]
        return self.unit(np.clip(there, self.lower, self.upper))

    @cached_property
    def _plain(self) -> list[tuple[slice, slice]]:
        """The motions that are coordinates, and which: in runs, as slices are copied in a fraction of the time."""
        plain = [(j, k) for j, (k, axis) in enumerate(self.motions_of) if axis < 0]
        begins = [n for n, (j, k) in enumerate(plain) if n == 0 or (j - 1, k - 1) != plain[n - 1]]
        runs: list[tuple[slice, slice]] = []
        for begin, end in pairwise((*begins, len(plain))):
            (j, k), size = plain[begin], end - begin
            runs.append((slice(j, j + size), slice(k, k + size)))
        return runs

    @cached_property
    def _turning(self) -> list[tuple[slice, slice]]:
        """The three motions that turn a quaternion, and its four parts."""
        first = [(j, k) for j, (k, axis) in enumerate(self.motions_of) if axis == 0]
        return [(slice(j, j + 3), slice(k, k + 4)) for j, k in first]

    def between(self, left: FloatArray, right: FloatArray, share: FloatArray) -> FloatArray:
        """Postures (k, c) a share (k, 1) of the way from others to others."""
        aligned = right.copy()
        for k in self.quaternions:
            four = slice(k, k + 4)
            aligned[:, four] *= np.where((left[:, four] * right[:, four]).sum(axis=1) < 0, -1.0, 1.0)[:, None]
        return self.unit(left + share * (aligned - left))

    def jumps(self, postures: FloatArray, most: float) -> bool:
        """Whether anything turns by more than this (rad) from one posture to the next."""
        before = postures[:-1]
        after = self.between(before, postures[1:], np.ones((len(before), 1)))
        turns = (after - before)[:, ~self.slides]
        return bool((np.abs(np.remainder(turns + np.pi, 2 * np.pi) - np.pi) > most).any())

    def unit(self, q: FloatArray) -> FloatArray:
        """Postures (k, c) with their quaternions at length 1, in place."""
        for k in self.quaternions:
            q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
        return q

    def unstopped(self, q: FloatArray, gradient: FloatArray) -> npt.NDArray[np.bool_]:
        """Which motions no limit stops, (k, t): at a limit the cost must fall inward."""
        at = [k for k, _ in self.motions_of]
        low, high = (q <= self.lower)[:, at] & (gradient > 0), (q >= self.upper)[:, at] & (gradient < 0)
        return ~(low | high)

    def beyond(self, q: FloatArray) -> FloatArray:
        """How far (rad) the coordinates of postures (k, c) are beyond what is usual."""
        return np.maximum(np.maximum(self.least - q, q - self.greatest) - MARGIN, 0.0)

    def anywhere(self, rng: np.random.Generator, q: FloatArray, count: int) -> Iterator[FloatArray]:
        """Postures like this one with everything that turns turned at random, within usual ranges and limits."""
        moving = sorted({k for k, axis in self.motions_of if axis < 0 and not self.slides[k]})
        ends = [np.clip(self.least[moving], -np.pi, None), np.clip(self.greatest[moving], None, np.pi)]
        for _ in range(count):
            posture = q.copy()
            posture[moving] = rng.uniform(np.minimum(*ends), np.maximum(*ends))
            posture = np.clip(posture, self.lower, self.upper)
            for k in {k for k, axis in self.motions_of if axis >= 0}:
                posture[k : k + 4] = rng.normal(size=4)
                posture[k : k + 4] /= np.linalg.norm(posture[k : k + 4])
            yield posture

    def coordinate_of(self, motion: int) -> str:
        """The coordinate that a motion moves; of a quaternion its first part."""
        return self.names[self.motions_of[motion][0]]


def _turns(quaternion: FloatArray) -> FloatArray:
    """½ q ⊗ (0, δ) as a matrix times δ, (k, 4, 3), of quaternions (k, 4)."""
    w, x, y, z = quaternion.T / 2
    return np.array(((-x, -y, -z), (w, -z, y), (z, w, -x), (-y, x, w))).transpose(2, 0, 1)


def marker_model(
    moving: MovingMechanism, markers: Markers, known: Collection[str] = (), limits: bool = True
) -> MarkerModel:
    """The markers of a robot, some of whose coordinates are `known`; `limits`: whether its joints' stops hold.

    Raises InputError for a link that isn't there, a place that is none, and a robot with loops.
    """
    mechanism = moving.mechanism
    if mechanism.assembly.loops:
        raise InputError(
            "markers pose trees, and this robot has closed loops",
            hint="give its coordinates as channels, or leave the loops out",
        )
    names, quantities = mechanism.names, mechanism.assembly.quantities
    start, lower, upper, least, greatest = _ranges(mechanism, known, limits)
    program = program_of(moving, "markers", {"marker": _marker_places(moving, markers)})
    quaternions = tuple(quantities.quaternions(names))
    return MarkerModel(
        names,
        tuple(markers),
        np.clip(start, lower, upper),
        np.array([quantities[name].slides for name in names]),
        quaternions,
        tuple(_motions(names, quaternions, known)),
        lower,
        upper,
        least,
        greatest,
        compile_program(program.with_jacobians("marker", "coordinate")),
        len(moving.labels),
        np.array([float(v) for v in mechanism.numbers.parameters.values()]),
    )


def _motions(
    names: Sequence[str], quaternions: Collection[int], known: Collection[str]
) -> Iterator[tuple[int, int]]:
    """What motions move: see `MarkerModel.motions_of`."""
    inside = {k + j for k in quaternions for j in range(4)}
    for k, name in enumerate(names):
        if name in known:
            continue
        if k in quaternions:
            yield from ((k, axis) for axis in range(3))
        elif k not in inside:
            yield (k, -1)


def _marker_places(moving: MovingMechanism, markers: Markers) -> tuple[list[str], list[Scalar]]:
    """The markers' places in the world, in scalars."""
    mechanism = moving.mechanism
    poses = world_poses(mechanism.assembly.tree, mechanism.at.poses)
    labels: list[str] = []
    places: list[Scalar] = []
    for name, given in named(markers, "markers").items():
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise InputError(
                f"a marker is a link and a place, not {given!r}", key=name, hint='("shank", (x, y, z))'
            )
        require_known(
            given[0],
            mechanism.assembly.links,
            f"the marker '{name}' is on '{given[0]}', and the robot has no such body",
            key=f"markers.{name}",
        )
        point = three(given[1], name, "x, y and z", ("m", "m", "m"))
        x, y, z = (0 if value == 0 else value for value in point)
        places += transform_point(poses[mechanism.link(given[0])], (x, y, z))
        labels += [f"{name}.{axis}" for axis in "xyz"]
    return labels, places


def _ranges(mechanism: Mechanism, known: Collection[str], limits: bool) -> FloatArray:
    """By coordinate where to begin, its stops, and its usual range (5, c), infinite where there are none."""
    names, quantities, robot = mechanism.names, mechanism.assembly.quantities, mechanism.robot
    ends = np.array((-np.inf, np.inf))[:, None].repeat(len(names), axis=1)
    found = np.array((quantities.starts(names), *ends, *ends))
    read = robot.resolver(robot.parameter_values())
    for owner, joint in robot.joints.items():
        for axis, drive in drive_axes(joint).values():
            name, usual = f"{owner}.{axis.coordinate}", drive.usual
            low, high = drive.lower, drive.upper
            told = (usual.value, low, high, usual.lower or low, usual.upper or high)
            for row, value in zip(found, told, strict=True):
                if value is not None and name in names:
                    row[names.index(name)] = float(read(value))
    chosen = [name not in known and not quantities[name].slides for name in names]
    found[3:] = np.where(chosen, found[3:], ends)
    found[1:3] = found[1:3] if limits else ends
    return found


def judge_fit(model: MarkerModel, postures: FloatArray, off: FloatArray) -> None:
    """Warn where a marker is further from where it was seen, (n, m) m, NaN unseen, than fits a robot of this size.

    Raises InputError where all together (root of the mean square) are further off than the robot is large.
    """
    counts = np.isfinite(off).sum(axis=0)
    if not counts.any():
        return
    squares, size = np.nansum(off**2, axis=0), _size(model, postures)
    misses, whole = np.sqrt(squares / np.maximum(counts, 1)), np.sqrt(squares.sum() / counts.sum())
    worst = int(misses.argmax())
    told = f"'{model.markers[worst]}' most, by {misses[worst]:.3g} m (root mean square)"
    if whole > size:
        message = f"the markers don't fit the robot, which is {size:.3g} m large: {told}"
        raise InputError(message, key="markers", hint=_CAUSES)
    if misses[worst] > _POOR * size:
        text = f"the markers fit poorly on a robot {size:.3g} m large: {told}; {_CAUSES}"
        warn(text)


def warn_unusual(model: MarkerModel, time: FloatArray, postures: FloatArray) -> None:
    """Warn of angles that are far beyond their usual ranges in postures over time (n, c)."""
    beyond, told = model.beyond(postures), []
    for k in np.flatnonzero(beyond.any(axis=0)):
        n = beyond[:, k].argmax()
        angle, least, greatest = np.degrees((postures[n, k], model.least[k], model.greatest[k]))
        told.append(
            f"{model.names[k]} is {angle:.0f}° at t = {time[n]:g} s (usual: {least:.0f} to {greatest:.0f}°)"
        )
    if told:
        warn(f"angles are far beyond their usual ranges: {'; '.join(told)}")


def _size(model: MarkerModel, postures: FloatArray) -> float:
    """How far apart its markers are (m) at most in some postures; of one marker, how far from the world's origin."""
    places, _ = model.evaluate(postures[:: -(-len(postures) // _LOOKS)])
    places = places.reshape(len(places), -1, 3)
    spread = float(np.linalg.norm(np.ptp(places, axis=1), axis=1).max())
    return spread or float(np.linalg.norm(places, axis=2).max())


_KEYS = ("body", "at")


def read_markers(path: str | os.PathLike[str]) -> dict[str, tuple[str, Sequence[float | str]]]:
    """The markers on a robot's bodies, as `trundle.joint_motion` takes them.

        markers:
          knee_lateral: {body: shank, at: [0, 5 cm, 0]}

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        By a marker's name the body (or the joint that carries it) and its place in that body's frame, m or with units.

    Raises
    ------
    InputError
        With file and line of what is wrong.

    Examples
    --------
    >>> import pathlib, trundle
    >>> _ = pathlib.Path("markers.yaml").write_text("markers:\\n  heel: {body: foot, at: [-5 cm, 0, 0]}\\n")
    >>> trundle.read_markers("markers.yaml")
    {'heel': ('foot', ['-5 cm', 0, 0])}
    """
    given = path_of(path, "read_markers")
    file = str(given)
    data, lines = read_yaml(read_text(given), file)
    listed = data.get("markers") if isinstance(data, Mapping) else None
    if not isinstance(listed, Mapping) or not listed:
        hint = "markers:\n    heel: {body: foot, at: [-5 cm, 0, 0]}"
        raise InputError("expected the markers by their names under `markers:`", file=file, hint=hint)
    markers = {}
    for name, entry in listed.items():
        where = {"file": file, "line": lines.get(("markers", name)), "key": f"markers.{name}"}
        if not isinstance(entry, Mapping) or "body" not in entry or "at" not in entry:
            raise InputError(
                "a marker needs the body that carries it, and where",
                **where,
                hint="{body: foot, at: [0, 0, 0]}",
            )
        if unknown := [key for key in entry if key not in _KEYS]:
            raise InputError(
                f"a marker has no {unknown[0]!r}", **where, hint=did_you_mean(str(unknown[0]), _KEYS)
            )
        body, at = entry["body"], entry["at"]
        if not (isinstance(at, Sequence) and len(at) == 3 and isinstance(body, str)):
            raise InputError(f"expected a body's name and three lengths, got {dict(entry)}", **where)
        markers[str(name)] = (body, at)
    return markers

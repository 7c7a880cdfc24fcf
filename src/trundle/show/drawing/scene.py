"""What of a robot is drawn where: shapes on frames, and where the frames are, at one moment or over a run.

Plain data in space (m, rad), made by `drawing.scenes`; who draws it chooses a view.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray, Triple

# The pictures' two axes, by the direction that is looked along.
PLANES = {"x": ("y", "z"), "y": ("x", "z"), "z": ("x", "y")}
# For what moves in space: from the right and behind, above the horizon (rad), as matplotlib's own 3D axes begin.
SPATIAL = ""
# The same where y is up, as in OpenSim's models.
UPRIGHT = "y up"
_CORNER = "from a corner"
SEEN = {"x": "from the front", "y": "from the side", "z": "from above", SPATIAL: _CORNER, UPRIGHT: _CORNER}
_AZIMUTH, _ELEVATION = math.radians(-60), math.radians(30)
# Directions that differ by less in how much they show are the same; then the side view is the customary one.
_AS_GOOD = 1e-6
# A wheel without a width is drawn with this share of its radius.
_SLIM = 0.3
# Marks around a rim, so that its turning is seen; rollers stand closer. How far a roller leans at most (rad).
_TREADS, _ROLLERS, _LEAN = 6, 8, 1.2
# A wheel's side shows where its axle points at whoever looks by more than this.
_ASIDE = 0.2


class Anchor(NamedTuple):
    """A point that moves with a frame: the frame's place among the poses, and where in it."""

    frame: int = 0
    at: Triple = (0.0, 0.0, 0.0)


BASE = Anchor()


@dataclass(frozen=True)
class WheelShape:
    """A wheel whose frame rolls along its x, about its y, without spinning itself.

    pivot: where it is steered about, or held, on the body that carries it. round: it rolls every way, as a ball does.
    roller_angle: from the axle toward forward, of the roller on the ground (mecanum, omni); None without rollers.
    """

    name: str
    frame: int
    radius: float
    width: float
    pivot: Anchor
    steered: bool = False
    round: bool = False
    roller_angle: float | None = None

    @property
    def half(self) -> float:
        """Half of its width as it is drawn: one without a width is a slim one."""
        return (self.width or _SLIM * self.radius) / 2


@dataclass(frozen=True)
class Plate:
    """A flat polygon on a frame: what is drawn of a body; `assumed` where only its inertia is known, not its shape."""

    frame: int
    corners: tuple[Triple, ...]
    assumed: bool = False


@dataclass(frozen=True, eq=False)
class Solid:
    """A body's own shape on its frame: triangles, indices of three (m, 3), between corners (n, 3) in m, whose order is
    that against the clock seen from outside; "#rrggbb" or "#rrggbbaa", None for the colour of bodies.
    """

    frame: int
    corners: FloatArray
    triangles: IntArray
    colour: str | None = None


@dataclass(frozen=True)
class Bar:
    """A bar between two points."""

    name: str
    start: Anchor
    end: Anchor


@dataclass(frozen=True)
class JointMark:
    """A joint: its symbol, its frame, its axis there (None for kinds without), whether it is on the base, and turns."""

    name: str
    symbol: str
    frame: int
    axis: Triple | None
    on_base: bool
    turns: bool = True


@dataclass(frozen=True)
class LoopMark:
    """A loop: its symbol, where its two ends are (in one place where it is closed), whether a rod keeps them apart."""

    name: str
    symbol: str
    first: Anchor
    second: Anchor
    apart: bool = False


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force or a moment that acts at a point: where, and which way and how long it is drawn, over time in the world,
    both (T, 3) in m; `scale` is how long one of its `unit` is: N or N m, by kilogram where the run is.
    """

    name: str
    turns: bool
    at: FloatArray
    vector: FloatArray
    scale: float
    unit: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A robot's shapes, and the poses of all frames over time, (T, frames, 3, 4): rotation and position in the world.

    `spins` says how far the wheels have rolled forward about their axles over time, (T, wheels) in rad, NaN of a ball;
    None of a robot that isn't seen in motion. `solids` are the bodies' own shapes, where the description has them,
    `mounts` are the bars that hold joints to the base, `centers` the centres of mass, `coupled` the wheels that a
    linkage joins, `traced` the point whose path is worth seeing, `base` how the base moves, `arrows` what acts on
    it. `up` is the world's axis that gravity pulls against, "y" or "z".
    """

    poses: FloatArray
    base: str = "planar"
    plates: tuple[Plate, ...] = ()
    wheels: tuple[WheelShape, ...] = ()
    bars: tuple[Bar, ...] = ()
    mounts: tuple[Bar, ...] = ()
    joints: tuple[JointMark, ...] = ()
    loops: tuple[LoopMark, ...] = ()
    centers: tuple[Anchor, ...] = ()
    coupled: tuple[tuple[str, ...], ...] = ()
    traced: Anchor = BASE
    arrows: tuple[Arrow, ...] = ()
    spins: FloatArray | None = None
    solids: tuple[Solid, ...] = ()
    dressed: tuple[int, ...] = ()
    up: str = "z"

    def at(self, moments: Sequence[int] | slice) -> Scene:
        """The same at some of the moments."""
        arrows = (replace(arrow, at=arrow.at[moments], vector=arrow.vector[moments]) for arrow in self.arrows)
        spins = None if self.spins is None else self.spins[moments]
        return replace(self, poses=self.poses[moments], arrows=tuple(arrows), spins=spins)

    def between(self, position: float) -> Scene:
        """The same at one moment between the sample before a position (0 for the first) and the one after it.

        Positions and angles change evenly; rotations are averaged and brought back to rotations (the polar factor, by
        Newton's iteration R ← (3 R − R Rᵀ R)/2: Higham 1986).
        """
        before = min(max(int(position), 0), len(self.poses) - 1)
        share = min(max(position - before, 0.0), 1.0)
        if before + 1 == len(self.poses) or not share:
            return self.at([before])
        pair = self.at([before, before + 1])

        def mixed(values: FloatArray) -> FloatArray:
            return (1 - share) * values[:1] + share * values[1:]

        poses = mixed(pair.poses)
        turn = poses[..., :3]
        for _ in range(4):
            turn = 1.5 * turn - 0.5 * turn @ turn.swapaxes(-1, -2) @ turn
        poses[..., :3] = turn
        arrows = tuple(
            replace(arrow, at=mixed(arrow.at), vector=mixed(arrow.vector)) for arrow in pair.arrows
        )
        return replace(
            pair, poses=poses, arrows=arrows, spins=None if pair.spins is None else mixed(pair.spins)
        )

    def plain(self) -> dict[str, object]:
        """All of it as JSON can hold it, but for the arrays: shapes by their fields, a spot as [frame, [x, y, z]],
        `poses` (T, frames, 12), a frame's three rows one after the other, and how it is best seen.
        """
        poses = self.poses.reshape(*self.poses.shape[:2], 12)
        seen = {"view": self.projection, "size": self.size, "flat": self.is_flat}
        return {**asdict(self), **seen, "frames": self.poses.shape[1], "poses": poses}

    def place(self, spot: Anchor) -> FloatArray:
        """A point over time, (T, 3)."""
        return self.turned(spot.frame, spot.at) + self.poses[:, spot.frame, :, 3]

    def places(self, spots: Iterable[Anchor]) -> FloatArray:
        """Points over time, (T, n, 3)."""
        spots = list(spots)
        points = np.zeros((len(self.poses), len(spots), 3))
        frames = np.array([spot.frame for spot in spots], dtype=int)
        at = np.array([spot.at for spot in spots], dtype=float).reshape(-1, 3)
        for frame in set(frames.tolist()):
            here = frames == frame
            pose = self.poses[:, frame]
            points[:, here] = at[here] @ pose[:, :, :3].swapaxes(1, 2) + pose[:, None, :, 3]
        return points

    def turned(self, frame: int, direction: Triple) -> FloatArray:
        """A direction of a frame in the world over time, (T, 3)."""
        return self.poses[:, frame, :, :3] @ np.array(direction)

    @cached_property
    def extent(self) -> FloatArray:
        """Points around everything over time, (T, n, 3)."""
        spots = [Anchor(plate.frame, corner) for plate in self.plates for corner in plate.corners]
        spots += [end for bar in (*self.bars, *self.mounts) for end in (bar.start, bar.end)]
        spots += [Anchor(joint.frame) for joint in self.joints] + [*self.centers]
        spots += [end for loop in self.loops for end in (loop.first, loop.second)]
        for wheel in self.wheels:
            half = wheel.radius if wheel.round else wheel.half
            signs = product((-1, 1), repeat=3)
            spots += [
                Anchor(wheel.frame, (a * wheel.radius, b * half, c * wheel.radius)) for a, b, c in signs
            ]
        points = [self.places(spots or [self.traced])]
        for solid in self.solids:  # the corners of the boxes around them
            low, high = solid.corners.min(axis=0), solid.corners.max(axis=0)
            points.append(
                self.places(Anchor(solid.frame, corner) for corner in product(*zip(low, high, strict=True)))
            )
        return np.concatenate(points, axis=1)

    @cached_property
    def clothed(self) -> frozenset[int]:
        """The frames whose bodies' own shapes are known, and those welded on where any are: what is made up of them
        need not be drawn.
        """
        welded = [joint.frame for joint in self.joints if joint.symbol == "weld" and self.solids]
        return frozenset([*(solid.frame for solid in self.solids), *welded, *self.dressed])

    @cached_property
    def size(self) -> float:
        """The robot's largest extent at the first moment (m); 0.3 for one of which no shape is known."""
        # of a scene of that moment alone: a run of a million has gigabytes of points around it
        return float(np.ptp(self.at([0]).extent, axis=1).max()) or 0.3

    @cached_property
    def view(self) -> str:
        """The axis ("x", "y", "z") to look along: from above for what drives, else along the axes that most joints turn
        about, or else square to where the robot reaches.
        """
        if self.wheels or self.base == "planar":
            return "z"
        axes = [self.turned(j.frame, j.axis)[0] for j in self.joints if j.axis is not None and j.turns]
        shown = dict(zip("xyz", np.square(axes).sum(axis=0) if axes else np.zeros(3), strict=True))
        if max(shown.values()) <= _AS_GOOD:
            spots = [Anchor(), *(Anchor(joint.frame) for joint in self.joints), *self.centers]
            shown = dict(zip("xyz", -np.ptp(self.places(spots)[0], axis=0), strict=True))
        return next(axis for axis in "yzx" if shown[axis] >= max(shown.values()) - _AS_GOOD)

    @cached_property
    def is_flat(self) -> bool:
        """Whether all of it moves in planes across its view, by its joints: seen so nothing is foreshortened."""
        normal = "xyz".index(self.view)
        for joint in self.joints:
            if joint.symbol == "weld":
                continue
            if joint.axis is None:
                return False
            along = abs(self.turned(joint.frame, joint.axis)[0][normal])
            if abs(along - (1.0 if joint.turns else 0.0)) > _AS_GOOD:
                return False
        return self.base != "floating"

    @property
    def projection(self) -> str:
        """The view to see a motion from: in its plane, of a base on the ground from above, else in space."""
        in_space = UPRIGHT if self.up == "y" else SPATIAL
        return self.view if self.is_flat or self.base == "planar" else in_space


def project(points: FloatArray, view: str) -> FloatArray:
    """Points or directions in space (…, 3) in a picture, (…, 2): along an axis, or `SPATIAL`, or `UPRIGHT`."""
    if view in PLANES:
        return points[..., ["xyz".index(axis) for axis in PLANES[view]]]
    points = _stood(points, view)
    c, s = math.cos(_AZIMUTH), math.sin(_AZIMUTH)
    up = math.sin(_ELEVATION)
    return points @ np.array([[-s, c, 0.0], [-c * up, -s * up, math.cos(_ELEVATION)]]).T


def _stood(points: FloatArray, view: str) -> FloatArray:
    """Points with z up, where y is: turned by a right angle about x."""
    return points[..., [0, 2, 1]] * [1.0, -1.0, 1.0] if view == UPRIGHT else points


def depth(points: FloatArray, view: str) -> FloatArray:
    """How near points are to whoever looks, (…,)."""
    if view in PLANES:
        return points[..., "xyz".index(view)] * (-1 if view == "y" else 1)
    points = _stood(points, view)
    level = math.cos(_ELEVATION)
    toward = (level * math.cos(_AZIMUTH), level * math.sin(_AZIMUTH), math.sin(_ELEVATION))
    return points @ np.array(toward)


def marks(scene: Scene, index: int, view: str) -> FloatArray:
    """Lines painted on a wheel that turn with it, as they are seen, (T, n, 2, 2): across its tread, or along its
    rollers, and on the side that shows; NaN where the wheel hides them.
    """
    wheel, spins = scene.wheels[index], scene.spins
    count = _TREADS if wheel.roller_angle is None else _ROLLERS
    spin = np.zeros(len(scene.poses)) if spins is None else spins[:, index]
    around = (spin[:, None] + 2 * math.pi * np.arange(count) / count)[..., None]
    along, axle, up = np.moveaxis(scene.poses[:, None, wheel.frame, :, :3], -1, 0)
    outward = np.sin(around) * along + np.cos(around) * up
    forward = np.cos(around) * along - np.sin(around) * up
    rim = wheel.radius * outward
    lean, across = _lean(wheel)
    off = lean * forward - across * axle
    tread = np.stack([rim + off, rim - off], axis=2)
    toward = depth(axle, view)[..., None]
    near = np.sign(toward) * wheel.half * axle
    side = np.stack([0.45 * rim + near, rim + near], axis=2)
    tread = np.where(depth(outward, view)[..., None, None] > 0, tread, np.nan)
    side = np.where(np.abs(toward)[..., None] > _ASIDE, side, np.nan)
    centre = scene.poses[:, wheel.frame, None, None, :, 3]
    return project(centre + np.concatenate([tread, side], axis=1), view)


def _lean(wheel: WheelShape) -> tuple[float, float]:
    """Half of what a mark on the tread spans forward and along the axle (m): rollers on top slant the other way than
    the one on the ground, an omni wheel's lie along the rim.
    """
    angle, r = wheel.roller_angle or 0.0, wheel.radius
    if abs(angle) > _LEAN:
        return 0.12 * r, 0.0
    return math.copysign(min(wheel.half * abs(math.tan(angle)), 0.35 * r), angle), wheel.half

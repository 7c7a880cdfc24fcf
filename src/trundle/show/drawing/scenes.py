"""Makes scenes: what of a robot is drawn where, at one configuration or over a run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray, Triple
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import table
from trundle.mechanics.wheels import WheelModel, look_of
from trundle.model.constraints import configure, independent_coordinates
from trundle.model.numeric_loops import posture
from trundle.robot.couplings import linkages
from trundle.robot.structure import body_names, up_axis
from trundle.scalars import Scalar, less, maximum, minimum, sqrt, where
from trundle.show.drawing.scene import Anchor, Bar, JointMark, LoopMark, Plate, Scene, WheelShape
from trundle.show.drawing.solids import solids
from trundle.spatial.motions import IDENTITY_POSE, Pose, transform_point
from trundle.spatial.vectors import Matrix, Vector, add, apply, dot, scale, subtract

if TYPE_CHECKING:
    from trundle.robot import Robot
    from trundle.robot.parameters import Resolver

# A body whose centre of mass is nearer to its joint than this (m) has no bar to be seen by.
_NO_BAR = 1e-9
# A box that is thinner than this share of its length is a plate or a line: eigenvalues round.
_FLAT = 1e-6
# A body reaches so many radii past the middle of its outermost wheels; where it is around them, what is ahead of them
# is such a share of it.
_PAST, _NOSE = 1.3, 0.12
_SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def scene(robot: Robot, poses: Sequence[Pose] | None = None) -> Scene:
    """A robot in one configuration, by default every joint at its zero, or as near to that as its loops can be closed;
    `poses` are T_world_link of its links.
    """
    read = robot.resolver()
    assembly = assemble(robot, read)
    return _Drawn(robot, assembly, read).scene(posture(assembly) if poses is None else poses, 1)


def motion(robot: Robot, values: Mapping[str, FloatArray], parameters: Mapping[str, float]) -> Scene:
    """A robot over a run with these parameters; `values` has every coordinate that is a state, (T,)."""
    return mover(robot, parameters)(values)


def mover(robot: Robot, parameters: Mapping[str, float]) -> Callable[[Mapping[str, FloatArray]], Scene]:
    """What `motion` gives as a function of the values alone: the shapes are read once."""
    read = robot.resolver({**robot.parameter_values(), **parameters})
    assembly = assemble(robot, read)
    names = independent_coordinates(assembly)
    drawn = _Drawn(robot, assembly, read)

    def moved(values: Mapping[str, FloatArray]) -> Scene:
        q = [values[name] for name in names]
        posed, count = configure(assembly, names, q), len(q[0]) if q else 1
        angles = [
            posed.values[assembly.axes[wheel.name].coordinate] if wheel.spin is not None else math.nan
            for wheel in assembly.wheels
        ]
        spins = table([angles], count, len(angles)).reshape(count, len(angles))
        return replace(still, poses=drawn.poses(world_poses(assembly.tree, posed.poses), count), spins=spins)

    bodies = {name: drawn.body(name) for name in body_names(robot)}
    # A bar along a slide has a length somewhere, if not where every joint is at its zero.
    somewhere = configure(assembly, names, np.random.default_rng(0).uniform(0.1, 1.0, len(names)).tolist())
    shapes = drawn.scene(world_poses(assembly.tree, somewhere.poses), 1)
    known = solids(robot, read, bodies)
    carriers = {drawn.rigid(solid.frame, IDENTITY_POSE).frame for solid in known}
    still = replace(shapes, solids=known, dressed=tuple(sorted(carriers)))
    return moved


def named_points(values: Mapping[str, FloatArray], told: str) -> Scene | None:
    """The points that a model from elsewhere has named, over a run, with bars between those that keep their distance;
    None where `told`, which may come from any file, says nothing of this run.

    Points that stay in one plane are seen square to it. The last point's path is traced.
    """
    try:
        known = json.loads(told)
        names = ["", *known["names"]]
        bars = [(names.index(a), names.index(b)) for a, b in known["bars"]]
        tracks = [np.stack([values[f"{name}.{axis}"] for axis in "xyz"], axis=-1) for name in names[1:]]
        place = np.stack([np.zeros_like(tracks[0]), *tracks], axis=1)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
    poses = np.zeros((*place.shape[:2], 3, 4))
    poses[..., :3], poses[..., 3] = np.eye(3), place
    reach = np.nan_to_num(np.nanmax(place, axis=(0, 1)) - np.nanmin(place, axis=(0, 1)))
    across = int(np.argmin(reach))
    flat = reach[across] <= _FLAT * reach.max()
    normal: Triple | None = (float(across == 0), float(across == 1), float(across == 2)) if flat else None
    ends = [k for bar in bars for k in bar]
    joined = [k for k in sorted({*ends}) if k == 0 or ends.count(k) > 1]
    symbol = "hinge" if flat else "ball"
    return Scene(
        poses,
        base="fixed" if flat else "floating",
        bars=tuple(Bar(names[b], Anchor(a), Anchor(b)) for a, b in bars),
        joints=tuple(JointMark(names[k] or "origin", symbol, k, normal, on_base=k == 0) for k in joined),
        centers=tuple(Anchor(k) for k in range(1, len(names))),
        traced=Anchor(len(names) - 1),
    )


def shapes_in(robot: Robot, parameters: Mapping[str, Scalar]) -> Scene:
    """A robot's shapes with their measures in scalars of any kind, those of its parameters; what is drawn, and the
    poses, are those of `scene(robot)`.
    """
    own = robot.resolver()
    numbers = _Drawn(robot, assemble(robot, own), own)
    seen, read = numbers.scene(posture(numbers.assembly), 1), robot.resolver(parameters)
    drawn = _Drawn(robot, assemble(robot, read), read, numbers)
    kept = {*seen.bars, *seen.mounts}
    bars = [mine for mine, theirs in zip(drawn.bars(), numbers.bars(), strict=True) if theirs in kept]
    return drawn.shapes(seen.poses, bars)


@dataclass(frozen=True)
class _Drawn:
    """A robot's assembly, from which its shapes are read: in floats, or in any scalars with the same `in_numbers`, on
    which it is decided what is drawn.
    """

    robot: Robot
    assembly: Assembly
    read: Resolver
    in_numbers: _Drawn | None = None

    @property
    def numbers(self) -> _Drawn:
        """The same shapes in floats, for decisions: a symbol can't be compared."""
        return self.in_numbers or self

    def scene(self, poses: Sequence[Pose], count: int) -> Scene:
        """The shapes on links at these poses. The poses' components are numbers or arrays (count,)."""
        placed = Scene(self.poses(poses, count))
        bars = [b for b in self.bars() if np.abs(placed.place(b.end) - placed.place(b.start)).max() > 0]
        return self.shapes(placed.poses, bars)

    def shapes(self, poses: FloatArray, bars: Sequence[Bar]) -> Scene:
        """The shapes, with these of the bars."""
        robot, links = self.robot, self.numbers.assembly.tree.links
        wheels = tuple(self.wheel(model) for model in self.assembly.wheels)
        heavy = [k for k in (0, *self.joints.values()) if float(links[k].inertia.mass) > 0]
        mounts = tuple(bar for bar in bars if bar.start == Anchor())
        return Scene(
            poses=poses,
            base=robot.base,
            plates=tuple(self.plates(wheels)),
            wheels=wheels,
            bars=tuple(bar for bar in bars if bar not in mounts),
            mounts=mounts,
            joints=tuple(self.joint(name) for name in robot.joints),
            loops=tuple(self.loop(name) for name in robot.loops),
            centers=tuple(self.center(index) for index in heavy),
            coupled=tuple(linkage.wheels for linkage in linkages(robot.couplings).values()),
            traced=self.tip() if robot.base == "fixed" and robot.joints else Anchor(),
            up=up_axis(robot) or "z",
        )

    def poses(self, poses: Sequence[Pose], count: int) -> FloatArray:
        """The links' poses as a scene has them."""
        rows = [[*pose.rotation[k], pose.position[k]] for pose in poses for k in range(3)]
        return table(rows, count, 4).reshape(count, len(poses), 3, 4)

    @property
    def joints(self) -> dict[str, int]:
        """The index of the link that a joint moves, by the joint's name."""
        return {name: self.assembly.links[name] for name in self.robot.joints}

    def body(self, name: str) -> int:
        """The link of a body, by any name that it may have."""
        joint = body_names(self.robot)[name]
        return 0 if joint == "base" else self.assembly.links[joint]

    def center(self, index: int) -> Anchor:
        """A link's centre of mass."""
        inertia = self.assembly.tree.links[index].inertia
        return Anchor(index, _numbers([moment / inertia.mass for moment in inertia.first_moment]))

    def joint(self, name: str) -> JointMark:
        """A joint with its axis, where it has one."""
        index, noun = self.joints[name], self.robot.joints[name]
        link = self.assembly.tree.links[index]
        axis = _numbers(link.axis) if noun.directed else None
        return JointMark(name, noun.symbol, index, axis, link.parent == 0, link.joint.turns)

    def loop(self, name: str) -> LoopMark:
        """A loop with its ends."""
        noun = self.robot.loops[name]
        first, second = (
            Anchor(self.body(end.body), _numbers([self.read(coordinate) for coordinate in end.at]))
            for end in (noun.first, noun.second)
        )
        return LoopMark(name, noun.symbol, first, second, noun.apart)

    def wheel(self, model: WheelModel) -> WheelShape:
        """A wheel's measures, and where on its body it is held."""
        noun, links = model.component, self.assembly.tree.links
        held, steered = links[model.link], model.steering is not None
        if steered:
            held = links[held.parent]
        look = look_of(model.name, noun, self.read)
        return WheelShape(
            model.name,
            model.link,
            _number(model.radius),
            _number(look.width),
            self.rigid(held.parent, held.placement),
            steered=steered,
            round=look.ball,
            roller_angle=None if look.roller_angle is None else _number(look.roller_angle),
        )

    def rigid(self, index: int, placement: Pose) -> Anchor:
        """A point of a link on the link that it is welded to."""
        point, links = placement.position, self.assembly.tree.links
        while index and not links[index].moves:
            point, index = transform_point(links[index].placement, point), links[index].parent
        return Anchor(index, _numbers(point))

    def plates(self, wheels: Sequence[WheelShape]) -> Iterator[Plate]:
        """Bodies around the wheels that they carry; others that no bar would show, as boxes."""
        # Feet and balls alone are no outline of what carries them.
        carrying = {wheel.pivot.frame for wheel in wheels if not wheel.round}
        for frame in sorted(carrying):
            yield Plate(frame, _outline([wheel for wheel in wheels if wheel.pivot.frame == frame]))
        boxes = [] if self.robot.base == "fixed" else [0]
        ends = [self.joints[name] for name in self.last if not self.massless(name)]
        boxes += [k for k in ends if np.abs(self.numbers.center(k).at).max() < _NO_BAR]
        for index in boxes:
            if index not in carrying:
                yield from self.box(index)

    def box(self, index: int) -> Iterator[Plate]:
        """The faces of the box of even density with the body's inertia: I = m/12 diag(b²+c², a²+c², a²+b²)."""
        if self.massless_link(index):
            return
        axes = self.numbers.principal_axes(index)
        center, halves = self.center(index).at, self.halves(index, axes)
        sizes = [math.sqrt(dot(half, half)) for half in self.numbers.halves(index, axes)]
        there = [size > _FLAT * max(sizes) for size in sizes]
        for a, b, across in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            if there[a] and there[b]:
                for side in (-1, 1) if there[across] else (0,):
                    middle = add(center, scale(side, halves[across]))
                    corners = (add(middle, add(scale(s, halves[a]), scale(t, halves[b]))) for s, t in _SQUARE)
                    yield Plate(index, tuple(_numbers(corner) for corner in corners), assumed=True)

    def about_center(self, index: int) -> Matrix:
        """A link's moments of inertia about its centre of mass, in its own axes: I − m (c·c 1 − c cᵀ)."""
        inertia, c = self.assembly.tree.links[index].inertia, self.center(index).at
        square, (i, j, k) = dot(c, c), inertia.rotational
        moved = [
            tuple(inertia.mass * ((square if a == b else 0) - c[a] * c[b]) for b in range(3))
            for a in range(3)
        ]
        x, y, z = (subtract(row, _numbers(other)) for row, other in zip((i, j, k), moved, strict=True))
        return x, y, z

    def principal_axes(self, index: int) -> list[Vector]:
        """A link's principal axes, in its own."""
        _, axes = np.linalg.eigh(np.array(self.about_center(index), dtype=float))
        return [_numbers(axis) for axis in axes.T]

    def halves(self, index: int, axes: Sequence[Vector]) -> list[Vector]:
        """The halves of the box's edges along these axes, which are taken for principal.

        A parameter that turns a body's own axes doesn't turn its box.
        """
        moments, mass = self.about_center(index), self.assembly.tree.links[index].inertia.mass
        along = [dot(axis, apply(moments, axis)) for axis in axes]
        squares = [maximum(1.5 / mass * (sum(along) - 2 * moment), 0.0) for moment in along]
        return [scale(sqrt(square), axis) for square, axis in zip(squares, axes, strict=True)]

    def bars(self) -> Iterator[Bar]:
        """The bars that show bodies: from a joint to the joints that hang on it and the loops that close on it.

        The last joints' bars lead to their bodies' centres of mass. A body without mass has none: a tool's frame, say.
        """
        robot, links = self.robot, self.assembly.tree.links
        for name, joint in robot.joints.items():
            parent = self.body(joint.parent)
            along_ground = robot.loops and links[self.joints[name]].joint.slides and not parent
            if not (along_ground or joint.roams):  # no body is there
                yield Bar(name, Anchor(parent), Anchor(self.joints[name]))
        for name in robot.loops:
            loop = self.loop(name)
            for end in (loop.second, loop.first):
                if end.frame:  # what is pinned to the ground needs no bar along it
                    yield Bar(name, Anchor(end.frame), end)
            if loop.apart:
                yield Bar(name, loop.second, loop.first)
        for name in self.last:
            if not self.massless(name):
                yield Bar(name, Anchor(self.joints[name]), self.center(self.joints[name]))

    @property
    def last(self) -> list[str]:
        """The joints on whose bodies nothing hangs and no loop closes."""
        carrying = {self.body(joint.parent) for joint in self.robot.joints.values()}
        ends = (end.body for loop in self.robot.loops.values() for end in (loop.first, loop.second))
        carrying |= {self.body(name) for name in ends}
        return [name for name, index in self.joints.items() if index not in carrying]

    def massless(self, name: str) -> bool:
        """Whether nothing but a frame is on that joint."""
        return self.massless_link(self.joints[name])

    def massless_link(self, index: int) -> bool:
        """Whether a link is nothing but a frame."""
        return float(self.numbers.assembly.tree.links[index].inertia.mass) == 0

    def tip(self) -> Anchor:
        """The point whose path is worth seeing: the end of a chain, or the body that joins the others of a linkage.

        The end of a linkage's rocker or slide only goes to and fro.
        """
        if self.last:
            index = self.joints[self.last[-1]]
            return Anchor(index) if self.massless(self.last[-1]) else self.center(index)
        loop = self.loop(list(self.robot.loops)[-1])
        heavy = loop.first.frame and not self.massless_link(loop.first.frame)
        return self.center(loop.first.frame) if heavy else loop.second


def _outline(wheels: Sequence[WheelShape]) -> tuple[Triple, ...]:
    """A body for the wheels that it carries: a rectangle between them, its front corners cut to show its heading.

    Reaches a bit past the outermost wheels along x, and to the inner faces of the wheels along y. Wheels that all steer
    have modules around them, which stand inside: the cut corners are ahead of these.
    """
    reach = reduce(maximum, [wheel.radius for wheel in wheels])
    around = all(wheel.steered for wheel in wheels)
    half = [_PAST * wheel.radius if around else -wheel.width for wheel in wheels]
    left = reduce(maximum, [wheel.pivot.at[1] + more for wheel, more in zip(wheels, half, strict=True)])
    right = reduce(minimum, [wheel.pivot.at[1] - more for wheel, more in zip(wheels, half, strict=True)])
    row = less(left - right, reach)  # wheels in one row: a slim body around them
    left, right = where(row, left + reach, left), where(row, right - reach, right)
    span = left - right
    front = reduce(maximum, [wheel.pivot.at[0] for wheel in wheels]) + _PAST * reach
    back = reduce(minimum, [wheel.pivot.at[0] for wheel in wheels]) - _PAST * reach
    if wheels[0].pivot.frame == 0:  # a base is around its origin
        front, back = maximum(front, 0.35 * span), minimum(back, -0.25 * span)
    cut = (_NOSE if around else 0.25) * minimum(span, front - back)
    front = front + cut if around else front
    height = sum(wheel.pivot.at[2] for wheel in wheels) / len(wheels)
    x = (back, front - cut, front, front, front - cut, back)
    y = (right, right, right + cut, left - cut, left, left)
    return tuple((a, b, height) for a, b in zip(x, y, strict=True))


def _number(value: Scalar) -> Scalar:
    """A plain float of any number; other scalars as they are."""
    return float(value) if isinstance(value, (int, float)) else value


def _numbers(vector: Sequence[Scalar] | FloatArray) -> Triple:
    x, y, z = (_number(coordinate) for coordinate in vector)
    return x, y, z

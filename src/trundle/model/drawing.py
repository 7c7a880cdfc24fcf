"""Makes scenes: what of a robot is drawn where, at one configuration or over a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import table
from trundle.mechanics.wheels import WheelModel
from trundle.model.configuration import configure, independent_coordinates
from trundle.model.numeric_loops import posture
from trundle.model.solids import solids
from trundle.robot.bodies import DirectedJoint
from trundle.robot.couplings import linkages
from trundle.robot.loops import RodLoop
from trundle.robot.structure import body_names
from trundle.robot.wheels import PivotedWheel, RollerWheel, RollingWheel
from trundle.scene import (
    Array,
    Bar,
    JointMark,
    LoopMark,
    Numbers,
    Plate,
    Scene,
    Spot,
    WheelShape,
    body_outline,
)
from trundle.spatial.motions import Pose

if TYPE_CHECKING:
    from trundle.robot import Robot
    from trundle.robot.parameters import Resolver

# A body whose centre of mass is nearer to its joint than this (m) has no bar to be seen by.
_NO_BAR = 1e-9
_SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def scene(robot: Robot, poses: Sequence[Pose] | None = None) -> Scene:
    """A robot in one configuration, by default every joint at its zero, or as near to that as its loops can be closed;
    `poses` are T_world_link of its links.
    """
    read = robot.resolver()
    assembly = assemble(robot, read)
    return _Drawn(robot, assembly, read).scene(posture(assembly) if poses is None else poses, 1)


def motion(robot: Robot, values: Mapping[str, Array], parameters: Mapping[str, float]) -> Scene:
    """A robot over a run with these parameters; `values` has every coordinate that is a state, (T,)."""
    return mover(robot, parameters)(values)


def mover(robot: Robot, parameters: Mapping[str, float]) -> Callable[[Mapping[str, Array]], Scene]:
    """What `motion` gives as a function of the values alone: the shapes are read once."""
    read = robot.resolver({**robot.parameter_values(), **parameters})
    assembly = assemble(robot, read)
    names = independent_coordinates(assembly)
    drawn = _Drawn(robot, assembly, read)

    def moved(values: Mapping[str, Array]) -> Scene:
        q = [values[name] for name in names]
        found, count = configure(assembly, names, q), len(q[0]) if q else 1
        angles = [
            found.values[assembly.axes[wheel.name].coordinate] if wheel.spin is not None else math.nan
            for wheel in assembly.wheels
        ]
        spins = table([angles], count, len(angles)).reshape(count, len(angles))
        return replace(still, poses=drawn.poses(world_poses(assembly.tree, found.poses), count), spins=spins)

    bodies = {name: drawn.body(name) for name in body_names(robot)}
    still = replace(drawn.scene(posture(assembly), 1), solids=solids(robot, read, bodies))
    return moved


@dataclass(frozen=True)
class _Drawn:
    """A robot's assembly in numbers, from which its shapes are read."""

    robot: Robot
    assembly: Assembly
    read: Resolver

    def scene(self, poses: Sequence[Pose], count: int) -> Scene:
        """The shapes on links at these poses, each a number or (count,)."""
        robot, links = self.robot, self.assembly.tree.links
        wheels = tuple(self.wheel(model) for model in self.assembly.wheels)
        heavy = [k for k in (0, *self.joints.values()) if float(links[k].inertia.mass) > 0]
        found = Scene(
            poses=self.poses(poses, count),
            base=robot.base,
            plates=tuple(self.plates(wheels)),
            wheels=wheels,
            joints=tuple(self.joint(name) for name in robot.joints),
            loops=tuple(self.loop(name) for name in robot.loops),
            centers=tuple(self.center(index) for index in heavy),
            coupled=tuple(linkage.wheels for linkage in linkages(robot.couplings).values()),
            traced=self.tip() if robot.base == "fixed" and robot.joints else Spot(),
        )
        bars = [b for b in self.bars() if np.abs(found.place(b.end) - found.place(b.start)).max() > 0]
        mounts = tuple(bar for bar in bars if bar.start == Spot())
        return replace(found, bars=tuple(bar for bar in bars if bar not in mounts), mounts=mounts)

    def poses(self, poses: Sequence[Pose], count: int) -> Array:
        """The links' poses as a scene has them."""
        rows = [[*pose.rotation[k], pose.position[k]] for pose in poses for k in range(3)]
        return table(rows, count, 4).reshape(count, len(poses), 3, 4)

    @property
    def joints(self) -> dict[str, int]:
        """The link on each joint."""
        return {name: self.assembly.links[name] for name in self.robot.joints}

    def body(self, name: str) -> int:
        """The link of a body, by any name that it may have."""
        joint = body_names(self.robot)[name]
        return 0 if joint == "base" else self.assembly.links[joint]

    def center(self, index: int) -> Spot:
        """A link's centre of mass."""
        inertia = self.assembly.tree.links[index].inertia
        x, y, z = (float(each) / float(inertia.mass) for each in inertia.first_moment)
        return Spot(index, (x, y, z))

    def joint(self, name: str) -> JointMark:
        """A joint with its axis, where it has one."""
        index, noun = self.joints[name], self.robot.joints[name]
        link = self.assembly.tree.links[index]
        axis = _numbers(link.axis) if isinstance(noun, DirectedJoint) else None
        return JointMark(name, noun.symbol, index, axis, link.parent == 0, link.joint.turns)

    def loop(self, name: str) -> LoopMark:
        """A loop with its ends."""
        noun = self.robot.loops[name]
        first, second = (
            Spot(self.body(end.body), _numbers([self.read(each) for each in end.at]))
            for end in (noun.first, noun.second)
        )
        return LoopMark(name, noun.symbol, first, second, isinstance(noun, RodLoop))

    def wheel(self, model: WheelModel) -> WheelShape:
        """A wheel's measures, and where on its body it is held."""
        noun, links = model.noun, self.assembly.tree.links
        held = links[model.link]
        if isinstance(noun, PivotedWheel):
            held = links[held.parent]
        return WheelShape(
            model.name,
            model.link,
            float(model.radius),
            float(self.read(noun.width)) if isinstance(noun, RollingWheel) else 0.0,
            self.rigid(held.parent, held.placement),
            steered=model.steering is not None,
            round=not isinstance(noun, RollingWheel),
            roller_angle=float(self.read(noun.roller_angle)) if isinstance(noun, RollerWheel) else None,
        )

    def rigid(self, index: int, placement: Pose) -> Spot:
        """A point of a link on the link that it is welded to."""
        point, links = np.array(_numbers(placement.position)), self.assembly.tree.links
        while index and not links[index].moves:
            pose, index = links[index].placement, links[index].parent
            point = np.array(pose.rotation, dtype=float) @ point + np.array(pose.position, dtype=float)
        return Spot(index, _numbers(point))

    def plates(self, wheels: Sequence[WheelShape]) -> Iterator[Plate]:
        """Bodies around the wheels that they carry; others that no bar would show, as boxes."""
        carrying = {wheel.pivot.frame for wheel in wheels}
        for frame in sorted(carrying):
            yield Plate(frame, body_outline([wheel for wheel in wheels if wheel.pivot.frame == frame]))
        boxes = [] if self.robot.base == "fixed" else [0]
        ends = [self.joints[name] for name in self.last if not self.massless(name)]
        boxes += [k for k in ends if np.abs(self.center(k).at).max() < _NO_BAR]
        for index in boxes:
            if index not in carrying:
                yield from self.box(index)

    def box(self, index: int) -> Iterator[Plate]:
        """The faces of the box of even density with the body's inertia: I = m/12 diag(b²+c², a²+c², a²+b²)."""
        inertia = self.assembly.tree.links[index].inertia
        mass = float(inertia.mass)
        if mass <= 0:
            return
        center = np.array(self.center(index).at)
        moments = np.array(inertia.rotational, dtype=float)
        moments -= mass * (center @ center * np.eye(3) - np.outer(center, center))
        principal, axes = np.linalg.eigh(moments)
        halves = np.sqrt(np.maximum(1.5 / mass * (principal.sum() - 2 * principal), 0.0)) * axes
        for a, b, across in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            along, aside, off = halves.T[[a, b, across]]
            if along.any() and aside.any():
                for side in (-1, 1) if off.any() else (0,):
                    corners = (center + side * off + s * along + t * aside for s, t in _SQUARE)
                    yield Plate(index, tuple(_numbers(corner) for corner in corners), assumed=True)

    def bars(self) -> Iterator[Bar]:
        """From each joint to the joints that hang on it and the loops that close on it, from the last ones to their
        bodies' centres of mass. A body without mass has none: a tool's frame, say.
        """
        robot, links = self.robot, self.assembly.tree.links
        for name, joint in robot.joints.items():
            if not (robot.loops and links[self.joints[name]].joint.slides):  # a slide moves along no body
                yield Bar(name, Spot(self.body(joint.parent)), Spot(self.joints[name]))
        for name in robot.loops:
            loop = self.loop(name)
            for end in (loop.second, loop.first):
                if end.frame:  # what is pinned to the ground needs no bar along it
                    yield Bar(name, Spot(end.frame), end)
            if loop.apart:
                yield Bar(name, loop.second, loop.first)
        for name in self.last:
            if not self.massless(name):
                yield Bar(name, Spot(self.joints[name]), self.center(self.joints[name]))

    @property
    def last(self) -> list[str]:
        """The joints on whose bodies nothing hangs and no loop closes."""
        carrying = {self.body(joint.parent) for joint in self.robot.joints.values()}
        ends = (end.body for loop in self.robot.loops.values() for end in (loop.first, loop.second))
        carrying |= {self.body(name) for name in ends}
        return [name for name, index in self.joints.items() if index not in carrying]

    def massless(self, name: str) -> bool:
        """Whether nothing but a frame is on that joint."""
        return float(self.assembly.tree.links[self.joints[name]].inertia.mass) == 0

    def tip(self) -> Spot:
        """The point whose path is worth seeing: of a chain its end; of a linkage the body that joins the others: the
        end of a rocker or a slide only goes to and fro.
        """
        if self.last:
            index = self.joints[self.last[-1]]
            return Spot(index) if self.massless(self.last[-1]) else self.center(index)
        loop = self.loop(list(self.robot.loops)[-1])
        heavy = loop.first.frame and float(self.assembly.tree.links[loop.first.frame].inertia.mass) > 0
        return self.center(loop.first.frame) if heavy else loop.second


def _numbers(vector: Sequence[object] | Array) -> Numbers:
    x, y, z = (float(each) for each in vector)  # type: ignore[arg-type]  # scalars of a numeric assembly
    return x, y, z

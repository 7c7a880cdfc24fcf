"""A robot's velocity maps in numbers, at many configurations at once: what rolling, motors and frames say about ν."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.errors import require_known
from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.closing import CLOSED_ZERO
from trundle.mechanics.elimination import SEED, ZERO, generic_rank, null_space
from trundle.mechanics.frames import world_jacobian
from trundle.mechanics.linear import table
from trundle.mechanics.mobility import WheelPlace
from trundle.mechanics.rolling import ConstraintRow
from trundle.mechanics.steering import steering_angles
from trundle.mechanics.tree import WORLD
from trundle.model.classification import rolling, wheel_places
from trundle.model.constraints import SPREAD, Configuration, constraint_rows
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.numeric_loops import NumericLoops
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero
from trundle.spatial.vectors import Vector


@dataclass(frozen=True)
class VelocityMaps:
    """Constraint rows A(q), motor rows and frame Jacobians of one robot, every wheel but free ones rolling ideally.

    Columns are the assembly's speeds ν, scaled so that all are in m/s: an angular speed times `length`, a wheel's
    spin times its radius; ν = `scale` · (scaled speeds). `start` are the coordinates at zero (quaternions upright).
    `coordinated` names the steered wheels whose angles must follow from the others' for the robot to move at all.
    """

    mechanism: Mechanism
    length: float
    scale: np.ndarray
    start: np.ndarray
    coordinated: tuple[str, ...] = ()

    @property
    def assembly(self) -> Assembly:
        """The robot's assembly in numbers."""
        return self.mechanism.assembly

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.mechanism.robot.name

    @property
    def names(self) -> tuple[str, ...]:
        """The independent coordinates."""
        return self.mechanism.names

    @property
    def base(self) -> tuple[int, ...]:
        """Columns of a planar base's twist; none for other bases."""
        return self.assembly.base_columns if len(self.assembly.base_columns) == 3 else ()

    @property
    def about(self) -> list[ConstraintRow]:
        """What each constraint row is."""
        return constraint_rows(self.assembly, self.mechanism.at, rolling(self.assembly))[1]

    def at(self, q: np.ndarray) -> Configuration:
        """The assembly at configurations (s, coordinates)."""
        return self.mechanism.configured(list(q.T)).at

    def constraints(self, q: np.ndarray, led: bool = False) -> np.ndarray:
        """A over scaled speeds at configurations q: (s, rows, n), contact velocities in m/s, couplings' rows in
        their followers' scaled speeds, then the loops' rows; `led`: without coordinated wheels.
        """
        wheels = rolling(self.assembly)
        if led:
            wheels = [wheel for wheel in wheels if wheel.name not in self.coordinated]
        rows, _ = constraint_rows(self.assembly, self.at(q), wheels)
        coupled = [
            1 / self.scale[axis.column] for coupling in self.assembly.couplings for axis in coupling.followers
        ]
        weights = np.array([1.0] * (len(rows) - len(coupled)) + coupled)
        matrix = table(rows, len(q), len(self.scale)) * self.scale * weights.reshape(-1, 1)
        if not self.assembly.loops:
            return matrix
        return np.concatenate([matrix, self.loop_rows(q)], axis=1)

    @property
    def zero(self) -> float:
        """Singular values below this share of the largest are zero: closed configurations are so to rounding only."""
        return CLOSED_ZERO if self.assembly.loops else ZERO

    @cached_property
    def loops(self) -> NumericLoops:
        """The robot's loops, at the same configurations."""
        return NumericLoops(self.assembly, self.names, self.name)

    @property
    def row_lengths(self) -> np.ndarray:
        """What turns each of the loops' rows into m/s, (r, 1): 1, or the robot's length for a rotation's."""
        return np.array([[self.length if turns else 1.0] for _, turns in self.loops.owners])

    def loop_rows(self, q: np.ndarray) -> np.ndarray:
        """The rows of the loops alone over scaled speeds (s, rows, n), what couplings move written in its leaders."""
        return self.loops.gaps_and_rows(q)[1] * self.scale * self.row_lengths

    def motors(self) -> dict[str, int]:
        """Name and column of every speed that has a motor; without any motors, of all that could have one: wheels,
        steering, couplings and joints, but no casters and no joints that wheels pull along or loops bind.
        """
        driven = {actuator.column for actuator in self.assembly.actuators}
        if not driven:
            tree, slices = self.assembly.tree, self.assembly.tree.speed_slices()
            driven = set(range(len(self.scale))) - set(self.assembly.base_columns)
            driven -= {w.steering for w in self.assembly.wheels if w.component.is_caster} | self.loops.bound
            driven -= {axis.column for coupling in self.assembly.couplings for axis in coupling.followers}
            for wheel in self.assembly.wheels:
                own = {wheel.spin, wheel.steering}
                for link in tree.ancestors(wheel.link):
                    driven -= set(range(slices[link].start, slices[link].stop)) - own
        return {self.assembly.speeds[column]: column for column in sorted(driven)}

    def frame(self, q: np.ndarray, link: int, point: Vector) -> np.ndarray:
        """Jacobian of a link's point over scaled speeds in world axes, (s, 6, n): linear (m/s), then angular times
        the length.
        """
        columns = world_jacobian(self.assembly.tree, self.at(q).poses, link, point)
        rows = [[column.linear[k] for column in columns] for k in range(3)]
        rows += [[column.angular[k] for column in columns] for k in range(3)]
        width = len(self.scale)
        jacobian = table([[*row, *[0] * (width - len(row))] for row in rows], len(q), width)
        jacobian[:, 3:] *= self.length
        return jacobian * self.scale

    def driven(self, count: int) -> np.ndarray:
        """Rows that pick the motors' speeds out of the scaled speeds, (count, motors, n)."""
        rows = np.eye(len(self.scale))[list(self.motors().values())]
        return np.repeat(rows[None], count, axis=0)

    def place(self, values: Mapping[str, float]) -> np.ndarray:
        """The configuration (coordinates,) with some coordinates given, the others at zero, or where loops need them;
        raises InputError.
        """
        q = self.start.copy()
        for name, value in values.items():
            require_known(name, self.names, f"'{name}' is not a coordinate of this robot", key=name)
            q[self.names.index(name)] = float(value)
        quantities = self.assembly.quantities
        quantities.check_quaternions(dict(zip(self.names, q, strict=True)))
        q = quantities.normalised(self.names, q)
        if not self.assembly.loops:
            return q
        return self.loops.with_given(q, tuple(values))

    def general(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Random configurations (count, coordinates) that the wheels allow: steered wheels follow one base motion where
        they must be coordinated, loops are closed.
        """
        if self.assembly.loops:
            q = np.resize(self.loops.samples, (count, len(self.names)))
        else:
            q = self.start + rng.uniform(-SPREAD, SPREAD, (count, len(self.names)))
        if not self.coordinated:
            return q
        places = [place for place, grips in wheel_places(self.assembly) if grips]
        tied = _tied(self.assembly)
        steered = [place for place in places if place.steered and place.name not in tied]
        for row in q:
            values = self.at(row[None]).values
            fixed = [
                replace(place, heading=place.heading + float(values[f"{place.name}.steering"][0]))
                if place.steered
                else place
                for place in places
                if place not in steered
            ]
            twist = _allowed(fixed, rng).tolist()
            for place, angle in zip(steered, steering_angles(steered, twist), strict=True):
                row[self.names.index(f"{place.name}.steering")] = angle
        return q

    def configurable(self) -> list[int]:
        """Coordinates that a search may move: those that loops bind, and all but the base's pose, wheels' spins and
        passive casters' angles.
        """
        tree = self.assembly.tree
        fixed = {
            name
            for link, at in zip(tree.links, tree.coordinate_slices(), strict=True)
            for name in self.assembly.coordinates[at]
            if link.joint.frame_stays or link is tree.links[0]
        }
        driven = self.motors()
        fixed |= {
            f"{wheel.name}.steering"
            for wheel in self.assembly.wheels
            if wheel.component.is_caster and f"{wheel.name}.steering_rate" not in driven
        }
        fixed -= {
            name
            for link, at, speeds in zip(
                tree.links, tree.coordinate_slices(), tree.speed_slices(), strict=True
            )
            if self.loops.bound.intersection(range(speeds.start, speeds.stop))
            for name in self.assembly.coordinates[at]
        }
        return [k for k, name in enumerate(self.names) if name not in fixed]


def velocity_maps(
    robot: Robot, parameters: Mapping[str, Scalar] | None = None, length: float | None = None
) -> VelocityMaps:
    """The maps of a described robot, by default at its own parameters and with its own length."""
    own = mechanism(robot, parameters)
    length = length or characteristic_length(own.assembly)
    maps = VelocityMaps(own, length, _scale(own.assembly, length), np.array(own.q))
    return replace(maps, coordinated=_followers(maps)) if parameters is None else maps


def characteristic_length(assembly: Assembly) -> float:
    """The length (m) that compares turning with moving: the wheels' root-mean-square distance from the base's origin,
    or a linkage's longest sum of joint distances; 1 where neither is there.
    """
    contacts = [wheel.position for wheel in rolling(assembly)]
    distances = [float(x) ** 2 + float(y) ** 2 for x, y in contacts]
    if sum(distances) > 0:
        return math.sqrt(sum(distances) / len(distances))
    reach: list[float] = []
    for link in assembly.tree.links:
        before = reach[link.parent] if link.parent >= 0 else 0.0
        reach.append(before + math.sqrt(sum(float(c) ** 2 for c in link.placement.position)))
    tips = [r + math.dist((0, 0, 0), tip_of(assembly, k)) for k, r in enumerate(reach)]
    tips += [
        (reach[end.link] if end.link >= 0 else 0.0)
        + math.sqrt(sum(float(c) ** 2 for c in end.placement.position))
        + float(loop.length)
        for loop in assembly.loops
        for end in (loop.first, loop.second)
    ]
    return max(tips, default=0.0) or 1.0


def tip_of(assembly: Assembly, link: int) -> Vector:
    """The point of a last link that stands for its end: its centre of mass, or its origin without a mass."""
    inertia = assembly.tree.links[link].inertia
    if is_zero(inertia.mass):
        return (0, 0, 0)
    return tuple(component / inertia.mass for component in inertia.first_moment)  # type: ignore[return-value]


def last_links(robot: Robot, assembly: Assembly) -> list[str]:
    """Bodies that move on the base and carry nothing more: no joint, no loop's end and no wheel on the ground."""
    tree = assembly.tree
    moving = [link.moves and link.parent != WORLD for link in tree.links]
    parents = {link.parent for link in tree.links}
    carrying = {index for wheel in rolling(assembly) for index in tree.ancestors(wheel.link)}
    carrying |= {end.link for loop in assembly.loops for end in (loop.first, loop.second)}
    indices = {
        (joint.body.name or name) if joint.body is not None else name: assembly.links[name]
        for name, joint in robot.joints.items()
    }
    return [
        name
        for name, index in indices.items()
        if index not in parents | carrying and any(moving[each] for each in tree.ancestors(index))
    ]


def _scale(assembly: Assembly, length: float) -> np.ndarray:
    """ν = scale · (scaled speeds), which are all in m/s: of angular ones at `length`, of spins at the wheel's rim."""
    scale = np.ones(len(assembly.speeds))
    poses = mounting(assembly)
    for link, at, pose in zip(assembly.tree.links, assembly.tree.speed_slices(), poses, strict=True):
        columns = link.subspace(pose)
        for j, column in zip(range(at.start, at.stop), columns, strict=True):
            turns = any(not is_zero(component) for component in column.angular)
            scale[j] = 1 / length if turns else 1.0
    for linkage in assembly.linkages:
        scale[linkage.column] = 1 / length
    for wheel in assembly.wheels:
        if wheel.spin is not None:
            scale[wheel.spin] = 1 / float(np.max(wheel.radius))
    return scale


def _allowed(fixed: Sequence[WheelPlace], rng: np.random.Generator) -> np.ndarray:
    """A random twist that the fixed wheels allow."""
    if not fixed:
        return rng.normal(size=3)
    rows = np.array([[-math.sin(w.heading), math.cos(w.heading), 0.0] for w in fixed])
    rows[:, 2] = [w.x * math.cos(w.heading) + w.y * math.sin(w.heading) for w in fixed]
    free = null_space(rows)
    return free @ rng.normal(size=free.shape[1])


def _tied(assembly: Assembly) -> set[str]:
    """Steered wheels whose steering follows something by a coupling, or is followed."""
    columns = {
        axis.column for coupling in assembly.couplings for axis in (*coupling.leaders, *coupling.followers)
    }
    return {wheel.name for wheel in assembly.wheels if wheel.steering in columns}


def _followers(maps: VelocityMaps) -> tuple[str, ...]:
    """Steered wheels that must follow others: those beyond the rank that still leaves the base a motion.

    Taken in the order of the description: a wheel leads where the base moves at all with its row added.
    """
    if not maps.base:
        return ()
    rng = np.random.default_rng(SEED)
    q = maps.start + rng.uniform(-SPREAD, SPREAD, (5, len(maps.names)))
    tied = _tied(maps.assembly)
    free = [w for w in rolling(maps.assembly) if w.component.is_steered and w.name not in tied]
    followers: list[str] = []
    leading = replace(maps, coordinated=tuple(w.name for w in free))
    if _base_freedom(leading, q) == 0 or _base_freedom(maps, q) > 0:
        return ()
    for wheel in free:
        tried = tuple(w for w in leading.coordinated if w != wheel.name)
        if _base_freedom(replace(maps, coordinated=tried), q) > 0:
            leading = replace(maps, coordinated=tried)
        else:
            followers.append(wheel.name)
    return tuple(followers)


def _base_freedom(maps: VelocityMaps, q: np.ndarray) -> int:
    """How many velocities the base has in general: rank of N's base rows = n_base − (rank A − rank A_other)."""
    rows = maps.constraints(q, led=True)
    others = [j for j in range(rows.shape[2]) if j not in maps.base]
    return len(maps.base) - (generic_rank(rows) - generic_rank(rows[:, :, others]))

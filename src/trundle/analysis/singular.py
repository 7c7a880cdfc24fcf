"""Where a robot's velocity maps lose rank: singular configurations, and parameters that make all of them singular."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from trundle.analysis.singularity import (
    ConstraintSurface,
    SingularitySearch,
    SingularPoint,
    box,
    find_singular,
    relevant,
)
from trundle.analysis.velocity_maps import VelocityMaps, velocity_maps
from trundle.errors import InputError
from trundle.mechanics.closing import CLOSED, closed
from trundle.mechanics.elimination import generic_rank
from trundle.model.classification import rolling
from trundle.robot import Robot
from trundle.scalars import Scalar
from trundle.shown import Explained

Matrices = Callable[[VelocityMaps, np.ndarray], np.ndarray]
TWIST = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")
WHEELS, LOOPS, MOTORS = "wheels", "loops", "motors"

# More coordinates can't be searched by sampling.
MOST_SEARCHED = 10
# Samples of a search, a coordinate.
_LOOKS = 300
# Two searches end this near (rad, m) to one another at one singularity.
_SAME = 1e-6


@dataclass(frozen=True)
class TaskFrame:
    """A frame whose motion is the task: a point (m) of a link, and the parts of its twist that count.

    All parts that can move where the robot has motions enough for them, else the linear ones.
    """

    name: str
    link: int
    point: tuple[float, float, float]
    parts: tuple[str, ...]

    @property
    def rows(self) -> list[int]:
        """Places of the parts in a twist."""
        return [TWIST.index(part) for part in self.parts]


@dataclass(frozen=True)
class Singularity(Explained):
    """Where one of the robot's velocity maps loses rank.

    `what`: "wheels" (the rolling constraints: the robot gains a motion there), "loops" (the same for what loops hold:
    its ways of assembly meet), "motors" (it moves although its motors stand still), or a frame's name (in one direction
    the frame can't be moved); `effect` says so. `parameters`: those that make it so in every configuration when they
    are zero. `units` are the coordinates'. `search` is None where `note` says why nothing was searched.
    """

    what: str
    parameters: tuple[str, ...] = ()
    search: SingularitySearch | None = None
    note: str = ""
    effect: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def points(self) -> tuple[SingularPoint, ...]:
        """The singular configurations that were found."""
        return () if self.search is None else self.search.singular


def singularities(
    maps: VelocityMaps, frame: TaskFrame | None, general: np.ndarray
) -> tuple[Singularity, ...]:
    """Where wheels, motors and frame lose rank, over all configurations in the joints' limits.

    At the described parameters by a bounded search with Newton's method; and, at general configurations, for each
    parameter that may be zero.
    """
    tasks = rank_tasks(maps, frame, general)
    if maps.coordinated:
        note = "with the centre of rotation on a steered wheel's contact, that wheel may have any angle"
        return (Singularity(WHEELS, note=note),)
    critical = critical_parameters(maps, tasks, general)
    searched = {what: _search(maps, what, task, critical[what], general) for what, task in tasks.items()}
    if LOOPS in searched and WHEELS in searched:
        searched[WHEELS] = _beyond(searched[WHEELS], searched[LOOPS].points)
    return tuple(searched.values())


def _beyond(wheels: Singularity, loops: Sequence[SingularPoint]) -> Singularity:
    """Without what the loops alone are the cause of: their rows are among those that the wheels' rank is taken of."""

    def same(a: SingularPoint, b: SingularPoint) -> bool:
        one, two = dict(a.at), dict(b.at)
        return one.keys() == two.keys() and all(abs(one[name] - two[name]) < _SAME for name in one)

    if wheels.search is None:
        return wheels
    own = tuple(point for point in wheels.points if not any(same(point, other) for other in loops))
    return replace(wheels, search=replace(wheels.search, singular=own))


def rank_tasks(maps: VelocityMaps, frame: TaskFrame | None, general: np.ndarray) -> dict[str, Matrices]:
    """The matrices whose loss of rank means something, by name."""
    tasks: dict[str, Matrices] = {}
    if maps.assembly.loops:
        tasks[LOOPS] = lambda m, q: m.loop_rows(q)
    if maps.constraints(general[:1]).shape[1]:
        if rolling(maps.assembly) or not maps.assembly.loops:
            tasks[WHEELS] = lambda m, q: m.constraints(q)
        if maps.motors() and generic_rank(_with_motors(maps, general), maps.zero) == len(maps.scale):
            tasks[MOTORS] = _with_motors
    if frame is not None:
        tasks[frame.name] = lambda m, q: np.concatenate(
            [m.constraints(q), m.frame(q, frame.link, frame.point)[:, frame.rows]], axis=1
        )
    return tasks


def critical_parameters(
    maps: VelocityMaps, tasks: dict[str, Matrices], general: np.ndarray
) -> dict[str, tuple[str, ...]]:
    """Which parameters of the description, set to zero, take rank from each of the matrices everywhere.

    Only those that the description lets be zero; all are tried at once, one a lane.
    """
    robot = maps.mechanism.robot
    values = robot.parameter_values()
    tried = [name for name, value in values.items() if value != 0]
    result: dict[str, tuple[str, ...]] = dict.fromkeys(tasks, ())
    # Bars of no length make another linkage, if loops close at all.
    if not tried or maps.assembly.loops:
        return result
    lanes: dict[str, Scalar] = {**values}
    for k, name in enumerate(tried):
        lanes[name] = np.where(np.arange(len(tried)) == k, 0.0, values[name])
    with np.errstate(all="ignore"):
        changed = replace(velocity_maps(robot, lanes, maps.length), scale=maps.scale)
        for what, task in tasks.items():
            described = generic_rank(task(maps, general), maps.zero)
            ranks = np.zeros(len(tried), dtype=int)
            for q in general[:2]:
                rows = task(changed, np.repeat(q[None], len(tried), axis=0))
                finite = np.isfinite(rows).all(axis=(1, 2))
                idle = (rows == task(maps, q[None])).all(axis=(1, 2))  # most of them, as masses
                ranks[~finite | idle] = described
                for k in np.flatnonzero(finite & ~idle):
                    ranks[k] = max(ranks[k], generic_rank(rows[k : k + 1]))
            lost = [name for name, rank in zip(tried, ranks, strict=True) if rank < described]
            result[what] = tuple(name for name in lost if allowed(robot, {name: 0.0}))
    return result


def _search(
    maps: VelocityMaps, what: str, task: Matrices, critical: tuple[str, ...], general: np.ndarray
) -> Singularity:
    """Look for configurations at which one task loses rank; too many decisive coordinates are told, not searched."""
    movable, effect = maps.configurable(), _effect(maps, what, task, general)
    many = Singularity(
        what, critical, None, f"{what}: not searched, more than {MOST_SEARCHED} coordinates decide it", effect
    )
    if len(movable) > 3 * MOST_SEARCHED:
        return many
    decisive = decisive_coordinates(maps, task, movable)
    if len(decisive) > MOST_SEARCHED:
        return many
    where = box(maps, decisive)
    search = find_singular(
        _among(maps, task, decisive),
        where,
        _LOOKS * max(len(decisive), 1),
        _surface(maps, decisive),
        generic_rank(task(maps, general), maps.zero) if maps.assembly.loops else None,
    )
    return Singularity(what, critical, search, effect=effect, units=maps.assembly.quantities.units)


def decisive_coordinates(maps: VelocityMaps, task: Matrices, movable: Sequence[int]) -> list[int]:
    """Those of the movable coordinates on which the singular values depend, or what closes the loops."""
    places = relevant(_among(maps, task, movable), maps.start[list(movable)])
    if maps.assembly.loops:
        gaps = _among(maps, lambda m, q: m.loops.gaps_and_rows(q)[0][:, :, None], movable)
        places = sorted({*places, *relevant(gaps, maps.start[list(movable)])})
    return [movable[k] for k in places]


def _among(maps: VelocityMaps, task: Matrices, places: Sequence[int]) -> Callable[[np.ndarray], np.ndarray]:
    """The task over some of the coordinates, the others at their start."""
    return lambda q: task(maps, _filled(maps, places, q))


def _filled(maps: VelocityMaps, places: Sequence[int], q: np.ndarray) -> np.ndarray:
    full = np.tile(maps.start, (len(q), 1))
    full[:, list(places)] = q
    return full


def _surface(maps: VelocityMaps, places: Sequence[int]) -> ConstraintSurface | None:
    """The closed configurations, over the coordinates at `places`."""
    if not maps.assembly.loops:
        return None

    def project(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved, left = closed(maps.loops.conditions, _filled(maps, places, q))
        return moved[:, list(places)], left <= CLOSED

    return ConstraintSurface(_among(maps, lambda m, q: m.loops.gaps_and_rows(q)[0], places), project)


def _effect(maps: VelocityMaps, what: str, task: Matrices, general: np.ndarray) -> str:
    """What a loss of rank means, for a person."""
    if what == WHEELS:
        return "its wheels leave it more freedom"
    if what == LOOPS:
        return "ways of assembly meet, one more motion is free"
    if what == MOTORS:
        dead = "a dead point, " if maps.assembly.loops else ""
        return f"{dead}it can move while its motors stand still"
    ways = generic_rank(task(maps, general), maps.zero) - generic_rank(maps.constraints(general), maps.zero)
    return f"{what} stands still" if ways == 1 else f"{what} can't be moved in one direction"


def _with_motors(maps: VelocityMaps, q: np.ndarray) -> np.ndarray:
    return np.concatenate([maps.constraints(q), maps.driven(len(q))], axis=1)


def allowed(robot: Robot, parameters: Mapping[str, float]) -> bool:
    """Whether the description's checks accept these parameters."""
    try:
        robot.parameter_values(parameters)
    except InputError:
        return False
    return True

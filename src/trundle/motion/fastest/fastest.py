"""`trundle.fastest`: the quickest motion between poses that a search finds, all limits held at every instant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.catalog.steered import limited_swerve
from trundle.model.arguments import Given, robot_of
from trundle.motion.commands.drive import Driven, driven_modules
from trundle.motion.constraints.real_limits import planned_with
from trundle.motion.drive.drive import Limits
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.fastest.obstacles import Obstacle, obstacles_of
from trundle.motion.fastest.outlines import given_outline, outline_of
from trundle.motion.fastest.problem import Problem
from trundle.motion.fastest.searching import Reached, Search, searched
from trundle.motion.fastest.wishes import (
    Events,
    Place,
    Zones,
    events_of,
    require_apart,
    require_clear,
    require_mobile,
    require_open,
    require_pace,
    stops_of,
    warn_of_headings,
)
from trundle.motion.paths.following import linked
from trundle.motion.pieces.motion import Motion
from trundle.motion.planning.search import Candidate
from trundle.progress import Doing


@dataclass(frozen=True, eq=False, repr=False)
class Fastest(Driven):
    """The fastest motion that was found, and the starts of its search.

    Parameters
    ----------
    candidates : tuple of Candidate
        All starts with the times that they led to: the chosen one first. Those of a first look are about right only.
    obstacles : tuple of Obstacle
        What it keeps out of, in convex parts.
    """

    candidates: tuple[Candidate, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def kept_out(self) -> tuple[tuple[FloatArray, float], ...]:
        """The obstacles' corners (c, 2), and how much around them (m)."""
        return tuple((obstacle.corners, obstacle.radius) for obstacle in self.obstacles)

    @property
    def search(self) -> dict[str, object]:
        """The starts as plain data."""
        times = [tried.duration if math.isfinite(tried.duration) else None for tried in self.candidates]
        rows = zip(self.candidates, times, strict=True)
        return {"starts": [{"way": c.way, "duration": time, "verdict": c.verdict} for c, time in rows]}


def fastest(
    robot: Given | None,
    start: Place,
    goal: Place,
    *,
    via: Sequence[Place] = (),
    keep_out: Sequence[npt.ArrayLike] = (),
    zones: Zones = (),
    events: Events = (),
    outline: npt.ArrayLike | None = None,
    angles: Mapping[str, float] | None = None,
    limits: Mapping[str, Limits] | Limits | None = None,
    grip: float | None = 0.95,
    progress: bool = True,
) -> Fastest:
    """The quickest motion from a pose to another one, at rest at both, that a search from several starts finds.

    min T such that the wheels roll without slip and all their limits hold: direct collocation in reduced coordinates,
    ξ = r(t) d(t), which no rolling constraint has to hold. Between the programme's points limits are held by bounds.
    Where the description's motors are limited, they, batteries and the floor bind, as `follow` has them: the programme
    takes them for limits of speeds and accelerations, and along the way that it finds the true laws say how fast.

    Parameters
    ----------
    robot : Robot, Model, path or mapping, or None
        Its wheels are fixed, have rollers, or steer about their centres. None:
        `trundle.catalog.limited_swerve()`.
    start, goal : sequence of three floats
        x, y (m), θ (rad) in the world; None in θ's place where any will do at the goal. θ counts by what it differs
        from whole turns.
    via : sequence of sequences, optional
        Poses on the way: x, y (m), then θ (rad) and the base's speed there (m/s) where these aren't free.
    keep_out : sequence, optional
        Obstacles on the floor: discs (x, y, radius) and polygons ((x, y), (x, y), …), in m.
    zones : sequence of (int, int, mapping of str to float), optional
        From which pose to which, 0 being the start, the base's greatest "velocity" (m/s), "acceleration" (m/s²), "rate"
        (rad/s) and "rate_change" (rad/s²), those that are limited.
    events : sequence of (str, float), optional
        What is to happen at which pose, 0 being the start; 1.5 is halfway, in time, from the next one to that behind.
    outline : array_like (c, 2), m, optional
        Corners of the robot in its frame, of which the convex polygon about them counts. Default: that about its
        wheels and its base's own shapes.
    angles : mapping of str to float, rad, optional
        Of the modules before; those that differ from what the motion needs are steered first, at rest.
        Default: as it needs them.
    limits : Limits or mapping of str to Limits, optional
        Instead of the declared ones: one for all modules, or by their names.
    grip : float, optional
        The share of every wheel's friction that the motion uses at most. None: only declared limits count.
    progress : bool, optional
        Whether work of more than a second is told of.

    Returns
    -------
    Fastest
        Its `motion`, the starts that were tried; a run, a summary.

    Raises
    ------
    InputError
        A pose isn't numbers, is the one before it or in an obstacle. The wheels can't move the base, or nothing limits
        them.
    NumericsError
        No start led to a motion; it says what gives way where in one that misses the least of what is asked.

    References
    ----------
    Betts 2010, "Practical Methods for Optimal Control", chapter 4; Reeds and Shepp 1990 for starts of cars.

    Examples
    --------
    >>> import trundle
    >>> limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=4)
    >>> motion = trundle.fastest(trundle.catalog.swerve(), (0, 0, 0), (2, 0, 0), limits=limits).motion
    >>> round(motion.duration, 3)  # to full speed, on, and to rest: 2/2 + 2/4
    1.5
    """
    with Doing(progress, "searching the fastest motion") as doing:
        described = limited_swerve() if robot is None else robot_of(robot, "fastest", "it has no wheels")
        who = driven_modules(kinematics(described))
        search = Search(
            who,
            linked(who, who.drive.limited(limits)),
            planned_with(who, grip),
            None if angles is None else who.drive.angles_by_name(angles),
        )
        stops, obstacles = stops_of(start, goal, via, zones), obstacles_of(keep_out)
        asked = events_of(events, len(stops) - 1)
        robot_outline = outline_of(who) if outline is None else given_outline(outline)
        problem = search.problem(stops, obstacles, robot_outline)
        warn_of_headings(problem)
        require_apart(problem)
        require_clear(problem)
        require_open(problem)
        require_mobile(problem, who.name)
        require_pace(problem)
        best, candidates = searched(problem, search, doing)
        driven = _driven(problem, search, best, zones, asked)
        return replace(driven, candidates=candidates, obstacles=obstacles)


def _driven(
    problem: Problem,
    search: Search,
    best: Reached,
    zones: Zones,
    events: Sequence[tuple[str, float]],
) -> Fastest:
    """The motion with what is told of it."""
    motion = Motion(search.who, best.pieces, problem.start)
    times = best.times
    return Fastest(
        "fastest",
        None,
        "fastest",
        "quickest",
        motion,
        np.array([motion.duration]),
        search.declared.limits,
        (),
        (),
        tuple((name, float(np.interp(at, np.arange(len(times)), times))) for name, at in events),
        tuple((float(times[first]), float(times[last]), limits) for first, last, limits in zones),
        grip=None if search.real is None else search.real.grip,
    )

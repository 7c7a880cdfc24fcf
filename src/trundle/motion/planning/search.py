"""The search for the fastest way from a twist to another one: candidates, polished, certified, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.modules import turns_into_range
from trundle.motion.constraints.real_limits import of_pace
from trundle.motion.constraints.slowdown import slowdown
from trundle.motion.drive.drive import Drive, log_rates
from trundle.motion.pieces.motion import Piece, total
from trundle.motion.pieces.pieces import straight, turning
from trundle.motion.pieces.profiles import change
from trundle.motion.planning.course_pieces import AlongCourse
from trundle.motion.planning.courses import (
    QUICK,
    THOROUGH,
    Crossing,
    fit_speeds,
    least_duration,
    polish,
    waves,
)
from trundle.motion.planning.proofs import bounds, least_time
from trundle.motion.planning.splines import sampling
from trundle.motion.planning.ways import Way, laid, ways

# Below this (m/s of a module, by a direction of unit length) a module stands on the centre of rotation. Its angle is
# chance there, and a course would have to leave along it.
_OFF_AXIS = 1e-6
# Ways that are polished, the best by their estimates: they are solved together, in time that grows with their number.
_POLISHED = 3
# A way is left beyond so many times the best estimate. Polishing shortens some more than others: this leaves room for
# their order to change.
_HOPEFUL = 1.35
# Powers of the norm in polishing, one Newton's step each. A course is laid in the least time of whoever steers most,
# so its largest values are spread already, and the steps needn't begin with least squares (2).
_POWERS = (4, 4, 6, 8)


# Courses that take less (s) have a jerk that rounding changes by more than 1e-10 rad/s³.
_SHORT = 0.1
# How much slower a course is than its largest values ask for, as these are found to so much.
_SPARE = 1e-9


@dataclass(frozen=True)
class Candidate:
    """A way to move that was looked at: in words, how long it takes (s), and what became of it."""

    way: str
    duration: float
    verdict: str


@dataclass(frozen=True, eq=False)
class Transition:
    """From a twist to another one: pieces, candidates by their times."""

    pieces: tuple[Piece, ...]
    start_angles: FloatArray
    candidates: tuple[Candidate, ...]

    @property
    def end_angles(self) -> FloatArray:
        """Where the modules' angles arrive, (m,) in rad."""
        return self.pieces[-1].end_angles if self.pieces else self.start_angles

    @property
    def duration(self) -> float:
        """How long the pieces take, in s."""
        return total(self.pieces)


def transition(drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray) -> Transition:
    """The fastest of all candidates; at both ends the twist and the modules' angles stay as they are for a moment."""
    # twists of one direction ask for no steering: the ramp between them is taken without a look at others
    direct = _straight(drive, start, end, angles)
    if direct is not None:
        return decided([("straight", direct)], [], angles)
    options = [("stop: brake, steer at rest, go", through_rest(drive, start, end, angles))]
    lost: list[Candidate] = []
    heading = _heading(drive, start, angles)
    if heading is not None and np.abs(nearest_turns(drive, angles, end)).max():
        at_rest = drive.still(drive.velocities(start)).all()
        size = float(np.linalg.norm(start))
        turns = nearest_turns(drive, angles, heading) if at_rest else np.zeros(len(angles))
        before = turning(drive, angles, turns)
        # a course must take less than what is left of the time through rest, as steering at rest comes before it
        limit = total(options[0][1]) - total(before)
        least = least_time(drive, start, end, angles) - total(before)
        courses, lost = _courses(drive, (heading, size), end, angles + turns, (least, limit))
        first = "steer until all wheels agree, then " if before else ""
        options += [(first + name, (*before, *pieces)) for name, pieces in courses]
        lost = [
            Candidate(first + candidate.way, candidate.duration + total(before), candidate.verdict)
            for candidate in lost
        ]
    return decided(options, lost, angles)


def _heading(drive: Drive, start: FloatArray, angles: FloatArray) -> FloatArray | None:
    """The direction in which all wheels roll, or at rest the one nearest to theirs: a course may begin along it.

    None where a wheel stands on the centre of rotation, whose angle is chance, or can't come to agree within its range.
    """
    if not drive.still(drive.velocities(start)).all():
        direction = start / np.linalg.norm(start)
    else:
        rows = np.real(1j * np.exp(-1j * angles) * drive.map).T  # the velocities across the wheels
        direction = np.linalg.svd(rows)[2][-1]
    if np.abs(drive.velocities(direction)).min() <= _OFF_AXIS:
        return None
    return None if np.isnan(nearest_turns(drive, angles, direction)).any() else direction


def decided(
    options: list[tuple[str, tuple[Piece, ...]]], lost: list[Candidate], angles: FloatArray
) -> Transition:
    """The fastest of the options, with all candidates: it first, then those with pieces, then those without."""
    options.sort(key=lambda option: total(option[1]))
    best = total(options[0][1])
    named = [Candidate(options[0][0], best, "chosen")]
    named += [
        Candidate(name, total(pieces), f"takes {total(pieces) - best:.3g} s longer")
        for name, pieces in options[1:]
    ]
    pieces = options[0][1]
    return Transition(pieces, angles, (*named, *sorted(lost, key=lambda candidate: candidate.duration)))


def _straight(
    drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray
) -> tuple[Piece, ...] | None:
    """Between twists of one direction the wheels keep their angles; None where the directions differ."""
    if drive.still(drive.velocities(start)).all():
        return () if drive.still(drive.velocities(end)).all() else None
    direction = start / np.linalg.norm(start)
    along = float(end @ direction)
    if not drive.still(drive.velocities(end - along * direction)).all():
        return None
    return _ramp(drive, direction, float(np.linalg.norm(start)), along, angles)


def _ramp(
    drive: Drive, direction: FloatArray, start: float, end: float, angles: FloatArray
) -> tuple[Piece, ...]:
    """The fastest change of speed along a direction."""
    if start == end:
        return ()
    u = drive.velocities(direction)
    moving = ~drive.still(u)
    acceleration, jerk = (drive.rolling[1:, moving] / np.abs(u[moving])).min(axis=1)
    return (straight(drive, direction, change(start, end, acceleration, jerk), angles),)


def through_rest(drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray) -> tuple[Piece, ...]:
    """Brake with the wheels held, steer at rest whichever way is nearer, and go."""
    pieces: tuple[Piece, ...] = ()
    if not drive.still(drive.velocities(start)).all():
        size = float(np.linalg.norm(start))
        pieces = _ramp(drive, start / size, size, 0.0, angles)
    turns = nearest_turns(drive, angles, end)
    size = float(np.linalg.norm(end))
    return (*pieces, *turning(drive, angles, turns), *_ramp(drive, end / size, 0.0, size, angles + turns))


def nearest_turns(drive: Drive, angles: FloatArray, twist: FloatArray) -> FloatArray:
    """By how much the modules steer (m,) until they agree with a twist, forward or backward, within their ranges.

    NaN where its range holds no such angle; a module that a twist doesn't move stays.
    """
    u = drive.velocities(twist)
    turns = turns_into_range(np.angle(u * np.exp(-1j * angles)), angles, drive.ranges)
    return np.where(drive.still(u), 0.0, turns)


def _courses(
    drive: Drive,
    start: tuple[FloatArray, float],
    end: FloatArray,
    angles: FloatArray,
    span: tuple[float, float],
) -> tuple[list[tuple[str, tuple[Piece, ...]]], list[Candidate]]:
    """Certified courses from a direction and the speed along it, and the ways that were left.

    `span`: the least time that is possible, and the most that is of use.
    """
    bound, limit = span
    every = ways(drive, start[0], end)
    hopeful = min(limit, _HOPEFUL * max(every[0].estimate, bound))
    chosen = [way for way in every if way.estimate < hopeful][:_POLISHED]
    left = [way for way in every if way not in chosen]
    lost = [Candidate(_named(drive, way), way.estimate, "seems slower, not looked into") for way in left]
    if not chosen:
        return [], lost
    offered = _offered(drive, chosen, start[1], float(np.linalg.norm(end)), bound)
    courses: list[tuple[str, tuple[Piece, ...]]] = []
    for least, way, controls, crossing, r in sorted(offered, key=lambda offer: offer[0]):
        name = _named(drive, way)
        if least >= limit:
            lost.append(Candidate(name, least, f"takes {least - limit:.3g} s longer"))
            continue
        duration = bounds(drive, controls, crossing, r).duration(drive)
        course = _rounded(AlongCourse(drive, controls, crossing, r, duration, angles))
        if fault := _fault(course):
            lost.append(Candidate(name, course.duration, fault))
        else:  # the others follow by rising least times: those that can't beat this one need no certificate
            limit = min(limit, course.duration)
            courses.append((name, (course,)))
    return courses, lost


def _offered(
    drive: Drive, chosen: list[Way], start: float, end: float, bound: float
) -> list[tuple[float, Way, FloatArray, Crossing, FloatArray]]:
    """The least times of ways by samples, with control points of their courses and of the speeds from `start` to `end`.

    Those whose steering would be faster than the best, but not their drives, are tried again with more care, and as
    they were laid: what steers faster may drive slower.
    """
    laid_out, crossings = zip(*[laid(drive, way) for way in chosen], strict=True)
    better, steered = polish(drive, np.array(laid_out), crossings, _POWERS)
    ends, times = (start, end), np.maximum(steered, bound)
    speeds, least = _driven(drive, better, chosen, crossings, speeds=ends, times=times, powers=QUICK)
    offered = list(zip(least.tolist(), chosen, better, crossings, speeds, strict=True))
    if (steered >= least.min()).all():
        return offered
    both = np.concatenate([better, laid_out])
    steered = least_duration(drive, log_rates(waves(drive, both, 2 * crossings, sampling())))
    again = np.flatnonzero(steered < least.min())
    ways_again, crossings = [(2 * chosen)[i] for i in again], [(2 * crossings)[i] for i in again]
    times = np.maximum(steered[again], bound)
    speeds, closer = _driven(
        drive, both[again], ways_again, crossings, speeds=ends, times=times, powers=THOROUGH
    )
    return [*offered, *zip(closer.tolist(), ways_again, both[again], crossings, speeds, strict=True)]


def _driven(
    drive: Drive,
    controls: FloatArray,
    chosen: Sequence[Way],
    crossings: Sequence[Crossing],
    *,
    speeds: tuple[float, float],
    times: FloatArray,
    powers: Sequence[float],
) -> tuple[FloatArray, FloatArray]:
    """Control points of the speed along courses, from a speed to another one, and the least times of both."""
    sizes = np.linalg.norm(controls, axis=2)
    signs = np.array([way.sign for way in chosen])
    # controls are directions of any length: r at the ends makes the twists' lengths right
    ends = np.stack([speeds[0] / sizes[:, 0], signs * speeds[1] / sizes[:, -1]], axis=1)
    r, driven = fit_speeds(drive, controls, crossings, ends, times, powers)
    return r, np.maximum(times, driven)


def _rounded(course: AlongCourse) -> AlongCourse:
    """The course, slower by what rounding makes of its rates where it is short: its certificate is of exact numbers.

    Rounding ε of the controls is one of ε n³/T³ of the steering's jerk, 1e-13 rad/s³ · (1 s/T)³.
    """
    if not 0 < course.time < _SHORT:
        return course
    ((factor, _),) = slowdown((course,), of_pace(replace(course.drive, robot=None), None))
    return course.slower(factor)


def _fault(course: AlongCourse) -> str:
    """Why a course can't be taken, or nothing."""
    if not np.isfinite(course.duration):
        return "a wheel would be too fast on the way"
    barred = course.out_of_range()
    return "" if barred is None else f"would turn {course.drive.names[barred]} out of its steering_range"


def _named(drive: Drive, way: Way) -> str:
    """A way in words, as `Plan.candidates` shows it."""
    kinds = {
        "line": "straight line of twists",
        "angles": "all angles evenly",
        "axis": "through the axis of " + (drive.names[way.crossing[0][0]] if way.crossing else ""),
    }
    return kinds[way.kind] + (", speed through zero" if way.sign < 0 else "")

"""Following a path of poses: the quickest motion along it that all modules can do, no limit passed at any instant."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.catalog.steered import limited_swerve
from trundle.errors import InputError, NumericsError
from trundle.expected import came
from trundle.mechanics.modules import turns_into_range
from trundle.mechanics.steering import STILL
from trundle.model.arguments import Given, robot_of
from trundle.motion.commands.control_levels import turned
from trundle.motion.commands.drive import Driven
from trundle.motion.commands.steps import Setpoint
from trundle.motion.constraints.real_limits import ActuationLimits, of_motion, of_pace, planned_with
from trundle.motion.constraints.slowdown import slowdown
from trundle.motion.drive.drive import Drive, Limits, require_speeds
from trundle.motion.drive.kinematics import Kinematics, kinematics, planned
from trundle.motion.forces.motor_limits import implied
from trundle.motion.paths.along_path import AlongPath, Stretched, local_velocities, steered_along
from trundle.motion.paths.collocation_grid import PathProblem
from trundle.motion.paths.held_wheels import check_held, out_of_range
from trundle.motion.paths.knots import Knots, graded
from trundle.motion.paths.path_files import read_path
from trundle.motion.paths.path_scaling import Scaling
from trundle.motion.paths.pose_paths import PosePath, Section, Zone
from trundle.motion.paths.retime import retime
from trundle.motion.pieces.motion import Motion, Piece, total
from trundle.progress import Doing
from trundle.robot.couplings import linkages

# Intervals of a section's speed: so many at least and at most, and one more for so many metres and radians of steering.
_FEWEST, _MOST = 40, 120
_METRES, _RADIANS = 0.05, 0.06
# Nor does a wheel steer by more than this (rad) on one: where it passes near the centre of rotation, bounds are sharp.
_SWING = 0.8
# Looks along a section for its zeros, knots and swings: a wheel must not turn by half a turn from look to look.
_LOOKS = 4001
# Rounds of thirds that close in on a zero of a velocity: (2/3)^60 of two looks is 1e-14 of the section.
_THIRDS = 60
# Knots nearer to the one before than this share of the section are left out: splines on them would be ill-conditioned.
_APART = 1e-6
# Speeds at the ends that are lower than asked for by more than this share are told.
_SLOWER = 0.02
# A section is asked for at ż = 1.
_UNIT = Scaling(np.array([0.0, 1.0]), np.array([[1.0, 0.0, 0.0]]))


def _path_of(given: PosePath | str | os.PathLike[str]) -> PosePath:
    """The path of poses, or the one in a file; InputError for anything else."""
    if isinstance(given, PosePath):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_path(given)
    hint = "trundle.pose_path(poses) makes one of poses (x, y, θ)"
    raise InputError(f"follow takes a path, not {came(given)}", key="path", hint=hint)


def follow(
    path: PosePath | str | os.PathLike[str],
    robot: Given | None = None,
    *,
    angles: Mapping[str, float] | None = None,
    limits: Mapping[str, Limits] | Limits | None = None,
    grip: float | None = 0.95,
    margin: float = 0.0,
    progress: bool = True,
) -> Driven:
    """The quickest motion along a path of poses that motors, batteries and floor let the wheels do.

    The poses q(s) fix where wheels roll and how they steer; s(t) and how the wheels share forces are free. What motors
    can give at their rates, batteries that sag, friction along and across every wheel under its load, and declared
    limits hold at every instant. A robot whose wheels have no limited motors keeps its declared limits alone.
    Where a wheel stands on the centre of rotation in the middle of a path, the base stops, as its angle could turn by
    a half at once. Wheels roll forward or backward, as is nearer to their angles before.

    Parameters
    ----------
    path : PosePath or path
        `pose_path(poses)`, or what `read_path` reads.
    robot : Robot, Model, path or mapping, optional
        Its wheels, motors and limits. Wheels that hold their direction, as of differential drives and cars, take paths
        along which they roll: `pose_path` of points. Default: `trundle.catalog.limited_swerve()`.
    angles : mapping of str to float, rad, optional
        Of the modules before; those that differ from what the path needs are steered first, at rest. Default: as the
        path needs them.
    limits : Limits or mapping of str to Limits, optional
        Instead of the declared ones: one for all modules, or by their names.
    grip : float, optional
        The share of every wheel's friction that the plan uses at most. None: only declared limits count, as if motors
        and floor gave whatever is asked.
    margin : float, optional
        The share of `grip` and of motors' and batteries' volts that is left to a controller, such as 0.05.
    progress : bool, optional
        Whether work of more than a second is told of.

    Returns
    -------
    Driven
        Its `motion`, with `.samples(times)` and `.poses(times)`; a run, a summary.

    Raises
    ------
    InputError
        A wheel can't follow any path, no limit of its speed is known, its steering range is left, it has no friction,
        its motors can't move it, or the path takes more than there is.

    References
    ----------
    Verscheure et al. 2009, "Time-optimal path tracking for robots: a convex optimization approach".

    Examples
    --------
    >>> import trundle
    >>> path = trundle.pose_path([(0, 0, 0), (1, 1, 0), (2, 0, 0)])
    >>> limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=3)
    >>> motion = trundle.follow(path, trundle.catalog.swerve(), limits=limits).motion
    >>> motion.poses([motion.duration])[0].round(9).tolist()
    [2.0, 0.0, 0.0]
    """
    with Doing(progress, "planning along the path"):
        path = _path_of(path)
        who = planned(
            kinematics(limited_swerve() if robot is None else robot_of(robot, "follow", "it has no wheels"))
        )
        real = planned_with(who, grip, margin)
        drive = linked(who, who.drive.limited(limits))
        if path.way is not None and drive.holding:
            path = path.way()
        if real is None:
            require_speeds(drive)
        return _along_all(path, who, drive, angles, real)


def linked(who: Kinematics, drive: Drive) -> Drive:
    """The drive with a quarter turn to both sides for wheels on a linkage, which none leads over, unless told less."""
    tied = {wheel for tie in linkages(who.robot.couplings).values() for wheel in tie.wheels}
    limits = {
        name: replace(own, steering_range=(heading - math.pi / 2, heading + math.pi / 2))
        if name in tied and own.steering_range is None
        else own
        for name, own, heading in zip(drive.names, drive.limits, drive.headings.tolist(), strict=True)
    }
    return drive.limited(limits)


def _along_all(
    path: PosePath,
    who: Kinematics,
    drive: Drive,
    angles: Mapping[str, float] | None,
    real: ActuationLimits | None,
) -> Driven:
    """The motion over all sections, with a stop where a wheel's angle could turn by a half at once."""
    pieces: list[Piece] = []
    ends: list[float] = []
    events: list[tuple[str, float]] = []
    zones: list[tuple[float, float, dict[str, float]]] = []
    now = None if angles is None else drive.angles_by_name(angles)
    for section, begins in zip(path.sections, path.begins[:-1], strict=True):
        for part in section.cut(_standing(drive, section)):
            begin = float(begins) + part.begin - section.begin
            piece = along(drive, part, path.zones, begin, now, real)
            turned = aligned(drive, now, piece.angles, real)
            pieces += turned
            before = total(pieces)
            events += [
                (name, before + piece.when(at - begin))
                for name, at in path.events
                if begin <= at < begin + part.length
            ]
            for zone in path.zones:
                start, end = np.clip((zone.start - begin, zone.end - begin), 0.0, part.length).tolist()
                if start < end:
                    zones.append((before + piece.when(start), before + piece.when(end), zone.limits))
            pieces.append(piece)
            now = piece.end_angles
        ends.append(total(pieces))
    events += [(name, ends[-1]) for name, at in path.events if at >= path.length]
    start = path.sections[0].at(np.zeros(1))[0]
    motion = Motion(who, tuple(pieces), (start[0], start[1], start[2]))
    told = _notes(path, motion), tuple(events), tuple(zones)
    grip, margin = (None, 0.0) if real is None else (real.grip, real.margin)
    return Driven(
        path.name,
        path.duration,
        "path",
        "quickest",
        motion,
        np.array(ends),
        drive.limits,
        (),
        *told,
        grip=grip,
        margin=margin,
    )


def _notes(path: PosePath, motion: Motion) -> tuple[str, ...]:
    """How far the path that is followed is from the one in the file, and speeds at its ends that limits don't leave."""
    notes = []
    distance, angle = path.deviation
    if max(path.deviation):
        notes.append(
            f"a smooth path within {1000 * distance:.2g} mm and {math.degrees(angle):.2g}° of the file's"
        )
    speeds = np.hypot(*motion.samples([0.0, motion.duration]).twist[:, :2].T)
    asked = path.sections[0].entry, path.sections[-1].exit
    for what, speed, wished in zip(("begins", "ends"), speeds.tolist(), asked, strict=True):
        if speed < wished * (1 - _SLOWER):
            notes.append(
                f"the motion {what} at {speed:.4g} m/s, not at {wished:.4g} m/s: limits leave no more there"
            )
    return tuple(notes)


def _rest_order(drive: Drive) -> int:
    """Of s ~ z^order at rest: 3 where a jerk is limited, else 2."""
    jerks = np.isfinite(drive.steering[2]) | np.isfinite(drive.rolling[2])
    return 3 if jerks.any() else 2


def _standing(drive: Drive, section: Section) -> list[float]:
    """Lengths inside a section at which a wheel that steers stands on the centre of rotation."""
    lengths = np.linspace(0.0, section.length, _LOOKS)
    velocities = _steering(drive, section, lengths)
    sizes, steps = np.abs(velocities), np.abs(np.diff(velocities, axis=0))
    # where a velocity is zero between two neighbours of a point, it is less there than it changes on the way
    least = (sizes[1:-1] <= sizes[:-2]) & (sizes[1:-1] < sizes[2:]) & (sizes[1:-1] <= steps[:-1] + steps[1:])
    zeros: list[float] = []
    for near in least[:, sizes.max(axis=0) > STILL].T:
        for k in np.flatnonzero(near) + 1:
            low, high = lengths[k - 1], lengths[k + 1]
            for _ in range(_THIRDS):  # |u| falls to a zero and rises behind it: thirds close in on it
                thirds = low + (high - low) * np.array([1 / 3, 2 / 3])
                one, two = np.abs(_steering(drive, section, thirds)).min(axis=1)
                low, high = (low, thirds[1]) if one < two else (thirds[0], high)
            at = (low + high) / 2
            if np.abs(_steering(drive, section, np.array([at]))).min() < STILL:
                zeros.append(float(at))
    return sorted(set(zeros))


def _steering(drive: Drive, section: Section, lengths: FloatArray) -> ComplexArray:
    """Velocities by length of the modules that steer, (n, k), in the base's frame."""
    return local_velocities(drive, section, lengths)[:, drive.points]


def along(
    drive: Drive,
    section: Section,
    zones: tuple[Zone, ...],
    begins: float,
    now: FloatArray | None,
    real: ActuationLimits | None,
) -> AlongPath:
    """A section in the least time, its modules nearest to their angles before."""
    check_held(drive, section)
    stretched = Stretched(section.length, _rest_order(drive), section.entry == 0, section.exit == 0)
    angles, forward = _begin(drive, section, stretched, now)
    limited = tuple(replace(zone, start=zone.start - begins, end=zone.end - begins) for zone in zones)
    paced = AlongPath(drive, section, stretched, _UNIT, angles, forward)
    zoned = [(*stretched.reached(np.array([zone.start, zone.end])).tolist(), zone.limits) for zone in limited]
    constraints = of_motion(drive, real, zoned)
    problem = PathProblem(paced.at_unit_pace, constraints, stretched.order == 3, _at_ends(section, stretched))
    knots = _knots(drive, section, stretched, forward, limited)
    timed = retime(problem, knots, lambda z: section.at(stretched.at(np.array([z]))[0])[0])
    return replace(paced, scaling=timed.scaling, wished=None if real is None else timed.pushes)


def _at_ends(section: Section, stretched: Stretched) -> tuple[tuple[float, float], ...]:
    """The greatest ż² at ends that are passed at a speed: from rest s ~ z^order leaves it free, as ṡ = 0 there."""
    found = []
    for z, speed in ((0.0, section.entry), (1.0, section.exit)):
        if speed:
            moved = section.at(np.array([z * section.length]), 1)[0, :2]
            slope = stretched.at(np.array([z]))[1][0]
            found.append((z, float((speed / slope / np.hypot(*moved)) ** 2)))
    return tuple(found)


def aligned(
    drive: Drive, now: FloatArray | None, angles: FloatArray, real: ActuationLimits | None
) -> tuple[Piece, ...]:
    """The modules steered from where they stand (m,) to other angles (m,), at rest; nothing where they are there.

    By the drive's limits and, with motors and battery, slower until these give it.
    """
    if now is None:
        return ()
    bounded = drive if real is None else implied(drive, real.driven)
    turns = turned(bounded, "linear", Setpoint(np.zeros(3), now, np.zeros(len(now))), angles)
    found = slowdown(turns, of_pace(drive, real))
    if found and math.isinf(found[0].factor):
        raise NumericsError(f"the {found[0].name} doesn't turn the modules at rest, however slowly")
    return tuple(turn.slower(slow.factor) for turn, slow in zip(turns, found, strict=True))


def _begin(
    drive: Drive, section: Section, stretched: Stretched, now: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """The modules' angles where a section begins, and whether they roll forward (1), backward (−1) or stand (0)."""
    z = np.linspace(0.0, 1.0, _LOOKS)
    u = local_velocities(drive, section, stretched.at(z)[0])
    forward = np.where(np.abs(u).max(axis=0) <= STILL, 0.0, 1.0)
    steers = drive.points & (forward != 0)
    before = drive.headings if now is None else now
    # a wheel on the centre of rotation at the very end has its direction from beside it
    first = np.where(np.abs(u[0]) > STILL, u[0], u[1])
    ahead = np.angle(first * np.exp(-1j * before))
    swing = np.cumsum(steered_along(drive, section, stretched, steers, _LOOKS)[1], axis=0)
    low, high = swing.min(axis=0), swing.max(axis=0)
    if now is None:  # as the path needs them, forward where the range holds that
        turns = ahead + turns_into_range(
            np.zeros_like(ahead), before + ahead, drive.ranges, swing=(low, high)
        )
    else:
        turns = turns_into_range(ahead, now, drive.ranges, swing=(low, high))
    if (barred := steers & np.isnan(turns)).any():
        place = int(barred.argmax())
        begins = float(before[place] + ahead[place])
        raise out_of_range(
            drive, place, begins + min(float(low[place]), 0.0), begins + max(float(high[place]), 0.0)
        )
    backward = steers & (np.round((turns - ahead) / math.pi) % 2 != 0)
    placed = np.where(steers, before + turns, before)
    return placed, np.where(backward, -1.0, forward)


def _knots(
    drive: Drive, section: Section, stretched: Stretched, forward: FloatArray, zones: tuple[Zone, ...]
) -> Knots:
    """Where a section's speed may change its law: closer where wheels steer much, and where the path or a zone does."""
    z, steps = steered_along(drive, section, stretched, drive.points & (forward != 0), _LOOKS)
    swings = np.abs(steps).max(axis=1)
    density = np.diff(stretched.at(z)[0]) / _METRES + swings / _RADIANS
    wished = np.clip(density.sum(), _FEWEST, _MOST)
    # half of the knots where much happens, half evenly: so no interval is very long
    dense = np.maximum(density / density.sum() * wished / 2, swings / _SWING)
    total = np.concatenate([[0.0], np.cumsum(dense + np.diff(z) * wished / 2)])
    even = graded(np.interp(np.linspace(0.0, total[-1], int(total[-1]) + 1), total, z))
    nodes = section.spline.t - section.begin
    asked = np.array([end for zone in zones for end in (zone.start, zone.end)])
    places = np.unique(np.concatenate([nodes, asked]))
    marks = stretched.reached(places[(places > 0) & (places < section.length)])
    merged = np.unique(np.concatenate([even, marks]))
    kept = np.concatenate([[True], np.diff(merged) > _APART])
    kept[-1] = True
    return Knots(merged[kept], marks)

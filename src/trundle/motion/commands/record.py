"""What is kept of a motion: a run, a summary, and the table of basic-swerve-sim."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents.writer import dump
from trundle.errors import InputError
from trundle.expected import check_float
from trundle.model.mechanism import mechanism
from trundle.motion.commands.binding import dense, extremes, force_series
from trundle.motion.commands.drive import Driven
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.pieces.extremes import ModulePeak, peaks
from trundle.motion.pieces.motion import Motion, Samples, motion_of
from trundle.results import Run
from trundle.results.table import NumberTable, csv_text

RATE = 100.0  # samples a second where nobody says otherwise
# A limit is active where this share of it is used.
_ACTIVE = 0.999
# Limits are exceeded beyond this share of them: what is less is rounding.
_ROUNDING = 1e-9
# Samples at most: a run of a swerve keeps about fifty numbers of a sample, 4 GB of this many.
_MOST_SAMPLES = 10_000_000
_TWIST = {"v_x": "m/s", "v_y": "m/s", "omega": "rad/s"}
_UNITS: dict[str, str] = {name: unit for name, (unit, _) in QUANTITIES.items()}
# What is kept of a module over time, beside what its wheel's coordinates say.
_KEPT = ("steering_acceleration", "steering_jerk", "drive_speed", "drive_acceleration", "drive_jerk", "slip")


def sample_times(duration: float, rate: float = RATE) -> FloatArray:
    """Times from 0 to the end, `rate` a second, and the end itself."""
    if not math.isfinite(check_float(rate, "rate", above=0, unit="of samples a second")):
        raise InputError(f"expected samples a second, got {rate}", key="rate")
    if duration * rate > _MOST_SAMPLES:
        raise InputError(
            f"{duration:g} s at {rate:g} samples a second are too many",
            key="rate",
            hint="shorter commands, or fewer",
        )
    # the product is rounded: 0.29 * 100 is below 29, the step that belongs to it
    times = np.arange(int(duration * rate * (1 + 1e-12)) + 1) / rate
    return times if duration - times[-1] <= 1e-9 * duration else np.append(times, duration)


def to_run(motion: Motion | Driven, rate: float = RATE) -> Run:
    """A motion at so many samples a second, with its summary and the robot, as a run that figures and files take.

    Parameters
    ----------
    motion : Motion or Driven
        A plan, or what `trundle.drive` and `trundle.follow` gave.
    rate : float, 1/s
        Samples a second; the end is one more.

    Returns
    -------
    Run
        Poses, speeds, accelerations and jerks of the body (in its own frame) and of the modules.

    Raises
    ------
    InputError
        The rate is not positive.

    Examples
    --------
    >>> import trundle
    >>> turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}
    >>> run = trundle.to_run(trundle.drive({"motion": turn}))
    >>> round(float(run["theta"][-1]), 9), run.units["left_front.drive_jerk"]
    (0.5, 'm/s^3')
    """
    if isinstance(motion, Driven):
        run = _sampled(motion.motion, rate, motion.name, summary(motion))
        return _with_forces(run, motion.motion, motion.peaks)
    motion = motion_of(motion, "to_run")
    maxima = peaks(motion)
    told = _outcome(motion, maxima, motion.samples(dense(motion)))
    return _with_forces(_sampled(motion, rate, motion.kinematics.name, told), motion, maxima)


def _sampled(motion: Motion, rate: float, name: str, told: dict[str, object]) -> Run:
    """A run of so many samples a second, with `told` as its summary.

    Coordinates and speeds have the robot's names, so that figures and scenes take it like a simulation's run; what no
    coordinate says (accelerations, jerks, slip) is among its outputs.
    """
    times, robot = sample_times(motion.duration, rate), motion.kinematics.robot
    samples = motion.samples(times)
    units = {"x": "m", "y": "m", "theta": "rad"}
    moving = mechanism(robot, terrain=True).names
    # coordinates that a motion of the drive doesn't move, of an arm on the base say, stay at zero
    places = dict.fromkeys(moving, np.zeros(times.size))
    places |= zip(units, motion.poses(times).T, strict=True)
    speeds: dict[str, FloatArray] = {}
    outputs: dict[str, FloatArray] = {}
    for k, (part, unit) in enumerate(_TWIST.items()):
        speeds[part], units[part] = samples.twist[:, k], unit
        outputs |= {f"{part}_rate": samples.twist_rate[:, k], f"{part}_jerk": samples.twist_jerk[:, k]}
        units |= {f"{part}_rate": f"{unit}^2", f"{part}_jerk": f"{unit}^3"}
    rolled = motion.distances(times)
    for i, module in enumerate(motion.kinematics.modules):
        wheel, radius = module.name, float(module.radius)
        places[f"{wheel}.angle"] = rolled[:, i] / radius
        speeds[f"{wheel}.rate"] = samples.drive_speed[:, i] / radius
        if module.pivots:
            places[f"{wheel}.steering"] = samples.angle[:, i] - float(module.heading)
            speeds[f"{wheel}.steering_rate"] = samples.steering_rate[:, i]
        for what in _KEPT:
            outputs[f"{wheel}.{what}"] = getattr(samples, what)[:, i]
            units[f"{wheel}.{what}"] = _UNITS.get(what, "m/s")
    units = dict.fromkeys(places, "rad") | dict.fromkeys(speeds, "rad/s") | units
    groups = {"coordinates": tuple(places), "speeds": tuple(speeds), "outputs": tuple(outputs)}
    description = {"yaml": dump(robot), "parameters": dict(robot.parameter_values())}
    return Run(name, times, places | speeds | outputs, units, description, told, groups)


def _with_forces(run: Run, motion: Motion, maxima: Sequence[ModulePeak]) -> Run:
    """A motion's run with what it takes of ground, motors and batteries, by the names of a simulation's."""
    found = force_series(motion, run.time, maxima)
    if found is None:
        return run
    columns = {**found.outputs, **found.inputs}
    return replace(
        run,
        values={**run.values, **{name: values for name, (values, _) in columns.items()}},
        units={**run.units, **{name: unit for name, (_, unit) in columns.items()}},
        groups={
            **run.groups,
            "inputs": tuple(found.inputs),
            "outputs": (*run.groups["outputs"], *found.outputs),
        },
        summary=run.summary
        if "friction_use" in run.summary
        else {**run.summary, **_largest(found.who, motion)},
    )


def _largest(who: DrivenRobot, motion: Motion) -> dict[str, object]:
    """What a motion takes of friction and batteries at most, as plain data."""
    times = dense(motion)
    return extremes(motion_forces(who, motion.samples(times), motion.pushes(times)))


def summary(driven: Driven) -> dict[str, object]:
    """What came out, as plain data: duration, final pose, the largest of the quantities, what limits were broken and
    which were active when, how much longer it took than asked, and why; events, and limits of a path's zones.
    """
    duration, asked = driven.motion.duration, driven.requested_duration
    samples = driven.limit_usage.samples
    return {
        "plan": driven.name,
        "robot": driven.robot.name,
        "level": driven.level,
        "profile": driven.profile,
        **_outcome(driven.motion, driven.peaks, samples),
        "exceeded": exceeded(driven),
        **driven.limit_usage.summary,
        "active": list(_active(driven)),
        "stretch": {
            "factor": duration / asked if asked else None,
            "why": [vars(slowdown) | {"command": slowdown.command + 1} for slowdown in driven.slowdowns],
        },
        "notes": [*driven.notes, *_floor(driven)],
        "events": [{"event": name, "time": time} for name, time in driven.events],
        "zones": [{"from": begin, "to": end, "limits": dict(limits)} for begin, end, limits in driven.zones],
        **driven.search,
    }


def _floor(driven: Driven) -> Iterator[str]:
    """That no floor limits a motion, where forces do."""
    forces = driven.limit_usage.forces
    if forces is not None and forces.floorless:
        key = f"robot.wheels.{forces.names[0]}.friction"
        yield f"no friction is declared: the floor limits nothing ({key})"


def _outcome(motion: Motion, maxima: Sequence[ModulePeak], samples: Samples) -> dict[str, object]:
    """What is told of every motion: how long it takes, where it ends, and its largest values; an impulse's is None."""
    largest = {name: max((p.value for p in maxima if p.quantity == name), default=0.0) for name in QUANTITIES}
    final = motion.poses([motion.duration])[0].tolist()
    return {
        "duration": motion.duration,
        "final": dict(zip(("x", "y", "theta"), final, strict=True)),
        **{name: value if math.isfinite(value) else None for name, value in largest.items()},
        "slip": float(samples.slip.max()),
        "impulsive": [name for name, value in largest.items() if math.isinf(value)],
    }


def exceeded(driven: Driven) -> list[dict[str, object]]:
    """The declared limits that a motion breaks, between samples too; an impulse's size is None."""
    broken: list[dict[str, object]] = []
    for peak in driven.peaks:
        allowed = driven.limits[peak.module].of(peak.quantity)
        if peak.value > allowed * (1 + _ROUNDING):
            broken.append(_broken(driven, peak, allowed))
    angles = driven.motion.samples(dense(driven.motion)).angle
    for name, limits, angle in zip(driven.names, driven.limits, angles.T, strict=True):
        if limits.steering_range is None:
            continue
        for end, extreme in zip(limits.steering_range, (angle.min(), angle.max()), strict=True):
            if (extreme - end) * (1 if end == limits.steering_range[1] else -1) > _ROUNDING:
                broken.append(
                    {"limit": "steering_range", "module": name, "largest": float(extreme), "allowed": end}
                )
    return broken


def _broken(driven: Driven, peak: ModulePeak, allowed: float) -> dict[str, object]:
    """A limit that a motion breaks, as plain data; JSON has no infinity for an impulse's size."""
    return {
        "limit": peak.quantity,
        "module": driven.names[peak.module],
        "largest": peak.value if math.isfinite(peak.value) else None,
        "allowed": allowed,
        "time": peak.time,
    }


def _active(driven: Driven) -> Iterator[dict[str, object]]:
    """From when to when declared limits were used to the full, and what else bound the motion."""
    times = driven.limit_usage.times
    for name, share in driven.limit_usage.shares.items():
        quantity, _, module = name.partition(" of ")
        if quantity in QUANTITIES:
            # zeros at both ends, so that a stretch at the motion's begin or end has two edges as well
            edges = np.flatnonzero(np.diff(np.concatenate([[0], share >= _ACTIVE, [0]])))
            for begin, end in edges.reshape(-1, 2):
                if end - 1 > begin:
                    yield _used(quantity, module, float(times[begin]), float(times[end - 1]))
    for name, begin, end in driven.limit_usage.binding:
        limit, _, owners = name.partition(" of ")
        if limit not in QUANTITIES:
            yield from (_used(limit, owner, begin, end) for owner in owners.split(", "))


def _used(limit: str, module: str, begin: float, end: float) -> dict[str, object]:
    return {"limit": limit, "module": module, "from": begin, "to": end}


# How the simulator's columns call derivatives, and what is behind their units.
_KINDS = (("", ""), ("vel", "/s"), ("acc", "/s^2"), ("jerk", "/s^3"))


def simulator_table(driven: Driven, rate: float = RATE) -> str:
    """The motion as basic-swerve-sim writes it, CSV of 26 + 24 m columns: positions [wc] in the world, velocities,
    accelerations and jerks in the body's frame [bc] or along the wheel [mc].
    """
    motion = driven.motion
    times = sample_times(motion.duration, rate)
    samples, poses = motion.samples(times), motion.poses(times)
    zero = np.zeros(times.size)
    columns = {"Time (s)": times}
    x, y, theta = poses.T
    columns |= _six("body", ("wc", "wc"), (x, y, zero), theta)
    for order, rates in ((1, samples.twist), (2, samples.twist_rate), (3, samples.twist_jerk)):
        columns |= _six("body", ("bc", "bc"), (rates[:, 0], rates[:, 1], zero), rates[:, 2], order)
    columns["number of modules (-)"] = np.full(times.size, len(driven.names))
    steering = (samples.angle, samples.steering_rate, samples.steering_acceleration, samples.steering_jerk)
    drive = (samples.drive_speed, samples.drive_acceleration, samples.drive_jerk)
    for i, name in enumerate(driven.names):
        (px, py), height = motion.kinematics.places[i], driven.robot.number(driven.robot.wheels[name].at[2])
        place = (np.full_like(zero, px), np.full_like(zero, py), np.full_like(zero, height))
        columns |= _six(f"module-{i}", ("bc", "bc"), place, steering[0][:, i])
        for order in (1, 2, 3):
            along = (drive[order - 1][:, i], zero, zero)
            columns |= _six(f"module-{i}", ("mc", "bc"), along, steering[order][:, i], order)
    return csv_text(NumberTable(columns).rows())


def _six(
    owner: str, frames: tuple[str, str], linear: Sequence[FloatArray], turning: FloatArray, order: int = 0
) -> dict[str, FloatArray]:
    """Three columns of a vector, then three of a rotation about z."""
    what, per = _KINDS[order]
    name = f"-{what}-{owner}" if what else f"-{owner}"
    vector = {f"{axis}{name} [{frames[0]}] (m{per})": part for axis, part in zip("xyz", linear, strict=True)}
    zero = np.zeros_like(turning)
    turn = f"-rot{what}-{owner} [{frames[1]}] (rad{per})"
    return vector | {f"{axis}{turn}": part for axis, part in zip("xyz", (zero, zero, turning), strict=True)}

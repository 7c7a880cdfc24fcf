"""Motions as files that robots follow: Choreo's `.traj`, which choreolib and PathPlanner load, and CSV."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import choose, require_known
from trundle.expected import check_str
from trundle.files import path_of, replacing
from trundle.mechanics.steering import STILL
from trundle.motion.commands.binding import ForceSeries, force_series, forces_apply
from trundle.motion.commands.drive import Driven
from trundle.motion.commands.record import sample_times
from trundle.motion.constraints.real_limits import real_limits
from trundle.motion.forces.forces import MotionForces, motion_forces
from trundle.motion.paths.choreo import CONSTRAINTS, VERSION
from trundle.motion.paths.pose_paths import apart
from trundle.motion.pieces.extremes import peaks
from trundle.motion.pieces.motion import Motion, motion_of
from trundle.results.table import NumberTable, csv_text

SUFFIXES = (".traj", ".csv")
# In Choreo's order and names: the pose, and its first two derivatives, in the world's axes.
_COLUMNS: tuple[str, ...] = ("t", "x", "y", "heading", "vx", "vy", "omega", "ax", "ay", "alpha")
# Choreo's samples of a swerve have forces of four modules, in this order: front left, front right, back left, back
# right, by the signs of their places. Zeros ask for no feed-forward.
_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
# As Choreo's expressions spell the units of a zone's limits.
_UNITS = {"velocity": "m / s", "acceleration": "m / s^2", "rate": "rad / s"}
_SAME = 1e-9  # s: waypoints nearer than this are one

_TimedZone = tuple[float, float, Mapping[str, float]]


def write_trajectory(
    motion: Motion | Driven, file: str | os.PathLike[str], *, rate: float = 50.0, name: str | None = None
) -> None:
    """Write a motion for a robot to follow: as Choreo's `.traj` or as CSV, by the file's suffix.

    A robot's library goes on from a sample by x + v τ + a τ²/2, which at 50 samples a second and a jerk of 10 m/s³
    is 13 µm off at the next one.

    Parameters
    ----------
    motion : Motion or Driven
        Of a path, a plan, or commands.
    file : str or path
        Ends in `.traj` or `.csv`. The columns of both are time (s), pose (m, rad), and its first two derivatives in the
        world's axes; CSV has the modules' angles (rad), steering rates and speeds besides. Where masses and motors are
        known, CSV has what a run has: the wheels' forces (N), loads and slip, the motors' torques, commands and
        currents, and batteries, by the run's names with _ for a dot. `.traj` has the forces of the ground on four
        modules at the corners (N, along the world's axes), or on the two wheels of a differential drive.
    rate : float, 1/s, optional
        Samples a second; the end is one more, and of `.traj` wherever the base stands or a path's limits change.
    name : str, optional
        Of the trajectory. Default: the motion's, or the file's.

    Raises
    ------
    InputError
        The suffix is another one, the rate isn't positive, or the file can't be written.

    Examples
    --------
    >>> import trundle
    >>> path = trundle.pose_path([(0, 0, 0), (1, 0, 0)])
    >>> trundle.write_trajectory(trundle.follow(path), "there.traj")
    >>> round(trundle.read_path("there.traj").length, 6)
    1.0
    """
    path = path_of(file, "write_trajectory")
    require_known(path.suffix, SUFFIXES, f"{path.name} is no trajectory", file=str(file), hint=choose)
    moved = motion_of(motion, "write_trajectory")
    times = sample_times(moved.duration, rate)
    if path.suffix == ".csv":
        given = motion if isinstance(motion, Driven) else None
        maxima = peaks(moved) if given is None else given.peaks
        text = _table(moved, times, _rows(moved, times), force_series(moved, times, maxima))
    else:
        called = (None if name is None else check_str(name, "name")) or (
            motion.name if isinstance(motion, Driven) else path.stem
        )
        events = motion.events if isinstance(motion, Driven) else ()
        zones = motion.zones if isinstance(motion, Driven) else ()
        marks = apart([*_stops(moved), *(time for start, end, _ in zones for time in (start, end))], _SAME)
        # Readers hold a sample's acceleration up to the next one: where limits change there has to be one.
        times = np.array(apart([*times, *marks], _SAME))
        rows = _rows(moved, times)
        columns = _samples(motion, times, rows)
        text = _trajectory(called, rows, columns, marks, rate, events, zones)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def _rows(motion: Motion, times: FloatArray) -> FloatArray:
    """(n, 10): what `_COLUMNS` says. The world's acceleration is R (v̇ + ω × v)."""
    poses, samples = motion.poses(times), motion.samples(times)
    turn = np.exp(1j * poses[:, 2])
    v = samples.twist[:, 0] + 1j * samples.twist[:, 1]
    omega = samples.twist[:, 2]
    velocity = v * turn
    acceleration = (samples.twist_rate[:, 0] + 1j * samples.twist_rate[:, 1] + 1j * omega * v) * turn
    pairs = (
        velocity.real,
        velocity.imag,
        omega,
        acceleration.real,
        acceleration.imag,
        samples.twist_rate[:, 2],
    )
    return np.column_stack([times, poses, *pairs])


def _samples(given: Motion | Driven, times: FloatArray, rows: FloatArray) -> list[dict[str, object]]:
    """The samples in Choreo's names. Those of a differential drive have what a swerve's have besides: PathPlanner reads
    these alone.
    """
    forces, sides = _forces(given, times, rows[:, 3]), _sides(given, times)
    return [
        {
            **dict(zip(_COLUMNS, row, strict=True)),
            **{name: float(values[k]) for name, values in sides.items()},
            "fx": x,
            "fy": y,
        }
        for k, (row, (x, y)) in enumerate(zip(rows.tolist(), forces.tolist(), strict=True))
    ]


def _forces(given: Motion | Driven, times: FloatArray, headings: FloatArray) -> FloatArray:
    """(n, 2, 4): forces of the ground on the modules along the world's axes (N), in Choreo's order; zeros where the
    robot hasn't four corners, or nothing says its masses and motors.
    """
    motion = motion_of(given, "write_trajectory")
    none = np.zeros((len(times), 2, len(_CORNERS)))
    signs = [(int(np.sign(x)), int(np.sign(y))) for x, y in motion.kinematics.places]
    forces = _pushes(given, times)
    if forces is None or sorted(signs) != sorted(_CORNERS):
        return none
    samples = motion.samples(times)
    pushed = (forces.traction + 1j * forces.side_force) * np.exp(1j * (samples.angle + headings[:, None]))
    if not np.isfinite(pushed).all():
        return none
    pushed = pushed[:, [signs.index(corner) for corner in _CORNERS]]
    return np.stack([pushed.real, pushed.imag], axis=1)


def _pushes(given: Motion | Driven, times: FloatArray) -> MotionForces | None:
    """What gives a motion, where the robot tells its masses and motors."""
    motion = motion_of(given, "write_trajectory")
    real = forces_apply(given) if isinstance(given, Driven) else real_limits(motion.kinematics, 1.0)
    return None if real is None else motion_forces(real.driven, motion.samples(times), motion.pushes(times))


def _sides(given: Motion | Driven, times: FloatArray) -> dict[str, FloatArray]:
    """What Choreo's samples of a differential drive have: speeds, accelerations and forces (N) of the left wheel and
    the right one, (n,) each; nothing for other drives.
    """
    motion = motion_of(given, "write_trajectory")
    who = motion.kinematics
    order = np.argsort([-y for _, y in who.places])
    ahead = all(module.is_fixed and float(module.direction[0]) > 1 - _SAME for module in who.modules)
    if len(who.modules) != 2 or not ahead or not who.places[order[0]][1] > 0 > who.places[order[1]][1]:
        return {}
    samples, forces = motion.samples(times), _pushes(given, times)
    none = np.zeros((len(times), 2))
    traction = none if forces is None or not np.isfinite(forces.traction).all() else forces.traction
    kinds = {"v": samples.drive_speed, "a": samples.drive_acceleration, "f": traction}
    return {
        f"{kind}{side}": values[:, k]
        for kind, values in kinds.items()
        for side, k in zip("lr", order.tolist(), strict=True)
    }


def _stops(motion: Motion) -> FloatArray:
    """When the base stands between two pieces, and the ends."""
    ends = np.unique(motion.begins)
    speeds = np.abs(motion.samples(ends).twist).max(axis=1)
    inner = (speeds < STILL) & (ends > 0) & (ends < motion.duration)
    return np.concatenate([[0.0], ends[inner], [motion.duration]])


def _table(motion: Motion, times: FloatArray, rows: FloatArray, needed: ForceSeries | None) -> str:
    """CSV of the rows, with the modules' angles, steering rates and speeds behind them, and then what it takes."""
    samples = motion.samples(times)
    columns = dict(zip(_COLUMNS, rows.T, strict=True))
    for i, name in enumerate(motion.kinematics.names):
        columns |= {f"{name}_{what}": getattr(samples, what)[:, i] for what in ("angle", "steering_rate")}
        columns[f"{name}_speed"] = samples.drive_speed[:, i]
    if needed is not None:
        every = {**needed.outputs, **needed.inputs}
        columns |= {name.replace(".", "_"): values for name, (values, _) in every.items()}
    return csv_text(NumberTable(columns).rows())


def _trajectory(
    name: str,
    rows: FloatArray,
    samples: list[dict[str, object]],
    times: Sequence[float],
    rate: float,
    events: Sequence[tuple[str, float]],
    zones: Sequence[_TimedZone],
) -> str:
    """Choreo's file: waypoints at their times, the ends, where the base stops and where limits change; the samples."""
    near = [int(np.abs(rows[:, 0] - time).argmin()) for time in times]
    waypoints = [dict(zip(_COLUMNS[1:4], pose, strict=True)) for pose in rows[near, 1:4].tolist()]
    step = 1 / rate
    data = {
        "name": name,
        "version": VERSION,
        "snapshot": {
            "waypoints": [{**pose, **_KEPT} for pose in waypoints],
            "constraints": _constraints(times, zones, lambda value, _: value),
            "targetDt": step,
        },
        "params": {
            "waypoints": [{**_written(pose), **_KEPT} for pose in waypoints],
            "constraints": _constraints(times, zones, _expression),
            "targetDt": _expression(step, "s"),
        },
        "trajectory": {
            "config": None,
            "sampleType": "Differential" if "vl" in samples[0] else "Swerve",
            "waypoints": times,
            "samples": samples,
            "splits": [0],
        },
        "events": [{"name": event, "from": _when(time), "event": None} for event, time in events],
    }
    return json.dumps(data, indent=1) + "\n"


def _constraints(
    times: Sequence[float], zones: Sequence[_TimedZone], number: Callable[[float, str], object]
) -> list[dict[str, object]]:
    """Stops at both ends, and the limits of zones from waypoint to waypoint; `number` writes a number with its unit.

    Choreo has no limit of how the turning rate changes: that one stays in the samples alone.
    """
    stop: dict[str, object] = {"to": None, "data": {"type": "StopPoint", "props": {}}, "enabled": True}
    constraints = [{"from": place, **stop} for place in ("first", "last")]
    for start, end, limits in zones:
        first, last = (int(np.argmin(np.abs(np.subtract(times, time)))) for time in (start, end))
        for kind, limit in CONSTRAINTS.items():
            if limit in limits:
                data = {"type": kind, "props": {"max": number(limits[limit], _UNITS[limit])}}
                constraints.append({"from": first, "to": last, "data": data, "enabled": True})
    return constraints


# What a waypoint says besides its pose, so that Choreo may generate the trajectory again.
_KEPT = {
    "intervals": 40,
    "split": False,
    "fixTranslation": True,
    "fixHeading": True,
    "overrideIntervals": False,
}


def _when(time: float) -> dict[str, object]:
    """A time as Choreo has it: so long after the first waypoint."""
    return {"target": 0, "targetTimestamp": 0.0, "offset": _expression(time, "s")}


def _written(pose: Mapping[str, float]) -> dict[str, object]:
    """Numbers as Choreo's parameters have them, with the text that they come from."""
    units = {"x": "m", "y": "m", "heading": "rad"}
    return {key: _expression(value, units[key]) for key, value in pose.items()}


def _expression(value: float, unit: str) -> dict[str, object]:
    """A number with the text that it comes from."""
    return {"exp": f"{value!r} {unit}", "val": value}

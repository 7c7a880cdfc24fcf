"""A motion's samples as the recursion takes them: all there, finite, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.limbs.loads.recursion import Recursion


@dataclass(frozen=True, eq=False)
class LoadSamples:
    """Times (n,), q (n, c), ν and ν̇ (n, s) in the order of a recursion, and how they were smoothed."""

    time: FloatArray
    q: FloatArray
    nu: FloatArray
    nu_dot: FloatArray
    smoothing: Mapping[str, object]

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What programs take first."""
        return self.q, self.nu, self.nu_dot


def samples_of(motion: JointMotion, recursion: Recursion) -> LoadSamples:
    """The motion's tables, their columns sorted; InputError says which name, shape, time or number doesn't fit."""
    time = motion.time
    if time.ndim != 1 or time.size == 0:
        raise InputError(
            f"a motion's time is one row of at least one number, not of shape {time.shape}", key="time"
        )
    _refuse_gaps(time, time, ("time",))
    steps = np.diff(time)
    if (steps <= 0).any():
        at = int(np.argmax(steps <= 0))
        raise InputError(
            f"a motion's times increase: sample {at + 1} is at {time[at + 1]:.9g} s, and the one before at "
            f"{time[at]:.9g} s",
            key="time",
        )
    coordinates, speeds = recursion.coordinates, recursion.speeds
    samples = LoadSamples(
        time,
        _table(time, motion.positions, motion.names, coordinates, "positions"),
        _table(time, motion.velocities, motion.speeds, speeds, "velocities"),
        _table(time, motion.accelerations, motion.speeds, speeds, "accelerations"),
        motion.smoothing,
    )
    quantities = recursion.mechanism.assembly.quantities
    if quantities.quaternions(coordinates):
        quantities.check_quaternions(dict(zip(coordinates, samples.q.T, strict=True)))
    return samples


def _table(
    time: FloatArray, table: FloatArray, names: tuple[str, ...], wanted: tuple[str, ...], what: str
) -> FloatArray:
    if table.shape != (len(time), len(names)):
        raise InputError(
            f"a motion of {len(time)} times and {len(names)} names has {what} ({len(time)}, {len(names)}), not "
            f"{table.shape}",
            key=what,
        )
    for name in wanted:
        if name not in names:
            raise InputError(f"the motion's {what} lack '{name}'", key=name, hint=suggest(name, names))
    for name in names:
        if name not in wanted:
            raise InputError(
                f"the robot has no '{name}', whose {what} came", key=name, hint=suggest(name, wanted)
            )
    _refuse_gaps(time, table, names, what)
    return table if names == wanted else table[:, [names.index(name) for name in wanted]]


def _refuse_gaps(time: FloatArray, table: FloatArray, names: tuple[str, ...], what: str = "values") -> None:
    if np.isfinite(table).all():
        return
    row, column = np.argwhere(~np.isfinite(table.reshape(len(time), -1)))[0]
    raise InputError(
        f"the {what} of '{names[column]}' hold {table.reshape(len(time), -1)[row, column]} in sample {row} "
        f"(t = {time[row]:.6g} s)",
        key=names[column],
        hint="fill gaps first, by a rule that you name: trundle.joint_motion(..., gaps=...)",
    )

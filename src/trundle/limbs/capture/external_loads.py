"""OpenSim's external loads as ground reactions, with the bodies that they push."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents.osim.osim_setups import ExternalForce, read_external_loads
from trundle.limbs.capture.plate_samples import within
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.recording_files import read_sto

# Columns as `ground_reactions` finds them, by the force's name.
_KINDS = {
    "force": ("ground_force_{}_v", "N"),
    "point": ("ground_force_{}_p", "m"),
    "torque": ("ground_torque_{}_", "N m"),
}
# From so many samples on OpenSim's forces are splines over time; fewer are linear in between.
_SPLINE = 4


def external_loads(path: Path, times: FloatArray | None) -> tuple[Recording, list[tuple[str, str]]]:
    """The forces of a file as a recording's ground reactions, `ground_NAME`, and the bodies that they push.

    At a motion's `times` (n,), as far as they were recorded, they are those of natural cubic splines through force,
    point and torque, as OpenSim has them; else the table's own samples. Raises InputError.
    """
    file, forces = read_external_loads(path)
    table = read_sto(file, literal=times is not None, markers=False)
    channels = {name: values for force in forces for name, values in _channels(force, table).items()}
    time, columns = table.time, np.column_stack([*channels.values(), np.zeros(table.time.size)])
    if times is not None:
        time, columns = _splined(time, columns, times)
    recording = Recording(time, channels=dict(zip(channels, columns.T, strict=False)), source=table.source)
    return recording, [(force.body, f"ground_{force.name}") for force in forces]


def _splined(time: FloatArray, columns: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns (k, …) at those of the times that lie within theirs; as they are where they have gaps or are few."""
    inside = times[within(times, time[0], time[-1])]
    if not inside.size or time.size < _SPLINE or not np.isfinite(columns).all():
        return time, columns
    from scipy.interpolate import CubicSpline

    return inside, CubicSpline(time, columns, bc_type="natural")(inside)


def _channels(force: ExternalForce, table: Recording) -> dict[str, FloatArray]:
    """A force's nine columns by their new names; no torque where there are none."""
    channels: dict[str, FloatArray] = {}
    for key, (name, unit) in _KINDS.items():
        begin = getattr(force, key)
        found = force.columns(begin, list(table.channels)) if begin else []
        values = [table.channel(column, unit) for column in found] or [np.zeros(table.time.size)] * 3
        channels |= {f"{name.format(force.name)}{'xyz'[k]}": column for k, column in enumerate(values)}
    return channels

"""OpenSim's external loads as ground reactions, with the bodies that they push."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents.osim.osim_setups import ExternalForce, read_external_loads
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.recording_files import read_sto

# Columns as `ground_reactions` finds them, by the force's name.
_AXES = "xyz"
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
    time, names = table.time, list(channels)
    columns = np.column_stack([*channels.values(), np.zeros(time.size)])
    if times is not None and time.size >= _SPLINE and np.isfinite(columns).all():
        from scipy.interpolate import CubicSpline

        within = times[(times >= time[0]) & (times <= time[-1])]
        time, columns = within, CubicSpline(time, columns, bc_type="natural")(within)
    recording = Recording(time, channels=dict(zip(names, columns.T, strict=False)), source=table.source)
    return recording, [(force.body, f"ground_{force.name}") for force in forces]


def _channels(force: ExternalForce, table: Recording) -> dict[str, FloatArray]:
    """A force's nine columns by their new names; no torque where there are none."""
    channels: dict[str, FloatArray] = {}
    for key, (name, unit) in _KINDS.items():
        names = [name.format(force.name) + axis for axis in _AXES]
        begin = getattr(force, key)
        if begin:
            found = [table.channel(column, unit) for column in force.columns(begin, list(table.channels))]
        else:
            found = [np.zeros(table.time.size)] * 3
        channels |= dict(zip(names, found, strict=True))
    return channels

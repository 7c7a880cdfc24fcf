"""The robot that is measured: the differential drive with motors, on a circle."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import Row

VOLTAGES = {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}
MOST_OPERATIONS = 100

DESCRIPTION = """\
trundle: 1
robot:
  name: diff_drive
  base: planar
  body: {mass: 50.0, center_of_mass: [d, 0, 0], inertia: {zz: 5.0}}
  wheels:
    right: {at: [0, -0.6, 0], radius: r, width: 0.15, mass: 2.0}
    left: {at: [0, 0.6, 0], radius: r, width: 0.15, mass: 2.0}
  motors:
    right_motor: {drives: right, torque_constant: 1.0, resistance: 0.05, inductance: 1.0e-4}
    left_motor: {drives: left, torque_constant: 1.0, resistance: 0.05, inductance: 1.0e-4}
  parameters: {d: 0.0, r: 0.15}
run:
  duration: 30.0
  inputs: {right_motor.voltage: 24.0, left_motor.voltage: 20.0}
"""


def diff_drive() -> Any:
    """The derived model."""
    from trundle.documents import parse
    from trundle.model import derive

    return derive(parse(DESCRIPTION).robot)


def program_size(quick: bool) -> list[Row]:
    """Instructions of the right-hand side, all of them, and those left where the parameters' share is done
    beforehand.
    """
    model = diff_drive()
    left = model.dynamics.operations_excluding("parameter")
    return [
        Row(
            "diff drive with motors: instructions of its right-hand side",
            f"{model.operations}",
            target=f"≤ {MOST_OPERATIONS}",
            met=model.operations <= MOST_OPERATIONS,
            note=f"{left} of them at every evaluation, the others once for a set of parameters",
        )
    ]

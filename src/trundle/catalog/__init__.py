"""The catalogue: robots to start from, each a function of its main measures, each with a run that shows it moving."""

from trundle.catalog.catalogue import document, motor, motors, names, options, robot, summary
from trundle.catalog.leg import leg
from trundle.catalog.linkages import four_bar, pendulum, slider_crank
from trundle.catalog.wheeled import (
    ackermann,
    differential_drive,
    limited_swerve,
    mecanum,
    offset_drive,
    skid_steer,
    swerve,
    three_omni,
    tricycle,
)

__all__ = [
    "ackermann",
    "differential_drive",
    "document",
    "four_bar",
    "leg",
    "limited_swerve",
    "mecanum",
    "motor",
    "motors",
    "names",
    "offset_drive",
    "options",
    "pendulum",
    "robot",
    "skid_steer",
    "slider_crank",
    "summary",
    "swerve",
    "three_omni",
    "tricycle",
]

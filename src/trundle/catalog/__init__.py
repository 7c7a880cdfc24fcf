"""The catalogue: robots to start from, each a function of its main measures, each with a run that shows it moving."""

from trundle.catalog.robots import (
    ackermann,
    differential_drive,
    document,
    four_bar,
    mecanum,
    names,
    offset_drive,
    options,
    pendulum,
    robot,
    skid_steer,
    slider_crank,
    summary,
    swerve,
    three_omni,
    tricycle,
)

__all__ = [
    "ackermann",
    "differential_drive",
    "document",
    "four_bar",
    "mecanum",
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

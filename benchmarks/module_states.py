"""Module states of a swerve drive for its twist: batches on one core, and one call from Python, beside WPILib."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import MISSING, Row, best_together, installed, seconds_text
from trundle.catalog import swerve
from trundle.motion.drive.kinematics import kinematics
from trundle.program import compile_program

RATIO, CALL = 150.0, 10e-6
BATCH = 4096  # twists, angles and speeds take 11 numbers a robot: 0.4 MB, within a second-level cache


def module_states(quick: bool) -> list[Row]:
    """Nanoseconds a robot in a batch, beside a call of wpimath; microseconds of single calls."""
    ours = kinematics(swerve())
    kernel = compile_program(ours.inverse)
    twists = np.random.default_rng(0).uniform(-1, 1, (3, BATCH))
    before = ours.module_states(1.0, 0.2, -0.3)
    works = [
        lambda: kernel(twists, threads=1),
        lambda: ours.module_states(1.0, 0.5, 0.7),
        lambda: ours.module_states(1.0, 0.5, 0.7, before),
        lambda: ours.twist(before),
    ]
    if installed("wpimath"):
        import wpimath.geometry as geometry
        import wpimath.kinematics as theirs

        drive = theirs.SwerveDrive4Kinematics(
            *(geometry.Translation2d(*place) for place in ours.places.tolist())
        )
        speeds = theirs.ChassisSpeeds(1.0, 0.5, 0.7)
        works.append(lambda: drive.toSwerveModuleStates(speeds))
    batch, single, follow, back, *rest = best_together(*works, tries=10 if quick else 100)
    each = batch / BATCH
    ratio = rest[0] / each if rest else None
    rows = [
        Row(
            "4-module inverse kinematics in batches, a core, against a call of wpimath",
            seconds_text(each),
            seconds_text(rest[0]) if rest else MISSING,
            ratio,
            f"≥ {RATIO:.0f} ×",
            None if ratio is None else ratio >= RATIO,
            f"{ours.inverse.operations} operations, {BATCH} robots a batch",
        )
    ]
    for what, seconds in (("module_states", single), ("…, from previous states", follow), ("twist", back)):
        rows.append(Row(f"one call of {what}", seconds_text(seconds), target="≤ 10 µs", met=seconds <= CALL))
    return rows

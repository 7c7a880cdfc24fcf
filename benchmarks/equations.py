"""Readable equations: how short, how soon."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.drive import DESCRIPTION
from benchmarks.measure import Row, best_seconds, seconds_text

MOST_OPERATIONS, MOST_SECONDS, MOST_SWERVE = 60, 1.5, 1.0


def equations(quick: bool) -> list[Row]:
    """The differential drive with its mass centre off the axle, and the kinematics of a swerve of four modules."""
    return [*_drive(3 if quick else 7), *_swerve(3 if quick else 7)]


def _drive(tries: int) -> list[Row]:
    from trundle import equations as written
    from trundle.documents import parse

    text = DESCRIPTION.replace("d: 0.0", "d: 0.3")
    found = written(parse(text).robot, "dynamics")
    operations = found.operations_of("acceleration.v_x", "acceleration.omega")
    walls = sorted(_cold(text, tries, "--format", "latex"))
    return [
        Row(
            "equations: v̇ and ω̇ of the differential drive with d ≠ 0",
            f"{operations} operations",
            target=f"≤ {MOST_OPERATIONS}",
            met=operations <= MOST_OPERATIONS,
            note="their intermediate quantities included",
        ),
        Row(
            "  from the description to LaTeX, everything, in a fresh process",
            seconds_text(walls[0]),
            target=f"≤ {MOST_SECONDS} s",
            met=walls[0] <= MOST_SECONDS,
            note=f"best of {tries}; median {seconds_text(walls[len(walls) // 2])}",
        ),
    ]


def _swerve(tries: int) -> list[Row]:
    from trundle import catalog
    from trundle import equations as written
    from trundle.documents import dump

    robot = catalog.swerve()
    seconds = best_seconds(lambda: written(robot, "kinematics").text(), tries=tries, least=0.0)
    walls = sorted(_cold(dump(robot), tries, "--what", "kinematics"))
    return [
        Row(
            "equations: full kinematics of a swerve of four modules, checked and printed",
            seconds_text(seconds),
            target=f"≤ {MOST_SWERVE} s",
            met=seconds <= MOST_SWERVE,
            note=f"in a fresh process {seconds_text(walls[0])} (best of {tries}), most of it imports",
        )
    ]


def _cold(text: str, tries: int, *options: str) -> list[float]:
    """Wall times of `trundle equations` on a description, each in a process of its own."""
    walls = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "robot.yaml")
        file.write_text(text, encoding="utf-8")
        code = "import sys; from trundle.cli import main; sys.exit(main())"
        for _ in range(tries):
            started = time.perf_counter()
            command = [sys.executable, "-c", code, "equations", str(file), *options]
            subprocess.run(command, capture_output=True, check=True)
            walls.append(time.perf_counter() - started)
    return walls

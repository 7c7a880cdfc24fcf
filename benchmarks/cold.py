"""A cold process: what a user waits for `trundle run`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.drive import DESCRIPTION
from benchmarks.measure import Row, seconds_text

WALL, DERIVE, FIGURES = 1.2, 0.15, 1.2
DRIVE, DRAWN = 1.0, 4.0


def cold_run(quick: bool) -> list[Row]:
    """Wall time of a fresh process of `trundle run --no-figures`, and derivation and compilation within it: the best
    of the tries.
    """
    tries = 3 if quick else 7
    walls, derivations = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "circle.yaml")
        file.write_text(DESCRIPTION, encoding="utf-8")
        for _ in range(tries):
            started = time.perf_counter()
            done = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    "import sys; from trundle.cli import main; sys.exit(main())",
                    "run",
                    str(file),
                ]
                + ["--no-figures", "--json", "--out", folder],
                capture_output=True,
                text=True,
                check=True,
            )
            walls.append(time.perf_counter() - started)
            answer = json.loads(done.stdout)
            derivations.append(answer["derive_seconds"] + answer["compile_seconds"])
    wall, derive = min(walls), min(derivations)
    ordered = sorted(walls)
    return [
        Row(
            "cold process: trundle run circle.yaml --no-figures",
            seconds_text(wall),
            target=f"≤ {WALL} s",
            met=wall <= WALL,
            note=f"best of {tries}; median {seconds_text(ordered[len(ordered) // 2])}",
        ),
        Row("  of it derive + compile", seconds_text(derive), target=f"≤ {DERIVE} s", met=derive <= DERIVE),
    ]


def cold_drive(quick: bool) -> list[Row]:
    """Wall time of a fresh process of `trundle drive` for a motion of 2 s, without figures and with all of them."""
    command = "import sys; from trundle.cli import main; sys.exit(main())"
    motion = str(Path("examples", "swerve", "motions", "forward_to_left.yaml"))
    rows = []
    for what, more, limit in (("--no-graphs", ["--no-graphs"], DRIVE), ("with all figures", [], DRAWN)):
        walls = []
        for _ in range(3 if quick else 7):
            with tempfile.TemporaryDirectory() as folder:
                words = ["drive", "--file", motion, "--output", folder, "--control-level", "body", *more]
                started = time.perf_counter()
                subprocess.run([sys.executable, "-c", command, *words], capture_output=True, check=True)
                walls.append(time.perf_counter() - started)
        wall, middle = min(walls), sorted(walls)[len(walls) // 2]
        name = f"cold process: trundle drive, 2 s of motion, {what}"
        note = f"best of {len(walls)}; median {seconds_text(middle)}"
        rows.append(Row(name, seconds_text(wall), target=f"≤ {limit} s", met=wall <= limit, note=note))
    return rows


_FIGURES = """
import sys, tempfile, time, trundle
run = trundle.run(sys.argv[1])
began = time.process_time()
run.plot.save(tempfile.mkdtemp())
print(time.process_time() - began)
"""


def figures(quick: bool) -> list[Row]:
    """Processor time of all figures of a run in a fresh process, with the import of Matplotlib."""
    rows = []
    for example in ("diff_drive/circle", "swerve/four_modules"):
        command = [sys.executable, "-c", _FIGURES, str(Path("examples", f"{example}.yaml"))]
        taken = [
            float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(3 if quick else 7)
        ]
        rows.append(
            Row(
                f"all figures of a run: {example}.yaml",
                seconds_text(min(taken)),
                target=f"≤ {FIGURES} s",
                met=min(taken) <= FIGURES,
                note="processor time",
            )
        )
    return rows

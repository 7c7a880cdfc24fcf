"""A cold process: what a user waits for `trundle run`."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.drive import DESCRIPTION
from benchmarks.measure import Row, seconds_text

WALL, DERIVE, FIGURES = 1.2, 0.15, 1.2
DRIVE, DRAWN = 1.0, 4.0
# Beside what a run can't do without, which is imported alone by turns with it.
LIBRARIES, MORE = "import numpy, scipy.integrate, llvmlite.binding, pydantic, yaml", 1.5
_COMMAND = "import sys; from trundle.cli import main; sys.exit(main())"


def _process(*words: str) -> tuple[float, str]:
    """Wall time of a fresh process of Python, and what it prints. It may keep its modules compiled, as Python does
    unless told otherwise: installed packages come so.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", *words], capture_output=True, text=True, check=True, env=kept
    )
    return time.perf_counter() - started, done.stdout


def cold_run(quick: bool) -> list[Row]:
    """Wall time of a fresh process of `trundle run --no-figures`, and derivation and compilation within it: the best
    of the tries; and its median beside one that imports its libraries only.
    """
    tries = 3 if quick else 10
    walls, derivations, imports = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "circle.yaml")
        file.write_text(DESCRIPTION, encoding="utf-8")
        for k in range(tries + 1):
            imports.append(_process(LIBRARIES)[0])
            new = str(Path(folder, str(k)))  # an earlier run's files would be read before they are replaced
            wall, text = _process(_COMMAND, "run", str(file), "--no-figures", "--json", "--out", new)
            walls.append(wall)
            answer = json.loads(text)
            derivations.append(answer["derive_seconds"] + answer["compile_seconds"])
    wall, derive = min(walls), min(derivations)
    # The first ones may have compiled modules.
    median, alone = statistics.median(walls[1:]), statistics.median(imports[1:])
    name, ratio = "cold process: trundle run circle.yaml --no-figures", median / alone
    words = "the peer imports NumPy, scipy.integrate, llvmlite, pydantic and PyYAML"
    return [
        Row(
            name,
            seconds_text(wall),
            target=f"≤ {WALL} s",
            met=wall <= WALL,
            note=f"best of {tries}; median {seconds_text(median)}",
        ),
        Row("  of it derive + compile", seconds_text(derive), target=f"≤ {DERIVE} s", met=derive <= DERIVE),
        Row(
            f"{name}, median, beside its libraries",
            seconds_text(median),
            seconds_text(alone),
            ratio,
            f"≤ {MORE:g} × the time",
            ratio <= MORE,
            words,
        ),
    ]


def cold_drive(quick: bool) -> list[Row]:
    """Wall time of a fresh process of `trundle drive` for a motion of 2 s, without figures and with all of them."""
    motion = str(Path("examples", "swerve", "motions", "forward_to_left.yaml"))
    rows = []
    for what, more, limit in (("--no-graphs", ["--no-graphs"], DRIVE), ("with all figures", [], DRAWN)):
        walls = []
        for _ in range(3 if quick else 7):
            with tempfile.TemporaryDirectory() as folder:
                words = ["drive", "--file", motion, "--output", folder, "--control-level", "body", *more]
                walls.append(_process(_COMMAND, *words)[0])
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

"""Films of 10 s at 30 pictures a second, 600 pixels wide, as GIF and MP4.

With every picture drawn anew by matplotlib's FuncAnimation, as films were before, the GIF of the differential drive
took 25 s of processor time and the swerve's 24 s, beside 2.8 s and 4.3 s (two cores, EPYC, the same minutes).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import trundle
from benchmarks.measure import MISSING, Row, seconds_text
from trundle.show.figures.films import film

ROBOTS = {"diff_drive": "examples/diff_drive/circle.yaml", "swerve": "examples/swerve/four_modules.yaml"}
DURATION, FPS, WIDTH = 10.0, 30.0, 600
# Seconds that a film may take.
TARGETS = {".gif": 15.0, ".mp4": 8.0}


def films(quick: bool) -> Iterator[Row]:
    """One row for each robot and kind of film; `quick` takes one robot."""
    for name, path in list(ROBOTS.items())[: 1 if quick else None]:
        run = trundle.run(path, duration=DURATION)
        for suffix, target in TARGETS.items():
            what = f"film {suffix} of {name}"
            if suffix == ".mp4" and shutil.which("ffmpeg") is None:
                yield Row(what, MISSING)
                continue
            wall, spent, size = _written(run, suffix)
            note = f"{seconds_text(spent)} of processors, {size / 1e3:.0f} kB"
            yield Row(what, seconds_text(wall), target=f"{target:g} s", met=wall <= target, note=note)


def _written(run: trundle.Run, suffix: str) -> tuple[float, float, int]:
    """Seconds until a film is written, of all processors together (ffmpeg's, too), and its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        wall, spent = time.perf_counter(), sum(os.times()[:4])
        path = film(run, Path(folder) / f"film{suffix}", fps=FPS, width=WIDTH, progress=False)
        return time.perf_counter() - wall, sum(os.times()[:4]) - spent, path.stat().st_size

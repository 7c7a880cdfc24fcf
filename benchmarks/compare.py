"""Two checkouts on one machine: the same work done by turns, and the median of the ratios.

Both run in processes of their own, so that each imports its own package; a machine that is busy slows both of a
pair. Only the public names are used, so that a checkout of another year can be compared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.drive import DESCRIPTION
from benchmarks.measure import Row, seconds_text
from trundle.errors import InputError

SLOWER = (
    1.05  # more than this is worth a look: below it, noise and change can't be told apart on shared machines
)
HERE = Path(__file__).resolve().parent.parent

# Each is timed inside a process of the checkout: the least of several tries (`work` returns a callable).
WORKS = {
    "derive the differential drive": "lambda: t.derive(drive)",
    "derive a swerve of four modules": "lambda: t.derive(swerve)",
    "derive Ackermann steering": "lambda: t.derive(car)",
    "derive a chain of 25 links": "lambda: t.derive(chain)",
    "derive a four-bar": "lambda: t.derive(bar)",
    "one 30 s run": "lambda: t.simulate(model, 30, volts, samples=3000)",
    "one run of a four-bar": "lambda: t.simulate(bar_model, 3, samples=300, initial={'crank.rate': 2.0})",
    "a kinematic run": "lambda: t.roll(drive, 10, {'left.rate': 2.0, 'right.rate': 2.5})",
    "a rollout of 4,096 robots, 500 steps": "lambda: t.rollout(model, inputs=volts, steps=500, dt=1e-3, count=4096)",
    "one evaluation of a chain's dynamics, batched": "lambda: kernel(*groups)",
    "linearize": "lambda: model.linearize({'v_x': 1.0})",
    "analyze a tricycle": "lambda: t.analyze(tricycle)",
    "odometry, derived": "lambda: t.derive(drive).odometry()",
    "equations of the differential drive": "lambda: model.equations().text()",
    "equations of a swerve, kinematics": "lambda: swerve_model.equations('kinematics').latex()",
}
_PRELUDE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import trundle as t
drive, swerve, car = t.load(sys.argv[1]), t.catalog.swerve(), t.catalog.ackermann()
if not isinstance(drive, t.Robot): drive = drive.robot
chain, bar, tricycle = t.catalog.pendulum(links=25), t.catalog.four_bar(), t.catalog.tricycle()
volts = {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}
model, bar_model, swerve_model, chain_model = (t.derive(each) for each in (drive, bar, swerve, chain))
from trundle.program import compile_program
kernel = compile_program(chain_model.dynamics)
groups = [np.random.default_rng(0).normal(size=(group.size, 2048)) for group in chain_model.dynamics.inputs]
result = {}
"""
_TIMED = """
def timed(work, least=0.2):
    work()
    best, spent = float("inf"), 0.0
    while spent < least:
        start = time.perf_counter(); work(); took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best
"""
COMMANDS = {
    "cold: import trundle": ["-c", "import trundle"],
    "cold: trundle --help": ["-m", "trundle", "--help"],
    "cold: trundle run --no-figures": [
        "-m",
        "trundle",
        "run",
        "FILE",
        "--no-figures",
        "--quiet",
        "--out",
        "OUT",
    ],
    "cold: trundle run": ["-m", "trundle", "run", "FILE", "--quiet", "--out", "OUT"],
    "cold: trundle equations": ["-m", "trundle", "equations", "FILE", "--format", "latex"],
    "cold: trundle check": ["-m", "trundle", "check", "FILE"],
}


def compare(there: str | os.PathLike[str], rounds: int) -> Iterator[Row]:
    """Rows `ours` (this checkout), `peer` (the other one) and their ratio, the median over rounds of pairs."""
    other = checkout(there)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "circle.yaml")
        file.write_text(DESCRIPTION, encoding="utf-8")
        for what, command in COMMANDS.items():
            # folders of their own: a checkout doesn't replace what the other one's version wrote
            ours, theirs = (
                [{"FILE": str(file), "OUT": str(Path(folder, whose))}.get(part, part) for part in command]
                for whose in ("ours", "theirs")
            )
            yield _row(what, [(_wall(HERE, ours), _wall(other, theirs)) for _ in range(rounds)])
        for what, work in WORKS.items():
            pairs = [
                (_inside(HERE, work, file), _inside(other, work, file)) for _ in range(max(3, rounds // 3))
            ]
            yield _row(what, pairs)


def checkout(path: str | os.PathLike[str]) -> Path:
    """The folder of another checkout, refused where it is none."""
    other = Path(path).resolve()
    if not (other / "src" / "trundle").is_dir():
        raise InputError(
            f"{path} is no checkout of trundle", hint="git worktree add ../old REVISION makes one"
        )
    return other


def _row(what: str, pairs: list[tuple[float, float]]) -> Row:
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(what, seconds_text(ours), seconds_text(theirs), ratio, met=ratio <= SLOWER)


def environment(checkout: Path) -> dict[str, str]:
    """What a process of this checkout imports and how it computes: its own package, one core."""
    return {**os.environ, "PYTHONPATH": str(checkout / "src"), "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}


def _wall(checkout: Path, command: list[str]) -> float:
    """Processor seconds of a fresh process: less noisy than the clock where other work runs."""
    code = (
        "import resource, subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], check=True, "
        "stdout=subprocess.DEVNULL); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        env=environment(checkout),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def _inside(checkout: Path, work: str, file: Path) -> float:
    """Seconds of one call of `work` in a process of the checkout."""
    script = f"{_PRELUDE}{_TIMED}print(timed({work}))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        env=environment(checkout),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InputError(f"{checkout} can't do `{work}`: {done.stderr.strip().splitlines()[-1]}")
    return float(json.loads(done.stdout))

"""The differential drive's 30 s at 1 ms in other languages, by what is exported to them: how far off, how long."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import trundle
from benchmarks.export_fmu import co_simulated
from benchmarks.measure import MISSING, Row, installed, seconds_text
from trundle.model import Model

_INPUTS = ("24", "20")
_H, _SECONDS = 1e-3, 30
_WHAT = "30 s of the differential drive in {} against the kernels' steps of 1 ms"
# Of the largest number, after one step and at the end.
_ONCE, _LAST = 1e-12, 1e-9
# A program for modules of Python, which are written without one; {run} goes on by `steps` steps.
_PYTHON = """
import sys
{start}
import differential_drive as robot

seconds, h, *inputs = map(float, sys.argv[1:])
steps, u = round(seconds / h), np.array(inputs)
x, p = np.array([*robot.START.values()]), np.array([*robot.PARAMETERS.values()])
{run}
print(*[seconds, *x.tolist()], sep=",")
"""
_NUMPY = _PYTHON.format(
    start="import numpy as np", run="for _ in range(steps):\n    x = robot.step(x, u, p, h)"
)
_JAX = _PYTHON.format(
    start="import jax\nimport jax.numpy as np\njax.config.update('jax_enable_x64', True)",
    run="step = lambda x, _: (robot.step(x, u, p, h), None)\n"
    "x = jax.jit(lambda x: jax.lax.scan(step, x, length=steps)[0])(x)",
)
# What runs a package's program, with seconds, step and inputs after it; C-like ones are built by `make` before.
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "c": ("./main",),
    "fortran": ("./main",),
    "javascript": ("node", "example.js"),
    "octave": ("octave-cli", "--norc", "--quiet", "--no-history", "--eval"),
    "numpy": (sys.executable, "-c", _NUMPY),
    "jax": (sys.executable, "-c", _JAX),
}
# Interpreted, for seconds.
_SLOW = ("octave", "numpy")
_COMPILERS: Mapping[str, str] = {"c": "cc", "fortran": "gfortran"}


def export_runs(quick: bool) -> Iterator[Row]:
    """A row a language: both differences, and the wall time of the program's whole process."""
    model = trundle.derive(trundle.catalog.differential_drive())
    ends = {steps: _kernels_end(model, steps) for steps in (1, round(_SECONDS / _H))}
    for target, command in _COMMANDS.items():
        if not shutil.which(_COMPILERS.get(target, command[0])) or (target == "jax" and not installed("jax")):
            yield Row(_WHAT.format(target), MISSING)
        elif not (quick and target in _SLOW):
            yield _by_process(model, target, ends)
    if not installed("fmpy") or shutil.which("cc") is None:
        yield Row(_WHAT.format("an FMU, Co-Simulation"), MISSING)
    else:
        yield from _by_fmpy(model, ends)


def _by_process(model: Model, target: str, ends: dict[int, np.ndarray]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot"
        model.export(target, "dynamics", output=path)
        if target in _COMPILERS:
            subprocess.run(["make"], cwd=path, check=True, capture_output=True)
        found: list[float] = []
        wall = 0.0
        for steps, expected in ends.items():
            started = time.perf_counter()
            state = _printed_end(_call(target, steps), path)
            wall = time.perf_counter() - started
            found.append(_off(state, expected))
    return _row(target, found, f"{seconds_text(wall)} the process")


def _by_fmpy(model: Model, ends: dict[int, np.ndarray]) -> Iterator[Row]:
    """A row a version of FMI."""
    with tempfile.TemporaryDirectory() as folder:
        model.export("fmu", output=folder, name="drive")
        for version in "23":
            path = str(Path(folder, f"drive_fmi{version}.fmu"))
            run = co_simulated(model, path, max(ends))
            found = [_off(run.states[steps], expected) for steps, expected in ends.items()]
            yield _row(
                f"an FMU, FMI {version}.0, Co-Simulation,", found, f"{seconds_text(run.spent)} in doStep"
            )


def _off(state: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest number."""
    return float(np.abs(state - expected).max() / np.abs(expected).max())


def _row(where: str, found: Sequence[float], note: str) -> Row:
    return Row(
        _WHAT.format(where),
        f"{found[0]:.1e} after one step, {found[1]:.1e} at the end",
        target=f"≤ {_ONCE:.0e}, ≤ {_LAST:.0e}",
        met=found[0] <= _ONCE and found[1] <= _LAST,
        note=note,
    )


def _call(target: str, steps: int) -> Sequence[str]:
    seconds = f"{steps * _H:g}"
    if target == "octave":
        return [*_COMMANDS[target], f"main({seconds}, {_H}, [{'; '.join(_INPUTS)}])"]
    return [*_COMMANDS[target], seconds, str(_H), *_INPUTS]


def _printed_end(command: Sequence[str], folder: Path) -> np.ndarray:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return np.array([float(word) for word in done.stdout.split("\n")[-2].split(",")])[1:]


def _kernels_end(model: Model, steps: int) -> np.ndarray:
    x, u = np.array(model.state_vector()), np.array([float(word) for word in _INPUTS])
    p = np.array([*model.parameters.values()])

    def rate(at: np.ndarray) -> np.ndarray:
        return np.asarray(model.dynamics(at, u, p))

    for _ in range(steps):
        a = rate(x)
        b = rate(x + _H / 2 * a)
        c = rate(x + _H / 2 * b)
        d = rate(x + _H * c)
        x = x + _H / 6 * (a + 2 * b + 2 * c + d)
    return x

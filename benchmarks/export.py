"""Kernels in batches beside JAX (jit and vmap, 64 bit) and CasADi's own map, all on one core; and a cold export."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, best_together, installed, seconds_text
from benchmarks.mechanisms import forward_program, planar_chain, tree_of
from trundle import catalog
from trundle.languages import JAX, source
from trundle.model import derive
from trundle.program import Program, compile_program

# A batch's numbers stay within a second-level cache.
NUMBERS = 50_000
COLD = 1.2
_ROBOT = Path("examples", "diff_drive", "offset.yaml")


def batches(quick: bool) -> Iterator[Row]:
    """Nanoseconds a state of each robot's dynamics, ours beside the peers'."""
    programs: dict[str, Callable[[], Program]] = {
        "diff drive": lambda: derive(catalog.differential_drive()).dynamics,
        "planar chain of 7 joints": lambda: forward_program(tree_of(planar_chain(7))),
        "swerve drive": lambda: derive(catalog.swerve()).dynamics,
    }
    with _one_core():
        for name, make in programs.items():
            yield from _beside(name, make(), quick)


def _beside(name: str, program: Program, quick: bool) -> list[Row]:
    sizes = [group.size for group in (*program.inputs, *program.outputs)]
    count = NUMBERS // sum(sizes) // 32 * 32
    rng = np.random.default_rng(0)
    groups = [rng.uniform(0.5, 1.0, (group.size, count)) for group in program.inputs]
    kernel = compile_program(program)
    peers: dict[str, Callable[[], Any]] = {"CasADi's map": _casadi(program, groups)}
    if installed("jax"):
        peers["JAX, jit(vmap)"] = _jax(program, groups)
        peers["JAX without its fusion"] = _jax(program, groups, {"xla_disable_hlo_passes": "fusion"})
    (expected,) = kernel(*groups)
    apart = {peer: _apart(call(), expected) for peer, call in peers.items()}
    works = [partial(kernel, *groups, threads=1), *peers.values()]
    ours, *theirs = (each / count for each in best_together(*works, tries=10 if quick else 60))
    what, aim = f"{name}: dynamics of {count} states, a state on one core", "> 1 ×"
    rows = [
        Row(
            f"{what}, beside {peer}",
            seconds_text(ours),
            seconds_text(seconds),
            seconds / ours,
            aim,
            seconds > ours,
            f"{program.operations} operations; apart by {apart[peer]:.1e} relative",
        )
        for peer, seconds in zip(peers, theirs, strict=True)
    ]
    return (
        rows
        if installed("jax")
        else [*rows, Row(f"{what}, beside JAX", seconds_text(ours), MISSING, target=aim)]
    )


def _jax(
    program: Program, groups: list[np.ndarray], options: Mapping[str, str] | None = None
) -> Callable[[], Any]:
    """The compiled call on arrays that JAX already has; fused, long programs compute things over and over."""
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    space: dict[str, Any] = {}
    exec(source({"f": program}, JAX), space)
    mapped = jax.jit(jax.vmap(space["f"], in_axes=1, out_axes=1), compiler_options=options)
    given = [jax.device_put(group) for group in groups]
    return lambda: mapped(*given).block_until_ready()


def _casadi(program: Program, groups: list[np.ndarray]) -> Callable[[], Any]:
    casadi: Any = import_module("casadi")
    mapped = program.casadi_function.map(groups[0].shape[1])
    given = [casadi.DM(group) for group in groups]
    return lambda: mapped.call(given)[0]


def _apart(found: Any, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


@contextmanager
def _one_core() -> Iterator[None]:
    """The process on one core, so that JAX, which takes as many threads as it sees, has one, too."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cold_export(quick: bool) -> list[Row]:
    """Wall time of a fresh process of `trundle export`, of all that the diff drive has."""
    command = "import sys; from trundle.cli import main; sys.exit(main())"
    rows = []
    for target in ("c", "numpy"):
        walls, began = [], _children()
        for _ in range(3 if quick else 9):
            with tempfile.TemporaryDirectory() as folder:
                words = ["export", str(_ROBOT), "--to", target, "--output", folder]
                started = time.perf_counter()
                subprocess.run([sys.executable, "-c", command, *words], capture_output=True, check=True)
                walls.append(time.perf_counter() - started)
        wall, middle = min(walls), sorted(walls)[len(walls) // 2]
        worked = seconds_text((_children() - began) / len(walls))
        what = f"cold process: trundle export --to {target}"
        note = f"best of {len(walls)}; median {seconds_text(middle)}, processor time {worked}"
        rows.append(Row(what, seconds_text(wall), target=f"≤ {COLD} s", met=wall <= COLD, note=note))
    return rows


def _children() -> float:
    """Processor time of this process's children so far (s)."""
    times = os.times()
    return times.children_user + times.children_system

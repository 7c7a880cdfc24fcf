"""The benchmarks by name, and how they are run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module

from benchmarks.measure import Row
from trundle.errors import InputError, suggest

# Name -> the functions that measure it, each taking `quick`. Loaded when asked for: peers take long to import.
BENCHMARKS = {
    "cold": ("cold.cold_run",),
    "drive": ("cold.cold_drive",),
    "figures": ("cold.figures",),
    "program": ("drive.program_size",),
    "rollout": ("rollouts.rollout_rate",),
    "single": ("single.single_run",),
    "feedback": (
        "feedback.sensitivities",
        "feedback.closed_loop",
        "feedback.one_loop",
        "feedback.sampled_loop",
        "estimation.filter_steps",
    ),
    "rough_ground": ("ground_speed.speeds", "rough_ground.against_mujoco"),
    "sweeps": ("sweeps.beside_rollouts",),
    "gpu": ("gpu.steps_on_a_gpu", "ptx.making", "ptx.assembling"),
    "memory": ("memory.rollout_memory", "memory.many_robots"),
    "forward": ("chains.forward_rates", "chains.single_call"),
    "calls": ("calls.single_calls",),
    "jax": ("jax_slopes.jax_slopes",),
    "build": ("chains.build_times",),
    "sympy": ("sympy_models.sympy_models",),
    "equations": ("equations.equations",),
    "export_c": ("export_c.batches_against_c",),
    "planner": ("planner.transitions",),
    "fastest": ("fastest.one_start",),
    "tracking": ("tracking.tracking",),
    "path_limits": ("path_limits.along_a_path",),
    "pathplanner": ("pathplanner.against_pathplanner",),
    "choreo": ("choreo.against_choreo",),
    "kinematics": ("module_states.module_states",),
    "inverse": ("inverse.symbols", "inverse.limb", "inverse.skeleton"),
    "smoothing": ("smoothing.smoothing",),
    "export": ("export.cold_export", "export.batches"),
    "runs": ("export_runs.export_runs",),
    "fmu": ("export_fmu.fmus",),
    "films": ("films.films",),
    "frames": ("page_frames.page_frames",),
    "page": ("page.page",),
    "browser": ("page_browser.page_browser",),
    "window": ("window.window",),
}


def run_benchmarks(names: Iterable[str] = (), quick: bool = False) -> Iterator[Row]:
    """Rows of the named benchmarks (all by default), each as soon as it is measured; `quick` takes fewer tries."""
    chosen = list(names) or list(BENCHMARKS)
    for name in chosen:
        if name not in BENCHMARKS:
            raise InputError(f"there is no benchmark '{name}'", hint=suggest(name, BENCHMARKS))
    for name in chosen:
        for each in BENCHMARKS[name]:
            module, _, function = each.partition(".")
            yield from getattr(import_module(f"benchmarks.{module}"), function)(quick)

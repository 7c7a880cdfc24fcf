"""What JAX takes until it has a robot's slopes: `jit`, `jacfwd`, `jacrev`, `vmap`; and how far they are from ours."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, installed, seconds_text

MOST, APART = 15.0, 1e-10


def jax_slopes(quick: bool) -> list[Row]:
    """The first call of each, in this process's own time: other work on this machine doesn't count."""
    if not installed("jax"):
        return [Row("slopes in JAX", "", MISSING)]
    import jax

    jax.config.update("jax_enable_x64", True)
    rows: list[Row] = []
    for name, model in _models(quick).items():
        f, x = model.jax(), np.array(model.state_vector()) + 0.1
        many = np.repeat(x[None], 100, 0)
        own = model.dynamics.jacobian("rate", "state")
        groups = x, np.zeros(len(model.inputs)), np.array(list(model.parameters.values()))
        wanted = own(*groups).reshape(len(x), -1)
        ways: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
            "jit": (f, x),
            "jit of jacfwd": (jax.jacfwd(f), x),
            "jit of jacrev": (jax.jacrev(f), x),
            "jit of vmap of jacfwd, 100 states": (jax.vmap(jax.jacfwd(f)), many),
        }
        for way, (function, given) in ways.items():
            start = time.process_time()
            result = np.asarray(jax.jit(function)(given))
            seconds = time.process_time() - start
            apart = 0.0 if way == "jit" else np.abs(result - wanted).max() / np.abs(wanted).max()
            met = seconds <= MOST and apart <= APART
            note = "" if way == "jit" else f"apart from our Jacobian by {apart:.1e}"
            rows.append(
                Row(
                    f"{way} of {name} in JAX",
                    seconds_text(seconds),
                    target=f"≤ {MOST:g} s",
                    met=met,
                    note=note,
                )
            )
    return rows


def _models(quick: bool) -> dict[str, Any]:
    import trundle

    models: dict[str, Any] = {"a swerve": trundle.derive(trundle.catalog.swerve())}
    for name in ("panda",) if quick else ("panda", "tiago"):
        file = next(Path(sys.prefix).rglob(f"{name}.urdf"), None)
        if file is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[name] = trundle.derive(trundle.load(file, base="fixed"))
    return models

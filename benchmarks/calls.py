"""Single calls from NumPy on a published arm, with fresh results and bound, beside Pinocchio."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import MISSING, Row, best_together, installed, seconds_text

FRESH, BOUND = 8e-6, 3e-6
"""Seconds of one M: where a call checks its arrays and returns new ones, and where both stand."""


def single_calls(quick: bool) -> list[Row]:
    """Each of ours beside Pinocchio's, in slices that take turns."""
    file = next(Path(sys.prefix).rglob("panda.urdf"), None)
    if file is None or not installed("pinocchio"):
        return [Row("single calls on a Panda", "", MISSING)]
    ours, theirs = _ours(file), _pinocchio(file)
    rows: list[Row] = []
    for what, (fresh, bound) in ours.items():
        seconds = best_together(fresh, bound, theirs[what], tries=10 if quick else 50)
        for way, mine, target in (("fresh results", seconds[0], FRESH), ("bound", seconds[1], BOUND)):
            asked = what == "mass matrix"
            rows.append(
                Row(
                    f"a Panda's {what} from NumPy, {way}, against Pinocchio",
                    seconds_text(mine),
                    seconds_text(seconds[2]),
                    seconds[2] / mine,
                    f"≤ {seconds_text(target)}" if asked else "",
                    mine <= target if asked else None,
                )
            )
    return rows


def _ours(file: Path) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    import trundle

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = trundle.derive(trundle.load(file, base="fixed"))
    q, v, a = (np.full(len(model.speeds), value) for value in (0.03, 0.2, 0.1))
    programs = {
        "mass matrix": (model.mass_matrix, (q,)),
        "inverse dynamics": (model.inverse_dynamics(), (q, v, a)),
        "forward dynamics": (model.forward_dynamics(), (q, v, a)),
    }
    return {
        what: (lambda call=call, groups=groups: call(*groups), call.bind(*groups))
        for what, (call, groups) in programs.items()
    }


def _pinocchio(file: Path) -> dict[str, Callable[[], object]]:
    pin: Any = import_module("pinocchio")  # has no types
    model = pin.buildModelFromUrdf(str(file))
    data = model.createData()
    q, v, a = (np.full(model.nv, value) for value in (0.03, 0.2, 0.1))
    return {
        "mass matrix": lambda: pin.crba(model, data, q),
        "inverse dynamics": lambda: pin.rnea(model, data, q, v, a),
        "forward dynamics": lambda: pin.aba(model, data, q, v, a),
    }

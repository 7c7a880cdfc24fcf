"""CUDA C: the functions of C99 for a GPU's threads and its host, and C++ where the qualifiers are empty."""

from __future__ import annotations

import math
from dataclasses import replace

from trundle.languages.c import C, defined
from trundle.languages.language import Function

# What a function of both GPU and host begins with.
BOTH = "__host__ __device__ inline"


def _number(value: float) -> str:
    """As in C; NVRTC, which has no math.h, knows neither NAN nor INFINITY."""
    if math.isfinite(value):
        return C.number(value)
    return 'nan("")' if math.isnan(value) else "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"


def _framed(function: Function) -> str:
    """A function whose arrays are each thread's own, and all different ones."""
    read = len(function.program.inputs)
    given = ", ".join(
        f"{'const ' if k < read else ''}double *__restrict__ {name}"
        for k, name in enumerate(function.arguments)
    )
    return defined(f"{BOTH} void {function.name}({given})", "double", function, function.body)


_WORDS = (
    "__device__",
    "__global__",
    "__host__",
    "__shared__",
    "blockDim",
    "blockIdx",
    "gridDim",
    "threadIdx",
    "nan",
)
CUDA = replace(
    C,
    name="CUDA",
    suffix=".cu",
    number=_number,
    framed=_framed,
    reserved=C.reserved | frozenset(_WORDS),
    helpers={name: text.replace("static inline", BOTH) for name, text in C.helpers.items()},
)

"""Batches of robots: the kernels, beside emitted C and CasADi's C as a person would compile them, on one core.

C takes the states as a person keeps them, one after the other, and calls the function for each; with -ffast-math its
loop is written over the kernels' own layout, so that the compiler can turn it into vectors.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trundle
from benchmarks.drive import diff_drive
from benchmarks.measure import MISSING, Row, best_together, seconds_text
from trundle.languages import C, source
from trundle.program import Program, compile_program
from trundle.program.llvm.jit import host

COUNT = 10_000
PLAIN = ("-O3", "-march=native")
VECTORS = (*PLAIN, "-ffast-math", "-fopenmp-simd")
_OURS = """\
#include <math.h>

{functions}
void many(long count, const double *x, const double *u, const double *p, double *rate) {{
    for (long k = 0; k < count; k++) f(x + {n} * k, u + {m} * k, p, rate + {n} * k);
}}
void lanes(long count, const double *x, const double *u, const double *p, double *rate) {{
#pragma omp simd
    for (long k = 0; k < count; k++) {{
        double state[{n}], input[{m} + 1], found[{n}];
        for (long i = 0; i < {n}; i++) state[i] = x[i * count + k];
        for (long i = 0; i < {m}; i++) input[i] = u[i * count + k];
        f(state, input, p, found);
        for (long i = 0; i < {n}; i++) rate[i * count + k] = found[i];
    }}
}}
"""
_CASADI = """\
{functions}
void many(long count, const double *x, const double *u, const double *p, double *rate) {{
    double work[{work} + 1];
    for (long k = 0; k < count; k++) {{
        const double *given[] = {{x + {n} * k, u + {m} * k, p}};
        double *found[] = {{rate + {n} * k}};
        {name}(given, found, 0, work, 0);
    }}
}}
"""


def batches_against_c(quick: bool) -> Iterator[Row]:
    """For each robot: kernel against C, vectorised C and CasADi's C, and our C against CasADi's."""
    models = {
        "diff drive": diff_drive(),
        "7-link chain": trundle.derive(trundle.catalog.pendulum(links=7)),
        "swerve": trundle.derive(trundle.catalog.swerve()),
    }
    for name, model in models.items():
        if shutil.which("gcc") is None:
            yield Row(f"{name} in batches, against emitted C", "", MISSING, note="no gcc")
            continue
        yield from _rows(name, model, 30 if quick else 200)


def _rows(name: str, model: trundle.Model, tries: int) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        works = _works(model, Path(folder))
        kernel, ours, lanes, casadi = best_together(*works, tries=tries)
    wide = host().register
    what = f"{name}, a state of a batch of {COUNT:,}: kernel against"
    plain, vectors = " ".join(PLAIN), " ".join(VECTORS[2:])
    each = [seconds_text(seconds / COUNT) for seconds in (kernel, ours, lanes, casadi)]
    ratio = ours / kernel
    yield Row(f"{what} our C, gcc {plain}", each[0], each[1], ratio, f"≥ {wide} ×", ratio >= wide)
    yield Row(f"{what} our C with {vectors}", each[0], each[2], lanes / kernel)
    yield Row(f"{what} CasADi's C, gcc {plain}", each[0], each[3], casadi / kernel)
    ratio = casadi / ours
    yield Row(f"{name}: our C against CasADi's, gcc {plain}", each[1], each[3], ratio, "≥ 1 ×", ratio >= 1)


def _works(model: trundle.Model, folder: Path) -> list[Callable[[], object]]:
    """The same batch by the kernel, by our C, by our C in vectors, by CasADi's C; all give the same."""
    program, rng = model.dynamics, np.random.default_rng(0)
    n, m = len(model.states), len(model.inputs)
    x = model.quantities.normalised(model.states, rng.uniform(-1, 1, (n, COUNT)))
    u, p = rng.uniform(-1, 1, (m, COUNT)), np.array(list(model.parameters.values()))
    rows = [np.ascontiguousarray(each.T) for each in (x, u)]
    kernel = compile_program(program)
    text = _OURS.format(
        functions=source({"f": program}, C).replace("\nvoid f(", "\nstatic void f("), n=n, m=m
    )
    calls = [
        (_compiled(text, folder / "ours", PLAIN).many, (*rows, p, np.empty((COUNT, n)))),
        (_compiled(text, folder / "lanes", VECTORS).lanes, (x, u, p, np.empty((n, COUNT)))),
        (_compiled(_casadi(program, n, m), folder / "casadi", PLAIN).many, (*rows, p, np.empty((COUNT, n)))),
    ]
    works: list[Callable[[], object]] = [
        kernel.bind(x, u, p, np.empty((n, COUNT)))
    ]  # C's results have a place, too
    expected = kernel(x, u, p)[0]
    for function, arrays in calls:
        function(*_arguments(arrays))
        found = arrays[-1] if arrays[-1].shape == expected.shape else arrays[-1].T
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()):
            raise AssertionError("the peers compute something else")
        works.append(partial(function, *_arguments(arrays)))
    return works


def _arguments(arrays: tuple[np.ndarray, ...]) -> tuple[object, ...]:
    """Addresses that keep their arrays alive."""
    return (ctypes.c_long(COUNT), *(array.ctypes.data_as(ctypes.c_void_p) for array in arrays))


def _casadi(program: Program, n: int, m: int) -> str:
    import casadi as ca

    function = program.casadi_function
    generator = ca.CodeGenerator("peer.c")
    generator.add(function)
    return _CASADI.format(functions=generator.dump(), n=n, m=m, work=function.sz_w(), name=function.name())


def _compiled(text: str, place: Path, flags: tuple[str, ...]) -> ctypes.CDLL:
    place.with_suffix(".c").write_text(text, encoding="utf-8")
    files = [str(place.with_suffix(".c")), "-o", str(place.with_suffix(".so")), "-lm"]
    subprocess.run(["gcc", "-std=gnu99", *flags, "-shared", "-fPIC", *files], check=True)
    return ctypes.CDLL(str(place.with_suffix(".so")))

"""C functions called from Python: compiled with every warning an error, as a shared library."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from trundle.languages import C_SINGLE, C, source

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-pedantic", "-Werror"]

_MANY = """
void f_many(long count, const {real} *numbers, {real} *found);

void f_many(long count, const {real} *numbers, {real} *found) {{
    for (long k = 0; k < count; k++) {{
        f({arguments});
    }}
}}
"""


def compiler(name):
    """The path of a compiler that a test needs."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def compiled(text, folder, name="gcc", flags=("-O1",), suffix=".c"):
    """A shared library of C text, in a folder."""
    path, library = Path(folder) / f"code{suffix}", Path(folder) / "code.so"
    path.write_text(text, encoding="utf-8")
    standard = "-std=c99" if suffix == ".c" else "-std=c++17"
    command = [compiler(name), standard, *WARNINGS, *flags, "-shared", "-fPIC"]
    done = subprocess.run(
        [*command, str(path), "-o", str(library), "-lm"], capture_output=True, timeout=300, text=True
    )
    assert done.returncode == 0, done.stderr[:3000]
    assert not done.stderr, done.stderr[:3000]
    return ctypes.CDLL(str(library))


def many(program, real):
    """A C function that calls `f` at many states, one a row of numbers in and out."""
    sizes = [group.size for group in program.inputs], [group.size for group in program.outputs]
    places = []
    for name, counts in zip(("numbers", "found"), sizes, strict=True):
        starts = np.cumsum([0, *counts])
        places += [f"{name} + {starts[-1]} * k + {start}" for start in starts[:-1]]
    return _MANY.format(real=real, arguments=", ".join(places))


def called(program, *groups, single=False, name="gcc", flags=("-O1",)):
    """The outputs of a program's function at many states, groups (n, count) in and out."""
    language, real, kind = (C_SINGLE, "float", np.float32) if single else (C, "double", np.float64)
    declared = source({"f": program}, language)
    declaration = declared[declared.rindex("void f(") :].split(" {")[0]
    start = declared.rindex("void f(")
    text = f"#include <math.h>\n{declared[:start]}{declaration};\n{declared[start:]}{many(program, real)}"
    table = np.ascontiguousarray(np.vstack(groups).T, dtype=kind)
    sizes = [group.size for group in program.outputs]
    found = np.empty((len(table), sum(sizes)), dtype=kind)
    with TemporaryDirectory() as folder:
        library = compiled(text, folder, name, flags)
        library.f_many(ctypes.c_long(len(table)), _address(table), _address(found))
    return np.split(found.T.astype(float), np.cumsum(sizes)[:-1])


def _address(array):
    return ctypes.c_void_p(array.ctypes.data)

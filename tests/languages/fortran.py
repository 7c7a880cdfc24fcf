"""Fortran subroutines called from Python, compiled by gfortran."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from trundle.languages import source
from trundle.languages.fortran import FORTRAN

STRICT = ["-std=f2008", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fimplicit-none"]
_MODULE = """\
module m
  use, intrinsic :: iso_c_binding, only: wp => c_double, int64 => c_int64_t, c_int
  implicit none
contains
{text}
subroutine many(count, {numbers}) bind(c)
  integer(c_int), intent(in), value :: count
{declared}
  integer :: k
  do k = 1, count
    call one({columns})
  end do
end subroutine many
end module m
"""


def module_of(program):
    """A module with a program's subroutine, and one for C that calls it at many states."""
    groups = [*(("in", g) for g in program.inputs), *(("inout", g) for g in program.outputs)]
    names = [f"g{k}" for k in range(len(groups))]
    declared = [
        f"  real(wp), intent({intent}) :: {name}({group.size}, count)"
        for name, (intent, group) in zip(names, groups, strict=True)
    ]
    return _MODULE.format(
        text=source({"one": program}, FORTRAN),
        numbers=", ".join(names),
        declared="\n".join(declared),
        columns=", ".join(f"{name}(:, k)" for name in names),
    )


def compiled(text, folder, level="-O1"):
    """A shared library of Fortran text, in a folder."""
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran")
    path, library = Path(folder) / "code.f90", Path(folder) / "code.so"
    path.write_text(text, encoding="utf-8")
    command = ["gfortran", *STRICT, level, "-shared", "-fPIC", "-o", str(library), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr[:3000]
    assert not done.stderr, done.stderr[:3000]
    return ctypes.CDLL(str(library))


def called(program, *groups, level="-O1"):
    """The outputs of a program's subroutine at many states, groups (n, count) in and out."""
    count = groups[0].shape[1]
    given = [np.asfortranarray(group, dtype=float) for group in groups]
    results = [np.zeros((group.size, count), order="F") for group in program.outputs]
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*given, *results)]
    with TemporaryDirectory() as folder:
        compiled(module_of(program), folder, level).many(ctypes.c_int(count), *pointers)
    return results

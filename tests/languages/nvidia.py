"""CUDA text compiled by NVRTC, which needs no GPU, and run as C++ with empty qualifiers."""

import ctypes
from importlib.metadata import PackageNotFoundError, files
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from languages.c_code import compiled, many
from trundle.languages import source
from trundle.languages.cuda import CUDA

EMPTY = "#include <math.h>\n#define __host__\n#define __device__\n#define __global__\n"


def nvrtc_compiled(text):
    """The PTX that NVIDIA's compiler makes of text."""
    try:
        found = [
            each for each in files("nvidia-cuda-nvrtc-cu12") or () if each.name.startswith("libnvrtc.so")
        ]
    except PackageNotFoundError:
        pytest.skip("no nvidia-cuda-nvrtc-cu12")
    library = ctypes.CDLL(str(found[0].locate()))
    made, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(made), text.encode(), b"robot.cu", 0, None, None)
    status = library.nvrtcCompileProgram(made, 0, None)
    library.nvrtcGetProgramLogSize(made, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(made, log)
    assert status == 0, log.value.decode()[:3000]
    assert "warning" not in log.value.decode(), log.value.decode()[:3000]
    library.nvrtcGetPTXSize(made, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(made, ptx)
    library.nvrtcDestroyProgram(ctypes.byref(made))
    return ptx.value.decode()


def called(program, *groups, level="-O1"):
    """The outputs of a program's function at many states, groups (n, count) in and out, run as C++."""
    calls = f'extern "C" {{{many(program, "double")}}}'
    table = np.ascontiguousarray(np.vstack(groups).T)
    sizes = [group.size for group in program.outputs]
    found = np.empty((len(table), sum(sizes)))
    with TemporaryDirectory() as folder:
        text = f"{EMPTY}{source({'f': program}, CUDA)}{calls}"
        library = compiled(text, folder, "g++", (level,), ".cpp")
        library.f_many(ctypes.c_long(len(table)), *(ctypes.c_void_p(a.ctypes.data) for a in (table, found)))
    return np.split(found.T, np.cumsum(sizes)[:-1])

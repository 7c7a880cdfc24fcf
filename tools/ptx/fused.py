"""a b + c rounded once, of arrays: the one operation of IEEE 754 that NumPy lacks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

_LOOP = """
declare {t} @llvm.fma.{s}({t}, {t}, {t})
define void @loop(ptr %a, ptr %b, ptr %c, ptr %d, i64 %n) {{
entry:
  br label %next
next:
  %i = phi i64 [0, %entry], [%j, %next]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %pc = getelementptr {t}, ptr %c, i64 %i
  %pd = getelementptr {t}, ptr %d, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %z = load {t}, ptr %pc
  %r = call {t} @llvm.fma.{s}({t} %x, {t} %y, {t} %z)
  store {t} %r, ptr %pd
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %next, label %done
done:
  ret void
}}
"""


def fma(a: NDArray, b: NDArray, c: NDArray) -> NDArray:
    """a b + c, rounded once: by the processor's own instruction, or the C library where it has none."""
    shape = np.broadcast_shapes(a.shape, b.shape, c.shape)
    given = [np.ascontiguousarray(np.broadcast_to(x, shape)) for x in (a, b, c)]
    result = np.empty(shape, a.dtype)
    if result.size:
        _loop(a.dtype.itemsize)(*(x.ctypes.data for x in (*given, result)), result.size)
    return result


@cache
def _loop(size: int) -> Callable[..., Any]:
    from trundle.program.llvm.jit import host

    machine = host().machine()
    module = llvm.parse_assembly(_LOOP.format(t="double" if size == 8 else "float", s=f"f{8 * size}"))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(engine.get_function_address("loop"))
    vars(loop)["kept"] = engine
    return loop

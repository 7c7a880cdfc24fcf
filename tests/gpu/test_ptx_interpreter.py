"""The interpreter of PTX: small functions, compiled by LLVM for this machine and to PTX, have the same bits."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import llvmlite.binding as llvm
import numpy as np
import pytest

from tools.ptx import Machine, PTXError
from tools.ptx.fused import fma
from trundle.program.llvm.jit import host

_HEAD = """
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.fabs.f64(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.copysign.f64(double, double)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""
_KERNEL = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define ptx_kernel void @k(ptr %x, ptr %y, i64 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %s = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %o = mul i32 %b, %s
  %i = add i32 %o, %t
  %j = zext i32 %i to i64
  %ok = icmp ult i64 %j, %n
  br i1 %ok, label %go, label %done
go:
  call void @f(ptr %x, ptr %y, i64 %j)
  br label %done
done:
  ret void
}
"""
_HOST = """
define void @k(ptr %x, ptr %y, i64 %n) {
entry:
  br label %next
next:
  %j = phi i64 [0, %entry], [%k, %next]
  call void @f(ptr %x, ptr %y, i64 %j)
  %k = add i64 %j, 1
  %more = icmp ult i64 %k, %n
  br i1 %more, label %next, label %done
done:
  ret void
}
"""


def _function(body: str) -> str:
    """`f`, which makes the i64 %r, or its bits, of the j-th rows of three doubles %a, %b and %c."""
    loads = "".join(
        f"  %p{k} = getelementptr [3 x double], ptr %x, i64 %j, i64 {k}\n  %{name} = load double, ptr %p{k}\n"
        for k, name in enumerate("abc")
    )
    store = "  %q = getelementptr i64, ptr %y, i64 %j\n  store i64 %r, ptr %q\n  ret void\n"
    return f"define internal void @f(ptr %x, ptr %y, i64 %j) {{\nentry:\n{loads}{body}\n{store}}}\n"


def ptx_of(code: str) -> str:
    """A module of LLVM code as PTX."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_70", opt=3)
    return machine.emit_assembly(llvm.parse_assembly(f'target triple = "nvptx64-nvidia-cuda"\n{code}'))


def _on_host(code: str, rows: np.ndarray) -> np.ndarray:
    module = llvm.parse_assembly(code)
    engine = llvm.create_mcjit_compiler(module, host().machine())
    engine.finalize_object()
    result = np.zeros(len(rows), np.uint64)
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    signature(engine.get_function_address("k"))(rows.ctypes.data, result.ctypes.data, len(rows))
    return result


def _interpreted(ptx: str, rows: np.ndarray) -> np.ndarray:
    machine, count = Machine(ptx), len(rows)
    x, y = machine.memory.allocate(rows.nbytes), machine.memory.allocate(8 * count)
    machine.memory.bytes(x, rows.nbytes)[:] = rows.reshape(-1).view(np.uint8)
    machine.launch("k", -(-count // 32), 32, [x, y, count])
    return machine.memory.bytes(y, 8 * count).view(np.uint64).copy()


def _rows(count: int = 203) -> np.ndarray:
    """Ordinary numbers, far and near ones, and edges."""
    rng = np.random.default_rng(29)
    rows = rng.normal(size=(count, 3)) * 2.0 ** rng.integers(-60, 60, (count, 3))
    edges = [0.0, -0.0, 1.0, -1.5, 2.5, np.inf, -np.inf, 5e-324, 1.7e308, 0.5]
    rows[: len(edges), 0], rows[5 : 5 + len(edges), 1] = edges, edges
    return rows


_DOUBLE = "\n  %r = bitcast double %d to i64"
_BODIES = {
    "sums": "  %s = fadd double %a, %b\n  %t = fsub double %s, %c\n  %d = fmul double %t, %a" + _DOUBLE,
    "fused": "  %d = call double @llvm.fma.f64(double %a, double %b, double %c)" + _DOUBLE,
    "quotients": "  %s = fdiv double %a, %b\n  %d = fdiv double 1.0, %s" + _DOUBLE,
    "roots": "  %s = call double @llvm.fabs.f64(double %a)\n  %d = call double @llvm.sqrt.f64(double %s)"
    + _DOUBLE,
    **{
        how: f"  %d = call double @llvm.{how}.f64(double %a)" + _DOUBLE
        for how in ("floor", "ceil", "trunc", "rint")
    },
    "signs": "  %s = fneg double %a\n  %d = call double @llvm.copysign.f64(double %s, double %b)" + _DOUBLE,
    "single": """
  %x1 = fptrunc double %a to float
  %x2 = fptrunc double %b to float
  %x3 = fmul float %x1, %x2
  %x4 = call float @llvm.fma.f32(float %x3, float %x1, float 3.0)
  %x5 = fdiv float %x4, %x2
  %d = fpext float %x5 to double"""
    + _DOUBLE,
    "single roots": """
  %m = call double @llvm.fabs.f64(double %a)
  %x1 = fptrunc double %m to float
  %x2 = call float @llvm.sqrt.f32(float %x1)
  %w = bitcast float %x2 to i32
  %r = zext i32 %w to i64""",
    "choices": """
  %p = fcmp olt double %a, %b
  %q0 = fcmp ugt double %b, %c
  %n = fcmp uno double %a, %c
  %x1 = and i1 %p, %q0
  %x2 = xor i1 %x1, %n
  %d = select i1 %x2, double %a, double %c"""
    + _DOUBLE,
    "integers": """
  %i = bitcast double %a to i64
  %k = bitcast double %b to i64
  %i1 = mul i64 %i, %k
  %i2 = lshr i64 %i1, 7
  %i3 = ashr i64 %k, 11
  %i4 = shl i64 %i, 3
  %i5 = xor i64 %i2, %i3
  %i6 = sub i64 %i4, %i5
  %i7 = call i64 @llvm.umin.i64(i64 %i6, i64 %k)
  %i8 = call i64 @llvm.smax.i64(i64 %i7, i64 %i)
  %w1 = trunc i64 %i8 to i32
  %w2 = sext i32 %w1 to i64
  %i9 = mul i64 %w2, %w2
  %neg = icmp slt i64 %i9, %i3
  %i10 = or i64 %i9, 5
  %r = select i1 %neg, i64 %i10, i64 %i8""",
    "conversions": """
  %s0 = call double @llvm.fabs.f64(double %a)
  %near = fcmp olt double %s0, 1.0e9
  %s = select i1 %near, double %a, double 7.5
  %i = fptosi double %s to i64
  %w = fptosi double %s to i32
  %w64 = zext i32 %w to i64
  %f = sitofp i64 %i to double
  %g = uitofp i32 %w to float
  %g2 = fpext float %g to double
  %d0 = fadd double %f, %g2
  %i2 = bitcast double %d0 to i64
  %r = add i64 %i2, %w64""",
}


@pytest.mark.parametrize("name", _BODIES)
def test_bits_are_those_of_this_machine(name: str) -> None:
    rows, function = _rows(), _HEAD + _function(_BODIES[name])
    here, there = _on_host(function + _HOST, rows), _interpreted(ptx_of(function + _KERNEL), rows)
    if _BODIES[name].endswith(_DOUBLE):  # which NaN it is nobody promises
        a, b = here.view(float), there.view(float)
        here, there = here[~np.isnan(a)], there[~np.isnan(a)]
        assert np.array_equal(np.isnan(a), np.isnan(b))
    assert np.array_equal(here, there)


def test_threads_part_and_meet() -> None:
    body = """
  %m0 = fptosi double %c to i64
  %m = and i64 %m0, 7
  %odd = trunc i64 %m0 to i1
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%k1, %latch]
  %v = phi double [%a, %entry], [%v1, %latch]
  br i1 %odd, label %left, label %right
left:
  %l = fmul double %v, 1.25
  br label %latch
right:
  %t = fadd double %v, %b
  br label %latch
latch:
  %v1 = phi double [%l, %left], [%t, %right]
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %m
  br i1 %more, label %loop, label %out
out:
  %r = bitcast double %v1 to i64"""
    rows = np.random.default_rng(7).uniform(-9, 9, (77, 3))
    function = _function(body)
    assert np.array_equal(_on_host(function + _HOST, rows), _interpreted(ptx_of(function + _KERNEL), rows))


_CALLED = """
@table = internal addrspace(1) constant [4 x double] [double 1.5, double -2.5, double 4.0, double 0.25]
define internal {double, double} @inner(double %a, ptr %scratch, i64 %k) noinline {
  %q = getelementptr double, ptr %scratch, i64 %k
  %old = load double, ptr %q
  %new = fmul double %old, %a
  store double %new, ptr %q
  %r1 = insertvalue {double, double} poison, double %new, 0
  %r2 = insertvalue {double, double} %r1, double %old, 1
  ret {double, double} %r2
}
"""


def test_functions_local_arrays_and_tables() -> None:
    body = """
  %scratch = alloca [8 x double]
  %m0 = fptosi double %c to i64
  %m = and i64 %m0, 3
  %e = getelementptr double, ptr %scratch, i64 %m
  store double %b, ptr %e
  %both = call {double, double} @inner(double %a, ptr %scratch, i64 %m)
  %new = extractvalue {double, double} %both, 0
  %old = extractvalue {double, double} %both, 1
  %te = getelementptr [4 x double], ptr addrspace(1) @table, i64 0, i64 %m
  %tv = load double, ptr addrspace(1) %te
  %kept = load double, ptr %e
  %d1 = fadd double %new, %old
  %d2 = fadd double %d1, %tv
  %d = fsub double %d2, %kept"""
    rows = np.random.default_rng(8).uniform(-9, 9, (77, 3))
    there = _interpreted(ptx_of(_CALLED + _function(body + _DOUBLE) + _KERNEL), rows).view(float)
    a, b, c = rows.T
    new, table = b * a, np.array([1.5, -2.5, 4.0, 0.25])[np.trunc(c).astype(int) & 3]
    assert np.array_equal(there, new + b + table - new)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_fused_sums_are_rounded_once(kind: type[np.floating]) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=400).astype(kind) for _ in "ab")
    c = (-a * b * (1 + rng.integers(-3, 4, 400) * np.finfo(kind).eps)).astype(kind)
    for x, y, z, found in zip(a, b, c, fma(a, b, c), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        error, spacing = abs(Fraction(float(found)) - exact), Fraction(float(np.spacing(abs(found))))
        assert error <= spacing / 2


_FAULTY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 n)
{
	.reg .b64 %rd<9>;
	.reg .b32 %r<9>;
	mov.u32 %r1, %tid.x;
	ld.param.b64 %rd1, [x];
	@WHAT;
	ret;
}
"""


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("sin.approx.f32 %r2, %r1", "unknown instruction: sin.approx.f32"),
        ("div.approx.f32 %r2, %r1, %r1", "unknown instruction: div.approx"),
        ("add.rz.f64 %rd2, %rd1, %rd1", "unknown instruction: add.rz"),
        ("mul.f64 %rd2, %rd1, %rd1", "unknown instruction: mul.f64"),  # the assembler might fuse it
        ("bar.sync 0", "unknown instruction: bar.sync"),
        ("add.rn.f64 %rd2, %rd1, %rd3", "%rd3 of 'k' is read before anything"),
        ("add.rn.f64 %rd2, %rd1, %r1", "%r1, of uint32, is read as float64"),
        ("mov.b64 %rd9, %rd1", "no register %rd9"),
        ("ld.global.b64 %rd2, [%rd1+4]", "no multiple of 8"),
        ("ld.global.b64 %rd2, [%rd1+960]", "are asked for|no buffer"),
        ("ld.global.b64 %rd2, [%rd1+-8]", "no buffer"),
        ("st.global.b64 [%rd1], %rd1", "two threads write"),
        ("call.uni (retval0), sin, (param0)", "no such function"),
        ("mov.b64 %rd2, nowhere", "neither a table"),
    ],
)
def test_faults_are_named(what: str, message: str) -> None:
    with pytest.raises(PTXError, match=message):
        _interpreted(_FAULTY.replace("@WHAT", what), _rows(40))

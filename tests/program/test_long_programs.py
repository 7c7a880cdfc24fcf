"""Long programs cut into pieces agree with the whole, and traced nodes with CasADi."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from program.programs import DEFAULTS, differential_drive, random_program
from trundle.errors import InputError, TrundleError
from trundle.program import Tracer, kernel
from trundle.program.kernel import Kernel
from trundle.program.llvm import jit, llvm_kernel, llvm_rollout
from trundle.program.rollout import rollout
from trundle.scalars import atan2, clamp, cos, is_zero, sin, sqrt


def cut_to_pieces(monkeypatch, size, long=0):
    for least in ("LOOPED", "BRANCHED"):
        monkeypatch.setattr(llvm_kernel, least, 0)
    monkeypatch.setattr(llvm_kernel, "LONG", long)
    for length in ("PIECE", "LOOP", "CHAIN_LOOP"):
        monkeypatch.setattr(llvm_kernel, length, size)


@pytest.mark.slow
@pytest.mark.parametrize("long", [0, 50], ids=["a function each", "functions of 50 operations"])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_pieces_agree_with_casadi(monkeypatch, size, long, rng):
    cut_to_pieces(monkeypatch, size, long)
    program = random_program(5, size=20)
    kernel = Kernel(program)
    a, b = rng.normal(size=(4, 61)), rng.normal(size=(3, 61))
    for groups in ((a, b), (a[:, 0], b), (a, b[:, 0]), (a[:, :9], b[:, :9]), (a[:, 3], b[:, 3])):
        for got, expected in zip(kernel(*groups), program.evaluate(*groups), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_programs_compiled_quickly_compute_the_same(monkeypatch, rng):
    """Few lanes go one by one through the code of one state, many through that of batches."""
    monkeypatch.setattr(kernel, "QUICK", 10)
    monkeypatch.setattr(kernel, "FEW", 8)
    monkeypatch.setattr(jit, "SHORT", 7)  # its blocks are cut into short ones
    program = random_program(5, size=20)
    quick = Kernel(program)
    quick.prepare(2, 2)
    for count in (1, 8, 9, 61):
        groups = rng.normal(size=(4, count)), rng.normal(size=(3, count))
        for got, expected in zip(quick(*groups), program.evaluate(*groups), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("looped", [0, 1000], ids=["a loop of stages", "stages in a row"])
def test_loops_whose_blocks_are_cut_lead_from_step_to_step(monkeypatch, looped, rng):
    """Values that come round a loop come from the last part of the block that they came from."""
    monkeypatch.setattr(llvm_rollout, "LOOPED", looped)
    tracer, labels = Tracer("state"), tuple("abcd")
    a, b, c, d = tracer.inputs("state", 4)
    rates = [sin(b) - 0.3 * a, cos(c) * a, d - b, a * b - 0.1 * d]
    program = tracer.program(f"swing {looped}", {"state": labels}, {"rate": (labels, rates)})
    start = rng.normal(size=(4, 13))
    whole = rollout(program, start, {}, dt=0.01, steps=20)
    monkeypatch.setattr(jit, "SHORT", 3)
    cut = rollout(program, start, {}, dt=0.01, steps=20, quick=True)
    np.testing.assert_allclose(cut.states, whole.states, rtol=1e-12, atol=1e-12)


def test_the_first_samples_of_tables_take_code_that_is_compiled_quickly(monkeypatch, rng):
    """Both codes compute the same, and the usual one is made when more samples have come than that."""
    monkeypatch.setattr(kernel, "FIRST", 100)
    program = random_program(5, size=23)  # of no other test: code is shared by content
    made, usual = Kernel(program), []
    for count in (61, 39, 61, 3, 1025):
        tables = rng.normal(size=(count, 4)), rng.normal(size=(count, 3))
        expected = program.evaluate(*(table.T for table in tables))
        for got, right in zip(made.over_samples(*tables), expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-12)
        usual.append((False, False) in made._functions)
    assert usual == [False, False, True, True, True]


def long_kernel(monkeypatch, few=50, large=20, price=200):
    for name, value in {"QUICK": 10, "FEW": few, "LARGE": large, "PRICE": price}.items():
        monkeypatch.setattr(kernel, name, value)
    return Kernel(random_program(5, size=20))


def compiled_at(made, count, often=None, most=40):
    """The number of the call, counted from 1, at which batches of a size get code of their own; None if at none."""
    groups = np.full((4, count), 0.5), np.full((3, count), 0.5)
    for call in range(1, most + 1):
        made(*groups, often=often)
        if (False, False) in made._functions:
            return call
    return None


def test_batches_of_long_programs_are_compiled_when_they_come_often(monkeypatch):
    assert compiled_at(long_kernel(monkeypatch), 20) == 3
    assert compiled_at(long_kernel(monkeypatch), 20, often=False) == 11  # when more than 200 lanes have come
    assert compiled_at(long_kernel(monkeypatch), 16) == 13
    assert compiled_at(long_kernel(monkeypatch), 20, often=True) == 1
    assert compiled_at(long_kernel(monkeypatch), 51) == 1
    assert compiled_at(long_kernel(monkeypatch), 3) is None  # less than a block gains nothing
    prepared = long_kernel(monkeypatch)
    prepared.prepare(2, 2)
    assert prepared._functions == {}
    prepared.prepare(2, 2, often=True)
    assert list(prepared._functions) == [(False, False)]


def test_pieces_pass_shared_values_and_plain_results(monkeypatch, rng):
    """Parameters' share is computed before the loop; inputs and constants may be results as they are."""
    cut_to_pieces(monkeypatch, 5)
    program = differential_drive()
    x, u = rng.normal(size=(9, 19)), rng.normal(size=2)
    expected = program.evaluate(x, u, DEFAULTS)[0]
    np.testing.assert_allclose(Kernel(program)(x, u, DEFAULTS)[0], expected, rtol=1e-12, atol=1e-12)
    threaded = Kernel(program)(x, u, DEFAULTS, threads=2)[0]
    np.testing.assert_allclose(threaded, expected, rtol=1e-12, atol=1e-12)


def test_nodes_write_the_program_that_casadi_would(rng):
    def formula(x, y, z):
        return [
            sin(x) * cos(y) - sqrt(x * x + 1) / (2 + z * z),
            clamp(atan2(y, x) ** 2, z),
            1 - x / 4 + 0 * 3,
            -(y - z) + z**3,
            5,
        ]

    tracer = Tracer("a", "b")
    labels = tuple("pqrst")
    (x, y), (z,) = tracer.inputs("a", 2), tracer.inputs("b", 1)
    program = tracer.program("nodes", {"a": ("x", "y"), "b": ("z",)}, {"f": (labels, formula(x, y, z))})
    a, b = ca.SX.sym("a", 2), ca.SX.sym("b")
    peer = ca.Function("peer", [a, b], [ca.vertcat(*formula(a[0], a[1], b))])
    points, shared = rng.normal(size=(2, 11)), rng.uniform(1, 2, size=(1, 11))
    expected = np.asarray(peer(points, shared))
    np.testing.assert_allclose(Kernel(program)(points, shared)[0], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(program.evaluate(points, shared)[0], expected, rtol=1e-12, atol=1e-12)
    slope = program.jacobian("f", "a").evaluate(points, shared)[0]
    exact = ca.Function("slope", [a, b], [ca.vec(ca.jacobian(peer(a, b), a).T)])
    np.testing.assert_allclose(slope, np.asarray(exact(points, shared)), rtol=1e-12, atol=1e-12)


def test_every_operation_goes_back_to_casadi(rng):
    program = random_program(2)
    a, b = rng.normal(size=(4, 5)), rng.normal(size=(3, 5))

    for got, expected in zip(
        replace(program, function=None).evaluate(a, b), program.evaluate(a, b), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_nodes_have_no_truth_and_explain_what_they_lack():
    tracer = Tracer("a")
    (x,) = tracer.inputs("a", 1)
    assert not is_zero(x)
    assert is_zero(x.builder and type(x)(x.builder, x.builder.const(0.0)))
    with pytest.raises(TrundleError, match="no truth"):
        bool(x)
    with pytest.raises(TypeError):
        _ = x + "text"
    with pytest.raises(InputError, match="expected the inputs"):
        tracer.program("p", {"b": ("x",)}, {"f": (("f",), [x])})
    with pytest.raises(TrundleError, match="reads element 1 of 'a', which has 1"):
        tracer.program("p", {"a": ("x",)}, {"f": (("f",), [x * tracer.inputs("a", 2)[1]])})
    with pytest.raises(InputError, match="2 labels but 1 values"):
        tracer.program("p", {"a": ("x",)}, {"f": (("f", "g"), [x])})

"""A thread's rollout, run on this machine lane by lane: against the host's own rollout, in one line and in pieces."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import pytest

import trundle
from derived import derived
from gpu.lanes import Floats
from trundle.program.ir import Program
from trundle.program.llvm import llvm_cut, llvm_rollout
from trundle.program.llvm.jit import Code, assemble, host
from trundle.program.llvm.llvm_rollout import SIGNATURE, ChannelLayout, emit_rollout, scheduled
from trundle.program.llvm.real import DOUBLE, SINGLE, RealFormat
from trundle.program.rollout import rollout
from trundle.program.simplify import only_output

DT, STEPS, COUNT, EVERY = 1e-3, 20, 5, 10

pytestmark = pytest.mark.skipif(not host().fused, reason="this processor has no fused multiply-add")


def threads_rollout(program: Program, start: Floats, given: Mapping[str, Floats], real: RealFormat) -> Floats:
    """Samples (saved, n, count) by the code of threads; groups (n, count), inputs (steps, n, count)."""
    program = only_output(program, "rate")
    names = [group.name for group in program.inputs]
    sources = sorted({i.source for i in program.instructions if i.op == "input" and i.source[0] != 0})
    layouts = {s: ChannelLayout(wide=True, stepped=given[names[s[0]]].ndim == 3) for s in sources}
    code = emit_rollout(scheduled(program, 0, layouts, 1, threads=True), 1, True, Code(1, real, device=True))
    compiled = assemble(code, SIGNATURE)
    states = np.array(start, dtype=real.dtype, order="C")
    samples = np.empty((STEPS // EVERY + 1, *start.shape), real.dtype)
    samples[0] = states
    table = [states.ctypes.data, samples.ctypes.data, COUNT, COUNT, EVERY, int(np.float64(DT).view(np.int64))]
    rows = {s: np.ascontiguousarray(given[names[s[0]]][..., s[1], :], dtype=real.dtype) for s in sources}
    for s, row in rows.items():
        table += [row.ctypes.data, COUNT if layouts[s].stepped else 0]
    words = np.array(table, dtype=np.int64)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 4)(compiled.address)
    for lane in range(COUNT):
        function(words.ctypes.data, lane, lane + 1, 0, STEPS)
    return samples


def case(model: trundle.Model, rng: np.random.Generator) -> tuple[Floats, dict[str, Floats]]:
    """Five robots that differ in all: states (n, count), inputs (steps, n, count) and parameters (n, count)."""
    defaults = np.array([model.parameters[name] for name in model.dynamics.inputs[2].labels])
    start = 0.1 * rng.standard_normal((len(model.states), COUNT))
    inputs = rng.standard_normal((STEPS, len(model.inputs), COUNT))
    parameters = defaults[:, None] * (1 + 0.02 * rng.uniform(-1, 1, (defaults.size, COUNT)))
    return start, {"input": inputs, "parameter": parameters}


def hosts(model: trundle.Model, start: Floats, given: Mapping[str, Floats]) -> Floats:
    return rollout(model.dynamics, start, given, dt=DT, steps=STEPS, every=EVERY).states


def shaken(
    model: trundle.Model,
    start: Floats,
    given: Mapping[str, Floats],
    real: RealFormat,
    rng: np.random.Generator,
) -> Floats:
    """How far the host's rollout goes off (saved, n, 1) where every number that it is given is off by rounding.

    Threads were off by 2.5 times that at most, over 15 seeds; robots whose wheels stick and slip are no measure.
    """
    eps = np.finfo(real.dtype).eps

    def off(x: Floats) -> Floats:
        return x * (1 + eps * rng.uniform(-1, 1, x.shape))

    truth = hosts(model, start, given)
    runs = [hosts(model, off(start), {name: off(x) for name, x in given.items()}) for _ in range(4)]
    reach = np.abs(truth).max(axis=2, keepdims=True) + 1.0
    return np.abs(np.array(runs) - truth).max(axis=(0, 3))[..., None] + eps * reach


@pytest.mark.parametrize("pieces", [False, True], ids=["line", "pieces"])
@pytest.mark.parametrize("real", [pytest.param(DOUBLE, id="double"), pytest.param(SINGLE, id="single")])
@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "tricycle", "pendulum"])
def test_a_thread_rolls_as_the_host_does(name, real, pieces, rng, monkeypatch):
    if pieces:
        monkeypatch.setattr(llvm_rollout, "LONG", 0)
        monkeypatch.setattr(llvm_cut, "PIECE", 40)
    model = derived(name)
    start, given = case(model, rng)
    truth = hosts(model, start, given)
    found = threads_rollout(model.dynamics, start, given, real)
    assert found.dtype == real.dtype
    assert (np.abs(found - truth) <= 10 * shaken(model, start, given, real, rng)).all()

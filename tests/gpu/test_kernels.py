"""PTX of programs and rollouts, run by the interpreter, against the CPU's kernels."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gpu.fake_cuda import FakeGpu
from gpu.interpreted import called
from languages import laws
from languages.cases import MODELS, operations, states
from languages.rounding import DOUBLE, SINGLE, off
from parameters import mostly_slow
from trundle.choices import Precision
from trundle.gpu import rolling
from trundle.gpu.devices import Device
from trundle.gpu.ptx import Ptx, rollout_ptx
from trundle.program import Program, Tracer
from trundle.program.llvm import llvm_cut, llvm_rollout
from trundle.program.llvm.llvm_rollout import ChannelLayout
from trundle.program.rollout import RolloutRequest
from trundle.program.rollout import rollout as native
from trundle.program.tracer import Node, traced


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name: str, seed: int) -> None:
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_in_single_precision_stay_within_their_rounding(name: str, seed: int) -> None:
    model = MODELS[name]()
    given = [each.astype(np.float32).astype(float) for each in states(model, 200, seed)]
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given, single=True)[0], expected, SINGLE) <= 1


@pytest.mark.parametrize("kind", mostly_slow(range(4), (0,)))
def test_random_programs_match_their_kernels(kind: int) -> None:
    laws.random_program_matches_its_kernel(kind, called)


def test_every_operation_at_its_edges() -> None:
    laws.every_operation_matches_at_its_edges(called)


def test_every_operation_in_single_precision() -> None:
    program = operations()
    given = np.random.default_rng(0).uniform(0.1, 0.9, (3, 200))
    given[0, ::2] += 1.0
    given = given.astype(np.float32).astype(float)
    got, expected = called(program, given, single=True)[0], np.asarray(program(given))
    for label, found, wanted in zip(program.outputs[0].labels, got, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6, err_msg=label)


@pytest.mark.slow
def test_long_programs() -> None:
    laws.long_program_matches_its_kernel(called)


STEPS, DT = 3, 1.0 / 1024  # a number that single precision holds, too


def unrolled(program: Program) -> Program:
    """Steps of the Runge-Kutta method as one program: what says how much rounding may do to them."""
    names = [group.name for group in program.inputs]
    tracer = Tracer(*names)
    nodes = {group.name: tracer.inputs(group.name, group.size) for group in program.inputs}
    start = nodes["state"]

    def rates(at: list[Node]) -> list[Node]:
        return list(traced(program, {**nodes, "state": at})["rate"])

    at = start
    for _ in range(STEPS):
        k1 = rates(at)
        k2 = rates([x + k * (DT / 2) for x, k in zip(at, k1, strict=True)])
        k3 = rates([x + k * (DT / 2) for x, k in zip(at, k2, strict=True)])
        k4 = rates([x + k * DT for x, k in zip(at, k3, strict=True)])
        all_four = zip(at, k1, k2, k3, k4, strict=True)
        at = [x + (a + b * 2.0 + c * 2.0 + d) * (DT / 6) for x, a, b, c, d in all_four]
    labels = program.inputs[program.input_index("state")].labels
    return tracer.program("steps", {g.name: g.labels for g in program.inputs}, {"state": (labels, at)})


def rollouts_stay_within_their_rounding(name: str, precision: Precision, seed: int) -> None:
    model = MODELS[name]()
    x, u, p = (each.astype(np.float32).astype(float) for each in states(model, 20, seed))
    groups = {"input": u, "parameter": p}
    roll = partial(native, run=Device("cuda", precision).run)
    there, here = (run(model.dynamics, x, groups, dt=DT, steps=STEPS, every=None) for run in (roll, native))
    unit = SINGLE if precision == "single" else DOUBLE
    assert off(unrolled(model.dynamics), (x, u, p), there.final, here.final, unit) <= 1


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", laws.ROBOTS)
def test_rollouts_stay_within_their_rounding(
    gpu: FakeGpu, name: str, precision: Precision, seed: int
) -> None:
    rollouts_stay_within_their_rounding(name, precision, seed)
    assert gpu.launches


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", mostly_slow(("mecanum", "swerve", "leg"), ("mecanum",)))
def test_rollouts_that_are_cut_into_functions(
    gpu: FakeGpu, name: str, precision: Precision, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The functions are called by their addresses, as `llvm_cut` says why."""
    monkeypatch.setattr(llvm_rollout, "LONG", 0)
    monkeypatch.setattr(llvm_cut, "PIECE", 60)
    texts: list[str] = []

    def fresh(request: RolloutRequest, precision: Precision, target: str) -> Ptx:
        layouts = {s: ChannelLayout(c.wide, c.stepped) for s, c in request.channels.items()}
        ptx = rollout_ptx(request.program, request.state, layouts, precision=precision)
        texts.append(ptx.text)
        return ptx

    monkeypatch.setattr(rolling, "kernel_of", fresh)
    rollouts_stay_within_their_rounding(name, precision, seed)
    assert all(".callprototype" in text for text in texts)

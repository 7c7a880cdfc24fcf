"""Rollouts in native code against the same method in NumPy; layouts, tails, threads, memory, messages."""

from __future__ import annotations

import threading
import tracemalloc

import casadi as ca
import numpy as np
import pytest

import trundle
from derived import derived
from parameters import mostly_slow
from program.programs import DEFAULTS, PARAMETERS, differential_drive
from trundle.errors import InputError
from trundle.program import compile_program, trace
from trundle.program import rollout as native
from trundle.program.llvm import jit, llvm_rollout
from trundle.program.rollout import rollout

PROGRAM = differential_drive()
VOLTAGE = np.array([24.0, 20.0])


def reference(x, u, p, dt, steps):
    """Classical Runge-Kutta in NumPy; ``u`` a function of the step. Returns the states at every step."""
    kernel = compile_program(PROGRAM)
    states = [x]
    for k in range(steps):
        k1 = kernel(x, u(k), p)[0]
        k2 = kernel(x + dt / 2 * k1, u(k), p)[0]
        k3 = kernel(x + dt / 2 * k2, u(k), p)[0]
        k4 = kernel(x + dt * k3, u(k), p)[0]
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(x)
    return np.array(states)


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def start(count, seed=0):
    print("seed", seed)
    return np.random.default_rng(seed).normal(size=(9, count))


@pytest.mark.parametrize("count", [*range(1, 18), 67])
def test_batches_of_every_tail(count):
    x = start(count)
    got = rollout(
        PROGRAM, x, {"input": VOLTAGE, "parameter": DEFAULTS}, dt=1e-4, steps=25, every=5, threads=2
    )
    expected = reference(x, lambda k: VOLTAGE, DEFAULTS, 1e-4, 25)
    assert got.states.shape == (6, 9, count)
    assert list(got.steps) == [0, 5, 10, 15, 20, 25]
    close(got.states, expected[::5])
    close(got.final, expected[-1])


@pytest.mark.parametrize("count", mostly_slow([None, 1, 11], [11]))
def test_stages_in_a_loop_are_the_same_steps(count, monkeypatch):
    """As long programs have them: with what ends a step, inputs that change, states that stand still, and samples."""
    linkage = derived("four_bar")
    speed = next(name for name in linkage.states if linkage.quantities[name].kind == "speed")
    hold = {"reads": speed, "drives": linkage.inputs[0], "proportional": 0.5, "target": 0.3, "period": "5 ms"}
    held = trundle.derive(linkage.robot, controllers={"hold": hold})
    volts = {"left_motor.voltage": np.linspace(0, 24, 40)[:, None], "right_motor.voltage": 9.0}
    for model, inputs in ((held, {}), (derived("differential_drive"), volts)):
        given = {"inputs": inputs, "steps": 40, "dt": 1e-3, "every": 8, "count": count}
        straight = trundle.rollout(model, **given)
        with monkeypatch.context() as patched:
            patched.setattr(llvm_rollout, "LOOPED", -1)
            patched.setattr(native, "machine_code", lambda key: jit.MachineCode())
            again = trundle.rollout(model, **given)
        np.testing.assert_allclose(again.values, straight.values, rtol=1e-12, atol=1e-13)


def test_a_single_robot_has_no_axis_of_lanes():
    x = start(1)[:, 0]
    groups = {"input": VOLTAGE, "parameter": DEFAULTS}
    expected = reference(x, lambda k: VOLTAGE, DEFAULTS, 1e-4, 40)
    got = rollout(PROGRAM, x, groups, dt=1e-4, steps=40, every=7)
    assert list(got.steps) == [0, 7, 14, 21, 28, 35]
    close(got.states, expected[::7])
    close(got.final, expected[-1])
    assert rollout(PROGRAM, x, groups, dt=1e-4, steps=40, every=None).states.shape == (0, 9)
    assert rollout(PROGRAM, x, groups, dt=1e-4, steps=0).states.shape == (1, 9)
    assert rollout(PROGRAM, x, groups, dt=1e-4, steps=40, count=3).final.shape == (9, 3)


STEPS, COUNT = 30, 21


@pytest.mark.parametrize("layout", ["uniform", "lane", "step", "step and lane", "mixed", "strided"])
def test_layouts_of_inputs_and_parameters(layout):
    rng = np.random.default_rng(5)
    x, p = start(COUNT), DEFAULTS
    full = {
        "uniform": rng.normal(size=2),
        "lane": rng.normal(size=(2, COUNT)),
        "step": rng.normal(size=(STEPS, 2)),
        "step and lane": rng.normal(size=(STEPS, 2, COUNT)),
        "mixed": {"u1": rng.normal(size=(STEPS, 1)), "u2": rng.normal(size=COUNT)},
        "strided": rng.normal(size=(STEPS, 2, 2 * COUNT))[:, :, ::2],
    }[layout]
    if layout == "mixed":
        masses = rng.uniform(10, 60, COUNT)
        p = np.repeat(DEFAULTS[:, None], COUNT, axis=1)
        p[0] = masses
        parameters = {**dict(zip(PARAMETERS, DEFAULTS, strict=True)), "body_mass": masses}
    else:
        parameters = DEFAULTS

    def at(k):
        if layout == "mixed":
            return np.stack([np.repeat(full["u1"][k], COUNT), full["u2"]])
        return full if layout in ("uniform", "lane") else full[k]

    got = rollout(PROGRAM, x, {"input": full, "parameter": parameters}, dt=1e-4, steps=STEPS)
    close(got.states, reference(x, at, p, 1e-4, STEPS))


def test_parameters_may_change_from_step_to_step():
    x = start(3)
    p = np.repeat(DEFAULTS[None], STEPS, axis=0) * np.linspace(1, 2, STEPS)[:, None]
    got = rollout(PROGRAM, x, {"input": VOLTAGE, "parameter": p}, dt=1e-4, steps=STEPS).final
    for k in range(STEPS):
        x = reference(x, lambda _: VOLTAGE, p[k], 1e-4, 1)[-1]
    close(got, x)


def test_time_spans_threads_and_lanes_do_not_change_a_bit(monkeypatch):
    import trundle.program.rollout as module

    x = start(100)
    groups = {"input": np.random.default_rng(1).normal(size=(200, 2)), "parameter": DEFAULTS}
    expected = rollout(PROGRAM, x, groups, dt=1e-4, steps=200, every=3, threads=1)
    monkeypatch.setattr(module, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr(module, "LANES_AT_ONCE", 16)
    got = rollout(PROGRAM, x, groups, dt=1e-4, steps=200, every=3, threads=3)
    np.testing.assert_array_equal(got.states, expected.states)
    np.testing.assert_array_equal(got.final, expected.final)


def test_extra_outputs_and_unread_states_are_no_trouble():
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 0)
    outputs = {"other": (["o"], ca.exp(x[0])), "rate": (["a", "b"], ca.vertcat(1.0, x[1]))}
    program = trace("growth", {"state": (["a", "b"], x), "input": ([], u)}, outputs)
    got = rollout(program, [0.0, 1.0], {}, dt=1e-2, steps=100)
    np.testing.assert_allclose(got.final, [1.0, np.e], rtol=1e-9)


def test_nan_stays_in_its_lane():
    x = start(10)
    x[5, 3] = np.nan
    final = rollout(PROGRAM, x, {"input": VOLTAGE, "parameter": DEFAULTS}, dt=1e-4, steps=10).final
    assert np.isnan(final[0, 3])
    assert np.isfinite(np.delete(final, 3, axis=1)).all()


def test_progress_comes_from_the_calling_thread_and_ends_at_one():
    seen = []

    def progress(fraction):
        assert threading.current_thread() is threading.main_thread()
        seen.append(fraction)

    rollout(
        PROGRAM,
        start(1)[:, 0],
        {"input": VOLTAGE, "parameter": DEFAULTS},
        dt=1e-6,
        steps=2_000_000,
        every=None,
        progress=progress,
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 1


def test_an_interrupt_ends_the_threads():
    def stop(fraction):
        raise KeyboardInterrupt

    groups = {"input": VOLTAGE, "parameter": DEFAULTS}
    with pytest.raises(KeyboardInterrupt):
        rollout(PROGRAM, start(4096), groups, dt=1e-6, steps=1_000_000, every=None, threads=2, progress=stop)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"groups": {"input": VOLTAGE}}, ["needs a value", "parameter"]),
        (
            {"groups": {"inputs": VOLTAGE, "parameter": DEFAULTS}},
            ["no input group 'inputs'", "did you mean 'input'"],
        ),
        ({"groups": {"input": np.zeros(3), "parameter": DEFAULTS}}, ["input", "(2,)", "got (3,)"]),
        ({"groups": {"input": {"u1": 1.0}, "parameter": DEFAULTS}}, ["also needs u2"]),
        ({"groups": {"input": {"u1": 1.0, "u3": 0}, "parameter": DEFAULTS}}, ["no element 'u3'"]),
        (
            {"groups": {"input": {"u1": np.zeros((5, 1)), "u2": 0}, "parameter": DEFAULTS}},
            ["u1", "(20, 1)", "got (5, 1)"],
        ),
        (
            {"groups": {"input": np.zeros((2, 7)), "parameter": DEFAULTS}},
            ["numbers of robots differ", "4, 7"],
        ),
        ({"initial": np.zeros(8)}, ["initial", "(9,)", "(8,)"]),
        ({"dt": float("nan")}, ["dt"]),
        ({"every": 0}, ["every"]),
        ({"steps": -1}, ["steps"]),
        ({"steps": 1e3}, ["steps", "whole number", "1000.0"]),
        ({"count": 0}, ["count"]),
        ({"rate": "velocity"}, ["no output group 'velocity'"]),
    ],
)
def test_bad_input_says_what_was_expected(change, words):
    arguments = {
        "initial": np.zeros((9, 4)),
        "groups": {"input": VOLTAGE, "parameter": DEFAULTS},
        "dt": 1e-3,
        "steps": 20,
    }
    with pytest.raises(InputError) as error:
        rollout(PROGRAM, **{**arguments, **change})
    assert all(word in str(error.value) for word in words), str(error.value)


def test_an_ambiguous_shape_is_refused():
    with pytest.raises(InputError, match="may be"):
        rollout(
            PROGRAM, np.zeros((9, 2)), {"input": np.zeros((2, 2)), "parameter": DEFAULTS}, dt=1e-3, steps=2
        )


@pytest.mark.slow
def test_memory_of_a_hundred_thousand_robots():
    count = 100_000
    states, groups = np.zeros((9, count)), {"input": np.full((2, count), 24.0), "parameter": DEFAULTS}
    tracemalloc.start()
    found = rollout(PROGRAM, states, groups, dt=1e-4, steps=100, every=10)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most - found.states.nbytes - found.final.nbytes < 50e6

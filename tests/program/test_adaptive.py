"""Adaptive integration in native code: the method's own conditions, closed forms, and SciPy's DOP853 beside it."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import trundle
from trundle.program import Tracer, adaptive, compile_program
from trundle.program.adaptive import InputPieces, StepTolerances, march
from trundle.program.llvm import dormand_prince as ours


class Kept(list):
    """The steps of a run: times, numbers of pieces, states (n, count)."""

    def take(self, *parts):
        self.append(parts)

    times = property(lambda self: np.concatenate([times for times, _, _ in self]))
    pieces = property(lambda self: np.concatenate([pieces for _, pieces, _ in self]))
    states = property(lambda self: np.concatenate([rows for _, _, rows in self]).T)


TIGHT = StepTolerances(1e-12, 1e-13, 2, 1e-4, math.inf, 100_000)
OSCILLATOR = {"state": ("x", "v"), "input": ("u",), "parameter": ("w",)}


def oscillator():
    """x'' = −w² x + u."""
    tracer = Tracer(*OSCILLATOR)
    (x, v), (u,), (w,) = (tracer.inputs(name, len(labels)) for name, labels in OSCILLATOR.items())
    return tracer.program("oscillator", OSCILLATOR, {"rate": (("x'", "v'"), [v, u - w * w * x])})


def pieces(edges, *rows, due=None):
    """One input's coefficients on pieces."""
    given = np.zeros((len(edges), 1, 4))
    for place, row in enumerate(rows):
        given[place, 0, : len(row)] = row
    given[-1] = given[len(edges) - 2]
    return InputPieces(np.array(edges, float), given, np.zeros((len(edges), 1)) if due is None else due)


def test_the_coefficients_meet_their_conditions():
    """∑ b c^k = 1/(k + 1), stages add up, and errors vanish on constants."""
    weights, at = ours.STAGES[12], ours.AT
    for power in range(8):
        total = sum(weight * at[stage] ** power for stage, weight in weights.items())
        assert total == pytest.approx(1 / (power + 1), abs=1e-15)
    for row, time in zip(ours.STAGES, at, strict=True):
        assert sum(row.values()) == pytest.approx(time, abs=2e-14)
    for row in (ours.FIFTH, ours.THIRD):
        assert sum(row.values()) == pytest.approx(0.0, abs=2e-15)


def test_its_order_is_eight():
    """Half the step, 1/256 of the error."""

    def off(step):
        bounds = StepTolerances(1e6, 1e6, 2, step, step, 10_000)
        end = march(oscillator(), np.array([1.0, 0.0]), np.ones(1), pieces([0, 8]), np.array([8.0]), bounds)
        return abs(end.stored[0, -1] - math.cos(8.0))

    assert math.log2(off(0.5) / off(0.25)) == pytest.approx(8, abs=0.5)


def test_polynomials_of_time_are_followed_and_pieces_end_steps():
    """x'' = −x + u with u = t³, then 5: between steps, at edges, and at the end."""
    times = np.linspace(0, 4, 41)
    kept, there = Kept(), pieces([0, 2, 4], [0, 0, 0, 1], [5])
    found = march(oscillator(), np.array([0.2, 0.0]), np.ones(1), there, times, TIGHT, take=kept.take)

    def first(t):
        """The particular solution t³ − 6t, and an oscillation from (0.2, 0)."""
        return np.array(
            [t**3 - 6 * t + 0.2 * np.cos(t) + 6 * np.sin(t), 3 * t**2 - 6 - 0.2 * np.sin(t) + 6 * np.cos(t)]
        )

    def then(t):
        (x, v), s = first(2.0), t - 2
        return np.array([5 + (x - 5) * np.cos(s) + v * np.sin(s), v * np.cos(s) - (x - 5) * np.sin(s)])

    expected = np.where(times < 2, first(times), then(times))
    np.testing.assert_allclose(found.stored, expected, atol=2e-11)
    assert 2.0 in kept.times
    assert (np.diff(kept.times) >= 0).all()
    assert (kept.times[kept.pieces == 0] <= 2).all()
    assert (kept.times[kept.pieces == 1] >= 2).all()


def test_it_is_what_scipy_finds():
    """A pendulum that turns over, with as many steps within a tenth."""
    model = trundle.derive(trundle.catalog.pendulum(links=3))
    start, p = np.array(model.state_vector({"link_1.angle": 2.0})), np.array(list(model.parameters.values()))
    rate, none = compile_program(model.dynamics).single(), np.zeros(len(model.inputs))
    times, n = np.linspace(0, 3, 100), len(model.states)
    there = InputPieces(np.array([0.0, 3.0]), np.zeros((2, none.size, 4)), np.zeros((2, 0)))
    kept, bounds = Kept(), StepTolerances(1e-11, 1e-12, n, 1e-3, math.inf, 10_000)
    found = march(model.dynamics, start, p, there, times, bounds, parts=3, take=kept.take)
    peer = solve_ivp(
        lambda t, x: rate(x, none, p)[0], (0, 3), start, "DOP853", dense_output=True, rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(found.stored, peer.sol(times), atol=1e-8)
    np.testing.assert_allclose(kept.states, peer.sol(kept.times), atol=1e-8)
    assert found.steps < 1.1 * peer.nfev / 12


def test_it_goes_on_where_its_room_was_full(monkeypatch):
    """The same bits by many calls."""
    given = (
        oscillator(),
        np.array([1.0, 0.0]),
        np.full(1, 3.0),
        pieces([0, 5, 9], [1.0], [2.0]),
        np.linspace(0, 9, 50),
    )
    once, often = Kept(), Kept()
    whole = march(*given, TIGHT, parts=2, take=once.take)
    monkeypatch.setattr(adaptive, "_ROOM", 5)
    again = march(*given, TIGHT, parts=2, take=often.take)
    np.testing.assert_array_equal(whole.stored, again.stored)
    assert len(often) > len(once)
    for name in ("times", "pieces", "states"):
        np.testing.assert_array_equal(getattr(once, name), getattr(often, name))


def test_samples_change_the_state_where_they_are_due():
    """x' = h with h ← −x/2 every second: x halves in two samples, exactly."""
    groups = {"state": ("x", "h"), "input": ("u",), "parameter": ("w",), "due": ("clock",)}
    tracer = Tracer(*groups)
    (x, held), _, _, (due,) = (tracer.inputs(name, len(labels)) for name, labels in groups.items())
    sampling = tracer.program(
        "sampling", groups, {"state": (("x", "h"), [x, held + due * (-0.5 * x - held)])}
    )
    plain = {name: labels for name, labels in groups.items() if name != "due"}
    tracer = Tracer(*plain)
    (_, held), _, _ = (tracer.inputs(name, len(labels)) for name, labels in plain.items())
    rate = tracer.program("rate", plain, {"rate": (("x'", "h'"), [held, 0 * held])})
    due = np.array([[1.0], [0.0], [1.0], [1.0]])
    there = pieces([0.0, 0.5, 1.0, 2.0], due=due)
    found = march(
        rate, np.array([1.0, 0.0]), np.ones(1), there, np.array([0, 0.5, 1, 1.5, 2]), TIGHT, sampling=sampling
    )
    np.testing.assert_allclose(
        found.stored[0], [1, 0.75, 0.5, 0.375, 0.25], rtol=1e-14
    )  # rounding of some ten steps
    np.testing.assert_allclose(
        found.stored[1], [-0.5, -0.5, -0.25, -0.25, -0.125], rtol=1e-14
    )  # rounding of some ten steps


def test_what_diverges_or_takes_too_many_steps_is_told():
    tracer = Tracer("state", "input", "parameter")
    labels = {"state": ("x",), "input": ("u",), "parameter": ("w",)}
    (x,) = tracer.inputs("state", 1)
    blown = tracer.program("blown", labels, {"rate": (("x'",), [x * x])})
    bounds = StepTolerances(1e-10, 1e-11, 1, 1e-3, math.inf, 100_000)
    assert march(blown, np.ones(1), np.ones(1), pieces([0, 2]), np.array([2.0]), bounds) is None
    few = StepTolerances(1e-12, 1e-13, 2, 1e-4, math.inf, 10)
    start = np.array([1.0, 0.0])
    assert march(oscillator(), start, np.ones(1), pieces([0, 50]), np.array([50.0]), few) is None

"""Elimination of velocity constraints, constraint forces, small linear algebra, loads, and classes of mobility."""

import itertools

import casadi as ca
import numpy as np
import pytest
import sympy

from trundle.errors import InputError
from trundle.mechanics.elimination import constraint_forces, generic_rank, undetermined_rows
from trundle.mechanics.linear import product, solve_positive
from trundle.mechanics.mobility import WheelPlace, classify
from trundle.mechanics.rolling import ConstraintRow, Locked, RollingProblem, independent_speeds
from trundle.mechanics.wheels import load_shares


def speeds_matrix(basis):
    return np.array(basis.matrix, dtype=float)


def problem(rows, names=None, base=()):
    rows = np.array(rows, dtype=float)
    names = names or tuple(f"u_{k}" for k in range(rows.shape[1]))
    listed = rows.tolist()
    about = tuple(ConstraintRow(f"wheel_{k}", "lateral") for k in range(len(rows)))
    return RollingProblem(
        listed, listed, np.repeat(rows[None], 5, axis=0), about, names, base, tuple(range(rows.shape[1]))
    )


@pytest.mark.parametrize("redundant", [0, 1, 3])
def test_independent_speeds_satisfy_every_row(redundant, rng):
    for _ in range(10):
        rows, columns = int(rng.integers(1, 6)), int(rng.integers(6, 10))
        a = rng.normal(size=(rows, columns))
        a = np.concatenate([a, rng.normal(size=(redundant, rows)) @ a])
        basis = independent_speeds(problem(a))
        s = speeds_matrix(basis)
        assert s.shape == (columns, columns - rows)
        assert basis.elimination.rank == rows
        assert np.abs(a @ s).max() < 1e-9 * max(1, np.abs(s).max())
        assert np.linalg.matrix_rank(s) == columns - rows
        chosen = a[list(basis.elimination.independent_rows)]
        assert np.linalg.matrix_rank(chosen) == rows == len(chosen)


def test_chosen_speeds(rng):
    a = rng.normal(size=(2, 5))
    s = speeds_matrix(independent_speeds(problem(a), ["u_1", "u_4", "u_0"]))
    np.testing.assert_allclose(s[[1, 4, 0]], np.eye(3))
    assert np.abs(a @ s).max() < 1e-9 * np.abs(s).max()
    with pytest.raises(InputError, match="undetermined"):
        independent_speeds(problem(a), ["u_1"])
    with pytest.raises(InputError, match="not independent"):
        independent_speeds(problem(a), ["u_1", "u_2", "u_3", "u_4"])
    with pytest.raises(InputError, match="did you mean|known"):
        independent_speeds(problem(a), ["u_9", "u_1", "u_2"])


def test_a_base_that_cannot_move_is_said():
    with pytest.raises(Locked) as caught:
        independent_speeds(problem(np.eye(3), ("v_x", "v_y", "omega"), (0, 1, 2)))
    assert caught.value.rank == 3


@pytest.mark.parametrize("redundant", [0, 2])
def test_constraint_forces_reproduce_what_is_unbalanced(redundant, rng):
    for _ in range(10):
        rows, columns = int(rng.integers(1, 5)), int(rng.integers(5, 9))
        own = rng.normal(size=(rows, columns))
        a = np.concatenate([own, rng.normal(size=(redundant, rows)) @ own])[rng.permutation(rows + redundant)]
        elimination = independent_speeds(problem(a)).elimination
        unbalanced = a.T @ rng.normal(size=len(a))
        multipliers = np.array(
            constraint_forces(a.tolist(), elimination.independent_rows, unbalanced.tolist()), float
        )
        np.testing.assert_allclose(a.T @ multipliers, unbalanced, atol=1e-8)
        np.testing.assert_allclose(multipliers, np.linalg.pinv(a.T) @ unbalanced, atol=1e-8)


def test_undetermined_rows_are_those_in_the_left_null_space(rng):
    for _ in range(10):
        a = rng.normal(size=(2, 6))
        a = np.concatenate([a, [2 * a[0]], rng.normal(size=(1, 6))])  # rows 0 and 2 repeat each other
        order = rng.permutation(4)
        expected = sorted(int(np.flatnonzero(order == k)[0]) for k in (0, 2))
        assert undetermined_rows(np.repeat(a[order][None], 3, axis=0)) == expected
    assert undetermined_rows(np.zeros((3, 0, 4))) == []
    assert undetermined_rows(rng.normal(size=(3, 2, 4))) == []


def test_generic_rank_takes_the_largest(rng):
    a = rng.normal(size=(3, 2, 4))
    a[0, 1] = a[0, 0]
    assert generic_rank(a) == 2
    assert generic_rank(1e-6 * a) == 2
    assert generic_rank(np.zeros((3, 2, 4))) == 0


@pytest.mark.parametrize("size", [1, 2, 5])
def test_solve_positive(size, rng):
    half = rng.normal(size=(size, size))
    a, b = half @ half.T + np.eye(size), rng.normal(size=(size, 3))
    expected = np.linalg.solve(a, b)
    np.testing.assert_allclose(np.array(solve_positive(a.tolist(), b.tolist())), expected, atol=1e-12)
    batch = [[np.full(4, entry) for entry in row] for row in a]
    np.testing.assert_allclose(np.array(solve_positive(batch, b.tolist()))[..., 2], expected, atol=1e-12)
    graph = [[ca.SX(entry) for entry in row] for row in a.tolist()]
    got = [[float(ca.evalf(entry)) for entry in row] for row in solve_positive(graph, b.tolist())]
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_solve_positive_stays_rational():
    a = [[sympy.Rational(2), sympy.Rational(1)], [sympy.Rational(1), sympy.Rational(3)]]
    x = solve_positive(a, [[sympy.Integer(1)], [sympy.Integer(0)]])
    assert product(a, x) == [[1], [0]]
    assert x == [[sympy.Rational(3, 5)], [sympy.Rational(-1, 5)]]


def test_load_shares_balance_weight_and_moments(rng):
    for _ in range(10):
        places = [tuple(p) for p in rng.normal(size=(int(rng.integers(3, 7)), 2))]
        center, weight = rng.normal(size=2), 500.0
        loads = np.array(load_shares(places, (weight, *(weight * center)), (0, 1)))
        assert loads.sum() == pytest.approx(weight, abs=1e-8)
        np.testing.assert_allclose(loads @ np.array(places), weight * center, atol=1e-7)
        shapes = np.array([[1, *p] for p in places]).T
        np.testing.assert_allclose(
            loads, np.linalg.pinv(shapes) @ (weight * np.array([1, *center])), atol=1e-7
        )
    assert load_shares([(0, 0.5), (0, -0.5)], (100.0, 30.0, 10.0), (1,)) == pytest.approx([60, 40])
    assert load_shares([(0, 0)], (100.0, 30.0, 10.0), ()) == pytest.approx([100])


def module(name, x, y, steered=True, heading=0.0):
    return WheelPlace(name, x, y, heading, steered)


def ring(count):
    angles = 2 * np.pi * np.arange(count) / count + 0.1
    return [module(f"m_{k}", float(np.cos(a)), float(np.sin(a))) for k, a in enumerate(angles)]


AXLE = [module("l", 0, 0.5, False), module("r", 0, -0.5, False)]
CLASSES = {
    "differential": (AXLE, (2, 0)),
    "one steered wheel": ([module("f", 0.3, 0.1)], (2, 1)),
    "tricycle": ([*AXLE, module("f", 1, 0)], (1, 1)),
    "ackermann": ([*AXLE, module("fl", 1, 0.4), module("fr", 1, -0.4)], (1, 1)),
    "only rollers": ([], (3, 0)),
    **{f"swerve {n}": (ring(n), (1, 2)) for n in (2, 3, 4, 6)},
    "two axles": ([*AXLE, module("a", 1, 0.5, False), module("b", 1, -0.5, False)], (1, 0)),
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_mobility(name):
    wheels, expected = CLASSES[name]
    for order in itertools.islice(itertools.permutations(wheels), 6):
        found = classify(order)
        assert (found.mobility, found.steerability) == expected
    assert found.explain()
    assert found.coordinated == ((name.startswith("swerve") and name != "swerve 2") or name == "ackermann")

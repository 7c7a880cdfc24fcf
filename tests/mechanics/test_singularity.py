"""Singular configurations of matrices whose determinants are known; redundancy; manipulability by definition."""

import math

import numpy as np
import pytest

from trundle.analysis.manipulability import manipulability
from trundle.analysis.redundancy import relations
from trundle.analysis.singularity import SearchBox, find_singular, relevant
from trundle.show.summaries.analysis_sentences import relations_sentence


def turning(count):
    return SearchBox(
        tuple(f"q{k}" for k in range(count)),
        np.full(count, -np.pi),
        np.full(count, np.pi),
        np.full(count, 2 * np.pi),
    )


def two_link(q):
    """The Jacobian of a two-link arm's tip; its determinant is l₁ l₂ sin q₁."""
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    l1, l2 = 0.7, 0.4
    rows = [
        [-l1 * np.sin(a) - l2 * np.sin(b), -l2 * np.sin(b)],
        [l1 * np.cos(a) + l2 * np.cos(b), l2 * np.cos(b)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def swerve(q):
    """Lateral rows of two steered wheels on the x axis: singular only where both axles lie on it."""
    rows = [[-np.sin(q[:, k]), np.cos(q[:, k]), x * np.cos(q[:, k])] for k, x in ((0, 0.5), (1, -0.5))]
    return np.moveaxis(np.array(rows), 2, 0)


def test_the_elbow_of_a_two_link_arm():
    assert relevant(two_link, np.zeros(2)) == [1]
    found = find_singular(two_link, turning(2))
    assert found.rank == 2
    assert [p.free for p in found.singular] == [("q0",), ("q0",)]
    assert [p.at[0][0] for p in found.singular] == ["q1", "q1"]
    np.testing.assert_allclose([p.at[0][1] for p in found.singular], [0, math.pi], atol=1e-7)
    for point in found.singular:
        assert point.value < 1e-7
        assert np.linalg.det(two_link(np.array([[0.3, point.at[0][1]]]))[0]) == pytest.approx(0, abs=1e-7)


def test_axles_in_one_line_are_isolated():
    half = SearchBox(("front", "rear"), np.full(2, -np.pi / 2), np.full(2, np.pi / 2), np.full(2, np.pi))
    (point,) = find_singular(swerve, half).singular
    np.testing.assert_allclose([value for _, value in point.at], np.pi / 2, atol=1e-7)
    assert point.free == ()
    assert point.family == 0


def test_random_families_are_found_at_their_roots(rng):
    """M = Q₁ diag(1, f(q)) Q₂ with f = a·q − b: a plane of singular points, found on it."""
    for _ in range(10):
        left, right = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
        slope = rng.normal(size=2)
        offset = slope @ rng.uniform(-0.9, 0.9, 2)  # of a line that crosses the box

        def matrices(q, left=left, right=right, slope=slope, offset=offset):
            middle = np.zeros((len(q), 3, 3))
            middle[:, 0, 0], middle[:, 1, 1] = 1, 2
            middle[:, 2, 2] = q @ slope - offset
            return left @ middle @ right

        box = SearchBox(("a", "b"), np.full(2, -1.0), np.full(2, 1.0), np.zeros(2))
        (point,) = find_singular(matrices, box).singular
        assert point.family == 1
        assert np.dot([v for _, v in point.at], slope) == pytest.approx(offset, abs=1e-7)


def test_rank_below_full_counts_from_the_general_rank(rng):
    """Two rows that repeat each other leave rank 1 in general; only a point where that is lost counts."""

    def matrices(q):
        row = np.stack([q[:, 0] - 0.3, q[:, 1] + 0.2, 0 * q[:, 0]], axis=1)
        return np.stack([row, 2 * row], axis=1)

    box = SearchBox(("a", "b"), np.full(2, -1.0), np.full(2, 1.0), np.zeros(2))
    found = find_singular(matrices, box)
    assert found.rank == 1
    (point,) = found.singular
    np.testing.assert_allclose([v for _, v in point.at], [0.3, -0.2], atol=1e-6)


def test_where_nothing_is_singular_the_worst_is_told():
    def matrices(q):
        result = np.zeros((len(q), 2, 2))
        result[:, 0, 0], result[:, 1, 1] = 2, 1.5 + 0.5 * np.cos(q[:, 0] - 0.4)
        return result

    found = find_singular(matrices, turning(1))
    assert found.singular == ()
    assert found.worst.value == pytest.approx(0.5, rel=1e-3)
    assert abs(math.remainder(found.worst.at[0][1] - 0.4 - math.pi, 2 * math.pi)) < 0.1


def test_nothing_to_search():
    found = find_singular(lambda q: np.repeat(np.diag([2.0, 1.0])[None], len(q), 0), turning(0))
    assert (found.rank, found.singular, found.worst.value) == (2, (), 0.5)
    assert find_singular(lambda q: np.zeros((len(q), 2, 3)), turning(1)).rank == 0


def test_relations_hold_and_name_the_rows(rng):
    samples = rng.normal(size=(4, 2, 5))
    weights = rng.normal(size=4)
    third = samples[:, :1] * 2 - samples[:, 1:] * 3
    varying = samples[:, :1] * weights[:, None, None]
    found = relations(np.concatenate([samples, third, varying, samples[:, 1:]], axis=1), list("abcde"))
    assert [r.names for r in found] == [("c", "a", "b"), ("d", "a"), ("e", "b")]
    assert [r.constant for r in found] == [True, False, True]
    assert dict(found[0].terms) == pytest.approx({"c": 1, "a": -2, "b": 3})
    assert relations_sentence(found) == "b = e; 3 b + c = 2 a; d follows from a"
    assert relations(samples, list("ab")) == ()
    still = relations(np.concatenate([0 * samples, samples], axis=1), list("abcd"))
    assert relations_sentence(still) == "a = b = 0"


def beside_one(*entries):
    """(1 0 …; 0 entries): σ₂ is the length of the entries."""
    rows = np.zeros((len(entries[0]), 2, 1 + len(entries)))
    rows[:, 0, 0] = 1
    rows[:, 1, 1:] = np.stack(entries, axis=1)
    return rows


def test_isolated_points_close_to_each_other_are_all_found(rng):
    """At a = ±e and b = 0 only, far nearer to each other than starts are."""
    gap = float(10 ** rng.uniform(-2, -0.7))
    box = SearchBox(("a", "b"), np.array([-np.pi, -1]), np.array([np.pi, 1]), np.array([2 * np.pi, 0]))
    found = find_singular(lambda q: beside_one(np.cos(q[:, 0]) - np.cos(gap), np.sin(q[:, 1])), box)
    places = [[value for _, value in each.at] for each in found.singular]
    np.testing.assert_allclose(places, [[-gap, 0], [gap, 0]], atol=1e-6)


def test_families_that_cross_are_told_once_each():
    """b and b sin(a), of a spherical arm: where both are almost 0, Newton's method ends beside the crossing."""
    box = SearchBox(("a", "b"), np.array([-np.pi, -1]), np.array([np.pi, 1]), np.array([2 * np.pi, 0]))

    def arm(q):
        rows = np.zeros((len(q), 3, 3))
        rows[:, 0, 0] = 1
        rows[:, 1, 1], rows[:, 2, 2] = q[:, 1], q[:, 1] * np.sin(q[:, 0])
        return rows

    found = find_singular(arm, box)
    told = sorted(((each.free, dict(each.at)) for each in found.singular), key=str)
    assert told == [(("a",), {"b": 0}), (("b",), {"a": 0}), (("b",), {"a": pytest.approx(np.pi)})]


def test_the_fastest_motions_with_no_motor_above_its_limit(rng):
    """By linear programming, where the axes' directions are all that the motors do."""
    from scipy.optimize import linprog

    for _ in range(10):
        task, drive = rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
        found = manipulability(task, drive, ("v_x", "v_y", "omega"), 1.0)
        assert found.fastest is not None
        for axis, fastest in zip(found.axes, found.fastest, strict=True):
            # the largest s with T z = s axis and |B z| ≤ 1
            bounds = np.vstack([np.hstack([drive, np.zeros((4, 1))]), np.hstack([-drive, np.zeros((4, 1))])])
            equal = np.hstack([task, -np.array(axis)[:, None]])
            free = [(None, None)] * 4
            best = linprog([0, 0, 0, -1], bounds, np.ones(8), equal, np.zeros(3), free)
            np.testing.assert_allclose(fastest, best.x[3] * np.array(axis), rtol=1e-7)
        idle = manipulability(task[:2], drive, ("v_x", "v_y"), 1.0)
        assert idle.fastest is None  # a third motion may help: not told


def test_manipulability_is_the_image_of_the_unit_ball(rng):
    for _ in range(20):
        task, drive = rng.normal(size=(3, 3)), rng.normal(size=(4, 3))
        length = float(rng.uniform(0.2, 2))
        found = manipulability(task, drive, ("v_x", "v_y", "omega"), length)
        # t = T z with ‖B z‖ ≤ 1: squared radii are the generalised eigenvalues of (TᵀW²T, BᵀB)
        weighted = np.diag([1, 1, length]) @ task
        values = np.linalg.eigvals(np.linalg.solve(drive.T @ drive, weighted.T @ weighted)).real
        squares = np.square(found.radii)  # eigenvalues have digits beside the largest only
        np.testing.assert_allclose(squares, np.sort(values)[::-1], rtol=1e-9, atol=1e-9 * squares[0])
        np.testing.assert_allclose(found.measure, np.prod(found.radii))
        assert found.condition == pytest.approx(found.radii[0] / found.radii[-1])
        for axis, radius in zip(found.axes, found.radii, strict=True):
            assert np.linalg.norm(np.array(axis) * (1, 1, length)) == pytest.approx(radius)
            z = np.linalg.solve(task, axis)
            assert np.linalg.norm(drive @ z) == pytest.approx(1)


def test_axes_of_a_circle_lie_along_the_parts():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    found = manipulability(turn, np.eye(2), ("v_x", "v_y"), 1.0)
    np.testing.assert_allclose(found.axes, np.eye(2), atol=1e-12)


def test_motions_that_no_motor_holds():
    found = manipulability(np.eye(2), np.array([[1.0, 0.0]]), ("v_x", "omega"), 0.5, "rates of norm 1")
    assert found.radii == (1.0,)
    np.testing.assert_allclose(found.undriven, [[0, 2]], atol=1e-12)
    assert found.condition == math.inf
    assert "freely along omega" in found.explain()

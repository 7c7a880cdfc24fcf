"""Newton's method onto constraints: distances, ways of assembly, what stays, what can't be met."""

import numpy as np
import pytest

from trundle.mechanics.closing import (
    CLOSED,
    Conditions,
    close_constraints,
    closed,
    closed_samples,
    most_mobile,
)


def curve(at):
    """Conditions on coordinates themselves, from one configuration's residuals and slopes."""

    def batch(q):
        values, slopes = zip(*(at(each) for each in q), strict=True)
        return np.array(values, dtype=float), np.array(slopes, dtype=float)

    return Conditions(batch, np.add)


def arm(q):
    """Two bars of lengths 1 and 0.7 whose end is at (1.2, 0.3)."""
    a, b = q[0], q[0] + q[1]
    gap = [np.cos(a) + 0.7 * np.cos(b) - 1.2, np.sin(a) + 0.7 * np.sin(b) - 0.3]
    slope = [
        [-np.sin(a) - 0.7 * np.sin(b), -0.7 * np.sin(b)],
        [np.cos(a) + 0.7 * np.cos(b), 0.7 * np.cos(b)],
    ]
    return gap, slope


ELBOW = np.arccos((1.2**2 + 0.3**2 - 1 - 0.7**2) / (2 * 0.7))


@pytest.mark.parametrize("side", [1, -1])
def test_a_near_start_keeps_its_way_of_assembly(side, rng):
    """The elbow's angle by the law of cosines, up or down; many at once end where each does alone."""
    starts = np.array([0.2, side * 1.2]) + rng.uniform(-0.3, 0.3, (20, 2))
    q, left = closed(curve(arm), starts, near=True)
    assert left.max() < 1e-14
    np.testing.assert_allclose(q[:, 1], side * ELBOW, atol=1e-12)
    alone = [closed(curve(arm), start[None], near=True)[0][0] for start in starts]
    np.testing.assert_allclose(q, alone, atol=1e-13)


def test_conditions_that_repeat_each_other_are_met():
    """A circle twice, and doubly: the slope's rank is 1 of 3, and the residual quadratic in the distance."""

    def circle(q):
        r = q @ q - 1
        return [r, 2 * r, r * r], [2 * q, 4 * q, 4 * r * q]

    q, left = closed(curve(circle), np.array([[2.0, 1.0], [0.1, 0.0]]))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-14)
    np.testing.assert_allclose(q[0], np.array([2, 1]) / np.sqrt(5), atol=1e-12)
    assert (left <= CLOSED).all()


def test_what_is_given_stays_and_guesses_move_last():
    line = curve(lambda q: ([q[0] + q[1] - 1], [[1.0, 1.0, 0.0]]))
    start = np.array([[0.25, 0.0, 3.0]])
    np.testing.assert_allclose(
        close_constraints(line, start, free=[1, 2], dependent=[1])[0], [[0.25, 0.75, 3]]
    )
    np.testing.assert_allclose(close_constraints(line, start, free=[0, 2], dependent=[1])[0], [[1, 0, 3]])
    q, left = close_constraints(line, start, free=[2], dependent=[1])
    np.testing.assert_allclose(q, [[0.25, 0.75, 3]])
    assert left <= CLOSED
    q, left = close_constraints(line, start, free=[2], dependent=[])
    assert (q == start).all()
    assert left == 0.75


def test_what_has_no_solution_or_is_no_number_is_told_and_stops_nothing_else():
    def root(q):
        with np.errstate(invalid="ignore"):
            return [np.sqrt(q[0]) - 1], [[0.5 / np.sqrt(abs(q[0]))]]

    q, left = closed(curve(root), np.array([[4.0], [-1.0]]), near=True)
    assert q[0, 0] == pytest.approx(1)
    assert np.isinf(left[1])
    far = curve(lambda q: ([q @ q + 1], [2 * q]))
    found, nearest = closed_samples(far, iter(np.ones((5, 3, 2))), np.random.default_rng(0), 1)
    assert not len(found)
    assert nearest @ nearest < 4


def test_samples_are_general_and_the_ways_that_move_most_count():
    """x y = 0: on either line one motion is free, in the crossing two seem to be, and samples are beside it."""
    cross = curve(lambda q: ([q[0] * q[1]], [[q[1], q[0]]]))
    rng = np.random.default_rng(1)
    found, _ = closed_samples(cross, (rng.uniform(-1, 1, (4, 2)) for _ in range(5)), rng, 10)
    assert len(found) >= 10
    assert np.abs(found).max(axis=1).min() > 1e-3
    ways = np.array([np.eye(2), [[1.0, 0.0], [0.0, 0.0]]])
    assert most_mobile(np.array([[1.0], [2.0]]), ways).tolist() == [[2.0]]

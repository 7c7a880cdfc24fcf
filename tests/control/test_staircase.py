"""The uncontrollable part of systems made so, in any units; SciPy's staircase has no such test to compare with."""

import numpy as np
import pytest

from trundle.control.linear_control import uncontrollable
from trundle.mechanics.combinations import echelon


def made(rng, n, hidden, inputs=2):
    """A system whose last `hidden` states no input reaches, in mixed coordinates and units: A, B, hidden poles."""
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, inputs))
    a[n - hidden :, : n - hidden] = 0
    b[n - hidden :] = 0
    mixed = rng.normal(size=(n, n)) + 3 * np.eye(n)
    units = 10.0 ** rng.uniform(-5, 5, n)
    whole = units[:, None] * mixed
    commands = 10.0 ** rng.uniform(-4, 4, inputs)
    return (
        whole @ a @ np.linalg.inv(whole),
        whole @ b * commands,
        np.linalg.eigvals(a[n - hidden :, n - hidden :]),
        np.hstack([np.zeros((hidden, n - hidden)), np.eye(hidden)]) @ np.linalg.inv(whole),
    )


@pytest.mark.parametrize("hidden", [0, 1, 2, 4])
@pytest.mark.parametrize("n", [4, 9, 20])
def test_hidden_states_are_found_in_any_units(n, hidden, rng):
    a, b, poles, rows = made(rng, n, hidden)
    found = uncontrollable(a, b)
    assert len(found.rows) == hidden
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(poles), rtol=1e-6, atol=1e-7)
    if hidden:
        both = np.vstack([found.rows * found.scale, rows * found.scale / np.abs(rows * found.scale).max()])
        assert np.linalg.matrix_rank(both, tol=1e-6) == hidden


def test_stiff_chains_are_controllable():
    """A motor's current at 1e5/s in front of a mass that takes 1e4 s: eleven decades, one chain."""
    a = np.array([[-1e5, -1e6, 0.0], [1e-4, -1e-6, 0.0], [0.0, 1.0, 0.0]])
    assert not len(uncontrollable(a, np.array([[1e7], [0.0], [0.0]])).rows)
    assert len(uncontrollable(a, np.array([[0.0], [0.0], [1e-9]])).rows) == 2


def test_integrators_and_copies():
    chain = np.diag(np.ones(5), 1)
    assert not len(uncontrollable(chain, np.eye(6)[:, 5:]).rows)
    assert len(uncontrollable(chain, np.eye(6)[:, :1]).rows) == 5
    # two equal oscillators under one force: their difference is free
    one = np.array([[0, 1.0], [-4, -0.1]])
    twice = np.block([[one, np.zeros((2, 2))], [np.zeros((2, 2)), one]])
    found = uncontrollable(twice, np.array([[0.0], [1], [0], [1]]))
    np.testing.assert_allclose(echelon(found.rows, found.scale), [[-1, 0, 1, 0], [0, -1, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(np.linalg.eigvals(one)))


def test_without_inputs_or_states():
    assert len(uncontrollable(np.eye(3), np.zeros((3, 0))).rows) == 3
    assert len(uncontrollable(np.eye(3), np.zeros((3, 2))).rows) == 3
    assert uncontrollable(np.zeros((0, 0)), np.zeros((0, 1))).rows.shape == (0, 0)

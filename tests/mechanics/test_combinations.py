"""Spans of linear combinations in readable form, and as text."""

import numpy as np

from trundle.mechanics.combinations import combination, echelon, modulo, null_rows


def test_echelon_forms_keep_the_span(rng):
    rows, scale = rng.normal(size=(3, 6)), 10.0 ** rng.uniform(-3, 3, 6)
    form = echelon(rows / scale, scale)
    assert np.linalg.matrix_rank(np.vstack([form * scale, rows]), tol=1e-9) == 3
    assert [np.flatnonzero(each)[-1] for each in form] == [3, 4, 5]
    np.testing.assert_array_equal(form[:, 3:], np.eye(3))
    rest = modulo(rows / scale, form[2:], scale)
    assert rest.shape == (2, 6)
    np.testing.assert_array_equal(rest[:, 5], 0)
    assert np.linalg.matrix_rank(np.vstack([rest, form]) * scale, tol=1e-9) == 3


def test_combinations_that_vanish_on_columns(rng):
    rows, columns = rng.normal(size=(5, 7)), rng.normal(size=(7, 2))
    left = null_rows(rows @ columns)
    assert left.shape == (3, 5)
    np.testing.assert_allclose(left @ left.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(left @ rows @ columns, 0, atol=1e-12)
    assert null_rows(np.zeros((3, 0))).shape == (3, 3)


def test_combinations_as_text():
    assert combination([("x", -1.0), ("y", 1.0), ("theta", -2.5)]) == "-x + y - 2.5 theta"
    assert combination([("theta", 8.0), ("right.angle", -1.0000000001)]) == "8 theta - right.angle"
    assert combination([]) == ""

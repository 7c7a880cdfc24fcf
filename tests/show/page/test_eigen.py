"""Eigenvalues and stable steps in JavaScript against NumPy's, and the implicit method's order and damping."""

import json

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from languages.node import run_module
from trundle.show.page.joining import joined
from trundle.simulation.stability import longest_step

_EIGENVALUES = """
import { readFileSync } from "node:fs";
const found = JSON.parse(readFileSync(0, "utf8")).map((matrix) => {
  const roots = eigenvalues(Float64Array.from(matrix), Math.sqrt(matrix.length));
  return { re: Array.from(roots.re), im: Array.from(roots.im), step: longestStableStep(roots) };
});
console.log(JSON.stringify(found));
"""


def eigenvalues(matrices):
    given = json.dumps([matrix.ravel().tolist() for matrix in matrices]).encode()
    return json.loads(run_module(joined("eigen") + _EIGENVALUES, given))


def matrices(rng):
    """Dense ones, badly scaled ones, skew ones, defective ones, and those with empty rows, as motions have them."""
    for n in (1, 2, 3, 5, 8, 13, 26, 40):
        dense = rng.standard_normal((n, n))
        empty = dense.copy()
        empty[: n // 2] = 0.0
        yield dense
        yield dense * 10.0 ** rng.integers(-6, 6, (n, 1))
        yield dense - dense.T
        yield empty
    yield np.array([[0.0, 1.0], [-1.0, 0.0]])
    yield np.eye(5)[[1, 2, 3, 4, 0]]


def test_eigenvalues_and_stable_steps_are_numpy_s(seed):
    given = list(matrices(np.random.default_rng(seed)))
    for matrix, found in zip(given, eigenvalues(given), strict=True):
        roots = np.linalg.eigvals(matrix).astype(complex)
        mine = np.array(found["re"]) + 1j * np.array(found["im"])
        apart = np.abs(mine[:, None] - roots)
        assert apart[linear_sum_assignment(apart)].max() <= 1e-10 * np.linalg.norm(matrix, 2)
        longest, _ = longest_step(np.where(np.abs(roots) > 1e-12 * np.abs(roots).max(), roots, 0))
        if np.isfinite(longest):
            assert found["step"] == pytest.approx(longest, rel=0.02)


def test_what_is_no_number_has_no_eigenvalues():
    text = "console.log(longestStableStep(eigenvalues(Float64Array.of(1, Infinity, 0, 1), 2)));"
    assert run_module(joined("eigen") + text) == b"NaN\n"


# y₁' = −k (y₁ − cos t) − sin t with y₁(0) = 1 has y₁ = cos t (Prothero & Robinson 1974), beside y₂' = −y₂²; time enters
# as an input.
_ORDER = """
const size = %s;
const model = {
  sizes: { state: 2, input: 1 }, kinds: [0, 1], operations: 5,
  dynamics: (x, u, p, rate) => { rate[0] = -size * (x[0] - Math.cos(u[0])) - Math.sin(u[0]); rate[1] = -x[1] * x[1]; },
  slopes: (x, u, p, rate, slope) => { model.dynamics(x, u, p, rate); slope.set([-size, 0, 0, -2 * x[1]]); },
};
const time = { times: [0, 2], values: [0, 2] };
const problem = stated(model, { start: [1, 1], inputs: [time], parameters: [], duration: 2, samples: 2 });
const errors = [20, 40, 80].map((count) => {
  const step = rosenbrock(problem), next = new Float64Array(2);
  const { states } = march(problem, uniformMesh(problem.segments, 2 / count), (x, t, h, segment) => {
    step(x, t, h, segment, next);
    x.set(next);
  });
  return [Math.abs(states[2] - Math.cos(2)), Math.abs(states[3] - 1 / 3)];
});
console.log(JSON.stringify(errors));
"""


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_rodas_has_its_order_and_does_not_mind_stiffness(size):
    errors = np.array(json.loads(run_module(joined("rodas") + _ORDER % size)))
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders[:, 1].min() > 3.8
    if size == 1.0:
        assert orders[:, 0].min() > 3.8
    else:
        assert errors[:, 0].max() < 1e-7

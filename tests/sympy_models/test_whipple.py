"""The Whipple bicycle through `from_sympy`, linearised, against Meijaard, Papadopoulos, Ruina and Schwab (2007),
"Linearized dynamics equations for the balance and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463.

TABLE has the 14 decimals that the paper's table 2 prints. They were compared, digit by digit, with

- D. L. Peterson's unit test of his bicycle code ("hand coded as written in that paper"): all speeds; it rounds the
  castering eigenvalues at 4, 5 and 6 m/s to 13 decimals; it also has the speeds and values of part (a);
- another transcription in a project's tests (pathfinder): 0, 4, 5 and 10 m/s, all 14 decimals;
- the bicycle in SymPy's documentation, computed there: 1 to 5 m/s, 14 significant digits, within 3e-14 of the paper's.

No second copy was found of the last decimal of the castering eigenvalue at 6 m/s. The paper computed in double
precision: its last digits are off by up to 6e-13 (castering at 7 m/s) from eigenvalues with 40 digits
(`exact_eigenvalues`). MATRICES are those of its section 5, compared with DynamicistToolKit (J. K. Moore), "printed in"
the paper, and with three other projects' copies.
"""

import numpy as np
import pytest

import trundle
from sympy_models.whipple import BENCHMARK, canonical, exact_eigenvalues, whipple

# Forward speed (m/s): weave (real and imaginary part), capsize, castering (1/s). At rest the weave's two are real.
TABLE = {
    1: (3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
}
AT_REST = (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393)
# Part (a) of the table: where the weave's real eigenvalues meet, where it becomes stable, where the capsize unstable.
DOUBLE_ROOT = (0.68428307889246, 3.78290405129320)
WEAVE = (4.29238253634111, 3.43503384866144)
CAPSIZE = 6.02426201538837
MATRICES = {
    "M": [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]],
    "C1": [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]],
    "K0": [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]],
    "K2": [[0, 76.59734589573222], [0, 2.65431523794604]],
}
LATERAL = ("roll", "steer", "u_roll", "u_steer")


@pytest.fixture(scope="module")
def bicycle() -> trundle.Model:
    return trundle.from_sympy(whipple(), parameters=BENCHMARK, name="Whipple bicycle")


def published(speed):
    """The table's four eigenvalues, by real part, then imaginary."""
    if speed == 0:
        return np.array(AT_REST)
    real, imaginary, capsize, castering = TABLE[speed]
    return np.sort_complex(np.array([castering, capsize, real + 1j * imaginary, real - 1j * imaginary]))


def test_the_table_is_that_of_the_exact_matrices():
    """What was typed here against the paper's appendix in 40 digits: matrices to their last decimal, eigenvalues to
    what double precision left the paper.
    """
    for name, exact in zip(MATRICES, canonical(), strict=True):
        difference = [
            [abs(a - b) for a, b in zip(*rows, strict=True)]
            for rows in zip(exact, MATRICES[name], strict=True)
        ]
        assert max(max(row) for row in difference) < 1.3e-14, (
            name
        )  # half a unit of the 14th decimal, and float's own
    for speed in range(11):
        exact = np.array([complex(root) for root in exact_eigenvalues(speed)])
        np.testing.assert_allclose(published(speed), np.sort_complex(exact), rtol=0, atol=7e-13)
    meeting = exact_eigenvalues(DOUBLE_ROOT[0])[-2:]
    assert all(
        abs(root - DOUBLE_ROOT[1]) < 1e-6 for root in meeting
    )  # a double root: errors under a square root
    weave = max(exact_eigenvalues(WEAVE[0]), key=lambda root: float(root.imag))
    assert abs(weave - 1j * WEAVE[1]) < 1e-13
    assert min(abs(root) for root in exact_eigenvalues(CAPSIZE)) < 1e-13


def lateral_slope(model, speed):
    """The matrix of the roll and steer motion about riding straight ahead: roll, steer, and their rates.

    δẋ = J δx along the constraints: δx = T δx_i with G_d δx_d = −G_i δx_i for the dependent states, G the
    residuals' Jacobian.
    """
    x, p = model.state_vector({"u_rear": -speed / BENCHMARK["r_R"]}), list(model.parameters.values())
    n = len(model.states)
    slope = model.dynamics.jacobian("rate", "state").evaluate(x, [], p)[0].reshape(n, n)
    gradient = model.manifold_jacobian.evaluate(x, [], p)[0].reshape(-1, n)
    dependent = [model.state_index[name] for name in model.dependent]
    lateral = [model.state_index[name] for name in LATERAL]
    tangent = np.zeros((n, 4))
    tangent[lateral] = np.eye(4)
    tangent[dependent] = -np.linalg.solve(gradient[:, dependent], gradient[:, lateral])
    return (slope @ tangent)[lateral]


def lateral_eigenvalues(model, speed):
    """Its eigenvalues."""
    return np.sort_complex(np.linalg.eigvals(lateral_slope(model, speed)))


@pytest.mark.slow
def test_eigenvalues_are_the_papers(bicycle):
    for speed in range(11):
        np.testing.assert_allclose(
            lateral_eigenvalues(bicycle, float(speed)), published(speed), rtol=1e-12, atol=1e-12
        )


@pytest.mark.slow
def test_the_equations_are_the_papers(bicycle):
    """−M times the rates' rows of the linearisation: g K₀ + v² K₂ and v C₁."""
    mass, damping, gravity, centrifugal = (np.array(matrix, float) for matrix in MATRICES.values())
    for speed in (0.0, 2.5, 7.0):
        rows = -mass @ lateral_slope(bicycle, speed)[2:]
        stiffness = 9.81 * gravity + speed**2 * centrifugal
        np.testing.assert_allclose(rows[:, :2], stiffness, rtol=0, atol=1e-12 * np.abs(stiffness).max())
        np.testing.assert_allclose(rows[:, 2:], speed * damping, rtol=0, atol=1e-11)


@pytest.mark.slow
def test_the_bicycle_rides_and_its_constraints_hold(bicycle):
    """Self-stable at 4.6 m/s: a push dies out (between weave and capsize speed, 4.29 and 6.02 m/s)."""
    run = trundle.simulate(bicycle, 5.0, initial={"u_rear": -4.6 / 0.3, "u_roll": 0.5}, samples=101)
    assert run.summary["constraint_residual"] < 1e-7
    assert np.abs(run["roll"]).max() > 0.05
    assert abs(run.final["roll"]) < 0.02
    assert abs(run.final["u_roll"]) < 0.1

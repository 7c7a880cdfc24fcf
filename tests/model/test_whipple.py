"""The Whipple bicycle through `from_sympy`, linearised, against Table 2 of Meijaard, Papadopoulos, Ruina and Schwab
(2007), "Linearized dynamics equations for the balance and steer of a bicycle: a benchmark and review", Proc. R. Soc. A
463.
"""

import numpy as np
import pytest

import trundle
from model.whipple import BENCHMARK, whipple

# Forward speed (m/s): weave (real and imaginary part), capsize, castering (1/s). At rest the weave's two are real.
TABLE = {
    1: (3.526961709900697, 0.807740275199311, -3.134231250665780, -7.110080146374420),
    2: (2.682345175127464, 1.680662965906750, -3.071586456415140, -8.673879848317350),
    3: (1.706756056639988, 2.315824473843430, -2.633661372536670, -10.351014672459200),
    4: (0.413253315211239, 3.079108186032063, -1.429444273613260, -12.158614265764470),
    5: (-0.775341882195845, 4.464867713788229, -0.322866429004087, -14.078389692798220),
    6: (-1.526444865841421, 5.876730605987093, -0.004066900769701, -16.085371230980260),
    7: (-2.138756442583623, 7.195259133298046, 0.102681705747665, -18.157884661252620),
    8: (-2.693486835810968, 8.460379713969312, 0.143278797657134, -20.279408943945690),
    9: (-3.216754022524857, 9.693773515317914, 0.157901840309170, -22.437885590408580),
    10: (-3.720168404372873, 10.906811394762868, 0.161053386531716, -24.624596350174040),
}
AT_REST = (-5.530943717653930, -3.131643247906560, 3.131643247906560, 5.530943717653930)
LATERAL = ("roll", "steer", "u_roll", "u_steer")


@pytest.fixture(scope="module")
def bicycle() -> trundle.Model:
    return trundle.from_sympy(whipple(), parameters=BENCHMARK, name="Whipple bicycle")


def lateral_eigenvalues(model, speed):
    """Eigenvalues of the roll and steer motion about riding straight ahead.

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
    return np.sort_complex(np.linalg.eigvals((slope @ tangent)[lateral]))


@pytest.mark.slow
def test_eigenvalues_are_the_papers(bicycle):
    np.testing.assert_allclose(lateral_eigenvalues(bicycle, 0.0), AT_REST, rtol=1e-12)
    for speed, (real, imaginary, capsize, castering) in TABLE.items():
        expected = np.sort_complex(
            np.array([castering, capsize, real + 1j * imaginary, real - 1j * imaginary])
        )
        np.testing.assert_allclose(lateral_eigenvalues(bicycle, speed), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_the_bicycle_rides_and_its_constraints_hold(bicycle):
    """Self-stable at 4.6 m/s: a push dies out (between weave and capsize speed, 4.29 and 6.02 m/s)."""
    run = trundle.simulate(bicycle, 5.0, initial={"u_rear": -4.6 / 0.3, "u_roll": 0.5}, samples=101)
    assert run.summary["constraint_residual"] < 1e-7
    assert np.abs(run["roll"]).max() > 0.05
    assert abs(run.final["roll"]) < 0.02
    assert abs(run.final["u_roll"]) < 0.1

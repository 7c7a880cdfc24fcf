"""The programme that Sleipnir is given is CasADi's: the same rows and cost on numbers."""

import numpy as np

import trundle
from benchmarks import sleipnir
from trundle.motion.fastest.intervals import formulas
from trundle.motion.fastest.problem import Problem, Stop


def test_formulas_worked_out_by_operations_are_casadis():
    drive = trundle.kinematics(trundle.catalog.limited_swerve()).drive
    problem = Problem(drive, (Stop(0, 0, 0), Stop(2, 1, 1)), (), np.zeros((0, 2)))
    function = sleipnir.interval(formulas(problem.shape((1,))))
    local = np.random.default_rng(8).uniform(0.2, 1.5, function.nnz_in(0))
    numbers = problem.numbers(1.0)
    rows, cost = sleipnir.worked_out(function, (local.tolist(), numbers.tolist()))
    expected = [np.array(part).ravel() for part in function(local, numbers)]
    np.testing.assert_allclose(rows, expected[0], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(cost, expected[1], rtol=1e-13)

"""The measured mechanisms are what they say, and the limit's loop and counts make sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.limit import issue_loop, machine_operations
from benchmarks.mechanisms import (
    floating_tree,
    forward_program,
    general_arm,
    pinocchio_model,
    pinocchio_q,
    planar_chain,
    states,
    tree_of,
)
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.program import compile_program

MECHANISMS = [planar_chain(4), general_arm(3), floating_tree(7)]


@pytest.mark.parametrize("bodies", MECHANISMS)
def test_forward_programs_undo_inverse_dynamics(bodies):
    tree = tree_of(bodies)
    q, nu, tau = (group[:, 0] for group in states(bodies, 2))
    nu_dot = compile_program(forward_program(tree))(q, nu, tau)[0]
    back = inverse_dynamics(tree, tree.joint_poses(list(q)), list(nu), list(nu_dot))
    np.testing.assert_allclose(np.array(back, dtype=float), tau, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bodies", MECHANISMS)
def test_forward_programs_meet_pinocchio(bodies):
    pin: Any = pytest.importorskip("pinocchio")
    q, nu, tau = states(bodies, 20)
    got = compile_program(forward_program(tree_of(bodies)))(q, nu, tau)[0]
    model, data = pinocchio_model(bodies)
    for k in range(20):
        expected = pin.aba(model, data, pinocchio_q(bodies, q[:, k]), nu[:, k].copy(), tau[:, k].copy())
        np.testing.assert_allclose(got[:, k], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_the_planar_chains_operations_stay_few():
    """Bounds: what they came to in still frames with classical accelerations, and 5 %."""
    assert forward_program(tree_of(planar_chain(7))).operations <= 421
    assert forward_program(tree_of(planar_chain(25))).operations <= 1687


def test_the_limit_runs_and_machine_operations_are_fewer_than_unfused():
    call, products = issue_loop()
    call()
    assert products > 0
    program = forward_program(tree_of(general_arm(3)))
    machine = machine_operations(program)
    assert machine is None or 0.3 * program.operations < machine < 2 * program.operations

"""Mechanics as programs: they agree with each other, with the dynamics, and with the wheels' constraints."""

import numpy as np
import pytest

from trundle import catalog
from trundle.errors import InputError
from trundle.model import derive
from trundle.program import compile_program
from trundle.robot import parse_robot

BODY = {"mass": 1.5, "center_of_mass": [0.2, 0.1, -0.3], "inertia": {"xx": 0.03, "yy": 0.04, "zz": 0.05}}
ARM = {
    "base": "floating",
    "body": BODY,
    "joints": {
        "shoulder": {"type": "universal", "at": [0.3, 0, 0.1], "rpy": [0.2, 0, 0.4], "body": BODY},
        "elbow": {
            "type": "revolute",
            "axis": [0, 1, 0],
            "parent": "shoulder",
            "at": [0, 0, -0.5],
            "body": BODY,
        },
        "ball": {
            "type": "spherical",
            "parent": "elbow",
            "at": [0, 0, -0.5],
            "body": {**BODY, "name": "hand"},
        },
    },
}
ROBOTS = {"arm": lambda: parse_robot(ARM), "drive": catalog.differential_drive}


@pytest.fixture(params=["arm", "drive"])
def sample(request, rng):
    model = derive(ROBOTS[request.param]())
    q = (
        np.array([model.initial[name] for name in model.coordinates])
        + rng.normal(size=len(model.coordinates)) * 0.4
    )
    for k, name in enumerate(model.coordinates):
        if name.rpartition(".")[2] == "q_w":
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return model, q, rng.normal(size=len(model.speeds)), np.array(list(model.parameters.values()))


def test_forward_undoes_inverse_and_the_slope_is_the_mass_matrix(sample, rng):
    model, q, u, p = sample
    n = len(u)
    a, w = rng.normal(size=n), rng.normal(size=6)
    for pushed, wrench in (((), ()), (("base",), (w,))):
        (force,) = model.inverse_dynamics(pushed).evaluate(q, u, a, *wrench, p)
        (back,) = model.forward_dynamics(pushed).evaluate(q, u, force, *wrench, p)
        np.testing.assert_allclose(back, a, rtol=1e-10, atol=1e-10)
    (slope,) = model.inverse_dynamics().jacobian("force", "acceleration").evaluate(q, u, a, p)
    (matrix,) = model.mass_matrix.evaluate(q, u, p)
    np.testing.assert_allclose(matrix, slope, rtol=1e-10, atol=1e-10)


def test_frames(sample):
    """Velocity is the position's rate, the Jacobian maps speeds to it, the bias is what the Jacobian's rate adds."""
    model, q, u, p = sample
    link = "hand" if "ball.q_w" in model.coordinates else "base"
    frame = model.frame(link, (0.1, 0.2, -0.3))
    _, rotation, velocity, jacobian, bias = frame.evaluate(q, u, p)
    jacobian = jacobian.reshape(6, -1)
    np.testing.assert_allclose(jacobian @ u, velocity, rtol=1e-12, atol=1e-12)
    rotation = rotation.reshape(3, 3)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    x = np.concatenate([q, u, np.zeros(len(model.currents))])
    (rate,) = model.dynamics.evaluate(x, np.zeros(len(model.inputs)), p)
    q_dot = rate[: len(q)]
    slope = frame.jacobian("position", "coordinate").evaluate(q, u, p)[0].reshape(3, -1)
    np.testing.assert_allclose(slope @ q_dot, velocity[:3], rtol=1e-10, atol=1e-11)
    by_q = frame.jacobian("velocity", "coordinate").evaluate(q, u, p)[0].reshape(6, -1)
    np.testing.assert_allclose(by_q @ q_dot, bias, rtol=1e-9, atol=1e-10)
    by_u = frame.jacobian("velocity", "speed").evaluate(q, u, p)[0].reshape(6, -1)
    np.testing.assert_allclose(by_u, jacobian, rtol=1e-12, atol=1e-12)


def test_momentum_of_a_free_robot_changes_by_gravity_and_the_push(rng):
    model = derive(parse_robot(ARM))
    q = np.array([model.initial[name] for name in model.coordinates])
    u, p = rng.normal(size=len(model.speeds)), np.array(list(model.parameters.values()))
    w = rng.normal(size=6)
    force = rng.normal(size=len(u))
    force[:6] = 0
    (u_dot,) = model.forward_dynamics(("hand",)).evaluate(q, u, force, w, p)
    x = np.concatenate([q, u])
    q_dot = model.dynamics.evaluate(x, np.zeros(0), p)[0][: len(q)]
    rates = []
    for what in ("linear", "angular"):
        by_q = model.momentum.jacobian(what, "coordinate").evaluate(q, u, p)[0].reshape(3, -1)
        by_u = model.momentum.jacobian(what, "speed").evaluate(q, u, p)[0].reshape(3, -1)
        rates.append(by_q @ q_dot + by_u @ u_dot)
    center = model.momentum.evaluate(q, u, p)[0]
    arm = model.frame("hand").evaluate(q, u, p)[0] - center
    np.testing.assert_allclose(rates[0], w[:3] + 6.0 * np.array([0, 0, -9.81]), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(rates[1], w[3:] + np.cross(arm, w[:3]), rtol=1e-8, atol=1e-8)


def test_programs_compile_and_run_batched(sample):
    """Vector and scalar code may sum in other orders (fused products). An entry of M is the sum over the bodies of
    J_iᵀ I J_j, whose terms together are at most √(M_ii M_jj), by Cauchy and Schwarz: rounding is relative to that, also
    where they cancel.
    """
    model, q, u, p = sample
    kernel = compile_program(model.mass_matrix)
    (single,) = kernel(q, u, p)
    (batch,) = kernel(np.repeat(q[:, None], 5, 1), u, p)
    own = np.sqrt(np.diag(single.reshape(len(u), len(u))))
    assert (np.abs(batch - single[:, None]) <= 1e-13 * np.outer(own, own).reshape(-1, 1)).all()


def test_unknown_links_are_named():
    model = derive(parse_robot(ARM))
    with pytest.raises(InputError, match="no link 'elbw'") as caught:
        model.frame("elbw")
    assert "elbow" in str(caught.value)

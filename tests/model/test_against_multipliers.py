"""Random wheeled robots against maximal coordinates with Lagrange multipliers: accelerations, currents, contact
forces.
"""

import numpy as np
import pytest

from parameters import mostly_slow
from trundle.model import derive
from trundle.robot import parse_robot

from . import random_robots
from .planar import Planar

_SLOPES = {}  # by the model's identity (kept beside it, so it stays its own)


def random_state(rng, model):
    """A state with every entry random, steering within the range where nothing is singular."""
    return rng.uniform(-0.9, 0.9, len(model.states)), rng.uniform(-5, 5, len(model.inputs))


def named_motion(model, x, u):
    """All named values at a state, and their time derivatives by the model (the outputs' by automatic
    differentiation).
    """
    p = np.array(list(model.parameters.values()))
    (rate,) = model.dynamics.evaluate(x, u, p)
    (outputs,) = model.observe.evaluate(x, u, p)
    if id(model) not in _SLOPES:
        _SLOPES[id(model)] = (model, model.observe.jacobian("output", "state"))
    (slope,) = _SLOPES[id(model)][1].evaluate(x, u, p)
    change = np.reshape(slope, (len(model.outputs), len(x))) @ rate
    values = dict(zip(model.states, x, strict=True)) | dict(zip(model.outputs, outputs, strict=True))
    rates = dict(zip(model.states, rate, strict=True)) | dict(zip(model.outputs, change, strict=True))
    return values, rates


def close(a, b, scale, tolerance=1e-10):
    assert abs(a - b) <= tolerance * max(scale, 1.0), (a, b, scale)


QUICK = ("differential", "with_casters", "tricycle", "omni", "trailer", "platform")


@pytest.mark.parametrize("kind", mostly_slow(random_robots.ALL, QUICK))
def test_accelerations_currents_and_contact_forces(kind, rng):
    agrees_with_multipliers(kind, rng)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", random_robots.ALL)
def test_a_hundred_robots_of_each_kind(kind, campaign):
    for rng in campaign(100):
        agrees_with_multipliers(kind, rng)


def agrees_with_multipliers(kind, rng):
    """Reduced equations and those in maximal coordinates give a random robot the same motion and forces."""
    description = random_robots.ALL[kind](rng)
    model, oracle = derive(parse_robot(description)), Planar(description)
    for _ in range(5):
        x, u = random_state(rng, model)
        values, rates = named_motion(model, x, u)
        commands = dict(zip(model.inputs, u, strict=True))
        accelerations, current_rates, forces, residual = oracle.solve(values, commands)
        assert residual < 1e-11  # the dependent speeds keep every constraint of the other formulation
        largest = max(abs(a) for a in accelerations.values())
        for name, expected in accelerations.items():
            close(rates[name], expected, largest)
        for name, expected in current_rates.items():
            if expected is not None:
                close(rates[f"{name}.current"], expected, abs(expected))
        strongest = max((abs(f) for f in forces.values()), default=0.0)
        for name, expected in forces.items():
            if name in values:  # couplings' forces aren't shown
                close(values[name], expected, strongest)


@pytest.mark.parametrize("kind", mostly_slow(random_robots.ALL, QUICK))
def test_contact_forces_change_the_momentum(kind, rng):
    """Newton's law on the whole robot: the ground's forces are the rate of its momentum, their moment that of
    its spin.
    """
    description = random_robots.ALL[kind](rng)
    model, oracle = derive(parse_robot(description)), Planar(description)
    x, u = random_state(rng, model)
    values, rates = named_motion(model, x, u)

    def momentum(shift):
        moved = {name: value + shift * rates.get(name, 0.0) for name, value in values.items()}
        q = oracle.configuration(moved)
        v = oracle.velocity(q, moved)
        parts = range(len(oracle.parts))
        linear = sum(oracle.parts[i].mass * v[3 * i : 3 * i + 2] for i in parts)
        spin = sum(
            oracle.parts[i].inertia * v[3 * i + 2]
            + oracle.parts[i].mass * (q[3 * i] * v[3 * i + 1] - q[3 * i + 1] * v[3 * i])
            for i in parts
        )
        return np.array([*linear, spin])

    h = 1e-4
    expected = (momentum(-2 * h) - 8 * momentum(-h) + 8 * momentum(h) - momentum(2 * h)) / (12 * h)
    q = oracle.configuration(values)
    total = np.zeros(3)
    for name, (i, wheel, place) in oracle.wheels.items():
        if place is None:
            continue
        c, s = np.cos(q[3 * i + 2]), np.sin(q[3 * i + 2])
        if f"{name}.roller_force" in values:
            gamma, force = wheel.get("roller_angle", np.pi / 2), values[f"{name}.roller_force"]
            local = force * np.array([np.sin(gamma), np.cos(gamma)])
        elif f"{name}.rolling_slip" in values and wheel.get("type") in ("mecanum", "omni"):
            continue
        else:
            local = np.array([values[f"{name}.traction"], values[f"{name}.side_force"]])
        force = np.array([c * local[0] - s * local[1], s * local[0] + c * local[1]])
        total += [*force, q[3 * i] * force[1] - q[3 * i + 1] * force[0]]
    # A rotor behind a gear feels only its own axis (its inertia stands in the joint's diagonal): the reaction of a
    # steering rotor's spin is left out of both formulations, so the moment is compared without one.
    rotors = any(
        m.get("rotor_inertia") for m in description["motors"].values() if m["drives"] in ("steering",)
    )
    rotors = rotors or any(joint.get("armature") for joint in description["joints"].values())
    np.testing.assert_allclose(total[:2], expected[:2], atol=1e-8 * max(1, np.abs(total).max()))
    if not rotors:
        np.testing.assert_allclose(total[2], expected[2], atol=1e-8 * max(1, np.abs(total).max()))

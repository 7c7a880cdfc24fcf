"""Bristle contact: it holds where regularised friction creeps, and slides as Coulomb's law says."""

import pytest
import scipy.integrate

import trundle
from trundle.robot import parse_robot


def cart(sideways: float, **contact):
    """A parked cart that gravity pulls sideways (m/s²)."""
    wheel = {"radius": 0.1, "mass": 1.0, "contact": "bristle", **contact}
    return parse_robot(
        {
            "gravity": [0, sideways, -10],
            "body": {"mass": 16.0, "center_of_mass": [0, 0, "low"], "inertia": {"zz": 1.0}},
            "parameters": {
                "low": -0.125
            },  # with the wheels' 4 kg, a centre of mass in the ground: no load shifts
            "wheels": {
                "fl": {"at": [0.3, 0.2, 0], **wheel},
                "fr": {"at": [0.3, -0.2, 0], **wheel},
                "rl": {"at": [-0.3, 0.2, 0], **wheel},
                "rr": {"at": [-0.3, -0.2, 0], **wheel},
            },
        }
    )


def test_it_holds_where_friction_creeps():
    """At rest the treads carry m g_y = 4 σ₀ z, and nothing moves; regularised friction creeps on."""
    model = trundle.derive(cart(2.0, bristle_stiffness=2e4))
    run = trundle.simulate(model, 5.0)
    assert run.final["fl.lateral_deflection"] == pytest.approx(20 * 2.0 / (4 * 2e4), rel=1e-6)
    assert abs(run.final["y"] - run["y"][run.time.searchsorted(1.0)]) < 1e-6
    crept = trundle.simulate(trundle.derive(cart(2.0, contact="slip")), 5.0)
    assert crept.final["y"] > 10 * run.final["y"]


def test_it_slides_as_one_block_by_scipy():
    """m v̇ = m g_y − 4 f with f of one tread, integrated on its own; in the end v̇ = g_y − μ g."""
    model = trundle.derive(cart(9.0, friction=0.5))
    run = trundle.simulate(model, 1.0, rtol=1e-9, atol=1e-11)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]

    def rates(_t, state):
        _, v, z = state
        grip = 0.5 * 50 + 1e-3
        bend = v - 1e5 * abs(v) * z / grip
        return [v, 9.0 - 4 * (1e5 * z + 300.0 * bend / (1 + 300.0 * abs(v) / grip)) / 20, bend]

    found = scipy.integrate.solve_ivp(rates, (0, 1.0), [0, 0, 0], method="LSODA", rtol=1e-10, atol=1e-12)
    assert run.final["y"] == pytest.approx(found.y[0, -1], rel=1e-6)
    assert run.final["v_y"] == pytest.approx(9.0 - 0.5 * 10, rel=0.05)
    assert run.final["fl.lateral_deflection"] == pytest.approx(found.y[2, -1], rel=1e-6)


def test_equations_and_words_tell_it():
    """Its forces and the rates of its states are printed and agree with the program."""
    robot = cart(1.0)
    written = trundle.equations(robot)
    names = {equation.name for section in written.sections for equation in section.equations}
    assert {"fl.side_force", "fl.lateral_deflection_rate"} <= names
    assert robot.wheels["fl"].law.words(robot.resolver()) == "friction 0.8, a spring of 1e+05 N/m at rest"
    units = trundle.derive(robot).units
    assert units["fl.rolling_deflection"] == "m"

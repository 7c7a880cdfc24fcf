"""A pin in a slot moves as a slide that carries a hinge; a Scotch yoke by its closed form."""

import numpy as np
import pytest

import trundle
from trundle.robot import parse_robot

BODY = {
    "mass": 1.5,
    "center_of_mass": [0.2, 0.1, -0.3],
    "inertia": {"xx": 0.03, "yy": 0.04, "zz": 0.05, "xy": 0.004},
}
PIN, SLOT = [0.3, 1, 0.2], [1, 0, 0.4]
TURN, SLIDE = {"stiffness": 3.0, "damping": 0.1}, {"stiffness": 40.0, "damping": 0.3}


def test_it_moves_as_a_slide_that_carries_a_hinge():
    place = {"at": [0.1, 0, 0.2], "rpy": [0.2, -0.3, 0.5]}
    one = {
        "j": {
            "type": "pin_slot",
            "axis": PIN,
            "axis2": SLOT,
            "turn": TURN,
            "slide": SLIDE,
            "body": BODY,
            **place,
        }
    }
    two = {
        "slot": {"type": "prismatic", "axis": SLOT, **SLIDE, **place},
        "pin": {"parent": "slot", "axis": PIN, "body": BODY, **TURN},
    }
    start = {"j.angle": 0.4, "j.position": 0.1, "j.rate": 2.0, "j.speed": -0.5}
    names = {
        "j.angle": "pin.angle",
        "j.position": "slot.position",
        "j.rate": "pin.rate",
        "j.speed": "slot.rate",
    }
    runs = [
        trundle.simulate(
            trundle.derive(parse_robot({"joints": joints})), 2.0, initial=given, rtol=1e-9, atol=1e-11
        )
        for joints, given in ((one, start), (two, {names[name]: value for name, value in start.items()}))
    ]
    for name, other in names.items():
        assert runs[0].final[name] == pytest.approx(runs[1].final[other], abs=1e-7), name
    assert runs[0].summary["energy_imbalance"] <= 1e-6 * runs[0].summary["energy_turned_over"]


def test_units_and_motors():
    robot = {
        "joints": {"j": {"type": "pin_slot", "body": BODY}},
        "motors": {"t": {"type": "torque", "drives": "j.turn"}, "f": {"type": "torque", "drives": "j.slide"}},
    }
    units = trundle.derive(parse_robot(robot)).units
    assert [units[name] for name in ("j.angle", "j.position", "j.rate", "j.speed")] == [
        "rad",
        "m",
        "rad/s",
        "m/s",
    ]
    assert (units["t.torque"], units["f.torque"]) == ("N m", "N")


def test_a_scotch_yoke():
    """A crank whose tip a loop pins to the pin of a slot across the yoke: the yoke moves as r cos φ."""
    robot = parse_robot(
        {
            "gravity": 0,
            "joints": {
                "crank": {"type": "revolute", "body": {"mass": 0.2, "inertia": {"zz": 0.01}}},
                "yoke": {"type": "prismatic", "axis": [1, 0, 0], "body": {"mass": 1.0}},
                "pin": {
                    "type": "pin_slot",
                    "parent": "yoke",
                    "axis2": [0, 1, 0],
                    "body": {"mass": 0.1, "inertia": {"zz": 1e-3}},
                },
            },
            "loops": {
                "tip": {
                    "type": "fixed",
                    "first": {"body": "crank", "at": [0.3, 0, 0]},
                    "second": {"body": "pin"},
                }
            },
        }
    )
    model = trundle.derive(robot)
    assert model.freedoms == 1
    run = trundle.simulate(model, 2.0, initial={"crank.angle": 0.3, "crank.rate": 4.0})
    np.testing.assert_allclose(run["yoke.position"], 0.3 * np.cos(run["crank.angle"]), atol=1e-9)
    np.testing.assert_allclose(run["pin.position"], 0.3 * np.sin(run["crank.angle"]), atol=1e-9)
    assert run.summary["energy_imbalance"] <= 1e-6 * run["energy.kinetic"][0]

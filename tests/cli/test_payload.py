"""`--payload`, and `Robot.with_payload`: a point mass that is welded to the base."""

import numpy as np
import pytest

import trundle as t
from trundle.robot.component import plain

VOLTS = {"left_motor.voltage": 6.0, "right_motor.voltage": 5.0}


def with_body(robot, mass, middle, zz):
    """The robot with another body on its base."""
    body = {"mass": mass, "center_of_mass": middle, "inertia": {"zz": zz}}
    data = plain(robot)
    numbers = {name: value for name, value in data["parameters"].items() if name != "d"}  # its centre's place
    return t.load({"robot": {**data, "parameters": numbers, "body": body}})


def test_it_is_a_body_with_both_masses():
    """m = m₁ + m₂ about their common centre, I_zz by the parallel axes: the same motion."""
    mass, zz, load, place = 8.0, 0.3, 30.0, np.array([0.2, 0.05, 0.0])
    robot = with_body(t.catalog.differential_drive(), mass, [0, 0, 0], zz)
    middle = load * place / (mass + load)
    both = zz + mass * middle @ middle + load * (place - middle) @ (place - middle)
    loaded, same = (
        robot.with_payload(load, place.tolist()),
        with_body(robot, mass + load, middle.tolist(), both),
    )
    runs = [t.simulate(each, 2.0, VOLTS, samples=11) for each in (loaded, same)]
    for name in ("x", "y", "theta", "v_x", "omega"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-9)


def test_the_commands_take_it(trundle, folder):
    for words in (["run", "circle.yaml", "--no-figures"], ["check", "circle.yaml"]):
        done = trundle(*words, "--payload", "mass=3 kg,at=0.1, 0, 5 cm", "--json")
        assert done.status == 0, done.err
        assert "payload" in str(done.data["bodies"])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("3", 'expected mass=KG,at="X, Y, Z"'),
        ("mass=3,at=0.1,0", "--payload payload.at: expected a list of three lengths, got a list of 2"),
        ("mass=3 m", "--payload payload.body.mass"),
        ("mass=-3", "--payload payload.body.mass"),
    ],
)
def test_what_is_no_payload_is_said(trundle, folder, said, told):
    done = trundle("check", "circle.yaml", "--payload", said)
    assert done.status != 0
    assert told in done.err


def test_a_payload_needs_a_robot(trundle, folder):
    done = trundle("drive", "--fastest", "0,0,0", "1,0,0", "--payload", "mass=3")
    assert done.status != 0
    assert "--payload: the default robot has limits alone, no masses" in done.err

"""What a base's joints are told: the twist that its fixed wheels allow, and what gears and linkages lead on to."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import trundle
from trundle.errors import InputError
from trundle.motion.drive.commanded import allowing, commanding
from trundle.motion.drive.programs import in_parameters

CAR = Path(__file__).parents[2] / "examples" / "gears" / "rear_axle.yaml"


def _plain(robot):
    return yaml.safe_load(trundle.documents.dump(robot))


def _behind():
    """A car whose base's origin lies between its axles."""
    document = _plain(trundle.catalog.robot("ackermann"))
    for name, wheel in document["robot"]["wheels"].items():
        wheel["at"] = ["wheelbase - 0.4" if name.startswith("front") else -0.4, *wheel["at"][1:]]
    document["robot"]["couplings"]["steering"]["axle"] = -0.4
    return trundle.load(document)


def _sideways():
    """A differential drive whose wheels roll along the base's y."""
    document = _plain(trundle.catalog.differential_drive())
    del document["robot"]["parameters"]["track"]
    for wheel, x in zip(document["robot"]["wheels"].values(), (0.25, -0.25), strict=True):
        wheel |= {"at": [x, 0.1, 0], "heading": "90 deg"}
    return trundle.load(document)


def _allowed(robot, twist):
    return allowing(in_parameters(robot))(twist, np.array([*robot.parameter_values().values()]))


@pytest.mark.parametrize("make", [_behind, _sideways, trundle.catalog.tricycle])
def test_no_wheel_slips_at_an_allowed_twist(make, rng):
    robot = make()
    kinematics = trundle.kinematics(robot)
    for twist in rng.uniform(-1, 1, (20, 3)):
        allowed = _allowed(robot, twist)
        states = kinematics.module_states(*allowed)
        fixed = [k for k, module in enumerate(kinematics.modules) if not module.is_caster]
        assert np.abs(kinematics.slip(states)[fixed]).max() <= 1e-12
        along = 1 if make is _sideways else 0  # the way in which fixed wheels roll
        np.testing.assert_allclose(allowed[[along, 2]], twist[[along, 2]], rtol=0, atol=1e-15)
        np.testing.assert_allclose(_allowed(robot, allowed), allowed, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["swerve", "mecanum", "three_omni"])
def test_bases_without_fixed_wheels_keep_their_twist(name, rng):
    twist = rng.uniform(-1, 1, 3)
    np.testing.assert_array_equal(_allowed(trundle.catalog.robot(name), twist), twist)


@pytest.mark.parametrize("make", [_behind, lambda: trundle.load(CAR)])
def test_commands_of_a_car_move_it_as_it_was_told(make, rng):
    """Its own equations of rolling, with gears and linkage, have the same rates at the twist, and no slip."""
    robot = make()
    kinematics, program = trundle.kinematics(robot), commanding(robot)
    values = np.array([*robot.parameter_values().values()])
    labels = [label for group in program.outputs for label in group.labels]
    assert labels[-1] in ("steering.angle", "column.angle")
    for _ in range(5):
        twist = _allowed(robot, np.array([rng.uniform(0.5, 2), 0, rng.uniform(-0.5, 0.5)]))
        states = kinematics.module_states(*twist)
        numbers = np.concatenate(program(states.angles, states.speeds, states.steering_rates, values))
        found = dict(zip(labels, numbers, strict=True))
        steering = found.pop(labels[-1])
        twisted = dict(zip(("v_x", "v_y", "omega"), twist, strict=True))
        given = {**twisted, labels[-1].replace(".angle", ".rate"): 0.0}
        run = trundle.roll(robot, 0.1, given, initial={labels[-1]: steering})
        for label, rate in found.items():
            assert abs(run[label.replace(".angle", ".rate")][-1] - rate) <= 1e-9
        assert run.summary["slip_residual"] <= 1e-9


def test_without_motors_all_wheels_but_casters_are_told():
    document = _plain(trundle.catalog.robot("tricycle"))
    del document["robot"]["motors"]
    outputs = {group.name: group.labels for group in commanding(trundle.load(document)).outputs}
    assert outputs == {
        "velocity": ("left.angle", "right.angle", "front.angle"),
        "position": ("front.steering",),
    }
    document = _plain(trundle.catalog.robot("ackermann"))
    del document["robot"]["motors"]
    assert commanding(trundle.load(document)).outputs[1].labels == ("steering.angle",)


def test_a_motor_that_no_twist_tells_is_refused():
    document = _plain(trundle.load(CAR))
    document["robot"]["couplings"]["differential"]["follows"] = {"rear_left": 0.5, "column": 0.5}
    del document["robot"]["couplings"]["gearbox"]
    document["robot"]["motors"]["driver"]["drives"] = "steering"
    with pytest.raises(InputError, match="no motor of 'rear_axle' drives a wheel"):
        commanding(trundle.load(document))

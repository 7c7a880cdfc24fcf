"""Casters and plans: those that no motor drives go where they are drawn, others are refused in words."""

import pytest

import trundle
from trundle.errors import InputError

LIMITS = trundle.Limits(steering_rate=20, steering_acceleration=200, drive_speed=3.0, drive_acceleration=4.0)


def casters():
    """Four of them whose wheels and pivots motors drive."""
    wheel = {"type": "caster", "radius": 0.06, "offset": 0.05, "friction": 1.0, "contact": "slip"}
    fork = {"mass": 0.5, "inertia": {"zz": 0.003}}
    corners = ((0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2))
    wheels = {
        f"wheel_{k}": wheel | {"at": [x, y, 0.06], "mass": 1.0, "width": 0.03, "fork": fork}
        for k, (x, y) in enumerate(corners)
    }
    motors = {f"{name}_drive": {"drives": name, "model": "neo", "gear_ratio": 8} for name in wheels}
    motors |= {
        f"{name}_steer": {"drives": f"{name}.steering", "model": "neo", "gear_ratio": 8} for name in wheels
    }
    body = {"mass": 40.0, "center_of_mass": [0, 0, 0.2], "inertia": {"xx": 1.2, "yy": 1.2, "zz": 2.0}}
    return trundle.robot.parse_robot(
        {"name": "powered_casters", "body": body, "wheels": wheels, "motors": motors}
    )


TURN = {"motion": {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}}
PATH = trundle.pose_path([(0, 0, 0), (1, 0.5, 0.5)])


@pytest.mark.parametrize(
    "ask",
    [
        lambda robot: trundle.plan(robot, (1, 0, 0), limits=LIMITS),
        lambda robot: trundle.plan_to_pose(robot, (1, 0, 0), limits=LIMITS),
        lambda robot: trundle.follow(PATH, robot),
        lambda robot: trundle.fastest(robot, (0, 0, 0), (1, 0, 0)),
        lambda robot: trundle.drive(TURN, robot, level="body"),
        lambda robot: trundle.motor_limits(robot),
    ],
)
def test_plans_of_driven_casters_are_refused_with_what_does_their_job(ask):
    with pytest.raises(InputError, match="a motor drives the caster 'wheel_0'") as caught:
        ask(casters())
    assert caught.value.key == "robot.wheels.wheel_0"
    assert "module_states gives its wheels' rates" in str(caught.value.hint)


def test_what_the_refusal_names_does_the_job():
    """Rates by kinematics for a twist that turns; rolled with them the base has that twist at once."""
    robot, twist = casters(), (0.5, -0.2, 0.7)
    states = trundle.kinematics(robot).module_states(*twist)
    inputs = {f"{name}.rate": state / 0.06 for name, state in zip(states.names, states.speeds, strict=True)}
    inputs |= {
        f"{name}.steering_rate": rate for name, rate in zip(states.names, states.steering_rates, strict=True)
    }
    begin = {f"{name}.steering": angle for name, angle in zip(states.names, states.angles, strict=True)}
    run = trundle.roll(robot, 1e-9, inputs, initial=begin, progress=False)
    assert [run[part][0] for part in ("v_x", "v_y", "omega")] == pytest.approx(twist, abs=1e-9)


def test_idle_casters_go_where_they_are_drawn():
    """A base that steers, on a caster that no motor drives, is planned as without it."""
    robot = trundle.catalog.swerve()
    described = trundle.robot.parse_robot(
        {
            "name": "with an idle caster",
            "wheels": {
                "front": {"type": "steered", "at": [0.3, 0, 0.05], "radius": 0.05},
                "rear": {"type": "steered", "at": [-0.3, 0, 0.05], "radius": 0.05},
                "idle": {"type": "caster", "at": [0, 0.3, 0.05], "radius": 0.05, "offset": 0.03},
            },
        }
    )
    plan = trundle.plan(described, (1, 0, 0), limits=LIMITS)
    assert plan.kinematics.names == ("front", "rear")
    assert plan.duration == pytest.approx(trundle.plan(robot, (1, 0, 0), limits=LIMITS).duration)

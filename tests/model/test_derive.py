"""What `derive` says and refuses: classes, locked robots, singular and changed numbers."""

import re

import numpy as np
import pytest

from trundle import catalog, simulate
from trundle.errors import InputError
from trundle.model import derive
from trundle.robot import parse_robot
from trundle.robot.contact import Slip

from . import diff_drive, random_robots
from .test_against_multipliers import named_motion

CLASSES = {
    "differential": (2, 0),
    "ackermann": (1, 1),
    "tricycle": (1, 1),
    "two_steered": (1, 2),
    "one_steered": (2, 1),
    "omni": (3, 0),
    "mecanum": (3, 0),
    "with_casters": (2, 0),
    "slipping_swerve": (1, 2),
}


@pytest.mark.parametrize("kind", CLASSES)
def test_mobility(kind, rng):
    found = derive(parse_robot(random_robots.ALL[kind](rng))).mobility
    assert (found.mobility, found.steerability) == CLASSES[kind]


@pytest.mark.parametrize("modules", [2, 3, 4, 6])
def test_swerve_mobility(modules):
    found = derive(catalog.swerve(modules=modules)).mobility
    assert (found.mobility, found.steerability) == (1, 2)


@pytest.mark.parametrize("modules", [3, 4, 6])
def test_ideal_swerve_is_explained(modules):
    with pytest.raises(InputError) as caught:
        derive(catalog.swerve(modules=modules, contact="ideal"))
    text = str(caught.value)
    assert "lock" in text
    assert "rank 3" in text
    assert "slip" in text
    assert len(re.findall(r"front_left|rear_left|front_right|rear_right|module_\d", text)) >= min(modules, 3)


@pytest.mark.slow
def test_two_ideal_modules_and_two_slipping_ones_drive():
    robot = catalog.swerve(contact="ideal")
    changed = {name: {"contact": Slip()} for name in ("rear_left", "front_right")}
    wheels = {n: w.model_copy(update=changed.get(n, {})) for n, w in robot.wheels.items()}
    model = derive(robot.model_copy(update={"wheels": wheels}))
    run = simulate(model, 1.0, dict.fromkeys((f"{n}_drive.voltage" for n in wheels), 5.0))
    assert run["x"][-1] > 0.05
    assert abs(run["y"][-1]) < 1e-6
    assert run.summary["constraint_residual"] < 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_ackermann_steers_front_or_rear_wheels_from_straight(side):
    """Steered wheels stand straight at zero whichever axle steers, and their axles meet on the fixed axle's line."""
    wheel = {"radius": 0.1, "mass": 1.0}
    steered = {"type": "steered", **wheel}
    robot = parse_robot(
        {
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "wheels": {
                "l": {"at": [0, 0.3, 0], **wheel},
                "r": {"at": [0, -0.3, 0], **wheel},
                "sl": {"at": [side, 0.4, 0], **steered},
                "sr": {"at": [side, -0.4, 0], **steered},
            },
            "couplings": {"link": {"wheels": ["sl", "sr"]}},
            "motors": {"m": {"type": "torque", "drives": "l"}},
        }
    )
    model = derive(robot)
    p = np.array(list(model.parameters.values()))
    for delta in (0.0, 0.3, -0.5):
        x = np.zeros(len(model.states))
        x[model.state_index["link.angle"]] = delta
        x[[k for k, n in enumerate(model.states) if n.endswith(".speed")]] = 1.0
        values = dict(zip(model.outputs, model.observe.evaluate(x, np.zeros(1), p)[0], strict=True))
        for name, y in (("sl", 0.4), ("sr", -0.4)):
            assert values[f"{name}.steering"] == pytest.approx(
                np.arctan(np.tan(delta) / (1 - y / side * np.tan(delta))), abs=1e-14
            )
        assert values["omega"] == pytest.approx(values["v_x"] * np.tan(delta) / side, abs=1e-12)
        assert values["l.rate"] > 0


def test_speeds_of_ones_own_choice(rng):
    """The same motion, whichever independent speeds describe it."""
    plain = derive(parse_robot(diff_drive.description()))
    wheels = derive(parse_robot(diff_drive.description(speeds=["right.rate", "left.rate"])))
    assert wheels.speeds == ("right.rate", "left.rate")
    x, u = rng.uniform(-1, 1, len(wheels.states)), rng.uniform(-5, 5, 2)
    values, rates = named_motion(wheels, x, u)
    same = np.array([values[name] for name in plain.states])
    _, expected = named_motion(plain, same, u)
    for name in ("v_x", "omega", "right.rate", "left.rate", "x", "y", "left_motor.current"):
        assert rates[name] == pytest.approx(expected[name], rel=1e-10, abs=1e-10)
    with pytest.raises(InputError, match="undetermined"):
        derive(parse_robot(diff_drive.description(speeds=["right.rate"])))


def test_parameters_that_change_the_rank_are_refused():
    wheel = {"radius": 0.1, "mass": 1.0}
    robot = parse_robot(
        {
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "wheels": {"l": {"at": [0.1, 0.3, 0], **wheel}, "r": {"at": [0.1, -0.3, 0], **wheel}},
            "motors": {"m": {"type": "torque", "drives": "l"}},
        }
    )
    model = derive(robot)
    with pytest.raises(InputError, match="no longer those it was derived with"):
        simulate(model, 1.0, {"m.torque": 1.0}, parameters={"wheels.l.at.x": 0.3})
    both = simulate(model, 1.0, {"m.torque": 1.0}, parameters={"wheels.l.at.x": 0.3, "wheels.r.at.x": 0.3})
    assert both.summary["constraint_residual"] < 1e-9


def test_a_robot_that_would_tip_is_refused():
    wheel = {"radius": 0.1, "mass": 1.0, "contact": "slip"}
    data = {
        "body": {"mass": 10, "inertia": {"zz": 1}, "center_of_mass": [0.9, 0, 0]},
        "wheels": {
            "l": {"at": [0.3, 0.3, 0], **wheel},
            "r": {"at": [0.3, -0.3, 0], **wheel},
            "tail": {"at": [-0.3, 0, 0], **wheel},
        },
    }
    with pytest.raises(InputError, match="tip.*tail"):
        derive(parse_robot(data))


def test_unknown_quaternion_length_is_refused():
    model = derive(
        parse_robot({"base": "floating", "body": {"mass": 1, "inertia": {"xx": 1, "yy": 1.5, "zz": 2}}})
    )
    with pytest.raises(InputError, match="length 2"):
        model.state_vector({"q_w": 2.0})
    assert model.state_vector({"q_w": 0.6, "q_z": 0.8})


def test_a_free_body_keeps_its_momentum():
    """Euler's top on a floating base: gravity accelerates it, its spin in the world stays."""
    model = derive(
        parse_robot({"base": "floating", "body": {"mass": 2, "inertia": {"xx": 1, "yy": 1.5, "zz": 2}}})
    )
    run = simulate(model, 3.0, initial={"omega_x": 0.1, "omega_y": 2.0, "omega_z": 0.1, "v_x": 1.0})
    assert run["z"][-1] == pytest.approx(-9.81 * 9 / 2, rel=1e-9)
    assert run["x"][-1] == pytest.approx(3.0, rel=1e-9)
    w, x, y, z = (run[f"q_{k}"] for k in "wxyz")
    spin = np.array([run[f"omega_{k}"] for k in "xyz"]) * np.array([[1], [1.5], [2]])
    world = np.array(
        [
            (1 - 2 * (y * y + z * z)) * spin[0]
            + 2 * (x * y - w * z) * spin[1]
            + 2 * (x * z + w * y) * spin[2],
            2 * (x * y + w * z) * spin[0]
            + (1 - 2 * (x * x + z * z)) * spin[1]
            + 2 * (y * z - w * x) * spin[2],
            2 * (x * z - w * y) * spin[0]
            + 2 * (y * z + w * x) * spin[1]
            + (1 - 2 * (x * x + y * y)) * spin[2],
        ]
    )
    np.testing.assert_allclose(world, np.repeat(world[:, :1], len(run.time), axis=1), atol=1e-7)


def _described(text):
    from trundle.documents import parse

    return parse("trundle: 1\nrobot:\n" + text).robot


SUBFRAME = """
  name: subframe
  body: {mass: 10, inertia: {zz: 1}}
  joints: {sub: {type: fixed, at: [0.1, 0, 0], rpy: [0, 0, 30 deg], body: {mass: 1}}}
  wheels:
    left: {parent: sub, at: [0, 0.3, 0], radius: 0.1, mass: 1}
    right: {parent: sub, at: [0, -0.3, 0], radius: 0.1, mass: 1}
  motors: {motor: {drives: left, torque_constant: 1, resistance: 1}}
"""


def test_wheels_on_a_fixed_joint_are_the_base_s():
    """A differential drive on a turned subframe is one still, and its wheels roll."""
    import trundle

    model = trundle.derive(_described(SUBFRAME))
    run = trundle.simulate(model, 2.0, {"motor.voltage": 5.0})
    assert (model.mobility.mobility, model.mobility.steerability) == (2, 0)
    assert run.summary["constraint_residual"] < 1e-12
    assert run.summary["energy_imbalance"] < 1e-6 * run.summary["energy_turned_over"]


def test_a_steered_wheel_on_a_fixed_joint_keeps_its_place():
    import trundle

    text = """
  name: unicycle
  body: {mass: 10, inertia: {zz: 1}}
  joints: {sub: {type: fixed, at: [0.1, 0.2, 0], body: {mass: 1}}}
  wheels:
    front: {type: steered, parent: sub, at: [0, 0.3, 0], radius: 0.1, mass: 1, fork: {mass: 1, inertia: {zz: 0.1}}}
    ball: {type: ball, at: [-0.4, 0, 0], radius: 0.1}
  motors: {motor: {drives: front, torque_constant: 1, resistance: 1}}
"""
    run = trundle.simulate(
        trundle.derive(_described(text)),
        2.0,
        {"motor.voltage": 5.0},
        initial={"front.steering": 0.5, "omega": 0.3},
    )
    assert run.summary["constraint_residual"] < 1e-12


def test_a_steered_wheel_on_the_fixed_axle_is_refused():
    import pytest

    import trundle

    text = """
  name: odd
  body: {mass: 10, inertia: {zz: 1}}
  wheels:
    left: {at: [0, 0.3, 0], radius: 0.1, mass: 1}
    right: {at: [0, -0.3, 0], radius: 0.1, mass: 1}
    third: {type: steered, at: [0, 0.5, 0], radius: 0.1, mass: 1, fork: {inertia: {zz: 0.1}}}
"""
    with pytest.raises(trundle.InputError, match="'third' stands on the line"):
        trundle.derive(_described(text))


def test_the_lock_message_counts_the_base_s_constraints_only():
    import pytest

    import trundle

    text = """
  name: crossed
  body: {mass: 10, inertia: {zz: 1}}
  wheels:
    a: {at: [0, 0.3, 0], radius: 0.1, mass: 1}
    b: {at: [0, -0.3, 0], heading: 30 deg, radius: 0.1, mass: 1}
    c: {at: [0.5, 0, 0], heading: 10 deg, radius: 0.1, mass: 1}
"""
    with pytest.raises(trundle.InputError, match="have rank 3, and the base has 3") as caught:
        trundle.derive(_described(text))
    assert "steering" not in str(caught.value)


def test_a_given_load_is_taken_off_the_others():
    import trundle

    text = """
  name: loaded
  body: {mass: 20, inertia: {zz: 2}}
  wheels:
    fl: {at: [0.3, 0.3, 0], radius: 0.1, mass: 1, contact: slip, load: 20}
    fr: {at: [0.3, -0.3, 0], radius: 0.1, mass: 1, contact: slip}
    rr: {at: [-0.3, -0.3, 0], radius: 0.1, mass: 1, contact: slip}
    rl: {at: [-0.3, 0.3, 0], radius: 0.1, mass: 1, contact: slip}
"""
    run = trundle.simulate(trundle.derive(_described(text)), 0.1)
    total = sum(float(run[f"{w}.load"][0]) for w in ("fl", "fr", "rr", "rl"))
    assert abs(total - 24 * 9.81) < 1e-9


def test_slipping_wheels_under_a_ball_joint():
    """Loads are looked at with every joint at its zero, which for a ball joint is a quaternion of length 1."""
    wheel = {"radius": 0.1, "mass": 1.0, "contact": "slip"}
    ball = {
        "type": "spherical",
        "at": [0, 0, 0.5],
        "body": {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
    }
    data = {
        "body": {"mass": 10, "inertia": {"zz": 1}},
        "wheels": {n: {**wheel, "at": [x, y, 0]} for n, x, y in (("a", 1, 1), ("b", 1, -1), ("c", -1, 0))},
        "joints": {"antenna": ball},
    }
    assert "antenna.q_w" in derive(parse_robot(data)).coordinates


def test_wheels_in_a_row_that_miss_by_less_than_ranks_see_lock_nothing():
    places = (("a", 0.0, 0.0), ("b", 0.5, 1e-10), ("c", 1.0, 0.0))
    wheels = {name: {"at": [x, 0, 0], "radius": 0.1, "heading": turn} for name, x, turn in places}
    assert derive(parse_robot({"body": {"mass": 5, "inertia": {"zz": 1}}, "wheels": wheels})).speeds == (
        "v_x",
    )

"""Every type of joint from a description to a run: names, energy balance, unit quaternions, stops, bad input."""

import numpy as np
import pytest

from trundle.errors import InputError, NumericsError
from trundle.mechanics.joints import KINDS
from trundle.model import derive
from trundle.robot import parse_robot, require_dynamic
from trundle.robot.bodies import JOINTS as JOINT_NOUNS
from trundle.robot.bodies import FixedJoint
from trundle.simulation import rollout, simulate

BODY = {
    "mass": 1.5,
    "center_of_mass": [0.2, 0.1, -0.3],
    "inertia": {"xx": 0.03, "yy": 0.04, "zz": 0.05, "xy": 0.004},
}
SPRUNG = {"stiffness": 3.0, "rest": 0.2, "damping": 0.1, "coulomb": 0.2, "armature": 0.03}
STOPPED = {"lower": -0.2, "upper": 0.3, "limit_stiffness": 900.0, "limit_damping": 5.0, "limit_width": 0.01}
JOINTS = {
    "revolute": {"axis": [1, 2, 3], **SPRUNG, **STOPPED},
    "prismatic": {"axis": [1, -2, 0.5], **SPRUNG, **STOPPED},
    "screw": {"axis": [0, 1, 1], "pitch": "300 mm/rev", **SPRUNG},
    "cylindrical": {"axis": [1, 1, 0], "turn": SPRUNG, "slide": {**SPRUNG, **STOPPED}},
    "universal": {"axis": [1, 0, 0.2], "axis2": [0, 1, 0.4], "first": SPRUNG, "second": STOPPED},
    "pin_slot": {"axis": [0.3, 1, 0.2], "axis2": [1, 0, 0.4], "turn": SPRUNG, "slide": {**SPRUNG, **STOPPED}},
    "spherical": {"damping": 0.05},
    "planar": {"axis": [0.3, 1, 0.2]},
    "floating": {},
}


def nouns():
    """The classes of joints by their type's name."""
    return {name: JOINT_NOUNS.named(name) for name in JOINT_NOUNS}


def pendulum(kind, **changes):
    joint = {
        "type": kind,
        "at": [0.1, 0, 0.2],
        "rpy": [0.3, -0.4, 0.5],
        "body": BODY,
        **JOINTS[kind],
        **changes,
    }
    tip = {"type": "revolute", "axis": [0, 1, 0], "parent": "j", "at": [0.4, 0, -0.1], "body": BODY}
    return parse_robot({"joints": {"j": joint, "tip": tip}})


def start(model, rng):
    values = dict.fromkeys(model.states, 0.0) | dict(model.initial)
    return values | {name: float(rng.uniform(-1, 1)) for name in model.speeds}


def test_the_description_and_the_mechanics_use_the_same_names():
    for kind, noun in nouns().items():
        coordinates, speeds = KINDS[kind].coordinates, KINDS[kind].speeds
        assert noun.coordinates == tuple(each.name for each in coordinates)
        assert noun.speeds == tuple(each.name for each in speeds)
        for axis in noun.drives:
            assert coordinates[axis.place].name == speeds[axis.place].coordinate == axis.coordinate
            assert coordinates[axis.place].slides == speeds[axis.place].slides == axis.sliding
    assert set(JOINTS) | {"fixed"} == set(nouns()) == set(KINDS) - {"spin"}
    assert not FixedJoint.speeds


@pytest.mark.parametrize("kind", JOINTS)
def test_energy_balances(kind, rng):
    model = derive(pendulum(kind))
    assert all(model.units[name] for name in (*model.coordinates, *model.speeds) if ".q_" not in name)
    run = simulate(model, 1.0, initial=start(model, rng), samples=11)
    assert run.summary["energy_imbalance"] < 1e-7 * max(1.0, run.summary["energy_turned_over"])
    losses = run["energy.losses"]
    assert (np.diff(losses) >= -1e-9).all()
    assert (losses[-1] > 0) == (kind not in ("planar", "floating"))


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_quaternions_keep_length_one(kind, rng):
    """In a run; over 10⁵ fixed steps of a body that tumbles at some 10 rad/s; and a wrong start is refused."""
    model = derive(pendulum(kind, **({"damping": 0.0} if kind == "spherical" else {})))
    names = [f"j.q_{letter}" for letter in "wxyz"]
    initial = start(model, rng) | {name: 6.0 for name in model.speeds if ".omega" in name}
    run = simulate(model, 5.0, initial=initial, samples=101)
    length = np.sqrt(sum(run[name] ** 2 for name in names))
    assert np.abs(length - 1).max() < 1e-8
    batch = rollout(model, initial=initial, steps=100_000, dt=5e-4, every=10_000, count=1)
    length = np.sqrt(sum(batch.values[:, model.states.index(name), 0] ** 2 for name in names))
    assert np.abs(length - 1).max() < 1e-9
    with pytest.raises(InputError, match="has length"):
        simulate(model, 1.0, initial={"j.q_w": 0.9})


def test_the_length_of_a_quaternion_changes_no_physics(rng):
    """Rates of everything but the quaternion are the same at q and at 1.3 q, which is pulled back."""
    model = derive(pendulum("spherical"))
    x = np.array(model.state_vector(start(model, rng)))
    at = [model.states.index(f"j.q_{letter}") for letter in "wxyz"]
    x[at] = rng.normal(size=4)
    x[at] /= np.linalg.norm(x[at])
    p = np.array(list(model.parameters.values()))
    (unit,) = model.dynamics.evaluate(x, np.zeros(0), p)
    longer = x.copy()
    longer[at] *= 1.3
    (rate,) = model.dynamics.evaluate(longer, np.zeros(0), p)
    others = [k for k in range(x.size) if k not in at]
    np.testing.assert_allclose(rate[others], unit[others], rtol=1e-12, atol=1e-12)
    assert x[at] @ rate[at] < -0.5
    np.testing.assert_allclose(rate[at] - (x[at] @ rate[at]) * x[at], 1.3 * unit[at], atol=1e-12)


def test_a_stop_stops_and_lets_go():
    """Dropped on a stop: it never goes far beyond, and without damping it comes back to where it started."""
    drop = {
        "type": "prismatic",
        "axis": [0, 0, 1],
        "body": {"mass": 2.0},
        "lower": -1.0,
        "limit_stiffness": 1e5,
    }
    hard = derive(parse_robot({"joints": {"j": drop}}))
    run = simulate(hard, 1.2, samples=20001)
    position = run["j.position"]
    depth = -1.0 - position.min()
    weight, w, k = 2 * 9.81, 1e-3, 1e5
    # energy at the deepest point: m g (1 + p) = k (w²/6 + (p − w)²/2 + (p − w) w/2)
    beyond = depth - w
    assert np.isclose(weight * (1 + depth), k * (w * w / 6 + beyond * beyond / 2 + beyond * w / 2), rtol=1e-4)
    assert position.max() < 1e-6
    after = position[run.time > 0.7]
    assert after.max() > -1e-3  # back at the top
    soft = derive(parse_robot({"joints": {"j": {**drop, "limit_damping": 2e3}}}))
    run = simulate(soft, 3.0, samples=301)
    assert run.summary["energy_imbalance"] < 1e-7
    assert abs(run["j.position"][-1] + 1.0) < 2e-3
    assert abs(run["j.rate"][-1]) < 1e-3


@pytest.mark.parametrize("target", ["j", "j.turn", "j.slide"])
def test_motors_drive_the_axes_of_a_cylindrical_joint(target):
    joint = {"type": "cylindrical", "body": {"mass": 2.0, "inertia": {"zz": 0.5}}}
    robot = {"gravity": 0, "joints": {"j": joint}, "motors": {"m": {"type": "torque", "drives": target}}}
    if target == "j":
        with pytest.raises(InputError, match="drive j.turn and j.slide"):
            parse_robot(robot)
        return
    run = simulate(derive(parse_robot(robot)), 1.0, {"m.torque": 3.0}, samples=11)
    expected = {"j.turn": ("j.rate", 6.0), "j.slide": ("j.speed", 1.5)}[target]
    assert np.isclose(run.final[expected[0]], expected[1])


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"type": "universal", "axis2": [2, 0, 0]}, "parallel"),
        ({"type": "universal", "axis2": [0, 0, 0]}, "zero vector"),
        ({"type": "pin_slot", "axis2": [0, 0, 2]}, "along its pin"),
        ({"type": "screw"}, "pitch"),
        ({"type": "revolute", "pitch": 1.0}, "screw joints have"),
        ({"type": "revolute", "lower": 1.0, "upper": 0.5}, "not below"),
        ({"type": "spherical", "body": {}}, "nothing behind"),
        ({"type": "cylindrical", "body": {}, "turn": {"armature": 1.0}}, "nothing behind"),
        ({"type": "ball"}, "spherical"),
    ],
)
def test_bad_joints_are_named(joint, message):
    with pytest.raises(InputError, match=message) as caught:
        require_dynamic(parse_robot({"joints": {"j": {"body": BODY, **joint}}}))
    assert "joints.j" in (caught.value.key or "") or "joints.j" in str(caught.value)


HINGE = {"type": "revolute"}
MASSLESS = {
    "a point on the axis": ({"j": {**HINGE, "body": {"mass": 1.0, "center_of_mass": [0, 0, 0.3]}}}, "j.rate"),
    "a point behind an arm": ({"j": HINGE | {"parent": "arm", "body": {"mass": 1.0}}}, "j.rate"),
    "a point on a ball joint": (
        {"j": {"type": "spherical", "body": {"mass": 1.0, "center_of_mass": [0, 0, -1]}}},
        "j.omega_z",
    ),
    "coaxial": ({"j": HINGE, "k": HINGE | {"parent": "j", "body": BODY}}, "j.rate, k.rate"),
    "coaxial askew": (
        {
            "j": {**HINGE, "parent": "arm", "axis": [0.6, 0.1, 0.8]},
            "k": {**HINGE, "axis": [0.6, 0.1, 0.8], "parent": "j", "body": BODY},
        },
        "j.rate, k.rate",
    ),
    "slides": (
        {"j": {"type": "prismatic"}, "k": {"type": "prismatic", "parent": "j", "body": BODY}},
        "j.rate, k.rate",
    ),
    "a hinge on a ball joint": (
        {"j": {"type": "spherical", "parent": "arm"}, "k": HINGE | {"parent": "j", "body": BODY}},
        "j.omega_z, k.rate",
    ),
    "a hinge on a universal joint": (
        {"j": {"type": "universal"}, "k": {**HINGE, "axis": [0, 1, 0], "parent": "j", "body": BODY}},
        "j.rate_2, k.rate",
    ),
    "a hinge on a free body": (
        {"j": {"type": "floating", "parent": "arm"}, "k": HINGE | {"parent": "j", "body": BODY}},
        "j.omega_z, k.rate",
    ),
}


@pytest.mark.parametrize(("joints", "culprits"), MASSLESS.values(), ids=MASSLESS)
def test_motions_that_no_inertia_resists_are_named(joints, culprits):
    """Each has a mass behind it, and still some motion moves none: no equations divide by that zero, or by rounding."""
    arm = {**HINGE, "axis": [0, 1, 0], "body": BODY}
    with pytest.raises(InputError, match=f"no inertia to resist {culprits}:") as caught:
        derive(parse_robot({"joints": {"arm": arm, **joints}}))
    assert caught.value.key == "robot.joints.j"


def test_massless_links_whose_motions_move_what_they_carry_are_fine():
    """Three hinges in one point, two of them without mass, are a ball joint in other coordinates."""
    hinges = {
        "a": {**HINGE, "axis": [1, 0, 0]},
        "b": {**HINGE, "axis": [0, 1, 0], "parent": "a"},
        "c": {**HINGE, "axis": [0, 0, 1], "parent": "b", "body": BODY},
    }
    run = simulate(derive(parse_robot({"joints": hinges})), 0.5, initial={"c.rate": 2.0, "b.angle": 0.3})
    ball = derive(parse_robot({"joints": {"c": {"type": "spherical", "body": BODY}}}))
    start = {"c.q_w": np.cos(0.15), "c.q_y": np.sin(0.15), "c.omega_z": 2.0}
    same = simulate(ball, 0.5, initial=start)
    for axis in "xyz":
        np.testing.assert_allclose(run[f"c.center_{axis}"], same[f"c.center_{axis}"], atol=1e-7)
    parted = derive(parse_robot({"joints": hinges}))
    with pytest.raises(NumericsError, match="two joints about one axis"):
        simulate(parted, 0.5, initial={"b.angle": np.pi / 2})


@pytest.mark.parametrize("joints", [{"j": {"type": "fixed", "body": BODY}}, {"j": {"type": "fixed"}}])
def test_a_robot_without_a_joint_that_moves_is_refused(joints):
    with pytest.raises(InputError, match="nothing that can move"):
        derive(parse_robot({"joints": joints}))

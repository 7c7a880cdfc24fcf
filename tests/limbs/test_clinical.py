"""Anatomical names, signs and net moments: about the joints' own axes, whatever the frame wrenches are told in."""

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.limbs.clinical import sides_of
from trundle.robot.anatomy import MOVEMENTS, movement, usual_movement

T = np.linspace(0.0, 1.0, 41)
# Three hinges in a row, none square to another, and a knee that grows as it extends.
HIP = {"hip_flexion_r": (0, -1, 0), "hip_adduction_r": (1, 0, 0.3), "hip_rotation_r": (0.1, 0.2, 1)}
SHANK = {
    "name": "shank_r",
    "mass": 3.0,
    "center_of_mass": [0.02, 0, -0.2],
    "inertia": {"xx": 0.05, "yy": 0.04, "zz": 0.02},
}
THIGH = {
    "name": "thigh_r",
    "mass": 8.0,
    "center_of_mass": [0, 0.03, -0.2],
    "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.03},
}


def person(**knee):
    joints, parent = {}, "base"
    for name, axis in HIP.items():
        joints[name] = {"axis": list(axis), "parent": parent, "damping": 0.4}
        parent = name
    joints["hip_rotation_r"]["body"] = THIGH
    joints["knee_angle_r"] = {
        "axis": [0, -1, 0],
        "parent": "thigh_r",
        "at": [0, 0, -0.42],
        "body": SHANK,
        **knee,
    }
    return trundle.load({"robot": {"name": "person", "joints": joints}})


def swing(robot):
    waves = enumerate(robot.joints, start=1)
    return {"time": T, **{f"{name}.angle": 0.5 * np.sin(2 * k * T + k) for k, name in waves}}


@pytest.fixture(scope="module")
def loads():
    robot = person(lower="-120 deg", upper="10 deg")
    return trundle.joint_loads(robot, swing(robot))


@pytest.mark.parametrize("frame", ["child", "world", "shank_r"])
def test_a_net_moment_is_about_the_joints_own_axis(loads, frame):
    named = trundle.clinical(loads.to_run(frame))
    # Between the hinges there is no mass: all three take from the thigh's one wrench, along their own axes.
    thigh = loads.wrench("thigh_r", frame="world").moment
    words = ("flexion", "adduction", "internal_rotation")
    for (joint, axis), word in zip(HIP.items(), words, strict=True):
        expected = np.einsum("nk,nk->n", thigh, _in_world(loads, joint, axis))
        assert named[f"right_hip_{word}.moment"] == pytest.approx(expected, abs=1e-12)


def _in_world(loads, joint, axis):
    axes = loads._motion.reshape(len(loads.joints), -1, T.size)[loads.joints.index(joint), :9]
    return np.einsum("ikn,k->ni", axes.reshape(3, 3, -1), np.array(axis) / np.linalg.norm(axis))


def test_powers_are_those_of_the_joints(loads):
    run = loads.to_run()
    named = trundle.clinical(run)
    expected = sum(run[f"{joint}.power"] for joint in HIP)
    assert named["right_hip.power"] == pytest.approx(expected, abs=1e-12)
    planes = ("flexion", "adduction", "internal_rotation")
    assert named["right_hip.power"] == pytest.approx(sum(named[f"right_hip_{word}.power"] for word in planes))
    rate = run["knee_angle_r.rate"]
    assert named["right_knee.power"] == pytest.approx(run["knee_angle_r.net"] * rate)


def test_a_net_moment_is_the_effort_and_what_is_passive(loads):
    run = loads.to_run()
    passive = -0.4 * run["hip_flexion_r.rate"]
    assert run["hip_flexion_r.net"] == pytest.approx(run["hip_flexion_r.effort"] + passive, abs=1e-12)


def test_a_knee_that_grows_as_it_extends_turns_its_sign(loads):
    run = loads.to_run(mass=70)
    named = trundle.clinical(run)
    assert named["right_knee_flexion.angle"] == pytest.approx(-run["knee_angle_r.angle"])
    assert named["right_knee_flexion.moment"] == pytest.approx(-run["knee_angle_r.net"])
    assert named.units["right_knee_flexion.moment"] == "N m/kg"
    assert named.units["right_knee.power"] == "W/kg"
    outside = trundle.clinical(run, external=True, height="1.8 m")
    assert outside["right_knee_flexion.moment"] == pytest.approx(run["knee_angle_r.net"] / 1.8)
    assert outside.units["right_knee_flexion.moment"] == "N m/(kg m)"
    assert outside["right_knee.power"] == pytest.approx(named["right_knee.power"])
    assert outside.summary["moments"] == "external"


def test_the_description_and_the_caller_name_joints(loads):
    robot = person(movement="right knee extension")
    run = trundle.joint_loads(robot, swing(robot)).to_run()
    assert trundle.clinical(run)["right_knee_flexion.angle"] == pytest.approx(-run["knee_angle_r.angle"])
    given = trundle.clinical(run, movements={"knee_angle_r": "left elbow flexion"})
    assert given["left_elbow_flexion.angle"] == pytest.approx(run["knee_angle_r.angle"])
    assert sides_of(robot) == {
        "base": "", "thigh_r": "right", "shank_r": "right", **dict.fromkeys(robot.joints, "right")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("movements", "message"),
    [
        ({"knee": "right knee flexion"}, "there is no joint 'knee' that turns"),
        ({"knee_angle_r": "right knee bend"}, "movements.knee_angle_r: 'right knee bend' names no movement"),
        (
            {"knee_angle_r": "right hip flexion"},
            "right_hip_flexion is what both hip_flexion_r and knee_angle_r",
        ),
    ],
)
def test_names_that_mean_nothing_are_told(loads, movements, message):
    with pytest.raises(InputError, match=message):
        trundle.clinical(loads.to_run(), movements=movements)


def test_a_ball_joint_has_no_angles_of_its_own():
    leg = trundle.catalog.leg(body_mass=70, height=1.75, hip="spherical")
    time = np.linspace(0, 1, 11)
    still = {name: np.full(11, float(name == "hip.q_w")) for name in trundle.derive(leg).coordinates}
    run = trundle.joint_loads(leg, {"time": time, **still}).to_run()
    with pytest.raises(InputError, match="movements.hip: 'hip' turns any way, about no axes of its own"):
        trundle.clinical(run, movements={"hip": "right hip flexion"})


def test_a_run_without_such_names_is_told():
    still = {"time": T, "link_1.angle": T}
    run = trundle.joint_loads(trundle.catalog.pendulum(links=1), still).to_run()
    with pytest.raises(InputError, match="no joint of this run has an anatomical name"):
        trundle.clinical(run)
    with pytest.raises(InputError, match="tells no robot"):
        trundle.clinical(trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]}))
    with pytest.raises(InputError, match="'right knee bend' names no movement"):
        person(movement="right knee bend")


def test_words_lead_to_movements_and_back():
    for name in MOVEMENTS:
        found = movement(f"left some joint {name}")
        assert (found.side, found.joint, found.name) == ("left", "some joint", name)
        assert found.opposed.opposed == found
        assert found.sign == -found.opposed.sign
    assert movement("flexion") is None
    assert movement("right flexion") is None
    assert usual_movement("knee_angle_l", 0.0, 2.0).sign == 1
    assert usual_movement("knee_angle_l", -2.0, 0.2).sign == -1
    assert usual_movement("lumbar_extension").label == "lumbar_flexion"
    assert usual_movement("elbow") is None


@pytest.mark.parametrize(("bend", "sign"), [(0.5, 1), (-0.5, -1)])
def test_a_knee_angle_without_limits_is_told_by_the_way_it_bends(bend, sign):
    robot = person()
    motion = swing(robot) | {"knee_angle_r.angle": bend * (1 + np.sin(6 * T))}
    run = trundle.joint_loads(robot, motion).to_run()
    named = trundle.clinical(run)
    assert named["right_knee_flexion.angle"].max() == pytest.approx(1.0, abs=0.01)
    assert named["right_knee_flexion.moment"] == pytest.approx(sign * run["knee_angle_r.net"])

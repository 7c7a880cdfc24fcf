"""The person of the catalogue: masses, mirrored sides, angles that do what their names say, markers in their places."""

import numpy as np
import pytest

import trundle
from trundle import InputError
from trundle.catalog import person, person_markers

SEXES = ("female", "male")
PERSON = person()
ANGLES = [name for name in PERSON.joints if name != "lumbar"]


def places(*postures):
    """Where the markers of a person are (m), by posture: angles in degrees by name, everything else at zero."""
    count = len(postures) + 6  # derivatives need six
    motion = {name: np.zeros(count) for name in ("x", "y", "z", "q_x", "q_y", "q_z")} | {
        "q_w": np.ones(count)
    }
    for name in ANGLES:
        given = [np.radians(angles.get(name, 0.0)) for angles in postures]
        motion[f"{name}.angle"] = np.array([*given, *[0.0] * 6])
    loads = trundle.joint_loads(PERSON, {"time": np.arange(count * 1.0)} | motion)
    found = {}
    for name, (body, place) in person_markers(PERSON).items():
        point = loads.frames[body].point(name, place)
        found[name] = np.asarray(point.position(relative_to=loads.world.origin, frame=loads.world))
    return [{name: place[k] for name, place in found.items()} for k in range(len(postures))]


@pytest.fixture(scope="module")
def turned():
    """Where the markers go (m) as one joint after another turns by 10 degrees, by the joint's name."""
    zero, *others = places({}, *({name: 10} for name in ANGLES))
    return {
        name: {marker: place - zero[marker] for marker, place in other.items()}
        for name, other in zip(ANGLES, others, strict=True)
    }


@pytest.mark.parametrize("sex", SEXES)
def test_all_bodies_together_are_the_whole_person(sex):
    robot = person(body_mass=62, height=1.68, sex=sex)
    bodies = [robot.body, *(joint.body for joint in robot.joints.values())]
    # the women's column adds up to 99.99 % as it is printed
    assert sum(robot.number(body.mass) for body in bodies) == pytest.approx(62, rel=2e-4)


@pytest.mark.parametrize(
    ("angle", "marker", "axis", "sign"),
    [
        ("hip_flexion", "KNE", 0, 1),  # the knee comes forward
        ("hip_adduction", "KNE", 1, -1),  # inward
        ("hip_rotation", "TOE", 1, -1),  # the toes turn inward
        ("knee_flexion", "HEE", 0, -1),  # the heel goes back
        ("ankle_dorsiflexion", "TOE", 2, 1),  # the toes rise
        ("ankle_inversion", "MT1", 2, 1),  # the sole looks inward: its inner border rises
    ],
)
@pytest.mark.parametrize(("side", "out"), [("r", -1), ("l", 1)])
def test_angles_do_what_their_names_say(turned, angle, marker, axis, sign, side, out):
    """ISB's signs (Wu et al. 2002; Grood & Suntay 1983): flexion, adduction, internal rotation, inversion positive."""
    moved = turned[f"{angle}_{side}"][side.upper() + marker][axis]
    assert moved * (out if axis == 1 else 1) * sign > 0.005


@pytest.mark.parametrize(
    ("angle", "axis", "sign"), [("extension", 0, -1), ("bending", 1, -1), ("rotation", 0, -1)]
)
def test_the_trunk_extends_backward_bends_and_turns(turned, angle, axis, sign):
    """Extended the neck goes back, bent it goes to the right, turned to the left the left shoulder goes back."""
    marker = "LSHO" if angle == "rotation" else "C7"
    assert turned[f"lumbar_{angle}"][marker][axis] * sign > 0.02


def test_both_sides_are_mirrored(rng):
    """Angles changed from side to side, and the trunk's and the place turned over: every marker is at its mirror's."""
    one = {name: rng.uniform(-20, 40) for name in ANGLES if name[-2:] in ("_r", "_l")}
    other = {name[:-1] + {"r": "l", "l": "r"}[name[-1]]: angle for name, angle in one.items()}
    here, there = places(one, other)
    for name, place in here.items():
        twin = {"R": "L", "L": "R"}[name[0]] + name[1:] if name[0] in "RL" else name
        np.testing.assert_allclose(there[twin], place * [1, -1, 1], atol=1e-12)


def test_a_joints_effort_is_the_moment_about_its_own_axis(rng):
    """The net moment of the knee on the shank about the hinge, and of the hip on the thigh about the thigh's length."""
    t = np.linspace(0, 1, 51)
    swing = {f"{name}.angle": rng.uniform(-0.3, 0.3) * np.sin(5 * t) for name in ANGLES}
    free = {"q_w": np.ones(51)} | dict.fromkeys(("x", "y", "z", "q_x", "q_y", "q_z"), np.zeros(51))
    loads = trundle.joint_loads(PERSON, {"time": t, **free, **swing})
    for joint, axis in (
        ("knee_flexion_r", (0, 1, 0)),
        ("knee_flexion_l", (0, 1, 0)),
        ("hip_rotation_r", (0, 0, 1)),
        ("hip_rotation_l", (0, 0, -1)),
    ):
        moment = loads.wrench(joint).moment @ axis
        np.testing.assert_allclose(loads.actuator_torque[f"{joint}.rate"], moment, atol=1e-9)


@pytest.mark.parametrize("sex", SEXES)
@pytest.mark.parametrize("centre", ["harrington", "bell"])
def test_hip_centres_are_the_regressions(sex, centre):
    """Written out in mm, with the leg's length measured between its markers as a laboratory does."""
    robot = person(sex=sex, hip_centre=centre, pelvis_width="238 mm", pelvis_depth="152 mm")
    hip = np.array([robot.number(x) for x in robot.joints["hip_flexion_l"].at])
    markers = {name: np.array(place) for name, (_, place) in person_markers(robot).items()}
    down = [
        0,
        0,
        sum(robot.number(robot.joints[name].at[2]) for name in ("knee_flexion_l", "ankle_dorsiflexion_l")),
    ]
    ankle = hip + down - [0, 0, robot.number(robot.joints["ankle_dorsiflexion_l"].at[2])] + markers["LANM"]
    pw, pd, ll = 238.0, 152.0, 1e3 * np.linalg.norm(markers["LASI"] - ankle)
    expected = {
        "harrington": (-0.24 * pd - 9.9, 0.28 * pd + 0.16 * pw + 7.9, -0.16 * pw - 0.04 * ll - 7.1),
        "bell": (-0.19 * pw, 0.36 * pw, -0.30 * pw),
    }[centre]
    np.testing.assert_allclose(1e3 * hip, expected, atol=0.3)


def test_a_trunk_on_the_pelvis():
    robot = person(lumbar="fixed")
    assert "lumbar_bending" not in robot.joints
    assert robot.number(robot.joints["lumbar"].body.mass) == pytest.approx(
        PERSON.number(PERSON.joints["lumbar_rotation"].body.mass)
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sex": "man"}, "columns by sex"),
        ({"hip_centre": "belle"}, r"no hip centre 'belle'\n.*bell"),
        ({"lumbar": "loose"}, r"can't be 'loose' on the pelvis\n.*free"),
        ({"thigh_length": -0.4}, "greater than zero"),
    ],
)
def test_what_is_no_person(given, message):
    with pytest.raises(InputError, match=message):
        person(**given)

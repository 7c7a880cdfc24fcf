"""Markers on posed trees lead back to the postures; what they leave open, and what is wrong with them, is told."""

from types import SimpleNamespace

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import InputError

T = np.linspace(0.0, 1.0, 21)
BODY = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}
KINDS = ("revolute", "prismatic", "universal", "spherical", "screw", "cylindrical", "planar", "floating")
CORNERS = [(0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1), (-0.1, -0.1, 0.05)]


def random_tree(rng, count, base="floating"):
    """A description of a tree of `count` joints of all kinds."""
    joints = {}
    for k in range(count):
        kind = str(rng.choice(KINDS))
        joint = {"type": kind, "parent": "base" if k == 0 else f"j{rng.integers(k)}", "body": BODY}
        joint |= {"at": rng.uniform(-0.5, 0.5, 3).tolist(), "rpy": rng.uniform(-1, 1, 3).tolist()}
        if kind not in ("spherical", "floating"):
            joint["axis"] = [1.0, 0.0, 0.2] if kind == "universal" else rng.normal(size=3).tolist()
        if kind == "screw":
            joint["pitch"] = 0.05
        joints[f"j{k}"] = joint
    body = {"body": BODY} if base == "floating" else {}
    return trundle.load({"robot": {"name": "tree", "base": base, **body, "joints": joints}})


def clusters(robot, rng):
    """Four markers on each body."""
    links = [*robot.joints, *(["base"] if robot.base == "floating" else [])]
    return {
        f"{link}_{k}": (link, tuple((np.array(corner) + rng.uniform(-0.02, 0.02, 3)).tolist()))
        for link in links
        for k, corner in enumerate(CORNERS)
    }


def smooth_motion(model, rng, time=T):
    """Coordinates (n,) by name that change slowly, quaternions at length 1."""
    waves = {
        name: rng.uniform(-1, 1)
        + rng.uniform(-0.8, 0.8) * np.sin(rng.uniform(1, 3) * time + rng.uniform(0, 6))
        for name in model.coordinates
    }
    table = model.quantities.normalised(model.coordinates, np.array(list(waves.values())))
    return dict(zip(model.coordinates, table, strict=True))


def seen(model, markers, motion):
    """Where the markers are, by the pose of each link."""
    state = np.array([motion[name] for name in model.coordinates])
    still = np.zeros((len(model.speeds), state.shape[1]))
    poses = {link: model.frame(link)(state, still) for link in {link for link, _ in markers.values()}}
    found = {}
    for name, (link, place) in markers.items():
        point = [
            float(str(x).removesuffix(" mm").removesuffix(" cm")) / (100 if "cm" in str(x) else 1)
            for x in place
        ]
        found[name] = (poses[link].position + np.einsum("abn,b->an", poses[link].rotation, point)).T
    return found


def recording(model, markers, motion, time=T):
    return trundle.Recording(time, markers=seen(model, markers, motion))


def round_trip(rng, count, base):
    robot = random_tree(rng, count, base)
    model, markers = trundle.derive(robot), clusters(robot, rng)
    motion = smooth_motion(model, rng)
    found = trundle.joint_motion(recording(model, markers, motion), model, markers=markers)
    assert found.marker_error.max() < 1e-9
    for name in model.coordinates:
        difference = found[name] - motion[name]
        if model.quantities[name].kind == "quaternion":  # of the two of a rotation either
            difference = np.minimum(np.abs(difference), np.abs(found[name] + motion[name]))
        elif model.units[name] == "rad":
            turns = 2 * np.pi * np.round(difference[0] / (2 * np.pi))
            difference = difference - (turns if "screw" not in robot.joints[name.split(".")[0]].type else 0)
        assert np.abs(difference).max() < 1e-9, name


@pytest.mark.parametrize("base", mostly_slow(["fixed", "floating"], ["fixed"]))
def test_markers_on_posed_trees_lead_back_to_the_posture(rng, base):
    round_trip(rng, 3, base)


@pytest.mark.campaign
def test_every_random_tree_is_posed_by_its_markers(campaign):
    for rng in campaign(300):
        round_trip(rng, int(rng.integers(1, 6)), str(rng.choice(["fixed", "floating"])))


LEG = trundle.load({
    "robot": {
        "name": "leg",
        "base": "fixed",
        "joints": {
            "hip": {"type": "spherical", "body": BODY},
            "knee": {"axis": [0, 1, 0], "parent": "hip", "at": [0, 0, -0.4], "lower": 0, "upper": 2.5, "body": BODY},
        },
    }
})  # fmt: skip
MODEL = trundle.derive(LEG)
ON_LEG = {
    "thigh_front": ("hip", (0.1, 0, -0.2)),
    "thigh_side": ("hip", (0, 0.1, -0.1)),
    "thigh_back": ("hip", (-0.1, 0.02, -0.3)),
    "shank": ("knee", (0.05, 0.02, -0.2)),
    "ankle": ("knee", ("0 mm", "0 mm", "-40 cm")),
}
STEP = {
    **dict(zip([f"hip.q_{p}" for p in "wxyz"], np.array([np.cos(T), 0 * T, np.sin(T), 0 * T]), strict=True)),
    "knee.angle": 0.5 + 0.4 * np.sin(5 * T),
}  # fmt: skip


def test_markers_drop_out_while_the_others_suffice():
    found = dict(seen(MODEL, ON_LEG, STEP))
    found["shank"][5:9] = found["thigh_side"][0] = np.nan
    motion = trundle.joint_motion(trundle.Recording(T, markers=found), LEG, markers=ON_LEG)
    np.testing.assert_allclose(motion["knee.angle"], STEP["knee.angle"], atol=1e-9)
    assert np.isnan(motion.marker_errors["shank"][5:9]).all()
    found["ankle"][7] = np.nan
    with pytest.raises(
        InputError, match=r"knee.angle: at t = 0.35 s the markers without shank, ankle leave it open"
    ):
        trundle.joint_motion(trundle.Recording(T, markers=found), LEG, markers=ON_LEG)
    filled = trundle.joint_motion(
        trundle.Recording(T, markers=found), LEG, markers=ON_LEG, gaps={"rule": "spline", "longest": 0.3}
    )
    np.testing.assert_allclose(filled["knee.angle"], STEP["knee.angle"], atol=0.02)
    expected = {"rule": "spline", "longest": 0.3, "filled": {"shank": 4, "ankle": 1}}
    assert filled.smoothing["gaps"] == expected  # at the recording's end nothing is made up


def test_postures_stay_within_the_joints_limits():
    beyond = {**STEP, "knee.angle": 0.2 * np.sin(5 * T)}
    motion = trundle.joint_motion(recording(MODEL, ON_LEG, beyond), LEG, markers=ON_LEG)
    assert motion["knee.angle"].min() == 0
    assert motion.marker_error.max() > 1e-3
    free = trundle.joint_motion(recording(MODEL, ON_LEG, beyond), LEG, markers=ON_LEG, limits=False)
    np.testing.assert_allclose(free["knee.angle"], beyond["knee.angle"], atol=1e-9)


def test_motions_that_turn_far_from_one_sample_to_the_next_are_followed_one_by_one():
    time = np.arange(60) * 0.05
    turn = 0.9 * np.arange(60)
    parts = np.array([np.cos(turn / 2), 0 * turn, np.sin(turn / 2), 0 * turn])
    fast = {**dict(zip([f"hip.q_{p}" for p in "wxyz"], parts, strict=True)), "knee.angle": 1 + np.sin(time)}
    motion = trundle.joint_motion(recording(MODEL, ON_LEG, fast, time), LEG, markers=ON_LEG)
    assert motion.marker_error.max() < 1e-9
    np.testing.assert_allclose(np.abs(motion["hip.omega_y"][5:-5]), 18, atol=1e-3)  # what a quintic leaves


def test_noisy_markers_are_fitted_with_least_squares(rng):
    noisy = {k: v + rng.normal(0, 1e-3, v.shape) for k, v in seen(MODEL, ON_LEG, STEP).items()}
    weights = {"ankle": 10.0}
    motion = trundle.joint_motion(trundle.Recording(T, markers=noisy), LEG, markers=ON_LEG, weights=weights)
    for k in (0, 11):  # no small turn or bend makes the sum of squares smaller
        best = motion.positions[k]

        def cost(q, k=k):
            places = seen(MODEL, ON_LEG, dict(zip(motion.names, q[:, None], strict=True)))
            return sum(
                (weights.get(name, 1.0) ** 2) * np.sum((places[name][0] - noisy[name][k]) ** 2)
                for name in ON_LEG
            )

        for j in range(5):
            for side in (-1e-4, 1e-4):
                other = MODEL.quantities.normalised(MODEL.coordinates, best + side * np.eye(5)[j])
                assert cost(other) >= cost(best)


def test_a_channel_of_a_coordinate_holds_it():
    two = {name: place for name, place in ON_LEG.items() if place[0] == "hip"}
    given = trundle.Recording(T, markers=seen(MODEL, two, STEP), channels={"knee.angle": STEP["knee.angle"]})
    motion = trundle.joint_motion(given, LEG, markers=two)
    np.testing.assert_allclose(motion["hip.q_w"], STEP["hip.q_w"], atol=1e-9)
    with pytest.raises(InputError, match=r"knee\.angle: at t = 0 s the markers leave it open"):
        trundle.joint_motion(trundle.Recording(T, markers=seen(MODEL, two, STEP)), LEG, markers=two)


@pytest.mark.slow
def test_markers_that_do_not_fit_are_told():
    found = seen(MODEL, ON_LEG, STEP)
    wrong = trundle.Recording(T, markers={name: 1e3 * places for name, places in found.items()})
    with pytest.raises(InputError, match=r"the markers don't fit the robot, which is .* m large: '\w+' most"):
        trundle.joint_motion(wrong, LEG, markers=ON_LEG)
    name = next(iter(found))
    moved = trundle.Recording(T, markers=found | {name: found[name] + (0, 0, 0.4)})
    with pytest.warns(UserWarning, match=r"the markers fit poorly on a robot .* m large: '\w+' most"):
        trundle.joint_motion(moved, LEG, markers=ON_LEG)


def test_what_is_wrong_with_markers_is_told():
    places = seen(MODEL, ON_LEG, STEP)
    with pytest.raises(InputError, match="no marker 'shank'"):
        without = {name: place for name, place in places.items() if name != "shank"}
        trundle.joint_motion(trundle.Recording(T, markers=without), LEG, markers=ON_LEG)
    several = {name: place for name, place in places.items() if name not in ("shank", "ankle")} | {
        "wand": places["ankle"]
    }
    with pytest.raises(
        InputError, match=r"markers: the recording has no markers shank, ankle\n  others there: wand"
    ):
        trundle.joint_motion(trundle.Recording(T, markers=several), LEG, markers=ON_LEG)
    with pytest.raises(
        InputError, match=r"markers.\w+: the marker '\w+' is on 'shin', and the robot has no such"
    ):
        trundle.joint_motion(
            recording(MODEL, ON_LEG, STEP), LEG, markers=ON_LEG | {"shank": ("shin", (0, 0, 0))}
        )
    with pytest.raises(InputError, match="a link and a place"):
        trundle.joint_motion(recording(MODEL, ON_LEG, STEP), LEG, markers=ON_LEG | {"shank": (0, 0, 0)})
    swapped = {name: place.copy() for name, place in places.items()}
    swapped["shank"][9:], swapped["ankle"][9:] = places["ankle"][9:], places["shank"][9:]
    with pytest.raises(InputError, match=r"leg.c3d: shank: 'shank' and 'ankle' change places at t = 0.45 s"):
        trundle.joint_motion(trundle.Recording(T, markers=swapped, source="leg.c3d"), LEG, markers=ON_LEG)
    with pytest.raises(InputError, match="weight is a positive number"):
        trundle.joint_motion(recording(MODEL, ON_LEG, STEP), LEG, markers=ON_LEG, weights={"shank": 0})


def test_progress_counts_what_takes_long():
    """Samples that are followed alone take most of the time, and of what is shown; the end is the whole."""
    from trundle.limbs.capture.inverse_kinematics import _followed, _sight
    from trundle.limbs.capture.joint_motion import moving_of
    from trundle.limbs.capture.marker_model import marker_model

    markers = {"tip": ("link_1", (0, 0, -0.5)), "side": ("link_1", (0.1, 0, -0.2))}
    model = marker_model(moving_of(trundle.catalog.pendulum(links=1)), markers)
    time = np.linspace(0, 2, 161)
    places, _ = model.evaluate(np.sin(time)[:, None])
    sight = _sight(model, {"tip": places[:, :3], "side": places[:, 3:]}, {}, [1.0, 1.0])

    shares = []
    bar = SimpleNamespace(fraction=shares.append)
    postures, _ = _followed(sight, time, 16, bar)  # type: ignore[arg-type]
    np.testing.assert_allclose(postures[:, 0], np.sin(time), atol=1e-9)
    assert np.all(np.diff(shares) > 0)
    # 11 of 161 samples alone count for 5 each
    assert shares[10] == pytest.approx(55 / 216)
    assert shares[-1] == pytest.approx(1.0)

"""Segments posed by their own markers, and motions cut into cycles."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import trundle
from trundle import InputError

PLACES = {"a": (0.1, 0.0, 0.0), "b": (0.0, 0.12, 0.0), "c": (-0.1, 0.02, 0.05), "d": (0.0, -0.1, 0.1)}


def posed(rng, count=20):
    """Markers of a segment at random poses, with these."""
    rotations, places = Rotation.random(count, rng=rng), rng.normal(size=(count, 3))
    seen = {name: rotations.apply(place) + places for name, place in PLACES.items()}
    return rotations, places, seen


def test_a_segments_pose_comes_back_from_its_markers_with_some_missing(rng):
    rotations, places, seen = posed(rng)
    seen["b"][3] = np.nan
    found = trundle.segment_poses(trundle.Recording(np.arange(20.0), markers=seen), PLACES)
    np.testing.assert_allclose(found.rotation, rotations.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(found.position, places, atol=1e-12)
    assert found.error.max() < 1e-14


def test_a_segments_pose_is_the_one_of_a_free_body_by_inverse_kinematics(rng):
    time = np.linspace(0, 1, 11)
    turn = Rotation.from_rotvec(np.outer(time, [0.4, -0.9, 0.3]))
    seen = {
        k: turn.apply(v) + np.outer(time, [1, 2, 3]) + rng.normal(0, 1e-3, (11, 3)) for k, v in PLACES.items()
    }
    recording, weights = trundle.Recording(time, markers=seen), {"a": 3.0}
    inertia = {"xx": 1, "yy": 1, "zz": 1}
    free = trundle.load(
        {"robot": {"name": "body", "base": "floating", "body": {"mass": 1, "inertia": inertia}}}
    )
    motion = trundle.joint_motion(
        recording, free, markers={k: ("base", v) for k, v in PLACES.items()}, weights=weights
    )
    found = trundle.segment_poses(recording, PLACES, weights)
    np.testing.assert_allclose(found.position, motion.positions[:, :3], atol=1e-9)
    w, x, y, z = motion.positions[:, 3:].T
    np.testing.assert_allclose(
        found.rotation, Rotation.from_quat(np.array([x, y, z, w]).T).as_matrix(), atol=1e-8
    )
    np.testing.assert_allclose(found.error, motion.marker_error, atol=1e-9)


def test_markers_that_leave_a_turn_open_are_told(rng):
    _, _, seen = posed(rng)
    line = {name: (0.1 * k, 0.0, 0.0) for k, name in enumerate(PLACES)}
    recording = trundle.Recording(np.arange(20.0), markers=seen)
    with pytest.raises(InputError, match="a, b, c, d are on one line"):
        trundle.segment_poses(recording, line)
    with pytest.raises(InputError, match="three markers at least, and there are a, b"):
        trundle.segment_poses(recording, {name: PLACES[name] for name in "ab"})
    with pytest.raises(InputError, match="no marker 'e'"):
        trundle.segment_poses(recording, PLACES | {"e": (0, 0, 0)})
    seen["a"][4] = seen["d"][4] = np.nan
    with pytest.raises(InputError, match=r"there are b, c at t = 4 s"):
        trundle.segment_poses(trundle.Recording(np.arange(20.0), markers=seen), PLACES)


def test_cycles_are_cut_at_events_and_averaged():
    time = np.linspace(0, 6, 601)
    curve = np.polynomial.Polynomial([1, -2, 0.5, 0.1])
    run = trundle.Run("walk", time, {"lift": curve(time), "lost": np.full(601, np.nan)}, units={"lift": "m"})
    cut = trundle.time_normalize(run, [0.5, 1.75, 4.0])
    expected = [curve(0.5 + 1.25 * cut.percent / 100), curve(1.75 + 2.25 * cut.percent / 100)]
    np.testing.assert_allclose(cut["lift"], expected, atol=1e-12)
    np.testing.assert_allclose(cut.mean("lift"), np.mean(expected, axis=0), atol=1e-12)
    low, high = cut.band("lift", width=2.0)
    np.testing.assert_allclose((high - low) / 4, np.std(expected, axis=0, ddof=1), atol=1e-12)
    assert cut.units == {"lift": "m"}
    assert "lost" not in cut.curves
    apart = trundle.time_normalize(run, [[0.5, 1.0], [3.0, 4.0]])
    np.testing.assert_allclose(apart.ends, [1.0, 4.0])


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([1.0], "two events"),
        ([2.0, 1.0], "1 s comes after 2 s"),
        ([1.0, 9.0], "9 s is outside of the run, 0 to 6 s"),
    ],
)
def test_events_that_cannot_be_are_refused(events, told):
    with pytest.raises(InputError, match=told):
        trundle.time_normalize(trundle.Run("walk", np.linspace(0, 6, 61), {"x": np.zeros(61)}), events)


def test_contacts_are_found_where_the_force_crosses_the_threshold(rng):
    time = np.linspace(0, 4, 4001)
    force = np.maximum(800 * np.sin(np.pi * time), 0) + rng.uniform(-5, 5, 4001)
    force[300:310] = 0.0  # the plate rings
    force[1500:1510] = 100.0
    start = np.arcsin(20 / 800) / np.pi
    np.testing.assert_allclose(
        trundle.contacts(time, force), [[start, 1 - start], [2 + start, 3 - start]], atol=0.005
    )
    assert trundle.contacts(time[300:900], 800 - 0 * force[300:900]).shape == (0, 2)


def test_gaps_are_filled_by_their_rule_and_no_longer_ones():
    time = np.linspace(0, 1, 101)
    whole = time**3 - time
    column = np.where((time > 0.3) & (time < 0.345), np.nan, whole)
    given = {"time": time, "link_1.angle": column}
    pendulum = trundle.catalog.pendulum(links=1)
    filled = trundle.joint_motion(given, pendulum, gaps={"rule": "spline", "longest": 0.05})
    np.testing.assert_allclose(filled["link_1.angle"], whole, atol=1e-12)
    assert filled.smoothing["gaps"] == {"rule": "spline", "longest": 0.05, "filled": {"link_1.angle": 4}}
    by_name = trundle.joint_motion(given, pendulum, gaps="spline").smoothing["gaps"]
    assert by_name == {"rule": "spline", "longest": 0.2, "filled": {"link_1.angle": 4}}
    straight = trundle.joint_motion(given, pendulum, gaps={"rule": "linear", "longest": 0.05})
    assert straight["link_1.angle"][32] == pytest.approx(whole[30] + 0.4 * (whole[35] - whole[30]))
    for gaps, told in (
        (
            {"rule": "spline", "longest": 0.04},
            r"link_1.angle: a gap of 0.05 s after t = 0.3 s, longer than 0.04 s",
        ),
        ({"rule": "cubic", "longest": 0.04}, "choose one of spline, linear"),
        ({"longest": 0.04}, "gaps need a rule"),
        ("cubic", "choose one of spline, linear"),
        ({"rule": "spline", "longst": 1}, "did you mean 'longest'"),
    ):
        with pytest.raises(InputError, match=told):
            trundle.joint_motion(given, pendulum, gaps=gaps)
    with pytest.raises(InputError, match="at the recording's end"):
        trundle.joint_motion(
            {"time": time, "link_1.angle": np.where(time > 0.9, np.nan, whole)},
            pendulum,
            gaps={"rule": "spline", "longest": 1},
        )

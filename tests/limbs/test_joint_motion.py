"""Measured coordinates become motions: derivatives against closed forms, rotations against runs of the same robot."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import trundle
from trundle import InputError

T = np.linspace(0.0, 2.0, 201)
BODY = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}, "center_of_mass": [0, 0.05, -0.2]}
LIMB = trundle.load({
    "robot": {
        "name": "limb",
        "base": "floating",
        "body": BODY,
        "joints": {
            "hip": {"type": "spherical", "at": [0.1, 0, 0], "body": BODY},
            "knee": {"axis": [0, 1, 0], "parent": "hip", "at": [0, 0, -0.4], "body": BODY},
            "slide": {"type": "prismatic", "axis": [1, 0, 0.2], "parent": "knee", "body": BODY},
            "ankle": {"type": "universal", "axis2": [1, 0.3, 0], "parent": "knee", "body": BODY},
        },
    }
})  # fmt: skip
PENDULUM = trundle.catalog.pendulum(links=1)


def test_derivatives_of_a_quintic_are_exact_at_any_times(rng):
    quintic = np.polynomial.Polynomial([0.3, -1.0, 0.5, 2.0, -0.7, 0.2])
    time = np.linspace(0, 2, 60) + rng.uniform(-0.01, 0.01, 60)
    found = trundle.smooth(time, quintic(time))
    for order, values in enumerate(found):
        np.testing.assert_allclose(values, (quintic if not order else quintic.deriv(order))(time), atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_butterworth_filter_halves_the_power_at_its_cutoff_without_lag(order):
    time = np.linspace(0, 20, 4001)
    wave = np.sin(2 * np.pi * 6 * time)
    found = trundle.smooth(time, wave, "butterworth", cutoff=6.0, order=order)
    inside = slice(1000, 3000)
    np.testing.assert_allclose(found.values[inside], wave[inside] / np.sqrt(2), atol=2e-6)


def test_a_butterworth_filter_leaves_straight_lines_as_they_are_to_their_ends():
    found = trundle.smooth(T, np.array([3 - 2 * T, 1 + 5 * T]).T, "butterworth", cutoff=6.0)
    np.testing.assert_allclose(found.values, np.array([3 - 2 * T, 1 + 5 * T]).T, atol=1e-6)
    np.testing.assert_allclose(found.rates, np.broadcast_to([-2, 5], (201, 2)), atol=1e-4)


@pytest.mark.slow
def test_speeds_and_accelerations_are_those_of_a_run(rng):
    model = trundle.derive(LIMB)
    start = {name: rng.uniform(-1, 1) for name in (*model.speeds, "knee.angle", "ankle.angle_1")}
    run = trundle.simulate(model, 1.0, initial=start, rtol=1e-12, samples=1001)
    columns = {"time": run.time, **{name: run[name] for name in model.coordinates}}
    columns["knee.angle"] = np.remainder(columns["knee.angle"], 2 * np.pi)
    flips = np.where(np.arange(1001) % 7 == 3, -1, 1)
    columns |= {f"hip.q_{part}": flips * run[f"hip.q_{part}"] for part in "wxyz"}
    motion = trundle.joint_motion(columns, LIMB)
    assert motion.names == model.coordinates
    assert motion.speeds == model.speeds
    speeds = np.array([run[name] for name in model.speeds])
    np.testing.assert_allclose(motion.velocities.T, speeds, atol=1e-7)
    rates = model.rhs(np.concatenate([motion.positions.T, speeds]), np.zeros((0, 1001)))
    np.testing.assert_allclose(motion.accelerations.T, rates[len(model.coordinates) :], atol=1e-4)


def test_smoothed_rotations_turn_with_the_axes_of_either_side(rng):
    ball = trundle.load(
        {"robot": {"name": "b", "base": "fixed", "joints": {"j": {"type": "spherical", "body": BODY}}}}
    )
    vectors = np.array([np.sin(2 * T), 0.8 * np.cos(3 * T), T]).T + rng.normal(0, 0.02, (201, 3))
    left, right = Rotation.random(2, rng=rng)

    def motion(rotations):
        parts = dict(zip("xyzw", rotations.as_quat().T, strict=True))
        return trundle.joint_motion(
            {"time": T, **{f"j.q_{k}": v for k, v in parts.items()}}, ball,
            smoothing={"method": "butterworth", "cutoff": 5.0},
        )  # fmt: skip

    plain, turned = (
        motion(Rotation.from_rotvec(vectors)),
        motion(left * Rotation.from_rotvec(vectors) * right),
    )
    for name in ("velocities", "accelerations"):
        expected = getattr(plain, name) @ right.as_matrix()
        np.testing.assert_allclose(getattr(turned, name), expected, atol=1e-9 * np.abs(expected).max())
    assert plain.smoothing == {"method": "butterworth", "cutoff": 5.0, "order": 2}


def test_records_of_smoothing_lead_back_to_the_method():
    for made in (trundle.smoothing("none"), trundle.smoothing("butterworth", cutoff=6)):
        assert trundle.smoothing(made.record) == made


def test_gaps_are_filled_in_what_is_continuous_and_turns_are_recorded():
    angle = np.remainder(6 * T, 2 * np.pi) - np.pi
    gappy = np.where((T > 1.0) & (T < 1.08), np.nan, angle)  # the angle jumps at 1.047 s, while nobody looks
    motion = trundle.joint_motion(
        {"time": T, "link_1.angle": gappy}, PENDULUM, gaps={"rule": "linear", "longest": 0.1}
    )
    np.testing.assert_allclose(motion["link_1.angle"], 6 * T - np.pi, atol=1e-12)
    np.testing.assert_allclose(motion["link_1.rate"], 6, atol=1e-9)
    assert motion.smoothing["unwrapped"] == ["link_1.angle"]
    ball = trundle.load(
        {"robot": {"name": "b", "base": "fixed", "joints": {"j": {"type": "spherical", "body": BODY}}}}
    )
    turn = {"j.q_w": np.cos(T), "j.q_x": np.sin(T), "j.q_y": 0 * T, "j.q_z": 0 * T}
    turn = {name: np.where(T[50] == T, np.nan, np.where(T > 1, -1, 1) * part) for name, part in turn.items()}
    found = trundle.joint_motion({"time": T, **turn}, ball, gaps={"rule": "spline", "longest": 0.1})
    np.testing.assert_allclose(found["j.omega_x"][40:60], 2, atol=1e-4)


def test_wheels_that_slip_where_they_cannot_are_told():
    cart = trundle.catalog.differential_drive()
    run = trundle.simulate(cart, 2.0, {"left_motor.voltage": 6.0, "right_motor.voltage": 9.0}, samples=201)
    model = trundle.derive(cart)
    columns = {"time": run.time, **{name: run[name] for name in model.coordinates}}
    motion = trundle.joint_motion(columns, cart)
    np.testing.assert_allclose(motion["v_x"][20:-20], run["v_x"][20:-20], atol=1e-3)
    with pytest.raises(InputError, match="break the robot's constraints"):
        trundle.joint_motion({**columns, "x": run["x"] * 2}, cart)


@pytest.mark.parametrize(
    ("columns", "smoothing", "told"),
    [
        ({"link_1.angle": T}, "none", "time"),
        ({"time": T, "link_1.angel": T}, "none", "link_1.angle"),
        ({"time": T, "link_1.angle": np.where(T[7] == T, np.nan, T)}, "none", "0.07 s"),
        ({"time": T[:4], "link_1.angle": T[:4]}, "none", "six samples"),
        ({"time": T**2, "link_1.angle": T}, {"method": "butterworth", "cutoff": 6}, "even steps"),
        ({"time": T, "link_1.angle": T}, {"method": "butterworth", "cutoff": 60}, "50 Hz|100 Hz"),
        ({"time": T, "link_1.angle": T}, "butterworth", "cutoff"),
        ({"time": T, "link_1.angle": T}, "butterwort", "did you mean 'butterworth'"),
        ({"time": T, "link_1.angle": T}, {"method": "butterworth", "cutof": 6}, "did you mean 'cutoff'"),
        ({"time": T, "link_1.angle": T}, {"method": "butterworth", "cutoff": -1}, "positive"),
    ],
)
def test_what_is_wrong_is_told(columns, smoothing, told):
    with pytest.raises(InputError, match=told):
        trundle.joint_motion(columns, PENDULUM, smoothing=smoothing)


def test_markers_without_their_places_and_short_files_say_so(tmp_path):
    (tmp_path / "short.csv").write_text("time,link_1.angle\n0,1\n1,2\n")
    (tmp_path / "seen.csv").write_text("time,a.x,a.y,a.z\n" + "".join(f"{k},1,2,3\n" for k in range(9)))
    for name, message in (
        ("short.csv", r"short.csv: time: .* six samples at least, got 2"),
        ("seen.csv", r"seen.csv: has no column 'link_1.angle'[\s\S]*--markers FILE"),
    ):
        with pytest.raises(InputError, match=message):
            trundle.joint_motion(trundle.read_recording(tmp_path / name), trundle.catalog.pendulum(links=1))

"""Choreo's trajectories with dwells, with places a hair apart, and as its rounding leaves them."""

import json
import math

import numpy as np
import pytest

import trundle


def turned(angles):
    """Angles less whole turns, as sizes."""
    return np.abs(np.angle(np.exp(1j * np.asarray(angles))))


def trajectory(folder, samples, digits=17):
    """A file of Choreo's with samples (t, x, y, θ, v_x, v_y, ω)."""
    names = ("t", "x", "y", "heading", "vx", "vy", "omega")
    rows = [dict(zip(names, (round(float(v), digits) for v in row), strict=True)) for row in samples]
    ends = [rows[0]["t"], rows[-1]["t"]]
    data = {"name": "dwells", "version": 3, "events": []}
    data |= {"trajectory": {"samples": rows, "waypoints": ends}}
    file = folder / "dwells.traj"
    file.write_text(json.dumps(data))
    return file


def dwelling(rng, neighbours):
    """Samples of one to four arcs, paced by 3u² − 2u³, with dwells before, between and behind them, whose headings
    drift; behind some samples neighbours 1e-8 m away. How many arcs and dwells there are.
    """
    pose, rows, dwells = np.array([*rng.uniform(0, 5, 2), rng.uniform(-3, 3)]), [], 0
    time = 0.0
    legs = int(rng.integers(1, 5))

    def put(after, at, velocity=0j, omega=0.0):
        nonlocal time
        time += after
        heading = math.remainder(at[2], 2 * math.pi)
        rows.append((time, at[0], at[1], heading, velocity.real, velocity.imag, omega))

    def dwell(at):
        drift, apart = rng.choice([0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3]), rng.choice([2e-11, 1e-9, 1e-7])
        for k in range(5):
            noise = apart * np.exp(1j * rng.uniform(-3, 3))
            put(0.05, at + (noise.real, noise.imag, drift * k))
        return at + (0, 0, 4 * drift)

    put(0.0, pose)
    for leg in range(legs + 1):
        if rng.random() < 0.6:
            pose, dwells = dwell(pose), dwells + 1
        if leg == legs:
            return rows, legs, dwells
        way, bend, turn = np.exp(1j * rng.uniform(-3, 3)), rng.uniform(0.1, 0.8), rng.uniform(-2, 2)
        length, lasts, start = rng.uniform(0.3, 3), rng.uniform(0.5, 2), pose
        for u in np.arange(1, 13) / 12:
            share, pace = 3 * u**2 - 2 * u**3, 6 * (u - u**2) / lasts
            moved = way * (np.exp(1j * bend * share * length) - 1) / (1j * bend)
            pose = start + (moved.real, moved.imag, turn * share)
            velocity = pace * length * way * np.exp(1j * bend * share * length)
            put(lasts / 12, pose, velocity, pace * turn)
            if neighbours and rng.random() < 0.2:
                beside = 1e-8 * np.exp(1j * rng.uniform(-3, 3))
                put(1e-9, pose + (beside.real, beside.imag, 0), velocity, pace * turn)
    raise AssertionError


def farthest(path, rows):
    """How far the path passes a sample at most (m and rad), looked for beside the sample's own length."""
    poses = np.array(rows)[:, 1:4]
    poses[:, 2] = np.unwrap(poses[:, 2])
    steps = np.diff(poses, axis=0)
    lengths = np.append(0, np.cumsum(np.sqrt((steps**2) @ (1, 1, 0.25))))
    beside = np.linspace(-2e-6, 2e-6, 401)
    off = path.poses(np.clip(lengths[:, None] + beside, 0, path.length).ravel()).reshape(
        *poses.shape[:1], -1, 3
    )
    off -= poses[:, None]
    return np.maximum(np.hypot(off[..., 0], off[..., 1]), turned(off[..., 2])).min(axis=1).max()


def require_kept(rng, folder):
    """What is read goes through every sample, and has a section an arc and at most one a dwell."""
    rows, legs, dwells = dwelling(rng, neighbours=True)
    file = trajectory(folder, rows)
    assert legs <= len(trundle.read_path(file).sections) <= legs + dwells
    path = trundle.read_path(file, tolerance=4e-7)
    assert legs <= len(path.sections) <= legs + dwells
    assert farthest(path, rows) <= 1e-6


def test_dwells_are_read_and_samples_kept(rng, tmp_path):
    for _ in range(10):
        require_kept(rng, tmp_path)


@pytest.mark.campaign
def test_dwells_of_many_trajectories(campaign, tmp_path):
    for rng in campaign(200):
        require_kept(rng, tmp_path)


def test_a_dwell_is_followed(rng, tmp_path):
    rows, *_ = dwelling(rng, neighbours=False)
    path = trundle.read_path(trajectory(tmp_path, rows))
    limits = trundle.Limits(steering_rate=12, drive_speed=4, drive_acceleration=6)
    motion = trundle.follow(path, trundle.catalog.swerve(), limits=limits, grip=None).motion
    end = motion.poses([motion.duration])[0]
    assert end[:2] == pytest.approx(rows[-1][1:3], abs=1e-6)
    assert turned(end[2] - rows[-1][3]) < 1e-6


@pytest.mark.parametrize("digits", [17, 5])
def test_waypoints_in_one_place_are_passed_at_speed(rng, tmp_path, digits):
    """Choreo puts as many samples between them as elsewhere, and rounds: some have one time, and steps no direction."""
    radius, middle, spread = rng.uniform(0.7, 3), rng.uniform(0.8, 1.2), 10 ** rng.uniform(-7, -5)
    times = np.concatenate(
        [
            np.linspace(0, middle, 15)[:-1],
            middle + np.linspace(0, spread, 14),
            np.linspace(middle + spread, 2, 15),
        ]
    )
    times = np.unique(times)
    angle = (3 * (times / 2) ** 2 - 2 * (times / 2) ** 3) * 2 / radius
    rate = 6 * (times / 2 - (times / 2) ** 2) / radius
    velocity = radius * rate * np.exp(1j * angle)
    place = radius * np.exp(1j * (angle - math.pi / 2))
    rows = zip(times, place.real, place.imag, angle / 2, velocity.real, velocity.imag, rate / 2, strict=True)
    path = trundle.read_path(trajectory(tmp_path, rows, digits), tolerance=1e-3)
    assert len(path.sections) == 1
    poses = path.poses(np.linspace(0, path.length, 20_001))
    assert np.abs(np.hypot(poses[:, 0], poses[:, 1]) - radius).max() < 2e-3


def test_samples_of_one_time_are_one_place_or_refused(tmp_path):
    rows = [
        (0.0, 0, 0, 0, 0, 0, 0),
        (1.0, 1, 0, 0, 1, 0, 0),
        (1.0, 1.5, 0, 0, 1, 0, 0),
        (2.0, 2, 0, 0, 0, 0, 0),
    ]
    with pytest.raises(trundle.InputError, match="time 1 s is not after 1 s") as error:
        trundle.read_path(trajectory(tmp_path, rows))
    assert error.value.key == "trajectory.samples.2.t"
    rows[2:3] = [(1.0, 1.00001, 0, 0, 1, 0, 0), (1.5, 1.7, 0, 0, 1, 0, 0)]
    assert trundle.read_path(trajectory(tmp_path, rows)).length == pytest.approx(2)
    times, *_ = trundle.reference(tmp_path / "dwells.traj")["track.x"]
    assert times == [0.0, 1.0, 1.5, 2.0]

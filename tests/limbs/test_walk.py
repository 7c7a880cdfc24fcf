"""The synthetic walk of examples/gait: it is a motion, the ground carries it, and a laboratory's noise leaves it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trundle
from examples.gait import walk
from trundle.robot.values import read_value

T = np.linspace(0.0, 2.2, 221)


@pytest.fixture(scope="module")
def true():
    return walk.loads(T)


def test_speeds_are_the_coordinates_rates():
    """Against splines through samples a millisecond apart, solved for speeds as measured motions are."""
    time = np.arange(0.0, 1.3, 1e-3)
    exact = walk.motion(time)
    columns = {name: exact[name] for name in exact.names}
    splined = trundle.joint_motion({"time": time, **columns}, walk.PERSON)
    inside = slice(100, -100)
    np.testing.assert_allclose(splined.velocities[inside], exact.velocities[inside], atol=1e-9)
    np.testing.assert_allclose(splined.accelerations[inside], exact.accelerations[inside], atol=1e-5)


def test_the_ground_gives_all_that_the_motion_needs(true):
    base = true.wrench("base")
    assert np.abs(base.force).max() < 1e-9
    assert np.abs(base.moment).max() < 1e-9


def test_feet_push_down_where_they_are(true):
    """The pressure is under the sole, and only while the foot is on the ground."""
    heel, toes = -0.065, 0.19  # from the ankle on (m), with the borders of the forefoot 45 mm to both sides
    for foot, (force, place, _) in walk.pushes(T).items():
        part = np.mod((T - walk.START) / walk.PERIOD + walk.FEET[foot], 1)
        assert force[:, 2].min() > -1e-9
        assert np.abs(force[part > walk.OFF]).max() < 1e-9
        ankle = true.frames[foot].origin.position(relative_to=true.world.origin, frame=true.world)
        off = (place - np.asarray(ankle))[force[:, 2] > 20]
        assert heel < off[:, 0].min() < off[:, 0].max() < toes
        assert np.abs(off[:, 1]).max() < 0.045


def test_flat_feet_stand_on_the_belt(true):
    places = walk.markers(true)
    for foot, side in (("foot_r", "R"), ("foot_l", "L")):
        part = np.mod((T - walk.START) / walk.PERIOD + walk.FEET[foot], 1)
        for marker in ("HEE", "TOE"):
            velocity = np.gradient(places[side + marker], T, axis=0) + [walk.SPEED, 0, 0]
            assert np.abs(velocity[(part > 0.15) & (part < 0.3)]).max() < 0.1


def test_plates_measure_what_feet_are_given():
    for plate, (foot, (force, place, free)) in zip(walk.plates(T), walk.pushes(T).items(), strict=True):
        wrench = plate.wrench(foot, threshold=1.0)
        stands = force[:, 2] > 1
        np.testing.assert_allclose(wrench.force[stands], force[stands], atol=1e-9)
        at = wrench.point.position(relative_to=wrench.frame.origin, frame=wrench.frame)
        np.testing.assert_allclose(np.asarray(at)[stands], place[stands], atol=1e-9)
        np.testing.assert_allclose(wrench.moment[stands], free[stands], atol=1e-9)


@pytest.mark.slow
def test_a_laboratorys_noise_leaves_angles_and_moments(tmp_path):
    """From a static trial and ten strides with 0.5 mm of noise on every marker, scaled, feet found on plates: every
    angle of the legs to 0.2 degrees (root of the mean square), and every moment to 3 % of its peak.
    """
    pytest.importorskip("ezc3d", reason="ezc3d (the extra 'peers') is not installed")
    folder = walk.write(tmp_path)
    person = trundle.scale_person(folder / "static.c3d", body_mass=70, sex="male", height=1.75)
    found = trundle.inverse(
        person.robot,
        folder / "walk.c3d",
        markers=person.markers,
        smoothing={"method": "butterworth", "cutoff": 8.0, "order": 4},
        threshold=5.0,
    )
    time = found.motion.time
    assert {"Right Foot Strike", "Left Foot Off"} <= set(found.recording.events)
    assert len(found.recording.events["Right Foot Strike"]) == 11
    true, inside = walk.loads(time), (time > 0.5) & (time < time[-1] - 0.5)
    motion = walk.motion(time)
    for name in walk.LEGS:
        for side in "rl":
            angle = np.degrees(found.motion[f"{name}_{side}.angle"] - motion[f"{name}_{side}.angle"])[inside]
            moment = true.actuator_torque[f"{name}_{side}.rate"]
            off = (found.loads.actuator_torque[f"{name}_{side}.rate"] - moment)[inside]
            error, worst = np.sqrt(np.mean(angle**2)), np.abs(off).max() / np.abs(moment).max()
            print(f"{name}_{side}: {error:.3f} degrees; {worst:.2%} of the peak at most")
            assert error < 0.2
            assert worst < 0.03


@pytest.mark.slow
def test_the_tutorial_runs_from_files_to_figures(tmp_path):
    pytest.importorskip("ezc3d", reason="ezc3d (the extra 'peers') is not installed")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-W", "error::UserWarning", str(root / "examples" / "gait" / "gait.py")]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(root / "src")}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    length = float(ran.stdout.split("thigh_length_r: ")[1].split(" ")[0])
    assert length == pytest.approx(1e3 * walk.PERSON.number(read_value("thigh_length_r")), abs=2)
    written = {each.name for each in (tmp_path / "runs" / "gait").iterdir()}
    assert {
        "static.c3d",
        "walk.c3d",
        "person.yaml",
        "markers.yaml",
        "gait_sagittal.png",
        "gait_moments.png",
    } <= written

"""`trundle.inverse`: the same numbers as the steps that it takes, and what it refuses."""

import warnings

import numpy as np
import pytest

import trundle
from limbs.limb import limb_motion, limb_robot
from trundle import InputError


@pytest.fixture
def walk(tmp_path):
    """A file of the limb's coordinates over two seconds."""
    motion = limb_motion(np.linspace(0.0, 2.0, 41))
    channels = dict(zip(motion.names, motion.positions.T, strict=True))
    trundle.write_recording(trundle.Recording(motion.time, channels=channels), tmp_path / "walk.csv")
    return tmp_path / "walk.csv"


def test_it_is_its_steps(walk):
    robot = limb_robot()
    found = trundle.inverse(robot, walk, smoothing={"method": "butterworth", "cutoff": 6.0})
    motion = trundle.joint_motion(
        trundle.read_recording(walk), robot, smoothing={"method": "butterworth", "cutoff": 6.0}
    )
    loads = trundle.joint_loads(robot, motion)
    np.testing.assert_array_equal(found.motion.accelerations, motion.accelerations)
    np.testing.assert_array_equal(found.loads.wrenches, loads.wrenches)
    assert found.fit is None
    run = found.to_run("world")
    np.testing.assert_array_equal(run["P_1.moment_z"], loads.to_run("world")["P_1.moment_z"])
    assert run.summary["motion"] == str(walk)


def test_a_breakdown_is_that_of_the_loads(walk):
    found = trundle.inverse(limb_robot(), walk)
    frame = found.loads.frames["P_1"]
    origin = frame.point(
        "P_2", found.loads.frames["P_2"].origin.position(relative_to=frame.origin, frame=frame)[0]
    )
    expected = found.loads.breakdown("P_2", observer=frame, origin=origin).at(
        found.loads.frames["P_2"].origin
    )
    for name, column in expected.table().items():
        np.testing.assert_array_equal(found.breakdown("P_2", "P_1", "P_2").table()[name], column)


def test_cycles_that_lie_in_the_motion(walk):
    found = trundle.inverse(limb_robot(), walk)
    assert len(found.time_normalize([-1.0, 0.0, 0.5, 1.0, 1.5, 9.0])) == 3
    with pytest.raises(InputError, match=r"cycles: an average takes two whole cycles[\s\S]*0.2, 1.4, 2.6"):
        found.time_normalize([0.0, 1.0])
    with pytest.raises(InputError, match="cycles: the recording has no event 'step'"):
        found.time_normalize("step")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"external": {"P_2": "plate1"}}, "external: there is no force plate or ground reaction 'plate1'"),
        ({"external": [("P_2", "plate1")]}, r"`plates` \(--plates\) names a recording"),
        ({"up": "z"}, "up: the robot's gravity is along neither -y nor -z"),
    ],
)
def test_what_is_refused_names_the_argument(walk, how, message):
    with pytest.raises(InputError, match=message):
        trundle.inverse(limb_robot(), walk, **how)


def test_who_is_observed_and_from_where(walk):
    found = trundle.inverse(limb_robot(), walk)
    with pytest.raises(InputError, match="joint: there is no body or joint 'P_9'"):
        found.breakdown("P_2", "P_1", "P_9")
    with pytest.raises(InputError, match="observer: 'P_2' moves about on 'P_0'"):
        found.breakdown("P_2", "P_0", "P_2")


def test_a_plate_whose_zero_is_off_is_told():
    still = {"time": np.arange(6.0), "link_1.angle": np.zeros(6)}
    time = np.arange(5001) / 1000
    load = 30 + 700 * np.clip(np.sin(2 * np.pi * time), 0, None)
    corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
    force = np.outer(load, [0, 0, 1])
    given = {"markers": {}, "channels": {"link_1.angle": still["link_1.angle"]}}
    for shift, told in ((0.0, 1), (20.0, 0)):
        plate = trundle.ForcePlate("floor", corners, time, force - [0, 0, shift], 0 * force)
        recording = trundle.Recording(still["time"], plates=(plate,), **given)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trundle.inverse(trundle.catalog.pendulum(links=1), recording, external={"link_1": "floor"})
        zeros = [
            each for each in caught if "'floor' pushes with 30 N at least all the time" in str(each.message)
        ]
        assert len(zeros) == told


@pytest.mark.parametrize("up", [None, "y"])
def test_a_person_who_lies_is_told(up):
    """Markers of a laboratory whose up is y, and a robot whose up is z."""
    robot = {"trundle": 1, "robot": {"name": "body", "base": "floating"}}
    robot["robot"]["body"] = {"name": "trunk", "mass": 10, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    spots = {"a": (0.1, 0, 0), "b": (0, 0.2, 0), "c": (0, 0, 0.3), "d": (0.1, 0.1, 0)}
    time = np.arange(20) / 10
    seen = {name: np.tile([x, z, -y], (20, 1)) for name, (x, y, z) in spots.items()}
    markers = {name: ("trunk", at) for name, at in spots.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trundle.inverse(robot, trundle.Recording(time, seen), markers=markers, up=up, progress=False)
    told = [each for each in caught if "the base lies on its side" in str(each.message)]
    assert len(told) == (up is None)
    assert all("--up y" in str(each.message) for each in told)

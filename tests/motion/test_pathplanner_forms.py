"""Forms that PathPlanner's files take: reversed paths, limits of 0, places a hair apart, events with an end."""

import json
import math

import numpy as np
import pytest

import trundle
from tests.motion.test_choreo_dwells import turned
from tests.motion.test_path_files import changed

LIMITS = trundle.Limits(drive_speed=2, drive_acceleration=4)
NONE = {"maxVelocity": 0, "maxAngularVelocity": 0, "maxAngularAcceleration": 0}
BASES = ("differential_drive", "ackermann", "tricycle", "skid_steer")


def path_file(folder, anchors, back=True, **keys):
    """A file of smooth curves through anchors (complex, m), with headings that only a holonomic base can take."""

    def point(z):
        return {"x": z.real, "y": z.imag}

    ways = np.gradient(np.array(anchors))
    ways /= np.abs(ways)
    waypoints = [
        {
            "anchor": point(a),
            "prevControl": None if k == 0 else point(a - way * abs(a - anchors[k - 1]) / 3),
            "nextControl": None if k == len(anchors) - 1 else point(a + way * abs(anchors[k + 1] - a) / 3),
        }
        for k, (a, way) in enumerate(zip(anchors, ways, strict=True))
    ]
    limits = {"maxVelocity": 1.5, "maxAcceleration": 2.0, "maxAngularVelocity": 540.0}
    limits |= {"maxAngularAcceleration": 720.0, "nominalVoltage": 12.0, "unlimited": False}
    data = {
        "version": "2025.0",
        "waypoints": waypoints,
        "rotationTargets": [{"waypointRelativePos": 0.5, "rotationDegrees": 90}],
        "constraintZones": [],
        "pointTowardsZones": [],
        "eventMarkers": [],
        "globalConstraints": {**limits, **keys.pop("limits", {})},
        "goalEndState": {"velocity": 0, "rotation": 0},
        "reversed": back,
        "idealStartingState": {"velocity": 0, "rotation": 0},
        **keys,
    }
    file = folder / "way.path"
    file.write_text(json.dumps(data))
    return file


def pathplanners(file):
    """What PathPlannerLib drives a differential drive along, as its command does."""
    path_module = pytest.importorskip("pathplannerlib.path")
    config = pytest.importorskip("pathplannerlib.config")
    from wpimath.geometry import Rotation2d
    from wpimath.kinematics import ChassisSpeeds
    from wpimath.system.plant import DCMotor

    module = config.ModuleConfig(0.05, 4.0, 1.0, DCMotor.NEO(1).withReduction(8.0), 60.0, 2)
    robot = config.RobotConfig(60.0, 6.0, module, trackwidthMeters=0.6)
    path = path_module.PathPlannerPath._fromJson(json.loads(file.read_text()))
    states = path.generateTrajectory(ChassisSpeeds(), Rotation2d(), robot).getStates()
    return [state.reverse() if path.isReversed() else state for state in states]


def along_way(file):
    """The path of bases that can't move sideways."""
    path = trundle.read_path(file)
    assert path.way is not None
    return path.way()


@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize("base", BASES)
def test_straight_ways_are_pathplanners(base, back, rng, tmp_path):
    start = complex(*rng.uniform(-3, 3, 2))
    file = path_file(tmp_path, [start, start + rng.uniform(1, 3) * np.exp(1j * rng.uniform(-3, 3))], back)
    motion = trundle.follow(file, getattr(trundle.catalog, base)(), limits=LIMITS, grip=None).motion
    theirs = pathplanners(file)
    times = np.linspace(0, motion.duration, 101)
    poses, twist = motion.poses(times), motion.samples(times).twist
    # their last point may lie a centimetre before the end
    places = np.array([complex(state.pose.x, state.pose.y) for state in theirs])
    there = along_way(file).poses(np.abs(places - start))
    assert np.abs(there[:, :2] @ (1, 1j) - places).max() < 1e-6
    headings = np.array([state.pose.rotation().radians() for state in theirs])
    assert turned(there[:, 2] - headings).max() < 1e-6
    assert turned(poses[:, 2] - headings[0]).max() < 1e-6
    sign = -1 if back else 1
    assert (sign * twist[1:-1, 0] > 0).all()
    assert all(sign * state.linearVelocity > 0 for state in theirs[1:-1])
    assert np.abs(twist[:, 1:]).max() < 1e-9


@pytest.mark.parametrize("base", BASES)
def test_reversed_curves_head_against_their_way(base, rng, tmp_path):
    """θ = arg p′ + π, p′ by differences of the poses themselves; the file's curve has nearly that heading."""
    step = rng.uniform(-0.5, 0.5, 3)
    anchors = [complex(k, y) for k, y in enumerate(np.cumsum(step))]
    path = along_way(path_file(tmp_path, anchors))
    s, h = np.linspace(1e-3, path.length - 1e-3, 201), 2e-4
    z = [path.poses(s + k * h)[:, :2] @ (1, 1j) for k in (-2, -1, 1, 2)]
    ahead = z[0] - 8 * z[1] + 8 * z[2] - z[3]
    assert turned(path.poses(s)[:, 2] - np.angle(-ahead)).max() < 1e-9
    assert path.deviation[1] <= 0.01 / 0.5
    driven = trundle.follow(tmp_path / "way.path", getattr(trundle.catalog, base)(), limits=LIMITS, grip=None)
    times = np.linspace(0, driven.motion.duration, 301)
    twist = driven.motion.samples(times).twist
    assert (twist[1:-1, 0] < 0).all()
    assert np.abs(twist[:, 1]).max() < 1e-9
    assert turned(driven.motion.poses(times[:1])[0, 2] - np.angle(anchors[0] - anchors[1])) < 0.2


def test_holonomic_bases_keep_the_headings_of_the_file(tmp_path):
    poses = {}
    for back in (True, False):
        path = trundle.read_path(path_file(tmp_path, [0j, 2 + 0j], back))
        poses[back] = path.poses(np.linspace(0, path.length, 101))
    np.testing.assert_array_equal(poses[True], poses[False])
    assert poses[True][:, 2].max() == pytest.approx(math.pi / 2, abs=1e-3)


def test_a_corner_is_refused_where_no_base_could_turn_on_it(tmp_path):
    def corner(data):
        data["waypoints"][1]["nextControl"] = {"x": 6.05, "y": 5.0}

    file = changed(tmp_path, corner)
    assert len(trundle.read_path(file).sections) == 2
    with pytest.raises(trundle.InputError, match="turns a corner at waypoint 1") as error:
        trundle.follow(file, trundle.catalog.differential_drive(), limits=LIMITS, grip=None)
    assert (error.value.file, error.value.key) == (str(file), "waypoints.1")
    assert error.value.line


def test_limits_of_0_are_none_as_pathplannerlib_has_them(tmp_path):
    ends = [0j, 2 + 0j]
    free = pathplanners(path_file(tmp_path, ends, limits=NONE))[-1].timeSeconds
    high = dict.fromkeys(NONE, 1e6)
    assert free == pytest.approx(pathplanners(path_file(tmp_path, ends, limits=high))[-1].timeSeconds)
    (zone,) = trundle.read_path(path_file(tmp_path, ends, limits=NONE)).zones
    assert zone.limits == {"acceleration": 2.0}


@pytest.mark.parametrize(("exact", "near"), [(1, 1.0000001), (2, 2.0000001), (0, -1e-7), (0, 1e-8)])
def test_targets_a_hair_beside_a_waypoint_are_at_it(tmp_path, exact, near):
    def at(place):
        def targets(data):
            data["pointTowardsZones"] = []
            data["rotationTargets"] = [{"waypointRelativePos": place, "rotationDegrees": 60}]

        return trundle.read_path(changed(tmp_path, targets))

    one, other = at(exact), at(near)
    assert len(one.sections[0].spline.t) == len(other.sections[0].spline.t)
    s = np.linspace(0, one.length, 501)
    assert np.abs(one.poses(s) - other.poses(s)).max() < 1e-6


def test_of_targets_at_one_place_the_last_counts(tmp_path):
    def targets(data):
        data["pointTowardsZones"] = []
        places = ((1, 60), (1.00000001, 90))
        data["rotationTargets"] = [{"waypointRelativePos": p, "rotationDegrees": d} for p, d in places]

    path = trundle.read_path(changed(tmp_path, targets))
    poses = path.poses(np.linspace(0, path.length, 20_001))
    near = np.hypot(*(poses[:, :2] - (6.05, 4.15)).T).argmin()
    assert poses[near, 2] == pytest.approx(math.pi / 2, abs=2e-3)


@pytest.mark.parametrize("none", [None, -1.0])
def test_events_of_zones_keep_their_end(tmp_path, none):
    def mark(end):
        return changed(tmp_path, lambda data: data["eventMarkers"][0].update(endWaypointRelativePos=end))

    (shoot,) = trundle.read_path(mark(none)).events
    begin, end = trundle.read_path(mark(1.5)).events
    assert begin == shoot
    assert end[0] == "shoot ends"
    path = trundle.read_path(mark(2.0))
    assert path.events[1] == ("shoot ends", pytest.approx(path.length))
    for wrong, message in ((0.5, "ends before it begins"), (2.1, "2.1 is beyond the path")):
        with pytest.raises(trundle.InputError, match=message) as error:
            trundle.read_path(mark(wrong))
        assert error.value.key == "eventMarkers.0.endWaypointRelativePos"

"""Files of PathPlanner and Choreo: read as paths, written as trajectories, beside their own libraries."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import trundle

DATA = Path(__file__).parent / "data"
LIMITS = trundle.Limits(steering_rate=12, drive_speed=4, drive_acceleration=6)


@pytest.fixture(scope="module")
def score():
    return trundle.read_path(DATA / "score.path")


def changed(tmp_path, change, source="score.path"):
    """The file with a change of its data, as it would be saved."""
    data = json.loads((DATA / source).read_text())
    change(data)
    file = tmp_path / f"changed{Path(source).suffix}"
    file.write_text(json.dumps(data, indent=2))
    return file


def bezier(a, b, c, d, t):
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def test_a_path_stays_within_its_tolerance_of_the_bezier_curves(score):
    poses = score.poses(np.linspace(0, score.length, 20_001))
    share = np.linspace(0, 1, 200)[:, None]
    one = bezier(*map(np.array, [(7.7, 0.8), (7.17, 1.85), (6.97, 4.14), (6.05, 4.15)]), share)
    two = bezier(*map(np.array, [(6.05, 4.15), (4.73, 4.1643478), (2.87, 1.88), (2.07, 2.83)]), share)
    for point in np.concatenate([one, two]):
        assert np.hypot(*(poses[:, :2] - point).T).min() <= 0.01
    assert 0 < score.deviation[0] <= 0.01
    for anchor in (7.7, 0.8), (6.05, 4.15), (2.07, 2.83):
        assert np.hypot(*(poses[:, :2] - anchor).T).min() < 5e-4


def test_headings_go_through_targets_and_point_towards_places(score):
    poses = score.poses(np.linspace(0, score.length, 20_001))
    assert poses[0, 2] == pytest.approx(0, abs=1e-12)
    assert math.remainder(poses[-1, 2] - math.radians(122), 2 * math.pi) == pytest.approx(0, abs=1e-9)
    half = bezier(*map(np.array, [(7.7, 0.8), (7.17, 1.85), (6.97, 4.14), (6.05, 4.15)]), 0.5)
    near = np.hypot(*(poses[:, :2] - half).T).argmin()
    assert poses[near, 2] == pytest.approx(math.radians(60), abs=2e-3)
    third = bezier(*map(np.array, [(6.05, 4.15), (4.73, 4.1643478), (2.87, 1.88), (2.07, 2.83)]), 0.4)
    near = np.hypot(*(poses[:, :2] - third).T).argmin()
    towards = math.atan2(5.5 - third[1], 0.4 - third[0])
    assert math.remainder(poses[near, 2] - towards, 2 * math.pi) == pytest.approx(0, abs=0.021)


def test_the_limits_along_a_path_hold(score):
    motion = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS, grip=None).motion
    times = np.linspace(0, motion.duration, 20_001)
    samples, poses = motion.samples(times), motion.poses(times)
    speed = np.hypot(samples.twist[:, 0], samples.twist[:, 1])
    assert speed.max() <= 3.0 * (1 + 1e-9)
    slow = score.zones[1]
    assert slow.velocity == 1.0
    ends = score.poses([slow.start, slow.end])[:, 0]
    inside = (poses[:, 0] < ends[0] - 1e-3) & (poses[:, 0] > ends[1] + 1e-3)
    assert 0.98 < speed[inside].max() <= 1.0 * (1 + 1e-9)
    along = samples.twist_rate[:, :2] + samples.twist[:, 2:] * samples.twist[:, 1::-1] * [-1, 1]
    assert np.hypot(*along.T).max() <= 3.0 * (1 + 1e-9)


def test_beside_pathplanners_own_path(score, tmp_path, monkeypatch):
    """PathPlanner's points, which it takes along the same curves, lie on ours within the tolerance."""
    path_module = pytest.importorskip("pathplannerlib.path")
    folder = tmp_path / "pathplanner" / "paths"
    folder.mkdir(parents=True)
    (folder / "score.path").write_text((DATA / "score.path").read_text())
    monkeypatch.setattr(path_module, "getDeployDirectory", lambda: str(tmp_path))
    theirs = path_module.PathPlannerPath.fromPathFile("score")
    poses = score.poses(np.linspace(0, score.length, 20_001))
    for point in theirs.getAllPathPoints():
        distance = np.hypot(poses[:, 0] - point.position.x, poses[:, 1] - point.position.y)
        assert distance.min() <= 0.01


@pytest.mark.slow
def test_a_trajectory_comes_back_as_the_path_it_was(score, tmp_path):
    driven = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS)
    trundle.write_trajectory(driven, tmp_path / "score.traj", rate=100)
    again = trundle.read_path(tmp_path / "score.traj", tolerance=1e-3)
    assert again.duration == pytest.approx(driven.motion.duration)
    assert again.events[0][0] == "shoot"
    here, there = again.poses([again.events[0][1]]), score.poses([score.events[0][1]])
    assert here == pytest.approx(there, abs=0.01)
    motion = trundle.follow(again, trundle.catalog.swerve(), limits=LIMITS).motion
    assert motion.poses([motion.duration]) == pytest.approx(
        driven.motion.poses([driven.motion.duration]), abs=1e-9
    )


@pytest.mark.slow
def test_the_limits_of_a_paths_file_come_back_in_its_trajectory(score, tmp_path):
    """A quick robot takes as long on both, and the parts with limits of their own lie where they lay."""
    driven = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS)
    trundle.write_trajectory(driven, tmp_path / "score.traj", rate=100)
    again = trundle.read_path(tmp_path / "score.traj", tolerance=1e-3)
    slow = [zone for zone in again.zones if zone.velocity == 1.0 and zone.end - zone.start > 0.1]
    (there,) = (zone for zone in score.zones if zone.velocity == 1.0)
    places = again.poses([slow[0].start, slow[-1].end])[:, :2]
    np.testing.assert_allclose(places, score.poses([there.start, there.end])[:, :2], atol=0.02)
    assert {zone.velocity for zone in again.zones} == {zone.velocity for zone in score.zones}
    assert {zone.acceleration for zone in again.zones} == {zone.acceleration for zone in score.zones}
    followed = trundle.follow(again, trundle.catalog.swerve(), limits=LIMITS)
    assert followed.motion.duration == pytest.approx(driven.motion.duration, rel=0.01)


@pytest.mark.slow
def test_all_of_choreos_constraints_hold_where_several_do(score, tmp_path):
    driven = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS)
    trundle.write_trajectory(driven, tmp_path / "score.traj")
    data = json.loads((tmp_path / "score.traj").read_text())
    for kind, most in (("MaxAngularVelocity", 0.5), ("MaxVelocity", 2.0), ("MaxVelocity", 2.5)):
        limit = {
            "data": {"type": kind, "props": {"max": most}},
            "from": "first",
            "to": "last",
            "enabled": True,
        }
        data["snapshot"]["constraints"].insert(0, limit)
    (tmp_path / "all.traj").write_text(json.dumps(data))
    zones = trundle.read_path(tmp_path / "all.traj").zones
    assert {zone.velocity for zone in zones} == {1.0, 2.0}
    assert {zone.acceleration for zone in zones} == {2.0, 3.0}
    assert {zone.rate for zone in zones} == {0.5}


@pytest.mark.slow
def test_choreolib_follows_what_is_written(score, tmp_path):
    choreo = pytest.importorskip("choreo")
    driven = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS)
    file = tmp_path / "score.traj"
    trundle.write_trajectory(driven, file)
    theirs = choreo.load_swerve_trajectory(str(file.with_suffix("")))
    assert theirs.name == "score"
    assert theirs.get_total_time() == pytest.approx(driven.motion.duration)
    times = np.linspace(0, driven.motion.duration, 501)
    poses, twists = driven.motion.poses(times), driven.motion.samples(times).twist
    for time, pose, twist in zip(times, poses, twists, strict=True):
        sample = theirs.sample_at(time)
        pose_there = sample.get_pose()
        assert (sample.x, sample.y) == pytest.approx(tuple(pose[:2]), abs=2e-3)
        assert math.remainder(pose_there.rotation().radians() - pose[2], 2 * math.pi) == pytest.approx(
            0, abs=5e-3
        )
        speed = math.hypot(sample.vx, sample.vy)
        # a sample goes on for 0.02 s with its acceleration, which may jump meanwhile by the 3 m/s² that are allowed
        assert speed == pytest.approx(math.hypot(*twist[:2]), abs=0.02 * 3)
    (event,) = theirs.events
    assert event.event == "shoot"
    near = np.interp(event.timestamp, times, np.arange(501))
    where = score.poses([score.events[0][1]])[0, :2]
    assert np.hypot(*(poses[round(near), :2] - where)) < 0.05


@pytest.mark.slow
def test_pathplanner_loads_what_is_written(score, tmp_path, monkeypatch):
    path_module = pytest.importorskip("pathplannerlib.path")
    driven = trundle.follow(score, trundle.catalog.swerve(), limits=LIMITS)
    (tmp_path / "choreo").mkdir()
    trundle.write_trajectory(driven, tmp_path / "choreo" / "written.traj")
    monkeypatch.setattr(path_module, "getDeployDirectory", lambda: str(tmp_path))
    theirs = path_module.PathPlannerPath.fromChoreoTrajectory("written")._idealTrajectory
    assert theirs.getTotalTimeSeconds() == pytest.approx(driven.motion.duration)
    end = theirs.getEndState().pose
    assert (end.x, end.y) == pytest.approx((2.07, 2.83), abs=1e-9)


def test_choreolib_follows_a_differential_drive_with_its_forces(tmp_path):
    choreo = pytest.importorskip("choreo")
    robot = trundle.catalog.differential_drive(
        motor="kraken_x60", gear_ratio=8, friction=1.0, contact="slip", robot_mass=30
    )
    go = {"name": "go", "commands": [{"duration": 0.4, "twist": {"v_x": 1, "omega": 0.5}}]}
    driven = trundle.drive({"motion": go}, robot, progress=False)
    trundle.write_trajectory(driven, tmp_path / "there.traj")
    theirs = choreo.load_differential_trajectory(str(tmp_path / "there"))
    times = np.array([sample.timestamp for sample in theirs.samples])
    samples = driven.motion.samples(times)
    track = robot.number(robot.wheels["left"].at[1]) - robot.number(robot.wheels["right"].at[1])
    for sample, twist, rate in zip(theirs.samples, samples.twist, samples.twist_rate, strict=True):
        assert (sample.vl + sample.vr) / 2 == pytest.approx(twist[0], abs=1e-9)
        assert (sample.vr - sample.vl) / track == pytest.approx(twist[2], abs=1e-9)
        assert (sample.al + sample.ar) / 2 == pytest.approx(rate[0], abs=1e-9)
        assert sample.fl + sample.fr == pytest.approx(30 * rate[0], abs=1e-6)
    assert max(sample.fl for sample in theirs.samples) > 10
    assert json.loads((tmp_path / "there.traj").read_text())["trajectory"]["sampleType"] == "Differential"
    there = trundle.read_path(tmp_path / "there.traj")
    assert there.poses([there.length])[0] == pytest.approx(driven.motion.poses(times[-1:])[0], abs=1e-3)


# What runs, and tables for robots, have of motors and floor, by the last part of its name.
TAKEN = ("traction", "side_force", "load", "rolling_slip", "lateral_slip", "torque", "current", "voltage")


@pytest.mark.parametrize("ending", ["nc", "csv"])
def test_what_motors_and_floor_give_is_in_files(tmp_path, ending):
    mass = 45.0
    robot = trundle.catalog.mecanum(
        motor="kraken_x60", friction=1.0, contact="slip", battery=12.6, robot_mass=mass
    )
    go = {"name": "go", "commands": [{"duration": 0.4, "twist": {"v_x": 1, "v_y": 0.5}}]}
    driven = trundle.drive({"motion": go}, robot, progress=False)
    run = driven.run(rate=50)
    again = trundle.Run.load(run.save(tmp_path / f"go.{ending}"))
    trundle.write_trajectory(driven, tmp_path / "there.csv", rate=50)
    with (tmp_path / "there.csv").open() as lines:
        rows = [list(map(float, row.values())) for row in csv.DictReader(lines)]
    with (tmp_path / "there.csv").open() as lines:
        table = dict(zip(next(csv.reader(lines)), np.array(rows).T, strict=True))
    told = [*run.groups["inputs"], *run.groups["outputs"]]
    kept = [name for name in told if name.rpartition(".")[2] in TAKEN]
    assert {name.rpartition(".")[2] for name in kept} == set(TAKEN)
    for name in kept:
        assert again[name].tolist() == run[name].tolist()
        assert table[name.replace(".", "_")] == pytest.approx(run[name], rel=1e-9, abs=1e-9)
    # the forces of the ground accelerate the robot as the table says
    forces = sum(
        (table[f"{wheel}_traction"] + 1j * table[f"{wheel}_side_force"])
        * np.exp(1j * (table[f"{wheel}_angle"] + table["heading"]))
        for wheel in driven.names
    )
    assert forces == pytest.approx(mass * (table["ax"] + 1j * table["ay"]), abs=1e-6)
    assert np.abs(forces).max() > 10


def test_csv_has_the_modules_too(tmp_path):
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]))
    trundle.write_trajectory(driven, tmp_path / "there.csv", rate=10)
    lines = (tmp_path / "there.csv").read_text().splitlines()
    assert lines[0].startswith(
        "t,x,y,heading,vx,vy,omega,ax,ay,alpha,left_front_angle,left_front_steering_rate,"
    )
    assert [float(number) for number in lines[-1].split(",")][1:4] == pytest.approx([1, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message", "key"),
    [
        (lambda d: d.update(version="2027.1"), "format 2025, got version 2027.1", "version"),
        (lambda d: d.pop("version"), "got no version", None),
        (
            lambda d: d["waypoints"][1].update(nextControl=None),
            "lacks its control point",
            "waypoints.1.nextControl",
        ),
        (lambda d: d["waypoints"][2]["anchor"].pop("x"), "'x' is missing", "waypoints.2.anchor.x"),
        (
            lambda d: d["waypoints"][2]["anchor"].update(x="a"),
            "expected a number, got 'a'",
            "waypoints.2.anchor.x",
        ),
        (
            lambda d: d["globalConstraints"].update(maxAcceleration=0),
            "greater than 0",
            "globalConstraints.maxAcceleration",
        ),
        (lambda d: d["goalEndState"].update(rotation="north"), "number", "goalEndState.rotation"),
        (lambda d: d.pop("waypoints"), "'waypoints' is missing", "waypoints"),
        (lambda d: d.update(waypoints=d["waypoints"][:1]), "at least 2", "waypoints"),
        (
            lambda d: d["rotationTargets"][0].update(waypointRelativePos=7),
            "7 is beyond the path",
            "rotationTargets.0.waypointRelativePos",
        ),
        (
            lambda d: d["pointTowardsZones"][0].update(
                minWaypointRelativePos=1.0, maxWaypointRelativePos=1e-160
            ),
            "ends before it begins",
            "pointTowardsZones.0.maxWaypointRelativePos",
        ),
        (
            lambda d: d["waypoints"].__setitem__(slice(1, 2), [stuck(), stuck()]),
            "1 and 2 are the same",
            "waypoints.2",
        ),
    ],
)
def test_broken_paths_say_where(tmp_path, change, message, key):
    file = changed(tmp_path, change)
    with pytest.raises(trundle.InputError, match=message) as error:
        trundle.read_path(file)
    assert error.value.file == str(file)
    assert error.value.key == key or key is None
    assert error.value.line
    line = file.read_text().splitlines()[error.value.line - 1]
    if key and not message.endswith("missing"):
        last = key.split(".")[-1]
        assert last in line or last.isdigit()


def stuck():
    place = {"x": 6.05, "y": 4.15}
    return {"anchor": place, "prevControl": place, "nextControl": place}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": "2025.0",\n "waypoints": [}', "not valid JSON"),
        ("[1, 2]", "expected an object"),
        ('{"version": NaN}', "NaN is no number"),
        ("", "not valid JSON"),
        ('{"version": "2025.0", "waypoints": ' + "[" * 5000, "not valid JSON"),
    ],
)
def test_what_is_no_json_is_told(tmp_path, text, message):
    file = tmp_path / "broken.path"
    file.write_text(text)
    with pytest.raises(trundle.InputError, match=message) as error:
        trundle.read_path(file)
    assert error.value.file == str(file)


def test_broken_trajectories_say_where(tmp_path):
    file = tmp_path / "one.traj"
    trundle.write_trajectory(trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)])), file)
    whole = json.loads(file.read_text())

    def refused(change, message, key):
        data = json.loads(json.dumps(whole))
        change(data)
        file.write_text(json.dumps(data, indent=1))
        with pytest.raises(trundle.InputError, match=message) as error:
            trundle.read_path(file)
        assert (error.value.file, error.value.key) == (str(file), key)
        assert error.value.line

    samples = ("trajectory", "samples")
    refused(lambda d: d.update(version=9), "up to 3, got version 9", "version")
    refused(lambda d: d["trajectory"].update(samples=[]), "has no samples", "trajectory.samples")
    refused(lambda d: d[samples[0]][samples[1]][3].update(t=0), "not after", "trajectory.samples.3.t")
    refused(lambda d: d[samples[0]][samples[1]][3].pop("x"), "missing", "trajectory.samples.3.x")
    refused(lambda d: (d.update(samples=[{}]), d.pop("trajectory")), "format of 2024", "samples")

    def still(data):
        data["trajectory"]["samples"] = [{**data["trajectory"]["samples"][0], "t": time} for time in (0, 1)]

    refused(still, "stays where it is", "trajectory.samples")


def test_stops_of_a_trajectory_are_kept(tmp_path):
    """There and back: the base stands between, and the way turns by 180° there."""
    there = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]))
    file = tmp_path / "both.traj"
    trundle.write_trajectory(there, file, rate=50)
    data = json.loads(file.read_text())
    samples = data["trajectory"]["samples"]
    last = samples[-1]["t"]
    back = [{**each, "t": 2 * last - each["t"], "vx": -each["vx"]} for each in samples[-2::-1]]
    data["trajectory"]["samples"] = samples + back
    data["trajectory"]["waypoints"] = [0, last, 2 * last]
    file.write_text(json.dumps(data))
    path = trundle.read_path(file)
    assert [round(section.length, 6) for section in path.sections] == [1.0, 1.0]
    motion = trundle.follow(path).motion
    assert motion.duration == pytest.approx(2 * there.motion.duration, rel=1e-3)


def test_a_trajectory_is_timed_anew_by_the_robots_limits(tmp_path):
    """Planned for a slow robot, followed by a quicker one, and the reverse."""
    swerve, slow = (
        trundle.catalog.swerve(),
        trundle.Limits(steering_rate=4, drive_speed=1, drive_acceleration=1),
    )
    path = trundle.pose_path([(0, 0, 0), (1, 1, 1), (3, 0, 1)])
    trundle.write_trajectory(trundle.follow(path, swerve, limits=slow), tmp_path / "slow.traj")
    read = trundle.read_path(tmp_path / "slow.traj")
    quick = trundle.follow(read, swerve, limits=LIMITS)
    assert read.duration is not None
    assert quick.motion.duration < 0.6 * read.duration
    assert quick.summary()["exceeded"] == []


WRONG = [None, "x", -1, 0, 1e308, 1e-308, 5, True, [], {}, "1.5", 1e9, [1, 2], {"x": 1, "y": 2}]


def places(data, path=()):
    """The key paths of everything in it."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.campaign
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_files_with_something_wrong_are_read_or_refused(campaign, tmp_path):
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 1)]))
    trundle.write_trajectory(driven, tmp_path / "one.traj", rate=5)
    files = {".path": DATA / "score.path", ".traj": tmp_path / "one.traj"}
    sources = {suffix: json.loads(file.read_text()) for suffix, file in files.items()}
    for rng in campaign(2000):
        suffix = str(rng.choice(list(sources)))
        data = json.loads(json.dumps(sources[suffix]))
        for _ in range(rng.integers(1, 3)):
            found = list(places(data))
            *way, last = found[rng.integers(len(found))]
            owner = data
            for key in way:
                owner = owner[key]
            if rng.random() < 0.3:
                del owner[last]
            else:
                owner[last] = WRONG[rng.integers(len(WRONG))]
        file = tmp_path / f"wrong{suffix}"
        file.write_text(json.dumps(data, indent=1))
        try:
            path = trundle.read_path(file)
            path = path if path.way is None or rng.random() < 0.5 else path.way()
        except trundle.InputError as refused:
            told = refused.file
        else:
            told = str(file)
            assert np.isfinite(path.poses(np.linspace(0, path.length, 50))).all()
        assert told == str(file)


def test_a_speed_that_is_rounding_is_rest(tmp_path):
    """5e-324 m/s divided by itself is no number; a path that began with 1e-9 m/s would take minutes to get going."""
    at_rest = trundle.follow(
        trundle.read_path(changed(tmp_path, lambda data: None)), limits=LIMITS, grip=None
    ).motion
    for speed in (5e-324, 1e-9):
        file = changed(tmp_path, lambda data, v=speed: data["idealStartingState"].update(velocity=v))
        motion = trundle.follow(trundle.read_path(file), limits=LIMITS, grip=None).motion
        assert motion.duration == at_rest.duration
        assert np.isfinite(motion.poses([motion.duration])).all()


def test_speeds_at_the_ends_are_those_of_the_file(tmp_path):
    """It comes rolling and goes on rolling; what its wheels did before is unknown, so that nothing jumps there."""

    def rolling(data):
        data["idealStartingState"]["velocity"] = data["goalEndState"]["velocity"] = 1.0
        data["idealStartingState"]["rotation"] = data["rotationTargets"][0]["rotationDegrees"] = 0.0

    path = trundle.read_path(changed(tmp_path, rolling))
    driven = trundle.follow(path, trundle.catalog.swerve(), limits=LIMITS)
    ends = driven.motion.samples([0.0, driven.motion.duration]).twist
    assert np.hypot(ends[0, 0], ends[0, 1]) == pytest.approx(1.0, rel=1e-2)
    assert 0.1 < np.hypot(ends[1, 0], ends[1, 1]) <= 1.0 + 1e-9
    assert not any("m/s" in note for note in driven.notes)
    assert driven.summary()["exceeded"] == []


def test_speeds_at_the_ends_that_limits_do_not_leave_are_told(tmp_path):
    """A file may ask for 9 m/s at its end; the path's own limits leave 3 m/s at most."""
    path = trundle.read_path(changed(tmp_path, lambda data: data["goalEndState"].update(velocity=9.0)))
    driven = trundle.follow(path, trundle.catalog.swerve(), limits=LIMITS)
    end = driven.motion.samples([driven.motion.duration]).twist[0]
    speed = np.hypot(end[0], end[1])
    assert speed <= 3 + 1e-9
    assert driven.notes[-1] == f"the motion ends at {speed:.4g} m/s, not at 9 m/s: limits leave no more there"

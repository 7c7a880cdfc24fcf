"""The package of ROS 2: built by CMake against stand-ins for ROS, loaded as a plugin, run on stub hardware for 10 s."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.linalg
import yaml

import trundle
from documents.wheeled_urdf import beside, own_words
from exports.ros2_builds import FLAGS, RATE, built, checked
from exports.wheeled_cases import WHEELED
from trundle.documents import parse
from trundle.errors import InputError

CAR = "examples/gears/rear_axle.yaml"
CYCLES = 10 * RATE
# No command comes in the last three seconds; the joints stand still after the timeout of 0.5 s.
TOLD, TIMEOUT, LOST = 7 * RATE, 0.5, 137
VARIANCE, START, ANGLES = 2e-4, np.array([1e-3, 2e-3, 0, 0, 0, 3e-3]), 1e-5


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    return tmp_path_factory.mktemp("ros2")


def _rows():
    """Twists that swing, some cycles without one, and one cycle in which an encoder fails."""
    t = np.arange(CYCLES) / RATE
    twists = np.stack([0.6 * np.sin(t), 0.3 * np.cos(0.7 * t), 0.8 * np.sin(0.5 * t + 1)], axis=1)
    comes = (np.arange(CYCLES) < TOLD) & (np.arange(CYCLES) % 7 != 0)
    lost = np.where(np.arange(CYCLES) == LOST, 0, -1)
    return np.column_stack([comes, twists, lost])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WHEELED, CAR])
def test_a_run_of_ten_seconds_is_what_the_library_computes(name, stubs, tmp_path):
    robot = trundle.load(CAR) if name == CAR else trundle.catalog.robot(name)
    folder = tmp_path / "robot"
    package = trundle.export(robot, "ros2", name="robot", output=folder)
    entries = {entry["name"]: entry for entry in package.facts["entries"]}
    told = [len(group["labels"]) for group in entries["joint_commands"]["outputs"]]
    _, increments, angles, _ = (group["labels"] for group in entries["odometry_step"]["inputs"])
    readings = [*increments, *(each for each in angles if each not in increments)]
    diagonal = " ".join(map(str, START))
    parameters = [
        f"pose_covariance_diagonal={diagonal}",
        f"variance_per_radian={VARIANCE}",
        f"publish_rate={RATE}",
    ]
    parameters += [f"angle_variance={ANGLES}"] if angles else []
    rows = _rows()
    found = built(folder, stubs).run(rows, len(readings), sum(told), *parameters)
    model = trundle.derive(robot)
    odometry = model.odometry(
        [each.removesuffix(".angle") + ".rate" for each in increments] if name == CAR else None
    )
    assert (odometry.increments, odometry.angles) == (tuple(increments), tuple(angles))
    _require_odometry(found, odometry, readings)
    _require_commands(found, model.kinematics(), entries["joint_commands"]["outputs"], rows)


@pytest.mark.slow
def test_an_imu_corrects_the_pose_by_its_variance(stubs, tmp_path):
    robot = trundle.catalog.robot("tricycle")
    trundle.export(robot, "ros2", name="robot", output=tmp_path / "robot")
    odometry = trundle.derive(robot).odometry()
    readings = list(odometry.increments)
    parameters = [
        f"pose_covariance_diagonal={' '.join(map(str, START))}",
        f"variance_per_radian={VARIANCE}",
        f"publish_rate={RATE}",
        f"angle_variance={ANGLES}",
        "imu_sensor_name=imu",
        "heading_variance=0.003",
    ]
    package = built(tmp_path / "robot", stubs)
    rows = _rows()
    rows[300, 4] = len(readings) + 2  # the IMU, too, fails at times
    found = package.run(rows, len(readings) + 4, 2, *parameters)
    _require_odometry(found, odometry, readings, 0.003)
    for bad in ("heading_variance=0", "heading_variance=-1"):
        done = subprocess.run(package.command(bad), input=b"", capture_output=True, timeout=60)
        assert done.returncode == 3


def _corrected(pose, covariance, heading, variance):
    """A Kalman filter's step in Joseph's form, of a reading of the heading."""
    row = np.array([0, 0, 1.0])
    gain = covariance @ row / (row @ covariance @ row + variance)
    kept = np.eye(3) - np.outer(gain, row)
    missing = np.remainder(heading - pose[2] + np.pi, 2 * np.pi) - np.pi
    return pose + gain * missing, kept @ covariance @ kept.T + variance * np.outer(gain, gain)


def _require_odometry(found, odometry, readings, heading_variance=None):
    """Poses, covariances and twists are the kernel's, step by step; with an IMU's headings, where it has a variance."""
    imu = found["readings"][:, len(readings) :]
    headings = 2 * np.arctan2(imu[:, 2], imu[:, 3]) if heading_variance else None
    found = {**found, "readings": found["readings"][:, : len(readings)]}
    places = [readings.index(each) for each in odometry.angles]
    count, last = len(odometry.increments), found["readings"][0]
    pose, covariance = np.zeros(3), np.diag(START[[0, 1, 5]])
    steered = np.array([each in odometry.angles for each in odometry.increments])
    kept = np.ix_([0, 1, 5], [0, 1, 5])
    np.testing.assert_array_equal(found["count"][:, 0], np.arange(1, CYCLES + 1))
    elapsed = 0
    for k in range(1, CYCLES):
        now, elapsed = found["readings"][k], elapsed + 1 / RATE
        if np.isfinite(now).all():
            turned = (now - last)[:count]
            turned = np.where(steered, np.remainder(turned + np.pi, 2 * np.pi) - np.pi, turned)
            noise = np.diag(VARIANCE * np.abs(turned)), np.eye(len(places)) * ANGLES
            before = pose
            pose, covariance = odometry.propagate(pose, covariance, turned, noise[0], last[places], noise[1])
            twist, elapsed, last = _held(before, pose) / elapsed, 0, now
            np.testing.assert_allclose(found["twist"][k], twist, rtol=0, atol=1e-9)
            if headings is not None and np.isfinite(headings[k]):
                turned = headings[k] - headings[0]
                pose, covariance = _corrected(pose, covariance, turned, heading_variance)
        x, y, z, w = found["pose"][k]
        assert np.hypot(x - pose[0], y - pose[1]) <= 1e-12 * max(1, np.hypot(*pose[:2]))
        assert abs(np.remainder(2 * np.arctan2(z, w) - pose[2] + np.pi, 2 * np.pi) - np.pi) <= 1e-12
        got = found["covariance"][k].reshape(6, 6)
        np.testing.assert_allclose(got[kept], covariance, rtol=0, atol=1e-12)
        assert np.count_nonzero(np.delete(np.delete(got, [0, 1, 5], 0), [0, 1, 5], 1)) == 0
    np.testing.assert_array_equal(found["pose"], found["transform"])
    assert np.abs(found["pose"][:, :2]).max() > 0.01


def _held(before, after):
    """The twist's integral between two poses, by the logarithm of SE(2)."""

    def matrix(pose):
        c, s = np.cos(pose[2]), np.sin(pose[2])
        return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0, 0, 1]])

    log = scipy.linalg.logm(np.linalg.solve(matrix(before), matrix(after))).real
    return np.array([log[0, 2], log[1, 2], log[1, 0]])


def _require_commands(found, kinematics, groups, rows):
    """Commands at the last twist are those of the library's kinematics, at rest after the timeout."""
    names, labels = kinematics.names, [label for group in groups for label in group["labels"]]
    columns = dict(zip(labels, found["commands"].T, strict=True))
    came = np.where(rows[:, 0] == 1, np.arange(CYCLES), 0)
    last = np.maximum.accumulate(came)
    stale = (np.arange(CYCLES) - last) / RATE > TIMEOUT + 1e-9
    assert stale.any()
    assert not stale[:TOLD].any()
    twists = np.where((stale | (last == 0))[:, None], 0, rows[last, 1:4])
    velocities = next(group["labels"] for group in groups if group["name"] == "velocity")
    assert all(np.all(columns[label][stale] == 0) for label in velocities)
    fixed = [k for k, module in enumerate(kinematics.modules) if not module.pivots and module.rollers is None]
    if fixed:  # what they can't follow is no command: the axle's own sideways velocity is 0
        twists[:, 1] = -twists[:, 2] * np.mean(kinematics.places[fixed, 0])
    _require_linked(columns, kinematics.robot, twists, stale)
    states = kinematics.states(kinematics.headings, np.zeros(len(names)))
    radii = np.array([float(module.radius) for module in kinematics.modules])
    for k in range(CYCLES):
        states = kinematics.module_states(*twists[k], states)
        for place, name in enumerate(names):
            if f"{name}.angle" in columns:
                assert abs(columns[f"{name}.angle"][k] - states.speeds[place] / radii[place]) <= 1e-12 * 100
            if f"{name}.steering" in columns:
                steering = states.angles[place] - kinematics.headings[place]
                assert abs(columns[f"{name}.steering"][k] - steering) <= 1e-12 * 10


def _require_linked(columns, robot, twists, stale):
    """A linkage stands as a bicycle's wheel does, tan δ = L ω/v; gears turn with it, a shaft with the mean wheel."""
    given, (vx, _, omega) = robot.parameter_values(), twists.T
    if steering := [label for label in ("steering.angle", "column.angle") if label in columns]:
        delta = columns[steering[0]] / (15 if steering == ["column.angle"] else 1)
        aside = np.sin(delta) * vx - given["wheelbase"] * omega * np.cos(delta)
        assert np.abs(aside[~stale]).max() <= 1e-12
    if "shaft.angle" in columns:
        np.testing.assert_allclose(
            columns["shaft.angle"], given["reduction"] * vx / given["r"], rtol=0, atol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(("compiled_by", "more"), [("clang++", ""), ("g++", " -DEARLIER")])
def test_compilers_and_versions_agree_and_parameters_are_taken(compiled_by, more, tmp_path):
    robot = trundle.catalog.differential_drive()
    trundle.export(robot, "ros2", name="robot", output=tmp_path / "robot")
    package = built(tmp_path / "robot", tmp_path / "stubs", compiled_by, FLAGS + more)
    rows = _rows()
    rows[:, 4] = np.where(np.arange(CYCLES) < 3, 0, -1)  # an encoder that isn't read yet
    rows[50, 2] = np.nan  # no twist: the one before holds
    found = package.run(
        rows, 2, 2, "robot.r=0.2", "enable_odom_tf=false", "cmd_vel_timeout=1.0", "publish_rate=10"
    )
    odometry = trundle.odometry(robot)
    changed = odometry.along(
        dict(zip(odometry.increments, found["readings"][3:].T, strict=True)), parameters={"r": 0.2}
    )
    x, y, _, _ = found["pose"][999]
    published = np.flatnonzero(np.diff(found["count"][:, 0], prepend=0))
    assert np.all(np.diff(published) == RATE / 10)
    assert published[0] == 3
    assert np.all(found["commands"][:3] == 0)
    last = changed[0][published[-1] - 3]
    assert np.hypot(x - last[0], y - last[1]) <= 1e-12 * max(1, np.hypot(*last[:2]))
    assert np.all(found["transforms"] == -1)
    assert np.isfinite(found["commands"]).all()
    for bad in ("publish_rate=0", "pose_covariance_diagonal=1 2", "joints.left=", "variance_per_radian=-1"):
        done = subprocess.run(package.command(bad), input=b"", capture_output=True, timeout=60)
        assert done.returncode == 3
        assert bad.split("=")[0] in done.stderr.decode()


@pytest.mark.slow
def test_hostile_names_build(tmp_path):
    document = yaml.safe_load(trundle.documents.dump(trundle.catalog.robot("tricycle")))
    text = yaml.safe_dump(document)
    for old, new in (
        ("wheelbase", "type"),
        ("track", "on_"),
        ("front", "default"),
        ("name: tricycle", "name: R+D 2.0"),
    ):
        text = text.replace(old, new)
    robot = trundle.load(yaml.safe_load(text))
    package = trundle.export(robot, "ros2", name="robot", output=tmp_path / "robot")
    parameters = yaml.safe_load(package.files["src/robot_parameters.yaml"])["robot"]
    assert "default_" in parameters["joints"]
    assert "type_" in parameters["robot"]
    assert parameters["joints"]["default_"]["default_value"] == "default"
    found = built(tmp_path / "robot", tmp_path / "stubs").run(_rows(), 2, 2)
    assert np.isfinite(found["pose"]).all()


@pytest.mark.slow
def test_a_controller_compiles_without_a_warning(tmp_path):
    trundle.export(trundle.catalog.robot("ackermann"), "ros2", name="car", output=tmp_path / "car")
    checked(tmp_path / "car", tmp_path / "stubs")


@pytest.fixture(scope="module")
def package():
    return trundle.export(trundle.catalog.robot("tricycle"), "ros2", name="my_base")


def test_all_files_of_a_package_are_there_and_say_the_same(package):
    own = {"package.xml", "CMakeLists.txt", "controller_plugin.xml", "include/my_base/my_base.hpp"}
    own |= {"include/my_base/controller.hpp", "src/controller.cpp", "src/my_base_parameters.yaml"}
    own |= {"config/controller.yaml", "launch/controller.launch.py", "README.md", "description.yaml"}
    assert set(package.files) == own
    manifest = ElementTree.fromstring(package.files["package.xml"])
    depends = {each.text for each in manifest.iter("depend")}
    build = package.files["CMakeLists.txt"]
    assert manifest.findtext("name") == "my_base"
    assert manifest.get("format") == "3"
    assert depends == set(build.split("set(dependencies")[1].split(")")[0].split())
    started = yaml.safe_load(package.files["config/controller.yaml"])["my_base_controller"]["ros__parameters"]
    plugin = ElementTree.fromstring(package.files["controller_plugin.xml"])
    assert started["type"] == plugin.find("class").get("name") == "my_base/Controller"
    parameters = yaml.safe_load(package.files["src/my_base_parameters.yaml"])["my_base"]
    for group in ("joints", "robot"):
        assert started[group] == {key: leaf["default_value"] for key, leaf in parameters[group].items()}


def test_parameters_are_those_that_kinematics_and_odometry_use(package):
    parameters = yaml.safe_load(package.files["src/my_base_parameters.yaml"])["my_base"]
    used = {"r", "wheelbase", "track", "wheels_rear_at_x", "wheels_rear_radius", "wheels_rear_offset"}
    assert set(parameters["robot"]) == used
    assert set(parameters["joints"]) == {"front", "front_steering"}
    conventional = {"odom_frame_id", "base_frame_id", "cmd_vel_timeout", "publish_rate", "enable_odom_tf"}
    assert conventional | {"pose_covariance_diagonal", "twist_covariance_diagonal"} < set(parameters)
    assert all(entry["inputs"][-1]["labels"] for entry in package.facts["entries"] if entry["inputs"])


def test_numbers_stay_numbers_in_yaml():
    robot = trundle.catalog.differential_drive(radius=2e-05)
    package = trundle.export(robot, "ros2", name="robot")
    for name in ("src/robot_parameters.yaml", "config/controller.yaml"):
        assert "2.0e-05" in package.files[name]
        assert " 2e-05" not in package.files[name]


def test_the_launch_file_starts_the_controller(package, monkeypatch):
    for name in (
        "launch",
        "launch.actions",
        "launch.substitutions",
        "launch_ros.actions",
        "launch_ros.substitutions",
    ):
        module = ModuleType(name)
        module.__getattr__ = lambda kind: (
            lambda *given, **named: SimpleNamespace(kind=kind, given=given, **named)
        )
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "launch_ros", ModuleType("launch_ros"))
    described = {}
    exec(package.files["launch/controller.launch.py"], described)
    (manager, params, node) = described["generate_launch_description"]().given[0]
    assert (manager.given, params.given) == (("controller_manager",), ("params_file",))
    assert (node.package, node.executable, node.arguments[0]) == (
        "controller_manager",
        "spawner",
        "my_base_controller",
    )


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("Robot", "robot"),
        ("my__robot", "my_robot"),
        ("class", "class_robot"),
        ("rclcpp", "rclcpp_robot"),
        ("std", "std_robot"),
    ],
)
def test_names_that_ros_or_cpp_forbid_are_refused_with_another(name, fix):
    with pytest.raises(InputError, match=f"'{name}' can't be a") as raised:
        trundle.export(trundle.catalog.differential_drive(), "ros2", name=name)
    assert raised.value.key == "name"
    assert f"name it {fix}, say" in str(raised.value)


def test_a_robot_that_is_no_base_on_wheels_is_refused_by_name():
    with pytest.raises(InputError, match="'pendulum' has a fixed one"):
        trundle.export(trundle.catalog.pendulum(), "ros2")
    rolling = trundle.catalog.differential_drive()
    document = yaml.safe_load(trundle.documents.dump(rolling))
    joint = {"type": "revolute", "axis": [0, 0, 1], "body": {"mass": 1.0, "inertia": {"zz": 0.01}}}
    document["robot"]["joints"] = {"turret": joint}
    document["robot"]["motors"] = {
        "turn": {"type": "servo", "drives": "turret", "stiffness": 1.0, "damping": 1.0}
    }
    with pytest.raises(InputError, match="no motor of 'differential_drive' drives a wheel") as raised:
        trundle.export(trundle.load(document), "ros2")
    assert raised.value.key == "robot.motors"


@pytest.mark.filterwarnings("ignore")
def test_joints_are_called_as_the_urdf_calls_them():
    file = Path(__file__).parents[2] / "examples" / "urdf" / "turtlebot.yaml"
    configured = trundle.export(file, "ros2").files["config/controller.yaml"]
    assert 'left: "wheel_left_joint"' in configured
    assert 'right: "wheel_right_joint"' in configured


def _urdf_car(folder):
    """A car whose motors are on its rear wheels and on the Ackermann linkage, which is no joint of its URDF."""
    motors = "  motors:\n    s: {type: servo, drives: steering, stiffness: 400, damping: 100}\n" + "".join(
        f"    {side}: {{type: velocity, gain: 5, drives: rear_{side}}}\n" for side in ("left", "right")
    )
    return trundle.load(beside(folder, "car", extra=motors)), parse(own_words("car") + motors).robot


@pytest.mark.filterwarnings("ignore")
def test_a_linkage_is_told_and_read_at_the_urdfs_joints(tmp_path, rng):
    robot, same = _urdf_car(tmp_path)
    parameters = yaml.safe_load(trundle.export(robot, "ros2", name="car").files["src/car_parameters.yaml"])
    joints = {joint["default_value"] for joint in parameters["car"]["joints"].values()}
    assert joints == {"rear_left_joint", "rear_right_joint", "left_steering_joint", "right_steering_joint"}
    ours, theirs = trundle.odometry(robot), trundle.odometry(same)
    assert (ours.angles, theirs.angles) == (("front_left.steering",), ("steering.angle",))
    for _ in range(20):
        (delta, change), turns = rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.2, 0.2, 2)
        left, then = (
            np.arctan2(np.sin(d), np.cos(d) - 0.36 / 1.1 * np.sin(d)) for d in (delta, delta + change)
        )
        measured = {"rear_left.angle": turns[0], "rear_right.angle": turns[1]}
        read = ours.update([1, 2, 3], {**measured, "front_left.steering": then - left}, [left])
        known = theirs.update([1, 2, 3], {**measured, "steering.angle": change}, [delta])
        np.testing.assert_allclose(read, known, rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_controller_of_a_urdfs_car_drives(tmp_path):
    robot, _ = _urdf_car(tmp_path)
    trundle.export(robot, "ros2", name="car", output=tmp_path / "car")
    checked(tmp_path / "car", tmp_path / "stubs")
    found = built(tmp_path / "car", tmp_path / "stubs").run(_rows(), 3, 4)
    assert np.isfinite(found["pose"]).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("changes", "frame"),
    [
        ((), "base_footprint"),
        ((("base_footprint", "base_plate"),), "base_plate"),
        (
            (('"base_footprint"', '"root"'), ('"base_scan"', '"base_footprint"')),
            "root",
        ),  # 32 mm behind the root
    ],
)
def test_the_base_frame_is_the_urdfs(changes, frame, tmp_path):
    examples = Path(__file__).parents[2] / "examples" / "urdf"
    text = (examples / "turtlebot.urdf").read_text(encoding="utf-8")
    for old, new in changes:
        text = text.replace(old, new)
    (tmp_path / "turtlebot.urdf").write_text(text, encoding="utf-8")
    (tmp_path / "bot.yaml").write_text((examples / "turtlebot.yaml").read_text(encoding="utf-8"))
    files = trundle.export(tmp_path / "bot.yaml", "ros2").files
    assert f'base_frame_id: "{frame}"' in files["config/controller.yaml"]
    (told,) = [file for name, file in files.items() if name.endswith("_parameters.yaml")]
    assert yaml.safe_load(told)["turtlebot"]["base_frame_id"]["default_value"] == frame

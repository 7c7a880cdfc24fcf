"""Logs of messages, .mcap and .wpilog, give the estimates that the same drive's CSV gives."""

import json
import struct
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

import trundle
from trundle import InputError, NumericsError
from trundle.estimation.message_paths import number_at, number_paths, steps_of
from trundle.estimation.wpilog_file import read_wpilog

BEGAN = 1_700_000_000_123_456_789  # ns
SENSORS = {
    "encoders": {"noise": 0.02},
    "gyro": {"type": "gyro", "noise": 0.002},
    "fixes": {"type": "pose", "position": "2 cm", "heading": "1 deg", "latency": 0.05},
}
BASE = trundle.catalog.differential_drive().with_sensors(SENSORS)
SWERVE = trundle.catalog.swerve().with_sensors({"encoders": {"noise": 0.02}})
MODULES = tuple(SWERVE.wheels)
JOINTS = {"left_wheel": "encoders.left.angle", "right_wheel": "encoders.right.angle"}
ROS = {
    **{name.removeprefix("encoders."): f"/joint_states.position[{joint}]" for joint, name in JOINTS.items()},
    "gyro.rate": "/imu/data.angular_velocity.z",
    "fixes.x": "/fix.pose.position.x",
    "fixes.y": "/fix.pose.position.y",
    "theta": "/fix.heading[1] [deg]",
}
STAMP = """
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
"""
VECTOR = """
================================================================================
MSG: geometry_msgs/{0}
float64 x
float64 y
float64 z
"""
JOINT_STATE = "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity" + STAMP
IMU = "std_msgs/Header header\ngeometry_msgs/Vector3 angular_velocity" + STAMP + VECTOR.format("Vector3")
FIX = """std_msgs/Header header
geometry_msgs/Pose pose
float64[2] heading
================================================================================
MSG: geometry_msgs/Pose
geometry_msgs/Point position
""" + STAMP + VECTOR.format("Point")  # fmt: skip
STRUCTS = {
    "Rotation2d": "double value",
    "SwerveModulePosition": "double distance;Rotation2d angle",
    "Translation2d": "double x;double y",
    "Pose2d": "Translation2d translation;Rotation2d rotation",
}


def drive(robot, **inputs):
    """A log of a drive of 2 s, and its times in whole nanoseconds."""
    run = trundle.roll(robot, 2.0, inputs, samples=201)
    return trundle.measure(robot, run, seed=1)


def rows_of(log, sensor):
    """The readings of a sensor: time, arrival (ns since 0), and values by channel."""
    names = [name for name in log.values if name.startswith(f"{sensor}.")]
    for row in np.flatnonzero(np.isfinite(log[names[0]])):
        time, arrival = (round(float(when[row]) * 1e9) for when in (log.time, log["arrival"]))
        yield time, arrival, {name: float(log[name][row]) for name in names}


def write_csv(file, log, columns=("arrival",)):
    """The log under its own names, with the whole nanoseconds of a clock."""
    names = [name for name in log.values if name != "arrival"]
    clock = {"time": log.time, "arrival": log["arrival"]}
    cells = [[str(BEGAN + round(when * 1e9)) for when in clock[name].tolist()] for name in ("time", *columns)]
    cells += [[repr(value) for value in log[name].tolist()] for name in names]
    header = ",".join(["time [ns]", *(f"{name} [ns]" for name in columns), *names])
    file.write_text("\n".join([header, *map(",".join, zip(*cells, strict=True))]).replace("nan", ""))
    return file


def header_at(time):
    seconds, nanoseconds = divmod(BEGAN + time, 10**9)
    return {"stamp": {"sec": seconds, "nanosec": nanoseconds}, "frame_id": "base"}


def write_mcap(file, log, **options):
    """The log as ROS 2 would write it; between others are messages of joints that the robot doesn't have."""
    writer_of = pytest.importorskip("mcap_ros2.writer", reason="mcap-ros2-support isn't installed")
    with file.open("wb") as stream, writer_of.Writer(stream, **options) as writer:
        joints = writer.register_msgdef("sensor_msgs/JointState", JOINT_STATE)
        imu, fix = writer.register_msgdef("sensor_msgs/Imu", IMU), writer.register_msgdef("own/Fix", FIX)
        for time, arrival, values in rows_of(log, "encoders"):
            for names in (tuple(JOINTS), ("gripper",)):
                message = {"header": header_at(time), "name": list(names), "velocity": []}
                message["position"] = [values.get(JOINTS.get(name), 0.5) for name in names]
                writer.write_message("/joint_states", joints, message, BEGAN + arrival)
        for time, arrival, values in rows_of(log, "gyro"):
            message = {"header": header_at(time), "angular_velocity": {"x": 0.0, "y": 0.0}}
            message["angular_velocity"]["z"] = values["gyro.rate"]
            writer.write_message("/imu/data", imu, message, BEGAN + arrival)
        for time, arrival, values in rows_of(log, "fixes"):
            place = {"x": values["fixes.x"], "y": values["fixes.y"], "z": 0.0}
            heading = [0.0, float(np.rad2deg(values["fixes.theta"]))]
            message = {"header": header_at(time), "pose": {"position": place}, "heading": heading}
            writer.write_message("/fix", fix, message, BEGAN + arrival)
    return file


@dataclass
class Wpilog:
    """A file in WPILib's format, record by record."""

    content: bytearray = field(default_factory=lambda: bytearray(b"WPILOG\x00\x01\x05\x00\x00\x00extra"))
    entries: dict = field(default_factory=dict)

    def record(self, entry, time, payload):
        lengths = [max(1, (number.bit_length() + 7) // 8) for number in (entry, len(payload), time)]
        self.content.append(lengths[0] - 1 | (lengths[1] - 1) << 2 | (lengths[2] - 1) << 4)
        for number, length in zip((entry, len(payload), time), lengths, strict=True):
            self.content += number.to_bytes(length, "little")
        self.content += payload

    def log(self, name, kind, time, payload):
        if name not in self.entries:
            self.entries[name] = len(self.entries) + 1
            texts = b"".join(struct.pack("<I", len(text)) + text.encode() for text in (name, kind, "{}"))
            self.record(0, time, b"\x00" + struct.pack("<I", self.entries[name]) + texts)
        self.record(self.entries[name], time, payload)

    def write(self, file):
        file.write_bytes(self.content)
        return file


def schemas(log, prefix=""):
    for name, members in STRUCTS.items():
        log.log(f"{prefix}/.schema/struct:{name}", "structschema", 0, members.encode())


def assert_same(found, wanted):
    for name in ("x", "y", "theta", "covariance.x.x", "covariance.theta.theta"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12, atol=1e-14)
    used = [[of["used"] for of in run.summary.get("fixes", {}).values()] for run in (found, wanted)]
    assert used[0] == used[1]


@pytest.fixture(scope="module")
def base_log():
    return drive(BASE, v_x=0.5, omega=0.9)


@pytest.mark.parametrize("compression", ["NONE", "ZSTD", "LZ4"])
def test_ros_messages_give_what_the_csv_gives(tmp_path, base_log, compression):
    kinds = pytest.importorskip("mcap.writer", reason="mcap-ros2-support isn't installed").CompressionType
    wanted = trundle.estimate(BASE, write_csv(tmp_path / "own.csv", base_log))
    file = write_mcap(tmp_path / "drive.bag", base_log, compression=kinds[compression], chunk_size=20_000)
    assert_same(trundle.estimate(BASE, file, columns=ROS), wanted)


def test_entries_of_numbers_give_what_the_csv_gives(tmp_path):
    """Arrays, a pose, and a wheel's entry that is logged only where it changes; µs are the times."""
    coarse = {"encoders": {"noise": 0.05, "ticks": 1024}, "fixes": {**SENSORS["fixes"], "latency": 0.0}}
    robot = BASE.with_sensors(coarse)
    log = drive(robot, v_x=0.02, omega=0.03)
    wpilog, last = Wpilog(), None
    schemas(wpilog, "NT:")
    for time, _, values in rows_of(log, "encoders"):
        left, right = (values[f"encoders.{side}.angle"] for side in ("left", "right"))
        if left != last:
            wpilog.log("/drive/left.position", "double", time // 1000, struct.pack("<d", left))
        wpilog.log("/drive/right", "double", time // 1000, struct.pack("<d", right))
        last = left
    for time, _, values in rows_of(log, "gyro"):
        payload = struct.pack("<3d", 0, 0, values["gyro.rate"])
        wpilog.log("NT:/imu/rates (rad/s)", "double[]", time // 1000, payload)
    for time, _, values in rows_of(log, "fixes"):
        wpilog.log("NT:/camera", "struct:Pose2d", time // 1000, struct.pack("<3d", *values.values()))
    columns = {
        "left.angle": "/drive/left.position",
        "right.angle": "/drive/right [rad]",
        "gyro.rate": "NT:/imu/rates (rad/s)[2]",
        "x": "NT:/camera.translation.x",
        "y": "NT:/camera.translation.y",
        "theta": "NT:/camera.rotation",
    }
    file = wpilog.write(tmp_path / "drive.wpilog")
    wanted = trundle.estimate(robot, write_csv(tmp_path / "own.csv", log, ()))
    assert_same(trundle.estimate(robot, file, columns=columns), wanted)


MODULE_COLUMNS = {
    name: text
    for place, module in enumerate(MODULES)
    for name, text in {
        f"{module}.distance": f"/drive/positions[{place}].distance",
        f"{module}.steering": f"/drive/positions[{place}].angle",
    }.items()
}


def module_positions(values):
    """Ways (m) and directions (rad) of the modules."""
    for module in MODULES:
        radius = SWERVE.number(SWERVE.rolling[module].radius)
        yield values[f"encoders.{module}.angle"] * radius, values[f"encoders.{module}.steering"]


@pytest.fixture(scope="module")
def swerve_log():
    return drive(SWERVE, v_x=0.5, v_y=0.3, omega=0.7)


def test_module_positions_of_wpilib_give_what_the_csv_gives(tmp_path, swerve_log):
    """Structs in a log of a robot that had booted before, whose first record is an array without elements."""
    wpilog = Wpilog()
    schemas(wpilog)
    wpilog.log("/drive/positions", "struct:SwerveModulePosition[]", 7, b"")
    for time, _, values in rows_of(swerve_log, "encoders"):
        payload = b"".join(struct.pack("<2d", *module) for module in module_positions(values))
        wpilog.log("/drive/positions", "struct:SwerveModulePosition[]", 12_345_678 + time // 1000, payload)
    file = wpilog.write(tmp_path / "drive.wpilog")
    wanted = trundle.estimate(SWERVE, write_csv(tmp_path / "own.csv", swerve_log))
    assert_same(trundle.estimate(SWERVE, file, columns=MODULE_COLUMNS), wanted)


def test_module_positions_in_json_give_what_the_csv_gives(tmp_path, swerve_log):
    messages = [
        (time, [{"distance": way, "angle": angle} for way, angle in module_positions(values)])
        for time, _, values in rows_of(swerve_log, "encoders")
    ]
    file = write_json(tmp_path / "drive.mcap", messages)
    wanted = trundle.estimate(SWERVE, write_csv(tmp_path / "own.csv", swerve_log))
    assert_same(trundle.estimate(SWERVE, file, columns=MODULE_COLUMNS), wanted)


def write_json(file, messages, topic="/drive/positions", encoding="json"):
    """Messages of one topic without a schema, by their times (ns since the log began)."""
    writers = pytest.importorskip("mcap.writer", reason="mcap-ros2-support isn't installed")
    with file.open("wb") as stream:
        writer = writers.Writer(stream)
        writer.start()
        channel = writer.register_channel(topic, encoding, 0)
        for time, message in messages:
            writer.add_message(channel, BEGAN + time, json.dumps(message).encode(), BEGAN + time)
        writer.finish()
    return file


@pytest.mark.parametrize(
    ("columns", "words", "hint"),
    [
        (None, "columns= has to say which numbers in its messages", "/joint_states.position[right_wheel]"),
        ({**ROS, "left.angle": "/joint_state.position[left_wheel]"}, "has no topic", "'/joint_states'?"),
        ({**ROS, "left.angle": "/joint_states.positon[left_wheel]"}, "none of the 402", "position[left_wheel]'?"),
        ({**ROS, "left.angle": "/joint_states.position[left]"}, "none of the 402", "position[left_wheel]"),
        ({**ROS, "left.angle": "/joint_states.name[0]"}, "none of the 402", "position[left_wheel]"),
        ({**ROS, "left.angle": "/joint_states.position[7]"}, "none of the 402", "position[left_wheel]"),
        ({**ROS, "left.angle": "/joint_states.position["}, "has no topic", "/joint_states"),
        ({**ROS, "left.angle": "/joint_states.position[left_wheel] [m]"}, "is in m, and in rad", ""),
        ({**ROS, "time": "/joint_states.header.stamp.sec"}, "messages have times of their own", "leave time away"),
        ({**ROS, "right.angle": "/imu/data.angular_velocity.x"}, "at 1 of 201 times not all of them do", ""),
    ],
)  # fmt: skip
def test_what_a_log_of_messages_lacks_is_named(tmp_path, base_log, columns, words, hint):
    file = write_mcap(tmp_path / "drive.mcap", base_log)
    with pytest.raises(InputError, match=words) as error:
        trundle.estimate(BASE, file, columns=columns)
    assert hint in (error.value.hint or "")
    assert error.value.key


ENCODERS = trundle.catalog.differential_drive().with_sensors({"encoders": SENSORS["encoders"]})
WHEELS = {"left.angle": "/wheels[0]", "right.angle": "/wheels[1]"}


def test_a_wpilog_that_ends_early_is_read_as_far_as_it_is_whole(tmp_path, base_log):
    wpilog = Wpilog()
    for time, _, values in rows_of(base_log, "encoders"):
        payload = struct.pack("<2d", *(values[name] for name in JOINTS.values()))
        wpilog.log("/wheels", "double[]", time // 1000, payload)
    del wpilog.content[-3:]
    file = wpilog.write(tmp_path / "cut.wpilog")
    with pytest.warns(UserWarning, match="isn't whole. What stands before was read, 200 records"):
        found = trundle.estimate(ENCODERS, file, columns=WHEELS)
    assert found.time[-1] == pytest.approx(1.99)


def test_an_mcap_that_ends_early_is_read_as_far_as_it_is_whole(tmp_path, base_log):
    file = write_mcap(tmp_path / "cut.mcap", base_log, chunk_size=5000)
    file.write_bytes(file.read_bytes()[:8000])
    columns = {name: ROS[name] for name in WHEELS}
    with pytest.warns(UserWarning, match="isn't whole"):
        found = trundle.estimate(ENCODERS, file, columns=columns)
    assert 0.1 < found.time[-1] < 2


def test_stamps_that_fall_are_refused_by_their_topic(tmp_path):
    messages = [(10**7 * k, [k, k]) for k in (0, 1, 2, 7, 3, 4)]
    file = write_json(tmp_path / "drive.mcap", messages, "/wheels")
    with pytest.raises(InputError, match="stamps of '/wheels' fall by 0.04 s, 0.07 s after the first"):
        trundle.estimate(ENCODERS, file, columns=WHEELS)


def test_encodings_that_are_not_read_are_named(tmp_path):
    file = write_json(tmp_path / "drive.mcap", [(0, [1, 2])], "/wheels", "protobuf")
    with pytest.raises(
        InputError, match="a message of '/wheels' can't be read: it is in protobuf; CDR by ros2msg"
    ):
        trundle.estimate(ENCODERS, file, columns=WHEELS)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ("/wheels[0]", "it is of type 'Wheels'; numbers, arrays of them"),
        ("/flags.on", "the struct 'Flags' has a member 'uint8 on : 1'"),
        ("/late", "has a time that ns in 64 bits can't hold"),
    ],
)
def test_entries_that_are_not_read_are_named(tmp_path, left, words):
    wpilog = Wpilog()
    wpilog.log("/wheels", "struct:Wheels[]", 0, b"")
    wpilog.log("/flags", "struct:Flags", 0, b"")
    wpilog.log("/.schema/struct:Flags", "structschema", 0, b"uint8 on : 1")
    wpilog.log("/late", "double", 2**62, bytes(8))
    file = wpilog.write(tmp_path / "drive.wpilog")
    with pytest.raises(InputError, match=words):
        trundle.estimate(ENCODERS, file, columns={**WHEELS, "left.angle": left})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("drive.mcap", b"time,x", "doesn't begin as .mcap files do"),
        ("drive.wpilog", None, "cannot read the file"),
        ("drive.wpilog", b"WPILOG", "columns= has to say"),
        ("drive.csv", b"WPILOG", "columns= has to say"),
    ],
)
def test_what_a_file_is_is_told_by_how_it_begins(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        trundle.estimate(BASE, tmp_path / name)


def test_without_the_extra_a_message_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "drive.mcap").write_bytes(b"\x89MCAP0\r\n")
    monkeypatch.setitem(sys.modules, "mcap_ros2.decoder", None)
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    with pytest.raises(InputError, match=".mcap files are read by mcap-ros2-support") as error:
        trundle.estimate(BASE, tmp_path / "drive.mcap", columns=ROS)
    assert "pip install 'trundle[logs]'" in str(error.value.hint)


def test_records_are_those_that_wpilib_reads(tmp_path, base_log):
    reading = pytest.importorskip("wpiutil.log", reason="robotpy-wpiutil isn't installed")
    wpilog = Wpilog()
    for time, _, values in rows_of(base_log, "encoders"):
        for name, value in values.items():
            wpilog.log(name * (1 + time % 3), "double", time, struct.pack("<d", value))
    file = wpilog.write(tmp_path / "drive.wpilog")
    names, wanted = {}, []
    for record in reading.DataLogReader(str(file)):
        if record.isStart():
            names[record.getStartData().entry] = record.getStartData().name
        else:
            wanted.append((names[record.getEntry()], record.getTimestamp() * 1000, record.getDouble()))
    topics = read_wpilog(file, lambda name: True).topics
    found = [
        (name, time, topic.message(raw)) for name, topic in topics.items() for time, raw in topic.records
    ]
    assert sorted(found) == sorted(wanted)


def test_readings_out_of_any_range_end_the_estimate(tmp_path):
    log = drive(BASE, **{"left.rate": 2.0, "right.rate": 3.0})
    values = {name: np.array(log[name]) for name in log.values}
    angles = values["encoders.left.angle"]
    angles[5:] = np.where(np.isfinite(angles[5:]), 1e300, np.nan)
    with pytest.raises(NumericsError, match="the estimate ceases to be finite"):
        trundle.estimate(BASE, trundle.Run(log.name, log.time, values))


def test_a_folder_of_a_bag_names_its_file(tmp_path):
    (tmp_path / "bag_0.mcap").touch()
    with pytest.raises(InputError, match="is a folder, with bag_0.mcap") as caught:
        trundle.estimate(BASE, tmp_path, columns=ROS)
    assert caught.value.hint == "name a file in it"


def test_a_quaternion_has_a_yaw():
    """About an axis beside z, too: the direction of the turned x axis in the plane."""
    axis, angle = np.array([0.2, -0.1, 0.9]) / np.linalg.norm([0.2, -0.1, 0.9]), 0.8
    x, y, z, w = *(np.sin(angle / 2) * axis), np.cos(angle / 2)
    turned = np.cos(angle) * np.array([1.0, 0, 0]) + np.sin(angle) * np.cross(axis, [1, 0, 0])
    turned = turned + (1 - np.cos(angle)) * axis[0] * axis
    message = {"pose": {"orientation": dict(zip("xyzw", (x, y, z, w), strict=True))}}
    found = number_at(message, steps_of(".pose.orientation.yaw"))
    assert found == pytest.approx(np.arctan2(turned[1], turned[0]), abs=1e-15)
    assert ".pose.orientation.yaw" in list(number_paths(message))


def test_a_gyro_of_another_period_is_said(tmp_path):
    log = drive(BASE, **{"left.rate": 2.0, "right.rate": 3.0})
    robot = BASE.with_sensors({"gyro": {"type": "gyro", "noise": 0.002, "period": "2 ms"}})
    with pytest.warns(
        UserWarning, match=r"'gyro' tells every 0.01 s .* every 0.002 s .*: write period: 0.01 s"
    ):
        trundle.estimate(robot, log)


def test_columns_that_contradict_the_file_are_refused(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("time,l [deg],r\n0,0,0\n0.01,1,1\n")
    for columns, said in (
        ({"left.angle": "l [rad]", "right.angle": "r"}, "has 'l' in deg, and columns says rad"),
        ({"left.angle": "r", "right.angle": "r"}, "'r' is given for encoders.left.angle"),
    ):
        with pytest.raises(InputError, match=said):
            trundle.estimate(BASE, file, columns=columns)

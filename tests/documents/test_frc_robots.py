"""PathPlanner's settings and Choreo's projects as robots, and what every other file of these tools is told to be."""

import contextlib
import json
import math

import pytest

import trundle
from trundle import InputError
from trundle.documents.frc_robots import MOTORS
from trundle.motion.commands.commands import read_commands
from trundle.robot.motor import Drive
from trundle.scalars import smooth_sign

pytestmark = pytest.mark.filterwarnings("ignore:.*says nothing of a battery")

SETTINGS = {
    "robotWidth": 0.8,
    "robotLength": 0.9,
    "holonomicMode": True,
    "pathFolders": [],
    "robotMass": 60.7,
    "robotMOI": 5.3,
    "robotTrackwidth": 0.6,
    "driveWheelRadius": 0.05,
    "driveGearing": 6.1,
    "maxDriveSpeed": 4.4,
    "driveMotorType": "krakenX60",
    "driveCurrentLimit": 70.0,
    "wheelCOF": 1.1,
}
CORNERS = {"fl": (0.31, 0.27), "fr": (0.3, -0.28), "bl": (-0.29, 0.26), "br": (-0.32, -0.25)}
MODULES = {
    f"{at}Module{axis}": value
    for at, place in CORNERS.items()
    for axis, value in zip("XY", place, strict=True)
}
NEWER = {"defaultNominalVoltage": 11.5, "bumperOffsetX": 0.02, "bumperOffsetY": -0.01, "robotFeatures": []}


def val(number):
    return {"exp": f"{number}", "val": number}


CONFIG = {
    "frontLeft": {"x": val(0.28), "y": val(0.27)},
    "backLeft": {"x": val(-0.26), "y": val(0.25)},
    "mass": val(55.5),
    "inertia": val(4.8),
    "gearing": val(6.5),
    "radius": val(0.0508),
    "vmax": val(500.0),
    "tmax": val(1.3),
    "bumper": {"front": val(0.45), "side": val(0.4), "back": val(0.41)},
    "differentialTrackWidth": val(0.5588),
}
COF = {"cof": val(1.2)}
CODE = {"codegen": {"root": None, "genVars": True}}


def project(version, kind="Swerve", **config):
    variables = {"expressions": {}, "poses": {}}
    whole = {"name": "one", "version": version, "type": kind, "variables": variables}
    return {**whole, "config": CONFIG | config, "generationFeatures": []}


def samples(*, sides=()):
    return [
        {"t": t, "x": t, "y": 0.0, "heading": 0.0, "omega": 0.0, **dict.fromkeys(sides, 1.0)} for t in (0, 1)
    ]


def trajectory(version, sides=("vx", "vy")):
    moved = {"waypoints": [0.0, 1.0], "samples": samples(sides=sides)}
    return {
        "name": "one",
        "version": version,
        "snapshot": {"constraints": []},
        "trajectory": moved,
        "events": [],
    }


def point(x):
    return {"x": x, "y": 0.0}


def path(version):
    limits = {
        "maxVelocity": 3.0,
        "maxAcceleration": 3.0,
        "maxAngularVelocity": 540.0,
        "maxAngularAcceleration": 720.0,
    }
    ends = [
        {"anchor": point(0.0), "prevControl": None, "nextControl": point(1.0)},
        {"anchor": point(3.0), "prevControl": point(2.0), "nextControl": None},
    ]
    still = {"velocity": 0, "rotation": 0.0}
    whole = {
        "waypoints": ends,
        "globalConstraints": limits,
        "goalEndState": still,
        "idealStartingState": still,
    }
    return {"version": version, **whole}


GRID = {"field_size": {"x": 16.5, "y": 8.0}, "nodeSizeMeters": 0.3, "grid": [[True, False]]}
ROUTINE = {
    "version": "2025.0",
    "command": {"type": "sequential", "data": {"commands": []}},
    "resetOdom": True,
}
OLD_PROJECT = {"version": "v0.4", "robotConfiguration": {"mass": 60.0}, "paths": {}}

# What a file is as a robot and as a path: "" where it is read, else words of the error and its hint.
NO_ROBOT, OLD = "settings.json, or Choreo's .chor", "PathPlanner 2025 or 2026"
GIVE_TRAJ = "Choreo project.*\n.*give its .traj"
FILES = {
    "settings.json": (SETTINGS | MODULES, "", "settings\n.*--robot"),
    "newer settings.json": (SETTINGS | MODULES | NEWER, "", "settings\n.*--robot"),
    "beta settings.json": (SETTINGS | {"robotWheelbase": 0.5}, "", "settings\n.*--robot"),
    "tank settings.json": (SETTINGS | {"holonomicMode": False}, "", "settings\n.*--robot"),
    "old settings.json": (
        {"holonomicMode": True, "robotWidth": 0.9},
        f"without robotMass.*\n.*{OLD}",
        "--robot",
    ),
    "zero.chor": (project(0), "", GIVE_TRAJ),
    "one.chor": (project(1, **COF), "", GIVE_TRAJ),
    "two.chor": (project(2, **COF) | CODE, "", GIVE_TRAJ),
    "beta.chor": (project("v2025.0.0-beta-6"), "", GIVE_TRAJ),
    "tank.chor": (project(2, "Differential", **COF), "", GIVE_TRAJ),
    "three.chor": (project(3), "version: expected Choreo's format up to 2, got version 3", GIVE_TRAJ),
    "old.chor": (OLD_PROJECT, "project of 2024\n.*Choreo 2025", "project of 2024\n.*give its .traj"),
    "zero.traj": (trajectory(0), NO_ROBOT, ""),
    "one.traj": (trajectory(1), NO_ROBOT, ""),
    "two.traj": (trajectory(2), NO_ROBOT, ""),
    "three.traj": (trajectory(3, ("vl", "vr")), NO_ROBOT, ""),
    "beta.traj": (trajectory("v2025.0.0"), NO_ROBOT, ""),
    "four.traj": (trajectory(4), NO_ROBOT, "format up to 3, got version 4"),
    "old.traj": ({"samples": samples()}, NO_ROBOT, "format of 2024\n.*Choreo 2025"),
    "new.path": (path("2025.0"), NO_ROBOT, ""),
    "old.path": (path(1.0), NO_ROBOT, f"format 2025, got version 1.0\n.*{OLD}"),
    "one.auto": (ROUTINE, NO_ROBOT, "autonomous routine"),
    "navgrid.json": (GRID, NO_ROBOT, "grid of a field.*\n.*pathplanner/paths"),
}


@pytest.fixture
def written(tmp_path):
    """Writes data as a file, as the tools do, and says where."""

    def write(data, name="settings.json"):
        file = tmp_path / name
        file.write_text(json.dumps(data, indent=2), encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_is_read_or_named(name, written):
    data, as_robot, as_path = FILES[name]
    file = written(data, name)
    for call, said in ((trundle.load, as_robot), (trundle.read_path, as_path)):
        if said:
            with pytest.raises(InputError, match=said) as error:
                call(file)
            assert error.value.file == str(file)
        else:
            assert call(file).name
    if as_path:  # commands are no paths, and say the same of what is neither
        with pytest.raises(InputError) as error:
            read_commands(file)
        assert "trundle: 1" not in str(error.value)


def test_content_tells_what_a_file_is_not_its_name(written):
    assert trundle.load(written(SETTINGS | MODULES, "anything.txt")).name == "swerve"
    assert trundle.load(written(project(2), "anything.json")).name == "swerve"
    with pytest.raises(InputError, match="trajectory of Choreo\n.*NAME.traj"):
        trundle.read_path(written(trajectory(3), "moved.chor"))


def test_modules_of_the_beta_stand_at_the_corners(written):
    robot = trundle.load(written(SETTINGS | {"robotWheelbase": 0.5}))
    assert [robot.number(at) for at in robot.wheels["rear_left"].at] == [-0.25, 0.3, 0]
    assert [robot.number(at) for at in robot.wheels["front_right"].at] == [0.25, -0.3, 0]


def by_hand(moment):
    """The description of the settings as somebody would write it."""
    constant, emf, resistance = 7.09 / 366, (12 - 12 / 366 * 2.0) / (6000 * 2 * math.pi / 60), 12 / 366
    names = {"fl": "front_left", "fr": "front_right", "bl": "rear_left", "br": "rear_right"}
    wheel = {
        "type": "steered",
        "radius": 0.05,
        "contact": "slip",
        "friction": 1.1,
        "limits": {"drive_speed": 4.4},
    }
    wheel["inertia"] = {"axle": moment, "diameter": moment}
    drive = {"type": "dc", "model": "kraken_x60", "gear_ratio": 6.1, "friction": 0.0}
    drive |= {"voltage_limit": 11.5, "current_limit": 70.0, "coulomb_speed": 6.1 * 0.02 / 0.05}
    drive["coulomb"] = constant * (12 - emf * 6.1 * 4.4 / 0.05) / resistance
    servo = {"type": "servo", "stiffness": 40.0, "damping": 4.0}
    return trundle.Robot(
        name="swerve",
        body={"mass": 60.7, "center_of_mass": [0, 0, -0.05], "inertia": {"zz": 5.3}},
        wheels={names[at]: {"at": [x, y, 0], **wheel} for at, (x, y) in CORNERS.items()},
        motors={f"{name}_drive": {"drives": name, **drive} for name in names.values()}
        | {f"{name}_steer": {"drives": f"{name}.steering", **servo} for name in names.values()},
    )


def test_a_robot_of_settings_is_the_one_written_by_hand(written):
    robot = trundle.load(written(SETTINGS | MODULES | NEWER))
    number = robot.number
    mine = by_hand(number(robot.wheels["front_left"].inertia.axle))
    assert trundle.derive(robot).inputs == trundle.derive(mine).inputs
    ours, theirs = robot.parameter_values(), mine.parameter_values()
    assert ours == pytest.approx(theirs, rel=1e-14)  # the friction of motors is summed in another order
    for key in ours:
        if "coulomb" not in key and "resistance" not in key:
            assert ours[key] == theirs[key]
    assert sum(number(value) for place, value in robot.every_value if place[-1] == "mass") == 60.7
    assert [number(edge) for edge in robot.body.shapes["bumpers"].size][:2] == [0.9, 0.8]
    assert [number(at) for at in robot.body.shapes["bumpers"].at] == [0.02, -0.01, 0]


@pytest.mark.parametrize("tank", [False, True])
@pytest.mark.parametrize("name", MOTORS)
def test_the_motor_is_that_of_pathplanners_own_formulas(name, tank, written, rng):
    """ModuleConfig: τ(ω) = K min(i(ω), I) − K min(i(ω_max), I), of as many motors as there are."""
    count, gearing, radius, limit = 2 if tank else 1, 6.1, 0.05, 60.0
    published = trundle.catalog.motor(MOTORS[name])
    free = published.free_speed * 2 * math.pi / 60
    speed = rng.uniform(0.88, 0.98) * free / gearing * radius
    data = {
        "driveMotorType": name,
        "maxDriveSpeed": speed,
        "driveCurrentLimit": limit,
        "holonomicMode": not tank,
    }
    robot = trundle.load(written(SETTINGS | MODULES | data))
    motor = robot.motors["left_motor" if tank else "front_left_drive"]
    resistance = 12 / (count * published.stall_current)
    per_volt = free / (12 - resistance * count * published.free_current)

    def torque(rate):
        current = (12 - rate / per_volt) / resistance
        return published.stall_torque / published.stall_current * min(current, count * limit)

    top, dry = speed * gearing / radius, robot.number(motor.coulomb_speed)
    assert float(motor.rate_at(12.0, robot.number)) * radius == pytest.approx(speed, rel=1e-12)
    for rate in rng.uniform(1, top, 5):
        drive = Drive(0.0, 0.0, rate / gearing, {})
        theirs = gearing * (torque(rate) - torque(top) * smooth_sign(rate, dry))
        assert motor.greatest_torque(drive, robot.number) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@pytest.fixture
def pathplanners(tmp_path, monkeypatch):
    """What PathPlannerLib itself makes of settings."""
    config = pytest.importorskip("pathplannerlib.config")
    folder = tmp_path / "pathplanner"
    folder.mkdir()
    monkeypatch.setattr(config, "getDeployDirectory", lambda: str(tmp_path))

    def read(data):
        (folder / "settings.json").write_text(json.dumps(data))
        return config.RobotConfig.fromGUISettings()

    return read


@pytest.mark.parametrize("tank", [False, True])
@pytest.mark.parametrize("name", MOTORS)
def test_settings_are_what_pathplannerlib_makes_of_them(name, tank, pathplanners, written):
    free = trundle.catalog.motor(MOTORS[name]).free_speed * 2 * math.pi / 60
    own = {"driveMotorType": name, "maxDriveSpeed": 0.93 * free / 6.1 * 0.05, "holonomicMode": not tank}
    data = SETTINGS | MODULES | own
    theirs, robot = pathplanners(data), trundle.load(written(data))
    number, wheels = robot.number, robot.wheels
    motor = robot.motors["left_motor" if tank else "rear_left_drive"]
    order = ("left", "right") if tank else ("front_left", "front_right", "rear_left", "rear_right")
    places = [(at.x, at.y) for at in theirs.moduleLocations]
    assert places == [tuple(number(at) for at in wheels[name].at[:2]) for name in order]
    assert (theirs.massKG, theirs.MOI) == (number(robot.body.mass), number(robot.body.inertia.zz))
    assert theirs.moduleConfig.driveCurrentLimit == number(motor.current_limit)
    # WPILib's CIM and Vortex have other numbers than their makers' pages
    close = {"CIM": 0.04, "vortex": 1e-3}.get(name, 1e-12)
    assert theirs.moduleConfig.torqueLoss == pytest.approx(6.1 * number(motor.coulomb), rel=close)


@pytest.mark.parametrize("tank", [False, True])
def test_a_straight_way_takes_as_long_as_pathplanners(tank, pathplanners, written):
    """Theirs sums over points of the path and has 9.8 m/s²; ours has wheels with a hundredth of the mass."""
    paths = pytest.importorskip("pathplannerlib.path")
    from wpimath.geometry import Rotation2d
    from wpimath.kinematics import ChassisSpeeds

    data = SETTINGS | MODULES | {"holonomicMode": not tank}
    free = dict.fromkeys(path("2025.0")["globalConstraints"], 10000.0)
    free |= {"nominalVoltage": 12.0, "unlimited": False}
    keys = ("rotationTargets", "constraintZones", "eventMarkers", "pointTowardsZones")
    line = path("2025.0") | {key: [] for key in keys} | {"globalConstraints": free, "reversed": False}
    their = paths.PathPlannerPath._fromJson(line)
    theirs = their.generateTrajectory(ChassisSpeeds(), Rotation2d(), pathplanners(data)).getTotalTimeSeconds()
    file = written(line, "line.path")
    ours = trundle.follow(file, trundle.load(written(data)), grip=1.0, progress=False).motion.duration
    assert ours == pytest.approx(theirs, rel=0.02)


def test_top_speed_is_the_settings_own(written):
    for holonomic in (True, False):
        file = written(SETTINGS | MODULES | {"holonomicMode": holonomic})
        assert trundle.analyze(file).top_speed.speed == pytest.approx(4.4, rel=1e-12)


def test_a_project_of_choreo_has_a_source_of_torque_up_to_a_speed(written):
    robot = trundle.load(written(project(2, **COF), "one.chor"))
    places = {name: [robot.number(at) for at in wheel.at] for name, wheel in robot.wheels.items()}
    assert places == {
        "front_left": [0.28, 0.27, 0],
        "front_right": [0.28, -0.27, 0],
        "rear_left": [-0.26, 0.25, 0],
        "rear_right": [-0.26, -0.25, 0],
    }
    motor, wheel = robot.motors["rear_left_drive"], robot.wheels["rear_left"]
    assert (motor.type, robot.number(motor.torque_limit), robot.number(motor.gear_ratio)) == (
        "torque",
        1.3,
        6.5,
    )
    assert robot.number(wheel.limits.drive_speed) == pytest.approx(500 / 6.5 * 0.0508, rel=1e-15)
    assert robot.number(wheel.law.friction) == 1.2
    assert robot.number(robot.body.mass), robot.number(robot.body.inertia.zz) == (55.5, 4.8)
    box = robot.body.shapes["bumpers"]
    assert [robot.number(edge) for edge in box.size][:2] == pytest.approx([0.86, 0.8])
    assert robot.number(box.at[0]) == pytest.approx(0.02)
    older = trundle.load(written(project(0), "one.chor"))
    assert older.number(older.wheels["rear_left"].law.friction) == 1.5  # as Choreo itself upgrades it
    tank = trundle.load(written(project(2, "Differential"), "one.chor"))
    assert [tank.number(tank.wheels[side].at[1]) for side in ("left", "right")] == [0.2794, -0.2794]


WRONG = {
    "robotMass": (-3, "robotMass: must be greater than 0.0, got -3"),
    "robotMOI": ("six", "robotMOI: expected a number, got 'six'"),
    "driveGearing": ("6.1", "driveGearing: expected a number, got '6.1'"),
    "driveWheelRadius": (0, "driveWheelRadius: must be greater than 0.0, got 0"),
    "holonomicMode": (1, "holonomicMode: expected true or false, got 1"),
    "wheelCOF": (True, "wheelCOF: expected a number, got true"),
    "maxDriveSpeed": (None, "maxDriveSpeed: expected a number, got"),
    "driveMotorType": ("krakenX66", "driveMotorType: there is no motor 'krakenX66'\n.*krakenX60"),
    "driveWheelRadius ": (
        0.5,
        "maxDriveSpeed: at 4.4 m/s the motor still draws 335 A, beyond its limit of 70 A",
    ),
    "robotMOI ": (1e12, "robotMOI: must be at most"),
}


@pytest.mark.parametrize("key", WRONG)
def test_what_is_wrong_in_settings_is_named_with_its_line(key, written):
    value, said = WRONG[key]
    file = written(SETTINGS | MODULES | {key.strip(): value})
    with pytest.raises(InputError, match=f"settings.json:[0-9]+: {said}"):
        trundle.load(file)


@pytest.mark.parametrize("key", ["robotMOI", "holonomicMode", "driveMotorType", "brModuleY"])
def test_what_is_missing_in_settings_is_named(key, written):
    data = SETTINGS | MODULES
    del data[key]
    with pytest.raises(InputError, match=f"{key}: '{key}' is missing"):
        trundle.load(written(data))
    tank = SETTINGS | {"holonomicMode": False}
    del tank["robotTrackwidth"]
    with pytest.raises(InputError, match="'robotTrackwidth' is missing"):
        trundle.load(written(tank))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"mass": val(0)}, "config.mass.val: must be greater than 0.0, got 0"),
        ({"vmax": 600.0}, "config.vmax: expected a value with exp and val"),
        ({"tmax": {"exp": "1.2 N m"}}, "config.tmax.val: 'val' is missing"),
        ({"backLeft": None}, "config.backLeft: 'backLeft' is missing"),
        ({"frontLeft": {"x": val(0.3)}}, "config.frontLeft.y: 'y' is missing"),
    ],
)
def test_what_is_wrong_in_a_project_is_named_with_its_line(config, said, written):
    with pytest.raises(InputError, match=f"one.chor:[0-9]+: {said}"):
        trundle.load(written(project(2, **config), "one.chor"))
    with pytest.raises(InputError, match="type: unknown choice 'Mecanum'"):
        trundle.load(written(project(2, "Mecanum"), "one.chor"))


def test_files_that_are_no_json_say_where(written):
    file = written(SETTINGS)
    whole = file.read_text()
    for text, said in (
        (whole.replace("60.7", "NaN"), ":6: not valid JSON: NaN is no number"),
        (whole.rstrip("}\n"), "not valid JSON"),
        (whole + whole, "not valid JSON: Extra data"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            trundle.load(file)


@pytest.mark.filterwarnings("default")
def test_what_the_tools_do_not_know_is_said_once(written):
    with pytest.warns(UserWarning, match="settings.json: says nothing of a battery") as said:
        robot = trundle.load(written(SETTINGS | MODULES))
    (note,) = said
    for key in ("batteries", "body.center_of_mass", "motors.NAME_steer"):
        assert key in str(note.message)
    assert trundle.documents.parse(trundle.documents.dump(robot)).robot == robot
    with pytest.warns(UserWarning, match="friction .1.5, as Choreo.*wheels.NAME.friction"):
        trundle.load(written(project(0), "zero.chor"))
    with pytest.warns(UserWarning, match="battery") as said:
        trundle.load(written(project(1, "Differential", **COF), "one.chor"))
    assert "steer" not in str(said[0].message)
    assert "friction" not in str(said[0].message)


def test_a_damaged_file_is_an_input_error_and_nothing_else(written, rng):
    """Whatever stands at a key, or doesn't: it is read, or named."""
    wrong = [None, True, "", "4", [], {}, {"val": "x"}, -1, 0, 1e300, 10**400, "krakenX60", [1] * 3]
    for _ in range(200):
        data = json.loads(json.dumps(rng.choice([SETTINGS | MODULES | NEWER, project(2, **COF)])))
        inner = data["config"] if "config" in data and rng.random() < 0.8 else data
        key = rng.choice(list(inner))
        if rng.random() < 0.2:
            del inner[key]
        else:
            inner[key] = wrong[rng.integers(len(wrong))]
        with contextlib.suppress(InputError):
            assert trundle.load(written(data)).wheels


def test_large_projects_of_2024_are_named(written):
    long = OLD_PROJECT | {"paths": {"one": {"trajectory": [{"x": 1.0}] * 60_000}}}
    file = written(long, "large.chor")
    assert file.stat().st_size > 1_000_000
    for call in (trundle.load, trundle.read_path, read_commands):
        with pytest.raises(InputError, match="project of 2024"):
            call(file)

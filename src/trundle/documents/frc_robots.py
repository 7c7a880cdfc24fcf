"""Robots of what competition teams' tools know of them: PathPlanner's `settings.json`, and Choreo's `.chor`.

Both tools plan with a mass at the floor, which shifts no load, and steer without delay. So does the robot: its modules
weigh nothing. Sources: RobotConfig and ModuleConfig of PathPlannerLib (2025, 2026), RobotConfig of Choreo.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Literal, NamedTuple, TypeVar

from pydantic import ConfigDict, Field

from trundle.documents.document import Document
from trundle.documents.json_files import (
    KINDS,
    Above0,
    ForeignComponent,
    JsonFile,
    Number,
    choreo_version,
    kind_of,
)
from trundle.errors import InputError, choose, warn
from trundle.robot.description import Robot, parse_robot, with_base
from trundle.robot.real_motors import REAL_MOTORS

# The newest format of Choreo's projects that is read; without friction, before format 1, Choreo takes 1.5.
PROJECT_VERSION, _COF = 2, 1.5
# PathPlanner's names of motors.
MOTORS = {
    "krakenX60": "kraken_x60",
    "krakenX60FOC": "kraken_x60_foc",
    "falcon500": "falcon_500",
    "falcon500FOC": "falcon_500_foc",
    "vortex": "neo_vortex",
    "NEO": "neo",
    "CIM": "cim",
    "miniCIM": "mini_cim",
}
# V: at which `maxDriveSpeed` holds in ModuleConfig, whatever the nominal voltage of the paths.
_FULL_VOLTAGE = 12.0
# Wheels that slip spin up against a moment, and these tools know none. All of theirs together act as this share of the
# robot's mass: it slows a plan by half of that at most, and a smaller one makes runs with forces stiffer.
_SPINNING = 0.01
# m/s of the rim, below which friction fades: twice the slip at which contacts near their full force. Else a wheel that
# creeps while the base brakes to rest would be rubbed the other way, and plans wait for that.
_FADING = 0.02
# Of a module's servo, as in the catalogue: it is to be quick, and nothing but the wheel's moment resists it.
_SERVO = {"type": "servo", "stiffness": 40.0, "damping": 4.0}
# m: of a bumper's plywood backing in the rules of the competition; only pictures show it.
_BUMPER_HEIGHT = 0.127
# What a file may not know, what holds then, and where a description has it.
_BATTERY = "a battery (the voltage never sags)", "batteries"
_HEIGHT = "the height of the centre of mass (no load shifts)", "body.center_of_mass"
_STEERING = "motors that steer (servos do, at once)", "motors.NAME_steer, wheels.NAME.limits"
_INERTIA = "wheels' inertia (together a hundredth of the mass)", "wheels.NAME.inertia"
_FRICTION = f"the floor's friction ({_COF}, as Choreo has it then)", "wheels.NAME.friction"

_T = TypeVar("_T")


class _Box(NamedTuple):
    """Bumpers in the plane: their middle and their edges (m)."""

    x: float
    y: float
    length: float
    width: float


class _TeamRobot(NamedTuple):
    """What both tools know, in SI: a motor's data, wheels' places by name, greatest speed of the wheels' rims."""

    mass: float
    inertia: float
    radius: float
    friction: float
    speed: float
    places: Mapping[str, tuple[float, float]]
    motor: Mapping[str, object]
    steered: bool
    bumpers: _Box | None

    def robot(self) -> Robot:
        """The description."""
        moment = _SPINNING * self.mass * self.radius**2 / len(self.places)
        wheel: dict[str, object] = {
            "type": "steered" if self.steered else "fixed",
            "radius": self.radius,
            "inertia": {"axle": moment, "diameter": moment},
            "contact": "slip",
            "friction": self.friction,
            "limits": {"drive_speed": self.speed},
        }
        body: dict[str, object] = {
            "mass": self.mass,
            "center_of_mass": [0, 0, -self.radius],
            "inertia": {"zz": self.inertia},
        }
        if self.bumpers is not None:
            x, y, length, width = self.bumpers
            body["shapes"] = {"bumpers": {"at": [x, y, 0], "size": [length, width, _BUMPER_HEIGHT]}}
        drive = "{}_drive" if self.steered else "{}_motor"
        motors: dict[str, object] = {drive.format(on): {"drives": on, **self.motor} for on in self.places}
        if self.steered:
            motors |= {f"{name}_steer": {"drives": f"{name}.steering", **_SERVO} for name in self.places}
        return parse_robot({
            "name": "swerve" if self.steered else "differential_drive",
            "body": body,
            "wheels": {name: {"at": [x, y, 0], **wheel} for name, (x, y) in self.places.items()},
            "motors": motors,
        })  # fmt: skip


class _Settings(ForeignComponent):
    called = "set of settings"
    model_config = ConfigDict(extra="ignore", strict=True)

    holonomicMode: bool
    robotMass: Above0
    robotMOI: Above0
    driveWheelRadius: Above0
    driveGearing: Above0
    maxDriveSpeed: Above0
    driveMotorType: str
    driveCurrentLimit: Above0
    wheelCOF: Above0
    defaultNominalVoltage: Above0 = _FULL_VOLTAGE
    robotWidth: Above0 | None = None
    robotLength: Above0 | None = None
    bumperOffsetX: Number = 0.0
    bumperOffsetY: Number = 0.0
    robotWheelbase: Above0 | None = None
    robotTrackwidth: Above0 | None = None
    flModuleX: Number | None = None
    flModuleY: Number | None = None
    frModuleX: Number | None = None
    frModuleY: Number | None = None
    blModuleX: Number | None = None
    blModuleY: Number | None = None
    brModuleX: Number | None = None
    brModuleY: Number | None = None

    def known(self, source: JsonFile) -> _TeamRobot:
        """In SI, as the file has it."""
        sized = self.robotLength is not None and self.robotWidth is not None
        bumpers = (self.bumperOffsetX, self.bumperOffsetY, self.robotLength or 0.0, self.robotWidth or 0.0)
        return _TeamRobot(
            self.robotMass, self.robotMOI, self.driveWheelRadius, self.wheelCOF, self.maxDriveSpeed,
            self._modules(source) if self.holonomicMode else _sides(source, self.robotTrackwidth, "robotTrackwidth"),
            self._motor(source), self.holonomicMode, _Box(*bumpers) if sized else None,
        )  # fmt: skip

    def _modules(self, source: JsonFile) -> dict[str, tuple[float, float]]:
        """Where modules stand; before November 2024 at the corners of wheelbase and track."""
        corners = {"front_left": "fl", "front_right": "fr", "rear_left": "bl", "rear_right": "br"}
        length, width = self.robotWheelbase, self.robotTrackwidth
        if length is not None and width is not None and self.flModuleX is None:
            signs = {"f": 1, "b": -1, "l": 1, "r": -1}
            return {
                name: (signs[at[0]] * length / 2, signs[at[1]] * width / 2) for name, at in corners.items()
            }
        return {
            name: (
                _there(source, getattr(self, f"{at}ModuleX"), f"{at}ModuleX"),
                _there(source, getattr(self, f"{at}ModuleY"), f"{at}ModuleY"),
            )
            for name, at in corners.items()
        }

    def _motor(self, source: JsonFile) -> dict[str, object]:
        """What drives a wheel: one motor, of a differential drive two as one. As in ModuleConfig, all the torque that
        they have at 12 V and `maxDriveSpeed` is friction.
        """
        if self.driveMotorType not in MOTORS:
            message, hint = f"there is no motor {self.driveMotorType!r}", choose(self.driveMotorType, MOTORS)
            raise source.error(message, ("driveMotorType",), hint)
        model, count = MOTORS[self.driveMotorType], 1 if self.holonomicMode else 2
        motor = REAL_MOTORS[model].keys
        rate = self.driveGearing * self.maxDriveSpeed / self.driveWheelRadius
        current = (_FULL_VOLTAGE - motor["back_emf_constant"] * rate) / motor["resistance"]
        if current >= self.driveCurrentLimit:
            free = self.maxDriveSpeed * _FULL_VOLTAGE / (motor["back_emf_constant"] * rate)
            raise source.error(
                f"at {self.maxDriveSpeed:g} m/s the motor still draws {current:.0f} A, beyond its limit of "
                f"{self.driveCurrentLimit:g} A: by PathPlanner's formulas all of its torque is lost, and nothing moves",
                ("maxDriveSpeed",),
                f"without friction it would reach {free:.3g} m/s; check driveWheelRadius and driveGearing, too",
            )
        rub = max(motor["torque_constant"] * current, 0.0)
        return {
            "type": "dc",
            "model": model,
            "gear_ratio": self.driveGearing,
            "resistance": motor["resistance"] / count,
            "friction": 0.0,
            "coulomb": count * rub,
            "coulomb_speed": self.driveGearing * _FADING / self.driveWheelRadius,
            "voltage_limit": self.defaultNominalVoltage,
            "current_limit": count * self.driveCurrentLimit,
        }


class _Expression(ForeignComponent):
    called = "value with exp and val"
    model_config = ConfigDict(extra="ignore", strict=True)

    val: Number


class _Positive(_Expression):
    val: Above0


class _ChoreoModule(ForeignComponent):
    called = "module"

    x: _Expression
    y: _Expression


class _Bumper(ForeignComponent):
    called = "bumper"

    front: _Positive
    side: _Positive
    back: _Positive


class _Config(ForeignComponent):
    called = "robot's config"

    mass: _Positive
    inertia: _Positive
    gearing: _Positive
    radius: _Positive
    vmax: _Positive
    tmax: _Positive
    cof: _Positive = Field(default_factory=lambda: _Positive(val=_COF))
    bumper: _Bumper | None = None
    frontLeft: _ChoreoModule | None = None
    backLeft: _ChoreoModule | None = None
    differentialTrackWidth: _Positive | None = None


class _Project(ForeignComponent):
    called = "project"

    config: _Config
    type: Literal["Swerve", "Differential"] = "Swerve"

    def known(self, source: JsonFile) -> _TeamRobot:
        """In SI; the motor is a source of `tmax` up to `vmax`, as Choreo plans with it."""
        config, steered = self.config, self.type == "Swerve"
        gearing, radius, bumper = config.gearing.val, config.radius.val, config.bumper
        if steered:
            places = self._modules(source)
        else:
            track = config.differentialTrackWidth
            places = _sides(source, track and track.val, "config.differentialTrackWidth")
        box = bumper and _Box(
            (bumper.front.val - bumper.back.val) / 2,
            0.0,
            bumper.front.val + bumper.back.val,
            2 * bumper.side.val,
        )
        return _TeamRobot(
            config.mass.val, config.inertia.val, radius, config.cof.val, config.vmax.val / gearing * radius, places,
            {"type": "torque", "gear_ratio": gearing, "torque_limit": config.tmax.val}, steered, box,
        )  # fmt: skip

    def _modules(self, source: JsonFile) -> dict[str, tuple[float, float]]:
        """The left ones', and the right ones' opposite to them."""
        ends = {
            end: _there(source, getattr(self.config, key), f"config.{key}")
            for end, key in (("front", "frontLeft"), ("rear", "backLeft"))
        }
        sides = (("left", 1), ("right", -1))
        return {
            f"{end}_{side}": (at.x.val, sign * at.y.val) for end, at in ends.items() for side, sign in sides
        }


def _of_settings(source: JsonFile) -> _TeamRobot:
    return source.checked(_Settings).known(source)


def _of_project(source: JsonFile) -> _TeamRobot:
    choreo_version(source, PROJECT_VERSION)
    return source.checked(_Project).known(source)


_READERS = {"settings": _of_settings, "project": _of_project}


def robot_document(text: str, path: str | FilePath | None, base: str | None = None) -> Document | None:
    """The robot in a file of these tools, None for other JSON; InputError for kinds without one, with what to give."""
    found = kind_of(text, None if path is None else str(path))
    if found is None:
        return None
    name, source = found
    kind = KINDS[name]
    if kind.for_robot:
        raise InputError(kind.what, file=source.file, hint=kind.for_robot)
    known = _READERS[name](source)
    try:
        robot = with_base(known.robot(), base)
    except InputError as error:
        raise error.at(file=source.file) from None
    _say_unknown(source, known)
    return Document(robot, None, None if path is None else FilePath(path), source.text)


def _say_unknown(source: JsonFile, known: _TeamRobot) -> None:
    """Warn, once for a file, of what it doesn't know."""
    unknown = [_BATTERY, _HEIGHT, *[_STEERING] * known.steered, _INERTIA]
    config = source.data.get("config")
    if isinstance(config, Mapping) and "cof" not in config:
        unknown.append(_FRICTION)
    things, keys = zip(*unknown, strict=True)
    where = f"{source.file}: " if source.file else ""
    how = "trundle.documents.dump(robot) writes it as YAML, to add"
    warn(f"{where}says nothing of {', '.join(things)}; {how} {', '.join(keys)}")


def _sides(source: JsonFile, track: float | None, key: str) -> dict[str, tuple[float, float]]:
    """Where the two wheels of a differential drive stand."""
    half = _there(source, track, key) / 2
    return {"right": (0.0, -half), "left": (0.0, half)}


def _there(source: JsonFile, value: _T | None, key: str) -> _T:
    """What a kind of drive needs and others don't; InputError where it isn't there."""
    if value is None:
        hint = "the program that wrote the file fills it in: open the project there, and save"
        raise source.error(f"{key.rpartition('.')[2]!r} is missing", tuple(key.split(".")), hint)
    return value

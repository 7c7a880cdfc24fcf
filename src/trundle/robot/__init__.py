"""The description of a robot: nouns, readers and writers, the catalogue. Nothing here computes motion."""

from trundle.robot.bodies import (
    Body,
    CylindricalJoint,
    FixedJoint,
    FloatingJoint,
    Inertia,
    Joint,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    Sliding,
    SphericalJoint,
    Turning,
    UniversalJoint,
)
from trundle.robot.checks import require_base_mass, require_dynamic
from trundle.robot.couplings import AckermannCoupling, Coupling, GearCoupling
from trundle.robot.description import Robot, parse_robot
from trundle.robot.motors import DCMotor, Motor, ServoMotor, TorqueMotor
from trundle.robot.parameters import Resolver
from trundle.robot.reader import Document, load, load_robot, parse
from trundle.robot.runcheck import check_run
from trundle.robot.runspec import FileTable, RunSpec, Table
from trundle.robot.schema import json_schema
from trundle.robot.urdf import UrdfExtras, dump_urdf, load_urdf, parse_urdf, urdf_extras
from trundle.robot.values import Value
from trundle.robot.wheels import (
    BallWheel,
    CasterWheel,
    FixedWheel,
    MecanumWheel,
    OmniWheel,
    SteeredWheel,
    Wheel,
    WheelInertia,
)
from trundle.robot.writer import dump

__all__ = [
    "AckermannCoupling",
    "BallWheel",
    "Body",
    "CasterWheel",
    "Coupling",
    "CylindricalJoint",
    "DCMotor",
    "Document",
    "FileTable",
    "FixedJoint",
    "FixedWheel",
    "FloatingJoint",
    "GearCoupling",
    "Inertia",
    "Joint",
    "MecanumWheel",
    "Motor",
    "OmniWheel",
    "PlanarJoint",
    "PrismaticJoint",
    "Resolver",
    "RevoluteJoint",
    "Robot",
    "RunSpec",
    "ScrewJoint",
    "ServoMotor",
    "Sliding",
    "SphericalJoint",
    "SteeredWheel",
    "Table",
    "TorqueMotor",
    "Turning",
    "UniversalJoint",
    "UrdfExtras",
    "Value",
    "Wheel",
    "WheelInertia",
    "check_run",
    "dump",
    "dump_urdf",
    "json_schema",
    "load",
    "load_robot",
    "load_urdf",
    "parse",
    "parse_robot",
    "parse_urdf",
    "require_base_mass",
    "require_dynamic",
    "urdf_extras",
]

"""The description of a robot: nouns, values, units and checks. Nothing here computes motion."""

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

__all__ = [
    "AckermannCoupling",
    "BallWheel",
    "Body",
    "CasterWheel",
    "Coupling",
    "CylindricalJoint",
    "DCMotor",
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
    "ScrewJoint",
    "ServoMotor",
    "Sliding",
    "SphericalJoint",
    "SteeredWheel",
    "TorqueMotor",
    "Turning",
    "UniversalJoint",
    "Value",
    "Wheel",
    "WheelInertia",
    "parse_robot",
    "require_base_mass",
    "require_dynamic",
]

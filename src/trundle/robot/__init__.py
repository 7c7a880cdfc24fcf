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
from trundle.robot.contact import ContactLaw, Free, Ideal, Push, Slip, Touch
from trundle.robot.couplings import AckermannCoupling, Coupling, GearCoupling
from trundle.robot.description import Robot, parse_robot
from trundle.robot.kinds import Read, State, register
from trundle.robot.motors import DCMotor, Drive, Effort, Motor, ServoMotor, TorqueMotor
from trundle.robot.noun import default
from trundle.robot.parameters import Resolver
from trundle.robot.values import Value
from trundle.robot.wheels import (
    BallWheel,
    CasterWheel,
    FixedWheel,
    MecanumWheel,
    OmniWheel,
    PivotedWheel,
    RollingWheel,
    SteeredWheel,
    Wheel,
    WheelInertia,
)

__all__ = [
    "AckermannCoupling",
    "BallWheel",
    "Body",
    "CasterWheel",
    "ContactLaw",
    "Coupling",
    "CylindricalJoint",
    "DCMotor",
    "Drive",
    "Effort",
    "FixedJoint",
    "FixedWheel",
    "FloatingJoint",
    "Free",
    "GearCoupling",
    "Ideal",
    "Inertia",
    "Joint",
    "MecanumWheel",
    "Motor",
    "OmniWheel",
    "PivotedWheel",
    "PlanarJoint",
    "PrismaticJoint",
    "Push",
    "Read",
    "Resolver",
    "RevoluteJoint",
    "Robot",
    "RollingWheel",
    "ScrewJoint",
    "ServoMotor",
    "Sliding",
    "Slip",
    "SphericalJoint",
    "State",
    "SteeredWheel",
    "TorqueMotor",
    "Touch",
    "Turning",
    "UniversalJoint",
    "Value",
    "Wheel",
    "WheelInertia",
    "default",
    "parse_robot",
    "register",
    "require_base_mass",
    "require_dynamic",
]

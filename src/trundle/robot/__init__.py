"""The description of a robot: components, values, units and checks; kinds of wheels, contacts, joints and motors with
what they can do.
"""

import importlib
from typing import TYPE_CHECKING

from trundle import errors
from trundle.robot.batteries import Battery as Battery
from trundle.robot.batteries import Winding as Winding
from trundle.robot.bodies import Body as Body
from trundle.robot.bodies import CylindricalJoint as CylindricalJoint
from trundle.robot.bodies import DirectedJoint as DirectedJoint
from trundle.robot.bodies import DriveAxis as DriveAxis
from trundle.robot.bodies import FixedJoint as FixedJoint
from trundle.robot.bodies import FloatingJoint as FloatingJoint
from trundle.robot.bodies import Inertia as Inertia
from trundle.robot.bodies import Joint as Joint
from trundle.robot.bodies import PinSlotJoint as PinSlotJoint
from trundle.robot.bodies import PlanarJoint as PlanarJoint
from trundle.robot.bodies import PrismaticJoint as PrismaticJoint
from trundle.robot.bodies import RevoluteJoint as RevoluteJoint
from trundle.robot.bodies import ScrewJoint as ScrewJoint
from trundle.robot.bodies import Sliding as Sliding
from trundle.robot.bodies import SphericalJoint as SphericalJoint
from trundle.robot.bodies import Turning as Turning
from trundle.robot.bodies import UniversalJoint as UniversalJoint
from trundle.robot.checks import require_base_mass as require_base_mass
from trundle.robot.checks import require_dynamic as require_dynamic
from trundle.robot.component import default as default
from trundle.robot.constraint import Constraint as Constraint
from trundle.robot.constraint import MotionState as MotionState
from trundle.robot.constraint import Row as Row
from trundle.robot.constraint import below as below
from trundle.robot.constraint import within as within
from trundle.robot.contact import Bristle as Bristle
from trundle.robot.contact import ContactLaw as ContactLaw
from trundle.robot.contact import Free as Free
from trundle.robot.contact import Ideal as Ideal
from trundle.robot.contact import Push as Push
from trundle.robot.contact import Slip as Slip
from trundle.robot.contact import Touch as Touch
from trundle.robot.controllers import Action as Action
from trundle.robot.controllers import Controller as Controller
from trundle.robot.controllers import Sight as Sight
from trundle.robot.couplings import AckermannCoupling as AckermannCoupling
from trundle.robot.couplings import CamCoupling as CamCoupling
from trundle.robot.couplings import Coupling as Coupling
from trundle.robot.couplings import GearCoupling as GearCoupling
from trundle.robot.curves import Curve as Curve
from trundle.robot.curves import LinearCurve as LinearCurve
from trundle.robot.curves import NaturalCurve as NaturalCurve
from trundle.robot.curves import PolynomialCurve as PolynomialCurve
from trundle.robot.curves import SimmCurve as SimmCurve
from trundle.robot.dc_motor import DCMotor as DCMotor
from trundle.robot.description import Robot as Robot
from trundle.robot.description import parse_robot as parse_robot
from trundle.robot.kinds import Read as Read
from trundle.robot.kinds import State as State
from trundle.robot.kinds import register as register
from trundle.robot.motor import Drive as Drive
from trundle.robot.motor import Effort as Effort
from trundle.robot.motor import Motor as Motor
from trundle.robot.motor import WoundMotor as WoundMotor
from trundle.robot.motors import ServoMotor as ServoMotor
from trundle.robot.motors import TorqueMotor as TorqueMotor
from trundle.robot.motors import VelocityMotor as VelocityMotor
from trundle.robot.parameters import Resolver as Resolver
from trundle.robot.sensor import Sensor as Sensor
from trundle.robot.values import Value as Value
from trundle.robot.wheels import SIDE_FORCE as SIDE_FORCE
from trundle.robot.wheels import TRACTION as TRACTION
from trundle.robot.wheels import BallWheel as BallWheel
from trundle.robot.wheels import CasterWheel as CasterWheel
from trundle.robot.wheels import ContactDirection as ContactDirection
from trundle.robot.wheels import DriveLimits as DriveLimits
from trundle.robot.wheels import FixedWheel as FixedWheel
from trundle.robot.wheels import GrippingWheel as GrippingWheel
from trundle.robot.wheels import KingpinWheel as KingpinWheel
from trundle.robot.wheels import MecanumWheel as MecanumWheel
from trundle.robot.wheels import ModuleLimits as ModuleLimits
from trundle.robot.wheels import OmniWheel as OmniWheel
from trundle.robot.wheels import PivotedWheel as PivotedWheel
from trundle.robot.wheels import RollingWheel as RollingWheel
from trundle.robot.wheels import SteeredWheel as SteeredWheel
from trundle.robot.wheels import Wheel as Wheel
from trundle.robot.wheels import WheelAppearance as WheelAppearance
from trundle.robot.wheels import WheelInertia as WheelInertia

if TYPE_CHECKING:
    from trundle.robot.base_tracker import Tracker as Tracker
    from trundle.robot.circle_follower import CircleFollower as CircleFollower
    from trundle.robot.feet import FootWheel as FootWheel
    from trundle.robot.linear_feedback import FeedbackAlong as FeedbackAlong
    from trundle.robot.linear_feedback import LinearController as LinearController
    from trundle.robot.linear_feedback import StateFeedback as StateFeedback
    from trundle.robot.pid import PidController as PidController
    from trundle.robot.sensors import Accelerometer as Accelerometer
    from trundle.robot.sensors import Encoders as Encoders
    from trundle.robot.sensors import FixSensor as FixSensor
    from trundle.robot.sensors import Gyro as Gyro
    from trundle.robot.sensors import MarkFix as MarkFix
    from trundle.robot.sensors import PoseFix as PoseFix
    from trundle.robot.sensors import PositionFix as PositionFix
    from trundle.robot.surfaces import HeightSurface as HeightSurface
    from trundle.robot.surfaces import Relief as Relief
    from trundle.robot.surfaces import Spot as Spot
    from trundle.robot.surfaces import Surface as Surface
    from trundle.robot.trackers import HolonomicTracker as HolonomicTracker
    from trundle.robot.trackers import KanayamaTracker as KanayamaTracker
    from trundle.robot.trackers import PurePursuitTracker as PurePursuitTracker
    from trundle.robot.trackers import SamsonTracker as SamsonTracker
    from trundle.robot.trackers import StanleyTracker as StanleyTracker
    from trundle.robot.trackers import UnicycleTracker as UnicycleTracker

# The modules of what most robots lack, by the names above.
_HOMES = {
    "CircleFollower": "circle_follower",
    "FootWheel": "feet",
    "PidController": "pid",
    "Tracker": "base_tracker",
    **dict.fromkeys(("FeedbackAlong", "LinearController", "StateFeedback"), "linear_feedback"),
    **dict.fromkeys(("Accelerometer", "Encoders", "FixSensor", "Gyro", "MarkFix", "PoseFix"), "sensors"),
    "PositionFix": "sensors",
    **dict.fromkeys(("HeightSurface", "Relief", "Spot", "Surface"), "surfaces"),
    **dict.fromkeys(("HolonomicTracker", "KanayamaTracker", "PurePursuitTracker"), "trackers"),
    **dict.fromkeys(("SamsonTracker", "StanleyTracker", "UnicycleTracker"), "trackers"),
}


def __getattr__(name: str) -> object:
    """Controllers, sensors, feet and grounds, loaded when they are asked for: most robots have none."""
    if name not in _HOMES:
        raise errors.no_attribute("trundle.robot", name, __dir__())
    return getattr(importlib.import_module(f"trundle.robot.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])

"""What limbs are made of: frames that move, points, wrenches, twists and inertias that know where they stand."""

from trundle.wrenches.breakdown import Breakdown
from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.inertia import Inertia
from trundle.wrenches.twist import Twist
from trundle.wrenches.wrench import Wrench

__all__ = ["Breakdown", "Frame", "Inertia", "Point", "Twist", "Wrench"]

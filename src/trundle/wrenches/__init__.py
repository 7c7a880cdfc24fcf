"""What limbs are made of: frames that move, points, wrenches, twists and inertias that know where they stand."""

from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.twist import Twist
from trundle.wrenches.wrench import Wrench

__all__ = ["Frame", "Point", "Twist", "Wrench"]

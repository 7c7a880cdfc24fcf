"""Loads: from a motion and the wrenches from outside to the wrench through every joint, in numbers and in symbols."""

from __future__ import annotations

from trundle.limbs.loads.joint_loads import joint_loads as joint_loads
from trundle.limbs.loads.loads import Loads as Loads

__all__ = ["Loads", "joint_loads"]

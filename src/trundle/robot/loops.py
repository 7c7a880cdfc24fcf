"""Loop closures: joints between bodies that both hang on the tree already, as in four-bars and parallel robots.

A loop holds a frame of one body to a frame of another. It adds no coordinates: it binds those that are there.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from trundle.robot.kinds import Family, Kind
from trundle.robot.noun import Noun, default
from trundle.robot.values import Angles, Axis, Length, Position


class Side(Noun):
    """One end of a loop closure: a frame on a body."""

    called: ClassVar[str] = "end of a loop"

    body: str = default("base", 'The body: "base", a joint, or a body\'s name. Default base.')
    at: Position = default((0.0, 0.0, 0.0), "Where the closing joint is, in the body's frame (m).")
    rpy: Angles = default((0.0, 0.0, 0.0), "Roll, pitch, yaw of its frame there (rad), R = Rz Ry Rx.")


LOOPS = Family("loop", "revolute")


class Loop(Kind):
    """What holds two bodies to each other."""

    family: ClassVar[Family] = LOOPS
    symbol: ClassVar[str] = "hinge"  # as joints have it

    first: Side = Field(description="One end; forces are told in its axes.")
    second: Side = Field(description="The other end, on which the forces that are told act.")


class DirectedLoop(Loop):
    """A closing joint with an axis."""

    axis: Axis = default(
        (0.0, 0.0, 1.0), "Axis in the frames of both ends, which it holds parallel. Default z."
    )


class FixedLoop(Loop):
    """Welds the two ends together."""

    called: ClassVar[str] = "fixed loop"
    symbol: ClassVar[str] = "weld"

    type: Literal["fixed"] = default("fixed", "fixed: no motion between the ends.")


class RevoluteLoop(DirectedLoop):
    """A pin: the ends share a point and an axis."""

    called: ClassVar[str] = "revolute loop"

    type: Literal["revolute"] = default("revolute", "revolute: a pin about the axis.")


class PrismaticLoop(DirectedLoop):
    """A slide: the ends share a line and don't turn."""

    called: ClassVar[str] = "prismatic loop"
    symbol: ClassVar[str] = "slide"

    type: Literal["prismatic"] = default("prismatic", "prismatic: a slide along the axis.")


class CylindricalLoop(DirectedLoop):
    """A sleeve: the ends share a line."""

    called: ClassVar[str] = "cylindrical loop"
    symbol: ClassVar[str] = "slide"

    type: Literal["cylindrical"] = default(
        "cylindrical", "cylindrical: turns about the axis and slides along it."
    )


class SphericalLoop(Loop):
    """A ball joint: the ends share a point."""

    called: ClassVar[str] = "spherical loop"
    symbol: ClassVar[str] = "ball"

    type: Literal["spherical"] = default("spherical", "spherical: a ball joint.")


class PlanarLoop(DirectedLoop):
    """Two planes that stay on each other, across the axis."""

    called: ClassVar[str] = "planar loop"
    symbol: ClassVar[str] = "ball"

    type: Literal["planar"] = default(
        "planar", "planar: slides in the plane across the axis and turns in it."
    )


class RodLoop(Loop):
    """A massless rod between ball joints: the ends stay a length apart."""

    called: ClassVar[str] = "rod"
    bounds: ClassVar[dict[str, str]] = {"length": "> 0"}

    type: Literal["rod"] = default("rod", "rod: a massless rod with a ball joint at each end.")
    length: Length = Field(description="Distance between the ends (m), > 0.")


LOOPS.add(
    FixedLoop,
    RevoluteLoop,
    PrismaticLoop,
    CylindricalLoop,
    SphericalLoop,
    PlanarLoop,
    RodLoop,
)

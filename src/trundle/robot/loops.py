"""Loop closures: joints between bodies that both hang on the tree already, as in four-bars and parallel robots.

A loop holds a frame of one body to a frame of another. It adds no coordinates: it binds those that are there.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from trundle.robot.bodies import JOINTS, Joint
from trundle.robot.component import Component, default
from trundle.robot.kinds import Kind, Registry
from trundle.robot.values import Angles, Axis, Length, Position, Positive, problem


class Side(Component):
    """One end of a loop closure: a frame on a body."""

    called: ClassVar[str] = "end of a loop"

    body: str = default("base", 'The body: "base", a joint, or a body\'s name. Default base.')
    at: Position = default((0.0, 0.0, 0.0), "Where the closing joint is, in the body's frame (m).")
    rpy: Angles = default((0.0, 0.0, 0.0), "Roll, pitch, yaw of its frame there (rad), R = Rz Ry Rx.")


LOOPS = Registry("loop", "revolute")


class Loop(Kind):
    """What holds two bodies to each other."""

    family: ClassVar[Registry] = LOOPS
    symbol: ClassVar[str] = "hinge"  # as joints have it
    # Whether its ends stay apart, so that pictures show a bar between them.
    apart: ClassVar[bool] = False

    first: Side = Field(description="One end; forces are told in its axes.")
    second: Side = Field(description="The other end, on which the forces that are told act.")


class DirectedLoop(Loop):
    """A closing joint with an axis."""

    axis: Axis = default(
        (0.0, 0.0, 1.0), "Axis in the frames of both ends, which it holds parallel. Default z."
    )


class FixedLoop(Loop):
    """Welds the two ends together."""

    symbol: ClassVar[str] = "weld"

    type: Literal["fixed"] = "fixed"


class RevoluteLoop(DirectedLoop):
    """A pin: the ends share a point and an axis."""

    type: Literal["revolute"] = "revolute"


class PrismaticLoop(DirectedLoop):
    """A slide: the ends share a line and don't turn."""

    symbol: ClassVar[str] = "slide"

    type: Literal["prismatic"] = "prismatic"


class CylindricalLoop(DirectedLoop):
    """A sleeve: the ends share a line."""

    symbol: ClassVar[str] = "slide"

    type: Literal["cylindrical"] = "cylindrical"


class SphericalLoop(Loop):
    """A ball joint: the ends share a point."""

    symbol: ClassVar[str] = "ball"

    type: Literal["spherical"] = "spherical"


class PlanarLoop(DirectedLoop):
    """Two planes that stay on each other, across the axis."""

    symbol: ClassVar[str] = "ball"

    type: Literal["planar"] = "planar"


class RodLoop(Loop):
    """A massless rod between ball joints: the ends stay a length apart."""

    apart: ClassVar[bool] = True

    type: Literal["rod"] = "rod"
    length: Positive[Length] = Field(description="Distance between the ends (m), > 0.")


class JointLoop(Loop):
    """A joint of any type, one's own, too: it stands where the ends are, and its coordinates are states."""

    symbol: ClassVar[str] = "ball"

    type: Literal["joint"] = "joint"
    joint: Annotated[Joint, JOINTS] = Field(
        description="The joint, without a body; its `parent`, `at` and `rpy` are the first end's."
    )

    @field_validator("joint")
    @classmethod
    def _stands_at_the_ends(cls, joint: Joint) -> Joint:
        placed = sorted(joint.model_fields_set & {"parent", "at", "rpy", "body"})
        if placed:
            raise problem(
                f"a joint that closes a loop has no {placed[0]!r}",
                "say where it is by first and second",
                (placed[0],),
            )
        return joint

    @property
    def hung(self) -> Joint:
        """The joint as it hangs on the first end."""
        first = {"parent": self.first.body, "at": self.first.at, "rpy": self.first.rpy}
        return self.joint.model_copy(update=first)


LOOPS.add(
    FixedLoop, RevoluteLoop, PrismaticLoop, CylindricalLoop, SphericalLoop, PlanarLoop, RodLoop, JointLoop
)

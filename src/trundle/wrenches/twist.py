"""Twists that know which body moves, as which frame sees it, at which point, and in whose axes they are given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from trundle.errors import InputError
from trundle.shown import Displayable
from trundle.spatial.vectors import add, cross
from trundle.wrenches.chains import offset, require_frames, require_points, turned_into
from trundle.wrenches.components import TripleLike, as_vector, settle_vectors
from trundle.wrenches.frame import Frame, Point


@dataclass(frozen=True, eq=False, repr=False)
class Twist(Displayable):
    """How a body moves: the velocity of its point that is at `point` just now, and its angular velocity.

    Attributes
    ----------
    linear : array (..., 3), or three expressions
        In m/s.
    angular : array (..., 3), or three expressions
        In rad/s.
    body : str
        Which body moves.
    seen_from : Frame
        The frame that counts as standing still.
    point : Point
        Where the velocity is taken.
    frame : Frame
        In whose axes both are given.

    Examples
    --------
    >>> import trundle
    >>> world = trundle.Frame("world")
    >>> arm = world.child("arm", rotation=((0, 0, 1), 0.0, 2.0, 0.0))
    >>> trundle.Twist.of(arm, seen_from=world).at(arm.point("hand", (0.5, 0, 0))).linear
    array([0., 1., 0.])
    """

    linear: TripleLike
    angular: TripleLike
    body: str = field(kw_only=True)
    seen_from: Frame = field(kw_only=True)
    point: Point = field(kw_only=True)
    frame: Frame = field(kw_only=True)

    def __post_init__(self) -> None:
        require_frames(self.frame, self.seen_from)
        require_points(self.point)
        words = {"linear": "linear part", "angular": "angular part"}
        also = self.frame.shape, self.point.shape
        settle_vectors(self, f"the twist of '{self.body}'", words, also)

    @staticmethod
    def of(frame: Frame, *, seen_from: Frame) -> Twist:
        """The twist of a frame seen from another, at its origin and in its own axes.

        Parameters
        ----------
        frame : Frame
            The frame that moves, a body's own.
        seen_from : Frame
            The frame that counts as standing still.

        Returns
        -------
        Twist
            Its body has the frame's name.

        Raises
        ------
        InputError
            If the frames have no common root, or how one between them moves isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> belt = world.child("belt", velocity=(1.5, 0, 0))
        >>> trundle.Twist.of(belt, seen_from=world).linear
        array([1.5, 0. , 0. ])
        """
        return Twist(
            frame.origin.velocity(seen_from=seen_from, frame=frame),
            frame.angular_velocity(seen_from=seen_from, frame=frame),
            body=frame.name,
            seen_from=seen_from,
            point=frame.origin,
            frame=frame,
        )

    def at(self, point: Point) -> Twist:
        """The same motion, taken at another point: v′ = v + ω × r.

        Parameters
        ----------
        point : Point
            The point; the body's velocity there is taken, not the point's own.

        Returns
        -------
        Twist
            In the same axes.

        Raises
        ------
        InputError
            If the points' frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), 0.0, 2.0, 0.0))
        >>> trundle.Twist.of(arm, seen_from=world).at(world.point("hand", (0, 0.5, 0))).linear
        array([-1.,  0.,  0.])
        """
        omega = as_vector(self.angular, "")
        moved = cross(omega, offset(self.point, point, self.frame))
        return replace(self, linear=add(as_vector(self.linear, ""), moved), point=point)

    def in_frame(self, frame: Frame) -> Twist:
        """The same motion, in the axes of another frame.

        Parameters
        ----------
        frame : Frame
            In whose axes; the motion is still seen from `seen_from`.

        Returns
        -------
        Twist
            At the same point.

        Raises
        ------
        InputError
            If the frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> belt = world.child("belt", velocity=(1.5, 0, 0))
        >>> trundle.Twist.of(belt, seen_from=world).in_frame(world).linear
        array([1.5, 0. , 0. ])
        """
        parts = (turned_into(frame, self.frame, as_vector(x, "")) for x in (self.linear, self.angular))
        return replace(self, **dict(zip(("linear", "angular"), parts, strict=True)), frame=frame)

    def __add__(self, other: Twist) -> Twist:
        """Motions one on the other: of a body seen from a frame, and of that frame's body seen from a third."""
        if other.body != self.seen_from.name:
            raise InputError(
                f"the twist of '{self.body}' seen from '{self.seen_from.name}' goes on with one of"
                f" '{self.seen_from.name}', not of '{other.body}'",
                hint="motions add up along a chain: of C seen from B, and of B seen from A",
            )
        demand_same_place("twists", self, other)
        sums = (
            add(as_vector(getattr(self, name), ""), as_vector(getattr(other, name), ""))
            for name in ("linear", "angular")
        )
        return Twist(*sums, body=self.body, seen_from=other.seen_from, point=self.point, frame=self.frame)


class SpatialVector(Protocol):
    """What is given at a point and in a frame."""

    @property
    def point(self) -> Point: ...
    @property
    def frame(self) -> Frame: ...


def demand_same_place(what: str, one: SpatialVector, other: SpatialVector) -> None:
    """Refuse to add what stands at different points or in different axes, with what to write instead."""
    if one.point is not other.point:
        raise InputError(
            f"{what} at different points don't add: '{one.point.name}' and '{other.point.name}'",
            hint=f"move one of them: .at({one.point.name})",
        )
    if one.frame is not other.frame:
        raise InputError(
            f"{what} in different frames don't add: '{one.frame.name}' and '{other.frame.name}'",
            hint=f"turn one of them: .in_frame({one.frame.name})",
        )

"""Wrenches that know on which body they act, by which, at which point, and in whose axes they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trundle.errors import InputError
from trundle.expected import came, check_type
from trundle.scalars import Scalar, plus
from trundle.shown import Displayable
from trundle.spatial.vectors import Vector, add, cross, dot, scale
from trundle.wrenches.chains import offset, require_frames, require_points, turned_into
from trundle.wrenches.components import TripleLike, as_vector, is_symbolic, settle_vectors
from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.twist import Twist, demand_same_place


@dataclass(frozen=True, eq=False, repr=False)
class Wrench(Displayable):
    """A force and a moment about a point, on one body by another.

    Attributes
    ----------
    force : array (..., 3), or three expressions
        In N.
    moment : array (..., 3), or three expressions
        About `point`, in N m.
    on : str
        The body that it acts on.
    by : str
        What it comes from: a body, or a cause such as gravity.
    point : Point
        What the moment is about; the force's line goes through it.
    frame : Frame
        In whose axes both are given.

    Examples
    --------
    >>> import trundle
    >>> world = trundle.Frame("world")
    >>> hip, knee = world.point("hip", (0, 0, 0.9)), world.point("knee", (0, 0, 0.5))
    >>> push = trundle.Wrench((10.0, 0, 0), (0, 0, 0), on="leg", by="hand", point=knee, frame=world)
    >>> push.at(hip).moment
    array([ 0., -4.,  0.])
    """

    force: TripleLike
    moment: TripleLike
    on: str = field(kw_only=True)
    by: str = field(kw_only=True)
    point: Point = field(kw_only=True)
    frame: Frame = field(kw_only=True)

    def __post_init__(self) -> None:
        """Check names, and bring force and moment to one batch shape."""
        for key, name in (("on", self.on), ("by", self.by)):
            if not isinstance(name, str):
                raise InputError(f"{key} takes a body's name, got {name!r}", hint="a frame's is its .name")
        require_frames(self.frame)
        require_points(self.point)
        words = {"force": "force", "moment": "moment"}
        also = self.frame.shape, self.point.shape
        settle_vectors(self, f"the wrench on '{self.on}' by '{self.by}'", words, also)

    def at(self, point: Point) -> Wrench:
        """The same wrench with its moment about another point: M′ = M + r × F.

        Parameters
        ----------
        point : Point
            The point.

        Returns
        -------
        Wrench
            In the same axes.

        Raises
        ------
        InputError
            If the points' frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> tip = world.point("tip", (0, 2.0, 0))
        >>> pull = trundle.Wrench((1.0, 0, 0), (0, 0, 0), on="arm", by="rope", point=tip, frame=world)
        >>> pull.at(world.origin).moment
        array([ 0.,  0., -2.])
        """
        force, moment = self._vectors()
        return replace(
            self, moment=add(moment, cross(offset(point, self.point, self.frame), force)), point=point
        )

    def in_frame(self, frame: Frame) -> Wrench:
        """The same wrench in the axes of another frame.

        Parameters
        ----------
        frame : Frame
            In whose axes.

        Returns
        -------
        Wrench
            About the same point.

        Raises
        ------
        InputError
            If the frames have no common root.

        Examples
        --------
        >>> import math, trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), math.pi / 2))
        >>> pull = trundle.Wrench((1, 0, 0), (0, 0, 0), on="arm", by="rope", point=arm.origin, frame=arm)
        >>> pull.in_frame(world).force.round(12)
        array([0., 1., 0.])
        """
        force, moment = (turned_into(frame, self.frame, vector) for vector in self._vectors())
        return replace(self, force=force, moment=moment, frame=frame)

    def reaction(self) -> Wrench:
        """Newton's third law: what the other body feels, −F and −M, at the same point.

        Returns
        -------
        Wrench
            On `by`, by `on`.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> push = trundle.Wrench((1.0, 0, 0), (0, 0, 0), on="leg", by="hand", point=world.origin, frame=world)
        >>> push.reaction().on
        'hand'
        """
        force, moment = (scale(-1, vector) for vector in self._vectors())
        return replace(self, force=force, moment=moment, on=self.by, by=self.on)

    def power(self, twist: Twist) -> Scalar:
        """What it gives to a motion of its body: P = F · v + M · ω.

        Parameters
        ----------
        twist : Twist
            Of the body the wrench acts on, at any point and in any axes: the power is the same.

        Returns
        -------
        float, array (n,) or expression
            In W, as the frame sees it from which the twist is seen.

        Raises
        ------
        InputError
            If the twist is another body's.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> belt = world.child("belt", velocity=(1.5, 0, 0))
        >>> pull = trundle.Wrench((2.0, 0, 0), (0, 0, 0), on="belt", by="motor", point=belt.origin, frame=belt)
        >>> float(pull.power(trundle.Twist.of(belt, seen_from=world)))
        3.0
        """
        check_type(twist, Twist, "twist")
        if twist.body != self.on:
            raise InputError(
                f"the wrench acts on '{self.on}', the twist is of '{twist.body}'",
                hint=f"take Twist.of the frame of '{self.on}', or the wrench's reaction()",
            )
        here = twist.at(self.point).in_frame(self.frame)
        force, moment = self._vectors()
        return plus(dot(force, as_vector(here.linear, "")), dot(moment, as_vector(here.angular, "")))

    def map(self, function: Callable[[Scalar], Scalar]) -> Wrench:
        """The wrench whose components are a function of this one's, such as an expression with numbers put in.

        Parameters
        ----------
        function : callable
            Takes a component and returns one.

        Returns
        -------
        Wrench
            At the same point, in the same axes.

        Raises
        ------
        InputError
            If the function returns what isn't a scalar.

        Examples
        --------
        >>> import sympy, trundle
        >>> world, f = trundle.Frame("world"), sympy.Symbol("f")
        >>> pull = trundle.Wrench((f, 0, 0), (0, 0, f), on="leg", by="rope", point=world.origin, frame=world)
        >>> pull.map(lambda x: 2 * x).moment
        (0, 0, 2*f)
        """
        if not callable(function):
            raise InputError(f"expected a function of a scalar, got {came(function)}", key="function")
        force, moment = (tuple(function(x) for x in vector) for vector in self._vectors())
        return replace(self, force=force, moment=moment)

    def expanded(self) -> Wrench:
        """Each expression multiplied out, products of sines and cosines as sums: Σ c sin(kt).

        Returns
        -------
        Wrench
            Numbers stay as they are.

        Examples
        --------
        >>> import sympy, trundle
        >>> world, t = trundle.Frame("world"), sympy.Symbol("t")
        >>> f = 2 * sympy.sin(t) * sympy.cos(t)
        >>> pull = trundle.Wrench((f, 0, 0), (0, 0, 0), on="leg", by="rope", point=world.origin, frame=world)
        >>> pull.expanded().force
        (sin(2*t), 0, 0)
        """
        if not any(is_symbolic(x) for vector in self._vectors() for x in vector):
            return self
        from trundle.wrenches.symbolic import expanded

        return self.map(expanded)

    def __add__(self, other: Wrench) -> Wrench:
        self._demand_sum(other)
        return self._combined(other, 1)

    def __radd__(self, other: object) -> Wrench:
        """So that Python's sum() adds wrenches, beginning from 0."""
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Wrench) -> Wrench:
        self._demand_sum(other)
        return self._combined(other, -1)

    def _combined(self, other: Wrench, sign: int) -> Wrench:
        force, moment = (
            add(mine, scale(sign, its)) for mine, its in zip(self._vectors(), other._vectors(), strict=True)
        )
        by = self.by if self.by == other.by else f"{self.by} {'+' if sign > 0 else '−'} {other.by}"
        return replace(self, force=force, moment=moment, by=by)

    def _demand_sum(self, other: Wrench) -> None:
        check_type(other, Wrench, "other")
        if self.on != other.on:
            raise InputError(
                f"wrenches on different bodies don't add: on '{self.on}' and on '{other.on}'",
                hint="what one body does to the other is the other's reaction()",
            )
        demand_same_place("wrenches", self, other)

    def _vectors(self) -> tuple[Vector, Vector]:
        return as_vector(self.force, ""), as_vector(self.moment, "")

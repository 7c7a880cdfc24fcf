"""Frames that move in each other, and points in them: kinematics in any frame, of symbols and of measured numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trundle.scalars import Scalar
from trundle.spatial.vectors import ZERO, Vector
from trundle.wrenches import chains
from trundle.wrenches.components import BatchShape, TripleLike, array, batch_shape, shown_matrix
from trundle.wrenches.placement import AT_REST, Placement, place_given, placement_given, shape_of


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """Three axes and an origin that move: a root such as the world, or a child that rides on another frame.

    Attributes
    ----------
    name : str
        What it is called: a body's own frame has the body's name.
    parent : Frame or None
        The frame it moves in; None for a root.
    time : sympy.Symbol or None
        The letter of time of a root, for expressions; None stands for that of SymPy's `dynamicsymbols`.
    placement : Placement
        How it stands and moves in its parent; `child` makes it.
    above : Frame or None
        The root; None of a root.

    Examples
    --------
    >>> import trundle
    >>> world = trundle.Frame("world")
    >>> arm = world.child("arm", rotation=((0, 0, 1), 0.5, 2.0, 0.0))
    >>> arm.point("hand", (0, 0.8, 0)).velocity(seen_from=world, frame=arm)
    array([-1.6,  0. ,  0. ])
    """

    name: str
    parent: Frame | None = None
    time: Scalar | None = None
    placement: Placement = AT_REST
    above: Frame | None = None

    def __repr__(self) -> str:
        return f"Frame({self.name!r}{f', in {self.parent.name!r}' if self.parent else ''})"

    def child(
        self,
        name: str,
        *,
        rotation: object = None,
        origin: TripleLike = ZERO,
        velocity: TripleLike = None,
        acceleration: TripleLike = None,
        angular_velocity: TripleLike = None,
        angular_acceleration: TripleLike = None,
    ) -> Frame:
        """A frame that moves in this one.

        Expressions are differentiated by time, numbers on their own stand still, and batches need their rates where
        somebody asks: in this frame's axes, seen from it. Rates that are given always count.

        Parameters
        ----------
        name : str
            What to call it.
        rotation : array (..., 3, 3), SymPy matrix, SciPy Rotation, or tuple
            R_parent_child, the child's axes as columns; (axis, angle) or (axis, angle, rate, acceleration) about a
            constant unit axis; or (roll, pitch, yaw), R = Rz(yaw) Ry(pitch) Rx(roll). In rad, rad/s, rad/s².
        origin : array (..., 3) or three scalars
            The child's origin in this frame, in m.
        velocity, acceleration : array (..., 3) or three scalars
            The first and second rate of `origin`, in m/s and m/s².
        angular_velocity, angular_acceleration : array (..., 3) or three scalars
            In rad/s and rad/s².

        Returns
        -------
        Frame
            The child; this frame doesn't know of it.

        Raises
        ------
        InputError
            If the rotation is none (RᵀR ≠ 1, a mirror, an axis not of length 1), or batches differ in length.

        Examples
        --------
        >>> import sympy, trundle
        >>> t = sympy.Symbol("t")
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), t**2))
        >>> arm.angular_velocity(seen_from=world)
        (0, 0, 2*t)
        """
        what = f"frame '{name}'"
        place, turning = (origin, velocity, acceleration), (angular_velocity, angular_acceleration)
        placement = placement_given(what, rotation, place, turning, self._time)
        batch_shape(what, also=(self.shape, shape_of(what, placement)))
        return Frame(name, self, None, placement, self.root)

    def point(
        self,
        name: str,
        position: TripleLike = ZERO,
        *,
        velocity: TripleLike = None,
        acceleration: TripleLike = None,
    ) -> Point:
        """A point that rides on this frame, or moves in it.

        Parameters
        ----------
        name : str
            What to call it.
        position : array (..., 3) or three scalars
            In this frame, in m: expressions of time move, three numbers stay, and a batch needs its rates.
        velocity, acceleration : array (..., 3) or three scalars
            How it moves in this frame, seen from it, in its axes, in m/s and m/s².

        Returns
        -------
        Point
            The point.

        Raises
        ------
        InputError
            If `position` isn't three components, or batches have different lengths.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> world.point("knee", (0, 0.4, 0)).position(frame=world)
        array([0. , 0.4, 0. ])
        """
        what = f"point '{name}'"
        given = place_given(f"{what}: its position", (position, velocity, acceleration), self._time)
        point = Point(name, self, *given)
        batch_shape(what, also=(self.shape, point.shape))
        return point

    @cached_property
    def origin(self) -> Point:
        """The frame's origin, as a point of it."""
        return self.point(f"origin of {self.name}")

    @property
    def root(self) -> Frame:
        """The frame that all others of its chain move in."""
        return self.above or self

    @cached_property
    def shape(self) -> BatchShape:
        """The shape of the batch: () of one moment or of expressions."""
        what = f"frame '{self.name}'"
        own = shape_of(what, self.placement)
        return own if self.parent is None else batch_shape(what, also=(self.parent.shape, own))

    @property
    def in_root(self) -> Placement:
        """How it stands and moves in its root: composed when first asked for, as it is long in symbols."""
        return self._composed

    @cached_property
    def _composed(self) -> Placement:
        return chains.composed_from_root(self)

    def rotation(self, *, frame: Frame) -> TripleLike:
        """R_in_self, whose columns are this frame's axes in those of another.

        Parameters
        ----------
        frame : Frame
            The other frame.

        Returns
        -------
        array (..., 3, 3), or tuple of rows
            The matrix.

        Raises
        ------
        InputError
            If the two frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> world.child("arm").rotation(frame=world)[0]
        array([1., 0., 0.])
        """
        rotation = chains.placement_in(self, frame).pose.rotation
        return shown_matrix(rotation, batch_shape(self.name, also=(self.shape, frame.shape)))

    def angular_velocity(self, *, seen_from: Frame, frame: Frame | None = None) -> TripleLike:
        """ω of this frame seen from another.

        Parameters
        ----------
        seen_from : Frame
            The frame that counts as standing still.
        frame : Frame
            In whose axes; left out: in those of `seen_from`.

        Returns
        -------
        array (..., 3), or three expressions
            In rad/s.

        Raises
        ------
        InputError
            If the frames have no common root, or how a frame between them turns isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), 0.5, 2.0, 0.0))
        >>> world.angular_velocity(seen_from=arm)
        array([ 0.,  0., -2.])
        """
        vector = chains.turned_into(
            seen_from if frame is None else frame, self, chains.twist_in(self, seen_from).angular
        )
        return _over(vector, self, seen_from, frame)

    def angular_acceleration(self, *, seen_from: Frame, frame: Frame | None = None) -> TripleLike:
        """The rate of ω of this frame seen from another, as that frame sees it.

        Parameters
        ----------
        seen_from : Frame
            The frame that counts as standing still.
        frame : Frame
            In whose axes; left out: in those of `seen_from`.

        Returns
        -------
        array (..., 3), or three expressions
            In rad/s².

        Raises
        ------
        InputError
            If the frames have no common root, or how a frame between them turns isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), 0.5, 2.0, 3.0))
        >>> arm.angular_acceleration(seen_from=world)
        array([0., 0., 3.])
        """
        own = chains.acceleration_in(self, seen_from).angular
        vector = chains.turned_into(seen_from if frame is None else frame, self, own)
        return _over(vector, self, seen_from, frame)

    def _time(self) -> Scalar:
        from trundle.wrenches.symbolic import time_symbol

        return time_symbol(self.root.time)


@dataclass(frozen=True, eq=False, repr=False)
class Point:
    """A point that rides on a frame or moves in it; `Frame.point` makes it.

    Attributes
    ----------
    name : str
        What it is called.
    frame : Frame
        The frame it is given in.
    coordinates : tuple of three scalars
        Where it is in that frame, in m.
    rate, second_rate : tuple of three scalars, or None
        The rates of its coordinates, in m/s and m/s²; None: not known.
    """

    name: str
    frame: Frame
    coordinates: Vector
    rate: Vector | None
    second_rate: Vector | None

    def __repr__(self) -> str:
        return f"Point({self.name!r}, in {self.frame.name!r})"

    @cached_property
    def shape(self) -> BatchShape:
        """The shape of the batch, of its frame's too."""
        given = (vector for vector in (self.coordinates, self.rate, self.second_rate) if vector is not None)
        return batch_shape(f"point '{self.name}'", *given, also=[self.frame.shape])

    def position(self, *, frame: Frame, relative_to: Point | None = None) -> TripleLike:
        """The vector to this point from another, in a frame's axes.

        Parameters
        ----------
        frame : Frame
            In whose axes.
        relative_to : Point
            From where; left out: from the origin of `frame`.

        Returns
        -------
        array (..., 3), or three expressions
            In m.

        Raises
        ------
        InputError
            If the frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> hip, knee = world.point("hip", (0, 0, 0.9)), world.point("knee", (0, 0, 0.5))
        >>> knee.position(frame=world, relative_to=hip)
        array([ 0. ,  0. , -0.4])
        """
        chains.require_frames(frame)
        start = frame.origin if relative_to is None else relative_to
        return _over(chains.offset(start, self, frame), self, relative_to, frame)

    def velocity(
        self, *, seen_from: Frame, relative_to: Point | None = None, frame: Frame | None = None
    ) -> TripleLike:
        """The rate of its position, as a frame sees it.

        Parameters
        ----------
        seen_from : Frame
            The frame that counts as standing still.
        relative_to : Point
            The rate of the position relative to this point; left out: to one that stands still in `seen_from`.
        frame : Frame
            In whose axes; left out: in those of `seen_from`.

        Returns
        -------
        array (..., 3), or three expressions
            In m/s.

        Raises
        ------
        InputError
            If the frames have no common root, or how a frame between them or the point moves isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> belt = world.child("belt", velocity=(1.5, 0, 0))
        >>> world.origin.velocity(seen_from=belt)
        array([-1.5,  0. ,  0. ])
        """
        vector = chains.rate_in(
            seen_from if frame is None else frame, chains.velocity_of, self, relative_to, seen_from
        )
        return _over(vector, self, relative_to, seen_from, frame)

    def acceleration(
        self, *, seen_from: Frame, relative_to: Point | None = None, frame: Frame | None = None
    ) -> TripleLike:
        """The rate of its velocity, as the same frame sees it.

        Parameters
        ----------
        seen_from : Frame
            The frame that counts as standing still.
        relative_to : Point
            The second rate of the position relative to this point; left out: to one that stands still in `seen_from`.
        frame : Frame
            In whose axes; left out: in those of `seen_from`.

        Returns
        -------
        array (..., 3), or three expressions
            In m/s².

        Raises
        ------
        InputError
            If the frames have no common root, or how a frame between them or the point moves isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), 0.0, 2.0, 0.0))
        >>> arm.point("hand", (0.5, 0, 0)).acceleration(seen_from=world)
        array([-2.,  0.,  0.])
        """
        vector = chains.rate_in(
            seen_from if frame is None else frame, chains.acceleration_of, self, relative_to, seen_from
        )
        return _over(vector, self, relative_to, seen_from, frame)


def _over(vector: Vector, *parts: Frame | Point | None) -> TripleLike:
    """A vector for every sample that the frames and points hold."""
    return array(vector, batch_shape("the frames", also=(part.shape for part in parts if part is not None)))

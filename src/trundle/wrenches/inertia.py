"""Inertias that know whose they are, about which point, and in whose axes; none that no rigid body has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.scalars import Scalar, is_zero, plus
from trundle.shown import Displayable
from trundle.spatial.motions import inertia_about_origin
from trundle.spatial.vectors import (
    ZERO,
    Matrix,
    Vector,
    add,
    add_matrices,
    apply,
    cross,
    multiply,
    scale,
    subtract,
    transpose,
)
from trundle.wrenches.chains import offset, placement_in, require_frames, require_points
from trundle.wrenches.components import (
    TripleLike,
    as_matrix,
    as_vector,
    is_number,
    is_symbolic,
    probe,
    shown_matrix,
    stacked,
)
from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.twist import demand_same_place
from trundle.wrenches.wrench import Wrench

# Relative, as in descriptions: inertias are given with three or four digits, on the triangle inequality's edge.
_ROUNDED = 1e-6
# Relative to the moments about `point`: what parallel axes take away leaves rounding of what was there.
_ROUNDING = 1e-12
_SYMMETRIC = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Inertia(Displayable):
    """A rigid body's mass, centre of mass, and moments of inertia about a point.

    Attributes
    ----------
    mass : float, array (n,) or expression
        In kg.
    matrix : array (..., 3, 3), or rows of expressions
        The moments of inertia, products negative off the diagonal as in I ω, in kg m².
    center : Point
        The centre of mass, a point that stands still in the body's own frame.
    point : Point
        What `matrix` is about; left out: the centre.
    frame : Frame
        In whose axes; left out: the body's own.
    as_given : bool
        Taken as it stands, also where no rigid body has it.

    Examples
    --------
    >>> import trundle
    >>> shank = trundle.Frame("world").child("shank")
    >>> rod = trundle.Inertia(3.0, [[0.25, 0, 0], [0, 0, 0], [0, 0, 0.25]], center=shank.point("G", (0, 0.5, 0)))
    >>> float(rod.at(shank.origin).matrix[0, 0])
    1.0
    """

    mass: Scalar
    matrix: TripleLike
    center: Point = field(kw_only=True)
    point: Point = field(kw_only=True, default=None)  # type: ignore[assignment]
    frame: Frame = field(kw_only=True, default=None)  # type: ignore[assignment]
    as_given: bool = field(kw_only=True, default=False)

    def __post_init__(self) -> None:
        """Check that the centre stands still in the body, and that a rigid body can have these moments."""
        point = self.center if self.point is None else self.point
        require_points(self.center, point)
        body = self.center.frame
        frame = body if self.frame is None else self.frame
        require_frames(frame)
        what = f"the inertia of '{body.name}'"
        if self.center.rate is None or not all(is_zero(x) for x in self.center.rate):
            hint = f"give it to the body's own frame: Frame(…).child('{body.name}', …).point(…)"
            raise InputError(
                f"{what}: its centre '{self.center.name}' must stand still in '{body.name}'", hint=hint
            )
        rows = as_matrix(self.matrix, what)
        object.__setattr__(self, "mass", as_vector((self.mass, 0, 0), f"{what}: its mass")[0])
        object.__setattr__(self, "point", point)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "matrix", shown_matrix(rows, self.frame.shape))
        if not self.as_given:
            _check(self.mass, rows, _about_center(self), what)

    @property
    def body(self) -> str:
        """The body, by the name of its own frame."""
        return self.center.frame.name

    def at(self, point: Point) -> Inertia:
        """The moments about another point, by parallel axes: I_P = I_G + m (r·r 1 − r rᵀ), r = G − P.

        Parameters
        ----------
        point : Point
            The point.

        Returns
        -------
        Inertia
            In the same axes.

        Raises
        ------
        InputError
            If the points' frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> body = trundle.Frame("body")
        >>> mass = trundle.Inertia(2.0, [[0, 0, 0]] * 3, center=body.point("G", (0, 3.0, 0)))
        >>> float(mass.at(body.origin).matrix[2, 2])
        18.0
        """
        return replace(self, matrix=add_matrices(_about_center(self), _steiner(self, point)), point=point)

    def in_frame(self, frame: Frame) -> Inertia:
        """The moments in the axes of another frame: R I Rᵀ.

        Parameters
        ----------
        frame : Frame
            In whose axes.

        Returns
        -------
        Inertia
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
        >>> rod = trundle.Inertia(1.0, [[1, 0, 0], [0, 0, 0], [0, 0, 1]], center=arm.origin)
        >>> rod.in_frame(world).matrix.diagonal().round(12)
        array([0., 1., 1.])
        """
        return replace(self, matrix=_turned(as_matrix(self.matrix, ""), self.frame, frame), frame=frame)

    def momentum_rate(self, *, seen_from: Frame) -> Wrench:
        """The rate of the body's momentum (Newton and Euler): F = m a_G, and about the centre M = I α + ω × I ω.

        Parameters
        ----------
        seen_from : Frame
            From where the motion is seen. Of an inertial frame it is the sum of all wrenches on the body.

        Returns
        -------
        Wrench
            On the body, by its motion, about the centre of mass, in the body's own axes.

        Raises
        ------
        InputError
            If how the body moves isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> arm = world.child("arm", rotation=((0, 0, 1), 0.0, 2.0, 0.0))
        >>> mass = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=arm.point("G", (0.4, 0, 0)))
        >>> mass.momentum_rate(seen_from=world).force
        array([-0.8,  0. ,  0. ])
        """
        body = self.center.frame
        a, omega, alpha = (
            as_vector(vector, "")
            for vector in (
                self.center.acceleration(seen_from=seen_from, frame=body),
                body.angular_velocity(seen_from=seen_from, frame=body),
                body.angular_acceleration(seen_from=seen_from, frame=body),
            )
        )
        force, moment = newton_euler(self.mass, central_moments(self, body), a, omega, alpha)
        return Wrench(force, moment, on=self.body, by="motion", point=self.center, frame=body)

    def weight(self, gravity: TripleLike, *, frame: Frame) -> Wrench:
        """What gravity does to the body: m g at its centre of mass.

        Parameters
        ----------
        gravity : array (..., 3) or three scalars
            g, in m/s².
        frame : Frame
            In whose axes g is given.

        Returns
        -------
        Wrench
            On the body, by gravity, in the axes of `frame`.

        Raises
        ------
        InputError
            If `gravity` isn't three components.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> mass = trundle.Inertia(2.0, [[0, 0, 0]] * 3, center=world.child("ball").origin)
        >>> mass.weight((0, 0, -9.81), frame=world).force
        array([  0.  ,   0.  , -19.62])
        """
        force = scale(self.mass, as_vector(gravity, "gravity"))
        return Wrench(force, ZERO, on=self.body, by="gravity", point=self.center, frame=frame)

    def __add__(self, other: Inertia) -> Inertia:
        """Two parts of one body as one: masses and moments add, and the centre lies between theirs."""
        if self.center.frame is not other.center.frame:
            raise InputError(
                f"inertias of different bodies don't add: of '{self.body}' and of '{other.body}'",
                hint=f"give both to one frame: '{self.body}'.point('{other.center.name}', …)",
            )
        demand_same_place("inertias", self, other)
        mass = plus(self.mass, other.mass)
        if is_number(mass) and np.any(mass <= 0):
            raise InputError(f"two parts without mass, both of '{self.body}', have no centre of mass")
        h = add(scale(self.mass, self.center.coordinates), scale(other.mass, other.center.coordinates))
        center = self.center.frame.point(
            f"centre of {self.body}", tuple(x / mass for x in h), velocity=ZERO, acceleration=ZERO
        )
        matrix = add_matrices(as_matrix(self.matrix, ""), as_matrix(other.matrix, ""))
        as_given = self.as_given or other.as_given
        return Inertia(mass, matrix, center=center, point=self.point, frame=self.frame, as_given=as_given)


def central_moments(inertia: Inertia, frame: Frame) -> Matrix:
    """The moments about the centre of mass in the axes of `frame`, as rows of scalars."""
    return _turned(_about_center(inertia), inertia.frame, frame)


def _about_center(inertia: Inertia) -> Matrix:
    rows = as_matrix(inertia.matrix, "")
    if inertia.point is inertia.center:
        return rows
    steiner = _steiner(inertia, inertia.point)
    return (subtract(rows[0], steiner[0]), subtract(rows[1], steiner[1]), subtract(rows[2], steiner[2]))


def _steiner(inertia: Inertia, point: Point) -> Matrix:
    """m (r·r 1 − r rᵀ) from the centre of mass to a point."""
    r = offset(point, inertia.center, inertia.frame)
    return inertia_about_origin(inertia.mass, r, (ZERO, ZERO, ZERO)).rotational


def _turned(rows: Matrix, frame: Frame, into: Frame) -> Matrix:
    """R I Rᵀ."""
    rotation = placement_in(frame, into).pose.rotation
    return multiply(multiply(rotation, rows), transpose(rotation))


def newton_euler(
    mass: Scalar, inertia: Matrix, a: Vector, omega: Vector, alpha: Vector
) -> tuple[Vector, Vector]:
    """(m a, I α + ω × I ω), all in one frame's axes, the inertia about the centre of mass."""
    return scale(mass, a), add(apply(inertia, alpha), cross(omega, apply(inertia, omega)))


def _check(mass: Scalar, rows: Matrix, about_center: Matrix, what: str) -> None:
    """Refuse masses below zero and matrices that no distribution of mass has; letters are taken at their word."""
    weighed = None if _lettered(mass) else probe([mass])
    if weighed is not None and not np.all(np.isfinite(weighed[0]) & (weighed[0] >= 0)):
        raise InputError(f"{what}: its mass must be at least 0 kg, got {np.min(weighed[0]):g}")
    numbers = _numbers(rows)
    if numbers is not None:
        if not np.all(np.isfinite(numbers)):
            raise InputError(f"{what} must hold finite numbers")
        worst = np.max(np.abs(numbers - np.swapaxes(numbers, -1, -2)))
        if worst > _SYMMETRIC * np.max(np.abs(numbers)):
            hint = "I_xy = I_yx, I_xz = I_zx, I_yz = I_zy"
            raise InputError(f"{what} must be symmetric: two entries differ by {worst:.3g}", hint=hint)
    central = None if any(_lettered(x) for row in about_center for x in row) else _numbers(about_center)
    if numbers is not None and central is not None:
        _check_moments(central, float(np.max(np.abs(numbers))), what)


def _check_moments(central: FloatArray, largest: float, what: str) -> None:
    """Refuse principal moments below zero, and such as are larger than the other two together."""
    moments = np.linalg.eigvalsh((central + np.swapaxes(central, -1, -2)) / 2).reshape(-1, 3)
    least, middle, most = moments.T
    edge = _ROUNDED * np.abs(most) + _ROUNDING * largest
    # One moment alone is all that a motion about one axis needs: descriptions of planar robots have no more.
    alone = np.abs(least) + np.abs(middle) <= edge * _ROUNDING
    bad = ~((least >= -edge) & (alone | (least + middle >= most - edge)))
    if np.any(bad):
        worst = ", ".join(f"{x:.6g}" for x in moments[np.argmax(bad)])
        raise InputError(
            f"{what} is none of a rigid body: about the centre of mass its principal moments are {worst} kg m²",
            hint="each is at least 0, and no larger than the other two together; is the matrix about `point`?",
        )


def _lettered(x: Scalar) -> bool:
    """Whether its value hangs on letters."""
    return is_symbolic(x) and not x.is_number


def _numbers(rows: Matrix) -> FloatArray | None:
    numbers = probe([x for row in rows for x in row])
    if numbers is None:
        return None
    return stacked(numbers, (3, 3))

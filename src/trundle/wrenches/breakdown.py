"""A body's motion as an observer sees it, broken down into the true and the fictitious wrenches that account for it.

An observer is a frame, which turns with Ω, and an origin o. With r = G − o, and v′, a′, ω′, α′ what the observer sees
of the centre of mass G and of the body's turning, Newton's and Euler's laws read: seen = true + fictitious wrenches.

| term        | force             | moment about G                |
| seen        | m a′              | I α′ + ω′ × I ω′              |
| d'Alembert  | −m ö              | 0                             |
| Euler       | −m Ω̇ × r          | −I Ω̇                          |
| centrifugal | −m Ω × (Ω × r)    | −Ω × I Ω                      |
| Coriolis    | −2 m Ω × v′       | tr(I) ω′ × Ω − 2 ω′ × I Ω     |

The forces are those of a point mass (Goldstein, Poole and Safko 2002, section 4.10); the moments are the same fields of
acceleration summed over the body. The split depends on the origin, the sum does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add as total

from trundle.errors import InputError, require_known
from trundle.frozen import Frozen
from trundle.scalars import Scalar, plus
from trundle.shown import Displayable
from trundle.spatial.vectors import ZERO, Vector, apply, cross, scale, subtract
from trundle.wrenches.chains import require_frames, require_points
from trundle.wrenches.components import TripleLike, as_vector
from trundle.wrenches.frame import Frame, Point
from trundle.wrenches.inertia import Inertia, central_moments, newton_euler
from trundle.wrenches.wrench import Wrench

FICTITIOUS = ("d_alembert", "euler", "centrifugal", "coriolis")
_PARTS = tuple(f"{part}_{axis}" for part in ("force", "moment") for axis in "xyz")


@dataclass(frozen=True, eq=False, repr=False)
class Breakdown(Displayable):
    """What an observer sees of a body's motion, and the wrenches that add up to it.

    Attributes
    ----------
    seen : Wrench
        The rate of momentum that the observer sees.
    terms : Mapping[str, Wrench]
        The fictitious wrenches `d_alembert`, `euler`, `centrifugal`, `coriolis`, then the true ones by their names.
    observer : Frame
        The observer's frame.
    origin : Point
        The observer's origin, on which the split depends.

    Examples
    --------
    >>> import trundle
    >>> world = trundle.Frame("world")
    >>> table = world.child("table", rotation=((0, 0, 1), 0.0, 3.0, 0.0))
    >>> needle = trundle.Inertia(0.2, [[0, 0, 0]] * 3, center=table.point("needle", (0.1, 0, 0)))
    >>> grip = needle.momentum_rate(seen_from=world)
    >>> split = trundle.Breakdown.of(needle, {"joint": grip}, observer=table, origin=table.origin)
    >>> split["centrifugal"].force
    array([0.18, 0.  , 0.  ])
    """

    seen: Wrench
    terms: Mapping[str, Wrench]
    observer: Frame
    origin: Point

    @staticmethod
    def of(inertia: Inertia, wrenches: Mapping[str, Wrench], *, observer: Frame, origin: Point) -> Breakdown:
        """Break a body's motion down, as an observer sees it.

        Parameters
        ----------
        inertia : Inertia
            The body, whose motion is that of its own frame.
        wrenches : Mapping[str, Wrench]
            All true wrenches on the body by names of your choice (joint, gravity, friction, external, …), about any
            points and in any axes. The frames' root counts as inertial.
        observer : Frame
            The observer's frame.
        origin : Point
            The observer's origin.

        Returns
        -------
        Breakdown
            All wrenches about the centre of mass, in the observer's axes; `at` and `in_frame` move them.

        Raises
        ------
        InputError
            If a wrench acts on another body, a name is a fictitious wrench's, or a motion isn't known.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> lift = world.child("lift", acceleration=(0, 0, 2.0), velocity=(0, 0, 0))
        >>> ball = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=lift.origin)
        >>> floor = ball.momentum_rate(seen_from=world)
        >>> split = trundle.Breakdown.of(ball, {"floor": floor}, observer=lift, origin=lift.origin)
        >>> split["d_alembert"].force
        array([ 0.,  0., -1.])
        """
        for name, wrench in wrenches.items():
            if name in ("seen", *FICTITIOUS):
                raise InputError(
                    f"'{name}' is the observer's own term", hint="call the true wrench otherwise"
                )
            if wrench.on != inertia.body:
                raise InputError(
                    f"wrench '{name}' acts on '{wrench.on}', not on '{inertia.body}'",
                    hint="what the body does to another is that one's; take its reaction()",
                )
        center = inertia.center
        split = _split(inertia, observer, origin)
        own = {
            name: Wrench(*parts, on=inertia.body, by=name, point=center, frame=observer)
            for name, parts in split.items()
        }
        true = {name: wrench.at(center).in_frame(observer) for name, wrench in wrenches.items()}
        seen = own.pop("seen")
        return Breakdown(seen, Frozen({**own, **true}), observer, origin)

    @property
    def residual(self) -> Wrench:
        """seen − Σ terms: zero where all true wrenches are there and the motion is the one that they make."""
        return self.seen - self.sum()

    def sum(self, *names: str) -> Wrench:
        """Some terms together.

        Parameters
        ----------
        *names : str
            Which; left out: all, the fictitious and the true ones.

        Returns
        -------
        Wrench
            At the same point and in the same axes as the terms.

        Raises
        ------
        InputError
            If a term isn't there.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> ball = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=world.child("ball").origin)
        >>> split = trundle.Breakdown.of(ball, {}, observer=world, origin=world.origin)
        >>> split.sum("euler", "coriolis").by
        'euler + coriolis'
        """
        return reduce(total, (self[name] for name in names or self.terms))

    def __getitem__(self, name: str) -> Wrench:
        require_known(name, [*self], f"the breakdown has no term {name!r}")
        return self.seen if name == "seen" else self.terms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("seen", *self.terms))

    def at(self, point: Point) -> Breakdown:
        """All terms about another point, such as the joint that holds the body.

        Parameters
        ----------
        point : Point
            The point.

        Returns
        -------
        Breakdown
            Of the same observer.

        Raises
        ------
        InputError
            If the points' frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> ball = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=world.child("ball").origin)
        >>> split = trundle.Breakdown.of(ball, {}, observer=world, origin=world.origin)
        >>> split.at(world.origin).seen.point
        Point('origin of world', in 'world')
        """
        return self._mapped(lambda wrench: wrench.at(point))

    def in_frame(self, frame: Frame) -> Breakdown:
        """All terms in the axes of another frame.

        Parameters
        ----------
        frame : Frame
            In whose axes; the observer stays who it is.

        Returns
        -------
        Breakdown
            Of the same observer.

        Raises
        ------
        InputError
            If the frames have no common root.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> ball = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=world.child("ball").origin)
        >>> split = trundle.Breakdown.of(ball, {}, observer=world, origin=world.origin)
        >>> split.in_frame(ball.center.frame).seen.frame
        Frame('ball', in 'world')
        """
        return self._mapped(lambda wrench: wrench.in_frame(frame))

    def expanded(self) -> Breakdown:
        """All terms multiplied out, products of sines and cosines as sums: a residual that vanishes is then 0.

        Returns
        -------
        Breakdown
            Numbers stay as they are.

        Examples
        --------
        >>> import sympy, trundle
        >>> world, t = trundle.Frame("world"), sympy.Symbol("t")
        >>> ball = world.child("ball", origin=(sympy.sin(t) ** 2, 0, 0))
        >>> mass = trundle.Inertia(sympy.Symbol("m"), [[0, 0, 0]] * 3, center=ball.origin)
        >>> split = trundle.Breakdown.of(mass, {}, observer=world, origin=world.origin)
        >>> split.expanded().seen.force
        (2*m*cos(2*t), 0, 0)
        """
        return self._mapped(Wrench.expanded)

    def table(self) -> dict[str, TripleLike]:
        """Every component of every term, what is seen first and the residual last, by names such as `euler.moment_z`.

        Returns
        -------
        dict
            Numbers or arrays (n,), in N and N m, or expressions.

        Examples
        --------
        >>> import trundle
        >>> world = trundle.Frame("world")
        >>> ball = trundle.Inertia(0.5, [[0, 0, 0]] * 3, center=world.child("ball").origin)
        >>> split = trundle.Breakdown.of(ball, {}, observer=world, origin=world.origin)
        >>> list(split.table())[:3]
        ['seen.force_x', 'seen.force_y', 'seen.force_z']
        """
        wrenches = {name: self[name] for name in self} | {"residual": self.residual}
        return {
            f"{name}.{part}": value
            for name, wrench in wrenches.items()
            for part, value in zip(
                _PARTS, (*as_vector(wrench.force, ""), *as_vector(wrench.moment, "")), strict=True
            )
        }

    def _mapped(self, moved: Callable[[Wrench], Wrench]) -> Breakdown:
        terms = {name: moved(wrench) for name, wrench in self.terms.items()}
        return Breakdown(moved(self.seen), Frozen(terms), self.observer, self.origin)


def _split(inertia: Inertia, observer: Frame, origin: Point) -> dict[str, tuple[Vector, Vector]]:
    """What is seen and the four fictitious wrenches, about G, in the observer's axes."""
    require_frames(observer)
    require_points(origin)
    body, center, root = inertia.center.frame, inertia.center, observer.root
    m, i = inertia.mass, central_moments(inertia, observer)
    r, v, a, turning, turning_rate, big_omega, big_omega_rate, moving = (
        as_vector(vector, "")
        for vector in (
            center.position(relative_to=origin, frame=observer),
            center.velocity(seen_from=observer, relative_to=origin),
            center.acceleration(seen_from=observer, relative_to=origin),
            body.angular_velocity(seen_from=observer),
            body.angular_acceleration(seen_from=observer),
            observer.angular_velocity(seen_from=root, frame=observer),
            observer.angular_acceleration(seen_from=root, frame=observer),
            origin.acceleration(seen_from=root, frame=observer),
        )
    )
    trace = plus(plus(i[0][0], i[1][1]), i[2][2])
    minus_m: Scalar = scale(m, (-1, 0, 0))[0]
    turned = scale(trace, cross(turning, big_omega))
    return {
        "seen": newton_euler(m, i, a, turning, turning_rate),
        "d_alembert": (scale(minus_m, moving), ZERO),
        "euler": (scale(minus_m, cross(big_omega_rate, r)), scale(-1, apply(i, big_omega_rate))),
        "centrifugal": (
            scale(minus_m, cross(big_omega, cross(big_omega, r))),
            scale(-1, cross(big_omega, apply(i, big_omega))),
        ),
        "coriolis": (
            scale(minus_m, scale(2, cross(big_omega, v))),
            subtract(turned, scale(2, cross(turning, apply(i, big_omega)))),
        ),
    }

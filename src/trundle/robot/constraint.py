"""What a limit of one's own is: rows |x| ≤ X or x ≤ X by what a motion is and what it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import ClassVar, NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.robot.kinds import Kind, Read, Registry, must_define


class Row(NamedTuple):
    """|x| ≤ most, or x ≤ most where it is one-sided: k alike limits by their names, at n places.

    x has its parts, (n, k) each; most is (n, k), (k,) or a number. `bends` are parts, (n, k) each, whose squares a
    one-sided x is made of, beside what doesn't bend.
    """

    names: Sequence[str]
    x: tuple[FloatArray, ...]
    most: FloatArray | float
    one_sided: bool = False
    bends: tuple[FloatArray, ...] = ()

    @property
    def shares(self) -> FloatArray:
        """What is taken of what there is, (n, k): above 1 it is too much; 0 where nothing is taken of nothing."""
        first, *rest = self.x
        size = first if self.one_sided else reduce(np.hypot, rest, np.abs(first))
        # a wheel that hardly carries anything grips with next to nothing
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = size / self.most
        return np.where(np.isnan(share), 0.0, share)


class WheelMotion(NamedTuple):
    """How a wheel rolls (m/s, m/s²) and how it is steered (rad, rad/s, rad/s²), (n,) each."""

    speed: FloatArray
    acceleration: FloatArray
    angle: FloatArray
    steering_rate: FloatArray
    steering_acceleration: FloatArray


class ContactForce(NamedTuple):
    """Of the ground on a wheel (N): along its heading, along its axle, and what it carries; (n,) each."""

    traction: FloatArray
    side_force: FloatArray
    load: FloatArray


class MotorMotion(NamedTuple):
    """A motor's torque on what it drives (N m), that one's rate (rad/s), and its input, (n,) each.

    Of one with a winding its current (A), (n,), and resistance (Ω), a number.
    """

    torque: FloatArray
    rate: FloatArray
    command: FloatArray
    current: FloatArray | None = None
    resistance: float | None = None


class BatteryMotion(NamedTuple):
    """A full battery's voltage (V) between its terminals and its power (W), (n,) each."""

    voltage: FloatArray
    power: FloatArray


class MotionState(NamedTuple):
    """A motion at n places, as a constraint sees it.

    twist: v_x, v_y (m/s) of the base's origin in its axes, and ω (rad/s), (n,) each. twist_rate: their rates; so the
    origin's acceleration is (v̇_x − ω v_y, v̇_y + ω v_x). The rest is by name. `contacts`, `motors` and `batteries` are
    of plans whose forces are known.
    """

    twist: tuple[FloatArray, FloatArray, FloatArray]
    twist_rate: tuple[FloatArray, FloatArray, FloatArray]
    wheels: Mapping[str, WheelMotion]
    contacts: Mapping[str, ContactForce]
    motors: Mapping[str, MotorMotion]
    batteries: Mapping[str, BatteryMotion]


def within(name: str, most: FloatArray | float, *x: FloatArray | float) -> Row:
    """|x| ≤ most of a vector by its parts; of a single one −most ≤ x ≤ most.

    Parameters
    ----------
    name : str
        What is limited, as messages and figures name it.
    most : float or array (n,)
        What there is, at least 0.
    x : float or array (n,)
        One part or several, in the unit of `most`.

    Returns
    -------
    Row

    Raises
    ------
    TypeError, ValueError
        A part of x, or `most`, is not a number.

    Examples
    --------
    >>> from trundle.robot import within
    >>> within("acceleration", 5.0, 3.0, 4.0).shares
    array(1.)
    """
    return Row((str(name),), tuple(map(_number, x)), _number(most))


def below(name: str, most: FloatArray | float, x: FloatArray | float) -> Row:
    """x ≤ most; x may be as negative as it likes.

    Parameters
    ----------
    name : str
        What is limited, as messages and figures name it.
    most : float or array (n,)
        What there is, at least 0.
    x : float or array (n,)
        In the unit of `most`.

    Returns
    -------
    Row

    Raises
    ------
    TypeError, ValueError
        A part of x, or `most`, is not a number.

    Examples
    --------
    >>> from trundle.robot import below
    >>> below("power", 400.0, -100.0).shares
    array(-0.25)
    """
    return Row((str(name),), (_number(x),), _number(most), one_sided=True)


def _number(part: FloatArray | float) -> FloatArray:
    """A number or an array; TypeError for None, of which NumPy would make NaN."""
    if part is None:
        raise TypeError("expected a number, got None: motors without a winding have no current")
    return np.asarray(part, dtype=float)


def _check_constraint(kind: type[Kind]) -> None:
    must_define(kind, Constraint, "rows")


CONSTRAINTS = Registry("constraint", "", check=_check_constraint)


class Constraint(Kind):
    """What limits a robot's motions beside its wheels, motors, batteries and the floor.

    `follow`, `drive` and `fastest` keep to it at every instant, `fastest` along the way that it finds without it.
    """

    family: ClassVar[Registry] = CONSTRAINTS
    in_equations: ClassVar[bool] = False

    def rows(self, at: MotionState, read: Read) -> Iterable[Row]:
        """Its limits, `within(name, most, x)` or `below(name, most, x)`, as many and of the same names at all motions.

        x and most are smooth in what `at` has; `read` turns a field into a number.
        """
        raise NotImplementedError

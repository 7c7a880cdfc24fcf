"""Wheels on the ground plane: contact velocities, and the rows that rolling puts on the robot's speeds.

A wheel's frame has x along its heading, y along its axle, z up, and does not spin with the wheel. The contact lies a
radius below the centre; the velocity of the wheel's material there, v_c = v + ω × (0, 0, −R), is what must vanish
(or what slips).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from trundle.errors import InputError
from trundle.mechanics.actuation import listed
from trundle.mechanics.frames import point_jacobian
from trundle.mechanics.linear import dot, solve_positive
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.rolling import ConstraintRow
from trundle.mechanics.tree import Tree
from trundle.robot.contact import Bearing, ContactLaw, Push, Touch
from trundle.robot.kinds import Read, ask, ask_states
from trundle.robot.wheels import ContactDirection, PivotedWheel, Wheel, WheelAppearance
from trundle.scalars import AnyRows, Scalar, is_zero
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import IDENTITY, Vector

# The share of its grip up to which a contact's slip is told: laws of friction have none for all of it.
GRIPPED = 0.99


@dataclass(frozen=True)
class WheelModel:
    """A wheel as the algorithms see it: its link, where it stands on the base, how it meets the ground.

    `component` says what it can do, `law` what the ground does to it; `read` makes their fields scalars. `position`
    is the contact's (x, y) in the base's frame at the reference configuration, a steered wheel's that of its pivot;
    `spin` and `steering` the columns of its rates (None where it has none); `load` a given normal force (None: its
    share of the weight). `offset` is where the wheel's centre lies in its fork's frame, x along the heading (m).
    """

    name: str
    component: Wheel
    link: int
    radius: Scalar
    position: tuple[Scalar, Scalar]
    law: ContactLaw
    read: Read
    directions: tuple[ContactDirection, ...]
    spin: int | None = None
    steering: int | None = None
    load: Scalar | None = None
    on_base: bool = True
    offset: tuple[Scalar, Scalar] = (0, 0)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of its rates: of its spin and of its steering, where it has them."""
        return tuple(column for column in (self.spin, self.steering) if column is not None)

    @property
    def key(self) -> str:
        """Where its contact law stands in the description."""
        return f"robot.wheels.{self.name}.contact"

    @property
    def grips(self) -> bool:
        """Whether it rolls on the ground, ideally or with slip."""
        return self.law.grips and bool(self.directions)

    @property
    def creeps(self) -> bool:
        """Whether its contact slips for what it gives."""
        return bool(float(self.law.creep(0.5, self.read)) > 0)

    @property
    def acts(self) -> bool:
        """Whether its contact law has to be asked what the ground does."""
        return (self.law.pushes or self.law.resists) and bool(self.directions)

    @property
    def pushed(self) -> tuple[ContactDirection, ...]:
        """The directions in which its contact law gives forces."""
        return self.directions if self.law.pushes else ()

    @cached_property
    def states(self) -> dict[str, Quantity]:
        """The states that its contact law brings along, by the law's own names."""
        directions = [direction.what for direction in self.directions]
        states = ask_states(self.law, self.key, self.law.states, self.read, directions)
        return {
            name: Quantity(name, state.quantity.unit, "state", start=state.start).of(self.name)
            for name, state in states.items()
        }

    def force(self, direction: ContactDirection) -> Quantity:
        """What the ground does to the robot in a direction (N)."""
        return Quantity(direction.force, "N", "ground").of(self.name)

    def slip(self, direction: ContactDirection) -> Quantity:
        """How fast the contact slips in a direction (m/s)."""
        return Quantity(f"{direction.what}_slip", "m/s", "slip").of(self.name)

    @property
    def pressed(self) -> Quantity:
        """The normal force on it (N)."""
        return Quantity("load", "N", "load").of(self.name)

    @property
    def moment(self) -> Quantity:
        """What the ground does about its axle beside its forces (N m)."""
        return Quantity("moment", "N m", "force").of(self.name)

    def output(self, name: str) -> Quantity:
        """What its contact law shows beside forces."""
        return Quantity(name, self.law.outputs[name].unit, "other").of(self.name)

    def push(
        self,
        slip: Sequence[Scalar],
        load: Scalar,
        rate: Scalar,
        states: Mapping[str, Scalar],
        bearing: Bearing | None = None,
    ) -> Push:
        """What the ground does to it: at this slip (m/s), load (N) and spin rate (rad/s), and with all the model's own
        states by name, and on terrain how the ground bears it; raises InputError where the law answers with another
        number of forces.
        """
        own = {name: states[quantity.name] for name, quantity in self.states.items()}
        width = self.component.look(self.read).width if self.law.carries else 0
        touch = Touch(tuple(slip), load, self.radius * rate, self.radius, own, bearing, width)
        push = ask(self.law, self.key, self.law.push, touch, self.read)
        if not (isinstance(push, Push) and hasattr(push.forces, "__len__")):
            message = f"{type(self.law).__name__} gives {push!r} for the wheel {self.name!r}"
            hint = "expected trundle.robot.Push([force, …], …), a force for each slip velocity"
            raise InputError(message, key=self.key, hint=hint)
        came, wanted = (push.rates, push.outputs), (own, self.law.outputs)
        fits = len(push.forces) == len(slip) and (self.law.resists or is_zero(push.moment))
        if fits and [set(names) for names in came] == [set(names) for names in wanted]:
            return push
        raise InputError(
            f"{type(self.law).__name__} gives {len(push.forces)} forces and {listed(*came)} "
            f"for the wheel {self.name!r}",
            key=self.key,
            hint=f"expected {len(slip)} forces, one for each slip velocity, and {listed(*wanted)}, as it says itself; "
            "and a moment only with resists = True",
        )


def directions_of(name: str, wheel: Wheel, read: Read) -> tuple[ContactDirection, ...]:
    """The directions in which the ground can push a wheel; raises InputError where they are none."""
    key = f"robot.wheels.{name}"
    pushes = ask(wheel, key, wheel.directions, read)
    if isinstance(pushes, (tuple, list)) and all(isinstance(push, ContactDirection) for push in pushes):
        parts = [part for push in pushes for part in (push.along, push.across)]
        names = [{push.force for push in pushes}, {push.what for push in pushes}]
        if all(map(_is_finite, parts)) and all(len(group) == len(pushes) for group in names):
            return tuple(pushes)
    message = f"{type(wheel).__name__} gives the directions {pushes!r}"
    hint = "expected a tuple of trundle.robot.ContactDirection, each with names and finite numbers of its own"
    raise InputError(message, key=key, hint=hint)


def centre_of(name: str, wheel: PivotedWheel, read: Read) -> tuple[Scalar, Scalar]:
    """Where a wheel's centre lies in its fork's frame (m); raises InputError where that is no place."""
    key = f"robot.wheels.{name}"
    centre = ask(wheel, key, wheel.centre, read)
    if isinstance(centre, (tuple, list)) and len(centre) == 2 and all(map(_is_finite, centre)):
        return centre[0], centre[1]
    raise InputError(
        f"{type(wheel).__name__} gives the centre {centre!r}", key=key, hint="expected two finite numbers (m)"
    )


def look_of(name: str, wheel: Wheel, read: Read) -> WheelAppearance:
    """What pictures show of a wheel; raises InputError where it says anything else."""
    key = f"robot.wheels.{name}"
    look = ask(wheel, key, wheel.look, read)
    if isinstance(look, WheelAppearance) and all(
        map(_is_finite, (look.width, 0.0 if look.roller_angle is None else look.roller_angle))
    ):
        return look
    hint = "expected a trundle.robot.Look, such as Look(width=read(self.width))"
    raise InputError(f"{type(wheel).__name__} gives the look {look!r}", key=key, hint=hint)


def _is_finite(scalar: Scalar) -> bool:
    """Symbols pass, which subtract as numbers do and text doesn't: only of plain numbers it can be told."""
    if isinstance(scalar, float):
        return math.isfinite(scalar)
    return hasattr(type(scalar), "__rsub__") and not isinstance(scalar, (Set, bool))


def contact_rows(tree: Tree, poses: Sequence[Pose], wheel: WheelModel, width: int) -> list[list[Scalar]]:
    """A row a direction: the velocity of a contact on the plane in it is row · ν (m/s). Padded with zeros to `width`
    columns.
    """
    rows = point_rows(tree, poses, wheel.link, (0, 0, -wheel.radius), IDENTITY[:2])
    return [[*row, *([0] * (width - len(row)))] for row in directed(wheel.directions, rows)]


def point_rows(
    tree: Tree, poses: Sequence[Pose], link: int, point: Vector, axes: Sequence[Vector]
) -> list[list[Scalar]]:
    """A row an axis: the velocity of a link's point along it is row · ν (m/s); all in the link's frame."""
    columns = point_jacobian(tree, poses, link, point)
    return [[dot(axis, column) for column in columns] for axis in axes]


def directed(directions: Sequence[ContactDirection], rows: AnyRows) -> list[list[Scalar]]:
    """Rows in the directions in which the ground can push, from those along the heading and across it."""
    ahead, aside = rows[:2]
    return [[dot((d.along, d.across), pair) for pair in zip(ahead, aside, strict=True)] for d in directions]


def describe_rows(wheel: WheelModel, first: int) -> list[ConstraintRow]:
    """What the rows of `contact_rows` are, when the first of them has index `first`."""
    binds = wheel.component.binds
    return [
        ConstraintRow(wheel.name, d.what, wheel.position, first if binds and d.what == "lateral" else None)
        for d in wheel.directions
    ]


def load_shares(
    positions: Sequence[tuple[Scalar, Scalar]], resultant: tuple[Scalar, Scalar, Scalar], span: Sequence[int]
) -> list[Scalar]:
    """Normal forces (N) on contacts at `positions` (m) that carry a resultant (W, W x_c, W y_c) in N and N m: equal
    springs under a rigid body.

    N_i = a + b x_i + c y_i with Σ N = W, Σ N x = W x_c, Σ N y = W y_c. `span` says which of x (0) and y (1) the
    contacts spread over: wheels on one line can't balance a moment about it, which something else (a caster that
    wasn't described) then carries.
    """
    shapes = [[1, *(p[k] for k in span)] for p in positions]
    target = [resultant[0], *(resultant[1 + k] for k in span)]
    size = len(target)
    gram = [[sum(s[i] * s[j] for s in shapes) for j in range(size)] for i in range(size)]
    solution = [row[0] for row in solve_positive(gram, [[t] for t in target])]
    return [dot(shape, solution) for shape in shapes]

"""What the ground does to the contacts of a robot on terrain during a step: loads, forces, and their slopes.

All is taken at the step's end: how deep a contact is then, how it slips, and the states of its law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from trundle.mechanics.linear import dot
from trundle.mechanics.wheels import WheelModel
from trundle.model.ground_states import OWN_SYMBOLS, SYMBOLS, TRIAL, led_on, put, tread_states
from trundle.program import Tracer
from trundle.program.tangents import jacobian
from trundle.robot.contact import Bearing, Push
from trundle.robot.kinds import Read
from trundle.scalars import Rows, Scalar, maximum, minimum, minus, plus, times
from trundle.terrain.contact import Contact

# The share of the sinkage over which damping sets in, so that a wheel that comes down is not stopped before it touches.
_SOFT = 0.1


class Touching(NamedTuple):
    """A contact of a wheel: its name and that of the place of the wheel, which touches several grounds there; rows of
    its directions, of its normal and of its distance's rate over all speeds, the factor of friction there.
    """

    name: str
    place: str
    wheel: WheelModel
    contact: Contact
    rows: Rows
    normal: list[Scalar]
    rise: list[Scalar]
    grip: Scalar

    @property
    def all_rows(self) -> Rows:
        """Rows of all that a contact moves, but its wheel's spin."""
        return [*self.rows, self.normal]


@dataclass(frozen=True)
class Support:
    """How ground of a stiffness (N/m), a damping (N s/m) and a sinkage (m) bears contacts during a step of length dt
    (s) from a state, in the nodes of a tracer.
    """

    tracer: Tracer
    state: Mapping[str, Scalar]
    dt: Scalar
    stiffness: Scalar
    damping: Scalar
    sinkage: Scalar

    def push(self, each: Touching, moved: Sequence[Scalar]) -> Push:
        """What the ground does to a contact at its slips, the speed of its normal and its wheel's spin rate."""
        bearing = self._bearing(each, moved)
        load, own = bearing.load, each.contact.share(bearing.depth)
        if not each.wheel.acts:
            return Push([0] * len(each.rows), load=times(own, load))
        push = self._push(each, moved, self.tread_after(each, moved))
        forces = push.forces if each.wheel.law.pushes else [0] * len(each.rows)
        return push._replace(
            forces=[times(own, force) for force in forces],
            moment=times(own, push.moment),
            load=times(own, push.load if each.wheel.law.carries else load),
            loss=None if push.loss is None else times(own, push.loss),
            stored=times(own, push.stored),
        )

    def lost(self, each: Touching, moved: Sequence[Scalar], rising: Scalar, push: Push) -> Scalar:
        """What friction and the ground's damping take from a contact that is pushed so (W); `rising` is how fast its
        distance grows (m/s).
        """
        *slip, leaving, rate = moved
        bearing = self._bearing(each, moved)
        spring = 0 if each.wheel.law.carries else self._spring(each, bearing.depth)
        # What the ground stores changes by K d ḋ. The load acts along the normal, and on hills ḋ isn't quite the speed
        # along it: their distance is (z − h) N_z. The rest is of the second order in the slope, and counts as lost.
        damped = minus(times(rising, spring), times(leaving, push.load))
        if push.loss is not None:
            return plus(damped, push.loss)
        return minus(damped, plus(dot(push.forces, slip), times(push.moment, rate)))

    def pressed(self, each: Touching) -> Scalar:
        """What the ground's spring under a contact stores where the step begins (J)."""
        depth = -each.contact.distance
        return 0 if each.wheel.law.carries else times(self._spring(each, depth), depth) / 2

    def foreseen(self, each: Touching, leaving: Scalar, rising: Scalar, aside: Scalar) -> Scalar:
        """What it would store at the step's end if the ground were the plane that the step sees (J); the contact's
        normal moves at `leaving`, its distance grows by `rising` (m/s), and the base is put `aside` along it (m).
        """
        if each.wheel.law.carries:
            return 0
        depth = minus(0, plus(plus(each.contact.distance, times(self.dt, leaving)), aside))
        spring = self._spring(each, depth)
        return minus(times(spring, depth) / 2, times(self.dt, times(spring, minus(rising, leaving))))

    def bent(self, each: Touching) -> Scalar:
        """What the tread of a contact stores where the step begins (J)."""
        names = tread_states(each.wheel, each.name)
        if not names:
            return 0
        own = {name: self.state[quantity.name] for name, quantity in names.items()}
        still: list[Scalar] = [0] * (len(each.rows) + 2)
        share = each.contact.share(-each.contact.distance)
        return times(share, self._push(each, still, own).stored)

    def _spring(self, each: Touching, depth: Scalar) -> Scalar:
        """The force of the ground's spring at a depth (N)."""
        return times(each.contact.share(depth), times(self.stiffness, maximum(depth, 0)))

    def pushed(self, each: Touching, moved: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
        """Forces of a contact along its slips, its normal and about its wheel's axle, and their slopes by these."""
        symbols = self.tracer.inputs(TRIAL, len(moved), SYMBOLS)
        push = self.push(each, symbols)
        found = [*push.forces, push.load, push.moment]
        forces, *slopes = put([found, *jacobian(found, symbols)], symbols, moved)
        return forces, slopes

    def tread_after(self, each: Touching, moved: Sequence[Scalar]) -> dict[str, Scalar]:
        """The states of a contact's law where a step with these slips ends, by the law's own names."""
        names = tread_states(each.wheel, each.name)
        own = {name: self.state[quantity.name] for name, quantity in names.items()}
        symbols = self.tracer.inputs(TRIAL, len(own), OWN_SYMBOLS)
        return led_on(lambda states: self._push(each, moved, states).rates, own, self.dt, symbols)

    def _push(self, each: Touching, moved: Sequence[Scalar], own: Mapping[str, Scalar]) -> Push:
        """What a contact's law says, with its own states by its own names."""
        *slip, _, rate = moved
        bearing = self._bearing(each, moved)
        wheel = replace(each.wheel, read=_gripping(each.wheel, each.grip))
        states = {wheel.states[name].name: value for name, value in own.items()}
        return wheel.push(slip, bearing.load, rate, states, bearing)

    def _bearing(self, each: Touching, moved: Sequence[Scalar]) -> Bearing:
        """How the ground carries a contact that moves so."""
        leaving = moved[-2]
        depth = -(each.contact.distance + self.dt * leaving)
        share = minimum(maximum(depth / (_SOFT * self.sinkage), 0), 1)
        return Bearing(depth, -leaving, self.stiffness, self.damping * share)


def _gripping(wheel: WheelModel, grip: Scalar) -> Read:
    """The wheel's `read` with its friction times a factor."""
    friction, read = wheel.law.friction, wheel.read
    if isinstance(grip, (int, float)) and grip == 1:
        return read
    return lambda value: grip * read(value) if value is friction else read(value)

"""Batteries where they act: which motors they feed, and what they bring along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trundle.mechanics.quantities import Quantity
from trundle.robot.batteries import Battery, Bus
from trundle.robot.kinds import Read
from trundle.robot.windings import Winding
from trundle.scalars import Scalar


@dataclass(frozen=True)
class Supply:
    """A battery and the names of the motors it feeds. `read` turns its fields into scalars."""

    name: str
    battery: Battery
    feeds: tuple[str, ...]
    read: Read

    @property
    def charge(self) -> Quantity:
        """Its state: 1 when full."""
        return Quantity("charge", "", "state", start=1.0).of(self.name)

    @property
    def voltage(self) -> Quantity:
        """Between its terminals."""
        return Quantity("voltage", "V").of(self.name)

    @property
    def current(self) -> Quantity:
        """Out of it; negative while it is charged."""
        return Quantity("current", "A").of(self.name)

    @property
    def states(self) -> dict[str, Quantity]:
        """The states that it brings along, by its own names for them."""
        return {"charge": self.charge}

    def feed(self, windings: Sequence[Winding], own: Mapping[str, Scalar]) -> Bus:
        """What it does now, with the model's own states by name."""
        return self.battery.feed(own[self.charge.name], windings, self.read)

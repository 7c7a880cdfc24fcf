"""A step over ground in speeds along the base's own turning axes, as Seegmiller's library takes it (2016, eq. 14 ff.):

    M (ν − ν₀)/h + c(q₀, ν₀) = τ(ν),    roll, pitch and yaw on by their rates, p⁺ = p + h R₀ v

It is there to repeat published rows, which hold its error: a body that turns at ω gains a factor √(1 + h² ω²) of speed
a step, and free rotation runs away.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import dot, transpose
from trundle.mechanics.quantities import Quantity
from trundle.model.constraints import coordinate_rates
from trundle.model.moving import extended_mass
from trundle.program.tangents import derivative_along
from trundle.scalars import Rows, Scalar, minus, plus, times
from trundle.spatial.vectors import Vector
from trundle.terrain.balance import Balance

if TYPE_CHECKING:
    from trundle.model.ground_motion import GroundMotion

# What may be left of the forces, as a share of the weight. Newton's last round leaves far less; rounding about 1e-13.
_BALANCED = 1e-10


class VelocityStep:
    """Its terms in the nodes of a motion's tracer, over the speeds that follow no others."""

    memory: tuple[Quantity, ...] = ()
    too_long: Scalar = 0

    def __init__(self, motion: GroundMotion) -> None:
        self.motion = motion
        self.sought = self.found = tuple(motion.speeds[place] for place in motion.loose)

    @cached_property
    def mass(self) -> Rows:
        """M."""
        motion = self.motion
        return motion.folded(transpose(motion.folded(extended_mass(motion.assembly, motion.here.at))))

    @cached_property
    def bias(self) -> list[Scalar]:
        """c, with what follows others by ratios that bend."""
        motion, names, at = self.motion, self.motion.numbers.names, self.motion.here.at
        drift: list[Scalar] = [0] * len(motion.before)
        if any(coupling.bends for coupling in motion.assembly.couplings):
            rates = coordinate_rates(motion.assembly, names, at, motion.before)
            drift = [*derivative_along(motion.before, [motion.state[name] for name in names], rates)]
        count = motion.assembly.tree.speed_count
        tau = inverse_dynamics(motion.assembly.tree, at.poses, motion.before[:count], drift[:count])
        tau += [linkage.armature * drift[linkage.column] for linkage in motion.assembly.linkages]
        return motion.folded([tau])[0]

    @cached_property
    def balance(self) -> Balance:
        """The balance of forces over the speeds that are sought."""
        motion, inverse = self.motion, 1 / self.motion.dt
        before, loose = motion.before_free, motion.loose
        mass = [[times(self.mass[i][j], inverse) for j in loose] for i in loose]
        # What is held changes its speed as it is told, and M ν₀/h goes to the other side.
        change = [minus(motion.held_free.get(place, 0), speed) for place, speed in enumerate(before)]
        drift = [plus(self.bias[i], times(inverse, dot(self.mass[i], change))) for i in loose]
        return Balance(mass, drift, [before[i] for i in loose], self.tolerance(1))

    def tolerance(self, _bears: Scalar, _begins: Scalar = 0) -> list[Scalar]:
        """What may be left of the forces that are sought (N, N m)."""
        return [self.motion.weight * _BALANCED] * len(self.motion.loose)

    def turning(self, nu: Sequence[Scalar]) -> list[Scalar]:
        """Nothing hangs on the speeds by more than a factor."""
        return [0] * len(nu)

    moving = turning

    def needed(self, free: Sequence[Scalar]) -> list[Scalar]:
        """M (ν − ν₀)/h + c (N, N m)."""
        change = [
            minus(after, before) / self.motion.dt
            for after, before in zip(free, self.motion.before_free, strict=True)
        ]
        return [plus(dot(row, change), bias) for row, bias in zip(self.mass, self.bias, strict=True)]

    def aside(self, _free: Sequence[Scalar], _bears: Scalar) -> Vector:
        """How far beside h R₀ v the base is put (m)."""
        return 0, 0, 0

    def after(self, free: Sequence[Scalar]) -> dict[str, Scalar]:
        """Coordinates and speeds where a step of these speeds ends."""
        return self.motion.led(self.motion.all_speeds(free)) | dict(
            zip(self.motion.speeds, free, strict=True)
        )

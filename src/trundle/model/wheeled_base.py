"""A base on wheels that motors drive and steer: which wheels these are, and which twists they let it have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.modules import Module, modules_of, turned
from trundle.mechanics.pivoting import pivoting, reached_by, sharing, with_pivots
from trundle.mechanics.wheels import WheelModel
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.wheel_aims import fixed_of
from trundle.robot import Robot
from trundle.robot.kinds import Read
from trundle.scalars import Scalar, absolute, minimum, tan


@dataclass(frozen=True)
class WheeledBase:
    """A robot's base on wheels; InputError with the reason where it doesn't drive on a plane."""

    robot: Robot

    @cached_property
    def here(self) -> Mechanism:
        """The robot in numbers, every joint at its zero, with wheels on joints that turn them as steered ones."""
        found = mechanism(self.robot.without_controllers, terrain=True)
        return replace(found, assembly=with_pivots(found.assembly, self._pivoting))

    @cached_property
    def _pivoting(self) -> set[str]:
        """The wheels that joints steer."""
        return pivoting(mechanism(self.robot.without_controllers, terrain=True).assembly)

    def assembled(self, read: Read) -> Assembly:
        """The same in other scalars."""
        return with_pivots(assemble(self.robot.without_controllers, read), self._pivoting)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """Its wheels in numbers, without casters that nothing turns: they go where they are taken."""
        if self.robot.base != "planar":
            if self.robot.base == "floating" and self.robot.wheels:
                came = "its wheels don't stand on a plane: on the base, rockers, bogies or joints that steer"
                raise InputError(
                    came, hint="let controllers of rates and angles lead it, as the catalogue's rovers do"
                )
            if not (self.robot.wheels or self.robot.joints or self.robot.body):
                raise InputError("it has no base on wheels")
            raise InputError(f"its base is {self.robot.base}: nothing drives on a plane")
        assembly = self.here.assembly
        wheels = {wheel.name: wheel for wheel in assembly.wheels}
        reached = reached_by(assembly, (motor.column for motor in assembly.actuators))
        modules = [
            module
            for module in modules_of(assembly)
            if not module.is_caster or wheels[module.name].steering in reached
        ]
        if not modules:
            raise InputError("no wheel on its base grips the ground, but casters")
        return tuple(modules)

    @property
    def along(self) -> bool:
        """Whether wheels that neither turn nor have rollers let it go along one line only."""
        return bool(fixed_of(self.modules)) or len(self.paired) == len(self.modules)

    @cached_property
    def paired(self) -> set[str]:
        """The wheels that share a joint with another, which no motor turns: the difference of their rates does."""
        return sharing(self.here.assembly)

    @cached_property
    def steers(self) -> tuple[Module, ...]:
        """The wheels that point where the base goes."""
        return tuple(module for module in self.modules if module.is_steered)

    def axle(self, read: Read) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        """Where the fixed wheels' axle stands (x, y), in their middle, and the (cos, sin) along which they roll; of a
        base whose axles all steer the middle of these.
        """
        fixed = self._guiding(self.modules_in(self.assembled(read)))
        x, y = (sum(module.place[k] for module in fixed) / len(fixed) for k in (0, 1))
        return (x, y), fixed[0].direction

    def _guiding(self, modules: Sequence[Module]) -> Sequence[Module]:
        """Those along which the base goes."""
        return fixed_of(modules) or [module for module in modules if module.name in self.paired]

    def sharpest(self, read: Read, limit: Scalar) -> Scalar | None:
        """The greatest curvature (1/m) at which no steered wheel turns farther than a limit (rad); None where none
        steers.
        """
        modules = self.modules_in(self.assembled(read))
        (x, y), direction = self.axle(read)
        greatest: Scalar | None = None
        for module in modules:
            if module.is_steered:
                place = module.place[0] - x, module.place[1] - y
                ahead, left = turned(place, direction)
                curve = tan(limit) / (absolute(ahead) + absolute(left) * tan(limit))
                greatest = curve if greatest is None else minimum(greatest, curve)
        return greatest

    def modules_in(self, assembly: Assembly) -> list[Module]:
        """The modules in an assembly's scalars."""
        kept = {module.name for module in self.modules}
        return [module for module in modules_of(assembly) if module.name in kept]

    def wheels_in(self, assembly: Assembly) -> list[WheelModel]:
        """The modules' wheels, in their order."""
        wheels = {wheel.name: wheel for wheel in assembly.wheels}
        return [wheels[module.name] for module in self.modules]

    @cached_property
    def free_twists(self) -> list[tuple[float, float, float]]:
        """Twists whose sums are those that the base may have."""
        if not self.along:
            return [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        (x, y), (c, s) = self.axle(self.robot.without_controllers.resolver())
        return [(float(c), float(s), 0.0), (float(y), -float(x), 1.0)]

    @cached_property
    def rolling(self) -> np.ndarray:
        """Speeds of the wheels unsteered, (m, ways)."""
        speeds = [
            [float(module.rolling(module.direction, way)[0]) for way in self.free_twists]
            for module in self.modules
        ]
        return np.array(speeds)

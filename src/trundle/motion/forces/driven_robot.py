"""A robot on wheels in numbers, as a motion moves it: its wheels, motors, loads and friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import require_known
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.wheels import WheelModel
from trundle.model.forces import contact_span, is_tilted, wheel_loads
from trundle.model.mechanism import Mechanism, mechanism
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.pieces.motion import Samples
from trundle.robot import Robot

# A motor's greatest rate is closed in on among so many rates, so often: as many as a double has digits.
_AMONG, _CLOSER = 1024, 6


@dataclass(frozen=True, eq=False)
class DrivenRobot:
    """A robot in numbers as a motion moves it: its mechanism, and which of its wheels the motion's modules are.

    Wheels that aren't among its `names`, as casters may be, count as at rest, and nothing is asked of their contacts.
    """

    robot: Robot
    names: tuple[str, ...]

    @cached_property
    def here(self) -> Mechanism:
        """The mechanism with every joint at its zero."""
        return mechanism(self.robot)

    @cached_property
    def sloped(self) -> bool:
        """Whether gravity pulls along the ground: then forces hang on how the base heads."""
        return is_tilted(self.here.assembly)

    @cached_property
    def wheels(self) -> tuple[WheelModel, ...]:
        """The modules' wheels, in their order."""
        known = {wheel.name: wheel for wheel in self.here.assembly.wheels if wheel.grips and wheel.on_base}
        for name in self.names:
            require_known(
                name,
                known,
                f"the motion has a module '{name}', and no wheel on the base of '{self.robot.name}' is called so",
                key="motion",
            )
        return tuple(known[name] for name in self.names)

    @cached_property
    def headings(self) -> FloatArray:
        """The modules' angles without steering (rad)."""
        known = kinematics(self.robot)
        return np.array([known.headings[known.names.index(name)] for name in self.names])

    @cached_property
    def actuators(self) -> Mapping[int, tuple[Actuator, ...]]:
        """The motors by the column of what they drive."""
        motors: dict[int, tuple[Actuator, ...]] = {}
        for motor in self.here.assembly.actuators:
            motors[motor.column] = (*motors.get(motor.column, ()), motor)
        return motors

    @cached_property
    def directions(self) -> tuple[tuple[int, float, float], ...]:
        """Of the contacts' forces, in their order: the module, and the force's parts along its heading and its axle."""
        return tuple(
            (k, float(direction.along), float(direction.across))
            for k, wheel in enumerate(self.wheels)
            for direction in wheel.directions
        )

    @cached_property
    def friction(self) -> FloatArray:
        """μ of the modules' contacts; infinite where a wheel rolls ideally and nobody wrote a friction."""
        return np.array([_friction(wheel) for wheel in self.wheels])

    @cached_property
    def loads(self) -> FloatArray:
        """N of the modules' contacts (N) while the robot stands on level ground, every joint at its zero."""
        return np.array([self.standing[wheel.name] for wheel in self.wheels])

    @cached_property
    def standing(self) -> Mapping[str, float]:
        """The same of all wheels by name."""
        assembly = self.here.assembly
        tree = replace(assembly.tree, gravity=(0, 0, assembly.tree.gravity[2]))
        loads = wheel_loads(replace(assembly, tree=tree), self.here.at, contact_span(assembly))
        return {name: float(load) for name, load in loads.items()}

    @cached_property
    def grips(self) -> FloatArray:
        """μ N of the modules' contacts (N) while the robot stands; infinite where nothing says their friction."""
        return np.array(
            [mu if np.isinf(mu) else mu * load for mu, load in zip(self.friction, self.loads, strict=True)]
        )

    def greatest_torque(self, column: int, rates: FloatArray) -> FloatArray:
        """What the motors on an axis can give forward at most at its rates (N m), by full batteries; infinite where
        nothing limits one, 0 without motors.
        """
        sources = {
            name: supply.full_voltage for supply in self.here.assembly.supplies for name in supply.feeds
        }
        total = np.zeros(rates.shape)
        for motor in self.actuators.get(column, ()):
            torque = motor.greatest_torque(rates, sources.get(motor.name))
            total = total + (np.inf if torque is None else torque)
        return total

    def inertia(self, column: int) -> FloatArray:
        """The column of the mass matrix M over the tree's speeds for one of them, every joint at its zero."""
        tree, poses = self.here.assembly.tree, self.here.at.poses
        rest = [0.0] * tree.speed_count
        unit = [float(k == column) for k in range(tree.speed_count)]
        # Gravity is in both, so that their difference is M alone.
        moved, still = (inverse_dynamics(tree, poses, rest, rate) for rate in (unit, rest))
        return np.array(moved, dtype=float) - np.array(still, dtype=float)

    @cached_property
    def base_inertia(self) -> FloatArray:
        """M over the base's twist, (3, 3), every joint at its zero."""
        base = list(self.here.assembly.base_columns)
        return np.array([self.inertia(column)[base] for column in base])

    def greatest_rate(self, column: int) -> float:
        """The rate (rad/s) at which the motors on a column have nothing left; infinite where they never tire."""
        doubled = 2.0 ** np.arange(-4.0, 21.0)
        tired = np.flatnonzero(~(self.greatest_torque(column, doubled) > 0))
        if not len(tired):
            return np.inf
        low, high = 0.0, float(doubled[tired[0]])
        for _ in range(_CLOSER):
            rates = np.linspace(low, high, _AMONG + 1)
            last = int(np.flatnonzero(self.greatest_torque(column, rates) > 0).max(initial=0))
            low, high = float(rates[last]), float(rates[min(last + 1, _AMONG)])
        return high

    def coordinates(self, samples: Samples) -> dict[str, FloatArray]:
        """Steering angles (rad) by the coordinates' names, (n,); of a linkage that wheels follow its own.

        On a slope the base's heading, too.
        """
        names, speeds = self.here.assembly.quantities, self.here.assembly.speeds
        # A module's angle is seen from the base's front, its steering from where it points by itself.
        turned = {
            wheel.steering: samples.angle[:, k] - self.headings[k]
            for k, wheel in enumerate(self.wheels)
            if wheel.steering is not None
        }
        for linkage in self.here.assembly.linkages:
            first = linkage.followers[0].column
            if first in turned:
                turned[linkage.column] = linkage.lead(turned[first])
        if self.sloped:
            turned[self.here.assembly.base_columns[2]] = samples.heading
        return {names.coordinate_of(speeds[column]): angle for column, angle in turned.items()}

    @property
    def columns(self) -> list[int]:
        """The columns of ν that a motion says: the base's twist, the modules' spins and steering."""
        turning = [
            column for wheel in self.wheels for column in (wheel.spin, wheel.steering) if column is not None
        ]
        return [*self.here.assembly.base_columns, *turning]

    def speeds(self, samples: Samples, order: int = 0) -> FloatArray:
        """ν of all speeds (order 0) or ν̇ (1), (speeds, n)."""
        assembly = self.here.assembly
        nu = np.zeros((len(assembly.speeds), len(samples)))
        nu[list(assembly.base_columns)] = (samples.twist, samples.twist_rate)[order].T
        drive = (samples.drive_speed, samples.drive_acceleration)[order]
        steering = (samples.steering_rate, samples.steering_acceleration)[order]
        for k, wheel in enumerate(self.wheels):
            if wheel.spin is not None:
                nu[wheel.spin] = drive[:, k] / float(wheel.radius)
            if wheel.steering is not None:
                nu[wheel.steering] = steering[:, k]
        self.lead(nu, self.coordinates(samples), self.speeds(samples) if order else None)
        return nu

    def lead(self, nu: FloatArray, where: Mapping[str, FloatArray], rates: FloatArray | None = None) -> None:
        """Add to ν (speeds, n) what leads wheels by couplings, where coordinates are so: ν_l = ν_f/σ.

        With `rates` ν, of ν̇: ν̇_l = (ν̇_f − σ̇ ν_l)/σ.
        """
        known = dict.fromkeys(self.columns)
        for coupling in reversed(self.here.assembly.couplings):
            follower, (leader, *others) = coupling.followers[0].column, coupling.leaders
            if others or follower not in known or leader.column in known:
                continue
            q = [where.get(leader.coordinate, np.zeros(nu.shape[1]))]
            led = nu[follower]
            if rates is not None:
                rate = rates[leader.column]
                led = led - coupling.slope_rates(q, [rate])[0][0] * rate
            nu[leader.column] = led / coupling.slopes(q)[0][0]


def _friction(wheel: WheelModel) -> float:
    """μ of a contact: of one that rolls ideally only where the description says it."""
    said = not wheel.law.rolls or "friction" in wheel.law.model_fields_set
    return float(wheel.read(wheel.law.friction)) if said else np.inf

"""A mechanism: a robot's assembly at a configuration, its constraints A(q) ν = 0 and what they leave, ν = S(q) u.

Derivation, programs, kinematics, odometry, analysis and formulas all start from it, each in the scalars that it needs:
floats, arrays of many configurations, CasADi's symbols, a tracer's nodes, SymPy's expressions, sums of letters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.errors import InputError, suggest
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.linear import apply, table
from trundle.mechanics.rolling import RollingProblem, SpeedBasis
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import (
    SAMPLES,
    SEED,
    SPREAD,
    Configuration,
    configure,
    constraint_rows,
    coordinate_rates,
    ideal_wheels,
    independent_coordinates,
    rolling_problem,
    solve_rolling,
)
from trundle.robot import Robot
from trundle.robot.couplings import elastic
from trundle.scalars import Rows, Scalar


@dataclass(frozen=True)
class Mechanism:
    """A robot's assembly at a configuration, everything in scalars of one kind.

    parameters: the scalar of every parameter; names: the coordinates that are independent of couplings, in the order of
    `q`. `in_numbers` is the same mechanism in floats, for scalars of other kinds; `posed` where everything is, if that
    is not to be worked out from q (equations for reading have letters for whole poses).

    A mechanism is assembled twice where its equations are derived: ranks, pivots and whether a mass is there at all are
    decided on numbers, once and for all; the operations that follow from these decisions are then done on symbols.
    """

    robot: Robot
    parameters: Mapping[str, Scalar]
    assembly: Assembly
    names: tuple[str, ...]
    q: Sequence[Scalar]
    in_numbers: Mechanism | None = None
    posed: Configuration | None = None

    @cached_property
    def at(self) -> Configuration:
        """Where everything is at q."""
        return self.posed or configure(self.assembly, self.names, self.q)

    @property
    def numbers(self) -> Mechanism:
        """The mechanism in floats, at the parameters as described."""
        return self.in_numbers or self

    @property
    def constrained(self) -> bool:
        """Whether anything binds its speeds: wheels that roll ideally, couplings, loops."""
        return self.bends or bool(self.assembly.couplings)

    @property
    def bends(self) -> bool:
        """Whether S(q) may change with q: gears alone keep their ratios."""
        assembly = self.assembly
        rolling = any(wheel.directions for wheel in ideal_wheels(assembly))
        return bool(rolling or assembly.loops) or any(coupling.bends for coupling in assembly.couplings)

    def in_scalars(self, parameters: Mapping[str, Scalar], q: Sequence[Scalar]) -> Mechanism:
        """The same mechanism at parameters and coordinates of any kind, this one being in floats."""
        assembly = assemble(self.robot, self.robot.resolver(parameters))
        return Mechanism(self.robot, parameters, assembly, self.names, q, self)

    def configured(self, q: Sequence[Scalar]) -> Mechanism:
        """The same mechanism elsewhere: at coordinates of any kind that goes with its own scalars."""
        return replace(self, q=q, in_numbers=self.numbers, posed=None)

    def rows(self, wheels: Sequence[WheelModel]) -> Rows:
        """A(q) over all speeds: the rows of these wheels, then those of the couplings."""
        return constraint_rows(self.assembly, self.at, wheels)[0]

    def sampled(self, rows: Callable[[Mechanism], Rows]) -> np.ndarray:
        """Numbers of rows over all speeds at random configurations and, last, at zero: (samples, rows, speeds).

        Ranks and pivots are decided on them: what holds at random configurations holds at almost all.
        """
        q = np.random.default_rng(SEED).uniform(-SPREAD, SPREAD, (SAMPLES + 1, len(self.names)))
        numbers = self.numbers
        q[-1] = numbers.assembly.quantities.starts(self.names)
        return table(rows(numbers.configured(list(q.T))), len(q), len(numbers.assembly.speeds))

    @cached_property
    def rolling(self) -> RollingProblem:
        """The rows of ideal wheels and couplings, with the numbers on which their ranks are decided."""
        samples = self.sampled(lambda numbers: numbers.rows(ideal_wheels(numbers.assembly)))
        return rolling_problem(self.assembly, self.names, self.at, samples)

    @cached_property
    def basis(self) -> SpeedBasis:
        """ν = S(q) u with the labels of u; raises InputError where ideal wheels lock the robot."""
        return solve_rolling(self.rolling, self.robot.name, self.robot.speeds)

    def speeds(self, u: Sequence[Scalar]) -> list[Scalar]:
        """ν = S(q) u: all speeds, the tree's and then the linkages'."""
        return apply(self.basis.matrix, u)

    def coordinate_rates(self, nu: Sequence[Scalar]) -> list[Scalar]:
        """q̇ = N(q) ν of the independent coordinates."""
        return coordinate_rates(self.assembly, self.names, self.at, nu)

    def link(self, name: str) -> int:
        """Index of a link by its joint's, its body's or its wheel's name; raises InputError."""
        if name not in self.assembly.links:
            raise InputError(f"there is no link '{name}'", key=name, hint=suggest(name, self.assembly.links))
        return self.assembly.links[name]


# Under which name a robot keeps its mechanism at its own parameters, which every verb asks for.
_KEPT = "_own_mechanism"


@dataclass(frozen=True, eq=False)
class _KeptMechanism:
    """A mechanism that has no part in whether robots are equal, and goes along with their copies as it is."""

    mechanism: Mechanism

    def __deepcopy__(self, memo: object) -> _KeptMechanism:
        return self


def mechanism(
    robot: Robot, parameters: Mapping[str, Scalar] | None = None, *, terrain: bool = False
) -> Mechanism:
    """The mechanism of a described robot in floats, every joint at its zero; by default at its own parameters.

    `in_scalars` makes the same of symbols. Raises InputError for a robot that moves over `terrain` alone.
    """
    if not terrain:
        _require_plane(robot)
    if parameters is not None:
        return _assembled(robot, parameters)
    kept = vars(robot)  # a robot is frozen, and a copy of it leaves this behind
    if _KEPT not in kept:
        kept[_KEPT] = _KeptMechanism(_assembled(robot, robot.parameter_values()))
    return kept[_KEPT].mechanism


def _assembled(robot: Robot, values: Mapping[str, Scalar]) -> Mechanism:
    assembly = assemble(robot, robot.resolver(values))
    names = independent_coordinates(assembly)
    return Mechanism(robot, values, assembly, names, assembly.quantities.starts(names))


def _require_plane(robot: Robot) -> None:
    """Raise InputError for what only a run over terrain can do."""
    hint = "run it over a terrain: give the file one, terrain: {}, or call trundle.simulate(robot, terrain=…)"
    if robot.wheels and robot.base == "floating":
        raise InputError(
            "wheels on a floating base roll over terrain, and what was asked for is known on a plane alone",
            key="robot.base",
            hint=f"{hint}; or write base: planar",
        )
    parts = [(f"couplings.{name}", robot.couplings[name].called) for name in elastic(robot.couplings)]
    wheels = robot.wheels.items()
    parts += [(f"wheels.{name}.contact", wheel.law.called) for name, wheel in wheels if wheel.law.carries]
    tracks = [(name, wheel.called) for name, wheel in wheels if wheel.shape == "points" or not wheel.plane]
    for key, what in (*parts, *((f"wheels.{name}", what) for name, what in tracks)):
        family, name = key.split(".")[:2]
        instead = "type: gear" if family == "couplings" else "contact: slip"
        message = f"the {what} of {name!r} works over terrain alone"
        raise InputError(message, key=f"robot.{key}", hint=f"{hint}; elsewhere {instead}")

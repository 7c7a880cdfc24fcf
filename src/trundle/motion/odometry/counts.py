"""What a base moves by increments of what encoders count, in CasADi's symbols: for odometry and estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.symbols import Groups, Symbols, column, entries, parameter_group
from trundle.motion.odometry.displacement import RateLayout, at_origin, displacement, middle, plan_odometry
from trundle.robot import Robot
from trundle.scalars import Scalar, absolute, wrap

TURN = 2 * math.pi


@dataclass(frozen=True)
class Counts:
    """The displacement `moved` (3, 1) of a base at the origin, in symbols of its increments, angles and parameters.

    `replace` writes any expression of coordinates and of what is counted, `delta`, in these symbols. Increments that
    are `steered` count within half a turn: encoders of steering may begin anew after a turn.
    """

    plan: RateLayout
    symbols: Symbols
    here: Mechanism
    moved: ca.SX
    increments: Mapping[str, ca.SX]
    angles: Mapping[str, ca.SX]
    delta: Sequence[Scalar]
    steered: tuple[str, ...]
    told: Callable[[ca.SX], ca.SX]

    def walked(self, encoders: Scalar) -> ca.SX:
        """The variance of every increment, encoders² mean|Δ|, by the square of the noise over a turn of 1 rad.

        A mean over the wheels, since weights by a wheel's own noisy increment would hang on its noise.
        """
        turns = entries(self.told(column(list(self.increments.values()))))
        return sum((absolute(each) for each in turns), 0) * encoders / len(turns)

    def groups(self) -> Groups:
        """The groups increment, angle and parameter of a program with it."""
        return {
            "increment": (tuple(self.increments), list(self.increments.values())),
            "angle": (tuple(self.angles), list(self.angles.values())),
            "parameter": parameter_group(self.here),
        }


def derive_counts(robot: Robot, given: Sequence[str] | None = None) -> Counts:
    """What a robot's base moves by increments of the angles that are counted (see `derive_odometry`)."""
    numbers, symbols = mechanism(robot), Symbols()
    plan = plan_odometry(numbers, given)
    here, delta = symbols.mechanism(numbers), symbols.make("increment", len(plan.given))
    q, rolled = here.q, column(displacement(plan, at_origin(here), delta))
    angles = {name: angle for name, angle in zip(here.names, q, strict=True) if ca.depends_on(rolled, angle)}
    # On an arc the angles change evenly: those of its middle are right to second order.
    among = [(column(q), column(middle(plan, here.names, q, delta)))]
    moved = ca.substitute(rolled, *among[0])
    counted = [name for name, turn in zip(plan.given, delta, strict=True) if ca.depends_on(moved, turn)]
    if given is None and len(counted) < len(plan.given):
        return derive_counts(robot, counted)  # a platform's turntable, say, doesn't move the base below it
    counts = dict(zip(plan.increments, delta, strict=True))
    if robot.urdf is not None:
        counts, angles, others = _at_the_wheels(here, symbols, counts, angles)
        among += others
    units = here.assembly.quantities.units
    steered = tuple(name for name in counts if name in angles and units[name] == "rad")
    among.append(
        (column([counts[name] for name in steered]), column([wrap(counts[name], TURN) for name in steered]))
    )

    def replace(made: ca.SX) -> ca.SX:
        for old, new in among:
            made = ca.substitute(made, old, new)
        return made

    return Counts(plan, symbols, here, replace(rolled), counts, angles, delta, steered, replace)


def _at_the_wheels(
    here: Mechanism, symbols: Symbols, counts: Mapping[str, ca.SX], angles: Mapping[str, ca.SX]
) -> tuple[dict[str, ca.SX], dict[str, ca.SX], list[tuple[ca.SX, ca.SX]]]:
    """What is counted and read by the angles of linkages' first wheels, which a URDF file's joints have, where those of
    linkages are read, α = α(β), or counted, Δα = α(β + Δβ) − α(β); and what is to be put in place of what.
    """
    counted, read, replaced = dict(counts), dict(angles), []
    for linkage in here.assembly.linkages:
        name, wheel = linkage.axis.coordinate, linkage.followers[0].coordinate
        if name not in angles:
            continue
        (beta,) = symbols.make("wheel", 1)
        old, new = [angles[name]], [linkage.lead(beta)]
        read = {wheel if each == name else each: beta if each == name else a for each, a in read.items()}
        if name in counts:
            old.append(counts[name])
            new.append(linkage.lead(beta + counts[name]) - linkage.lead(beta))
            counted = {wheel if each == name else each: turn for each, turn in counted.items()}
        replaced.append((column(old), column(new)))
    return counted, read, replaced

"""What a run over terrain shows beside its states: attitude, sinkage, slips, forces, powers, energies."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.frames import velocities
from trundle.mechanics.linear import dot
from trundle.mechanics.momentum import kinetic_energy, potential_energy
from trundle.mechanics.quantities import Quantity
from trundle.model.constraints import coupled_coordinates
from trundle.model.forces import Forces
from trundle.model.ground_contacts import Touching
from trundle.model.ground_motion import GroundMotion
from trundle.model.ground_sight import ANGLES
from trundle.model.plant import REMEMBERED
from trundle.robot.contact import Push
from trundle.scalars import Scalar, largest, less, minimum, minus, plus, sqrt, times
from trundle.spatial.vectors import dot as dot3

_TILT = Quantity("tilt", "rad", "place")
_SINKAGE, _LOAD = Quantity("sinkage", "m", "place"), Quantity("load", "N", "load")
_SLIP_RESIDUAL = Quantity("slip_residual", "m/s", "residual")
_BALANCE = Quantity("balance_residual", "N", "residual")
_KINETIC = Quantity("energy.kinetic", "J", "energy")
_POTENTIAL = Quantity("energy.potential", "J", "energy")
_INTERNAL = Quantity("energy.internal", "J", "energy")
_FRICTION, _TAKEN = Quantity("friction", "1", "other"), Quantity("power_lost", "W", "power")
_GROUND = Quantity("power.ground", "W", "power")
_SOIL = Quantity("power.soil", "W", "power")
# What the ground's springs store, and would store at the step's end if it were as the step sees it; whether forces
# don't balance, and whether joints turn too far in a step of flight. A run counts by them, and doesn't show them.
PRESSED, FORESEEN = (Quantity(f"{REMEMBERED}{name}", "J", "memory") for name in ("pressed", "foreseen"))
UNSOLVED, TOO_LONG = (Quantity(f"{REMEMBERED}{name}", "1", "memory") for name in ("unsolved", "too_long"))
_POWER_IN = Quantity("power.in", "W", "power")
_POWER_LOST = Quantity("power.lost", "W", "power")
# The search ends where the square of its error is 1, and adds up in another order; one that fails is far off.
_ROUNDED = 4.0
# Coordinates' last digits, in shares: programs round a contact's depth apart by so much.
_DIGIT = 2.0**-52


def observed(motion: GroundMotion) -> dict[Quantity, Scalar]:
    """What a run shows beside its states, in the order in which a person would read it."""
    nu, quantities = motion.ended, motion.assembly.quantities
    known = () if motion.mode == "kinematic" else motion.speeds
    outputs = dict(zip(ANGLES, motion.angles, strict=True)) | {_TILT: motion.tilt}
    names = coupled_coordinates(motion.assembly)
    outputs |= {quantities[name]: motion.here.at.values[name] for name in names}
    speeds = zip(motion.assembly.speeds, nu if motion.mode == "kinematic" else motion.before, strict=True)
    outputs |= {quantities[name]: speed for name, speed in speeds if name not in known}
    outputs |= {_shown(motion, name): value for name, value in motion.shown.items()}
    outputs |= {_SINKAGE.of(place): -distance for place, distance in nearest(motion).items()}
    outputs |= {_SINKAGE.of(each.name): -each.contact.distance for each in motion.touching}
    if motion.mode == "kinematic":
        return outputs | {_SLIP_RESIDUAL: _slipped(motion, motion.unslipped)}
    return outputs | _forced(motion, nu)


def nearest(motion: GroundMotion) -> dict[str, Scalar]:
    """The distance of every place of a wheel from the nearest ground (m)."""
    found: dict[str, Scalar] = {}
    for place, contacts in motion.places.items():
        found[place] = contacts[0].contact.distance
        for each in contacts[1:]:
            found[place] = minimum(found[place], each.contact.distance)
    return found


def _shown(motion: GroundMotion, name: str) -> Quantity:
    """A command that controllers give, or an output of theirs."""
    known = (*motion.plant_inputs, *motion.loop.quantities)
    return next(quantity for quantity in known if quantity.name == name)


def _slipped(motion: GroundMotion, nu: Sequence[Scalar]) -> Scalar:
    """The largest slip, along the nearest grounds."""
    slips: list[Scalar] = []
    for place, distance in nearest(motion).items():
        for each in motion.places[place]:
            counts = 1 - less(distance, each.contact.distance)
            slips += [times(counts, dot(row, nu)) for row in each.rows]
    return largest(slips)


def _forced(motion: GroundMotion, nu: Sequence[Scalar]) -> dict[Quantity, Scalar]:
    """Forces, powers and energies during the step."""
    outputs: dict[Quantity, Scalar] = {_LOAD.of(place): 0 for place in motion.places}
    taken: dict[Quantity, Scalar] = {_TAKEN.of(place): 0 for place in motion.places}
    inner = motion.inner(nu)
    total, lost, borne = list(inner.tau), list[Scalar](), list[Scalar]()
    seen: list[tuple[Touching, Scalar, Scalar]] = []
    for each in motion.touching:
        rows = [*each.all_rows, motion.spin_row(each)]
        moved = [dot(row, nu) for row in rows]
        push = motion.ground.push(each, moved)
        for row, force in zip(rows, [*push.forces, push.load, push.moment], strict=True):
            total = [plus(t, times(entry, force)) for t, entry in zip(total, row, strict=True)]
        rising = dot(each.rise, nu)
        lost.append(motion.ground.lost(each, moved, rising, push))
        seen.append((each, moved[-2], rising))
        borne.append(0 if push.load is None else push.load)
        taken[_TAKEN.of(each.place)] = plus(taken[_TAKEN.of(each.place)], lost[-1])
        outputs |= _contact_outputs(each, push, moved)
        if motion.terrain.regions and each.wheel.law.default_counts("friction"):
            outputs[_FRICTION.of(each.name)] = times(each.grip, each.wheel.read(each.wheel.law.friction))
        if each.name != each.place:
            outputs[_LOAD.of(each.place)] = plus(outputs[_LOAD.of(each.place)], push.load)
    forces, needed = motion.folded([total])[0], motion.kind.needed(motion.ended_free)
    left = [minus(need, force) for need, force in zip(needed, forces, strict=True)]
    outputs |= taken | inner.supplies | _motor_outputs(motion, inner, left, nu)
    held = [actuator for actuator in motion.assembly.actuators if actuator.motor.holds]
    outputs |= _energies(motion) | {_GROUND: sum(lost)}
    soft = [loss for each, loss in zip(motion.touching, lost, strict=True) if each.wheel.law.carries]
    outputs |= {_SOIL: sum(soft)} if soft else {}
    outputs[_POWER_IN] = plus(inner.power, sum(outputs[actuator.power] for actuator in held))
    outputs[_POWER_LOST] = plus(inner.loss, outputs[_GROUND])
    loose = [left[place] for place in motion.loose]
    # Moments may be left of the second order in a round's change, and so say little.
    residual = sqrt(dot(left[:3], left[:3]))
    bears = less(0, sum(borne))
    aside = motion.kind.aside(motion.ended_free, bears)
    outputs[PRESSED] = sum(motion.ground.pressed(each) for each in motion.touching)
    outputs[FORESEEN] = sum(
        motion.ground.foreseen(each, leaving, rising, dot3(aside, each.contact.normal))
        for each, leaving, rising in seen
    )
    outputs[TOO_LONG] = (1 - bears) * motion.kind.too_long
    depth = times(_DIGIT, largest(motion.here.at.q[:3]))
    allowed = [plus(most, times(motion.stiffness, depth)) for most in motion.kind.tolerance(bears)]
    shares = [force / most for force, most in zip(loose, allowed, strict=True)]
    return outputs | {UNSOLVED: less(_ROUNDED, dot(shares, shares)), _BALANCE: residual}


def _energies(motion: GroundMotion) -> dict[Quantity, Scalar]:
    """Kinetic, potential and internal energy where the step begins."""
    tree = motion.assembly.tree
    twists = velocities(tree, motion.here.at.poses, motion.before[: tree.speed_count])
    return {
        _KINETIC: kinetic_energy(tree, twists, motion.before),
        _POTENTIAL: potential_energy(tree, motion.world),
        _INTERNAL: motion.stored,
    }


def _contact_outputs(each: Touching, push: Push, moved: Sequence[Scalar]) -> dict[Quantity, Scalar]:
    """Load, forces and slips of a contact; one beside others shows its slip only where it bears something."""
    alone = each.name == each.place
    outputs: dict[Quantity, Scalar] = {_LOAD.of(each.name): push.load}
    parts = zip(each.wheel.directions, push.forces, moved, strict=False)
    for direction, force, slip in parts:
        outputs[Quantity(direction.force, "N", "ground").of(each.name)] = force
        shown = slip if alone else times(less(0, push.load), slip)
        outputs[Quantity(f"{direction.what}_slip", "m/s", "slip").of(each.name)] = shown
    outputs |= {
        Quantity(name, measured.unit, "other").of(each.name): push.outputs[name]
        for name, measured in each.wheel.law.outputs.items()
    }
    return outputs


def _motor_outputs(
    motion: GroundMotion, inner: Forces, left: Sequence[Scalar], nu: Sequence[Scalar]
) -> dict[Quantity, Scalar]:
    """Torques and powers of motors and of elastic couplings; `left` is what motors that hold a speed make up for, over
    the speeds that follow no others (N, N m).
    """
    outputs: dict[Quantity, Scalar] = {}
    for actuator in motion.assembly.actuators:
        effort = inner.efforts[actuator.name]
        outputs |= {quantity: effort.outputs[name] for name, quantity in actuator.outputs.items()}
        torque, power = effort.torque, effort.power
        if actuator.motor.holds:
            torque = left[motion.free.index(actuator.column)]
            power = times(torque, nu[actuator.column])
        outputs |= {actuator.torque: torque, actuator.power: power}
    for spring in motion.assembly.springs:
        values = motion.here.at.values
        stretch = plus(spring.stretch(values), times(motion.dt, spring.rate(nu)))
        pull = plus(times(spring.stiffness, stretch), times(spring.damping, spring.rate(nu)))
        outputs[Quantity("torque", "N m", "force").of(spring.name)] = times(-1, pull)
    return outputs

"""A step over ground that makes no energy: momenta are carried from step to step, not speeds in turning axes.

Sought are the step's speeds u; M, Jacobians and contacts are those where it begins, forces are taken at u. P of the
whole (about n̄, the normal of the ground, by its mean), Π about the centre of mass (implicit midpoint, Cayley's map) and
the joints' own p_s (symplectic Euler) go on apart:

    P(u) + a × P(u) = P₀' − a × P₀' + h f,       P₀' = P₀ + h m g,   a = n̄ tan(h n̄·ω₀/2)   (then `_within_heading`)
    Π(u) + b × Π(u) = Π₀ + h τ,                  b = (h κ/2) ω,      κ = tan(θ/2)/(θ/2), θ = h |ω₀|
    p_s(u) = p_s₀ + h (∂ℓ/∂s(q₀, u) + τ_s)

In base axes, multiplied by Y⁻¹, so that the mass part is M u/h and rows of contacts stay as they are. Simo & Wong 1991
(the midpoint with Cayley's map keeps energy and momentum of a body), Hairer, Lubich & Wanner 2006, VI.3 (symplectic
Euler). Where the ground bears nothing, momenta are kept to rounding however well the search ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.mechanics.frames import velocities
from trundle.mechanics.joints import quaternion_rotation
from trundle.mechanics.linear import dot, transpose
from trundle.mechanics.momentum import momentum_forces
from trundle.mechanics.quantities import Quantity
from trundle.model.constraints import coordinate_rates
from trundle.model.ground_states import SYMBOLS, TRIAL, put
from trundle.model.mechanism import Mechanism
from trundle.model.momentum_speeds import BASE, ENERGY, EndSpeeds, about_center_of, center_of, chosen, three
from trundle.model.moving import extended_mass, generic_values
from trundle.model.plant import REMEMBERED
from trundle.program.tangents import derivative_along
from trundle.scalars import (
    Rows,
    Scalar,
    absolute,
    clamp,
    is_zero,
    largest,
    less,
    maximum,
    minimum,
    minus,
    plus,
    sqrt,
    tan,
    times,
    where,
)
from trundle.spatial.vectors import Matrix, Vector, add, apply, apply_transposed, cross, scale, subtract
from trundle.spatial.vectors import dot as dot3
from trundle.terrain.advance import by_cayley
from trundle.terrain.balance import FIRST, Balance

if TYPE_CHECKING:
    from trundle.model.ground_motion import GroundMotion

# Joints' term fades from 13 steps a turn (0.5 rad a step) to 8 (0.8 rad), where it would make energy.
_SLOW, _FADES = 0.8, 0.3
# A step turns by no more than this (rad) where its turn is foreseen.
_TURN = 2.0
# Forces balance where what is left is below these shares of the weight. Those that push the whole are linear but for
# the contacts, so they tell how well these are found. Where the ground bears, terms of the second order in the base's
# rate and joints need no second round (1e-6 and 1e-5 make the same energy to all digits), but a first. In flight energy
# needs it.
_PUSHED, _TURNED, _FREE = 1e-10, 1e-5, 1e-12
# And below this share of what the momenta make over the step, which rounding leaves: of some numbers about 5e-16.
_ROUNDED = 1e-14
# A rate that is none (rad/s), the share of weight times step below which there is no momentum, and normals that cancel.
_STILL, _AT_REST, _NO_NORMAL = 1e-9, 1e-6, 1e-3
# The share of joints' term that the search ended with, and the length of the last step, 0 before the first.
_SHARE, _LENGTH = f"{REMEMBERED}share", f"{REMEMBERED}length"
# A joint's term beside what its momentum times its rate comes to; below it, it is balanced.
_BALANCED_SHARE = 1e-9


class MomentumStep:
    """Its terms in the nodes of a motion's tracer, over all speeds or over those that follow no others."""

    def __init__(self, motion: GroundMotion) -> None:
        """Whose motion it is; what it remembers is known before there are nodes."""
        self.motion = motion
        names = [motion.speeds[place] for place in motion.loose]
        self.sought = tuple(f"{REMEMBERED}{name}" for name in names)
        self.joints = [place for place in motion.loose if motion.free[place] in _unbalanced(motion.numbers)]
        held = [place for place in range(len(motion.free)) if place not in motion.loose]
        self.kicked = {place: f"{REMEMBERED}kick.{motion.speeds[place]}" for place in (*self.joints, *held)}
        units = {name: motion.numbers.assembly.quantities[name].unit for name in motion.speeds}
        memory = [Quantity(f"{REMEMBERED}{name}", units[name], "memory") for name in names]
        impulses = {name: "N m s" if unit == "rad/s" else "N s" for name, unit in units.items()}
        memory.append(Quantity(_LENGTH, "s", "memory"))
        memory += [
            Quantity(name, impulses[motion.speeds[place]], "memory") for place, name in self.kicked.items()
        ]
        if self.joints:
            memory += [Quantity(ENERGY, "J", "memory"), Quantity(_SHARE, "1", "memory")]
        self.memory = tuple(memory)
        self.found = (*self.sought, *([_SHARE] if self.joints else []))

    @cached_property
    def first(self) -> Scalar:
        """1 in the first step, which has no last one."""
        return less(self.motion.state[_LENGTH], self.motion.dt / 2)

    @cached_property
    def rows(self) -> Rows:
        """M over all speeds where the step begins."""
        return extended_mass(self.motion.assembly, self.motion.here.at)

    @cached_property
    def mass(self) -> Scalar:
        """Of the whole (kg)."""
        return self.rows[0][0]

    @cached_property
    def gravity(self) -> Vector:
        """In base axes (m/s²)."""
        return apply_transposed(self.turned, self.motion.assembly.tree.gravity)

    @cached_property
    def turned(self) -> Matrix:
        """R₀: from base axes to the world's."""
        return quaternion_rotation(*self.motion.here.at.q[3:7])

    @cached_property
    def omega(self) -> Vector:
        """The base's rate where the step begins."""
        return three(self.motion.before[3:6])

    @cached_property
    def normal(self) -> Vector:
        """n̄: the mean normal of all contacts that there can be, bearing or not, in base axes; else the vertical."""
        total: Vector = (0, 0, 0)
        for each in self.motion.touching:
            total = add(total, each.contact.normal)
        size = sqrt(dot3(total, total))
        none = less(size, _NO_NORMAL)
        x, y, z = (
            where(none, up, part / where(none, 1, size)) for part, up in zip(total, (0, 0, 1), strict=True)
        )
        return apply_transposed(self.turned, (x, y, z))

    @cached_property
    def half_turn(self) -> Vector:
        """a = n̄ tan(h ω_n/2), ω_n the rate about n̄ where the step begins."""
        return scale(tan(clamp(self._turn(self.omega), _TURN) / 2), self.normal)

    @cached_property
    def kappa(self) -> Scalar:
        """tan(θ/2)/(θ/2), so that a steady spin turns by h |ω| a step."""
        half = minimum(self.motion.dt * sqrt(dot3(self.omega, self.omega) + _STILL**2), _TURN) / 2
        return tan(half) / half

    @cached_property
    def started(self) -> list[Scalar]:
        """P₀ in base axes, and P₀' = P₀ + h m g behind it."""
        linear = [dot(row, self.motion.before) for row in self.rows[:3]]
        pull = scale(self.motion.dt * self.mass, self.gravity)
        return [*linear, *(plus(p, g) for p, g in zip(linear, pull, strict=True))]

    def along_center(self, force: Vector) -> list[Scalar]:
        """J_cᵀ f: a force at the centre of mass as generalised forces; J_c is M's first rows over the mass."""
        share = scale(1 / self.mass, force)
        return [dot(column, share) for column in transpose(self.rows[:3])]

    @cached_property
    def angular_rows(self) -> Rows:
        """Of Π over all speeds."""
        center = center_of(self.rows)
        columns = [
            subtract(three(column[3:6]), cross(center, three(column[:3])))
            for column in transpose(self.rows[:BASE])
        ]
        return transpose(columns)

    def about_center(self, nu: Sequence[Scalar]) -> Vector:
        """Π of speeds."""
        return three([dot(row, nu) for row in self.angular_rows])

    @cached_property
    def fading(self) -> Scalar:
        """α: 1 where what moves turns by less than half a radian a step, 0 from 0.8 on."""
        motion = self.motion
        tree, nu = motion.assembly.tree, motion.before
        columns = {motion.free[place] for place in self.joints}
        rates = [nu[column] for column in columns]
        twists = velocities(tree, motion.here.at.poses, nu[: tree.speed_count])
        turning = [
            sqrt(dot3(twist.angular, twist.angular))
            for at, twist in zip(tree.speed_slices(), twists, strict=True)
            if at.start == 0 or columns & {*range(at.start, at.stop)}
        ]
        fastest = largest([*turning, *(absolute(rate) for rate in rates)])
        return minimum(maximum((_SLOW - motion.dt * fastest) / _FADES, 0), 1)

    @property
    def too_long(self) -> Scalar:
        """Whether joints turn so far in the step that in flight it can't follow them."""
        return less(self.fading, 1) if self.joints else 0

    def joint_forces(self, here: Mechanism, nu: Sequence[Scalar], rows: Rows) -> list[Scalar]:
        """∂ℓ/∂s over all speeds, the centre of mass taken to rest; `rows` are those of M."""
        tree = here.assembly.tree
        forces = momentum_forces(tree, here.at.poses, about_center_of(nu, rows)[: tree.speed_count])
        return [*forces, *([0] * (len(nu) - len(forces)))]

    @cached_property
    def starting_forces(self) -> list[Scalar]:
        """∂ℓ/∂s where the step begins."""
        return self.joint_forces(self.motion.here, self.motion.before, self.rows)

    @cached_property
    def kicks(self) -> list[Scalar]:
        """By what momenta are less than those of the speeds that are shown, over those that follow no others: of joints
        half a step's ∂ℓ/∂s, so that what is shown is of the second order; of held speeds, whose torque it tells, what
        the others' change from a step's speeds to those at its end brings.
        """
        motion, found = self.motion, [0] * len(self.motion.free)
        (own,) = motion.folded([self.starting_forces]) if self.joints else [found]
        for place, name in self.kicked.items():
            begun = self.fading * motion.dt / 2 * own[place] if place in self.joints else 0
            found[place] = where(self.first, begun, motion.state[name])
        return found

    def moving(self, nu: Sequence[Scalar]) -> list[Scalar]:
        """What hangs on the speeds by more than a factor, as forces over all speeds."""
        return self._moving(nu, self.now)

    def _moving(self, nu: Sequence[Scalar], share: Scalar) -> list[Scalar]:
        """−(κ/2) ω × Π, and a share of joints' ∂ℓ/∂s at the speeds, the rest of it where the step begins."""
        forces = self.turning(nu)
        if not self.joints:
            return forces
        own = self.joint_forces(self.motion.here, nu, self.rows)
        joints = zip(forces, own, self.starting_forces, strict=True)
        return [plus(f, plus(times(share, j), times(1 - share, begun))) for f, j, begun in joints]

    def turning(self, nu: Sequence[Scalar]) -> list[Scalar]:
        """What of it a round takes the slopes of: −(κ/2) ω × Π."""
        turning = scale(-self.kappa / 2, cross(three(nu[3:6]), self.about_center(nu)))
        return [0, 0, 0, *turning, *([0] * (len(nu) - BASE))]

    @cached_property
    def now(self) -> Scalar:
        """α in Newton's rounds; secants find their way with the term where the step begins, which always has one."""
        return where(less(self.motion.search.rounds, FIRST), self.fading, 0)

    @cached_property
    def linear(self) -> tuple[Rows, list[Scalar]]:
        """A and b with A ν + b for all but `moving`, over all speeds."""
        motion, a = self.motion, self.half_turn
        inverse = 1 / motion.dt
        columns = [three(column) for column in transpose(self.rows[:3])]
        turns = [self.along_center(cross(a, column)) for column in columns]
        matrix = [
            [times(inverse, plus(m, turns[j][i])) for j, m in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]
        begun = three(self.started[3:])
        push = scale(inverse, subtract(cross(a, begun), scale(motion.dt * self.mass, self.gravity)))
        rest = [
            minus(p, times(inverse, dot(row, motion.before)))
            for p, row in zip(self.along_center(push), self.rows, strict=True)
        ]
        return matrix, rest

    @cached_property
    def folded(self) -> tuple[Rows, list[Scalar]]:
        """The same over the speeds that follow no others."""
        motion, (matrix, rest) = self.motion, self.linear
        folded = transpose(motion.folded(transpose(motion.folded(matrix))))
        (drift,) = motion.folded([rest])
        kicked = [
            plus(d, k / motion.dt) if not is_zero(k) else d for d, k in zip(drift, self.kicks, strict=True)
        ]
        return folded, [minus(d, b) for d, b in zip(kicked, self.bending, strict=True)]

    @cached_property
    def bending(self) -> list[Scalar]:
        """Ḟᵀ p of ratios F(q) that bend, p = M ν₀ with the centre of mass taken to rest, where the step begins."""
        motion = self.motion
        if not any(coupling.bends for coupling in motion.assembly.couplings):
            return [0] * len(motion.free)
        names, at = motion.numbers.names, motion.here.at
        symbols = motion.tracer.inputs(TRIAL, len(self.rows), SYMBOLS)
        rates = coordinate_rates(motion.assembly, names, at, motion.before)
        (folded,) = motion.folded([list(symbols)])
        slopes = derivative_along(folded, [motion.state[name] for name in names], rates)
        resting = about_center_of(motion.before, self.rows)
        return put([list(slopes)], symbols, [dot(row, resting) for row in self.rows])[0]

    @cached_property
    def balance(self) -> Balance:
        """The balance of forces over the speeds that are sought, from where the last step's led."""
        motion, (matrix, rest) = self.motion, self.folded
        held, loose = motion.held_free, motion.loose
        drift = [plus(rest[i], dot([matrix[i][k] for k in held], [*held.values()])) for i in loose]
        start = [
            where(self.first, motion.state[motion.speeds[i]], motion.state[name])
            for i, name in zip(loose, self.sought, strict=True)
        ]
        mass = [[matrix[i][j] for j in loose] for i in loose]
        return Balance(mass, drift, start, self.tolerance(motion.bears, less(motion.search.rounds, 0.5)))

    def tolerance(self, bears: Scalar, begins: Scalar = 0) -> list[Scalar]:
        """What may be left of the forces that are sought (N, N m): where the ground bears something or not, in the
        first round or later.
        """
        motion = self.motion
        (matrix, _), turned = self.folded, where(begins, _PUSHED, _TURNED)
        linear, angular = three(self.started[:3]), self.about_center(motion.before)
        speed, spin = sqrt(dot3(linear, linear)) / self.mass, sqrt(dot3(angular, angular)) / motion.dt
        found: list[Scalar] = []
        for place in motion.loose:
            # A body that falls fast turns no less exactly: P counts by its lever.
            rounded = _ROUNDED * plus(spin, times(speed, sum(map(absolute, matrix[place][:3]))))
            left = where(bears, _PUSHED if place < 3 else turned, _FREE)
            found.append(plus(rounded, times(motion.weight, left)))
        return found

    def needed(self, free: Sequence[Scalar]) -> list[Scalar]:
        """What the change of momenta needs at the speeds that the step found (N, N m), over those that follow no
        others, by the share of joints' term that it found them with.
        """
        motion, (matrix, rest) = self.motion, self.folded
        share = motion.tracer.inputs(TRIAL, len(self.found))[-1]
        (moving,) = motion.folded([self._moving(motion.all_speeds(free), share)])
        return [minus(plus(dot(row, free), r), m) for row, r, m in zip(matrix, rest, moving, strict=True)]

    def after(self, free: Sequence[Scalar]) -> dict[str, Scalar]:
        """Coordinates, speeds and what the next step remembers, where a step of these speeds ends."""
        motion = self.motion
        nu = motion.all_speeds(free)
        b = scale(motion.dt * self.kappa / 2, three(nu[3:6]))
        turn = quaternion_rotation(1, *b)
        linear, angular = self._momenta(nu, b, turn, motion.bears)
        coordinates = self._coordinates(nu, linear, turn, motion.bears)
        names = motion.numbers.names
        end = motion.here.configured([coordinates[name] for name in names])
        at_end = EndSpeeds(self, end, free, apply_transposed(turn, linear), angular)
        ended = coordinates | at_end.speeds | at_end.memory
        if self.joints:
            stopped = self._stopped(free, linear)
            ended = {name: where(at_end.stops, value, ended[name]) for name, value in stopped.items()}
        found = {name: free[place] for name, place in zip(self.sought, motion.loose, strict=True)}
        found |= {_SHARE: self.now} if self.joints else {}
        return ended | found | {_LENGTH: motion.dt}

    def _stopped(self, free: Sequence[Scalar], linear: Vector) -> dict[str, Scalar]:
        """The same of a flight whose energy can't be held otherwise: nothing turns in this step, the centre goes on."""
        motion = self.motion
        here = EndSpeeds(self, motion.here, free, linear, self.about_center(motion.before))
        way = apply(
            self.turned,
            scale(motion.dt / self.mass, self._led(motion.all_speeds(free), linear, motion.bears)),
        )
        found = {name: motion.state[name] for name in motion.numbers.names}
        for name, part in zip(motion.assembly.coordinates[:3], way, strict=True):
            found[name] = plus(found[name], part)
        found |= dict(zip(motion.speeds, here.locked, strict=True)) | dict.fromkeys(self.kicked.values(), 0)
        return found | {ENERGY: here.energy(here.locked)}

    def aside(self, free: Sequence[Scalar], bears: Scalar) -> Vector:
        """How far beside h R₀ v the base is put where a step of these speeds ends (world axes, m)."""
        motion = self.motion
        nu, here = motion.all_speeds(free), three(motion.here.at.q[:3])
        b = scale(motion.dt * self.kappa / 2, three(nu[3:6]))
        turn = quaternion_rotation(1, *b)
        ended = self._coordinates(nu, self._momenta(nu, b, turn, bears)[0], turn, bears)
        place = three([ended[name] for name in motion.assembly.coordinates[:3]])
        return subtract(subtract(place, here), apply(self.turned, scale(motion.dt, three(nu[:3]))))

    def _momenta(self, nu: Sequence[Scalar], b: Vector, turn: Matrix, bears: Scalar) -> tuple[Vector, Vector]:
        """P where the step ends, in base axes where it begins, and Π in those where it ends."""
        a = self.half_turn
        linear, angular = three([dot(row, nu) for row in self.rows[:3]]), self.about_center(nu)
        turned = self._within_heading(nu, turned_by(a, linear))
        free = apply_transposed(turn, self.about_center(self.motion.before))
        borne = subtract(angular, cross(b, angular))
        return chosen(bears, turned, three(self.started[3:])), chosen(bears, borne, free)

    def _within_heading(self, nu: Sequence[Scalar], linear: Vector) -> Vector:
        """P, which the ground's forces turn by no more than the heading turns: wheels that scrub stop a turn that the
        step foresaw. As its size stays, so does the energy.
        """
        foreseen = clamp(self._turn(self.omega), _TURN)
        share = self._forced(linear, foreseen)
        moving = where(less(absolute(foreseen), _STILL), 1, foreseen)
        back = minimum(maximum(share - self._turn(three(nu[3:6])) / moving, 0), share) * foreseen
        return turned_by(scale(-tan(back / 2), self.normal), linear)

    def _turn(self, omega: Vector) -> Scalar:
        """By how much a rate turns about n̄ in a step (rad)."""
        return self.motion.dt * dot3(self.normal, omega)

    def _forced(self, linear: Vector, turn: Scalar) -> Scalar:
        """γ: the share of a turn of the heading (rad) by which forces turned P: 0 on ice, 1 on grip."""
        across = cross(self.normal, linear)
        least = _AT_REST * self.motion.weight * self.motion.dt
        still = less(absolute(turn), _STILL)
        size = (dot3(linear, linear) + least * least) * where(still, 1, turn)
        share = dot3(subtract(linear, three(self.started[:3])), across) / size
        return where(still, 0, minimum(maximum(share, 0), 1))

    def _coordinates(
        self, nu: Sequence[Scalar], linear: Vector, turn: Matrix, bears: Scalar
    ) -> dict[str, Scalar]:
        """By name: the centre of mass goes by P/m, in flight by the mean of both ends; the base is put where it wants
        to be.
        """
        motion = self.motion
        rated = [*nu[:3], *scale(self.kappa, three(nu[3:6])), *nu[BASE:]]
        by_name, names = motion.turned_by(rated, by_cayley), motion.numbers.names
        ended = extended_mass(motion.assembly, motion.here.configured([by_name[name] for name in names]).at)
        way = scale(motion.dt / self.mass, self._led(nu, linear, bears))
        moved = subtract(add(center_of(self.rows), way), apply(turn, center_of(ended)))
        place = add(three(motion.here.at.q[:3]), apply(self.turned, moved))
        return by_name | dict(zip(motion.assembly.coordinates[:3], place, strict=True))

    def _led(self, nu: Sequence[Scalar], linear: Vector, bears: Scalar) -> Vector:
        """m times the velocity by which the centre of mass goes (base axes where the step begins). Where the ground
        turns it, by the mean of both ends, as far as forces made the turn.
        """
        turn = self._turn(three(nu[3:6]))
        back = scale(self._forced(linear, turn) * turn / 2, cross(self.normal, linear))
        mean = scale(0.5, add(three(self.started[:3]), linear))
        return chosen(bears, subtract(linear, back), mean)


def turned_by(a: Vector, vector: Vector) -> Vector:
    """By Cayley's map of 2a: by 2 atan |a| about a."""
    about = cross(a, vector)
    return add(vector, scale(2 / (1 + dot3(a, a)), add(about, cross(a, about))))


def _unbalanced(numbers: Mechanism) -> frozenset[int]:
    """The columns of joints whose turning changes the momentum of what they carry: all but balanced wheels."""
    mechanism = numbers.configured(list(generic_values(numbers.assembly.quantities, numbers.names)))
    assembly = mechanism.assembly
    tree, poses = assembly.tree, mechanism.at.poses
    speeds = np.random.default_rng(0).uniform(0.5, 1.5, tree.speed_count)
    forces = momentum_forces(tree, poses, list(speeds))
    masses = extended_mass(assembly, mechanism.at)
    scaled = [abs(float(row[k])) for k, row in enumerate(masses)]  # pyright: ignore[reportArgumentType]
    return frozenset(k for k, f in enumerate(forces) if abs(float(f)) > _BALANCED_SHARE * scaled[k])  # pyright: ignore[reportArgumentType]

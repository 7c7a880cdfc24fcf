"""Bases whose wheels must slide to turn, as skid-steered ones: what contact laws give at the slip that turning needs.

Wheels hold one direction and stand one behind the other. At a rate ω a wheel x ahead of the origin slides across by
s_y = ω x + δ, with δ how fast the base drifts aside of where it heads. The wheels of a side roll faster than their
contacts move by e, as belts would make them. Friction f = μN g(|s|) s/|s| against the slip (−e, s_y) gives traction and
scrub at once, and three laws of Newton say the three unknowns e_left, e_right and δ:

    Σ f_x = F_x,    Σ f_y = F_y,    Σ (x f_y − y f_x) = M.

A sliding wheel always uses all of its friction, and what it doesn't give along it gives across. So what a side has left
is traction: |T|/Σ μN. Where traction slows the turn it leaves
friction to scrub, too: most of all at right angles to the lever from the origin, at T = Σ μN |y|/√(x² + y²). More of it
would slow the turn by less, so that is all there is. And the base has to turn about a place between its axles: where it
drifts faster than ω x all wheels slide to one side. Kozłowski & Pazderski 2004, "Modeling and
control of a 4-wheel skid-steering mobile robot", has the contacts' geometry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.steering import steering_gain
from trundle.mechanics.wheels import WheelModel
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.creeping import ContactState, Creep, force_places
from trundle.motion.forces.driven_robot import DrivenRobot

# The share of friction along a side, and the drift in what wheels slide across, from which on what is asked for counts
# as more than there is: forces go on linearly there, so that every demand has an answer, and what is too much is told.
_MOST, _FARTHEST_ASIDE = 0.98, 1.0
# Newton's steps at most, what they are cut to, how often a step is halved, and the residual that ends them, as a share
# of all friction: rounding of the loads.
_STEPS, _FARTHEST, _HALVINGS, _EXACT = 40, 0.5, 6, 1e-12
# It ends, too, where no residual falls to this share of what it was: what has no answer never does.
_FALLS = 0.95
# Differences for Newton's matrix are taken over this share of what there is.
_ASIDE = 1e-7
# Newton's method begins where sides give this share of their friction along.
_BEGIN = 0.4
# A demand that this share of all friction misses has no answer, and counts as so much too much.
_UNSOLVED, _MORE = 1e-8, 10.0
# Friction of wheels that carry nothing, as a share of all: matrices stay regular.
_NOTHING = 1e-9
# Directions (rad) and places (m) that differ by less are the same: descriptions have rounded numbers.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class SlidingBase:
    """A base whose wheels slide to turn, at n instants: rates over all speeds (speeds, n) by which it moves."""

    balance: ForceBalance
    nu: FloatArray
    nu_dot: FloatArray

    @property
    def driven(self) -> DrivenRobot:
        """The robot."""
        return self.balance.driven

    @cached_property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Modules left and right of the base."""
        return sides_of(self.driven)

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """The places of forces along all wheels, and across."""
        pairs = [force_places(self.driven, k) for k in range(len(self.driven.wheels))]
        return [x for x, _ in pairs], [y for _, y in pairs]

    @cached_property
    def base(self) -> FloatArray:
        """(n, 3, forces): what contacts put on the base along its wheels, across, and about its origin."""
        columns = list(self.balance.assembly.base_columns)
        return np.einsum("ij,nkj->nik", self.axes, self.balance.rows[:, :, columns])

    @cached_property
    def axes(self) -> FloatArray:
        """(3, 3): the twists along the wheels, across them, and about the origin."""
        heading = float(self.driven.headings[0])
        c, s = np.cos(heading), np.sin(heading)
        return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])

    @cached_property
    def twist(self) -> FloatArray:
        """(3, n): how the base moves along its wheels, across and about."""
        return self.axes @ self.nu[list(self.balance.assembly.base_columns)]

    @cached_property
    def across(self) -> FloatArray:
        """(2, n, m): by how much contacts slide across without a drift, and its rate."""
        _, y = self.places
        base = list(self.balance.assembly.base_columns)
        rows = self.balance.rows[:, y][:, :, base]
        return np.stack([np.einsum("nkj,jn->nk", rows, rates[base]) for rates in (self.nu, self.nu_dot)])

    @cached_property
    def aside(self) -> FloatArray:
        """(n, m): what a drift adds to that."""
        return self.base[:, 1, self.places[1]]

    @cached_property
    def member(self) -> FloatArray:
        """(m, sides): which wheel is on which side."""
        member = np.zeros((len(self.driven.wheels), len(self.sides)))
        for side, wheels in enumerate(self.sides):
            member[list(wheels), side] = 1.0
        return member

    @cached_property
    def sense(self) -> FloatArray:
        """(n, sides): 1 where traction forward helps the turn, −1 where it slows it."""
        slows = (self.base[:, 2, self.places[0]] @ self.member) * self.twist[2][:, None]
        return np.where(slows < 0, -1.0, 1.0)

    @cached_property
    def braking(self) -> FloatArray:
        """(n, sides): the share of friction along at which a side slows the turn most."""
        x, y = self.places
        along, across = self.base[:, 2, x], self.base[:, 2, y]
        scrubs = np.abs(self.across[0]) * self.drag(np.abs(self.across[0]))
        return (np.abs(along) / np.hypot(along, across * scrubs)) @ self.member / self.member.sum(axis=0)

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The least and the greatest shares along sides up to which they count as they are."""
        least, greatest = -_MOST * self.braking, np.full_like(self.braking, _MOST)
        helps = self.sense > 0
        return np.where(helps, least, -greatest), np.where(helps, greatest, -least)

    def drag(self, speed: FloatArray) -> FloatArray:
        """g(s)/s of all wheels (s/m), by the speeds (n, m) at which they slide."""
        drags = [wheel.law.drag(speed[:, k], wheel.read) for k, wheel in enumerate(self.driven.wheels)]
        return np.stack([np.asarray(drag, dtype=np.float64) for drag in drags], axis=1)

    def solve(self) -> Scrub:
        """Slip and forces that give the motion."""
        balance, driven = self.balance, self.driven
        # without slip along a side, the drift hardly changes what the base is given across: it begins with some
        guess = np.pad(_BEGIN * self.sense, ((0, 0), (0, 1)))
        first, *_ = self._given_at(guess, self.nu, self.nu_dot)
        for other in (np.zeros_like(guess), -guess):
            if (first.missing > _UNSOLVED).any():
                tried, *_ = self._given_at(other, self.nu, self.nu_dot)
                better = (tried.missing < first.missing)[:, None]
                best = np.where(better, tried.unknown, first.unknown)
                first, *_ = self._given_at(best, self.nu, self.nu_dot)
        # loads and what wheels take to turn faster by their slip hardly move the slip: once again is enough
        given, taken, loads = self._given_at(first.unknown, *self._faster(first))
        nu, _ = self._faster(given)
        forces = np.zeros((nu.shape[1], balance.rows.shape[1]))
        x, y = self.places
        forces[:, x], forces[:, y] = given.traction, given.side
        creep = Creep(driven, -given.slip, given.across)
        along = self.sense * given.pulls / given.holds
        along[given.missing > _UNSOLVED] += _MORE
        return Scrub(forces, creep, nu, taken, loads, along, self.braking)

    def _given_at(
        self, unknown: FloatArray, nu: FloatArray, nu_dot: FloatArray
    ) -> tuple[_SlipState, FloatArray, FloatArray]:
        """What contacts give at rates of all speeds, what the motion takes, and loads; from a guess (n, unknowns)."""
        taken = self.balance.needed(nu, nu_dot) - self.balance.efforts(nu)
        loads = self.balance.loads(nu, nu_dot)
        return self._solved(unknown, taken, loads), taken, loads

    def _faster(self, given: _SlipState) -> tuple[FloatArray, FloatArray]:
        """All speeds and their rates with wheels that turn faster by their slip: at forces that stay, slip goes with
        what slides across.
        """
        size = 1 / self.drag(self.across[0])
        grows = (self.across[0] * self.across[1]) @ self.member / (size**2 @ self.member)
        nu, nu_dot = self.nu.copy(), self.nu_dot.copy()
        for k, wheel in enumerate(self.driven.wheels):
            if wheel.spin is not None:
                faster = given.slip[:, k] / float(wheel.radius)
                nu[wheel.spin] += faster
                nu_dot[wheel.spin] += faster * (grows @ self.member.T)[:, k]
        for rates in (nu, nu_dot):
            self.driven.lead(rates, self.balance.where)
        return nu, nu_dot

    def _solved(self, unknown: FloatArray, taken: FloatArray, loads: FloatArray) -> _SlipState:
        """Newton's method for the three unknowns, with steps that are halved where they lead away."""
        target = (self.axes @ taken[list(self.balance.assembly.base_columns)]).T
        holds = np.maximum(loads[:, self.balance.on], 0.0) * self.driven.friction
        holds = np.maximum(holds, _NOTHING * holds.sum(axis=1, keepdims=True))
        lever = np.abs(self.base[:, 2]).max() or 1.0
        unit = holds.sum(axis=1, keepdims=True) * np.array([1.0, 1.0, lever])

        def missing(at: FloatArray) -> FloatArray:
            return self._missing(self._slip(at, holds), target) / unit

        left = missing(unknown)
        for _ in range(_STEPS):
            off = np.linalg.norm(left, axis=1)
            if off.max() < _EXACT:
                break
            steps = _ASIDE * np.eye(unknown.shape[1])
            slopes = np.stack([(missing(unknown + step) - left) / _ASIDE for step in steps], axis=2)
            way = -_led_to(slopes, left)
            way *= np.minimum(1.0, _FARTHEST / np.maximum(np.abs(way).max(axis=1, keepdims=True), _ASIDE))
            unknown, left = _stepped(missing, unknown, way, left, off)
            now = np.linalg.norm(left, axis=1)
            if not ((now < _FALLS * off) & (off > _EXACT)).any():
                break
        return self._slip(unknown, holds)._replace(missing=np.abs(left).max(axis=1))

    def _slip(self, unknown: FloatArray, holds: FloatArray) -> _SlipState:
        """What the contacts give at shares of friction (n, sides + 1) along both sides and across."""
        along = np.clip(unknown[:, :-1], *self.ends)
        aside = np.clip(unknown[:, -1:], -_FARTHEST_ASIDE, _FARTHEST_ASIDE)
        beyond = unknown - np.concatenate([along, aside], axis=1)
        size = 1 / self.drag(self.across[0])
        drift = aside * size.max(axis=1, keepdims=True)
        across = self.across[0] + drift * self.aside
        # a unit of slip along a side: that at which its wheels, on the mean, slide as fast along as across
        typical = (holds / self.drag(across)) @ self.member / (holds @ self.member)
        slip = (along / np.sqrt(1 - along**2) * typical) @ self.member.T
        gives = holds * self.drag(np.hypot(slip, across))
        traction = gives * slip + holds * (beyond[:, :-1] @ self.member.T)
        side = -gives * across - holds * beyond[:, -1:] * self.aside
        sides = holds @ self.member, traction @ self.member
        return _SlipState(unknown, slip, across, drift[:, 0], traction, side, *sides, np.zeros(len(unknown)))

    def _missing(self, given: _SlipState, target: FloatArray) -> FloatArray:
        """What the contacts give beside what the motion takes, (n, 3); where the base drifts it goes aside of where it
        heads, and so does what it takes.
        """
        x, y = self.places
        turned = given.drift * steering_gain(self.twist[0])
        c, s = np.cos(turned), np.sin(turned)
        asked = np.stack(
            [c * target[:, 0] - s * target[:, 1], s * target[:, 0] + c * target[:, 1], target[:, 2]], 1
        )
        gives = np.einsum("nik,nk->ni", self.base[:, :, x], given.traction)
        return gives + np.einsum("nik,nk->ni", self.base[:, :, y], given.side) - asked


def _led_to(slopes: FloatArray, left: FloatArray) -> FloatArray:
    """x (n, k) with slopes x = left; the least one where far more is asked for than there is, and slopes vanish."""
    try:
        way = np.linalg.solve(slopes, left[:, :, None])
    except np.linalg.LinAlgError:
        way = np.linalg.pinv(slopes) @ left[:, :, None]
    return np.asarray(way[:, :, 0], dtype=np.float64)


def _stepped(
    missing: Callable[[FloatArray], FloatArray],
    at: FloatArray,
    way: FloatArray,
    left: FloatArray,
    off: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """As far along a way (n, k) as the residuals fall, and these; of size `off` before."""
    share = np.ones((len(way), 1))
    tried = missing(at + way)
    for _ in range(_HALVINGS):
        worse = (np.linalg.norm(tried, axis=1) > off) & (off > _EXACT)
        if not worse.any():
            return at + share * way, tried
        share[worse] /= 2
        tried = missing(at + share * way)
    worse = np.linalg.norm(tried, axis=1) > off
    share[worse] = 0.0
    return at + share * way, np.where(worse[:, None], left, tried)


class Scrub(NamedTuple):
    """How wheels slide at n instants, and what that takes.

    Contacts' forces (n, forces), slip, rates of all speeds (speeds, n), what the motion takes of them, loads of wheels
    (n, wheels); shares of friction that sides give along (n, sides), positive where they help the turn, and those at
    which they slow it most.
    """

    forces: FloatArray
    creep: Creep
    nu: FloatArray
    taken: FloatArray
    loads: FloatArray
    along: FloatArray
    braking: FloatArray

    @property
    def shares(self) -> FloatArray:
        """(n, sides): what they give of what they have."""
        return np.where(self.along > 0, self.along, -self.along / self.braking)


class _SlipState(NamedTuple):
    """At unknowns (n, sides + 1): slip along and across (n, m), drift (n,), forces (n, m), and of sides (n, sides) what
    they hold and pull.
    """

    unknown: FloatArray
    slip: FloatArray
    across: FloatArray
    drift: FloatArray
    traction: FloatArray
    side: FloatArray
    holds: FloatArray
    pulls: FloatArray
    missing: FloatArray


def slid_contacts(balance: ForceBalance, nu: FloatArray, nu_dot: FloatArray) -> ContactState | None:
    """What contacts give at speeds and rates (speeds, n) of a base whose wheels slide to turn; None of other bases.

    The share of a wheel's friction is that of its side.
    """
    if not sides_of(balance.driven):
        return None
    base = SlidingBase(balance, nu, nu_dot)
    scrub = base.solve()
    needed = scrub.taken - np.einsum("nkj,nk->jn", balance.rows, scrub.forces)
    return ContactState(
        scrub.forces, scrub.loads, scrub.nu, needed, scrub.creep, scrub.shares @ base.member.T
    )


def sides_of(driven: DrivenRobot) -> tuple[tuple[int, ...], ...]:
    """Modules left and right of a base whose wheels must slide for it to turn; none of other bases.

    Such wheels hold one direction, stand one behind the other, and motors turn them. Their contacts slide alike in all
    directions.
    """
    if not all(_slides(driven, wheel) for wheel in driven.wheels) or np.ptp(driven.headings) > _SAME:
        return ()
    places = np.array([complex(*map(float, wheel.position)) for wheel in driven.wheels])
    places = places * np.exp(-1j * driven.headings[0])
    left, right = np.flatnonzero(places.imag > _SAME), np.flatnonzero(places.imag < -_SAME)
    on_sides = len(left) and len(right) and len(left) + len(right) == len(places)
    return (tuple(left.tolist()), tuple(right.tolist())) if on_sides and np.ptp(places.real) > _SAME else ()


def _slides(driven: DrivenRobot, wheel: WheelModel) -> bool:
    """Whether a wheel holds its direction, is turned by a motor, and gives friction against whatever slip."""
    turned = {axis.column for tie in driven.here.assembly.couplings for axis in tie.followers}
    held = (
        wheel.steering is None and len(wheel.directions) == 2 and wheel.spin in turned | set(driven.actuators)
    )
    return held and wheel.law.drag(1.0, wheel.read) is not None

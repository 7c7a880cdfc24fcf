"""What binds a path of a base whose wheels slide to turn: the same laws, by tangents of what sliding takes.

Slip and forces follow from how the base moves, so that no force is free. All is a function of b and z̈, by tangents
where the last programme was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.forces.demand import affine
from trundle.motion.forces.forces import scrubbing_torques
from trundle.motion.forces.real_limits import DRIFT
from trundle.motion.forces.scrubbing import turning
from trundle.motion.paths.force_laws import Held, Laws, Place
from trundle.motion.paths.law_slopes import Slopes
from trundle.motion.paths.motor_reach import Alike, Flow

# Tangents are differences over this share of b, and of z̈ beside b.
_STEP = 1e-4
# A path that is followed at this share of b asks for no more friction than there is; how often places of tangents are
# closed in on.
_SLOW, _CLOSER = 1e-3, 5
# In place of rates (rad/s) of motors that stand still, for the share by which they turn faster.
_STILL = 1e-9


@dataclass(frozen=True, eq=False)
class _Tangent:
    """By (1, z̈, b) around a place: what sides pull and the drift, (3, n, sides + 1), their most, alike, and what motors
    give and how fast they turn, (3, n, columns) both; and A of ν = A ż there, with the slip, (speeds, n).
    """

    pulls: FloatArray
    holds: FloatArray
    torques: FloatArray
    rates: FloatArray
    pace: FloatArray


class ScrubLaws(Laws):
    """All that binds at the points of a demand, once it has been told where: `spare` says it again."""

    _at: _Tangent | None = None
    _last: tuple[FloatArray, FloatArray] | None = None

    def renew(self, at: Place) -> None:
        """Take tangents at a place, or on the way to it where it asks for more friction than there is."""
        first = self._last is None
        a, b = self._within(at)
        self._take(a, b)
        if first:
            self._steady(at, b)

    def _steady(self, at: Place, b: FloatArray) -> None:
        """Take tangents at less of b, z̈ being 0, where by these the base couldn't even go slowly: beside all that there
        is what slides bends so much that tangents contradict one another.
        """
        none = np.zeros(self.count)
        for _ in range(_CLOSER):
            slow = self.held(at._replace(b=_SLOW * b, a=none)).value.min(axis=1)
            if (slow > 0).all():
                return
            b = np.where(slow > 0, b, b / 2)
            self._take(none, b)

    def _take(self, a: FloatArray, b: FloatArray) -> None:
        """Take tangents at z̈ = a and ż² = b."""
        self._last = a, b
        middle = self._asked_for(a, b)
        # z̈ is as large as b over a path of length 1
        step = _STEP * b
        by_a, by_b = (
            [(more - value) / step for more, value in zip(self._asked_for(*beside), middle, strict=True)]
            for beside in ((a + step, b), (a, b + step))
        )
        asked, most, torques, rates = (
            np.stack([value - x * a - y * b, x, y]).transpose(0, 2, 1)
            for value, x, y in zip(middle[:4], by_a[:4], by_b[:4], strict=True)
        )
        self._at = _Tangent(asked, most, torques, rates, middle[4] / np.sqrt(b))

    def _within(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """z̈ and b at a place, or the last on the way to it from the last tangents at which friction is enough."""
        if self._last is None:  # a first guess has b alone, and tangents near all that there is are steep
            at = at._replace(a=np.zeros(self.count))
        a, b = self._last or (np.zeros(self.count), _SLOW * at.b)
        low, high = np.zeros(self.count), np.ones(self.count)
        share = high
        for _ in range(_CLOSER):
            tried = a + share * (at.a - a), b + share * (at.b - b)
            scrub = self.demand.scrub(*tried)
            enough = (scrub.shares.max(axis=1) <= self.grip) & (np.abs(scrub.drift) <= DRIFT)
            low, high = np.where(enough, share, low), np.where(enough, high, share)
            if enough.all():
                break
            share = np.where(low == 1, 1.0, (low + high) / 2)
        return a + low * (at.a - a), b + low * (at.b - b)

    def _asked_for(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, ...]:
        """Pulls, holds, torques and rates of motors, (…, n) each, and all speeds."""
        scrub = self.demand.scrub(a, b)
        torques = scrubbing_torques(self.balance, scrub)[self.columns]
        ends = [turning(end * np.ones_like(scrub.along), scrub.braking) for end in (self.grip,)]
        ends.append(turning(-self.grip * scrub.braking, scrub.braking))
        aside = np.ones((len(b), 1))
        asked = np.concatenate([scrub.turning - (ends[0] + ends[1]) / 2, scrub.drift[:, None]], axis=1)
        most = np.concatenate([(ends[0] - ends[1]) / 2, DRIFT * aside], axis=1)
        return asked.T, most.T, torques, scrub.nu[self.columns], scrub.nu

    def held(self, at: Place) -> Held:
        """All laws at a place."""
        self._require(at)
        forces, by_force = self.forces(at)
        torques, by_torque = self.torques(at, forces, by_force)
        cones, bend, weight = self._gripping(at, forces, by_force)
        fed, fed_bend, fed_weight, fed_owner = self._fed(at, torques, by_torque)
        parts = [cones, fed, self._lifted(at), self._sagging(at), self._turned(at, torques, by_torque)]
        none = np.zeros((self.count, 0))
        slopes = Slopes(
            np.concatenate([slopes for _, slopes in parts], axis=1),
            by_torque,
            np.zeros((0, by_torque.shape[1])),
            none,
            none,
            np.zeros((0, len(self.supplies))),
        )
        return Held(
            np.concatenate([value for value, _ in parts], axis=1),
            slopes,
            np.concatenate([bend, fed_bend], axis=1),
            np.concatenate([weight, fed_weight], axis=1),
            np.concatenate([np.array(self._bent, dtype=int), cones[0].shape[1] + fed_owner]),
        )

    def _turned(self, at: Place, torques: FloatArray, by_torque: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What motors reach less what they give, as shares of that at rest, with slopes: rates hang on z̈, too."""
        volts, groups = at.volts * self.sources, [group for group in self.groups if group.strength]
        paces, quicker = self._rates(at)
        turning, place = self._turning, 0
        value, slopes = torques @ turning.by.T, turning.by @ by_torque
        spared = np.concatenate([np.zeros((self.count, 0)), *self.spared], axis=1)
        value -= spared * turning.unit
        for group in groups:
            reach = group.reach(paces, np.ones(self.count), volts)
            own = slice(place, place + reach.torque.shape[1])
            value[:, own] += reach.torque * turning.unit[own]
            columns = [self.columns.index(column) for column in group.columns]
            many = reach.torque.shape[1] // len(columns)
            by_rate = 2 * reach.by_b[:, :, None] * np.tile(quicker[:, columns], (1, many, 1))
            slopes[:, own, :2] += by_rate * turning.unit[own, None]
            if group.supply is not None:
                by_volts = reach.by_volts * (turning.unit[own] * self.sources[group.supply])
                slopes[:, own, self._volt(group.supply)] += by_volts
            place = own.stop
        return value, slopes

    def _flow(self, group: Alike, at: Place) -> Flow:
        """What windings take beside torque at a place."""
        paces, quicker = self._rates(at)
        flow = group.flow(paces, np.ones(self.count))
        own = quicker[:, [self.columns.index(column) for column in group.columns]]
        return flow._replace(idle_by=2 * flow.idle_by[:, :, :1] * own, emf_by=2 * flow.emf_by[:, :, :1] * own)

    def _rates(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """How fast all turns, (speeds, n), and by which share motors do so faster with b and z̈, (n, columns, 2)."""
        parts = self.tangent.rates
        rates = affine(parts, at.a[:, None], at.b[:, None])
        rates = np.where(np.abs(rates) < _STILL, _STILL, rates)
        paces = np.zeros_like(self.tangent.pace)
        paces[self.columns] = rates.T
        return paces, np.stack([parts[2], parts[1]], axis=2) / rates[:, :, None]

    def _require(self, at: Place) -> None:
        """Take tangents where there are none."""
        if self._at is None:
            self.renew(at)

    @property
    def tangent(self) -> _Tangent:
        """The last one."""
        assert self._at is not None  # asked for behind `held` or `holds` alone
        return self._at

    @property
    def pace(self) -> FloatArray:
        """A, with what wheels turn faster by."""
        return self.tangent.pace

    @cached_property
    def null(self) -> FloatArray:
        """No force is free."""
        return np.zeros((self.count, self.pushes, 0))

    def forces(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """What sides pull, and the drift, (n, sides + 1), in place of contacts' forces; and slopes."""
        return self._moving(at, self.tangent.pulls)

    def torques(self, at: Place, forces: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What one motor on a column gives, (n, columns), and its slopes (n, columns, L)."""
        value, by = self._moving(at, self.tangent.torques)
        many = np.array([len(self.driven.actuators[column]) for column in self.columns])
        return value / many, by / many[:, None]

    def _moving(self, at: Place, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        slopes = np.zeros((*parts.shape[1:], self.wide))
        slopes[:, :, 0], slopes[:, :, 1] = parts[2], parts[1]
        return affine(parts, at.a[:, None], at.b[:, None]), slopes

    @cached_property
    def _cones(self) -> list[tuple[int, list[int], FloatArray]]:
        """Intervals: one of a side, over what it pulls, and one of the drift."""
        return [(place, [place], np.ones(1)) for place in range(len(self.driven.sides) + 1)]

    def holds(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """The most that sides hold, and the most of the drift, (n, sides + 1), and its parts."""
        self._require(at)
        sides = [f"grip of {self.driven.wheels[wheels[0]].name}" for wheels in self.driven.sides]
        names = [*sides, "drift of base"]
        margins = np.stack([self.margin(name) for name in names], axis=1)
        parts = self.tangent.holds * margins
        return at.of(parts), parts

    def wishes(self, at: Place) -> FloatArray:
        """Forces follow from slip: none is wished for."""
        return np.zeros((self.count, self.pushes))

    def spare(self, at: Place) -> None:
        """Take tangents and motors' margins at a place."""
        self.renew(at)
        super().spare(at)

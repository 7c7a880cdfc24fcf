"""What binds a path at its points, c ≥ 0: grip, motors, batteries, loads, by b = ż², z̈, and what is free of forces."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.motion.constraints.friction import LIFTED
from trundle.motion.constraints.motors import POWER
from trundle.motion.forces.demand import Demand, affine
from trundle.motion.paths.law_slopes import Slopes, products
from trundle.motion.paths.motor_reach import Alike, Flow, alike

# What a wheel that carries nothing grips with, as a share of a typical force: its cone stays one.
NOTHING = 1e-6


class Place(NamedTuple):
    """Where laws are asked at n points: b, z̈, the free parts of the contacts' forces (n, r), voltages (n, supplies).

    Forces count in typical ones, voltages in those without load.
    """

    b: FloatArray
    a: FloatArray
    free: FloatArray
    volts: FloatArray

    def of(self, parts: FloatArray) -> FloatArray:
        """What is affine in (1, z̈, b), of its parts (3, n, …)."""
        return affine(parts, self.a[:, None], self.b[:, None])


class Held(NamedTuple):
    """c (n, m) and its slopes; and where c bends down: −∇²c of row `owner` is the sum of
    `weight` (n, h) times the squares of `bend` (n, h, L).
    """

    value: FloatArray
    slopes: Slopes
    bend: FloatArray
    weight: FloatArray
    owner: IntArray


class _Turning(NamedTuple):
    """Of the laws of motors, q: the torques (q, columns) and voltages (q, supplies) in them, and their units (q,)."""

    by: FloatArray
    fed: FloatArray
    unit: FloatArray


class Laws:
    """All that binds at the points of a demand; `margins`: by name the share of it (n,) that is planned with."""

    def __init__(self, demand: Demand, grip: float) -> None:
        self.margins: dict[str, FloatArray] = {}
        self.demand, self.grip = demand, grip
        self.driven, self.balance = demand.driven, demand.balance
        self.count, self.pushes = self.balance.rows.shape[:2]
        moved = {m.name for c in demand.columns for m in self.driven.actuators[c]}
        self.supplies = [s for s in self.balance.assembly.supplies if moved & set(s.feeds)]
        self.sources = np.array([float(s.full_voltage) for s in self.supplies])
        self.typical = self._typical()
        self.groups: list[Alike] = alike(demand, self.supplies, self.sources)
        self._asked: tuple[FloatArray, FloatArray, FloatArray] | None = None
        self.spared = [np.zeros((self.count, len(group.names))) for group in self.groups]

    def _typical(self) -> float:
        """A force of a contact (N), to scale them."""
        finite = self.driven.grips[np.isfinite(self.driven.grips)]
        return float(finite.max()) if finite.size and finite.max() > 0 else float(self.driven.loads.max())

    # ---- forces and torques, affine in (b, z̈, free) but for what joints give by themselves

    @cached_property
    def null(self) -> FloatArray:
        """(n, forces, r): directions in which the contacts' forces can change, and nothing else does."""
        pushing = self.balance.pushing
        return np.linalg.svd(pushing)[2][:, pushing.shape[1] :].transpose(0, 2, 1)

    @cached_property
    def particular(self) -> FloatArray:
        """(3, n, forces): the least forces that give what the motion takes, in parts of (1, z̈, b)."""
        needed = self.demand.needed[:, self.balance.free]
        return np.einsum("nfc,pcn->pnf", self.balance.inverse, needed) / self.typical

    @cached_property
    def columns(self) -> list[int]:
        """The columns that motors drive."""
        return list(self.demand.columns)

    @cached_property
    def pulled(self) -> FloatArray:
        """(n, columns, forces): what the contacts' forces put on what motors drive, by typical forces."""
        return self.balance.rows[:, :, self.columns].transpose(0, 2, 1) * self.typical

    def forces(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """The contacts' forces (n, forces) in typical ones, and their slopes (n, forces, L)."""
        given, rate = (part[self.balance.free].T for part in self._efforts(at.b))
        inverse = self.balance.inverse / self.typical
        parts = self.particular
        value = at.of(parts) + products(self.null, at.free) - products(inverse, given)
        slopes = np.zeros((self.count, self.pushes, self.wide))
        slopes[:, :, 0] = parts[2] - products(inverse, rate)
        slopes[:, :, 1] = parts[1]
        slopes[:, :, 2 : 2 + self.null.shape[2]] = self.null
        return value, slopes

    def wishes(self, at: Place) -> FloatArray:
        """The contacts' forces (n, forces) in N that are wished for."""
        return self.forces(at)[0] * self.typical

    @property
    def pace(self) -> FloatArray:
        """A of ν = A ż, (speeds, n)."""
        return self.demand.pace

    @property
    def wide(self) -> int:
        """What laws hang on at a point."""
        return 2 + self.null.shape[2] + len(self.supplies)

    def _efforts(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The joints' own efforts and their slopes, asked for once for the same b."""
        if self._asked is None or self._asked[0] is not b:
            self._asked = b, *self.demand.efforts(b)
        return self._asked[1], self._asked[2]

    def torques(self, at: Place, forces: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What one motor on a column gives, (n, columns), and its slopes (n, columns, L)."""
        given, rate = (part[self.columns].T for part in self._efforts(at.b))
        needed = self.demand.needed[:, self.columns].transpose(0, 2, 1)
        value = at.of(needed) - given - products(self.pulled, forces)
        by = -(self.pulled @ slopes)
        by[:, :, 0] += needed[2] - rate
        by[:, :, 1] += needed[1]
        many = np.array([len(self.driven.actuators[column]) for column in self.columns])
        return value / many, by / many[:, None]

    # ---- what binds

    def held(self, at: Place) -> Held:
        """All laws at a place."""
        forces, by_force = self.forces(at)
        torques, by_torque = self.torques(at, forces, by_force)
        cones, bend, weight = self._gripping(at, forces, by_force)
        fed, fed_bend, fed_weight, fed_owner = self._fed(at, torques, by_torque)
        parts = [cones, fed, self._lifted(at), self._sagging(at)]
        reached, by_b, by_volts = self._reached(at, torques)
        first = cones[0].shape[1]
        owner = np.concatenate([np.array(self._bent, dtype=int), first + fed_owner])
        return Held(
            np.concatenate([*(value for value, _ in parts), reached], axis=1),
            Slopes(
                np.concatenate([slopes for _, slopes in parts], axis=1),
                by_torque,
                self._turning.by,
                by_b,
                by_volts,
                self._turning.fed,
            ),
            np.concatenate([bend, fed_bend], axis=1),
            np.concatenate([weight, fed_weight], axis=1),
            owner,
        )

    @cached_property
    def _bent(self) -> list[int]:
        """The cone of every direction of a contact's force that has one."""
        return [cone for cone, (_, own, _) in enumerate(self._cones) for _ in own]

    @cached_property
    def _cones(self) -> list[tuple[int, list[int], FloatArray]]:
        """Wheels that can slip, the places of their forces, and how long those are."""
        directions = self.driven.directions
        cones: list[tuple[int, list[int], FloatArray]] = []
        for k, friction in enumerate(self.driven.friction.tolist()):
            if np.isfinite(friction):
                own = [place for place, (module, *_) in enumerate(directions) if module == k]
                cones.append((k, own, np.array([np.hypot(*directions[place][1:]) for place in own])))
        return cones

    def holds(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """The most that contacts hold, (n, cones) in typical forces, and its parts (3, n, cones) of (1, z̈, b)."""
        own = [k for k, *_ in self._cones]
        if not own:
            return np.ones((self.count, 0)), np.zeros((3, self.count, 0))
        loads = self.demand.loads[:, :, [self.balance.on[k] for k in own]]
        margins = np.stack([self.margin(f"grip of {self.driven.wheels[k].name}") for k in own], axis=1)
        parts = loads * (self.grip * self.driven.friction[own] / self.typical) * margins
        return at.of(parts), parts

    def _gripping(
        self, at: Place, forces: FloatArray, by_force: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
        """h − |f|²/h ≥ 0, where h is what a contact holds: it bends by (df − f dh/h)²."""
        n, wide = self.count, self.wide
        if not self._cones:
            return (np.zeros((n, 0)), np.zeros((n, 0, wide))), np.zeros((n, 0, wide)), np.zeros((n, 0))
        holds, parts = self.holds(at)
        holds = np.maximum(holds, NOTHING)
        places = [place for _, own, _ in self._cones for place in own]
        sizes = np.concatenate([size for *_, size in self._cones])
        f, by_f = forces[:, places] * sizes, by_force[:, places] * sizes[:, None]
        sum_of = np.zeros((len(self._cones), len(places)))
        sum_of[self._bent, np.arange(len(places))] = 1.0
        share = f / holds[:, self._bent]
        by_hold = np.zeros((n, len(self._cones), wide))
        by_hold[:, :, 0], by_hold[:, :, 1] = parts[2], parts[1]
        value = holds - (share * f) @ sum_of.T
        slopes = by_hold * (1 + share**2 @ sum_of.T)[:, :, None] - 2 * (sum_of @ (share[:, :, None] * by_f))
        bend = by_f - share[:, :, None] * by_hold[:, self._bent]
        return (value, slopes), bend, 2 / holds[:, self._bent]

    @cached_property
    def _turning(self) -> _Turning:
        """What the laws of motors hang on, those of all groups in turn."""
        columns, fed, unit = [], [], []
        for group in self.groups:
            many = 2 * len(group.strength)
            signs = np.repeat([-1.0, 1.0], len(group.columns))
            units = 1 / np.repeat(list(group.strength.values()), 2 * len(group.columns))
            of = np.array(self.columns) == group.columns[:, None]
            columns.append(np.tile(of, (many, 1)) * (np.tile(signs, len(group.strength)) * units)[:, None])
            own = np.arange(len(self.supplies)) == (-1 if group.supply is None else group.supply)
            fed.append(np.tile(own, (many * len(group.columns), 1)) * self.sources)
            unit.append(units)
        return _Turning(np.concatenate(columns), np.concatenate(fed), np.concatenate(unit))

    def _reached(self, at: Place, torques: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What motors reach less what they give, forward and backward, as shares of what they give at rest; and what
        that changes by with b and voltages.
        """
        volts, groups = at.volts * self.sources, [group for group in self.groups if group.strength]
        reaches = [group.reach(self.pace, at.b, volts) for group in groups]
        none = np.zeros((self.count, 0))
        torque, by_b, by_volts = (
            np.concatenate([none, *parts], axis=1) for parts in zip(*reaches, strict=True)
        )
        turning = self._turning
        spared = np.concatenate([none, *self.spared], axis=1)
        value = (torque - spared) * turning.unit + torques @ turning.by.T
        return value, by_b * turning.unit, by_volts * turning.unit

    def _volt(self, supply: int) -> int:
        """The place of a supply's voltage among what laws hang on."""
        return 2 + self.null.shape[2] + supply

    def _lifted(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """Loads of all wheels that keep a share of what they are at rest, where heights are known."""
        wheels, standing = self.balance.assembly.wheels, self.balance.standing
        own = [k for k in range(len(wheels)) if standing[k] > 0] if self.balance.assembly.heights else []
        slopes = np.zeros((self.count, len(own), self.wide))
        parts = self.demand.loads[:, :, own] / standing[own]
        slopes[:, :, 0], slopes[:, :, 1] = parts[2], parts[1]
        value = at.of(parts)
        for place, k in enumerate(own):
            value[:, place] -= 1 - LIFTED * self.margin(f"load of {wheels[k].name}")
        return value, slopes

    def _sagging(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """Batteries' voltages not below that at which they give as much power as plans take of them."""
        slopes = np.zeros((self.count, len(self.supplies), self.wide))
        value = at.volts.copy()
        for place, supply in enumerate(self.supplies):
            value[:, place] -= (1 + np.sqrt(1 - POWER * self.margin(f"power of {supply.name}"))) / 2
            slopes[:, place, self._volt(place)] = 1.0
        return value, slopes

    def _fed(
        self, at: Place, torques: FloatArray, by_torque: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray, IntArray]:
        """V (E − V) − R Σ (e i + R_k i²) ≥ 0 in parts of E²; it bends by V² and all currents' squares."""
        value, slopes = at.volts - at.volts**2, np.zeros((self.count, len(self.supplies), self.wide))
        bends: list[FloatArray] = [np.zeros((self.count, 0, self.wide))]
        weights: list[FloatArray] = [np.zeros((self.count, 0))]
        owner: list[int] = []
        for place, supply in enumerate(self.supplies):
            slopes[:, place, self._volt(place)] = 1 - 2 * at.volts[:, place]
            unit = np.zeros((self.count, 1, self.wide))
            unit[:, 0, self._volt(place)] = 1.0
            bends.append(unit)
            weights.append(2 * np.ones((self.count, 1)))
            owner.append(place)
            scale = float(supply.read(supply.battery.internal_resistance)) / self.sources[place] ** 2
            for group in self.groups:
                if group.supply != place or not group.wound:
                    continue
                own = [self.columns.index(column) for column in group.columns]
                (by, ohms), flow = group.winding, self._flow(group, at)
                current, by_current = torques[:, own] * by + flow.idle, by_torque[:, own] * by
                by_current[:, :, :2] += flow.idle_by
                power = current * (flow.emf + ohms * current)
                by_power = (flow.emf + 2 * ohms * current)[:, None] @ by_current
                value[:, place] -= scale * power.sum(axis=1)
                slopes[:, place] -= scale * by_power[:, 0]
                slopes[:, place, :2] -= scale * (current[:, :, None] * flow.emf_by).sum(axis=1)
                bends.append(by_current)
                weights.append(2 * scale * ohms * np.ones_like(current))
                owner += [place] * len(own)
        bend, weight = np.concatenate(bends, axis=1), np.concatenate(weights, axis=1)
        return (value, slopes), bend, weight, np.array(owner, dtype=int)

    def _flow(self, group: Alike, at: Place) -> Flow:
        """What windings take beside torque at a place."""
        return group.flow(self.pace, at.b)

    def margin(self, name: str) -> FloatArray:
        """The share of what binds that is planned with, (n,)."""
        return self.margins.get(name, np.ones(self.count))

    def spare(self, at: Place) -> None:
        """Take motors' margins at a place."""
        volts, rates = at.volts * self.sources, self.pace * np.sqrt(at.b)
        for k, group in enumerate(self.groups):
            if not group.strength:
                continue
            margins = np.stack([self.margin(name) for name in group.names], axis=1)
            reach = group.reach(self.pace, at.b, volts).torque
            self.spared[k] = group.spared(reach, rates, volts, margins)

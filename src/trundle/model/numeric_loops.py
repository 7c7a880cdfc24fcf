"""A robot's loops in numbers, at many configurations at once: where they close, which speeds they bind, how it stands.

The loops' rows give φ̇ = A(q) ν exactly, so a step ν with A ν = φ, taken as q − N(q) ν, closes the gaps φ to first
order (`mechanics.closing`); what couplings move follows its leaders.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.closing import (
    CLOSED,
    CLOSED_ZERO,
    Conditions,
    close_constraints,
    closed,
    closed_samples,
    most_mobile,
)
from trundle.mechanics.coupling import Gear
from trundle.mechanics.elimination import plan_passive_pivots
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import table
from trundle.mechanics.loop_joints import HELD, close, facing
from trundle.model.constraints import (
    Configuration,
    configure,
    coordinate_rates,
    coupling_rows,
    independent_coordinates,
    without_followers,
)
from trundle.spatial.motions import Pose

# Closed configurations that are looked at: rank and pivots differ between them only where the mechanism's do.
COUNT = 6
# Random configurations from which Newton's method looks for closed ones, and how many of them at once.
TRIES, _DRAWN = 100, 25
# Angles are drawn over more than a turn's half: linkages close far from where their joints are at zero.
WIDE = 2.5
# Gears of higher ratios are not followed all around.
_MOST_TURNS = 100
# Entries of rows up to here are rounding: a planar linkage can't break its plane.
_ROUNDING = 1e-13
# Starts beside zero (rad, m), where linkages are often flat and singular, then from all around.
_BESIDE = (0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0)
# Closed configurations beside the start after which the search ends.
_ENOUGH = 3
# Any number: the same loops are closed the same way on every machine and day.
_SEED = 20260


@dataclass(frozen=True)
class NumericLoops:
    """The loops of an assembly in numbers; configurations are arrays (s, coordinates) in the order of `names`."""

    assembly: Assembly
    names: tuple[str, ...]
    robot_name: str = ""

    def at(self, q: np.ndarray) -> Configuration:
        """The assembly at configurations."""
        return configure(self.assembly, self.names, [q[:, k] for k in range(q.shape[1])])

    def gaps_and_rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ (s, r), in m and sines of angles, and A (s, r, n) over all speeds, followers' written in their leaders'."""
        at, width = self.at(q), len(self.assembly.speeds)
        closures = [close(self.assembly.tree, at.poses, loop, width) for loop in self.assembly.loops]
        rows = [row for closure in closures for row in closure.rows]
        coupled, _ = coupling_rows(self.assembly, at)
        values = table(without_followers(self.assembly, rows, coupled), len(q), width)
        values[np.abs(values) < _ROUNDING] = 0.0
        return table([[gap] for closure in closures for gap in closure.gaps], len(q), 1)[:, :, 0], values

    def moved(self, q: np.ndarray, nu: np.ndarray) -> np.ndarray:
        """q + N(q) ν, ν (s, n) given in what is independent of couplings; quaternions of length 1."""
        rates = coordinate_rates(self.assembly, self.names, self.at(q), list(nu.T))
        return self.normalised(q + table([[rate] for rate in rates], len(q), 1)[:, :, 0])

    def normalised(self, q: np.ndarray) -> np.ndarray:
        """The configurations with quaternions of length 1."""
        return self.assembly.quantities.normalised(self.names, q.T).T

    def face_well(self, q: np.ndarray) -> np.ndarray:
        """At which closed configurations, (s,), no end faces the other the wrong way round."""
        poses, result = self.at(q).poses, np.ones(len(q), dtype=bool)
        for loop in self.assembly.loops:
            for value in facing(self.assembly.tree, poses, loop):
                result &= np.asarray(value) > 0
        return result

    @property
    def conditions(self) -> Conditions:
        """What closes the loops, for `mechanics.closing`; directions are all speeds."""
        return Conditions(self.gaps_and_rows, self.moved, self.face_well)

    @property
    def owners(self) -> list[tuple[str, bool]]:
        """The loop of each row, and whether the row is a rotation's (rad/s; else m/s)."""
        owners: list[tuple[str, bool]] = []
        for loop in self.assembly.loops:
            translations, rotations = map(len, HELD.get(loop.kind, ((0,), ())))
            owners += [(loop.name, False)] * translations + [(loop.name, True)] * rotations
        return owners

    @cached_property
    def bound(self) -> set[int]:
        """Columns of the speeds that the loops bind."""
        if not self.assembly.loops:
            return set()
        drawn = self.draw(np.random.default_rng(_SEED), 3)
        return set(np.flatnonzero(np.abs(self.gaps_and_rows(drawn)[1]).max(axis=(0, 1)) > 0).tolist())

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Random configurations, wide enough for what coordinates move by gears to go all around."""
        widths = dict.fromkeys(self.assembly.coordinates, WIDE)
        gears = [coupling for coupling in self.assembly.couplings if isinstance(coupling, Gear)]
        for gear in reversed(gears):
            for axis, ratio in zip(gear.leaders, gear.ratios, strict=True):
                needed = widths[gear.follower.coordinate] / max(abs(float(ratio)), 1 / _MOST_TURNS)
                widths[axis.coordinate] = max(widths[axis.coordinate], needed)
        width = np.array([widths[name] for name in self.names])
        return self.normalised(width * rng.uniform(-1, 1, (count, len(self.names))))

    @cached_property
    def samples(self) -> np.ndarray:
        """Up to `COUNT` random closed configurations, of several ways of assembly those that move most; raises
        InputError where none closes.
        """
        rng = np.random.default_rng(_SEED)
        drawn = (self.draw(rng, _DRAWN) for _ in range(TRIES // _DRAWN))
        closed_ones, nearest = closed_samples(self.conditions, drawn, rng, COUNT)
        if len(closed_ones):
            return most_mobile(closed_ones, self.gaps_and_rows(closed_ones)[1])[:COUNT]
        raise self.unclosable(nearest)

    def unclosable(self, nearest: np.ndarray) -> InputError:
        """What is said where no configuration was found that closes the loops; the nearest one was (coordinates,)."""
        culprit, _ = self.owners[int(np.abs(self.gaps_and_rows(nearest[None])[0][0]).argmax())]
        return InputError(
            f"the loops of '{self.robot_name}' can't be closed: from {TRIES} random configurations Newton's method "
            f"found none that closes '{culprit}'",
            key=f"robot.loops.{culprit}",
            hint="look at its ends: are the bodies between them long enough to meet, and the axes parallel?",
        )

    @cached_property
    def following(self) -> set[int]:
        """Columns of the speeds that follow from others by the loops at general configurations: best those that nothing
        drives.
        """
        if not self.assembly.loops:
            return set()
        driven = {actuator.column for actuator in self.assembly.actuators}
        pivots = plan_passive_pivots(self.gaps_and_rows(self.samples)[1], driven, CLOSED_ZERO)
        return {column for _, column in pivots}

    def with_given(self, q: np.ndarray, given: Collection[str]) -> np.ndarray:
        """The closed configuration (coordinates,) near q with the `given` coordinates as they are in q, as runs start;
        where nothing is given and nothing found, a random one. Raises InputError where what is given leaves loops open.
        """
        frozen = self._columns(given)
        free = [k for k in range(len(self.assembly.speeds)) if k not in frozen]
        nearby, left = close_constraints(self.conditions, q[None], free, sorted(self.following))
        if left[0] <= CLOSED:
            return nearby[0]
        if not given:
            return self.samples[0]
        raise InputError(
            f"the loops of '{self.robot_name}' stay open by {left[0]:.3g} m at this configuration",
            key="at",
            hint=f"give fewer coordinates, the others are then found to fit; given: {', '.join(given) or 'none'}",
        )

    def _columns(self, names: Collection[str]) -> set[int]:
        """The speeds that move those coordinates: each one's rate, and of bases and balls all that the joint has."""
        assembly, columns = self.assembly, set[int]()
        rates = {name: assembly.quantities.rate_of(name) for name in names}
        for coordinates, speeds in zip(
            assembly.tree.coordinate_slices(), assembly.tree.speed_slices(), strict=True
        ):
            if any(name in rates and not rates[name] for name in assembly.coordinates[coordinates]):
                columns |= set(range(speeds.start, speeds.stop))
        return columns | {assembly.speeds.index(rate) for rate in rates.values() if rate}

    def nearest(self, q: np.ndarray) -> np.ndarray:
        """Of the first closed configurations (coordinates,) found from q and from around it the one with the least
        sum of squared changes; q itself where none is.
        """
        rng, width = np.random.default_rng(0), len(self.assembly.speeds)
        loose = [k for k in range(width) if k not in self.bound]
        steps = np.array([rng.uniform(-reach, reach, width) for reach in (0.0, *_BESIDE)])
        steps[:, loose] = 0.0
        ends, left = closed(
            self.conditions, self.moved(np.repeat(q[None], len(steps), axis=0), steps), near=True
        )
        some = ends[left <= CLOSED][:_ENOUGH]
        return min(some, key=lambda end: float(np.square(end - q).sum()), default=q)


def posture(assembly: Assembly) -> list[Pose]:
    """T_base_link of every link of a numeric assembly that nobody says how to pose: every joint at its zero, or as near
    to that as its loops can be closed; loops that no configuration was found to close stay open.
    """
    names = independent_coordinates(assembly)
    q = np.array(assembly.quantities.starts(names))
    if assembly.loops:
        q = NumericLoops(assembly, names).nearest(q)
    return world_poses(assembly.tree, configure(assembly, names, q.tolist()).poses)

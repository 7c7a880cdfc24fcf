"""Forces that balance a motion: what accelerations take of base and joints, what contacts give, and what they carry."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.linear import table
from trundle.model.base_dynamics import element_torques, put_on_leaders, required_torques
from trundle.model.constraints import rolling_rows
from trundle.model.forces import contact_span
from trundle.model.load_shift import required_loads
from trundle.model.mechanism import Mechanism
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.pieces.motion import Samples
from trundle.scalars import Scalar

# Entries of rows below this (m, or none) are rounding: no contact pushes there.
_ROUNDING = 1e-12
# An inverse that misses the identity by less than this is one; independent rows leave 1e-13.
_INDEPENDENT = 1e-9


@dataclass(frozen=True, eq=False)
class ForceBalance:
    """τ + Aᵀ f = M ν̇ + c over all speeds, where modules stand as a motion has them at n times.

    Joints that follow others by couplings put their part on what leads them: rows of followers are zero. `where` are
    the steering angles by coordinate, `rows` is A, (n, forces, speeds): a row for every direction of the modules'
    contacts, in their order.
    """

    driven: DrivenRobot
    where: Mapping[str, FloatArray]
    rows: FloatArray

    @classmethod
    def at(cls, driven: DrivenRobot, samples: Samples) -> ForceBalance:
        """The balance where a motion's modules stand."""
        assembly = driven.here.assembly
        bare = cls(driven, driven.coordinates(samples), np.zeros((len(samples), 0, len(assembly.speeds))))
        rows = put_on_leaders(assembly, bare.here.at, rolling_rows(assembly, bare.here.at, driven.wheels)[0])
        balance = replace(bare, rows=table(rows, len(samples), len(assembly.speeds)))
        vars(balance)["here"] = bare.here
        return balance

    @classmethod
    def resting(cls, driven: DrivenRobot) -> ForceBalance:
        """The balance of loads where every joint is at its zero; no contact has rows."""
        return cls(driven, {}, np.zeros((1, 0, len(driven.here.assembly.speeds))))

    def chosen(self, places: IntArray) -> ForceBalance:
        """The balance at some of the times."""
        return replace(
            self, where={name: at[places] for name, at in self.where.items()}, rows=self.rows[places]
        )

    @staticmethod
    def joined(one: ForceBalance, other: ForceBalance) -> ForceBalance:
        """The balance at the times of one and of another one."""
        where = {name: np.append(at, other.where[name]) for name, at in one.where.items()}
        return replace(one, where=where, rows=np.concatenate([one.rows, other.rows]))

    @cached_property
    def here(self) -> Mechanism:
        """The mechanism as the modules stand."""
        zero, start = np.zeros(len(self.rows)), self.driven.here
        places = zip(start.names, start.q, strict=True)
        return start.configured([self.where.get(name, zero + value) for name, value in places])

    @property
    def assembly(self) -> Assembly:
        """The robot's."""
        return self.driven.here.assembly

    def needed(self, nu: FloatArray, nu_dot: FloatArray) -> FloatArray:
        """M ν̇ + c, (speeds, n), of the tree and of linkages' drives."""
        return self._led(required_torques(self.assembly, self.here.at, list(nu), list(nu_dot)))

    def efforts(self, nu: FloatArray) -> FloatArray:
        """What springs, dampers and friction give by themselves, (speeds, n)."""
        return self._led(element_torques(self.assembly, self.here.at, list(nu)))

    def _led(self, tau: list[Scalar]) -> FloatArray:
        """Torques on all speeds as (speeds, n), those on followers put on what they follow."""
        rows = put_on_leaders(self.assembly, self.here.at, [tau])
        return table(rows, len(self.rows), len(tau))[:, 0].T

    def loads(self, nu: FloatArray, nu_dot: FloatArray) -> FloatArray:
        """Normal forces on all wheels of the assembly, (n, wheels): moved by accelerations where heights are known.

        A wheel that would have to be pulled down has a negative one.
        """
        span = contact_span(self.driven.here.assembly)
        loads = required_loads(self.assembly, self.here.at, list(nu), list(nu_dot), span)
        return np.stack([loads[w.name] + np.zeros(nu.shape[1]) for w in self.assembly.wheels], axis=1)

    @cached_property
    def on(self) -> list[int]:
        """Which of the assembly's wheels the modules are."""
        names = [wheel.name for wheel in self.assembly.wheels]
        return [names.index(wheel.name) for wheel in self.driven.wheels]

    @cached_property
    def standing(self) -> FloatArray:
        """Loads of all wheels (N) while the robot stands on level ground, every joint at its zero."""
        return np.array([self.driven.standing[wheel.name] for wheel in self.assembly.wheels])

    @cached_property
    def free(self) -> list[int]:
        """The columns on which no motor gives anything: the base's, and of wheels whose contact pushes on them."""
        driven = self.driven
        followers = {axis.column for coupling in self.assembly.couplings for axis in coupling.followers}
        pushed = np.abs(self.rows).max(axis=(0, 1)) > _ROUNDING
        turning = [c for c in driven.columns if c not in self.assembly.base_columns]
        idle = [c for c in turning if c not in driven.actuators and c not in followers and pushed[c]]
        return [*self.assembly.base_columns, *idle]

    @cached_property
    def pushing(self) -> FloatArray:
        """(n, free, forces): what the contacts' forces put on the columns that no motor drives."""
        return self.rows[:, :, self.free].transpose(0, 2, 1)

    @cached_property
    def inverse(self) -> FloatArray:
        """The pseudoinverse of `pushing`, (n, forces, free): Bᵀ (B Bᵀ)⁻¹ where its rows are independent."""
        pushing = self.pushing
        gram = pushing @ pushing.transpose(0, 2, 1)
        with suppress(np.linalg.LinAlgError):
            inverse = np.linalg.inv(gram)
            if np.abs(gram @ inverse - np.eye(len(self.free))).max() < _INDEPENDENT:
                return pushing.transpose(0, 2, 1) @ inverse
        return np.asarray(np.linalg.pinv(pushing), dtype=np.float64)

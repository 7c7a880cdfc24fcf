"""What a filter knows at one time, as a column of numbers: where a pose, a bias and their covariance stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import casadi as ca
import numpy as np

from trundle.arrays import FloatArray
from trundle.model.symbols import Symbols
from trundle.motion.odometry.displacement import POSE
from trundle.scalars import Scalar

# What is told of the last readings: normalised innovations squared.
NIS = ("gyro", "fix")


@dataclass(frozen=True)
class StateLayout:
    """The rows of a state: pose, the gyro's bias where it is estimated, the upper triangle of the covariance of the
    error row by row, `NIS`, and by how much the wheels were off in the last step, where slip is looked for.
    """

    bias: bool
    wheels: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of what is estimated."""
        return (*POSE, "bias") if self.bias else POSE

    @cached_property
    def size(self) -> int:
        """How much is estimated."""
        return len(self.names)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The upper triangle, row by row."""
        return tuple(combinations_with_replacement(range(self.size), 2))

    @cached_property
    def nis(self) -> int:
        """The row of the first of `NIS`."""
        return self.size + len(self.pairs)

    @property
    def labels(self) -> tuple[str, ...]:
        """Of all rows."""
        return (*self.names, *(f"P{i + 1}{j + 1}" for i, j in self.pairs), *NIS, *self.wheels)

    @cached_property
    def _triangle(self) -> np.ndarray:
        """The rows and columns of the upper triangle."""
        return np.array(self.pairs).T

    def covariance(self, state: FloatArray) -> FloatArray:
        """That of the error, (n, n) or (n, n, count)."""
        matrix = np.empty((self.size, self.size, *state.shape[1:]))
        rows, columns = self._triangle
        matrix[rows, columns] = matrix[columns, rows] = state[self.size : self.nis]
        return matrix

    def packed(self, matrix: FloatArray) -> FloatArray:
        """The upper triangle of (n, n) or (n, n, count) as rows."""
        rows, columns = self._triangle
        return matrix[rows, columns]


@dataclass(frozen=True)
class Estimate:
    """A state in symbols: what is estimated, the covariance of its error, and what is told of readings."""

    values: tuple[Scalar, ...]
    covariance: ca.SX
    told: tuple[Scalar, ...]

    @staticmethod
    def of(layout: StateLayout, symbols: Symbols, name: str = "before") -> tuple[Estimate, list[Scalar]]:
        """A state in new symbols, and these."""
        rows, size = symbols.make(name, len(layout.labels)), layout.size
        matrix = ca.SX.zeros(size, size)
        for (i, j), value in zip(layout.pairs, rows[size : layout.nis], strict=True):
            matrix[i, j] = matrix[j, i] = value
        return Estimate(tuple(rows[:size]), matrix, tuple(rows[layout.nis :])), rows

    def telling(self, start: int, values: Sequence[Scalar]) -> Estimate:
        """The same with other values told from place `start` on."""
        told = (*self.told[:start], *values, *self.told[start + len(values) :])
        return replace(self, told=told)

    def rows(self, layout: StateLayout) -> list[Scalar]:
        """As they stand in the state."""
        return [*self.values, *(self.covariance[i, j] for i, j in layout.pairs), *self.told]

"""What laws of a path change by with all that they hang on, many of them by few torques."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray


class Slopes(NamedTuple):
    """What m laws change by with L parts of a place, (b, z̈, free, volts): some by `rows` (n, p, L); the q others hang
    on torques, whose slopes are `torques` (n, columns, L), by `by` (q, columns), on b by `by_b` (n, q), and on the
    voltages that `fed` (q, supplies) says by `by_volts` (n, q).
    """

    rows: FloatArray
    torques: FloatArray
    by: FloatArray
    by_b: FloatArray
    by_volts: FloatArray
    fed: FloatArray

    def times(self, moved: FloatArray) -> FloatArray:
        """(n, m): what laws change by where places move (n, L)."""
        volts = moved[:, moved.shape[1] - self.fed.shape[1] :] @ self.fed.T
        other = products(self.torques, moved) @ self.by.T + self.by_b * moved[:, :1] + self.by_volts * volts
        return np.concatenate([products(self.rows, moved), other], axis=1)

    def pulled(self, weights: FloatArray) -> FloatArray:
        """(n, L): the sum of slopes with weights (n, m)."""
        count = self.rows.shape[1]
        own, other = weights[:, None, :count], weights[:, count:]
        pulled = (own @ self.rows + (other @ self.by)[:, None] @ self.torques)[:, 0]
        pulled[:, 0] += (other * self.by_b).sum(axis=1)
        pulled[:, pulled.shape[1] - self.fed.shape[1] :] += (other * self.by_volts) @ self.fed
        return pulled

    def squared(self, weights: FloatArray) -> FloatArray:
        """(n, L, L): the sum of slopes' squares with weights (n, m)."""
        count, first = self.rows.shape[1], self.rows.shape[2] - self.fed.shape[1]
        own, other = weights[:, :count, None], weights[:, count:]
        square = self.rows.transpose(0, 2, 1) @ (own * self.rows)
        square += self.torques.transpose(0, 2, 1) @ ((other @ self.by**2)[:, :, None] * self.torques)
        by_b, by_volts = other * self.by_b, other * self.by_volts
        parts = [(0, by_b), *((first + k, by_volts * fed) for k, fed in enumerate(self.fed.T))]
        for place, part in parts:
            mixed = ((part @ self.by)[:, None] @ self.torques)[:, 0]
            square[:, place] += mixed
            square[:, :, place] += mixed
        square[:, 0, 0] += (by_b * self.by_b).sum(axis=1)
        for place, part in parts[1:]:
            both = (part * self.by_b).sum(axis=1)
            square[:, 0, place] += both
            square[:, place, 0] += both
            square[:, place, place] += (part * self.by_volts * self.fed[:, place - first]).sum(axis=1)
        return square


def products(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """The products of n matrices with as many vectors."""
    return (matrices @ vectors[:, :, None])[:, :, 0]

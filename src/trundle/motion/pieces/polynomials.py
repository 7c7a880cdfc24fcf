"""Piecewise polynomials of time: the one form of all profiles and of the splines that plans are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.results.arrays import frozen, settle


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """x(t) = Σ_k c_ik (t − t_i)^k on the piece i, exactly, with its derivatives.

    (SciPy's PPoly does the same; importing it takes longer than all else of a short motion.)

    Parameters
    ----------
    breaks : array (n + 1,), s
        Where pieces begin, from 0, and the end.
    coefficients : array (n, degree + 1) or (n, degree + 1, values)
        Of each piece, the constant first.
    """

    breaks: FloatArray
    coefficients: FloatArray

    def __post_init__(self) -> None:
        settle(self, breaks=frozen(self.breaks), coefficients=frozen(self.coefficients))

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.breaks[-1])

    def piece_at(self, times: FloatArray) -> npt.NDArray[np.intp]:
        """The piece that counts at times, at a break the one that follows it."""
        return np.clip(np.searchsorted(self.breaks, times, "right") - 1, 0, len(self.coefficients) - 1)

    def at(
        self, times: npt.ArrayLike, order: int = 0, piece: npt.NDArray[np.integer] | None = None
    ) -> FloatArray:
        """The derivative of an order (0 to 3: position, velocity, acceleration, jerk; above too) at times.

        Parameters
        ----------
        times : array_like, s
            From 0 to the duration; at a break what follows it counts.
        order : int
            Which derivative.
        piece : array of int, optional
            The piece to take at each time, also outside of it.

        Returns
        -------
        array
            Of the shape of `times`, and of the values behind it.

        Raises
        ------
        InputError
            The order is negative.

        Examples
        --------
        >>> from trundle.motion.pieces.profiles import shaped
        >>> shaped("scurve", 0.0, 1.0, 2.0).at([0.0, 1.0, 2.0]).tolist()
        [0.0, 0.5, 1.0]
        """
        if order < 0:
            raise InputError(f"expected an order from 0, got {order}", key="order")
        times = as_numbers(times, "times")
        piece = self.piece_at(times) if piece is None else piece
        coefficients = differentiated(self.coefficients, order)
        values = coefficients.shape[2:]
        since = (times - self.breaks[piece]).reshape((*times.shape, *(1,) * len(values)))
        total = np.zeros((*times.shape, *values))
        for k in range(coefficients.shape[1] - 1, -1, -1):
            total = total * since + coefficients[piece, k]
        return total


def differentiated(coefficients: FloatArray, order: int) -> FloatArray:
    """Coefficients (n, powers, …) of a derivative, at least the constant."""
    for _ in range(order):
        powers = np.arange(1, coefficients.shape[1])
        coefficients = coefficients[:, 1:] * powers.reshape(-1, *(1,) * (coefficients.ndim - 2))
    if coefficients.shape[1]:
        return coefficients
    return np.zeros((len(coefficients), 1, *coefficients.shape[2:]))

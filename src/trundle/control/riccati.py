"""Riccati's equations: the least cost zᵀ S z of bringing z back, for ever or to a time, continuous and sampled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.linear_control import state_measure
from trundle.errors import NumericsError

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Steps whose exponentials are taken are at most this long in units of the fastest rate, so that nothing grows in them
# beyond what rounding bears.
_STEP = 0.5
# Exponentials of so many steps are taken together.
_TOGETHER = 4096
# Twice as many samples so often: beyond any time constant.
_MOST_DOUBLINGS = 60
# Gauss's two points within a step.
_GAUSS = np.sqrt(3) / 6
_PLACES = 0.5 - _GAUSS, 0.5 + _GAUSS


class Sampled(NamedTuple):
    """From sample to sample z' = a z + b u, and what that costs: [z u] weight [z u]ᵀ."""

    a: FloatArray
    b: FloatArray
    weight: FloatArray

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights of z, of z with u, and of u."""
        n = len(self.a)
        return self.weight[:n, :n], self.weight[:n, n:], self.weight[n:, n:]

    def gain(self, riccati: FloatArray) -> FloatArray:
        """K of u = −K z, where S is the cost from the next sample on."""
        _, cross, spent = self.parts
        found: FloatArray = np.linalg.solve(
            spent + self.b.T @ riccati @ self.b, self.b.T @ riccati @ self.a + cross.T
        ).astype(float)
        return found

    def before(self, riccati: FloatArray) -> tuple[FloatArray, FloatArray]:
        """K, and the S of this sample from that of the next (Joseph's form: a sum of squares)."""
        gain = self.gain(riccati)
        closed = self.a - self.b @ gain
        both = np.vstack([np.eye(len(self.a)), -gain])
        return gain, symmetric(closed.T @ riccati @ closed + both.T @ self.weight @ both)


def symmetric(matrix: FloatArray) -> FloatArray:
    """(M + Mᵀ)/2."""
    return (matrix + matrix.T) / 2


def continuous(a: FloatArray, b: FloatArray, q: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """K and S of 0 = AᵀS + SA − SB R⁻¹BᵀS + Q; r is diagonal. Raises NumericsError.

    Solved with states in multiples of what unit inputs bring them to, and inputs of their tolerances. Two of Newton's
    steps (Kleinman 1968) take what the eigenvectors' rounding left: what a gain costs is a sum of squares, so that
    small costs keep their digits beside large ones.
    """
    from scipy.linalg import LinAlgError, solve_continuous_are

    size, spent = state_measure(a, b), 1 / np.sqrt(np.diag(r))
    a, b = a * size / size[:, None], b * spent / size[:, None]
    weight = q * size * size[:, None]
    try:
        riccati: FloatArray = solve_continuous_are(a, b, weight, np.eye(b.shape[1]))
        for _ in range(2):
            gain = b.T @ riccati
            riccati = _spent(a - b @ gain, weight + gain.T @ gain)
    except (LinAlgError, ValueError) as error:
        raise NumericsError(f"the Riccati equation can't be solved: {error}") from None
    return (b.T @ riccati) * spent[:, None] / size, riccati / size / size[:, None]


def _spent(closed: FloatArray, weight: FloatArray) -> FloatArray:
    """∫ exp(Aᵀ t) W exp(A t) dt of a stable A, from a short step by doubling."""
    h = _STEP / max(_fastest(closed), np.finfo(float).tiny)
    moved, cost = _costed(_van_loan(closed, weight)[None] * h)
    return _summed(moved[0], cost[0])


def _summed(moved: FloatArray, cost: FloatArray) -> FloatArray:
    """Σ (Aᵏ)ᵀ W Aᵏ of an A whose powers vanish (Smith 1968, SIAM J. Appl. Math. 16(1))."""
    from scipy.linalg import LinAlgError

    for _ in range(_MOST_DOUBLINGS):
        change = symmetric(moved.T @ cost @ moved)
        moved, cost = moved @ moved, cost + change
        if np.abs(change).max() <= np.finfo(float).eps * np.abs(cost).max():
            return cost
    raise LinAlgError("what costs doesn't die out")


def sampled(
    a: FloatArray, b: FloatArray, q: FloatArray, r: FloatArray, period: float
) -> tuple[FloatArray, FloatArray]:
    """K and S of inputs that are held between samples; the integral between them is exact. Raises NumericsError.

    Newton's steps (Hewer 1971) take what rounding left, as in `continuous`.
    """
    from scipy.linalg import LinAlgError, solve_discrete_are

    size, spent = state_measure(a, b), 1 / np.sqrt(np.diag(r))
    a, b = a * size / size[:, None], b * spent / size[:, None]
    step = zero_order_hold(a, b, q * size * size[:, None], np.eye(b.shape[1]), period)
    try:
        state, cross, effort = step.parts
        riccati: FloatArray = solve_discrete_are(step.a, step.b, state, effort, s=cross)
        for _ in range(2):
            gain = step.gain(riccati)
            both = np.vstack([np.eye(len(a)), -gain])
            riccati = _summed(step.a - step.b @ gain, symmetric(both.T @ step.weight @ both))
    except (LinAlgError, ValueError) as error:
        raise NumericsError(f"the Riccati equation can't be solved: {error}") from None
    return step.gain(riccati) * spent[:, None] / size, riccati / size / size[:, None]


def zero_order_hold(a: FloatArray, b: FloatArray, q: FloatArray, r: FloatArray, period: float) -> Sampled:
    """From sample to sample, inputs held: exp of a short step (Van Loan 1978, sec. II), doubled to the period."""
    moving, weight = _with_inputs(a, b), _weights(q, r)
    doublings = int(np.ceil(np.log2(max(_fastest(a) * period / _STEP, 1.0))))
    moved, cost = _costed(_van_loan(moving, weight)[None] * (period / 2**doublings))
    moved, cost = moved[0], cost[0]
    for _ in range(doublings):
        moved, cost = moved @ moved, symmetric(cost + moved.T @ cost @ moved)
    return Sampled(moved[: len(a), : len(a)], moved[: len(a), len(a) :], cost)


def stepped(a: FloatArray, b: FloatArray, period: float) -> tuple[FloatArray, FloatArray]:
    """A and B from sample to sample, inputs held: exp([[A, B], [0, 0]] h)."""
    from scipy.linalg import expm

    moved = np.asarray(expm(_with_inputs(a, b) * period), float)
    return moved[: len(a), : len(a)], moved[: len(a), len(a) :]


def _fastest(rates: FloatArray) -> float:
    """The largest eigenvalue of one or many matrices (1/s)."""
    return float(np.abs(np.linalg.eigvals(rates)).max(initial=0.0))


def _with_inputs(a: FloatArray, b: FloatArray) -> FloatArray:
    """The rate of [z u] while u is held: [[A, B], [0, 0]]; also of many at once."""
    whole = np.zeros((*a.shape[:-2], a.shape[-1] + b.shape[-1], a.shape[-1] + b.shape[-1]))
    whole[..., : a.shape[-1], :] = np.concatenate([a, b], axis=-1)
    return whole


def _weights(q: FloatArray, r: FloatArray) -> FloatArray:
    from scipy.linalg import block_diag

    return np.asarray(block_diag(q, r), float)


def _van_loan(moving: FloatArray, weight: FloatArray) -> FloatArray:
    """[[−Fᵀ, W], [0, F]] of many F."""
    n = moving.shape[-1]
    whole = np.zeros((*moving.shape[:-2], 2 * n, 2 * n))
    whole[..., :n, :n] = -np.swapaxes(moving, -1, -2)
    whole[..., :n, n:] = weight
    whole[..., n:, n:] = moving
    return whole


def _costed(exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
    """exp(F h) and ∫ exp(F t)ᵀ W exp(F t) dt of many steps, from the exponents of `_van_loan`."""
    from scipy.linalg import expm

    n = exponents.shape[-1] // 2
    whole = np.asarray(expm(exponents), float)
    moved = whole[:, n:, n:]
    cost = np.swapaxes(moved, 1, 2) @ whole[:, :n, n:]
    return moved, (cost + np.swapaxes(cost, 1, 2)) / 2


@dataclass(frozen=True)
class Varying:
    """A(t) (K, n, n) and B(t) (K, n, m) at times (K,), joined by cubic splines between jumps."""

    time: FloatArray
    a: FloatArray
    b: FloatArray

    @cached_property
    def _pieces(self) -> list[tuple[float, float, CubicSpline]]:
        """From when to when, and the spline of both there; a time that stands twice is a jump."""
        from scipy.interpolate import CubicSpline

        both = np.concatenate([self.a, self.b], axis=-1)
        edges = [0, *(np.flatnonzero(np.diff(self.time) == 0) + 1).tolist(), len(self.time)]
        return [
            (self.time[first], self.time[last - 1], CubicSpline(self.time[first:last], both[first:last]))
            for first, last in pairwise(edges)
            if last - first > 1
        ]

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A and B at many times that are at no jump."""
        n, m = self.b.shape[1:]
        found = np.empty((len(times), n, n + m))
        for start, end, spline in self._pieces:
            inside = (times >= start) & (times <= end)
            if inside.any():
                found[inside] = spline(times[inside])
        return found[..., :n], found[..., n:]


def along(
    system: Varying, q: FloatArray, r: FloatArray, final: FloatArray, period: float | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (J,), K (J, m, n) and S (J, n, n) of −Ṡ = AᵀS + SA − SB R⁻¹BᵀS + Q backwards from S = `final`.

    Between two times the equation is linear in [X; Y], S = Y X⁻¹, with the Hamiltonian matrix; steps are
    exponentials of Magnus's fourth order at Gauss's two points (Blanes et al. 2009, eq. 254). With a period the inputs
    are held, and the times are the samples.
    """
    size = state_measure(np.abs(system.a).max(axis=0), np.abs(system.b).max(axis=0))
    spent = 1 / np.sqrt(np.diag(r))
    scaled = Varying(system.time, system.a * size / size[:, None], system.b * spent / size[:, None])
    weight, end = q * size * size[:, None], final * size * size[:, None]
    solve = _continuous_along if period is None else _sampled_along
    times, gains, riccati = solve(scaled, weight, end, period)
    return times, gains * spent[:, None] / size, riccati / size / size[:, None]


def _steps(start: float, end: float, fastest: float) -> FloatArray:
    """Times from start to end, so close that no rate turns or grows much between two of them."""
    return np.linspace(start, end, max(int(np.ceil((end - start) * fastest / _STEP)), 1) + 1)


def _magnus(rates: FloatArray, h: FloatArray) -> FloatArray:
    """Exponents of steps h (J,) from rates at both of Gauss's points, (2, J, n, n)."""
    first, second = rates
    step = h[:, None, None]
    return step / 2 * (first + second) - step**2 * _GAUSS / 2 * (first @ second - second @ first)


def _continuous_along(
    system: Varying, q: FloatArray, final: FloatArray, _: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for inputs that change at every instant, R = 1: by steps of [X; Y] from each time to the one before."""
    from scipy.linalg import expm

    times = system.time
    fastest = _fastest(_hamiltonian(system.a, system.b, q))
    riccati = np.empty((len(times), *q.shape))
    riccati[-1] = now = final
    n = len(q)
    for k in range(len(times) - 2, -1, -1):
        if times[k] < times[k + 1]:
            nodes = _steps(times[k + 1], times[k], -fastest)
            for exponents in np.array_split(_backward(system, q, nodes), max(len(nodes) // _TOGETHER, 1)):
                for moved in expm(exponents):
                    top = moved[:n, :n] + moved[:n, n:] @ now
                    now = symmetric(np.linalg.solve(top.T, (moved[n:, :n] + moved[n:, n:] @ now).T))
        riccati[k] = now
    return times, np.swapaxes(system.b, 1, 2) @ riccati, riccati


def _hamiltonian(a: FloatArray, b: FloatArray, q: FloatArray) -> FloatArray:
    """[[A, −B Bᵀ], [−Q, −Aᵀ]] of many, the rate of [X; Y]."""
    n = len(q)
    whole = np.zeros((len(a), 2 * n, 2 * n))
    whole[:, :n, :n], whole[:, n:, n:] = a, -np.swapaxes(a, 1, 2)
    whole[:, :n, n:], whole[:, n:, :n] = -b @ np.swapaxes(b, 1, 2), -q
    return whole


def _backward(system: Varying, q: FloatArray, nodes: FloatArray) -> FloatArray:
    """Exponents of the Hamiltonian's steps between nodes."""
    h = np.diff(nodes)
    rates = [_hamiltonian(*system.at(nodes[:-1] + place * h), q) for place in _PLACES]
    return _magnus(np.array(rates), h)


def _sampled_along(
    system: Varying, q: FloatArray, final: FloatArray, period: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same for inputs that are held between samples, R = 1: each sample's gain from the cost after it."""
    assert period is not None
    start, end = system.time[0], system.time[-1]
    count = int(np.ceil((end - start) / period - 1e-9))
    times = np.append(start + period * np.arange(count), end)
    m, fastest = system.b.shape[-1], _fastest(system.a)
    riccati = np.empty((count + 1, *q.shape))
    gains = np.zeros((count + 1, m, len(q)))
    riccati[-1] = final
    for k in range(count - 1, -1, -1):
        nodes = _steps(times[k], times[k + 1], fastest)
        step = _held_along(system, q, nodes)
        gains[k], riccati[k] = step.before(riccati[k + 1])
    gains[-1] = gains[-2]
    return times, gains, riccati


def _held_along(system: Varying, q: FloatArray, nodes: FloatArray) -> Sampled:
    """From one sample to the next over the steps between nodes."""
    h, n, m = np.diff(nodes), len(q), system.b.shape[-1]
    weight = _weights(q, np.eye(m))
    rates = [_van_loan(_with_inputs(*system.at(nodes[:-1] + place * h)), weight) for place in _PLACES]
    moved, cost = np.eye(n + m), np.zeros((n + m, n + m))
    for step, spent in zip(*_costed(_magnus(np.array(rates), h)), strict=True):
        cost = symmetric(cost + moved.T @ spent @ moved)
        moved = step @ moved
    return Sampled(moved[:n, :n], moved[:n, n:], cost)

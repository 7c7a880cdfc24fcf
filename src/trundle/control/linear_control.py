"""Which directions of a linearisation no input moves, and why: rolling constraints, integrals, or missing motors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt

from trundle.analysis.lie_brackets_casadi import growth
from trundle.analysis.lie_filtration import NamedField
from trundle.arrays import FloatArray
from trundle.control.linearization import NEAR, Linearization, along_tangent
from trundle.control.tangent import constraint_gradient, tangent_at
from trundle.mechanics.combinations import echelon, modulo, null_rows
from trundle.mechanics.elimination import ZERO
from trundle.model import Model
from trundle.model.guided import independent_rows
from trundle.model.manifold import residual_rows
from trundle.shown import Explained

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Uncontrollable:
    """Rows w with w x beyond the reach of every input: w B = 0, and w A is a combination of the rows.

    rows: (k, n), orthonormal where states are measured in multiples of `scale`, (n,). poles: (k,), the eigenvalues of
    A that no feedback moves (1/s).
    """

    rows: FloatArray
    scale: FloatArray
    poles: npt.NDArray[np.complex128]

    def lasting(self, states: Sequence[str]) -> list[str]:
        """The states that have most of it, where some of it doesn't die out by itself; else none."""
        if all(pole.real < -DIES * (1 + abs(pole)) for pole in self.poles):
            return []
        weight = np.abs(self.rows * self.scale).max(axis=0)
        return [name for name, size in zip(states, weight, strict=True) if size > 0.5 * weight.max()]


def uncontrollable(a: FloatArray, b: FloatArray) -> Uncontrollable:
    """The uncontrollable part of A (n, n), B (n, m).

    States to which no path of entries leads from an input are one part of it. The others are measured in what unit
    inputs bring them to within the time 1/ρ of the fastest, d = |A| d/ρ + |B| 1: then every row of (A/ρ, B) has the
    sum 1, whatever the units. There the span of B, AB, A²B, … is built orthonormally block by block, and a direction
    is new where it sticks out by more than 1e-9 (the controllability staircase: Van Dooren 1981, IEEE Transactions on
    Automatic Control 26(1), sec. III).
    """
    reached = _reached(a, b)
    inner, driven, scale = _measured(a[reached[:, None], reached], b[reached])
    span = _krylov(inner, driven)
    outside = np.setdiff1d(np.arange(len(a)), reached)
    count = len(reached) - span.shape[1]
    rows = np.zeros((count + len(outside), len(a)))
    if count:
        rows[:count, reached] = np.linalg.svd(span)[0][:, span.shape[1] :].T if span.size else np.eye(count)
    rows[range(count, len(rows)), outside] = 1.0
    # What nothing reaches has no measure of its own: it counts like what is hardest to reach, mostly a coordinate, too.
    measure = np.full(len(a), scale.min(initial=1.0))
    measure[reached] = scale
    own = rows @ (a * measure / measure[:, None]) @ rows.T
    return Uncontrollable(rows / measure, measure, np.linalg.eigvals(own).astype(complex))


def _reached(a: FloatArray, b: FloatArray) -> Indices:
    """Indices of the states to which a path of entries that aren't 0 leads from an input."""
    reached = np.abs(b).sum(axis=1) > 0
    for _ in range(len(a)):
        reached |= (a[:, reached] != 0).any(axis=1)
    return np.flatnonzero(reached)


def _measured(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A/ρ and B for states in multiples of d = |A| d/ρ + |B| 1, and d; inputs by their largest effect."""
    size, largest = np.abs(a), np.abs(b).max(axis=0, initial=0.0)
    b = b / np.where(largest > 0, largest, 1.0)
    # Twice the spectral radius makes the sum over paths converge; a second where the states only integrate.
    rho = max(2 * np.abs(np.linalg.eigvals(size)).max(initial=0.0), 1.0)
    scale = np.linalg.solve(np.eye(len(a)) - size / rho, np.abs(b).sum(axis=1))
    return a * scale / scale[:, None] / rho, b / scale[:, None], scale


def state_measure(a: FloatArray, b: FloatArray) -> FloatArray:
    """What unit inputs bring each state to within the time of the fastest, (n,); 1 for what no input reaches."""
    reached, size = _reached(a, b), np.ones(len(a))
    if len(reached):
        size[reached] = _measured(a[reached[:, None], reached], b[reached])[2]
    return size


def _krylov(a: FloatArray, b: FloatArray) -> FloatArray:
    """An orthonormal basis (n, k) of the span of B, AB, A²B, …"""
    basis = np.zeros((len(a), 0))
    block = b
    # Powers of A themselves would all turn to its largest eigenvector: only what a block adds is carried on.
    while basis.shape[1] < len(a):
        for _ in range(2):  # twice is enough for orthogonality to rounding (Parlett 1998, sec. 6.9)
            block = block - basis @ (basis.T @ block)
        left, values, _ = np.linalg.svd(block, full_matrices=False)
        new = left[:, values > ZERO]
        if not new.shape[1]:
            break
        basis = np.hstack([basis, new])
        block = a @ new
    return basis


StateDirection = Mapping[str, float]

# General configurations for the ranks of brackets lie this far (m, rad) from the state.
_SPREAD, _PLACES = 0.3, 3


# Real parts up to this share of 1 + |λ| neither die out nor grow: zeros that come twice are found to the root of
# rounding.
DIES = 1e-6


@dataclass(frozen=True)
class Controllability(Explained):
    """The combinations of states w · z that no input changes to first order, each as state -> coefficient.

    nonholonomic: the constraints allow no velocity along them, but Lie brackets of the allowed velocities reach them:
    manoeuvres do what no input does at once. integrals: constant whatever the mechanism does, as a wheel's angle that
    follows from a heading. unreached: all others; motors don't act on them. poles: eigenvalues (1/s) that feedback
    doesn't move. `size` is the number of states.
    """

    size: int
    has_inputs: bool
    nonholonomic: tuple[StateDirection, ...]
    integrals: tuple[StateDirection, ...]
    unreached: tuple[StateDirection, ...]
    poles: tuple[complex, ...]

    @property
    def rank(self) -> int:
        """How many directions inputs control."""
        return self.size - len(self.nonholonomic) - len(self.integrals) - len(self.unreached)

    @property
    def is_controllable(self) -> bool:
        """Whether inputs move the state in every direction."""
        return self.rank == self.size

    @property
    def is_stabilizable(self) -> bool:
        """Whether what inputs don't move dies out on its own."""
        return all(pole.real < -DIES * (1 + abs(pole)) for pole in self.poles)


def examine(about: Linearization) -> Controllability:
    """The uncontrollable directions of a linearisation, sorted by why inputs don't move them.

    Entries of A and B count as zero where a change of x₀, u₀ and p by 1e-9 would change them by as much: cos(90°) is 0.
    With q̇ = V(q) u and w in the span of uncontrollable rows: w · z is held by the constraints where w has coordinates
    only and w V = 0, and an integral of theirs where w vanishes on all Lie brackets of V's columns, too.
    """
    size = len(about.states)
    if not about.inputs:
        return Controllability(size, False, (), (), (), tuple(about.poles.tolist()))
    part = uncontrollable(*without_rounding(about))
    if not len(part.rows):
        return Controllability(size, True, (), (), (), ())
    model, scale = about.model, part.scale
    velocities, closure = _allowed(about)
    still = [k for k, name in enumerate(about.states) if name in {*model.speeds, *model.currents}]
    measured = part.rows * scale
    held = null_rows(np.hstack([measured[:, still], measured @ _span(velocities, scale)])) @ measured
    constant = null_rows(held @ _span(closure, scale)) @ held
    integrals = echelon(constant / scale, scale)
    nonholonomic = modulo(held / scale, integrals, scale)
    unreached = modulo(part.rows, echelon(held / scale, scale), scale)
    return Controllability(
        size,
        True,
        _directions(nonholonomic, about.states),
        _directions(integrals, about.states),
        _directions(unreached, about.states),
        tuple(part.poles.tolist()),
    )


def _directions(rows: FloatArray, names: Sequence[str]) -> tuple[StateDirection, ...]:
    return tuple(
        {name: float(value) for name, value in zip(names, row, strict=True) if value} for row in rows
    )


def without_rounding(about: Linearization) -> tuple[FloatArray, FloatArray]:
    """A and B with 0 where an entry isn't larger than what a state at a distance of 1e-9 makes of it."""
    if about.whole is not None and about.embedding is not None:
        a, b = without_rounding(about.whole)
        rows = [about.whole.states.index(name) for name in about.states]
        return a[rows] @ about.embedding, b[rows]
    near = _slopes_near(about)
    cleaned = []
    for k, matrix in enumerate((about.A, about.B)):
        noise = np.max([np.abs(other[k] - matrix) for other in near], axis=0)
        cleaned.append(np.where(np.abs(matrix) <= 10 * noise, 0.0, matrix))
    return cleaned[0], cleaned[1]


def _slopes_near(about: Linearization) -> list[tuple[FloatArray, FloatArray]]:
    """A and B at a few states and parameters within 1e-9 of a linearisation's, in the same coordinates."""
    model = about.model
    x, u = np.array(list(about.state.values())), np.array(list(about.input.values()))
    p = np.array(list(about.parameters.values()))
    rng = np.random.default_rng(0)
    gradients = []
    for _ in range(3):
        near = x + NEAR * (1 + np.abs(x)) * rng.uniform(-1, 1, x.size)
        beside = u + NEAR * (1 + np.abs(u)) * rng.uniform(-1, 1, u.size)
        close = p * (1 + NEAR * rng.uniform(-1, 1, p.size))
        rate, *slopes = model.rate_slopes.evaluate(near, beside, close)
        gradient = constraint_gradient(model, near, beside, close)
        gradients.append(along_tangent(tangent_at(model, near, rate, gradient, about.dependent), *slopes))
    return gradients


def _allowed(about: Linearization) -> tuple[FloatArray, FloatArray]:
    """Velocities of z that the constraints allow, and those with their Lie brackets, (n, ·); only coordinates move."""
    model = about.model
    x, p = np.array(list(about.state.values())), np.array(list(about.parameters.values()))
    q, fields = _velocity_fields(model, x, p, about.dependent)
    n = len(model.coordinates)
    general = x[:n] + np.random.default_rng(0).uniform(-_SPREAD, _SPREAD, (_PLACES, n))
    _, here = growth(fields, q, general, x[:n], n)
    coordinates = np.array([name not in {*model.speeds, *model.currents} for name in about.states])
    closure = np.where(coordinates[:, None], about.dual[:, :n] @ here.span[0].T, 0.0)
    return closure[:, [level == 1 for _, level in here.basis]], closure


def _velocity_fields(
    model: Model, x: FloatArray, p: FloatArray, dependent: Collection[str]
) -> tuple[ca.SX, list[NamedField]]:
    """The coordinates' symbols q, and ∂q̇/∂u_k over them for each independent speed u_k.

    `dependent`: the states that constraints are solved for, of which those that are speeds follow from the others.
    """
    n, count = len(model.coordinates), len(model.speeds)
    q, u = ca.SX.sym("q", n), ca.SX.sym("u", count)
    rest = [ca.DM.zeros(len(model.currents)), ca.DM.zeros(len(model.inputs)), ca.DM(p)]
    groups = [ca.vertcat(q, u, rest[0]), *rest[1:]]
    (rate,) = model.dynamics.casadi_function.call(groups)
    fields = ca.substitute(ca.jacobian(rate[:n], u), u, 0)
    solved = [k for k, name in enumerate(model.speeds) if name in dependent]
    free = [k for k in range(count) if k not in solved]
    if solved and model.manifold is not None:
        (residual,) = model.manifold.casadi_function.call(groups)
        rows = residual_rows(model.manifold, "velocity")
        slopes = ca.substitute(ca.jacobian(residual[rows], u), u, 0)
        numbers = np.asarray(ca.Function("rows", [q], [ca.densify(slopes)])(x[:n])).reshape(len(rows), count)
        kept = list(independent_rows(numbers[None]))
        fields = fields[:, free] - fields[:, solved] @ ca.solve(slopes[kept, solved], slopes[kept, free])
    return q, [NamedField(model.speeds[k], fields[:, j]) for j, k in enumerate(free)]


def _span(columns: FloatArray, scale: FloatArray) -> FloatArray:
    """The independent columns' span in the measure of the states, as orthonormal columns."""
    measured = columns / scale[:, None]
    return np.linalg.qr(measured / np.abs(measured).max(axis=0, initial=0.0))[0]

"""Which directions of a linearisation no input moves, and why: rolling constraints, integrals, or missing motors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from trundle.analysis.lie_brackets_casadi import growth
from trundle.analysis.lie_filtration import NamedField
from trundle.arrays import FloatArray
from trundle.control.linearization import NEAR, Linearization, along_tangent
from trundle.control.staircase import uncontrollable
from trundle.control.tangent import constraint_gradient, tangent_at
from trundle.mechanics.combinations import echelon, modulo, null_rows
from trundle.model import Model
from trundle.model.guided import independent_rows
from trundle.model.manifold import residual_rows
from trundle.shown import Explained

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

    Entries of A and B count as zero where a change of x₀ and u₀ by 1e-9 would change them by as much: cos(90°) is 0.
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
    """A and B at a few states within 1e-9 of a linearisation's, in the same coordinates."""
    model = about.model
    x, u = np.array(list(about.state.values())), np.array(list(about.input.values()))
    p = np.array(list(about.parameters.values()))
    rng = np.random.default_rng(0)
    gradients = []
    for _ in range(3):
        near = x + NEAR * (1 + np.abs(x)) * rng.uniform(-1, 1, x.size)
        beside = u + NEAR * (1 + np.abs(u)) * rng.uniform(-1, 1, u.size)
        rate, *slopes = model.rate_slopes.evaluate(near, beside, p)
        gradient = constraint_gradient(model, near, beside, p)
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

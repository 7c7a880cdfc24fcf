"""The programme behind `trundle.fastest`: direct collocation in reduced coordinates, solved by IPOPT.

min Σ h over the intervals (`intervals.py`), their ends being the next ones' begins, with all rates within limits and
the robot on its own side of a line before every obstacle. Derivatives are those of one interval, put together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.motion.fastest.intervals import Formulas, Layout, formulas
from trundle.scalars import SX

# IPOPT's steps at most: what converges at all seldom takes more than a hundred.
_ITERATIONS = 200
# Where the barrier begins for a guess drawn without regard to limits, and for one from a coarser grid.
_FAR, _NEAR = 0.1, 1e-3
# How far the points' own limits may be missed, as shares; what optimality may lack at a first look, and at the second.
_HELD, _COARSE, _FINE = 1e-9, 1e-4, 1e-5
# What is added to a Hessian's diagonal at most: steps that need more cost a hundred times as much, and lead nowhere.
_BENT = 1e8


@dataclass(frozen=True, eq=False)
class Nodes:
    """What a programme moves: states (n + 1, ·), controls (n, ·), separating lines (n, ·), the durations of the
    phases' intervals."""

    states: FloatArray
    controls: FloatArray
    lines: FloatArray
    durations: FloatArray

    @property
    def packed(self) -> FloatArray:
        """One vector, node by node."""
        inner = np.concatenate([self.states[:-1], self.controls, self.lines], axis=1)
        return np.concatenate([inner.ravel(), self.states[-1], self.durations])

    @classmethod
    def unpacked(cls, z: FloatArray, shape: Layout) -> Nodes:
        """The nodes of such a vector."""
        n, (states, controls, lines) = shape.intervals, shape.counts
        width = states + controls + lines
        inner = z[: n * width].reshape(n, width)
        x = np.concatenate([inner[:, :states], z[None, n * width : n * width + states]])
        at = states + controls
        return cls(x, inner[:, states:at], inner[:, at:], z[n * width + states :])

    def refined(self, shape: Layout, finer: tuple[int, ...]) -> Nodes:
        """The same of a shape on more intervals, linear between nodes."""
        phases = shape.phases
        old, new = _shares(phases), _shares(finer)
        ratio = np.array(phases) / np.array(finer)
        states = np.stack([np.interp(new, old, column) for column in self.states.T], axis=1)
        controls, lines = (
            part[np.clip(np.searchsorted(old, new[:-1], "right") - 1, 0, len(part) - 1)]
            for part in (self.controls, self.lines)
        )
        scale = np.repeat(ratio, finer)[:, None]
        k, (p, q) = len(shape.basis), shape.degrees
        more = 0 if shape.steered else 1
        powers = np.concatenate([np.zeros(3), np.repeat(np.arange(p) + more, k), np.arange(max(q, 0)) + 1])
        last = np.concatenate([[p + more] * k, [q + 1] if shape.steered else []])
        return Nodes(
            states * np.concatenate([scale, scale[-1:]]) ** powers,
            controls * scale**last,
            lines,
            self.durations * ratio,
        )


def _shares(phases: tuple[int, ...]) -> FloatArray:
    """Where nodes are, counted in phases."""
    return np.concatenate([[0.0], *(i + np.arange(1, n + 1) / n for i, n in enumerate(phases))])


# IPOPT's options that push a guess away from its bounds.
_PUSHES = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac")


def settings(warm: bool) -> dict[str, str | float]:
    """IPOPT's options, `warm` where guesses are near to what is sought."""
    options: dict[str, str | float] = {
        "print_level": 0,
        "sb": "yes",
        "tol": _FINE if warm else _COARSE,
        "constr_viol_tol": _HELD,
        "max_iter": _ITERATIONS,
        "mu_init": _NEAR if warm else _FAR,
        "nlp_scaling_method": "none",
    }
    return options | dict.fromkeys(_PUSHES, _NEAR) if warm else options


class CollocationProblem:
    """IPOPT's solver for a shape; `solved` takes numbers.

    `near` (n, obstacles) tells on which intervals obstacles count, `warm` whether guesses are near to what is sought.
    """

    def __init__(self, shape: Layout, near: BoolArray, warm: bool) -> None:
        """Formulas and derivatives of one interval, put together for all of them."""
        import casadi as ca

        self.shape, self.near = shape, near
        self.one = formulas(replace(shape, phases=(1,)))
        problem, derivatives = assembled(self.one, shape, self._active)
        options = settings(warm) | {"max_hessian_perturbation": _BENT}
        self.solver = ca.nlpsol(
            "fastest", "ipopt", problem, {"print_time": False, **derivatives, "ipopt": options}
        )

    @property
    def _active(self) -> BoolArray:
        """(n, rows): which rows count on which intervals."""
        always = np.ones((len(self.near), self.one.always), dtype=bool)
        return np.concatenate([always, np.repeat(self.near, self.one.blocks, axis=1)], axis=1)

    def solved(
        self,
        guess: Nodes,
        bounds: tuple[Nodes, Nodes],
        numbers: FloatArray,
        paces: tuple[FloatArray, FloatArray],
    ) -> tuple[Nodes, bool]:
        """The nodes of a local optimum beside a guess, between the least and the most, and whether it is one.

        `paces`: what rows of the base's own limits are at least and at most on the intervals, (n, rows) each.
        """
        lower, upper = self.one.between(self.shape, paces)
        far = np.repeat(~self.near, 2, axis=1)  # lines that nothing asks for stay where they are
        for bound in bounds:
            bound.lines[far] = guess.lines[far]
        answer = self.solver(
            x0=guess.packed,
            p=numbers,
            lbx=bounds[0].packed,
            ubx=bounds[1].packed,
            lbg=lower[self._active],
            ubg=upper[self._active],
        )
        return Nodes.unpacked(np.array(answer["x"]).ravel(), self.shape), bool(self.solver.stats()["success"])


@lru_cache(maxsize=4)
def _programme(shape: Layout, near: bytes, warm: bool) -> CollocationProblem:
    """The programme of a shape, kept for starts that differ in numbers alone; `near` is the array's bytes."""
    rows = np.frombuffer(near, dtype=bool).reshape(shape.intervals, len(shape.obstacles))
    return CollocationProblem(shape, rows, warm)


def programme(shape: Layout, near: BoolArray, warm: bool) -> CollocationProblem:
    """IPOPT's solver for a shape, with obstacles on those intervals (n, obstacles) on which they are near."""
    return _programme(shape, near.tobytes(), warm)


def forget() -> None:
    """Leave the programmes that are kept for further starts: a benchmark's tries are to be alike."""
    _programme.cache_clear()
    _derivatives.cache_clear()


def _places(shape: Layout) -> IntArray:
    """(n, width): which variables of all an interval's are: its own, the next node's states, two phases' durations."""
    n, (states, controls, lines) = shape.intervals, shape.counts
    own = states + controls + lines
    owner = np.repeat(np.arange(len(shape.phases)), shape.phases)
    durations = n * own + states + np.stack([owner, np.append(owner[1:], owner[-1])], axis=1)
    begins = np.arange(n)[:, None] * own
    return np.concatenate([begins + np.arange(own + states), durations], axis=1)


@lru_cache(maxsize=4)
def _derivatives(one: Formulas) -> tuple[SX, SX, SX, SX, SX]:
    """Of one interval's rows and cost; the upper half of the Hessian with its factor and multipliers."""
    import casadi as ca

    factor, multipliers = ca.SX.sym("f"), ca.SX.sym("l", one.rows.numel())
    bent = ca.triu(ca.hessian(factor * one.cost + ca.dot(multipliers, one.rows), one.local)[0])
    return ca.jacobian(one.rows, one.local), ca.jacobian(one.cost, one.local), bent, factor, multipliers


def assembled(one: Formulas, shape: Layout, kept: BoolArray) -> tuple[dict[str, SX], dict[str, SX]]:
    """The problem of all intervals in IPOPT's terms, and the functions of its derivatives."""
    import casadi as ca

    count, n = one.rows.numel(), shape.intervals
    where = _places(shape)
    size, rows = int(where.max()) + 1, int(kept.sum())
    slopes, falls, bent, factor, multipliers = _derivatives(one)
    z, p = ca.MX.sym("z", size), ca.MX.sym("p", one.numbers.numel())
    f, g = ca.MX.sym("f"), ca.MX.sym("g", rows)
    each = ca.reshape(z[where.ravel().tolist()], where.shape[1], n)

    def mapped(out: SX, *more: SX) -> SX:
        inputs = [one.local, one.numbers, *([factor, multipliers] if more else [])]
        return ca.Function("piece", inputs, [out]).map(n)(each, ca.repmat(p, 1, n), *more)

    picked = np.flatnonzero(kept.ravel()).tolist()
    held, cost = ca.vec(mapped(one.rows))[picked], ca.sum2(mapped(one.cost))
    owners = np.where(kept, np.cumsum(kept).reshape(kept.shape) - 1, -1)
    every = ca.MX(ca.Sparsity.triplet(count * n, 1, picked, [0] * rows), g)
    lagrange = ca.repmat(f, 1, n), ca.reshape(ca.densify(every), count, n)
    jacobian = _summed(slopes, mapped, owners, where, (rows, size))
    gradient = _summed(falls, mapped, np.zeros((n, 1), int), where, (1, size))
    hessian = _summed(bent, lambda out: mapped(out, *lagrange), where, where, (size, size))
    derivatives = {
        "jac_g": ca.Function("jac_g", [z, p], [held, jacobian]),
        "grad_f": ca.Function("grad_f", [z, p], [cost, ca.densify(gradient).T]),
        "hess_lag": ca.Function("hess_lag", [z, p, f, g], [hessian]),
    }
    return {"x": z, "f": cost, "g": held, "p": p}, derivatives


def _summed(
    block: SX, mapped: Callable[[SX], SX], rows: IntArray, columns: IntArray, shape: tuple[int, int]
) -> SX:
    """The sparse matrix that the intervals' blocks add up to, at their rows (−1: left out) and columns."""
    import casadi as ca
    from scipy.sparse import csc_matrix

    values = mapped(ca.vertcat(*block.nonzeros()))
    row, column = (np.array(part, dtype=int) for part in block.sparsity().get_triplet())
    at, to = rows[:, row].ravel(), columns[:, column].ravel()
    # what stands beside the diagonal of a block and comes to lie on that of the whole counts twice
    twice = 1.0 + ((at == to) & np.tile(row != column, len(columns)) & (rows is columns))
    counted = at >= 0
    places, inverse = np.unique((to * shape[0] + at)[counted], return_inverse=True)
    taken = csc_matrix((twice[counted], (inverse, np.flatnonzero(counted))), (len(places), len(at)))
    sparsity = ca.Sparsity.triplet(*shape, (places % shape[0]).tolist(), (places // shape[0]).tolist())
    return ca.MX(sparsity, ca.mtimes(ca.DM(taken), ca.vec(values)))

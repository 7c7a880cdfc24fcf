"""The programme of a fastest motion by Sleipnir: the same variables, rows and bounds from the same guess.

CasADi's formulas of one interval are worked out on Sleipnir's variables, operation by operation, for all intervals.
Sleipnir's wheel (`pip install sleipnirgroup-jormungandr`) is made for glibc 2.39 and newer.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

from trundle.motion.fastest.intervals import Formulas, formulas
from trundle.motion.fastest.problem import Problem
from trundle.motion.fastest.programme import Nodes

# As IPOPT has it at a first look.
_TOLERANCE = 1e-4


class Optimum(NamedTuple):
    """Seconds from a guess to the optimum, and those of the solve, derivatives in both; the motion's duration (s); how
    it ended.
    """

    seconds: float
    solving: float
    duration: float
    status: str


def missing() -> str:
    """Why Sleipnir can't be measured here; nothing where it can."""
    try:
        import_module("jormungandr.optimization")
    except ImportError as problem:
        return str(problem)
    return ""


def solved(problem: Problem, n: int, guess: Nodes) -> Optimum:
    """The optimum on n intervals beside a guess."""
    autodiff, optimization = (import_module(f"jormungandr.{room}") for room in ("autodiff", "optimization"))
    shape = problem.shape((n,))
    one = formulas(replace(shape, phases=(1,)))
    began = time.perf_counter()
    programme = optimization.Problem()
    z = [programme.decision_variable() for _ in guess.packed]
    bounds = [bound.packed for bound in problem.bounds((n,), guess)]
    for variable, value, least, most in zip(z, guess.packed, *bounds, strict=True):
        variable.set_value(float(value))
        _hold(programme, variable, least, most)
    function, numbers = interval(one), problem.numbers(1.0).tolist()
    costs = []
    own = sum(shape.counts)
    for k in range(n):
        # an interval's own variables, the next node's states, and the duration of both
        inside = [*z[k * own : (k + 1) * own + shape.counts[0]], z[-1], z[-1]]
        rows, (cost,) = worked_out(function, (inside, numbers), autodiff)
        costs.append(cost)
        for row, least, most in zip(rows, one.lower, one.upper, strict=True):
            _hold(programme, row, least, most)
    programme.minimize(sum(costs[1:], costs[0]))
    posed = time.perf_counter()
    status = programme.solve(tolerance=_TOLERANCE)
    ended = time.perf_counter()
    return Optimum(ended - began, ended - posed, n * z[-1].value() * problem.second, status.name)


def _hold(programme: Any, value: Any, least: float, most: float) -> None:
    """Bounds that aren't infinite."""
    if least == most:
        programme.subject_to(value == float(least))
        return
    if math.isfinite(least):
        programme.subject_to(value >= float(least))
    if math.isfinite(most):
        programme.subject_to(value <= float(most))


def interval(one: Formulas) -> Any:
    """The rows and the cost of an interval by its variables and the numbers that it takes, as CasADi's function."""
    import casadi as ca

    return ca.Function("interval", [one.local, one.numbers], [one.rows, one.cost])


def worked_out(function: Any, inputs: Sequence[Sequence[Any]], of: Any = math) -> list[list[Any]]:
    """The outputs of a CasADi function of scalars on numbers of any kind; `of` has their sqrt, sin, cos and so on."""
    import casadi as ca

    does = _operations(of)
    work: dict[int, Any] = {}
    outputs: list[list[Any]] = [[0.0] * function.nnz_out(k) for k in range(function.n_out())]
    for k in range(function.n_instructions()):
        code, to = function.instruction_id(k), function.instruction_output(k)
        taken = function.instruction_input(k)
        if code == ca.OP_INPUT:
            work[to[0]] = inputs[taken[0]][taken[1]]
        elif code == ca.OP_CONST:
            work[to[0]] = function.instruction_constant(k)
        elif code == ca.OP_OUTPUT:
            outputs[to[0]][to[1]] = work[taken[0]]
        else:
            work[to[0]] = does[code](*(work[place] for place in taken))
    return outputs


def _operations(of: Any) -> dict[int, Callable[..., Any]]:
    """What CasADi's operations do to numbers."""
    import casadi as ca

    return {
        ca.OP_ASSIGN: lambda x: x, ca.OP_NEG: operator.neg, ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub,
        ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv, ca.OP_SQ: lambda x: x * x,
        ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_INV: lambda x: 1.0 / x, ca.OP_SQRT: of.sqrt, ca.OP_SIN: of.sin,
        ca.OP_COS: of.cos, ca.OP_POW: of.pow, ca.OP_CONSTPOW: of.pow,
    }  # fmt: skip

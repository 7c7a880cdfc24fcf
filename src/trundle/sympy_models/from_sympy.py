"""from_sympy(method) -> Model: a mechanism derived by SymPy, as the same kind of model that descriptions give.

SymPy's mass matrix and forcing are taken as they are, never simplified and never inverted: their entries become
graphs (`sympy_graph`), and the linear systems are solved inside the program, in an order found on numbers
(`guided`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import casadi as ca
import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.linear import apply, product
from trundle.mechanics.quantities import Quantities, Quantity, QuantityKind
from trundle.model.closures import projected
from trundle.model.guided import solve_guided, solve_with_multipliers
from trundle.model.manifold import residual_labels
from trundle.model.model import ConstraintSummary, Model
from trundle.model.symbols import SymbolSamples, column, entries, take_samples
from trundle.program import Program, trace
from trundle.scalars import SX, Scalar, largest, minus, plus
from trundle.sympy_models.sympy_forms import Places, PointOrBody, formed_programs, places
from trundle.sympy_models.sympy_graph import Converter
from trundle.sympy_models.sympy_method import (
    TIME,
    FormedEquations,
    Leaf,
    SympyExpression,
    SympyMethod,
    name_of,
    read_method,
)
from trundle.sympy_models.sympy_names import ModelNames, declare, report_unknown, unit_texts

_RESIDUAL = "constraint_residual"


@dataclass(frozen=True)
class Accelerations:
    """q̇, u̇ and the multipliers at one state, what was found out about the constraints, and M and f of M u̇ = f + Aᵀλ
    of the speeds that are solved for.
    """

    q_dot: list[Scalar]
    u_dot: list[Scalar]
    multipliers: list[Scalar]
    rank: int
    mass: list[list[Scalar]]
    force: list[Scalar]
    undetermined: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """M u̇ = f, the rows A u̇ = b, the residuals of the configuration's and the velocity's constraints, and states that
    meet them; all in the program's scalars.
    """

    mass: list[list[Scalar]]
    force: list[Scalar]
    rows: list[list[Scalar]]
    right: list[Scalar]
    holonomic: list[Scalar]
    velocity: list[Scalar]
    samples: SymbolSamples

    @property
    def residuals(self) -> list[Scalar]:
        """All that the motion keeps at zero."""
        return [*self.holonomic, *self.velocity]


class SymbolColumns(NamedTuple):
    """The columns of symbols of the state (q, u, extra states, time), the inputs and the parameters."""

    state: SX
    commands: SX
    parameters: SX

    @property
    def clock(self) -> SX:
        return self.state[self.state.numel() - 1]


@dataclass(frozen=True)
class SolvedMethod:
    """All that a method said and what was solved of it, ready to be traced."""

    equations: FormedEquations
    names: ModelNames
    symbols: SymbolColumns
    system: System
    motion: Accelerations
    extra: list[Scalar]
    outputs: dict[str, Scalar]
    quantities: Quantities
    places: Places

    def traced(self, title: str, label: str, labels: Sequence[str], values: Sequence[Scalar]) -> Program:
        """A program of the model's groups with one output group."""
        names, symbols = self.names, self.symbols
        groups = {
            "state": (names.states, symbols.state[: len(names.states)]),
            "input": (names.inputs, symbols.commands),
            "parameter": (tuple(names.parameters), symbols.parameters),
        }
        return trace(title, groups, {label: (tuple(labels), column(values))})


def from_sympy(
    method: SympyMethod,
    *,
    inputs: Sequence[Leaf] | Mapping[str, Leaf] = (),
    outputs: Mapping[str, SympyExpression] | None = None,
    extra_states: Mapping[Leaf, SympyExpression] | None = None,
    parameters: Mapping[Leaf, float] | None = None,
    units: Mapping[Leaf, str] | None = None,
    points: Mapping[str, PointOrBody] | None = None,
    origin: PointOrBody = None,
    name: str = "sympy_model",
) -> Model:
    """Take the equations of motion that SymPy has formed, as a `Model`.

    Kane: K q̇ = k and M u̇ = f, with dependent speeds by their own rows. Lagrange: M q̈ = f + Aᵀλ, A q̈ = b; λ are
    outputs under SymPy's names (lam1, ...), split by least norm where constraints are redundant. Nothing is simplified
    and nothing is inverted; the linear systems are solved inside the program. The output `constraint_residual` is the
    largest residual of all configuration and velocity constraints.

    States have SymPy's names; the speeds of LagrangesMethod, q̇, have `_dot` behind the coordinate's. Where the
    equations depend on time itself, it is a state, `t`, with rate 1 that starts at 0 if not told otherwise: runs need
    no input for it, and linearisations show what changes with it. Jumps in it are not looked for.

    KanesMethod's default solver divides by pivots that may be zero upright or straight: give it
    `constraint_solver="CRAMER", kd_eqs_solver="CRAMER"` there.

    Parameters
    ----------
    method : KanesMethod, LagrangesMethod or System
        After `kanes_equations`, `form_lagranges_equations` or `form_eoms`; it need not be simplified.
    inputs : sequence of symbols, or mapping of name to symbol
        Symbols or functions of time that are given from outside.
    outputs : mapping of name to expression, optional
        Expressions of states, their rates, inputs, parameters and multipliers.
    extra_states : mapping of symbol to expression, optional
        The rate of each further state, such as the current of a motor.
    parameters : mapping of symbol (or its name) to float, optional
        A number in SI for every constant.
    units : mapping of symbol (or its name) to str, optional
        The SI unit of a state, input or output, such as "rad/s": for labels, and to check the dimension of values that
        are given as text ("30 deg").
    points : mapping of name to Point, (Point, ReferenceFrame) or body, optional
        What `model.frame(name)` and pictures know: a point alone doesn't turn, a body is its centre of mass.
    origin : Point, optional
        Where the points' positions begin; a System has its own.
    name : str
        The model's name, for titles and files.

    Returns
    -------
    Model
        As `derive` gives it, without a description. `model.mass_matrix` and `model.bias` are SymPy's mass matrix and
        minus its forcing where inputs and further states are 0, of the independent speeds.

    Raises
    ------
    InputError
        For equations not yet formed, undeclared symbols, parameters without a value, functions that programs don't
        have, speeds without inertia, and units that aren't SI.

    Examples
    --------
    >>> import sympy as sp
    >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
    >>> x, m, k = dynamicsymbols("x"), *sp.symbols("m k")
    >>> spring = LagrangesMethod(m * x.diff() ** 2 / 2 - k * x**2 / 2, [x])
    >>> _ = spring.form_lagranges_equations()
    >>> trundle.from_sympy(spring, parameters={m: 2.0, k: 8.0}).states
    ('x', 'x_dot')

    References
    ----------
    T. R. Kane, D. A. Levinson, *Dynamics: Theory and Applications*, McGraw-Hill, 1985.
    """
    start = time.perf_counter()
    equations = read_method(method)
    names = declare(equations, inputs, outputs or {}, extra_states or {}, parameters or {})
    symbols = SymbolColumns(
        ca.SX.sym("x", len(names.states) + 1),
        ca.SX.sym("u", len(names.inputs)),
        ca.SX.sym("p", len(names.parameters)),
    )
    leaves = names.leaves(*symbols)
    convert = Converter(leaves if names.declares_time else {**leaves, TIME: symbols.clock})
    q_dot = _coordinate_rates(equations, convert, symbols, names)
    system = _converted(equations, convert, symbols, names)
    motion = (_with_multipliers if equations.multipliers or not system.rows else _with_dependent_speeds)(
        system, names, q_dot
    )
    _know_rates(equations, convert, motion, symbols)
    extra = [convert(rate) for rate in (extra_states or {}).values()]
    _know(convert, [_rate_of(symbol) for symbol in extra_states or {}], extra)
    shown = {label: convert(expression) for label, expression in (outputs or {}).items()}
    where = places(points or {}, equations, origin, convert, partial(_numbers, symbols, names))
    report_unknown(convert.unknown, names)
    _check_free(where, names, shown)
    shown |= where.outputs
    shown |= dict(zip(names.multipliers, motion.multipliers, strict=True))
    shown[_RESIDUAL] = largest(map(ca.SX, system.residuals))
    if convert.met(TIME) and not names.declares_time:
        names = names.with_clock(shown)
    texts = unit_texts(units or {}, (*names.states, *names.inputs, *shown))
    quantities = _quantities(names, shown, texts, where.outputs)
    solved = SolvedMethod(equations, names, symbols, system, motion, extra, shown, quantities, where)
    return _model(name, solved, time.perf_counter() - start)


def _numbers(symbols: SymbolColumns, names: ModelNames, values: Sequence[Scalar]) -> FloatArray:
    """Expressions' values at three states of no particular kind, (values, 3)."""
    rng, parameters = np.random.default_rng(0), list(names.parameters.values())
    known = ca.Function("values", [symbols.state, symbols.commands, symbols.parameters], [column(values)])
    drawn = [rng.uniform(0.2, 0.8, (column.numel(), 3)) for column in (symbols.state, symbols.commands)]
    return np.array(known(*drawn, np.repeat(np.array(parameters)[:, None], 3, axis=1)))


def _check_free(where: Places, names: ModelNames, shown: Mapping[str, object]) -> None:
    """Raise InputError where a point's coordinate has the name of something else."""
    for name in where.outputs:
        if name in (*names.states, *names.inputs, *names.parameters, *shown):
            raise InputError(f"'{name}' would be a point's coordinate, and is something else", key="points")


def _coordinate_rates(
    equations: FormedEquations, convert: Converter, symbols: SymbolColumns, names: ModelNames
) -> list[Scalar]:
    """q̇ from K q̇ = k, or the speeds themselves."""
    n = len(equations.q)
    if equations.kinematic is None:
        return [symbols.state[n + i] for i in range(n)]
    matrix = [list(map(convert, row)) for row in equations.kinematic[0]]
    right = [[convert(entry)] for entry in equations.kinematic[1]]
    report_unknown(convert.unknown, names)
    # Mostly q̇ = u: then K is the identity, and there is nothing to solve.
    plain = [[entry if isinstance(entry, (int, float)) else None for entry in row] for row in matrix]
    if plain == np.eye(n).tolist():
        rates = [value for (value,) in right]
    else:
        empty = ca.SX(0, 1)
        samples = take_samples(symbols, (n, len(equations.u)), list(names.parameters.values()), empty, empty)
        labels = [f"{coordinate}_dot" for coordinate in names.coordinates]
        solved = solve_guided(matrix, right, samples.of(matrix), labels, "the coordinates' rates")
        rates = [value for (value,) in solved]
    _know(convert, [_rate_of(symbol) for symbol in equations.q], rates)
    return rates


def _converted(
    equations: FormedEquations, convert: Converter, symbols: SymbolColumns, names: ModelNames
) -> System:
    """The equations' entries as graphs, with states at which ranks and pivots are decided."""
    mass, rows = ([list(map(convert, row)) for row in matrix] for matrix in (equations.mass, equations.rows))
    force, right = list(map(convert, equations.forcing)), list(map(convert, equations.right))
    holonomic, velocity = list(map(convert, equations.holonomic)), list(map(convert, equations.velocity))
    report_unknown(convert.unknown, names)
    split = len(equations.q), len(equations.u)
    numbers = list(names.parameters.values())
    samples = take_samples(symbols, split, numbers, column(holonomic), column(velocity))
    return System(mass, force, rows, right, holonomic, velocity, samples)


def _with_multipliers(system: System, names: ModelNames, q_dot: list[Scalar]) -> Accelerations:
    """u̇ and λ of M u̇ − Aᵀλ = f, A u̇ = b, all multipliers shown."""
    labels = names.speeds, names.multipliers
    solution = solve_with_multipliers(
        system.mass, system.force, system.rows, system.right, system.samples, labels
    )
    loose = tuple(names.multipliers[row] for row in solution.undetermined)
    rank = len(solution.kept)
    return Accelerations(q_dot, solution.rates, solution.multipliers, rank, system.mass, system.force, loose)


def _with_dependent_speeds(system: System, names: ModelNames, q_dot: list[Scalar]) -> Accelerations:
    """u̇ of Kane's constrained equations: u̇_d = B_d⁻¹ (b − B_i u̇_i) put into the rows of the independent speeds.

    SymPy has projected the rows already, M = Sᵀ M_all with S = [1; −B_d⁻¹ B_i], so what is left to solve, M S, is
    the mass matrix of the independent speeds and positive definite.
    """
    count, samples = len(system.force), system.samples
    dependent = [row[count:] for row in system.rows]
    known = [[value, *row[:count]] for value, row in zip(system.right, system.rows, strict=True)]
    solved = solve_guided(
        dependent, known, samples.of(dependent), names.speeds[count:], "the dependent speeds' rates"
    )
    offset = [*([0] * count), *(row[0] for row in solved)]
    unit = [[int(i == j) for j in range(count)] for i in range(count)]
    basis = [*unit, *([minus(0, entry) for entry in row[1:]] for row in solved)]
    reduced = product(system.mass, basis)
    driven = [[minus(f, g)] for f, g in zip(system.force, apply(system.mass, offset), strict=True)]
    independent = solve_guided(reduced, driven, samples.of(reduced), names.speeds[:count], "accelerations")
    moved = apply(basis, [value for (value,) in independent])
    u_dot = [plus(v, w) for v, w in zip(moved, offset, strict=True)]
    return Accelerations(q_dot, u_dot, [], len(system.rows), reduced, [f for (f,) in driven])


def _know(convert: Converter, leaves: Sequence[Leaf], values: Sequence[Scalar]) -> None:
    """Let the converter know more leaves; a leaf that is a state already stays one."""
    for leaf, value in zip(leaves, values, strict=True):
        if leaf is not None:
            convert.leaves.setdefault(leaf, value)


def _know_rates(
    equations: FormedEquations, convert: Converter, motion: Accelerations, symbols: SymbolColumns
) -> None:
    """u̇, q̈ = ∂q̇/∂(q, u, t) · (q̇, u̇, 1) and λ, for outputs and the rates of extra states."""
    _know(convert, [_rate_of(symbol) for symbol in equations.u], motion.u_dot)
    # The chain rule along the motion by one directional derivative: cheaper than the whole Jacobian.
    part = ca.vertcat(symbols.state[: len(equations.q) + len(equations.u)], symbols.clock)
    along = column([*motion.q_dot, *motion.u_dot, 1])
    second = ca.jtimes(column(motion.q_dot), part, along)
    twice = [_rate_of(_rate_of(symbol)) for symbol in equations.q]
    _know(convert, twice, [second[i] for i in range(len(twice))])
    _know(convert, equations.multipliers, motion.multipliers)


def _rate_of(symbol: Leaf) -> Leaf:
    """The time derivative of a function of time; None of a plain symbol, which has none."""
    if symbol is None or getattr(symbol, "is_Symbol", False):
        return None
    return symbol.diff(TIME)


def _quantities(
    names: ModelNames, outputs: Iterable[str], units: Mapping[str, str], lengths: Iterable[str]
) -> Quantities:
    """What each name stands for, as far as SymPy says it; units where they were given."""
    known = {"time": "s", **dict.fromkeys(names.clock, "s"), **dict.fromkeys(lengths, "m"), **units}
    groups: dict[QuantityKind, Iterable[str]] = {
        "time": ("time", *names.clock),
        "coordinate": names.coordinates,
        "speed": names.speeds,
        "command": names.inputs,
        "residual": (_RESIDUAL,),
        "other": (*names.extra, *outputs),
    }
    return Quantities.gather(
        Quantity(name, known.get(name, ""), kind) for kind, group in groups.items() for name in group
    )


def _model(name: str, solved: SolvedMethod, seconds: float) -> Model:
    """The model of what was found, its programs traced."""
    names, motion, symbols, system = solved.names, solved.motion, solved.symbols, solved.system
    rates = [*motion.q_dot, *motion.u_dot, *solved.extra, *(1 for _ in names.clock)]
    dynamics = solved.traced("dynamics", "rate", names.states, rates)
    manifold = projection = None
    if system.residuals:
        split = len(solved.equations.q), len(solved.equations.u)
        moved = projected(entries(symbols.state), split, system.holonomic, system.velocity, system.samples)
        labels = residual_labels(len(system.holonomic), len(system.velocity))
        manifold = solved.traced("manifold", "residual", labels, system.residuals)
        projection = solved.traced("projection", "state", names.states, moved[: len(names.states)])
    return Model(
        robot=None,
        name=name,
        coordinates=names.coordinates,
        speeds=names.speeds,
        currents=(*names.extra, *names.clock),
        inputs=names.inputs,
        outputs=tuple(solved.outputs),
        parameters=dict(names.parameters),
        quantities=solved.quantities,
        mobility=None,
        constraints=ConstraintSummary(len(solved.equations.rows), motion.rank, motion.undetermined),
        dynamics=dynamics,
        audited=dynamics,
        observe=solved.traced("observe", "output", tuple(solved.outputs), list(solved.outputs.values())),
        stiff=bool(solved.extra),
        derive_seconds=seconds,
        manifold=manifold,
        projection=projection,
        dependent=tuple(name_of(symbol) for symbol in solved.equations.dependent),
        origin={"sympy": solved.equations.kind, "name": name, **solved.places.record},
        formed=formed_programs(solved),
    )

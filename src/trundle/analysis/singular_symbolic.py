"""Singular configurations as formulas: determinants in the description's own names, and the angles where they vanish.

SymPy is imported here only, when someone asks for it. Every formula is held against the numbers before it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import sympy

from trundle.analysis.singular import (
    MOTORS,
    WHEELS,
    Matrices,
    TaskFrame,
    allowed,
    decisive_coordinates,
    rank_tasks,
)
from trundle.analysis.singularity import SINGULAR, box
from trundle.analysis.velocity_maps import VelocityMaps, tip_of, velocity_maps
from trundle.formulas.algebra.writing import exactly
from trundle.mechanics.elimination import eliminate, generic_rank, plan_constant_pivots
from trundle.mechanics.frames import world_jacobian
from trundle.model.classification import rolling
from trundle.model.guided import independent_rows
from trundle.model.mechanism import Mechanism
from trundle.shown import Explained

# Determinants of more rows than this are no formulas that anyone would read.
_LARGEST = 4
# Nor are those whose entries have more operations than this together.
_MOST_OPERATIONS = 4000
# Multiplied out they may have so many; what anyone reads has up to a hundred, and folding grows with their square.
_MOST_EXPANDED = 1000
# Minors beyond this many are no list that anyone would read; their number grows as binomials do.
_MOST_MINORS = 12


@dataclass(frozen=True)
class Determinant(Explained):
    """What must vanish for a singular configuration: SymPy expressions of the parameters' and coordinates' names.

    `what` as in `Singularity`. One expression: the determinant itself; for a frame driven by as many motors as it has
    parts, that of its twist by the motors' rates. Several: the minors, all of which must vanish, as when a robot has
    more wheels than constraints. `zeros`: angles (rad) by coordinate, where they could be solved for.
    """

    what: str
    expressions: tuple[sympy.Expr, ...]
    zeros: tuple[Mapping[str, sympy.Expr], ...]
    solved: bool


def determinants(maps: VelocityMaps, frame: TaskFrame | None, general: np.ndarray) -> tuple[Determinant, ...]:
    """The determinants or minors behind `singularities`, factored, where they are small enough to be read.

    Named parameters are symbols, other numbers are as described; coordinates on which nothing depends are 0. None for
    robots with loops, whose coordinates are not free to be solved for.
    """
    if maps.coordinated or maps.assembly.loops:
        return ()
    tasks = rank_tasks(maps, frame, general)
    symbolic = _Symbolic.of(maps, frame, tasks, general)
    answers = []
    for what in tasks:
        with suppress(_TooLongError):
            answer = _of_task(what, symbolic, tasks, general)
            if answer is not None:
                answers.append(_checked(answer, symbolic))
    return tuple(answers)


class _TooLongError(Exception):
    """An expression that nobody would read."""


def _of_task(
    what: str, symbolic: _Symbolic, tasks: Mapping[str, Matrices], general: np.ndarray
) -> Determinant | None:
    """What must vanish for a task to lose rank, without what can't."""
    frame, decisive = symbolic.frame, symbolic.decisive(what)
    matrix, divisor = symbolic.matrix(what, decisive), None
    if frame is not None and what == frame.name and MOTORS in tasks:
        # Of rows that repeat one another the same are taken: a ratio of determinants is one of the same choice.
        count = symbolic.maps.constraints(general).shape[1]
        kept = independent_rows(matrix.numbers[:, :count])
        divisor = _determinant(symbolic.matrix(MOTORS, decisive).taken(kept, count))
        matrix = matrix.taken(kept, count)
    answer = _answer(what, matrix, divisor, [symbolic.symbols[name] for name in decisive])
    if answer is not None and what in (WHEELS, MOTORS) and len(answer.expressions) == 1:
        return _without_idle_factors(answer, symbolic)
    return answer


class _Matrix(NamedTuple):
    """Rows in symbols, and their numbers (samples, rows, columns)."""

    rows: Sequence[Sequence[sympy.Expr]]
    numbers: np.ndarray

    def taken(self, kept: Sequence[int], count: int) -> _Matrix:
        """Some of the first `count` rows, and all others."""
        places = [*kept, *range(count, len(self.rows))]
        return _Matrix([self.rows[k] for k in places], self.numbers[:, places])


@dataclass(frozen=True)
class _Symbolic:
    """The mechanism in SymPy's symbols (named parameters, and every coordinate) beside what it is in numbers."""

    maps: VelocityMaps
    frame: TaskFrame | None
    tasks: Mapping[str, Matrices]
    general: np.ndarray
    mechanism: Mechanism
    symbols: dict[str, sympy.Symbol]
    values: dict[Any, float]

    @staticmethod
    def of(
        maps: VelocityMaps, frame: TaskFrame | None, tasks: Mapping[str, Matrices], general: np.ndarray
    ) -> _Symbolic:
        """The mechanism derived once more with symbols for named parameters and coordinates, other numbers exact."""
        robot = maps.mechanism.robot
        numbers = robot.parameter_values()
        named = [name for name in numbers if name in robot.parameters and robot.parameters[name].is_parameter]
        own = {name: sympy.Symbol(name, real=True) for name in named}
        scope = {name: exact(value) for name, value in numbers.items()} | own
        symbols = {name: sympy.Symbol(name, real=True) for name in maps.names}
        mechanism = maps.mechanism.in_scalars(scope, list(symbols.values()))
        values = {own[name]: numbers[name] for name in named}
        return _Symbolic(maps, frame, tasks, general, mechanism, symbols, values)

    def decisive(self, what: str) -> list[str]:
        """The coordinates on which the rank of a task depends."""
        maps = self.maps
        return [maps.names[k] for k in decisive_coordinates(maps, self.tasks[what], maps.configurable())]

    def _point(self, frame: TaskFrame) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
        """The frame's point, in symbols where it is the body's centre of mass."""
        described = tip_of(self.maps.assembly, frame.link)
        if any(frame.point) and frame.point == tuple(float(component) for component in described):
            x, y, z = tip_of(self.mechanism.assembly, frame.link)
        else:
            x, y, z = map(exact, frame.point)
        return x, y, z

    def matrix(self, what: str, decisive: Sequence[str]) -> _Matrix:
        """The rows of one of `rank_tasks`, in SI, all but the decisive coordinates at their start."""
        maps, frame = self.maps, self.frame
        q = [
            self.symbols[name] if name in decisive else exact(float(value))
            for name, value in zip(maps.names, maps.start, strict=True)
        ]
        here = self.mechanism.configured(q)
        tree, width = here.assembly.tree, len(here.assembly.speeds)
        rows = here.rows(rolling(here.assembly))
        if what == MOTORS:
            rows += [[1 if j == k else 0 for j in range(width)] for k in maps.motors().values()]
        elif what != WHEELS and frame is not None:
            columns = world_jacobian(tree, here.at.poses, frame.link, self._point(frame))
            twist = [[*column.linear, *column.angular] for column in columns]
            rows += [[*(c[k] for c in twist), *[0] * (width - len(twist))] for k in frame.rows]
        numbers = self.tasks[what](maps, self.general) / maps.scale
        return _Matrix([[_fractions(sympy.sympify(entry)) for entry in row] for row in rows], numbers)


def exact(value: float) -> sympy.Expr:
    """The number in closed form where it is one within rounding: a multiple of π by whole degrees' halves, a short
    fraction or the root of one (sines and cosines of common angles); else the fraction that the float is written as.
    """
    turn = Fraction(value / math.pi).limit_denominator(360)
    if turn and abs(float(turn) * math.pi - value) <= 1e-14 * abs(value):
        return sympy.pi * sympy.Rational(turn.numerator, turn.denominator)
    return exactly(value)


def _fractions(expression: sympy.Expr) -> Any:
    """Without floats, which formulas of the description ("track/2") bring along."""
    return expression.xreplace({atom: exact(float(atom)) for atom in expression.atoms(sympy.Float)})


def _reduced(matrix: _Matrix) -> tuple[sympy.Expr, sympy.Matrix, int]:
    """Constant pivots taken out: their product, the rows that are left and not zero, and their rank."""
    rows, numbers = matrix
    # Columns by how short their entries are, so that pivots are ones rather than formulas.
    sizes = [max(sympy.count_ops(row[j]) for row in rows) for j in range(len(rows[0]))]
    pivots, work = plan_constant_pivots(numbers, sorted(range(len(sizes)), key=lambda j: sizes[j]))
    left = [i for i in range(len(rows)) if i not in {row for row, _ in pivots}]
    columns = [j for j in range(len(rows[0])) if j not in {column for _, column in pivots}]
    rest = work[:, left][:, :, columns]
    rank = generic_rank(rest) if rest.size else 0
    kept = [row for k, row in enumerate(left) if np.abs(rest[:, k]).max(initial=0.0) > 0]
    product: sympy.Expr = sympy.Integer(1)
    after = [list(row) for row in rows]
    for row, column in pivots:
        product *= after[row][column]
        after = eliminate(after, [(row, column)])
    return product, sympy.Matrix(len(kept), len(columns), lambda i, j: after[kept[i]][columns[j]]), rank


def _determinant(given: _Matrix) -> sympy.Expr | None:
    """The determinant up to sign, simplified; None where there is none (not square) or it is too large."""
    product, matrix, rank = _reduced(given)
    if matrix.rows != matrix.cols or rank > _LARGEST:
        return None
    return _simple(product * matrix.det(method="berkowitz"))


def _answer(
    what: str, given: _Matrix, divisor: sympy.Expr | None, decisive: Sequence[sympy.Symbol]
) -> Determinant | None:
    """The determinant over its divisor, or the minors of the rank; None where they are too large."""
    product, matrix, rank = _reduced(given)
    if rank > _LARGEST or sum(sympy.count_ops(entry) for entry in matrix) > _MOST_OPERATIONS:
        return None
    if matrix.rows == matrix.cols == rank:
        whole = _simple(product * matrix.det(method="berkowitz") / (1 if divisor is None else divisor))
        # The sign of a determinant hangs on the order of rows, which means nothing here.
        expressions = [-whole if whole.could_extract_minus_sign() else whole]
    elif rank and math.comb(matrix.rows, rank) * math.comb(matrix.cols, rank) <= _MOST_MINORS:
        expressions = _minors(matrix, rank)
    else:
        return None
    if what in (WHEELS, MOTORS):
        expressions = [_vanishing(expression) for expression in expressions]
    zeros, solved = _solve(expressions, list(decisive))
    named = tuple({str(s): v for s, v in zero.items()} for zero in zeros)
    return Determinant(what, tuple(expressions), named, solved)


def _minors(matrix: sympy.Matrix, rank: int) -> list[sympy.Expr]:
    """The different minors of a rank that aren't zero everywhere, as far as they can vanish; short ones first."""
    choices = (
        (i, j) for i in combinations(range(matrix.rows), rank) for j in combinations(range(matrix.cols), rank)
    )
    minors = {_vanishing(_simple(matrix.extract(list(i), list(j)).det())) for i, j in choices}
    return sorted(minors - {sympy.Integer(0)}, key=lambda minor: (sympy.count_ops(minor), str(minor)))


def _vanishing(expression: sympy.Expr) -> sympy.Expr:
    """What of an expression can vanish: without its denominator and its number."""
    if expression == 0:
        return expression
    parts = sympy.Mul.make_args(sympy.factor(sympy.numer(sympy.together(expression))))
    rest = sympy.Mul(*(part for part in parts if not part.is_number))
    return -rest if rest.could_extract_minus_sign() else rest


def _simple(expression: Any) -> sympy.Expr:
    """Trigonometric identities folded, common factors outside; raises _TooLongError where that would take minutes."""
    whole = sympy.expand(expression)
    if sympy.count_ops(whole) > _MOST_EXPANDED:
        raise _TooLongError
    return sympy.factor(sympy.trigsimp(sympy.together(whole)))


Zeros = list[dict[sympy.Symbol, sympy.Expr]]


def _solve(expressions: Sequence[sympy.Expr], coordinates: Sequence[sympy.Symbol]) -> tuple[Zeros, bool]:
    """Angles in (−π, π] at which all expressions vanish, for parameters in general, and whether these are all.

    Factors in one angle alone are solved and put into the others, branch by branch; others are left to numbers.
    """
    left = [e for e in expressions if e != 0]
    if not left:
        return [{}], True
    if any(not e.free_symbols & set(coordinates) for e in left):
        return [], True  # a minor that is not zero for any angle
    first = min(
        left, key=lambda e: (max(len(own) for _, own in _factors(e, coordinates)), sympy.count_ops(e))
    )
    branches: Zeros = []
    solved = True
    for factor, own in _factors(first, coordinates):
        angles = _angles(factor, own[0]) if len(own) == 1 else None
        if angles is None:
            solved = False
            continue
        for angle in angles:
            others = [_simple(e.subs(own[0], angle)) for e in left if e is not first]
            rest, complete = _solve(others, coordinates)
            solved = solved and complete
            branches += [{own[0]: angle, **zero} for zero in rest]
    return branches, solved


def _factors(expression: sympy.Expr, coordinates: Sequence[sympy.Symbol]) -> list[tuple[Any, list[Any]]]:
    """The factors that hold coordinates, with these."""
    parts = [
        (part, sorted(part.free_symbols & set(coordinates), key=str))
        for part in sympy.Mul.make_args(sympy.numer(expression))
    ]
    return [(part, own) for part, own in parts if own]


def _angles(factor: sympy.Expr, angle: sympy.Symbol) -> list[sympy.Expr] | None:
    """Real solutions of a factor in one angle, in (−π, π] where a turn changes nothing; None where SymPy finds none in
    closed form.
    """
    expanded = sympy.expand(factor)
    a, b = expanded.coeff(sympy.sin(angle)), expanded.coeff(sympy.cos(angle))
    if a != 0 and sympy.expand(expanded - a * sympy.sin(angle) - b * sympy.cos(angle)) == 0 and b != 0:
        # SymPy would answer with half angles and square roots.
        return [sympy.atan(sympy.cancel(-b / a)), sympy.atan(sympy.cancel(-b / a)) + sympy.pi]
    try:
        solutions = sympy.solve(factor, angle)
    except NotImplementedError:
        return None
    angles = []
    for solution in solutions:
        value = solution
        if value.is_real is False:
            continue
        if value.is_number and factor.subs(angle, angle + 2 * sympy.pi) == factor:
            # Whole turns off, rounded up so that π itself stays and −π becomes π.
            turns = math.ceil((float(value) - math.pi) / (2 * math.pi) - 1e-12)
            value = value - 2 * turns * sympy.pi
        if value not in angles:
            angles.append(value)
    return angles


def _without_idle_factors(answer: Determinant, symbolic: _Symbolic) -> Determinant:
    """Of the factors in parameters alone those that cost rank in numbers where they vanish.

    The others belong to the pivots and rows that were chosen, in whose place others serve; or a description can't make
    them vanish, as radii.
    """
    maps, general, task = symbolic.maps, symbolic.general, symbolic.tasks[answer.what]
    rank = generic_rank(task(maps, general), maps.zero)
    robot = maps.mechanism.robot
    values = robot.parameter_values()

    def costs_rank(factor: sympy.Expr) -> bool:
        """Whether the task's rank falls in numbers where a parameter makes the factor vanish."""
        for symbol in sorted(factor.free_symbols, key=str):
            others = {other: value for other, value in symbolic.values.items() if other != symbol}
            for root in sympy.solve(factor.subs(others), symbol):
                changed = {**values, str(symbol): float(root)} if root.is_real else {}
                if not changed or not allowed(robot, changed):
                    continue
                there = replace(velocity_maps(robot, changed, maps.length), scale=maps.scale)
                if generic_rank(task(there, general), maps.zero) < rank:
                    return True
        return False

    coordinates = set(symbolic.symbols.values())
    factors = sympy.Mul.make_args(answer.expressions[0])
    kept = [factor for factor in factors if factor.free_symbols & coordinates or costs_rank(factor)]
    return replace(answer, expressions=(sympy.Mul(*kept),))


def _turned(angle: sympy.Expr, by: float) -> sympy.Expr:
    """A number turned by periods into the range that is searched; formulas as they are."""
    return angle + exact(by) if angle.is_number and abs(by) > 1e-9 else angle


def _checked(answer: Determinant, symbolic: _Symbolic) -> Determinant:
    """Only zeros within the joints' limits that are singular in numbers, too, each once: a wheel's steering turned by
    half a turn is the same, and rows left out as redundant might hold elsewhere.
    """
    maps, general, task = symbolic.maps, symbolic.general, symbolic.tasks[answer.what]
    rank = generic_rank(task(maps, general))
    kept: dict[tuple[tuple[str, float], ...], Mapping[str, sympy.Expr]] = {}
    for zero in answer.zeros:
        values = {
            name: complex(angle.subs(list(symbolic.values.items()))) for name, angle in sorted(zero.items())
        }
        # An arc sine of more than 1: at the described parameters no such angle exists.
        if any(abs(value.imag) > 1e-12 for value in values.values()):
            continue
        q = np.array(general[:1])
        places = [maps.names.index(name) for name in values]
        where = box(maps, places)
        angles = where.wrap(np.array([[value.real for value in values.values()]]))
        q[0, places] = angles[0]
        sigma = np.linalg.svd(task(maps, q)[0], compute_uv=False)
        if where.holds(angles)[0] and sigma[rank - 1] <= SINGULAR * sigma[0]:
            key = tuple(zip(values, np.round(angles[0], 9).tolist(), strict=True))
            turns = {name: angle - values[name].real for name, angle in zip(values, angles[0], strict=True)}
            kept.setdefault(key, {name: _turned(zero[name], turns[name]) for name in values})
    return replace(answer, zeros=tuple(kept.values()))

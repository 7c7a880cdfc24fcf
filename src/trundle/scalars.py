"""What a number may be: a float, a NumPy array (then it is a batch), a SymPy expression, a CasADi SX, a traced node.

The algorithms of `spatial` and `mechanics` use Python's arithmetic and the functions of this module, nothing else,
so the same text gives numbers, formulas and programs. The library a scalar belongs to is already imported when its
scalar gets here; none is imported for its own sake.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from trundle.errors import TrundleError

if TYPE_CHECKING:
    from trundle.tables import Table

Scalar = Any  # float | numpy.ndarray | sympy.Expr | casadi.SX
Rows = list[list[Scalar]]  # a matrix, row by row
AnyRows = Sequence[Sequence[Scalar]]  # what algorithms read as a matrix
SX = Any  # CasADi comes without types: its expressions (SX or MX), or a function of them

_MATH = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "atan": math.atan,
    "atan2": math.atan2,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "absolute": abs,
    "floor": math.floor,
    "minimum": min,
    "maximum": max,
    "less": operator.lt,
    "where": lambda condition, x, y: x if condition else y,
}
_PLAIN = (int, float)
_NAMES = {
    "casadi": {"absolute": "fabs", "minimum": "fmin", "maximum": "fmax", "less": "lt", "where": "if_else"},
    "numpy": {"asin": "arcsin", "atan": "arctan", "atan2": "arctan2"},
    "sympy": {"absolute": "Abs", "minimum": "Min", "maximum": "Max"},
}


# The largest number below 1 is no float's square (they lie twice as far apart there): x² is never the edge itself,
# where both sides of a minimum and a maximum would have a derivative.
_SINC_EDGE = math.nextafter(1.0, 0.0)
_SINC_AT_EDGE = math.sin(math.sqrt(_SINC_EDGE)) / math.sqrt(_SINC_EDGE)
# The next term is 1/21! = 2e-20.
_SINC_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(10))
# The next term is π³⁰/31! = 1e-19.
_SINC_TO_PI = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(15))


def _function(name: str, *arguments: Scalar) -> Callable[..., Scalar]:
    """The function called `name` of the library that the arguments belong to (plain numbers belong to `math`), or of
    the scalars themselves, where they bring a `scalar_function(name, *arguments)`.
    """
    for argument in arguments:
        if hasattr(argument, "scalar_function"):
            return partial(argument.scalar_function, name)
    libraries = {_library(argument) for argument in arguments}
    if "sympy" in libraries and name in _SYMPY:
        return _SYMPY[name]
    for library, names in _NAMES.items():
        if library in libraries:
            return getattr(sys.modules[library], names.get(name, name))
    return _MATH[name]


def _sympy_less(x: Scalar, y: Scalar) -> Scalar:
    """1 where x < y, 0 elsewhere, as SymPy writes cases."""
    sympy = sys.modules["sympy"]
    return sympy.Piecewise((1, sympy.Lt(x, y)), (0, True))


def _sympy_where(condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x or y by a condition, which `less` gave or which is a number."""
    sympy = sys.modules["sympy"]
    if isinstance(condition, sympy.Piecewise) and [case[0] for case in condition.args] == [1, 0]:
        asked = condition.args[0][1]
    else:
        asked = sympy.Ne(condition, 0)
    return sympy.Piecewise((x, asked), (y, True))


_SYMPY = {"less": _sympy_less, "where": _sympy_where}


def _library(x: Scalar) -> str:
    """Whose a scalar is; the class of SymPy's f(t) names no module."""
    return (type(x).__module__ or "sympy").partition(".")[0]


def sqrt(x: Scalar) -> Scalar:
    """√x."""
    return _function("sqrt", x)(x)


def sin(x: Scalar) -> Scalar:
    """sin x, x in radians."""
    return _function("sin", x)(x)


def cos(x: Scalar) -> Scalar:
    """cos x, x in radians."""
    return _function("cos", x)(x)


def tan(x: Scalar) -> Scalar:
    """tan x, x in radians."""
    return _function("tan", x)(x)


def asin(x: Scalar) -> Scalar:
    """The angle in [−π/2, π/2] whose sine is x, |x| ≤ 1."""
    return _function("asin", x)(x)


def atan(x: Scalar) -> Scalar:
    """The angle in (−π/2, π/2) whose tangent is x."""
    return _function("atan", x)(x)


def exp(x: Scalar) -> Scalar:
    """eˣ."""
    return _function("exp", x)(x)


def log(x: Scalar) -> Scalar:
    """The natural logarithm of x > 0."""
    return _function("log", x)(x)


def tanh(x: Scalar) -> Scalar:
    """tanh x = (eˣ − e⁻ˣ)/(eˣ + e⁻ˣ): the sign of x, rounded about 0."""
    return _function("tanh", x)(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), in (−π, π]."""
    return _function("atan2", y, x)(y, x)


def absolute(x: Scalar) -> Scalar:
    """|x|."""
    return _function("absolute", x)(x)


def floor(x: Scalar) -> Scalar:
    """The largest whole number that is not above x."""
    return _function("floor", x)(x)


def wrap(x: Scalar, turn: Scalar) -> Scalar:
    """x less whole turns, in [−turn/2, turn/2); its slope counts as 1 everywhere."""
    return x - turn * floor(x * (1 / turn) + 0.5)


def minimum(x: Scalar, y: Scalar) -> Scalar:
    """The smaller of x and y."""
    return _function("minimum", x, y)(x, y)


def maximum(x: Scalar, y: Scalar) -> Scalar:
    """The larger of x and y."""
    return _function("maximum", x, y)(x, y)


def less(x: Scalar, y: Scalar) -> Scalar:
    """1 where x < y, 0 elsewhere; its derivative counts as 0 everywhere."""
    return _function("less", x, y)(x, y) + 0


def where(condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x where the condition (such as `less` gives) is not 0, else y; NaN in the other one counts for nothing."""
    return _function("where", condition, x, y)(condition, x, y)


def lookup(table: Table, index: Scalar, place: int = 0) -> Scalar:
    """Element ⌊index⌋ + place of a table, the index held within it; its derivative counts as 0 everywhere."""
    if hasattr(index, "looked_up"):
        return index.looked_up(table, place)
    library = _library(index)
    if library not in ("builtins", "numpy"):
        raise TrundleError(f"a table of {table.values.size} numbers has no formula in {library}")
    return table.at(index, place)


def times(x: Scalar, y: Scalar) -> Scalar:
    """x y, with plain zeros and ones folded before the scalar's library sees them (a CasADi product costs 10 µs)."""
    if type(x) in _PLAIN:
        if x == 0:
            return 0
        if x == 1:
            return y
    if type(y) in _PLAIN:
        if y == 0:
            return 0
        if y == 1:
            return x
    return x * y


def plus(x: Scalar, y: Scalar) -> Scalar:
    """x + y, with plain zeros left out."""
    if type(x) in _PLAIN and x == 0:
        return y
    if type(y) in _PLAIN and y == 0:
        return x
    return x + y


def minus(x: Scalar, y: Scalar) -> Scalar:
    """x − y, with plain zeros left out."""
    if type(y) in _PLAIN and y == 0:
        return x
    if type(x) in _PLAIN and x == 0:
        return -y
    return x - y


def sinc(x: Scalar) -> Scalar:
    """sin(x)/x, and 1 at x = 0, for every x; its value and what differentiation makes of it are right to rounding.

    sin(x)/x itself has no derivative at 0 and loses half its digits near it. So up to |x| = 1 it is the power series
    Σ (−x²)ᵏ/(2k+1)!, beyond it the quotient: f(x) = f(min) + f(max) − f(1) with x² held below and above 1, so that no
    branch is needed and each part is constant where the other one counts.
    """
    if _library(x) == "sympy":
        return _function("sinc", x)(x)
    square = x * x
    near, far = minimum(square, _SINC_EDGE), sqrt(maximum(square, _SINC_EDGE))
    series: Scalar = _SINC_SERIES[-1]
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = series * near + coefficient
    return series + (sin(far) / far - _SINC_AT_EDGE)


def sinc_to_pi(x: Scalar) -> Scalar:
    """sin(x)/x for |x| ≤ π alone, such as atan2 gives, to 1e-15: the power series, four short sums beside each other.

    Σ (−x²)ᵏ/(2k+1)! = (P₀ + x² P₁) + x⁴ (P₂ + x² P₃) with polynomials Pᵢ in x⁸ (Estrin): no root, no quotient.
    """
    if _library(x) == "sympy":
        return _function("sinc", x)(x)
    second = x * x
    fourth = second * second
    eighth = fourth * fourth
    sums: list[Scalar] = []
    for first in range(4):
        *others, value = _SINC_TO_PI[first::4]
        for coefficient in reversed(others):
            value = value * eighth + coefficient
        sums.append(value)
    return (sums[0] + second * sums[1]) + fourth * (sums[2] + second * sums[3])


def clamp(x: Scalar, limit: Scalar) -> Scalar:
    """x held within ±limit."""
    return minimum(maximum(x, -limit), limit)


def smooth_sign(x: Scalar, width: Scalar) -> Scalar:
    """x/√(x² + width²): the sign of x, rounded over `width` so that friction has a derivative at rest."""
    return x / sqrt(x * x + width * width)


def largest(values: Iterable[Scalar]) -> Scalar:
    """max |value|; 0 of nothing."""
    worst: Scalar = 0
    for value in values:
        worst = maximum(worst, absolute(value))
    return worst


def is_zero(x: Scalar) -> bool:
    """Whether x is zero by structure: the plain number 0, or an expression that is literally 0 (never a value of a
    batch).
    """
    if isinstance(x, (int, float)):
        return x == 0
    structural = getattr(x, "is_zero", False)
    return bool(structural() if callable(structural) else structural)

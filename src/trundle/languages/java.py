"""Java: static methods of arrays of doubles, for any Java from 8 on, with nothing but java.lang.Math."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trundle.languages.language import PASSED, Function, Language, c_operators
from trundle.languages.package import helpers, words

_MATH = (
    "sqrt", "abs", "floor", "ceil", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh",
)  # fmt: skip
_MATH_OF_TWO = {
    "pow": "pow",
    "atan2": "atan2",
    "min": "min",
    "max": "max",
    "copysign": "copySign",
    "remainder": "IEEEremainder",
}
_OPERATIONS = {
    **c_operators("1.0", "0.0"),
    "fmod": "{0} % {1}",
    **{op: f"Math.{op}({{0}})" for op in _MATH},
    **{op: f"Math.{name}({{0}}, {{1}})" for op, name in _MATH_OF_TWO.items()},
    "sign": "Math.signum({0})",
    # not Math.hypot: it scales its arguments, which takes longer and rounds otherwise than the kernels
    "hypot": "Math.sqrt({0} * {0} + {1} * {1})",
    "asinh": "areaSine({0})",
    "acosh": "areaCosine({0})",
    "atanh": "areaTangent({0})",
    "erf": "errorFunction({0})",
}
_HELPERS = helpers("java/helpers.java")
_RESERVED = words("java/reserved.txt") | {*_HELPERS}


def _number(value: float) -> str:
    """The shortest literal with the same bits."""
    if math.isfinite(value):
        return repr(value)
    return "Double.NaN" if math.isnan(value) else f"Double.{'POSITIVE' if value > 0 else 'NEGATIVE'}_INFINITY"


def _framed(function: Function) -> str:
    """A method; of one in pieces a second takes the array in which they pass values on, so that none is allocated."""
    arguments = ", ".join(
        f"double{'' if argument.group is None else '[]'} {argument.name}" for argument in function.arguments
    )
    access = "public" if function.public else "private"

    def method(arguments: str, body: Sequence[str]) -> str:
        first = f"{access} static void {function.name}({arguments}) {{"
        return "\n".join([first, *(f"    {line}" for line in body), "}\n"])

    if not (function.passed and function.public):
        own = [f"double[] {name} = new double[{size}];" for name, size in function.own.items()]
        return method(arguments, [*own, *function.body])
    made = f"{function.name}({', '.join([*function.names, f'new double[{function.passed}]'])});"
    return f"{method(arguments, [made])}\n{method(f'{arguments}, double[] {PASSED}', function.body)}"


JAVA = Language(
    "Java",
    ".java",
    _OPERATIONS,
    _number,
    _framed,
    _RESERVED,
    define="double {name} = {value};",
    helpers=_HELPERS,
    # HotSpot leaves methods beyond 8,000 bytes to its interpreter, and an operation takes ten or so
    piece=500,
)

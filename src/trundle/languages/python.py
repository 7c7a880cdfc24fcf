"""Python over NumPy or JAX: functions of arrays that return arrays, for one state (n,) or many (n, count)."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Mapping, Sequence

from trundle.languages.language import Function, Language

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_SAME = (
    "sqrt", "abs", "sign", "floor", "ceil", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
)  # fmt: skip
_ARC = {name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")}
_BINARY = {
    "pow": "power",
    "fmod": "fmod",
    "copysign": "copysign",
    "hypot": "hypot",
    "min": "minimum",
    "max": "maximum",
}


def _operations(np: str) -> Mapping[str, str]:
    """What is written for each operation, over the library that is called `np`; a choice computes both its sides."""
    return {
        **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
        **{op: f"{np}.where({{0}} {sign} {{1}}, 1.0, 0.0)" for op, sign in _COMPARED.items()},
        **{op: f"{np}.{op}({{0}})" for op in _SAME},
        **{op: f"{np}.{name}({{0}})" for op, name in _ARC.items()},
        **{op: f"{np}.{name}({{0}}, {{1}})" for op, name in {**_BINARY, "atan2": "arctan2"}.items()},
        "neg": "-{0}",
        "sq": "{0} * {0}",
        "twice": "2.0 * {0}",
        "inv": "1.0 / {0}",
        "remainder": "_remainder({0}, {1})",
        "erf": "_erf({0})",
        "not": f"{np}.where({{0}} == 0.0, 1.0, 0.0)",
        "and": f"{np}.where(({{0}} != 0.0) & ({{1}} != 0.0), 1.0, 0.0)",
        "or": f"{np}.where(({{0}} != 0.0) | ({{1}} != 0.0), 1.0, 0.0)",
        "if_else_zero": f"{np}.where({{0}} != 0.0, {{1}}, 0.0)",
        "select": f"{np}.where({{0}} != 0.0, {{1}}, {{2}})",
    }


# IEEE 754's: x - n y with n the whole number nearest to x/y, the even one of two; all steps are exact.
_REMAINDER = """\
def _remainder(x, y):
    size = {np}.abs(y)
    rest = {np}.where({np}.isinf(size), x, {np}.fmod(x, 2.0 * size))
    left, side = {np}.abs(rest), {np}.sign(rest)
    near = {np}.where(left > 0.5 * size, rest - side * size, rest)
    nearest = {np}.where(left >= 1.5 * size, rest - side * 2.0 * size, near)
    return {np}.where({np}.isinf(size) & {np}.isfinite(x), x, nearest)
"""
_STACKED = """\
def _stacked(rows):
    return {np}.stack({np}.broadcast_arrays(*rows)) if rows else {np}.zeros(0)
"""
# JAX reads the last number where there are too few, and both libraries leave out what is too many.
_CHECKED = """\
def _checked(name, numbers, size):
    numbers = {np}.asarray(numbers, dtype=float)
    if numbers.shape[:1] != (size,):
        raise ValueError(f"{{name}} must have shape ({{size}},) or ({{size}}, count), got {{numbers.shape}}")
    return numbers
"""


def _number(value: float) -> str:
    """The shortest literal with the same bits."""
    if math.isnan(value) or math.isinf(value):
        return f'float("{value}")'
    return repr(value)


def _framed(function: Function, np: str, decorator: str = "") -> str:
    count = len(function.program.inputs)
    read, written = function.arguments[:count], function.arguments[count:]
    if not function.public:
        return _text(f"def {function.name}({', '.join(function.arguments)}):", function.body or ["pass"])
    made = [
        f'{name} = _checked("{name}", {name}, {group.size})'
        for name, group in zip(read, function.program.inputs, strict=True)
    ]
    sizes = [group.size for group in function.program.outputs]
    made += [f"{name} = [None] * {size}" for name, size in zip(written, sizes, strict=True)]
    if function.passed:
        made.append(f"{_WORKSPACE.format(name=function.name)} = [None] * {function.passed}")
    result = f"return {', '.join(f'_stacked({name})' for name in written)}"
    text = _text(f"def {function.name}({', '.join(read)}):", [*made, *function.body, result])
    return f"{decorator}{text}"


def _text(first: str, body: Sequence[str]) -> str:
    return "\n".join([first, *(f"    {line}" for line in body), "", ""])


_WORKSPACE = "{name}_passed"
_RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "jax", "jnp", "math", "np"} - {"input"}
)


def _language(name: str, np: str, header: str, erf: str, decorator: str = "") -> Language:
    return Language(
        name,
        ".py",
        _operations(np),
        _number,
        lambda function: _framed(function, np, decorator),
        _RESERVED,
        define="{name} = {value}",
        store="{target} = {value}",
        call="{name}({arguments})",
        helpers={"_remainder": _REMAINDER.format(np=np), "_erf": erf},
        workspace=_WORKSPACE,
        header=f"{header}\n\n{_CHECKED.format(np=np)}\n\n{_STACKED.format(np=np)}\n",
    )


NUMPY = _language(
    "NumPy",
    "np",
    "import math\n\nimport numpy as np\n",
    "_erf = np.vectorize(math.erf, otypes=[float])\n",
    # the side of a choice that doesn't count may divide by zero
    '@np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")\n',
)
JAX = _language(
    "JAX",
    "jnp",
    """\
import warnings

import jax
import jax.numpy as jnp

if not jax.config.jax_enable_x64:
    warnings.warn(
        "JAX computes in single precision here, with errors of 1e-7 and not of 1e-16; for double precision call "
        'jax.config.update("jax_enable_x64", True) before anything else of JAX',
        stacklevel=2,
    )
""",
    "_erf = jax.scipy.special.erf\n",
)

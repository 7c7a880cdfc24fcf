"""JavaScript: functions of typed arrays, as an ES module. What runs in the live page, and under Node."""

from __future__ import annotations

import math

from trundle.languages.language import Function, Language

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "fmod": "%"}
_COMPARED = {"lt": "<", "le": "<=", "eq": "===", "ne": "!=="}
_MATH = (
    "sqrt", "abs", "sign", "floor", "ceil", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
_OPERATIONS = {
    **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
    **{op: f"{{0}} {sign} {{1}} ? 1 : 0" for op, sign in _COMPARED.items()},
    **{op: f"Math.{op}({{0}})" for op in _MATH},
    **{op: f"Math.{op}({{0}}, {{1}})" for op in ("pow", "atan2", "min", "max")},
    "neg": "-{0}",
    "sq": "{0} * {0}",
    "twice": "2 * {0}",
    "inv": "1 / {0}",
    "hypot": "hypotenuse({0}, {1})",
    "remainder": "remainder({0}, {1})",
    "copysign": "copySign({0}, {1})",
    "erf": "errorFunction({0})",
    "not": "{0} === 0 ? 1 : 0",
    "and": "{0} !== 0 && {1} !== 0 ? 1 : 0",
    "or": "{0} !== 0 || {1} !== 0 ? 1 : 0",
    "if_else_zero": "{0} !== 0 ? {1} : 0",
    "select": "{0} !== 0 ? {1} : {2}",
}
_HELPERS = {
    # Math.hypot scales its arguments, which takes ten times as long and rounds otherwise than the kernels.
    "hypotenuse": "const hypotenuse = (x, y) => Math.sqrt(x * x + y * y);",
    "copySign": "const copySign = (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x));",
    # IEEE 754's: x - n y with n the whole number nearest to x/y, the even one of two; all steps are exact.
    "remainder": """\
function remainder(x, y) {
  if (!Number.isFinite(x) || y === 0) return NaN;
  const size = Math.abs(y);
  if (size === Infinity) return x;
  const rest = x % (2 * size);
  const left = Math.abs(rest);
  if (left >= 1.5 * size) return rest - Math.sign(rest) * 2 * size;
  return left > 0.5 * size ? rest - Math.sign(rest) * size : rest;
}""",
    # Abramowitz & Stegun 7.1.6, whose terms are all positive, and beyond 3 the continued fraction 7.1.14 of erfc.
    "errorFunction": """\
function errorFunction(x) {
  const z = Math.abs(x);
  if (z > 6) return Math.sign(x);
  const scale = Math.exp(-z * z) / Math.sqrt(Math.PI);
  if (z > 3) {
    let fraction = z;
    for (let n = 60; n > 0; n--) fraction = z + n / 2 / fraction;
    return Math.sign(x) * (1 - scale / fraction);
  }
  let term = 2 * x;
  let sum = term;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * z * z) / (2 * n + 1);
    sum += term;
  }
  return scale * sum;
}""",
}
_RESERVED = frozenset((
    "abstract", "arguments", "async", "await", "boolean", "break", "byte", "case", "catch", "char", "class",
    "const", "continue", "debugger", "default", "delete", "do", "double", "else", "enum", "eval", "export",
    "extends", "false", "final", "finally", "float", "for", "from", "function", "get", "goto", "if",
    "implements", "import", "in", "instanceof", "int", "interface", "let", "long", "native", "new", "null",
    "of", "package", "private", "protected", "public", "return", "set", "short", "static", "super", "switch",
    "synchronized", "this", "throw", "throws", "transient", "true", "try", "typeof", "undefined", "var",
    "void", "volatile", "while", "with", "yield", "Array", "Float64Array", "Infinity", "Math", "NaN",
    "Number", "Object", "globalThis", "self", "window", "document",
    *_HELPERS,
))  # fmt: skip


_WORKSPACE = "{name}_passed"


def _number(value: float) -> str:
    """The shortest literal with the same bits."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value.is_integer() and 0 < abs(value) < 1e15 else repr(value)


def _framed(function: Function) -> str:
    public = "export " if function.public else ""
    lines = [f"{public}function {function.name}({', '.join(function.arguments)}) {{"]
    lines += [f"  {line}" for line in function.body]
    if function.passed and function.public:
        # one array for all calls: a new one would cost more than the work
        lines.insert(
            0, f"const {_WORKSPACE.format(name=function.name)} = new Float64Array({function.passed});"
        )
    return "\n".join([*lines, "}"])


JAVASCRIPT = Language(
    "JavaScript",
    ".js",
    _OPERATIONS,
    _number,
    _framed,
    _RESERVED,
    define="const {name} = {value};",
    store="{target} = {value};",
    call="{name}({arguments});",
    helpers=_HELPERS,
    workspace=_WORKSPACE,
)

"""JavaScript: functions of typed arrays as an ES module, for the live page, for browsers and Node."""

from __future__ import annotations

import json
import math

from trundle.files import signature
from trundle.languages.language import Function, Language, arguments, require_identifier, text_of
from trundle.languages.package import Content, Entry, Package, Target

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
    """A function; arrays that it needs are made once for all calls: a new one would cost more than the work."""
    public = "export " if function.public else ""
    own = dict(function.own)
    if function.passed and function.public:
        own[_WORKSPACE.format(name=function.name)] = function.passed
    lines = [f"const {name} = new Float64Array({size});" for name, size in own.items()]
    lines += [f"/** {line} */" for line in function.told[:1]]
    lines.append(f"{public}function {function.name}({', '.join(function.names)}) {{")
    lines += [f"  {line}" for line in function.body]
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
    each="for (let k = 0; k < {size}; k++) {target} = {value};",
    own="{name}_{array}",
    workspace=_WORKSPACE,
)
_MODULE = """\
// {name}, {signature}. README.md tells what every function takes and gives.
// Functions read their first arrays and write the last ones, which must be others.

{functions}

/** Names, units and, where there are any, defaults of all numbers, in the functions' order, by group. */
export const groups = {groups};
"""
_EXAMPLE = """\
// Runs {name} from its start and prints time and states as CSV, about a hundred rows:
// node example.js [SECONDS [STEP [INPUT...]]]
import {{ groups, step }} from "./{name}.js";

const [seconds = 10, h = 1e-3, ...given] = process.argv.slice(2).map(Number);
const state = Float64Array.from(groups.state.defaults);
const parameter = Float64Array.from(groups.parameter.defaults);
const input = Float64Array.from(groups.input.names, (_, k) => given[k] ?? 0);
if (!(seconds >= 0 && h > 0 && seconds / h < 1e12) || given.length > input.length || input.some(Number.isNaN)) {{
  console.error("usage: node example.js [SECONDS [STEP [INPUT...]]], with numbers for", ...groups.input.names);
  process.exit(2);
}}
const steps = Math.round(seconds / h);
const stride = Math.max(1, Math.floor(steps / 100));
for (let k = 0; k < steps; k++) {{
  if (k % stride === 0) console.log([k * h, ...state].join());
  step(state, input, parameter, h, state);
}}
console.log([steps * h, ...state].join());
"""
_USAGE = """\
## How to use it

`{name}.js` is an ES module without imports: `import * as robot from "./{name}.js"`, in Node or in a
`<script type="module">` of a page that a server sends (browsers load no modules from disk). Functions take arrays,
`Float64Array` at best, one a group in the order below, and write into the last ones, which must be others than those
read:

{call}

`groups.{group}.names` are the names of its numbers in their order, `.units` their units, `.defaults` what a robot has
where there are any; so for every group but matrices. Arrays that functions keep are made once, so calls allocate
nothing.{example}
"""


def _package(content: Content) -> Package:
    """NAME.js with a function an entry, names, units, defaults and a Runge-Kutta step; an example for Node."""
    require_identifier(content.name, JAVASCRIPT, {"example"})
    told = {
        word.word: {
            "names": word.group.labels,
            "units": word.units,
            **({"defaults": word.defaults} if word.defaults or not word.group.size else {}),
        }
        for word in content.words
    }
    text = _MODULE.format(
        name=content.name,
        signature=signature(),
        functions=text_of(content.functions(JAVASCRIPT), JAVASCRIPT),
        groups=json.dumps(told, indent=2),
    )
    if content.prepared is not None:
        text += f"\n/** How many numbers `prepare` gives. */\nexport const preparedSize = {content.prepared.size};\n"
    files = {f"{content.name}.js": text, "package.json": json.dumps(_npm(content.name)) + "\n"}
    example = ""
    if content.dynamics is not None:
        files["example.js"] = _EXAMPLE.format(name=content.name)
        example = " `node example.js 30 0.001` runs\nthe robot from its start."
    return Package(files, _usage(content.name, content.entries[0], example), {})


def _npm(name: str) -> dict[str, str]:
    """What npm and bundlers read; their names have small letters alone."""
    return {"name": name.lower(), "version": "1.0.0", "type": "module", "main": f"{name}.js"}


def _usage(name: str, first: Entry, example: str) -> str:
    names = arguments(first.program, JAVASCRIPT)
    lines = [
        f"const {word} = Float64Array.from(robot.groups.{word}.defaults);"
        if first.defaults.get(group.name) and group in first.program.inputs
        else f"const {word} = new Float64Array({group.size});"
        for word, group in zip(names, first.groups, strict=True)
    ]
    lines.append(f"robot.{first.name}({', '.join(names)});")
    call = "\n".join(f"    {line}" for line in lines)
    return _USAGE.format(name=name, call=call, group=names[0], example=example)


PACKAGES = (Target("javascript", "an ES module for browsers and Node, with an example", _package),)

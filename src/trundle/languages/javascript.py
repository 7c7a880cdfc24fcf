"""JavaScript: functions of typed arrays as an ES module, for the live page, for browsers and Node."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from trundle.languages.language import (
    Function,
    Language,
    arguments,
    c_operators,
    printable,
    require_identifier,
    text_of,
)
from trundle.languages.package import Content, Entry, Package, Target, filled, helpers, words

_MATH = (
    "sqrt", "abs", "sign", "floor", "ceil", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
_OPERATIONS = {
    **c_operators(same="===", other="!=="),
    "fmod": "{0} % {1}",
    **{op: f"Math.{op}({{0}})" for op in _MATH},
    **{op: f"Math.{op}({{0}}, {{1}})" for op in ("pow", "atan2", "min", "max")},
    "hypot": "hypotenuse({0}, {1})",
    "remainder": "remainder({0}, {1})",
    "copysign": "copySign({0}, {1})",
    "erf": "errorFunction({0})",
}
_HELPERS = helpers("javascript/helpers.js")
_RESERVED = words("javascript/reserved.txt") | {*_HELPERS}


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
    helpers=_HELPERS,
    each="for (let k = 0; k < {size}; k++) {target} = {value};",
    own="{name}_{array}",
    workspace=_WORKSPACE,
)


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
    functions = content.functions(JAVASCRIPT)
    text = filled(
        "javascript/module.js",
        name=content.name,
        functions=text_of(functions, JAVASCRIPT),
        groups=json.dumps(told, indent=2),
    )
    if content.prepared is not None:
        text += f"\n/** How many numbers `prepare` gives. */\nexport const preparedSize = {content.prepared.size};\n"
    files = {
        f"{content.name}.js": text,
        f"{content.name}.d.ts": _types(content, functions),
        "package.json": json.dumps(_npm(content.name)) + "\n",
    }
    example = ""
    if content.dynamics is not None:
        files["example.js"] = filled("javascript/example.js", **content.example(_number))
        example = f"\n{content.runs('node example.js 30 STEP')}."
    return Package(files, _usage(content.name, content.entries[0], example), {}, content.notes)


def _types(content: Content, functions: Sequence[Function]) -> str:
    """NAME.d.ts: what TypeScript and editors know of the module."""
    lines: list[str] = []
    for function in functions:
        if function.public:
            lines += ["/**", *(f" * {_comment(line)}" for line in function.told), " */"]
            kinds = [
                f"{each.name}: {'number' if each.group is None else 'Numbers' if each in function.read else 'Result'}"
                for each in function.arguments
            ]
            lines.append(f"export function {function.name}({', '.join(kinds)}): void;")
    if content.prepared is not None:
        lines += ["/** How many numbers `prepare` gives. */", "export const preparedSize: number;"]
    groups = [
        f"  readonly {json.dumps(word.word)}: {'Required<Group>' if word.defaults or not word.group.size else 'Group'};"
        for word in content.words
    ]
    return filled(
        "javascript/module.d.ts", name=content.name, functions="\n".join(lines), groups="\n".join(groups)
    )


def _comment(text: str) -> str:
    """Text inside a comment, whatever it says."""
    return printable(text).replace("*/", "* /")


def _npm(name: str) -> dict[str, str]:
    """What npm and bundlers read; their names have small letters alone."""
    return {
        "name": name.lower(),
        "version": "1.0.0",
        "type": "module",
        "main": f"{name}.js",
        "types": f"{name}.d.ts",
    }


def _usage(name: str, first: Entry, example: str) -> str:
    """How to use it, with a call of the first function on the robot's own numbers."""
    names = arguments(first.program, JAVASCRIPT)
    lines = [
        f"const {word} = Float64Array.from(robot.groups.{word}.defaults);"
        if first.defaults.get(group.name) and group in first.program.inputs
        else f"const {word} = new Float64Array({group.size});"
        for word, group in zip(names, first.groups, strict=True)
    ]
    lines.append(f"robot.{first.name}({', '.join(names)});")
    call = "\n".join(f"    {line}" for line in lines)
    return filled("javascript/usage.md", name=name, call=call, group=names[0], example=example)


PACKAGES = (Target("javascript", "an ES module for browsers and Node, with an example", _package),)

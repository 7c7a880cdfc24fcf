"""Octave and MATLAB: a package folder of functions, for one state (n, 1) or many at once (n, count), and an example."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import wrap

from trundle.languages.language import (
    Function,
    Language,
    arguments,
    identifiers,
    printable,
    require_identifier,
    text_of,
)
from trundle.languages.package import Content, Entry, GroupWord, Package, Target, filled, helpers, words

_INFIX = {"add": "+", "sub": "-", "mul": ".*", "div": "./"}
_COMPARED = {"lt": "<", "le": "<=", "eq": "==", "ne": "~="}
_SAME = (
    "abs", "sign", "floor", "ceil", "exp", "expm1", "erf", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh",
)  # fmt: skip
# Where functions are real; beyond it Octave's give complex numbers.
_DOMAINS = {
    "sqrt": "{0} >= 0",
    "log": "{0} >= 0",
    "log1p": "{0} >= -1",
    "asin": "abs({0}) <= 1",
    "acos": "abs({0}) <= 1",
    "acosh": "{0} >= 1",
    "atanh": "abs({0}) <= 1",
}
_OPERATIONS = {
    **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
    **{op: f"double({{0}} {sign} {{1}})" for op, sign in _COMPARED.items()},
    **{op: f"{op}({{0}})" for op in _SAME},
    **{op: f"{op}(only_where({domain}, {{0}}))" for op, domain in _DOMAINS.items()},
    "pow": "only_where({0} >= 0 | {1} == floor({1}), {0}) .^ {1}",
    "neg": "-{0}",
    "sq": "{0} .* {0}",
    "twice": "2 .* {0}",
    "inv": "1 ./ {0}",
    "atan2": "atan2({0}, {1})",
    "hypot": "sqrt({0} .* {0} + {1} .* {1})",  # `hypot` scales, which rounds otherwise than the kernels
    "copysign": "sign_as({0}, {1})",
    "fmod": "rest_of({0}, {1})",
    "remainder": "nearest_rest_of({0}, {1})",
    "min": "least_of({0}, {1})",
    "max": "largest_of({0}, {1})",
    "not": "double({0} == 0)",
    "and": "double({0} ~= 0 & {1} ~= 0)",
    "or": "double({0} ~= 0 | {1} ~= 0)",
    "if_else_zero": "choose({0} ~= 0, {1}, 0)",
    "select": "choose({0} ~= 0, {1}, {2})",
}
_HELPERS = helpers("octave/helpers.m")
_NEEDED = {"nearest_rest_of": ("nearest_rest_of", "rest_of")}
_RESERVED = words("octave/reserved.txt") | {*_SAME, *_DOMAINS, *_HELPERS}


def _number(value: float) -> str:
    """The shortest literal with the same bits."""
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else "Inf" if value > 0 else "-Inf"


def _framed(function: Function) -> str:
    """A function that returns its outputs, with the functions that it calls behind it, as a file holds them."""
    read, written = ([argument.name for argument in side] for side in (function.read, function.written))
    columns = f"max([{', '.join(f'size({name}, 2)' for name in read)}])"
    # what is too many would be left out without a word, as in states of the wrong way round
    made = [
        f"if size({name}, 1) ~= {group.size}, error('{name} must have {group.size} rows, got %d', size({name}, 1)); end"
        for name, group in ((argument.name, argument.group) for argument in function.read)
        if group is not None
    ]
    if not function.whole:
        made += [
            f"{name} = zeros({group.size}, {columns});"
            for name, group in ((argument.name, argument.group) for argument in function.written)
            if group is not None
        ]
    results = written[0] if len(written) == 1 else f"[{', '.join(written)}]"
    lines = [f"% {function.name.upper()}  {line}" for line in function.told[:1]]
    lines += [f"%   {part}" for line in function.told[1:] for part in _wrapped(line)]
    lines.append(f"function {results} = {function.name}({', '.join(read)})")
    lines += [f"  {line}" for line in (*made, *function.body)]
    text = " ".join(function.body)
    called = {need for name in _HELPERS if f"{name}(" in text for need in _NEEDED.get(name, (name,))}
    return "\n".join([*lines, "end\n", *(_HELPERS[name] for name in sorted(called))])


OCTAVE = Language(
    "Octave",
    ".m",
    _OPERATIONS,
    _number,
    _framed,
    _RESERVED,
    define="{name} = {value};",
    helpers={},  # each file holds its own
    evaluate="{written} = {name}({read});",
    each="{target} = {value};",
    in_each="{array}",
    element="{array}({place}, :)",
    first=1,
    longest=63,
    piece=math.inf,  # interpreted: a line costs the same wherever it stands
)
_HIDDEN = words("octave/hidden.txt")


def _package(content: Content) -> Package:
    """+NAME/ with a function an entry, a Runge-Kutta step and what their numbers are; main.m that runs it."""
    name = content.name
    require_identifier(name, OCTAVE, _HIDDEN)
    # functions of a package folder call one another by its name
    language = replace(OCTAVE, evaluate=OCTAVE.evaluate.replace("{name}", f"{name}.{{name}}"))
    functions = content.functions(language)
    files = {f"+{name}/{function.name}.m": text_of([function], language) for function in functions}
    files[f"+{name}/groups.m"] = _groups(name, content.words)
    example = ""
    if content.dynamics is not None:
        given = content.example(_number, "; ")
        files["main.m"] = filled("octave/main.m", **{**given, "given": given["given"] or "zeros(0, 1)"})
        example = f" {content.runs('main(30, STEP)')};\n`ode45` takes"
        example += f" `@(t, x) {name}.dynamics(x, input, parameter)`."
    return Package(files, _usage(name, content.entries[0], example), {}, content.notes, first=OCTAVE.first)


def _wrapped(line: str) -> list[str]:
    """Lines of help, whatever names say."""
    return wrap(printable(line), 100, subsequent_indent="  ")


def _usage(name: str, first: Entry, example: str) -> str:
    """How to use it, with a call of the first function on the robot's own numbers."""
    names, count = arguments(first.program, OCTAVE), len(first.program.inputs)
    lines = [
        f"{word} = groups.{word}.defaults;"
        if first.defaults.get(group.name)
        else f"{word} = zeros({group.size}, 1);"
        for word, group in zip(names, first.program.inputs, strict=False)
    ]
    lines.append(f"[{', '.join(names[count:])}] = {name}.{first.name}({', '.join(names[:count])});")
    call = "\n".join(f"    {line}" for line in lines)
    return filled("octave/usage.md", name=name, first=first.name, call=call, group=names[0], example=example)


def _groups(name: str, named: Sequence[GroupWord]) -> str:
    """groups.m: a structure of names, units and, where there are any, defaults a group."""
    fields = identifiers([word.word for word in named], OCTAVE)
    lines: list[str] = []
    for word in named:
        field = f"all.{fields[word.word]}"
        lines.append(f"  {field}.names = {{{_listed(map(_quoted, word.group.labels))}}};")
        lines.append(f"  {field}.units = {{{_listed(map(_quoted, word.units))}}};")
        if word.defaults or not word.group.size:
            values = f"[{_listed(map(OCTAVE.number, word.defaults))}]" if word.defaults else "zeros(0, 1)"
            lines.append(f"  {field}.defaults = {values};")
    return filled("octave/groups.m", name=name, lines="\n".join(lines))


def _listed(items: Iterable[str]) -> str:
    """Elements of a column, a line each where they are many."""
    return "; ...\n    ".join(items)


def _quoted(text: str) -> str:
    """A literal, whatever the text says."""
    return "'" + printable(text).replace("'", "''") + "'"


PACKAGES = (Target("octave", "a package of functions for Octave and MATLAB, with an example", _package),)

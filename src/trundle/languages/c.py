"""C99 in double or single precision: functions of arrays, with nothing but math.h. C++ compiles them, too."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from trundle.errors import InputError
from trundle.languages.language import PASSED, Function, Language
from trundle.program.ir import Group

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_MATH = (
    "sqrt", "floor", "ceil", "exp", "log", "expm1", "log1p", "erf", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
_MATH_OF_TWO = ("pow", "atan2", "fmod", "remainder", "copysign")
# C's words, those of C++ (whose programs include the headers), and what math.h may define as macros.
_RESERVED = frozenset((
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "continue", "decltype", "default",
    "delete", "do", "double", "else", "enum", "errno", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
    "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this",
    "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq", "linux", "unix", "main", "std", "NULL", "NAN", "INFINITY",
    "HUGE_VAL", "DOMAIN", "SING", "OVERFLOW", "UNDERFLOW", "PLOSS", "TLOSS", "double_t", "float_t", "signgam",
    "fabs", "fmin", "fmax", "hypot", "abs", "gamma", "lgamma", "tgamma", "j0", "j1", "jn", "y0", "y1", "yn",
    "least_of", "largest_of", "sign_of", *_MATH, *_MATH_OF_TWO,
))  # fmt: skip


def _operations(suffix: str) -> dict[str, str]:
    """What is written for each operation; `suffix` f calls math.h's functions of floats."""
    one, none = _number(suffix, 1.0), _number(suffix, 0.0)
    return {
        **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
        **{op: f"{{0}} {sign} {{1}} ? {one} : {none}" for op, sign in _COMPARED.items()},
        **{op: f"{op}{suffix}({{0}})" for op in _MATH},
        **{op: f"{op}{suffix}({{0}}, {{1}})" for op in _MATH_OF_TWO},
        "abs": f"fabs{suffix}({{0}})",
        "neg": "-{0}",
        "sq": "{0} * {0}",
        "twice": "2 * {0}",
        "inv": "1 / {0}",
        "sign": "sign_of({0})",
        # not math.h's: it scales its arguments, which takes longer and rounds otherwise than the kernels
        "hypot": f"sqrt{suffix}({{0}} * {{0}} + {{1}} * {{1}})",
        "min": "least_of({0}, {1})",
        "max": "largest_of({0}, {1})",
        "not": f"{{0}} == 0 ? {one} : {none}",
        "and": f"{{0}} != 0 && {{1}} != 0 ? {one} : {none}",
        "or": f"{{0}} != 0 || {{1}} != 0 ? {one} : {none}",
        "if_else_zero": f"{{0}} != 0 ? {{1}} : {none}",
        "select": "{0} != 0 ? {1} : {2}",
    }


# Not math.h's fmin and fmax: those leave the NaN out, which kernels keep.
_HELPERS = {
    "least_of": """\
static inline {real} least_of({real} x, {real} y) {{
    return x < y || x != x ? x : y;
}}
""",
    "largest_of": """\
static inline {real} largest_of({real} x, {real} y) {{
    return x > y || x != x ? x : y;
}}
""",
    "sign_of": """\
static inline {real} sign_of({real} x) {{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}}
""",
}


def _number(suffix: str, value: float) -> str:
    """The shortest literal with the same bits, or with those of the nearest float."""
    real = "float" if suffix else "double"
    if not math.isfinite(value):
        return f"({real})NAN" if math.isnan(value) else f"{'-' if value < 0 else ''}({real})INFINITY"
    if not suffix:
        return repr(value)
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(value)
    if np.isinf(near) or (value and abs(near) < np.finfo(np.float32).tiny):  # smaller ones lose digits
        problem = f"a constant of {value:g} is beyond single precision, which has 1.2e-38 to 3.4e38"
        raise InputError(problem, hint="export it in double precision (--to c)")
    return f"{float(str(near))!r}f"


@dataclass(frozen=True)
class Structure:
    """A group that is a structure, not an array: its type, and a field for each label."""

    type: str
    fields: Sequence[str]


def structured(language: Language, structures: Mapping[Group, Structure]) -> Language:
    """`C` or `C_SINGLE` with functions that take some of the groups that they read as structures."""
    return replace(language, framed=partial(_framed, _REALS[language is C_SINGLE], structures))


def prototypes(text: str) -> list[str]:
    """The declarations of the public functions in C source, in their order, as a header has them."""
    return [
        found.replace("restrict ", "") + ";" for found in re.findall(r"^void .*(?= \{$)", text, re.MULTILINE)
    ]


def _framed(real: str, structures: Mapping[Group, Structure], function: Function) -> str:
    """A function whose arrays are `restrict` where they must differ; pieces are the file's own."""
    body = list(function.body)
    kept = "*" if function.whole else "*restrict "
    given: list[str] = []
    for argument in function.arguments:
        read = "const " if argument in function.read else ""
        kind = structures.get(argument.group) if read and argument.group is not None else None
        pointed = f"{read}{real if kind is None else kind.type} {kept}"
        given.append(f"{f'{real} ' if argument.group is None else pointed}{argument.name}")
        if kind is not None:
            body = [_with_fields(line, argument.name, kind.fields) for line in body]
    static = "" if function.public else "static "
    return defined(f"{static}void {function.name}({', '.join(given)})", real, function, body)


def defined(head: str, real: str, function: Function, body: Sequence[str]) -> str:
    """A function under its head: with the array that its pieces pass values on in, and without unused arguments."""
    words = set(re.findall(r"\w+", " ".join(body)))
    lines = [f"(void){name};" for name in function.names if name not in words]
    own = [f"{name}[{size}]" for name, size in function.own.items()]
    if function.passed and function.public:
        own.append(f"{PASSED}[{function.passed}]")
    if own:
        lines.append(f"{real} {', '.join(own)};")
    return "\n".join([f"{head} {{", *(f"    {line}" for line in (*lines, *body)), "}\n"])


def comment(text: str) -> str:
    """Text that may stand in a comment, whatever it says."""
    plain = "".join(each if each.isprintable() else "?" for each in text)
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", plain)


def _with_fields(line: str, array: str, fields: Sequence[str]) -> str:
    return re.sub(rf"\b{array}\[(\d+)\]", lambda found: f"{array}->{fields[int(found[1])]}", line)


def _c(name: str, single: bool) -> Language:
    real, suffix = _REALS[single], "f" if single else ""
    return Language(
        name,
        ".c",
        _operations(suffix),
        partial(_number, suffix),
        partial(_framed, real, {}),
        _RESERVED,
        define=f"const {real} {{name}} = {{value}};",
        store="{target} = {value};",
        call="{name}({arguments});",
        helpers={name: text.format(real=real) for name, text in _HELPERS.items()},
    )


_REALS = {False: "double", True: "float"}
C = _c("C", single=False)
C_SINGLE = _c("C in single precision", single=True)

"""Fortran 2008: a module of pure subroutines of arrays, an example program and its makefile."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence

from trundle.errors import InputError
from trundle.languages.language import (
    PASSED,
    Argument,
    Function,
    Language,
    identifiers,
    printable,
    require_identifier,
    text_of,
)
from trundle.languages.package import Content, Package, Target, filled, helpers, words

# Characters of a line that the standard allows (Fortran 2008, 3.3.2.2), less those that lead to the next one.
_WIDTH = 130

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
_INTRINSIC = (
    "sqrt", "abs", "exp", "log", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh",
)  # fmt: skip
_OF_C = {"expm1": "x", "log1p": "x", "fmod": "x, y", "remainder": "x, y"}


def _number_of(truth: str) -> str:
    return f"merge(1.0_wp, 0.0_wp, {truth})"


# Compilers warn of == between reals. What isn't zero is true, also what is no number.
_SAME = "{0} <= {1} .and. {0} >= {1}"
_TRUE, _OTHER_TRUE = ".not. abs({0}) <= 0.0_wp", ".not. abs({1}) <= 0.0_wp"
_OPERATIONS = {
    **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
    **{op: f"{op}({{0}})" for op in _INTRINSIC},
    **{op: f"{op}({', '.join(f'{{{k}}}' for k in range(len(x.split())))})" for op, x in _OF_C.items()},
    "neg": "-{0}",
    "sq": "{0} * {0}",
    "twice": "2.0_wp * {0}",
    "inv": "1.0_wp / {0}",
    "floor": "whole_below({0})",
    "ceil": "-whole_below(-{0})",
    "atan2": "atan2({0}, {1})",
    "hypot": "sqrt({0} * {0} + {1} * {1})",  # the intrinsic scales, which rounds otherwise than the kernels
    "copysign": "sign({0}, {1})",
    "sign": "sign_of({0})",
    "min": "least_of({0}, {1})",
    "max": "largest_of({0}, {1})",
    "lt": _number_of("{0} < {1}"),
    "le": _number_of("{0} <= {1}"),
    "eq": _number_of(_SAME),
    "ne": _number_of(f".not. ({_SAME})"),
    "not": _number_of("abs({0}) <= 0.0_wp"),
    "and": _number_of(f"{_TRUE} .and. {_OTHER_TRUE}"),
    "or": _number_of(f"{_TRUE} .or. {_OTHER_TRUE}"),
    "if_else_zero": f"merge({{1}}, 0.0_wp, {_TRUE})",
    "select": f"merge({{1}}, {{2}}, {_TRUE})",
}


_HELPERS = {
    # functions of C's library, which every Fortran program is linked with, as the language has none of its own
    **{name: filled("fortran/of_c.f90", name=name, arguments=x) for name, x in _OF_C.items()},
    **helpers("fortran/helpers.f90"),
}
_RESERVED = words("fortran/reserved.txt") | {*_HELPERS, *_INTRINSIC}


def _number(value: float) -> str:
    """The shortest literal with the same bits; there is none for what is infinite or no number."""
    if not math.isfinite(value):
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return f"transfer({bits}_int64, 1.0_wp)"
    return f"{value!r}_wp"


def _framed(function: Function) -> str:
    """A pure subroutine; all names are declared before the first statement."""
    declared = [
        f"real(wp), intent({'in' if argument in function.read else 'inout'}) :: {argument.name}{_shape(argument)}"
        for argument in function.arguments
    ]
    made = [define[1] for line in function.body if (define := re.match(r"(\w+) = ", line))]
    own = [name for name in made if name not in (*function.names, *function.own)]
    own += [f"{name}({size})" for name, size in function.own.items()]
    if function.passed and function.public:
        own.append(f"{PASSED}({function.passed})")
    if own:
        declared.append(f"real(wp) :: {', '.join(own)}")
    words = set(re.findall(r"\w+", " ".join(function.body)))
    unused = [name for name in function.names if name not in words]
    aside = [line for name in unused for line in (f"associate (unused => {name})", "end associate")]
    # recursive: large arrays of other procedures may be static, and then not every thread's own
    kind = "pure recursive subroutine" if function.passed and function.public else "pure subroutine"
    head = f"{kind} {function.name}({', '.join(function.names)})"
    lines = [f"! {line}" for line in function.told[:1]] + [*continued(head)]
    lines += [part for line in (*declared, *aside, *function.body) for part in continued(f"  {line}")]
    return "\n".join([*lines, f"end subroutine {function.name}\n"])


def _shape(argument: Argument) -> str:
    return "" if argument.group is None else f"({argument.group.size})"


def continued(line: str) -> Iterator[str]:
    """A line as lines that are short enough, cut at blanks."""
    while len(line) > _WIDTH:
        end = line.rindex(" ", 0, _WIDTH)
        yield f"{line[:end]} &"
        line = f"    {line[end + 1 :]}"
    yield line


FORTRAN = Language(
    "Fortran",
    ".f90",
    _OPERATIONS,
    _number,
    _framed,
    _RESERVED,
    define="{name} = {value}",
    store="{target} = {value}",
    call="call {name}({arguments})",
    helpers=_HELPERS,
    evaluate="call {name}({read}, {written})",
    each="{target} = {value}",
    in_each="{array}",
    element="{array}({place})",
    first=1,
    ignores_case=True,
    longest=63,
)
_MAIN = """\
main: main.f90 {name}.o
\t$(FC) $(FFLAGS) -o $@ main.f90 {name}.o

"""


def _package(content: Content) -> Package:
    """NAME.f90, a module with a subroutine an entry and a Runge-Kutta step; main.f90 that runs it; a makefile."""
    name, moves = content.name, content.dynamics is not None
    require_identifier(name, FORTRAN)
    functions = content.functions(FORTRAN)
    public = [function.name for function in functions if function.public]
    if name.lower() in public:
        problem = f"'{name}' is a subroutine, and the module can't be called like it"
        raise InputError(problem, key="name", hint="name it robot, say (--name on the command line)")
    body = text_of(functions, FORTRAN)
    constants = dict(_constants(content, [*public, name]))
    text = filled(
        "fortran/module.f90",
        name=name,
        int64=", int64 => c_int64_t" if "_int64" in body else "",
        public="\n".join(f"  public :: {word}" for word in ("wp", *public, *constants)),
        constants="\n".join(constants.values()),
        functions=body,
    )
    first = _MAIN.format(name=name) if moves else ""
    files = {
        f"{name}.f90": text,
        "Makefile": filled("fortran/Makefile", name=name, module=name.lower(), first=first),
        **({"main.f90": _example(content)} if moves else {}),
    }
    make = f"`make` builds the example, {content.runs('./main 30 STEP')}." if moves else "`make` compiles it."
    return Package(
        files, filled("fortran/usage.md", name=name, make=make), {}, content.notes, first=FORTRAN.first
    )


def _example(content: Content) -> str:
    """main.f90; its lines of labels are cut where they are long."""
    columns = " // ',' // ".join(f"'{column}'" for column in content.columns)
    given = [*map(FORTRAN.number, content.moved)] or [FORTRAN.number(0.0)]
    words = {"room": len(given), "given": ", ".join(given), "header": f"  print '(a)', {columns}"}
    told = content.input_names or ["none"]
    words["names"] = "\n".join(f"    write (error_unit, '(a)') '{name}'" for name in told)
    text = filled("fortran/main.f90", name=content.name, step=content.step, **words)
    return "\n".join(part for line in text.split("\n") for part in continued(line))


def _constants(content: Content, taken: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Public constants and how they are declared: groups' sizes, places and defaults."""
    named = content.words
    sizes = {} if content.prepared is None else {"prepared size": content.prepared.size}
    sizes |= {f"{word.word} size": word.group.size for word in named}
    defaults = {
        f"{word.word} default": word.defaults for word in named if word.defaults or not word.group.size
    }
    places = {
        f"{word.word}.{label}": (place, unit)
        for word in named
        for place, (label, unit) in enumerate(zip(word.group.labels, word.units, strict=True), 1)
    }
    names = identifiers(["step", *taken, *sizes, *defaults, *places], FORTRAN)
    for key, size in sizes.items():
        yield names[key], f"  integer, parameter :: {names[key]} = {size}"
    for key, (place, unit) in places.items():
        told = _plain(f"{key.partition('.')[2]}, {unit}" if unit else key.partition(".")[2])
        yield names[key], f"  integer, parameter :: {names[key]} = {place}  ! {told[:40]}"
    for key, values in defaults.items():
        numbers = ", ".join(map(FORTRAN.number, values))
        line = f"  real(wp), parameter :: {names[key]}({len(values)}) = [real(wp) :: {numbers}]"
        yield names[key], "\n".join(continued(line))


def _plain(text: str) -> str:
    """Text in a line of its own, whatever it says."""
    return printable(text).encode("ascii", "replace").decode()


PACKAGES = (
    Target("fortran", "a module in Fortran 2008, with an example program and its makefile", _package),
)

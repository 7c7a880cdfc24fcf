"""C99 in double or single precision: functions of arrays, with nothing but math.h, which C++ compiles, too.

A package is a header, a source file, an example and its makefile.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

import numpy as np

from trundle.errors import InputError
from trundle.languages.language import (
    PASSED,
    Function,
    Language,
    c_operators,
    identifier,
    identifiers,
    printable,
    require_identifier,
    text_of,
)
from trundle.languages.package import Content, Entry, Package, Target, filled, helpers, words
from trundle.program.ir import Group

_MATH = (
    "sqrt", "floor", "ceil", "exp", "log", "expm1", "log1p", "erf", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
_MATH_OF_TWO = ("pow", "atan2", "fmod", "remainder", "copysign")
# How macros are called that any header may define: M_PI, EOF, PRId64; not R and M_1_2.
_MACRO = r"[A-Z][0-9_]*[A-Z](?:[A-Z0-9_]*[A-Z0-9])?(?:[a-z][A-Za-z0-9]*)?"
_RESERVED = words("c/reserved.txt") | {*_MATH, *_MATH_OF_TWO}


def _operations(suffix: str) -> dict[str, str]:
    """What is written for operations; `suffix` f calls math.h's functions of floats."""
    return {
        **c_operators(_number(suffix, 1.0), _number(suffix, 0.0)),
        **{op: f"{op}{suffix}({{0}})" for op in _MATH},
        **{op: f"{op}{suffix}({{0}}, {{1}})" for op in _MATH_OF_TWO},
        "abs": f"fabs{suffix}({{0}})",
        "sign": "sign_of({0})",
        # not math.h's: it scales its arguments, which takes longer and rounds otherwise than the kernels
        "hypot": f"sqrt{suffix}({{0}} * {{0}} + {{1}} * {{1}})",
        "min": "least_of({0}, {1})",
        "max": "largest_of({0}, {1})",
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
    """A group that is a structure, not an array: its type, and a field a label."""

    type: str
    fields: Sequence[str]


def structured(language: Language, structures: Mapping[Group, Structure]) -> Language:
    """`C` or `C_SINGLE` with functions that take some of the groups that they read as structures."""
    return replace(language, framed=partial(_framed, _REALS[language is C_SINGLE], structures))


def prototypes(text: str) -> list[str]:
    """The declarations of the public functions in C source, in their order, as a header has them."""
    return [
        head.replace("restrict ", "") + ";" for head in re.findall(r"^void .*(?= \{$)", text, re.MULTILINE)
    ]


def _framed(real: str, structures: Mapping[Group, Structure], function: Function) -> str:
    """A function whose arrays are `restrict` where they must differ; pieces are the file's own.

    It begins with the array that its pieces pass values on in, and with a use of the arguments that it has none for.
    """
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
    words = set(re.findall(r"\w+", " ".join(function.body)))  # no field may pass for an argument
    lines = [f"(void){name};" for name in function.names if name not in words]
    own = [f"{name}[{size}]" for name, size in function.own.items()]
    if function.passed and function.public:
        own.append(f"{PASSED}[{function.passed}]")
    if own:
        lines.append(f"{real} {', '.join(own)};")
    head = f"{'' if function.public else 'static '}void {function.name}({', '.join(given)})"
    return "\n".join([f"{head} {{", *(f"    {line}" for line in (*lines, *body)), "}\n"])


def comment(text: str) -> str:
    """Text that may stand in a comment, whatever it says."""
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", printable(text))


def _with_fields(line: str, array: str, fields: Sequence[str]) -> str:
    return re.sub(rf"\b{array}\[(\d+)\]", lambda match: f"{array}->{fields[int(match[1])]}", line)


def _c(name: str, single: bool) -> Language:
    """The language in double or single precision, whose functions of math.h end in f."""
    real, suffix = _REALS[single], "f" if single else ""
    return Language(
        name,
        ".c",
        _operations(suffix),
        partial(_number, suffix),
        partial(_framed, real, {}),
        _RESERVED,
        define=f"const {real} {{name}} = {{value}};",
        helpers=helpers("c/helpers.c", real=real),
        foreign=_MACRO,
    )


_REALS = {False: "double", True: "float"}
C = _c("C", single=False)
C_SINGLE = _c("C in single precision", single=True)
_TAKEN = words("c/taken.txt")
WARNINGS = "-Wall -Wextra -Wconversion -Wdouble-promotion -pedantic"


def _places(prefix: str, labels: Sequence[str]) -> list[str]:
    """A constant a label, none twice where labels differ in case alone."""
    places: list[str] = []
    for label in labels:
        word = f"{prefix}_{identifier(label).upper()}"
        tried = chain([word], (f"{word}_{k}" for k in count(2)))
        places.append(next(name for name in tried if name not in places and name != f"{prefix}_COUNT"))
    return places


def _package(content: Content) -> Package:
    """NAME.h and NAME.c with a function an entry and a Runge-Kutta step, main.c that calls them, a makefile."""
    code = CTexts(content)
    name = content.name
    files = {
        f"{name}.h": code.header(),
        f"{name}.c": code.source(),
        "main.c": code.example(),
        "Makefile": filled("c/Makefile", name=name, warnings=WARNINGS),
    }
    but = f"; only `{name}_step` may write its state" if content.dynamics else ""
    usage = filled(
        "c/usage.md", name=name, upper=name.upper(), but=but, run=code.run, group=code.first_word,
        samples=filled("c/samples.md", name=name).rstrip() if code.sampling else "",
    )  # fmt: skip
    return Package(files, usage, {}, content.notes)


def require_package_name(name: str, language: Language) -> None:
    """Raise InputError where files and namespaces in C and C++ can't be called like that."""
    require_identifier(name, language)
    if name in _TAKEN:
        hint = f"name it {name}_robot, say (--name on the command line)"
        raise InputError(f"'{name}' can't be a package's name: C's own headers use it", key="name", hint=hint)


class CTexts:
    """The texts of a package in C.

    words: what groups are called, unique whatever their labels, such as "state"; structures: those that are
    structures; places: the constants of the others' labels, none of matrices; counts: the constants of their lengths.
    """

    def __init__(self, content: Content) -> None:
        """Name the package's groups and functions; InputError where C has no such name."""
        single = content.precision == "single"
        language = C_SINGLE if single else C
        require_package_name(content.name, language)
        self.content, self.entries, self.name = content, content.entries, content.name
        written = identifiers(content.group_words.values(), C)
        self.words = {group: written[word] for group, word in content.group_words.items()}
        prefixes = {group: f"{self.name}_{word}" for group, word in self.words.items()}
        self.structures = {
            group: Structure(prefix, list(identifiers(group.labels, C).values()))
            for group, prefix in prefixes.items()
            if group.name == "parameter" and group.size
        }
        named = [word.group for word in content.words if word.group not in self.structures]
        self.places = {group: _places(prefixes[group].upper(), group.labels) for group in named}
        self.counts = {group: f"{prefix}_count".upper() for group, prefix in prefixes.items()}
        self.language = structured(language, self.structures)
        self.real = "float" if single else "double"
        self.functions = content.functions(self.language, f"{self.name}_{{name}}")
        self.dynamics = content.dynamics
        self.sampling = content.entry("sampling")

    @property
    def first_word(self) -> str:
        """The group that a README takes for an example of places, in capitals."""
        return self.entries[0].program.inputs[0].name.upper()

    @property
    def run(self) -> str:
        """What is said of the example."""
        return self.content.runs("./main 30 STEP") if self.dynamics else "`./main` calls every function once"

    def header(self) -> str:
        """Places, structures, defaults, and the functions with what they do."""
        parts = list(_unique(text for entry in self.entries for text in self._groups(entry)))
        public = [function for function in self.functions if function.public]
        for function in public:
            (prototype,) = prototypes(self.language.framed(function))
            parts.append(f"/* {comment(function.told[0])} */\n{_wrapped(prototype)}\n")
        guard = f"{self.name.upper()}_H"
        declarations = "\n".join(parts)
        return filled("c/header.h", name=self.name, guard=guard, declarations=declarations)

    def source(self) -> str:
        """The functions, and the values that structures and states have by default."""
        parts = [*_unique(value for entry in self.entries for value in self._values(entry))]
        parts.append(text_of(self.functions, self.language))
        definitions = "\n".join(parts).removesuffix("\n")
        return filled("c/source.c", name=self.name, definitions=definitions)

    def example(self) -> str:
        """A program that runs the robot, or where there are no dynamics calls every function."""
        if self.dynamics is None:
            calls = "\n".join(line for entry in self.entries for line in self._call(entry))
            return filled("c/calls.c", name=self.name, real=self.real, calls=calls)
        state, given, parameter = self.dynamics.program.inputs
        known = self.content.example(self.language.number)
        known |= {"real": self.real, "states": self.counts[state], "defaults": self._default(parameter)}
        known |= {"inputs": self.counts[given], "room": self.counts[given] if given.size else "1"}
        known["given"] = known["given"] or "0"
        reading = filled("c/reading.c", names=known["names"]).rstrip("\n")
        return filled("c/main.c", **known, **self._moves(known), reading=reading)

    def _moves(self, known: Mapping[str, object]) -> dict[str, str]:
        """How an example goes on by a step, from sample to sample where controllers sample."""
        if self.sampling is None:
            step = f"{self.name}_step(state, input, {known['defaults']}, ({self.real})h, state);"
            return {"sampling": "", "before": "", "at_end": "", "move": step}
        count, apart = self.counts[self.sampling.program.inputs[-1]], repr(self.content.apart)
        text = filled("c/sampling.c", **known, count=count, apart=apart).rstrip("\n")
        return {
            "sampling": f"\n\n{text}",
            "before": "        sample((double)step * h, input, state);\n",
            "move": "move((double)step * h, (double)(step + 1) * h, input, state);",
            "at_end": "    sample((double)steps * h, input, state);\n",
        }

    def _groups(self, entry: Entry) -> Iterator[str]:
        """What a header says of an entry's groups."""
        for group in entry.groups:
            units = entry.units[group.name]
            told = [
                comment(f"{label}, {unit}" if unit else label)
                for label, unit in zip(group.labels, units, strict=True)
            ]
            count = f"    {self.counts[group]} = {group.size}"
            if group in self.structures:
                kind = self.structures[group]
                fields = [
                    f"    {self.real} {name};  /* {text} */"
                    for name, text in zip(kind.fields, told, strict=True)
                ]
                yield "\n".join(["typedef struct {", *fields, f"}} {kind.type};\n"])
                yield f"extern const {kind.type} {kind.type}_defaults;\n"
                continue
            places = [
                f"    {name},  /* {text} */"
                for name, text in zip(self.places.get(group, ()), told, strict=False)
            ]
            yield "\n".join(["enum {", *places, count, "};\n"]) if places else f"enum {{{count[3:]} }};\n"
            if group.name == "state" and "state" in entry.defaults:
                yield f"extern const {self.real} {self.name}_start[{self.counts[group]}];\n"
            if entry is self.sampling and group is entry.program.inputs[-1]:
                yield f"/* Period and first instant of each, s. */\n{self._clocks(group, 'extern const')};\n"

    def _values(self, entry: Entry) -> Iterator[str]:
        """Definitions of the parameters' defaults and of the state at the start."""
        for group in entry.program.inputs:
            values = [
                self._literal(label, value)
                for label, value in zip(group.labels, entry.defaults.get(group.name, ()), strict=False)
            ]
            inside = f" = {{\n{listed(values)}\n}};\n"
            if group in self.structures and values:
                kind = self.structures[group].type
                yield f"const {kind} {kind}_defaults{inside}"
            elif group.name == "state" and values:
                yield f"const {self.real} {self.name}_start[{self.counts[group]}]{inside}"
            elif entry is self.sampling and group is entry.program.inputs[-1]:
                pairs = [f"{{{period!r}, {first!r}}}" for period, first in self.content.clocks.values()]
                yield f"{self._clocks(group, 'const')} = {{\n{listed(pairs)}\n}};\n"

    def _clocks(self, due: Group, kind: str) -> str:
        return f"{kind} double {self.name}_clocks[{self.counts[due]}][2]"

    def _literal(self, label: str, value: float) -> str:
        try:
            return self.language.number(value)
        except InputError as problem:
            raise InputError(problem.message, key=label, hint=problem.hint) from None

    def _default(self, group: Group) -> str:
        return f"&{self.structures[group].type}_defaults" if group in self.structures else "NULL"

    def _call(self, entry: Entry) -> Iterator[str]:
        """Lines that call a function on zeros and defaults, and print what it writes."""
        given: list[str] = []
        yield "    {"
        for k, group in enumerate(entry.groups):
            if group in self.structures:
                given.append(self._default(group))
            elif not group.size:
                given.append("NULL")
            else:
                given.append(f"group_{k}")
                yield f"        {self.real} group_{k}[{self.counts[group]}] = {{0}};"
        yield f"        {self.name}_{entry.name}({', '.join(given)});"
        inputs = len(entry.program.inputs)
        for k, group in enumerate(entry.program.outputs, inputs):
            if group.size:
                what = f"{self.name}_{entry.name}, {self.words[group]}:"
                yield f'        print("{what}", group_{k}, {self.counts[group]});'
        yield "    }"


def _unique(texts: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(texts))


def _wrapped(prototype: str) -> str:
    """A prototype in lines of at most 100 characters."""
    if len(prototype) <= 100:
        return prototype
    first, _, rest = prototype.partition("(")
    whole = re.sub(r"(?<!,) ", "\0", rest)  # lines end behind commas
    return f"{first}(\n" + textwrap.fill(whole, 96, initial_indent="    ", subsequent_indent="    ").replace(
        "\0", " "
    )


def listed(items: Sequence[str]) -> str:
    """Items with commas between them, in indented lines of at most 96 characters."""
    return textwrap.fill(", ".join(items), 96, initial_indent="    ", subsequent_indent="    ")


PACKAGES = (
    Target(
        "c",
        "C99 functions that need math.h alone, with an example",
        _package,
        ("double", "single"),
        samples=True,
    ),
)

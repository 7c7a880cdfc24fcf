"""Models as C99: a header, a source file that needs nothing but math.h, an example and its makefile."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from trundle.errors import InputError
from trundle.files import signature
from trundle.languages.c import C_SINGLE, C, Structure, comment, prototypes, structured
from trundle.languages.language import Language, identifiers, require_identifier, text_of
from trundle.languages.package import Content, Entry, Package, Target
from trundle.program.ir import Group

# Headers that a package's would hide, functions beside which no namespace can stand, the microcontroller's files.
_TAKEN = frozenset((
    "assert", "complex", "errno", "fenv", "limits", "locale", "math", "setjmp", "signal", "stdarg", "stdbool",
    "stddef", "stdint", "stdio", "stdlib", "string", "tgmath", "threads", "time", "wchar", "wctype",
    "abort", "access", "alarm", "bind", "clock", "close", "connect", "div", "dup", "exit", "fork", "free", "index",
    "kill", "link", "listen", "nice", "open", "pause", "pipe", "raise", "rand", "random", "read", "remove", "rename",
    "rewind", "select", "send", "sleep", "socket", "stat", "sync", "system", "truncate", "wait", "write",
    "board", "semihosting", "startup",
))  # fmt: skip
WARNINGS = "-Wall -Wextra -Wconversion -Wdouble-promotion -pedantic"
_HEADER = """\
/* {name}, {signature}. README.md tells what every function takes and gives.

   Functions read their arrays and structures that are const and write the others, which must not overlap them. They
   keep nothing between calls, so any number of threads may call them. */
#ifndef {guard}
#define {guard}

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}
#ifdef __cplusplus
}}
#endif

#endif
"""
_SOURCE = """\
/* {name}, {signature}: what {name}.h declares. */
#include "{name}.h"

#include <math.h>

{definitions}"""
_RUN = """\
/* Runs {name} from its start and prints time and states as CSV, about a hundred rows:
   ./main [SECONDS [STEP [INPUT...]]] */
#include <stdio.h>
#include <stdlib.h>

#include "{name}.h"

static void print(double time, const {real} *state) {{
    printf("%.17g", time);
    for (int k = 0; k < {states}; k++) printf(",%.17g", (double)state[k]);
    printf("\\n");
}}

int main(int count, char **words) {{
    const double seconds = count > 1 ? strtod(words[1], NULL) : 10.0;
    const double h = count > 2 ? strtod(words[2], NULL) : 1e-3;
    const long steps = (long)(seconds / h + 0.5), stride = steps < 100 ? 1 : steps / 100;
    {real} state[{states}], input[{room}] = {{0}};
    for (int k = 0; k < {states}; k++) state[k] = {name}_start[k];
    for (int k = 0; k < {inputs} && k + 3 < count; k++) input[k] = ({real})strtod(words[k + 3], NULL);
    for (long step = 0; step < steps; step++) {{
        if (step % stride == 0) print((double)step * h, state);
        {name}_step(state, input, {defaults}, ({real})h, state);
    }}
    print((double)steps * h, state);
    return 0;
}}
"""
_CALLS = """\
/* Calls every function of {name} once, most numbers at zero, and prints what it gives. */
#include <stdio.h>

#include "{name}.h"

static void print(const char *what, const {real} *numbers, int count) {{
    printf("%s", what);
    for (int k = 0; k < count; k++) printf(" %.9g", (double)numbers[k]);
    printf("\\n");
}}

int main(void) {{
{calls}
    return 0;
}}
"""
_MAKEFILE = """\
CC = cc
CFLAGS = -std=c99 -O2 {warnings}

main: main.c {name}.c {name}.h
\t$(CC) $(CFLAGS) -o $@ main.c {name}.c -lm

clean:
\trm -f main

.PHONY: clean
"""
_USAGE = """\
## How to use it

`{name}.h` and `{name}.c` are C99, need nothing but `math.h`, allocate nothing and keep nothing between calls. `make`
builds the example `main.c`, {run}. Every function takes its groups as arrays, parameters as a
structure whose defaults are there by name; `{upper}_{group}_...` and the like are the places in arrays,
`..._COUNT` their lengths. Arrays that are read and those that are written must not overlap{but}.
"""


@dataclass(frozen=True)
class Naming:
    """What a package's groups are called: `words` the groups, unique whatever their labels, such as "state";
    `structures` those that are structures and `places` the constants of the others' labels, none of matrices.
    """

    words: Mapping[Group, str]
    structures: Mapping[Group, Structure]
    places: Mapping[Group, Sequence[str]]
    counts: Mapping[Group, str]


def naming(content: Content) -> Naming:
    """Names for all groups, made of their words."""
    prefix, plain = content.name, content.group_words
    written = identifiers(plain.values(), C)
    words = {group: written[word] for group, word in plain.items()}
    structures = {
        group: Structure(f"{prefix}_{word}", list(identifiers(group.labels, C).values()))
        for group, word in words.items()
        if group.name == "parameter" and group.size
    }
    named = [word.group for word in content.words]
    counts = {group: f"{prefix}_{word}_count".upper() for group, word in words.items()}
    places = {
        group: _places(f"{prefix}_{word}".upper(), group.labels)
        for group, word in words.items()
        if group not in structures and group in named
    }
    return Naming(words, structures, places, counts)


def _places(prefix: str, labels: Sequence[str]) -> list[str]:
    """A constant for each label, none twice where labels differ in case alone."""
    found: list[str] = []
    for label in labels:
        word = f"{prefix}_{identifiers([label], C)[label].upper()}"
        tried = chain([word], (f"{word}_{k}" for k in count(2)))
        found.append(next(each for each in tried if each not in found and each != f"{prefix}_COUNT"))
    return found


def _package(content: Content) -> Package:
    """NAME.h and NAME.c with a function an entry and a Runge-Kutta step, main.c that calls them, a makefile."""
    code = CTexts(content)
    name = content.name
    files = {
        f"{name}.h": code.header(),
        f"{name}.c": code.source(),
        "main.c": code.example(),
        "Makefile": _MAKEFILE.format(name=name, warnings=WARNINGS),
    }
    but = f"; only `{name}_step` may write its state" if content.dynamics else ""
    usage = _USAGE.format(name=name, upper=name.upper(), but=but, run=code.run, group=code.first_word)
    return Package(files, usage, {})


def require_package_name(name: str, language: Language) -> None:
    """Raise InputError where files and namespaces in C and C++ can't be called like that."""
    require_identifier(name, language)
    if name in _TAKEN:
        hint = f"name it {name}_robot, say (--name on the command line)"
        raise InputError(f"'{name}' can't be a package's name: C's own headers use it", key="name", hint=hint)


class CTexts:
    """The texts of a package in C."""

    def __init__(self, content: Content) -> None:
        single = content.precision == "single"
        language = C_SINGLE if single else C
        require_package_name(content.name, language)
        self.content, self.entries, self.name = content, content.entries, content.name
        self.names = naming(content)
        self.language = structured(language, self.names.structures)
        self.real = "float" if single else "double"
        self.functions = content.functions(self.language, f"{self.name}_{{name}}")
        self.dynamics = content.dynamics

    @property
    def first_word(self) -> str:
        """The group that a README takes for an example of places, in capitals."""
        return self.entries[0].program.inputs[0].name.upper()

    @property
    def run(self) -> str:
        """What is said of the example."""
        return "`./main 30 0.001` runs it" if self.dynamics else "`./main` calls every function once"

    def header(self) -> str:
        """Places, structures, defaults, and the functions with what they do."""
        parts = list(_unique(text for entry in self.entries for text in self._groups(entry)))
        public = [function for function in self.functions if function.public]
        for function in public:
            (prototype,) = prototypes(self.language.framed(function))
            parts.append(f"/* {comment(function.told[0])} */\n{_wrapped(prototype)}\n")
        guard = f"{self.name.upper()}_H"
        declarations = "\n".join(parts)
        return _HEADER.format(name=self.name, signature=signature(), guard=guard, declarations=declarations)

    def source(self) -> str:
        """The functions, and the values that structures and states have by default."""
        parts = [*_unique(value for entry in self.entries for value in self._values(entry))]
        parts.append(text_of(self.functions, self.language))
        return _SOURCE.format(name=self.name, signature=signature(), definitions="\n".join(parts))

    def example(self) -> str:
        """A program that runs the robot, or where there are no dynamics calls every function."""
        if self.dynamics is None:
            calls = "\n".join(line for entry in self.entries for line in self._call(entry))
            return _CALLS.format(name=self.name, real=self.real, calls=calls)
        state, given, parameter = self.dynamics.program.inputs
        return _RUN.format(
            name=self.name,
            real=self.real,
            states=self.names.counts[state],
            inputs=self.names.counts[given],
            room=self.names.counts[given] if given.size else "1",
            defaults=self._default(parameter),
        )

    def _groups(self, entry: Entry) -> Iterator[str]:
        """What a header says of an entry's groups."""
        for group in entry.groups:
            names, units = self.names, entry.units[group.name]
            told = [
                comment(f"{label}, {unit}" if unit else label)
                for label, unit in zip(group.labels, units, strict=True)
            ]
            count = f"    {names.counts[group]} = {group.size}"
            if group in names.structures:
                kind = names.structures[group]
                fields = [
                    f"    {self.real} {name};  /* {text} */"
                    for name, text in zip(kind.fields, told, strict=True)
                ]
                yield "\n".join(["typedef struct {", *fields, f"}} {kind.type};\n"])
                yield f"extern const {kind.type} {kind.type}_defaults;\n"
                continue
            places = [
                f"    {name},  /* {text} */"
                for name, text in zip(names.places.get(group, ()), told, strict=False)
            ]
            yield "\n".join(["enum {", *places, count, "};\n"]) if places else f"enum {{{count[3:]} }};\n"
            if group.name == "state" and "state" in entry.defaults:
                yield f"extern const {self.real} {self.name}_start[{names.counts[group]}];\n"

    def _values(self, entry: Entry) -> Iterator[str]:
        for group in entry.program.inputs:
            values = [
                self._literal(label, value)
                for label, value in zip(group.labels, entry.defaults.get(group.name, ()), strict=False)
            ]
            inside = f" = {{\n{_filled(values)}\n}};\n"
            if group in self.names.structures and values:
                kind = self.names.structures[group].type
                yield f"const {kind} {kind}_defaults{inside}"
            elif group.name == "state" and values:
                yield f"const {self.real} {self.name}_start[{self.names.counts[group]}]{inside}"

    def _literal(self, label: str, value: float) -> str:
        try:
            return self.language.number(value)
        except InputError as problem:
            raise InputError(problem.message, key=label, hint=problem.hint) from None

    def _default(self, group: Group) -> str:
        return f"&{self.names.structures[group].type}_defaults" if group in self.names.structures else "NULL"

    def _call(self, entry: Entry) -> Iterator[str]:
        given: list[str] = []
        yield "    {"
        for k, group in enumerate(entry.groups):
            if group in self.names.structures:
                given.append(self._default(group))
            elif not group.size:
                given.append("NULL")
            else:
                given.append(f"group_{k}")
                yield f"        {self.real} group_{k}[{self.names.counts[group]}] = {{0}};"
        yield f"        {self.name}_{entry.name}({', '.join(given)});"
        inputs = len(entry.program.inputs)
        for k, group in enumerate(entry.program.outputs, inputs):
            if group.size:
                what = f"{self.name}_{entry.name}, {self.names.words[group]}:"
                yield f'        print("{what}", group_{k}, {self.names.counts[group]});'
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


def _filled(values: Sequence[str]) -> str:
    return textwrap.fill(", ".join(values), 96, initial_indent="    ", subsequent_indent="    ")


PACKAGES = (
    Target("c", "C99 functions that need math.h alone, with an example", _package, ("double", "single")),
)

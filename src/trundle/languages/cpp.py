"""Models as C++17: one header that gives the C package's functions arrays that know their lengths."""

from __future__ import annotations

from trundle.files import signature
from trundle.languages.c import comment
from trundle.languages.c_package import WARNINGS, CTexts
from trundle.languages.language import Function
from trundle.languages.package import Content, Entry, Package, Target
from trundle.program.ir import Group

_HEADER = """\
// {name}, {signature}. README.md tells what every function takes and gives.
#ifndef {guard}
#define {guard}

#include <array>

#include "{name}.h"

namespace {name} {{

using Real = {real};
{declarations}
}}  // namespace {name}

#endif
"""
_STEP = """\
// the state after a time h, inputs held, by the classical Runge-Kutta method
inline {state} {step}(const {state} &state, const {input} &input, {parameter}Real h) {{
    {state} next{{}};
    {name}_{step}(state.data(), input.data(), {given}, h, next.data());
    return next;
}}
"""
_START = """\
// the state at the start
inline {state} start() {{
    {state} found{{}};
    for (std::size_t k = 0; k < {count}; k++) found[k] = {name}_start[k];
    return found;
}}
"""
_RUN = """\
// Runs {name} from its start and prints time and states as CSV, about a hundred rows:
// ./main [SECONDS [STEP [INPUT...]]]
#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "{name}.hpp"

namespace {{

void print(double time, const {name}::{state} &state) {{
    std::cout << std::setprecision(17) << time;
    for (const auto each : state) std::cout << "," << each;
    std::cout << "\\n";
}}

}}  // namespace

int main(int count, char **words) {{
    const double seconds = count > 1 ? std::strtod(words[1], nullptr) : 10.0;
    const double h = count > 2 ? std::strtod(words[2], nullptr) : 1e-3;
    const long steps = static_cast<long>(seconds / h + 0.5), stride = std::max(1L, steps / 100);
    {name}::{state} state = {name}::start();
    {name}::{input} input{{}};
    for (auto &each : input) {{
        const auto place = 3 + static_cast<int>(&each - input.data());
        if (place < count) each = static_cast<{name}::Real>(std::strtod(words[place], nullptr));
    }}
    for (long step = 0; step < steps; step++) {{
        if (step % stride == 0) print(static_cast<double>(step) * h, state);
        state = {name}::step(state, input, {parameter}static_cast<{name}::Real>(h));
    }}
    print(static_cast<double>(steps) * h, state);
    return 0;
}}
"""
_CALLS = """\
// Calls every function of {name} once, most numbers at zero, and prints how many it gives.
#include <iostream>

#include "{name}.hpp"

int main() {{
{calls}
    return 0;
}}
"""
_MAKEFILE = """\
CC = cc
CXX = c++
CFLAGS = -std=c99 -O2 {warnings}
CXXFLAGS = -std=c++17 -O2 {warnings}

main: main.cpp {name}.hpp {name}.h {name}.o
\t$(CXX) $(CXXFLAGS) -o $@ main.cpp {name}.o -lm

{name}.o: {name}.c {name}.h
\t$(CC) $(CFLAGS) -c -o $@ {name}.c

clean:
\trm -f main {name}.o

.PHONY: clean
"""
_USAGE = """\
## How to use it

`{name}.hpp` is C++17 over `{name}.h` and `{name}.c`, which are C99 and need nothing but `math.h`; nothing is allocated
or kept between calls. `make` builds the example `main.cpp`, {run}. Functions stand in the namespace
`{name}`; groups of numbers are `std::array`s, parameters a structure with a field each. `{upper}_{group}_...` and the
like are the places in arrays.
"""


def _package(content: Content) -> Package:
    """The C package's header and source with NAME.hpp over it, main.cpp that calls it, a makefile."""
    code, name = CTexts(content), content.name
    thin = _Thin(code)
    files = {
        f"{name}.hpp": thin.header(),
        f"{name}.h": code.header(),
        f"{name}.c": code.source(),
        "main.cpp": thin.example(),
        "Makefile": _MAKEFILE.format(name=name, warnings=WARNINGS),
    }
    usage = _USAGE.format(name=name, upper=name.upper(), run=code.run, group=code.first_word)
    return Package(files, usage, {})


class _Thin:
    """The C++ over a package's C."""

    def __init__(self, code: CTexts) -> None:
        self.code, self.name = code, code.name
        self.types = {group: _camel(word) for group, word in code.names.words.items()}

    def header(self) -> str:
        """Types of groups, then a function an entry."""
        code = self.code
        parts = [f"using {self.types[group]} = {self._kind(group)};" for group in code.names.words]
        parts += ["", *(self._function(entry) for entry in code.entries)]
        if code.dynamics is not None:
            parts.append(self._start(code.dynamics.program.inputs[0]))
            steps = [function for function in code.functions if function.whole]
            parts += [self._step(function, code.dynamics) for function in steps]
        return _HEADER.format(
            name=self.name,
            signature=signature(),
            guard=f"{self.name.upper()}_HPP",
            real=code.real,
            declarations="\n".join(parts),
        )

    def example(self) -> str:
        """As the C package's."""
        dynamics = self.code.dynamics
        if dynamics is None:
            calls = "\n".join(self._call(entry) for entry in self.code.entries)
            return _CALLS.format(name=self.name, calls=calls)
        state, given, parameter = dynamics.program.inputs
        held = self._is_structure(parameter)
        return _RUN.format(
            name=self.name,
            state=self.types[state],
            input=self.types[given],
            parameter=f"{self.code.names.structures[parameter].type}_defaults, " if held else "",
        )

    def _step(self, function: Function, dynamics: Entry) -> str:
        """A Runge-Kutta step; of a robot without parameters the third group is empty."""
        state, given, _ = dynamics.program.inputs
        third = function.read[2]
        pointer = f"&{third.name}" if third.group in self.code.names.structures else f"{third.name}.data()"
        return _STEP.format(
            name=self.name,
            step=function.name.removeprefix(f"{self.name}_"),
            state=self.types[state],
            input=self.types[given],
            parameter=f"const {self.types[third.group]} &{third.name}, "
            if third.group and third.group.size
            else "",
            given=pointer if third.group and third.group.size else "nullptr",
        )

    def _is_structure(self, group: Group) -> bool:
        return group in self.code.names.structures

    def _kind(self, group: Group) -> str:
        if self._is_structure(group):
            return self.code.names.structures[group].type
        return f"std::array<Real, {self.code.names.counts[group]}>"

    def _start(self, state: Group) -> str:
        count = self.code.names.counts[state]
        return _START.format(name=self.name, state=self.types[state], count=count)

    def _function(self, entry: Entry) -> str:
        """A function that returns its output group, or a structure of all."""
        inputs, outputs = entry.program.inputs, entry.program.outputs
        names = self.code.names
        taken: list[str] = []
        for group in inputs:
            default = f" = {names.structures[group].type}_defaults" if self._is_structure(group) else ""
            last = default if group == inputs[-1] else ""
            taken.append(f"const {self.types[group]} &{names.words[group]}{last}")
        given = [
            f"&{names.words[g]}" if self._is_structure(g) else f"{names.words[g]}.data()" for g in inputs
        ]
        single = len(outputs) == 1
        result = self.types[outputs[0]] if single else _camel(entry.name)
        given += ["found.data()" if single else f"found.{names.words[g]}.data()" for g in outputs]
        lines = (
            []
            if single
            else [f"struct {result} {{", *(f"    {self.types[g]} {names.words[g]};" for g in outputs), "};\n"]
        )
        lines += [
            f"// {comment(entry.meaning)}",
            f"inline {result} {entry.name}({', '.join(taken)}) {{",
            f"    {result} found{{}};",
            f"    {self.name}_{entry.name}({', '.join(given)});",
            "    return found;",
            "}\n",
        ]
        return "\n".join(lines)

    def _call(self, entry: Entry) -> str:
        given = [
            f"{self.code.names.structures[group].type}_defaults" if self._is_structure(group) else "{}"
            for group in entry.program.inputs
        ]
        size = f"sizeof {self.name}::{entry.name}({', '.join(given)}) / sizeof({self.name}::Real)"
        return f'    std::cout << "{entry.name}: " << {size} << "\\n";'


def _camel(word: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in word.split("_"))


PACKAGES = (Target("cpp", "C++17 over C99 functions, with an example", _package, ("double", "single")),)

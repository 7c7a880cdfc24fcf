"""Models as C++17: one header that gives the C package's functions arrays that know their lengths."""

from __future__ import annotations

from trundle.languages.c import WARNINGS, CTexts, comment
from trundle.languages.language import Function
from trundle.languages.package import Content, Entry, Package, Target, filled
from trundle.program.ir import Group


def _package(content: Content) -> Package:
    """The C package's header and source with NAME.hpp over it, main.cpp that calls it, a makefile."""
    code, name = CTexts(content), content.name
    thin = _Thin(code)
    files = {
        f"{name}.hpp": thin.header(),
        f"{name}.h": code.header(),
        f"{name}.c": code.source(),
        "main.cpp": thin.example(),
        "Makefile": filled("cpp/Makefile", name=name, warnings=WARNINGS),
    }
    usage = filled("cpp/usage.md", name=name, upper=name.upper(), run=code.run, group=code.first_word)
    return Package(files, usage, {}, content.notes)


class _Thin:
    """The C++ over a package's C."""

    def __init__(self, code: CTexts) -> None:
        self.code, self.name = code, code.name
        self.types = {group: _camel(word) for group, word in code.words.items()}

    def header(self) -> str:
        """Types of groups, then a function an entry."""
        code = self.code
        parts = [f"using {self.types[group]} = {self._kind(group)};" for group in code.words]
        parts += ["", *(self._function(entry) for entry in code.entries)]
        if code.dynamics is not None:
            state = code.dynamics.program.inputs[0]
            start = {"state": self.types[state], "count": code.counts[state]}
            parts.append(filled("cpp/start.hpp", name=self.name, **start))
            steps = [function for function in code.functions if function.whole]
            parts += [self._step(function, code.dynamics) for function in steps]
        return filled(
            "cpp/header.hpp",
            name=self.name,
            guard=f"{self.name.upper()}_HPP",
            real=code.real,
            declarations="\n".join(parts),
        )

    def example(self) -> str:
        """As the C package's."""
        dynamics = self.code.dynamics
        if dynamics is None:
            calls = "\n".join(self._call(entry) for entry in self.code.entries)
            return filled("cpp/calls.cpp", name=self.name, calls=calls)
        state, given, parameter = dynamics.program.inputs
        held = parameter in self.code.structures
        return filled(
            "cpp/main.cpp",
            **self.code.content.example(self.code.language.number),
            state=self.types[state],
            input=self.types[given],
            parameter=f"{self.code.structures[parameter].type}_defaults, " if held else "",
        )

    def _step(self, function: Function, dynamics: Entry) -> str:
        """A Runge-Kutta step; of a robot without parameters the third group is empty."""
        state, given, _ = dynamics.program.inputs
        third = function.read[2]
        pointer = f"&{third.name}" if third.group in self.code.structures else f"{third.name}.data()"
        return filled(
            "cpp/step.hpp",
            name=self.name,
            step=function.name.removeprefix(f"{self.name}_"),
            state=self.types[state],
            input=self.types[given],
            parameter=f"const {self.types[third.group]} &{third.name}, "
            if third.group and third.group.size
            else "",
            given=pointer if third.group and third.group.size else "nullptr",
        )

    def _kind(self, group: Group) -> str:
        if group in self.code.structures:
            return self.code.structures[group].type
        return f"std::array<Real, {self.code.counts[group]}>"

    def _function(self, entry: Entry) -> str:
        """A function that returns its output group, or a structure of all."""
        inputs, outputs = entry.program.inputs, entry.program.outputs
        code = self.code
        taken: list[str] = []
        for group in inputs:
            default = f" = {code.structures[group].type}_defaults" if group in self.code.structures else ""
            last = default if group == inputs[-1] else ""
            taken.append(f"const {self.types[group]} &{code.words[group]}{last}")
        given = [
            f"&{code.words[g]}" if g in self.code.structures else f"{code.words[g]}.data()" for g in inputs
        ]
        single = len(outputs) == 1
        result = self.types[outputs[0]] if single else _camel(entry.name)
        given += ["found.data()" if single else f"found.{code.words[g]}.data()" for g in outputs]
        lines = (
            []
            if single
            else [f"struct {result} {{", *(f"    {self.types[g]} {code.words[g]};" for g in outputs), "};\n"]
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
            f"{self.code.structures[group].type}_defaults" if group in self.code.structures else "{}"
            for group in entry.program.inputs
        ]
        size = f"sizeof {self.name}::{entry.name}({', '.join(given)}) / sizeof({self.name}::Real)"
        return f'    std::cout << "{entry.name}: " << {size} << "\\n";'


def _camel(word: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in word.split("_"))


PACKAGES = (Target("cpp", "C++17 over C99 functions, with an example", _package, ("double", "single")),)

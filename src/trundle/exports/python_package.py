"""Models as Python modules over NumPy or JAX."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from textwrap import fill, indent

from trundle.exports.entries import Entry
from trundle.exports.package import Options, Package
from trundle.exports.words import told
from trundle.files import signature
from trundle.languages import JAX, NUMPY, Language, arguments, require_identifier, source
from trundle.model import Model

_LANGUAGES = {"numpy": NUMPY, "jax": JAX}
# Modules that libraries import and would find this one in the place of.
_MODULES = sys.stdlib_module_names | {"numpy", "scipy", "jax", "jaxlib"}
_STEP = """\
def step(state, input, parameter, h):
    a = dynamics(state, input, parameter)
    b = dynamics(state + h / 2 * a, input, parameter)
    c = dynamics(state + h / 2 * b, input, parameter)
    d = dynamics(state + h * c, input, parameter)
    after = state + h / 6 * (a + 2 * b + 2 * c + d)
    return {after}
"""
_USAGE = """\
## How to use it

`{name}.py` is one module that needs {library} alone. Every function takes its groups in order, each an array (n,) for
one state or (n, count) for many, and returns its output group, or a tuple of all. Names and defaults stand
in it as dictionaries in the functions' order, names of outputs as OUTPUTS; `help({name})` tells all others.

    import {library}
{wide}    import {name} as robot
{example}"""
# Before anything of JAX is computed.
_WIDE = '    jax.config.update("jax_enable_x64", True)  # else all is in single precision\n'
_EXAMPLE = """\

    x, p = {np}.array([*robot.START.values()]), {np}.array([*robot.PARAMETERS.values()])
    u = {np}.zeros({inputs})  # others by name: {np}.array([*{{**robot.INPUTS, "NAME": 1.0}}.values()])
    robot.dynamics(x, u, p)  # the state's rate of change
    robot.step(x, u, p, 1e-3)  # the state a millisecond later, by the classical Runge-Kutta method
"""


def package(model: Model, entries: Sequence[Entry], options: Options) -> Package:
    """One module: a function an entry, a step of the classical Runge-Kutta method, names and defaults."""
    language = _LANGUAGES[options.target]
    require_identifier(options.name, language, _MODULES)
    head = f'"""{options.name}, {signature()}: README.md tells what every function takes and gives."""\n\n'
    return Package(
        {f"{options.name}.py": head + module(model, entries, language)}, _usage(model, entries, options), {}
    )


def module(model: Model, entries: Sequence[Entry], language: Language) -> str:
    """The module's text, without its docstring."""
    programs = {entry.name: entry.program for entry in entries}
    parts = [_documented(source(programs, language), entries, language)]
    if "dynamics" in programs:
        after = "after" if model.projection is None else "projection(after, input, parameter)"
        parts.append(_STEP.format(after=after))
    names = {
        "START": dict(zip(model.states, model.state_vector(), strict=True)),
        "INPUTS": dict.fromkeys(model.inputs, 0.0),
        "PARAMETERS": model.parameters,
    }
    parts += [f"{name} = {dict(values)!r}" for name, values in names.items()]
    parts += [f"OUTPUTS = {entry.groups[-1].labels!r}" for entry in entries if entry.name == "outputs"]
    return "\n\n".join(parts) + "\n"


def _documented(text: str, entries: Sequence[Entry], language: Language) -> str:
    """Functions with docstrings."""
    for entry in entries:
        first = re.search(rf"^def {entry.name}\(.*\):\n", text, re.MULTILINE)
        assert first
        lines = [_wrapped(line) for line in told(entry, language)]
        docstring = indent('"""{}\n"""\n'.format("\n".join(lines)), "    ")
        text = f"{text[: first.end()]}{docstring}{text[first.end() :]}"
    return text


def _wrapped(line: str) -> str:
    """Lines that a docstring holds, whatever names say."""
    safe = "".join(each if each.isprintable() else "?" for each in line)
    safe = safe.replace("\\", "\\\\").replace('"', '\\"')
    return fill(safe, 110, subsequent_indent="    ", break_on_hyphens=False)


def _usage(model: Model, entries: Sequence[Entry], options: Options) -> str:
    library, np = {"numpy": ("numpy", "numpy"), "jax": ("jax", "jax.numpy")}[options.target]
    moves = any(entry.name == "dynamics" for entry in entries)
    example = _EXAMPLE.format(np=np, inputs=len(model.inputs)) if moves else _call(entries[0], np)
    wide = _WIDE if options.target == "jax" else ""
    return _USAGE.format(name=options.name, library=library, wide=wide, example=example)


def _call(first: Entry, np: str) -> str:
    """Lines that call a function."""
    names, count = arguments(first.program, NUMPY), len(first.program.inputs)
    known = {"state": "START", "parameter": "PARAMETERS"}
    lines = [
        f"{name} = {np}.array([*robot.{known[name]}.values()])"
        if name in known
        else f"{name} = {np}.zeros({group.size})"
        for name, group in zip(names, first.groups[:count], strict=False)
    ]
    lines.append(f"{', '.join(names[count:])} = robot.{first.name}({', '.join(names[:count])})")
    return indent("\n".join(["", *lines, ""]), "    ")

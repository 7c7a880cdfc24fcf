"""Python over NumPy or JAX: a module of functions that return arrays, for one state (n,) or many (n, count)."""

from __future__ import annotations

import builtins
import keyword
import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill, indent

from trundle.files import signature
from trundle.languages.language import Function, Language, arguments, printable, require_identifier, text_of
from trundle.languages.package import Content, Entry, GroupWord, Package, Target, filled, helpers

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_SAME = (
    "sqrt", "abs", "sign", "floor", "ceil", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
)  # fmt: skip
_ARC = {name: f"arc{name[1:]}" for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")}
_BINARY = {
    "pow": "power",
    "fmod": "fmod",
    "copysign": "copysign",
    "hypot": "hypot",
    "min": "minimum",
    "max": "maximum",
}


def _operations(np: str) -> Mapping[str, str]:
    """What is written for operations, over the library that is called `np`; a choice computes both its sides."""
    return {
        **{op: f"{{0}} {sign} {{1}}" for op, sign in _INFIX.items()},
        **{op: f"{np}.where({{0}} {sign} {{1}}, 1.0, 0.0)" for op, sign in _COMPARED.items()},
        **{op: f"{np}.{op}({{0}})" for op in _SAME},
        **{op: f"{np}.{name}({{0}})" for op, name in _ARC.items()},
        **{op: f"{np}.{name}({{0}}, {{1}})" for op, name in {**_BINARY, "atan2": "arctan2"}.items()},
        "neg": "-{0}",
        "sq": "{0} * {0}",
        "twice": "2.0 * {0}",
        "inv": "1.0 / {0}",
        "remainder": "_remainder({0}, {1})",
        "erf": "_erf({0})",
        "not": f"{np}.where({{0}} == 0.0, 1.0, 0.0)",
        "and": f"{np}.where(({{0}} != 0.0) & ({{1}} != 0.0), 1.0, 0.0)",
        "or": f"{np}.where(({{0}} != 0.0) | ({{1}} != 0.0), 1.0, 0.0)",
        "if_else_zero": f"{np}.where({{0}} != 0.0, {{1}}, 0.0)",
        "select": f"{np}.where({{0}} != 0.0, {{1}}, {{2}})",
    }


def _number(value: float) -> str:
    """The shortest literal with the same bits."""
    if math.isnan(value) or math.isinf(value):
        return f'float("{value}")'
    return repr(value)


def _framed(function: Function, np: str, decorator: str = "") -> str:
    """A function that returns its output groups; whole ones come and go as they are."""
    written = [argument.name for argument in function.written]
    if not function.public:
        return _text(f"def {function.name}({', '.join(function.names)}):", function.body or ["pass"])
    made = _docstring(function.told)
    if not function.whole:
        groups = [(argument.name, argument.group) for argument in function.arguments if argument.group]
        read = [argument.name for argument in function.read]
        made += [
            f'{name} = _checked("{name}", {name}, {group.size})' for name, group in groups if name in read
        ]
        made += [f"{name} = [None] * {group.size}" for name, group in groups if name in written]
    if function.passed:
        made.append(f"{_WORKSPACE.format(name=function.name)} = [None] * {function.passed}")
    results = written if function.whole else [f"_stacked({name})" for name in written]
    taken = ", ".join(argument.name for argument in function.read)
    lines = [*made, *function.body, f"return {', '.join(results)}"]
    return ("" if function.whole else decorator) + _text(f"def {function.name}({taken}):", lines)


def _docstring(told: Sequence[str]) -> list[str]:
    """Lines that a docstring holds, whatever names say: what a function does, an empty line, its arguments."""
    if not told:
        return []
    lines = [told[0], *([""] if told[1:] else []), *told[1:]]
    wrapped = [part for line in lines for part in (_wrapped(line).splitlines() or [""])]
    return [f'"""{wrapped[0]}', *wrapped[1:], '"""'] if wrapped[1:] else [f'"""{wrapped[0]}"""']


def _wrapped(line: str) -> str:
    safe = printable(line).replace("\\", "\\\\").replace('"', '\\"')
    return fill(safe, 110, subsequent_indent="    ", break_on_hyphens=False)


def _text(first: str, body: Sequence[str]) -> str:
    return "\n".join([first, *(f"    {line}" if line else "" for line in body), "", ""])


_WORKSPACE = "{name}_passed"
_RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "jax", "jnp", "math", "np"} - {"input"}
)


def _language(name: str, np: str, header: str, erf: str, decorator: str = "") -> Language:
    """Python over the library called `np`, after its imports; `erf`: the error function that NumPy lacks."""
    return Language(
        name,
        ".py",
        _operations(np),
        _number,
        lambda function: _framed(function, np, decorator),
        _RESERVED,
        define="{name} = {value}",
        store="{target} = {value}",
        call="{name}({arguments})",
        evaluate="{written} = {name}({read})",
        each="{target} = {value}",
        in_each="{array}",
        helpers={**helpers("python/helpers.in", np=np), "_erf": erf},
        workspace=_WORKSPACE,
        header=filled("python/begin.in", imports=header, np=np),
    )


NUMPY = _language(
    "NumPy",
    "np",
    "import math\n\nimport numpy as np\n",
    "_erf = np.vectorize(math.erf, otypes=[float])\n",
    # the side of a choice that doesn't count may divide by zero
    '@np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")\n',
)
IN_SINGLE = (
    "JAX computes in single precision here, with errors of 1e-7 and not of 1e-16; for double precision call "
    'jax.config.update("jax_enable_x64", True) before anything else of JAX'
)
JAX = _language(
    "JAX",
    "jnp",
    f"""\
import warnings

import jax
import jax.numpy as jnp

if not jax.config.jax_enable_x64:
    warnings.warn({IN_SINGLE!r}, stacklevel=2)
""",
    "_erf = jax.scipy.special.erf\n",
)
# Modules that libraries import and would find this one in the place of.
_MODULES = sys.stdlib_module_names | {"numpy", "scipy", "jax", "jaxlib"}
# Before anything of JAX is computed.
_WIDE = '    jax.config.update("jax_enable_x64", True)  # else all is in single precision\n'


def _package(content: Content, language: Language, library: str, np: str, wide: str) -> Package:
    """One module: a function an entry, a step of the classical Runge-Kutta method, names and defaults."""
    name = content.name
    require_identifier(name, language, _MODULES)
    head = f'"""{name}, {signature()}: README.md tells what every function takes and gives."""\n\n'
    words = {word.word: word for word in content.words}
    known = {"START": "state", "INPUTS": "input", "PARAMETERS": "parameter"}
    parts = [text_of(content.functions(language), language)]
    parts += [f"{group} = {_numbers(words[word])!r}" for group, word in known.items() if word in words]
    if (outputs := content.entry("outputs")) is not None:
        parts.append(f"OUTPUTS = {outputs.groups[-1].labels!r}")
    example = _call(content.entries[0], np)
    if content.dynamics is not None:
        example = filled("python/example.md", np=np, inputs=words["input"].group.size, step=content.step)
    usage = filled("python/usage.md", name=name, library=library, wide=wide, example=example)
    return Package({f"{name}.py": head + "\n\n".join(parts) + "\n"}, usage, {})


def _numbers(word: GroupWord) -> dict[str, float]:
    """A group's numbers by name: its defaults, or zeros."""
    return dict(zip(word.group.labels, word.defaults or [0.0] * word.group.size, strict=True))


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


PACKAGES = (
    Target(
        "numpy",
        "a Python module of functions of NumPy arrays, one state or many",
        partial(_package, language=NUMPY, library="numpy", np="numpy", wide=""),
    ),
    Target(
        "jax",
        "a Python module of functions for JAX: jit, vmap, grad",
        partial(_package, language=JAX, library="jax", np="jax.numpy", wide=_WIDE),
    ),
)

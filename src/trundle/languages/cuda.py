"""CUDA C: functions for a GPU's threads and its host, kernels over many robots, and an example for nvcc.

The functions are C99's, and C++ where the qualifiers are empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trundle.languages.c import C, listed, reading
from trundle.languages.language import Function, identifiers, require_identifier, text_of
from trundle.languages.package import Content, Entry, Package, Target, Word, filled

# What a function of both GPU and host begins with.
BOTH = "__host__ __device__ inline"


def _number(value: float) -> str:
    """As in C; NVRTC, which has no math.h, knows neither NAN nor INFINITY."""
    if math.isfinite(value):
        return C.number(value)
    return 'nan("")' if math.isnan(value) else "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"


def _framed(function: Function) -> str:
    """C's function for the GPU and the host, with arrays that are a thread's own."""
    told = f"/* {function.told[0]} */\n" if function.told else ""
    plain = C.framed(function).removeprefix("static ").replace("*restrict ", "*__restrict__ ")
    return f"{told}{BOTH} {plain}"


_WORDS = (
    "__device__",
    "__global__",
    "__host__",
    "__shared__",
    "blockDim",
    "blockIdx",
    "gridDim",
    "threadIdx",
    "nan",
)
CUDA = replace(
    C,
    name="CUDA",
    suffix=".cu",
    number=_number,
    framed=_framed,
    reserved=C.reserved | frozenset(_WORDS),
    helpers={name: text.replace("static inline", BOTH) for name, text in C.helpers.items()},
)

# A function, as what stands outside of them is the host's or the GPU's alone.
# What usage.md says where there are dynamics.
_ROLLING = """

`roll` takes many steps of the classical Runge-Kutta method in one launch. `make` builds the example with nvcc,
`./main 30 0.001` runs it."""


def _package(content: Content) -> Package:
    """NAME.cu with a function and a kernel an entry, and a Runge-Kutta step; main.cu that runs it; a makefile."""
    name = content.name
    require_identifier(name, CUDA)
    kernels = [_kernel(entry) for entry in content.entries]
    files: dict[str, str] = {}
    if content.dynamics is not None:
        state, given, parameter = content.dynamics.program.inputs
        kernels.append(
            filled("cuda/roll.cu", n=state.size, inputs=given.size or 1, parameters=parameter.size or 1)
        )
        files = {
            "main.cu": filled(
                "cuda/main.cu",
                name=name,
                room=max(1, len(content.moved)),
                given=", ".join(map(CUDA.number, content.moved)) or "0",
                columns=",".join(content.columns),
                reading=reading(content),
            ),
            "Makefile": filled("cuda/Makefile", name=name),
        }
    prepared = [] if content.prepared is None else [f"enum {{ PREPARED_SIZE = {content.prepared.size} }};\n"]
    text = filled(
        "cuda/source.cu",
        name=name,
        constants="\n".join([*_constants(content.words), *prepared]),
        functions=text_of(content.functions(CUDA), CUDA),
        kernels="\n".join(kernels).removesuffix("\n"),
    )
    usage = filled(
        "cuda/usage.md", name=name, first=content.entries[0].name, example=_ROLLING if files else ""
    )
    return Package({f"{name}.cu": text, **files}, usage, {})


def _kernel(entry: Entry) -> str:
    """What calls an entry's function for a thread's robot."""
    read, groups = len(entry.program.inputs), entry.groups
    names = list(
        identifiers([f"{'of' if k < read else 'to'} {g.name}" for k, g in enumerate(groups)], CUDA).values()
    )
    arguments = [f"{'const ' if k < read else ''}double *{name}" for k, name in enumerate(names)]
    own = [f"own_{k}" for k in range(len(groups))]
    lines = [f"double {name}[{group.size or 1}];" for name, group in zip(own, groups, strict=True)]
    for name, mine, group in zip(names[:read], own, groups, strict=False):
        count, k = (
            ("sets", "sets == 1 ? 0 : k") if group.name in ("parameter", "prepared") else ("count", "k")
        )
        lines.append(f"gather({name}, {group.size}, {count}, {k}, {mine});")
    lines.append(f"{entry.name}({', '.join(own)});")
    for name, mine, group in zip(names[read:], own[read:], groups[read:], strict=True):
        lines.append(f"scatter({mine}, {group.size}, count, k, {name});")
    inside = "\n".join(f"    {line}" for line in lines)
    return filled("cuda/kernel.cu", name=entry.name, arguments=", ".join(arguments), lines=inside)


def _constants(named: Sequence[Word]) -> Iterator[str]:
    """Places and sizes of groups, and values that they start with."""
    language = replace(CUDA, ignores_case=True)
    sizes = [f"{word.word} size" for word in named]
    labels = [f"{word.word}.{label}" for word in named for label in word.group.labels]
    names = identifiers([*sizes, *labels, *(f"{word.word} default" for word in named)], language)
    for word in named:
        places = [names[f"{word.word}.{label}"].upper() for label in word.group.labels]
        size = f"    {names[f'{word.word} size'].upper()} = {word.group.size}"
        yield "\n".join(["enum {", *([f"{listed(places, 100)},"] if places else []), size, "};"])
        if word.defaults or not word.group.size:
            numbers = list(map(CUDA.number, word.defaults or (0.0,)))
            yield filled("cuda/default.cu", name=names[f"{word.word} default"], numbers=listed(numbers, 100))


PACKAGES = (Target("cuda", "CUDA C: device functions, and kernels over many robots at once", _package),)

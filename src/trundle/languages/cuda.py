"""CUDA C: functions for a GPU's threads and its host, kernels over many robots, and an example for nvcc.

The functions are C99's, and C++ where the qualifiers are empty.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trundle.files import signature
from trundle.languages.c import C, defined
from trundle.languages.language import Function, identifiers, require_identifier, text_of
from trundle.languages.package import Content, Entry, Package, Target, Word

# What a function of both GPU and host begins with.
BOTH = "__host__ __device__ inline"


def _number(value: float) -> str:
    """As in C; NVRTC, which has no math.h, knows neither NAN nor INFINITY."""
    if math.isfinite(value):
        return C.number(value)
    return 'nan("")' if math.isnan(value) else "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"


def _framed(function: Function) -> str:
    """A function whose arrays are each thread's own, and all different ones where they must differ."""
    kept = "*" if function.whole else "*__restrict__ "
    given = ", ".join(
        f"double {argument.name}"
        if argument.group is None
        else f"{'const ' if argument in function.read else ''}double {kept}{argument.name}"
        for argument in function.arguments
    )
    told = f"/* {function.told[0]} */\n" if function.told else ""
    return told + defined(f"{BOTH} void {function.name}({given})", "double", function, function.body)


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

_SOURCE = """\
// {name}, {signature}. README.md tells what every function takes and gives.
// It includes nothing: nvcc compiles it, NVRTC (CuPy's RawModule) too, and C++ where the qualifiers are empty.

{constants}
{functions}
/* Number i of robot k is at i * count + k, so that neighbouring threads read neighbouring numbers. */
__device__ static void gather(const double *from, int size, int count, int k, double *own) {{
    for (int i = 0; i < size; i++) own[i] = from[i * (long long)count + k];
}}

__device__ static void scatter(const double *own, int size, int count, int k, double *to) {{
    for (int i = 0; i < size; i++) to[i * (long long)count + k] = own[i];
}}

{kernels}"""
# A function, as what stands outside of them is the host's or the GPU's alone.
_DEFAULT = """\
__host__ __device__ inline double {name}(int place) {{
    const double numbers[] = {{
    {numbers}
    }};
    return numbers[place];
}}
"""
_KERNEL = """\
/* {name} of `count` robots; the one set of parameters of all where `sets` is 1, else `count` sets. */
extern "C" __global__ void {name}_of_all(int count, int sets, {arguments}) {{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
{lines}
}}
"""
_ROLL = """\
/* `steps` steps of h for `count` robots, inputs held; their states are read and written. */
extern "C" __global__ void roll(int count, int sets, int steps, double h, double *state, const double *input,
                                const double *parameter) {{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    double own_state[{n}], own_input[{inputs}], own_parameter[{parameters}];
    gather(state, STATE_SIZE, count, k, own_state);
    gather(input, INPUT_SIZE, count, k, own_input);
    gather(parameter, PARAMETER_SIZE, sets, sets == 1 ? 0 : k, own_parameter);
    for (int i = 0; i < steps; i++) step(own_state, own_input, own_parameter, h, own_state);
    scatter(own_state, STATE_SIZE, count, k, state);
}}
"""
_EXAMPLE = """\
// Runs many of {name} from their start, all alike, and prints time and states of the last as CSV:
// ./main [SECONDS [STEP [INPUT...]]]
#include <stdio.h>
#include <stdlib.h>

#include "{name}.cu"

static double *numbers(int count) {{
    double *made = NULL;
    if (cudaMallocManaged(&made, (count > 0 ? count : 1) * sizeof(double)) != cudaSuccess) {{
        fprintf(stderr, "no memory on a GPU\\n");
        exit(1);
    }}
    return made;
}}

int main(int given, char **words) {{
    const int count = 1000, rows = 100;
    const double seconds = given > 1 ? strtod(words[1], NULL) : 10.0, h = given > 2 ? strtod(words[2], NULL) : 1e-3;
    const int steps = (int)(seconds / h + 0.5), stride = steps < rows ? 1 : steps / rows;
    double *state = numbers(STATE_SIZE * count), *input = numbers(INPUT_SIZE * count);
    double *parameter = numbers(PARAMETER_SIZE);
    for (int i = 0; i < PARAMETER_SIZE; i++) parameter[i] = parameter_default(i);
    for (int k = 0; k < count; k++) {{
        for (int i = 0; i < STATE_SIZE; i++) state[i * count + k] = state_default(i);
        for (int i = 0; i < INPUT_SIZE; i++) input[i * count + k] = i + 3 < given ? strtod(words[i + 3], NULL) : 0.0;
    }}
    for (int done = 0, now = 0;; done += now) {{
        printf("%.17g", done * h);
        for (int i = 0; i < STATE_SIZE; i++) printf(",%.17g", state[i * count + count - 1]);
        printf("\\n");
        if (done == steps) break;
        now = steps - done < stride ? steps - done : stride;
        roll<<<(count + 127) / 128, 128>>>(count, 1, now, h, state, input, parameter);
        const cudaError_t problem = cudaDeviceSynchronize();
        if (problem != cudaSuccess) {{
            fprintf(stderr, "%s\\n", cudaGetErrorString(problem));
            return 1;
        }}
    }}
    return 0;
}}
"""
_MAKEFILE = """\
NVCC = nvcc
NVCCFLAGS = -O2

main: main.cu {name}.cu
\t$(NVCC) $(NVCCFLAGS) -o $@ main.cu

clean:
\trm -f main

.PHONY: clean
"""
_USAGE = """\
## How to use it

`{name}.cu` includes nothing. Its functions are for one thread and one robot; each has a kernel `..._of_all` for `count`
robots, number i of robot k at place i · count + k, with one set of parameters for all (`sets` = 1) or one a robot
(`sets` = `count`). `STATE_...` and the like are the places of numbers, `..._SIZE` how many there are,
`..._default(place)` what parameters and states start with. All robots' functions have the same names, so each is a
module (CuPy, NVRTC) or a program (nvcc) of its own. With CuPy:

    module = cupy.RawModule(code=open("{name}.cu").read())
    kernel = module.get_function("{first}_of_all")
    # arrays of float64: what the function reads, then what it writes
    kernel(((count + 127) // 128,), (128,), (numpy.int32(count), numpy.int32(sets), *arrays)){example}
"""
_ROLLING = """

`roll` takes many steps of the classical Runge-Kutta method in one launch. `make` builds the example with nvcc,
`./main 30 0.001` runs it."""
"""Of `_USAGE`, where there are dynamics."""


def _package(content: Content) -> Package:
    """NAME.cu with a function and a kernel an entry, and a Runge-Kutta step; main.cu that runs it; a makefile."""
    name = content.name
    require_identifier(name, CUDA)
    kernels = [_kernel(entry) for entry in content.entries]
    files: dict[str, str] = {}
    if content.dynamics is not None:
        state, given, parameter = content.dynamics.program.inputs
        kernels.append(_ROLL.format(n=state.size, inputs=given.size or 1, parameters=parameter.size or 1))
        files = {"main.cu": _EXAMPLE.format(name=name), "Makefile": _MAKEFILE.format(name=name)}
    prepared = [] if content.prepared is None else [f"enum {{ PREPARED_SIZE = {content.prepared.size} }};\n"]
    text = _SOURCE.format(
        name=name,
        signature=signature(),
        constants="\n".join([*_constants(content.words), *prepared]),
        functions=text_of(content.functions(CUDA), CUDA),
        kernels="\n".join(kernels),
    )
    usage = _USAGE.format(name=name, first=content.entries[0].name, example=_ROLLING if files else "")
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
    return _KERNEL.format(name=entry.name, arguments=", ".join(arguments), lines=inside)


def _constants(named: Sequence[Word]) -> Iterator[str]:
    """Places and sizes of groups, and values that they start with."""
    language = replace(CUDA, ignores_case=True)
    sizes = [f"{each.word} size" for each in named]
    labels = [f"{each.word}.{label}" for each in named for label in each.group.labels]
    names = identifiers([*sizes, *labels, *(f"{each.word} default" for each in named)], language)
    for each in named:
        places = [names[f"{each.word}.{label}"].upper() for label in each.group.labels]
        size = f"    {names[f'{each.word} size'].upper()} = {each.group.size}"
        yield "\n".join(["enum {", *([f"{_filled(places)},"] if places else []), size, "};"])
        if each.defaults or not each.group.size:
            numbers = list(map(CUDA.number, each.defaults or (0.0,)))
            yield _DEFAULT.format(name=names[f"{each.word} default"], numbers=_filled(numbers))


def _filled(items: Sequence[str]) -> str:
    return textwrap.fill(", ".join(items), 100, initial_indent="    ", subsequent_indent="    ")


PACKAGES = (Target("cuda", "CUDA C: device functions, and kernels over many robots at once", _package),)

"""Models as functional mock-up units: FMI 2.0 and 3.0, Model Exchange and Co-Simulation, with their C sources.

The C that all share stands in `fmi/`; of a model come its programs (`model.c`), sizes and starts (`model.h`).
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from trundle import operating_system
from trundle.errors import InputError, TrundleError
from trundle.exports.building import printed
from trundle.exports.fmi_description import (
    FmiVariable,
    Interface,
    build_description,
    dependencies,
    description,
    named,
)
from trundle.files import signature
from trundle.languages import C, require_identifier, source
from trundle.languages.c import prototypes
from trundle.languages.package import Content, Entry, Loops, Package, Target, filled
from trundle.mechanics.closing import restarts
from trundle.program import Program, feed, trace

_HEADERS = {
    version: tuple(f"fmi{version[0]}{name}.h" for name in names)
    for version, names in {
        "2.0": ("TypesPlatform", "FunctionTypes", "Functions"),
        "3.0": ("PlatformTypes", "FunctionTypes", "Functions"),
    }.items()
}
# What `core.h` calls, with its arguments: a model without outputs or loops has nothing there.
_FUNCTIONS = {
    "rate": ("state", "input", "parameter", "rate"),
    "output": ("state", "input", "parameter", "output"),
    "project": ("state", "input", "parameter", "closed"),
    "residual": ("state", "input", "parameter", "residual"),
    "slope": ("state", "input", "parameter", "slope"),
    "sample": ("state", "input", "parameter", "due", "sampled"),
    "change": (),
}
# What `core.h` calls the entries.
_NAMES = {"dynamics": "rate", "outputs": "output", "projection": "project", "sampling": "sample"}
_SOURCES = {"2.0": "fmi2.c", "3.0": "fmi3.c"}
_SHARED = ("core.h", "settle.h")
# What FMI calls platforms: in 2.0, which knows one processor, and in 3.0.
_SYSTEMS = {
    "linux": ("linux64", "linux", ".so"),
    "darwin": ("darwin64", "darwin", ".dylib"),
    "win32": ("win64", "windows", ".dll"),
}
_PROCESSORS = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_FLAGS = ("-std=c99", "-O2", "-fPIC", "-fvisibility=hidden")
_EXCHANGE = "Model Exchange leaves the integration to the tool{}. There are no events."
_SAMPLED = """Controllers sample at their periods from the start on,
also within a call. What is due at the end of a call is sampled by the next one, with the inputs set before it."""
_GUIDED = "; rates are those of the state moved back onto the loops"


def _package(content: Content) -> Package:
    """Two FMUs, of FMI 2.0 and 3.0, both with a binary for this platform where there is a C compiler."""
    name = content.name
    require_identifier(name, C)
    by_part = {entry.name: entry for entry in content.entries if entry.part in ("dynamics", "outputs")}
    other = [entry.name for entry in content.entries if entry.part not in ("dynamics", "outputs")]
    if other or "dynamics" not in by_part:
        message = f"an FMU has the dynamics and the outputs, not {', '.join(other) or 'outputs alone'}"
        raise InputError(message, key="what", hint='say "dynamics,outputs"; derivatives are in every FMU')
    programs = {_NAMES[entry]: by_part[entry].program for entry in _NAMES if entry in by_part}
    guided = _guided(programs)
    programs["change"] = _changes(guided)
    if content.loops is not None:
        programs |= {"residual": content.loops.residual, "slope": content.loops.slope}
    named = {_NAMES[entry]: by_part[entry].named for entry in _NAMES if entry in by_part}
    code = _code(programs, name, named)
    variables = _variables(by_part, content.loops)
    facts = repr((content.digest, variables, code, dict(content.clocks))).encode()
    needs = _needs(variables, guided)
    token = f"{{{sha256(facts).hexdigest()}}}"
    interface = Interface(content.model, name, token, variables, needs, tuple(content.clocks.values()))
    declared = dict(zip(programs, prototypes(code), strict=True))
    text = {"model.h": _header(interface, declared, content), "model.c": code}
    libraries = _libraries(text, name)
    units = {
        f"{name}_fmi{version[0]}.fmu": _zipped(
            _content(content.description, interface, version, text, library)
        )
        for version, (library, _) in libraries.items()
    }
    binaries = {version: said for version, (_, said) in libraries.items()}
    usage = filled(
        "fmu/usage.md",
        name=name,
        kinds="Co-Simulation" if content.clocks else "Model Exchange and for\nCo-Simulation",
        beside=_SAMPLED if content.clocks else _EXCHANGE.format(_GUIDED if "project" in programs else ""),
        binary="\n".join(f"- {note}" for note in _notes(binaries)),
    )
    return Package(units, usage, {"binaries": binaries}, tuple(_notes(binaries)))


def _guided(programs: Mapping[str, Program]) -> dict[str, Program]:
    """Rates and outputs of the state moved onto the constraints, where there are any."""
    projection = programs.get("project")
    plain = {name: programs[name] for name in ("rate", "output") if name in programs}
    if projection is None:
        return plain
    return {name: feed(program, projection) for name, program in plain.items()}


def _changes(programs: Mapping[str, Program]) -> Program:
    """How rates and outputs change with states, inputs and parameters: J v of all of them, without J."""
    import casadi as ca

    groups = programs["rate"].inputs
    at = {group.name: ca.SX.sym(group.name, group.size) for group in groups}
    by = {f"{group.name} change": ca.SX.sym(f"d{group.name}", group.size) for group in groups}
    outputs: dict[str, tuple[Sequence[str], object]] = {}
    for name in ("rate", "output"):
        if name not in programs:
            outputs[f"{name} change"] = (), ca.SX(0, 1)
            continue
        program = programs[name]
        value = program.casadi_function.call([at[group.name] for group in program.inputs])[-1]
        slope = ca.jtimes(value, ca.veccat(*at.values()), ca.veccat(*by.values()))
        outputs[f"{name} change"] = program.outputs[-1].labels, ca.densify(slope)
    labels = [group.labels for group in groups]
    given = {
        name: (own, symbols)
        for own, (name, symbols) in zip(labels * 2, [*at.items(), *by.items()], strict=True)
    }
    return trace("change", given, outputs)


def _variables(entries: Mapping[str, Entry], loops: Loops | None) -> list[FmiVariable]:
    """Every variable, in the order of `core.h`."""
    dynamics = entries["dynamics"]

    def group(kind: str, names: Iterable[str], starts: Iterable[float]) -> Iterator[FmiVariable]:
        for name, unit, start in zip(names, dynamics.units[kind], starts, strict=True):
            yield FmiVariable(name, kind, unit, start)

    states, inputs, parameters = (part.labels for part in dynamics.program.inputs)
    variables = [FmiVariable("time", "time", "s"), *group("state", states, dynamics.defaults["state"])]
    if loops is not None:
        # the states that loops hang on: whatever else they hang on is counted from behind these
        first = {"state": 1, "input": len(variables), "parameter": len(variables)}
        held = set[int]().union(*dependencies(loops.residual, first, "residual"))
        variables = [replace(each, settles=k in held) for k, each in enumerate(variables)]
    rates = zip(states, dynamics.units["rate"], strict=True)
    variables += [
        FmiVariable(f"der({name})", "rate", unit, None, 1 + k) for k, (name, unit) in enumerate(rates)
    ]
    variables += group("input", inputs, [0.0] * len(inputs))
    variables += group("parameter", parameters, dynamics.defaults["parameter"])
    if "outputs" in entries:
        own = entries["outputs"]
        pairs = zip(own.program.outputs[-1].labels, own.units["output"], strict=True)
        variables += [FmiVariable(name, "output", unit) for name, unit in pairs]
    return named(variables)


def _needs(variables: Sequence[FmiVariable], guided: Mapping[str, Program]) -> dict[int, Sequence[int]]:
    """By the reference of every rate and output what it hangs on."""
    kinds = [variable.kind for variable in variables]
    first = {kind: kinds.index(kind) for kind in dict.fromkeys(kinds)}
    needs: dict[int, Sequence[int]] = {}
    for kind, program in guided.items():
        if kind in first:
            needs |= dict(enumerate(dependencies(program, first, kind), first[kind]))
    return needs


def _code(programs: Mapping[str, Program], name: str, named: Mapping[str, Mapping[int, str]]) -> str:
    """`model.c`: the model's functions, whose names begin with the FMU's, as many may be linked into one program."""
    whole = {f"{name}_{function}": program for function, program in programs.items()}
    text = source(whole, C, {f"{name}_{function}": names for function, names in named.items()})
    return (
        f'/* The equations of {name}, {signature()}. */\n#include "model.h"\n\n#include <math.h>\n\n{text}\n'
    )


def _header(interface: Interface, declared: Mapping[str, str], content: Content) -> str:
    """`model.h`: sizes, starts, clocks and functions, by the names that `core.h` has for them."""
    by_kind = {kind: interface.places(kind) for kind in ("state", "input", "parameter", "output")}
    sizes = ", ".join(f"{kind.upper()}S = {len(places)}" for kind, places in by_kind.items())
    lines = ["#ifndef MODEL_H", "#define MODEL_H", "", f'#define TOKEN "{interface.token}"']
    clocks = interface.clocks
    lines.append(f"enum {{ {sizes}, LOOPS = {int('project' in declared)}, CLOCKS = {len(clocks)} }};")
    # one more: an array has an element at least
    pairs = ", ".join(f"{{{period!r}, {first!r}}}" for period, first in [*clocks, (1.0, 0.0)])
    lines.append(f"static const double clocks[][2] = {{{pairs}}}; /* s, period and first instant */")
    lines.append(f"#define APART {content.apart!r}")
    lines += _loops(content.loops, [interface.variables[k].name for k in by_kind["state"]])
    for kind in ("state", "parameter"):
        starts = [repr(float(interface.variables[k].start or 0.0)) for k in by_kind[kind]]
        lines.append(f"static const double first_{kind}[] = {{{', '.join([*starts, '0'])}}};")
    for name, given in _FUNCTIONS.items():
        if name in declared:
            lines += [declared[name], f"#define model_{name} {interface.identifier}_{name}"]
        else:
            nothing = ", ".join(f"(void)({argument})" for argument in given)
            lines.append(f"#define model_{name}({', '.join(given)}) ({nothing})")
    return "\n".join([*lines, "", "#endif", ""])


def _loops(loops: Loops | None, names: Sequence[str]) -> Iterator[str]:
    """Lines of `model.h` for `settle.h`: sizes, guesses, where else searches begin, and what states are called."""
    sizes, guess, dependent = (0, 0, 0, 0), (), ()
    if loops is not None:
        sizes = loops.residual.outputs[0].size, loops.configuration, loops.coordinates, loops.speeds
        guess, dependent = loops.guess, loops.dependent
    words = ("RESIDUALS", "CONFIGURATION", "COORDINATES", "SPEEDS")
    yield f"enum {{ {', '.join(f'{word} = {size}' for word, size in zip(words, sizes, strict=True))} }};"
    around = restarts(sizes[2]).ravel()
    for name, numbers in (("guess", guess), ("around", around)):
        yield f"static const double {name}[] = {{{', '.join([*(repr(float(each)) for each in numbers), '0'])}}};"
    yield f"static const char dependent[] = {{{', '.join([*(str(int(each)) for each in dependent), '0'])}}};"
    yield f"static const char *const state_names[] = {{{', '.join([*map(_literal, names), '0'])}}};"


def _literal(text: str) -> str:
    """A string of C, whatever it says."""
    plain = (
        chr(sign) if 32 <= sign < 127 and chr(sign) not in '"\\?' else f"\\{sign:03o}"
        for sign in text.encode()
    )
    return f'"{"".join(plain)}"'


def _file(name: str) -> str:
    return (files("trundle.exports") / "fmi" / name).read_text(encoding="utf-8")


def _libraries(code: Mapping[str, str], name: str) -> dict[str, tuple[dict[str, bytes], str]]:
    """By version this platform's library under its name in the FMU, and what there is to say of it; nothing without a
    compiler.
    """
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))), None)
    if compiler is None:
        return dict.fromkeys(_SOURCES, ({}, "none, as no C compiler was found"))
    with TemporaryDirectory() as work:
        for file, text in code.items():
            Path(work, file).write_text(text, encoding="utf-8")
        # the model once for both: it is what takes time
        _compile([compiler, *_FLAGS, "-c", "model.c"], work)
        return {version: _library(compiler, version, name, work) for version in _SOURCES}


def _library(compiler: str, version: str, name: str, work: str) -> tuple[dict[str, bytes], str]:
    """A version's own source linked with the compiled model."""
    if (place := _place(version)) is None:
        return {}, f"none, as FMI {version} has no name for this platform"
    for file in (_SOURCES[version], *_SHARED, *_HEADERS[version]):
        Path(work, file).write_text(_file(file), encoding="utf-8")
    folder, library = place[0], f"{name}{place[1]}"
    command = [compiler, *_FLAGS, "-shared", _SOURCES[version], "model.o", "-lm", "-o", library]
    _compile(command, work)
    return {f"binaries/{folder}/{library}": Path(work, library).read_bytes()}, folder


def _compile(command: Sequence[str], work: str) -> None:
    """Run a compiler; InputError with what it said where it fails, as an FMU without a binary is of no use here."""
    try:
        printed(command, work)
    except TrundleError as problem:
        hint = f"{command[0]} is $CC, cc, gcc or clang, the first that is there: set CC to a C compiler that works"
        raise InputError(f"the FMU didn't compile: {problem}", key="to", hint=hint) from None


def _place(version: str) -> tuple[str, str] | None:
    """What FMI calls this platform, and the suffix of its libraries."""
    system, processor = _SYSTEMS.get(operating_system.SYSTEM), _PROCESSORS.get(operating_system.processor())
    if system is None or processor is None:
        return None
    two, three, suffix = system
    if version == "2.0":
        return (two, suffix) if processor == "x86_64" else None
    return f"{processor}-{three}", suffix


def _content(
    described: str | None,
    interface: Interface,
    version: str,
    code: Mapping[str, str],
    library: Mapping[str, bytes],
) -> dict[str, bytes]:
    """All files of an FMU, without the headers of FMI, which whoever compiles it has (FMI 2.0.4, section 2.3)."""
    compiled = (_SOURCES[version], "model.c")
    sources = {**code, **{file: _file(file) for file in (_SOURCES[version], *_SHARED)}}
    texts = {"modelDescription.xml": description(interface, version, compiled)}
    texts |= {f"sources/{name}": text for name, text in sources.items()}
    if version == "3.0":
        texts["sources/buildDescription.xml"] = build_description(interface, compiled)
    if described is not None:
        texts["resources/description.yaml"] = described
    return {**{name: text.encode() for name, text in texts.items()}, **library}


def _zipped(content: Mapping[str, bytes]) -> bytes:
    """The archive's bytes, the same for the same content."""
    held = io.BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)
    return held.getvalue()


def _notes(binaries: Mapping[str, str]) -> Iterator[str]:
    """By version the platform that it runs on as it is."""
    for version, said in binaries.items():
        yield f"FMI {version}, binary inside: {said}"


PACKAGES = (
    Target(
        "fmu",
        "functional mock-up units, FMI 2.0 and 3.0",
        _package,
        what=("dynamics", "outputs"),
        prepares=False,
        samples=True,
    ),
)

"""Models for a microcontroller: C in single precision for a Cortex-M4F, built and measured where its tools are here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trundle.errors import TrundleError
from trundle.languages.c import CTexts
from trundle.languages.language import Function
from trundle.languages.package import Content, Package, Target, filled

_COMPILER, _EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
_UNKNOWN = None, None
_PATIENCE = 300  # s


@dataclass(frozen=True)
class Taken:
    """What calls take: bytes of flash, and by function its instructions, bytes of stack with all that it calls (both
    None where there is no emulator) and of its own.
    """

    tools: str
    flash: int
    total: int
    functions: Mapping[str, tuple[int | None, int | None, int]]


def _package(content: Content) -> Package:
    """NAME.h and NAME.c, what makes a program of them, and what its calls take."""
    code, name = CTexts(content), content.name
    words = {"name": name, **_calls(code)}
    files = {f"{name}.h": code.header(), f"{name}.c": code.source()}
    files["main.c"] = filled("microcontroller/main.c", **words)
    files["Makefile"] = filled("microcontroller/Makefile", **words)
    same = ("startup.c", "board.ld", "semihosting.h", "semihosting.c")
    files |= {file: filled(f"microcontroller/{file}") for file in same}
    try:
        measured = taken(files, name)
    except TrundleError as problem:
        missing = f"not measured: {problem}"
        return Package(files, filled("microcontroller/usage.md", name=name, measured=missing), {}, (missing,))
    usage = filled("microcontroller/usage.md", name=name, measured=_told(measured))
    return Package(files, usage, {"measured": _facts(measured)}, tuple(_notes(measured)))


def _calls(code: CTexts) -> dict[str, str]:
    """A function for every public one that calls it, over one array of work that all share."""
    calls: list[str] = []
    table: list[str] = []
    room = 1
    for function in code.functions:
        if function.public:
            arguments, width = _arguments(code, function)
            name = function.name.removeprefix(f"{code.name}_")
            calls.append(
                f"static void call_{name}(void) {{\n    {function.name}({', '.join(arguments)});\n}}\n"
            )
            table.append(f'    {{"{name}", call_{name}}},')
            room = max(room, width)
    arrays = [f"static float work[{room}];"]
    if code.content.prepared is not None:
        arrays.append(
            f"static float prepared[{code.content.prepared.size}]; /* prepare's row of the table fills it */"
        )
    return {"calls": "\n".join([*arrays, "", *calls]), "table": "\n".join(table)}


def _arguments(code: CTexts, function: Function) -> tuple[list[str], int]:
    """What a function is called with, and how much of the array of work that takes."""
    given: list[str] = []
    at = 0
    for argument in function.arguments:
        group = argument.group
        if group is None:
            given.append("1e-3f")  # a step's time
        elif group == code.content.prepared:
            given.append("prepared")  # its own array: the functions' paths hang on what is in it
        elif group in code.structures:
            given.append(f"&{code.structures[group].type}_defaults")
        else:
            given.append(f"work + {at}" if group.size else "NONE")
            at += group.size
    return given, at


def taken(files: Mapping[str, str], name: str) -> Taken:
    """What the program of a package takes; TrundleError where the tools that build it are missing or fail."""
    for tool in (_COMPILER, "make"):
        if shutil.which(tool) is None:
            raise TrundleError(f"there is no {tool} here")
    with TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        printed = _run(["make", "main.elf"], folder)
        flash = {line.split()[-1]: sum(map(int, line.split()[:2])) for line in printed.splitlines()[-2:]}
        version = _run([_COMPILER, "-dumpversion"], folder).strip()
        stack = _stack((Path(folder) / f"{name}.su").read_text(encoding="utf-8"), f"{name}_")
        counted = _counted(folder)
    functions = {
        function: (*_at_least(counted.get(function, _UNKNOWN), own), own) for function, own in stack.items()
    }
    return Taken(f"{_COMPILER} {version}", flash[f"{name}.o"], flash["main.elf"], functions)


def _counted(folder: str) -> dict[str, tuple[int | None, int | None]]:
    """Instructions and bytes of stack of calls, as the program prints them; none without the emulator."""
    if shutil.which(_EMULATOR) is None:
        return {}
    lines = _run(["make", "-s", "run"], folder).splitlines()
    return {name: (int(count), int(stack)) for name, count, stack in (line.split() for line in lines)}


def _at_least(counted: tuple[int | None, int | None], own: int) -> tuple[int | None, int | None]:
    """With a stack of no less than a function's own: what it reserves and never writes keeps its paint."""
    count, stack = counted
    return count, None if stack is None else max(stack, own)


def _stack(usage: str, prefix: str) -> dict[str, int]:
    """Bytes of stack by function, from what -fstack-usage writes; those of a function's deepest piece are its own."""
    stacks: dict[str, int] = {}
    pieces: dict[str, int] = {}
    for line in usage.splitlines():
        place, size, _ = line.split("\t")
        function = place.rpartition(":")[2]
        if not function.startswith(prefix):
            continue
        name = function.removeprefix(prefix)
        whole, mark, number = name.rpartition("_")
        if mark and number.isdigit():
            pieces[whole] = max(int(size), pieces.get(whole, 0))
        else:
            stacks[name] = int(size)
    return {name: size + pieces.get(name, 0) for name, size in stacks.items()}


def _told(cost: Taken) -> str:
    rows = "\n".join(
        f"| `{name}` | {_or_unknown(count)} | {_or_unknown(stack)} | {own:,} |"
        for name, (count, stack, own) in cost.functions.items()
    )
    flash, total = f"{cost.flash:,}", f"{cost.total:,}"
    return filled("microcontroller/measured.md", tools=cost.tools, flash=flash, total=total, rows=rows)


def _or_unknown(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _notes(cost: Taken) -> Iterator[str]:
    yield f"{cost.flash:,} bytes of flash ({cost.total:,} with math.h's functions, start-up and main.c)"
    for name, (count, stack, own) in cost.functions.items():
        calls = f"no {_EMULATOR} to count instructions" if count is None else f"{count:,} instructions a call"
        deepest = "" if stack is None else f" ({stack:,} with what it calls)"
        yield f"{name}: {calls}, {own:,} bytes of stack{deepest}"


def _facts(cost: Taken) -> dict[str, object]:
    """The same as plain data."""
    keys = ("instructions", "stack", "stack_own")
    functions = {name: dict(zip(keys, numbers, strict=True)) for name, numbers in cost.functions.items()}
    return {"tools": cost.tools, "flash": cost.flash, "flash_in_all": cost.total, "functions": functions}


def _run(command: Sequence[str], folder: str) -> str:
    """What a command prints; TrundleError with its first line of complaint where it fails or takes too long."""
    # a make that calls Trundle hands on options by which this one would print more
    ours = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False, env=ours
        )
    except subprocess.TimeoutExpired:
        raise TrundleError(f"{' '.join(command)} was not done after {_PATIENCE} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        said = next((line for line in lines if "error" in line), lines[0])
        raise TrundleError(f"{' '.join(command)} failed: {said}")
    return done.stdout


PACKAGES = (
    Target(
        "microcontroller",
        "C in single precision with start-up code for a Cortex-M4F, measured where its compiler is",
        _package,
        ("single",),
        ("dynamics",),
        ("kinematics", "odometry"),
    ),
)

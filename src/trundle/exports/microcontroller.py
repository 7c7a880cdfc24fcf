"""Models for a microcontroller: C in single precision for a Cortex-M4F, a control loop of robots on wheels, and what
calls take where the tools that build and run them are here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trundle.errors import TrundleError
from trundle.exports.building import printed
from trundle.exports.control_loop import loop_words
from trundle.languages.c import CTexts
from trundle.languages.language import Function
from trundle.languages.package import Content, Package, Target, filled

_COMPILER, _EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
_UNKNOWN = None, None


@dataclass(frozen=True)
class CallCosts:
    """What calls take: bytes of flash, of the functions, of the program that measures and of the control loop's; and by
    function its instructions, bytes of stack with all that it calls (both None where there is no emulator) and of its
    own.
    """

    tools: str
    flash: int
    total: int
    loop: int | None
    functions: Mapping[str, tuple[int | None, int | None, int]]


def _package(content: Content) -> Package:
    """NAME.h and NAME.c, what makes programs of them, and what their calls take."""
    code, name = CTexts(content), content.name
    loop = loop_words(content)
    files = {f"{name}.h": code.header(), f"{name}.c": code.source()}
    if loop is not None:
        own = ("control.h", "control.c", "main.c")
        files |= {file: filled(f"microcontroller/{file}", **loop) for file in own}
    files["benchmark.c"] = filled("microcontroller/benchmark.c", name=name, **_benchmark_words(code, loop))
    files["Makefile"] = filled(
        "microcontroller/Makefile", name=name, **_makefile_words(name, loop is not None)
    )
    same = ("startup.c", "board.ld", "semihosting.h", "semihosting.c")
    files |= {file: filled(f"microcontroller/{file}") for file in same}
    usage = filled("microcontroller/usage.md", name=name)
    if loop is not None:
        usage += filled("microcontroller/loop.md", name=name)
    try:
        measured = call_costs(files, name)
    except TrundleError as problem:
        missing = f"not measured: {problem}"
        return Package(files, f"{usage}\n{missing}\n", {}, (missing,))
    return Package(
        files, f"{usage}\n{_costs_text(measured)}", {"measured": _facts(measured)}, tuple(_notes(measured))
    )


def _makefile_words(name: str, loop: bool) -> dict[str, str]:
    """What is filled into the makefile."""
    programs = ["main", "benchmark"] if loop else ["benchmark"]
    told = "run: the control loop under QEMU; make benchmark: what a call takes, there." if loop else ""
    return {
        "programs": " ".join(f"{each}.elf" for each in programs),
        "program_objects": " ".join(f"{each}.o" for each in programs),
        "runs": told or "benchmark: what a call takes under QEMU, which has a board with this core.",
        "objects": f"{name}.o control.o" if loop else f"{name}.o",
        "headers": f"{name}.h control.h" if loop else f"{name}.h",
        "run": filled("microcontroller/run.mk") if loop else "",
        "run_phony": " run" if loop else "",
    }


def _benchmark_words(code: CTexts, loop: Mapping[str, str] | None) -> dict[str, str]:
    """A function for every public one that calls it, over one array of work that all share; and the loop."""
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
    words = {"included": "", "begun": "", "calls": "\n".join([*arrays, "", *calls])}
    if loop is not None:
        words["included"] = '#include "control.h"\n'
        words["begun"] = filled("microcontroller/begun.c", name=code.name)
        words["calls"] += "\n" + filled("microcontroller/board.c", **loop)
        table.append('    {"on_timer", on_timer},')
    return {**words, "table": "\n".join(table)}


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


def call_costs(files: Mapping[str, str], name: str) -> CallCosts:
    """What the program of a package takes; TrundleError where the tools that build it are missing or fail."""
    for tool in (_COMPILER, "make"):
        if shutil.which(tool) is None:
            raise TrundleError(f"there is no {tool} here")
    with TemporaryDirectory() as folder:
        for file, text in files.items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        built = printed(["make"], folder)
        flash = {
            line.split()[-1]: sum(map(int, line.split()[:2]))
            for line in built.splitlines()
            if re.fullmatch(r"[\d\s]+[0-9a-f]+\s\S+", line)
        }
        version = printed([_COMPILER, "-dumpversion"], folder).strip()
        stack = _stack((Path(folder) / f"{name}.su").read_text(encoding="utf-8"), f"{name}_")
        if "control.c" in files:
            stack |= _stack((Path(folder) / "control.su").read_text(encoding="utf-8"), "", ("on_timer",))
        counted = _counted(folder)
    functions = {
        function: (*_at_least(counted.get(function, _UNKNOWN), own), own) for function, own in stack.items()
    }
    sizes = flash[f"{name}.o"], flash["benchmark.elf"], flash.get("main.elf")
    return CallCosts(f"{_COMPILER} {version}", *sizes, functions)


def _counted(folder: str) -> dict[str, tuple[int | None, int | None]]:
    """Instructions and bytes of stack of calls, as the program prints them; none without the emulator."""
    if shutil.which(_EMULATOR) is None:
        return {}
    lines = printed(["make", "-s", "benchmark"], folder).splitlines()
    return {name: (int(count), int(stack)) for name, count, stack in (line.split() for line in lines)}


def _at_least(counted: tuple[int | None, int | None], own: int) -> tuple[int | None, int | None]:
    """With a stack of no less than a function's own: what it reserves and never writes keeps its paint."""
    count, stack = counted
    return count, None if stack is None else max(stack, own)


def _stack(usage: str, prefix: str, only: Sequence[str] = ()) -> dict[str, int]:
    """Bytes of stack by function, from what -fstack-usage writes; those of a function's deepest piece are its own."""
    stacks: dict[str, int] = {}
    pieces: dict[str, int] = {}
    for line in usage.splitlines():
        place, size, _ = line.split("\t")
        function = place.rpartition(":")[2]
        if not function.startswith(prefix) or (only and function not in only):
            continue
        name = function.removeprefix(prefix)
        whole, mark, number = name.rpartition("_")
        if mark and number.isdigit():
            pieces[whole] = max(int(size), pieces.get(whole, 0))
        else:
            stacks[name] = int(size)
    return {name: size + pieces.get(name, 0) for name, size in stacks.items()}


def _costs_text(cost: CallCosts) -> str:
    """What calls cost, as a table of the README."""
    rows = "\n".join(
        f"| `{name}` | {_or_unknown(count)} | {_or_unknown(stack)} | {own:,} |"
        for name, (count, stack, own) in cost.functions.items()
    )
    loop = "" if cost.loop is None else f", the control loop's {cost.loop:,}"
    return filled(
        "microcontroller/measured.md",
        tools=cost.tools,
        flash=f"{cost.flash:,}",
        total=f"{cost.total:,}",
        loop=loop,
        rows=rows,
    )


def _or_unknown(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _notes(cost: CallCosts) -> Iterator[str]:
    yield f"{cost.flash:,} bytes of flash ({cost.total:,} with math.h's functions, start-up and benchmark.c)"
    if cost.loop is not None:
        yield f"{cost.loop:,} bytes of flash for the control loop's whole program"
    for name, (count, stack, own) in cost.functions.items():
        calls = f"no {_EMULATOR} to count instructions" if count is None else f"{count:,} instructions a call"
        deepest = "" if stack is None else f" ({stack:,} with what it calls)"
        yield f"{name}: {calls}, {own:,} bytes of stack{deepest}"


def _facts(cost: CallCosts) -> dict[str, object]:
    """The same as plain data."""
    keys = ("instructions", "stack", "stack_own")
    functions = {name: dict(zip(keys, numbers, strict=True)) for name, numbers in cost.functions.items()}
    sizes = {"flash": cost.flash, "flash_in_all": cost.total}
    if cost.loop is not None:
        sizes["flash_of_loop"] = cost.loop
    return {"tools": cost.tools, **sizes, "functions": functions}


PACKAGES = (
    Target(
        "microcontroller",
        "C in single precision with start-up code for a Cortex-M4F, measured where its compiler is",
        _package,
        ("single",),
        ("dynamics",),
        ("kinematics", "commands", "odometry"),
    ),
)

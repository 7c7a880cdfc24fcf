"""NVIDIA's assembler, what the driver runs within: what it makes of a kernel's PTX, and what it says of it.

It comes in the wheel nvidia-cuda-nvcc-cu12, a peer of tests and benchmarks; nothing in the package needs it.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from trundle.gpu.ptx import Ptx
from trundle.operating_system import is_windows

WHEEL = "nvidia-cuda-nvcc-cu12"


@dataclass(frozen=True)
class Assembled:
    """What the assembler took and says: CPU seconds; registers a thread; bytes a thread of its stack, stored in spills,
    and read from them.
    """

    seconds: float
    registers: int
    stack: int
    stored: int
    loaded: int


def assembler() -> Path | None:
    """Where ptxas is, if its wheel is installed."""
    found = find_spec("nvidia")
    name = "ptxas.exe" if is_windows() else "ptxas"
    for place in (found.submodule_search_locations or ()) if found else ():
        path = Path(place) / "cuda_nvcc" / "bin" / name
        if path.exists():
            return path
    return None


def assembled(kernel: Ptx) -> Assembled | None:
    """What ptxas says of a kernel; None where it isn't there. RuntimeError where it refuses the kernel."""
    program = assembler()
    if program is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(kernel.text)
        options = ["-v", f"-arch={kernel.target}", "-o", str(path.with_suffix(".cubin"))]
        before = os.times()
        done = subprocess.run([str(program), *options, str(path)], capture_output=True, text=True)
        after = os.times()
    if done.returncode:
        raise RuntimeError(done.stderr)
    seconds = after.children_user + after.children_system - before.children_user - before.children_system

    def counted(pattern: str) -> list[int]:
        return [int(number) for number in re.findall(pattern, done.stderr)]

    return Assembled(
        seconds,
        max(counted(r"Used (\d+) registers")),
        *(sum(counted(rf"(\d+) bytes {what}")) for what in ("stack frame", "spill stores", "spill loads")),
    )

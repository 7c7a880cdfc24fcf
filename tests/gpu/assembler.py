"""NVIDIA's assembler, a peer: what it makes of PTX, and what it says of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from trundle.gpu.ptx import Ptx


@dataclass(frozen=True)
class Assembled:
    """What the assembler says: CPU seconds, registers a thread, bytes of the stack and of spills stored."""

    seconds: float
    registers: int
    stack: int
    spills: int


def assembler() -> Path | None:
    """Where ptxas is: in the wheel nvidia-cuda-nvcc-cu12, if that is installed."""
    found = find_spec("nvidia")
    name = "ptxas.exe" if sys.platform == "win32" else "ptxas"
    for place in (found.submodule_search_locations or ()) if found else ():
        path = Path(place) / "cuda_nvcc" / "bin" / name
        if path.exists():
            return path
    return None


def assembled(kernel: Ptx) -> Assembled:
    """What ptxas says of a kernel; the test skips where it isn't there, and fails where it refuses the kernel."""
    program = assembler()
    if program is None:
        pytest.skip("ptxas isn't there: pip install nvidia-cuda-nvcc-cu12")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(kernel.text)
        options = ["-v", f"-arch={kernel.target}", "-o", str(path.with_suffix(".cubin"))]
        before = os.times()
        done = subprocess.run([str(program), *options, str(path)], capture_output=True, text=True)
        after = os.times()
    assert done.returncode == 0, done.stderr
    registers = max(int(number) for number in re.findall(r"Used (\d+) registers", done.stderr))
    stack, spills = (
        sum(int(number) for number in re.findall(rf"(\d+) bytes {what}", done.stderr))
        for what in ("stack frame", "spill stores")
    )
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Assembled(seconds, registers, stack, spills)


def seconds_of_cpu() -> float:
    """This process's CPU time."""
    return time.process_time()

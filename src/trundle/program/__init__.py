"""Straight-line programs, their derivatives, and the native kernels that run them."""

from __future__ import annotations

from trundle.program.composition import feed, split
from trundle.program.ir import Group, Instruction, Program
from trundle.program.kernel import Kernel, compile_program
from trundle.program.trace import trace
from trundle.program.tracer import Tracer

__all__ = ["Group", "Instruction", "Kernel", "Program", "Tracer", "compile_program", "feed", "split", "trace"]

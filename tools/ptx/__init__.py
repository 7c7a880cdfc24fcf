"""PTX run on this machine: the instructions that Trundle's kernels consist of, by NumPy, all threads at once.

What the driver of a GPU would run, without one: `parse` reads the text, a `Machine` holds memory and launches kernels.
Sums, products, quotients, roots and fused sums are those of IEEE 754, as on a GPU; an instruction that isn't known
here, an address outside of a buffer, and two threads that write to one place are errors.
"""

from tools.ptx.machine import Machine
from tools.ptx.text import Module, PTXError, parse

__all__ = ["Machine", "Module", "PTXError", "parse"]

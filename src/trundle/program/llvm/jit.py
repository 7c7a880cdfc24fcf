"""LLVM IR as text, and machine code made of it in this process, which is kept as long as a program needs it.

Text is the fastest way in that llvmlite offers: fresh names, widths, constants.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from trundle.operating_system import c_function
from trundle.program.llvm.real import DOUBLE, RealFormat

if TYPE_CHECKING:
    import llvmlite.binding as llvm

LOCK = threading.Lock()  # LLVM's global context is not made for several threads
KEPT = 64
"""Contents whose code is kept though no program has it any more: of some ten robots at 0.1 to 2 MB each."""
SHORT = 600
"""Values of a block in code that is compiled quickly. LLVM's time grows faster than a block, and its fast choice of
registers spills less of short ones: a step of Rocky 7 takes 0.19 s to compile in place of 0.24, and 0.8 of the time to
run. With 300 or 1,000 both are alike within a tenth."""
_FROM = re.compile(r"%([\w.]+) \]")  # whence a phi's value comes
FAST = "contract reassoc nsz arcp"
"""Flags on ordinary arithmetic: fuse, reorder, divide by reciprocals; NaN and infinity stay honest."""


class Code:
    """A growing function body; ``width`` is the number of lanes of its vectors (1: plain scalars), ``real`` the kind of
    its numbers. ``device``: it is for a graphics processor, where there is no C library and no memory of this process.
    """

    def __init__(self, width: int, real: RealFormat = DOUBLE, *, device: bool = False) -> None:
        """An empty body."""
        self.width, self.real, self.device = width, real, device
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.symbols: set[str] = set()  # names of C functions that the code calls
        self.functions: list[str] = []  # whole functions that this body calls
        self.kept: list[object] = []  # what must live as long as the code: it reads their memory
        self.arrays: dict[
            str, str
        ] = {}  # constant arrays by their names, where the code has no memory of the host
        self._names = 0

    def sibling(self) -> Code:
        """An empty body of another function, for the same machine."""
        return Code(self.width, self.real, device=self.device)

    def add_function(self, name: str, signature: str, body: Code) -> None:
        """Add a function of the module, with what it declares and calls."""
        self.functions.append(f"define internal void @{name}({signature}) noinline #0 {{\nentry:\n")
        self.functions += ["\n".join(body.lines), "\n}\n"]
        self.declarations |= body.declarations
        self.symbols |= body.symbols
        self.kept += body.kept
        self.arrays |= body.arrays

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def new(self, text: str) -> str:
        """Append an instruction and return the fresh name of its result."""
        self._names += 1
        self.lines.append(f"  %v{self._names} = {text}")
        return f"%v{self._names}"

    def label(self, name: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{name}:")

    def declare(self, name: str, result: str, *args: str) -> None:
        """Declare an outside function or intrinsic, once."""
        self.declarations.add(f"declare {result} @{name}({', '.join(args)})")

    def call(self, name: str, type_: str, *args: str, flags: str = "") -> str:
        """Call a function whose arguments and result all have ``type_``."""
        self.declare(name, type_, *[type_] * len(args))
        operands = ", ".join(f"{type_} {a}" for a in args)
        return self.new(f"call {flags} {type_} @{name}({operands})")

    def type(self, width: int) -> str:
        """The type of a number, or of a vector of them."""
        return type_of(width, self.real.name)

    def word(self, width: int) -> str:
        """The integers of the same size."""
        return type_of(width, self.real.word)

    def suffix(self, width: int) -> str:
        """The type's name inside an intrinsic's."""
        return suffix(width, self.real.suffix)

    def constant(self, value: float, width: int) -> str:
        """A number, in every lane."""
        text = self.real.number(value)
        return text if width == 1 else f"splat ({self.real.name} {text})"

    def integer(self, value: int, width: int) -> str:
        """An integer of the same size, in every lane."""
        return str(value) if width == 1 else f"splat ({self.real.word} {value})"

    def splat(self, scalar: str, element: str | None = None) -> str:
        """A vector with ``scalar`` in every lane."""
        element = self.real.name if element is None else element
        if self.width == 1:
            return scalar
        if not scalar.startswith("%"):
            return f"splat ({element} {scalar})"
        vector = f"<{self.width} x {element}>"
        first = self.new(f"insertelement {vector} poison, {element} {scalar}, i64 0")
        return self.new(
            f"shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer"
        )


def number(value: float) -> str:
    """A double constant as LLVM text, exact to the last bit."""
    return DOUBLE.number(value)


def type_of(width: int, element: str = "double") -> str:
    """``double`` or ``<8 x double>``."""
    return element if width == 1 else f"<{width} x {element}>"


def suffix(width: int, element: str = "f64") -> str:
    """The type's name inside an intrinsic's: ``f64`` or ``v8f64``."""
    return element if width == 1 else f"v{width}{element}"


def pointer(code: Code, table_index: int) -> str:
    """Load an address from the table."""
    slot = code.new(f"getelementptr i64, ptr %table, i64 {table_index}")
    return code.new(f"load ptr, ptr {slot}, !invariant.load !0")


def integer_word(code: Code, table_index: int) -> str:
    """Load an integer from the table."""
    slot = code.new(f"getelementptr i64, ptr %table, i64 {table_index}")
    return code.new(f"load i64, ptr {slot}, align 8, !invariant.load !0")


def element(code: Code, base: str, index: str) -> str:
    """Address of the number ``index`` of an array."""
    return code.new(f"getelementptr {code.real.name}, ptr {base}, i64 {index}")


def load(code: Code, address: str, lanes: int) -> str:
    """Load a number, or a vector of them (aligned as a number only)."""
    return code.new(f"load {code.type(lanes)}, ptr {address}, align {code.real.bytes}")


def store(code: Code, value: str, address: str, lanes: int) -> None:
    """Store a number, or a vector of them (aligned as a number only)."""
    code.do(f"store {code.type(lanes)} {value}, ptr {address}, align {code.real.bytes}")


def combined(code: Code, op: str, vector: str, lanes: int, element: str) -> str:
    """All elements of a vector of integers or bits by "and" or "or"."""
    name, t = f"llvm.vector.reduce.{op}.{suffix(lanes, element)}", type_of(lanes, element)
    code.declare(name, element, t)
    return code.new(f"call {element} @{name}({t} {vector})")


@dataclass(frozen=True)
class Host:
    """The machine compiled for: its name and features, lanes a vector, lanes of one of its registers, whether
    multiply-add is fused.
    """

    cpu: str
    features: str
    lanes: int
    register: int
    fused: bool

    def machine(self, opt: int = 2) -> llvm.TargetMachine:
        """A new LLVM target machine, with how hard it tries (0 to 3); an engine takes ownership of its own."""
        import llvmlite.binding as llvm

        target = llvm.Target.from_default_triple()
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=opt, jit=True)


@cache
def host() -> Host:
    """Initialise LLVM for this machine, once."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    fused = bool(features.get("fma")) or "aarch64" in llvm.get_default_triple()
    register = 8 if features.get("avx512f") else 4
    return Host(llvm.get_host_cpu_name(), features.flatten(), 8, register, fused)


@dataclass(frozen=True)
class Compiled:
    """A native function and what keeps it alive, with what it reads of its own."""

    address: int
    engine: llvm.ExecutionEngine
    kept: tuple[object, ...] = ()


def assemble(
    code: Code, signature: str, *, thorough: bool = False, quick: bool = False, returns: str = "void"
) -> Compiled:
    """Compile the body ``code`` of ``define void @main(signature)``, or of another type that it ``returns``.

    The code comes with its common parts shared and its invariants hoisted, so a single pass that reorders sums
    and products is all that pays: measured on a rollout of 66 operations, it takes 1 ms and gives 1.05 times the
    speed, LLVM's -O1 takes 13 ms (``thorough``) and gives 1.10, -O2 takes 17 ms and gives 1.09.
    ``quick`` leaves that pass out, and the choice of instructions and registers to LLVM's fast ones: 40,000 operations
    on one state (a humanoid with gears) then take 0.9 s in place of 3.1, and a call 17 µs in place of 15.
    Writing object code to disk was left out: code generation takes 5 to 15 ms, importing llvmlite alone 20.
    """
    import llvmlite.binding as llvm

    with LOCK:
        machine = host().machine(0 if quick else 2)
        for name in code.symbols:
            if llvm.address_of_symbol(name) is None:
                llvm.add_symbol(name, c_function(name))
        if quick:
            code.lines = in_short_blocks(code.lines)
        module = llvm.parse_assembly(text(code, signature, returns))
        if not quick:
            optimise(module, thorough)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return Compiled(engine.get_function_address("main"), engine, tuple(code.kept))


def text(code: Code, signature: str, returns: str = "void") -> str:
    """The whole module as LLVM text."""
    body = "\n".join(code.lines)
    # 512-bit registers: LLVM's default for several processors that have them is 256. With a frame pointer LLVM
    # can align its stack to 64 bytes; without, every spilled vector straddles two cache lines (1.4 times slower).
    attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" "frame-pointer"="all" }'
    head = [f"define {returns} @main({signature}) #0 {{", "entry:", body, "}"]
    arrays = "".join(f"{each}\n" for each in code.arrays.values())
    return (
        arrays
        + "".join(code.functions)
        + "\n".join([*head, *sorted(code.declarations), attributes, "!0 = !{}"])
    )


def in_short_blocks(lines: Sequence[str]) -> list[str]:
    """A body with its long blocks cut into shorter ones, which lead from one to the next."""
    made: list[str] = []
    ends = {"entry": "entry"}  # by block, its last part
    block, count = "entry", 0
    for line in lines:
        made.append(line)
        if line.endswith(":"):
            block, count = line[:-1], 0
            ends[block] = block
        elif line.startswith("  %v"):
            count += 1
            if count == SHORT:
                count, ends[block] = 0, f"cut{len(made)}"
                made += [f"  br label %{ends[block]}", f"{ends[block]}:"]
    return [_FROM.sub(lambda at: f"%{ends[at[1]]} ]", line) if " phi " in line else line for line in made]


def optimise(module: llvm.ModuleRef, thorough: bool) -> None:
    """Reorder sums and products; thorough is LLVM's -O1."""
    builder, reassociation = _passes()
    passes = builder.getModulePassManager() if thorough else reassociation
    passes.run(module, builder)


@cache
def _passes() -> tuple[llvm.PassBuilder, llvm.ModulePassManager]:
    """LLVM's builder of passes, and the one pass that sums and products get, kept: any other that has run leaks some
    30 kB in llvmlite 0.50. (Its -O1 can't run twice: LLVM moves its inliner away.)
    """
    import llvmlite.binding as llvm

    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False  # the code is vector code already
    options.loop_unrolling = False
    reassociation = llvm.create_new_module_pass_manager()
    reassociation.add_reassociate_pass()
    return llvm.create_pass_builder(host().machine(), options), reassociation


class MachineCode(dict[Hashable, Compiled]):
    """The native functions made for one content, by what they are for."""

    def of(self, what: Hashable, make: Callable[[], Compiled]) -> Compiled:
        """The one for `what`. Where two threads make it the first counts: its address may be in use."""
        if what in self:
            return self[what]
        return self.setdefault(what, make())


_ALIVE: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()
_RECENT: OrderedDict[str, MachineCode] = OrderedDict()
_KEEPING = threading.Lock()


def machine_code(key: str) -> MachineCode:
    """The code of a content by its digest, shared by all who ask; whoever calls it must hold it."""
    with _KEEPING:
        code = _ALIVE.get(key)
        if code is None:
            code = _ALIVE[key] = MachineCode()
        _RECENT[key] = code
        _RECENT.move_to_end(key)
        if len(_RECENT) > KEPT:
            _RECENT.popitem(last=False)
        return code

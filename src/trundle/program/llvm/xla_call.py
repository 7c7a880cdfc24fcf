"""Native code as XLA calls it: a handler of its foreign function interface around a kernel.

The interface is C (xla/ffi/api/c_api.h, versions 0.1 to 0.3): a handler takes a frame with the buffers of arguments and
results, and returns no error. It has no state of its own, so that XLA may call it from any thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.program.ir import Program
from trundle.program.llvm.jit import Code, Compiled, assemble

SIGNATURE = "ptr %frame"
# Offsets in bytes. A frame: its extensions, the arrays of buffers of arguments and of results.
_EXTENSION, _ARGUMENTS, _RESULTS = 8, 72, 112
# An extension: its type (1: XLA asks for the handler's version), where the answer goes; in the answer: the two numbers.
_TYPE, _METADATA, _MAJOR, _MINOR = 8, 24, 24, 28
# A buffer: its numbers, its dimensions.
_DATA, _DIMENSIONS = 24, 40


def handler(program: Program, kernel: int, batched: Sequence[bool], version: int, *, whole: bool) -> Compiled:
    """A handler of a program's groups: float64 (n,), or (count, n) where `batched`, one of them at least if any.

    Parameters
    ----------
    program : Program
        What the kernel computes; its results are (n,), or (count, n) where an argument is a batch.
    kernel : int
        The address of native code: of one state, called for all rows in turn; or, if `whole`, of a batch with one lane
        a column, whose arguments and results are (n, count).
    batched : sequence of bool
        One an input group.
    version : int
        The interface's minor version.
    whole : bool
        Which kernel it is.

    Returns
    -------
    Compiled
        A function of a frame.

    Raises
    ------
    NumericsError
        LLVM can't compile it.

    Examples
    --------
    >>> import trundle
    >>> from trundle.program import compile_program
    >>> from trundle.program.llvm.xla_call import handler
    >>> program = trundle.derive(trundle.catalog.pendulum()).dynamics
    >>> kernel = compile_program(program).native()
    >>> handler(program, kernel.address, (False,) * 3, 3, whole=False).address > 0
    True
    """
    code = Code(1)
    _answer_about_version(code, version)
    sizes = [group.size for group in (*program.inputs, *program.outputs)]
    many = [*batched, *[any(batched)] * len(program.outputs)]
    data = _buffers(code, len(program.inputs), _ARGUMENTS) + _buffers(code, len(program.outputs), _RESULTS)
    count = _count(code, batched, axis=1 if whole else 0)
    table = code.new(f"alloca i64, i64 {2 * len(sizes) + 1}, align 8")
    for k, address in enumerate(data):
        _put(code, table, k, code.new(f"ptrtoint ptr {address} to i64"))
    target = code.new(f"inttoptr i64 {kernel} to ptr")
    if whole:
        _put(code, table, len(sizes), count)
        for k, is_batch in enumerate(many):
            _put(code, table, len(sizes) + 1 + k, count if is_batch else "1")
        code.do(f"call void {target}(ptr {table}, i64 0, i64 {count})")
    else:
        _for_every_row(
            code, target, table, count, [8 * n if b else 0 for n, b in zip(sizes, many, strict=True)]
        )
    code.do("ret ptr null")
    return assemble(code, SIGNATURE, returns="ptr")


def _answer_about_version(code: Code, version: int) -> None:
    """XLA asks every handler once which version of the interface it was made for, and computes nothing then."""
    extension = _load(code, "ptr", "%frame", _EXTENSION)
    code.do(f"br i1 {code.new(f'icmp eq ptr {extension}, null')}, label %compute, label %asked")
    code.label("asked")
    kind = _load(code, "i32", extension, _TYPE)
    code.do(f"br i1 {code.new(f'icmp eq i32 {kind}, 1')}, label %answer, label %compute")
    code.label("answer")
    metadata = _load(code, "ptr", extension, _METADATA)
    code.do(f"store i32 0, ptr {_at(code, metadata, _MAJOR)}")
    code.do(f"store i32 {version}, ptr {_at(code, metadata, _MINOR)}")
    code.do("ret ptr null")
    code.label("compute")


def _buffers(code: Code, number: int, place: int) -> list[str]:
    """Where the numbers of arguments or results lie."""
    array = _load(code, "ptr", "%frame", place)
    return [_load(code, "ptr", _load(code, "ptr", array, 8 * k), _DATA) for k in range(number)]


def _count(code: Code, batched: Sequence[bool], axis: int) -> str:
    """How many states the first batch holds, 1 where there is none."""
    if not any(batched):
        return "1"
    buffer = _load(code, "ptr", _load(code, "ptr", "%frame", _ARGUMENTS), 8 * list(batched).index(True))
    return _load(code, "i64", _load(code, "ptr", buffer, _DIMENSIONS), 8 * axis)


def _for_every_row(code: Code, target: str, table: str, count: str, steps: Sequence[int]) -> None:
    """One call a state, the addresses going on by `steps` bytes."""
    row = code.new("alloca i64, align 8")
    code.do(f"store i64 0, ptr {row}")
    code.do("br label %next")
    code.label("next")
    now = code.new(f"load i64, ptr {row}")
    code.do(f"br i1 {code.new(f'icmp slt i64 {now}, {count}')}, label %row, label %done")
    code.label("row")
    code.do(f"call void {target}(ptr {table})")
    for k, step in enumerate(steps):
        if step:
            slot = _at(code, table, 8 * k)
            moved = code.new(f"add i64 {code.new(f'load i64, ptr {slot}')}, {step}")
            code.do(f"store i64 {moved}, ptr {slot}")
    code.do(f"store i64 {code.new(f'add i64 {now}, 1')}, ptr {row}")
    code.do("br label %next")
    code.label("done")


def _at(code: Code, base: str, offset: int) -> str:
    return code.new(f"getelementptr i8, ptr {base}, i64 {offset}")


def _load(code: Code, kind: str, base: str, offset: int) -> str:
    return code.new(f"load {kind}, ptr {_at(code, base, offset)}")


def _put(code: Code, table: str, slot: int, value: str) -> None:
    code.do(f"store i64 {value}, ptr {_at(code, table, 8 * slot)}")

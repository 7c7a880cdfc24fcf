"""Programs as operations of JAX: on a CPU the kernels themselves, elsewhere their text; derivatives by our programs.

XLA takes minutes to compile some thousand scalar operations, and their derivatives longer. So a long program is one
operation, which XLA calls through its foreign function interface. Its derivative along changes is a program too
(`program.trace.along`), and the transposed of that (`against`): forward and reverse mode of every order cost a few
times what the program costs, and compile in seconds.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.typing import ArrayLike

from trundle.errors import warn
from trundle.languages import JAX, source
from trundle.languages.python import IN_SINGLE
from trundle.program import Program, compile_program
from trundle.program.llvm.jit import Compiled
from trundle.program.llvm.xla_call import handler
from trundle.program.trace import against, along

LONG = 400
"""Operations from which on XLA calls a kernel; fewer it compiles in a second, joined with what stands around them."""
WHOLE = 256
"""States from which on a batch pays for code of its own; for fewer, one state's code is called for all in turn."""
VERSIONS = range(1, 4)
"""Minor versions of XLA's foreign function interface 0 that `llvm.xla_call` is written for."""


@dataclass(frozen=True, eq=False)
class JaxOperation:
    """A program that JAX differentiates, and the places of the input groups in which it is linear."""

    program: Program
    linear: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JaxOperation) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[str, tuple[int, ...]]:
        return self.program.key, self.linear

    def __call__(self, *groups: Array) -> list[Array]:
        """The output groups (n,), of arrays (n,); (count, n) where one of them is (count, n)."""
        return PROGRAM.bind(*groups, of=self)

    @cached_property
    def _derived(self) -> dict[tuple[int, ...], JaxOperation]:
        return {}

    def along(self, places: tuple[int, ...]) -> JaxOperation:
        """Its derivative along changes of groups, which come behind its own."""
        if places not in self._derived:
            own = len(self.program.inputs)
            linear = tuple(range(own, own + len(places)))
            self._derived[places] = JaxOperation(along(self.program, places), linear)
        return self._derived[places]

    @cached_property
    def transposed(self) -> JaxOperation:
        """From the other groups and a weight of every output to the groups in which it is linear."""
        others = len(self.program.inputs) - len(self.linear)
        linear = tuple(range(others, others + len(self.program.outputs)))
        return JaxOperation(against(self.program, self.linear), linear)

    @cached_property
    def text(self) -> Callable[..., Array | tuple[Array, ...]]:
        """The program as a function of JAX's own operations, of groups (n,) or (n, count)."""
        space: dict[str, Any] = {"__name__": "trundle"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `function_of` says where numbers are single
            exec(source({"program": self.program}, JAX), space)
        return space["program"]

    def as_text(self, *groups: Array) -> list[Array]:
        """The outputs by JAX's own operations."""
        count = _count(groups)
        found = self.text(*(group.T for group in groups))
        results = found if isinstance(found, tuple) else (found,)
        if count is None:
            return list(results)
        wide = [result if result.ndim == 2 else result[:, None] for result in results]
        return [jnp.broadcast_to(result, (len(result), count)).T for result in wide]

    def as_kernel(self, *groups: Array) -> list[Array]:
        """The outputs by native code."""
        count = _count(groups)
        whole = count is not None and count >= WHOLE
        batched = tuple(group.ndim == 2 for group in groups)
        lead = () if count is None else (count,)
        sizes = [group.size for group in self.program.outputs]
        shapes = [(n, *lead) if whole else (*lead, n) for n in sizes]
        call = jax.ffi.ffi_call(
            _registered(self, batched, whole), [jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes]
        )
        found = call(*(group.T if whole else group for group in groups))
        return [result.T if whole else result for result in found]


def function_of(
    program: Program, names: Sequence[str], defaults: Sequence[tuple[float, ...]]
) -> Callable[..., object]:
    """A program as a function of JAX's arrays, (n,) or (n, count), whose last groups have defaults.

    Parameters
    ----------
    program : Program
        What is called.
    names : sequence of str
        What its input groups are called as arguments.
    defaults : sequence of tuples
        Numbers of the last groups, where they aren't given.

    Returns
    -------
    function
        It returns an array, or a tuple where the program has several groups of outputs.
    """
    if jnp.zeros(0).dtype != np.float64:
        warn(IN_SINGLE)
    operation, sizes = JaxOperation(program), [group.size for group in program.inputs]
    last = names[len(names) - len(defaults) :]
    parameters = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=dict(zip(last, defaults, strict=True)).get(name, Parameter.empty),
        )
        for name in names
    ]
    signature = Signature(parameters)

    def function(*groups: ArrayLike, **named: ArrayLike) -> Array | tuple[Array, ...]:
        given = signature.bind(*groups, **named)
        given.apply_defaults()
        taken = [
            _group(name, value, n) for (name, value), n in zip(given.arguments.items(), sizes, strict=True)
        ]
        results = operation(*(group.T for group in taken))
        turned = tuple(result.T for result in results)
        return turned[0] if len(turned) == 1 else turned

    function.__signature__ = signature  # type: ignore[attr-defined]  # what `help` shows
    return function


def _group(name: str, value: ArrayLike, size: int) -> Array:
    numbers = jnp.asarray(value, dtype=float)
    if numbers.shape[:1] != (size,) or numbers.ndim > 2:
        raise ValueError(f"{name} must have shape ({size},) or ({size}, count), got {numbers.shape}")
    return numbers


PROGRAM = Primitive("trundle_program")
PROGRAM.multiple_results = True


def _count(groups: Sequence[Array] | Sequence[ShapedArray]) -> int | None:
    return next((group.shape[0] for group in groups if group.ndim == 2), None)


@PROGRAM.def_impl
def _evaluated(*groups: Array, of: JaxOperation) -> list[Array]:
    return _compiled(of)(*groups)


@cache
def _compiled(of: JaxOperation) -> Callable[..., list[Array]]:
    return jax.jit(of)


@PROGRAM.def_abstract_eval
def _shapes(*groups: ShapedArray, of: JaxOperation) -> list[ShapedArray]:
    count = _count(groups)
    lead = () if count is None else (count,)
    return [ShapedArray((*lead, group.size), groups[0].dtype) for group in of.program.outputs]


def _changed(
    groups: Sequence[Array], changes: Sequence[Array], of: JaxOperation
) -> tuple[list[Array], list[Array]]:
    places = tuple(k for k, change in enumerate(changes) if not isinstance(change, ad.Zero))
    rates = of.along(places)(*groups, *(changes[k] for k in places))
    return of(*groups), rates


def _transposed(weights: Sequence[Array], *groups: Array, of: JaxOperation) -> list[Array | None]:
    others = [group for k, group in enumerate(groups) if k not in of.linear]
    found = of.transposed(*others, *map(ad.instantiate_zeros, weights))
    results: list[Array | None] = [None] * len(groups)
    for place, part in zip(of.linear, found, strict=True):
        # what all states of a batch share gets the sum of what it does to them
        results[place] = part.sum(0) if part.ndim > groups[place].aval.ndim else part
    return results


def _mapped(
    groups: Sequence[Array], axes: Sequence[int | None], of: JaxOperation
) -> tuple[list[Array], list[int]]:
    """One axis more; a batch in a batch is a long one."""
    moved = [
        group if axis is None else jnp.moveaxis(group, axis, 0)
        for group, axis in zip(groups, axes, strict=True)
    ]
    count = next(len(group) for group, axis in zip(moved, axes, strict=True) if axis is not None)
    inner = next(
        (g.shape[-2] for g, axis in zip(moved, axes, strict=True) if g.ndim - (axis is not None) == 2), None
    )
    if inner is None:
        return of(*moved), [0] * len(of.program.outputs)
    flat: list[Array] = []
    for group, axis in zip(moved, axes, strict=True):
        if axis is None and group.ndim == 1:
            flat.append(group)
            continue
        wide = group[None] if axis is None else group[:, None] if group.ndim == 2 else group
        wide = jnp.broadcast_to(wide, (count, inner, group.shape[-1]))
        flat.append(wide.reshape(count * inner, group.shape[-1]))
    found = of(*flat)
    return [part.reshape(count, inner, part.shape[-1]) for part in found], [0] * len(found)


ad.primitive_jvps[PROGRAM] = _changed
ad.primitive_transposes[PROGRAM] = _transposed
batching.primitive_batchers[PROGRAM] = _mapped


def _on_a_cpu(context: mlir.LoweringRuleContext, *groups: Array, of: JaxOperation) -> Sequence[mlir.ir.Value]:
    wide = all(isinstance(aval, ShapedArray) and aval.dtype == np.float64 for aval in context.avals_in)
    native = wide and of.program.operations >= LONG and _version() is not None
    how = of.as_kernel if native else of.as_text
    return mlir.lower_fun(how, multiple_results=True)(context, *groups)


def _by_text(context: mlir.LoweringRuleContext, *groups: Array, of: JaxOperation) -> Sequence[mlir.ir.Value]:
    return mlir.lower_fun(of.as_text, multiple_results=True)(context, *groups)


mlir.register_lowering(PROGRAM, _by_text)
mlir.register_lowering(PROGRAM, _on_a_cpu, platform="cpu")

# What XLA calls stays: compiled functions of JAX hold no more than its name.
_HANDLERS: dict[str, tuple[Compiled, Compiled]] = {}


def _registered(of: JaxOperation, batched: tuple[bool, ...], whole: bool) -> str:
    """The name under which XLA finds the code: the same in every process, for JAX keeps compiled functions on disk."""
    pattern = "".join("01"[b] for b in batched)
    name = f"trundle_{of.program.key[:40]}_{'lanes' if whole else 'rows'}_{pattern}"
    version = _version()
    if name not in _HANDLERS and version is not None:
        kernel = compile_program(of.program).native(tuple(not b for b in batched) if whole else None)
        called = handler(of.program, kernel.address, batched, version, whole=whole)
        jax.ffi.register_ffi_target(name, _capsule(called.address), platform="cpu")
        _HANDLERS[name] = kernel, called
    return name


def _capsule(address: int) -> object:
    """A pointer as Python's C code passes it on."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, None, None)


@cache
def _version() -> int | None:
    """The minor version of XLA's interface, where it is one that we know."""
    file = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    try:
        words = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", file.read_text(encoding="utf-8")))
    except OSError:
        return None
    known = words.get("MAJOR") == "0" and int(words.get("MINOR", 0)) in VERSIONS
    return int(words["MINOR"]) if known else None

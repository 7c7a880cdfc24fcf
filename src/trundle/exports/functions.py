"""A model as a function of Python's other numeric libraries: NumPy, JAX, CasADi."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from functools import update_wrapper
from hashlib import sha256
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, turned
from trundle.errors import InputError
from trundle.expected import came
from trundle.exports.entries import entry_named
from trundle.exports.recognized import with_names
from trundle.extras import load
from trundle.languages import JAX, NUMPY, Language, arguments, source
from trundle.languages.package import Entry, help_lines
from trundle.model.arguments import Given, derived
from trundle.program import Group
from trundle.program.groups import by_name
from trundle.scalars import SX


def to_numpy(
    model: Given, function: str = "dynamics", *, base: str | None = None
) -> Callable[..., FloatArray | tuple[FloatArray, ...]]:
    """A model as a plain function of NumPy arrays, without a compiler: ẋ = f(x, u, p).

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What is no model is derived first.
    function : str, optional
        Which: "dynamics", "projection", "jacobian", "wheel_states", "next_wheel_states", "base_twist",
        "wheel_measures", "odometry_step" or "outputs" (docs/export/functions.md).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    callable
        Its groups in order, each (n,) or (n, count); inputs are 0 and parameters the model's where they aren't given.
        Returns an array, or a tuple where there are several groups. With `batch="first"` a state is a row, (count, n).

    Raises
    ------
    InputError
        There is no such function, or the model hasn't it.

    Examples
    --------
    >>> import trundle
    >>> f = trundle.to_numpy(trundle.catalog.pendulum(links=1))
    >>> f([0.5, 0.25]).shape, f(np.zeros((2, 100))).shape
    ((2,), (2, 100))
    """
    whole = derived(model, "to_numpy", base)
    (entry,) = with_names([entry_named(whole, function)], whole)
    return ModelFunction(entry, NUMPY.name)


def to_jax(model: Given, function: str = "dynamics", *, base: str | None = None) -> Callable[..., Any]:
    """A model as a function of JAX arrays, which `jit`, `vmap`, `jacfwd`, `jacrev` and `grad` take.

    On a CPU, in double precision, JAX calls the model's own native code; elsewhere XLA compiles it. Derivatives,
    forward and reverse and of every order, are programs of their own: exact, at 3 to 4 times the cost.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What is no model is derived first.
    function : str, optional
        Which, as in `to_numpy`.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    callable
        As `to_numpy` gives it. In double precision where `jax_enable_x64` is on; where it is off a warning says so.

    Raises
    ------
    InputError
        There is no such function, the model hasn't it, or JAX isn't installed.

    Examples
    --------
    >>> import trundle
    >>> f = trundle.to_jax(trundle.catalog.pendulum(links=1))  # doctest: +SKIP
    >>> jax.jit(jax.jacfwd(f))(jax.numpy.zeros(2)).shape  # doctest: +SKIP
    (2, 2)
    """
    load("jax", "to_jax needs JAX", instead="to_numpy needs NumPy alone")
    return ModelFunction(entry_named(derived(model, "to_jax", base), function), JAX.name)


def to_casadi(model: Given, function: str = "dynamics", *, base: str | None = None) -> SX:
    """A model as a `casadi.Function`, for optimal control: with it opty, acados and IPOPT have the equations.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What is no model is derived first.
    function : str, optional
        Which, as in `to_numpy`.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    casadi.Function
        Of SX expressions, with the groups' names: `f(x, u, p)`, or `f(state=x, input=u, parameter=p)["rate"]`.

    Raises
    ------
    InputError
        There is no such function, or the model hasn't it.

    Examples
    --------
    >>> import trundle
    >>> f = trundle.to_casadi(trundle.catalog.pendulum(links=1))
    >>> f.name_in(), f.name_out()
    (['state', 'input', 'parameter'], ['rate'])
    """
    import casadi as ca

    entry = entry_named(derived(model, "to_casadi", base), function)
    symbols = [ca.SX.sym(group.name, group.size) for group in entry.program.inputs]
    names = arguments(entry.program, NUMPY)
    read, written = names[: len(symbols)], names[len(symbols) :]
    return ca.Function(entry.name, symbols, entry.program.casadi_function.call(symbols), read, written)


class ModelFunction:
    """A model's function in a library of Python's; it pickles as the program that it was made of."""

    def __init__(self, entry: Entry, library: str) -> None:
        self._made = (entry, library)
        self._function = _LIBRARIES[library](entry)
        update_wrapper(self, self._function)

    def __call__(self, *groups: Any, batch: str = "last", **named: Any) -> Any:
        """The results of groups in order or by name, checked before the library sees them."""
        entry, library = self._made
        given = by_name(entry.program, groups, named)
        for name, value in given.items():
            _require_numbers(name, value)
        needed = len(entry.program.inputs) - len(_defaults(entry))
        for group in entry.program.inputs[:needed]:
            if group.name not in given:
                raise InputError(f"'{entry.name}' needs the {group.name}, too", key=group.name)
        words = {group.name: word for group, word in _words(entry, library)}
        groups_in_order = dict(zip(given, turned(batch, *given.values()), strict=True))
        for group in entry.program.inputs:
            _require_size(group, groups_in_order.get(group.name))
        results = self._function(**{words[name]: value for name, value in groups_in_order.items()})
        return turned(batch, *results) if isinstance(results, tuple) else turned(batch, results)[0]

    def __reduce__(self) -> tuple[type, tuple[Entry, str]]:
        return ModelFunction, self._made


def _words(entry: Entry, library: str) -> Iterator[tuple[Group, str]]:
    """The groups that are read, with what the library's function calls them."""
    language = {NUMPY.name: NUMPY, JAX.name: JAX}[library]
    return zip(entry.program.inputs, arguments(entry.program, language), strict=False)


def _require_numbers(name: str, value: object) -> None:
    """Raise InputError where a group is named, text, or complex: of these no array of real numbers can be made."""
    hint = "numbers in the order of help(f); of a mapping, [*values.values()] where it has that order"
    if isinstance(value, (Mapping, str)):
        raise InputError(f"expected an array of numbers, got {came(value)}", key=name, hint=hint)
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if any(
        isinstance(part, complex) or getattr(getattr(part, "dtype", None), "kind", "") == "c"
        for part in parts
    ):
        raise InputError(
            "expected real numbers, got complex ones", key=name, hint="for slopes, jax.jvp of model.jax()"
        )


def _require_size(group: Group, value: object) -> None:
    """Raise InputError where a group's first axis isn't as long as the group."""
    shape = () if value is None else np.shape(cast("npt.ArrayLike", value))
    if value is not None and shape[:1] != (group.size,):
        wrong = f"expected shape ({group.size},) or ({group.size}, count), got {shape}"
        hint = f"its order is {', '.join(group.labels)}" if group.size <= 12 else "help(f) has its order"
        if shape[-1:] == (group.size,):
            hint = "one row a robot? batch='first' takes it"
        raise InputError(wrong, key=group.name, hint=hint)


def _numpy_function(entry: Entry) -> Callable[..., object]:
    """The function that the text of an entry defines, with its numbers' names and their defaults."""
    space: dict[str, Any] = {"__name__": f"trundle_{entry.name}"}
    text = source({entry.name: entry.program}, NUMPY, {entry.name: entry.named})
    file = f"<{entry.name} in {NUMPY.name}, {sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        file,
    )  # for inspect and tracebacks
    exec(compile(text, file, "exec"), space)
    function = space[entry.name]
    function.__doc__ = _docstring_of(entry, NUMPY)
    inspect.unwrap(function).__defaults__ = _defaults(entry)  # type: ignore[attr-defined]  # a function of that text
    return function


def _jax_function(entry: Entry) -> Callable[..., object]:
    """The program as an operation of JAX's, under the names and with the defaults that its text would have."""
    from trundle.exports.jax.primitive import function_of

    names = arguments(entry.program, JAX)[: len(entry.program.inputs)]
    function = function_of(entry.program, names, _defaults(entry))
    function.__name__ = function.__qualname__ = entry.name
    function.__doc__ = _docstring_of(entry, JAX)
    return function


def _docstring_of(entry: Entry, language: Language) -> str:
    meaning, *taken = help_lines(entry, language)
    return "\n".join([meaning, "", *taken])


_LIBRARIES = {NUMPY.name: _numpy_function, JAX.name: _jax_function}


def _defaults(entry: Entry) -> tuple[tuple[float, ...], ...]:
    """Of the last groups, as far as they have any: inputs 0, parameters the model's."""
    values: list[tuple[float, ...]] = []
    for group in reversed(entry.program.inputs):
        if group.name == "parameter":
            values.append(entry.defaults[group.name])
        elif group.name == "input" or not group.size:
            values.append((0.0,) * group.size)
        else:
            break
    return tuple(reversed(values))

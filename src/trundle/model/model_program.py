"""A model's programs as functions of what users have: numbers by name or in order in, arrays out, one state or many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, suggest
from trundle.model.arguments import number
from trundle.model.manifold import settle_batch
from trundle.model.model import Model
from trundle.model.symbols import PARAMETER, STATE
from trundle.program import Group, Program
from trundle.program.kernel import by_name, compile_program

# A group of numbers: all of them in order, (n,) or (n, count) for many states at once, or some of them by name.
Values = Mapping[str, ArrayLike] | ArrayLike
R = TypeVar("R", bound="FloatArray | tuple[FloatArray, ...]")

# Groups that hold states: what isn't given of them follows from what is, where loops bind them.
_BOUND = (STATE, "coordinate", "speed")


@dataclass(frozen=True, repr=False)
class ModelProgram(Program, Generic[R]):
    """A program of a model that is called with the model's names: `model.mass_matrix({"elbow.angle": 0.5})`.

    Each group is an array in the order of its labels, (n,), or (n, count) for many states at once, or a mapping of
    names to numbers, texts with units or arrays (count,). What isn't given is where the model starts, or what its loops
    make it; of groups that are no states it is 0. `parameters` are changes by name, or all of them in order.
    """

    model: Model = field(compare=False, kw_only=True)
    form: Callable[..., R] = field(compare=False, kw_only=True)

    def __call__(self, *groups: Values | None, parameters: Values | None = None, **named: Values | None) -> R:
        """Evaluate in native code, compiled at the first call; groups in order or by their names, single numbers by
        theirs: `model.rhs(v_x=1.0, r="6 in")`.
        """
        whole = {
            name: value for name, value in named.items() if name in [group.name for group in self.inputs]
        }
        given = by_name(self, groups, whole if parameters is None else {**whole, PARAMETER: parameters})
        for name in named.keys() - whole.keys():
            _put(self, given, name, named[name])
        constants = _parameters(self.model, given.pop(PARAMETER, None))
        states = _states(self, given, constants)
        arrays = [_array(self, group, given.get(group.name), states) for group in self.inputs[:-1]]
        return self.form(*compile_program(self)(*arrays, _stacked(self, PARAMETER, list(constants.values()))))


def _put(program: Program, given: dict[str, Values | None], name: str, value: Values | None) -> None:
    """Add a single number by its name to the group that has it first."""
    known = {label: group.name for group in reversed(program.inputs) for label in group.labels}
    if name not in known:
        groups = [group.name for group in program.inputs]
        hint = suggest(name, [*groups, *known])
        raise InputError(f"'{name}' is no group of '{program.name}' and in none", key=name, hint=hint)
    before = given.get(known[name])
    before = {} if before is None else before
    if not isinstance(before, Mapping):
        raise InputError(f"'{name}' is given twice: all of the group '{known[name]}' is there", key=name)
    given[known[name]] = {**before, name: value}  # type: ignore[dict-item]  # a number or (count,), checked later


def model_program(model: Model, program: Program, form: Callable[..., R]) -> ModelProgram[R]:
    """A model's program, callable with its names; `form` makes of the output arrays what is returned."""
    own = {attribute.name: getattr(program, attribute.name) for attribute in fields(Program)}
    return ModelProgram(**own, model=model, form=form)


def _parameters(model: Model, given: Values | None) -> dict[str, ArrayLike]:
    """All parameters by name: numbers, or arrays of one for each state."""
    names = list(model.parameters)
    if given is None:
        return dict(model.parameters)
    if not isinstance(given, Mapping):
        array = as_numbers(given, "parameters")
        if array.shape[:1] != (len(names),):
            message = f"expected {len(names)} parameters in order, got an array {array.shape}"
            raise InputError(message, key="parameters", hint=f"or some by name: {', '.join(names)}")
        return dict(zip(names, array, strict=True))
    many = {name: as_numbers(value, name) for name, value in given.items() if np.ndim(value)}
    values = model.parameter_values({name: value for name, value in given.items() if name not in many})  # type: ignore[arg-type]  # np.ndim told
    for name in many:
        if name not in values:
            model.parameter_values({name: 0.0})  # says which there are
    return {**values, **many}


def _states(
    program: ModelProgram[R], given: Mapping[str, Values | None], constants: Mapping[str, ArrayLike]
) -> Mapping[str, ArrayLike]:
    """All states by name where some are given by name: the others where the model starts, or as its loops need it."""
    model, states_given, named, closed = program.model, dict[str, ArrayLike](), False, True
    for group in program.inputs:
        values = given.get(group.name)
        if group.name not in _BOUND or (values is None and group.name == "speed"):
            continue
        values = {} if values is None else values
        if isinstance(values, Mapping):
            states_given |= _numbers(program, group, values)
            named, closed = True, closed and len(values) == group.size
        else:
            states_given |= dict(zip(group.labels, as_numbers(values, f"group '{group.name}'"), strict=False))
    if not named:
        return model.initial
    states = {**model.initial, **states_given}
    model.quantities.check_quaternions({name: np.asarray(value) for name, value in states.items()})
    return states if closed else settle_batch(model, states, tuple(states_given), constants)


def _array(
    program: ModelProgram[R], group: Group, given: Values | None, states: Mapping[str, ArrayLike]
) -> FloatArray:
    """The numbers of a group, (n,) or (n, count)."""
    if given is not None and not isinstance(given, Mapping):
        return as_numbers(given, f"group '{group.name}'")
    known = states if group.name in _BOUND and (given is not None or group.name != "speed") else {}
    if given is not None and group.name not in _BOUND:
        known = _numbers(program, group, given)
    return _stacked(program, group.name, [known.get(label, 0.0) for label in group.labels])


def _numbers(program: ModelProgram[R], group: Group, given: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Given numbers by name, texts read by their units; raises InputError for names that the group hasn't."""
    numbers: dict[str, ArrayLike] = {}
    for name, value in given.items():
        if name not in group.labels:
            message = f"'{name}' is not in the group '{group.name}' of '{program.model.name}'"
            raise InputError(message, key=str(name), hint=suggest(str(name), group.labels))
        unit = program.model.units.get(name, "") if group.name in (*_BOUND, "input") else ""
        numbers[name] = number(value, name, unit) if np.ndim(value) == 0 else as_numbers(value, name)
    return numbers


def _stacked(program: Program, name: str, rows: list[ArrayLike]) -> FloatArray:
    """Rows of numbers as one array (rows, states); single numbers count for all states."""
    if all(type(row) is float for row in rows):
        return np.array(rows, dtype=float)
    try:
        return np.array(np.broadcast_arrays(*rows), dtype=float)
    except ValueError:
        shapes = ", ".join(sorted({str(np.shape(row)) for row in rows}))
        raise InputError(
            f"the numbers of '{name}' for '{program.name}' have different shapes: {shapes}",
            hint="give single numbers, or as many of each as there are states",
        ) from None

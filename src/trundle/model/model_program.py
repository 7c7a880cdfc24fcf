"""A model's programs as functions of what users have: numbers by name or in order in, arrays out, one state or many."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, Floats, as_numbers, turned
from trundle.errors import InputError, suggest
from trundle.model.arguments import number
from trundle.model.lanes import lane_parameters
from trundle.model.manifold import settle_batch
from trundle.model.model import Model
from trundle.model.symbols import PARAMETER, STATE
from trundle.program import Group, Program
from trundle.program.groups import by_name
from trundle.program.kernel import compile_program

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

    def __call__(
        self,
        *groups: Values | None,
        parameters: Values | None = None,
        batch: str = "last",
        **named: Values | None,
    ) -> R:
        """Evaluate in native code, compiled at the first call; groups in order or by their names, single numbers by
        theirs: `model.rhs(v_x=1.0, r="6 in")`.

        `batch="first"` takes states as rows, (count, n), and gives results with the states first: (count, n), or
        (count, n, n) of a matrix.
        """
        if parameters is None and not named and batch == "last":
            outputs = self._one_state(groups)
            if outputs is not None:
                return self.form(*outputs)
        whole = {
            name: value for name, value in named.items() if name in [group.name for group in self.inputs]
        }
        if parameters is not None:
            whole[PARAMETER] = parameters
        whole = dict(zip(whole, turned(batch, *whole.values()), strict=True))
        given = by_name(self, turned(batch, *groups), whole)
        for name in named.keys() - whole.keys():
            _put(self, given, name, named[name])
        constants = _parameters(self._by_thread, self.model, given.pop(PARAMETER, None))
        states = _states(self, given, constants)
        arrays = [_array(self, group, given.get(group.name), states) for group in self.inputs[:-1]]
        outputs = compile_program(self)(*arrays, _stacked(self, PARAMETER, list(constants.values())))
        return (
            _states_first(self.form(*outputs))
            if batch == "first" and outputs[0].ndim == 2
            else self.form(*outputs)
        )

    def bind(
        self, *groups: FloatArray, parameters: Values | None = None, batch: str = "last"
    ) -> Callable[[], R]:
        """A function without arguments that reads these arrays again at every call, and writes where it wrote before.

        It costs little more than its arithmetic, in a control loop say.

        Parameters
        ----------
        *groups : array (n,) or (n, count)
            float64, in order; write new numbers into them. Groups that aren't given are as in a call.
        parameters : mapping or array, optional
            As in a call; they stay as they are.
        batch : {"last"}, optional
            The arrays are read where they stand, so a state is a column of them: (n, count).

        Returns
        -------
        function
            What a call returns, always in the same arrays. For one thread at a time.

        Raises
        ------
        InputError
            The arrays don't fit the groups; one that states start from is missing; `batch` isn't "last".

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.pendulum())
        >>> q = np.zeros(2)
        >>> mass = model.mass_matrix.bind(q)
        >>> q[1] = 0.5
        >>> np.array_equal(mass(), model.mass_matrix(q))
        True
        """
        if batch != "last":
            message = f"bind reads arrays where they stand, a state a column (n, count); got {batch!r}"
            raise InputError(message, key="batch", hint="bind a table (n, count), or call with batch='first'")
        return _bound(self, groups, _parameters(self._by_thread, self.model, parameters))

    @cached_property
    def _by_thread(self) -> _Calls:
        return _Calls()

    def _one_state(self, groups: tuple[Values | None, ...]) -> list[FloatArray] | None:
        """Fresh outputs for one state in plain arrays, a loop's usual call; None where more has to be looked at."""
        calls = self._by_thread.by_count
        if len(groups) not in calls:
            calls[len(groups)] = _one_state_call(self, len(groups))
        return calls[len(groups)](groups)


class _Calls(threading.local):
    """Calls by how many groups they are given, and the last parameters that were checked; in every thread its own."""

    def __init__(self) -> None:
        self.checked: tuple[list[object] | None, dict[str, Floats]] = None, {}
        self.by_count: dict[int, Callable[[tuple[Values | None, ...]], list[FloatArray] | None]] = {}


def _one_state_call(
    program: ModelProgram[R], given: int
) -> Callable[[tuple[Values | None, ...]], list[FloatArray] | None]:
    """Native code between plain arrays (n,) of so many groups and fresh results: other groups are 0, parameters the
    model's own. It looks at nothing twice: a call takes a few microseconds.
    """
    if not _fewest(program) <= given < len(program.inputs):
        return lambda _: None
    inputs = [np.zeros(group.size) for group in program.inputs]
    inputs[-1][:] = list(program.model.parameters.values())
    outputs = [np.zeros(group.size) for group in program.outputs]
    run = compile_program(program).bind(*inputs, *outputs)
    slots = [(buffer, buffer.shape) for buffer in inputs[:given]]
    plain, double = np.ndarray, np.dtype(np.float64)

    def call(groups: tuple[Values | None, ...]) -> list[FloatArray] | None:
        for (buffer, shape), value in zip(slots, groups):  # noqa: B905 - as many, and faster so
            if type(value) is not plain or value.dtype is not double or value.shape != shape:
                return None
            buffer[:] = value
        run()
        return [output.copy() for output in outputs]

    return call


def _fewest(program: Program) -> int:
    """How many groups in order hold all that has another start than 0."""
    starts = [k for k, group in enumerate(program.inputs) if group.name in _BOUND and group.name != "speed"]
    return max(starts, default=0) + 1


def _bound(
    program: ModelProgram[R], groups: tuple[FloatArray, ...], constants: Mapping[str, ArrayLike]
) -> Callable[[], R]:
    """Native code on the given arrays, and zeros for the groups behind them."""
    least, most = _fewest(program), len(program.inputs) - 1
    if not least <= len(groups) <= most:
        names = [group.name for group in program.inputs[:most]]
        asked = f"{least} to {most} groups" if least < most else f"{most} groups"
        raise InputError(
            f"bind of '{program.name}' takes {asked} in order ({', '.join(names)}), got {len(groups)}"
        )
    rest = [np.zeros(group.size) for group in program.inputs[len(groups) : most]]
    fixed = _stacked(program, PARAMETER, list(constants.values()))
    count = next((array.shape[1] for array in (*groups, fixed) if np.ndim(array) == 2), None)
    outputs = [np.zeros((group.size, *([] if count is None else [count]))) for group in program.outputs]
    run = compile_program(program).bind(*groups, *rest, fixed, *outputs)
    results = program.form(*outputs)

    def evaluate() -> R:
        run()
        return results

    return evaluate


def _states_first(results: R) -> R:
    """Results whose last axis is that of the states, with this axis first."""
    if isinstance(results, tuple):
        return type(results)(*(np.moveaxis(part, -1, 0) for part in results))
    return np.moveaxis(results, -1, 0)  # type: ignore[return-value]  # an array here


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


def _parameters(calls: _Calls, model: Model, given: Values | None) -> dict[str, ArrayLike]:
    """All parameters by name: numbers, or arrays of one for each state. Those of the last call are checked already."""
    if given is None:
        return dict(model.parameters)
    if isinstance(given, Mapping):
        named = {name: as_numbers(value, name) if np.ndim(value) else value for name, value in given.items()}
    else:
        names, array = list(model.parameters), as_numbers(given, "parameters")
        if array.shape[:1] != (len(names),):
            message = f"expected {len(names)} parameters in order, got an array {array.shape}"
            raise InputError(message, key="parameters", hint=f"or some by name: {', '.join(names)}")
        named = {name: row if row.ndim else float(row) for name, row in zip(names, array, strict=True)}
    key = [
        (name, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else (name, value)
        for name, value in named.items()
    ]
    if calls.checked[0] != key:
        calls.checked = key, lane_parameters(model, named, "state")  # type: ignore[arg-type]  # np.ndim told
    return dict(calls.checked[1])


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
            row = _row(as_numbers(values, f"group '{group.name}'"), program, group)
            states_given |= dict(zip(group.labels, row, strict=False))
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
        return _row(as_numbers(given, f"group '{group.name}'"), program, group)
    known = states if group.name in _BOUND and (given is not None or group.name != "speed") else {}
    if given is not None and group.name not in _BOUND:
        known = _numbers(program, group, given)
    return _stacked(program, group.name, [known.get(label, 0.0) for label in group.labels])


def _row(numbers: FloatArray, program: Program, group: Group) -> FloatArray:
    """Numbers of a group; one number is a group of one, and no group of several."""
    if numbers.ndim:
        return numbers
    if group.size != 1:
        message = (
            f"group '{group.name}' of '{program.name}' has {group.size} numbers, got one: {float(numbers):g}"
        )
        raise InputError(message, key=group.name, hint=f"in order: {', '.join(group.labels)}")
    return numbers.reshape(1)


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

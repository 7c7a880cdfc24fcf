"""The names of a model made by SymPy: which symbol is a state, an input, a parameter, and what to say where one is
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import sympy as sp
from sympy.core.function import AppliedUndef

from trundle.errors import InputError, suggest
from trundle.robot.expressions import ExpressionError, NumberLiteral, parse
from trundle.robot.units import unit_text
from trundle.scalars import SX, Scalar
from trundle.sympy_models.sympy_method import TIME, FormedEquations, Leaf, SympyExpression, name_of


@dataclass(frozen=True)
class ModelNames:
    """ModelNames in the programs' order, and the SymPy symbols that they stand for.

    A parameter that was given by its name only is its name among the symbols, too. `clock` is the state that counts the
    time, where the equations depend on it; it is the last one.
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    extra: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: Mapping[str, float]
    multipliers: tuple[str, ...]
    state_symbols: tuple[Leaf, ...]
    input_symbols: tuple[Leaf, ...]
    parameter_symbols: tuple[Leaf, ...]
    zeros: tuple[Leaf, ...]
    clock: tuple[str, ...] = ()

    @property
    def states(self) -> tuple[str, ...]:
        return (*self.coordinates, *self.speeds, *self.extra, *self.clock)

    @property
    def declares_time(self) -> bool:
        """Whether time is an input, a state or a parameter of the user's own."""
        own = (*self.input_symbols, *self.state_symbols, *self.parameter_symbols)
        return TIME in own or TIME.name in own

    def with_clock(self, shown: Iterable[str]) -> ModelNames:
        """The same with a clock; raises InputError where its name is taken, also by an output of those `shown`."""
        _check_distinct((*self.states, *self.inputs, *self.parameters, *shown, TIME.name))
        return replace(self, clock=(TIME.name,))

    def leaves(self, state: SX, commands: SX, parameters: SX) -> dict[Leaf, Scalar]:
        """What each declared symbol stands for, as an entry of the three columns."""
        values: dict[Leaf, Scalar] = dict.fromkeys(self.zeros, 0.0)
        for symbols, column in (
            (self.parameter_symbols, parameters),
            (self.input_symbols, commands),
            (self.state_symbols, state),
        ):
            values.update((symbol, column[k]) for k, symbol in enumerate(symbols))
        return values


def declare(
    equations: FormedEquations,
    inputs: Sequence[Leaf] | Mapping[str, Leaf],
    outputs: Mapping[str, SympyExpression],
    extra_states: Mapping[Leaf, SympyExpression],
    parameters: Mapping[Leaf, float],
) -> ModelNames:
    """The names of everything; raises InputError where two things share one, or where something can't be what it is
    declared to be.
    """
    _check_mapping(parameters, "parameters", "symbol -> number")
    _check_mapping(outputs, "outputs", "name -> expression")
    _check_mapping(extra_states, "extra_states", "symbol -> expression of its rate")
    _check_expressions(outputs, "outputs", "the output")
    _check_expressions(extra_states, "extra_states", "the rate of the extra state")
    named_inputs = _named_inputs(inputs)
    for symbol in extra_states:
        _check_symbol(symbol, "an extra state", "extra_states")
    values = _parameter_values(parameters)
    names = ModelNames(
        coordinates=tuple(map(name_of, equations.q)),
        speeds=tuple(map(name_of, equations.u)),
        extra=tuple(map(name_of, extra_states)),
        inputs=tuple(named_inputs),
        parameters={name_of(symbol): value for symbol, value in values.items()},
        multipliers=tuple(map(name_of, equations.multipliers)),
        state_symbols=(*equations.q, *equations.u, *extra_states),
        input_symbols=tuple(named_inputs.values()),
        parameter_symbols=tuple(values),
        zeros=equations.zeros,
    )
    shown = (*outputs, *names.multipliers, "constraint_residual", "time")
    # Names first, as runs and files have them; then symbols, as one symbol may have been given two names.
    _check_distinct((*names.states, *names.inputs, *map(name_of, values), *shown))
    _check_distinct((*names.state_symbols, *names.input_symbols, *values))
    return names


def _named_inputs(inputs: Sequence[Leaf] | Mapping[str, Leaf]) -> dict[str, Leaf]:
    """The input symbols by name; InputError for what is no symbol, and for two of one name."""
    if isinstance(inputs, (str, sp.Basic)):
        raise InputError("inputs must be a sequence of symbols, or name -> symbol", key="inputs")
    symbols = list(inputs.values()) if isinstance(inputs, Mapping) else list(inputs)
    for symbol in symbols:
        _check_symbol(symbol, "an input", "inputs")
    if isinstance(inputs, Mapping):
        return {str(name): symbol for name, symbol in inputs.items()}
    # Two symbols of one name, which differ in their assumptions, would become one here.
    _check_distinct(map(name_of, symbols))
    return {name_of(symbol): symbol for symbol in symbols}


def _check_mapping(given: object, key: str, form: str) -> None:
    """Raise InputError for what is no mapping; `form` says what it should map."""
    if not isinstance(given, Mapping):
        raise InputError(f"{key} must be a mapping {form}, got {type(given).__name__}", key=key)


def _check_expressions(given: Mapping[Leaf, SympyExpression], key: str, what: str) -> None:
    """Scalars only. SymPy would read text by running it as Python, so text is refused."""
    for name, value in given.items():
        if isinstance(value, (sp.Basic, Real)) and not isinstance(value, sp.MatrixBase):
            continue
        is_text = isinstance(value, str)
        got = repr(value) if is_text else type(value).__name__
        raise InputError(
            f"{what} '{name_of(name)}' must be a SymPy expression, got {got}",
            key=key,
            hint="write the expression itself, not its text"
            if is_text
            else "take a vector's or a matrix's components one by one: vector.dot(axis), matrix[i, j]",
        )


def _check_symbol(symbol: object, what: str, key: str) -> None:
    """Raise InputError for what is neither a symbol nor a function of time."""
    if not (isinstance(symbol, (sp.Symbol, AppliedUndef))):
        raise InputError(
            f"{what} must be a SymPy symbol or a dynamicsymbol, got {symbol!r} ({type(symbol).__name__})",
            key=key,
        )


def _parameter_values(parameters: Mapping[Leaf, float]) -> dict[Leaf, float]:
    """Parameters with their numbers as floats; InputError for what is no finite number."""
    result: dict[Leaf, float] = {}
    for given, value in parameters.items():
        symbol = given
        if not isinstance(given, str):
            _check_symbol(given, "a parameter", "parameters")
        try:
            result[symbol] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"expected a number for the parameter '{name_of(symbol)}', got {value!r}", key="parameters"
            ) from None
        if not math.isfinite(result[symbol]):
            raise InputError(
                f"the parameter '{name_of(symbol)}' is {value}, which is not a finite number",
                key="parameters",
            )
    return result


def _check_distinct(names: Iterable[Leaf | str]) -> None:
    """Raise InputError for a name that stands for two things."""
    seen: set[Leaf | str] = set()
    for name in names:
        if name in seen:
            label = name if isinstance(name, str) else name_of(name)
            message = f"'{label}' names more than one thing among states, inputs, parameters and outputs"
            hint = "symbols that differ in their assumptions only have the same name, too; rename one"
            raise InputError(message, key=label, hint=hint)
        seen.add(name)


def unit_texts(units: Mapping[Leaf, str], known: Sequence[str]) -> dict[str, str]:
    """Unit texts by name; raises InputError for names that aren't `known` and for what is no SI unit."""
    _check_mapping(units, "units", "name -> unit")
    result: dict[str, str] = {}
    for given, text in units.items():
        name = name_of(given)
        if name not in known:
            message = f"there is no state, input or output '{name}' to have a unit"
            raise InputError(message, key="units", hint=suggest(name, known))
        result[name] = _si_unit(name, text)
    return result


def _si_unit(name: str, text: object) -> str:
    """A unit as it was written, when one of it is one in SI base units; "1" is that of pure numbers."""
    if not isinstance(text, str):
        raise _no_unit(name, text)
    if text == "1":
        return text
    try:
        one = parse(f"1 {text}")
    except ExpressionError as error:
        raise InputError(f"the unit of '{name}': {error}", key="units", hint=error.hint) from None
    if not isinstance(one, NumberLiteral) or one.dimension is None:
        raise _no_unit(name, text)
    if one.value != 1.0:
        message = f"the unit of '{name}' is not SI: 1 {text} = {one.value:g} {unit_text(one.dimension)}"
        hint = "programs compute in SI; give values as text with a unit where you have others"
        raise InputError(message, key="units", hint=hint)
    return text


def _no_unit(name: str, got: object) -> InputError:
    return InputError(
        f"expected the unit of '{name}' as text, got {got!r}", key="units", hint="such as 'rad/s' or 'N m'"
    )


def report_unknown(unknown: Iterable[Leaf], names: ModelNames) -> None:
    """Raise InputError for leaves of the equations that were declared as nothing, sorted by what they look like."""
    constants = sorted({name_of(leaf) for leaf in unknown if leaf.is_Symbol})
    moving = sorted({str(leaf) for leaf in unknown if not leaf.is_Symbol})
    if constants:
        known = ", ".join(names.parameters) or "none"
        near = [suggest(constant, names.parameters) for constant in constants if names.parameters]
        hint = next(
            (text for text in near if text.startswith("did you mean")), f"parameters with a value: {known}"
        )
        raise InputError(
            f"the SymPy model uses {', '.join(constants)}, without a value in parameters and not among the inputs",
            key="parameters",
            hint=hint,
        )
    if moving:
        states = ", ".join(names.states)
        raise InputError(
            f"the SymPy model uses {', '.join(moving)}, which is neither a state ({states}) nor declared",
            key="inputs",
            hint="declare functions of time as inputs or extra_states; derivatives of inputs must be inputs themselves",
        )

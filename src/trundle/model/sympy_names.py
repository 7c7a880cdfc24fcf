"""The names of a model made by SymPy: which symbol is a state, an input, a parameter, and what to say where one is
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from trundle.errors import InputError, suggest
from trundle.model.sympy_method import TIME, Equations, name_of
from trundle.scalars import Scalar


@dataclass(frozen=True)
class Names:
    """Names in the programs' order, and the SymPy symbols that they stand for.

    A parameter that was given by its name only is its name among the symbols, too.
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    extra: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: Mapping[str, float]
    multipliers: tuple[str, ...]
    state_symbols: tuple[Any, ...]
    input_symbols: tuple[Any, ...]
    parameter_symbols: tuple[Any, ...]
    zeros: tuple[Any, ...]

    @property
    def states(self) -> tuple[str, ...]:
        return (*self.coordinates, *self.speeds, *self.extra)

    def leaves(self, state: Any, commands: Any, parameters: Any) -> dict[Any, Scalar]:
        """What each declared symbol stands for, as an entry of the three columns."""
        found: dict[Any, Scalar] = dict.fromkeys(self.zeros, 0.0)
        for symbols, column in (
            (self.parameter_symbols, parameters),
            (self.input_symbols, commands),
            (self.state_symbols, state),
        ):
            found.update((symbol, column[k]) for k, symbol in enumerate(symbols))
        return found


def declare(
    equations: Equations,
    inputs: Sequence[Any] | Mapping[str, Any],
    outputs: Mapping[str, Any],
    extra_states: Mapping[Any, Any],
    parameters: Mapping[Any, float],
) -> Names:
    """The names of everything; raises InputError where two things share one, or where something can't be what it is
    declared to be.
    """
    named_inputs = _named_inputs(inputs)
    for symbol in extra_states:
        _check_symbol(symbol, "an extra state", "extra_states")
    values = _parameter_values(parameters)
    names = Names(
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
    _check_distinct((*names.states, *names.inputs, *map(name_of, values), *shown))
    _check_distinct((*names.state_symbols, *names.input_symbols, *values))
    return names


def _named_inputs(inputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(inputs, (str, sp.Basic)):
        raise InputError("inputs must be a sequence of symbols, or name -> symbol", key="inputs")
    if isinstance(inputs, Mapping):
        named = {str(name): symbol for name, symbol in inputs.items()}
    else:
        for symbol in inputs:
            _check_symbol(symbol, "an input", "inputs")
        _check_distinct(map(name_of, inputs))
        named = {name_of(symbol): symbol for symbol in inputs}
    for symbol in named.values():
        _check_symbol(symbol, "an input", "inputs")
    return named


def _check_symbol(symbol: Any, what: str, key: str) -> None:
    if not (isinstance(symbol, (sp.Symbol, AppliedUndef))):
        raise InputError(
            f"{what} must be a SymPy symbol or a dynamicsymbol, got {symbol!r} ({type(symbol).__name__})",
            key=key,
        )


def _parameter_values(parameters: Mapping[Any, float]) -> dict[Any, float]:
    result: dict[Any, float] = {}
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


def _check_distinct(names: Iterable[Any]) -> None:
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            label = name if isinstance(name, str) else name_of(name)
            raise InputError(
                f"'{label}' names more than one thing among states, inputs, parameters and outputs",
                key=label,
                hint="symbols that differ in their assumptions only have the same name, too; rename one",
            )
        seen.add(name)


def report_unknown(unknown: Iterable[Any], names: Names) -> None:
    """Raise InputError for leaves of the equations that were declared as nothing, sorted by what they look like."""
    constants = sorted({name_of(each) for each in unknown if each.is_Symbol and each != TIME})
    moving = sorted({str(each) for each in unknown if not each.is_Symbol})
    if constants:
        known = ", ".join(names.parameters) or "none"
        near = [suggest(each, names.parameters) for each in constants if names.parameters]
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
    if TIME in unknown:
        raise InputError(
            "the SymPy model depends on time itself",
            key="inputs",
            hint="make the term that does an input, and give it as a function of time when simulating",
        )

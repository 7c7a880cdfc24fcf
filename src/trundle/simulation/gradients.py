"""Sensitivities: by what a run's numbers are differentiated, their start, and the programs that carry them along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.lanes import lane_numbers
from trundle.model.manifold import Held, residual_rows
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import Program, compile_program
from trundle.program.sensitivities import with_tangents
from trundle.program.simplify import only_elements
from trundle.results.gradients import column_by
from trundle.robot.values import describe
from trundle.simulation.options import require_state
from trundle.simulation.sampling import NEXT_INPUT, sampled_start, stepped_program

INITIAL = "initial"
_INPUTS = "inputs"
# Singular values of the constraints' slopes below this share of the largest are rounding, as in `mechanics.closing`.
_ZERO = 1e-9
# An initial value that constraints moved by more than this was moved, not rounded.
_MOVED = 1e-9


@dataclass(frozen=True)
class GradientVariable:
    """What derivatives are taken by: a parameter, a constant added to an input, or the value that a state starts with.

    name: as it was asked for; label: its own name in the model; unit: its unit, "" where nobody knows.
    """

    name: str
    kind: Literal["parameter", "input", "initial"]
    label: str
    unit: str


def directions_of(model: Model, names: Sequence[str]) -> tuple[GradientVariable, ...]:
    """What the names mean: "r" a parameter, "initial.theta" a state's start, "inputs.left_motor.voltage" an input.

    Raises InputError for unknown names, for names that come twice, and for starts that can't change alone.
    """
    if isinstance(names, str) or not isinstance(names, Sequence):
        hint = 'gradients=["r", "initial.theta"], say'
        message = f"expected the names that derivatives are taken by, got {describe(names)}"
        raise InputError(message, key="gradients", hint=hint)
    found: list[GradientVariable] = []
    units = model.robot.parameter_units() if model.robot is not None else {}
    for name in names:
        if name in [each.name for each in found]:
            raise InputError(f"{name!r} stands twice in gradients", key="gradients", hint="once is enough")
        found.append(_direction(model, name, units))
    return tuple(found)


def _direction(model: Model, name: object, units: Mapping[str, str]) -> GradientVariable:
    """What a name of `gradients` stands for; InputError where that is nothing of the model."""
    if not isinstance(name, str):
        message = f"expected a name, got {describe(name)}"
        raise InputError(
            message, key="gradients", hint='such as "r", "initial.theta" or "inputs.left_motor.voltage"'
        )
    if name in model.parameters:
        _require_written(model, name)
        return GradientVariable(name, "parameter", name, units.get(name, ""))
    place, _, label = name.partition(".")
    if place == INITIAL:
        require_state(label, model)
        _require_free(model, label)
        return GradientVariable(name, "initial", label, model.units.get(label, ""))
    if place == _INPUTS and label in model.inputs:
        return GradientVariable(name, "input", label, model.units.get(label, ""))
    known = [*model.parameters, *(f"{INITIAL}.{each}" for each in model.states)]
    known += [f"{_INPUTS}.{each}" for each in model.inputs]
    if (
        model.robot is not None
        and place not in (INITIAL, _INPUTS)
        and name not in (*model.states, *model.inputs)
    ):
        try:
            model.parameter_values({name: 0.0})
        except InputError as error:
            if "there is no parameter" not in error.message:  # it follows from another, or is a plain 0
                raise InputError(error.message, key=f"gradients.{name}", hint=error.hint) from None
    message = f"there is nothing {name!r} in '{model.name}' to take derivatives by"
    raise InputError(message, key="gradients", hint=suggest(name, known))


def _require_written(model: Model, name: str) -> None:
    """Raise InputError for a parameter of which a wheel's place is kept free, so that it stays on its axle."""
    values = () if model.robot is None else (value for _, value in model.robot.every_value)
    for kept in (value.key for value in values if value.is_parameter and name in value.names):
        message = f"{kept!r} follows from {name!r} and is kept on its axle, so it has no derivative"
        hint = f"take it by {kept}, or write all places on that axle by one formula"
        raise InputError(message, key=f"gradients.{name}", hint=hint)


def _require_free(model: Model, label: str) -> None:
    """Raise InputError for a start that can't be changed alone."""
    if model.quantities[label].kind == "quaternion":
        hint = "take the derivatives by the rates, or by another start of the whole attitude"
        message = f"'{label}' is a part of a quaternion of length 1, and can't change alone"
        raise InputError(message, key=f"gradients.{INITIAL}.{label}", hint=hint)
    if model.manifold is not None and label in model.dependent:
        free = [f"{INITIAL}.{each}" for each in model.states if each not in model.dependent]
        message = f"where '{label}' starts follows from other states by the constraints"
        raise InputError(
            message, key=f"gradients.{INITIAL}.{label}", hint=f"those that can: {', '.join(free)}"
        )


@dataclass(frozen=True)
class Tangents:
    """A model's programs with derivatives in these directions beside them.

    Their states are x, then a column S_j = ∂x/∂θ_j for every direction.
    """

    model: Model
    directions: tuple[GradientVariable, ...]

    def of(self, name: str, program: Program) -> Program:
        """A program of the model by its name, which the model keeps; see `with_tangents`."""
        if not self.directions:
            return program
        key = ("tangents", name, tuple(each.name for each in self.directions))
        kept = self.model.kept_programs
        if key not in kept:
            there = [group.name for group in program.inputs]
            groups = {"parameter": PARAMETER, "input": INPUT if INPUT in there else NEXT_INPUT}
            along = {
                each.name: None if each.kind == "initial" else (groups[each.kind], each.label)
                for each in self.directions
            }
            kept[key] = with_tangents(program, along)
        return cast(Program, kept[key])

    @property
    def dynamics(self) -> Program:
        """ẋ and Ṡ."""
        return self.of("dynamics", self.model.dynamics)

    @property
    def stepped(self) -> Program | None:
        """What ends a step, of x and of S: back to the constraints, then what is sampled."""
        program = stepped_program(self.model)
        return program and self.of("stepped", program)

    def observing(self, name: str) -> Program:
        """An output, and its derivative in every direction."""
        return self.of(f"output {name}", only_elements(self.model.observe, [name]))

    def units(self, names: Sequence[str]) -> dict[str, str]:
        """The units of these names' derivatives, by the names that files have for them."""
        of = self.model.units
        return {
            column_by(name, each.name): ratio_unit(of.get(name, ""), each.unit)
            for each in self.directions
            for name in names
        }

    def start(
        self,
        x: Mapping[str, Floats],
        given: Mapping[str, object],
        inputs: Mapping[str, Floats],
        parameters: Mapping[str, Floats],
        count: int,
    ) -> FloatArray:
        """S(0), (directions, states, count), at the start x that constraints have completed from what was given, after
        its first sample. Raises InputError where the constraints don't determine it.
        """
        columns = self.completed_start(x, given, parameters, count)
        if self.model.sampling is None or not self.directions:
            return columns
        start = [np.broadcast_to(value, (1, count)) for value in x.values()]
        state, robots = np.vstack([*start, columns.reshape(-1, count)]), slice(0, count)
        u, p = (lane_numbers(numbers, 0, robots) for numbers in (inputs, parameters))
        after = sampled_start(self.model, state, u, p, self.of("sampling", self.model.sampling))
        return after.reshape(len(self.directions) + 1, -1, count)[1:]

    def completed_start(
        self,
        x: Mapping[str, Floats],
        given: Mapping[str, object],
        parameters: Mapping[str, Floats],
        count: int,
    ) -> FloatArray:
        """S(0) before anything is sampled.

        What the constraints add changes so that their residual stays zero: J_m S_m = −(J_rest S_rest + ∂residual/∂θ).
        Raises InputError where they don't determine it, as too little is given.
        """
        model, n = self.model, len(self.model.states)
        columns = np.zeros((len(self.directions), n, count))
        for column, each in zip(columns, self.directions, strict=True):
            if each.kind == "initial":
                column[model.state_index[each.label]] = 1.0
        if model.manifold is None or not self.directions:
            return columns
        numbers = np.array(
            [np.broadcast_to(value, (count,)) for value in (*x.values(), *parameters.values())]
        )
        for rows, places in self._completed(x, given, numbers):
            program = self.of("manifold", model.manifold)
            state = np.vstack([numbers[:n], columns.reshape(-1, count)])
            (left,) = compile_program(program)(
                state, np.zeros(len(model.inputs)), np.ascontiguousarray(numbers[n:])
            )
            left = left.reshape(len(self.directions) + 1, -1, count)[1:, rows]
            slopes = self._slopes(numbers)[:, rows][:, :, places]
            change = np.einsum("cij,kjc->kic", np.linalg.pinv(slopes, rcond=_ZERO), left)
            columns[:, places] -= change
        return columns

    def _slopes(self, numbers: FloatArray) -> FloatArray:
        """The constraints' slopes (count, residuals, states)."""
        model, n = self.model, len(self.model.states)
        assert model.manifold_jacobian is not None
        zeros = np.zeros(len(model.inputs))
        (flat,) = compile_program(model.manifold_jacobian)(
            np.ascontiguousarray(numbers[:n]), zeros, np.ascontiguousarray(numbers[n:])
        )
        return flat.reshape(-1, n, numbers.shape[1]).transpose(2, 0, 1)

    def _completed(
        self, x: Mapping[str, Floats], given: Mapping[str, object], numbers: FloatArray
    ) -> list[tuple[list[int], list[int]]]:
        """Residuals of the configuration, then of the velocity, and the places of the states that follow from them."""
        model = self.model
        assert model.manifold is not None
        slopes, parts = self._slopes(numbers), list[tuple[list[int], list[int]]]()
        owned: dict[Held, Sequence[str]] = {"configuration": model.coordinates, "velocity": model.speeds}
        for kind, own in owned.items():
            rows = residual_rows(model.manifold, kind)
            names = [name for name in own if name in model.dependent]
            places = [model.state_index[name] for name in names]
            if not rows:
                continue
            self._require_followed(x, given, own)
            every = [model.state_index[name] for name in own]
            whole, found = (
                np.linalg.matrix_rank(slopes[:, rows][:, :, part], tol=_ZERO) for part in (every, places)
            )
            if not ((found == len(places)) & (found == whole)).all():
                message = (
                    f"the start's {kind} is not determined by the states that are free: it is singular there"
                )
                raise InputError(message, key="gradients", hint="start from another configuration")
            parts.append((rows, places))
        return parts

    def _require_followed(
        self, x: Mapping[str, Floats], given: Mapping[str, object], own: Sequence[str]
    ) -> None:
        """Raise InputError where constraints moved a free state: a least change hangs on the way there."""
        model = self.model
        for name in own:
            if name in given or name in model.dependent:
                continue
            if np.abs(np.asarray(x[name]) - model.initial[name]).max() > _MOVED:
                message = (
                    f"the constraints moved '{name}' to close, so derivatives of the start are not determined"
                )
                raise InputError(message, key=f"initial.{name}", hint=f"give {name}, too")


def ratio_unit(of: str, by: str) -> str:
    """The unit of a derivative: "m/s" by "kg m^2" is "m/s/(kg m^2)"."""
    if not by:
        return of
    below = f"({by})" if any(sign in by for sign in " /*") else by
    return f"{of or '1'}/{below}"

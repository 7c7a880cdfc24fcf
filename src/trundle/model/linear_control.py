"""Which directions of a linearisation no input moves, and why: rolling constraints, integrals, or missing motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trundle.mechanics.controllability import echelon, modulo, null_rows, uncontrollable
from trundle.model.brackets import reach
from trundle.model.tangent import constraint_gradient, tangent_at

if TYPE_CHECKING:
    from trundle.model.linearization import Linearization

Array = np.ndarray[Any, np.dtype[np.float64]]
Direction = Mapping[str, float]


@dataclass(frozen=True)
class Controllability:
    """The combinations of states w · z that no input changes to first order, each as state -> coefficient.

    nonholonomic: the constraints allow no velocity along them, but Lie brackets of the allowed velocities reach them:
    manoeuvres do what no input does at once. integrals: constant whatever the mechanism does, as a wheel's angle that
    follows from a heading. unreached: all others; motors don't act on them. poles: eigenvalues (1/s) that feedback
    doesn't move. `size` is the number of states.
    """

    size: int
    has_inputs: bool
    nonholonomic: tuple[Direction, ...]
    integrals: tuple[Direction, ...]
    unreached: tuple[Direction, ...]
    poles: tuple[complex, ...]

    @property
    def rank(self) -> int:
        """How many directions inputs control."""
        return self.size - len(self.nonholonomic) - len(self.integrals) - len(self.unreached)

    @property
    def is_controllable(self) -> bool:
        """Whether inputs move the state in every direction."""
        return self.rank == self.size

    @property
    def is_stabilizable(self) -> bool:
        """Whether what inputs don't move dies out on its own."""
        return all(pole.real < 0 for pole in self.poles)

    def explain(self) -> str:
        """Sentences for a person, one line each."""
        if not self.has_inputs:
            return "no inputs, so nothing to control"
        if self.is_controllable:
            return f"inputs control all {self.size} directions"
        lines = [f"inputs control {self.rank} of {self.size} directions; they don't move"]
        for directions, why in (
            (self.nonholonomic, _NONHOLONOMIC),
            (self.integrals, _INTEGRALS),
            (self.unreached, self._unreached()),
        ):
            if directions:
                lines += [f"  {combination(each)}" for each in directions]
                lines += [f"    {line}" for line in why]
        return "\n".join(lines)

    def _unreached(self) -> tuple[str, ...]:
        if self.is_stabilizable:
            return ("no input acts on these; they die out on their own",)
        return ("no input acts on these, directly or through others",)


_NONHOLONOMIC = (
    "the constraints (wheels that roll and don't slide) allow no velocity along these, so no feedback that is",
    "linear in the state corrects them; manoeuvres do: the Lie brackets of the allowed velocities reach them",
)
_INTEGRALS = ("the constraints keep these constant, whatever the inputs do: one follows from the others",)


def examine(about: Linearization) -> Controllability:
    """The uncontrollable directions of a linearisation, sorted by why inputs don't move them.

    Entries of A and B count as zero where a change of x₀ and u₀ by 1e-9 would change them by as much: cos(90°) is 0.
    With q̇ = V(q) u and w in the span of uncontrollable rows: w · z is held by the constraints where w has coordinates
    only and w V = 0, and an integral of theirs where w vanishes on all Lie brackets of V's columns, too.
    """
    size = len(about.states)
    if not about.inputs:
        return Controllability(size, False, (), (), (), tuple(about.poles.tolist()))
    part = uncontrollable(*_without_rounding(about))
    if not len(part.rows):
        return Controllability(size, True, (), (), (), ())
    model, scale = about.model, part.scale
    velocities, closure = _allowed(about)
    still = [k for k, name in enumerate(about.states) if name in {*model.speeds, *model.currents}]
    measured = part.rows * scale
    held = null_rows(np.hstack([measured[:, still], measured @ _unit(velocities, scale)])) @ measured
    constant = null_rows(held @ _unit(closure, scale)) @ held
    integrals = echelon(constant / scale, scale)
    nonholonomic = modulo(held / scale, integrals, scale)
    unreached = modulo(part.rows, echelon(held / scale, scale), scale)
    return Controllability(
        size,
        True,
        _directions(nonholonomic, about.states),
        _directions(integrals, about.states),
        _directions(unreached, about.states),
        tuple(part.poles.tolist()),
    )


def combination(direction: Direction) -> str:
    """'left.angle - 6.562 x + 3.937 theta': the state with coefficient 1 first."""
    terms = sorted(direction.items(), key=lambda item: item[1] != 1.0)
    text = ""
    for name, value in terms:
        sign = ("- " if value < 0 else "+ ") if text else ("-" if value < 0 else "")
        factor = f"{abs(value):.4g} ".removeprefix("1 ")
        text += f"{' ' if text else ''}{sign}{factor}{name}"
    return text


def _directions(rows: Array, names: Sequence[str]) -> tuple[Direction, ...]:
    return tuple(
        {name: float(value) for name, value in zip(names, row, strict=True) if value} for row in rows
    )


def _without_rounding(about: Linearization) -> tuple[Array, Array]:
    """A and B with 0 where an entry isn't larger than what a state at a distance of 1e-9 makes of it."""
    from trundle.model.linearization import slopes_near

    near = slopes_near(about)
    cleaned = []
    for k, matrix in enumerate((about.A, about.B)):
        noise = np.max([np.abs(each[k] - matrix) for each in near], axis=0)
        cleaned.append(np.where(np.abs(matrix) <= 10 * noise, 0.0, matrix))
    return cleaned[0], cleaned[1]


def _allowed(about: Linearization) -> tuple[Array, Array]:
    """Velocities of z that the constraints allow, and those with their Lie brackets, (n, ·); only coordinates move."""
    model = about.model
    x, p = np.array(list(about.state.values())), np.array(list(about.parameters.values()))
    gradient = constraint_gradient(model, x, np.array(list(about.input.values())), p)
    tangent = tangent_at(model, x, np.zeros(x.size), gradient, about.dependent)
    found = reach(model, x, p, about.dependent)
    dual = tangent.dual[:, : len(model.coordinates)]
    coordinates = [name not in {*model.speeds, *model.currents} for name in about.states]
    return tuple(
        np.where(np.array(coordinates)[:, None], dual @ each, 0.0)
        for each in (found.velocities, found.closure)
    )  # type: ignore[return-value]


def _unit(columns: Array, scale: Array) -> Array:
    """Columns in the measure of the states, the largest entry of each 1."""
    measured = columns / scale[:, None]
    largest = np.abs(measured).max(axis=0, initial=0.0)
    return measured[:, largest > 0] / largest[largest > 0]

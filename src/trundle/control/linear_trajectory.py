"""A model linearised along a run: A(t), B(t), C(t), D(t) of the variational equation, at the run's own times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.linearization import Linearization, linearized
from trundle.control.operating_point import OperatingPoint, chosen_outputs
from trundle.control.tangent import TangentSpace, best_dependent, constraint_gradient, tangent_at
from trundle.errors import InputError, NumericsError
from trundle.model import Model
from trundle.model.arguments import Given, model_of
from trundle.program import compile_program

if TYPE_CHECKING:
    from trundle.results import Run


# States of a run that are asked which of them to solve the constraints for.
_LOOKS = 20


@dataclass(frozen=True, repr=False, eq=False)
class LinearTrajectory:
    """ż = A(t) z + B(t) δu and δy = C(t) z + D(t) δu for small motions δx = T(t) z beside a run.

    time (K,); A (K, n, n), B (K, n, m), C (K, r, n), D (K, r, m), with the names and units of `Linearization`;
    basis (K, N, n) is T. `trajectory[k]` is the `Linearization` at time k.
    """

    name: str
    time: FloatArray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    basis: FloatArray
    dependent: tuple[str, ...]
    points: tuple[Linearization, ...]

    def __len__(self) -> int:
        return self.time.size

    def __getitem__(self, k: int) -> Linearization:
        return self.points[k]

    def __repr__(self) -> str:
        size = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return (
            f"{self.name} linearised along a run: {len(self)} times from {self.time[0]:g} s to {self.time[-1]:g} s, "
            f"{size}; states {', '.join(self.states)}"
        )


def linearize_along(
    model: Given, run: Run, outputs: Sequence[str] | None = None, *, base: str | None = None
) -> LinearTrajectory:
    """A(t), B(t), C(t), D(t) of small motions beside a run, at every time that it stores.

    ż = A(t) z + B(t) δu and δy = C(t) z + D(t) δu: the variational equation, in the same independent coordinates all
    along.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        The model that was run, or what it is derived from.
    run : Run
        One of its runs, with the inputs and parameters that it had.
    outputs : sequence of str
        Names of states and outputs to be y; by default all outputs that have slopes.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    LinearTrajectory
        `A` (K, n, n), `B` (K, n, m), … over `time` (K,); `trajectory[k]` is the `Linearization` at time k.

    Raises
    ------
    InputError
        For what isn't a run of this model.
    NumericsError
        Where the model is singular, saying when.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.pendulum())
    >>> run = trundle.simulate(model, 1.0, initial={"link_1.angle": "30 deg"}, samples=11)
    >>> trundle.linearize_along(model, run).A.shape
    (11, 4, 4)
    """
    model = model if isinstance(model, Model) and base is None else model_of(model, "linearize_along", base)
    model.require_continuous("linearize_along")
    shown = chosen_outputs(model, outputs)
    x, u, parameters = _states_of(model, run)
    p = np.array(list(parameters.values()))
    slopes = compile_program(model.rate_slopes)(x, u, p)
    seen = compile_program(model.output_slopes)(x, u, p)
    points = []
    for k, tangent in enumerate(_tangents(model, x, u, p, slopes[0])):
        point = OperatingPoint(x[:, k], u[:, k], parameters)
        at_k = [slope[:, k] for slope in slopes], [series[:, k] for series in seen]
        try:
            points.append(linearized(model, point, tangent, *at_k, shown))
        except NumericsError as error:
            raise NumericsError(f"at t = {run.time[k]:g} s: {error}") from None
    first = points[0]
    stacked = [np.stack([getattr(point, name) for point in points]) for name in ("A", "B", "C", "D", "basis")]
    for array in stacked:
        array.setflags(write=False)
    return LinearTrajectory(
        model.name, run.time, first.states, first.inputs, first.outputs, first.units,
        *stacked, dependent=first.dependent, points=tuple(points),
    )  # fmt: skip


def _states_of(model: Model, run: Run) -> tuple[FloatArray, FloatArray, dict[str, float]]:
    """x (N, K), u (m, K) and the parameters of a run; raises InputError for what isn't a run of this model."""
    if not hasattr(run, "time") or not hasattr(run, "values"):
        raise InputError(
            f"expected a run, got {type(run).__name__}", key="run", hint="run = trundle.simulate(model, …)"
        )
    missing = [name for name in (*model.states, *model.inputs) if name not in run]
    if missing:
        raise InputError(
            f"the run of '{run.name}' has no '{missing[0]}', a state or input of '{model.name}'",
            key="run",
            hint="give a run that trundle.simulate made of this model",
        )
    count = len(run.time)
    x = np.array([run[name] for name in model.states]).reshape(len(model.states), count)
    x = model.quantities.normalised(model.states, x)
    u = np.array([run[name] for name in model.inputs]).reshape(len(model.inputs), count)
    return x, u, model.parameter_values(run.description.get("parameters", {}))


def _tangents(
    model: Model, x: FloatArray, u: FloatArray, p: FloatArray, rates: FloatArray
) -> list[TangentSpace]:
    """T and L at every time, all with the same independent states."""
    gradients = [constraint_gradient(model, x[:, k], u[:, k], p) for k in range(x.shape[1])]
    if model.manifold is None:
        return [tangent_at(model, x[:, k], rates[:, k], None) for k in range(x.shape[1])]
    looks = np.unique(np.linspace(0, x.shape[1] - 1, _LOOKS).astype(int))
    chosen = best_dependent(model, [(x[:, k], rates[:, k], gradients[k]) for k in looks])
    return [tangent_at(model, x[:, k], rates[:, k], gradient, chosen) for k, gradient in enumerate(gradients)]

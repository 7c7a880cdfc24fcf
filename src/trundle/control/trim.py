"""Operating points: steady motions in which given states, inputs or outputs have given values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.linearization import Linearization, linearize
from trundle.control.operating_point import moving_on, point_of
from trundle.control.trim_search import SOLVED, TrimEquations, as_casters_trail, null_directions
from trundle.errors import NumericsError, require_known
from trundle.expected import names_of
from trundle.mechanics.combinations import echelon
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named, number
from trundle.shown import Explained

# A solution whose states are this near (relative to 1 + their size) to where ideal wheels roll is the one meant; of so
# many others the nearest is taken.
_NEAR, _ENOUGH = 0.3, 3


@dataclass(frozen=True, repr=False, eq=False)
class Trim(Explained):
    """A steady motion: no speed and no current changes, and of the coordinates only those move on that don't matter.

    `state` x and `input` u by name, `targets` what was asked for, `rate` of the coordinates that move on, `residual`
    what is left of each equation. `free`: directions of states and inputs together, name -> coefficient, along which
    everything asked for still holds: what else could have been asked for.
    """

    model: Model
    targets: Mapping[str, float]
    state: Mapping[str, float]
    input: Mapping[str, float]
    parameters: Mapping[str, float]
    rate: Mapping[str, float]
    residual: Mapping[str, float]
    free: tuple[Mapping[str, float], ...]

    def __repr__(self) -> str:
        return self.explain()

    @property
    def x(self) -> FloatArray:
        """The state, (n,)."""
        return np.array(list(self.state.values()))

    @property
    def u(self) -> FloatArray:
        """The inputs, (m,)."""
        return np.array(list(self.input.values()))

    def linearize(self, outputs: Sequence[str] | None = None) -> Linearization:
        """A, B, C, D of small motions beside this one; as it is steady, they are constant.

        Parameters
        ----------
        outputs : sequence of str, optional
            Names of y, as in `trundle.linearize`.

        Returns
        -------
        Linearization
            With its `state` and `input` at this motion.

        Raises
        ------
        InputError
            For names that aren't states or outputs.

        Examples
        --------
        >>> import trundle
        >>> circle = trundle.derive(trundle.catalog.differential_drive()).trim(v_x=1.0, omega=0.5)
        >>> circle.linearize().is_steady
        True
        """
        return linearize(self.model, self.state, self.input, self.parameters, outputs)


def trim(
    model: Given,
    targets: Mapping[str, float | str] | None = None,
    *,
    start: Mapping[str, float | str] | None = None,
    fixed: Sequence[str] = (),
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
    **values: float | str,
) -> Trim:
    """Find a steady motion in which states, inputs or outputs have given values.

    u̇ = 0, and q̇ = 0 but for coordinates on which nothing depends (a pose on level ground, a wheel's angle), with the
    constraints and the targets; by damped Newton steps (Levenberg and Marquardt) on the programs' own derivatives, from
    the start, from where ideal wheels would roll, and from around. Without a start casters trail: on the other side of
    their pivots a motion may be as steady, but doesn't last.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, or what one is derived from here.
    targets : mapping of str to number or str, optional
        Values of states, inputs and outputs by name, in SI or as text with units; names without a dot can be given as
        keywords, too: `trim(v_x=1, omega=0.5)`.
    start : mapping of str to number or str, optional
        States and inputs where the search begins, which chooses between solutions; what isn't given starts as in a run.
    fixed : sequence of str, optional
        States that are taken as constant where they start though they change, slowly, as a battery's charge does.
    parameters : mapping of str to number or str, optional
        Changed values by name.
    **values : number or str
        More targets.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Trim
        State, inputs, and the directions that are left free.

    Raises
    ------
    InputError
        For names and values that don't fit.
    NumericsError
        Where no such motion is found, saying what can't be had.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> circle = model.trim(v_x=1.0, omega=0.5)
    >>> round(circle.input["right_motor.voltage"], 2) > round(circle.input["left_motor.voltage"], 2)
    True

    References
    ----------
    B. L. Stevens, F. L. Lewis, *Aircraft Control and Simulation*, 2nd ed., 2003, sec. 3.6.
    """
    model = model if isinstance(model, Model) and base is None else model_of(model, "trim", base)
    model.require_continuous("trim")
    begin = dict(named(start, "start"))
    wanted = {
        name: number(value, name, model.units.get(name, ""))
        for name, value in {**named(targets, "targets"), **values}.items()
    }
    _check(model, wanted, begin, fixed)
    states = {name: value for name, value in begin.items() if name in model.states}
    inputs = {name: value for name, value in begin.items() if name in model.inputs}
    point = point_of(model, states, inputs, parameters)
    free_moving = moving_on(model, point.p) | set(fixed)
    for name in wanted.keys() & {*model.coordinates, *fixed}:  # a search begins there
        point.x[model.state_index[name]] = wanted[name]
    search = TrimEquations(model, wanted, free_moving, point.x, point.u, point.p, bool(begin))
    found = search.with_least_inputs(_solution(search))
    return _trim(search, found if begin else as_casters_trail(search, found), point.parameters)


def linearized_motion(
    model: Model,
    at: Mapping[str, float | str] | Trim | Linearization | None,
    parameters: Mapping[str, float | str] | None,
    outputs: Sequence[str] | None = None,
) -> Linearization:
    """The linearisation about the motion that was asked for; `outputs`, where they are given, are its outputs."""
    if isinstance(at, Linearization):
        return at if outputs is None else linearize(at.model, at.state, at.input, at.parameters, outputs)
    if isinstance(at, Trim):
        return at.linearize(outputs)
    if at is None:
        return linearize(model, parameters=parameters, outputs=outputs)
    return trim(model, at, parameters=parameters).linearize(outputs)


def _solution(search: TrimEquations) -> FloatArray:
    """Of the motions found from sensible starts the one nearest to where it should be, else the first from around."""
    solutions: list[FloatArray] = []
    nearest: tuple[float, FloatArray] = (np.inf, search.begin)
    for guess in chain(search.guesses(), search.around()):
        left, w = search.solved(guess)
        nearest = min(nearest, (left, w), key=lambda pair: pair[0])
        if left <= SOLVED:
            solutions.append(w)
        if solutions and (search.distance(solutions[-1]) <= _NEAR or len(solutions) == _ENOUGH):
            break
    if not solutions:
        raise _not_found(search, nearest[1])
    return min(solutions, key=search.distance)


def _check(model: Model, targets: Collection[str], start: Collection[str], fixed: Collection[str]) -> None:
    """Raise InputError for the first name in `targets`, `start` or `fixed` that the model doesn't have."""
    fixed = names_of(fixed, "fixed")
    for key, names, what, known in (
        ("targets", targets, "state, input or output", (*model.states, *model.inputs, *model.outputs)),
        ("start", start, "state or input", (*model.states, *model.inputs)),
        ("fixed", fixed, "state", model.states),
    ):
        for name in names:
            require_known(name, known, f"'{name}' is not a {what} of '{model.name}'", key=key)


def _trim(search: TrimEquations, w: FloatArray, parameters: Mapping[str, float]) -> Trim:
    """The motion that was found, with what is left free there."""
    model, (x, u) = search.model, search.split(w)
    value, slope = search.equations(w)
    rate = model.dynamics.evaluate(x, u, search.p)[0]
    moving = [
        k for k, name in enumerate(model.states) if name in search.free_moving and abs(rate[k]) > SOLVED
    ]
    return Trim(
        model,
        dict(search.targets),
        state=dict(zip(model.states, x.tolist(), strict=True)),
        input=dict(zip(model.inputs, u.tolist(), strict=True)),
        parameters=parameters,
        rate={model.states[k]: float(rate[k]) for k in moving},
        residual=dict(zip(search.labels, value.tolist(), strict=True)),
        free=_free(search, slope),
    )


def _free(search: TrimEquations, slope: FloatArray) -> tuple[Mapping[str, float], ...]:
    """Directions of w along which the equations hold to first order, each in as few numbers as possible; a speed's is 1
    where there is one.
    """
    model = search.model
    own = dict.fromkeys(model.speeds, 1) | dict.fromkeys((*model.inputs, *model.currents), -1)
    order = sorted(range(len(search.names)), key=lambda k: own.get(search.names[k], 0))
    free, scale = null_directions(slope)
    motions = echelon(free[:, order], scale[order])
    return tuple({search.names[k]: float(v) for k, v in zip(order, row, strict=True) if v} for row in motions)


def _not_found(search: TrimEquations, w: FloatArray) -> NumericsError:
    """What can't be had, and what the nearest lacks."""
    model, (value, slope), left = search.model, search.equations(w), search.residual(w)
    units = model.units
    wanted = ", ".join(f"{name} = {v:g} {units.get(name, '')}".strip() for name, v in search.targets.items())
    worst = [int(k) for k in np.argsort(-left)[:3] if left[k] > SOLVED]
    lines = [f"found no steady motion of '{model.name}' with {wanted or 'nothing asked for'}"]
    for k in worst:
        label = search.labels[k]
        if label not in search.targets:
            lines.append(f"  nearest to it, the {label} is {value[k]:.3g}, not 0")
        elif not slope[k].any():
            lines.append(
                f"  nothing that can change moves {label}, which is {value[k] + search.targets[label]:.6g}"
            )
        else:
            lines.append(f"  nearest to it, {label} is {value[k] + search.targets[label]:.6g}")
    still = [model.states[k] for k in search.bound if model.states[k] in model.coordinates]
    moved = [
        name
        for name in search.targets
        if model.quantities.coordinate_of(name) in still and search.targets[name]
    ]
    if moved:
        lines.append(
            f"  with {moved[0]} it is not a relative equilibrium: the equations depend on "
            f"'{model.quantities.coordinate_of(moved[0])}', which would move on; "
            "linearise along a run: model.linearize_along(run)"
        )
    elif charges := [name for name in _charges(model) if name not in search.free_moving]:
        lines.append(f"  a battery's charge never stays; to take it as constant: fixed={charges}")
    else:
        lines.append("  ask for less, or begin nearer: start={'NAME': VALUE, ...}")
    return NumericsError("\n".join(lines))


def _charges(model: Model) -> list[str]:
    """The states that are batteries' charges."""
    if model.robot is None:
        return []
    return [supply.charge.name for supply in model.moving.mechanism.assembly.supplies]

"""Operating points: steady motions in which given states, inputs or outputs have given values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.analysis.analyze import analyze
from trundle.control.linearization import Linearization, linearize, point_of
from trundle.control.steady import moving_on
from trundle.control.tangent import Array
from trundle.errors import InputError, NumericsError, suggest
from trundle.mechanics.combinations import echelon, null_rows
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named, number
from trundle.shown import Explained

# What is left of the equations, each measured by its own slopes (a change of the state or an input, relative to 1 + its
# value): Newton's method ends at rounding, far below, or not at all.
_SOLVED = 1e-8
_STEPS, _RANDOM, _SLIDES = 100, 8, 20
# Where what is left only fades with the distance (an arm slid out of its joint, so far that it hardly falls), Newton's
# next step is as long as what it starts from; beside a solution it is nearly nothing.
_NEAR = 0.01
BASE = ("v_x", "v_y", "omega")


@dataclass(frozen=True)
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

    @property
    def x(self) -> Array:
        """The state, (n,)."""
        return np.array(list(self.state.values()))

    @property
    def u(self) -> Array:
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
    parameters: Mapping[str, float | str] | None = None,
    **values: float | str,
) -> Trim:
    """Find a steady motion in which states, inputs or outputs have given values.

    u̇ = 0, and q̇ = 0 but for coordinates on which nothing depends (a pose on level ground, a wheel's angle), with the
    constraints and the targets; by damped Newton steps (Levenberg and Marquardt) on the programs' own derivatives, from
    the start, from where ideal wheels would roll, and from around.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, or what one is derived from here.
    targets : mapping of str to number or str, optional
        Values of states, inputs and outputs by name, in SI or as text with units; names without a dot can be given as
        keywords, too: `trim(v_x=1, omega=0.5)`.
    start : mapping of str to number or str, optional
        States and inputs where the search begins, which chooses between solutions; what isn't given starts as in a run.
    parameters : mapping of str to number or str, optional
        Changed values by name.
    **values : number or str
        More targets.

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
    model = model if isinstance(model, Model) else model_of(model, "trim")
    begin = dict(named(start, "start"))
    wanted = {
        name: number(value, name, model.units.get(name, ""))
        for name, value in {**named(targets, "targets"), **values}.items()
    }
    _check(model, wanted, begin)
    states = {name: value for name, value in begin.items() if name in model.states}
    inputs = {name: value for name, value in begin.items() if name in model.inputs}
    point = point_of(model, states, inputs, parameters)
    free_moving = moving_on(model, point.p)
    for name in free_moving & wanted.keys():  # where a pose stands is no equation
        point.x[model.state_index[name]] = wanted[name]
    search = _Search(model, wanted, free_moving, point.x, point.u, point.p)
    best: tuple[float, Array] = (np.inf, search.begin)
    for guess in search.guesses():
        found = search.solved(guess)
        best = min(best, found, key=lambda each: each[0])
        if best[0] <= _SOLVED:
            return _trim(search, search.with_least_inputs(best[1]), point.parameters)
    raise _not_found(search, best[1])


def _check(model: Model, targets: Mapping[str, float], start: Mapping[str, float | str]) -> None:
    for what, names, known in (
        ("targets", targets, (*model.states, *model.inputs, *model.outputs)),
        ("start", start, (*model.states, *model.inputs)),
    ):
        for name in names:
            if name not in known:
                raise InputError(
                    f"'{name}' is no {'state, input or output' if what == 'targets' else 'state or input'} of "
                    f"'{model.name}'",
                    key=what,
                    hint=suggest(str(name), known),
                )


@dataclass(frozen=True)
class _Search:
    """The equations of a trim over w: the states that matter, and the inputs."""

    model: Model
    targets: Mapping[str, float]
    free_moving: frozenset[str]
    x0: Array
    u0: Array
    p: Array

    @cached_property
    def bound(self) -> list[int]:
        """Places of the states among w."""
        return [k for k, name in enumerate(self.model.states) if name not in self.free_moving]

    @cached_property
    def asked(self) -> list[str]:
        """Targets that are equations: where a pose stands is none."""
        return [name for name in self.targets if name not in self.free_moving]

    @cached_property
    def labels(self) -> list[str]:
        """Of the equations."""
        held = () if self.model.manifold is None else self.model.manifold.outputs[0].labels
        return [*(f"rate of {self.model.states[k]}" for k in self.bound), *held, *self.asked]

    @property
    def names(self) -> tuple[str, ...]:
        """Of w."""
        return (*(self.model.states[k] for k in self.bound), *self.model.inputs)

    @property
    def begin(self) -> Array:
        return np.concatenate([self.x0[self.bound], self.u0])

    def split(self, w: Array) -> tuple[Array, Array]:
        """x and u."""
        x = self.x0.copy()
        x[self.bound] = w[: len(self.bound)]
        return x, w[len(self.bound) :]

    def equations(self, w: Array) -> tuple[Array, Array]:
        """What is to vanish, (r,), and its slopes (r, w)."""
        model, (x, u) = self.model, self.split(w)
        n, m = x.size, u.size
        rate, by_x, by_u = model.rate_slopes.evaluate(x, u, self.p)
        values = [rate[self.bound]]
        slopes = [np.hstack([by_x.reshape(n, n), by_u.reshape(n, m)])[self.bound]]
        if model.manifold is not None and model.manifold_jacobian is not None:
            values.append(model.manifold.evaluate(x, u, self.p)[0])
            by_x = model.manifold_jacobian.evaluate(x, u, self.p)[0].reshape(-1, n)
            slopes.append(np.hstack([by_x, np.zeros((len(by_x), m))]))
        if self.asked:
            y, by_x, by_u = model.output_slopes.evaluate(x, u, self.p)
            every = (*model.states, *model.inputs, *model.outputs)
            rows = [every.index(name) for name in self.asked]
            values.append(np.concatenate([x, u, y])[rows] - [self.targets[name] for name in self.asked])
            by_both = np.hstack([by_x.reshape(y.size, n), by_u.reshape(y.size, m)])
            slopes.append(np.vstack([np.eye(n + m), by_both])[rows])
        places = [*self.bound, *range(n, n + m)]
        return np.concatenate(values), np.vstack(slopes)[:, places]

    def guesses(self) -> Iterator[Array]:
        """Where searches begin: at the start, where ideal wheels would roll, and around both."""
        yield self.begin
        rolling = _rolling(self)
        if rolling is not None:
            yield rolling
        near, rng = self.begin if rolling is None else rolling, np.random.default_rng(0)
        for _ in range(_RANDOM):
            yield near + rng.normal(scale=0.3, size=near.size)

    def solved(self, w: Array) -> tuple[float, Array]:
        """Where Newton's method ends from w, and what is left there, by `left`; infinite where numbers end."""
        from scipy.optimize import least_squares

        scale = _lengths(self.equations(w)[1])
        try:
            found = least_squares(
                lambda v: self.equations(v)[0] / scale,
                w,
                lambda v: self.equations(v)[1] / scale[:, None],  # pyright: ignore[reportArgumentType]  # it may be one
                x_scale="jac",
                max_nfev=_STEPS,
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
            )
        except ValueError:  # not finite there
            return np.inf, w
        w = found.x
        for _ in range(3):  # the last digits
            value, slope = self.equations(w)
            size = _lengths(slope)
            closer = w - np.linalg.pinv(slope / size[:, None], rcond=1e-10) @ (value / size)
            if not self.left(closer).max() < self.left(w).max():
                break
            w = closer
        return float(self.left(w).max(initial=0.0)) if self.is_near(w) else np.inf, w

    def is_near(self, w: Array) -> bool:
        """Whether a solution is near, measured by the unknowns' own size."""
        value, slope = self.equations(w)
        slope = slope * (1 + np.abs(w))
        size = _lengths(slope)
        step = np.linalg.pinv(slope / size[:, None], rcond=1e-10) @ (value / size)
        return bool(np.abs(step).max(initial=0.0) < _NEAR)

    def with_least_inputs(self, w: Array) -> Array:
        """Of the motions that w can be moved to, one with inputs nearest to the start's: four motors share alike."""
        own, share = slice(len(self.bound), None), 1.0
        for _ in range(_SLIDES):
            free, _ = _null(self.equations(w)[1])
            step = np.linalg.lstsq(free[:, own].T, self.u0 - w[own], rcond=1e-9)[0] @ free
            left, moved = self.solved(w + share * step)
            gain = np.linalg.norm(w[own] - self.u0) - np.linalg.norm(moved[own] - self.u0)
            if np.linalg.norm(step) <= _SOLVED:
                break
            if left <= _SOLVED and gain > 0:
                w, share = moved, min(1.0, 2 * share)
            else:  # contacts that slip bend the way within a millimetre a second
                share /= 4
        return w

    def left(self, w: Array) -> Array:
        """What is left of each equation, as the relative change of w that makes as much of it."""
        value, slope = self.equations(w)
        return np.abs(value) / _lengths(slope * (1 + np.abs(w)))


def _lengths(slope: Array) -> Array:
    """The rows' lengths (r,), 1 where nothing has a slope."""
    size = np.linalg.norm(slope, axis=1)
    return np.where((size > 0) & np.isfinite(size), size, 1.0)


def _rolling(search: _Search) -> Array | None:
    """The start with steering and wheels as a base on ideal wheels would have them at the targets' twist: contacts that
    slip saturate within a millimetre a second, and have no slope beyond.
    """
    model, x = search.model, search.x0.copy()
    twist = [search.targets.get(name, 0.0) for name in BASE]
    if model.robot is None or model.robot.base != "planar" or not any(twist):
        return None
    can = analyze(model.robot)
    steered = any(wheel.noun.steered for wheel in can.maps.assembly.wheels)
    try:
        angles = can.steering(twist) if steered else {}
    except InputError:  # none of them on the base
        angles = {}
    maps, at = can.maps, {name: angle for name, angle in angles.items() if name in can.maps.names}
    rows = maps.constraints(maps.place(at)[None])[0] / maps.scale
    base, others = list(maps.base), np.setdiff1d(np.arange(len(maps.scale)), maps.base)
    rates = np.linalg.lstsq(rows[:, others], -rows[:, base] @ twist, rcond=None)[0]
    known = {**at, **dict(zip((maps.assembly.speeds[k] for k in others), rates, strict=True))}
    known |= dict(zip(BASE, twist, strict=True))
    for name, value in known.items():
        if name in model.states:
            x[model.state_index[name]] = value
    return np.concatenate([x[search.bound], search.u0])


def _trim(search: _Search, w: Array, parameters: Mapping[str, float]) -> Trim:
    """The motion that was found, with what is left free there."""
    model, (x, u) = search.model, search.split(w)
    value, slope = search.equations(w)
    rate = model.dynamics.evaluate(x, u, search.p)[0]
    moving = [
        k for k, name in enumerate(model.states) if name in search.free_moving and abs(rate[k]) > _SOLVED
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


def _free(search: _Search, slope: Array) -> tuple[Mapping[str, float], ...]:
    """Directions of w along which the equations hold to first order, each in as few numbers as possible; a speed's is 1
    where there is one.
    """
    model = search.model
    own = dict.fromkeys(model.speeds, 1) | dict.fromkeys((*model.inputs, *model.currents), -1)
    order = sorted(range(len(search.names)), key=lambda k: own.get(search.names[k], 0))
    free, scale = _null(slope)
    found = echelon(free[:, order], scale[order])
    return tuple({search.names[k]: float(v) for k, v in zip(order, row, strict=True) if v} for row in found)


def _null(slope: Array) -> tuple[Array, Array]:
    """Directions (k, w) that change no equation, and the measure (w,) in which they are orthonormal: each unknown in
    multiples of what changes the equations by about 1.
    """
    slope = slope / _lengths(slope)[:, None]
    scale = _lengths(slope.T)
    return null_rows((slope / scale).T) / scale, scale


def _not_found(search: _Search, w: Array) -> NumericsError:
    """What can't be had, and what the nearest lacks."""
    model, (value, slope), left = search.model, search.equations(w), search.left(w)
    units = model.units
    wanted = ", ".join(f"{name} = {v:g} {units.get(name, '')}".strip() for name, v in search.targets.items())
    worst = [int(k) for k in np.argsort(-left)[:3] if left[k] > _SOLVED]
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
            f"  with {moved[0]} it is no relative equilibrium: the equations depend on "
            f"'{model.quantities.coordinate_of(moved[0])}', which would move on; "
            "linearise along a run: model.linearize_along(run)"
        )
    else:
        lines.append("  ask for less, or begin nearer: start={'NAME': VALUE, ...}")
    return NumericsError("\n".join(lines))

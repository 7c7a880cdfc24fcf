"""Solving for a steady motion: its equations over the states that matter and the inputs, and where searches begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.analysis.analyze import analyze
from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.combinations import null_rows
from trundle.model import Model

# What is left of the equations, each measured by its own slopes (a change of the state or an input, relative to 1 + its
# value): Newton's method ends at rounding, far below, or not at all.
SOLVED = 1e-8
_STEPS = 100
# Where what is left only fades with the distance (an arm slid so far out that it hardly falls), Newton's next step is
# as long as what it starts from; beside a solution it is nearly nothing. Farther out it can't be told from rounding.
_NEAR, _FAR = 0.01, 1e9
# Steps along what is left free, at most, and the share of the inputs that one has to save.
_SLIDES, _GAIN = 20, 1e-3
# Shares of the way through which targets are led to what is asked for.
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
# Searches that begin around the others, this far (m, rad, m/s, V, …) from them.
_RANDOM, _AROUND = 8, 0.3
# Growth (1/s) by which motions differ more than by rounding.
_SAME_GROWTH = 1e-6
# The speeds of a planar base: targets of these steer and drive wheels.
BASE = ("v_x", "v_y", "omega")


@dataclass(frozen=True)
class TrimEquations:
    """The equations of a trim over w: the states that matter, and the inputs."""

    model: Model
    targets: Mapping[str, float]
    free_moving: frozenset[str]
    x0: FloatArray
    u0: FloatArray
    p: FloatArray
    started: bool

    @cached_property
    def bound(self) -> list[int]:
        """Places of the states among w."""
        return [k for k, name in enumerate(self.model.states) if name not in self.free_moving]

    @cached_property
    def aims(self) -> list[str]:
        """Targets that are equations: where a pose stands is none."""
        return [name for name in self.targets if name not in self.free_moving]

    @cached_property
    def labels(self) -> list[str]:
        """Of the equations."""
        held = () if self.model.manifold is None else self.model.manifold.outputs[0].labels
        return [*(f"rate of {self.model.states[k]}" for k in self.bound), *held, *self.aims]

    @property
    def names(self) -> tuple[str, ...]:
        """Of w."""
        return (*(self.model.states[k] for k in self.bound), *self.model.inputs)

    @property
    def begin(self) -> FloatArray:
        return np.concatenate([self.x0[self.bound], self.u0])

    def split(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x and u."""
        x = self.x0.copy()
        x[self.bound] = w[: len(self.bound)]
        return x, w[len(self.bound) :]

    def equations(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
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
        if self.aims:
            y, by_x, by_u = model.output_slopes.evaluate(x, u, self.p)
            every = (*model.states, *model.inputs, *model.outputs)
            rows = [every.index(name) for name in self.aims]
            values.append(np.concatenate([x, u, y])[rows] - [self.targets[name] for name in self.aims])
            by_both = np.hstack([by_x.reshape(y.size, n), by_u.reshape(y.size, m)])
            slopes.append(np.vstack([np.eye(n + m), by_both])[rows])
        places = [*self.bound, *range(n, n + m)]
        return np.concatenate(values), np.vstack(slopes)[:, places]

    @cached_property
    def rolling(self) -> tuple[FloatArray, FloatArray] | None:
        """Where wheels roll, see `_rolling`; None where there are none, and where a start was given."""
        return None if self.started else _rolling(self)

    @property
    def expected(self) -> FloatArray:
        """Where a motion should be: where ideal wheels would roll, or the start."""
        return self.begin if self.rolling is None else self.rolling[0] + self.rolling[1]

    def distance(self, w: FloatArray) -> float:
        """How far the states are from where they should be, relative to 1 + their size."""
        states = slice(len(self.bound))
        off = np.abs(w - self.expected) / (1 + np.abs(self.expected))
        return float(off[states].max(initial=0.0)) if self.rolling is not None else 0.0

    def guesses(self) -> Iterator[FloatArray]:
        """Sensible starts of a search."""
        if self.rolling is not None:
            yield self.driven(self.expected)
        yield self.expected
        if self.rolling is not None:
            yield self.begin
        yield self.led_up()

    def driven(self, w: FloatArray) -> FloatArray:
        """The same motion with the inputs and currents that it takes: without, a search leaves it for one that takes
        less.
        """
        value, slope = self.equations(w)
        moved = np.isin(self.names, (*self.model.inputs, *self.model.currents))
        size = _lengths(slope)
        step = np.linalg.lstsq(slope[:, moved] / size[:, None], value / size, rcond=1e-10)[0]
        driven = w.copy()
        driven[moved] -= step
        return driven if np.isfinite(driven).all() else w

    def around(self) -> Iterator[FloatArray]:
        """Starts all around."""
        # A fixed seed: the same question has the same answer every time.
        rng = np.random.default_rng(0)
        for _ in range(_RANDOM):
            yield self.expected + rng.normal(scale=_AROUND, size=self.begin.size)

    def led_up(self) -> FloatArray:
        """Where a motion comes to whose targets move from what they are at the start to what is asked for: near a
        standstill no motor is at its limits, and no contact slips.
        """
        w, rates = self.rolling or (self.begin, 0.0 * self.begin)
        value, _ = self.equations(self.begin)
        off = dict(zip(self.aims, value[len(value) - len(self.aims) :], strict=True))
        before = 0.0
        for share in _SHARES:
            nearer = {name: goal + (1 - share) * off.get(name, 0.0) for name, goal in self.targets.items()}
            w, before = replace(self, targets=nearer).solved(w + (share - before) * rates)[1], share
        return w

    def solved(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Where Newton's method ends from w, and what is left there, by `left`; infinite where numbers end."""
        from scipy.optimize import least_squares

        # Equations in rad/s², m/s and V count alike where each is measured by its own slopes.
        scale = _lengths(self.equations(w)[1])
        try:
            answer = least_squares(
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
        w = answer.x
        # Least squares ends at the root of rounding; Newton's own steps bring the last digits.
        for _ in range(3):
            value, slope = self.equations(w)
            size = _lengths(slope)
            closer = w - np.linalg.pinv(slope / size[:, None], rcond=1e-10) @ (value / size)
            if not self.residual(closer).max() < self.residual(w).max():
                break
            w = closer
        left = float(self.residual(w).max(initial=0.0))
        return (left if left > SOLVED or self.is_near(w) else np.inf), w

    def is_near(self, w: FloatArray) -> bool:
        """Whether a solution is near, measured by the unknowns' own size."""
        value, slope = self.equations(w)
        slope = slope * (1 + np.abs(w))
        size = _lengths(slope)
        step = np.linalg.pinv(slope / size[:, None], rcond=1e-10) @ (value / size)
        return bool(np.abs(step).max(initial=0.0) < _NEAR and np.abs(w).max(initial=0.0) < _FAR)

    def with_least_inputs(self, w: FloatArray) -> FloatArray:
        """Of the motions that w can be moved to, one with inputs nearest to the start's: four motors share alike."""
        own, share = slice(len(self.bound), None), 1.0
        for _ in range(_SLIDES):
            free, _ = null_directions(self.equations(w)[1])
            step = np.linalg.lstsq(free[:, own].T, self.u0 - w[own], rcond=1e-9)[0] @ free
            if share * np.linalg.norm(step) <= SOLVED:
                break
            left, moved = self.solved(w + share * step)
            size, after = (np.linalg.norm(point[own] - self.u0) for point in (w, moved))
            if left <= SOLVED and after < size:
                w, share = moved, min(1.0, 2 * share)
                if size - after <= _GAIN * size:
                    break
            else:  # contacts that slip bend the way within a millimetre a second
                share /= 4
        return w

    def residual(self, w: FloatArray) -> FloatArray:
        """What is left of each equation, as the relative change of w that makes as much of it."""
        value, slope = self.equations(w)
        return np.abs(value) / _lengths(slope * (1 + np.abs(w)))


def _lengths(slope: FloatArray) -> FloatArray:
    """The rows' lengths (r,), 1 where nothing has a slope."""
    size = np.linalg.norm(slope, axis=1)
    return np.where((size > 0) & np.isfinite(size), size, 1.0)


def _rolling(search: TrimEquations) -> tuple[FloatArray, FloatArray] | None:
    """The start with its wheels steered for the targets' twist, and the speeds at which the base moves with it and
    ideal wheels roll, both as w; None where no base is asked to move. Contacts that slip saturate within a millimetre a
    second and have no slope beyond, so a search has to begin where they hold.
    """
    model, x, speeds = search.model, search.x0.copy(), np.zeros(len(search.model.states))
    twist = [search.targets.get(name, 0.0) for name in BASE]
    if model.robot is None or model.robot.base != "planar" or not any(twist):
        return None
    can = analyze(model.robot)
    maps = can.maps
    try:
        angles = can.steering(twist)
    except InputError:  # no steered wheels on the base
        angles = {}
    angles = {name: angle for name, angle in angles.items() if name in maps.names}
    rows = maps.constraints(maps.place(angles)[None])[0] / maps.scale
    base, others = list(maps.base), np.setdiff1d(np.arange(len(maps.scale)), maps.base)
    rates = np.linalg.lstsq(rows[:, others], -rows[:, base] @ twist, rcond=None)[0]
    moving: dict[str, float] = dict(zip(BASE, twist, strict=True))
    moving |= dict(zip((maps.assembly.speeds[k] for k in others), rates.tolist(), strict=True))
    for values, into in ((angles, x), (moving, speeds)):
        for name, value in values.items():
            if name in model.state_index:
                into[model.state_index[name]] = value
    still = np.zeros(len(model.inputs))
    return np.concatenate([x[search.bound], search.u0]), np.concatenate([speeds[search.bound], still])


def null_directions(slope: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Directions (k, w) that change no equation, and the measure (w,) in which they are orthonormal: each unknown in
    multiples of what changes the equations by about 1.
    """
    slope = slope / _lengths(slope)[:, None]
    scale = _lengths(slope.T.round(14))  # what rounding changes is in no equation
    return null_rows((slope / scale).T) / scale, scale


def as_casters_trail(search: TrimEquations, w: FloatArray) -> FloatArray:
    """The same motion with every caster on the side of its pivot from which nothing moves it away, if it has one, and
    its angle within a half turn of where it starts.
    """
    for place in _caster_angles(search):
        w = w.copy()
        w[place] -= 2 * np.pi * np.round((w[place] - search.begin[place]) / (2 * np.pi))
        turned = w.copy()
        turned[place] += np.pi if w[place] <= search.begin[place] else -np.pi
        left, other = search.solved(turned)
        if left <= SOLVED and _growth(search, other) < _growth(search, w) - _SAME_GROWTH:
            w = other
    return w


def _caster_angles(search: TrimEquations) -> list[int]:
    """Places among w of the angles of what trails its pivot."""
    model = search.model
    if model.robot is None or not model.robot.wheels:
        return []
    assembly = model.moving.mechanism.assembly
    pivots = [w.steering for w in assembly.wheels if w.component.is_caster and w.steering is not None]
    names = [model.quantities.coordinate_of(assembly.speeds[pivot]) for pivot in pivots]
    return [search.names.index(name) for name in names if name in search.names and name not in search.targets]


def _growth(search: TrimEquations, w: FloatArray) -> float:
    """How fast the fastest small motion grows beside a motion (1/s); 0 where none does."""
    x, u = search.split(w)
    slope = search.model.rate_slopes.evaluate(x, u, search.p)[1].reshape(x.size, x.size)
    return float(np.linalg.eigvals(slope[np.ix_(search.bound, search.bound)]).real.max(initial=0.0))

"""How far a state lies from a steady motion: z of a linearisation, quick enough for a law asked at every step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.control.tangent import moving_axes
from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.control.linearization import Linearization


class DeviationMap:
    """States beside the motion through x₀ of a linearisation; what doesn't hang on the state is worked out once."""

    def __init__(self, about: Linearization) -> None:
        self.about, self.model = about, about.model
        self.x0 = np.array(list(about.state.values()))
        self.names = tuple(self.model.states)
        self.base = self.model.robot.base if self.model.robot is not None else ""
        self.quaternions = self.model.quantities.quaternions(self.names)
        names, _, _, dual, _ = moving_axes(self.model, self.x0, np.zeros(self.x0.size))
        self.rows = [names.index(name) for name in about.states]
        self.dual = dual[self.rows]

    def deviation(self, state: Mapping[str, float], time: float) -> FloatArray:
        """z of a state beside x₀ moved on by `time`: L (x − x₀(t)), with the axes of the pose at that time."""
        try:
            x = np.array([state[name] for name in self.names], dtype=float)
        except KeyError as missing:
            raise lacking(missing) from None
        reference = self.moved_on(time) if time else self.x0
        if self.quaternions:
            x = self.model.quantities.normalised(self.names, x)
        off = x - reference
        if self.base == "planar":
            off[2] = math.remainder(off[2], math.tau)
        for k in self.quaternions:
            if x[k : k + 4] @ reference[k : k + 4] < 0:  # q and -q are one rotation
                off[k : k + 4] = -x[k : k + 4] - reference[k : k + 4]
        if not time:
            return self.dual @ off
        if self.base == "planar":  # the axes turn with the heading, and nothing else does
            (x, y), heading = off[:2].tolist(), reference[2]
            cos, sin = math.cos(heading), math.sin(heading)
            off[0], off[1] = cos * x + sin * y, cos * y - sin * x
            return off[self.rows]
        return moving_axes(self.model, reference, np.zeros(x.size))[3][self.rows] @ off

    def moved_on(self, time: float) -> FloatArray:
        """Where a steady motion through x₀ (n,) is after a time: speeds stay, coordinates drift. Raises InputError."""
        rate = self._rate
        moved = self.x0 + rate * time
        if self.model.robot is None:
            # SymPy's coordinates may be anything, such as places in the world of what drives on a circle.
            from scipy.integrate import solve_ivp

            def rates(_: float, x: FloatArray) -> FloatArray:
                return self._rates(x)

            solution = solve_ivp(rates, (0, time), self.x0, method="DOP853", rtol=1e-12, atol=1e-12)
            return solution.y[:, -1]
        if self.base == "planar":  # an arc: half its turn on, the chord is sin(a)/a of its length
            (x, y), (v, w, turn) = self.x0[:2].tolist(), rate[:3].tolist()
            half = turn * time / 2
            chord = time * (math.sin(half) / half if half else 1.0)
            cos, sin = math.cos(half) * chord, math.sin(half) * chord
            moved[0], moved[1] = x + cos * v - sin * w, y + sin * v + cos * w
        return moved

    @cached_property
    def _rate(self) -> FloatArray:
        """How fast the motion moves on at x₀, (n,)."""
        if not self.about.is_steady:
            raise InputError(
                f"'{self.model.name}' does not go on as it is at this state: "
                f"{', '.join(self.about.drifting)} change",
                key="time",
                hint="model.trim finds steady motions; beside a run, compare with the run",
            )
        return self._rates(self.x0)

    def _rates(self, x: FloatArray) -> FloatArray:
        u, p = (np.array(list(values.values())) for values in (self.about.input, self.about.parameters))
        n = len(self.model.coordinates)
        return np.concatenate([self.model.dynamics.evaluate(x, u, p)[0][:n], np.zeros(x.size - n)])


def lacking(missing: KeyError) -> InputError:
    """What is said of a state without one of the model's names."""
    name = missing.args[0]
    return InputError(f"the state has no '{name}'", key=name, hint="give all states of the model")

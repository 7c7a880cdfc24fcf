"""Gains and linear systems of a linearisation as controllers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.control.linearization import Linearization
from trundle.errors import InputError
from trundle.robot import Controller, LinearController, StateFeedback

# Gains below this share of the largest are rounding.
_SMALL = 1e-15


class Realisation(Protocol):
    """A linear system: SciPy's and python-control's have these."""

    @property
    def A(self) -> FloatArray: ...
    @property
    def B(self) -> FloatArray: ...
    @property
    def C(self) -> FloatArray: ...
    @property
    def D(self) -> FloatArray: ...


class LinearSystem(NamedTuple):
    """A linear system of our own."""

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    dt: float | None = None


def controller_of(
    about: Linearization, law: npt.ArrayLike | Realisation, period: float | None = None
) -> Controller:
    """The controller that a gain or a system is; see `Linearization.controller`."""
    if all(hasattr(law, name) for name in "ABCD"):
        return _system(about, law)  # pyright: ignore[reportArgumentType]
    gain = as_numbers(law, "law")  # pyright: ignore[reportArgumentType]
    _require_shape(gain, (len(about.inputs), len(about.states)), "law", "its gain", "inputs by states")
    read = _read(about, gain)
    rows = gain @ about.dual[:, [about.model.states.index(name) for name in read]]
    drives = {
        name: {"gains": dict(zip(read, row.tolist(), strict=True)), "offset": about.input[name]}
        for name, row in zip(about.inputs, rows, strict=True)
    }
    around = {name: about.state[name] for name in read}
    return StateFeedback.model_validate({"drives": drives, "around": around, "period": period})


def _require_shape(matrix: FloatArray, shape: tuple[int, int], key: str, what: str, axes: str) -> None:
    if matrix.shape != shape:
        message = f"{what} is of shape {matrix.shape}, expected {shape}: {axes}"
        raise InputError(message, key=key, hint="the order is that of the linearisation's names")


def _read(about: Linearization, gain: FloatArray) -> tuple[str, ...]:
    """The model's states that the gain's z are made of; InputError where no constant row compares them."""
    acts = np.abs(gain).max(axis=0) > _SMALL * np.abs(gain).max()
    if not acts.any():
        raise InputError("a gain of zeros does nothing", key="law")
    moving = [name for name, used in zip(about.states, acts, strict=True) if used and name in about.drifting]
    if moving:
        message = (
            f"{', '.join(moving)} of the motion that it holds go on, and a constant row of gains can't follow"
        )
        hint = f"give no tolerance for {moving[0]} and what leads to it, or design along a run"
        raise InputError(message, key="tolerances", hint=hint)
    used = np.abs(about.dual[acts]).max(axis=0) > 0
    read = tuple(name for name, reads in zip(about.model.states, used, strict=True) if reads)
    _require_comparable(about, read)
    return read


def _require_comparable(about: Linearization, read: Sequence[str]) -> None:
    units = about.model.quantities
    if turned := [name for name in read if units[name].kind == "quaternion"]:
        raise InputError(
            f"{turned[0]} is of a rotation in space, which no constant row of gains compares",
            key="tolerances",
            hint="use .K on .about.deviation(state)",
        )


def _system(about: Linearization, system: Realisation) -> LinearController:
    """A linear system on y, with the sign of negative feedback."""
    period = getattr(system, "dt", None) or None
    if period is True:
        raise InputError("the system samples, and doesn't say how often", key="law", hint="give it a dt in s")
    a, b, c, d = (as_numbers(getattr(system, name), f"law.{name}") for name in "ABCD")
    _require_shape(d, (len(about.inputs), len(about.outputs)), "law", "its D", "inputs by outputs")
    moving = [name for name in about.outputs if name in about.model.state_index and name in about.drifting]
    if moving:
        message = f"{', '.join(moving)} of the motion that it holds go on, and a constant system can't follow"
        raise InputError(message, key="law", hint="linearize(outputs=[…]) chooses what it reads")
    _require_comparable(about, about.outputs)
    if period is not None and len(a):  # samples go on by x ← x + T ẋ
        a, b = (a - np.eye(len(a))) / period, b / period
    matrices = dict(zip("ABCD", (each.tolist() for each in (a, b, c, d)), strict=True)) if len(a) else {}
    return LinearController.model_validate(
        {
            "reads": about.outputs,
            "drives": about.inputs,
            **(matrices or {"D": d.tolist()}),
            "around": dict(about.output),
            "offset": dict(about.input),
            "period": period,
        }
    )

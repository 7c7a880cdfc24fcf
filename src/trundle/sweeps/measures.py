"""What a sweep keeps of a robot's motion: one number, formed step by step while the robot rolls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.expected import check_str
from trundle.model.arguments import number
from trundle.model.plant import Plant
from trundle.scalars import Scalar, less, maximum, minimum, where

_FINAL = re.compile(r"\s*final\.(\S+)\s*")
_CALL = re.compile(r"\s*([A-Za-z]+)\s*\(\s*([^\s()<>]+)\s*\)\s*")
_FIRST = re.compile(r"\s*first\s*\(\s*([^\s()<>]+)\s*([<>])\s*([^()<>]+?)\s*\)\s*")
_FORMS = "final.x, min(x), max(x), mean(x), integral(x), rms(x) or first(x > 2)"
# What stands where nothing was met yet.
_NEVER = -1.0


@dataclass(frozen=True)
class Measure:
    """A number of a motion: `text` says which, of the state or the output called `of`, in `unit`.

    Over the times t_k = k dt of N steps, with T = N dt: "final" is v(T); "min" and "max" are of all v(t_k);
    "integral" is the trapezoidal sum, "mean" that over T, "rms" the root of that of v² over T, all O(dt²);
    "first" is the first time at which v passes `level` upward (`above`) or downward, linear between steps, 0 where it
    is beyond at the start, NaN where it never is.
    """

    text: str
    kind: str
    of: str
    unit: str
    level: float = 0.0
    above: bool = True

    @property
    def sums(self) -> tuple[str, ...]:
        """What is carried from step to step, by labels."""
        return tuple(f"{self.text} {part}" for part in _PARTS[self.kind])

    def begun(self, v: Scalar) -> list[Scalar]:
        """What is carried, at the start, from the value v(0)."""
        if self.kind in ("min", "max"):
            return [v]
        if self.kind in ("integral", "mean"):
            return [0.5 * v]
        if self.kind == "rms":
            return [0.5 * v * v]
        if self.kind == "first":
            return [where(self._beyond(v), 0.0, _NEVER), v]
        return []

    def advance(self, sums: Sequence[Scalar], v: Scalar, step: Scalar) -> list[Scalar]:
        """What is carried after another step, the one with the number `step`, that ends with the value v."""
        if self.kind in ("min", "max"):
            return [(minimum if self.kind == "min" else maximum)(sums[0], v)]
        if self.kind in ("integral", "mean"):
            return [sums[0] + v]
        if self.kind == "rms":
            return [sums[0] + v * v]
        if self.kind == "first":
            return self._met(sums[0], sums[1], v, step)
        return []

    def ended(self, sums: Sequence[FloatArray], v: FloatArray, steps: int, dt: float) -> FloatArray:
        """The measure, from what was carried through all steps and the last values."""
        if self.kind == "final":
            return v
        if self.kind in ("min", "max"):
            return sums[0]
        if self.kind == "first":
            return np.where(sums[0] == _NEVER, np.nan, sums[0] * dt)
        last = v**2 if self.kind == "rms" else v
        whole = sums[0] - 0.5 * last
        if self.kind == "integral":
            return dt * whole
        return np.sqrt(np.maximum(whole / steps, 0.0)) if self.kind == "rms" else whole / steps

    def _beyond(self, v: Scalar) -> Scalar:
        return less(self.level, v) if self.above else less(v, self.level)

    def _met(self, when: Scalar, before: Scalar, v: Scalar, step: Scalar) -> list[Scalar]:
        """The step (and its part) at which v first passes the level, and v for the next one."""
        crossing = step - 1.0 + (self.level - before) / (v - before)
        now = where(self._beyond(v), crossing, _NEVER)
        return [where(less(when, 0.5 * _NEVER), now, when), v]


_PARTS: Mapping[str, tuple[str, ...]] = {
    "final": (), "min": ("least",), "max": ("most",), "integral": ("sum",), "mean": ("sum",), "rms": ("sum",),
    "first": ("met", "before"),
}  # fmt: skip
_UNITS: Mapping[str, Callable[[str], str]] = {
    "integral": lambda unit: f"{unit} s".strip(),
    "first": lambda _: "s",
}


def measures_of(model: Plant, texts: Sequence[str]) -> tuple[Measure, ...]:
    """The measures that the texts name.

    Raises
    ------
    InputError
        For texts that say none, names that the model has not, and texts that come twice.
    """
    found: dict[str, Measure] = {}
    for text in measure_texts(texts):
        measure = _measure(model, text)
        if measure.text in found:
            raise InputError(f"{measure.text!r} stands twice", key="measures", hint="once is enough")
        found[measure.text] = measure
    return tuple(found.values())


def measure_texts(given: object) -> list[str]:
    """The texts of a list of measures; InputError for what is none."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError("expected a list of measures", key="measures", hint=f"such as [{_FORMS!r}]")
    return [check_str(text, "measures", f"such as {_FORMS}") for text in given]


def _measure(model: Plant, text: str) -> Measure:
    """A measure of a text such as final.x, max(y) or first(z > 2)."""
    if match := _FINAL.fullmatch(text):
        return _make(model, f"final.{match[1]}", "final", match[1])
    if match := _FIRST.fullmatch(text):
        name, sign, level = match.groups()
        value = number(level, "measures", model.units.get(name, ""))
        return _make(model, f"first({name} {sign} {level})", "first", name, value, sign == ">")
    match = _CALL.fullmatch(text)
    if not match:
        raise InputError(f"{text!r} is no measure", key="measures", hint=f"write {_FORMS}")
    kind, name = match.groups()
    if kind == "first":
        raise InputError(f"{text!r} lacks its bound", key="measures", hint=f"write first({name} > 2)")
    if kind not in _PARTS or kind == "final":
        hint = f"{suggest(kind, [each for each in _PARTS if each not in ('final', 'first')])}; or {_FORMS}"
        raise InputError(f"there is no measure '{kind}'", key="measures", hint=hint)
    return _make(model, f"{kind}({name})", kind, name)


def _make(model: Plant, text: str, kind: str, name: str, level: float = 0.0, above: bool = True) -> Measure:
    known = (*model.states, *model.outputs)
    if name not in known:
        raise InputError(
            f"'{model.name}' has no state or output '{name}'", key="measures", hint=suggest(name, known)
        )
    unit = model.units.get(name, "")
    return Measure(text, kind, name, _UNITS.get(kind, lambda given: given)(unit), level, above)

"""Gaps: samples that are missing from a signal, refused or filled by a rule that has a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.errors import InputError, choose, require_known

RULES = ("spline", "linear")
# s; over shorter gaps cubic splines did better than what knows the body, over longer ones they didn't (Howarth &
# Callaghan 2010).
LONGEST = 0.2
# Two markers have changed places where that makes their steps this much shorter.
_SWAPPED = 0.5


@dataclass(frozen=True)
class Gaps:
    """Between the samples before and after a gap: the cubic spline through all samples, not-a-knot, or a straight line.

    longest: s, from the sample before to the one after; longer gaps are refused, and those at the ends always.
    """

    rule: str
    longest: float = LONGEST

    def __post_init__(self) -> None:
        require_known(self.rule, RULES, f"there is no rule {self.rule!r}", key="gaps.rule", hint=choose)
        if not (isinstance(self.longest, (int, float)) and self.longest > 0):
            raise InputError(
                f"the longest gap to fill is a time in s, not {self.longest!r}", key="gaps.longest"
            )

    @property
    def record(self) -> dict[str, object]:
        """The rule and its number, as plain data that goes with the results."""
        return asdict(self)


def gaps_of(given: Gaps | str | Mapping[str, object] | None) -> Gaps | None:
    """A rule as it is, by its name, or from {"rule": "spline", "longest": 0.1}; None refuses all gaps."""
    if given is None or isinstance(given, Gaps):
        return given
    if isinstance(given, str):
        return Gaps(given)
    hint = 'gaps="spline", or gaps={"rule": "spline", "longest": 0.1}'
    if not isinstance(given, Mapping):
        raise InputError(f"gaps are a rule and the longest one to fill, not {given!r}", key="gaps", hint=hint)
    for key in given:
        require_known(key, ("rule", "longest"), f"gaps have no '{key}'", key=f"gaps.{key}")
    if "rule" not in given:
        raise InputError("gaps need a rule", key="gaps", hint=hint)
    return Gaps(**given)  # type: ignore[arg-type]  # looked at when made


class Filling:
    """Fills gaps by a rule, or leaves them, and keeps count of what it filled."""

    def __init__(self, gaps: Gaps | None) -> None:
        self.gaps, self.counts = gaps, {}

    @property
    def record(self) -> dict[str, object]:
        """The rule and how many samples of what were filled; nothing without a rule."""
        return {} if self.gaps is None else {"gaps": {**self.gaps.record, "filled": self.counts}}

    def __call__(self, time: FloatArray, values: FloatArray, name: str, whole: bool = True) -> FloatArray:
        """Values (n,) or (n, k), filled where they miss; gaps that are too long or at an end are left.

        `whole`: they raise InputError instead, with the name and the time.
        """
        missing = np.asarray(np.isnan(values.reshape(time.size, -1)).any(axis=1))
        if self.gaps is None or not missing.any():
            return values
        wanted = np.zeros(time.size, dtype=bool)
        for first, last in _runs(missing):
            trouble = _too_long(time, first, last, self.gaps.longest)
            if trouble and whole:
                hint = "let longer ones be filled (gaps.longest), or cut the recording there"
                raise InputError(trouble, key=name, hint=hint)
            wanted[first : last + 1] = not trouble
        result = values.copy()
        if wanted.any():
            result[wanted] = _between(time[~missing], values[~missing], time[wanted], self.gaps.rule)
            self.counts[name] = int(wanted.sum())
        return result


def _too_long(time: FloatArray, first: int, last: int, longest: float) -> str:
    """Why a gap can't be filled; "" where it can."""
    if first == 0 or last == time.size - 1:
        return f"missing from t = {time[first]:g} to {time[last]:g} s, at the recording's end"
    width = float(time[last + 1] - time[first - 1])
    if width <= longest * (1 + 1e-9):  # as many steps as were asked for, whatever their rounding
        return ""
    return f"a gap of {width:g} s after t = {time[first - 1]:g} s, longer than {longest:g} s"


def refuse_swaps(time: FloatArray, markers: Mapping[str, FloatArray]) -> None:
    """InputError where two markers (n, 3) change places from one sample to the next, with names and time.

    They have where each lands so close to where the other was that both steps together are less than half as long.
    """
    steps = {name: np.linalg.norm(np.diff(places, axis=0), axis=1) for name, places in markers.items()}
    for one, other in combinations(markers, 2):
        crossed = np.linalg.norm(markers[one][1:] - markers[other][:-1], axis=1)
        crossed = crossed + np.linalg.norm(markers[other][1:] - markers[one][:-1], axis=1)
        swapped = np.flatnonzero(crossed < _SWAPPED * (steps[one] + steps[other]))
        if swapped.size:
            raise InputError(
                f"'{one}' and '{other}' change places at t = {time[swapped[0] + 1]:g} s",
                key=one,
                hint="name them anew from there on, in the laboratory's program",
            )


def _runs(missing: BoolArray) -> Iterator[tuple[int, int]]:
    """First and last places of runs of True."""
    # False at both ends gives a run that touches an end two edges as well.
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(int)))
    yield from zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)


def _between(time: FloatArray, columns: FloatArray, wanted: FloatArray, rule: str) -> FloatArray:
    from scipy.interpolate import make_interp_spline

    degree = min(3, time.size - 1) if rule == "spline" else 1
    spline = make_interp_spline(time - time[0], columns.reshape(time.size, -1), k=degree)
    return spline(wanted - time[0]).reshape(wanted.size, *columns.shape[1:])

"""How a figure is taken on a shared, noisy machine: the best of several tries, and always beside its peer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from trundle.frozen import settle

MISSING = "not installed"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, our figure, the peer's, their ratio, the target and whether it is
    met.
    """

    what: str
    ours: str
    peer: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""

    def __post_init__(self) -> None:
        """Numbers as Python's own, which JSON takes."""
        settle(
            self,
            ratio=None if self.ratio is None else float(self.ratio),
            met=None if self.met is None else bool(self.met),
        )


def best_seconds(work: Callable[[], object], tries: int = 5, least: float = 0.05) -> float:
    """Seconds of one call of `work`: the least over `tries`, each of enough calls to fill `least` seconds."""
    started = time.perf_counter()
    work()
    once = max(time.perf_counter() - started, 1e-9)
    calls = max(1, round(least / once))
    best = once
    for _ in range(tries):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - started) / calls)
    return best


def best_together(*works: Callable[[], object], tries: int = 30, least: float = 0.003) -> list[float]:
    """Seconds of one call of each of several works, in slices that take turns: what slows the machine down slows all.

    Slices are short, so that some of them escape other processes; the least of each counts.
    """
    calls: list[int] = []
    for work in works:
        work()
        started = time.perf_counter()
        work()
        calls.append(max(1, round(least / max(time.perf_counter() - started, 1e-9))))
    best = [float("inf")] * len(works)
    for _ in range(tries):
        for k, work in enumerate(works):
            started = time.perf_counter()
            for _ in range(calls[k]):
                work()
            best[k] = min(best[k], (time.perf_counter() - started) / calls[k])
    return best


def installed(module: str) -> bool:
    """Whether a peer is there to be measured."""
    return find_spec(module) is not None


def seconds_text(seconds: float) -> str:
    """1.23 s, 4.56 ms, 7.89 µs."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def ratio_text(ratio: float) -> str:
    """1,234 or 12.3."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def rate_text(rate: float, what: str) -> str:
    """12.3 M steps/s."""
    for factor, prefix in ((1e9, "G "), (1e6, "M "), (1e3, "k ")):
        if rate >= factor:
            return f"{rate / factor:.3g} {prefix}{what}/s"
    return f"{rate:.3g} {what}/s"

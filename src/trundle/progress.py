"""Progress of long work: tqdm's line on standard error once it has taken a while, or a user's own callback.

Where neither a terminal nor a notebook shows that line, nothing is written.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn

from trundle.errors import InputError
from trundle.expected import came

if TYPE_CHECKING:
    from tqdm import tqdm

_PATIENCE = 1.0  # seconds of work before a line appears
_FORECAST = 2.0  # seconds before one that says what is left: work begins slower than it goes on
_EVERY = 0.1  # seconds between updates
_CALLS = 256  # calls between looks at the clock: a rate is evaluated in a microsecond, a clock read in 0.05
_SHARE = "{desc}: {percentage:3.0f}%|{bar:20}| {rate_noinv_fmt}, {remaining} left"


def someone_watches() -> bool:
    """Whether a person sees standard error: in a terminal, or in a notebook, whose kernel has been imported then."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


# Whether work is under way that says itself how long it takes.
_SPOKEN_FOR: ContextVar[bool] = ContextVar("_SPOKEN_FOR", default=False)


class Progress:
    """Reports how far work has come, `at(t)` of `end`; made to be called from a hot loop.

    report: True for a line where a person watches; or what to call with the share done (0 to 1). unit: what `end`
    counts.
    """

    def __init__(self, report: bool | Callable[[float], None], end: float, title: str, unit: str) -> None:
        if not callable(report) and not isinstance(report, bool):
            raise InputError(f"expected True, False or a function, got {came(report)}", key="progress")
        self.end = end
        self._count, self._last = 0, 0.0
        self._silent, self._report, self._close = report is not True, report, lambda: None
        if report is True and someone_watches():
            bar = _line(title, _SHARE, end, f" {unit}")
            self._report, self._close = lambda done: bar.update(done * end - bar.n), bar.close

    def __enter__(self) -> Progress:
        self._outer = _SPOKEN_FOR.set(self._silent or _SPOKEN_FOR.get())
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _SPOKEN_FOR.reset(self._outer)
        if callable(self._report) and kind is None:
            self._report(1.0)
        self._close()

    def at(self, t: float) -> None:
        """Work has come to t."""
        self._count += 1
        if self._count % _CALLS == 0:
            self.fraction(t / self.end)

    def fraction(self, done: float) -> None:
        """Work is this share done."""
        now = time.perf_counter()
        if callable(self._report) and now - self._last >= _EVERY:
            self._last = now
            self._report(min(max(done, 0.0), 1.0))


class Stopwatch:
    """What parts of a work take (s), by name."""

    def __init__(self) -> None:
        self._taken, self._name, self._since = dict[str, float](), "", 0.0

    def begin(self, name: str) -> None:
        """From now on it is this part; without a name it is none."""
        now = time.perf_counter()
        if self._name:
            self._taken[self._name] = self._taken.get(self._name, 0.0) + now - self._since
        self._name, self._since = name, now

    def seconds(self) -> dict[str, float]:
        """All parts up to now."""
        self.begin(self._name)
        return dict(self._taken)


class Doing:
    """Says what long work is at and how long it has taken, where a person watches; also while nothing calls `at`.

    For work of which nobody knows how far it is; the line goes when the work is done. Inside other work that is said,
    or that was asked to be silent, it says nothing.
    """

    def __init__(self, report: bool | Callable[[float], None], title: str) -> None:
        """Report: as progress is asked for; a callback wants shares, which nobody knows here."""
        self._shown, self._title = report is True and someone_watches(), title
        self._words, self._over = title, Event()
        self._ticking = Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Doing:
        self._shown = self._shown and not _SPOKEN_FOR.get()
        self._outer = _SPOKEN_FOR.set(True)
        if self._shown:
            self._ticking.start()
        return self

    def __exit__(self, *_: object) -> None:
        _SPOKEN_FOR.reset(self._outer)
        self._over.set()
        if self._shown:
            self._ticking.join()

    def at(self, words: str) -> None:
        """Work is at this now."""
        self._words = f"{self._title}: {words}"

    def _tick(self) -> None:
        if self._over.wait(_PATIENCE):
            return
        with _line(self._words, "{desc}, {elapsed}") as line:
            line.start_t -= _PATIENCE
            while not self._over.wait(_EVERY):
                line.set_description_str(self._words)


def _line(title: str, form: str, total: float | None = None, unit: str = "") -> tqdm[NoReturn]:
    """tqdm's, which stays in the end where a share is known."""
    from tqdm import tqdm

    delay, stays = 0.0 if total is None else _FORECAST, total is not None
    return tqdm(
        desc=title, bar_format=form, total=total, unit=unit, unit_scale=True, leave=stays, delay=delay,
        miniters=0, mininterval=0,
    )  # fmt: skip

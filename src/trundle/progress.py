"""Progress of long work: a line on standard error once it has taken a second, or a user's own callback.

Where no terminal shows that line, work that takes long says once what it will take.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from threading import Event, Lock, Thread

from trundle.errors import InputError
from trundle.expected import came

_PATIENCE = 1.0  # seconds of work before a line appears
_EVERY = 0.1  # seconds between updates
_STEADY = 3.0  # seconds of work from which on its rate says how long the rest takes: starts are slow
_LITTLE = 0.01  # of the work: while no more is done, a slow start may be most of the time
_LONG = 10.0  # seconds that nobody should wait for without a word, also where the line isn't shown
_CALLS = 256  # calls between looks at the clock: a rate is evaluated in a microsecond, a clock read in 0.05
_WIDTH = 20  # of the bar


def someone_watches() -> bool:
    """Whether a person sees standard error: in a terminal, or in a notebook, whose kernel has been imported then."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


# Whether work is under way that says itself how long it takes.
_SPOKEN_FOR: ContextVar[bool] = ContextVar("_SPOKEN_FOR", default=False)


class Progress:
    """Reports how far work has come, `at(t)` of `end`; made to be called from a hot loop.

    report: True for a line where a person watches, and a sentence elsewhere where it will take long; or what to call
    with the share done (0 to 1). unit: what `end` counts.
    """

    def __init__(self, report: bool | Callable[[float], None], end: float, title: str, unit: str) -> None:
        if not callable(report) and not isinstance(report, bool):
            raise InputError(f"expected True, False or a function, got {came(report)}", key="progress")
        self.end = end
        self._title, self._unit = title, unit
        self._asked = report if callable(report) else None
        draw = self._draw if someone_watches() else self._tell
        self._report = self._asked or (draw if report else None)
        self._count = 0
        self._began = time.perf_counter()
        self._last = self._began + (0.0 if self._asked else _PATIENCE - _EVERY)
        self._line = _Line()
        self._seen: tuple[float, float] | None = None
        self._silent = report is not True

    def __enter__(self) -> Progress:
        self._outer = _SPOKEN_FOR.set(self._silent or _SPOKEN_FOR.get())
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _SPOKEN_FOR.reset(self._outer)
        if self._asked is not None and kind is None:
            self._asked(1.0)
        if self._line.width:
            taken = time.perf_counter() - self._began
            self._line.write(
                f"{self._title}: {taken:.1f} s, {_short(self.end / taken)} {self._unit} a second", "\n"
            )

    def at(self, t: float) -> None:
        """Work has come to t."""
        self._count += 1
        if self._count % _CALLS == 0 and self._report is not None:
            self.fraction(t / self.end)

    def fraction(self, done: float) -> None:
        """Work is this share done."""
        now = time.perf_counter()
        if self._report is not None and now - self._last >= _EVERY:
            self._last = now
            self._report(min(max(done, 0.0), 1.0))

    def _draw(self, done: float) -> None:
        taken, bar = time.perf_counter() - self._began, "#" * round(_WIDTH * done)
        rate = f"{_short(done * self.end / taken)} {self._unit} a second"
        left = f", {_long(taken / done - taken)} left" if done > 0 else ""
        self._line.write(f"{self._title} [{bar:.<{_WIDTH}}] {done:4.0%}, {rate}{left}")

    def _tell(self, done: float) -> None:
        """Say once what work that nobody sees will take, where that is long."""
        taken = time.perf_counter() - self._began
        if self._seen is None:
            self._seen = (0.0, 0.0) if done > _LITTLE else (taken, done)
        lost, before = self._seen
        since, more = taken - lost, done - before
        if more > 0 and since > _STEADY and lost + since / more > _LONG:
            self._report = None
            rate = f"{_short(more * self.end / since)} {self._unit} a second"
            _tell(f"{self._title}: it takes some {_long(lost + since / more)}, at {rate}")


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

    For work of which nobody knows how far it is. Where it was told what there is of a `unit` to do, the rate stays
    behind; else the line goes when the work is done. Where nobody watches, one sentence says that it takes long.
    Inside other work that is said, or that was asked to be silent, it says nothing.
    """

    def __init__(self, report: bool | Callable[[float], None], title: str, unit: str = "") -> None:
        """Report: as progress is asked for; a callback wants shares, which nobody knows here."""
        self._watched, self._title, self._unit = report is True and someone_watches(), title, unit
        self._words, self._amount = "", 0.0
        self._began = time.perf_counter()
        self._last = self._began + _PATIENCE - _EVERY
        self._line, self._drawing, self._over = _Line(), Lock(), Event()
        tick = self._tick if self._watched else self._tell
        self._ticking = Thread(target=tick, daemon=True) if report is True else None

    def __enter__(self) -> Doing:
        if _SPOKEN_FOR.get():
            self._watched, self._ticking = False, None
        self._outer = _SPOKEN_FOR.set(True)
        if self._ticking is not None:
            self._ticking.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _SPOKEN_FOR.reset(self._outer)
        self._over.set()
        if self._ticking is not None:
            self._ticking.join()
        if not self._line.width:
            return
        taken = time.perf_counter() - self._began
        if kind is None and self._amount:
            rate = f"{_short(self._amount / taken)} {self._unit} a second"
            self._line.write(f"{self._title}: {taken:.1f} s, {rate}", "\n")
        else:
            self._line.write("", "\r")

    def at(self, words: str, amount: float = 0.0) -> None:
        """Work is at this now, of which there is so much."""
        self._words = words
        self._amount += amount
        if self._watched:
            self._draw()

    def _tick(self) -> None:
        while not self._over.wait(_EVERY):
            self._draw()

    def _tell(self) -> None:
        if not self._over.wait(_LONG):
            _tell(f"{self._so_far(time.perf_counter())} so far")

    def _draw(self) -> None:
        with self._drawing:
            now = time.perf_counter()
            if now - self._last >= _EVERY:
                self._last = now
                self._line.write(self._so_far(now))

    def _so_far(self, now: float) -> str:
        taken = _long(now - self._began)
        return f"{self._title}: {', '.join(filter(None, (self._words, taken)))}"


def _tell(sentence: str) -> None:
    print(sentence.encode("ascii", "replace").decode(), file=sys.stderr, flush=True)


class _Line:
    """A line on standard error that is written over, and how long it is."""

    width = 0

    def write(self, text: str, end: str = "") -> None:
        """Over the line before; in ASCII, as a terminal's encoding is not known."""
        plain = text.encode("ascii", "replace").decode()
        print(f"\r{plain:{self.width}}", end=end, file=sys.stderr, flush=True)
        self.width = len(text)


def _short(number: float) -> str:
    """Three digits and a word: 12.3 million."""
    for size, word in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if number >= size:
            return f"{number / size:.3g}{word}"
    return f"{number:.3g}"


def _long(seconds: float) -> str:
    """A time in the unit that people count it in: 40 s, 12 min, 3 years."""
    for size, word in ((3.156e7, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{_short(round(seconds / size, 1 if seconds < 10 * size else 0))} {word}"
    return f"{seconds:.0f} s"

"""Progress of long work: a bar on standard error once it has taken a second, or a user's own callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 1.0  # seconds of work before a bar appears
_EVERY = 0.05  # seconds between updates
_CALLS = 256  # calls between looks at the clock: a rate is evaluated in a microsecond, a clock read in 0.05


class Progress:
    """Reports how far work has come, `at(t)` of `end`; made to be called from a hot loop.

    report: True for a bar, where a person sits in front of it, or what to call with the share done (0 to 1).
    """

    def __init__(self, report: bool | Callable[[float], None], end: float, title: str) -> None:
        self.end = end
        self._title = title
        self._asked = report if callable(report) else None
        self._report = self._asked or (self._draw if report and sys.stderr.isatty() else None)
        self._count = 0
        self._last = time.perf_counter() + (0.0 if self._asked else _PATIENCE - _EVERY)
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._asked is not None and kind is None:
            self._asked(1.0)

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
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
                TimeRemainingColumn(), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._bar.add_task(self._title, total=1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done)

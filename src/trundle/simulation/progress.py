"""Progress of long work: a bar on standard error once it has taken a second, or a user's own callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

_PATIENCE = 1.0  # seconds of work before a bar appears
_EVERY = 0.05  # seconds between updates
_CALLS = 256  # calls between looks at the clock: a rate is evaluated in a microsecond, a clock read in 0.05


class Progress:
    """Reports how far work has come, `at(t)` of `end`; made to be called from a hot loop."""

    def __init__(self, report: bool | Callable[[float], None], end: float, title: str) -> None:
        self._call = report if callable(report) else None
        self._show = report is True and sys.stderr.isatty()
        self.end = end
        self._title = title
        self._count = 0
        self._started = self._last = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(self._task, completed=1.0)
            self._bar.stop()
        if self._call is not None and kind is None:
            self._call(1.0)

    def at(self, t: float) -> None:
        """Work has come to t."""
        self._count += 1
        if self._count % _CALLS:
            return
        if self._call is None and not self._show:
            return
        self.fraction(t / self.end)

    def fraction(self, done: float) -> None:
        """Work is this share done."""
        now = time.perf_counter()
        if now - self._last < _EVERY or now - self._started < (_PATIENCE if self._call is None else 0.0):
            return
        self._last = now
        if self._call is not None:
            self._call(min(max(done, 0.0), 1.0))
        elif self._show:
            self._draw(done)

    def _draw(self, done: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
                TimeRemainingColumn(), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(self._title, total=1.0)
            self._bar.start()
        self._bar.update(self._task, completed=min(max(done, 0.0), 1.0))

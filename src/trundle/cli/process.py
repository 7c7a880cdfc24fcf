"""The process around a command: its standard streams, and the signals that end it."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from trundle.cli.failures import INTERRUPTED
from trundle.operating_system import Bell, bell, ending_signals

# How long a signal may wait for compiled code to return to Python, and Python to clear up (s).
_PATIENCE, _CLEARING = 0.3, 3.0


def open_streams() -> None:
    """Give closed standard streams something in their place, before a file that is opened gets their number.

    Input is empty then. Output is open for reading only, so that whoever writes to it learns that it is closed.
    Messages go nowhere, as they do where standard error is full: no message is worth losing the work for.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Gets the lowest number that is free, which is this one.
            os.open(os.devnull, os.O_RDWR if number == 2 else os.O_RDONLY)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = error = sys.stderr or os.fdopen(2, "w")
    if isinstance(error, io.TextIOWrapper):
        encoding = error.encoding
        sys.stderr = _Forgiving(error.detach(), encoding, "backslashreplace", line_buffering=True)


def one_thread_for_matrices() -> None:
    """Let NumPy's and SciPy's matrices do with one thread, unless the user says otherwise: they are small here, and
    OpenBLAS's other threads would wait for more in loops that take a tenth of a short run's work.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _Forgiving(io.TextIOWrapper):
    """A stream that goes on where nothing can be written."""

    def write(self, text: str, /) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


class Interruption:
    """Signals that end the process: the first raises KeyboardInterrupt, so that drafts are removed; a second ends it.

    Python runs its handlers between its own instructions only, and compiled code may be on for seconds (LLVM), or take
    the exception for an error of its own (pydantic). So a thread waits beside it and ends the process where the first
    does not, and whatever is raised after a signal counts as it. What is left of drafts then, the next run sweeps.
    """

    def __init__(self) -> None:
        self._came = threading.Event()

    @property
    def came(self) -> bool:
        """Whether a signal has come."""
        return self._came.is_set()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Listen while the block runs; behind it signals end the process without a word, as all is done."""
        # What nohup or a shell's `&` has told the process to ignore stays ignored.
        heard = [number for number in ending_signals() if signal.getsignal(number) != signal.SIG_IGN]
        ring = bell()
        signal.set_wakeup_fd(ring.number)
        threading.Thread(target=self._watch, args=(ring,), daemon=True).start()
        sys.unraisablehook = self._unraisable
        for number in heard:
            signal.signal(number, self._handle)
        yield
        for number in heard:
            signal.signal(number, signal.SIG_DFL)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.came:
            _end()
        self._came.set()
        raise KeyboardInterrupt

    def _watch(self, ring: Bell) -> None:
        ring.wait()
        if self._came.wait(_PATIENCE):
            threading.Event().wait(_CLEARING)
        _end()

    def _unraisable(self, about: sys.UnraisableHookArgs) -> None:
        if issubclass(about.exc_type, KeyboardInterrupt):
            _end()
        sys.__unraisablehook__(about)


def _end() -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)

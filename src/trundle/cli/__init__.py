"""The command line: one file a command. Parses, prints, and answers with an exit status; computes nothing."""

from __future__ import annotations

import signal
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; by default the process's own) and return its exit status."""
    if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the command listens itself, Ctrl-C ends the process without a traceback of its imports.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from trundle.cli import app

    return app.main(argv)

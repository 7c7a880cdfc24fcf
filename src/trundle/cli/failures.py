"""What goes wrong, told: a message on standard error, with --json an object too, and an exit status."""

from __future__ import annotations

import sys
from contextlib import suppress

from trundle.cli.output import colours_on, write_json
from trundle.errors import InputError, TrundleError
from trundle.show.summaries.lines import harmless, paint

# Argparse ends with 2 where a command line is wrong, and shells' built-in commands do too.
USAGE = 2
# Beyond 0 to 3: what sysexits.h calls an internal software error, and what shells report of a command that a
# signal ended.
BUG = 70
INTERRUPTED = 130  # 128 + SIGINT, which is 2
BROKEN_PIPE = 141  # 128 + SIGPIPE, which is 13


class UsageError(TrundleError):
    """The command line itself is wrong."""

    exit_status = USAGE

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


def explain(error: BaseException, wants_json: bool, extra: dict[str, object] | None = None) -> int:
    """Tell the user what happened and return the exit status; `extra` joins the JSON object."""
    status = exit_status(error)
    if status == BUG:
        import traceback

        traceback.print_exception(error)
        _complain(f"this is a bug in trundle, not in your input: {type(error).__name__}: {error}")
        print("  please report it with the lines above and the file that you ran", file=sys.stderr)
    elif status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    elif isinstance(error, UsageError):
        print(error.usage.rstrip(), file=sys.stderr)
        _complain(str(error))
    else:
        _complain(_message(error))
    if wants_json:
        with suppress(TrundleError):  # standard output that is full: it is told, and there is no other place
            write_json({**(extra or {}), "error": error_object(error, status)})
    return status


def exit_status(error: BaseException) -> int:
    """The exit status that an exception stands for."""
    if isinstance(error, TrundleError):
        return error.exit_status
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return 1 if isinstance(error, MemoryError) else BUG


def error_object(error: BaseException, status: int) -> dict[str, object]:
    """The error as plain data."""
    place = {name: getattr(error, name, None) for name in ("file", "line", "key", "hint")}
    message = error.message if isinstance(error, InputError) else _message(error)
    return {"message": message, **place, "kind": type(error).__name__, "exit_status": status}


def _message(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; ask for fewer samples"
    return str(error) or type(error).__name__


def _complain(text: str) -> None:
    head = paint("trundle: error:", "red", colours_on(sys.stderr))
    print(f"{head} {harmless(text)}", file=sys.stderr)

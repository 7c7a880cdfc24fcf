"""The command `trundle`: finds the subcommand, runs it, and turns what goes wrong into a message and an exit status.

Nothing here, and nothing at the top of a command's module, imports NumPy or anything heavier, so that
`trundle --help` stays instant.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trundle.cli import (
    check,
    drive_command,
    equations,
    estimate,
    export_command,
    inverse_command,
    lqr,
    new,
    profiles_command,
    run,
    scale_command,
    schema,
    show_command,
    sweep,
    verify_command,
)
from trundle.cli.failures import BROKEN_PIPE, BUG, INTERRUPTED, USAGE, UsageError, explain
from trundle.cli.output import mute, output_for
from trundle.cli.parsing import Parser, add_common
from trundle.errors import suggest
from trundle.version import __version__

if TYPE_CHECKING:
    from trundle.cli.process import Interruption

COMMANDS = {
    "new": new,
    "check": check,
    "equations": equations,
    "export": export_command,
    "run": run,
    "show": show_command,
    "drive": drive_command,
    "inverse": inverse_command,
    "scale": scale_command,
    "sweep": sweep,
    "lqr": lqr,
    "estimate": estimate,
    "profiles": profiles_command,
    "verify": verify_command,
    "schema": schema,
}

# What people ask for that is done otherwise.
_OTHERS = {
    "help": "it is an option: trundle --help, trundle COMMAND --help",
    "simulate": "it is called `trundle run FILE`",
    "plot": "`trundle show RUN` draws figures, `trundle check FILE --figure PICTURE` what the robot can do",
    "animate": "`trundle show RUN --film` writes a film, `trundle show RUN --page` a page that moves",
    "play": "`trundle show RUN --window` plays a run, `trundle show RUN --page` writes a page that does",
    "docs": "the site is built in a checkout, by make docs; in Python there is help(trundle)",
    "bench": "from a checkout: python -m benchmarks",
}

_EPILOG = f"""\
start here:
  trundle new differential_drive robot.yaml
  trundle run robot.yaml

exit status: 0 done; 1 the input is wrong; 2 the command line is wrong; 3 the numbers failed.
{BUG} is a bug in trundle, {INTERRUPTED} an interruption, as by SIGTERM.
`trundle COMMAND --help` tells about one command."""


def build_parser() -> Parser:
    """The whole command line."""
    description = "Wheeled robots and linkages: from a description to equations, simulations and pictures."
    parser = Parser(prog="trundle", description=description, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"trundle {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        described = f"{summary[0].upper()}{summary[1:]}."
        own = commands.add_parser(name, help=summary, description=described, epilog=module.EPILOG)
        module.configure(own)
        add_common(own)
        own.set_defaults(execute=module.execute)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name; by default the process's own) and return its exit status."""
    if argv is not None:
        return _answered(list(argv))
    from trundle.cli.garbage import collect_rarely, leave_garbage
    from trundle.cli.process import Interruption, one_thread_for_matrices, open_streams

    collect_rarely()
    one_thread_for_matrices()
    open_streams()
    interruption = Interruption()
    try:
        with interruption.watched():
            status = _answered(sys.argv[1:], interruption)
    except KeyboardInterrupt:  # behind the last place where it would have been told
        status = INTERRUPTED
    leave_garbage()
    return status


def _answered(given: list[str], interruption: Interruption | None = None) -> int:
    """Run the command line and return its exit status, also where whoever reads the output has gone."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Signs that its encoding has not come as "?", not as an error.
            stream.reconfigure(errors="replace")
    try:
        status = _guarded(given, interruption)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has gone: say nothing more
        mute(sys.stdout)
        status = BROKEN_PIPE
    return status


def _guarded(given: list[str], interruption: Interruption | None) -> int:
    """Run the command and turn every exception but a broken pipe into a message and an exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = Notes()
            return _dispatch(given)
    except SystemExit as ended:  # how argparse ends --help and --version
        return ended.code if isinstance(ended.code, int) else 0
    except BrokenPipeError:
        raise
    except BaseException as error:  # Ctrl-C, and the panics of pydantic too
        # Compiled code may have made another error of it.
        interrupted = interruption is not None and interruption.came
        return explain(KeyboardInterrupt() if interrupted else error, "--json" in given)


class Notes:
    """Warnings (an old spelling that still reads, say) in lines of their own, without the code that they come from;
    what several figures of a run warn of is said once.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_where: object, **_more: object) -> None:
        if str(message) not in self._said:
            self._said.add(str(message))
            print(f"trundle: note: {message}", file=sys.stderr)


def _dispatch(given: list[str]) -> int:
    """Parse the command line and run its command; without arguments the help goes to standard error."""
    parser = build_parser()
    if not given:
        parser.print_help(sys.stderr)
        return USAGE
    first = next((argument for argument in given if not argument.startswith("-")), None)
    if first is not None and first not in COMMANDS:
        raise UsageError(f"there is no command '{first}'; {_instead(first)}", parser.format_usage())
    if first is None and not {"-h", "--help", "--version"} & set(given):
        raise UsageError("no command is given", parser.format_usage())
    args = parser.parse_args(given)
    return args.execute(args, output_for(args))


def _instead(word: str) -> str:
    """What somebody may have meant who asked for a command that isn't there."""
    import trundle

    if os.path.isfile(word):
        return f"it is a file: trundle run {word}, trundle check {word} or trundle equations {word}"
    hint = suggest(word, COMMANDS)
    python = f"in Python there is trundle.{word}" if word in trundle.__all__ else ""
    return _OTHERS.get(word) or python or f"{hint} `trundle --help` says what each does"

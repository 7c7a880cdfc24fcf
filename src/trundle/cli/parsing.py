"""Parsing that all commands share."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from trundle.choices import BASES
from trundle.cli.failures import UsageError
from trundle.cli.output import emit
from trundle.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import SupportsWrite


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is an exception, so that --json can answer with an object. It keeps its texts'
    lines, and takes no abbreviations, which a new option could break.
    """

    def __init__(self, epilog: str | Callable[[], str], **how: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **how)
        self._last = epilog
        # What begins with a minus and a digit is a value, "-1,0,0" too: Python 3.14 says so itself. Before, only plain
        # numbers are, and argparse has no public way to change that for options of several values.
        if sys.version_info < (3, 14):
            self._negative_number_matcher = re.compile(r"-\.?\d")

    def format_help(self) -> str:
        """The help; a last part that takes time to know is made now."""
        self.epilog = self._last if isinstance(self._last, str) else self._last()
        return super().format_help()

    def parse_known_args(self, *args: Any, **named: Any) -> tuple[Any, list[str]]:
        """Parse, and where something is left say what it may have been meant to be."""
        namespace, left = super().parse_known_args(*args, **named)
        if left:
            option = next((word.partition("=")[0] for word in left if word.startswith("-")), None)
            if option is None:
                self.error(f"'{left[0]}' is one too many; `{self.prog} --help` says what it takes")
            # Without their dashes, which would make all options alike.
            known = [option.removeprefix("--") for option in self._option_string_actions]
            meant = did_you_mean(option.lstrip("-"), known).replace("'", "'--", 1)
            hint = meant or f"`{self.prog} --help` shows those there are"
            self.error(f"there is no option '{option}'; {hint}")
        return namespace, left

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print help or the version; argparse by itself would not tell that standard output is full."""
        if file is sys.stdout:
            emit(message, end="")
        else:
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it ends the process."""
        raise UsageError(message, self.format_usage())


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options that every command has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="print nothing but errors and what was asked for"
    )


def add_output(parser: argparse.ArgumentParser, metavar: str, text: str) -> None:
    """Where a command writes: --output everywhere; --out is short for it."""
    parser.add_argument("--output", "--out", metavar=metavar, help=text)


def add_base(parser: argparse.ArgumentParser) -> None:
    """How the robot's base moves, which URDF leaves open."""
    text = (
        "how the robot's base moves, in place of what FILE says; fixed holds an arm from URDF to the ground"
    )
    parser.add_argument("--base", choices=BASES, help=text)


def add_description(parser: argparse.ArgumentParser, what: str = "the description") -> None:
    """FILE with a description, and how its robot's base moves."""
    parser.add_argument("file", metavar="FILE", help=f"{what}; - for standard input")
    add_base(parser)


def add_payload(parser: argparse.ArgumentParser) -> None:
    """What the robot carries."""
    text = 'a point mass on the base, and where it is: mass=300,at="0.4, 0, 0.5" (kg, m, or with units)'
    parser.add_argument("--payload", metavar="MASS", type=_payload, help=text)


class Payload(NamedTuple):
    """What `--payload` says, as `Robot.with_payload` takes it."""

    mass: float | str
    at: Sequence[float | str]


def _payload(text: str) -> Payload:
    parts = [part.partition("=") for part in re.split(r",\s*(?=(?:mass|at)\s*=)", text)]
    said = {name.strip(): value.strip(" \"'") for name, _, value in parts}
    if "mass" not in said or not said.keys() <= {"mass", "at"}:
        raise argparse.ArgumentTypeError(f'expected mass=KG,at="X, Y, Z", got {text!r}')
    return Payload(
        measure(said["mass"]), [measure(each.strip()) for each in said.get("at", "0,0,0").split(",")]
    )


def add_pairs(parser: argparse.ArgumentParser, options: Mapping[str, str]) -> None:
    """Options that take NAME=VALUE, one or several at a time, with their help."""
    how = {"nargs": "+", "action": "extend", "type": pair, "metavar": "NAME=VALUE"}
    for option, text in options.items():
        parser.add_argument(option, default=[], help=text, **how)


def add_changes(parser: argparse.ArgumentParser, parameter: str, constant: str, start: str) -> None:
    """The options that change a run section: --set, --input and --initial with their help."""
    for option, text in (("--set", parameter), ("--input", constant), ("--initial", start)):
        often = f"{text} (as often as needed)"
        parser.add_argument(option, metavar="NAME=VALUE", type=pair, action="append", help=often)


def add_force(parser: argparse.ArgumentParser) -> None:
    """That files which Trundle didn't write may be replaced."""
    parser.add_argument("--force", action="store_true", help="replace files that trundle didn't write, too")


def add_field(parser: argparse.ArgumentParser, under: str) -> None:
    """A picture of a field that lies under something."""
    text = (
        f"a picture under {under}, and how large what it shows is: field.png 16.54 8.07, or '54 ft' '26 ft'"
    )
    parser.add_argument("--field", nargs=3, metavar=("PNG", "WIDTH", "HEIGHT"), help=text)


def field_of(args: argparse.Namespace) -> tuple[str, str, str] | None:
    """What `--field` said, as the library takes it."""
    return None if args.field is None else (args.field[0], args.field[1], args.field[2])


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE of an option."""
    name, mark, value = text.partition("=")
    if not (mark and name.strip() and value.strip()):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name.strip(), value.strip()


def once(pairs: Iterable[tuple[str, str]], key: str, message: str, hint: str) -> dict[str, str]:
    """Pairs by their names; InputError where a name comes twice, which stands for {} in the key and the message."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(message.format(name), key=key.format(name), hint=hint)
        found[name] = value
    return found


def measure(text: str) -> float | str:
    """A number, or text with a unit for the library to read."""
    try:
        return float(text)
    except ValueError:
        return text


@contextmanager
def options_named(options: Mapping[str, str]) -> Iterator[None]:
    """Errors about an argument of the library name the option that gave it: `options` has these by the arguments' keys.

    What is in a file keeps its place there; of a key with parts, "parameters.mass", the first leads to the option.
    """
    try:
        yield
    except InputError as error:
        section, _, rest = (error.key or "").partition(".")
        if error.file is not None or section not in options:
            raise
        key = f"{options[section]} {rest}".rstrip()
        raise InputError(error.message, key=key, hint=error.hint) from error.__cause__

"""Pages of the commands, made of their own help texts and exit statuses."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator

from trundle.cli import app

# Of the terminal that the help is written for.
_COLUMNS = "100"


def pages() -> Iterator[tuple[str, str]]:
    """Paths below the reference's folder and what they hold: an index, a page for every command."""
    os.environ["COLUMNS"] = _COLUMNS
    parser = app.build_parser()
    lines = ["# Commands", "", "The command `trundle` on a terminal. `trundle --help` prints this:", ""]
    lines += [*_block(parser), "", "| command | purpose |", "| --- | --- |"]
    for name, module in app.COMMANDS.items():
        lines += [f"| [`trundle {name}`]({name}.md) | {module.SUMMARY} |"]
        yield f"{name}.md", _page(name, module.SUMMARY, _of(parser, name))
    lines += ["", "```{toctree}", ":hidden:", "", *app.COMMANDS, "```"]
    yield "index.md", "\n".join(lines) + "\n"


def _page(name: str, summary: str, parser: ArgumentParser) -> str:
    lines = [f"# trundle {name}", "", f"{summary[0].upper()}{summary[1:]}.", "", *_block(parser), ""]
    lines += ["Errors end with a status other than 0: [exit statuses](../statuses.md)."]
    return "\n".join(lines) + "\n"


def _of(parser: ArgumentParser, name: str) -> ArgumentParser:
    """The parser of a command; argparse keeps it in the choices of the action that chooses."""
    return next(action.choices[name] for action in parser._actions if isinstance(action.choices, dict))


def _block(parser: ArgumentParser) -> list[str]:
    return ["```text", *parser.format_help().rstrip().splitlines(), "```"]

"""`trundle schema`: the JSON Schema of a description."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from trundle.cli.output import Output, write_json

SUMMARY = "print the JSON Schema of a description file"
EPILOG = """\
example:
  trundle schema > trundle.schema.json

An editor that knows the schema completes keys and marks mistakes; in a file's first line, say
  # yaml-language-server: $schema=trundle.schema.json"""


def configure(parser: ArgumentParser) -> None:
    """No options of its own."""


def execute(args: Namespace, out: Output) -> int:
    """Print it; it is one JSON object with --json and without."""
    from trundle.documents import json_schema

    write_json(json_schema())
    return 0

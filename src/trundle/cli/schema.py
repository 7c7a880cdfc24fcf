"""`trundle schema`: the JSON Schemas of descriptions and of motions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from trundle.cli.output import Output, claim, json_text, write_file, write_json
from trundle.cli.parsing import add_force, add_output
from trundle.files import signature

SUMMARY = "print the JSON Schema of a description, or of a motion that a drive is given"
EPILOG = """\
examples:
  trundle schema --output trundle.schema.json
  trundle schema motion --output motion.schema.json

An editor that knows the schema completes keys and marks mistakes; in a file's first line, say
  # yaml-language-server: $schema=trundle.schema.json"""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    text = "of which kind of file (default: description)"
    parser.add_argument(
        "kind", nargs="?", choices=("description", "motion"), default="description", help=text
    )
    add_output(parser, "FILE", "write to this file, not to standard output")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Print or write it; it is one JSON object with --json and without."""
    from trundle.documents import json_schema

    schema = json_schema()
    if args.kind == "motion":
        from trundle.motion.commands.commands import MotionFile

        schema = json_schema(MotionFile, "Trundle motion")
    if args.output:
        claim(args.output, args.force)
        write_file(args.output, json_text({**schema, "$comment": signature()}) + "\n")
        out.answer({"file": args.output})
        out.say(f"wrote {args.output}")
    else:
        write_json(schema)
    return 0

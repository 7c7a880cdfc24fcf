"""`trundle export`: a robot's model in another language, as a folder."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping

from trundle.choices import EXPORTED
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output
from trundle.cli.parsing import add_description, add_force, options_named
from trundle.exports.targets import TARGETS

# The options that stand for arguments of `trundle.export`.
_OPTIONS = {name: f"--{name}" for name in ("to", "what", "name", "precision")}
SUMMARY = "write a robot's model in another language, for the robot or another simulator"
_EXAMPLES = """
examples:
  trundle export examples/diff_drive/offset.yaml --to c --output robot
  trundle export examples/swerve/four_modules.yaml --to jax --what kinematics,odometry --output swerve

What is written is one folder with a README that says how to use it, what each number is, and its unit."""


def _epilog() -> str:
    """What follows the options: the targets, which load all languages and so wait until somebody asks for this help."""
    width = max(map(len, TARGETS))
    lines = [f"  {name:{width}}  {target.summary}" for name, target in TARGETS.items()]
    return "\n".join(["targets:", *lines, _EXAMPLES])


EPILOG = _epilog


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add_description(parser)
    parser.add_argument("--to", required=True, metavar="TARGET", help="see below")
    parts = ",".join(EXPORTED)
    parser.add_argument(
        "--what",
        metavar="PARTS",
        help=f"among {parts}; default: what the target is for, of that all that the robot has",
    )
    parser.add_argument(
        "--output", "--out", metavar="DIR", required=True, help="the folder, new or an earlier export's"
    )
    text = "stands in names of files, functions and classes; default: the robot's"
    parser.add_argument("--name", metavar="WORD", help=text)
    parser.add_argument(
        "--precision", choices=("double", "single"), help="of the numbers; default: the target's"
    )
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Derive, write, say what there is."""
    from trundle.cli.request import read_request

    request = read_request(args.file, args.base)
    with request.located(), options_named(_OPTIONS), no_collection():
        from trundle.exports.export import export

        with out.doing(f"writing {request.document.robot.name} as {args.to}"):
            made = export(
                request.document,
                args.to,
                args.what,
                output=args.output,
                name=args.name,
                precision=args.precision,
                force=args.force,
            )
    files = {name: len(made.content(name)) for name in made.files}
    out.answer({"folder": args.output, **made.facts, "files": files})
    out.say(f"{made.facts['model']}: {TARGETS[args.to].summary}, written to {args.output}")
    out.say(
        [
            *(f"  {name}  {size:,} bytes" for name, size in files.items()),
            *(f"  {note}" for note in made.notes),
            *_unexported_changes(initial=request.run.initial, set=request.run.set),
        ]
    )
    return 0


def _unexported_changes(**sections: Mapping[str, object]) -> Iterator[str]:
    """That what a file's run section changes is not exported."""
    changed = [name for name, given in sections.items() if given]
    if changed:
        yield f"  without run.{' and run.'.join(changed)}: models start and have parameters as the robot is described"

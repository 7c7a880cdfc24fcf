"""`trundle lqr`: a regulator about a steady motion, from what may be off by how much."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from trundle.cli.output import Output, claim
from trundle.cli.parsing import add_description, add_force, add_pairs, options_named

SUMMARY = "design a regulator: gains, poles, margins, and what no input moves"
EPILOG = """\
examples:
  trundle lqr examples/diff_drive/circle.yaml --at v_x=1 omega=0 \\
      --tolerances v_x="5 cm/s" omega="5 deg/s" left_motor.voltage="6 V" right_motor.voltage="6 V"
  trundle lqr robot.yaml --at v_x=1 --tolerances y="5 cm" theta="3 deg" … --period "10 ms" --json
  trundle lqr robot.yaml --at v_x=1 --tolerances … --figure poles.png

A weight says how far a state or an input may be off: (off/weight)^2 counts alike for all. Every input needs one. States
that lead to none with a weight are left out. Controllers that the file has are part of what is regulated."""

_OPTIONS = {"at": "--at", "tolerances": "--tolerances", "period": "--period", "parameters": "--set"}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add_description(parser)
    pairs = {
        "--at": "what the steady motion has: states, inputs or outputs; default: it stands still",
        "--tolerances": "how far a state or an input may be off",
        "--set": "another value for a parameter",
    }
    add_pairs(parser, pairs)
    parser.add_argument("--period", metavar="T", help="time between samples, inputs held; default: none")
    text = "draw its poles, and what every input's loop bears"
    parser.add_argument("--figure", "--output", "--out", metavar="FILE", help=text)
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Derive, find the motion, design, print."""
    from trundle.cli.products import write_figure
    from trundle.cli.request import read_request

    claim(args.figure, args.force)
    request = read_request(args.file, args.base)
    with request.located(), options_named(_OPTIONS):
        import trundle
        from trundle.show.summaries.linear_summary import regulator_record

        found = trundle.lqr(
            request.document,
            dict(args.at) or None,
            dict(args.tolerances),
            period=args.period,
            parameters=dict(args.set),
        )
    files = write_figure(args.figure, lambda: trundle.pole_figure(found))
    out.report(regulator_record(found), str(found), files)
    return 0

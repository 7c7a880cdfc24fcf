"""`trundle check`: read and derive a description, and say what robot it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING

from trundle.cli.output import Output, claim
from trundle.cli.parsing import add_description, add_force, add_payload, once, pair
from trundle.cli.products import write_figure
from trundle.cli.request import Request, read_request
from trundle.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.analysis.analyze import Analysis
    from trundle.simulation.runfile import Task

SUMMARY = "read and derive a description without simulating it, and say what robot it is"
EPILOG = """\
examples:
  trundle check examples/diff_drive/circle.yaml
  trundle check examples/tricycle/turn.yaml --at front.steering="30 deg" --full
  trundle check examples/offset_drive/turning.yaml --frame platform --figure platform.png

Says the coordinates, the independent speeds, the constraints and their rank, the degrees of mobility and
steerability, and each wheel's contact law. Then it says how the robot can move now and how fast, where driving and
steering lead it (Lie brackets), and where it is singular. Where ideal wheels lock the robot it says which, and ends
with status 1. --full adds the numbers. trundle equations has the determinants as formulas."""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add_description(parser)
    add_payload(parser)
    add("--full", action="store_true", help="all numbers and brackets")
    text = "a coordinate of the configuration that 'now' is about (default: all 0)"
    add("--at", action="append", type=pair, metavar="NAME=VALUE", help=text)
    add("--frame", metavar="NAME", help="a body or joint whose motion is asked for")
    add("--point", metavar="X,Y,Z", help="the point of it that counts (m)")
    text = "how far out turning counts as moving (default: the wheels' distance)"
    add("--length", metavar="LENGTH", help=text)
    text = "draw it: axles, centre of rotation, velocities"
    add("--figure", "--output", "--out", metavar="FILE", help=text)
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Tell what is known; with an error, what is known all the same."""
    claim(args.figure, args.force)
    request = read_request(args.file, args.base, args.payload)
    from trundle.model.classification import mobility_class
    from trundle.show.summaries import robot_summary as summary

    robot = request.document.robot
    title = out.title(robot.name, summary.kind_of(robot))
    mobility = mobility_class(robot)
    analysis = None
    if request.document.terrain is None:
        with out.doing(f"looking at what {robot.name} can do"):
            analysis = _analysis(args, request)
    else:
        _refuse_planes(args)
    can, can_data = ([], {}) if analysis is None else _findings(args, analysis, out)
    known = {**summary.robot_data(robot, mobility), "wheels": summary.wheels_data(robot), **can_data}
    try:
        with out.doing(f"deriving {robot.name}"):
            facts, data = _examine(request, request.task(args))
    except InputError as error:
        from trundle.cli.failures import explain

        facts = summary.mobility_facts(mobility)
        out.say([*title, *out.facts(facts), *summary.wheel_lines(robot, out), *can])
        return explain(error, out.json, known)
    files = {} if analysis is None else write_figure(args.figure, partial(_figure, analysis))
    out.answer({**known, **data, "mode": request.run.mode, "duration": request.run.duration, **files})
    out.say([*title, *out.facts(facts), *summary.wheel_lines(robot, out), *can])
    if files:
        out.say(f"wrote {files['figure']}")
    return 0


def _refuse_planes(args: Namespace) -> None:
    """Raise InputError for options that ask how a base moves on a plane."""
    for name in ("full", "at", "frame", "point", "length", "figure"):
        if getattr(args, name):
            message = "how a base can move is known on a plane, and the file has a terrain"
            hint = "leave it out; trundle run FILE shows where it drives"
            raise InputError(message, key=f"--{name}", hint=hint)


def _findings(args: Namespace, analysis: Analysis, out: Output) -> tuple[list[str], dict[str, object]]:
    """What the robot can do, as lines or as data, whichever is asked for."""
    from trundle.show.summaries.analysis_summary import analysis_data, essential_facts, sections

    if out.json:
        return [], {"analysis": analysis_data(analysis)}
    if out.quiet:
        return [], {}
    facts = essential_facts(analysis)
    lines = [out.heading("what it can do"), *out.facts(facts)] if facts else []
    return lines + (sections(analysis, out) if args.full else []), {}


def _analysis(args: Namespace, request: Request) -> Analysis:
    """What the robot can do, at the configuration and for the frame that the options name."""
    from trundle.analysis.analyze import analyze
    from trundle.documents.runspec import largest_voltage

    if args.point is not None and args.frame is None:
        raise InputError("a point needs a frame that it belongs to", key="--point", hint="give --frame, too")
    point = None if args.point is None else args.point.split(",")
    places = once(args.at or (), "--at", "'{}' is given twice", "leave one of them")
    try:
        return analyze(
            request.document.robot,
            places,
            frame=args.frame,
            point=point,
            length=args.length,
            voltage=largest_voltage(request.run, request.document.robot),
        )
    except InputError as error:
        if error.key and error.key.startswith("robot."):
            raise request.document.locate(error) from None
        option = f"--at {error.key}" if error.key in places else f"--{error.key}"
        option = "--frame" if args.frame and error.key == args.frame else option
        raise InputError(error.message, key=option, hint=error.hint) from None


def _figure(analysis: Analysis) -> Figure:
    from trundle.show.figures.ability_figure import mobility_figure

    return mobility_figure(analysis)


def _examine(request: Request, task: Task) -> tuple[list[tuple[str, str]], dict[str, object]]:
    """What derivation tells, as facts and as data."""
    from trundle.show.summaries.model_summary import system_data, system_facts

    system = task.problem.system
    data = {"outputs": system.outputs, "parameters": dict(system.parameters), "units": dict(system.units)}
    return [*system_facts(system), ("run", _run_text(request))], system_data(system) | data


def _run_text(request: Request) -> str:
    run = request.run
    if request.document.run is None:
        return "none in the file"
    given = "1 input" if len(run.inputs) == 1 else f"{len(run.inputs)} inputs"
    changes = f", {len(run.set)} parameters changed" if run.set else ""
    return f"{run.mode}, {run.duration:g} s, {given} given{changes}"

"""`trundle check`: read and derive a description, and say what robot it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from trundle.cli.output import Output
from trundle.cli.request import Request, read_request, signals
from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.model import Model

SUMMARY = "read and derive a description without simulating it, and say what robot it is"
EPILOG = """\
example:
  trundle check examples/diff_drive/circle.yaml

Says the coordinates, the independent speeds, the constraints and their rank, the degrees of mobility and
steerability, and each wheel's contact law. Where ideal wheels lock the robot it says which, and ends with status 1."""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "file", metavar="FILE", help="the description, or a kept model (.trundle.json); - for standard input"
    )


def execute(args: Namespace, out: Output) -> int:
    """Tell what is known; with an error, what is known all the same."""
    request = read_request(args)
    from trundle.cli.portrait import (
        mobility_class,
        mobility_facts,
        robot_data,
        wheel_lines,
        wheels_data,
    )
    from trundle.robot.present import kind_of

    robot = request.document.robot
    title = f"{out.heading(robot.name)}  {out.styled(kind_of(robot), 'dim')}"
    mobility = mobility_class(robot)
    known = {**robot_data(robot, mobility), "wheels": wheels_data(robot)}
    try:
        with request.located():
            facts, data = _examine(request)
    except InputError as error:
        from trundle.cli.failures import explain

        out.say([title, *out.facts(mobility_facts(mobility)), *wheel_lines(robot, out)])
        return explain(error, out.json, known)
    out.answer({**known, **data, "mode": request.run.mode, "duration": request.run.duration})
    out.say([title, *out.facts(facts)])
    out.say(wheel_lines(robot, out))
    return 0


def _examine(request: Request) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """What derivation finds out, as facts and as data; the run section is checked against it."""
    if request.run.mode == "kinematic":
        return _kinematic(request)
    from trundle.cli.portrait import model_data, model_facts
    from trundle.robot import check_run

    model: Model = request.model()
    units = model.units
    check_run(
        model.robot,
        request.run,
        {name: units.get(name, "") for name in model.inputs},
        {name: units.get(name, "") for name in model.states},
    )
    signals(request)
    data = {
        **model_data(model),
        "outputs": model.outputs,
        "parameters": dict(model.parameters),
        "units": dict(units),
    }
    return [*model_facts(model), ("run", _run_text(request))], data


def _kinematic(request: Request) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The same for a run without forces."""
    from trundle.cli.portrait import kinematic_names, mobility_class, mobility_facts, names_with_units
    from trundle.model.kinematics import derive_kinematics
    from trundle.robot import check_run
    from trundle.simulation import rate_of

    robot = request.document.robot
    check_run(robot, request.run, *kinematic_names(robot))
    given = signals(request)
    found = derive_kinematics(robot, [rate_of(name) for name in given])
    facts = [
        ("coordinates", names_with_units(found.coordinates, found.units)),
        ("given", names_with_units(tuple(given), found.units)),
        *mobility_facts(mobility_class(robot)),
        (
            "equations",
            f"{found.program.operations} operations: the base's motion from the wheels', without forces",
        ),
        ("run", _run_text(request)),
    ]
    data = {"coordinates": found.coordinates, "inputs": tuple(given), "operations": found.program.operations}
    return facts, {
        **data,
        "outputs": found.outputs,
        "parameters": dict(found.parameters),
        "units": dict(found.units),
    }


def _run_text(request: Request) -> str:
    run = request.run
    if request.document.run is None:
        return "none in the file"
    changes = f", {len(run.set)} parameters changed" if run.set else ""
    return f"{run.mode}, {run.duration:g} s, {len(run.inputs)} inputs given{changes}"

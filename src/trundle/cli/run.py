"""`trundle run`: simulate what a description says, write the results, say what came out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS, METHODS
from trundle.cli import products
from trundle.cli.output import Output
from trundle.cli.parsing import (
    add_changes,
    add_description,
    add_force,
    add_output,
    add_payload,
    options_named,
)
from trundle.cli.request import Request, read_request
from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.results import Run
    from trundle.simulation.battery_use import BatteryUse
    from trundle.simulation.beyond_limits import Passed
    from trundle.simulation.runfile import Task
    from trundle.sweeps.outcome import Sweep

SUMMARY = "simulate a description and write the results"
EPILOG = """\
examples:
  trundle run examples/diff_drive/circle.yaml
  trundle run robot.yaml --duration "2 min" --set d=0.2 --set r="6 in" --input right_motor.voltage=12
  trundle new pendulum | trundle run - --initial link_1.angle="30 deg" --output swing --json

Values are numbers in SI, or text with a unit. Results go to runs/NAME/ after the file's name: NAME.nc (NetCDF:
everything), NAME.csv, and figures of what there is to
show: path, states, inputs, contacts, checks."""


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add_description(parser)
    add_payload(parser)
    add_changes(
        parser,
        "another value for a parameter; nothing is derived anew",
        "a constant input, instead of the file's",
        "the value of a state at the start",
    )
    add("--like", metavar="STORE:ROBOT", help="as this robot of a sweep: out.zarr:1234")
    add("--duration", metavar="SECONDS", help='how long, such as 30 or "2 min"')
    text = "the integrator (by default the file's, or by the stiffness of the robot)"
    add("--method", choices=METHODS, help=text)
    add("--samples", type=int, metavar="N", help="how many times to store")
    add("--seed", type=int, metavar="N", help="another seed of the sensors' noise")
    add_output(parser, "DIR", "the folder for the results (default: runs/NAME), or one file: .nc, .csv")
    add_force(parser)
    add("--no-figures", action="store_true", help="write the numbers only")
    add("--figure-format", choices=FIGURE_FORMATS, default="png", help="of the figures (default: png)")


def execute(args: Namespace, out: Output) -> int:
    """Read, check, simulate, write, tell."""
    request = read_request(args.file, args.base, args.payload)
    if args.like is not None:
        args = _as_swept(args)
    figures = None if args.no_figures else args.figure_format
    names = products.names(request.stem, figures)
    place, alone = products.claim_place(args, request.stem, names)
    from trundle.show.summaries.run_summary import RunReport, run_data, run_lines

    with out.doing(f"deriving {request.document.robot.name}"):
        task = request.task(args)
    if vast := _vast(task):
        out.say(out.styled(f"note: {vast}", "yellow"))
    if figures is not None:
        # Read while LLVM compiles, which leaves Python to others: nothing else here imports matplotlib meanwhile.
        Thread(target=import_module, args=("matplotlib.backends.backend_agg",), daemon=True).start()
    run = task.run(progress=not out.quiet)
    with out.doing(f"writing {run.time.size:,} samples to {place}"):
        if alone:
            files, figure_seconds = [run.save(place)], 0.0
        else:
            files, figure_seconds = products.write(run, place, request.stem, figures)
    used = _battery_use(request, run)
    notes = [
        *_notes(request, run, None if alone else place, files),
        *_balanced(task, run),
        *_beyond(request, run, used),
    ]
    report = RunReport(request.document.robot, task, run, files, figure_seconds, notes)
    if out.json:
        out.answer({**run_data(report), "batteries": {name: asdict(each) for name, each in used.items()}})
    elif not out.quiet:
        out.say(run_lines(report, out))
    return 0


def _battery_use(request: Request, run: Run) -> Mapping[str, BatteryUse]:
    """What its batteries gave and got back, if it has any."""
    if not request.document.robot.batteries:
        return {}
    from trundle.simulation.battery_use import use_by_battery

    return use_by_battery(request.document.robot, run)


def _as_swept(args: Namespace) -> Namespace:
    """The options with what a sweep's robot has, over the time of the sweep; what else is said stands behind it."""
    from trundle.sweeps.outcome import Sweep

    place, number = _robot_of_a_store(args.like)
    with options_named({"store": "--like", "robot": "--like"}):
        found = Sweep.load(place)
        given = found.robot(number)
    options = {"set": "parameters", "input": "inputs", "initial": "initial"}
    merged: dict[str, list[tuple[str, object]]] = {}
    for option, part in options.items():
        same = [(name, value) for name, value in given[part].items() if isinstance(value, (int, float, str))]
        merged[option] = [*same, *(getattr(args, option) or ())]
    duration = args.duration or found.work.steps * found.work.dt
    return Namespace(**{**vars(args), **merged, **_chosen(args, found, number), "duration": duration})


def _robot_of_a_store(text: str) -> tuple[str, int]:
    """STORE:ROBOT, where the store's path may have a drive's colon of its own."""
    place, _, number = text.rpartition(":")
    if not place or not (number.isascii() and number.isdigit()):
        raise InputError(f"expected STORE:ROBOT, got {text!r}", key="--like", hint="such as out.zarr:1234")
    return place, int(number)


def _chosen(args: Namespace, found: Sweep, robot: int) -> dict[str, object]:
    """The seed of noise that a sweep's robot has; InputError for motions, which no option holds."""
    from trundle.sweeps.cases import NOISE

    for name in found.work.cases:
        if name != NOISE:
            hint = f"in Python: trundle.Sweep.load({str(found.store.place)!r}).run({robot})"
            message = f"the robots of this sweep have motions of their own for {name}"
            raise InputError(message, key="--like", hint=hint)
    if NOISE not in found.work.cases or args.seed is not None:
        return {}
    return {"seed": int(found.store.read(NOISE, robot, 1)[0])}


# As many limits that a run went beyond are told in sentences; the others are named.
_MOST_LIMITS = 6
# Memory beyond which a run says what it takes (bytes), and how much of its numbers' size it takes: 4.0 for 3,000,000
# samples of 33 numbers.
_MUCH, _TIMES = 2e9, 4


def _vast(task: Task) -> str:
    """What a run with very many samples takes, and how to store fewer numbers; "" for others."""
    system, size = task.problem.system, task.problem.count
    numbers = 8.0 * size * (len(system.states) + len(system.inputs) + len(system.outputs))
    if _TIMES * numbers < _MUCH:
        return ""
    return (
        f"{size:,} samples take some {_TIMES * numbers / 1e9:.1f} GB of memory and {3 * numbers / 1e9:.1f} GB of disk; "
        "--samples stores fewer, --output FILE.nc a third of it"
    )


def _balanced(task: Task, run: Run) -> Iterator[str]:
    """That it stands on its head, and how to start it elsewhere: a run pushes nothing off by itself."""
    from trundle.simulation.rest import balanced

    if task.model is not None and (unstable := balanced(task.model, run)):
        name, rate = unstable
        away = f"--initial {name}={run[name][0] + 0.1:.3g}"
        yield (
            f"it rests at an unstable equilibrium: {name} would leave it e-fold each {1 / rate:.2g} s, and nothing "
            f"pushes it; start it elsewhere, say with {away}"
        )


def _beyond(request: Request, run: Run, used: Mapping[str, BatteryUse]) -> Iterator[str]:
    """Sentences on what went beyond its limits: joints, motors and batteries.

    A joint's limits are only kept, as URDF's are; a motor may not have what was asked for; a battery sags.
    """
    from trundle.simulation.beyond_limits import clamped, passed, sags

    for name, limit, asked in clamped(request.document.robot, run):
        unit = run.units[name]
        yield f"{name} asks for up to {asked:.4g} {unit}; its motor gets {limit:.4g} {unit} at most, its limit"
    for name, least, at, most in sags(request.document.robot, run):
        yield (
            f"the battery {name!r} sagged to {least:.4g} V, at {at:.4g} s, and gave up to {most:.4g} A; "
            f"it {used[name].words}"
        )
    told = list(passed(request.document.robot, run))
    yield from map(partial(_limit_words, run.units), told[:_MOST_LIMITS])
    if others := told[_MOST_LIMITS:]:
        yield f"beyond limits went also {', '.join(dict.fromkeys(each.name for each in others))}"


def _limit_words(units: Mapping[str, str], beyond: Passed) -> str:
    """A sentence on a limit that a run went beyond, with the file's joint."""
    unit = units[beyond.name]
    whose = f" of the joint {beyond.joint!r}" if beyond.joint else ""
    way_out = ": give the joint a limit_stiffness" if beyond.stops else ""
    return (
        f"{beyond.name} went to {beyond.furthest:.4g} {unit}, beyond its {beyond.limit} {beyond.at:.4g} {unit}{whose}, "
        f"which stops nothing{way_out}"
    )


def _notes(request: Request, run: Run, folder: Path | None, files: list[Path]) -> Iterator[str]:
    """What a user should know: a missing run section, a start that loops moved, figures that are out of date."""
    yield from request.unmoved(run.duration)
    if moved := run.summary.get("settled"):
        units = run.units
        told = [f"{name} at {new:.5g} {units[name]}, not {old:.5g}" for name, (old, new) in moved.items()]
        yield f"the loops make it start with {', '.join(told)}"
    if folder is not None and (old := products.left_over(folder, files)):
        yield f"from an earlier run there are still {', '.join(old)} in {folder}"

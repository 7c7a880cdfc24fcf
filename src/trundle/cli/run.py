"""`trundle run`: simulate what a description says, write the results, say what came out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli import products
from trundle.cli.output import Output
from trundle.cli.parsing import pair
from trundle.cli.request import Request, read_request, sampling, signals, start

if TYPE_CHECKING:
    from trundle.model import Model
    from trundle.results import Run

SUMMARY = "simulate a description and write the results"
EPILOG = """\
examples:
  trundle run examples/diff_drive/circle.yaml
  trundle run robot.yaml --duration "2 min" --set d=0.2 --set r="6 in" --input right_motor.voltage=12
  trundle new pendulum | trundle run - --initial link_1.angle="30 deg" --out swing --json

Values are numbers in SI, or text with a unit. Results go to runs/NAME/ after the file's name: NAME.nc (NetCDF:
everything), NAME.csv, and the figures path, states, inputs and checks."""
# As trundle.simulation's, which can't be imported here: it brings NumPy along.
METHODS = ("auto", "lsoda", "radau", "bdf", "dop853", "rk45")


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add("file", metavar="FILE", help="the description, or a kept model (.trundle.json); - for standard input")
    changes = {
        "--set": "another value for a parameter; nothing is derived anew",
        "--input": "a constant input, instead of the file's",
        "--initial": "the value of a state at the start",
    }
    for option, text in changes.items():
        add(option, metavar="NAME=VALUE", type=pair, action="append", help=f"{text} (as often as needed)")
    add("--duration", metavar="SECONDS", help='how long, such as 30 or "2 min"')
    add(
        "--method",
        choices=METHODS,
        help="the integrator (by default the file's, or by the stiffness of the robot)",
    )
    add("--samples", type=int, metavar="N", help="how many times to store")
    add("--out", metavar="DIR", help="the folder for the results (default: runs/NAME)")
    add("--no-figures", action="store_true", help="write the numbers only")
    add("--figure-format", choices=products.FORMATS, default="png", help="of the figures (default: png)")


def execute(args: Namespace, out: Output) -> int:
    """Read, check, simulate, write, tell."""
    request = read_request(args)
    folder = Path(args.out) if args.out else products.DEFAULT_PARENT / request.stem
    figures = None if args.no_figures else args.figure_format
    products.prepare(folder, request.stem, figures)
    from trundle.model.classification import mobility_class
    from trundle.show.words.run_words import RunReport, run_data, run_lines

    with request.located():
        model, run = (_roll if request.run.mode == "kinematic" else _simulate)(request, out)
    files = products.write(run, folder, request.stem, figures)
    notes = [*_notes(request), *_moved(run), *_stale(folder, files)]
    robot = request.document.robot
    mobility = mobility_class(robot) if model is None else model.mobility
    kept, changed = request.kept is not None, tuple(request.run.set)
    report = RunReport(robot, mobility, model, run, changed, files, notes, kept)
    if out.json:
        out.answer(run_data(report))
    elif not out.quiet:
        out.say(run_lines(report, out))
    return 0


def _simulate(request: Request, out: Output) -> tuple[Model | None, Run]:
    """A dynamic run."""
    from trundle.documents import check_run
    from trundle.simulation import simulate
    from trundle.simulation.arguments import dependents

    spec = request.run
    model = request.model()
    unit = {name: model.units.get(name, "") for name in (*model.inputs, *model.states)}
    inputs, states = {n: unit[n] for n in model.inputs}, {n: unit[n] for n in model.states}
    check_run(model.robot, spec, inputs, states, dependents(model))
    given = signals(request)
    _load_integrators()
    run = simulate(
        model,
        spec.duration,
        given,
        initial=start(spec),
        parameters=spec.set,
        method=spec.method,
        rtol=spec.rtol,
        atol=spec.atol,
        progress=not out.quiet,
        **sampling(spec),
    )
    return model, run


def _roll(request: Request, out: Output) -> tuple[Model | None, Run]:
    """A kinematic run; there are no forces, and no equations of motion to derive."""
    from trundle.documents import check_run
    from trundle.simulation import roll
    from trundle.simulation.kinematic import kinematic_names

    robot, spec = request.document.robot, request.run
    check_run(robot, spec, *kinematic_names(robot))
    given = signals(request)
    _load_integrators()
    run = roll(
        robot,
        spec.duration,
        given,
        initial=start(spec),
        parameters=spec.set,
        method=spec.method,
        progress=not out.quiet,
        # roll's own tolerances are tighter than the run section's defaults, and hold where nobody wrote any
        **{name: getattr(spec, name) for name in ("rtol", "atol") if name in spec.model_fields_set},
        **sampling(spec),
    )
    return None, run


def _load_integrators() -> None:
    """The slowest import of a run, here so that the time to simulate is that and nothing else.

    A thread that loads it while the model is derived was measured: it made both slower, as imports hold Python's lock.
    """
    import scipy.integrate  # noqa: F401


def _notes(request: Request) -> list[str]:
    """What a user should know about the request."""
    if request.document.run is None:
        what = "standard input" if not request.from_file else request.source
        return [f"{what} has no run section: {request.run.duration:g} s, and inputs that aren't given are 0"]
    return []


def _moved(run: Run) -> list[str]:
    """Where a run starts beside what was asked for, since loops hold it there."""
    moved = run.summary.get("settled", {})
    units = run.units
    told = [f"{name} at {new:.5g} {units[name]}, not {old:.5g}" for name, (old, new) in moved.items()]
    return [f"the loops make it start with {', '.join(told)}"] if told else []


def _stale(folder: Path, files: list[Path]) -> list[str]:
    old = products.left_over(folder, files)
    return [f"from an earlier run there are still {', '.join(old)} in {folder}"] if old else []

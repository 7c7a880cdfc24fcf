"""`trundle sweep`: what becomes of many robots that differ."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from trundle.choices import PRECISIONS
from trundle.cli.output import Output, claim
from trundle.cli.parsing import add_changes, add_description, add_force, once, options_named, pair
from trundle.cli.products import write_figure
from trundle.cli.request import Request, read_request
from trundle.errors import InputError

if TYPE_CHECKING:
    from trundle.simulation.runfile import Task
    from trundle.sweeps.outcome import Sweep

SUMMARY = "roll many robots that differ, and keep a few numbers of every one"
EPILOG = """\
examples:
  trundle sweep robot.yaml --vary "r=14 cm:16 cm:101" --measure final.x
  trundle sweep robot.yaml --vary "body.mass=normal(50, 2)" --samples 100000 --measure "max(energy.kinetic)" \\
      --measure "first(x > 2 m)" --store out.zarr --figure out.png
  trundle sweep robot.yaml ... --store out.zarr --resume
  trundle sweep rover.yaml --vary terrain.seed=0:99:100 --vary "terrain.scale=uniform(0, 1)" --measure "max(tilt)"
  trundle run robot.yaml --like out.zarr:1234

What varies is a parameter, initial.STATE, inputs.INPUT, noise.seed, over terrain also its numbers and terrain.seed.
A sensor's noise varies where FILE has it as a parameter, noise: NAME. An estimator assumes the same noise, unless FILE
gives it a number of its own.
BEGIN:END:POINTS and values with commas make a grid; uniform(low, high) and normal(mean, sd) are drawn from.
Measures: final.NAME, min(NAME), max(NAME), mean(NAME), integral(NAME), rms(NAME), first(NAME > VALUE), of any state
or output. The store is a Zarr folder, which xarray opens."""

_OPTIONS = {
    "over": "--vary", "measures": "--measure", "samples": "--samples", "draws": "--draws", "seed": "--seed",
    "dt": "--dt", "store": "--store", "resume": "--resume", "chunk": "--chunk", "threads": "--threads",
    "client": "--scheduler", "device": "--device", "precision": "--precision",
}  # fmt: skip


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add_description(parser)
    often = "(as often as needed)"
    text = f"what differs between robots, and how {often}"
    add("--vary", metavar="NAME=HOW", type=pair, action="append", default=[], help=text)
    add("--measure", metavar="MEASURE", action="append", default=[], help=f"what is kept of a robot {often}")
    add("--samples", type=int, default=1, metavar="N", help="draws at every grid point (default: 1)")
    text = "independent draws, a Sobol sequence, a Latin hypercube, or what Sobol' indices need (default: random)"
    add("--draws", choices=("random", "sobol", "latin", "indices"), default="random", help=text)
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    text = "the length of a step (default: 1 ms; over terrain as FILE says)"
    add("--dt", metavar="SECONDS", help=text)
    add("--duration", metavar="SECONDS", help="how long the robots roll; by default as long as FILE says")
    add_changes(
        parser,
        "another value for a parameter of all robots",
        "a constant input of all robots",
        "the value of a state at the start, of all robots",
    )
    add("--store", metavar="DIR", help="the Zarr store for the rows; without it they are only summed up")
    add("--resume", action="store_true", help="go on with a store that was begun")
    add("--chunk", type=int, metavar="N", help="robots that are rolled and written at a time")
    add("--threads", type=int, metavar="N", help="how many threads (default: one a core)")
    text = "what rolls the robots: cpu, cuda, cuda:1 (default: cpu)"
    add("--device", default="cpu", metavar="DEVICE", help=text)
    add("--precision", choices=PRECISIONS, default="double", help="of numbers on a GPU (default: double)")
    add("--scheduler", metavar="ADDRESS", help="roll on the workers of this Dask scheduler, tcp://HOST:PORT")
    add("--figure", metavar="FILE", help="draw the measures' distributions: .png, .svg or .pdf")
    add("--page", metavar="FILE", help="write a page whose robots are dots to click on: .html")
    add_force(parser)
    parser.set_defaults(method=None)


def execute(args: Namespace, out: Output) -> int:
    """Read, roll, sum up, print."""
    claim(args.figure, args.force)
    claim(args.page, args.force)
    request = read_request(args.file, args.base)
    with out.doing(f"deriving {request.document.robot.name}"):
        # A sweep's seed and samples are of its draws, not of a run.
        task = request.task(Namespace(**{**vars(args), "seed": None, "samples": None}))
    found = _sweep(args, request, task, out)
    import trundle
    from trundle.show.summaries.sweep_summary import sweep_record, sweep_text

    files: dict[str, object] = {} if args.store is None else {"store": args.store}
    files |= write_figure(args.figure, lambda: trundle.sweep_figure(found))
    if args.page is not None:
        files["page"] = str(found.animate(args.page))
    out.report(sweep_record(found), sweep_text(found), files)
    return 0


def _sweep(args: Namespace, request: Request, task: Task, out: Output) -> Sweep:
    """Roll the robots that the options ask for."""
    from trundle.model.arguments import number
    from trundle.sweeps.of_task import swept_task

    if not args.measure:
        hint = "such as --measure final.x or --measure 'max(energy.kinetic)'"
        raise InputError("nothing is measured", key="--measure", hint=hint)
    with request.located(), options_named(_OPTIONS):
        dt = None if args.dt is None else number(args.dt, "dt", "s")
        over = once(args.vary, "--vary {}", "varies twice", "values with commas are one grid")
        return swept_task(
            task, dt, over=over, measures=args.measure, samples=args.samples, draws=args.draws,
            seed=args.seed, store=args.store, resume=args.resume, chunk=args.chunk, threads=args.threads,
            client=args.scheduler, device=args.device, precision=args.precision, progress=not out.quiet,
        )  # fmt: skip

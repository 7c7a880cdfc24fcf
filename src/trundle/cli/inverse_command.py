"""`trundle inverse`: the wrenches in a robot's joints that a measured motion needs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS, LOAD_FIGURES
from trundle.cli import products
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output
from trundle.cli.parsing import add_force, add_output
from trundle.cli.request import read_request
from trundle.errors import InputError
from trundle.show.lines import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.capture.smoothing import Smoothing
    from trundle.loads.loads import Loads
    from trundle.results import Run

SUMMARY = "the wrenches in a robot's joints that a measured motion needs"
EPILOG = """\
examples:
  trundle inverse examples/limb/limb.yaml --motion examples/limb/motion.csv --output runs/limb
  trundle inverse limb.yaml --motion walk.csv --smooth butterworth:6 --mass "72 kg" --frame world --no-figures

The motion is a table (.csv, .mot, .sto) with a column `time` and one for each coordinate by its name. Nothing is
smoothed unless asked: derivatives are those of a quintic spline through all samples. A row a sample comes out, in
columns such as knee.moment_y and knee.force_z: on the child, by the parent, at the joint, in the child's frame unless
--frame says otherwise. Results go to DIR: MOTION.nc (everything), MOTION.csv, MOTION.sto, and figures."""

# What the library calls what an option gives.
_OPTIONS = {"smoothing": "--smooth", "in_": "--frame", "mass": "--mass", "external": "--external"}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add("file", metavar="FILE", help="the robot or limb: a description; - for standard input")
    add("--motion", "-m", metavar="DATA", required=True, help="what was measured of its motion")
    text = "such as butterworth:6 (Hz) or butterworth:6,order=4 (default: none)"
    add("--smooth", metavar="METHOD", default="none", help=text)
    text = "in whose axes wrenches are given: child, parent, world, or a body (default: child)"
    add("--frame", metavar="FRAME", default="child", help=text)
    add("--mass", metavar="KG", help="divide forces, moments and powers by a mass")
    add_output(parser, "DIR", "the folder for the results (default: runs/MOTION)")
    add_force(parser)
    add("--no-figures", action="store_true", help="write the numbers only")
    add("--figure-format", choices=FIGURE_FORMATS, default="png", help="of the figures (default: png)")


def execute(args: Namespace, out: Output) -> int:
    """Read, check, compute, write, tell."""
    stem = Path(args.motion).stem
    folder = Path(args.output) if args.output else products.DEFAULT_PARENT / stem
    figures = [] if args.no_figures else [f"{name}.{args.figure_format}" for name in LOAD_FIGURES]
    names = [f"{stem}.nc", f"{stem}.csv", f"{stem}.sto", *figures]
    products.claim_all(folder, names, args.force)
    with _options_named():
        loads = _loads(args)
        run = loads.to_run(args.frame, args.mass)
    written = _write(run, folder, names)
    out.answer({**run.summary, "output": str(folder), "files": written})
    out.say(_told(run, out))
    out.say(f"  wrote {folder}: {', '.join(written)}")
    return 0


def _loads(args: Namespace) -> Loads:
    from trundle.capture.joint_motion import joint_motion
    from trundle.capture.recording_files import read_recording
    from trundle.loads.joint_loads import joint_loads

    request = read_request(args.file)
    recording, smoothing = read_recording(args.motion), _smoothing(args.smooth)
    model = request.kept or request.document.robot
    motion = joint_motion(recording, model, smoothing=smoothing)
    with request.located():
        return joint_loads(model, motion)


@contextmanager
def _options_named() -> Iterator[None]:
    """Errors about what an option gave name the option."""
    try:
        yield
    except InputError as error:
        section, _, rest = (error.key or "").partition(".")
        if error.file is None and section in _OPTIONS:
            key = f"{_OPTIONS[section]} {rest}".rstrip()
            raise InputError(error.message, key=key, hint=error.hint) from None
        raise


def _smoothing(text: str) -> Smoothing:
    """METHOD, METHOD:NUMBER (its first) or METHOD:NAME=NUMBER,…"""
    from trundle.capture.smoothing import METHODS, smoothing

    method, _, numbers = text.partition(":")
    first = next((each.name for each in fields(METHODS[method])), "") if method in METHODS else ""
    given: dict[str, object] = {}
    for part in filter(None, numbers.split(",")):
        name, _, number = part.rpartition("=")
        try:
            given[name.strip() or first or "number"] = (
                int(number) if number.strip().isdigit() else float(number)
            )
        except ValueError:
            raise InputError(
                f"expected a number, got {number.strip()!r}",
                key="--smooth",
                hint="such as butterworth:6,order=4",
            ) from None
    return smoothing(method, **given)


def _write(run: Run, folder: Path, names: list[str]) -> list[str]:
    """The numbers together, then the figures: each set whole or not at all."""
    from trundle.capture.recording_files import write_columns
    from trundle.files import replacing_in

    record, *others = names[:3]
    with replacing_in(folder, names[:3]) as drafts:
        for name in others:
            write_columns(drafts / name, {"time": run.time, **run.values})
        products.save_record(run, folder, drafts, record, others)
    if len(names) == 3:
        return names
    with no_collection(), replacing_in(folder, names[3:]) as drafts:
        from trundle.show.load_figures import load_figures
        from trundle.show.style import save_figure

        drawn: dict[str, Figure] = load_figures(run)
        written = [name for name in names[3:] if Path(name).stem in drawn]
        for name in written:
            save_figure(drawn[Path(name).stem], drafts / name)
    return [*names[:3], *written]


def _told(run: Run, out: Output) -> Iterator[str]:
    """What came out, in a few lines."""
    span = f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    yield from out.title(run.name, f"{len(run.summary['peaks'])} joints, {span}")
    smoothing = dict(run.summary["smoothing"])
    method = smoothing.pop("method", "none")
    numbers = ", ".join(f"{name} {value}" for name, value in smoothing.items())
    rows = [("smoothing", f"{method} ({numbers})" if numbers else str(method))]
    rows += [("frame", run.summary["frame"])]
    if run.summary["mass"] is not None:
        rows += [("divided by", f"{run.summary['mass']:g} kg")]
    yield from out.facts(rows, 12)
    head = ["largest", *(f"{what} ({_unit(run, what)})" for what in ("force", "moment", "power"))]
    lines = [
        [joint, *(f"{each['largest']:.4g} at {each['time']:.4g} s" for each in found.values())]
        for joint, found in run.summary["peaks"].items()
    ]
    yield from table([head, *lines], right=(1, 2, 3))


def _unit(run: Run, what: str) -> str:
    """The unit of all columns of a kind."""
    return next(unit for name, unit in run.units.items() if name.rpartition(".")[2].startswith(what))

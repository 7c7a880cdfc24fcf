"""`trundle inverse`: the wrenches in a robot's joints that a measured motion needs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.choices import FIGURE_FORMATS, LOAD_FIGURES
from trundle.cli import products
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output
from trundle.cli.parsing import add_base, add_force, add_output, options_named, pair
from trundle.cli.request import read_request
from trundle.errors import InputError
from trundle.show.words.lines import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trundle.arrays import FloatArray
    from trundle.limbs.capture.cycles import Cycles
    from trundle.limbs.capture.smoothing import Smoothing
    from trundle.results import Run
    from trundle.wrenches import Breakdown

SUMMARY = "the wrenches in a robot's joints that a measured motion needs"
EPILOG = """\
examples:
  trundle inverse examples/limb/limb.yaml --motion examples/limb/motion.csv --output runs/limb
  trundle inverse leg.yaml --motion walk.c3d --markers markers.yaml --gaps spline --smooth butterworth:6 \\
      --plates butterworth:20 --mass "72 kg"
  trundle inverse limb.yaml --motion walk.csv --breakdown shank --observer thigh@knee

The motion is a table (.csv, .mot, .sto) with a column `time` and one for each coordinate by its name, or markers (.c3d,
.trc, .csv). Nothing is smoothed unless asked: derivatives are those of a quintic spline through all samples. A row a
sample comes out, in columns such as knee.moment_y and knee.force_z: on the child, by the parent, at the joint, in the
child's frame unless --frame says otherwise. Results go to DIR: MOTION.nc (everything), MOTION.csv, MOTION.sto, and
figures."""

# Newtons below which a plate holds nothing: what noise gives then is no centre of pressure.
_THRESHOLD = 20.0
# Contacts with plates that are told; --json has all.
_MOST_CONTACTS = 12
# What the library calls what an option gives.
_OPTIONS = {
    "smoothing": "--smooth",
    "marker_smoothing": "--smooth-markers",
    "plate_smoothing": "--plates",
    "gaps": "--gaps",
    "in_": "--frame",
    "mass": "--mass",
    "external": "--external",
    "threshold": "--threshold",
    "fit_within": "--fit-within",
    "up": "--up",
    "cycles": "--cycles",
    "body": "--breakdown",
    "observer": "--observer",
    "joint": "--observer",
}
# Units that methods' numbers may be written with.
_UNITS = {"cutoff": "Hz", "longest": "s"}
_BREAKDOWN, _CYCLES = "breakdown.csv", "cycles.csv"


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add("file", metavar="FILE", help="the robot or limb: a description; - for standard input")
    add_base(parser)
    add("--motion", "-m", metavar="DATA", required=True, help="what was measured of its motion")
    add("--markers", metavar="FILE", help="which marker is where on which body (YAML)")
    text = "such as butterworth:6 (Hz), butterworth:6,order=4, gcv_spline (default: none)"
    add("--smooth", metavar="METHOD", default="none", help=text)
    add("--smooth-markers", metavar="METHOD", help="the markers, before bodies are posed by them")
    text = "fill gaps: spline or linear, those of up to 0.2 s; spline:0.5 fills longer ones"
    add("--gaps", metavar="RULE[:SECONDS]", help=text)
    text = (
        "which force plate or ground reaction pushes which body, such as foot=plate1 (as often as needed); "
    )
    text += "of others the foot is found by its markers"
    add("--external", metavar="BODY=PLATE", type=pair, action="append", help=text)
    text = "how plates are smoothed, such as butterworth:20 (default: none); or a recording that has the plates or "
    text += "ground reactions (.c3d, .mot), if the motion's has none; both may be given"
    add("--plates", metavar="METHOD|DATA", action="append", default=[], help=text)
    text = "which way is up in the recordings, where the robot's gravity has another"
    add("--up", choices=("y", "z"), help=text)
    text = f"the least force on a plate that counts (default: {_THRESHOLD:g})"
    add("--threshold", metavar="NEWTONS", type=float, default=_THRESHOLD, help=text)
    text = "how far markers may be off (root mean square); a worse fit ends with status 3 (default: 50 mm)"
    add("--fit-within", metavar="LENGTH", default="50 mm", help=text)
    text = "in whose axes wrenches are given: child, parent, world, or a body (default: child)"
    add("--frame", metavar="FRAME", default="child", help=text)
    add("--mass", metavar="KG", help="divide forces, moments and powers by a mass")
    text = "cut at an event of the recording, a plate's contacts, or times (0.2,1.4,2.6); average with a band"
    add("--cycles", metavar="EVENT", help=text)
    text = "split this body's balance as an observer sees it: breakdown.csv and a stacked figure"
    add("--breakdown", metavar="BODY", help=text)
    add("--observer", metavar="BODY@JOINT", help="who sees it, and from where on it: thigh@knee")
    text = "the folder for the results (default: runs/MOTION), or one file: .nc, .csv, .xlsx, .parquet, .npy"
    add_output(parser, "DIR", text)
    add_force(parser)
    add("--no-figures", action="store_true", help="write the numbers only")
    add("--figure-format", choices=FIGURE_FORMATS, default="png", help="of the figures (default: png)")


def execute(args: Namespace, out: Output) -> int:
    """Read, check, compute, write, tell."""
    stem = Path(args.motion).stem
    folder = Path(args.output) if args.output else products.DEFAULT_PARENT / stem
    tables, figures = _names(stem, args)
    alone = products.is_one_file(args.output)
    if alone:
        _require_one(args)
        products.claim_run(folder, args.force)
    else:
        products.claim_all(folder, [*tables, *figures], args.force)
    results = _results(args, not out.quiet)
    run = results.run
    if alone:
        run.save(folder)
        folder, written = folder.parent, [folder.name]
    else:
        written = _write(results, folder, (tables, figures))
    out.answer({**run.summary, "output": str(folder), "files": written})
    out.say(_told(run, out))
    out.say(f"  wrote {folder}: {', '.join(written)}")
    return 0


def _require_one(args: Namespace) -> None:
    """Raise InputError where one file is to be written and another table was asked for, too."""
    for option, given in (("--breakdown", args.breakdown), ("--cycles", args.cycles)):
        if given:
            message = f"writes a table of its own, and '{args.output}' is one file"
            raise InputError(message, key=option, hint="name a folder with --output, or leave this away")


def _results(args: Namespace, progress: bool) -> Results:
    """What the files and options that are named come to, by `trundle.inverse`."""
    from trundle.limbs.inverse import inverse

    request, earlier = read_request(args.file, args.base), args.smooth_markers
    method, recorded = _plates(args.plates)
    with request.located(), options_named(_OPTIONS):
        loads = inverse(
            request.kept or request.document,
            args.motion,
            markers=args.markers,
            smoothing=_smoothing(args.smooth, "--smooth"),
            marker_smoothing=_smoothing(earlier, "--smooth-markers") if earlier else None,
            plate_smoothing=_smoothing(method, "--plates"),
            gaps=_gaps(args.gaps),
            external=args.external or (),
            plates=recorded,
            up=args.up,
            threshold=args.threshold,
            fit_within=args.fit_within,
            progress=progress,
        )
        run = loads.to_run(args.frame, args.mass)
        split = loads.breakdown(*_split(args)) if args.breakdown or args.observer else None
        cut = loads.cycles(_times(args.cycles), run, args.threshold) if args.cycles else None
        return Results(run, split, cut)


def _split(args: Namespace) -> tuple[str, str, str]:
    """The body whose balance is split, who observes it, and the joint from where."""
    if not (args.breakdown and args.observer):
        option = "--observer" if args.breakdown else "--breakdown"
        hint = "--breakdown shank --observer thigh@knee: the origin counts, so it isn't guessed"
        raise InputError("a breakdown needs a body and who observes it", key=option, hint=hint)
    observer, mark, joint = args.observer.partition("@")
    if not mark:
        hint = f"{observer}@JOINT, where the split's origin is"
        raise InputError("an observer needs a frame and an origin", key="--observer", hint=hint)
    return args.breakdown, observer, joint


def _times(text: str) -> str | list[float]:
    """Times with commas between them; what is none is the name of an event or a plate."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def _smoothing(text: str, option: str) -> Smoothing:
    """METHOD, METHOD:NUMBER (its first) or METHOD:NAME=NUMBER,…"""
    from trundle.limbs.capture.smoothing import METHODS, smoothing

    method, _, numbers = text.partition(":")
    first = next((field.name for field in fields(METHODS[method])), "") if method in METHODS else ""
    return smoothing(method, **_numbers(numbers, first or "number", option))


def _plates(given: Sequence[str]) -> tuple[str, str | None]:
    """How plates are smoothed, and the recording that has them: a method's name is no recording's."""
    from trundle.limbs.capture.smoothing import METHODS

    methods = [text for text in given if text.partition(":")[0] in METHODS]
    files = [text for text in given if text not in methods]
    for what, several in (("method", methods), ("recording", files)):
        if len(several) > 1:
            raise InputError(f"one {what} is enough, got {' and '.join(several)}", key="--plates")
    if files and not Path(files[0]).exists():
        hint = f"a method is one of {', '.join(METHODS)}, such as butterworth:20"
        message = f"there is no recording '{files[0]}', nor a method of that name"
        raise InputError(message, key="--plates", hint=hint)
    return (methods or ["none"])[0], (files or [None])[0]


def _gaps(text: str | None) -> Mapping[str, object] | None:
    """RULE or RULE:SECONDS"""
    if text is None:
        return None
    rule, _, longest = text.partition(":")
    return {"rule": rule, **_numbers(longest, "longest", "--gaps")}


def _numbers(text: str, first: str, option: str) -> dict[str, float]:
    """NUMBER or NAME=NUMBER with commas between them, by name; some may have units: 6 Hz, 100 ms."""
    from trundle.model.arguments import number

    options: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, given = (word.strip() for word in part.rpartition("="))
        name = name or first
        try:
            options[name] = int(given) if given.isdigit() else number(given, name, _UNITS.get(name, ""))
        except InputError as error:
            hint = f"such as {option} {'spline:0.5' if option == '--gaps' else 'butterworth:6,order=4'}"
            raise InputError(f"expected a number, got {given!r}", key=option, hint=hint) from error
    return options


def _names(stem: str, args: Namespace) -> tuple[list[str], list[str]]:
    """The files of numbers, the record first, and the figures that there may be."""
    tables = [f"{stem}.nc", f"{stem}.csv", f"{stem}.sto"]
    drawn = list(LOAD_FIGURES)
    if args.breakdown:
        tables, drawn = [*tables, _BREAKDOWN], [*drawn, "breakdown"]
    if args.cycles:
        tables, drawn = [*tables, _CYCLES], [*drawn, *(f"cycles_{name}" for name in LOAD_FIGURES[:-1])]
    return tables, [] if args.no_figures else [f"{name}.{args.figure_format}" for name in drawn]


def _write(results: Results, folder: Path, names: tuple[list[str], list[str]]) -> list[str]:
    """The numbers together, then the figures: a set is written whole or not at all."""
    from trundle.files import replacing_in
    from trundle.limbs.capture.recording_files import write_columns

    run, ((record, *others), figures) = results.run, names
    with replacing_in(folder, names[0]) as drafts:
        for name in others:
            write_columns(drafts / name, results.table(name))
        products.save_record(run, folder, drafts, record, others)
    if not figures:
        return names[0]
    with no_collection(), replacing_in(folder, figures) as drafts:
        from trundle.show.figures.style import save_figure

        drawn = results.figures()
        written = [name for name in figures if Path(name).stem in drawn]
        for name in written:
            save_figure(drawn[Path(name).stem], drafts / name)
    return [*names[0], *written]


@dataclass(frozen=True)
class Results:
    """What is written: the loads, and a breakdown and cycles where they were asked for."""

    run: Run
    split: Breakdown | None
    cycles: Cycles | None

    def table(self, name: str) -> Mapping[str, FloatArray]:
        """The columns of a file; of cycles the means, and what they spread by."""
        if name == _BREAKDOWN and self.split is not None:
            return {"time": self.run.time, **self.split.table()}
        if name == _CYCLES and (cut := self.cycles) is not None:
            columns = {"percent": cut.percent}
            for curve in cut.curves:
                low, high = cut.band(curve)
                columns |= {curve: cut.mean(curve), f"{curve}.low": low, f"{curve}.high": high}
            return columns
        return {"time": self.run.time, **self.run.values}

    def figures(self) -> Mapping[str, Figure]:
        """All figures by name."""
        from trundle.show.figures.breakdown_figure import breakdown_figure
        from trundle.show.figures.load_figures import load_figures

        figures = load_figures(self.run)
        if self.split is not None:
            figures["breakdown"] = breakdown_figure(self.split, self.run.time)
        if self.cycles is not None:
            drawn = load_figures(self.run, self.cycles)
            figures |= {f"cycles_{name}": figure for name, figure in drawn.items()}
        return figures


def _told(run: Run, out: Output) -> Iterator[str]:
    """What came out, in a few lines."""
    span = f"{len(run)} samples from {run.time[0]:g} s to {run.time[-1]:g} s"
    yield from out.title(run.name, f"{len(run.summary['peaks'])} joints, {span}")
    rows = [("smoothing", _method(run.summary["smoothing"]))]
    if fit := run.summary["marker_fit"]:
        worst = f"{fit['worst']} by {1e3 * fit['largest']:.3g} mm at {fit['time']:.4g} s"
        rows += [("markers off", f"{1e3 * fit['rms']:.3g} mm (root mean square), most {worst}")]
    rows += [*_plate_rows(run.summary["plates"])]
    rows += [("frame", run.summary["frame"])]
    if run.summary["mass"] is not None:
        rows += [("divided by", f"{run.summary['mass']:g} kg")]
    if (up := run.summary["up"]) is not None:
        rows += [("up", f"{up['recording']} in the recording, {up['robot']} for the robot")]
    yield from out.facts(rows, 12)
    head = ["largest", *(f"{what} ({_unit(run, what)})" for what in ("force", "moment", "power"))]
    lines = [
        [joint, *(f"{peak['largest']:.4g} at {peak['time']:.4g} s" for peak in parts.values())]
        for joint, parts in run.summary["peaks"].items()
    ]
    yield from table([head, *lines], right=(1, 2, 3))


def _method(record: Mapping[str, object]) -> str:
    """A smoothing's record in words."""
    numbers = ", ".join(f"{name} {value}" for name, value in record.items() if name != "method")
    return f"{record.get('method', 'none')} ({numbers})" if numbers else str(record.get("method", "none"))


def _plate_rows(plates: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What was done to the plates, and who stood on them."""
    if plates is None:
        return
    onto = {"mean": "means over the motion's samples", "linear": "linear between samples"}[plates["times"]]
    yield "plates", f"{_method(plates['smoothing'])}, {onto}, from {plates['threshold']:g} N"
    for contact in plates["contacts"][:_MOST_CONTACTS]:
        told = "as told" if contact["by"] == "external" else f"{1e3 * contact['off']:.0f} mm from its markers"
        if contact["by"] != "external" and contact["margin"] is not None:
            told += f", {1e3 * contact['margin']:.0f} mm nearer than the next foot"
        yield (
            "",
            f"{contact['body']} on {contact['plate']}, {contact['start']:.4g} to {contact['end']:.4g} s ({told})",
        )
    if (more := len(plates["contacts"]) - _MOST_CONTACTS) > 0:
        yield "", f"and {more} contacts more"


def _unit(run: Run, what: str) -> str:
    """The unit of all columns of a kind."""
    return next(unit for name, unit in run.units.items() if name.rpartition(".")[2].startswith(what))

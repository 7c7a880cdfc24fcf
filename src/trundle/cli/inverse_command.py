"""`trundle inverse`: the wrenches in a robot's joints that a measured motion needs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS
from trundle.cli import products
from trundle.cli.garbage import no_collection
from trundle.cli.inverse_results import Results, names, summary_lines, write
from trundle.cli.output import Output
from trundle.cli.parsing import add_description, add_force, add_output, options_named, pair
from trundle.cli.request import read_request
from trundle.errors import InputError, require_known
from trundle.files import read_bytes_start

if TYPE_CHECKING:
    from trundle.limbs.bands import Bands
    from trundle.limbs.capture.smoothing import Smoothing
    from trundle.limbs.gait import Gait
    from trundle.limbs.inverse import InverseDynamicsResult
    from trundle.wrenches import Breakdown

SUMMARY = "the wrenches in a robot's joints that a measured motion needs"
EPILOG = """\
examples:
  trundle inverse examples/limb/limb.yaml --motion examples/limb/motion.csv --output runs/limb
  trundle inverse leg.yaml --motion walk.c3d --markers markers.yaml --gaps spline --smooth butterworth:6 \\
      --plates butterworth:20 --mass "72 kg"
  trundle inverse limb.yaml --motion walk.csv --breakdown shank --observer thigh@knee
  trundle inverse person.yaml --motion walk.c3d --markers markers.yaml --smooth butterworth:6 --mass "72 kg" --gait
  trundle inverse setup_id.xml

A set-up of OpenSim's InverseDynamicsTool names its files itself; options given beside it take precedence. The motion
is a table (.csv, .mot, .sto) with a column `time` and one for each coordinate by its name, or markers (.c3d, .trc,
.csv). Nothing is smoothed unless asked: derivatives are those of a quintic spline through all samples. A row a sample
comes out, in columns such as knee.moment_y and knee.force_z. They act on the child, by the parent, at the joint, in
the child's frame unless --frame says otherwise. Results go to DIR: MOTION.nc (everything), MOTION.csv, MOTION.sto,
and figures."""

# Newtons below which a plate holds nothing: what noise gives then is no centre of pressure.
_THRESHOLD = 20.0
# Bytes in which a set-up says what it is: a declaration and a comment may stand before.
_BEGIN = 4096
# What the library calls what an option gives.
_OPTIONS = {
    "smoothing": "--smooth",
    "marker_smoothing": "--smooth-markers",
    "plate_smoothing": "--plates",
    "gaps": "--gaps",
    "frame": "--frame",
    "mass": "--mass",
    "external": "--external",
    "threshold": "--threshold",
    "max_marker_rms": "--max-marker-rms",
    "up": "--up",
    "start": "--from",
    "end": "--to",
    "cycles": "--cycles",
    "events": "--gait",
    "movements": "--gait",
    "height": "--height",
    "terms": "--terms",
    "bands": "--bands",
    "marker_noise": "--bands",
    "segments": "--bands",
    "sex": "--bands sex",
    "body": "--breakdown",
    "observer": "--observer",
    "joint": "--observer",
}
# Units that methods' numbers may be written with.
_UNITS = {"cutoff": "Hz", "longest": "s"}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add_description(parser, "the robot or limb: a description, or OpenSim's set-up of inverse dynamics")
    add("--motion", "-m", metavar="DATA", help="what was measured of its motion")
    add("--markers", metavar="FILE", help="which marker is where on which body (YAML)")
    text = "such as butterworth:6 (Hz), butterworth:6,order=4, opensim:6 (as OpenSim filters), gcv_spline "
    text += "(default: none)"
    add("--smooth", metavar="METHOD", help=text)
    add("--smooth-markers", metavar="METHOD", help="the markers, before bodies are posed by them")
    text = "fill gaps: spline or linear, those of up to 0.2 s; spline:0.5 fills longer ones"
    add("--gaps", metavar="RULE[:SECONDS]", help=text)
    text = (
        "which force plate or ground reaction pushes which body, such as foot=plate1 (as often as needed); "
    )
    text += "of others the foot is found by its markers. Or OpenSim's file of external loads"
    add("--external", metavar="BODY=PLATE|FILE", type=_pushed, action="append", help=text)
    text = "how plates are smoothed, such as butterworth:20 (default: none). DATA is a recording that has the plates "
    text += "or ground reactions (.c3d, .mot), if the motion's has none. Both may be given"
    add("--plates", metavar="METHOD|DATA", action="append", default=[], help=text)
    text = "which way is up in the recordings, where the robot's gravity has another"
    add("--up", choices=("y", "z"), help=text)
    text = "the first time that counts, of the recording's (default: its first)"
    add("--from", metavar="SECONDS", dest="start", help=text)
    add("--to", metavar="SECONDS", dest="end", help="the last time that counts (default: its last)")
    text = f"the least force on a plate that makes a contact (default: {_THRESHOLD:g}; any of external loads)"
    add("--threshold", metavar="NEWTONS", type=float, help=text)
    text = "how far markers may be off (root mean square); a worse fit ends with status 3 (default: 50 mm)"
    add("--max-marker-rms", metavar="LENGTH", default="50 mm", help=text)
    _add_results(parser)


def _add_results(parser: ArgumentParser) -> None:
    """The options of what comes of it."""
    add = parser.add_argument
    text = "in whose axes wrenches are given: child, parent, world, or a body (default: child)"
    add("--frame", metavar="FRAME", default="child", help=text)
    add("--mass", metavar="KG", help="divide forces, moments and powers by a mass")
    text = "cut at an event of the recording, a plate's contacts, or times (0.2,1.4,2.6); average with a band"
    add("--cycles", metavar="EVENT", help=text)
    text = "a walk by side: gait.csv (times and lengths of steps, work), cycles.csv, figures as journals print them, "
    text += "in place of the others. Strikes are told by the recording, plates or markers (default: the first that can)"
    add("--gait", nargs="?", const="auto", choices=("auto", "recording", "plates", "markers"), help=text)
    text = "of a walk: internal moments, what muscles give (default), or external ones"
    add("--moments", choices=("internal", "external"), help=text)
    add("--height", metavar="LENGTH", help="of a walk: divide moments by a height, too")
    text = "bands of 95 %% about net moments: bands.csv and a figure. They are of marker noise (0.5mm; default: by "
    text += "residuals) or none, and of segments' published deviations (0.5mm,sex=male; default: the larger of both)"
    add("--bands", nargs="?", const="residuals", metavar="NOISE", help=text)
    text = "split this body's balance as an observer sees it: breakdown.csv and a stacked figure"
    add("--breakdown", metavar="BODY", help=text)
    add("--observer", metavar="BODY@JOINT", help="who sees it, and from where on it: thigh@knee")
    text = "the terms of the breakdown that its figures show, such as gravity,centrifugal,coriolis (default: all)"
    add("--terms", metavar="NAMES", help=text)
    text = "the folder for the results (default: runs/MOTION), or one file: .nc, .csv"
    add_output(parser, "DIR", text)
    add_force(parser)
    add("--no-figures", action="store_true", help="write the numbers only")
    add("--figure-format", choices=FIGURE_FORMATS, default="png", help="of the figures (default: png)")


@no_collection()
def execute(args: Namespace, out: Output) -> int:
    """Read, check, compute, write, tell."""
    _take_setup(args)
    stem = Path(args.motion).stem
    _require_together(args)
    tables, figures = names(stem, args)
    if products.is_one_file(args.output):
        _require_one(args)
    folder, alone = products.claim_place(args, stem, [*tables, *figures])
    results = _results(args, not out.quiet)
    run = results.run
    if alone:
        run.save(folder)
        folder, written = folder.parent, [folder.name]
    else:
        written = write(results, folder, (tables, figures))
    out.answer({**run.summary, **results.summary, "output": str(folder), "files": written})
    out.say(summary_lines(results, out))
    out.say(f"  wrote {folder}: {', '.join(written)}")
    return 0


def _take_setup(args: Namespace) -> None:
    """Put what OpenSim's set-up names in place of options that aren't given; InputError without a motion."""
    path = Path(args.file)
    if path.is_file() and b"<InverseDynamicsTool" in read_bytes_start(path, _BEGIN):
        from trundle.documents.osim.osim_setups import read_setup

        setup = read_setup(path)
        args.file = str(setup.model)
        args.motion = args.motion or str(setup.motion)
        args.external = args.external or ([str(setup.external)] if setup.external else None)
        args.smooth = args.smooth or ("opensim" if setup.cutoff is None else f"opensim:{setup.cutoff!r}")
        args.start = setup.start if args.start is None else args.start
        args.end = setup.end if args.end is None else args.end
    if not args.motion:
        read_request(args.file, args.base)  # which says better what a file is that can't be read
        hint = "such as --motion walk.mot; a set-up of OpenSim's InverseDynamicsTool names it itself"
        raise InputError("what was measured of the motion is missing", key="--motion", hint=hint)


def _least_force(args: Namespace) -> float:
    """N, of a plate that has a contact, for cycles and walks."""
    return _THRESHOLD if args.threshold is None else args.threshold


def _pushed(text: str) -> tuple[str, str] | str:
    """BODY=PLATE, or a file."""
    return pair(text) if "=" in text else text


def _external(given: Sequence[tuple[str, str] | str]) -> Sequence[tuple[str, str]] | str:
    """Bodies with their plates, or the one file that says them."""
    files = [each for each in given if isinstance(each, str)]
    if files and len(given) > 1:
        message = f"'{files[0]}' says which force pushes which body, and so do others"
        raise InputError(message, key="--external", hint="give one file, or BODY=PLATE as often as needed")
    return files[0] if files else [each for each in given if not isinstance(each, str)]


def _require_together(args: Namespace) -> None:
    """Raise InputError for options that need another one, or can't stand beside it."""
    if args.gait and args.cycles:
        raise InputError(
            "both cut the motion into cycles", key="--gait and --cycles", hint="choose one of them"
        )
    for option, given in (("--moments", args.moments), ("--height", args.height)):
        if given and not args.gait:
            raise InputError("is of a walk's moments", key=option, hint="add --gait")
    if args.terms and not args.breakdown:
        hint = "--breakdown shank --observer thigh@knee"
        raise InputError("chooses among the terms of a breakdown", key="--terms", hint=hint)


def _require_one(args: Namespace) -> None:
    """Raise InputError where one file is to be written and another table was asked for, too."""
    for option in ("breakdown", "cycles", "gait", "bands"):
        if getattr(args, option):
            message = f"writes a table of its own, and '{args.output}' is one file"
            raise InputError(
                message, key=f"--{option}", hint="name a folder with --output, or leave this away"
            )


def _results(args: Namespace, progress: bool) -> Results:
    """What the files and options that are named come to, by `trundle.inverse`."""
    from trundle.limbs.inverse import inverse

    request, earlier = read_request(args.file, args.base), args.smooth_markers
    (method, recorded), least = _plates(args.plates), _least_force(args)
    with request.located(), options_named(_OPTIONS):
        loads = inverse(
            request.document,
            args.motion,
            markers=args.markers,
            smoothing=_smoothing(args.smooth or "none", "--smooth"),
            marker_smoothing=_smoothing(earlier, "--smooth-markers") if earlier else None,
            plate_smoothing=_smoothing(method, "--plates"),
            gaps=_gaps(args.gaps),
            external=_external(args.external or ()),
            plates=recorded,
            up=args.up,
            start=args.start,
            end=args.end,
            threshold=args.threshold,
            max_marker_rms=args.max_marker_rms,
            progress=progress,
        )
        run = loads.to_run(args.frame, args.mass)
        split = loads.breakdown(*_split(args)) if args.breakdown or args.observer else None
        cut = loads.time_normalize(_times(args.cycles), run, least) if args.cycles else None
        bands = loads.uncertainty(**_bands(args.bands), progress=progress) if args.bands else None
        walk = _gait(args, loads, bands) if args.gait else None
        return Results(run, split, cut, walk, _terms(args.terms, split), args.breakdown or "", bands)


def _gait(args: Namespace, loads: InverseDynamicsResult, bands: Bands | None) -> Gait:
    """The walk in cycles."""
    return loads.gait(
        args.gait,
        mass=args.mass,
        height=args.height,
        external=args.moments == "external",
        threshold=_least_force(args),
        bands=bands,
    )


def _terms(text: str | None, split: Breakdown | None) -> tuple[str, ...] | None:
    """Names between commas, of the terms that there are; None for all."""
    if text is None or split is None:
        return None
    chosen = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in chosen:
        require_known(name, split.terms, f"the breakdown has no term {name!r}", key="terms")
    return chosen


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


def _bands(text: str) -> dict[str, str | None]:
    """NOISE, sex=SEX, or both with a comma between them; the noise `none` leaves markers out."""
    given: dict[str, str | None] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, value = (word.strip() for word in part.split("=", 1)) if "=" in part else ("noise", part)
        if name not in ("sex", "noise"):
            hint = "such as --bands 0.5mm,sex=female"
            raise InputError(f"bands have no '{name}'", key="--bands", hint=hint)
        if name == "sex":
            given["sex"] = value
        else:
            given["marker_noise"] = None if value == "none" else value
    return given


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

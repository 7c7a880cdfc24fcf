"""`trundle show`: look at runs and robots, as figures, a film, a page, or in a window."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.choices import FIGURE_FORMATS, FIGURES, RUN_FILES
from trundle.cli.failures import UsageError
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output, claim, write_file
from trundle.cli.parsing import add_base, add_field, add_force, add_output, field_of, options_named
from trundle.cli.products import DEFAULT_PARENT, claim_run
from trundle.cli.request import STDIN, Request, read_request
from trundle.errors import InputError
from trundle.files import path_of

if TYPE_CHECKING:
    from trundle.results import Run

SUMMARY = "look at runs and robots: figures, a film, a page, a window"
EPILOG = """\
examples:
  trundle show runs/circle
  trundle show runs/circle other.nc --figures --only x,y,theta --labels centred,offset
  trundle show examples/diff_drive/circle.yaml --page
  trundle show runs/circle --film --output circle.mp4 --speed 2
  trundle show runs/circle --window
  trundle show examples/swerve/four_modules.yaml --drive --output driven.nc

Several runs share their axes, with a legend of what differs. A description is run first, as by `trundle run`. Without
--output files go beside the run; those of several runs to runs/comparison, of a description to runs/NAME."""

_MODES = {
    "figures": "figures: path, states, inputs, contacts, loads, checks (the default)",
    "film": "a film: GIF, MP4 (by ffmpeg), or single pictures",
    "page": "one file that any browser opens; of a description one that simulates",
    "window": "play it in a window (pygame-ce)",
    "drive": "drive a description's robot in a window, with keys or a gamepad",
}
# Which modes an option is for.
_ONLY_FOR = {
    "only": ("figures",),
    "labels": ("figures",),
    "figure_format": ("figures",),
    "fps": ("film",),
    "speed": ("film", "window"),
    "image": ("window",),
    "field": ("page",),
    "output": ("figures", "film", "page", "drive"),
}

# What the library calls what options give.
_OPTIONS = {
    "names": "--only",
    "fps": "--fps",
    "speed": "--speed",
    "path": "--output",
    "image": "--image",
    "field": "--field",
    "labels": "--labels",
}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    text = "a run (.nc, .csv), a folder of `trundle run`, or a description; - for one on standard input"
    add("things", metavar="RUN", nargs="+", help=text)
    add_base(parser)
    modes = parser.add_mutually_exclusive_group()
    for mode, text in _MODES.items():
        modes.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode, help=text)
    add_output(
        parser, "PATH", "the folder of figures, the film (.gif, .mp4), the page (.html), the driven run (.nc)"
    )
    add("--only", metavar="NAMES", help="draw these values only: x,theta,left.rate")
    add("--labels", metavar="NAMES", help="what legends call several runs: 'centred,offset'")
    add("--figure-format", choices=FIGURE_FORMATS, help="of the figures (default: png)")
    add("--speed", type=float, metavar="TIMES", help="how many times as fast as it went (default: 1)")
    add(
        "--image",
        metavar="PICTURE",
        help="a window's picture of the robot, from above, its front to the right",
    )
    add_field(parser, "what a page shows from above")
    add("--fps", type=float, metavar="NUMBER", help="a film's pictures a second (default: 30)")
    add_force(parser)
    parser.set_defaults(mode="figures")


def execute(args: Namespace, out: Output) -> int:
    """Read, run what is a description, show, tell."""
    for option, modes in _ONLY_FOR.items():
        if getattr(args, option) is not None and args.mode not in modes:
            raise UsageError(
                f"--{option.replace('_', '-')} is for --{' and --'.join(modes)}, not --{args.mode}"
            )
    if args.base is not None and all(_Thing(given, None, progress=False).is_run for given in args.things):
        raise UsageError("--base is for descriptions; a run has the base that it was run with")
    if args.things.count(STDIN) > 1:
        raise UsageError(f"standard input ({STDIN}) can be read once")
    things = [_Thing(given, args.base, not out.quiet) for given in args.things]
    notes = [] if args.mode == "drive" else [note for thing in things for note in thing.notes]
    for note in notes:  # before a window that stays
        out.say(out.styled(f"note: {note}", "yellow"))
    with options_named(_OPTIONS):
        written = _SHOWING[args.mode](things, args)
    files = [str(path) for path in written]
    out.answer({"shown": [thing.name for thing in things], "as": args.mode, "files": files, "notes": notes})
    if written:
        more = (
            f" and {len(written) - 1} more: {', '.join(p.name for p in written[1:])}" if written[1:] else ""
        )
        out.say(f"wrote {written[0]}{more}")
    return 0


@dataclass(frozen=True)
class _Thing:
    """What is to be shown, as it was given."""

    given: str
    base: str | None
    progress: bool

    @cached_property
    def path(self) -> Path:
        """The file of a run: of a folder its record."""
        path = path_of(self.given, "trundle show")
        if not os.path.isdir(path):  # False for names that no folder can have, too
            return path
        records = sorted(path.glob("*.nc"))
        if len(records) != 1:
            held = ", ".join(record.name for record in records[:5]) or "none"
            raise InputError(
                f"expected a folder with one run (.nc), found {held}", file=self.given, hint="name the file"
            )
        return records[0]

    @property
    def is_run(self) -> bool:
        """Whether it holds numbers, not a description."""
        return self.given != STDIN and self.path.suffix.lower() in RUN_FILES

    @cached_property
    def request(self) -> Request:
        """The description."""
        return read_request(self.given, self.base)

    @property
    def notes(self) -> list[str]:
        """What a user should know who expects it to move."""
        if self.is_run:
            return []
        from trundle.model.derive import caveats

        return [*self.request.unmoved(self.request.run.duration), *caveats(self.request.document.robot)]

    @cached_property
    def run(self) -> Run:
        """The run in the file, or that of the description."""
        if self.is_run:
            from trundle.results import Run

            return Run.load(self.path)
        from trundle.progress import Doing
        from trundle.simulation.runfile import task_of

        with Doing(self.progress, f"deriving {self.request.document.robot.name}"):
            task = task_of(self.request.document)
        return task.run(progress=self.progress)

    @property
    def name(self) -> str:
        """What files about it are called."""
        return self.path.stem if self.is_run else self.request.stem

    @property
    def folder(self) -> Path:
        """Where they go."""
        return self.path.parent if self.is_run else DEFAULT_PARENT / self.request.stem


def _output(things: Sequence[_Thing], args: Namespace, suffix: str) -> Path:
    """The file to write: as --output says, or named after what is shown."""
    if args.output:
        return Path(args.output)
    if len(things) > 1:
        return DEFAULT_PARENT / "comparison" / f"comparison{suffix}"
    return things[0].folder / f"{things[0].name}{suffix}"


def _one(things: Sequence[_Thing], mode: str) -> _Thing:
    if len(things) > 1:
        raise UsageError(f"--{mode} shows one run, not {len(things)}; --figures and --page compare several")
    return things[0]


def _figures(things: Sequence[_Thing], args: Namespace) -> list[Path]:
    """Draw the figures of one run, or one figure that compares several, and return the files written."""
    suffix = f".{args.figure_format or 'png'}"
    folder = Path(args.output) if args.output else _output(things, args, suffix).parent
    only, labels = _listed(args.only), _listed(args.labels)
    for name in ("values",) if only else FIGURES:
        claim(str(folder / f"{name}{suffix}"), args.force)
    runs = [thing.run for thing in things]
    with no_collection():
        if len(runs) > 1:
            from trundle.show.figures.several_runs import compare, difference_labels

            told = labels or difference_labels(runs, _names(things))
            return compare(*runs, labels=told).save(folder, suffix, only)
        if labels:
            raise UsageError("--labels names several runs, and this is one")
        if not only:
            return runs[0].plot.save(folder, suffix)
        from trundle.show.figures.style import save_figure

        return [save_figure(runs[0].plot.states(*only), folder / f"values{suffix}")]


def _listed(text: str | None) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def _names(things: Sequence[_Thing]) -> list[str]:
    """What legends call files: their names, or those of their folders, or as they were given, whichever differ."""
    for names in ([thing.name for thing in things], [thing.folder.name for thing in things]):
        if len(set(names)) == len(names):
            return names
    return [thing.given for thing in things]


def _film(things: Sequence[_Thing], args: Namespace) -> list[Path]:
    from trundle.show.figures.films import film

    thing = _one(things, "film")
    path = _output(things, args, ".gif")
    if path.suffix:
        claim(str(path), args.force)
    said = {name: getattr(args, name) for name in ("fps", "speed") if getattr(args, name) is not None}
    return [film(thing.run, path, **said, progress=thing.progress)]


def _page(things: Sequence[_Thing], args: Namespace) -> list[Path]:
    """Write a page (.html) of the runs, or of the one description, and return its path."""
    from trundle.show.page import page_of

    path = _output(things, args, ".html")
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{str(path)!r}: a page's file ends in .html", key="--output")
    claim(str(path), args.force)
    alone = things[0] if len(things) == 1 and not things[0].is_run else None
    given = alone.request.document if alone else [thing.run for thing in things]
    text = page_of(given, field=field_of(args), progress=things[0].progress)
    write_file(str(path), text)
    return [path]


def _window(things: Sequence[_Thing], args: Namespace) -> list[Path]:
    from trundle.show.window import play

    play(_one(things, "window").run, image=args.image, speed=1.0 if args.speed is None else args.speed)
    return []


def _drive(things: Sequence[_Thing], args: Namespace) -> list[Path]:
    """Open a window in which a person drives the robot; with --output the run is saved afterwards."""
    from trundle.show.window import drive

    thing = _one(things, "drive")
    if thing.is_run:
        raise InputError(
            "a run can't be driven", file=thing.given, hint="name its description; --window plays it"
        )
    path = Path(args.output) if args.output else None
    if path is not None:
        claim_run(path, args.force)
    run = drive(thing.request.document)
    return [] if path is None else [run.save(path)]


_SHOWING = {"figures": _figures, "film": _film, "page": _page, "window": _window, "drive": _drive}

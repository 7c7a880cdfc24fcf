"""`trundle profiles`: the motion profiles side by side, as data and as a figure."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from trundle.cli import products
from trundle.cli.output import Output, json_text
from trundle.cli.parsing import add_force, add_output
from trundle.show.summaries.lines import table

SUMMARY = "compare the motion profiles: position, velocity, acceleration and jerk"
EPILOG = """\
example:
  trundle profiles --output runs/profiles

Writes profiles.nc, profiles.csv, profiles.json and profiles.png. They have one change by the linear, the trapezoidal
and the scurve shape over a second. The same change is there as fast as limits of velocity, acceleration and jerk
allow. An impulse is null."""

_STEM = "profiles"


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add_output(parser, "DIR", "the folder for the results (default: runs/profiles)")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Compare, write, tell."""
    folder = Path(args.output) if args.output else products.DEFAULT_PARENT / _STEM
    names = [f"{_STEM}.{ending}" for ending in ("nc", "csv", "json", "png")]
    products.claim_all(folder, names, args.force)
    from trundle.files import replacing_in
    from trundle.motion.commands.profile_comparison import comparison
    from trundle.show.figures.drive_figures import profile_figure
    from trundle.show.figures.style import save_figure

    run = comparison()
    told = run.summary["profiles"]
    data = {"time": run.time, **run.values}
    with replacing_in(folder, names) as drafts:
        run.save(drafts / names[1])
        text = json_text({"profiles": told, "data": data})
        (drafts / names[2]).write_text(text + "\n", encoding="utf-8", newline="\n")
        save_figure(profile_figure(run), drafts / names[3])
        products.save_record(run, folder, drafts, names[0], names[1:3])
    out.answer({"profiles": told, "files": [str(folder / name) for name in names]})
    heads = ("velocity", "acceleration", "jerk")
    rows: list[list[str]] = [["profile", "time (s)", *heads]]
    for name, facts in told.items():
        peaks = ("impulse" if facts[what] is None else f"{facts[what]:.4g}" for what in heads)
        rows.append([name, f"{facts['duration']:.4g}", *peaks])
    out.say(table(rows, right=(1, 2, 3, 4)))
    out.say(f"wrote {folder}: {', '.join(names)}")
    return 0

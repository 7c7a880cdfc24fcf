"""`trundle drive`: what a drive does under commands, at a control level."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from trundle.choices import LEVELS, PROFILES
from trundle.cli import products
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output, json_text
from trundle.cli.parsing import add_force, add_output
from trundle.errors import InputError
from trundle.files import file_name

if TYPE_CHECKING:
    from trundle.motion.commands.drive import Driven
    from trundle.results import Run

SUMMARY = "drive a robot by commands: plans of twists and module states, within its limits"
EPILOG = """\
examples:
  trundle drive --file examples/swerve/motions/forward_to_left.yaml --output runs
  trundle drive --file a.yaml --file b.yaml --control-level coordinated --no-graphs
  trundle drive --file a.yaml --robot robot.yaml --control-level body --motion-profile linear
  trundle drive --file examples/swerve/paths/score.path --robot robot.yaml

Levels: module (each module by itself), body (the twist by a profile), limited (the same, slowed for all declared
limits), coordinated (as fast as the limits allow). Paths of PathPlanner (.path) and Choreo (.traj) are followed as fast
as the limits allow, whatever the level. The default robot has four modules: trundle new limited_swerve.
Results go to DIR/PLAN/: PLAN.nc (everything), PLAN.csv (the columns of basic-swerve-sim), PLAN.traj and trajectory.csv
(for a robot to follow: Choreo's format, and the same as a table), summary.json, figures.
--output FILE with the ending of a table (.nc, .csv, .npy, .xlsx, .parquet) writes that file of one plan alone."""

_SUMMARY, _TABLE = "summary.json", "trajectory.csv"
# What a plan can't be called, as its table would be written over another.
_TAKEN = {PurePath(name).stem for name in (_SUMMARY, _TABLE)}
_FIGURES = ("path", "modules", "rotation_center", "slip")


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    text = "commands (Trundle's motion, basic-swerve-sim's plan) or a path (.path, .traj); as often as needed"
    add("--file", "-f", metavar="FILE", action="append", required=True, help=text)
    add("--robot", metavar="FILE", help="who drives: a description (default: four modules with limits)")
    add("--control-level", "-c", choices=LEVELS, default="limited", help="(default: limited)")
    add("--motion-profile", "-mp", choices=PROFILES, default="scurve", help="(default: scurve)")
    add("--no-graphs", "-ng", action="store_true", help="write the numbers only")
    add_output(parser, "DIR", "the folder for the results (default: runs), or one file, plan.xlsx say")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Read and drive everything, then write it, then tell."""
    if products.is_one_file(args.output):
        return _one_file(args, Path(args.output), out)
    parent = Path(args.output) if args.output else products.DEFAULT_PARENT
    planned = [_planned(file, args) for file in args.file]
    stems = [file_name(name, _TAKEN) for name, _ in planned]
    for place, stem in enumerate(stems):
        if stem in stems[:place]:
            raise InputError(
                f"two files hold a plan called {stem!r}", key="--file", hint="give them names of their own"
            )
        products.claim_all(parent / stem, _names(stem, not args.no_graphs), args.force)
    driven = [drives() for _, drives in planned]
    written = {
        stem: _write(course, parent / stem, stem, not args.no_graphs)
        for stem, course in zip(stems, driven, strict=True)
    }
    out.answer({"plans": [summary for summary, _ in written.values()], "output": str(parent)})
    for course, (stem, (summary, paths)) in zip(driven, written.items(), strict=True):
        out.say(_told(stem, summary, _is_limited(course), out))
        out.say(f"  wrote {parent / stem}: {', '.join(path.name for path in paths)}")
    return 0


def _one_file(args: Namespace, path: Path, out: Output) -> int:
    """Drive one plan, and write its numbers as one table."""
    if len(args.file) > 1:
        message = f"{len(args.file)} plans don't go into one file, '{path}'"
        raise InputError(message, key="--output", hint="name a folder, or drive them one by one")
    products.claim_run(path, args.force)
    name, drives = _planned(args.file[0], args)
    course = drives()
    run = course.run()
    run.save(path)
    out.answer({"plans": [run.summary], "output": str(path)})
    out.say(_told(name, run.summary, _is_limited(course), out))
    out.say(f"  wrote {path}")
    return 0


def _is_limited(driven: Driven) -> bool:
    """Whether its modules have limits."""
    return any(limits.declared or limits.steering_range for limits in driven.limits)


def _planned(file: str, args: Namespace) -> tuple[str, Callable[[], Driven]]:
    """The name of a file's plan or path, and what drives it."""
    if file.endswith((".path", ".traj", ".auto")):
        from trundle.motion.paths.following import follow
        from trundle.motion.paths.path_files import read_path

        path = read_path(file)
        return path.name, lambda: follow(path, args.robot, progress=not args.quiet)
    from trundle.motion.commands.commands import read_commands
    from trundle.motion.commands.drive import drive

    commands = read_commands(file)
    level, profile = args.control_level, args.motion_profile
    return commands.motion.name, lambda: drive(
        commands, args.robot, level=level, profile=profile, progress=not args.quiet
    )


def _names(stem: str, graphs: bool) -> list[str]:
    """The files of a motion."""
    numbers = [f"{stem}.nc", f"{stem}.csv", f"{stem}.traj", _TABLE, _SUMMARY]
    return [*numbers, *(f"{name}.png" for name in _FIGURES if graphs)]


def _write(driven: Driven, folder: Path, stem: str, graphs: bool) -> tuple[Mapping[str, object], list[Path]]:
    """All files of a motion, or none; its summary and where they are."""
    from trundle.files import replacing_in
    from trundle.motion.commands.record import simulator_table
    from trundle.motion.paths.trajectories import write_trajectory

    run = driven.run()
    names = _names(stem, graphs)
    with replacing_in(folder, names) as drafts:
        (drafts / names[1]).write_text(simulator_table(driven), encoding="utf-8", newline="\n")
        for table in names[2:4]:
            write_trajectory(driven, drafts / table)
        (drafts / _SUMMARY).write_text(json_text(run.summary) + "\n", encoding="utf-8", newline="\n")
        if graphs:
            _draw(driven, run, drafts)
        products.save_record(run, folder, drafts, names[0], names[1:5])
    return run.summary, [folder / name for name in names]


def _draw(driven: Driven, run: Run, folder: Path) -> None:
    from trundle.show.figures.drive_figures import drive_figures
    from trundle.show.figures.style import save_figure

    with no_collection():
        for name, figure in drive_figures(driven, run).items():
            save_figure(figure, folder / f"{name}.png")


def _told(stem: str, summary: Mapping[str, object], limited: bool, out: Output) -> Iterator[str]:
    """What came out, in a few lines."""
    final, stretch = summary["final"], summary["stretch"]
    assert isinstance(final, Mapping)
    assert isinstance(stretch, Mapping)
    yield from out.title(stem, f"{summary['level']}, {summary['profile']}: {summary['duration']:.4g} s")
    # rounding leaves 1e-17 m where 0 is meant
    x, y, theta = (0.0 if abs(final[name]) < 1e-12 else final[name] for name in ("x", "y", "theta"))
    end = f"x = {x:.6g} m, y = {y:.6g} m, theta = {theta:.6g} rad"
    rows = [
        ("ends at", end),
        ("slip", f"at most {summary['slip']:.2g} m/s"),
        ("limits", _limits_told(summary) if limited else "none are declared"),
    ]
    for reason in stretch["why"]:
        why = f"for the {reason['limit']} of {reason['module']}"
        rows += [("slowed", f"command {reason['command']} {reason['factor']:.4g} times, {why}")]
    notes = summary["notes"]
    assert isinstance(notes, (list, tuple))
    yield from out.facts([*rows, *(("note", str(note)) for note in notes)], 10)


def _limits_told(summary: Mapping[str, object]) -> str:
    broken = summary["exceeded"]
    assert isinstance(broken, (list, tuple))
    if not broken:
        return "held"
    modules: dict[str, list[str]] = {}
    for breach in broken:
        modules.setdefault(breach["limit"], []).append(breach["module"])
    return "exceeded: " + "; ".join(f"{limit} of {', '.join(names)}" for limit, names in modules.items())

"""`trundle drive`: what a drive does under commands, at a control level."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypedDict

from trundle.choices import LEVELS, PROFILES
from trundle.cli import products
from trundle.cli.garbage import no_collection
from trundle.cli.output import Output, json_text
from trundle.cli.parsing import add_field, add_force, add_output, add_payload, field_of
from trundle.cli.request import read_request
from trundle.errors import InputError, choose, require_known
from trundle.files import file_name

if TYPE_CHECKING:
    from trundle.motion.commands.drive import Driven
    from trundle.results import Run
    from trundle.robot import Robot
    from trundle.show.figures.field import FieldLike

SUMMARY = "drive a robot by commands: plans of twists and module states, within its limits"
EPILOG = """\
examples:
  trundle drive --file examples/swerve/motions/forward_to_left.yaml --output runs
  trundle drive --file a.yaml --file b.yaml --control-level coordinated --no-graphs
  trundle drive --file a.yaml --robot robot.yaml --control-level body --motion-profile linear
  trundle drive --file examples/swerve/paths/score.path --robot robot.yaml
  trundle drive --fastest 0,0,0 "3,2,90 deg" --keep-out 1.5,1,0.3 --robot robot.yaml
  trundle drive --fastest 0,0,0 1,0, 3,0,0 --zone 1,2,velocity=0.5 --event "raise arm,1"

Levels: module (every module by itself), body (the twist by a profile), limited (the same, slowed for all limits).
The level coordinated is as fast as the limits allow. Paths of PathPlanner (.path) and Choreo (.traj) are followed as
fast as the limits allow, whatever the level. Limits are declared ones, and what motors, battery and floor give by the
description.
--fastest takes poses x,y,θ (m, rad, or with units), the start first. It gives the quickest motion from rest to rest
that a search finds. On the way θ may be left out, and a speed (m/s) may follow: 1,0,,2.
Its --zone and --event count these poses from 0, the start. --zone 0,1,velocity=1,rate="90 deg/s" limits the base's
velocity, acceleration, rate and rate_change from one pose to another one. --event NAME,1.5 comes halfway in time.
The default robot has four modules: trundle new limited_swerve.
Results go to DIR/PLAN/: PLAN.nc (everything), PLAN.csv (the columns of basic-swerve-sim), summary.json and figures.
PLAN.traj and trajectory.csv are for a robot to follow: Choreo's format, and the same as a table.
--output FILE with the ending of a table (.nc, .csv) writes that file of one plan alone."""

# What a zone limits of the base, in which units.
_BASE_LIMITS = {"velocity": "m/s", "acceleration": "m/s^2", "rate": "rad/s", "rate_change": "rad/s^2"}
# The units of a pose, and of the speed that it is passed at.
_POSE = ("m", "m", "rad", "m/s")
_SUMMARY, _TABLE = "summary.json", "trajectory.csv"
# What a plan can't be called, as its table would be written over another.
_TAKEN = {PurePath(name).stem for name in (_SUMMARY, _TABLE)}
# So many of what binds are told, those that do so longest.
_MOST_BINDING = 4
# The last four where the robot tells what they need.
_FIGURES = ("path", "modules", "rotation_center", "slip", "binding", "friction", "motors", "battery")


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    text = "commands (Trundle's motion, basic-swerve-sim's plan) or a path (.path, .traj); as often as needed"
    add("--file", "-f", metavar="FILE", action="append", default=[], help=text)
    text = "the quickest motion from the first of these poses (x,y,θ) through the others to the last"
    add("--fastest", metavar="POSE", nargs="+", help=text)
    text = "where it may not go: a disc x,y,radius, or a polygon x,y;x,y;x,y…; as often as needed"
    add("--keep-out", metavar="SHAPE", action="append", default=[], help=text)
    text = "what the base may do at most between two of the poses: 0,1,velocity=1.5; as often as needed"
    add("--zone", metavar="ZONE", action="append", default=[], help=text)
    text = "what happens at which of the poses: 'raise arm,1'; as often as needed"
    add("--event", metavar="EVENT", action="append", default=[], help=text)
    text = "who drives: a description, PathPlanner's settings.json, Choreo's .chor (default: four modules with limits)"
    add("--robot", metavar="FILE", help=text)
    add_payload(parser)
    add("--control-level", "-c", choices=LEVELS, default="limited", help="(default: limited)")
    add("--motion-profile", "-mp", choices=PROFILES, default="scurve", help="(default: scurve)")
    text = "what plans keep to: motors, battery and floor too, where the robot tells them (default), or declared limits"
    add("--limits", choices=("real", "declared"), default="real", help=text)
    add_field(parser, "the path")
    add("--no-graphs", "-ng", action="store_true", help="write the numbers only")
    add_output(parser, "DIR", "the folder for the results (default: runs), or one file, plan.csv say")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Read and drive everything, then write it, then tell."""
    if products.is_one_file(args.output):
        return _one_file(args, Path(args.output), out)
    parent = Path(args.output) if args.output else products.DEFAULT_PARENT
    planned = _all_planned(args)
    _require_field(args)
    stems = [file_name(name, _TAKEN) for name, _ in planned]
    for place, stem in enumerate(stems):
        if stem in stems[:place]:
            raise InputError(
                f"two files hold a plan called {stem!r}", key="--file", hint="give them names of their own"
            )
        products.claim_all(parent / stem, _names(stem, not args.no_graphs), args.force)
    driven = [drives() for _, drives in planned]
    written = {
        stem: _write(course, parent / stem, stem, args) for stem, course in zip(stems, driven, strict=True)
    }
    out.answer({"plans": [summary for summary, _ in written.values()], "output": str(parent)})
    for course, (stem, (summary, paths)) in zip(driven, written.items(), strict=True):
        out.say(_summary(stem, summary, course, out, unnamed=args.robot is None))
        out.say(f"  wrote {parent / stem}: {', '.join(path.name for path in paths)}")
    return 0


def _one_file(args: Namespace, path: Path, out: Output) -> int:
    """Drive one plan, and write its numbers as one table."""
    if field_of(args) is not None:
        message = f"a field lies under the path's figure, and '{path}' holds numbers alone"
        raise InputError(message, key="--field", hint="name a folder by --output")
    planned = _all_planned(args)
    if len(planned) > 1:
        message = f"{len(planned)} plans don't go into one file, '{path}'"
        raise InputError(message, key="--output", hint="name a folder, or drive them one by one")
    products.claim_run(path, args.force)
    name, drives = planned[0]
    course = drives()
    run = course.run()
    run.save(path)
    out.answer({"plans": [run.summary], "output": str(path)})
    out.say(_summary(name, run.summary, course, out, unnamed=args.robot is None))
    out.say(f"  wrote {path}")
    return 0


def _all_planned(args: Namespace) -> list[tuple[str, Callable[[], Driven]]]:
    """Names of all plans that are asked for, and what drives them."""
    for key, given in (("--keep-out", args.keep_out), ("--zone", args.zone), ("--event", args.event)):
        if given and not args.fastest:
            what = "keeps out of anything" if key == "--keep-out" else "has poses that it counts"
            raise InputError(f"only --fastest {what}", key=key)
    planned = [_planned(file, args) for file in args.file]
    if args.fastest:
        planned.append(("fastest", _search(args)))
    if not planned:
        raise InputError("there is nothing to drive", hint="--file FILE, or --fastest 0,0,0 3,2,1.57")
    return planned


def _driver(args: Namespace) -> Robot | str | None:
    """Who drives, with what it carries."""
    if args.payload is None:
        return args.robot
    if args.robot is None:
        raise InputError(
            "the default robot has limits alone, no masses", key="--payload", hint="name a --robot"
        )
    return read_request(args.robot, payload=args.payload).document.robot


def _search(args: Namespace) -> Callable[[], Driven]:
    """The search for the quickest motion between the poses that are asked for."""
    from trundle.motion.fastest.fastest import fastest

    if len(args.fastest) < 2:
        raise InputError("expected two poses or more, the start first", key="--fastest")
    start, *via, goal = (_pose(pose) for pose in args.fastest)
    return partial(
        fastest,
        _driver(args),
        start,
        goal,
        via=via,
        keep_out=[_shape(shape) for shape in args.keep_out],
        zones=[_zone(zone) for zone in args.zone],
        events=[_event(event) for event in args.event],
        progress=not args.quiet,
        **_within(args),
    )


class _Within(TypedDict, total=False):
    """What motions keep to, where that isn't the default."""

    grip: None


def _within(args: Namespace) -> _Within:
    """What leaves motors, battery and floor out where declared limits are asked for."""
    return {"grip": None} if args.limits == "declared" else {}


def _shape(text: str) -> list[float] | list[list[float]]:
    """A disc or a polygon."""
    if ";" not in text:
        return _numbers(text, "--keep-out", ("m", "m", "m"))
    return [_numbers(corner, "--keep-out", ("m", "m")) for corner in text.split(";")]


def _zone(text: str) -> tuple[int, int, dict[str, float]]:
    """From which pose to which, and the base's limits by name."""
    from trundle.model.arguments import number

    ends, limits = [], {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            ends.append(name)
            continue
        require_known(name, _BASE_LIMITS, f"a zone has no limit {name!r}", key="--zone", hint=choose)
        limits[name] = number(value, "--zone", _BASE_LIMITS[name])
    if len(ends) != 2 or not all(end.isdecimal() for end in ends) or not limits:
        hint = "such as 0,1,velocity=1.5: from the start to the first pose behind it at 1.5 m/s at most"
        raise InputError(f"expected two poses and limits, got {text!r}", key="--zone", hint=hint)
    return int(ends[0]), int(ends[1]), limits


def _event(text: str) -> tuple[str, float]:
    """A name and the pose where it happens."""
    from trundle.model.arguments import number

    name, _, place = text.rpartition(",")
    if not name.strip():
        hint = "such as 'raise arm,1': at the first pose behind the start"
        raise InputError(f"expected a name and a pose, got {text!r}", key="--event", hint=hint)
    return name.strip(), number(place.strip(), "--event", "1")


def _pose(text: str) -> list[float | None]:
    """A pose, with θ None where nothing stands in its place."""
    parts = text.split(",")
    if len(parts) < 3 or parts[2].strip():
        return [*_numbers(text, "--fastest", _POSE)]
    parts[2] = "0"
    x, y, _, *speed = _numbers(",".join(parts), "--fastest", _POSE)
    return [x, y, None, *speed]


def _numbers(text: str, key: str, units: tuple[str, ...]) -> list[float]:
    """Numbers between commas, in SI."""
    from trundle.model.arguments import number

    parts = text.split(",")
    if not 2 <= len(parts) <= len(units):
        hint = "such as 3,2,90 deg" if key == "--fastest" else "such as 1,2,0.5, or 0,0;1,0;1,1"
        raise InputError(f"expected numbers between commas, got {text!r}", key=key, hint=hint)
    return [number(part.strip(), key, unit) for part, unit in zip(parts, units, strict=False)]


def _planned(file: str, args: Namespace) -> tuple[str, Callable[[], Driven]]:
    """The name of a file's plan or path, and what drives it."""
    if file.endswith((".path", ".traj", ".auto")):
        from trundle.motion.paths.following import follow
        from trundle.motion.paths.path_files import read_path

        path = read_path(file)
        return path.name, lambda: follow(path, _driver(args), progress=not args.quiet, **_within(args))
    from trundle.motion.commands.commands import read_commands
    from trundle.motion.commands.drive import drive

    commands = read_commands(file)
    level, profile = args.control_level, args.motion_profile
    return commands.motion.name, lambda: drive(
        commands, _driver(args), level=level, profile=profile, progress=not args.quiet, **_within(args)
    )


def _names(stem: str, graphs: bool) -> list[str]:
    """The files of a motion."""
    numbers = [f"{stem}.nc", f"{stem}.csv", f"{stem}.traj", _TABLE, _SUMMARY]
    return [*numbers, *(f"{name}.png" for name in _FIGURES if graphs)]


def _write(
    driven: Driven, folder: Path, stem: str, args: Namespace
) -> tuple[Mapping[str, object], list[Path]]:
    """All files of a motion, or none; its summary and where they are."""
    from trundle.files import replacing_in
    from trundle.motion.commands.record import simulator_table
    from trundle.motion.paths.trajectories import write_trajectory

    run = driven.run()
    names = _names(stem, not args.no_graphs)
    with replacing_in(folder, names) as drafts:
        (drafts / names[1]).write_text(simulator_table(driven), encoding="utf-8", newline="\n")
        for table in names[2:4]:
            write_trajectory(driven, drafts / table)
        (drafts / _SUMMARY).write_text(json_text(run.summary) + "\n", encoding="utf-8", newline="\n")
        if not args.no_graphs:
            _draw(driven, run, drafts, field_of(args))
        products.save_record(run, folder, drafts, names[0], names[1:5])
        written = [name for name in names if (drafts / name).exists()]
    for name in set(names) - set(written):  # an earlier plan's
        (folder / name).unlink(missing_ok=True)
    return run.summary, [folder / name for name in written]


def _require_field(args: Namespace) -> None:
    """InputError for what is no picture of a field, before anything is planned."""
    if (field := field_of(args)) is not None:
        from trundle.show.figures.field import FieldPicture

        if args.no_graphs:
            raise InputError(
                "a field lies under the path's figure, which --no-graphs leaves out", key="--field"
            )
        FieldPicture.read(field)


def _draw(driven: Driven, run: Run, folder: Path, field: FieldLike | None) -> None:
    from trundle.show.figures.drive_figures import figures_of
    from trundle.show.figures.style import save_figure

    with no_collection():
        for name, figure in figures_of(driven, run, field).items():
            save_figure(figure, folder / f"{name}.png")


def _summary(
    stem: str, summary: Mapping[str, object], driven: Driven, out: Output, *, unnamed: bool
) -> Iterator[str]:
    """What came out, in a few lines."""
    final, stretch = summary["final"], summary["stretch"]
    assert isinstance(final, Mapping)
    assert isinstance(stretch, Mapping)
    yield from out.title(stem, f"{summary['level']}, {summary['profile']}: {summary['duration']:.4g} s")
    # rounding leaves 1e-17 m where 0 is meant
    x, y, theta = (0.0 if abs(final[name]) < 1e-12 else final[name] for name in ("x", "y", "theta"))
    limited = any(limits.declared or limits.steering_range for limits in driven.limits)
    rows = [
        ("ends at", f"x = {x:.6g} m, y = {y:.6g} m, theta = {theta:.6g} rad"),
        ("slip", f"at most {summary['slip']:.2g} m/s"),
        ("limits", _limits_told(summary) if limited else "none are declared"),
        *_forces_told(summary, driven),
    ]
    if unnamed:
        rows.insert(0, ("robot", f"{driven.robot.name}: --robot names another"))
    for reason in stretch["why"]:
        why = f"for the {reason['limit']} of {reason['module']}"
        rows += [("slowed", f"command {reason['command']} {reason['factor']:.4g} times, {why}")]
    notes = summary["notes"]
    assert isinstance(notes, (list, tuple))
    yield from out.facts([*rows, *(("note", str(note)) for note in notes)], 10)


def _forces_told(summary: Mapping[str, object], driven: Driven) -> Iterator[tuple[str, str]]:
    """What it takes of motors, battery and floor, and what binds for how long."""
    use, volts, binding = (summary[key] for key in ("friction_use", "battery", "binding"))
    assert isinstance(binding, Mapping)
    if isinstance(use, float):
        allowed = "" if driven.grip is None else f", {driven.grip:.0%} allowed"
        most = f"at most {use:.1%} of the friction{allowed}{': wheels slide' if use > 1 else ''}"
        yield "floor", most if math.isfinite(use) else "a wheel that carries nothing is to push: wheels slide"
    if isinstance(volts, float):
        used = "; ".join(use.words for use in driven.limit_usage.batteries.values())
        yield "battery", f"{volts:.4g} V at least, {summary['supply_current']:.4g} A at most; {used}"
    if binding:
        longest = [f"{name}, {seconds:.2f} s" for name, seconds in list(binding.items())[:_MOST_BINDING]]
        more = len(binding) - len(longest)
        yield "binding", "; ".join(longest) + (f"; {more} more" if more else "")


def _limits_told(summary: Mapping[str, object]) -> str:
    broken = summary["exceeded"]
    assert isinstance(broken, (list, tuple))
    if not broken:
        return "held"
    modules: dict[str, list[str]] = {}
    for breach in broken:
        modules.setdefault(breach["limit"], []).append(breach["module"])
    return "exceeded: " + "; ".join(f"{limit} of {', '.join(names)}" for limit, names in modules.items())

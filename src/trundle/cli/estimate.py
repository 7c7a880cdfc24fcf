"""`trundle estimate`: where a robot was, by a log of its sensors."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trundle.cli.output import Output, claim
from trundle.cli.parsing import add_description, add_force, add_output, add_pairs, options_named
from trundle.errors import InputError, require_known

SUMMARY = "estimate where a robot was, by a log of its sensors"
EPILOG = """\
examples:
  trundle estimate robot.yaml log.nc
  trundle estimate robot.yaml log.csv --gate 4 --output runs/estimate.nc --figure estimate.png
  trundle estimate robot.yaml log.csv --columns "time=t [ms]" left.angle=enc_l right.angle=enc_r
  trundle estimate robot.yaml drive.mcap --columns "left.angle=/joint_states.position[left_wheel]"
  trundle estimate robot.yaml log.nc --pose y="30 cm" --deviation x="10 cm" y="10 cm" theta="3 deg" --truth run.nc

FILE describes the robot, with its sensors. LOG has the columns time, arrival (s) and SENSOR.what, such as fixes.x: a
row a reading, NaN in columns of other sensors. In Python trundle.measure makes such logs of runs."""

_OPTIONS = {
    "columns": "--columns",
    "noise": "--noise",
    "gate": "--gate",
    "pose": "--pose",
    "covariance": "--deviation",
}
_UNITS = {"x": "m", "y": "m", "theta": "rad"}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add_description(parser)
    parser.add_argument("log", metavar="LOG", help="the readings: .nc, .csv, .mcap or .wpilog")
    pairs = {
        "--noise": "what the estimator counts on, in place of the sensors' own: encoders, gyro, wander, slip",
        "--pose": "where it starts: x, y, theta; default: 0",
        "--deviation": "standard deviations of that; default: 0",
    }
    add_pairs(parser, pairs)
    parser.add_argument(
        "--columns", nargs="+", action="extend", metavar="NAME=COLUMN", default=[],
        help="what LOG calls its columns, parted by commas or blanks: time=t,left.angle=enc_l",
    )  # fmt: skip
    text = "the largest Mahalanobis distance at which a fix is used, of all sensors or by name"
    parser.add_argument("--gate", nargs="+", action="extend", type=_gate, metavar="[NAME=]NUMBER", help=text)
    parser.add_argument("--smooth", action="store_true", help="take what came later, too: for looking back")
    parser.add_argument(
        "--truth", metavar="RUN", help="the run that was measured, for the figure: .nc or .csv"
    )
    add_output(parser, "FILE", "where the estimate goes: .nc or .csv")
    parser.add_argument("--figure", metavar="FILE", help="draw the path with its covariance, and the error")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Read, estimate, write, print."""
    from trundle.cli.products import claim_run, write_figure
    from trundle.cli.request import read_request

    claim(args.figure, args.force)
    if args.output is not None:
        claim_run(Path(args.output), args.force)
    request = read_request(args.file, args.base)
    with request.located(), _of_log(args.log), options_named(_OPTIONS):
        import numpy as np

        import trundle
        from trundle.model.arguments import number
        from trundle.show.summaries.estimate_summary import estimate_record, estimate_text

        found = trundle.estimate(
            request.document,
            args.log,
            columns=_columns(args.columns),
            noise={name: number(value, f"noise.{name}") for name, value in args.noise} or None,
            pose=_by_coordinate(args.pose, "pose"),
            covariance=np.diag(_by_coordinate(args.deviation, "covariance")) ** 2,
            gate=_gates(args.gate),
            smooth=args.smooth,
        )
    files: dict[str, object] = {}
    if args.output is not None:
        files["run"] = str(found.save(args.output))
    truth = None if args.figure is None or args.truth is None else trundle.Run.load(args.truth)
    files |= write_figure(args.figure, lambda: trundle.estimate_figure(found, truth))
    out.report(estimate_record(found), estimate_text(found), files)
    return 0


@contextmanager
def _of_log(file: str) -> Iterator[None]:
    """Errors about the log say its file, not the description's."""
    try:
        yield
    except InputError as error:
        if error.key != "log" or error.file is not None:
            raise
        raise InputError(error.message, file=file, hint=error.hint) from error.__cause__


def _columns(given: list[str]) -> dict[str, str] | None:
    """NAME=COLUMN, parted by commas too."""
    pairs = [pair.partition("=") for text in given for pair in text.split(",") if pair]
    for name, equals, _ in pairs:
        if not equals:
            hint = "write NAME=COLUMN, as in left.angle=enc_l"
            raise InputError(f"{name!r} names no column", key="--columns", hint=hint)
    return {name.strip(): column.strip() for name, _, column in pairs} or None


def _gate(text: str) -> tuple[str, float]:
    """NUMBER of all sensors, or NAME=NUMBER."""
    name, _, value = text.rpartition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise ArgumentTypeError(f"expected NUMBER or NAME=NUMBER, got {text!r}") from None


def _gates(given: list[tuple[str, float]] | None) -> float | dict[str, float] | None:
    if not given:
        return None
    alone = [value for name, value in given if not name]
    if alone and len(given) > 1:
        hint = "one number for all, or NAME=NUMBER for every sensor that has a gate"
        raise InputError(f"{alone[0]:g} is for all sensors, and there is more", key="--gate", hint=hint)
    return alone[0] if alone else dict(given)


def _by_coordinate(given: list[tuple[str, str]], key: str) -> list[float]:
    """x, y, θ in SI, 0 where nobody says; raises InputError for other names."""
    from trundle.model.arguments import number

    for name, _ in given:
        require_known(name, tuple(_UNITS), f"'{name}' is not one of the pose", key=f"{key}.{name}")
    told = {name: number(value, f"{key}.{name}", _UNITS[name]) for name, value in given}
    return [told.get(name, 0.0) for name in _UNITS]

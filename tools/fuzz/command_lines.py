"""Command lines, with options and values of other commands and of none."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from itertools import pairwise
from pathlib import Path
from random import Random
from unittest import mock

from tools.fuzz.calls import without_end
from tools.fuzz.mutations import WORDS, mutate_text, number_text
from trundle.cli import app, failures

EXAMPLES = Path(__file__).parents[2] / "examples"
_FILES = {
    "circle.yaml": "diff_drive/circle.yaml",
    "double.yaml": "pendulum/double.yaml",
    "two.yaml": "kinematic/two_wheels.yaml",
    "arm.urdf": "urdf/arm.urdf",
    "turn.yaml": "swerve/motions/turn_on_the_spot.yaml",
    "score.path": "swerve/paths/score.path",
    "limb.yaml": "limb/limb.yaml",
    "walk.csv": "limb/motion.csv",
}
_RUN = "--no-figures --duration 0.1 --samples 5"

COMMANDS = tuple(
    tuple(line.split())
    for line in (
        "new --list",
        "new pendulum out.yaml --links 2 --length 0.5",
        "new swerve --modules 3 --radius 0.1 --force out.yaml",
        "new differential_drive --json",
        "check circle.yaml",
        "check double.yaml --at link_1.angle=0.5 --json",
        "check two.yaml --frame base --quiet",
        "equations double.yaml --format latex",
        "equations two.yaml --what kinematics --output out.tex",
        f"run circle.yaml {_RUN} --set d=0.2 --input right_motor.voltage=12",
        f"run double.yaml {_RUN} --initial link_1.angle=30deg --method radau --json",
        f"run two.yaml {_RUN} --out results",
        f"run arm.urdf {_RUN} --quiet",
        "run double.yaml --duration 0.1 --samples 5 --figure-format svg --out figures",
        "drive --file turn.yaml --no-graphs --control-level body --motion-profile linear",
        "drive -f score.path --robot two.yaml -ng --output plans --json",
        "inverse limb.yaml --motion walk.csv --smooth butterworth:6 --gaps spline:0.1 --no-figures",
        "inverse limb.yaml -m walk.csv --up y --frame link --mass 70 --json --no-figures --output loads",
        "show double.yaml --page --output page.html",
        "show circle.yaml --figures --only x,theta --figure-format svg",
        "show double.yaml --film --fps 5 --speed 20 --output film.gif",
        "export circle.yaml --to c --what kinematics,odometry --output c_code",
        "export double.yaml --to numpy --name arm --precision single --out py --force",
        "verify --file turn.yaml --output verified",
        "profiles --output profiles --json",
        "schema",
        "--version",
        "run --help",
    )
)
_OPTIONS = sorted(
    {word for line in COMMANDS for word in line if word.startswith("-")}
    | {"--full", "--figure", "-q", "--", "-x", "-"}
)
_NAMES = (
    "link_1.angle",
    "link_2.speed",
    "left_motor.voltage",
    "x",
    "heading",
    "d",
    "left.rate",
    "omega",
    "length_1",
    "gravity",
    "no",
)


def mutate_command(content: object, rng: Random) -> tuple[str, ...]:
    """One word dropped, doubled, changed, or an option with a value thrown in."""
    assert isinstance(content, tuple)
    words = [*content]
    place = rng.randrange(len(words) + 1)
    how = rng.randrange(6) if words else 0
    if how < 2:
        value = rng.choice(
            (
                number_text(rng),
                rng.choice(WORDS),
                f"{rng.choice(_NAMES)}={number_text(rng)}",
                f"{rng.choice(_NAMES)}={rng.choice(WORDS)}",
            )
        )
        words[place:place] = [rng.choice(_OPTIONS), value]
    elif how == 2 and place < len(words):
        del words[place]
    elif how == 3 and place < len(words):
        words[place] = rng.choice((*WORDS, *_FILES, *_OPTIONS))
    elif words:
        place %= len(words)
        words[place] = mutate_text(words[place], rng)
    return tuple(words)


def command(content: object, rng: Random) -> None:
    """Run it as a shell would, in a folder of its own; a status that no user should see is its exception."""
    assert isinstance(content, tuple)
    if without_end({word.lstrip("-"): value for word, value in pairwise(content)}):
        return
    folder = Path("commands")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, place in _FILES.items():
        shutil.copy(EXAMPLES / place, folder / name)
    printed = io.StringIO()
    silent = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO())
    with contextlib.chdir(folder), mock.patch.object(app, "explain", _explain), silent[0], silent[1]:
        status = app.main(content)
    assert status in (0, 1, 2, 3), f"status {status}"
    if "--json" in content and not {"-h", "--help", "--version"} & set(content) and printed.getvalue():
        json.loads(printed.getvalue())


def _explain(error: BaseException, *told: object) -> int:
    """A bug goes on as the exception that it is, and so does a lack of memory."""
    if failures.exit_status(error) == failures.BUG or isinstance(error, MemoryError):
        raise error
    return failures.explain(error, *told)  # pyright: ignore[reportArgumentType]

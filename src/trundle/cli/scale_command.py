"""`trundle scale`: a person with the lengths of somebody who stood still in a static trial."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from trundle.cli import products
from trundle.cli.output import Output, claim
from trundle.cli.parsing import add_force, add_output, measure, options_named, pair
from trundle.errors import InputError
from trundle.show.summaries.lines import table

SUMMARY = "make a person of a static trial's markers: lengths, masses, and where the markers are"
EPILOG = """\
examples:
  trundle scale static.c3d --body-mass "72 kg" --sex female --output runs/person
  trundle inverse runs/person/person.yaml --markers runs/person/markers.yaml --motion walk.c3d \\
      --smooth butterworth:6 --mass "72 kg" --gait

Needed are the markers RASI, RPSI, RKNE, RKNM, RANK, RANM, RHEE, RTOE and the left ones (SACR stands for both PSI).
--marker says which other names they have, and on which segment others are. Writes person.yaml and markers.yaml."""

_FILES = ("person.yaml", "markers.yaml")
# What the library calls what an option gives.
_OPTIONS = {
    "body_mass": "--body-mass",
    "sex": "--sex",
    "height": "--height",
    "hip_centre": "--hip-centre",
    "markers": "--marker",
    "up": "--up",
    "still_within": "--still-within",
}


def configure(parser: ArgumentParser) -> None:
    """The options."""
    add = parser.add_argument
    add("file", metavar="STATIC", help="markers of somebody who stands still: .c3d, .trc, .csv")
    add("--body-mass", metavar="KG", required=True, help="mass of the whole body")
    add("--sex", metavar="SEX", required=True, help="which columns of de Leva's table: female or male")
    add("--height", metavar="LENGTH", help="for what no marker tells (default: as the legs have it)")
    text = "where a hip's centre is: harrington (2007) or bell (1990) (default: harrington)"
    add("--hip-centre", metavar="NAME", default="harrington", help=text)
    text = "what a marker is: a standard one, R.Knee.Lat=RKNE, or on a segment, RTH2=thigh_r (as often as needed)"
    add("--marker", metavar="NAME=WHAT", type=pair, action="append", help=text)
    add("--up", choices=("y", "z"), default="z", help="which way is up in the trial (default: z)")
    text = "how far a marker may be from its mean place (default: 20 mm)"
    add("--still-within", metavar="LENGTH", default="20 mm", help=text)
    add_output(parser, "DIR", "the folder for the two files (default: runs/STATIC)")
    add_force(parser)


def execute(args: Namespace, out: Output) -> int:
    """Read, scale, write, tell."""
    folder = Path(args.output) if args.output else products.DEFAULT_PARENT / Path(args.file).stem
    for name in _FILES:
        claim(str(folder / name), args.force)
    from trundle.limbs.capture.scaling import scale_person

    with options_named(_OPTIONS):
        person = scale_person(
            args.file,
            body_mass=measure(args.body_mass),
            sex=args.sex,
            height=None if args.height is None else measure(args.height),
            hip_centre=args.hip_centre,
            markers=_pairs(args.marker or ()),
            up=args.up,
            still_within=measure(args.still_within),
        )
    person.save(folder)
    told = {"lengths": person.lengths, "markers": dict(person.markers), "left_out": list(person.left_out)}
    out.answer({**told, "output": str(folder), "files": list(_FILES)})
    out.say(_length_table(person.lengths, out))
    if person.left_out:
        out.say(f"  on no segment: {', '.join(person.left_out)} (--marker NAME=SEGMENT)")
    out.say(f"  wrote {folder}: {', '.join(_FILES)}")
    return 0


def _pairs(given: list[tuple[str, str]] | tuple[()]) -> dict[str, str]:
    """What markers are, by their names; InputError where one is said to be two things."""
    pairs: dict[str, str] = {}
    for name, role in given:
        if pairs.setdefault(name, role) != role:
            message = f"{name!r} is said to be {pairs[name]} and {role}"
            raise InputError(message, key="--marker", hint="leave one of them out")
    return pairs


def _length_table(lengths: Mapping[str, float], out: Output) -> Iterator[str]:
    """What was measured: first what is one, then both sides beside each other."""
    sides = [name.removesuffix("_r") for name in lengths if name.endswith("_r")]
    alone = {name: length for name, length in lengths.items() if name[:-2] not in sides}
    yield from out.facts(
        [(_words(name), " ".join(_said(name, length))) for name, length in alone.items()], 14
    )
    rows = [["", "right", "left", ""]]
    for name in sides:
        (right, unit), (left, _) = (_said(name, lengths[f"{name}_{side}"]) for side in "rl")
        rows.append([_words(name), right, left, unit])
    yield from table(rows, right=(1, 2))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _said(name: str, value: float) -> tuple[str, str]:
    """A length in mm, an angle in degrees, to a tenth."""
    turns = name in ("pelvic_tilt", "knee_varus", "toe_out")
    return f"{round(math.degrees(value) if turns else 1e3 * value, 1) + 0.0:.1f}", "deg" if turns else "mm"

"""A gallery of every catalogue robot and example: `python -m tools.gallery FOLDER` (`make gallery`).

It writes a page for each, an index of cards with still pictures, and with --pictures what the README shows (into
docs/pictures). --check opens every page in Chromium, wide, on a phone and in the dark: no error, no request, nothing
over something else, nothing cut; and puts the screenshots on a sheet for each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

import trundle
from tools import chromium
from tools.gallery_pictures import save_still
from tools.readme_pictures import draw_pictures
from trundle.documents import Document, load
from trundle.results import Run
from trundle.show.page import page_of

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# The page that the README shows.
PICTURED = "diff_drive-circle"
# Descriptions without a run of their own, and what moves them.
_MOVED: Mapping[str, Callable[[Path], Run]] = {
    "limb.yaml": lambda path: trundle.joint_loads(
        path, trundle.read_recording(path.with_name("motion.csv"))
    ).to_run(),
    "arm.urdf": lambda path: trundle.run(
        path, duration=5.0, initial={"shoulder.angle": 0.4, "turret.rate": 1.5}
    ),
}
_STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 1rem; }
a { color: inherit; text-decoration: none; border: 1px solid #8886; border-radius: 0.6rem; overflow: hidden; }
a:hover, a:focus-visible { outline: 2px solid #0072b2; }
img { display: block; width: 100%; height: auto; background: white; }
h2 { font-size: 1rem; margin: 0.7rem 0.8rem 0.2rem; overflow-wrap: anywhere; }
a p { font-size: 0.85rem; margin: 0 0.8rem 0.8rem; opacity: 0.8; }
"""


@dataclass(frozen=True)
class Entry:
    """What a page shows: its name, a line about it, and a description or a file of one."""

    name: str
    about: str
    given: Document | Path

    @property
    def page(self) -> str:
        """Its page, which simulates where the description says what moves it."""
        moved = isinstance(self.given, Path) and (
            self.given.parent.name == "motions" or self.given.name in _MOVED
        )
        return page_of(self.run if moved else self.given)

    @cached_property
    def run(self) -> Run:
        """It as it moved."""
        if isinstance(self.given, Document):
            return trundle.run(self.given)
        if self.given.parent.name == "motions":
            return trundle.drive(self.given).run()
        return _MOVED.get(self.given.name, trundle.run)(self.given)


def entries() -> Iterator[Entry]:
    """Every robot of the catalogue, then every example."""
    for name in (*trundle.catalog.names(), *trundle.catalog.names(terrain=True)):
        yield Entry(name, trundle.catalog.summary(name), trundle.catalog.document(name))
    for path in sorted([*EXAMPLES.rglob("*.yaml"), *EXAMPLES.rglob("*.urdf")]):
        yield Entry("-".join(path.relative_to(EXAMPLES).with_suffix("").parts), _about(path), path)


def _about(path: Path) -> str:
    """The comment at a file's head; of one that the catalogue wrote, what the catalogue says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".urdf":
        return next(line for line in lines if line.startswith("<!--")).strip("<!-> ")
    told = [line.lstrip("# ") for line in lines[: next(k for k, line in enumerate(lines) if line[:1] != "#")]]
    if told and not told[0].startswith("From `trundle new"):
        return " ".join(told)
    return trundle.catalog.summary(load(path).robot.name)


def build(folder: Path, found: Sequence[Entry]) -> None:
    """Write every page, its still picture, and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in found:
        print(f"  {entry.name}", flush=True)
        (folder / f"{entry.name}.html").write_text(entry.page, encoding="utf-8")
        save_still(entry.run, folder / f"{entry.name}.png")
    (folder / "index.html").write_text(index(found), encoding="utf-8")


def index(found: Sequence[Entry]) -> str:
    """The index: a card for each page."""
    cards = "\n".join(
        f'<a href="{escape(each.name)}.html"><img src="{escape(each.name)}.png" width="480" height="360" alt="">'
        f"<h2>{escape(each.name.replace('_', ' '))}</h2><p>{escape(each.about.replace('`', ''))}</p></a>"
        for each in found
    )
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>Trundle: gallery</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>Trundle</h1><p>Every robot of the catalogue and every example, as it moves.</p>\n"
        f"<main>\n{cards}\n</main></body></html>\n"
    )


def main() -> int:
    """Build, and check where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tools.gallery", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages go")
    parser.add_argument("--pictures", action="store_true", help="draw the README's pictures anew, too")
    parser.add_argument(
        "--check", action="store_true", help="open every page in Chromium and look for faults"
    )
    args = parser.parse_args()
    if (args.pictures or args.check) and chromium.find() is None:
        parser.error("--pictures and --check need Chromium, which is not installed")
    found = list(entries())
    build(args.folder, found)
    if args.pictures:
        draw_pictures(
            [each.run for each in found[: len(trundle.catalog.names())]],
            args.folder / f"{PICTURED}.html",
            ROOT / "docs/pictures",
        )
    print(f"wrote {args.folder / 'index.html'} and {len(found)} pages")
    if not args.check:
        return 0
    from tools.gallery_check import faults

    told = faults(args.folder, [*(f"{each.name}.html" for each in found), "index.html"])
    print("\n".join(told) or f"no faults; the screenshots are in {args.folder}/sheet-*.png")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())

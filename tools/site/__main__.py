"""Build the site: `python -m tools.site FOLDER` (`make docs`). Nothing is fetched.

Its sources are put together beside FOLDER: the pages of site/, docs/ as they stand, and what is generated: the API from
docstrings, commands from their help, keys from the schemas, the gallery. Sphinx builds them, warnings are errors, and
then every link inside the site is followed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from tools import chromium
from tools.site import commands, compared, gallery_pages, reference, schema_pages, sphinx_run
from tools.site.links import Followed, follow, leave_broken_returns
from tools.site.reachable import make_reachable
from tools.site.repository import ROOT, copy_pages, list_the_rest

# Files of examples that tutorials use; they lie beside them, and readers can download them.
_BESIDE = ("gait/walk.py", "urdf/arm.urdf")


def assemble(source: Path) -> None:
    """Put the sources together in an empty folder, but for the gallery."""
    shutil.copytree(ROOT / "site", source)
    (source / "_extra").mkdir()
    for name in _BESIDE:
        shutil.copy(ROOT / "examples" / name, source / "tutorials")
    copy_pages(source)
    list_the_rest(source)
    compared.fill(source)
    generated = {
        "api": reference.pages(),
        "commands": commands.pages(),
        "files": schema_pages.pages(),
    }
    for folder, pages in generated.items():
        (source / "reference" / folder).mkdir(parents=True, exist_ok=True)
        for name, text in pages:
            (source / "reference" / folder / name).write_text(text, encoding="utf-8")


def build(folder: Path, source: Path, without: frozenset[str]) -> int:
    """Assemble and build; Sphinx's exit status."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    assemble(source)
    found = gallery_pages.all_entries()
    names: dict[str, str] = {}
    if "gallery" not in without:
        _said("the gallery's pages")
        names = gallery_pages.write_live(found, source / "_extra", source / "_static" / "gallery")
    (source / "gallery.md").write_text(gallery_pages.gallery_page(found, names), encoding="utf-8")
    _said("Sphinx")
    return sphinx_run.run(source, folder, tutorials="tutorials" not in without)


def left_out(without: Collection[str], elsewhere: int) -> Iterator[str]:
    """What nobody built or looked at, a line a part, and what does it."""
    if "gallery" in without:
        yield "live pages of the gallery, as --without asks"
    if "tutorials" in without:
        yield "the tutorials' figures and output, as --without asks"
    if without:
        yield "a look at links: parts of the site are missing"
    elif elsewhere:
        yield f"a look at {elsewhere} addresses of other sites, as nothing is fetched"
    test = "`python -m pytest --slow tests/test_site_browser.py`"
    lacking = (
        f"{test} needs Chromium, which is not installed" if chromium.find() is None else f"{test} does that"
    )
    yield f"a look at the pages in a browser: {lacking}"


def _said(what: str) -> None:
    print(f"{time.process_time():6.0f} s of computing: {what}", flush=True)


def main() -> int:
    """Build, and follow the links."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the site goes")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=("gallery", "tutorials"),
        help="leave out live pages, or don't run the tutorials: for those who write pages",
    )
    args = parser.parse_args()
    folder = args.folder.resolve()
    status = build(folder, folder.with_name(f"{folder.name}-source"), frozenset(args.without))
    if status:
        return status
    leave_broken_returns(folder)
    make_reachable(folder)
    faults, elsewhere = Followed([], 0) if args.without else follow(folder)
    print("\n".join(faults), end="\n" if faults else "")
    print("\n".join(f"left out: {each}" for each in left_out(args.without, elsewhere)))
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 1e6
    pages = len(list(folder.rglob("*.html")))
    _said(f"{pages} pages, {size:.1f} MB, {len(faults)} broken links: {args.folder / 'index.html'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""The gallery: a card for every robot of the catalogue and every example, which leads to its live page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from tools.gallery import Entry, entries
from tools.gallery_pictures import save_still
from tools.site.live import share
from trundle.operating_system import available_cores

# Folders below the site: live pages, and the scripts that they share.
LIVE, SCRIPTS = "live", "live/scripts"


def write_live(
    found: Sequence[Entry], extra: Path, static: Path, workers: int | None = None
) -> dict[str, str]:
    """Write the live pages and the still pictures of the gallery's entries, in so many processes (by default one a
    core); which page an entry has, by names.

    Some examples are robots of the catalogue as they stand: these have one page.
    """
    pages: dict[str, str] = {}
    names: dict[str, str] = {}
    (extra / LIVE).mkdir(parents=True, exist_ok=True)
    static.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers or available_cores(), mp_context=get_context("spawn")) as pool:
        texts = pool.map(_made, found, repeat(static))
        for entry, made in zip(found, texts, strict=True):
            text = share(made, extra / SCRIPTS, "scripts/")
            names[entry.name] = pages.setdefault(text, entry.name)
            (extra / LIVE / f"{names[entry.name]}.html").write_text(text, encoding="utf-8")
    return names


def _made(entry: Entry, static: Path) -> str:
    """An entry's page; its still picture is saved."""
    save_still(entry.run, static / f"{entry.name}.png")
    return entry.page


def gallery_page(found: Sequence[Entry], names: Mapping[str, str]) -> str:
    """The gallery's page in MyST: pictures that open live pages, whose names may be other entries'."""
    robots = [entry for entry in found if not isinstance(entry.given, Path)]
    examples = [entry for entry in found if isinstance(entry.given, Path)]
    lines = ["# Gallery", "", "A picture opens its live page: change a number, and it simulates anew.", ""]
    lines += ["## Robots of the catalogue", "", "`trundle new NAME robot.yaml` writes one to start from.", ""]
    lines += [*_cards(robots, names), "", "## Examples", "", *_cards(examples, names)]
    return "\n".join(lines) + "\n"


def _cards(found: Sequence[Entry], names: Mapping[str, str]) -> Iterator[str]:
    """HTML, as the pages that cards lead to are none of Sphinx's."""
    yield '<div class="cards">'
    for entry in found:
        title = entry.name.replace("_", " ")
        page = names.get(entry.name, entry.name)
        about = entry.about.replace("`", "")
        picture = (
            f'<img src="_static/gallery/{entry.name}.png" width="480" height="360" loading="lazy" alt="">'
        )
        yield f'<a class="card" href="{LIVE}/{page}.html">{picture}<b>{title}</b><span>{about}</span></a>'
    yield "</div>"


def all_entries() -> list[Entry]:
    """Every entry, in the gallery's order."""
    return list(entries())

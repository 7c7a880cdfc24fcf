"""Follows every link inside a built site: pages, places on pages, pictures, scripts, styles."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# What Sphinx puts beside a definition in a page of source: the way back to its documentation.
_RETURN = re.compile(r'<a class="viewcode-back" href="([^"]*)">.*?</a>')
_ATTRIBUTES = ("href", "src", "poster", "data-src")


class _Page(HTMLParser):
    """The links of a page and the places on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag leads to, and what leads to it."""
        for name, value in attrs:
            if value and name in _ATTRIBUTES:
                self.links.add(value)
            elif value and (name == "id" or (tag == "a" and name == "name")):
                self.places.add(value)


class Followed(NamedTuple):
    """Links that lead nowhere, in words, a line a link; how many lead to other sites, which nobody asked."""

    broken: list[str]
    elsewhere: int


def follow(folder: Path) -> Followed:
    """Follow every link of the pages in a folder."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    faults: list[str] = []
    elsewhere = set[str]()
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere |= {link} if parts.scheme in ("", "http", "https") else set()
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file():
                faults.append(f"{path.relative_to(folder)}: {link}: there is no such file")
            elif place and target in pages and place not in pages[target].places:
                faults.append(f"{path.relative_to(folder)}: {link}: the page has no such place")
    return Followed(faults, len(elsewhere))


def leave_broken_returns(folder: Path) -> None:
    """Take the ways back out of pages of source that lead nowhere.

    Sphinx finds the documentation of a definition by its name in its file; names that are documented as others' have
    none of their own.
    """
    places: dict[Path, set[str]] = {}
    for path in (folder / "_modules").rglob("*.html"):

        def checked(link: re.Match[str], path: Path = path) -> str:
            target, _, place = link[1].partition("#")
            page = (path.parent / target).resolve()
            if page not in places:
                places[page] = _Page(page.read_text(encoding="utf-8")).places
            return link[0] if place in places[page] else ""

        text = path.read_text(encoding="utf-8")
        path.write_text(_RETURN.sub(checked, text), encoding="utf-8")

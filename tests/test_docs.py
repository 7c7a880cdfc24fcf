"""What the pages name is there: files, rooms, functions of the package, and the places that links lead to."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
HOUSE = [ROOT / "docs" / "architecture.md", *sorted((ROOT / "docs" / "wings").glob("*.md"))]
PATH = r"[\w./-]+(\.(py|js|toml|md)|/)"
PACKAGE = ROOT / "src" / "trundle"
SOURCES = list(PACKAGE.rglob("*.py"))


def ids(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def rooms() -> dict[str, list[str]]:
    """The rooms of the wings' pages, as the table of docs/architecture.md has them."""
    table: dict[str, list[str]] = {}
    for wing, room in re.findall(
        r"^\| (?:\[.*?\]\(wings/(.*?)\) )?\| `([\w/]+)/` \|",
        HOUSE[0].read_text(encoding="utf-8"),
        re.MULTILINE,
    ):
        table.setdefault(wing or list(table)[-1], []).append(room)
    return table


def exists(name: str, page: Path) -> bool:
    """Whether a path leads somewhere from the repository, the package, or a folder of the page's wing."""
    wing = [PACKAGE / room for room in rooms().get(page.name, ())]
    folders = [folder for room in wing for folder in (room.parent, room, *room.rglob("*/"))]
    return any((folder / name).exists() for folder in (ROOT, PACKAGE, *folders))


def test_the_table_has_every_wing_and_room():
    named = {room.partition("/")[0] for wing in rooms().values() for room in wing}
    assert named == {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert set(rooms()) == {page.name for page in HOUSE[1:]}


def code_spans(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("page", HOUSE, ids=ids)
def test_files_and_rooms_are_there(page):
    named = {span for span in code_spans(page) if re.fullmatch(PATH, span)}
    assert not sorted(name for name in named if not exists(name, page))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=ids)
def test_files_of_the_repository_are_there(page):
    """Pages for users name files of theirs, too: only what begins as a path of the repository is looked for."""
    named = set(
        re.findall(r"\b(?:src|tests|tools|benchmarks|examples)/[\w./-]*\w", page.read_text(encoding="utf-8"))
    )
    assert not sorted(name for name in named if not (ROOT / name).exists())


@cache
def words_of_the_sources() -> set[str]:
    return set(
        re.findall(
            r"\w+", "\n".join([*map(str, SOURCES), *(path.read_text(encoding="utf-8") for path in SOURCES)])
        )
    )


@pytest.mark.parametrize("page", HOUSE, ids=ids)
def test_functions_and_modules_are_there(page):
    named = {span.partition("(")[0] for span in code_spans(page) if not re.fullmatch(PATH, span)}
    parts = {part for name in named if re.fullmatch(r"\w+(\.\w+)*", name) for part in name.split(".")}
    assert not sorted(parts - words_of_the_sources())


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            place = page.parent / path if path else page
            assert place.exists(), target
            assert not anchor or anchor in anchors(place), target


def test_the_changelog_has_sections_and_no_line_twice():
    """Merges that keep both sides' lines bring moved lines back: they would stand twice."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    sections = re.findall(r"^### (.*)$", newest, re.MULTILINE)
    assert sections == [
        name for name in ("Added", "Changed", "Deprecated", "Removed", "Fixed") if name in sections
    ]
    assert not re.search(r"^- ", newest.partition("\n### ")[0], re.MULTILINE), (
        "a line above the first section"
    )
    lines = re.findall(r"^- .*$", newest, re.MULTILINE)
    assert not sorted(line for line in set(lines) if lines.count(line) > 1)

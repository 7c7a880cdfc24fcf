"""Pages that stand in the repository, on the site: docs/, CONTRIBUTING.md, CHANGELOG.md, and the files they link to."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
# Pages of the repository that the site has in another place, and those that it has none of.
_ELSEWHERE = {"README.md": "index.md"}
_TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
# Files that pages link to lie here on the site.
_FILES = "repository"


def copy_pages(source: Path, root: Path = ROOT) -> None:
    """Copy the pages with their pictures; links to files of the repository lead to copies of these."""
    shutil.copytree(root / "docs/pictures", source / "docs/pictures")
    pages = [*sorted((root / "docs").rglob("*.md")), *(root / name for name in _TOP)]
    known = {page.relative_to(root).as_posix() for page in pages}
    for page in pages:
        at = page.relative_to(root)
        (source / at).parent.mkdir(parents=True, exist_ok=True)
        text = page.read_text(encoding="utf-8")
        below = questions(page)
        text = _LINK.sub(lambda link, at=at: _led(link, at, known, root, source), text)
        (source / at).write_text(text + _hidden_list(below), encoding="utf-8")


def questions(page: Path) -> list[str]:
    """The pages in the folder of a page's name (docs/swerve.md, docs/swerve/), in the order of its links."""
    names = re.findall(rf"\]\(({page.stem}/\w+)\.md\)", page.read_text(encoding="utf-8"))
    return list(dict.fromkeys(names))


def _hidden_list(names: list[str]) -> str:
    """What puts pages below another one at the side of the site."""
    return "\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""]) if names else ""


def _led(link: re.Match[str], at: Path, known: set[str], root: Path, source: Path) -> str:
    """A link of the page `at`, to where the site has what it leads to."""
    target = os.path.normpath(at.parent / link[2])
    if target in known:
        return link[0]
    if target in _ELSEWHERE:
        return f"[{link[1]}]({os.path.relpath(_ELSEWHERE[target], at.parent)})"
    copy = source / "_extra" / _FILES / target
    copy.parent.mkdir(parents=True, exist_ok=True)
    if (root / target).is_dir():
        shutil.copytree(root / target, copy, dirs_exist_ok=True)
    else:
        shutil.copyfile(root / target, copy)
    # HTML, as Sphinx knows nothing of files that are no page's.
    label = re.sub("`(.*?)`", r"<code>\1</code>", link[1])
    return f'<a href="{os.path.relpath(Path(_FILES) / target, at.parent)}">{label}</a>'


def list_the_rest(source: Path) -> None:
    """Put pages of docs/ that no list of the site has at the end of the how-to pages, so that a new page is there."""
    listed = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "site").rglob("*.md"))
    pages = [f"docs/{page.stem}" for page in sorted((ROOT / "docs").glob("*.md"))]
    rest = [name for name in pages if not re.search(rf"^(\.\./)?{name}$", listed, re.MULTILINE)]
    if rest:
        howto = source / "howto.md"
        lines = ["", "## More", "", "```{toctree}", *rest, "```", ""]
        howto.write_text(howto.read_text(encoding="utf-8") + "\n".join(lines), encoding="utf-8")

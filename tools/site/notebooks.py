"""The tutorials' notebooks, whose readers have no Sphinx: roles become words."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

# :doc:`/docs/export`, :doc:`words </docs/export>` and :download: likewise.
_ROLE = re.compile(r":(?:doc|download):`(?:([^`<]*?)\s*<[^`>]*>|([^`<]*))`")


def put_into_words(made: Path, source: Path) -> None:
    """Let the notebooks in a folder, and in the archives beside them, name other pages of the site by their titles."""
    for notebook in sorted(made.glob("*.ipynb")):
        told = json.loads(notebook.read_text(encoding="utf-8"))
        for cell in told["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = [_ROLE.sub(lambda role: _words(role, source), "".join(cell["source"]))]
        text = f"{json.dumps(told, indent=1, ensure_ascii=False)}\n"
        notebook.write_text(text, encoding="utf-8")
        archive = notebook.with_suffix(".zip")
        if archive.is_file():
            _replace(archive, notebook.name, text)


def _words(role: re.Match[str], source: Path) -> str:
    return role[1] or f"“{_title(source / role[2].lstrip('/'))}”"


def _title(page: Path) -> str:
    """A page's heading: the first line of text, in Markdown behind its mark."""
    text = next(
        each.read_text(encoding="utf-8")
        for each in (page.with_suffix(ending) for ending in (".md", ".rst", ".py"))
        if each.is_file()
    )
    return next(line for line in text.splitlines() if line.strip(' "=#')).lstrip("# ")


def _replace(archive: Path, name: str, text: str) -> None:
    """An archive with another content of one of its files."""
    with zipfile.ZipFile(archive) as old:
        kept = [(each, old.read(each)) for each in old.infolist()]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as new:
        for each, content in kept:
            new.writestr(each, text if Path(each.filename).name == name else content)

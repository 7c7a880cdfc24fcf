"""Live pages on the site. They share their scripts: each would otherwise hold the same megabyte again."""

from __future__ import annotations

import ast
import re
import shutil
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

_SCRIPT = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
# The picture for browsers that run no scripts; the site shows its own beside the link to the page.
_STILL = re.compile(r'<img alt="its path"[^>]*>')
_POLICY = re.compile(r'(?<=http-equiv="Content-Security-Policy" content=")[^"]*')
_SOURCES = re.compile(r"(script-src|style-src) [^;]*")


def share(text: str, folder: Path, prefix: str) -> str:
    """The page's text with its script and style in files of a folder, which `prefix` leads to from the page.

    Browsers load no module from a file beside a page that was opened from a disk. So the script is a plain one, which
    runs when the page has been read, as a module would; a function around it keeps its names to itself.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script, style = _SCRIPT.search(text), _STYLE.search(text)
    if script is None or style is None:
        raise ValueError("the page has no script or no style; trundle.show.page makes pages with both")
    name = _kept(folder, ".js", f'"use strict";\n(() => {{\n{script[1]}\n}})();\n')
    text = text.replace(script[0], f'<script defer src="{prefix}{name}"></script>')
    text = text.replace(style[0], f'<link rel="stylesheet" href="{prefix}{_kept(folder, ".css", style[1])}">')
    return _POLICY.sub(_shared_policy, _STILL.sub("", text), count=1)


def _kept(folder: Path, suffix: str, text: str) -> str:
    """The name of the file that holds the text, one for all pages that have the same."""
    name = f"page-{sha256(text.encode()).hexdigest()[:12]}{suffix}"
    (folder / name).write_text(text, encoding="utf-8")
    return name


def _shared_policy(policy: re.Match[str]) -> str:
    """The page's policy with scripts and styles of the site; file: is a site that was opened from a disk."""
    return escape(_SOURCES.sub(r"\1 'self' file:", unescape(policy[0])))


def shown(block: object, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """sphinx-gallery's hook after a block of a tutorial: figures and live pages that the block made, on its page.

    A figure is the value of the block's last line, as a notebook shows it. A page is a new file NAME.html.
    """
    return _figure(block, block_vars, gallery_conf) + _pages(block_vars, gallery_conf)


def _figure(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    value = block_vars["example_globals"].get("___")
    lines = ast.parse(block.content).body
    if not isinstance(value, Figure) or not lines or not isinstance(lines[-1], ast.Expr):
        return ""
    from sphinx_gallery.scrapers import figure_rst  # tests import this file without it

    path = next(block_vars["image_path_iterator"])
    value.savefig(path)
    return figure_rst([path], gallery_conf["src_dir"])


def _pages(block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    source = Path(gallery_conf["src_dir"])
    said: list[str] = []
    for path in sorted(Path.cwd().glob("*.html")):
        name = f"{Path(block_vars['src_file']).stem}-{path.name}"
        text = share(path.read_text(encoding="utf-8"), source / "_extra/live/scripts", "scripts/")
        (source / "_extra/live" / name).write_text(text, encoding="utf-8")
        path.unlink()
        said += ["", ".. raw:: html", "", f'   <iframe class="live" src="../live/{name}" loading="lazy"']
        said += [
            f'     title="{path.stem}, live"></iframe><p><a href="../live/{name}">Open it alone</a></p>',
            "",
        ]
    return "\n".join(said)


def tidied(gallery_conf: dict[str, Any], _name: str) -> None:
    """sphinx-gallery's hook before and after a tutorial: the files that it wrote go; folders would be galleries."""
    for each in (Path(gallery_conf["src_dir"]) / "tutorials").iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.suffix not in (".py", ".rst", ".urdf"):
            each.unlink()

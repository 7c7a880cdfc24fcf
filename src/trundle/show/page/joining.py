"""A page's parts made one text: modules joined to one script, and a policy that lets nothing else run."""

from __future__ import annotations

import posixpath
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files

_IMPORT = re.compile(r'^import (?:\{[^}]*\}|\* as (?P<whole>\w+)) from "(?P<path>[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
# How a minified module ends: export{a as Name, …}
_EXPORTED = re.compile(r"export\s*\{([^}]*)\};?\s*$")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def asset(name: str) -> str:
    """The text of a file under assets/."""
    return files("trundle.show.page").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


def joined(*modules: str) -> str:
    """The modules and all that they import as one script, in which their top-level names share one scope.

    A module stands after what it imports, without imports and the word export. A module that is imported whole stays by
    itself.
    """
    texts: dict[str, str] = {}

    def add(path: str, whole: str | None = None) -> None:
        if path in texts:
            return
        text = asset(path)
        texts[path] = ""  # so that modules which import one another come to an end
        for match in _IMPORT.finditer(text):
            add(posixpath.normpath(posixpath.join(posixpath.dirname(path), match["path"])), match["whole"])
        del texts[path]  # behind what it imports
        texts[path] = as_script(text) if whole is None else _closed(whole, text)

    for module in modules:
        add(f"{module}.js")
    return "\n".join(texts.values())


def as_script(module: str) -> str:
    """A module's text as part of a script: without imports and the word export."""
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _closed(name: str, text: str) -> str:
    """A module's text as one object of what it exports."""
    exported = _EXPORTED.search(text)
    assert exported is not None, f"{name} ends without a list of exports"
    pairs = (pair.split(" as ") for pair in exported[1].split(","))
    fields = ",".join(f"{pair[-1].strip()}:{pair[0].strip()}" for pair in pairs)
    return f"const {name} = (() => {{\n{text[: exported.start()]}\nreturn {{{fields}}};\n}})();"


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """A Content-Security-Policy under which only these scripts and styles count, and nothing is fetched. Workers come
    from text that our script holds.
    """
    allowed = {"default-src": ["'none'"], "script-src": _hashes(scripts), "style-src": _hashes(styles)}
    allowed |= {"worker-src": ["blob:"], "img-src": ["data:", "blob:"], "base-uri": ["'none'"]}
    allowed |= {"form-action": ["'none'"]}
    return "; ".join(" ".join([name, *sources]) for name, sources in allowed.items())


def _hashes(texts: Sequence[str]) -> list[str]:
    return [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with every {{name}} replaced. What is put in is not searched for further names."""
    return _SLOT.sub(lambda match: slots[match[1]], template)

"""A page's parts made one text: modules joined to one script, and a policy that lets nothing else run."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files

# Modules in an order in which each stands after what it imports.
SHELL = ("data", "player", "view2d", "plots", "page")
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def asset(name: str) -> str:
    """The text of a file under assets/."""
    return files("trundle.page").joinpath("assets", name).read_text(encoding="utf-8")


def joined(modules: Sequence[str]) -> str:
    """The modules as one script: without imports and the word export, so their top-level names share one scope."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", asset(f"{name}.js"))) for name in modules)


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
    """The template with each {{name}} replaced, once: what is put in is not looked at again."""
    return _SLOT.sub(lambda found: slots[found[1]], template)

"""One page of the installed version: every command's help, every public name's docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from html import escape
from types import ModuleType

import trundle
from trundle.files import signature
from trundle.version import __version__

_STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.45; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
pre { overflow-x: auto; padding: 0.8rem; border: 1px solid #8886; border-radius: 0.5rem; font-size: 0.85rem; }
h2, h3 { overflow-wrap: anywhere; }
nav { columns: 14rem; font-size: 0.9rem; }
nav a { display: block; }
"""


def reference(helps: Mapping[str, str]) -> str:
    """The page as HTML, which needs no other file and no network; `helps` are the commands' by name."""
    names = [name for name in sorted(trundle.__all__, key=str.lower) if not name.startswith("__")]
    sections = [
        "<h2>Commands</h2>",
        _links((f"trundle {name}", f"command-{name}") for name in helps),
        "<h2>Python</h2>",
        _links((f"trundle.{name}", f"trundle.{name}") for name in names),
        *(_section(f"trundle {name}", f"command-{name}", told) for name, told in helps.items()),
        *(part for name in names for part in _documented(f"trundle.{name}", getattr(trundle, name))),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = f"Trundle {__version__}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}\n<!-- {signature()} -->\n<title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
        + "\n".join(sections)
        + "\n</body></html>\n"
    )


def _links(targets: Iterator[tuple[str, str]]) -> str:
    """A list of links in columns."""
    links = "".join(f'<a href="#{escape(place)}">{escape(text)}</a>' for text, place in targets)
    return f"<nav>{links}</nav>"


def _documented(path: str, thing: object) -> Iterator[str]:
    """A name with its docstring; of a class its methods, of a room its functions and classes."""
    yield _section(path, path, f"{_signature(path, thing)}{inspect.getdoc(thing) or ''}")
    if not isinstance(thing, ModuleType | type):
        return
    for name, member in inspect.getmembers(
        thing, lambda each: inspect.isfunction(each) or inspect.isclass(each)
    ):
        if (
            not name.startswith("_")
            and (member.__module__ or "").startswith("trundle")
            and inspect.getdoc(member)
        ):
            text = f"{_signature(f'{path}.{name}', member)}{inspect.getdoc(member)}"
            yield _section(f"{path}.{name}", f"{path}.{name}", text)


def _signature(path: str, thing: object) -> str:
    """How a function is called, and an empty line."""
    return f"{path}{inspect.signature(thing)}\n\n" if inspect.isfunction(thing) else ""


def _section(title: str, place: str, text: str) -> str:
    return f'<h3 id="{escape(place)}">{escape(title)}</h3>\n<pre tabindex="0">{escape(text.rstrip())}</pre>'

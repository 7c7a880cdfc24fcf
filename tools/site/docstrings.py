"""Docstrings on their way to pages: names become links where the site has a page, everything else stays as written."""

from __future__ import annotations

import re

_PAGE = re.compile(r"\bdocs/([\w/]+)\.md\b")
# Text in single backquotes, which no role stands before.
_CODE = re.compile(r"(?<![`:\w])`([^`<>]+)`(?![`_])")
# Signs that would begin a markup: bars, the power sign where it stands by itself, a star for any name (*.nc).
_LOOSE = re.compile(r"\||(?<= )\*\*(?=[, ])|(?<![*\\])\*(?=\.)")
_NAME = re.compile(r"trundle(\.\w+)+(\(\))?")


def linked(_app: object, _kind: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Sphinx's hook on a docstring's lines, in place, where numpydoc has been at them."""
    lines[:] = [line if ">>>" in line else restructured(line) for line in lines]


def restructured(line: str) -> str:
    """A line of a docstring as reStructuredText.

    Examples
    --------
    >>> from tools.site.docstrings import restructured
    >>> restructured("|v| as `trundle.roll` has it, by `name`: docs/feedback.md")
    '\\\\|v\\\\| as :py:obj:`trundle.roll` has it, by ``name``: :doc:`/docs/feedback`'
    """
    line = _PAGE.sub(lambda page: f":doc:`/docs/{page[1]}`", line)
    pieces = re.split(r"(``[^`]*``|:[\w:]+:`[^`]*`|`[^`]*`_?)", line)
    pieces[::2] = [_LOOSE.sub(r"\\\g<0>", text) for text in pieces[::2]]
    return "".join(_CODE.sub(lambda code: _role(code[1]), piece) for piece in pieces)


def _role(code: str) -> str:
    return f":py:obj:`{code}`" if _NAME.fullmatch(code) else f"``{code}``"

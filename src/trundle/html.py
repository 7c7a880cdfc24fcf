"""Pieces of HTML for notebooks: every text is escaped, as names come from files; pictures carry their own bytes.

It stands below all rooms: equations in `formulas` and summaries in `show`, which know nothing of each other, use it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable, Sequence
from html import escape

# Rows beyond these many are counted, not shown: about as many as a notebook shows without scrolling, and behind a title
# to unfold as many as a browser still opens at once.
MOST_ROWS = 24
MOST_FOLDED = 400

_LEFT, _RIGHT = ' style="text-align:left"', ' style="text-align:right"'


class Markup(str):
    """Text that is HTML already, of a formula say: it isn't escaped again."""


def block(title: str, about: str, *parts: str) -> str:
    """A title, what it is about in a few words, and the parts below each other; empty parts are left out."""
    head = f"<p><b>{escape(title)}</b>{f' &nbsp;{escape(about)}' if about else ''}</p>"
    return f"<div>{head}{''.join(parts)}</div>"


def side_by_side(*parts: str) -> str:
    """Parts next to each other where there is room."""
    shown = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 2em;align-items:flex-start">{shown}</div>'


def paragraph(text: str) -> str:
    """Text by itself."""
    return f"<p>{escape(text)}</p>"


def folded(title: str, part: str) -> str:
    """A part behind its title, to be unfolded."""
    return f"<details><summary>{escape(title)}</summary>{part}</details>" if part else ""


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Label and text a row."""
    cells = (f"<tr><td{_LEFT}><i>{escape(a)}</i></td><td{_LEFT}>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table><tbody>{''.join(cells)}</tbody></table>"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[int] = (),
    most: int = MOST_ROWS,
) -> str:
    """A table, its columns of `numbers` to the right; of many rows the first, and how many more there are."""
    if not rows:
        return ""
    styles = [_RIGHT if column in numbers else _LEFT for column in range(len(header))]
    head = "".join(f"<th{style}>{escape(text)}</th>" for text, style in zip(header, styles, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{style}>{_cell(text)}</td>" for text, style in zip(row, styles, strict=True))
        + "</tr>"
        for row in rows[:most]
    )
    more = len(rows) - most
    foot = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _cell(text: str) -> str:
    return text if isinstance(text, Markup) else escape(text)


def listing(text: str) -> str:
    """Text of fixed width, line by line."""
    return f'<pre style="line-height:1.25">{escape(text)}</pre>'


def picture(data: bytes | str, alt: str, width: int | None = None) -> str:
    """A PNG's bytes, or an SVG element's text, as an image by itself: no script runs in it."""
    kind, content = ("svg+xml", data.encode("utf-8")) if isinstance(data, str) else ("png", data)
    size = f"width:{width}px;" if width else ""
    source = f"data:image/{kind};base64,{b64encode(content).decode('ascii')}"
    return f'<img alt="{escape(alt)}" style="{size}max-width:100%" src="{source}">'

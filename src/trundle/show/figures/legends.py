"""Legends: names with their lines, placed in inches, in lines of words. One of matplotlib's takes ten times as long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from trundle.show.figures.looks import look

# How high a line of a legend is (inches).
LINE = 0.165
# A handle, the gap behind it, and behind its name (inches).
_HANDLE, _GAP, _NEXT = 0.28, 0.08, 0.2
# How wide letters of DejaVu Sans are, in their size; others are some 0.63. Bold ones are wider.
_LETTERS = dict.fromkeys("ijlI.,:;'|", 0.31) | dict.fromkeys("frt ()[]-/", 0.4) | dict.fromkeys("mMwW=", 0.92)
_BOLD = 1.12


@dataclass(frozen=True)
class Legend:
    """Names with their lines, in lines of words from a place on: (inches from there, line from above, name, place in
    the palette).
    """

    entries: tuple[tuple[float, int, str, int], ...]
    lines: int

    @classmethod
    def of(cls, named: Mapping[str, int], title: str, room: float) -> Legend:
        """Names in lines that are no wider than that, the first beside a title."""
        right, line = (_BOLD * width_of(title, 10.5) + _NEXT if title else 0.0), 0
        entries = []
        for name, place in named.items():
            text = shortened(name, room - _HANDLE - _GAP)
            wide = _HANDLE + _GAP + width_of(text)
            if right > 0 and right + wide > room:
                right, line = 0.0, line + 1
            entries.append((right, line, text, place))
            right += wide + _NEXT
        return cls(tuple(entries), line + 1)

    def draw(self, figure: Figure, left: float, bottom: float) -> None:
        """Draw it, its first line's letters standing so far from the page's left and lower edge."""
        wide, tall = figure.get_size_inches()
        for right, line, text, place in self.entries:
            x, y = left + right, bottom - LINE * line
            ends = [x / wide, (x + _HANDLE) / wide], [(y + 0.04) / tall] * 2
            figure.add_artist(Line2D(*ends, linewidth=1.8, **look(place)._asdict()))
            figure.text((x + _HANDLE + _GAP) / wide, y / tall, text, fontsize=8.5, va="baseline")


def width_of(text: str, size: float = 8.5) -> float:
    """How wide words of so many points are (inches), to within some hundredths."""
    return size / 72 * sum(_LETTERS.get(letter, 0.63) for letter in text)


def shortened(name: str, room: float) -> str:
    """A name that is no wider than that, its end left out where it has to be."""
    if width_of(name) <= room:
        return name
    kept = max(1, next(n for n in range(len(name), -1, -1) if width_of(name[:n] + "m") <= room or not n))
    return f"{name[:kept]}\u2026"

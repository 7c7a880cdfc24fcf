"""Small multiples: a row of panels for each of many like parts, a column for what is shown of them, on shared axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib import rc_context
from matplotlib.figure import Figure

from trundle.arrays import FloatArray
from trundle.show.figures.curves import draw_panel
from trundle.show.figures.legends import LINE, Legend
from trundle.show.figures.panels import Panel
from trundle.show.figures.series import number_across
from trundle.show.figures.style import WIDTH, house_style, page, sizes_of

# In inches, as in `series`: left of a panel its numbers, above it the row's name, how high it is.
_NUMBERS, _RIGHT, _NAME, _HEIGHT = 0.6, 0.15, 0.26, 0.72
# Above all: the figure's title, then the legend, then the columns' labels. Below the last row: numbers and "time".
_HEAD, _BELOW_TITLE, _LABELS, _BELOW = 0.4, 0.42, 0.1, 0.5
# Lines in points: thinner than in wide panels.
_LINE = 1.3


def small_multiples(
    title: str,
    time: FloatArray,
    panels: Sequence[Panel],
    legend: Mapping[str, int],
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """The panels as a figure: a row for those of one title, a column for those of one label.

    `legend` says what looks mean in all of them: places in the palette by their names.
    """
    rows = list(dict.fromkeys(panel.title for panel in panels))
    columns = list(dict.fromkeys(panel.label for panel in panels))
    with house_style(), rc_context({"lines.linewidth": _LINE}):
        wide, _ = sizes_of(figsize, (WIDTH, 2.0))
        above = Legend.of(legend, "", wide - 2 * _RIGHT)
        head = _HEAD + LINE * above.lines + _LABELS
        wide, tall = sizes_of(figsize, (WIDTH, head + len(rows) * (_NAME + _HEIGHT) + _BELOW))
        figure = page(title, tall, figsize)
        above.draw(figure, _RIGHT, tall - _BELOW_TITLE)
        pitch, step = (wide - _RIGHT) / len(columns), (tall - head - _BELOW) / len(rows)
        width, height = max(0.2, pitch - _NUMBERS), max(0.1, step - _NAME)
        for k, label in enumerate(columns):
            left, column = k * pitch + _NUMBERS, [panel for panel in panels if panel.label == label]
            figure.text(left / wide, (tall - head + 0.02) / tall, label, fontsize=9)
            for panel in column:
                row = rows.index(panel.title)
                bottom = tall - head - (row + 1) * step
                box = left / wide, bottom / tall, width / wide, height / tall
                axes = figure.add_axes(box)
                draw_panel(axes, time, replace(panel, title="" if k else panel.title, label=""))
                number_across(axes, height, "time (s)" if panel is column[-1] else "")
        return figure

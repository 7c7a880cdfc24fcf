"""What stands over the picture: name, clock, timeline, scale bar, legend of arrows, and the help."""

from __future__ import annotations

from collections.abc import Sequence

import pygame

from trundle.show.drawing.scene import SEEN
from trundle.show.figures.style import BODY, COLOURS, INK
from trundle.show.window.camera import Camera
from trundle.show.window.display import Pen
from trundle.show.window.ground import nice_length

_SOFT, _EDGE = "#5c6570", "#d5dce4"
_DONE = COLOURS[0]
# Points: the bar below, the timeline's ends in it, the scale bar's least length, margins.
BAR, _LEFT, _RIGHT, _LENGTH, _MARGIN = 44, 56, 250, 80, 16


def timeline(size: tuple[int, int], unit: float) -> pygame.Rect:
    """The rectangle of the timeline in a window of so many pixels."""
    wide, tall = size
    left, right = round(_LEFT * unit), round(wide - _RIGHT * unit)
    return pygame.Rect(left, round(tall - (BAR / 2 + 3) * unit), max(right - left, 1), round(6 * unit))


def draw_bar(screen: pygame.Surface, pen: Pen, share: float, playing: bool, words: tuple[str, str]) -> None:
    """The bar below: whether it plays, how much of it has passed, the clock and the speed."""
    clock, speed = words
    unit, line = pen.unit, timeline(screen.get_size(), pen.unit)
    middle = draw_status(screen, pen, clock, speed, line.right + 20 * unit)
    draw_button(screen, (_LEFT * unit / 2, middle), 8 * unit, playing)
    pygame.draw.rect(screen, _EDGE, line, border_radius=round(3 * unit))
    at = line.left + share * line.width
    done = pygame.Rect(line.left, line.top, round(share * line.width), line.height)
    pygame.draw.rect(screen, _DONE, done, border_radius=round(3 * unit))
    pygame.draw.aacircle(screen, "white", (at, line.centery), 9 * unit)
    pygame.draw.aacircle(screen, _DONE, (at, line.centery), 7 * unit)


def draw_button(screen: pygame.Surface, at: tuple[float, float], half: float, playing: bool) -> None:
    """Two bars while it plays, since pressing stops it; else a triangle."""
    x, y = at
    if playing:
        for left in (x - 0.8 * half, x + 0.25 * half):
            pygame.draw.rect(
                screen, INK, pygame.Rect(round(left), round(y - half), round(0.55 * half), round(2 * half))
            )
        return
    corners = [(x - 0.7 * half, y - half), (x - 0.7 * half, y + half), (x + half, y)]
    pygame.draw.polygon(screen, INK, corners)
    pygame.draw.aalines(screen, INK, True, corners)


def draw_scale(screen: pygame.Surface, pen: Pen, camera: Camera, below: int = BAR) -> None:
    """A length to compare with, in the lower left corner."""
    unit = pen.unit
    length = nice_length(_LENGTH * unit / camera.scale)
    left, y = round(_MARGIN * unit), round(screen.get_height() - (below + _MARGIN) * unit)
    right, tick = left + round(length * camera.scale), round(4 * unit)
    for a, b in (((left, y), (right, y)), ((left, y - tick), (left, y)), ((right, y - tick), (right, y))):
        pygame.draw.line(screen, INK, a, b, max(1, round(1.5 * unit)))
    pen.write(screen, length_words(length), 12, INK, midbottom=((left + right) / 2, y - tick))


def length_words(length: float) -> str:
    """A length in a unit in which its number is short."""
    for least, unit, factor in (
        (1000, "km", 1e-3),
        (1, "m", 1.0),
        (0.01, "cm", 100.0),
        (0.001, "mm", 1000.0),
    ):
        if length >= least * (1 - 1e-9):
            return f"{length * factor:g} {unit}"
    return f"{length:g} m"


def amount(value: float, unit: str, digits: int = 2) -> str:
    """A number with its unit: 12 V is 12 V, and not 12.00."""
    text = f"{value:.{digits}f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'0' if short == '-0' else short} {unit}".rstrip()


def battery_words(name: str, voltage: float, charge: float) -> str:
    """What a battery has between its terminals, and how full it is."""
    return f"{name} {amount(voltage, 'V', 1)}, {charge * 100:.0f} %"


def draw_title(screen: pygame.Surface, pen: Pen, name: str, view: str, notes: Sequence[str]) -> None:
    """The robot's name in the upper left corner; notes, and how to get help, in the upper right one."""
    unit, margin = pen.unit, _MARGIN * pen.unit
    box = pen.write(screen, name, 16, INK, topleft=(margin, 0.8 * margin))
    if view != "z":
        pen.write(screen, f"seen {SEEN[view]}", 12, _SOFT, topleft=(margin, box.bottom + 2 * unit))
    for k, note in enumerate([*notes, "H  help"]):
        pen.write(screen, note, 12, _SOFT, topright=(screen.get_width() - margin, margin + 18 * k * unit))


def draw_help(screen: pygame.Surface, pen: Pen, rows: Sequence[tuple[str, str]]) -> None:
    """Draw the table of keys and what they do, over the middle of the picture."""
    unit = pen.unit
    line, left = 24 * unit, 24 * unit
    keys = max(pen.text(key, 13, INK).get_width() for key, _ in rows)
    words = max(pen.text(what, 13, INK).get_width() for _, what in rows)
    box = pygame.Rect(0, 0, round(keys + words + 3 * left), round(line * len(rows) + 2 * left))
    box.center = screen.get_rect().center
    sheet = pygame.Surface(box.size, pygame.SRCALPHA)
    pygame.draw.rect(sheet, (255, 255, 255, 240), sheet.get_rect(), border_radius=round(10 * unit))
    screen.blit(sheet, box)
    pygame.draw.rect(screen, _EDGE, box, 1, border_radius=round(10 * unit))
    for k, (key, what) in enumerate(rows):
        y = box.top + left + (k + 0.5) * line
        pen.write(screen, key, 13, INK, midleft=(box.left + left, y))
        pen.write(screen, what, 13, _SOFT, midleft=(box.left + 2 * left + keys, y))


def draw_legend(screen: pygame.Surface, pen: Pen, rows: Sequence[tuple[str, str]]) -> None:
    """What the arrows' colours are, in the lower right corner."""
    unit = pen.unit
    for k, (colour, words) in enumerate(reversed(rows)):
        at = screen.get_width() - _MARGIN * unit, screen.get_height() - (BAR + _MARGIN + 18 * k) * unit
        box = pen.write(screen, words, 12, _SOFT, bottomright=at)
        y = box.centery
        pygame.draw.line(screen, colour, (box.left - 28 * unit, y), (box.left - 8 * unit, y), round(3 * unit))


def draw_message(screen: pygame.Surface, pen: Pen, words: str) -> None:
    """A sentence that must be seen, over the top of the picture."""
    surface = pen.text(words, 14, INK)
    box = surface.get_rect(midtop=(screen.get_width() / 2, 50 * pen.unit)).inflate(
        24 * pen.unit, 14 * pen.unit
    )
    pygame.draw.rect(screen, BODY, box, border_radius=round(6 * pen.unit))
    screen.blit(surface, surface.get_rect(center=box.center))


def draw_status(screen: pygame.Surface, pen: Pen, clock: str, other: str, left: float | None = None) -> float:
    """A bar below with the clock, in its left corner or from a pixel on, and something else; its middle."""
    wide, tall = screen.get_size()
    margin, top = _MARGIN * pen.unit, round(tall - BAR * pen.unit)
    middle = (top + tall) / 2
    pygame.draw.rect(screen, "white", (0, top, wide, tall - top))
    pygame.draw.line(screen, _EDGE, (0, top), (wide, top))
    pen.write(screen, clock, 14, INK, midleft=(margin if left is None else left, middle))
    pen.write(screen, other, 14, _SOFT, midright=(wide - margin, middle))
    return middle


def draw_inputs(screen: pygame.Surface, pen: Pen, rows: Sequence[tuple[str, str, str]]) -> None:
    """Each input's keys, name and value, below the title; as many as there is room for."""
    unit, top, line = pen.unit, 56 * pen.unit, 18 * pen.unit
    room = int((screen.get_height() - (BAR + 70) * unit - top) / line)
    names = max((pen.text(name, 12, _SOFT).get_width() for _, name, _ in rows), default=0)
    keys = max((pen.text(key, 12, INK).get_width() + 10 * unit for key, *_ in rows if key), default=0)
    for k, (key, name, value) in enumerate(rows[: max(room, 0)]):
        y, left = top + k * line, _MARGIN * unit
        pen.write(screen, key, 12, INK, topleft=(left, y))
        pen.write(screen, name, 12, _SOFT, topleft=(left + keys, y))
        pen.write(screen, value, 12, INK, topright=(left + keys + names + 90 * unit, y))

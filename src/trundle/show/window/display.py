"""A window opened and closed, and the loop that keeps what it shows alive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import matplotlib
import pygame

from trundle.errors import InputError
from trundle.show.summaries.lines import harmless

# Frames a second, at most: what usual screens show.
FRAMES = 60
# A screen with so many rows shows everything in its own size; one with twice as many, twice as large.
_ROWS = 1080
_FONT = os.path.join(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
_CLOSING = (pygame.K_ESCAPE, pygame.K_q)


class Stage(Protocol):
    """What a window can show: something that draws itself, takes events, and goes on as the clock does."""

    @property
    def over(self) -> bool:
        """Whether the window closes by itself."""
        ...

    def handle(self, event: pygame.event.Event) -> None:
        """Answer a key, the mouse, or another size."""
        ...

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def draw(self, screen: pygame.Surface) -> None:
        """Draw a frame."""
        ...


@contextmanager
def opened(title: str, size: tuple[int, int]) -> Iterator[pygame.Surface]:
    """A window of a size as on a plain screen; pygame is shut down whatever happens."""
    if len(size) != 2 or min(size) < 1:
        raise InputError(f"expected a width and a height in pixels, got {size!r}", key="size")
    # Windows: pixels are the screen's own; Linux and macOS have no such setting.
    os.environ.setdefault("SDL_WINDOWS_DPI_AWARENESS", "permonitorv2")
    try:
        pygame.display.init()
        pygame.font.init()
        unit = unit_of_screen()
        screen = pygame.display.set_mode([round(side * unit) for side in size], pygame.RESIZABLE)
        pygame.display.set_caption(harmless(title))
        pygame.key.set_repeat(300, 30)
        yield screen
    except pygame.error as error:
        if pygame.display.get_surface() is not None:
            raise
        raise InputError(
            f"no window can be opened: {error}",
            hint="run.animate('robot.html') makes a page and run.animate('robot.gif') a film, on machines without a "
            "screen, too",
        ) from None
    finally:
        pygame.quit()


def unit_of_screen() -> float:
    """How many pixels a point of text or of a line takes, in quarters: 1 on a plain screen, 2 on one twice as fine."""
    rows = max((tall for _, tall in pygame.display.get_desktop_sizes()), default=_ROWS)
    return max(1.0, round(4 * rows / _ROWS) / 4)


def keep_open(stage: Stage, frames: int = FRAMES) -> None:
    """Show it until somebody closes the window, or it is over; `frames` a second at most, 0 for as many as can be."""
    clock = pygame.time.Clock()
    while not stage.over:
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key in _CLOSING):
                return
            stage.handle(event)
        stage.advance(clock.tick(frames) / 1000)
        screen = pygame.display.get_surface()
        assert screen is not None
        stage.draw(screen)
        pygame.display.flip()


class Pen:
    """Text on a surface; what was written before is kept, so that a frame renders only what changed."""

    def __init__(self, unit: float) -> None:
        self.unit = unit
        self.fonts = dict[int, pygame.font.Font]()
        self.kept = dict[tuple[str, int, str], pygame.Surface]()

    def text(self, words: str, points: int, colour: str) -> pygame.Surface:
        """Words in a size of the house's letters."""
        key = words, points, colour
        if key not in self.kept:
            if len(self.kept) > 500:
                self.kept.clear()
            if points not in self.fonts:
                self.fonts[points] = pygame.font.Font(_FONT, round(points * self.unit))
            self.kept[key] = self.fonts[points].render(words, True, colour)
        return self.kept[key]

    def write(
        self, screen: pygame.Surface, words: str, points: int, colour: str, **at: tuple[float, float]
    ) -> pygame.Rect:
        """Words at a place, named as a rectangle's corners and sides are: topleft, midright, …; where they are."""
        surface = self.text(words, points, colour)
        return screen.blit(surface, surface.get_rect(**at))

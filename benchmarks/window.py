"""Frames a second of a run played in a window, and whether they get fewer as its trail gets longer.

A run of 10,000 samples in a window of 1200 by 800 pixels of SDL's dummy driver, every frame a sample; seconds are the
process's own, since others share the machine. The peer is the way of the tutorial (seed 003): it turns a picture and
draws all of its trail anew in each frame, and nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

# Before pygame is imported: no screen is needed, and its greeting would stand amid JSON.
os.environ |= {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}

import numpy as np
import pygame

import trundle
from benchmarks.measure import Row
from trundle.arrays import FloatArray
from trundle.show.window import display
from trundle.show.window.player import Player, played

SIZE = (1200, 800)
SAMPLES = 10_000
TARGET = 200


def window(quick: bool) -> Iterator[Row]:
    """A row for each robot, and one for the tutorial's way; `quick` takes one robot."""
    for name, follow in (("differential_drive", False), ("swerve", True))[: 1 if quick else None]:
        took = frames(run_of(name), follow)
        rate = 1 / float(took.mean())
        what = f"window: frames a second, {name}{', followed' * follow}"
        yield Row(what, f"{rate:.0f}", target=f"≥ {TARGET}", met=rate >= TARGET, note=_growth(took))
    took = tutorial(run_of("differential_drive"))
    yield Row("window: the tutorial's way", f"{1 / took.mean():.0f}", note=_growth(took))


def _growth(took: FloatArray) -> str:
    tenth = len(took) // 10
    first, last = (1e3 * float(np.median(part)) for part in (took[:tenth], took[-tenth:]))
    return f"{first:.2f} ms a frame in the first tenth, {last:.2f} in the last"


def run_of(name: str) -> trundle.Run:
    """A long drive of a robot of the catalogue, its wheels rolling: a circle whose radius changes."""
    twist = {"v_x": 1.0, "omega": lambda t: 0.4 + 0.3 * np.sin(0.21 * t)}
    return trundle.roll(trundle.catalog.robot(name), 100.0, twist, samples=SAMPLES, progress=False)


def frames(run: trundle.Run, follow: bool) -> FloatArray:
    """How long each frame took (s)."""
    with display.opened("benchmark", SIZE) as screen:
        player = Player(run.name, played(run), screen.get_size(), 1.0)
        if follow:
            player.sight.follow()
        step, found = run.duration / (SAMPLES - 1), []
        for _ in range(SAMPLES - 1):
            began = time.process_time()
            pygame.event.get()
            player.advance(step)
            player.draw(screen)
            pygame.display.flip()
            found.append(time.process_time() - began)
    return np.array(found)


def tutorial(run: trundle.Run) -> FloatArray:
    """The same with all of the trail drawn in each frame, as the published script does; without its delays."""
    with display.opened("benchmark", SIZE) as screen:
        image = pygame.Surface((150, 150), pygame.SRCALPHA)
        places = np.stack([600 + 40 * run["x"], 400 + 40 * run["y"]], axis=1).tolist()
        found = []
        for k in range(2, SAMPLES, 20):
            began = time.process_time()
            pygame.event.get()
            screen.fill((0, 0, 0))
            turned = pygame.transform.rotate(image, float(np.degrees(run["theta"][k])))
            screen.blit(turned, turned.get_rect(center=places[k]))
            pygame.draw.lines(screen, (255, 255, 153), False, places[:k], 6)
            pygame.display.flip()
            found.append(time.process_time() - began)
    return np.array(found)

"""A run played: which moment is shown, from where, and what keys and mouse do about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pygame

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.results import Run
from trundle.show.drawing.scene import Scene, project
from trundle.show.figures.arrows import FORCE, MOMENT, with_wrenches
from trundle.show.figures.path import Track, track_of, unseen
from trundle.show.window.camera import Camera, fitted
from trundle.show.window.display import Pen, keep_open, opened, unit_of_screen
from trundle.show.window.ground import TrailGround
from trundle.show.window.overlay import (
    BAR,
    battery_words,
    draw_bar,
    draw_help,
    draw_legend,
    draw_scale,
    draw_title,
    timeline,
)
from trundle.show.window.painting import paint, paint_arrows, paint_ring
from trundle.show.window.picture import Measures, RobotPicture, extent_of, picture_of
from trundle.show.window.sight import WindowView

# Faster and slower at one key.
_SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# At so many moments of a run the robot's extent is measured.
_LOOKED = 400

HELP = (
    ("Space", "play, pause"),
    ("← →", "a sample back, on"),
    ("↑ ↓", "faster, slower"),
    ("R", "from the start"),
    ("wheel, + −", "closer, further"),
    ("drag", "move the picture"),
    ("F", "follow the robot, or not"),
    ("0", "see everything"),
    ("A", "arrows of forces and moments, or none"),
    ("timeline", "click, or drag, to a time"),
    ("H", "this help, or not"),
    ("Esc, Q", "close"),
)


def played(run: Run) -> tuple[Track, Scene]:
    """The track of a run, and its scene with the forces on the robot; InputError where nothing is known to move."""
    track = track_of(run)
    if track is None:
        raise InputError(
            f"there is nothing to play: {unseen(run)}",
            key="run",
            hint="a run knows its robot (.nc, not .csv), or holds x, y and theta",
        )
    return track, with_wrenches(track.scene, run)


class Player:
    """A run in a window: the moment `time` is shown, and advances while the run plays."""

    def __init__(
        self,
        name: str,
        shown: tuple[Track, Scene],
        size: tuple[int, int],
        unit: float,
        picture: RobotPicture | None = None,
        batteries: Mapping[str, tuple[FloatArray, FloatArray]] | None = None,
    ) -> None:
        """Set up a run to be played from its first sample, at its own pace, with everything in sight.

        `shown` is what `played` gives, `size` the window's in pixels, and `unit` how many pixels a point is on this
        screen. With a `picture` the robot is drawn by it where the camera allows that. `batteries` have their voltage
        (V) and charge over time by their names.
        """
        self.track, self.scene = shown
        self.name, self.picture, self.pen = name, picture, Pen(unit)
        self.batteries, self.speeds = batteries or {}, speeds(self.track)
        self.ground = TrailGround(grid=bool(self.track.view), width=unit)
        # A long run is measured at some of its samples only: its extent hardly changes from one to the next.
        moments = np.unique(np.linspace(0, self.track.time.size - 1, _LOOKED).astype(int)).tolist()
        self.around = np.concatenate(
            [self.track.points, extent_of(self.scene.at(moments), self.track.view, picture)]
        )
        everything = fitted(self.around, size, round(BAR * unit))
        self.sight = WindowView(everything, everything, self.scene.size)
        self.time, self.speed, self.playing = float(self.track.time[0]), 1.0, True
        self.arrows, self.helps, self.seeks, self.closes = True, False, False, False
        self.keys: dict[int, Callable[[], None]] = {
            pygame.K_SPACE: self.toggle,
            pygame.K_LEFT: lambda: self.step(-1),
            pygame.K_RIGHT: lambda: self.step(1),
            pygame.K_UP: lambda: self.faster(1),
            pygame.K_DOWN: lambda: self.faster(-1),
            pygame.K_r: self.restart,
            pygame.K_a: lambda: setattr(self, "arrows", not self.arrows),
            **dict.fromkeys((pygame.K_h, pygame.K_F1), lambda: setattr(self, "helps", not self.helps)),
        }

    @property
    def over(self) -> bool:
        """Whether the window is to close: the run has come to its end, and was asked to close there."""
        return self.closes and self.time >= self.track.time[-1]

    @property
    def position(self) -> float:
        """The sample that is shown: 1.5 is halfway between the second and the third.
        Samples that share one time, as at an impact, count as their last.
        """
        time = self.track.time
        after = min(int(np.searchsorted(time, self.time, side="right")), time.size - 1)
        span = time[after] - time[after - 1] if after else 0.0
        return float(after - 1 + min((self.time - time[after - 1]) / span, 1.0)) if span > 0 else float(after)

    def toggle(self) -> None:
        """Play or pause. A run that has ended starts again."""
        if not self.playing and self.time >= self.track.time[-1]:
            self.time = float(self.track.time[0])
        self.playing = not self.playing

    def step(self, samples: int) -> None:
        """Go so many samples on or, if negative, back, and pause there."""
        at = int(np.floor(self.position) if samples > 0 else np.ceil(self.position)) + samples
        self.time = float(self.track.time[min(max(at, 0), self.track.time.size - 1)])
        self.playing = False

    def faster(self, steps: int) -> None:
        """Take a speed so many places up or down the list. Speeds that aren't in it count as their nearest by ratio."""
        nearest = int(np.argmin(np.abs(np.log(np.array(_SPEEDS) / self.speed))))
        self.speed = _SPEEDS[min(max(nearest + steps, 0), len(_SPEEDS) - 1)]

    def restart(self) -> None:
        """Play from the start."""
        self.time, self.playing = float(self.track.time[0]), True

    def seek(self, pixel: float) -> None:
        """Go to the time at a horizontal place on the timeline, in pixels."""
        line, time = timeline(self.sight.camera.size, self.pen.unit), self.track.time
        share = min(max((pixel - line.left) / line.width, 0.0), 1.0)
        self.time = float(time[0] + share * (time[-1] - time[0]))

    def handle(self, event: pygame.event.Event) -> None:
        """React to a key, the mouse or another size of the window. The camera gets what isn't the player's."""
        if event.type == pygame.VIDEORESIZE:
            size = max(event.w, 1), max(event.h, 1)
            self.sight.resized(fitted(self.around, size, round(BAR * self.pen.unit)))
        elif event.type == pygame.KEYDOWN and event.key in self.keys:
            self.keys[event.key]()
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self._on_bar(event.pos):
            if event.pos[0] < timeline(self.sight.camera.size, self.pen.unit).left - 9 * self.pen.unit:
                self.toggle()
            else:
                self.seeks = True
                self.seek(event.pos[0])
        elif event.type == pygame.MOUSEMOTION and self.seeks:
            self.seek(event.pos[0])
        else:
            if event.type == pygame.MOUSEBUTTONUP:
                self.seeks = False
            self.sight.handle(event)

    def _on_bar(self, pixel: tuple[int, int]) -> bool:
        return pixel[1] >= self.sight.camera.size[1] - BAR * self.pen.unit

    def advance(self, seconds: float) -> None:
        """Let so many seconds pass. Playing stops at the run's end, and waits while the timeline is dragged."""
        if self.playing and not self.seeks:
            self.time = min(self.time + self.speed * seconds, float(self.track.time[-1]))
            self.playing = self.time < self.track.time[-1]

    def draw(self, screen: pygame.Surface) -> None:
        """Draw the moment that is shown: ground and trail first, then the robot, arrows, and words on top."""
        position, view = self.position, self.track.view
        scene = self.scene.between(position)
        place = project(scene.place(scene.traced), view)
        camera = self.sight.at(place[0])
        self.ground.draw(screen, camera, self.track.points[: int(position) + 1])
        tail = camera.on_screen(np.concatenate([self.track.points[int(position)][None], place]))
        self.ground.draw_tail(screen, tail)
        if self.picture is not None and self.picture.fits(camera):
            self.picture.paint(screen, scene, camera)
        else:
            paint(screen, scene, view, camera, self.pen.unit)
        if self.sight.loses(self.pen.unit):
            paint_ring(screen, camera.on_screen(place[0]), self.pen.unit)
        if self.arrows:
            paint_arrows(screen, scene, view, camera, self.pen.unit)
        self._draw_overlay(screen, camera)

    def _draw_overlay(self, screen: pygame.Surface, camera: Camera) -> None:
        """What stands over the picture: title, scale, legend of arrows, timeline, and help where it is asked for."""
        first, last = float(self.track.time[0]), float(self.track.time[-1])
        share = (self.time - first) / (last - first) if last > first else 1.0
        notes = [*self._readings(), *["following"] * self.sight.follows]
        draw_title(screen, self.pen, self.name, self.track.view, notes)
        draw_scale(screen, self.pen, camera)
        kinds = {arrow.turns for arrow in self.scene.arrows} if self.arrows else set()
        named = ((False, FORCE, "force"), (True, MOMENT, "moment"))
        draw_legend(screen, self.pen, [(colour, words) for turns, colour, words in named if turns in kinds])
        clock = f"{self.time:.2f} / {last:.2f} s"
        draw_bar(screen, self.pen, share, self.playing, (clock, f"× {self.speed:g}"))
        if self.helps:
            draw_help(screen, self.pen, HELP)

    def _readings(self) -> Iterator[str]:
        """How fast what drives goes now, and what its batteries have."""
        now = partial(np.interp, self.time, self.track.time)
        if self.track.drives:
            yield f"{now(self.speeds):.2f} m/s"
        for name, (voltage, charge) in self.batteries.items():
            yield battery_words(name, *(float(now(of[: self.track.time.size])) for of in (voltage, charge)))


def speeds(track: Track) -> FloatArray:
    """How fast the traced point goes, (T,) in m/s, by second-order differences; samples of one time share theirs."""
    time, first = np.unique(track.time, return_index=True)
    if time.size < 2:
        return np.zeros(track.time.size)
    places = track.scene.place(track.scene.traced)[first]
    order = 2 if time.size > 2 else 1
    return np.interp(
        track.time, time, np.linalg.norm(np.gradient(places, time, axis=0, edge_order=order), axis=1)
    )


def batteries_of(run: Run) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The voltages (V) and charges of a run's batteries over time."""
    owners = {name: part for name, part in run.parts.items() if {"voltage", "charge"} <= part.keys()}
    return {name: (run[part["voltage"]], run[part["charge"]]) for name, part in owners.items()}


def watch(
    run: Run,
    *,
    image: str | os.PathLike[str] | None,
    image_size: Measures | None,
    speed: float,
    follow: bool,
    close: bool,
    size: tuple[int, int],
) -> None:
    """Show a run in a window; the arguments are those of `trundle.window.play`."""
    if not (np.isfinite(speed) and speed > 0):
        raise InputError(f"expected a positive number, got {speed}", key="speed")
    shown = track, scene = played(run)
    with opened(f"{run.name} — Trundle", size) as screen:
        picture = None if image is None else picture_of(image, image_size, scene, track.view)
        player = Player(run.name, shown, screen.get_size(), unit_of_screen(), picture, batteries_of(run))
        player.speed, player.closes = float(speed), close
        if follow:
            player.sight.follow()
        keep_open(player)

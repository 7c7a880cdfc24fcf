"""From where a picture is seen, and what keys and mouse do about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pygame

from trundle.arrays import FloatArray
from trundle.show.window.camera import Camera

# Closer at one key; a robot that is followed fills at least so much of the window.
_CLOSER, _FOLLOWED = 1.2, 0.12
# A robot smaller than so many points is lost to the eye.
_TINY = 24


@dataclass
class WindowView:
    """How the plane is seen: the camera, the camera that sees everything, and the robot's size (m).

    It knows, too, whether it follows the robot and whether the mouse drags it.
    """

    camera: Camera
    everything: Camera
    robot: float
    follows: bool = False
    drags: bool = False

    def follow(self) -> None:
        """Stay with the robot, near enough to see it."""
        self.follows = True
        factor = _FOLLOWED * min(self.camera.size) / (self.robot * self.camera.scale)
        self.camera = self.camera.zoomed(max(factor, 1.0), (0, 0))

    def resized(self, everything: Camera) -> None:
        """The same in a window of another size."""
        factor = everything.scale / self.everything.scale
        self.camera = replace(
            self.camera, size=everything.size, scale=self.camera.scale * factor, fitted=everything.scale
        )
        if not self.follows and self.camera.centre == self.everything.centre:
            self.camera = replace(self.camera, centre=everything.centre)
        self.everything = everything

    def handle(self, event: pygame.event.Event) -> None:
        """Zoom, pan, follow."""
        size = self.camera.size
        middle = size[0] / 2, size[1] / 2
        if event.type == pygame.MOUSEWHEEL:
            about = middle if self.follows else pygame.mouse.get_pos()
            self.camera = self.camera.zoomed(_CLOSER**event.y, about)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.drags = True
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self.drags = False
        elif event.type == pygame.MOUSEMOTION and self.drags:
            self.camera, self.follows = self.camera.panned(*event.rel), False
        elif event.type == pygame.KEYDOWN:
            if event.key in (pygame.K_PLUS, pygame.K_KP_PLUS, pygame.K_EQUALS):
                self.camera = self.camera.zoomed(_CLOSER, middle)
            elif event.key in (pygame.K_MINUS, pygame.K_KP_MINUS):
                self.camera = self.camera.zoomed(1 / _CLOSER, middle)
            elif event.key in (pygame.K_0, pygame.K_KP0, pygame.K_HOME):
                self.camera, self.follows = self.everything, False
            elif event.key == pygame.K_f and self.follows:
                self.follows = False
            elif event.key == pygame.K_f:
                self.follow()

    def at(self, place: FloatArray) -> Camera:
        """The camera, on the robot where it follows."""
        if self.follows:
            self.camera = replace(self.camera, centre=(float(place[0]), float(place[1])))
        return self.camera

    def loses(self, unit: float) -> bool:
        """Whether the robot is too small to be seen; `unit` is how many pixels a point is."""
        return self.robot * self.camera.scale < _TINY * unit

"""The user's own picture of a robot, in place of its drawing."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

import numpy as np
import pygame

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.files import path_of
from trundle.model.arguments import number
from trundle.show.drawing.scene import Scene, project
from trundle.show.window.camera import Camera

Measures = float | str | tuple[float | str, float | str]
# Pixels of the longest side of a picture that is turned with its details, and that is turned at all: more takes long.
_SHARP, _LARGEST = 1200, 4000


@dataclass
class RobotPicture:
    """The user's own picture of the robot seen from above, its right side the robot's front; how long and wide it is
    (m). What was scaled last is kept.
    """

    image: pygame.Surface
    length: float
    width: float
    kept: dict[float, pygame.Surface] = field(default_factory=dict)

    def fits(self, camera: Camera) -> bool:
        """Whether it is small enough on the screen to be turned in time."""
        return max(self.length, self.width) * camera.scale <= _LARGEST

    def paint(self, screen: pygame.Surface, scene: Scene, camera: Camera) -> None:
        """The picture, turned and scaled, at the base."""
        (c, s), place = scene.poses[0, 0, :2, 0], project(scene.poses[:, 0, :, 3], "z")[0]
        longest = max(self.length, self.width) * camera.scale
        scale = camera.scale * min(1.0, _SHARP / longest)
        if scale not in self.kept:
            size = max(1, round(self.length * scale)), max(1, round(self.width * scale))
            self.kept = {scale: pygame.transform.smoothscale(self.image, size)}
        turned = pygame.transform.rotozoom(
            self.kept[scale], math.degrees(math.atan2(s, c)), camera.scale / scale
        )
        screen.blit(turned, turned.get_rect(center=camera.on_screen(place).round().astype(int).tolist()))


def picture_of(image: str | os.PathLike[str], size: Measures | None, scene: Scene, view: str) -> RobotPicture:
    """The picture in a file, as long and wide as given, or as the robot is long; InputError where that can't be."""
    path = path_of(image, "image")
    if view != "z":
        raise InputError(
            "a picture from above is for robots on the ground, this one is seen otherwise", key="image"
        )
    try:
        if not path.is_file():  # a pipe or a device could be endless
            raise OSError("there is no ordinary file")
        pixels = pygame.image.load(path).convert_alpha()
    except (OSError, pygame.error) as error:
        raise InputError(
            f"{str(path)!r} can't be read as a picture: {error}",
            key="image",
            hint="PNG, JPEG, BMP, GIF or WebP",
        ) from None
    if size is None:
        base = scene.poses[0, 0]
        length = float(np.ptp((scene.extent[0] - base[:, 3]) @ base[:, 0])) or scene.size
    else:
        length = _measure(size[0] if isinstance(size, tuple) else size)
    wide, tall = pixels.get_size()
    width = _measure(size[1]) if isinstance(size, tuple) else length * tall / wide
    return RobotPicture(pixels, length, width)


def _measure(given: float | str) -> float:
    length = number(given, "image_size", "m")
    if length <= 0:
        raise InputError(f"expected a positive length, got {given!r}", key="image_size")
    return length


def extent_of(scene: Scene, view: str, picture: RobotPicture | None) -> FloatArray:
    """Points (n, 2) around all that is drawn of the robot."""
    around = project(scene.extent, view).reshape(-1, 2)
    if picture is None:
        return around
    half = math.hypot(picture.length, picture.width) / 2
    base = project(scene.poses[:, 0, :, 3], view)
    return np.concatenate([around, base - half, base + half])

"""GIF films by Pillow, which writes of a picture only what changed: their times, and one palette for all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

import numpy as np
from PIL import Image

from trundle.errors import InputError
from trundle.files import signature

# Hundredths of a second that a picture is shown at least: browsers show what is quicker for a tenth of a second.
_SHORTEST = 2
# The most hundredths of a second that its 16 bits hold.
_LONGEST = 65_535
# The most colours that a GIF holds.
_COLOURS = 256
# Pillow takes four neighbouring values for one when it looks for a point's colour: colours this far apart stay exact.
_ALIKE = 10


def delays(count: int, fps: float) -> list[int]:
    """How long so many pictures are shown, in whole hundredths of a second: 3, 4, 3 of thirty a second, so that
    no rounding adds up.

    Raises InputError for more pictures a second than browsers show.
    """
    if fps > 100 / _SHORTEST:
        message = f"a GIF has at most {100 // _SHORTEST} pictures a second, not {fps:g}"
        raise InputError(message, key="fps", hint="fewer of them, or an .mp4")
    if 100 / fps > _LONGEST:
        message = (
            f"a GIF shows a picture for {_LONGEST / 100:g} s at most: {fps:g} pictures a second are too few"
        )
        raise InputError(message, key="fps", hint="more of them, or an .mp4")
    return np.diff(np.rint(np.arange(count + 1) * (100 / fps))).astype(int).tolist()


def palette_of(pictures: Iterable[Image.Image]) -> Image.Image:
    """Colours for RGB pictures, as Pillow has palettes: those that most points have, exactly, no two of them alike."""
    points = np.concatenate([np.asarray(picture).reshape(-1, 3) for picture in pictures])
    packed, counts = np.unique(points @ np.array([1 << 16, 1 << 8, 1]), return_counts=True)
    kept = np.full((_COLOURS, 3), -_ALIKE)
    count = 0
    for colour in packed[np.argsort(-counts), None] >> np.array([16, 8, 0]) & 255:
        if count < _COLOURS and np.abs(kept - colour).max(axis=1).min() >= _ALIKE:
            kept[count] = colour
            count += 1
    palette = Image.new("P", (1, 1))
    palette.putpalette(kept[:count].ravel().tolist())
    return palette


def write_gif(
    file: IO[bytes], pictures: Iterable[Image.Image], palette: Image.Image, shown: Iterable[int]
) -> None:
    """Write RGB pictures of one size as a film that repeats; `shown` is their times (0.01 s)."""
    frames = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    times = [10 * hundredths for hundredths in shown]  # Pillow counts in milliseconds
    about = {"loop": 0, "disposal": 1, "comment": signature().encode()}
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=times, **about)

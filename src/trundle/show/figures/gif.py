"""GIF files, written picture by picture: of a picture only what changed, in one palette for all.

"Graphics Interchange Format, Version 89a", CompuServe 1990; that it starts again is Netscape's extension of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import IO

import numpy as np
from PIL import Image
from PIL.GifImagePlugin import getdata

from trundle.errors import InputError
from trundle.files import signature

# Hundredths of a second that a picture is shown at least: browsers show what is quicker for a tenth of a second.
_SHORTEST = 2
# The most hundredths of a second that its 16 bits hold.
_LONGEST = 65_535
# The last of 256 colours is none: the picture before shows.
_CLEAR = 255
# Pillow takes four neighbouring values for one when it looks for a point's colour: colours this far apart stay exact.
_ALIKE = 10
_AGAIN = b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


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
    kept = np.full((_CLEAR, 3), -_ALIKE)
    count = 0
    for colour in packed[np.argsort(-counts), None] >> np.array([16, 8, 0]) & 255:
        if count < _CLEAR and np.abs(kept - colour).max(axis=1).min() >= _ALIKE:
            kept[count] = colour
            count += 1
    palette = Image.new("P", (1, 1))
    palette.putpalette(kept[:count].ravel().tolist())
    return palette


def write_gif(
    file: IO[bytes], pictures: Iterable[Image.Image], palette: Image.Image, shown: Iterable[int]
) -> None:
    """Write RGB pictures of one size as a film that repeats; `shown` is their times (0.01 s).
    Of a picture only the rectangle is written that differs from the one before: most of a film stands still.
    """
    before = None
    for picture, hundredths in zip(pictures, shown, strict=True):
        now = picture.quantize(palette=palette, dither=Image.Dither.NONE)
        if before is None:
            file.write(_head(now.size, palette))
            changed, box = now, (0, 0)
        else:
            changed, box = _changed(before, now)
        for block in getdata(
            changed, box, duration=10 * hundredths, transparency=_CLEAR, disposal=1, interlace=0
        ):
            file.write(block)
        before = now
    file.write(b";")


def _head(size: tuple[int, int], palette: Image.Image) -> bytes:
    """What stands before the pictures: their size, their colours, that they start again, and who wrote them."""
    colours = bytes((palette.getpalette() or [])[: 3 * _CLEAR])
    comment = signature().encode()
    mark = b"!\xfe" + bytes([len(comment)]) + comment + b"\0"
    return b"GIF89a" + struct.pack("<HHBBB", *size, 0xF7, 0, 0) + colours.ljust(768, b"\0") + _AGAIN + mark


def _changed(before: Image.Image, now: Image.Image) -> tuple[Image.Image, tuple[int, int]]:
    """The part of a picture that isn't as before, what is as before in it clear, and where it stands."""
    old, new = np.asarray(before), np.asarray(now)
    differs = old != new
    rows, columns = (np.flatnonzero(differs.any(axis=axis)) for axis in (1, 0))
    if not rows.size:  # a picture has one point at least
        rows = columns = np.zeros(1, int)
    part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    changed = Image.fromarray(np.where(differs, new, np.uint8(_CLEAR))[part], "P")
    return changed, (int(columns[0]), int(rows[0]))

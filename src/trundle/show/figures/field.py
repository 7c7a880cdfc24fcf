"""A picture of a field that lies under a path: its lower left corner is the world's origin."""

from __future__ import annotations

import os
from base64 import b64encode
from io import BytesIO
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from PIL import Image, UnidentifiedImageError

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.expected import came
from trundle.model.arguments import number

# What a picture keeps of its strength: paths stay seen.
_STRENGTH = 0.6

# A page's picture has at most so many points either way; as a PNG larger than this (bytes) it is a JPEG instead.
_MOST_POINTS, _MOST_BYTES = 1600, 300_000

# A picture's file, and how wide and how high what it shows is (m, or text with a unit).
FieldLike = tuple[str | os.PathLike[str], float | str, float | str]


class FieldPicture(NamedTuple):
    """A picture's points, and how wide and how high what it shows is (m)."""

    image: Image.Image
    width: float
    height: float

    @staticmethod
    def read(given: FieldLike) -> FieldPicture:
        """The picture in a file with its size; InputError where there is none."""
        if not isinstance(given, (tuple, list)) or len(given) != 3:
            hint = 'give the file and its size: ("field.png", 16.54, 8.07)'
            raise InputError(
                f"expected a picture with its width and height, got {came(given)}", key="field", hint=hint
            )
        file, *sizes = given
        width, height = (number(size, "field", "m") for size in sizes)
        if not (width > 0 and height > 0):
            raise InputError(f"a field of {width:g} m x {height:g} m has no room", key="field")
        if not isinstance(file, (str, os.PathLike)):
            raise InputError(f"a picture's file can't be {came(file)}", key="field")
        try:
            with Image.open(file) as image:
                return FieldPicture(image.convert("RGB"), width, height)
        except FileNotFoundError:
            hint = "a name is relative to the current folder"
            raise InputError("there is no such file", file=str(file), key="field", hint=hint) from None
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
            hint = "a PNG or JPEG file"
            raise InputError(f"can't be read as a picture: {error}", file=str(file), hint=hint) from None

    @property
    def corners(self) -> FloatArray:
        """Its lower left and upper right corner (2, 2), m."""
        return np.array([[0.0, 0.0], [self.width, self.height]])

    def plain(self) -> dict[str, object]:
        """What a page holds of it: the picture's own text, and its size (m)."""
        image = self.image.copy()
        image.thumbnail((_MOST_POINTS, _MOST_POINTS))
        for kind in ("png", "jpeg"):
            text = BytesIO()
            image.save(text, kind, optimize=True)
            if text.tell() <= _MOST_BYTES:
                break
        source = f"data:image/{kind};base64,{b64encode(text.getvalue()).decode()}"
        return {"source": source, "width": self.width, "height": self.height, "strength": _STRENGTH}

    def draw(self, axes: Axes) -> None:
        """Lay it under everything else, without changing what is seen."""
        seen = axes.get_xlim(), axes.get_ylim()
        axes.imshow(
            self.image, extent=(0, self.width, 0, self.height), alpha=_STRENGTH, zorder=0, aspect="equal"
        )
        axes.set(xlim=seen[0], ylim=seen[1])
        axes.grid(False)

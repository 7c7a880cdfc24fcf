"""PNG files: what Pillow reads from them is every pixel, with density and what drew them."""

import io

import numpy as np
from PIL import Image

from trundle.show.figures.png import png


def test_every_pixel_comes_back(rng):
    for shape in ((1, 1), (3, 5), (40, 257)):
        pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        read = Image.open(io.BytesIO(png(pixels, 300, "Trundle")))
        read.verify()  # checksums
        read = Image.open(io.BytesIO(png(pixels, 300, "Trundle")))
        assert read.info["Software"] == "Trundle"
        assert round(read.info["dpi"][0], 2) == 300
        np.testing.assert_array_equal(np.asarray(read), pixels)

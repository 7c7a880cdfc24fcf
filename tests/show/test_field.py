"""A picture of a field lies under a path where its size says, and what is none is told."""

import numpy as np
import pytest
from PIL import Image

import trundle
from trundle.show.figures.field import FieldPicture

RUN = trundle.Run("way", np.linspace(0, 1, 5), {"x": np.linspace(1, 3, 5), "y": np.linspace(1, 2, 5)})


@pytest.fixture
def picture(tmp_path):
    file = tmp_path / "field.png"
    Image.new("RGB", (40, 20), (10, 200, 30)).save(file)
    return file


def test_a_field_lies_under_the_path_from_the_origin(picture):
    figure = RUN.plot.path(field=(picture, "54 ft", 8.0))
    axes = figure.axes[0]
    (image,) = axes.get_images()
    assert image.get_extent() == pytest.approx([0, 54 * 0.3048, 0, 8.0])
    low, high = axes.get_xlim()
    assert low <= 0
    assert high >= 54 * 0.3048
    assert all(image.zorder < line.zorder for line in axes.lines)
    assert not RUN.plot.path().axes[0].get_images()


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((16.0,), "expected a picture with its width and height"),
        ((16.0, 0.0), "has no room"),
        ((16.0, "8 kg"), "unit"),
    ],
)
def test_what_is_no_field_is_told(picture, size, words):
    with pytest.raises(trundle.InputError, match=words):
        RUN.plot.path(field=(picture, *size))


def test_a_file_without_a_picture_is_told(tmp_path):
    (tmp_path / "field.png").write_text("no picture")
    with pytest.raises(trundle.InputError, match=r"field\.png: can't be read as a picture"):
        RUN.plot.path(field=(tmp_path / "field.png", 16.0, 8.0))
    with pytest.raises(trundle.InputError, match=r"none\.png: .*there is no such file") as told:
        RUN.plot.path(field=(tmp_path / "none.png", 16.0, 8.0))
    assert "Errno" not in str(told.value)


def test_a_film_has_no_field(picture, tmp_path):
    with pytest.raises(trundle.InputError, match="films have no picture"):
        RUN.animate(tmp_path / "way.gif", field=(picture, 16.0, 8.0))


def test_a_page_holds_a_large_photograph_as_a_small_one(tmp_path):
    file = tmp_path / "field.png"
    noise = np.random.default_rng(3).integers(0, 255, (900, 2000, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file)
    plain = FieldPicture.read((file, "54 ft", 8.0)).plain()
    assert plain["source"].startswith("data:image/jpeg;base64,")
    assert len(plain["source"]) < file.stat().st_size / 2
    assert plain["width"] == pytest.approx(54 * 0.3048)

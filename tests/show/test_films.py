"""Films: their pictures, delays, marks, and what is asked of them in vain."""

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import trundle
from trundle.errors import InputError
from trundle.files import is_marked
from trundle.show.drawing.scene import Arrow, Scene
from trundle.show.figures.arrows import draw_arrows, name_arrows, with_wrenches
from trundle.show.figures.films import _moving, film
from trundle.show.figures.gif import delays
from trundle.show.figures.path import track_of

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


@pytest.fixture(scope="module")
def run():
    """A wheelchair that drives straight ahead, of which there are five samples."""
    rates = {"left.rate": 4.0, "right.rate": 4.0}
    return trundle.roll(trundle.catalog.differential_drive(), 2.0, rates, samples=5)


def test_delays_are_whole_hundredths_that_add_up():
    assert delays(6, 30) == [3, 4, 3, 3, 4, 3]
    for fps in (7, 12.5, 24, 25, 29.97, 30, 50):
        shown = delays(1000, fps)
        assert abs(sum(shown) - 100_000 / fps) <= 0.5
        assert set(shown) <= {int(100 / fps), int(100 / fps) + 1}
    with pytest.raises(InputError, match="a GIF has at most 50 pictures a second, not 60"):
        delays(10, 60)


@pytest.mark.slow
def test_a_gif_shows_every_moment_as_long_as_it_took(run, tmp_path):
    path = film(run, tmp_path / "drive.gif", fps=30)
    with Image.open(path) as shown:
        assert shown.n_frames == 61
        assert shown.size[0] == 600
        assert shown.info["loop"] == 0
        taken = []
        for number in range(shown.n_frames):
            shown.seek(number)
            taken.append(shown.info["duration"])
    assert sum(taken) == 2030
    assert set(taken) == {30, 40}
    assert is_marked(path)
    assert [each.name for each in tmp_path.iterdir()] == ["drive.gif"]


@pytest.mark.slow
def test_a_gif_is_what_was_drawn(run, tmp_path):
    """Of all points 99 in 100 have the colours of the picture as drawn to 10 in 255, white is white."""
    film(run, tmp_path / "drive.gif", fps=5)
    film(run, tmp_path / "drive", fps=5)
    with Image.open(tmp_path / "drive.gif") as shown:
        for number in range(shown.n_frames):
            shown.seek(number)
            read = np.asarray(shown.convert("RGB"), dtype=int)
            drawn = np.asarray(Image.open(tmp_path / "drive" / f"{number + 1:05}.png"), dtype=int)
            assert read.shape == drawn.shape
            assert np.mean(np.abs(read - drawn).max(axis=2) <= 10) > 0.99
            assert (read[(drawn == 255).all(axis=2)] == 255).all()


@pytest.mark.slow
def test_pictures_between_samples_are_where_the_robot_was(run, tmp_path):
    """The body moves from picture to picture by the same, though only five are samples."""
    film(run, tmp_path / "drive", fps=10, width=800)
    names = sorted(each.name for each in (tmp_path / "drive").iterdir())
    assert names == [f"{number:05}.png" for number in range(1, 22)]
    middles = []
    for name in names:
        picture = np.asarray(Image.open(tmp_path / "drive" / name), dtype=int)
        body = (picture == (0xDF, 0xE6, 0xEE)).all(axis=2)
        middles.append(np.flatnonzero(body.any(axis=0)).mean())
    steps = np.diff(middles)
    assert np.ptp(steps) <= 1.0
    assert steps.mean() > 5
    assert all(is_marked(tmp_path / "drive" / name) for name in names)


@needs_ffmpeg
def test_an_mp4_has_every_picture(run, tmp_path):
    path = film(run, tmp_path / "drive.mp4", fps=25, speed=2)
    assert is_marked(path)
    told = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(path)]
    (stream,) = json.loads(subprocess.run(told, capture_output=True, check=True).stdout)["streams"]
    assert (stream["codec_name"], stream["pix_fmt"], stream["nb_frames"]) == ("h264", "yuv420p", "26")
    assert (stream["width"], stream["r_frame_rate"]) == (600, "25/1")


def test_without_ffmpeg_it_is_said_what_to_do(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=r"written by ffmpeg, which is not there.*\n.*install it.*or write a .gif"
    ):
        film(run, tmp_path / "drive.mp4")
    assert not list(tmp_path.iterdir())


def test_a_failing_ffmpeg_is_quoted_and_leaves_nothing(run, tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "ffmpeg"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    with pytest.raises(
        trundle.TrundleError, match="ffmpeg could not write the film: Unknown encoder libx264"
    ):
        film(run, tmp_path / "drive.mp4")
    assert [each.name for each in tmp_path.iterdir()] == ["bin"]


@pytest.mark.parametrize(
    ("name", "how", "said"),
    [
        ("drive.txt", {}, "a film's file ends in .gif or .mp4"),
        ("drive.png", {}, "for single pictures name a folder"),
        ("drive.gif", {"speed": 0}, "expected a number above 0, got 0"),
        ("drive.gif", {"fps": float("nan")}, "expected a number above 0, got nan"),
        ("drive.gif", {"speed": 1e-6}, "frames are too many"),
        ("drive.gif", {"width": 601}, "expected an even number of pixels from 200 to 4000, got 601"),
        ("drive.gif", {"fps": 60}, "a GIF has at most 50 pictures a second"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(run, tmp_path, name, how, said):
    with pytest.raises(InputError, match=said):
        film(run, tmp_path / name, **how)
    assert not list(tmp_path.iterdir())


def test_pictures_of_another_film_are_not_mixed_with_its_own(run, tmp_path):
    (tmp_path / "00099.png").write_bytes(b"")
    with pytest.raises(InputError, match="holds pictures that are none of this film's: 00099.png"):
        film(run, tmp_path, fps=5)


def test_nothing_that_moves_gives_no_film(tmp_path):
    still = trundle.Run("still", [0.0, 1.0], {"a": [0.0, 1.0]})
    with pytest.raises(
        InputError, match="there is no film of this run: no description says what 'still' looks like"
    ):
        film(still, tmp_path / "still.gif")


def test_progress_comes_to_its_end(run, tmp_path):
    told = []
    film(run, tmp_path / "drive.gif", fps=5, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_wrenches_are_as_long_as_over_the_whole_run(tmp_path):
    """A film of few pictures doesn't scale its arrows by the largest of those few."""
    robot = trundle.catalog.pendulum(links=1)
    time = np.linspace(0, 1, 101)
    run = trundle.joint_loads(robot, {"time": time, "link_1.angle": np.sin(7 * time)}).to_run()
    whole = with_wrenches(track_of(run).scene, run)
    few = _moving(run, run.time[[5, 40]], whole)
    for arrow, every in zip(few.arrows, whole.arrows, strict=True):
        np.testing.assert_allclose(arrow.vector, every.vector[[5, 40]], atol=1e-12)
        np.testing.assert_allclose(arrow.at, every.at[[5, 40]], atol=1e-12)


def test_legends_of_wrenches_say_by_mass(tmp_path):
    robot, time = trundle.catalog.pendulum(links=1), np.linspace(0, 1, 11)
    loads = trundle.joint_loads(robot, {"time": time, "link_1.angle": np.sin(time)})
    for mass, units in ((None, ("N)", "N m)")), (70, ("N/kg)", "N m/kg)"))):
        run, axes = loads.to_run(mass=mass), Figure().add_subplot()
        name_arrows(axes, with_wrenches(track_of(run).scene, run))
        told = [text.get_text() for text in axes.get_legend().get_texts()]
        assert [text.split(" ", 4)[-1] for text in told] == list(units)


@pytest.mark.parametrize("turns", [False, True])
def test_arrows_of_small_forces_are_seen_and_have_small_heads(turns):
    """Arrows of all lengths down to a twentieth of the longest, and heads that are no longer than they are."""
    axes = Figure().add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    scene = Scene(np.tile(np.eye(3, 4), (1, 1, 1, 1)))
    sizes = [0.1, 0.05, 0.02, 0.01, 0.005]
    arrows = [
        Arrow(str(k), turns, np.zeros((1, 3)), np.array([[s, 0, 0]]), 1.0, "N") for k, s in enumerate(sizes)
    ]
    draw_arrows(axes, replace(scene, arrows=tuple(arrows)), "z")
    every = 2 if turns else 1  # a moment has two heads
    heads = [patch.get_mutation_scale() for patch in axes.patches][every - 1 :: every]
    assert len(heads) == len(sizes)
    assert heads[0] == 1.0
    assert heads[-1] == pytest.approx(0.005 / 0.03)
    assert heads == sorted(heads, reverse=True)


def test_pictures_that_no_gif_holds_long_enough(tmp_path):
    run = trundle.roll(trundle.catalog.differential_drive(), 1.0, {"v_x": 1.0}, samples=11)
    with pytest.raises(trundle.InputError, match="fps: a GIF shows a picture for 655.35 s at most"):
        trundle.animate(run, tmp_path / "slow.gif", fps=1e-3)


def test_almost_no_pictures_a_second_are_refused(tmp_path):
    run = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 2.0], "y": [0.0, 0.0], "theta": [0.0, 0.0]})
    with pytest.raises(InputError, match="pictures a second are none"):
        film(run, tmp_path / "drive.gif", fps=5e-324, speed=20)

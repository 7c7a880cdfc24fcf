"""`trundle show`: runs and descriptions as figures, films and pages."""

import shutil

import numpy as np
import pytest
from PIL import Image

from trundle.results import Run


@pytest.fixture
def runs(made, folder):
    """Two runs that differ in a parameter, by their files; the first in the folder that `trundle run` made."""
    for name, d in (("circle", "0"), ("offset", "0.3")):
        shutil.copytree(made("--set", f"d={d}", "--no-figures"), folder / "runs" / name)
    return "runs/circle", "runs/offset/circle.nc"


def test_one_run_gives_its_figures_beside_it(trundle, folder, runs):
    answer = trundle("show", runs[0], "--json")
    assert answer.status == 0
    names = ["path", "states", "inputs", "checks"]
    assert answer.data["files"] == [f"runs/circle/{name}.png" for name in names]
    assert answer.data["shown"] == ["circle"]
    assert all((folder / name).is_file() for name in answer.data["files"])
    assert trundle("show", runs[0]).out.startswith("wrote runs/circle/path.png and 3 more: states.png")


def test_several_runs_share_axes_with_a_legend_of_what_differs(trundle, folder, runs):
    answer = trundle("show", *runs, "--figure-format", "svg", "--json")
    assert answer.status == 0
    text = (folder / "runs/comparison/states.svg").read_text()
    for word in ("circle: d = 0 m<", "offset: d = 0.3 m<", "theta"):
        assert word in text, word
    assert "inputs" not in str(answer.data["files"])  # they are alike
    assert "runs/comparison/path.svg" in answer.data["files"]


def test_runs_that_are_alike_are_called_by_their_files(trundle, folder, runs):
    Run.load(folder / "runs/circle/circle.nc").save(folder / "again.nc")
    answer = trundle("show", runs[0], "again.nc", "--only", "x", "--figure-format", "svg", "--output", "both")
    assert answer.status == 0
    text = (folder / "both/values.svg").read_text()
    assert "circle" in text
    assert "again" in text


def test_runs_are_called_as_asked(trundle, folder, runs):
    asked = ("--figure-format", "svg", "--only", "x", "--output", "both", "--labels")
    assert trundle("show", *runs, *asked, "centred, 30 cm ahead").status == 0
    text = (folder / "both/values.svg").read_text()
    assert "centred<" in text
    assert "30 cm ahead<" in text
    answer = trundle("show", *runs, *asked, "centred")
    assert (answer.status, "--labels: expected 2 different labels" in answer.err) == (1, True)
    answer = trundle("show", runs[0], *asked, "a")
    assert (answer.status, "--labels names several runs" in answer.err) == (2, True)


def test_only_some_values(trundle, folder, runs):
    assert trundle("show", runs[0], "--only", "x, theta", "--json").data["files"] == [
        "runs/circle/values.png"
    ]
    answer = trundle("show", runs[0], "--only", "tetha")
    assert answer.status == 1
    assert "theta" in answer.err
    answer = trundle("show", *runs, "--only", "tetha")
    assert answer.status == 1
    assert "--only: no run holds 'tetha'" in answer.err
    assert "did you mean 'theta'?" in answer.err


@pytest.mark.slow
def test_a_description_is_run_first(trundle, folder, runs):
    answer = trundle("show", "circle.yaml", runs[1], "--output", "both", "--json")
    assert answer.status == 0
    assert answer.data["shown"] == ["circle", "circle"]
    text = (folder / "circle.yaml").read_text()
    answer = trundle("show", "-", "--json", stdin=text)
    assert answer.data["files"][0] == "runs/diff_drive/path.png"


def test_films(trundle, folder, runs):
    answer = trundle("show", runs[0], "--film", "--fps", "5", "--speed", "2", "--json")
    assert answer.data["files"] == ["runs/circle/circle.gif"]
    with Image.open(folder / "runs/circle/circle.gif") as film:
        assert film.n_frames == 6
    assert trundle("show", runs[0], "--film", "--fps", "2", "--output", "pictures").status == 0
    assert len(list((folder / "pictures").glob("*.png"))) == 5
    answer = trundle("show", runs[0], "--film", "--fps", "0")
    assert (answer.status, "--fps: expected a number above 0, got 0" in answer.err) == (1, True)
    answer = trundle("show", runs[0], "--film", "--output", "film.avi")
    assert (answer.status, "--output: 'film.avi': a film's file ends in .gif or .mp4" in answer.err) == (
        1,
        True,
    )


def test_pages(trundle, folder, runs):
    assert trundle("show", *runs, "--page", "--json").data["files"] == ["runs/comparison/comparison.html"]
    text = (folder / "runs/comparison/comparison.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    answer = trundle("show", runs[0], "--page", "--output", "page.txt")
    assert (answer.status, "a page's file ends in .html" in answer.err) == (1, True)


def test_a_window_gets_the_run_and_what_was_said(trundle, runs, monkeypatch):
    asked = []
    monkeypatch.setattr("trundle.show.window.play", lambda run, **how: asked.append((run, how)))
    answer = trundle("show", runs[0], "--window", "--speed", "3", "--image", "robot.png", "--json")
    assert (answer.status, answer.data["files"]) == (0, [])
    ((run, how),) = asked
    assert run.name == "diff_drive"
    assert how == {"image": "robot.png", "speed": 3.0}
    assert trundle("show", runs[0], "--window", "--output", "x").status == 2


def test_the_page_of_a_description_is_alive(trundle, folder):
    assert trundle("show", "circle.yaml", "--page", "--json").data["files"] == ["runs/circle/circle.html"]
    assert '"live":{' in (folder / "runs/circle/circle.html").read_text(encoding="utf-8").replace(
        '"live": {', '"live":{'
    )


@pytest.mark.parametrize("words", [("--page",), ("--figures", "--only", "x")])
@pytest.mark.slow
def test_that_nothing_moves_a_robot_is_said(trundle, folder, words):
    (folder / "bare.yaml").write_text((folder / "circle.yaml").read_text().partition("run:")[0])
    said = "bare.yaml has no run section: 10 s, and inputs that aren't given are 0"
    assert trundle("show", "bare.yaml", *words, "--json").data["notes"] == [said]
    assert trundle("show", "bare.yaml", *words, "--force").out.startswith(f"note: {said}\nwrote runs/bare/")
    assert trundle("show", "circle.yaml", *words, "--json").data["notes"] == []


def test_what_is_driven_is_saved_where_it_is_said(trundle, folder, runs, monkeypatch):
    asked = []

    def drive(given):
        asked.append(given)
        return Run("driven", [0.0, 1.0], {"x": [0.0, 1.0]})

    monkeypatch.setattr("trundle.show.window.drive", drive)
    assert trundle("show", "circle.yaml", "--drive", "--json").data["files"] == []
    for _ in range(2):
        answer = trundle("show", "circle.yaml", "--drive", "--output", "driven.nc")
        assert (answer.status, answer.out) == (0, "wrote driven.nc\n")
    assert Run.load(folder / "driven.nc").name == "driven"
    assert len(asked) == 3
    (folder / "mine.csv").write_text("time,x\n0,1\n")
    for words, said in (
        (("circle.yaml", "--output", "mine.csv"), "trundle didn't write it"),
        (("circle.yaml", "--output", "driven.gif"), "a run's file ends in one of .nc, .csv"),
        ((runs[0],), "a run can't be driven"),
    ):
        answer = trundle("show", *words, "--drive")
        assert answer.status == 1
        assert said in answer.err
    assert len(asked) == 3


@pytest.mark.parametrize("words", [("--figures",), ("--film",), ("--page",)])
@pytest.mark.slow
def test_other_peoples_files_stay(trundle, folder, runs, words):
    theirs = {"--figures": "path.png", "--film": "circle.gif", "--page": "circle.html"}[words[0]]
    (folder / "runs/circle" / theirs).write_text("mine")
    answer = trundle("show", runs[0], *words)
    assert answer.status == 1
    assert "is there already, and trundle didn't write it" in answer.err
    assert (folder / "runs/circle" / theirs).read_text() == "mine"
    for _ in range(2):  # and its own are replaced
        forced = trundle(
            "show", runs[0], *words, "--force", *(("--fps", "2") if words[0] == "--film" else ())
        )
        assert forced.status == 0, forced.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "RUN"),
        (("nowhere.nc",), 1, "nowhere.nc"),
        (("empty",), 1, "expected a folder with one run (.nc), found none"),
        (("two",), 1, "expected a folder with one run (.nc), found a.nc, b.nc"),
        (("circle.yaml", "--film", "--only", "x"), 2, "--only is for --figures, not --film"),
        (("circle.yaml", "--fps", "3"), 2, "--fps is for --film, not --figures"),
        (("circle.yaml", "--film", "--page"), 2, "not allowed with"),
        (("circle.yaml", "circle.yaml", "--film"), 2, "--film shows one run, not 2"),
        (("-", "-"), 2, "standard input (-) can be read once"),
        (("circle.yaml", "--output", "circle.yaml"), 1, "circle.yaml"),
    ],
)
def test_what_cannot_be_shown_is_told(trundle, folder, words, status, said):
    (folder / "empty").mkdir()
    (folder / "two").mkdir()
    for name in ("a", "b"):
        Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]}).save(folder / "two" / f"{name}.nc")
    answer = trundle("show", *words)
    assert answer.status == status, answer.err
    assert said in answer.err


@pytest.mark.slow
def test_a_car_and_a_pendulum_have_no_common_path(trundle, folder, runs):
    trundle("new", "pendulum", "pendulum.yaml")
    answer = trundle("show", runs[0], "pendulum.yaml", "--json")
    assert answer.status == 0
    assert "runs/comparison/path.png" not in answer.data["files"]
    assert np.isin(["runs/comparison/states.png"], answer.data["files"]).all()


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000])
def test_a_name_that_no_file_can_have_is_told(trundle, name):
    answer = trundle("show", name)
    assert answer.status == 1
    assert "longer than 255" in answer.err or "too long" in answer.err

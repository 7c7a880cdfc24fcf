"""Files that are there: those of an earlier run are replaced, those of others stay without --force."""

import shutil

import netCDF4
import pytest

from parameters import mostly_slow
from trundle.errors import InputError
from trundle.results import Run

PNG = b"\x89PNG\r\n\x1a\n" + b"someone's picture"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("form", mostly_slow(["png", "svg", "pdf"], ["png"]))
@pytest.mark.slow
def test_files_of_an_earlier_run_are_replaced_in_every_format(trundle, folder, form):
    for duration in ("1", "2"):
        answer = trundle("run", "circle.yaml", "--figure-format", form, "--duration", duration, "--quiet")
        assert answer.status == 0, answer.err
    made = folder / "runs" / "circle"
    assert len(contents(made)) == 7
    assert len(contents(made)) == len(list(made.iterdir()))
    assert Run.load(made / "circle.csv").duration == 2.0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("circle.csv", b"time,x\n0.0,1.0\n"),
        ("path.png", PNG),
        ("contacts.png", b""),
        ("circle.nc", b"\x89HDF\r\n\x1a\n somebody's"),
    ],
)
@pytest.mark.slow
def test_a_file_of_somebody_else_among_those_of_an_earlier_run_stays(trundle, earlier, name, content):
    (earlier / name).write_bytes(content)
    before = contents(earlier)
    answer = trundle("run", "circle.yaml")
    assert answer.status == 1
    assert name in answer.err
    assert "--force" in answer.err
    assert contents(earlier) == before
    assert trundle("run", "circle.yaml", "--force", "--quiet").status == 0
    assert trundle("run", "circle.yaml", "--quiet").status == (0 if name != "contacts.png" else 1)


def test_a_foreign_netcdf_file_is_no_earlier_run(trundle, folder):
    made = folder / "runs" / "circle"
    made.mkdir(parents=True)
    with netCDF4.Dataset(made / "circle.nc", "w") as file:
        file.title = "temperatures"
    (made / "circle.csv").write_text("precious")
    before = contents(made)
    answer = trundle("run", "circle.yaml")
    assert answer.status == 1
    assert "circle.nc, circle.csv" in answer.err
    assert contents(made) == before


def test_a_table_that_was_worked_on_stays(trundle, earlier):
    table = earlier / "circle.csv"
    table.write_text(table.read_text().replace("24.0", "25.0", 1))
    before = contents(earlier)
    assert trundle("run", "circle.yaml").status == 1
    assert contents(earlier) == before


@pytest.mark.slow
def test_links_lead_nowhere_else(trundle, folder, earlier):
    elsewhere = folder / "elsewhere.csv"
    (earlier / "circle.csv").unlink()
    (earlier / "circle.csv").symlink_to(elsewhere)
    assert "circle.csv" in trundle("run", "circle.yaml").err
    for words in (
        ["equations", "circle.yaml", "--output", "link"],
        ["check", "circle.yaml", "--figure", "link.png"],
        ["new", "pendulum", "link"],
        ["schema", "--output", "link"],
        ["run", "circle.yaml", "--output", "link"],
    ):
        link = folder / words[-1]
        link.unlink(missing_ok=True)
        link.symlink_to(elsewhere)
        assert trundle(*words).status == 1, words
        assert link.is_symlink()
    assert trundle("run", "circle.yaml", "--force", "--quiet").status == 0
    assert (earlier / "circle.csv").read_text().startswith("time,")
    assert not elsewhere.exists()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["equations", "circle.yaml", "--output"], "circle.yaml"),
        *((["equations", "circle.yaml", "--format", form, "--output"], form) for form in ("latex", "tex")),
        *((["equations", "circle.yaml", "--format", form, "--output"], form) for form in ("text", "json")),
        (["equations", "circle.yaml", "--format", "markdown", "--output"], "page.md"),
        *((["check", "circle.yaml", "--figure"], f"robot.{form}") for form in ("png", "svg", "pdf")),
        (["schema", "--output"], "schema.json"),
    ],
    ids=lambda words: words if isinstance(words, str) else words[0],
)
@pytest.mark.slow
def test_only_what_trundle_wrote_is_replaced_unasked(trundle, folder, words, name):
    shutil.copy("circle.yaml", "kept.yaml")
    path, words = folder / name, ["kept.yaml" if word == "circle.yaml" else word for word in words]
    path.write_text("precious")
    answer = trundle(*words, name)
    assert answer.status == 1
    assert "--force" in answer.err
    assert path.read_text() == "precious"
    assert trundle(*words, name, "--force").status == 0
    written = path.read_bytes()
    assert trundle(*words, name).status == 0
    assert path.read_bytes() == written


def test_a_folder_in_the_way_is_told_before_any_work(trundle, earlier):
    (earlier / "path.png").unlink()
    (earlier / "path.png").mkdir()
    before = contents(earlier)
    for words in ([], ["--force"]):
        assert "path.png" in trundle("run", "circle.yaml", *words).err
    assert contents(earlier) == before


def test_a_figure_that_fails_loses_no_numbers(trundle, earlier, monkeypatch):
    def failing(run, folder, suffix):
        (folder / "path.png").write_text("half")
        raise InputError("no figure")

    figures = {name: content for name, content in contents(earlier).items() if name.endswith(".png")}
    monkeypatch.setattr("trundle.show.figures.plots.Plots.save", failing)
    assert trundle("run", "circle.yaml", "--duration", "1").status == 1
    assert Run.load(earlier / "circle.nc").duration == Run.load(earlier / "circle.csv").duration == 1.0
    assert figures.items() <= contents(earlier).items()
    assert not list(earlier.glob(".trundle-*"))


LONG, ZERO = "a" * 300, "a\0b"


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["run", "circle.yaml", "--output", f"{folder}{name}"]
            for name in (LONG, ZERO)
            for folder in ("", "new/")
        ),
        *(["equations", "circle.yaml", "--output", name] for name in (LONG, ZERO)),
        *(["check", "circle.yaml", "--figure", f"{name}.png"] for name in (LONG, ZERO)),
        *(["new", "pendulum", name] for name in (LONG, ZERO)),
        *(["schema", "--output", name] for name in (LONG, ZERO)),
        *([verb, name] for verb in ("run", "check", "equations") for name in (LONG, ZERO)),
        *([verb, f"{name}.urdf"] for verb in ("run", "check") for name in (LONG, ZERO)),
        [LONG],
        [ZERO],
    ],
    ids=str,
)
def test_names_that_no_file_can_have(trundle, folder, words):
    before = contents(folder)
    answer = trundle(*words)
    assert answer.status in (1, 2), answer.err
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["a" * 300, "a\\0b", "a/b", "../../a"])
def test_names_of_robots_that_no_file_can_have(trundle, folder, name):
    text = (folder / "circle.yaml").read_text().replace("name: diff_drive", f'name: "{name}"')
    answer = trundle("run", "-", "--no-figures", stdin=text)
    assert answer.status == 1, answer.err
    assert not list(folder.rglob("*.nc"))


@pytest.mark.slow
def test_a_working_folder_that_was_deleted(trundle, folder, monkeypatch):
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    for words in (
        ["run", "a.yaml"],
        ["run", str(folder / "circle.yaml")],
        ["run", str(folder / "circle.yaml"), "--output", "."],
        ["check", str(folder / "circle.yaml"), "--figure", "a.png"],
        ["equations", str(folder / "circle.yaml"), "--output", "a.txt"],
        ["new", "pendulum", "a.yaml"],
        ["schema", "--output", "a.json"],
    ):
        answer = trundle(*words)
        assert answer.status == 1, (words, answer.err)
    assert trundle("check", str(folder / "circle.yaml")).status == 0
    assert trundle("run", str(folder / "circle.yaml"), "--output", str(folder / "out"), "--quiet").status == 0

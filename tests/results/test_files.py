"""Files: whole or not at all, and damaged ones are told apart, never executed."""

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path, PurePath

import netCDF4
import numpy as np
import pytest

from parameters import ANY_NAMES
from trundle.errors import InputError
from trundle.files import file_name, is_marked, replacing, replacing_in
from trundle.results import Batch, Run
from trundle.results.table import NumberTable, write_table

RUN = Run(
    "a", np.linspace(0, 1, 50), {"x": np.arange(50.0), "right.angle": np.ones(50)}, groups={"speeds": ["x"]}
)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with replacing(path) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


KILLED = """
import os, signal, sys
from trundle.files import replacing
with replacing(sys.argv[1]) as draft:
    draft.write_text("half")
    print(draft.parent.name, flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@ANY_NAMES
@pytest.mark.skipif(sys.platform == "win32", reason="a folder has no lock there")
def test_drafts_of_killed_processes_are_swept_and_those_of_running_ones_stay(tmp_path):
    path = tmp_path / ("ü" * 127)  # 254 bytes: the longest name that there can be
    path.write_text("old")
    (tmp_path / ".trundle-notes.part").symlink_to(tmp_path / "notes")  # nothing of ours: left alone
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a").touch()
    command = [sys.executable, "-c", KILLED, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        folder = tmp_path / process.stdout.readline().strip()
        RUN.save(tmp_path / "a.nc")
        assert folder.is_dir()
        process.communicate("go on\n")
    assert folder.is_dir()
    assert path.read_text() == "old"
    RUN.save(tmp_path / "b.csv")
    assert {each.name for each in tmp_path.iterdir()} == {
        path.name,
        "a.nc",
        "b.csv",
        "notes",
        ".trundle-notes.part",
    }
    assert (tmp_path / "notes" / "a").exists()


@pytest.mark.parametrize("name", ["a" * 300 + ".csv", "a\0.csv", "a\ud800.csv", "a/" * 3000 + "a.csv"])
def test_names_that_no_file_can_have(tmp_path, name):
    for act in (RUN.save, Run.load):
        with pytest.raises(InputError):
            act(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "a"])


def test_a_folder_that_was_deleted(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for suffix in (".nc", ".csv"):
        for act in (RUN.save, Run.load):
            with pytest.raises(InputError, match="[Nn]o such file"):
                act(f"a{suffix}")


@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, suffix):
    path = RUN.save(tmp_path / f"a{suffix}")
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        RUN.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made_and_impossible_ones_are_errors(tmp_path):
    assert RUN.save(tmp_path / "new" / "deep" / "a.nc").is_file()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        RUN.save(tmp_path / "file" / "a.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        RUN.save(tmp_path / "folder.nc")


def test_a_link_stays_a_link_and_permissions_are_the_usual(tmp_path):
    target = tmp_path / "target.csv"
    target.touch()
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    RUN.save(link)
    assert link.is_symlink()
    assert Run.load(target)["x"][-1] == 49
    (tmp_path / "other").touch()
    assert target.stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_missing_and_foreign_files(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with pytest.raises(InputError, match="cannot read|no such file"):
        Run.load(path)
    for content in (
        b"",
        b"hello",
        b"\x00\xff\xfe" * 100,
        b"\x89HDF\r\n\x1a\n",
        b"CDF\x01",
        b"time,x\n",
    ):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            Run.load(path)
        assert str(path) in str(caught.value)


def test_truncated_files(tmp_path):
    content = RUN.save(tmp_path / "whole.nc").read_bytes()
    part = tmp_path / "part.nc"
    for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        part.write_bytes(content[: int(share * len(content))])
        with pytest.raises(InputError):
            Run.load(part)


def test_other_netcdf_files_and_damaged_attributes(tmp_path):
    path = tmp_path / "a.nc"
    netCDF4.Dataset(path, "w").close()
    with pytest.raises(InputError, match="not written by Trundle"):
        Run.load(path)
    for change in (
        {"trundle_data": "{"},
        {"trundle_data": "[]"},
        {"trundle_format": "run 2"},
        {"trundle_data": 3},
    ):
        RUN.save(path)
        with netCDF4.Dataset(path, "a") as file:
            file.setncatts(change)
        with pytest.raises(InputError):
            Run.load(path)
    RUN.save(path)
    with netCDF4.Dataset(path, "a") as file:
        file.createDimension("other", 2)
        file.createVariable("y", "f4", ("other",))
    with pytest.raises(InputError, match="'y' is float32"):
        Run.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n", "'time'"),
        ("time,x,x\n0,1,2\n", "twice"),
        ("time,x\n0,1\n1\n", "a.csv:3: has 1 cells; there are 2 columns"),
        ("time,x\n0,1\n1,one\n", "a.csv:3: x: 'one' is not a number"),
        ("time,x\n", "no rows of numbers"),
        ("time,x\n1,1\n0,1\n", "never falls"),
        ("time,x\n0,1\n,1\n", "a.csv:3: time: a run's time never falls and holds no NaN"),
    ],
)
def test_csv_errors_say_the_line(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Run.load(path)


def test_a_csv_file_of_pandas_is_read_with_its_gaps(tmp_path):
    run = Run("cart", [0.0, 0.1, 0.2], {"x": [0.1, np.nan, 0.3], "y": [np.nan, 1.0, 2.0]})
    run.to_dataframe().to_csv(tmp_path / "cart.csv")
    again = Run.load(tmp_path / "cart.csv")
    assert again.values.keys() == run.values.keys()
    for name in ("time", "x", "y"):
        np.testing.assert_array_equal(again[name], run[name])


@pytest.fixture
def earlier(tmp_path):
    """Files as the first version wrote them, made again from what is kept of them as text."""

    def make(name):
        kept = json.loads((Path(__file__).parent / "files" / f"{name}.json").read_text(encoding="utf-8"))
        path = tmp_path / f"{name}.nc"
        with netCDF4.Dataset(path, "w") as file:
            file.setncatts(kept["attributes"])
            for dimension, size in kept["dimensions"].items():
                file.createDimension(dimension, size)
            for variable, content in kept["variables"].items():
                created = file.createVariable(variable, "f8", content["dimensions"])
                created.setncatts(content["attributes"])
                created[...] = content["values"]
        return path

    return make


def test_files_of_the_first_version_are_read_and_drawn(earlier):
    """Written before scenes and this reader were: values, units, groups, description and pictures are all there."""
    run = Run.load(earlier("run_1"))
    assert (len(run), run["link_1.angle"][0], run.units["link_1.rate"]) == (3, 1.0, "rad/s")
    assert run.states == ("link_1.angle", "link_1.rate")
    assert "pendulum" in run.description["yaml"]
    assert run.plot.path().axes[0].get_ylabel() == "z (m)"
    cart = Run.load(earlier("cart_1"))
    assert cart.plot.path_png() is not None
    batch = Batch.load(earlier("batch_1"))
    assert (batch.states, batch.count, batch.parameters["m"]) == (("x", "v"), 2, 2.0)
    np.testing.assert_array_equal(batch.parameters["r"], [0.1, 0.2])
    np.testing.assert_array_equal(batch["v"], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]])


def _small():
    values = {"x": [0.0, np.nan, 2.0], "y": [1.0, 2.0, np.inf]}
    return Run("cart", [0.0, 0.5, 1.0], values, units={"x": "m"})


def test_a_data_frame_holds_the_values_over_time():
    run = _small()
    frame = run.to_dataframe()
    assert list(frame.columns) == list(run.values)
    assert frame.index.name == "time"
    for name in run.values:
        np.testing.assert_array_equal(frame[name].to_numpy(), run[name])
    np.testing.assert_array_equal(frame.index.to_numpy(), run.time)
    assert frame.attrs["units"]["x"] == "m"
    frame.loc[0.0, "x"] = 7.0  # a copy: the run stays as it is
    assert run["x"][0] == 0.0


@pytest.mark.parametrize(
    ("ending", "writer"), [(".xlsx", "to_excel"), (".parquet", "to_parquet"), (".npy", "to_records")]
)
def test_tables_of_other_programs_are_pandas(tmp_path, ending, writer):
    path = tmp_path / f"run{ending}"
    for ask in (_small().save, Run.load):
        with pytest.raises(InputError, match=r"ends in one of \.nc, \.csv") as caught:
            ask(path)
        assert caught.value.hint is not None
        assert f"to_dataframe().{writer}(" in caught.value.hint
    assert not path.exists()


def test_a_full_disk_is_told_with_the_files_name(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    for names in (["a.nc", "b.csv"], ["b.csv"]):
        with (
            pytest.raises(InputError, match=rf"cannot write '{tmp_path}/sets/b.csv': No space left"),
            replacing_in(tmp_path / "sets", names) as drafts,
        ):
            for name in names:
                (drafts / name).write_text("some")
                time.sleep(0.02)  # for the clock of the file system
            full()
    assert list((tmp_path / "sets").iterdir()) == []
    monkeypatch.setattr(os, "fsync", full)  # where the system had only promised to write
    with (
        pytest.raises(InputError, match=rf"cannot write '{tmp_path}/sets/a.nc': No space left"),
        replacing_in(tmp_path / "sets", ["a.nc"]) as drafts,
    ):
        (drafts / "a.nc").write_text("some")


def test_names_for_files_lead_nowhere_else():
    assert file_name("..") == file_name("") == file_name(".") == "_"
    assert file_name("trajectory", ["Trajectory", "trajectory_1"]) == "trajectory_2"
    assert not {"/", "\\", "\0", "\n", ":"} & set(file_name("a/b\\c\0d\ne:f"))
    for text in ("über", "名前" * 100, "CON", "com1.csv", "...x"):
        name = file_name(text)
        assert PurePath(name).name == name != ".."
        assert 0 < len(f"{name}_12.peaks.csv".encode()) < 255


@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_a_pipe_is_no_file_of_a_run(tmp_path, suffix):
    """Reading its first bytes waited for ever."""
    pipe = tmp_path / f"run{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="is no ordinary file"):
        Run.load(pipe)
    assert not is_marked(pipe)


def test_a_table_is_written_alike_across_its_blocks(tmp_path, rng):
    """As the csv module writes rows of floats, whatever stands still for a block."""
    values = rng.normal(size=(20_011, 4))
    values[:, 1], values[10_005:, 2], values[10_000, 3] = 0.5, 1e-300, np.nan
    values[3, 1] = -values[3, 1]
    values[:, 0] = np.copysign(0.0, values[:, 0])
    write_table(
        tmp_path / "new.csv",
        NumberTable({"a": values[:, 0], 'b,"': values[:, 1], "c": values[:, 2], "d": values[:, 3]}),
    )
    with (tmp_path / "old.csv").open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([["a", 'b,"', "c", "d"], *values.tolist()])
    assert (tmp_path / "new.csv").read_bytes() == (tmp_path / "old.csv").read_bytes()

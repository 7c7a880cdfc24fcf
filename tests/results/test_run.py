"""Run: labelled numbers that stay as they are, and files that give them back exactly."""

import subprocess
import sys

import numpy as np
import pytest
import xarray

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.results import Run
from trundle.results.columns import Column

NAMES = ("x", "theta", "right.angle", "omega", "right_motor.current", "right_motor.voltage", "residual")


@pytest.fixture
def run(rng) -> Run:
    time = np.linspace(0, 3, 7)
    values = {name: rng.normal(size=7) * 10.0 ** rng.integers(-200, 200) for name in NAMES}
    values["residual"][2:5] = np.nan, np.inf, -0.0
    return Run(
        name="diff_drive",
        time=time,
        values=values,
        units={"x": "m", "theta": "rad", "right.angle": "rad", "omega": "rad/s", "right_motor.voltage": "V"},
        description={
            "yaml": "robot:\n  name: Räder\n",
            "parameters": {"r": 0.1},
            "sketch": {"body": [[0.0, 1.5]]},
        },
        summary={"mobility": [2, 0], "operations": 86, "seconds": 0.1 + 0.2},
        groups={
            "coordinates": ("x", "theta", "right.angle"),
            "speeds": ["omega"],
            "currents": ["right_motor.current"],
            "inputs": ["right_motor.voltage"],
            "outputs": ["residual"],
        },
    )


def same_numbers(a: Run, b: Run) -> None:
    assert list(a.values) == list(b.values)
    assert a.time.tobytes() == b.time.tobytes()
    for name in a.values:
        assert a[name].tobytes() == b[name].tobytes(), name


def test_netcdf_gives_back_everything_exactly(run, tmp_path):
    again = Run.load(run.save(tmp_path / "run.nc"))
    same_numbers(run, again)
    for field in ("name", "units", "description", "summary", "groups", "columns"):
        assert getattr(again, field) == getattr(run, field), field


def test_columns_say_what_they_are_also_behind_a_file(tmp_path):
    columns = {"a.b.creep": Column("a.b", "creep", "slip"), "total": Column("", "total", "energy")}
    run = Run("own", [0.0, 1.0], {"a.b.creep": [0, 1], "total": [0, 1], "c.rate": [0, 1]}, columns=columns)
    for each in (run, Run.load(run.save(tmp_path / "own.nc"))):
        assert each.column("a.b.creep").kind == "slip"
        assert each.parts == {"a.b": {"creep": "a.b.creep"}, "": {"total": "total"}, "c": {"rate": "c.rate"}}
        assert each.dataset["a.b.creep"].attrs["long_name"] == "creep of a.b"
    assert Run.load(run.save(tmp_path / "own.csv")).column("a.b.creep") == Column("a.b", "creep")
    with pytest.raises(InputError, match="'creep', which is not there"):
        Run("own", [0.0], {"x": [0.0]}, columns={"creep": Column("", "creep")})


@pytest.mark.slow
def test_simulated_columns_are_what_the_model_says():
    run = trundle.simulate(derived("skid_steer"), 0.1, samples=3)
    assert {run.column(name).kind for name in run.parts["front_left"].values()} == {
        "coordinate", "speed", "slip", "ground", "load",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".CSV"])
def test_plain_files_give_back_names_and_numbers_exactly(run, tmp_path, suffix):
    again = Run.load(run.save(tmp_path / f"run{suffix}"))
    same_numbers(run, again)


def test_xarray_opens_the_file_and_sees_what_dataset_shows(run, tmp_path):
    with xarray.open_dataset(run.save(tmp_path / "run.nc")) as dataset:
        xarray.testing.assert_identical(dataset.load(), run.dataset)
    assert run.dataset["right.angle"].dims == ("time",)
    assert run.dataset["right.angle"].attrs == {
        "units": "rad",
        "long_name": "angle of right",
        "role": "coordinates",
    }
    assert run.dataset.time.attrs["units"] == "s"
    assert "Räder" in run.dataset.attrs["description"]


def test_pandas_alone_reads_the_plain_file(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(run.save(tmp_path / "run.csv"))
    np.testing.assert_allclose(frame["right.angle"], run["right.angle"], rtol=1e-15)
    assert run.dataset.to_dataframe().index.name == "time"


def test_final_is_of_the_states(run):
    assert list(run.final) == ["x", "theta", "right.angle", "omega", "right_motor.current"]
    assert run.final["x"] == run["x"][-1]
    assert run.duration == 3.0
    assert len(run) == 7


def test_unknown_name_says_the_near_one(run):
    with pytest.raises(InputError, match="did you mean 'right.angle'"):
        run["right.angel"]
    with pytest.raises(InputError, match="did you mean 'right.angle'"):
        run.final["right.angel"]
    assert "right.angle" in run
    assert "time" in run
    assert "nothing" not in run


def test_a_run_stays_as_it_is(run):
    with pytest.raises(ValueError, match="read-only"):
        run["x"][0] = 1
    with pytest.raises(TypeError):
        run.values["new"] = run["x"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": []}, "at least one"),
        ({"time": [0.0, np.nan]}, "never falls"),
        ({"time": [1.0, 0.0]}, "never falls"),
        ({"time": [0.0, 1.0], "values": {"x": [1.0]}}, "shape"),
        ({"values": {"time": [0.0]}}, "'time'"),
        ({"units": {"y": "m"}}, "unit"),
        ({"groups": {"state": ["x"]}}, "group"),
        ({"groups": {"coordinates": ["y"]}}, "value 'y', which is not there"),
    ],
)
def test_wrong_contents_are_errors(change, message):
    with pytest.raises(InputError, match=message):
        Run(**{"name": "a", "time": [0.0], "values": {"x": [1.0]}} | change)


@pytest.mark.parametrize("name", ["run", "run.txt", "run.nc.gz"])
def test_unknown_suffix_is_an_error(run, tmp_path, name):
    with pytest.raises(InputError, match=r"\.nc, \.csv"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_json_cannot_hold_is_an_error_and_leaves_nothing(tmp_path):
    run = Run("a", np.zeros(1), {"x": np.ones(1)}, description={"robot": object()})
    with pytest.raises(InputError, match="plain data"):
        run.save(tmp_path / "a.nc")
    with pytest.raises(InputError, match="cannot hold the name"):
        Run("a", np.zeros(1), {"a/b": np.ones(1)}).save(tmp_path / "a.nc")
    assert not list(tmp_path.iterdir())


def test_large_descriptions_fit(tmp_path):
    run = Run(
        "a",
        np.zeros(1),
        {"x": np.ones(1)},
        description={"yaml": "a: 1\n" * 100_000, "sketch": list(range(50_000))},
    )
    assert Run.load(run.save(tmp_path / "a.nc")).description == run.description


def test_representations_are_short_and_safe(run):
    assert repr(run).startswith("Run 'diff_drive': 7 samples from 0 s to 3 s, 7 values; ends at x = ")
    assert len(repr(run)) < 200
    html = Run("<script>", run.time, dict(run.values))._repr_html_()
    assert "<script>" not in html
    assert "right.angle" in html


@pytest.mark.slow
def test_writing_imports_nothing_heavy(tmp_path):
    code = (
        "import sys; from trundle.results import Run; run = Run('a', [0.0], {'x': [1.0]});"
        f"[run.save({str(tmp_path)!r} + '/a' + suffix) for suffix in ('.nc', '.csv')];"
        "heavy = {'xarray', 'pandas', 'scipy', 'sympy', 'matplotlib', 'casadi'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

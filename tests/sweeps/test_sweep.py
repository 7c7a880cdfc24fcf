"""Sweeps: the rows of robots are those of rollouts, whoever rolls them; stores are gone on with, or refused."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle import InputError, NumericsError
from trundle.sweeps.outcome import Sweep
from trundle.sweeps.store import open_store

VOLTS = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}
OVER = {"r": "14 cm:16 cm:3", "body.mass": "uniform(40, 60)", "inputs.left_motor.voltage": "normal(20, 1)"}
MEASURES = [
    "final.x", "max(energy.kinetic)", "min(y)", "mean(v_x)", "integral(power.in)", "rms(omega)", "first(x > 0.1)",
]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return trundle.derive(trundle.catalog.differential_drive())


def swept(model, **how):
    given = {
        "over": OVER,
        "samples": 50,
        "measures": MEASURES,
        "steps": 200,
        "inputs": VOLTS,
        "threads": 1,
    } | how
    return trundle.sweep(model, **given)


def rows(found):
    return {name: found.store.read(name) for name in found.store.names}


def same(one, other):
    a, b = rows(one), rows(other)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a)


def test_measures_are_those_of_the_rollout(model):
    found = swept(model)
    batch = trundle.rollout(
        model, steps=200, dt=1e-3, parameters={name: found[name] for name in ("r", "body.mass")},
        inputs={**VOLTS, "left_motor.voltage": found["inputs.left_motor.voltage"]},
    )  # fmt: skip
    t = batch.time
    v = {name: batch.values[:, batch.states.index(name)] for name in ("x", "y", "v_x", "omega")}
    v |= {name: batch.output(name) for name in ("energy.kinetic", "power.in")}
    wanted = {
        "final.x": v["x"][-1],
        "max(energy.kinetic)": v["energy.kinetic"].max(axis=0),
        "min(y)": v["y"].min(axis=0),
        "mean(v_x)": np.trapezoid(v["v_x"], t, axis=0) / t[-1],
        "integral(power.in)": np.trapezoid(v["power.in"], t, axis=0),
        "rms(omega)": np.sqrt(np.trapezoid(v["omega"] ** 2, t, axis=0) / t[-1]),
        "first(x > 0.1)": np.array([np.interp(0.1, x, t) for x in v["x"].T]),
    }
    for name, values in wanted.items():
        assert np.abs(found[name] - values).max() < 1e-11 * max(1.0, np.abs(values).max()), name
    assert found.diverged == 0


def test_a_level_that_is_never_passed_or_passed_at_the_start(model):
    found = swept(
        model, over={"r": [0.15]}, samples=1, measures=["first(x > 9)", "first(x < 9)", "first(y < -1 m)"]
    )
    assert np.isnan(found["first(x > 9)"]).all()
    assert (found["first(x < 9)"] == 0).all()
    assert np.isnan(found["first(y < -1 m)"]).all()


def test_stepped_inputs_are_measured_as_rollouts_show_them():
    robot = trundle.catalog.differential_drive()
    steps = 100
    volts = np.linspace(0, 24, steps)[:, None]
    found = trundle.sweep(
        robot, over={"r": "0.14, 0.15"}, inputs={"left_motor.voltage": volts, "right_motor.voltage": 12.0},
        measures=["final.left_motor.power", "max(left_motor.power)"], steps=steps,
    )  # fmt: skip
    batch = trundle.rollout(
        robot, parameters={"r": found["r"]}, steps=steps,
        inputs={"left_motor.voltage": volts, "right_motor.voltage": 12.0},
    )  # fmt: skip
    power = batch.output("left_motor.power")
    assert np.abs(found["final.left_motor.power"] - power[-1]).max() < 1e-9
    assert np.abs(found["max(left_motor.power)"] - power.max(axis=0)).max() < 1e-9


@pytest.mark.parametrize("robot", ["differential_drive", pytest.param("four_bar", marks=pytest.mark.slow)])
def test_bits_hang_on_neither_threads_nor_chunks(robot):
    model = trundle.derive(getattr(trundle.catalog, robot)())
    name = next(iter(model.parameters)) if robot == "four_bar" else "body.mass"
    value = model.parameters[name]
    how = {
        "over": {name: f"uniform({0.99 * value}, {1.01 * value})"}, "samples": 9001, "steps": 20,
        "measures": [f"final.{model.states[0]}", f"rms({model.states[-1]})"], "inputs": {},
    }  # fmt: skip
    whole = swept(model, **how, threads=2)
    assert same(whole, swept(model, **how, chunk=4096))
    assert same(whole, swept(model, **how, chunk=8192, threads=3))
    last = whole.work.rows(9000, 1)
    assert all(last[key][0] == whole.store.read(key)[-1] for key in last)


@pytest.mark.parametrize("chunk", [4096, 65_536, 69_632, 126_976, 131_072, 1_048_576, 1_052_672])
def test_no_two_chunks_share_a_file(model, tmp_path, chunk):
    """Whoever writes a part of a file writes the rest as it was read: a neighbour's rows would be lost."""
    place = tmp_path / "sweep.zarr"
    found = swept(model, samples=100, steps=1, chunk=chunk, store=place)
    for name in found.store.names:
        array = found.store.group[name]
        assert array.shards == (chunk,)
        assert chunk % array.chunks[0] == 0
        assert 4096 <= array.chunks[0] <= 65_536


def test_threads_that_write_neighbours_lose_no_row(model):
    """A million robots on two threads are 126,976 a chunk, as long as nobody asks for another size."""
    how = {"over": {"r": "uniform(0.14, 0.16)"}, "samples": 1_000_000, "steps": 1, "measures": ["final.x"]}
    for _ in range(3):
        found = swept(model, **how, threads=2)
        assert found.store.chunk == 126_976
        assert all(np.isfinite(found[name]).all() for name in ("r", "final.x"))


def test_a_store_whose_chunks_share_files_is_not_gone_on_with(model, tmp_path, monkeypatch):
    place = tmp_path / "sweep.zarr"
    how = {"samples": 100, "steps": 1, "chunk": 8192, "store": place}
    swept(model, **how)
    of_before = replace(open_store(place), chunk=4096)
    monkeypatch.setattr("trundle.sweeps.sweeping.open_store", lambda _: of_before)
    with pytest.raises(InputError, match="earlier version"):
        swept(model, **how, resume=True)


def test_a_store_is_gone_on_with(model, tmp_path):
    place = tmp_path / "sweep.zarr"
    how = {"samples": 5000, "steps": 20, "chunk": 4096}
    whole = swept(model, **how, store=place)
    assert same(whole, swept(model, **how))
    store = open_store(place)
    store.group["trundle/whole"][1] = 0
    store.group["final.x"][4096:8192] = 0.0  # as a chunk that was under way may lie there
    again = swept(model, **how, store=place, resume=True)
    assert again.skipped == again.count - 4096
    assert same(again, swept(model, **how))
    loaded = Sweep.load(place)
    assert same(loaded, again)
    assert loaded.measures == tuple(MEASURES)


def test_other_stores_are_refused(model, tmp_path):
    place = tmp_path / "sweep.zarr"
    swept(model, store=place)
    with pytest.raises(InputError, match="is there already"):
        swept(model, store=place)
    for how, says in (
        ({"samples": 51}, "what varies"), ({"measures": ["final.x"]}, "the measures"), ({"steps": 100}, "the steps"),
        ({"inputs": {}}, "the inputs"), ({"parameters": {"d": 0.1}}, "the parameters"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"differs in {says}"):
            swept(model, store=place, resume=True, **how)
    other = trundle.catalog.differential_drive(track=1.0)
    with pytest.raises(InputError, match="differs in the model"):
        swept(other, store=place, resume=True)
    before = rows(Sweep.load(place))
    store = open_store(place)
    store.group.attrs["instructions"] = "another"
    with pytest.raises(InputError, match="begun with instructions of another"):
        swept(model, store=place, resume=True)
    assert swept(model, store=place, resume=True, other_cpu=True).count == 150
    assert all(np.array_equal(before[name], values) for name, values in rows(Sweep.load(place)).items())
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no sweep"):
        Sweep.load(tmp_path / "empty")
    with pytest.raises(InputError, match="is there already"):
        swept(model, store=tmp_path / "empty")


def test_a_newer_format_is_said(model, tmp_path, monkeypatch):
    from trundle.sweeps import definition

    monkeypatch.setattr(definition, "FORMAT", 3)
    swept(model, store=tmp_path / "sweep.zarr")
    monkeypatch.undo()
    with pytest.raises(InputError, match="format 3, this Trundle reads format 2"):
        Sweep.load(tmp_path / "sweep.zarr")


@pytest.mark.skipif(sys.platform == "win32", reason="folders can't be locked there")
def test_a_store_in_use_is_refused(model, tmp_path):
    from trundle.files import locked

    place = tmp_path / "sweep.zarr"
    swept(model, store=place)
    with locked(place), pytest.raises(InputError, match="another sweep writes"):
        swept(model, store=place, resume=True)


def test_diverged_robots_say_so(model):
    found = swept(
        model, over={"initial.v_x": [0.0, 1e200]}, samples=1, steps=3, measures=["final.x", "max(v_x)"]
    )
    assert found.diverged == 1
    assert found.store.read("diverged").tolist() == [0.0, 1.0]
    assert np.isnan(found["max(v_x)"][1])
    assert np.isfinite(found["max(v_x)"][0])


def test_a_full_disk_keeps_what_is_whole(model, tmp_path, monkeypatch):
    from trundle.sweeps.store import Store

    place, written = tmp_path / "sweep.zarr", Store.write

    def full(self, index, rows):
        if index == 2:
            raise NumericsError("cannot write: no space is left")
        written(self, index, rows)

    how = {"samples": 6000, "steps": 5, "chunk": 4096, "store": place}
    monkeypatch.setattr(Store, "write", full)
    with pytest.raises(NumericsError, match="no space is left"):
        swept(model, **how)
    monkeypatch.undo()
    assert Sweep.load(place).store.whole()[:2].all()
    assert swept(model, **how, resume=True).finished


def test_statistics_are_numpys(model):
    found = swept(model, samples=400, steps=20)
    for name in ("final.x", "rms(omega)", "body.mass"):
        values = found[name]
        whole = found.moments(name)
        assert whole.count == values.size
        assert whole.mean == pytest.approx(values.mean(), rel=1e-13)
        assert whole.deviation == pytest.approx(values.std(ddof=1), rel=1e-10)
        assert (whole.least, whole.greatest) == (values.min(), values.max())
        assert np.allclose(
            found.quantiles(name, (0, 0.1, 0.5, 1)), np.quantile(values, (0, 0.1, 0.5, 1)), rtol=1e-15
        )
        counts, edges = found.histogram(name, 7)
        wanted = np.histogram(values, 7)
        assert np.array_equal(counts, wanted[0])
        assert np.allclose(edges, wanted[1])
    best = found.extremes("final.x", 3)
    assert best == np.argsort(-found["final.x"], kind="stable")[:3].tolist()


def test_quantiles_are_found_by_narrower_bins(monkeypatch):
    from trundle.sweeps import statistics

    monkeypatch.setattr(statistics, "_SORTED", 10)
    monkeypatch.setattr(statistics, "_BINS", 16)
    rng = np.random.default_rng(2)
    blocks = [np.append(rng.normal(size=1000), [np.nan, 1.0, 1.0]) for _ in range(5)]
    values = np.concatenate(blocks)
    values = values[np.isfinite(values)]
    shares = np.array([0.0, 0.01, 0.5, 0.999, 1.0])
    assert np.array_equal(statistics.quantiles(lambda: blocks, shares), np.quantile(values, shares))


def test_a_robots_whole_run_is_there(model):
    found = swept(model)
    run = found.run(77, samples=11)
    assert run.final["x"] == pytest.approx(found["final.x"][77], abs=1e-7)
    with pytest.raises(InputError, match="no robot 150"):
        found.run(150)


@pytest.mark.slow
def test_sobol_indices_of_ishigamis_function(model):
    """y = sin a + 7 sin² b + 0.1 c⁴ sin a, as the rate of a state of a SymPy model (Ishigami and Homma 1990)."""
    import sympy as sp
    from sympy.physics import mechanics as me

    a, b, c = sp.symbols("a b c")
    q, u = me.dynamicsymbols("q u")
    frame, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(frame, 0)
    point = origin.locatenew("P", q * frame.x)
    point.set_vel(frame, u * frame.x)
    force = sp.sin(a) + 7 * sp.sin(b) ** 2 + sp.Rational(1, 10) * c**4 * sp.sin(a)
    method = me.KanesMethod(frame, [q], [u], [q.diff() - u])
    method.kanes_equations([me.Particle("p", point, 1)], [(point, force * frame.x)])
    known = trundle.from_sympy(method, parameters={a: 0.0, b: 0.0, c: 0.0})
    wide = f"uniform({-np.pi}, {np.pi})"
    found = trundle.sweep(
        known, over={"a": wide, "b": wide, "c": wide}, samples=2**13, draws="indices", steps=10, dt=0.1,
        measures=["final.u"],
    )  # fmt: skip
    own = found.sobol_indices("final.u")
    assert np.abs(own.first - [0.3139, 0.4424, 0.0]).max() < 0.01
    assert np.abs(own.total - [0.5576, 0.4424, 0.2437]).max() < 0.01
    assert (own.first_interval[:, 0] <= own.first).all()


def test_the_command_says_what_the_library_finds(tmp_path, capsys):
    from trundle.cli.app import main

    place = tmp_path / "out.zarr"
    words = [
        "sweep",
        "examples/diff_drive/circle.yaml",
        "--vary",
        "r=14 cm:16 cm:3",
        "--vary",
        "body.mass=normal(50, 2)",
    ]
    words += ["--samples", "20", "--measure", "final.x", "--measure", "first(x > 1 m)", "--duration", "0.5 s"]
    assert main([*words, "--store", str(place), "--figure", str(tmp_path / "out.png"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = Sweep.load(place)
    assert told["robots"] == 60
    assert told["measures"]["final.x"]["mean"] == pytest.approx(found["final.x"].mean())
    assert found["r"].tolist() == np.repeat(np.linspace(0.14, 0.16, 3), 20).tolist()
    assert (tmp_path / "out.png").stat().st_size > 10_000
    run = trundle.run(
        "examples/diff_drive/circle.yaml", duration=0.5,
        parameters={"r": 0.14, "body.mass": float(found["body.mass"][0])},
    )  # fmt: skip
    assert run.final["x"] == pytest.approx(found["final.x"][0], abs=1e-7)
    one = [words[0].replace("sweep", "run"), words[1], "--like", f"{place}:0", "--json", "--no-figures"]
    assert main([*one, "--output", str(tmp_path / "run.nc")]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["x"] == pytest.approx(found["final.x"][0], abs=1e-7)
    assert main([*one[:3], f"{place}:60"]) == 1
    assert "there is no robot 60" in capsys.readouterr().err
    assert main([*words, "--store", str(place)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert main([*words, "--store", str(place), "--resume"]) == 0
    assert "60 of them were in the store already" in capsys.readouterr().out
    assert (
        main(["sweep", "examples/diff_drive/circle.yaml", "--vary", "radius=1:2:3", "--measure", "final.x"])
        == 1
    )
    assert "nothing called 'radius' that can vary" in capsys.readouterr().err
    assert (
        main(["sweep", "examples/diff_drive/circle.yaml", "--vary", "r=1:2:3", "--measure", "final.z"]) == 1
    )
    assert "no state or output 'z'" in capsys.readouterr().err


def test_what_cannot_be_leaves_no_store(model, tmp_path, monkeypatch):
    """Neither where the first robots show it, nor where the first chunk does."""
    from trundle.sweeps.work import Work

    place = tmp_path / "sweep.zarr"
    with pytest.raises(InputError, match="radius must be greater than zero"):
        swept(model, over={"r": "normal(0.05, 0.05)"}, store=place)
    assert not place.exists()
    monkeypatch.setattr(Work, "check", lambda self: None)
    with pytest.raises(InputError, match="radius must be greater than zero"):
        swept(model, over={"r": "normal(0.05, 0.05)"}, store=place)
    assert not place.exists()


def test_an_error_in_a_later_chunk_says_of_which_robots(model):
    values = np.full(5000, 0.15)
    values[4900] = -0.1
    with pytest.raises(InputError, match="among robots 4,096 to 4,999, counted from there: robot 804"):
        swept(model, over={"r": values}, samples=1, steps=2, chunk=4096)


def test_xarray_opens_a_store_without_a_warning(model, tmp_path):
    import warnings

    import xarray

    place = tmp_path / "sweep.zarr"
    found = swept(model, store=place)
    with warnings.catch_warnings(action="error"):
        data = xarray.open_zarr(place)
    assert data["body.mass"].attrs["units"] == "kg"
    assert np.array_equal(data["final.x"].values, found["final.x"])


def test_words_and_figure_show_the_ends(model, tmp_path):
    from trundle.show.summaries.sweep_summary import sweep_record, sweep_text

    found = swept(model)
    robot = found.extremes("final.x", 1)[0]
    measures = sweep_record(found)["measures"]
    assert isinstance(measures, dict)
    assert measures["final.x"]["robot_of_greatest"] == robot
    (line,) = [each for each in sweep_text(found).splitlines() if each.split()[:2] == ["final.x", str(robot)]]
    assert f"{found['body.mass'][robot]:.4g}" in line
    assert "--samples" in sweep_text(swept(model, samples=1, steps=2))
    panels = found.figure().axes
    assert len(panels) == (1 + len(MEASURES)) * (1 + len(OVER))

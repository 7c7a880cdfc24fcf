"""Sweeps over terrain: rows are those of rollouts and of single runs; the same bits, whoever rolls them."""

import json

import numpy as np
import pytest

import trundle
from tests.terrain.test_runs import box, rates
from trundle import InputError
from trundle.sweeps.cluster import roll_chunk
from trundle.sweeps.definition import digest
from trundle.sweeps.outcome import Sweep

ROUGH = {"surfaces": {"ground": {"type": "fractal", "slope": 0.2, "shortest": 0.5, "longest": 2.0}}}
OVER = {
    "terrain.seed": [4, 0, 9], "terrain.surfaces.ground.scale": "uniform(0.2, 1)",
    "initial.yaw": "uniform(-90 deg, 90 deg)", "wheels.fl.friction": "normal(0.8, 0.05)",
}  # fmt: skip
MEASURES = [
    "final.x", "final.fl.load", "max(tilt)", "min(z)", "mean(fl.load)", "integral(power.lost)", "rms(v_x)",
    "first(x > 10 cm)",
]  # fmt: skip
STEPS, DT = 20, 0.05


def swept(robot=None, **how):
    given = {
        "terrain": ROUGH, "over": OVER, "samples": 3, "measures": MEASURES, "inputs": rates(3.0), "steps": STEPS,
        "dt": DT, "threads": 1, "progress": False,
    } | how  # fmt: skip
    return trundle.sweep(box() if robot is None else robot, **given)


def same(one, other):
    names = one.store.names
    return names == other.store.names and all(
        np.array_equal(one.store.read(name), other.store.read(name), equal_nan=True) for name in names
    )


@pytest.fixture(scope="module")
def found():
    return swept()


@pytest.mark.slow
def test_measures_are_those_of_the_rollout(found):
    varied = {name: found[name] for name in OVER if not name.startswith("initial")}
    batch = trundle.rollout(
        box(), terrain=ROUGH, parameters=varied, initial={"yaw": found["initial.yaw"]}, inputs=rates(3.0),
        steps=STEPS, dt=DT, progress=False,
    )  # fmt: skip
    t, load, x = batch.time, batch.output("fl.load"), batch["x"]
    wanted = {
        "final.x": x[-1],
        "final.fl.load": load[-1],
        "max(tilt)": batch.output("tilt").max(axis=0),
        "min(z)": batch["z"].min(axis=0),
        "mean(fl.load)": np.trapezoid(load, t, axis=0) / t[-1],
        "integral(power.lost)": np.trapezoid(batch.output("power.lost"), t, axis=0),
        "rms(v_x)": np.sqrt(np.trapezoid(batch["v_x"] ** 2, t, axis=0) / t[-1]),
    }
    for name, values in wanted.items():
        assert np.abs(found[name] - values).max() < 1e-9 * max(1.0, np.abs(values).max()), name
    for robot, when in enumerate(found["first(x > 10 cm)"]):
        after = np.flatnonzero(x[:, robot] > 0.1)
        assert np.isnan(when) if not after.size else t[after[0] - 1] <= when <= t[after[0]]


@pytest.mark.slow
def test_a_robots_whole_run_is_there(found):
    run = found.run(7)
    assert run["x"][-1] == pytest.approx(found["final.x"][7], abs=1e-11)
    assert run["tilt"].max() == pytest.approx(found["max(tilt)"][7], abs=1e-11)
    assert found.robot(7)["parameters"]["terrain.seed"] == 9


@pytest.mark.slow
def test_bits_hang_on_neither_threads_nor_chunks_nor_workers(tmp_path):
    how = {"samples": 2800, "steps": 4, "measures": MEASURES[:3]}
    whole = swept(**how, chunk=8192)
    assert whole.count > 8192
    place = tmp_path / "sweep.zarr"
    stored = swept(**how, chunk=4096, threads=3, store=place)
    assert same(whole, stored)
    assert roll_chunk(str(place), digest(stored.store.definition), 1, False) == 4096
    loaded = Sweep.load(place)
    assert same(whole, loaded)
    last = loaded.work.rows(whole.count - 1, 1)
    assert all(last[name][0] == whole.store.read(name)[-1] for name in whole.measures)
    again = swept(**how, chunk=4096, store=place, resume=True)
    assert again.skipped == whole.count
    with pytest.raises(InputError, match="differs in the robot or its ground"):
        swept(**how, store=place, resume=True, terrain={**ROUGH, "sinkage": "1 cm"})


@pytest.mark.slow
def test_fates_are_those_of_rollouts():
    tall = box(
        body={"mass": 40.0, "center_of_mass": [0, 0, 0.5], "inertia": {"xx": 1.0, "yy": 1.5, "zz": 2.0}}
    )
    slope = {"surfaces": {"slope": {"type": "plane", "slope": "5 deg", "uphill": "90 deg"}}}
    how = {"samples": 1, "steps": 60, "measures": ["final.x", "max(tilt)"]}
    angles = {"terrain.surfaces.slope.slope": "5 deg, 35 deg"}
    found = swept(tall, terrain=slope, over=angles, inputs=rates(0.0), **how)
    assert found.store.read("overturned").tolist() == [0, 1]
    assert found["max(tilt)"][1] > np.pi / 2
    ice = {"surfaces": {"ground": {"type": "plane"}}, "regions": {"ice": {"friction": 0.5}}}
    found = swept(terrain=ice, over={"terrain.regions.ice.friction": [0.0, 1.0]}, **how)
    assert found.store.read("stuck").tolist() == [1, 0]
    assert found.outcomes["overturned"] == 0


@pytest.mark.slow
def test_who_leaves_a_map_or_never_stands_on_one_has_no_numbers(tmp_path, monkeypatch):
    """And a store has the map of a file, whose folder nobody needs any more."""
    monkeypatch.chdir(tmp_path)
    np.save("flat.npy", np.zeros((4, 3)))
    place = tmp_path / "sweep.zarr"
    surface = {"type": "grid", "file": "flat.npy", "spacing": 1}
    inputs = dict.fromkeys(rates(0.0), 0.0)
    found = swept(
        terrain={"surfaces": {"map": surface}}, samples=1, steps=40, measures=["final.x"], inputs=inputs,
        over={"initial.x": [0.0, 9.0], "initial.v_x": [0.0, 6.0]}, store=place,
    )  # fmt: skip
    assert found.store.read("beyond_map").tolist() == [0, 1, 0, 0]
    assert found.store.read("unsettled").tolist() == [0, 0, 1, 1]
    assert np.isnan(found["final.x"][1:]).all()
    (tmp_path / "flat.npy").unlink()
    loaded = Sweep.load(place)
    assert loaded.run(0)["x"][-1] == pytest.approx(found["final.x"][0], abs=1e-12)
    assert loaded.work.rows(0, 4)["final.x"][0] == found["final.x"][0]


@pytest.mark.slow
def test_inputs_of_steps_and_kinematic_robots():
    ramp = np.linspace(0, 4, STEPS)[:, None]
    inputs = dict.fromkeys(rates(0.0), ramp)
    found = swept(
        over={"terrain.seed": [1, 2]}, samples=1, inputs=inputs, measures=["final.x"], mode="kinematic"
    )
    batch = trundle.rollout(
        box(), terrain=ROUGH, parameters={"terrain.seed": [1, 2]}, inputs=inputs, steps=STEPS, dt=DT,
        mode="kinematic",
    )  # fmt: skip
    assert np.abs(found["final.x"] - batch.final("x")).max() < 1e-12
    assert found.run(1)["x"][-1] == pytest.approx(found["final.x"][1], abs=1e-11)


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"terrain.seed": "uniform(0, 9)"}, "seeds are whole numbers"),
        ({"terrain.seed": [0.5]}, "seeds are whole numbers"),
        ({"terrain.seed": "0:99999:100000"}, "100,000 seeds with .* heights each are too many"),
        ({"terrain.surfaces.ground.slope": [0.1]}, "by which a map is made"),
        ({"terrain.height": [0.1]}, "has no number 'height'"),
        ({"mass": [1.0]}, "nothing called 'mass' that can vary"),
        ({"initial.roll": [1.0]}, "the ground says roll where a robot settles"),
    ],
)
def test_what_cannot_vary_is_said(over, words):
    with pytest.raises(InputError, match=words):
        swept(over=over, samples=1)


@pytest.mark.slow
def test_the_command_sweeps_a_files_ground(tmp_path, capsys):
    from trundle.cli.app import main

    place, file = tmp_path / "out.zarr", "examples/rover/rocker_bogie.yaml"
    words = ["sweep", file, "--vary", "terrain.seed=3:5:3", "--measure", "final.x", "--measure", "max(tilt)"]
    assert main([*words, "--duration", "0.4", "--store", str(place), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["robots"], told["steps"], told["dt"], told["stuck"]) == (3, 20, 0.02, 0)
    one = [
        "run",
        file,
        "--like",
        f"{place}:2",
        "--json",
        "--no-figures",
        "--output",
        str(tmp_path / "run.nc"),
    ]
    assert main(one) == 0
    final = json.loads(capsys.readouterr().out)["final"]
    assert final["x"] == pytest.approx(Sweep.load(place)["final.x"][2], abs=1e-11)

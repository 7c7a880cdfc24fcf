"""`rollout` and `sweep` on a GPU that this machine interprets, against the CPU's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trundle
from derived import derived
from gpu.fake_cuda import FakeGpu
from parameters import SHORT
from tests.sweeps.test_ground import swept as swept_over_terrain
from tests.terrain.test_ground_rollouts import lanes
from trundle.cli import main
from trundle.sweeps.cluster import roll_chunk
from trundle.sweeps.definition import digest
from trundle.sweeps.store import open_store

VOLTS = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}


def near(there: np.ndarray, here: np.ndarray, share: float) -> bool:
    """Whether rows differ by at most a share of their largest numbers, or of a metre or radian if these are less."""
    scale = np.maximum(np.abs(here).max(axis=(0, -1), keepdims=True), 1.0)
    return bool((np.abs(there - here) <= share * scale).all())


def both(name: str, **how):
    """A model's rollout on the GPU and on the CPU."""
    model = derived(name)
    return trundle.rollout(model, device="cuda", **how), trundle.rollout(model, **how)


def test_drives_that_differ(gpu: FakeGpu) -> None:
    how = {"inputs": VOLTS, "parameters": {"r": np.linspace(0.1, 0.2, 30)}, "steps": 20, "every": 5}
    there, here = both("differential_drive", **how)
    assert there.states == here.states
    assert near(there.values, here.values, 1e-12)
    assert near(there.output("power.in"), here.output("power.in"), 1e-12)
    assert there.summary["device"] == "cuda"
    assert "device" not in here.summary


def test_single_precision(gpu: FakeGpu) -> None:
    how = {"inputs": VOLTS, "parameters": {"r": np.linspace(0.1, 0.2, 30)}, "steps": 20, "every": 5}
    model = derived("differential_drive")
    there = trundle.rollout(model, device="cuda", precision="single", **how)
    assert near(there.values, trundle.rollout(model, **how).values, 20 * 2.0**-20)


@pytest.mark.slow
def test_closed_loops_stay_closed(gpu: FakeGpu) -> None:
    model = derived("four_bar")
    start = {model.states[0]: np.linspace(0.9, 1.1, 5)}
    there, here = both("four_bar", initial=start, steps=10, every=10)
    assert near(there.values, here.values, 1e-11)
    assert there.summary["constraint_residual"] < 1e-10


def test_derivatives(gpu: FakeGpu) -> None:
    how = {"inputs": VOLTS, "steps": 5, "every": 5, "gradients": ["r"], "count": 2}
    there, here = both("differential_drive", **how)
    assert np.allclose(there.gradient("x", "r"), here.gradient("x", "r"), rtol=1e-11, atol=1e-15)


SWEPT = {
    "over": {"r": "uniform(0.14, 0.16)", "initial.theta": "uniform(-1, 1)"}, "samples": 4200,
    "inputs": VOLTS, "steps": 5,
    "measures": ["final.x", "max(omega)", "mean(v_x)", "rms(y)", "first(x > 1e-7 m)"],
}  # fmt: skip


def test_sweeps_are_measured_there(gpu: FakeGpu) -> None:
    model = derived("differential_drive")
    there, here = (trundle.sweep(model, device=device, **SWEPT) for device in ("cuda", "cpu"))
    assert gpu.launches
    for name in SWEPT["measures"]:
        a, b = there[name], here[name]
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert near(a[None, ~np.isnan(a)], b[None, ~np.isnan(b)], 1e-12), name


def test_sweeps_have_the_same_bits_whatever_the_chunks(gpu: FakeGpu, tmp_path) -> None:
    model = derived("differential_drive")
    whole = trundle.sweep(model, device="cuda", **SWEPT)
    cut = trundle.sweep(model, device="cuda", chunk=4096, store=tmp_path / "store", **SWEPT)
    for name in (*SWEPT["over"], *SWEPT["measures"]):
        assert np.array_equal(whole[name], cut[name], equal_nan=True)


def test_a_store_belongs_to_its_device(gpu: FakeGpu, tmp_path) -> None:
    model, place = derived("differential_drive"), tmp_path / "store"
    trundle.sweep(model, device="cuda", store=place, **SWEPT)
    trundle.sweep(model, device="cuda", store=place, resume=True, **SWEPT)
    for other in ({"device": "cpu"}, {"device": "cuda", "precision": "single"}):
        with pytest.raises(trundle.InputError, match="it differs in the device or its precision"):
            trundle.sweep(model, store=place, resume=True, **other, **SWEPT)


def test_workers_read_the_device_in_the_store(gpu: FakeGpu, tmp_path: Path) -> None:
    model, place = derived("differential_drive"), tmp_path / "store"
    found = trundle.sweep(model, device="cuda", precision="single", store=place, **SWEPT)
    rows, store = found["final.x"], open_store(place)
    store.group["final.x"][:] = 0.0
    gpu.launches.clear()
    assert roll_chunk(str(place), digest(store.definition), 0, False) == SWEPT["samples"]
    assert gpu.launches
    assert np.array_equal(store.read("final.x"), rows)


@pytest.mark.slow
def test_sweeps_over_terrain(gpu: FakeGpu) -> None:
    there, here = (swept_over_terrain(device=device, steps=3) for device in ("cuda", "cpu"))
    assert gpu.launches
    for name in ("final.x", "final.fl.load", "max(tilt)", "min(z)", "rms(v_x)"):
        assert near(there[name][None], here[name][None], 1e-11), name


def test_the_command(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["sweep", "examples/diff_drive/circle.yaml", "--vary", "r=0.14:0.16:3", "--measure", "final.x"]
    assert main([*sweep, "--duration", "5 ms", "--device", "cuda", "--precision", "single", "--json"]) == 0
    assert gpu.launches
    assert main([*sweep, "--device", "cuda:7"]) == 1
    assert "--device: no GPU answers as 'cuda:7'" in capsys.readouterr().err
    assert main([*sweep, "--precision", "single"]) == 1
    assert "--precision: the CPU computes in double precision" in capsys.readouterr().err


def over_terrain(**how: object) -> trundle.Batch:
    given = {"terrain.surfaces.ground.slope": np.radians([0, 8]), "body.mass": np.array([40.0, 60.0])}
    return lanes({"type": "plane", "slope": "1 deg"}, given, steps=4, every=4, **how)


@pytest.mark.slow
def test_over_terrain(gpu: FakeGpu) -> None:
    assert near(over_terrain(device="cuda").values, over_terrain().values, 1e-12)
    with pytest.raises(trundle.InputError, match="found by rounds, as over terrain, needs double"):
        over_terrain(device="cuda", precision="single")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_every_robot_rolls(gpu: FakeGpu, name: str) -> None:
    """From where it stands, over few steps; in single precision with errors of 2²⁹ times as much."""
    model = derived(name)
    how = {"inputs": dict.fromkeys(model.inputs, 0.5), "count": 3, "steps": 6, "every": 6, "dt": 1e-4}
    here = trundle.rollout(model, **how)
    assert near(trundle.rollout(model, device="cuda", **how).values, here.values, 1e-11)
    single = trundle.rollout(model, device="cuda", precision="single", **how)
    assert near(single.values, here.values, 1e-11 * 2.0**29)

"""Batch: many robots side by side, without copies."""

from pathlib import Path

import numpy as np
import pytest
import xarray

import trundle
from parameters import SHORT, mostly_slow
from trundle import catalog
from trundle.errors import InputError
from trundle.results import Batch, Run

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def batch(rng) -> Batch:
    return Batch(
        name="diff_drive",
        time=np.array([0.0, 0.5, 1.0]),
        states=("x", "right.angle"),
        values=rng.normal(size=(3, 2, 5)),
        units={"x": "m", "right.angle": "rad"},
        parameters={"r": 0.15, "d": rng.normal(size=5)},
        description={"yaml": "robot: {}\n"},
        summary={"steps": 1000},
    )


def test_views_are_not_copies(batch):
    assert batch.count == 5
    assert np.shares_memory(batch["right.angle"], batch.values)
    assert np.shares_memory(batch.dataset["x"].values, batch.values)
    np.testing.assert_array_equal(batch.final("x"), batch.values[-1, 0])
    with pytest.raises(InputError, match="did you mean 'right.angle'"):
        batch["rigth.angle"]


def test_netcdf_gives_back_everything_exactly(batch, tmp_path):
    path = batch.save(tmp_path / "batch.nc")
    again = Batch.load(path)
    for field in ("name", "states", "units", "description", "summary"):
        assert getattr(again, field) == getattr(batch, field), field
    np.testing.assert_array_equal(again.values, batch.values)
    np.testing.assert_array_equal(again.time, batch.time)
    assert again.parameters["r"] == 0.15
    np.testing.assert_array_equal(again.parameters["d"], batch.parameters["d"])
    with xarray.open_dataset(path) as dataset:
        assert dataset["x"].dims == ("time", "robot")
        xarray.testing.assert_identical(dataset.load(), batch.dataset)
    with pytest.raises(InputError, match="'run 1' was expected"):
        Run.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((3, 5))}, "shape"),
        ({"values": np.zeros((2, 2, 5))}, "shape"),
        ({"states": ("x", "x")}, "different names"),
        ({"units": {"z": "m"}}, "state 'z', which is not there"),
        ({"parameters": {"d": np.zeros(4)}}, "shape"),
    ],
)
def test_wrong_contents_are_errors(change, message):
    good = {"name": "a", "time": [0.0, 1.0, 2.0], "states": ("x", "y"), "values": np.zeros((3, 2, 5))}
    with pytest.raises(InputError, match=message):
        Batch(**good | change)


def test_representations(batch):
    assert repr(batch) == (
        "Batch 'diff_drive': 5 robots, 3 saved times from 0 s to 1 s; states x, right.angle"
    )
    assert "right.angle" in batch._repr_html_()


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        [*SHORT, "double.yaml", "two_modules.yaml"],
        ["differential_drive", "four_bar", "double.yaml"],
    ),
)
def test_a_robot_has_the_same_bits_among_whatever_others(rng, name):
    found = EXAMPLES.glob(f"*/{name}") if name.endswith(".yaml") else ()
    model = trundle.derive(next((trundle.load(path) for path in found), None) or catalog.robot(name))
    count = 7
    free = model.coordinates[:1] if model.manifold is None else ()  # what completes starts rounds by itself
    given = {
        "initial": {name: rng.normal(size=count) / 20 for name in free},
        "inputs": {name: rng.normal(size=count) for name in model.inputs},
    }
    batch = trundle.rollout(model, count=count, steps=50, **given).values
    for k in range(count):  # beside itself: what doesn't differ in a batch may be added up in another order
        own = {what: {n: v[[k, k]] for n, v in values.items()} for what, values in given.items()}
        np.testing.assert_array_equal(trundle.rollout(model, steps=50, **own).values[..., 0], batch[..., k])

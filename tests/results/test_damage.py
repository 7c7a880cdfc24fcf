"""Damaged results: refused in the user's terms, or the numbers as they were; never a raw error."""

import io
import json
import tracemalloc
from contextlib import suppress

import netCDF4
import numpy as np
import pytest

import trundle
from trundle import Batch, InputError, Run

TIME = np.linspace(0.0, 1.0, 20)
RUN = Run(
    "a",
    TIME,
    {"x": np.arange(20.0), "right.angle": np.sin(TIME), "omega": np.full(20, np.nan)},
    units={"x": "m", "right.angle": "rad"},
    description={"yaml": "robot: {name: Räder}\n", "parameters": {"r": 0.1}},
    groups={"coordinates": ["x", "right.angle"], "speeds": ["omega"]},
)
BATCH = Batch(
    "b",
    TIME,
    ["x", "v"],
    np.random.default_rng(1).normal(size=(20, 2, 3)),
    units={"v": "m/s"},
    parameters={"m": 2.0, "r": np.array([0.1, 0.2, 0.3])},
)


def facts(noun: Run | Batch) -> list[object]:
    """All that a file keeps of it, in a form that compares to the last bit."""
    about = [noun.name, dict(noun.units), dict(noun.description), dict(noun.summary), noun.time.tobytes()]
    if isinstance(noun, Run):
        return [*about, noun.groups, [(name, noun[name].tobytes()) for name in noun.values]]
    parameters = {name: np.asarray(value).tobytes() for name, value in noun.parameters.items()}
    return [*about, noun.states, noun.values.tobytes(), parameters]


@pytest.mark.parametrize("noun", [RUN, BATCH], ids=["run", "batch"])
@pytest.mark.campaign
def test_a_flipped_bit_is_refused_or_changes_nothing(noun, campaign, tmp_path):
    whole = noun.save(tmp_path / "whole.nc")
    content, before = whole.read_bytes(), facts(type(noun).load(whole))
    loaded = 0
    path = tmp_path / "other.nc"
    for rng in campaign(1000):
        bit = int(rng.integers(8 * len(content)))
        print(f"bit {bit}")
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with suppress(InputError):
            found = type(noun).load(path)
            assert facts(found) == before
            loaded += 1
    print(f"{loaded} were loaded as they were")


def test_changed_numbers_names_units_and_order_are_refused(tmp_path):
    path = RUN.save(tmp_path / "a.nc")
    content = path.read_bytes()
    number = np.float64(RUN["right.angle"][7]).tobytes()
    for old, new in ((number, np.float64(7.0).tobytes()), (b"right.angle", b"right.amgle")):
        assert old in content
        path.write_bytes(content.replace(old, new))
        with pytest.raises(InputError, match="damaged"):
            Run.load(path)
    path.write_bytes(content)
    assert facts(Run.load(path))[-1] == facts(RUN)[-1]


def test_what_is_changed_on_purpose_is_read(tmp_path):
    path = RUN.save(tmp_path / "a.nc")
    sealed = path.stat().st_size
    with netCDF4.Dataset(path, "a") as file:
        file["x"][3] = 42.0
    assert path.stat().st_size < sealed
    assert Run.load(path)["x"][3] == 42.0
    (RUN.dataset * 2).assign_attrs(RUN.dataset.attrs).to_netcdf(tmp_path / "b.nc")
    assert Run.load(tmp_path / "b.nc")["x"][3] == 6.0


WRONG = [
    {"trundle_data": 3},
    {"trundle_data": [1.0, 2.0]},
    {"trundle_data": "[" * 100_000},
    {"trundle_data": json.dumps({"groups": 3})},
    {"trundle_data": json.dumps({"groups": {"speeds": 3}})},
    {"trundle_data": json.dumps({"groups": {"speeds": [3]}})},
    {"trundle_data": json.dumps({"groups": {"speeds": [["x"]]}})},
    {"trundle_data": json.dumps({"description": 3})},
    {"trundle_data": json.dumps({"summary": []})},
    {"trundle_data": json.dumps({"parameters": {"m": "heavy"}})},
    {"trundle_data": json.dumps({"parameters": [1]})},
    {"trundle_data": json.dumps({"varied": 3})},
    {"trundle_data": json.dumps({"other": 3})},
    {"trundle_format": 1},
    {"trundle_format": [1, 1]},
]


@pytest.mark.parametrize("noun", [RUN, BATCH], ids=["run", "batch"])
@pytest.mark.parametrize("change", WRONG, ids=str)
def test_attributes_of_the_wrong_type(noun, change, tmp_path):
    path = noun.save(tmp_path / "a.nc")
    with netCDF4.Dataset(path, "a") as file:
        file.setncatts(change)
    with pytest.raises(InputError):
        type(noun).load(path)


def test_titles_and_units_of_the_wrong_type_are_text(tmp_path):
    path = RUN.save(tmp_path / "a.nc")
    with netCDF4.Dataset(path, "a") as file:
        file.setncatts({"title": 3, "description": [1.0, 2.0]})
        file["x"].units = 3
    run = Run.load(path)
    assert (run.name, run.units["x"], run.description["yaml"]) == ("3", "3", "[1. 2.]")


def test_a_small_file_cannot_ask_for_memory(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", 4_000_000_000)
        file.createVariable("time", "f8", ("time",))
        file.setncatts({"trundle_format": "run 1", "trundle_data": "{}"})
    assert path.stat().st_size < 1000
    tracemalloc.start()
    for noun in (Run, Batch):
        with pytest.raises(InputError, match="no room"):
            noun.load(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_compressed_files_are_read(tmp_path):
    with netCDF4.Dataset(RUN.save(tmp_path / "a.nc")) as old, netCDF4.Dataset(tmp_path / "b.nc", "w") as new:
        new.setncatts({name: old.getncattr(name) for name in old.ncattrs()})
        new.createDimension("time", len(TIME))
        for name, variable in old.variables.items():
            made = new.createVariable(name, "f8", ("time",), fill_value=False, compression="zlib")
            made.setncatts({each: variable.getncattr(each) for each in variable.ncattrs()})
            made[...] = variable[...].data
    assert facts(Run.load(tmp_path / "b.nc")) == facts(RUN)


@pytest.mark.parametrize("given", [5, None, b"a.nc", io.BytesIO(), ["a.nc"], "", "a\nb.nc"])
def test_what_is_no_path(given):
    for load in (Run.load, Batch.load, trundle.load, RUN.save, BATCH.save):
        with pytest.raises(InputError):
            load(given)

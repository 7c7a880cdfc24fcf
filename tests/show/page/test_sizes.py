"""How large pages are, and that what makes them small changes nothing that is seen."""

import json
import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trundle
from languages.node import run_module
from trundle.show.page import page_of
from trundle.show.page.inert_json import plain, to_json
from trundle.show.page.joining import joined
from trundle.show.page.live import live_data
from trundle.show.page.payload import run_data
from trundle.simulation.runfile import Changes

ROOT = Path(__file__).parents[3]
CIRCLE = "examples/diff_drive/circle.yaml"


def size_on_the_site(text, folder):
    """Bytes of a page whose script and style the site's pages share."""
    live = pytest.importorskip("tools.site.live")  # where Sphinx and its gallery are there
    return len(live.share(text, folder, "").encode())


@pytest.mark.slow
def test_a_loop_with_sampled_commands_is_2_mb(tmp_path):
    page = page_of(ROOT / "examples/feedback/eight.yaml", progress=False)
    assert size_on_the_site(page, tmp_path) < 2.1e6


@pytest.mark.slow
def test_the_walk_of_the_leg_s_tutorial_is_half_of_its_3_mb(tmp_path, monkeypatch):
    pytest.importorskip("ezc3d")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "examples/gait"))
    runpy.run_path(str(ROOT / "site/tutorials/plot_3_leg.py"))
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    assert size_on_the_site(page, tmp_path) < 1.55e6


def test_equal_arrays_are_written_once_and_read_everywhere():
    arrays = [np.arange(3.0), np.array([1, 2], np.uint16), np.arange(3.0), np.zeros(3), np.zeros(3)]
    # a browser reads names that are whole numbers first
    given = {"z": arrays[:2], "1": {"base64": "base64", "x": arrays[2]}, "0": arrays[3:], "same": 1}
    text = to_json(given)
    numbers: Any = plain(arrays[0])
    assert text.count(numbers["base64"]) == 1
    script = f"""
    const given = decode(JSON.parse({json.dumps(text)}));
    const read = (_, value) => (ArrayBuffer.isView(value) ? [value.constructor.name, ...value] : value);
    console.log(JSON.stringify(given, read), given.z[0] === given[1].x);
    """
    said, same = run_module(joined("data") + script).decode().rsplit(" ", 1)
    eight, zeros = ["Float64Array", 0, 1, 2], ["Float64Array", 0, 0, 0]
    assert json.loads(said) == {
        "z": [eight, ["Uint16Array", 1, 2]],
        "1": {"base64": "base64", "x": eight},
        "0": [zeros, zeros],
        "same": 1,
    }
    assert same.strip() == "true"


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_values_are_in_single_precision_where_nobody_sees_it(offset):
    run = trundle.run(CIRCLE, initial={"x": offset}, duration=0.5, samples=101)
    data: Any = run_data([run])
    drawn = data["run"]["values"]["x"]
    assert drawn.dtype == (np.float64 if offset else np.float32)
    assert np.abs(drawn - run["x"]).max() <= 1e-4 * np.ptp(run["x"])


def test_tables_of_single_precision_have_the_digits_that_they_hold():
    script = "console.log(csvOf({ time: [0, 1, 2], values: { x: Float32Array.of(0.1, NaN, 16777217 / 3) } }))"
    text = run_module(joined("amounts") + script).decode()
    assert text.split() == ["time,x", "0,0.1", "1,NaN", "2,5592405.5"]


@pytest.mark.parametrize(
    "function", [lambda t: 20 + 4 * math.sin(3 * t), lambda t: 24.0 if 0.7 < t < 0.71 else 20.0]
)
def test_functions_are_kept_by_as_few_cubics_as_pass_their_values(function):
    live: Any = live_data(CIRCLE, Changes(inputs={"left_motor.voltage": function}, duration=2.0))
    table = next(each for each in live["base"]["inputs"] if isinstance(each, dict))
    times, pieces = table["times"], table["coefficients"].reshape(-1, 4)
    assert len(times) < 400
    assert table["stop"] == pytest.approx(2.0 / 4000)
    looked = np.linspace(0.0, 2.0, 4001)
    piece = np.clip(np.searchsorted(times, looked, side="right") - 1, 0, len(pieces) - 1)
    read = [np.polyval(pieces[k], t - times[k]) for k, t in zip(piece, looked, strict=True)]
    np.testing.assert_allclose(read, [function(t) for t in looked], rtol=0, atol=1e-8)

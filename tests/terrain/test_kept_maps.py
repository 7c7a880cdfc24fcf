"""A run keeps the heights of its map: its ground is drawn wherever the run is opened, or a warning says why not."""

import numpy as np
import pytest

import trundle
from trundle.documents import height_files, parse
from trundle.robot.height_maps import height_map, packed, unpacked
from trundle.show.drawing.ground import terrain_of
from trundle.show.page.payload import run_data

MAP = {"type": "grid", "file": "dunes.npy", "spacing": 0.5, "scale": 2}


@pytest.fixture
def away(tmp_path, monkeypatch):
    """A stored run over a map, and a folder elsewhere, where nobody has read the map."""

    def stored(**limits):
        for name, value in limits.items():
            monkeypatch.setattr(height_files, name, value)
        there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
        there.mkdir()
        elsewhere.mkdir()
        monkeypatch.chdir(there)
        np.save("dunes.npy", 0.05 * np.random.default_rng(3).normal(size=(14, 12)))
        run = trundle.simulate(
            trundle.catalog.talon(), 0.5, terrain={"surfaces": {"dunes": MAP}}, mode="kinematic", step=0.1
        )
        run.save("run.nc")
        monkeypatch.chdir(elsewhere)
        monkeypatch.setattr(height_files, "_KNOWN", type(height_files._KNOWN)())
        return run, trundle.Run.load(there / "run.nc")

    return stored


def test_the_ground_of_a_stored_run_is_drawn_in_any_folder(away):
    run, again = away()
    x, y = np.random.default_rng(1).uniform(-2, 2, (2, 50))
    told, kept = (terrain_of(each).spot((x, y, 0.1)).distance for each in (run, again))
    assert kept == pytest.approx(told, abs=0)
    assert run_data([again])["ground"] == 0
    assert any(text.get_text().startswith("seen from above") for text in again.plot.path().axes[0].texts)


def test_a_map_that_a_run_lacks_is_told_and_the_rest_is_drawn(away):
    _, again = away(_MOST_CARRIED=20)
    assert again.description["maps"] == {}
    with pytest.warns(UserWarning, match=r"the ground of 'talon' isn't drawn.*'dunes.npy'"):
        assert terrain_of(again) is None
    assert parse(again.description["yaml"], maps={}).robot.name == "talon"
    with pytest.warns(UserWarning, match="isn't drawn"):
        data = run_data([again])
    assert data["ground"] is None
    assert data["scene"] is not None


def test_a_kept_map_is_the_map():
    found = height_map(np.random.default_rng(2).normal(size=(5, 9)), (1.0, -2.0), (0.5, 0.25), True)
    assert unpacked(packed(found)) == found


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 4},
        {"rows": 10**9},
        {"columns": -3},
        {"numbers": "AAAA"},
        {"numbers": 7},
        {"corner": [1]},
        {"spacing": None},
    ],
)
def test_a_damaged_map_is_none(away, changes):
    _, again = away()
    (digest,) = again.description["maps"]
    maps = {digest: {**again.description["maps"][digest], **changes}}
    assert parse(again.description["yaml"], maps=maps).terrain.unread == ("dunes.npy",)

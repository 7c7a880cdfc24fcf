"""`trundle scale`: a static trial's file in, two files out that `trundle inverse` takes, or nothing."""

import numpy as np
import pytest

import trundle as library
from limbs.standing import somebody, trial

MASS = ("--body-mass", "70 kg", "--sex", "male")


@pytest.fixture
def static(tmp_path, rng):
    """A static trial as a table."""
    path = tmp_path / "static.csv"
    library.write_recording(trial(somebody(rng), rng), path)
    return path


def test_what_it_writes_is_the_librarys(trundle, static, tmp_path):
    done = trundle(
        "scale", static, *MASS, "--height", "170 cm", "--hip-centre", "bell", "--output", tmp_path / "out"
    )
    assert done.status == 0, done.err
    found = library.scale_person(static, body_mass=70, sex="male", height=1.7, hip_centre="bell")
    assert library.load(tmp_path / "out" / "person.yaml") == found.robot
    places = library.read_markers(tmp_path / "out" / "markers.yaml")
    assert list(places) == list(found.markers)
    for name, (body, place) in found.markers.items():
        assert places[name][0] == body
        np.testing.assert_allclose(places[name][1], place, atol=6e-6)
    length = f"{1e3 * found.lengths['thigh_length_r']:.1f}"
    assert any(line.split()[:3] == ["thigh", "length", length] for line in done.out.splitlines())
    data = trundle("scale", static, *MASS, "--output", tmp_path / "data", "--json").data
    assert data["lengths"]["pelvis_width"] == pytest.approx(found.lengths["pelvis_width"])
    assert data["files"] == ["person.yaml", "markers.yaml"]


@pytest.mark.slow
def test_inverse_takes_both(trundle, static, tmp_path):
    out = tmp_path / "out"
    assert trundle("scale", static, *MASS, "--output", out).status == 0
    files = (out / "person.yaml", "--motion", static, "--markers", out / "markers.yaml", "--no-figures")
    done = trundle("inverse", *files, "--smooth", "butterworth:6", "--output", tmp_path / "loads")
    assert done.status == 0, done.err
    assert library.Run.load(tmp_path / "loads" / "static.nc").summary["marker_fit"]["rms"] < 1e-3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--body-mass", "70 s"), "--body-mass: expected a mass (kg), got one in s"),
        (("--body-mass", "-70"), "--body-mass: must be greater than zero"),
        (("--sex", "mal"), "did you mean 'male'?"),
        (("--still-within", "1 um"), "static.csv: static: the static trial moves: marker "),
        (("--hip-centre", "davis"), "--hip-centre: there is no hip centre 'davis'"),
        (("--marker", "knee=RKNE"), "markers: the static trial has no marker 'knee'"),
        (("--marker", "C7=T10", "--marker", "C7=trunk"), "--marker: 'C7' is said to be T10 and trunk"),
        (("--up", "y"), "the pelvis isn't above the heels along y"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(trundle, static, tmp_path, words, told):
    done = trundle("scale", static, *MASS, "--output", tmp_path / "out", *words)
    assert done.status == 1
    assert told in done.err
    assert not (tmp_path / "out").exists()


def test_missing_markers_are_all_named(trundle, tmp_path, rng):
    recording = trial(somebody(rng), rng)
    fewer = {
        name: places for name, places in recording.markers.items() if name not in ("RKNM", "LTOE", "LPSI")
    }
    library.write_recording(library.Recording(recording.time, fewer), tmp_path / "static.csv")
    done = trundle("scale", tmp_path / "static.csv", *MASS, "--output", tmp_path / "out")
    assert "the static trial has no RKNM, LTOE, LPSI" in done.err
    assert "(--marker NAME=RKNM)" in done.err
    assert not (tmp_path / "out").exists()


def test_files_that_are_there_stay(trundle, static, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "markers.yaml").write_text("mine\n")
    done = trundle("scale", static, *MASS, "--output", tmp_path / "out")
    assert done.status == 1
    assert "--force replaces it" in done.err
    assert (tmp_path / "out" / "markers.yaml").read_text() == "mine\n"
    assert not (tmp_path / "out" / "person.yaml").exists()
    assert trundle("scale", static, *MASS, "--output", tmp_path / "out", "--force").status == 0

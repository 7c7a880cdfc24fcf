"""`trundle inverse` with OpenSim's set-up files: the same as by options, and what is wrong in them."""

import numpy as np
import pytest

from limbs.opensim_trial import Trial, ground_columns, planar_walker
from trundle.results import Run

EVEN = 0.01 * np.arange(61)


@pytest.fixture
def trial(tmp_path, rng):
    made = Trial(tmp_path, planar_walker(), EVEN, rng)
    made.external(ground_columns(0.002 * np.arange(301), rng))
    return made


@pytest.fixture
def values(trundle, tmp_path):
    """The columns that a command line gives."""

    def call(*words):
        done = trundle("inverse", *words, "--no-figures", "--force", "--output", tmp_path / "out")
        assert done.status == 0, done.err
        return dict(Run.load(tmp_path / "out" / "walk.nc").values)

    return call


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_setup_is_the_same_as_its_options_to_the_bit(trial, values, tmp_path):
    files = (trial.model, "--motion", trial.motion)
    loads, part = ("--external", tmp_path / "loads.xml"), ("--from", "0.1", "--to", "0.5")
    span = {"time_range": "0.1 0.5", "lowpass_cutoff_frequency_for_coordinates": 6}
    setup = trial.setup(external_loads_file="loads.xml", results_directory="elsewhere", **span)
    whole = values(setup)
    assert same(whole, values(*files, *loads, *part, "--smooth", "opensim:6"))
    assert same(values(setup, "--smooth", "gcv_spline", "--to", "0.4"),
                values(*files, *loads, "--from", "0.1", "--to", "0.4", "--smooth", "gcv_spline"))  # fmt: skip
    open_range = trial.setup(time_range="-Inf Inf", external_loads_file="Unassigned")
    assert same(values(open_range), values(*files, "--smooth", "opensim"))


def test_paths_are_from_the_file_that_names_them(trial, values, tmp_path, monkeypatch):
    setup = trial.setup(external_loads_file=".\\loads.xml")
    beside = values(setup)
    (tmp_path / "far").mkdir()
    monkeypatch.chdir(tmp_path / "far")
    assert same(values("../setup.xml"), beside)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"model_file": "walkre.osim"},
            "walkre.osim', which <model_file> names\n  did you mean 'walker.osim'?",
        ),
        ({"coordinates_file": ""}, "setup.xml:2: needs its <coordinates_file>"),
        ({"external_loads_file": "walker.osim"}, "expected <OpenSimDocument> with <ExternalLoads>"),
        ({"time_range": "0"}, "expected two times in <time_range>, got '0'"),
        ({"lowpass_cutoff_frequency_for_coordinates": "six"}, "expected 1 numbers in <lowpass_cutoff"),
    ],
)
def test_what_is_wrong_in_a_setup_is_told(trundle, trial, changed, told):
    done = trundle("inverse", trial.setup(**changed))
    assert (done.status, told in done.err) == (1, True), done.err


def test_options_that_contradict_each_other_are_told(trundle, trial):
    loads = ("--external", "loads.xml")
    for words, told in (
        ((), "--motion: what was measured of the motion is missing"),
        (
            ("--motion", trial.motion, *loads, "--external", "foot_r=ground"),
            "--external: 'loads.xml' says which force",
        ),
        (("--motion", trial.motion, "--external", "lads.xml"), "lads.xml: there is no such file"),
    ):
        done = trundle("inverse", trial.model, *words)
        assert (done.status, told in done.err) == (1, True), done.err

"""Inverse dynamics of walkers as OpenSim's own tool works it out: by its filter, its splines and its external loads."""

from importlib.util import find_spec

import numpy as np
import pytest

import trundle
from documents.gait_models import standard_walker
from limbs.opensim_trial import Trial, ground_columns, planar_walker, write_table

PEER = pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed")
# OpenSim writes moments with eight decimals, of which the least peak is some 5 N m.
ROUNDING = 1e-8
# At uneven times OpenSim's moments are those of its own even steps: between them they come from a spline.
BETWEEN = 1e-4
EVEN = 0.01 * np.arange(121)


@PEER
@pytest.mark.parametrize("cutoff", [6.0, None])
@pytest.mark.parametrize("walker", [planar_walker, standard_walker])
def test_moments_are_opensims_to_the_ends(tmp_path, rng, walker, cutoff):
    trial = Trial(tmp_path, walker(), EVEN, rng)
    span = {"time_range": "0 2", "lowpass_cutoff_frequency_for_coordinates": cutoff or -1}
    method = trundle.smoothing("opensim", cutoff=cutoff)
    loads = trundle.inverse(trial.model, trial.motion, smoothing=method).loads
    assert trial.off(loads, trial.theirs(trial.setup(**span))) < ROUNDING


@PEER
@pytest.mark.parametrize("cutoff", [6.0, None])
@pytest.mark.parametrize("times", ["random", "rounded"])
def test_moments_at_uneven_times_are_opensims(tmp_path, rng, times, cutoff):
    """Times that were rounded stay so: the filter and the spline see them as OpenSim's do."""
    uneven = np.cumsum(rng.uniform(0.006, 0.012, 121)) if times == "random" else np.round(EVEN / 1.2, 4)
    trial = Trial(tmp_path, planar_walker(), uneven, rng)
    span = {"time_range": "-10 10", "lowpass_cutoff_frequency_for_coordinates": cutoff or -1}
    method = trundle.smoothing("opensim", cutoff=cutoff)
    loads = trundle.inverse(trial.model, trial.motion, smoothing=method).loads
    assert trial.off(loads, trial.theirs(trial.setup(**span))) < BETWEEN


@PEER
@pytest.mark.parametrize("rate", [100, 600, 1111])
def test_external_loads_are_opensims(tmp_path, rng, rate):
    """Plates of any rate, with noise where nobody stands; the part that counts is cut behind the filter."""
    trial = Trial(tmp_path, planar_walker(), EVEN, rng)
    trial.external(ground_columns(np.round(np.arange(-0.05, 1.4, 1 / rate), 4), rng))
    span = {"time_range": "0.2 1", "lowpass_cutoff_frequency_for_coordinates": 6}
    theirs = trial.theirs(trial.setup(external_loads_file="loads.xml", **span))
    method = trundle.smoothing("opensim", cutoff=6)
    part = {"smoothing": method, "start": 0.2, "end": 1}
    loads = trundle.inverse(trial.model, trial.motion, external=tmp_path / "loads.xml", **part).loads
    assert trial.off(loads, theirs) < ROUNDING


@pytest.mark.filterwarnings("ignore:.*is its zero off")
def test_external_loads_are_ground_reactions_of_other_names(tmp_path, rng):
    """The same table under the names that `ground_reactions` finds, told body by body; a force that is off has none."""
    trial, columns = Trial(tmp_path, planar_walker(), EVEN, rng), ground_columns(EVEN, rng)
    off = '<ExternalForce name="off"><appliesForce>false</appliesForce></ExternalForce>'
    off += '<ExternalForce name="old"><isDisabled>true</isDisabled></ExternalForce>'
    file = trial.external(columns, off, torque_identifier="Unassigned")
    renamed = {"time": EVEN}
    for begin, side in (("FP1", "r"), ("FP2", "l")):
        for axis in "xyz":
            renamed |= {f"{side}_ground_force_{k}{axis}": columns[f"{begin}_{k}{axis}"] for k in "vp"}
            renamed[f"{side}_ground_torque_{axis}"] = columns[f"{begin}_m{axis}"] * (side == "l")
    write_table(tmp_path / "renamed.mot", renamed)
    pairs = {"foot_r": "r_ground", "foot_l": "l_ground"}
    told = {"external": pairs, "plates": tmp_path / "renamed.mot", "threshold": 1e-6}
    one, other = (
        trundle.inverse(trial.model, trial.motion, **each).loads for each in (told, {"external": file})
    )
    for speed, moment in one.actuator_torque.items():
        np.testing.assert_allclose(
            other.actuator_torque[speed], moment, rtol=0, atol=1e-12 * np.abs(moment).max()
        )


def test_external_loads_are_filtered_at_their_own_rate_where_that_is_asked_for(tmp_path, rng):
    trial = Trial(tmp_path, planar_walker(), EVEN, rng)
    file = trial.external(ground_columns(0.001 * np.arange(1300), rng))
    smoothing = {"method": "butterworth", "cutoff": 20}
    found = trundle.inverse(trial.model, trial.motion, external=file, plate_smoothing=smoothing)
    assert found.plates_done["times"] == "mean"


BAD = {
    "body": (
        {"applied_to_body": "/bodyset/fot_r"},
        "there is no body 'fot_r', which 'ground_\\w+' is to push\n  did you mean 'foot_r'",
    ),
    "columns": ({"force_identifier": "FP_v"}, "force 'r': .* and with 'FP_v' none\n  (did you mean|known)"),
    "many": ({"force_identifier": "FP1"}, "and with 'FP1' FP1_vx, FP1_vy, FP1_vz, FP1_px"),
    "frame": ({"force_expressed_in_body": "foot_r"}, "<force_expressed_in_body> is 'foot_r'"),
    "point's frame": (
        {"point_expressed_in_body": "/bodyset/foot_r"},
        "<point_expressed_in_body> is 'foot_r'",
    ),
    "point": ({"point_identifier": ""}, "force 'r': has no <point_identifier>"),
    "torque alone": ({"force_identifier": "Unassigned"}, "has no <force_identifier>"),
}


@pytest.mark.parametrize("case", BAD)
def test_external_loads_that_cannot_be_are_told_with_their_line(tmp_path, rng, case):
    trial, (changed, told) = Trial(tmp_path, planar_walker(), EVEN, rng), BAD[case]
    file = trial.external(ground_columns(EVEN, rng), **changed)
    with pytest.raises(trundle.InputError, match=told):
        trundle.inverse(trial.model, trial.motion, external=file)


def test_files_that_are_no_external_loads_say_what_they_are(tmp_path, rng):
    trial = Trial(tmp_path, planar_walker(), EVEN, rng)
    file = trial.external(ground_columns(EVEN, rng))
    text = file.read_text()
    given = {"external": file}
    for wrong, told in (
        (
            text.replace("ExternalLoads", "ForceSet"),
            "expected .* with <ExternalLoads>, got <OpenSimDocument> <ForceSet>",
        ),
        (text.replace("grf.mot", "gfr.mot"), r"gfr.mot', which <datafile> names\n  did you mean 'grf.mot'"),
        (text.replace("<datafile>grf.mot</datafile>", ""), "needs its <datafile>"),
        (text.replace("ExternalForce", "PrescribedForce"), "a <PrescribedForce> is not read"),
        (text.replace('name="l"', 'name="r"'), "two forces have this name"),
        ("<!DOCTYPE x>" + text.partition("\n")[2], "document types and entities are not allowed"),
    ):
        file.write_text(wrong)
        with pytest.raises(trundle.InputError, match=told):
            trundle.inverse(trial.model, trial.motion, **given)
    file.write_text(text)
    write_table(tmp_path / "grf.mot", ground_columns(EVEN + 5, rng))
    with pytest.raises(trundle.InputError, match="'ground_r' was recorded from 5 to 6.2 s, not at 0 s"):
        trundle.inverse(trial.model, trial.motion, **given)
    with pytest.raises(trundle.InputError, match="names the file of its forces"):
        trundle.inverse(trial.model, trial.motion, **given, plates=tmp_path / "grf.mot")

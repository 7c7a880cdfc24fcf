"""Inverse dynamics of walkers as OpenSim's own tool works it out: by its filter and its splines."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import trundle
from documents.gait_models import LINE, SIDES, GaitModel, custom, names_of, standard_walker
from documents.osim_models import J, version_4

PEER = pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed")
# OpenSim writes moments with eight decimals, of which the least peak is some 5 N m.
ROUNDING = 1e-8
# At uneven times OpenSim's moments are those of its own even steps: between them they come from a spline.
BETWEEN = 1e-4


def planar_walker():
    """A pelvis that is free in a plane, and on both sides a hip, a knee and an ankle."""
    free = {"rotation1": "tilt", "translation1": "pelvis_tx", "translation2": "pelvis_ty"}
    axes = {axis: (name, LINE) for axis, name in free.items()}
    joints = [custom("ground", "pelvis", " ".join(free.values()), axes)]
    for side, sign in SIDES:
        joints += [
            J("PinJoint", "pelvis", f"thigh_{side}", (f"hip_{side}",), at=f"0 -0.07 {0.08 * sign}"),
            J("PinJoint", f"thigh_{side}", f"shank_{side}", (f"knee_{side}",), at="0 -0.4 0"),
            J("PinJoint", f"shank_{side}", f"foot_{side}", (f"ankle_{side}",), at="0 -0.43 0"),
        ]
    return GaitModel(version_4(joints), names_of(joints))


def write_table(path, columns, degrees="no"):
    """A table as OpenSim reads it, without rounding."""
    rows = np.column_stack(list(columns.values())).tolist()
    head = ["table", "version=1", f"nRows={len(rows)}", f"nColumns={len(columns)}", f"inDegrees={degrees}"]
    lines = [*head, "endheader", "\t".join(columns), *("\t".join(map(repr, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


class Trial:
    """A walker and its noisy motion in files: `walker.osim` and `walk.mot`, whose noise is larger than that of marker
    sets, so that ends are seen.
    """

    def __init__(self, folder, walker, time, rng):
        self.folder, self.names, self.time = folder, walker.free, time
        self.model, self.motion = folder / "walker.osim", folder / "walk.mot"
        self.model.write_text(walker.text)
        columns = {"time": time}
        for name in walker.free:
            size, rate = 0.05 if "_t" in name else 20.0, np.pi * rng.uniform(1, 4)
            columns[name] = size * np.sin(rate * time + rng.uniform(0, 6)) + rng.normal(
                0, size / 100, time.size
            )
        write_table(self.motion, columns, "yes")

    def setup(self, **elements):
        """A set-up file of OpenSim's tool with the trial's files and these elements."""
        elements = {"model_file": "walker.osim", "coordinates_file": "walk.mot", **elements}
        inside = "".join(f"<{name}>{value}</{name}>" for name, value in elements.items())
        path, tool = self.folder / "setup.xml", "InverseDynamicsTool"
        document = f'<OpenSimDocument Version="40000"><{tool} name="walk">{inside}</{tool}></OpenSimDocument>'
        path.write_text(f'<?xml version="1.0"?>\n{document}\n')
        return path

    def theirs(self, setup):
        """OpenSim's moments (n,) at the trial's times by coordinate."""
        script = __file__.replace("limbs/test_opensim_inverse", "documents/opensim_inverse")
        done = [sys.executable, script, str(setup)]
        subprocess.run(done, check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
        found = trundle.read_recording(self.folder / "inverse_dynamics.sto", times="literal")
        table = {name.rpartition("_")[0]: values for name, values in found.channels.items()}
        if np.array_equal(found.time, np.round(self.time, 8)):
            return table
        return {
            name: make_interp_spline(found.time, values, k=5)(self.time) for name, values in table.items()
        }

    def off(self, loads, theirs):
        """How far the moment of any coordinate is off at any time, of the coordinate's peak."""
        ours = {speed.rpartition(".")[0]: moment for speed, moment in loads.actuator_torque.items()}
        return max(np.abs(ours[n] - theirs[n]).max() / np.abs(theirs[n]).max() for n in self.names)


@PEER
@pytest.mark.parametrize("cutoff", [6.0, None])
@pytest.mark.parametrize("walker", [planar_walker, standard_walker])
def test_moments_are_opensims_to_the_ends(tmp_path, rng, walker, cutoff):
    trial = Trial(tmp_path, walker(), 0.01 * np.arange(121), rng)
    span = {"time_range": "0 2", "lowpass_cutoff_frequency_for_coordinates": cutoff or -1}
    method = trundle.smoothing("opensim", cutoff=cutoff)
    loads = trundle.inverse(trial.model, trial.motion, smoothing=method).loads
    assert trial.off(loads, trial.theirs(trial.setup(**span))) < ROUNDING


@PEER
@pytest.mark.parametrize("cutoff", [6.0, None])
def test_moments_at_uneven_times_are_opensims(tmp_path, rng, cutoff):
    trial = Trial(tmp_path, planar_walker(), np.cumsum(rng.uniform(0.006, 0.012, 121)), rng)
    span = {"time_range": "-10 10", "lowpass_cutoff_frequency_for_coordinates": cutoff or -1}
    method = trundle.smoothing("opensim", cutoff=cutoff)
    loads = trundle.inverse(trial.model, trial.motion, smoothing=method).loads
    assert trial.off(loads, trial.theirs(trial.setup(**span))) < BETWEEN

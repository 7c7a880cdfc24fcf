"""Trials of walkers in OpenSim's files: model, noisy motion, ground reactions, set-ups; and what its own tool says."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline

import trundle
from documents.gait_models import LINE, SIDES, GaitModel, custom, names_of
from documents.osim_models import J, version_4

PEER = Path(__file__).parents[1] / "documents" / "opensim_inverse.py"


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


def write_document(path, tag, inside):
    document = f'<OpenSimDocument Version="40000"><{tag} name="walk">{inside}</{tag}></OpenSimDocument>'
    path.write_text(f'<?xml version="1.0"?>\n{document}\n')
    return path


def elements(**named):
    return "".join(f"<{name}>{value}</{name}>" for name, value in named.items())


def ground_columns(time, rng, noise=2.0):
    """Ground reactions under two feet that are loaded in turn, on plates that are never quiet."""
    columns = {"time": time}
    for side, begin in (("r", "FP1"), ("l", "FP2")):
        load = np.clip(np.sin(2 * np.pi * time + (side == "l") * np.pi), 0, None) ** 0.5
        for axis, size in zip("xyz", (80, 700, 30), strict=True):
            columns[f"{begin}_v{axis}"] = size * load * (1 + 0.1 * np.sin(9 * time)) + rng.normal(
                0, noise, time.size
            )
        columns |= {f"{begin}_p{axis}": 0.1 * np.sin(3 * time + k) for k, axis in enumerate("xyz")}
        columns |= {f"{begin}_m{axis}": 5 * load * np.cos(5 * time + k) for k, axis in enumerate("xyz")}
    return columns


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

    def setup(self, **named):
        """A set-up file of OpenSim's tool with the trial's files and these elements."""
        named = {"model_file": "walker.osim", "coordinates_file": "walk.mot", **named}
        return write_document(self.folder / "setup.xml", "InverseDynamicsTool", elements(**named))

    def external(self, columns, more="", **changed):
        """A file of external loads, `grf.mot` beside it, with elements of the right foot's force changed."""
        write_table(self.folder / "grf.mot", columns)
        forces = ""
        for side, begin in (("r", "FP1"), ("l", "FP2")):
            named = {"applied_to_body": f"foot_{side}", "force_identifier": f"{begin}_v"}
            named |= {"point_identifier": f"{begin}_p", "torque_identifier": f"{begin}_m"}
            named |= changed if side == "r" else {}
            forces += f'<ExternalForce name="{side}">{elements(**named)}</ExternalForce>'
        inside = f"<objects>{forces}{more}</objects><datafile>grf.mot</datafile>"
        return write_document(self.folder / "loads.xml", "ExternalLoads", inside)

    def theirs(self, setup):
        """OpenSim's moments by coordinate at the trial's times, or at those that its set-up cuts."""
        done = [sys.executable, str(PEER), str(setup)]
        subprocess.run(done, check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
        found = trundle.read_recording(self.folder / "inverse_dynamics.sto", times="literal")
        table = {name.rpartition("_")[0]: values for name, values in found.channels.items()}
        if np.isin(found.time, np.round(self.time, 8)).all():
            return table
        return {
            name: make_interp_spline(found.time, values, k=5)(self.time) for name, values in table.items()
        }

    def off(self, loads, theirs):
        """How far the moment of any coordinate is off at any time, of the coordinate's peak."""
        ours = {speed.rpartition(".")[0]: moment for speed, moment in loads.actuator_torque.items()}
        return max(np.abs(ours[n] - theirs[n]).max() / np.abs(theirs[n]).max() for n in self.names)

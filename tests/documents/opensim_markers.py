"""OpenSim's own inverse kinematics of markers.

A process of its own, as OpenSim's wheel brings another CasADi:

    python opensim_markers.py cases.json results.json

A case is a model's file, the times, where its markers were (n, 3) by name (m), and a value (rad) by coordinate to begin
at. Results are all coordinates over time, as OpenSim's tool writes them: degrees, m.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

OPENSIM = import_module("opensim")


def write_trc(path, time, markers):
    rate, names = 1 / (time[1] - time[0]), list(markers)
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{len(time)}\t{len(names)}\tm\t{rate}\t1\t{len(time)}",
        "Frame#\tTime\t" + "\t\t\t".join(names),
        "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ"),
        "",
    ]
    for k, t in enumerate(time):
        places = [repr(x) for name in names for x in markers[name][k]]
        lines.append("\t".join([str(k + 1), repr(t), *places]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fitted(case, folder):
    """A case's coordinates over time by name."""
    trc, mot = folder / "markers.trc", folder / "angles.mot"
    write_trc(trc, case["time"], case["markers"])
    model = OPENSIM.Model(case["file"])
    for name, value in case["start"].items():
        model.updCoordinateSet().get(name).setDefaultValue(value)
    model.initSystem()
    tool = OPENSIM.InverseKinematicsTool()
    tool.setModel(model)
    tool.setMarkerDataFileName(str(trc))
    tool.setStartTime(case["time"][0])
    tool.setEndTime(case["time"][-1])
    tool.setOutputMotionFileName(str(mot))
    tool.set_accuracy(1e-9)
    tool.set_report_errors(False)
    tool.setResultsDir(str(folder))
    for name in case["markers"]:
        task = OPENSIM.IKMarkerTask()
        task.setName(name)
        task.setWeight(case.get("weights", {}).get(name, 1.0))
        tool.upd_IKTaskSet().cloneAndAppend(task)
    assert tool.run()
    table = OPENSIM.TimeSeriesTable(str(mot))
    return {
        name: [float(x) for x in table.getDependentColumn(name).to_numpy()]
        for name in table.getColumnLabels()
    }


def main(cases, results):
    OPENSIM.Logger.setLevelString("error")
    folder = Path(results).parent
    found = [fitted(case, folder) for case in json.loads(Path(cases).read_text(encoding="utf-8"))]
    Path(results).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""OpenSim's own poses, velocities and inverse dynamics of model files.

A process of its own, as OpenSim's wheel brings another CasADi:

    python opensim_peer.py cases.json results.json

A case is a file with samples of coordinates, speeds and accelerations by OpenSim's names.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

OPENSIM = import_module("opensim")


def columns(model, state):
    """The place of every coordinate's speed among Simbody's."""
    coordinates, found = model.getCoordinateSet(), {}
    for k in range(coordinates.getSize()):
        coordinates.get(k).setSpeedValue(state, 0.0)
    for k in range(coordinates.getSize()):
        coordinates.get(k).setSpeedValue(state, 1.0)
        speeds = state.getU()
        found[coordinates.get(k).getName()] = max(range(speeds.size()), key=lambda i: abs(speeds.get(i)))
        coordinates.get(k).setSpeedValue(state, 0.0)
    assert len(set(found.values())) == len(found)
    return found


def vector(three):
    return [three.get(i) for i in range(3)]


def look(model, solver, state, column, sample):
    """Joints' frames on their bodies (position, rotation, velocity, angular velocity) and residual forces."""
    q, u, u_dot = sample
    coordinates = model.getCoordinateSet()
    for name in q:
        if not coordinates.get(name).getLocked(state):
            coordinates.get(name).setValue(state, q[name], False)
            coordinates.get(name).setSpeedValue(state, u[name])
    model.realizeVelocity(state)
    bodies = {}
    for k in range(model.getJointSet().getSize()):
        frame = model.getJointSet().get(k).getChildFrame()
        place, moving = frame.getTransformInGround(state), frame.getVelocityInGround(state)
        rotation = [[place.R().get(i, j) for j in range(3)] for i in range(3)]
        name = frame.findBaseFrame().getName()
        bodies[name] = [vector(place.p()), rotation, vector(moving.get(1)), vector(moving.get(0))]
    accelerations = OPENSIM.Vector(len(column), 0.0)
    for name, value in u_dot.items():
        accelerations.set(column[name], value)
    force = solver.solve(state, accelerations)
    return bodies, {name: force.get(k) for name, k in column.items()}


def main(cases, results):
    OPENSIM.Logger.setLevelString("error")
    found = []
    for case in json.loads(Path(cases).read_text(encoding="utf-8")):
        model = OPENSIM.Model(case["file"])
        state = model.initSystem()
        column = columns(model, state)
        solver = OPENSIM.InverseDynamicsSolver(model)
        found.append([look(model, solver, state, column, sample) for sample in case["samples"]])
    Path(results).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

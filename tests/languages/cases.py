"""What every language's functions are held to: all operations, every robot of the catalogue, an arm of seven joints."""

from functools import cache, partial

import numpy as np

import trundle
from derived import derived
from model.splined_leg import leg
from parameters import SHORT
from trundle.program import Tracer
from trundle.program.ir import ARITY, LOADS

# Infinities are left out: kernels give NaN for some of what C leaves finite, such as the angle of (inf, inf).
_EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 2.9, 3.1, 6.5, 1e-20, 1e9, np.nan]


def operations():
    """A program with one output for each operation that exists, of three inputs."""
    tracer = Tracer("input")
    inputs = tracer.inputs("input", 3)
    outputs = {
        op: type(inputs[0])(
            tracer.builder, tracer.builder.emit(op, *(node.value for node in inputs[: ARITY[op]]))
        )
        for op in sorted(ARITY.keys() - LOADS - {"lookup"})  # no language has tables
    }
    return tracer.program(
        "operations", {"input": "abc"}, {"output": (tuple(outputs), list(outputs.values()))}
    )


def edges():
    """All pairs of numbers at which operations may differ, with a third that chooses, (3, count)."""
    pairs = np.array([(a, b) for a in _EDGES for b in _EDGES]).T
    return np.vstack([pairs, np.resize([1.0, 0.0, -3.0], pairs.shape[1])])


@cache
def _of_catalog(name):
    return derived(name)


@cache
def arm():
    """An arm of seven joints, each about another axis."""
    axes = [[0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 0.2], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    joints = {
        f"joint_{k + 1}": {
            "type": "revolute",
            "parent": f"joint_{k}" if k else "base",
            "at": [0.05 * k, 0.02, 0.3] if k else [0, 0, 0],
            "axis": axis,
            "damping": 0.1,
            "body": {
                "mass": 2.0 / (k + 1),
                "center_of_mass": [0.01, 0.02, 0.15],
                "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.01},
            },
        }
        for k, axis in enumerate(axes)
    }
    robot = {"name": "arm", "base": "fixed", "gravity": 9.81, "joints": joints}
    return trundle.derive(trundle.load({"trundle": 1, "robot": robot}))


@cache
def splined():
    """A leg whose knee follows splines."""
    return trundle.derive(leg())


# Name → what makes the model, once for all tests of a process.
MODELS = {
    **{name: partial(_of_catalog, name) for name in SHORT},
    "arm of seven joints": arm,
    "leg on splines": splined,
}


def states(model, count, seed):
    """Random states, angles within ±π and all else within ±1, inputs, and the parameters, (n, count) each."""
    rng = np.random.default_rng(seed)
    most = [np.pi if model.units.get(name) == "rad" else 1.0 for name in model.states]
    x = rng.uniform(-1.0, 1.0, (len(model.states), count)) * np.array(most)[:, None]
    x = model.quantities.normalised(model.states, x)
    u = rng.uniform(-10.0, 10.0, (len(model.inputs), count))
    p = np.array(list(model.parameters.values()))
    return x, u, np.repeat(p[:, None], count, axis=1)

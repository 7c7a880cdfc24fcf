"""What runs over terrain come to as steps vanish and flat ground becomes hard: a planar base's own motion."""

from itertools import pairwise

import numpy as np

import trundle


def extrapolated(values):
    """The limit of values at steps, or softnesses, that are halved: errors of the orders 1, 2, 3 … taken out."""
    order = 1
    while len(values) > 1:
        values = [(2**order * b - a) / (2**order - 1) for a, b in pairwise(values)]
        order += 1
    return values[0]


def on_hard_ground(robot, duration, inputs, names, longest, levels=5):
    """The end of a run on flat ground, by names; `longest` (s) is the first of the steps that are halved."""

    def end(stiffness, step):
        # The ground's damping sets in over a tenth of the sinkage, so that goes with the stiffness.
        ground = {"stiffness": stiffness, "damping": 2e-3 * stiffness, "sinkage": 20 / stiffness}
        run = trundle.simulate(robot, duration, inputs, terrain=ground, step=step, samples=2)
        return np.array([run[{"theta": "yaw", "omega": "omega_z"}.get(each, each)][-1] for each in names])

    return extrapolated([
        extrapolated([end(stiffness, longest / 2**k) for k in range(levels)])
        for stiffness in (2e6, 4e6, 8e6)
    ])  # fmt: skip

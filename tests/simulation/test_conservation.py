"""Energy of conservative runs, with the methods and tolerances that a run takes when nobody chooses."""

import numpy as np
import pytest

from trundle.model import derive
from trundle.robot import parse_robot
from trundle.simulation import simulate

ROD = {"mass": 1.0, "center_of_mass": [0, 0, -0.5], "inertia": {"xx": 1 / 12, "yy": 1 / 12, "zz": 0.01}}


def pendulum(links, kind="revolute"):
    turn = {"type": kind, "body": ROD} | ({"axis": [0, 1, 0]} if kind == "revolute" else {})
    below = {"at": [0, 0, -1.0]}
    joints = {f"j{k}": {**turn, **({"parent": f"j{k - 1}", **below} if k else {})} for k in range(links)}
    return derive(parse_robot({"joints": joints}))


def drift(run):
    """Greatest change of the stored energy beside the energy that passed from kind to kind."""
    stored = run["energy.stored"]
    return np.abs(stored - stored[0]).max() / run.summary["energy_turned_over"]


@pytest.mark.parametrize("links", [2, 10])
@pytest.mark.slow
def test_pendulums_keep_their_energy(links):
    """10 s from a wild start; the promise is 1e-8, the default tolerances leave an order or two of room."""
    model = pendulum(links)
    run = simulate(model, 10.0, initial=dict.fromkeys(model.coordinates[:2], 1.5))
    assert drift(run) < 1e-9


def test_a_chain_of_ball_joints_keeps_its_energy(rng):
    model = pendulum(3, "spherical")
    initial = {name: float(rng.uniform(-2, 2)) for name in model.speeds}
    assert drift(simulate(model, 3.0, initial=initial, samples=31)) < 1e-8

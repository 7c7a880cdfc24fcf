"""Closed loops: what their joints and drives give at a simulated motion is what the simulation says."""

import numpy as np
import pytest

import trundle
from trundle import InputError


def motion_of(model, run):
    """A run's states and their rates, straight from the model's equations."""
    states = np.array([run[name] for name in model.states])
    inputs = np.array([run[name] for name in model.inputs]).reshape(len(model.inputs), len(run.time))
    rates = model.rhs(states, inputs)
    n, s = len(model.coordinates), len(model.speeds)
    return trundle.JointMotion(
        run.time, model.coordinates, model.speeds, states[:n].T, states[n : n + s].T, rates[n : n + s].T
    )


@pytest.mark.parametrize("make", [trundle.catalog.four_bar, trundle.catalog.slider_crank])
@pytest.mark.slow
def test_loops_and_drives_of_a_simulated_linkage(make):
    robot = make()
    model = trundle.derive(robot)
    start = {"four_bar": {"crank.angle": 1.0}, "slider_crank": {"piston.position": 0.2}}[robot.name]
    run = trundle.simulate(model, 1.0, {"motor.voltage": 6.0}, initial=start, samples=21)
    loads = trundle.joint_loads(model, motion_of(model, run))
    (loop,) = robot.loops
    place = loads.outside.table[:, :6]
    size = np.abs(place).max()
    torque = run["motor.torque"]
    assert np.abs(loads.actuator_torque["crank.rate"] - torque).max() < 1e-9 * max(size, 1.0)
    assert not loads.actuator_torque["rod.rate" if robot.name == "slider_crank" else "rocker.rate"].any()
    pair = np.array(
        [
            run[f"{loop}.{part}"] if f"{loop}.{part}" in run else 0 * run.time
            for part in ("force_x", "force_z")
        ]
    )
    # the loop's force in its first body's axes, by the simulation's own multipliers
    body = loads.frames["coupler" if robot.name == "four_bar" else "rod"]
    ours = np.einsum("nji,nj->ni", body.rotation(frame=loads.world), place[:, :3])
    assert np.abs(ours[:, [0, 2]].T - pair).max() < 1e-8 * max(size, 1.0)
    assert loads.residual.max() < 1e-10 * max(size, 1.0)


def test_motions_that_loops_and_drives_can_not_give_are_refused():
    robot = trundle.catalog.four_bar()
    model = trundle.derive(robot)
    run = trundle.simulate(model, 0.2, {"motor.voltage": 6.0}, initial={"crank.angle": 1.0}, samples=21)
    motion = motion_of(model, run)
    with pytest.raises(InputError, match="which joints are driven"):
        trundle.joint_loads(trundle.Robot(**{**_plain(robot), "motors": {}}), motion)
    fields = {name: getattr(motion, name) for name in motion.__dataclass_fields__}
    opened = trundle.JointMotion(**{**fields, "positions": motion.positions + [0.0, 0.0, 0.1]})
    with pytest.raises(InputError, match="opens the loop 'pin'"):
        trundle.joint_loads(robot, opened)
    with pytest.raises(InputError, match="'crank.speed' is not a speed"):
        trundle.joint_loads(robot, motion, driven=["crank.speed"])
    both = trundle.joint_loads(robot, motion, driven=["crank.rate", "rocker.rate"])
    assert {"crank.rate", "rocker.rate"} <= set(both.undetermined)


def _plain(robot):
    return {name: getattr(robot, name) for name in type(robot).model_fields}

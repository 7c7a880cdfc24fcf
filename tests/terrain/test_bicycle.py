"""Whipple's bicycle over ground: the eigenvalues of the step's own map against those that are published."""

import numpy as np
import pytest

import trundle
from sympy_models.test_whipple import published
from tests.terrain.limits import extrapolated
from trundle.model.ground_model import GroundModel, derive_on
from trundle.model.plant import STEP
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program.rollout import rollout
from trundle.robot.component import plain
from trundle.robot.terrain import Terrain

# Half the width of central differences; of 1e-8 to 1e-6 all give the same.
WIDTH = 1e-7
# For so long (s) it rolls straight on, until the ground bears it as it will.
SETTLES = 0.5
# What the mirror through its own plane turns round, but for place and heading, which nothing hangs on; of the last step
# what the next one remembers.
SPEEDS = ("v_y", "omega_x", "omega_z", "steer.rate")
LATERAL = ("q_x", "steer.angle", *SPEEDS, *(f"step:{name}" for name in SPEEDS), "step:kick.steer.rate")


@pytest.fixture(scope="module")
def model() -> GroundModel:
    """The catalogue's bicycle on ground whose numbers are parameters; friction limits nothing."""
    data = plain(trundle.catalog.bicycle())
    for wheel in data["wheels"].values():
        wheel |= {"friction": 1e9, "slip_damping": 1e5}
    ground = Terrain(stiffness=1e6, damping=2e3, sinkage=2e-5)
    varied = {name: ground.numbers[name] for name in ("stiffness", "damping", "sinkage")}
    return derive_on(trundle.Robot(**data), ground, varied=varied)


def slowest(model, speed, step, stiffness, damping):
    """The four slowest eigenvalues (1/s) of the lateral motion about straight running, log(μ)/h."""
    # The ground's damping sets in over a tenth of the sinkage, so that goes with the stiffness.
    ground = {"stiffness": stiffness, "damping": 2e-3 * stiffness, "sinkage": 20 / stiffness}
    numbers = (
        model.parameters | ground | {f"wheels.{each}.slip_damping": damping for each in ("rear", "front")}
    )
    groups = {INPUT: np.zeros(0), PARAMETER: np.array([*numbers.values()]), STEP: [step]}

    def after(states, steps):
        return rollout(
            model.motion.still,
            states,
            groups,
            dt=1.0,
            steps=steps,
            every=None,
            projection=model.step,
            quick=True,
        ).final

    start = {name: model.quantities[name].start for name in model.states}
    start |= {"z": 0.3 - 460 / stiffness, "v_x": speed, "rear.rate": speed / 0.3, "front.rate": speed / 0.35}
    here = after(np.array([*start.values()])[:, None], round(SETTLES / step))
    rows = [model.states.index(name) for name in LATERAL]
    moved = np.zeros((len(model.states), len(rows)))
    moved[rows, np.arange(len(rows))] = WIDTH
    ahead, behind = np.hsplit(after(np.hstack([here + moved, here - moved]), 1)[rows], 2)
    found = np.linalg.eigvals((ahead - behind) / (2 * WIDTH)).astype(complex)
    return np.sort_complex(np.log(found[np.argsort(-abs(found))][:4]) / step)


@pytest.mark.parametrize("speed", [3, 5, 7])
def test_eigenvalues_are_those_of_meijaard_s_benchmark(model, speed):
    """Weave, capsize and castering as steps, the ground's softness and slip vanish: errors of the orders 1, 2, 3 in
    each are taken out. What is left is 2e-8 of an eigenvalue's size.
    """
    limit = extrapolated([
        extrapolated([
            extrapolated([slowest(model, speed, 2e-3 / 2**k, stiffness, damping) for k in range(4)])
            for stiffness in (2e6, 4e6, 8e6)
        ])
        for damping in (1e5, 2e5, 4e5)
    ])  # fmt: skip
    np.testing.assert_allclose(limit, published(speed), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "falls"), [(3, True), (5, False)])
def test_hands_off_it_stays_upright_where_all_eigenvalues_say_so(speed, falls):
    initial = {"v_x": speed, "rear.rate": speed / 0.3, "front.rate": speed / 0.35, "omega_x": 0.1}
    run = trundle.simulate(
        trundle.catalog.bicycle(),
        5.0,
        terrain={"sinkage": 0.001},
        initial=initial,
        step=0.005,
        progress=False,
    )
    assert ("overturned_at" in run.summary) == falls
    assert falls or np.abs(run["roll"][-1]) < 0.01


def test_the_steering_axis_meets_the_ground_a_trail_ahead_of_where_the_front_wheel_does():
    robot = trundle.catalog.bicycle(trail="5 cm", tilt="20 deg", wheelbase=1.1)
    tilt, offset = np.radians(20), robot.number(robot.joints["fork"].at[0])
    x, _, z = (robot.number(each) for each in robot.joints["steer"].at)
    assert x + (z + 0.3) * np.tan(tilt) == pytest.approx(1.1 + 0.05)
    hub = x + offset * np.cos(tilt), z + offset * np.sin(tilt)
    assert hub == pytest.approx((1.1, 0.35 - 0.3))

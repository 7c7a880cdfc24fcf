"""A thousand random terrains at steps of 0.2 s: numbers stay finite, speeds bounded, and what goes wrong is counted."""

import numpy as np
import pytest

import trundle
from tests.terrain.test_traverse import box, rates

VEHICLES = {
    "box": lambda: (box(), rates(4.0)),
    "zoe": lambda: (trundle.catalog.robot("zoe"), {}),
    "rocky7": lambda: (trundle.catalog.robot("rocky7"), {}),
    "rocker_bogie": lambda: (trundle.catalog.robot("rocker_bogie"), {}),
}
STEP, STEPS, CASES = 0.2, 100, 125


def rolled(vehicle, shortest, rngs):
    """A batch with ground of its own for every robot; its waves begin at so many of the smallest wheel's radii."""
    robot, inputs = VEHICLES[vehicle]()
    radius = min(wheel.radius.number for wheel in robot.wheels.values())
    wave = shortest * radius
    ground = {"type": "fractal", "slope": 0.3, "shortest": wave, "longest": 8 * wave, "tile": 16 * wave}
    seeds, scales, yaws = np.array([
        (rng.integers(1_000_000), rng.uniform(0, 1), rng.uniform(-np.pi, np.pi)) for rng in rngs
    ]).T  # fmt: skip
    given = {"terrain.surfaces.ground.seed": seeds, "terrain.surfaces.ground.scale": scales}
    batch = trundle.rollout(
        robot, terrain={"surfaces": {"ground": ground}}, parameters=given, inputs=inputs, initial={"yaw": yaws},
        steps=STEPS, dt=STEP, progress=False,
    )  # fmt: skip
    turning = [batch[f"{name}.rate"] for name in robot.wheels if f"{name}.rate" in batch.states]
    return batch, radius * float(np.max(np.abs(turning)))


@pytest.mark.campaign
@pytest.mark.parametrize("shortest", [1.0, 3.0])
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_random_terrains_at_large_steps(vehicle, shortest, campaign):
    batch, commanded = rolled(vehicle, shortest, campaign(CASES, least=8))
    assert np.isfinite(batch.values).all()
    assert batch.summary["diverged"] == 0
    upward = 1 - 2 * (batch["q_x"] ** 2 + batch["q_y"] ** 2)
    overturned = (upward <= 0).any(axis=0)
    assert batch.summary["overturned"] == overturned.sum()
    assert batch.summary["stuck"] <= batch.count - overturned.sum()
    speed = np.sqrt(sum(batch[name] ** 2 for name in ("v_x", "v_y", "v_z")))
    assert speed[:, ~overturned].max() <= 10 * commanded

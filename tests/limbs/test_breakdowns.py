"""A body's balance over a motion: the limb's closed forms, and that nothing is left in random trees."""

from pathlib import Path

import numpy as np
import pytest

import trundle
from limbs.random_limbs import random_limb, random_samples
from trundle.errors import InputError

LIMB = Path(__file__).parents[2] / "examples" / "limb" / "limb.yaml"
T = np.linspace(0.0, 2 * np.pi, 201)


@pytest.fixture(scope="module")
def loads():
    zero = np.zeros((T.size, 3))
    names = ("hip.angle", "knee.angle", "ankle.angle")
    speeds = ("hip.rate", "knee.rate", "ankle.rate")
    motion = trundle.JointMotion(
        T, names, speeds, np.stack([T, 2 * T, 4 * T], axis=1), zero + (1, 2, 4), zero, {"method": "none"}
    )
    return trundle.joint_loads(LIMB, motion)


def test_the_foot_seen_from_the_shank(loads):
    shank = loads.frames["shank"]
    ankle = shank.point("ankle", (0, 0.6, 0))
    split = loads.breakdown("foot", observer=shank, origin=ankle).at(ankle)
    s, c, zero = (lambda k: np.sin(k * T)), (lambda k: np.cos(k * T)), np.zeros_like(T)
    forces = {
        "seen": 0.96 * np.stack([s(4), -c(4), zero]),
        "d_alembert": np.stack([0.24 * s(2), 0.24 * c(2) + 1.62, zero]),
        "euler": np.zeros((3, T.size)),
        "centrifugal": 0.54 * np.stack([-s(4), c(4), zero]),
        "coriolis": 1.44 * np.stack([-s(4), c(4), zero]),
    }
    for name, force in forces.items():
        assert np.abs(split[name].force.T - force).max() < 1e-12
    assert np.abs(split["d_alembert"].moment[:, 2] + 0.324 * s(4) + 0.048 * s(6)).max() < 1e-12
    assert list(split) == ["seen", "d_alembert", "euler", "centrifugal", "coriolis", "joint"]
    assert np.abs(split.residual.force).max() < 1e-12


def test_what_hangs_on_a_body_and_pushes_it_has_its_name():
    arm = trundle.catalog.pendulum(links=2, damping=0.3)
    motion = {"time": T, "link_1.angle": np.sin(T), "link_2.angle": np.cos(2 * T)}
    world = trundle.Frame("laboratory")
    push = trundle.Wrench(
        (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), on="link_1", by="hand", point=world.origin, frame=world
    )
    loads = trundle.joint_loads(arm, motion, external=[push, push])
    split = loads.breakdown("link_1", observer=loads.world, origin=loads.world.origin)
    true = ["gravity", "passive", "joint", "link_2", "external"]
    assert list(split)[5:] == true
    assert split["external"].force[0] == pytest.approx([2.0, 4.0, 6.0])
    assert split["gravity"].force[0, 2] == pytest.approx(-9.81)
    assert split["passive"].moment[:, 1] == pytest.approx(-0.3 * loads.samples.nu[:, 0])
    assert np.abs(split.residual.moment).max() < 1e-10
    assert np.abs(split.residual.force).max() < 1e-10


@pytest.mark.campaign
def test_nothing_is_left_whoever_looks_at_random_trees(campaign):
    for rng in campaign(400):
        robot = random_limb(rng, int(rng.integers(2, 7)), damping=0.2, stiffness=1.5)
        loads = trundle.joint_loads(robot, random_samples(rng, robot, 4))
        body, who = (f"j{k}" for k in rng.integers(0, len(robot.joints), 2))
        observer = loads.frames[who]
        split = loads.breakdown(body, observer=observer, origin=observer.point("o", rng.normal(size=3)))
        largest = max(np.abs(split[name].force).max() for name in split)
        largest = max(largest, *(np.abs(split[name].moment).max() for name in split))
        assert np.abs(split.residual.force).max() < 1e-10 * max(largest, 1.0)
        assert np.abs(split.residual.moment).max() < 1e-10 * max(largest, 1.0)


def test_a_body_without_mass_has_no_balance(loads):
    found = trundle.joint_loads({"robot": LIMB_WITH_TOOL}, {"time": np.arange(6.0), "hip.angle": np.zeros(6)})
    with pytest.raises(InputError, match="'tip' has no mass"):
        found.breakdown("tip", observer=found.world, origin=found.world.origin)
    with pytest.raises(InputError, match="there is no body 'shin'"):
        loads.breakdown("shin", observer=loads.world, origin=loads.world.origin)


LIMB_WITH_TOOL = {
    "name": "limb",
    "base": "fixed",
    "joints": {
        "hip": {"axis": [0, 0, 1], "body": {"mass": 1, "center_of_mass": [0, 1, 0]}},
        "tip": {"type": "fixed", "parent": "hip", "at": [0, 1, 0]},
    },
}

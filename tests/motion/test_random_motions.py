"""Random plans at random levels: no exception, every result finite, no slip, limits held, bodies where twists lead."""

import math

import numpy as np
import pytest

import trundle
from trundle.choices import LEVELS, PROFILES
from trundle.motion.commands.verification import standard_motions, verify
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.pieces.arcs import integrate
from trundle.motion.pieces.motion import Samples

_NAMES = ("left_front", "left_rear", "right_rear", "right_front")
_SPEEDS = {
    "steering_rate": 2.0,
    "steering_acceleration": 10.0,
    "steering_jerk": 75.0,
    "drive_speed": 1.0,
    "drive_acceleration": 5.0,
    "drive_jerk": 10.0,
}


def drawn(rng):
    """A plan from rest or driving, of one to three commands of twists or of modules at rest."""
    start = {"pose": dict(zip(("x", "y", "theta"), rng.normal(size=3).tolist(), strict=True))}
    if rng.random() < 0.5:  # no wheel of it is faster than 1 m/s
        start["twist"] = {name: 0.4 * value for name, value in twist(rng).items()}
    elif rng.random() < 0.7:
        start["modules"] = still(rng)
    commands = [{"duration": float(rng.uniform(0.2, 3.0)), **asked(rng)} for _ in range(rng.integers(1, 4))]
    return {"motion": {"name": "random", "start": start, "commands": commands}}


def asked(rng):
    return {"modules": still(rng)} if rng.random() < 0.15 else {"twist": twist(rng)}


def twist(rng):
    """Any, those along axes and at rest often, now and then one whose centre is on a module's axis."""
    v_x, v_y, omega = rng.uniform(-1, 1, 3) * rng.integers(0, 2, 3)
    if rng.random() < 0.15:
        v_x, v_y = 0.5 * omega, -0.5 * omega
    return {"v_x": float(v_x), "v_y": float(v_y), "omega": float(omega)}


def still(rng):
    return {name: {"angle": float(rng.uniform(-math.pi, math.pi))} for name in _NAMES}


def judged(driven):
    motion, level = driven.motion, driven.level
    samples = motion.samples(np.linspace(0, motion.duration, 1501))
    assert all(np.isfinite(getattr(samples, name)).all() for name in Samples.__dataclass_fields__)
    if level != "module":
        assert samples.slip.max() < 1e-9
    if level in ("limited", "coordinated"):
        for name in QUANTITIES:
            assert np.abs(getattr(samples, name)).max() <= _SPEEDS[name] * (1 + 1e-9), name
        assert driven.summary()["exceeded"] == []

    def driven_twist(times):
        found = motion.samples(times)
        return motion.kinematics.drive.agreeing(found.angle, found.drive_speed)

    end = integrate(driven_twist, motion.breaks, motion.start).at(np.array([motion.duration]))[0]
    np.testing.assert_allclose(motion.poses([motion.duration])[0], end, atol=1e-6)


@pytest.mark.campaign
@pytest.mark.parametrize("level", LEVELS)
def test_random_plans(level, campaign):
    for rng in campaign(2500):
        plan, profile = drawn(rng), PROFILES[rng.integers(3)]
        judged(trundle.drive(plan, level=level, profile=profile))


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(8))
def test_the_standard_motions_pass(block, campaign):
    plans = list(standard_motions())[block::8]
    for place, _ in enumerate(campaign(len(plans))):
        for verdict in verify(plans[place]):
            assert not verdict.wrong, verdict


def test_some_random_plans(rng):
    for level in LEVELS:
        judged(trundle.drive(drawn(rng), level=level, profile=PROFILES[rng.integers(3)]))

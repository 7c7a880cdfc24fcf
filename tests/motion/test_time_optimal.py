"""Profiles of least time: limits held, ends met, and closed forms."""

import math

import numpy as np
import pytest

from trundle.errors import InputError
from trundle.motion.time_optimal import Axis, time_optimal


@pytest.mark.parametrize(
    ("limits", "duration"),
    [
        ((2.0, math.inf, math.inf), 1 / 2),
        ((2.0, 10.0, math.inf), 0.5 + 0.2),
        ((2.0, 10.0, 75.0), 0.5 + 0.2 + 10 / 75),
        ((math.inf, math.inf, 32.0), 1.0),  # four equal parts of the jerk: (32 s/J)^(1/3)
    ],
)
def test_from_rest_to_rest_in_closed_form(limits, duration):
    (profile,) = time_optimal([Axis((0, 0, 0), (1, 0, 0), *limits)])
    assert profile.duration == pytest.approx(duration, abs=1e-12)
    assert profile.at(profile.duration) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
def test_random_states_meet_their_ends_within_limits():
    seed = np.random.SeedSequence().entropy
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    for _ in range(200):
        axes = []
        for _ in range(rng.integers(1, 5)):
            v, a, j = rng.uniform(0.5, 3), rng.uniform(1, 10), rng.uniform(5, 100)
            start = rng.uniform(-3, 3), rng.uniform(-v, v), rng.uniform(-a, a) / 10
            axes.append(Axis(start, (rng.uniform(-3, 3), rng.uniform(-v, v) * 0.9, 0.0), v, a, j))
        profiles = time_optimal(axes)
        for axis, profile in zip(axes, profiles, strict=True):
            assert profile.duration == profiles[0].duration
            got = [float(profile.at(profile.duration, order)) for order in range(3)]
            np.testing.assert_allclose(got, axis.end, atol=2e-8)
            assert max(map(abs, profile.extremes(2))) <= axis.acceleration * (1 + 1e-9)
            assert max(map(abs, profile.extremes(3))) <= axis.jerk * (1 + 1e-9)


def test_a_circle_takes_the_quickest_way():
    near = math.radians(170)
    (profile,) = time_optimal([Axis((near, 0, 0), (-near, 0, 0), 1.0, space="circle")])
    assert profile.at(profile.duration) == pytest.approx(near + math.radians(20))
    (spun,) = time_optimal([Axis((0, 3.0, 0), (-0.3, 0, 0), 3.0, 5.0, 50.0, space="circle")])
    assert abs(math.remainder(float(spun.at(spun.duration)) + 0.3, 2 * math.pi)) < 1e-9


def test_a_limited_range_takes_the_way_within_it():
    cable = (-math.pi, math.pi)
    axis = Axis((math.radians(170), 0, 0), (math.radians(-170), 0, 0), 1.0, 9.0, bounds=cable, space="circle")
    (profile,) = time_optimal([axis])
    assert profile.at(profile.duration) == pytest.approx(math.radians(-170))
    with pytest.raises(InputError, match="beyond the range"):
        time_optimal([Axis((0.9, 2.0, 0), (0, 0, 0), 2.0, 1.0, bounds=(-1, 1))])
    with pytest.raises(InputError, match="outside the range"):
        time_optimal([Axis((0, 0, 0), (2, 0, 0), 1.0, bounds=(-1, 1))])


def test_states_beyond_limits_are_told():
    with pytest.raises(InputError, match="end's velocity 3 is beyond its limit 2"):
        time_optimal([Axis((0, 0, 0), (1, 3, 0), 2.0)])
    with pytest.raises(InputError, match="not finite"):
        time_optimal([Axis((0, math.nan, 0), (1, 0, 0), 2.0)])

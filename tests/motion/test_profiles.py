"""Profiles against their closed forms and their own laws."""

import numpy as np
import pytest

from trundle.choices import PROFILES
from trundle.errors import InputError
from trundle.motion.pieces.profiles import shaped


@pytest.mark.parametrize("kind", PROFILES)
def test_shapes_go_from_the_start_to_the_end_at_rest(kind):
    profile = shaped(kind, -1.0, 2.0, 4.0)
    np.testing.assert_allclose(profile.at([0.0, 2.0, 4.0]), [-1.0, 0.5, 2.0], atol=1e-15)
    np.testing.assert_allclose(profile.extremes(0), (-1.0, 2.0), atol=1e-15)


def test_peaks_are_those_of_the_shapes():
    s, T = 3.0, 4.0
    assert shaped("linear", 0, s, T).extremes(1) == pytest.approx((s / T, s / T))
    assert shaped("trapezoidal", 0, s, T).extremes(1)[1] == pytest.approx(1.5 * s / T)
    assert shaped("scurve", 0, s, T).extremes(3) == pytest.approx((-51.2 * s / T**3, 51.2 * s / T**3))


@pytest.mark.parametrize("kind", PROFILES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_meet_differences(kind, order):
    profile = shaped(kind, 0.3, 1.1, 1.7)
    middles = (profile.breaks[1:] + profile.breaks[:-1]) / 2
    h = 1e-5
    differences = (profile.at(middles + h, order - 1) - profile.at(middles - h, order - 1)) / (2 * h)
    np.testing.assert_allclose(profile.at(middles, order), differences, atol=1e-8)


def test_impulses_are_named():
    assert [shaped(kind, 0, 1, 1).impulsive for kind in PROFILES] == [
        ("acceleration", "jerk"),
        ("jerk",),
        (),
    ]
    assert shaped("linear", 1, 1, 1).impulsive == ()


def test_wrong_shapes_and_times_are_refused():
    with pytest.raises(InputError, match="no profile 'scurv'"):
        shaped("scurv", 0, 1, 1)
    with pytest.raises(InputError, match="time > 0"):
        shaped("linear", 0, 1, -1)

"""The largest values between samples, against closed forms, and what counts as a jump."""

import math

import numpy as np
import pytest

import trundle
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.pieces.extremes import peaks
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import shaped


def line(miss, kind="linear"):
    """Past the axis of the module at (.5, .5) at a distance `miss` (m/s), in 1 s: u = (0.2 t − 0.1) + i miss there."""
    who = trundle.kinematics(trundle.catalog.limited_swerve())
    start = np.array([0.4 - 0.1, -0.4 + miss, 0.8])  # u = v + ω × r
    change = np.array([0.2, 0.0, 0.0])
    states = who.module_states(*start)
    return TwistLine(who.drive, start, change, shaped(kind, 0.0, 1.0, 1.0), states.angles)


def largest(found, quantity, module=0):
    return next(each for each in found if each.quantity == quantity and each.module == module)


@pytest.mark.parametrize("miss", [0.05, 1e-3, 1e-5, 1e-7])
def test_peaks_past_an_axis_are_found_however_short(miss):
    """α = atan2(d, b t − a): α̇ is at most b/d, α̈ at most (3√3/8) b²/d², α⃛ at most 2 b³/d³, at the nearest point."""
    found = peaks(line(miss), impulses=False)
    b = 0.2
    assert largest(found, "steering_rate").value == pytest.approx(b / miss, rel=1e-8)
    assert largest(found, "steering_rate").time == pytest.approx(0.5, abs=1e-6)
    assert largest(found, "steering_acceleration").value == pytest.approx(
        3 * math.sqrt(3) / 8 * (b / miss) ** 2, rel=1e-6
    )
    assert largest(found, "steering_jerk").value == pytest.approx(2 * (b / miss) ** 3, rel=1e-6)


@pytest.mark.slow
def test_no_sample_is_above_a_peak(rng):
    for _ in range(20):
        piece = line(float(rng.uniform(1e-4, 0.3)), str(rng.choice(["linear", "trapezoidal", "scurve"])))
        found = peaks(piece, impulses=False)
        samples = piece.samples(np.sort(rng.uniform(0, 1, 20_000)))
        for name in QUANTITIES:
            for module in range(4):
                seen = np.abs(getattr(samples, name)[:, module]).max()
                assert seen <= largest(found, name, module).value * (1 + 1e-6) + 1e-12


def test_impulses_follow_from_jumps():
    expected = {
        "linear": {"steering_acceleration", "steering_jerk", "drive_jerk"},
        "trapezoidal": {"steering_jerk"},
        "scurve": set(),
    }
    for kind, impulsive in expected.items():
        found = peaks(line(0.05, kind))
        assert {each.quantity for each in found if math.isinf(each.value) and each.module == 0} == impulsive

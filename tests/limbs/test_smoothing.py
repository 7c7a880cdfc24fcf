"""Each way to smooth against polynomials that it must leave alone, and splines against SciPy's and dense algebra."""

import numpy as np
import pytest
from scipy.interpolate import BSpline, make_smoothing_spline
from scipy.signal import butter, filtfilt

import trundle
from trundle import InputError
from trundle.limbs.capture.smoothing import METHODS
from trundle.limbs.capture.spline import spline_equations

T = np.linspace(0.0, 2.0, 201)
NUMBERS = {
    "none": {},
    "butterworth": {"cutoff": 6.0},
    "opensim": {"cutoff": 6.0},
    "savitzky_golay": {"window": 31},
    "gcv_spline": {},
    "noise_spline": {"noise": 0.01},
}
# The degree of polynomials that a method gives back with their derivatives, up to the ends.
EXACT = {"none": 5, "butterworth": 1, "opensim": 1, "savitzky_golay": 5, "gcv_spline": 2, "noise_spline": 5}


def test_every_method_is_held_to_these_laws():
    assert set(NUMBERS) == set(METHODS) == set(EXACT)


@pytest.mark.parametrize("method", METHODS)
def test_polynomials_come_back_with_their_derivatives(method, rng):
    made = trundle.smoothing(method, **NUMBERS[method])
    polynomial = np.polynomial.Polynomial(rng.normal(size=EXACT[method] + 1))
    found = trundle.smooth(T, polynomial(T), made)
    loose = {"butterworth": 1e-3, "opensim": 1e-3, "noise_spline": 0.02}.get(method, 1e-7)
    for order, values in enumerate(found):
        expected = (polynomial.deriv(order) if order else polynomial)(T)
        np.testing.assert_allclose(values, expected, atol=loose * 30.0**order)


@pytest.mark.parametrize("method", ["butterworth", "savitzky_golay"])
def test_filters_do_not_see_how_times_were_rounded(method):
    even = np.arange(240) / 120
    exact, rounded = (
        trundle.smooth(time, np.sin(6 * even), method, **NUMBERS[method])
        for time in (even, np.round(even, 4))
    )
    np.testing.assert_allclose(rounded.accelerations, exact.accelerations, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_when_and_in_which_unit_makes_no_difference(method, rng):
    noisy = np.sin(3 * T) + rng.normal(0, 0.01, 201)
    numbers = NUMBERS[method]
    plain = trundle.smooth(T, noisy, method, **numbers)
    thousand = {**numbers, **({"noise": 10.0} if "noise" in numbers else {})}
    later = trundle.smooth(T + 86400.0, 1000 * noisy, method, **thousand)
    for order, (one, other) in enumerate(zip(plain, later, strict=True)):
        np.testing.assert_allclose(other / 1000, one, atol=2e-6 * 100.0**order)


@pytest.mark.parametrize("method", METHODS)
def test_columns_do_not_see_each_other_and_records_lead_back(method, rng):
    noisy = np.stack([np.sin(3 * T), 5 * T], axis=1) + rng.normal(0, 0.01, (201, 2))
    made = trundle.smoothing(method, **NUMBERS[method])
    assert trundle.smoothing(made.record) == made
    np.testing.assert_array_equal(
        trundle.smooth(T, noisy, made).rates[:, 1], trundle.smooth(T, noisy[:, 1], made).rates
    )


@pytest.mark.parametrize("method", ["gcv_spline", "noise_spline", "none", "opensim"])
def test_splines_take_uneven_times(method, rng):
    time = np.cumsum(rng.uniform(0.005, 0.02, 200))
    noise = (
        0.0 if method in ("none", "opensim") else 0.002
    )  # rates of 0.01 are off by 0.1 and more, by chance
    numbers = {"noise": noise} if method == "noise_spline" else {}
    noisy = np.sin(3 * time) + rng.normal(0, noise, 200)
    found = trundle.smooth(time, noisy, method, **numbers)
    np.testing.assert_allclose(found.rates[20:-20], 3 * np.cos(3 * time[20:-20]), atol=0.15)


def test_the_noise_spline_stays_as_far_as_the_noise(rng):
    noisy = np.sin(9 * T) + rng.normal(0, 0.01, 201)  # so fast that no polynomial is as near by itself
    found = trundle.smooth(T, noisy, "noise_spline", noise=0.01)
    assert np.sqrt(np.mean((found.values - noisy) ** 2)) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("weight", [1e-6, 1e-2, 1.0, 1e4])
def test_the_cubic_smoothing_spline_is_scipys(weight, rng):
    steps = np.cumsum(rng.uniform(0.5, 1.5, 80))
    steps = (steps - steps[0]) * 79 / (steps[-1] - steps[0])
    data = rng.normal(size=80)
    made = spline_equations(steps, 3).spline(weight, data[:, None])
    peer = make_smoothing_spline(steps, data, lam=weight)
    for order in range(3):
        np.testing.assert_allclose(made(steps, order)[:, 0], peer(steps, order), atol=1e-10)


def test_opensims_spline_is_the_smoothing_spline_that_smooths_nothing(rng):
    time = np.cumsum(rng.uniform(0.008, 0.012, 80))
    data = np.sin(9 * time) + rng.normal(0, 0.01, 80)
    equations, found = spline_equations(time, 5), trundle.smooth(time, data, "opensim")
    spline, rate = equations.spline(1e-9, data[:, None]), 79 / (time[-1] - time[0])
    for order, values in enumerate(found):
        expected = spline(equations.steps, order)[:, 0] * rate**order
        np.testing.assert_allclose(values, expected, atol=1e-4 * np.abs(expected).max())


def test_opensims_filter_is_scipys_but_for_its_start(rng):
    """Both begin as a reflection of half of the recording; SciPy's then begins as if at rest."""
    noisy = 20 * np.sin(5 * T) + rng.normal(0, 0.3, 201)
    expected = filtfilt(*butter(3, 6 / 50), noisy, padtype="odd", padlen=100)
    np.testing.assert_allclose(trundle.smooth(T, noisy, "opensim", cutoff=6).values, expected, atol=1e-4)


def test_a_part_of_a_recording_is_smoothed_as_opensim_does_it(rng):
    """Of all that was recorded: what lies before and behind the part tells how it begins and ends."""
    arm, time = trundle.catalog.pendulum(links=1), 0.01 * np.arange(101)
    motion = {"time": time, "link_1.angle": np.sin(5 * time) + rng.normal(0, 0.01, 101)}
    whole, part = (
        trundle.inverse(arm, motion, smoothing={"method": "opensim", "cutoff": 6}, **span).loads
        for span in ({}, {"start": 0.2, "end": 0.5})
    )
    np.testing.assert_array_equal(part.time, time[20:51])
    moment = whole.actuator_torque["link_1.rate"][20:51]
    np.testing.assert_allclose(part.actuator_torque["link_1.rate"], moment, rtol=1e-12)


def test_cross_validation_of_a_cubic_finds_scipys_weight(rng):
    noisy = np.sin(3 * T) + rng.normal(0, 0.003, 201)  # where the minimum is flat, both end somewhere near it
    found = trundle.smooth(T, noisy, "gcv_spline", degree=3)
    np.testing.assert_allclose(found.values, make_smoothing_spline(T, noisy)(T), atol=2e-4)


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("weight", [1e-4, 1.0, 1e5])
def test_freedom_is_the_trace_of_the_hat_matrix(degree, weight):
    equations = spline_equations(np.arange(40) + np.random.default_rng(3).uniform(0, 0.4, 40), degree)
    values, bends = equations.values.toarray(), equations.bends.toarray()
    hat = values @ np.linalg.solve(values.T @ values + weight * bends.T @ bends, values.T)
    assert equations.freedom(weight) == pytest.approx(np.trace(hat), rel=1e-8)


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("weight", [1e-4, 1.0, 1e5])
def test_what_is_left_open_makes_the_samples_noise_the_whole_variance(degree, weight):
    """b (G + λ Ω)⁻¹ bᵀ of values and derivatives: what noise does, and what the spline may have smoothed away."""
    equations = spline_equations(np.arange(40) + np.random.default_rng(3).uniform(0, 0.4, 40), degree)
    values, bends = equations.values.toarray(), equations.bends.toarray()
    inverse = np.linalg.inv(values.T @ values + weight * bends.T @ bends)
    whole = BSpline(equations.knots, np.eye(values.shape[1]), degree)
    rows = np.array([whole(equations.steps, order) for order in range(3)])
    answers = rows @ inverse @ values.T
    noise = np.einsum("anm,bnm->nab", answers, answers)
    expected = np.einsum("anc,cd,bnd->nab", rows, inverse, rows)
    found = noise + equations.left_open(weight)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_blocks_that_belong_together_share_a_weight(rng):
    """Smoothing is then linear: what cancels between coordinates before cancels after. No unit has a say."""
    chosen = trundle.smoothing("gcv_spline")
    noisy = np.stack([np.sin(3 * T), np.cos(9 * T)], axis=1) + rng.normal(0, 0.01, (201, 2))
    blocks = [noisy[:, [0]], 1e3 * noisy[:, [1]]]
    one, other = chosen.together(T, blocks)
    both = chosen.linear(T, blocks)(noisy)
    np.testing.assert_allclose(one.rates[:, 0], both.rates[:, 0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(other.rates[:, 0], 1e3 * both.rates[:, 1], rtol=0, atol=1e-8)
    weights = [spline_equations(T, 5).cross_validated([noisy[:, [k]]]) for k in range(2)]
    shared = spline_equations(T, 5).cross_validated([noisy[:, [0]], noisy[:, [1]]])
    assert min(weights) <= shared <= max(weights)
    # A weight's exponent is searched to 1e-4, and where the search ends depends on rounding.
    assert np.log10(spline_equations(T, 5).cross_validated(blocks) / shared) == pytest.approx(0, abs=2e-4)
    # what is met exactly has no say
    still = np.zeros((201, 1))
    assert spline_equations(T, 5).cross_validated([noisy, still]) == pytest.approx(
        spline_equations(T, 5).cross_validated([noisy]), rel=1e-3
    )


@pytest.mark.parametrize(
    ("method", "numbers", "told"),
    [
        ("savitzky_golay", {"window": 30}, "odd"),
        ("savitzky_golay", {"window": 5, "degree": 5}, "less than its window"),
        ("savitzky_golay", {"window": 301}, "longer than the 201"),
        ("gcv_spline", {"degree": 4}, "one of 3, 5"),
        ("noise_spline", {"noise": 0.0}, "positive number as noise"),
        ("butterworth", {}, "needs its cutoff"),
        ("butterworth", {"cutoff": "6 Hz"}, "positive number as cutoff, got '6 Hz'"),
        ("butterworth", {"cutoff": 6, "order": 0}, "order is 1 to 10"),
        ("opensim", {"cutoff": 60}, "a cutoff of 60 Hz is above half the sampling rate of 100 Hz"),
        ("opensim", {"cutoff": -1}, "positive number as cutoff"),
    ],
)
def test_numbers_that_cannot_be_are_refused(method, numbers, told):
    with pytest.raises(InputError, match=told):
        trundle.smooth(T, T, method, **numbers)


@pytest.mark.parametrize("order", range(1, 11))
def test_the_filter_halves_the_power_at_its_cutoff_after_both_passes(order):
    """In the middle of a long sine the continued ends are forgotten; the bilinear axis is that of `cutoff`."""
    rate, cutoff = 500.0, 20.0
    time = np.arange(4001) / rate
    wave = np.sin(2 * np.pi * cutoff * time)
    left = trundle.smooth(time, wave, "butterworth", cutoff=cutoff, order=order).values
    middle = slice(1500, 2500)
    assert np.abs(left[middle] - wave[middle] / np.sqrt(2)).max() < 1e-6

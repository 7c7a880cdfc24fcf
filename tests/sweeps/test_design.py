"""Which values a robot of a sweep has: by its number alone, with the distribution that was asked for."""

import numpy as np
import pytest
from scipy import stats

from trundle import InputError
from trundle.sweeps.design import MOST_LATIN, Design
from trundle.sweeps.variation import from_plain, variation

OVER = {
    "r": variation("0.14:0.16:5", "r"),
    "mass": variation("uniform(40, 60)", "mass"),
    "n": variation("normal(1, 0.1)", "n"),
    "s": variation([3.0, 1.0], "s"),
}
NAMES = ["random", "sobol", "latin"]


@pytest.mark.parametrize("draws", NAMES)
def test_a_robot_hangs_on_its_number_alone(draws):
    design = Design(OVER, samples=700, draws=draws, seed=3)
    whole = design.columns(0, design.count)
    assert design.count == 5 * 2 * 700
    for first, count in ((0, 1), (699, 2), (3333, 1717), (6999, 1)):
        part = design.columns(first, count)
        assert all(np.array_equal(part[name], whole[name][first : first + count]) for name in OVER)


def test_grids_go_with_grids_and_with_all_samples():
    design = Design(OVER, samples=700, seed=1)
    whole = design.columns(0, design.count)
    cells = {
        (r, s): whole["mass"][(whole["r"] == r) & (whole["s"] == s)] for r in set(whole["r"]) for s in (1, 3)
    }
    assert len(cells) == 10
    first = next(iter(cells.values()))
    assert all(np.array_equal(values, first) for values in cells.values())
    assert np.array_equal(whole["s"][: 2 * 700], np.repeat([3.0, 1.0], 700))  # the last grid runs fastest


def test_what_else_varies_does_not_change_a_names_draws():
    alone = Design({"mass": OVER["mass"]}, samples=100, seed=5).columns(0, 100)["mass"]
    beside = Design({"n": OVER["n"], "mass": OVER["mass"]}, samples=100, seed=5).columns(0, 100)["mass"]
    assert np.array_equal(alone, beside)
    other = Design({"mass": OVER["mass"]}, samples=100, seed=6).columns(0, 100)["mass"]
    assert not np.isclose(alone, other).any()


@pytest.mark.parametrize("draws", NAMES)
@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("uniform(40, 60)", stats.uniform(40, 20)),
        ("normal(1, 0.1)", stats.norm(1, 0.1)),
        (stats.truncnorm(-2, 1, loc=0.6, scale=0.05), stats.truncnorm(-2, 1, loc=0.6, scale=0.05)),
        (stats.expon(scale=2.0), stats.expon(scale=2.0)),
    ],
)
def test_draws_have_the_distribution(draws, text, peer):
    values = Design({"v": variation(text, "v")}, samples=4096, draws=draws, seed=11).columns(0, 4096)["v"]
    # Kolmogorov and Smirnov: of independent draws one in 10,000 is further off; the others lie closer.
    assert stats.kstest(values, peer.cdf).pvalue > 1e-4
    if draws != "random":
        cells = np.sort(np.floor(4096 * peer.cdf(values)))
        assert np.array_equal(np.clip(cells, 0, 4095), np.arange(4096))  # one in every cell


def test_matrices_of_indices_are_a_b_and_a_with_one_column_of_b():
    design = Design({"a": OVER["mass"], "b": OVER["n"]}, samples=64, draws="indices")
    assert design.count == 4 * 64
    rows = {name: values.reshape(4, 64) for name, values in design.columns(0, 256).items()}
    for k, name in enumerate(("a", "b")):
        a, b = rows[name][0], rows[name][1]
        assert not np.isclose(a, b).any()
        assert np.array_equal(rows[name][2 + k], b)
        assert np.array_equal(rows[name][3 - k], a)


@pytest.mark.parametrize("name", OVER)
def test_what_is_kept_comes_back(name):
    assert from_plain(OVER[name].plain, name) == OVER[name]
    of_scipy = variation(stats.truncnorm(-2, 1, loc=0.6, scale=0.05), "v")
    assert from_plain(of_scipy.plain, "v") == of_scipy


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("unifrom(1, 2)", "did you mean 'uniform'"),
        ("gauss(1, 2)", r"known: normal, uniform \(in Python, scipy.stats has more\)$"),
        ("uniform(2, 1)", "is empty"),
        ("uniform(1)", "takes two numbers, got 1"),
        ("normal(1, -1)", "must be positive"),
        ("1:2", "BEGIN:END:POINTS"),
        ("1:2:0", "1 to 1,000,000,000 points"),
        ("1:x:3", "x"),
        ([], "list of values"),
        ([1.0, float("nan")], "not a finite number"),
        ([[1.0], [2.0]], "list of values"),
        (stats.poisson(3), "no continuous distribution"),
        (lambda u: u, "expected values or a distribution"),
        ({"low": 1}, "expected values or a distribution"),
        (stats.norm, "no continuous distribution"),
    ],
)
def test_what_is_no_variation_is_said(given, says):
    with pytest.raises(InputError, match=says):
        variation(given, "v")


def test_designs_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="one piece"):
        Design({"n": OVER["n"]}, samples=MOST_LATIN + 1, draws="latin")
    with pytest.raises(InputError, match="all alike"):
        Design({"r": OVER["r"]}, samples=2)
    with pytest.raises(InputError, match="no grids"):
        Design(OVER, samples=8, draws="indices")
    with pytest.raises(InputError, match="did you mean 'sobol'"):
        Design({"n": OVER["n"]}, samples=8, draws="sobel")
    with pytest.raises(InputError, match="no 2,000,000,000 points"):
        Design({"n": OVER["n"]}, samples=2 * 10**9, draws="sobol")

"""Errors are as large as covariances say, innovations as their noise: 200 runs at once, instant by instant.

A campaign is of 200 runs; of five campaigns the median share of instants counts at which an average over the runs is
within its 95 % bounds. Stops among the driving tell a gyro's noise apart from the encoders'.
"""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import trundle
from trundle.motion.odometry.displacement import advance

RUNS, STEPS, EVERY, DT = 200, 600, 5, 0.02
RADIUS, TRACK = 0.1, 0.5
ROBOT = trundle.catalog.differential_drive(radius=RADIUS, track=TRACK)
# Much noise and good fixes: errors are new every few fixes, so that a campaign has many that don't hang together.
TRUE = {"encoders": 0.05, "gyro": 0.01, "wander": 0.05, "slip": 0.02, "fix": 0.01}
START = np.array([0.1, 0.1, 0.05, 0.02])
# Contacts: what right and left wheel say ahead and to the left, of ahead, left and turned.
ROWS = np.array([[1, 0, TRACK / 2], [0, 1, 0], [1, 0, -TRACK / 2], [0, 1, 0]])
CAMPAIGNS, LEAST, GATE, SETTLED, APART = 5, 0.9, 3.4, 50, 100


def driven(step):
    """True turns of the right wheel and the left one: curves, and every other second a stop."""
    time = step * DT
    if time % 2 >= 1:
        return np.zeros(2)
    return np.array([0.15 + 0.05 * math.sin(3 * time), 0.15 - 0.05 * math.cos(2 * time)])


def error(pose, truth):
    """ξ of X_true = X exp(ξ), by the closed form of SE(2)'s logarithm."""
    x, y, turn = truth - pose
    turn, c, s = np.arctan2(np.sin(turn), np.cos(turn)), np.cos(pose[2]), np.sin(pose[2])
    ahead, left, half = c * x + s * y, c * y - s * x, turn / 2
    along = np.where(np.abs(half) < 1e-6, 1 - half**2 / 3, half / np.tan(np.where(half == 0, 1, half)))
    return np.array([along * ahead + half * left, along * left - half * ahead, turn])


def nees(pose, covariance, truth, off):
    """ξᵀ P⁻¹ ξ, with what else is off, of all instants and runs: arrays (…, n, runs) by instant."""
    pose, covariance, truth = (np.moveaxis(np.array(each), 0, -1) for each in (pose, covariance, truth))
    size = len(covariance)
    turn = np.zeros_like(covariance)
    turn[range(size), range(size)] = 1
    turn[0, 0], turn[0, 1] = np.cos(pose[2]), np.sin(pose[2])
    turn[1, 0], turn[1, 1] = -turn[0, 1], turn[0, 0]
    spread = np.einsum("ij...,jk...,lk...->...il", turn, covariance, turn)
    xi = np.array([*error(pose, truth), np.array(off).T][:size])
    solved = np.linalg.solve(spread, np.moveaxis(xi, 0, -1)[..., None])[..., 0]
    return np.einsum("i...,...i->...", xi, solved).T


def share(drawn, freedom):
    """Of the instants at which an average over the runs is within its 95 % bounds."""
    means = np.array(drawn).mean(axis=-1)
    low, high = chi2.ppf([0.025, 0.975], freedom * RUNS) / RUNS
    return np.mean((means > low) & (means < high))


class World:
    """Robots that drive with noise: what is true of them, and what their sensors tell."""

    def __init__(self, rng, states, ticks):
        self.rng, self.ticks = rng, ticks
        self.creep, self.wander = (TRUE[name] if name in states else 0.0 for name in ("slip", "wander"))
        self.pose = np.array(advance(np.zeros(3), self.drawn(3) * START[:3, None]))
        self.bias = self.drawn(1)[0] * START[3] * (self.wander > 0)
        self.counts = np.zeros((2, RUNS))

    def drawn(self, size):
        return self.rng.normal(size=(size, RUNS))

    def go_on(self, turns):
        """Increments that encoders count, and rates that gyros measure, in a step of true turns of the wheels."""
        told = np.zeros((4, RUNS))
        told[[0, 2]] = RADIUS * turns[:, None]
        told += self.creep * np.sqrt(RADIUS * np.abs(turns).mean()) * self.drawn(4)
        moved = np.linalg.lstsq(ROWS, told)[0]
        self.pose = np.array(advance(self.pose, moved))
        before = self.rounded()
        self.counts += turns[:, None] + TRUE["encoders"] * np.sqrt(np.abs(turns).mean()) * self.drawn(2)
        rate = moved[2] / DT + self.bias + TRUE["gyro"] / np.sqrt(DT) * self.drawn(1)[0]
        self.bias = self.bias + self.wander * np.sqrt(DT) * self.drawn(1)[0]
        return self.rounded() - before, rate

    def rounded(self):
        tick = 2 * np.pi / self.ticks if self.ticks else 0
        return tick * np.round(self.counts / tick) if tick else self.counts.copy()


def shares(rng, told=TRUE, states=("wander",), ticks=None, gate=None):
    """Shares of a campaign by quantity, the smoother's NEES at some instants in parts of its mean, and the share that a
    gate left out of the fixes once filters had settled.

    told: the noise that the filter knows.
    """
    biased, world = "wander" in states, World(rng, states, ticks)
    size = 4 if biased else 3
    noise = {name: told[name] for name in ("encoders", "gyro", *states)}
    start = {"pose": np.zeros((3, RUNS)), "covariance": np.diag(START[:size] ** 2)}
    estimator = trundle.Estimator(ROBOT, noise, **start, keep=math.inf)
    gyro, fixes, known, truths = [], [], [], []
    for step in range(STEPS):
        turns, rate = world.go_on(driven(step))
        estimator.predict(turns, DT, rate)
        gyro.append(estimator.nis["gyro"])
        if step % EVERY == EVERY - 1:
            seen = world.pose + TRUE["fix"] * world.drawn(3)
            fixes.append(estimator.fix(list(seen), [told["fix"]] * 3, gate=gate if step > SETTLED else None))
        known.append((estimator.pose, estimator.covariance, estimator.bias))
        truths.append((world.pose, world.bias))
    (pose, covariance, bias), (truth, biases) = zip(*known, strict=True), zip(*truths, strict=True)
    smooth, off = estimator.smooth(), np.array(biases)
    errors = nees(pose, covariance, truth, off - bias)
    smoothed = nees(smooth.pose[1:], smooth.covariance[1:], truth, off - smooth.bias[1:])
    found = {"nees": share(errors, size), "gyro": share(gyro, 1), "fix": share([fix.nis for fix in fixes], 3)}
    return (
        found,
        smoothed[::APART].mean(axis=1) / size,
        1 - np.mean([fix.used for fix in fixes[SETTLED // EVERY + 1 :]]),
    )


def medians(found):
    """Of the shares of campaigns, by quantity."""
    return {name: np.median([each[name] for each, *_ in found]) for name in found[0][0]}


@pytest.mark.campaign
@pytest.mark.parametrize("states", [(), ("wander",), ("slip",)], ids=["plain", "bias", "slip"])
def test_averages_are_within_their_bounds_at_nine_tenths_of_the_instants(campaign, states):
    """Of the smoother's errors, which hang together for longer, some instants count: all runs, in 99.99 % bounds."""
    drawn = [shares(rng, states=states) for rng in campaign(3 * CAMPAIGNS, least=CAMPAIGNS)]
    found = medians(drawn)
    assert min(found.values()) >= LEAST, found
    freedom = (4 if "wander" in states else 3) * RUNS * len(drawn)
    low, high = chi2.ppf([5e-5, 1 - 5e-5], freedom) / freedom
    smoothed = np.mean([each for _, each, _ in drawn], axis=0)
    assert low < smoothed.min() < smoothed.max() < high, smoothed


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "factor"), [("encoders", 1.3), ("gyro", 1.3), ("gyro", 0.77), ("fix", 1.15), ("wander", 0.5)]
)
def test_a_campaign_sees_wrong_noise(campaign, name, factor):
    """Of what sees it best, less than six tenths of the instants are left."""
    found = medians([shares(rng, told=TRUE | {name: factor * TRUE[name]}) for rng in campaign(3)])
    assert min(found.values()) < 0.6, found


@pytest.mark.campaign
@pytest.mark.parametrize("ticks", [None, 1024])
def test_a_gate_leaves_out_what_its_distance_says(campaign, ticks):
    """3.4 leaves out 0.9 % of good poses; shares are printed, with quantised encoders beside them."""
    found = [shares(rng, ticks=ticks, gate=GATE) for rng in campaign(CAMPAIGNS)]
    print(medians(found))
    expected, drawn = chi2.sf(GATE**2, 3), len(found) * RUNS * (STEPS - SETTLED) // EVERY
    assert abs(np.mean([left for *_, left in found]) - expected) < 5 * np.sqrt(expected / drawn)

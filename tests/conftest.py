"""What all tests share: seeded random numbers, the `slow` marker, and campaigns.

A campaign is one law over many random cases (`make prove` runs all of them, CI a share): its test takes the fixture
`campaign` and loops over `campaign(total)`, which yields a generator of random numbers a case.
"""

import gc
import math
import os
import secrets
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from budget import Budget, tree
from trundle.robot import bodies, contact, controllers, motor, sensors, surfaces, wheels

SEED_VARIABLE = "TRUNDLE_TEST_SEED"
FAMILIES = (
    bodies.JOINTS,
    contact.LAWS,
    controllers.CONTROLLERS,
    motor.MOTORS,
    sensors.SENSORS,
    surfaces.SURFACES,
    wheels.WHEELS,
)

# Words wrap as where there is no terminal, however wide the one is that the tests run in.
os.environ["COLUMNS"] = "100"

# New objects after which Python looks for garbage, by itself 700: that took a tenth of all tests' time.
gc.set_threshold(50_000)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")
    parser.addoption(
        "--share", type=float, default=0.0, help="run this share of each campaign (1: all of it)"
    )
    parser.addoption("--minutes", type=float, help="start no item later than that (tests/budget.py)")


def pytest_configure(config):
    if config.getoption("--minutes") is not None:
        config.pluginmanager.register(Budget(config, config.getoption("--minutes")))


def pytest_collection_modifyitems(config, items):
    for marker, runs in (("slow", config.getoption("--slow")), ("campaign", config.getoption("--share") > 0)):
        skip = pytest.mark.skip(reason=f"{marker}: runs with {'--slow' if marker == 'slow' else '--share'}")
        for item in items:
            if marker in item.keywords and not runs:
                item.add_marker(skip)


def pytest_collection_finish():
    """The modules of all tests stay: nobody needs to look for garbage among them."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def kinds():
    """Every kind of part from its module: tests that add kinds put back what they found, and what is to be loaded later
    would be unknown from then on.
    """
    for family in FAMILIES:
        family._all()


@pytest.fixture
def campaign(request, seed):
    """campaign(total) yields a generator of random numbers a case, for the share of the cases that was asked for.

    `least` is how many there are at least, for a law over all of them, such as a median's.
    Case k of a seed always draws the same numbers: the last one that is printed is the one that failed.
    """

    def cases(total: int, *, least: int = 1):
        count = max(least, math.ceil(total * request.config.getoption("--share")))
        for case in range(count):
            print(f"case {case} of {count}")
            yield np.random.default_rng([seed, case])
        request.node.user_properties.append(("cases", count))

    return cases


def pytest_terminal_summary(terminalreporter):
    """A table of the campaigns: cases, processor time, and whether all held."""
    cases, seconds, failed = Counter(), Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if "campaign" not in report.keywords:
                continue
            name = report.nodeid.partition("[")[0]
            cases[name] += dict(report.user_properties).get("cases", 0)
            seconds[name] += report.duration
            failed[name] += outcome == "failed"
    if cases:
        terminalreporter.section("campaigns")
    for name in cases:
        verdict = f"{failed[name]} FAILED" if failed[name] else "all hold"
        terminalreporter.write_line(f"{cases[name]:>8,} cases {seconds[name]:>8.1f} s  {verdict:>10}  {name}")


@pytest.fixture
def seed(request) -> int:
    """A seed of the test's name and HEAD's tree: every commit draws other numbers, and the same ones again.

    It is printed, so that a failing test shows it; TRUNDLE_TEST_SEED=N sets it. Without git every run draws others.
    """
    given = os.environ.get(SEED_VARIABLE)
    drawn = int(sha256(f"{tree()} {request.node.nodeid}".encode()).hexdigest()[:8], 16)
    number = int(given) if given else drawn if tree() else secrets.randbits(32)
    print(f"{SEED_VARIABLE}={number}")
    return number


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Random numbers from the printed seed."""
    return np.random.default_rng(seed)

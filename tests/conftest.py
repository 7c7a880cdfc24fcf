"""What all tests share: seeded random numbers and the `slow` marker."""

import os
import secrets

import numpy as np
import pytest

SEED_VARIABLE = "TRUNDLE_TEST_SEED"


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow: runs with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def seed() -> int:
    """A fresh seed, printed so that a failing test shows it; TRUNDLE_TEST_SEED=N repeats that test's numbers."""
    given = os.environ.get(SEED_VARIABLE)
    number = int(given) if given else secrets.randbits(32)
    print(f"{SEED_VARIABLE}={number}")
    return number


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Random numbers from the printed seed."""
    return np.random.default_rng(seed)

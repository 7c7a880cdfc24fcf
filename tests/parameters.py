"""Parameters of a law that is tested on many robots: a few always, the others where slow tests run."""

import sys

import pytest

from trundle import catalog

# Where the locale is C, a file's name may be ASCII alone, unless Python is told otherwise.
ANY_NAMES = pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="files' names are ASCII here")

# The catalogue without the person, whose 21 hinges make long programs and equations and nothing that others lack.
SHORT = tuple(name for name in catalog.names() if name != "person")


def mostly_slow(values, quick):
    """Values as a test's parameters, slow but for the quick ones, which must be among them."""
    unknown = [each for each in quick if each not in values]
    assert not unknown, f"{unknown} would select nothing"
    return [
        each
        if each in quick
        else pytest.param(*each if isinstance(each, tuple) else (each,), marks=pytest.mark.slow)
        for each in values
    ]

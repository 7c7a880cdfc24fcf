"""The examples in docstrings run as written, all of the package."""

import doctest
import pkgutil
import warnings
from importlib import import_module

import numpy as np
import pytest

import trundle
from tools.docstrings import lacking

MODULES = [each.name for each in pkgutil.walk_packages(trundle.__path__, "trundle.")]
EXAMPLES = {
    test.name: test
    for name in MODULES
    if not name.endswith("__main__")
    for test in doctest.DocTestFinder().find(import_module(name), globs={"trundle": trundle, "np": np})
    if test.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(EXAMPLES[name], out=said.append)
    assert runner.failures == 0, "".join(said)


def test_what_is_lacking_is_found():
    def plain(a, b: int = 0) -> int:
        """Add.

        Parameters
        ----------
        a : int
            The first.
        """
        return a + b

    assert lacking("plain", plain) == ["parameter 'b'", "Returns", "Raises", "an example"]

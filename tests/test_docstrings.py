"""The examples in docstrings run as written, all of the package."""

import doctest
import pkgutil
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from tools.docstrings import lacking

MODULES = [each.name for each in pkgutil.walk_packages(trundle.__path__, "trundle.")]
EXAMPLES = {
    test.name: test
    for name in MODULES
    if not name.endswith("__main__")
    for test in doctest.DocTestFinder().find(import_module(name), globs={"trundle": trundle, "np": np})
    if test.examples
}


class Checker(doctest.OutputChecker):
    """Words and numbers as they stand, but for the sign of a zero: rounding leaves it, by the machine's own order."""

    def check_output(self, want, got, optionflags):
        return super().check_output(unsigned(want), unsigned(got), optionflags)


def unsigned(text):
    """The text with 0. for -0., and without the blank that an array leaves where none of its numbers has a sign."""
    return re.sub(r"\[\s+(?=\d)", "[", re.sub(r"-(?=0\.0*(?![\d.e]))", "", text))


def test_only_a_zeros_sign_is_left_out():
    assert unsigned("array([-0.  ,  0. ])").split() == unsigned("array([ 0.  , -0. ])").split()
    for text in ("[-0.5 -0.01 -1.0]", "-0.0e3 - 0", "[-0.001]"):
        assert unsigned(text) == text


# Of rooms whose examples take seconds, all but one are slow.
DEAR = ("trundle.control.regulator_along.", "trundle.motion.trackers.", "trundle.motion.fastest.")
QUICK = [name for name in EXAMPLES if not name.startswith(DEAR) or name.endswith(".cost")]


@pytest.mark.parametrize("name", mostly_slow(EXAMPLES, QUICK))
def test_the_example_runs_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
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

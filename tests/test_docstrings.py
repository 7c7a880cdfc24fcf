"""The examples in public docstrings run as written."""

import doctest
import inspect
import warnings

import numpy as np
import pytest

import trundle
from tools.docstrings import lacking, public

SURFACE = dict(public())


def parsed(name, thing):
    return doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing) or "", {"trundle": trundle, "np": np}, name, None, 0
    )


EXAMPLES = {name: test for name, thing in SURFACE.items() if (test := parsed(name, thing)).examples}


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

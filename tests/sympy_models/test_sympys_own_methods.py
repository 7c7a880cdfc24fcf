"""Every method that SymPy's own tests of mechanics form, through from_sympy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Only for a process of its own: it changes SymPy's classes.
PLUGIN = "sympy_models.sympys_tests"
ROOT = Path(__file__).parents[2]
# SymPy 1.14 forms 66.
LEAST = 60
# Condition numbers of linear systems that no number solves.
SINGULAR = 1e12


@pytest.mark.slow
def test_methods_of_sympys_own_tests(tmp_path):
    """Each leaves its own equations by less than 1e-10 of their terms, or is singular and said to be; so M and h."""
    file = tmp_path / "methods"
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests", ROOT)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider"]
    command += ["-o", "markers=tooslow slow", "--pyargs", "sympy.physics.mechanics.tests"]
    variables = {**os.environ, "METHODS": str(file), "PYTHONPATH": paths}
    subprocess.run(command, cwd=tmp_path, env=variables, check=True, capture_output=True)
    verdicts = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(verdicts) >= LEAST
    for each in verdicts:
        if "said" in each:
            assert "singular" in each["said"], each
            assert each["condition"] > SINGULAR, each
        else:
            assert each["difference"] <= 1e-10, each
            assert each["forms"] <= 1e-10, each

"""A language from outside is one file: `examples/python/own_language.py`, whose AWK runs as the kernels do."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import trundle
from exports.running import model_of, output_of, require_state, rk4
from trundle.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "own_language.py"
TARGET = runpy.run_path(str(EXAMPLE))["TARGET"]


@pytest.mark.parametrize("name", ["pendulum", "differential_drive", "four_bar"])
def test_its_package_runs_as_the_kernels(name, tmp_path):
    if shutil.which("awk") is None:
        pytest.skip("no awk")
    model = model_of(name)
    model.export(TARGET, "dynamics", output=tmp_path)
    printed = output_of(["awk", "-f", f"{name}.awk", "-f", "main.awk"], tmp_path)
    start, inputs = np.array(model.state_vector()), np.zeros(len(model.inputs))
    require_state(printed, rk4(model, start, inputs, 1e-3, 1000), 1000, 1e-9)


def test_its_package_is_whole(tmp_path):
    """README, description and manifest are as in every target."""
    package = trundle.export(trundle.catalog.pendulum(), TARGET, "dynamics", output=tmp_path)
    assert package.files.keys() == {"README.md", "description.yaml", "pendulum.awk", "main.awk"}
    assert "Functions in AWK, with an example" in package.files["README.md"]
    assert "\n| 0 | `link_1.angle` | rad |" in package.files["README.md"]
    manifest = json.loads((tmp_path / "trundle-export.json").read_text())
    assert manifest["target"] == "awk"


def test_what_does_not_fit_is_said():
    with pytest.raises(InputError, match="'next' can't be a name in AWK"):
        trundle.export(trundle.catalog.pendulum(), TARGET, name="next")
    with pytest.raises(InputError, match="no precision 'single'"):
        trundle.export(trundle.catalog.pendulum(), TARGET, precision="single")

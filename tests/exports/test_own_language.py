"""A language from outside is one file: `examples/python/own_language.py`, whose AWK runs as the kernels do."""

import json
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trundle
from exports.running import model_of, output_of, require_state, rk4
from trundle.errors import InputError
from trundle.languages import source
from trundle.languages.package import Package, Target

EXAMPLE = Path(__file__).parents[2] / "examples" / "python" / "own_language.py"
OWN = runpy.run_path(str(EXAMPLE))
TARGET, AWK = OWN["TARGET"], OWN["AWK"]


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


def target(**changed):
    """A target of one file, but for what is changed."""
    given = {
        "name": "own",
        "summary": "one file",
        "package": lambda content: Package({"a.txt": "a"}, "read it", {}),
    }
    return Target(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"package": lambda content: None}, "the target 'own' gives None, no Package"),
        ({"package": None}, "package: expected a function from Content to Package, got None"),
        ({"summary": ""}, "summary: expected text that isn't empty"),
        ({"precisions": ()}, "precisions: a target has a precision at least"),
        ({"what": ("dynamic",)}, "what: 'dynamic' can't be exported\n  did you mean 'dynamics'"),
        ({"package": lambda content: Package({"a": 3}, "", {})}, r"files\.a: expected text or bytes, got 3"),
        (
            {"package": lambda content: Package({"a": "a", "a/b": "b"}, "", {})},
            "'a' can't be a file and the folder of",
        ),
        ({"package": lambda content: Package({"a": "a"}, None, {})}, "usage: expected text, got None"),
        ({"package": lambda content: Package({"a": "a"}, "", {"size": object()})}, "facts are plain data"),
        (
            {"package": lambda content: Package({"trundle-export.json": ""}, "", {})},
            "written by the export itself",
        ),
    ],
)
def test_a_target_that_goes_wrong(changed, said, tmp_path):
    with pytest.raises(InputError, match=said):
        trundle.export(trundle.catalog.pendulum(), target(**changed), "dynamics", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "", ".", "a//b", "..\\x", "c:x", "a\n"])
def test_no_file_leaves_the_folder(name, tmp_path):
    outside = target(package=lambda content: Package({name: "a"}, "", {}))
    with pytest.raises(InputError, match="names no file in the package's folder"):
        trundle.export(trundle.catalog.pendulum(), outside, "dynamics", output=tmp_path / "out")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"operations": {"sinus": "sin({0})"}},
            r"operations\.sinus: programs have no operation 'sinus'\n.*'sin'",
        ),
        ({"operations": {"sin": "sin({x})"}}, r"operations\.sin: .* has a slot \{x\} that nothing fills"),
        ({"operations": {"atan2": "atan2({0})"}}, r"operations\.atan2: .* lacks \{1\}"),
        ({"operations": {"sin": "sin({0"}}, "can't be filled in"),
        ({"define": "{nam} = {value}"}, r"define: .* slot \{nam\} .*\n.*\{name\}, \{value\}"),
        ({"element": "{array}[{index}]"}, r"element: .* slot \{index\}"),
        ({"number": None}, "number: expected a function, got None"),
        ({"helpers": None}, "helpers: expected a mapping of names, got None"),
        ({"reserved": "for"}, "reserved: expected a set of words, got 'for'"),
    ],
)
def test_a_language_that_goes_wrong(changed, said):
    with pytest.raises(InputError, match=said):
        replace(AWK, **changed)


@pytest.mark.parametrize("changed", [{"number": lambda number: number}, {"framed": lambda function: None}])
def test_functions_of_a_language_give_text(changed):
    program = trundle.derive(trundle.catalog.pendulum(links=1)).dynamics
    with pytest.raises(InputError, match="expected text"):
        source({"dynamics": program}, replace(AWK, **changed))

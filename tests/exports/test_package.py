"""Packages: what stands in every one, and folders written whole or not at all."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import trundle
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.exports.package import MANIFEST, Package, write
from trundle.languages import JAVASCRIPT, JAX, NUMPY, C
from trundle.languages.fortran import FORTRAN
from trundle.languages.language import text_of
from trundle.languages.octave import OCTAVE
from trundle.languages.package import Target

ROBOT = trundle.catalog.differential_drive()


def kept(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_says_what_is_in_it(tmp_path):
    trundle.export(ROBOT, "numpy", output=tmp_path / "robot")
    manifest = json.loads((tmp_path / "robot" / MANIFEST).read_text())
    readme = (tmp_path / "robot" / "README.md").read_text()
    entries = {entry["name"]: entry for entry in manifest["entries"]}
    assert manifest["written_by"].endswith(trundle.__version__)
    assert trundle.__version__ in readme
    for name, entry in entries.items():
        assert f"## `{name}`" in readme
        for group in (*entry["inputs"], *entry["outputs"]):
            assert len(group["labels"]) == len(group["units"])
    state, _, parameter = entries["dynamics"]["inputs"]
    assert dict(zip(parameter["labels"], parameter["defaults"], strict=True))["r"] == 0.15
    assert dict(zip(parameter["labels"], parameter["units"], strict=True))["r"] == "m"
    assert dict(zip(state["labels"], state["units"], strict=True))["v_x"] == "m/s"
    rate = entries["dynamics"]["outputs"][0]
    assert dict(zip(rate["labels"], rate["units"], strict=True))["v_x"] == "m/s^2"
    assert trundle.load(tmp_path / "robot" / "description.yaml") == ROBOT


@pytest.mark.parametrize(("to", "first"), [("c", 0), ("fortran", 1), ("octave", 1)])
def test_places_are_counted_as_the_language_does(to, first):
    told = trundle.export(ROBOT, to, "dynamics").content("README.md").decode()
    assert f"\n| {first} | `{trundle.derive(ROBOT).states[0]}` |" in told


def test_an_earlier_export_is_replaced_and_what_was_added_stays(tmp_path):
    folder = tmp_path / "robot"
    trundle.export(ROBOT, "numpy", output=folder)
    (folder / "robot.o").write_text("a compiler's")
    trundle.export(trundle.catalog.pendulum(), "jax", output=folder)
    assert kept(folder).keys() == {MANIFEST, "README.md", "description.yaml", "pendulum.py", "robot.o"}


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_with_something_else_is_refused(tmp_path, force):
    (tmp_path / "thesis.tex").write_text("years of work")
    before = kept(tmp_path)
    if force:
        trundle.export(ROBOT, "numpy", output=tmp_path, force=True)
        assert before.items() < kept(tmp_path).items()
        return
    with pytest.raises(InputError, match="thesis.tex"):
        trundle.export(ROBOT, "numpy", output=tmp_path)
    assert kept(tmp_path) == before


def test_a_changed_file_is_refused(tmp_path):
    folder = tmp_path / "robot"
    trundle.export(ROBOT, "numpy", output=folder)
    (folder / "differential_drive.py").write_text("my own")
    before = kept(folder)
    with pytest.raises(InputError, match="changed since") as caught:
        trundle.export(ROBOT, "numpy", output=folder)
    assert "differential_drive.py" in caught.value.file
    assert kept(folder) == before
    trundle.export(ROBOT, "numpy", output=folder, force=True)
    assert kept(folder) != before


def test_files_in_folders_are_written_and_others_not_replaced(tmp_path):
    package = Package({"include/robot.hpp": "text", "robot.bin": b"\0\1"}, "", {})
    write(package, tmp_path / "robot")
    assert (tmp_path / "robot/include/robot.hpp").read_text() == "text"
    assert (tmp_path / "robot/robot.bin").read_bytes() == b"\0\1"
    (tmp_path / "robot" / "main.c").write_text("mine")
    more = replace(package, files={**package.files, "main.c": "theirs"})
    with pytest.raises(InputError, match="no export wrote it"):
        write(more, tmp_path / "robot")
    assert (tmp_path / "robot" / "main.c").read_text() == "mine"


def test_a_manifest_of_somebody_elses_leads_nowhere(tmp_path):
    (tmp_path / "precious").write_text("keep")
    folder = tmp_path / "robot"
    folder.mkdir()
    files = {"../precious": "", str(tmp_path / "precious"): ""}
    (folder / MANIFEST).write_text(json.dumps({"written_by": "trundle 0", "files": files}))
    trundle.export(ROBOT, "numpy", output=folder, force=True)
    assert (tmp_path / "precious").read_text() == "keep"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"to": "cobol"}, "nothing is exported to 'cobol'"),
        ({"what": "dynamic"}, "did you mean 'dynamics'"),
        ({"name": "class"}, "word of the language"),
        ({"name": "my robot"}, "name it my_robot"),
        ({"name": "../robot"}, "name it robot"),
        ({"name": "dynamics"}, "dynamics_model"),
        ({"precision": "half"}, "no precision 'half'"),
        ({"model": trundle.catalog.pendulum(), "what": "kinematics"}, "planar base"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(tmp_path, wrong, words):
    with pytest.raises(InputError) as caught:
        trundle.export(**{"model": ROBOT, "to": "numpy", "output": tmp_path / "robot", **wrong})
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert not (tmp_path / "robot").exists()


def test_a_model_from_sympy_goes_along_without_a_description(tmp_path):
    q, v, force = dynamicsymbols("q v F")
    mass, stiffness = sp.symbols("m k")
    frame, point = ReferenceFrame("N"), Point("P")
    point.set_vel(frame, v * frame.x)
    method = KanesMethod(frame, [q], [v], kd_eqs=[q.diff() - v])
    method.kanes_equations(
        [Particle("body", point, mass)], [(point, (force - stiffness * sp.atan(q)) * frame.x)]
    )
    model = trundle.from_sympy(method, inputs=[force], parameters={mass: 2.0, stiffness: 8.0}, name="spring")
    package = trundle.export(model, "numpy", output=tmp_path / "spring")
    assert package.files.keys() == {"README.md", "spring.py"}
    names = [entry["name"] for entry in package.facts["entries"]]
    assert names[: names.index("prepare")] == ["dynamics", "jacobian", "outputs"]
    found = {}
    exec(package.files["spring.py"], found)
    np.testing.assert_allclose(
        found["dynamics"]([0.5, 0.25], [1.0], [2.0, 8.0]), [0.25, (1 - 8 * np.arctan(0.5)) / 2]
    )


def test_a_sympy_function_that_a_language_lacks_writes_nothing(tmp_path):
    q, v = dynamicsymbols("q v")
    frame, point = ReferenceFrame("N"), Point("P")
    point.set_vel(frame, v * frame.x)
    method = KanesMethod(frame, [q], [v], kd_eqs=[q.diff() - v])
    method.kanes_equations([Particle("body", point, sp.Symbol("m"))], [(point, -sp.erf(q) * frame.x)])
    model = trundle.from_sympy(method, parameters={sp.Symbol("m"): 2.0})
    less = {op: text for op, text in NUMPY.operations.items() if op != "erf"}
    language = replace(NUMPY, operations=less)
    target = Target(
        "less",
        "a test",
        lambda content: Package({"a": text_of(content.functions(language), language)}, "", {}),
    )
    with pytest.raises(InputError, match="'dynamics' computes erf, and NumPy has no function for it"):
        trundle.export(model, target, output=tmp_path / "model")
    assert not (tmp_path / "model").exists()
    assert "erf" in trundle.export(model, "jax").files["sympy_model.py"]


# Words of most languages, as a description may well have them.
_KEYWORDS = {
    "double": 50.0,
    "end": 0.15,
    "lambda": 1.0,
    "int": 0.6,
    "main": 0.05,
    "void": 2.0,
    "rate": 1.0,
    "PI": 5.0,
}


@cache
def model_of_keywords(name):
    wheel, motor = {"radius": "end", "mass": "void"}, {"torque_constant": "lambda", "resistance": "main"}
    robot = {
        "name": name,
        "base": "planar",
        "body": {"mass": "double * rate", "inertia": {"zz": "PI"}},
        "wheels": {"class": {"at": [0, "-int", 0], **wheel}, "for": {"at": [0, "int", 0], **wheel}},
        "motors": {"do": {"drives": "class", **motor}, "if": {"drives": "for", **motor}},
        "parameters": _KEYWORDS,
    }
    return trundle.derive({"trundle": 1, "robot": robot})


_WRITTEN_IN = {
    "c": C, "cpp": C, "fortran": FORTRAN, "javascript": JAVASCRIPT, "jax": JAX, "numpy": NUMPY,
    "octave": OCTAVE,
}  # fmt: skip


@pytest.mark.parametrize("to", _WRITTEN_IN)
def test_names_that_are_keywords_become_others(to):
    readme = trundle.export(model_of_keywords("my robot"), to).files["README.md"]
    assert all(f"`{word}`" in readme for word in _KEYWORDS)


_PACKAGES = [(to, name) for to in _WRITTEN_IN for name in ("class", "double", "end", "for")]
# A name that is a word of the language, and one that is none.
_SEVERAL = {"c": "double end", "octave": "end"}


@pytest.mark.parametrize(
    ("to", "name"), mostly_slow(_PACKAGES, [(to, name) for to in _SEVERAL for name in _SEVERAL[to].split()])
)
def test_a_packages_name_that_is_a_keyword_is_asked_for_anew(tmp_path, to, name):
    language, robot = _WRITTEN_IN[to], model_of_keywords(name)
    if name in language.reserved:
        with pytest.raises(InputError, match=f"'{name}' can't be a name in {language.name}"):
            trundle.export(robot, to, output=tmp_path / "robot")
        assert not (tmp_path / "robot").exists()
    trundle.export(robot, to, output=tmp_path / "robot", name=f"{name}_robot")


@pytest.mark.slow
def test_a_description_whose_name_two_languages_forbid_is_told_with_its_line_and_a_name_for_all(tmp_path):
    source = trundle.catalog.document("mecanum").source
    path = tmp_path / "robot.yaml"
    path.write_text(source.replace("name: mecanum", "name: double"), encoding="utf-8")
    line = next(k for k, text in enumerate(path.read_text().splitlines(), 1) if "name: double" in text)
    with pytest.raises(InputError) as told:
        trundle.export(path, "java")
    assert (told.value.key, told.value.line, told.value.file) == ("robot.name", line, str(path))
    assert "'double' can't be a name in Java" in str(told.value)
    assert "; nor in C, Fortran, JavaScript, Octave" in str(told.value)
    assert "name it double_robot there" in str(told.value)
    path.write_text(source.replace("name: mecanum", "name: double_robot"), encoding="utf-8")
    for to in ("java", "fortran"):
        assert trundle.export(path, to).files
    path.write_text(source.replace("name: mecanum", "name: double"), encoding="utf-8")
    assert trundle.export(path, "java", name="double_robot").files

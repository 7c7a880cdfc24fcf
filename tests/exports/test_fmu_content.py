"""What stands in FMUs: descriptions that FMPy finds valid, units, dependencies, sources, binaries where they can be."""

import shutil
import zipfile

import pytest

import trundle
from derived import derived
from exports.fmus import VERSIONS, exported, fmpy, without_compiler
from languages.cases import MODELS
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.exports.fmi_description import FmiVariable, dimension, named

validation = pytest.importorskip("fmpy.validation")


@pytest.mark.parametrize("name", mostly_slow(MODELS, ["pendulum", "four_bar"]))
def test_every_robots_description_is_valid(name, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    paths, _ = exported(MODELS[name](), tmp_path / "out")
    for path in paths.values():
        assert validation.validate_fmu(path) == []


@VERSIONS
def test_variables_have_the_models_names_units_and_starts(version, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    model = derived("differential_drive")
    description = fmpy.read_model_description(exported(model, tmp_path / "out")[0][version])
    found = {each.name: each for each in description.modelVariables}
    assert description.generationTool == f"trundle {trundle.__version__}"
    assert description.variableNamingConvention == "structured"
    assert set(found) == {
        "time", *model.states, *(f"der({name})" for name in model.states),
        *model.inputs, *model.parameters, *model.outputs,
    }  # fmt: skip
    for name, value in model.parameters.items():
        each = found[name]
        assert (float(each.start), each.causality, each.variability) == (value, "parameter", "tunable")
    assert (found["left_motor.voltage"].causality, found["left_motor.voltage"].unit) == ("input", "V")
    assert (found["der(v_x)"].derivative.name, found["der(v_x)"].unit) == ("v_x", "m/s^2")
    units = {each.name: each.baseUnit for each in description.unitDefinitions}
    assert (units["V"].m, units["V"].kg, units["V"].s, units["V"].A) == (2, 1, -3, -1)
    assert (units["rad/s"].rad, units["rad/s"].s) == (1, -1)


@VERSIONS
def test_the_structure_tells_what_hangs_on_what(version, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    model = derived("differential_drive")
    description = fmpy.read_model_description(exported(model, tmp_path / "out")[0][version])
    needs = {u.variable.name: {each.name for each in u.dependencies} for u in description.derivatives}
    assert needs["der(x)"] == {"theta", "v_x"}
    assert needs["der(left_motor.current)"] == {"left_motor.voltage", "left_motor.current", "v_x", "omega"}
    starts = {u.variable.name: {each.name for each in u.dependencies} for u in description.initialUnknowns}
    assert starts["der(right.angle)"] == {"v_x", "omega", "r", "track"}


@pytest.mark.parametrize(
    ("unit", "exponents"),
    [
        ("rad/s", (0, 0, -1, 0, 1)),
        ("kg m^2", (2, 1, 0, 0, 0)),
        ("N m/A", (2, 1, -2, -1, 0)),
        ("(rad/s)/m", (-1, 0, -1, 0, 1)),
        ("N m s/rad", (2, 1, -1, 0, -1)),
        ("m/s/(N m)", (-1, -1, 1, 0, 0)),
        ("1/s", (0, 0, -1, 0, 0)),
    ],
)
def test_units_are_told_by_base_units(unit, exponents):
    found = dimension(unit)
    assert found is not None
    assert (*found[0], found[1]) == exponents


@pytest.mark.parametrize("unit", ["furlong", "deg", "m)", "(m", "m%", "kg m^2^2"])
def test_other_units_are_names_alone(unit):
    assert dimension(unit) is None


def test_without_a_compiler_there_are_sources_and_it_says_so(tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    paths, made = exported(derived("pendulum"), tmp_path / "out")
    assert "no C compiler was found" in (tmp_path / "out" / "README.md").read_text()
    assert all(note.endswith("no C compiler was found") for note in made.notes)
    assert made.facts["binaries"] == dict.fromkeys(("2.0", "3.0"), "none, as no C compiler was found")
    names = zipfile.ZipFile(paths["3"]).namelist()
    assert {"sources/model.c", "sources/fmi3.c", "sources/core.h", "sources/buildDescription.xml"} <= set(
        names
    )
    assert not [name for name in names if name.startswith("binaries")]


def test_a_compiler_that_fails_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    if shutil.which("false") is None:
        pytest.skip("no false")
    with pytest.raises(
        InputError, match=r"to: the FMU didn't compile: \S*false failed: status 1(.|\n)*set CC to"
    ):
        exported(derived("pendulum"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_same_model_gives_the_same_bytes(monkeypatch):
    without_compiler(monkeypatch)
    first, second = (trundle.export(trundle.catalog.pendulum(), "fmu").files for _ in range(2))
    assert first == second


def test_an_fmu_has_no_kinematics():
    with pytest.raises(InputError, match="not wheel_states"):
        trundle.export(trundle.catalog.differential_drive(), "fmu", "dynamics,kinematics")


def test_a_keyword_is_no_name():
    with pytest.raises(InputError, match="'while' can't be a name in C"):
        trundle.export(trundle.catalog.pendulum(), "fmu", name="while")


def test_names_are_told_apart():
    found = named(
        [
            FmiVariable("time", "time"),
            FmiVariable("x", "state"),
            FmiVariable("x", "parameter"),
            FmiVariable("a\nb", "output"),
        ]
    )
    assert [each.name for each in found] == ["time", "x", "x (parameter)", "a b"]

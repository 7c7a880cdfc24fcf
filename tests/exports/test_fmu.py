"""FMUs: valid by FMPy's checks, and run by it: the kernel's own numbers, in both versions and both kinds."""

import ctypes
import io
import shutil
import subprocess
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

import trundle
from languages.c_code import WARNINGS
from languages.cases import models, states
from trundle.errors import InputError
from trundle.exports import fmu
from trundle.exports.fmi_description import Variable, dimension, named
from trundle.model.manifold import on_manifold
from trundle.program import feed
from trundle.program.rollout import rollout

fmpy = pytest.importorskip("fmpy")
validation = pytest.importorskip("fmpy.validation")
build = pytest.importorskip("fmpy.build")
fmi2 = pytest.importorskip("fmpy.fmi2")
fmi3 = pytest.importorskip("fmpy.fmi3")

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
QUICK = ("pendulum", "four_bar")
VERSIONS = pytest.mark.parametrize("version", ["2", "3"])


def exported(model, folder, name="robot"):
    """The FMUs of a model by version, as paths."""
    made = trundle.export(model, "fmu", output=folder, name=name)
    return {version: str(folder / f"{name}_fmi{version}.fmu") for version in "23"}, made


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    model = trundle.derive(trundle.catalog.differential_drive())
    return model, exported(model, tmp_path_factory.mktemp("drive"))[0]


@contextmanager
def instance(path, kind, names=("first",), **experiment):
    """Instances of one FMU, initialized: all from one library."""
    description = fmpy.read_model_description(path)
    unzipped = fmpy.extract(path)
    two = description.fmiVersion == "2.0"
    makers = {
        ("2.0", "me"): fmi2.FMU2Model, ("2.0", "cs"): fmi2.FMU2Slave,
        ("3.0", "me"): fmi3.FMU3Model, ("3.0", "cs"): fmi3.FMU3Slave,
    }  # fmt: skip
    made = [
        makers[description.fmiVersion, kind](
            guid=description.guid, unzipDirectory=unzipped, modelIdentifier="robot", instanceName=name
        )
        for name in names
    ]
    for each in made:
        each.instantiate()
        if two:
            each.setupExperiment(**experiment)
            each.enterInitializationMode()
        else:
            each.enterInitializationMode(**experiment)
        each.exitInitializationMode()
    yield made
    for each in made:
        each.terminate()
        each.freeInstance()
    shutil.rmtree(unzipped, ignore_errors=True)


def places(description, names):
    found = {each.name: each.valueReference for each in description.modelVariables}
    return [found[name] for name in names]


def read(each, references):
    return np.array(each.getReal(references) if hasattr(each, "getReal") else each.getFloat64(references))


def write(each, references, values):
    (each.setReal if hasattr(each, "setReal") else each.setFloat64)(references, [float(v) for v in values])


# ---- what stands in an FMU


def without_compiler(monkeypatch):
    monkeypatch.setattr(fmu.shutil, "which", lambda name: None)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, marks=() if name in QUICK else pytest.mark.slow, id=name)
        for name, make in models().items()
    ],
)
def test_every_robots_description_is_valid(make, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    paths, _ = exported(make(), tmp_path / "out")
    for path in paths.values():
        assert validation.validate_fmu(path) == []


@VERSIONS
def test_variables_have_the_models_names_units_and_starts(version, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    model = trundle.derive(trundle.catalog.differential_drive())
    description = fmpy.read_model_description(exported(model, tmp_path / "out")[0][version])
    found = {each.name: each for each in description.modelVariables}
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
    model = trundle.derive(trundle.catalog.differential_drive())
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
    paths, made = exported(trundle.derive(trundle.catalog.pendulum()), tmp_path / "out")
    assert "no C compiler was found" in (tmp_path / "out" / "README.md").read_text()
    assert all(note.endswith("no C compiler was found") for note in made.notes)
    assert made.facts["binaries"] == dict.fromkeys(("2.0", "3.0"), "none, as no C compiler was found")
    names = zipfile.ZipFile(paths["3"]).namelist()
    assert {"sources/model.c", "sources/fmi3.c", "sources/core.h", "sources/buildDescription.xml"} <= set(
        names
    )
    assert not [name for name in names if name.startswith("binaries")]


def test_a_compiler_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    if shutil.which("false") is None:
        pytest.skip("no false")
    _, made = exported(trundle.derive(trundle.catalog.pendulum()), tmp_path / "out")
    assert all("false failed" in said for said in made.facts["binaries"].values())


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


# ---- what an FMU computes


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_co_simulation_takes_the_kernels_steps(drive, version):
    model, paths = drive
    description = fmpy.read_model_description(paths[version])
    state, command = places(description, model.states), places(description, model.inputs)
    given, steps, h = [24.0, 20.0], 30_000, 1e-3
    parameters = np.array(list(model.parameters.values()))
    kernel = rollout(
        model.dynamics, model.state_vector(), {"input": given, "parameter": parameters}, dt=h, steps=steps
    )
    # a tolerance that every step meets: each call is one step
    with instance(paths[version], "cs", tolerance=1e6) as (each,):
        write(each, command, given)
        for k in range(steps):
            each.doStep(currentCommunicationPoint=k * h, communicationStepSize=h)
            if k == 0:
                np.testing.assert_allclose(read(each, state), kernel.states[1], rtol=1e-12, atol=1e-15)
        scale = np.abs(kernel.states).max(axis=0)
        assert np.abs(read(each, state) - kernel.final).max() <= 1e-9 * scale.max()
        assert np.all(np.abs(read(each, state) - kernel.final) <= 1e-9 * (scale + 1e-3))


@needs_compiler
@pytest.mark.slow
@VERSIONS
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_fmpys_runs_are_simulates(drive, version, kind):
    model, paths = drive
    run = trundle.simulate(
        model, 5.0, inputs={"right_motor.voltage": 24.0, "left_motor.voltage": 20.0}, rtol=1e-10, atol=1e-10
    )
    names = [*model.states, *model.outputs]
    found = fmpy.simulate_fmu(
        paths[version], stop_time=5.0, fmi_type=kind, output=names, output_interval=0.05, relative_tolerance=1e-9,
        start_values={"right_motor.voltage": 24.0, "left_motor.voltage": 20.0},
    )  # fmt: skip
    for name in names:
        own = np.interp(found["time"], run.time, run[name])
        scale = np.abs(run[name]).max() + 1e-3
        assert abs(found[name][-1] - run[name][-1]) <= 1e-6 * scale, name
        if name in ("x", "y", "theta"):
            assert np.abs(found[name] - own).max() <= 1e-3 * scale


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("make", [*models().values()], ids=[*models()])
def test_rates_outputs_and_derivatives_are_the_kernels(make, tmp_path):
    model = make()
    paths, _ = exported(model, tmp_path / "out")
    assert_same(model, paths["3"], 1000)
    assert_same(model, paths["2"], 20)


def assert_same(model, path, count):
    """ẋ, y and J v of Model Exchange at random states against the kernels."""
    description = fmpy.read_model_description(path)
    command, output = (places(description, names) for names in (model.inputs, model.outputs))
    state = places(description, model.states)
    rates = places(description, [f"der({name})" for name in model.states])
    x, u, p = closed(model, *states(model, count, 3))
    rate, seen = model.dynamics(x, u, p), model.observe(x, u, p)
    guided = model.dynamics if model.projection is None else feed(model.dynamics, model.projection)
    slopes = guided.jacobian("rate", "state")(x[:, :3], u[:, :3], p[:, :3])
    with instance(path, "me") as (each,):
        enter(each)
        for k in range(x.shape[1]):
            write(each, command, u[:, k])
            own = (ctypes.c_double * len(state))(*x[:, k])
            each.setContinuousStates(own, len(state))
            found = read(each, rates)
            assert np.abs(found - rate[:, k]).max() <= 1e-11 * (1 + np.abs(rate[:, k]).max())
            found = read(each, output)
            assert np.abs(found - seen[:, k]).max() <= 1e-11 * (1 + np.abs(seen[:, k]).max())
            if k < 3:
                matrix = np.column_stack([derived(each, rates, at) for at in state])
                wanted = slopes[:, k].reshape(matrix.shape)
                assert np.abs(matrix - wanted).max() <= 1e-9 * (1 + np.abs(wanted).max())
                assert_changes(each, output, command, u[:, k])


def assert_changes(each, unknown, known, at):
    """Outputs' derivatives by inputs against central differences."""
    for k, reference in enumerate(known):
        h = 1e-4 * (1 + abs(at[k]))
        sides = []
        for sign in (1, -1):
            write(each, [reference], [at[k] + sign * h])
            sides.append(read(each, unknown))
        write(each, [reference], [at[k]])
        slope = (sides[0] - sides[1]) / (2 * h)
        found = derived(each, unknown, reference)
        assert np.abs(found - slope).max() <= 1e-5 * (1 + np.abs(slope).max() + np.abs(sides[0]).max())


def closed(model, x, u, p):
    """Those of random states that Newton's steps move onto the constraints: half of them at least."""
    if model.projection is None:
        return x, u, p
    for _ in range(10):
        x = on_manifold(model, x, u, p)
    done = np.abs(model.manifold(x, u, p)).max(axis=0) <= 1e-12
    assert done.mean() > 0.5
    return x[:, done], u[:, done], p[:, done]


def enter(each):
    if hasattr(each, "newDiscreteStates"):
        each.newDiscreteStates()
    else:
        each.updateDiscreteStates()
    each.enterContinuousTimeMode()


def derived(each, unknown, known):
    return np.array(each.getDirectionalDerivative(unknown, [known], [1.0]))


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_loops_stay_closed(version, tmp_path):
    model = trundle.derive(trundle.catalog.robot("four_bar"))
    paths, _ = exported(model, tmp_path / "out")
    run = trundle.simulate(model, 2.0, rtol=1e-10, atol=1e-10)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(
            paths[version], stop_time=2.0, fmi_type=kind, relative_tolerance=1e-9, output_interval=0.01,
            output=[*model.states, *model.outputs],
        )  # fmt: skip
        for name in model.coordinates:
            assert abs(found[name][-1] - run[name][-1]) <= 1e-5 * (1 + np.ptp(run[name])), (kind, name)
        assert found["constraint_residual"].max() <= 1e-9


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_instances_are_apart_and_their_states_can_be_kept(drive, version):
    model, paths = drive
    description = fmpy.read_model_description(paths[version])
    state, command = places(description, model.states), places(description, model.inputs)
    with instance(paths[version], "cs", ("first", "second")) as (first, second):
        write(first, command, [24.0, 20.0])
        first.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.5)
        assert not read(second, state).any()
        two = version == "2"
        kept = first.getFMUstate() if two else first.getFMUState()
        data = first.serializeFMUstate(kept) if two else first.serializeFMUState(kept)
        first.doStep(currentCommunicationPoint=0.5, communicationStepSize=0.5)
        after = read(first, state)
        for each in (first, second):
            again = each.deSerializeFMUstate(data) if two else each.deserializeFMUState(data)
            (each.setFMUstate if two else each.setFMUState)(again)
            each.doStep(currentCommunicationPoint=0.5, communicationStepSize=0.5)
            np.testing.assert_array_equal(read(each, state), after)
            (each.freeFMUstate if two else each.freeFMUState)(again)
        (first.freeFMUstate if two else first.freeFMUState)(kept)


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_what_cant_be_set_is_refused(drive, version):
    _, paths = drive
    description = fmpy.read_model_description(paths[version])
    (state,), (output,) = places(description, ["x"]), places(description, ["left.rate"])
    with instance(paths[version], "cs") as (each,):
        for reference in (0, state, output, 10_000):
            with pytest.raises(Exception, match="fmi2Error|fmi3Error|status 3|3"):
                write(each, [reference], [1.0])


_COUNTED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fmi{v}.c"

static int allocations = 0;
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_malloc(size_t n) {{ allocations++; return __real_malloc(n); }}
void *__wrap_calloc(size_t n, size_t m) {{ allocations++; return __real_calloc(n, m); }}

int main(void)
{{
    {make}
    const int before = allocations;
    {initialize}
    for (int k = 0; k < 1000; k++) {{
        {step}
    }}
    printf("%d %d\\n", before, allocations - before);
    return 0;
}}
"""
_CALLS = {
    "2": {
        "make": """\
fmi2CallbackFunctions none = {0};
    fmi2Component c = fmi2Instantiate("a", fmi2CoSimulation, TOKEN, 0, &none, 0, 0);""",
        "initialize": """\
fmi2SetupExperiment(c, 0, 0, 0, 0, 0);
    fmi2EnterInitializationMode(c);
    fmi2ExitInitializationMode(c);""",
        "step": """\
double y[2];
        unsigned r[] = {0, VARIABLES - 1};
        fmi2DoStep(c, 0.01 * k, 0.01, 1);
        fmi2GetReal(c, r, 2, y);""",
    },
    "3": {
        "make": 'fmi3Instance c = fmi3InstantiateCoSimulation("a", TOKEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);',
        "initialize": """\
fmi3EnterInitializationMode(c, 0, 0, 0, 0, 0);
    fmi3ExitInitializationMode(c);""",
        "step": """\
double y[2], t;
        unsigned r[] = {0, VARIABLES - 1};
        fmi3Boolean a, b, d;
        fmi3DoStep(c, 0.01 * k, 0.01, 1, &a, &b, &d, &t);
        fmi3GetFloat64(c, r, 2, y, 2);""",
    },
}


@needs_compiler
@pytest.mark.slow
@VERSIONS
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ["differential_drive", "four_bar"])
def test_nothing_is_allocated_after_instantiation_and_nothing_warned_of(
    version, compiler, name, tmp_path, monkeypatch
):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    without_compiler(monkeypatch)
    made = trundle.export(trundle.catalog.robot(name), "fmu", name="robot")
    archive = zipfile.ZipFile(io.BytesIO(made.files[f"robot_fmi{version}.fmu"]))
    archive.extractall(tmp_path)
    monkeypatch.undo()
    work, headers = tmp_path / "sources", fmu.files("trundle.exports") / "fmi"
    (work / "main.c").write_text(_COUNTED.format(v=version, **_CALLS[version]))
    compiled = [compiler, "-std=c99", *WARNINGS, "-isystem", str(headers)]
    for each in (f"fmi{version}.c", "model.c"):
        done = subprocess.run([*compiled, "-O1", "-c", each], cwd=work, capture_output=True, text=True)
        assert (done.returncode, done.stderr[:3000]) == (0, "")
    linked = [compiler, "-std=gnu99", "-isystem", str(headers), "-Wl,--wrap=malloc,--wrap=calloc"]
    subprocess.run(
        [*linked, "main.c", "model.o", "-lm", "-o", "main"], cwd=work, check=True, capture_output=True
    )
    counted = subprocess.run(["./main"], cwd=work, check=True, capture_output=True, text=True).stdout
    assert counted.split() == ["1", "0"]


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_fmpy_compiles_a_source_fmu(version, tmp_path, monkeypatch):
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    without_compiler(monkeypatch)
    paths, _ = exported(trundle.derive(trundle.catalog.pendulum()), tmp_path / "out")
    monkeypatch.undo()
    unzipped = fmpy.extract(paths[version])
    build.build_platform_binary(unzipped)
    found = fmpy.simulate_fmu(unzipped, stop_time=0.1)
    shutil.rmtree(unzipped)
    assert found["time"][-1] == 0.1


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_outputs_can_be_left_out(version, tmp_path):
    model = trundle.derive(trundle.catalog.pendulum())
    trundle.export(model, "fmu", "dynamics", output=tmp_path / "out", name="robot")
    path = str(tmp_path / "out" / f"robot_fmi{version}.fmu")
    assert validation.validate_fmu(path) == []
    found = {each.name for each in fmpy.read_model_description(path).modelVariables}
    assert found == {"time", *model.states, *(f"der({name})" for name in model.states), *model.parameters}
    start = dict.fromkeys(model.coordinates, 0.3)
    ends = [
        fmpy.simulate_fmu(path, stop_time=1.0, fmi_type=kind, relative_tolerance=1e-9, start_values=start)[-1]
        for kind in ("CoSimulation", "ModelExchange")
    ]
    run = trundle.simulate(model, 1.0, initial=start, rtol=1e-10, atol=1e-10)
    for end in ends:
        for name in model.states:
            assert abs(end[name] - run[name][-1]) <= 1e-6


def test_names_are_told_apart():
    found = named(
        [
            Variable("time", "time"),
            Variable("x", "state"),
            Variable("x", "parameter"),
            Variable("a\nb", "output"),
        ]
    )
    assert [each.name for each in found] == ["time", "x", "x (parameter)", "a b"]

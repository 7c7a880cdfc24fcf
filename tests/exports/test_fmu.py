"""FMUs run by FMPy: the kernel's own numbers, in both versions and both kinds."""

import ctypes
from dataclasses import dataclass

import numpy as np
import pytest

import trundle
from derived import derived
from exports.fmus import VERSIONS, exported, fmpy, instance, needs_compiler, places, read, write
from languages.cases import MODELS, states
from languages.rounding import off
from parameters import mostly_slow
from trundle.model.manifold import on_manifold
from trundle.program import feed
from trundle.program.rollout import rollout

validation = pytest.importorskip("fmpy.validation")


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    model = derived("differential_drive")
    return model, exported(model, tmp_path_factory.mktemp("drive"))[0]


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
@pytest.mark.parametrize("name", mostly_slow(MODELS, ["pendulum"]))
@pytest.mark.slow
def test_rates_outputs_and_derivatives_are_the_kernels(name, tmp_path):
    model = MODELS[name]()
    paths, _ = exported(model, tmp_path / "out")
    assert_same(model, paths["3"], 1000)
    assert_same(model, paths["2"], 20)


def assert_same(model, path, count):
    """ẋ, y and J v of Model Exchange at random states against the kernels."""
    rate, seen = (guided(model, program) for program in (model.dynamics, model.observe))
    given = closed(model, *states(model, count, 3))
    found = [np.empty(program(*given).shape) for program in (rate, seen)]
    with instance(path, "me") as (each,):
        enter(each)
        references = References.of(model, fmpy.read_model_description(path))
        for k in range(given[0].shape[1]):
            x, u, _ = (group[:, k] for group in given)
            write(each, references.inputs, u)
            each.setContinuousStates((ctypes.c_double * len(x))(*x), len(x))
            for rows, of in zip(found, (references.rates, references.outputs), strict=True):
                rows[:, k] = read(each, of)
            if k < 3:
                assert_slopes(
                    each, references, rate.jacobian("rate", "state"), [group[:, k] for group in given]
                )
    for program, got in zip((rate, seen), found, strict=True):
        assert off(program, given, got, program(*given)) <= 1


def guided(model, program):
    """A program of the state moved onto the constraints, as FMUs compute all."""
    return program if model.projection is None else feed(program, model.projection)


@dataclass(frozen=True)
class References:
    """The value references of an FMU's variables."""

    states: list[int]
    rates: list[int]
    inputs: list[int]
    outputs: list[int]

    @classmethod
    def of(cls, model, description):
        names = model.states, [f"der({name})" for name in model.states], model.inputs, model.outputs
        return cls(*(places(description, each) for each in names))


def assert_slopes(each, references, jacobian, given):
    """Directional derivatives: the rates' by states against the kernels, the outputs' by inputs against differences."""
    matrix = np.column_stack([directional(each, references.rates, at) for at in references.states])
    wanted = np.reshape(jacobian(*given), matrix.shape)
    assert np.abs(matrix - wanted).max() <= 1e-9 * (1 + np.abs(wanted).max())
    assert_changes(each, references.outputs, references.inputs, given[1])


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
        found = directional(each, unknown, reference)
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


def directional(each, unknown, known):
    return np.array(each.getDirectionalDerivative(unknown, [known], [1.0]))


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_loops_stay_closed(version, tmp_path):
    model = derived("four_bar")
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


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_outputs_can_be_left_out(version, tmp_path):
    model = derived("pendulum")
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


@needs_compiler
@pytest.mark.slow
@VERSIONS
@pytest.mark.parametrize("value", [0.0, np.nan])
def test_co_simulation_that_is_stuck_ends(drive, version, value):
    """FMPy calls a step that was discarded again and again."""
    _, paths = drive
    with pytest.raises(Exception, match=r"doStep.* returned status 3|fmi\dDoStep|fmi\dError"):
        fmpy.simulate_fmu(
            paths[version], fmi_type="CoSimulation", stop_time=0.1, start_values={"r": value}, timeout=20
        )


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_loops_that_hold_no_number_are_refused(version, tmp_path):
    model = derived("four_bar")
    paths, _ = exported(model, tmp_path / "out")
    with pytest.raises(Exception, match=r"ExitInitializationMode"):
        fmpy.simulate_fmu(paths[version], stop_time=0.1, start_values={model.states[0]: np.nan}, timeout=20)

"""FMUs of closed loops that sample: a rollout's own numbers at one step, in both versions."""

import numpy as np
import pytest

import trundle
from derived import derived
from exports.fmus import (
    VERSIONS,
    exported,
    fmpy,
    instance,
    needs_compiler,
    places,
    read,
    without_compiler,
    write,
)

validation = pytest.importorskip("fmpy.validation")

BOTH = {"left_motor.voltage": 1, "right_motor.voltage": 1}
TURN = {"left_motor.voltage": -1, "right_motor.voltage": 1}
SPEED = {"reads": "v_x", "drives": BOTH, "proportional": 8.0, "integral": 5.0, "feedforward": 6.0}
H, STEPS = 1e-3, 700


def sampled():
    """A drive with two rates; one command waits a period and 3 ms."""
    controllers = {
        "speed": {**SPEED, "period": "10 ms", "delay": "13 ms"},
        "turn": {"reads": "omega", "drives": TURN, "proportional": 4.0, "integral": 2.0, "period": "4 ms"},
    }
    return trundle.derive(trundle.catalog.differential_drive(), controllers=controllers)


def linkage():
    """A four-bar whose loop a projection closes after every step, under a controller that samples, 13 ms late."""
    plant = derived("four_bar")
    speed = next(name for name in plant.states if plant.quantities[name].kind == "speed")
    hold = {"reads": speed, "drives": plant.inputs[0], "proportional": 0.5, "integral": 2.0, "target": 0.3}
    return trundle.derive(plant.robot, controllers={"hold": hold | {"period": "10 ms", "delay": "13 ms"}})


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    model = sampled()
    return model, exported(model, tmp_path_factory.mktemp("sampled"))[0]


def references(model):
    """References (steps, inputs) that change at an instant at which both sample, and between two."""
    held = np.zeros((STEPS, len(model.inputs)))
    for name, values in {"speed.reference": (0.5, 1.0), "turn.reference": (0.2, -0.4)}.items():
        k = model.inputs.index(name)
        held[:, k] = np.where(np.arange(STEPS) < (200 if k else 333), *values)
    return held


def rolled(model, held):
    inputs = {name: held[:, k : k + 1] for k, name in enumerate(model.inputs)}
    batch = trundle.rollout(model, inputs=inputs, steps=STEPS, dt=H)
    return np.array([batch[name][:, 0] for name in model.states]).T


def stepped(model, path, held, calls, tolerance):
    """States (calls + 1, n) of an FMU that is called so often, inputs written before every call."""
    description = fmpy.read_model_description(path)
    state, given = places(description, model.states), places(description, model.inputs)
    each_step = STEPS // calls
    with instance(path, "cs", tolerance=tolerance) as (each,):
        kept = [read(each, state)]
        for k in range(calls):
            write(each, given, held[k * each_step])
            each.doStep(currentCommunicationPoint=k * each_step * H, communicationStepSize=each_step * H)
            kept.append(read(each, state))
    return np.array(kept)


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_co_simulation_samples_as_a_rollout_does(loop, version):
    model, paths = loop
    held = references(model)
    # a tolerance that every step meets: each call is one step
    wanted, found = rolled(model, held), stepped(model, paths[version], held, STEPS, tolerance=1e6)
    moving = [k for k, name in enumerate(model.states) if name not in model.held]
    assert np.ptp(wanted[:, model.states.index("v_x")]) > 0.3
    np.testing.assert_allclose(found[:, moving], wanted[:, moving], rtol=1e-10, atol=1e-10)
    # what is held is read before the sample of the same instant, which belongs to the next call
    times = np.arange(STEPS + 1)
    quiet = (times % 4 != 0) & (times % 10 != 0) & (times % 10 != 3)
    assert len(moving) < len(model.states)
    assert quiet.sum() > 300
    np.testing.assert_allclose(found[quiet], wanted[quiet], rtol=1e-10, atol=1e-10)


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_closed_linkages_sample_and_stay_closed(tmp_path, version):
    model = linkage()
    paths = exported(model, tmp_path)[0]
    held = np.zeros((STEPS, len(model.inputs)))
    wanted, found = rolled(model, held), stepped(model, paths[version], held, STEPS, tolerance=1e6)
    moving = [k for k, name in enumerate(model.states) if name not in model.held]
    speed = model.robot.controllers["hold"].reads
    assert np.ptp(wanted[:, model.states.index(speed)]) > 0.05
    np.testing.assert_allclose(found[:, moving], wanted[:, moving], rtol=1e-9, atol=1e-9)
    assert model.manifold is not None
    parameters = list(model.parameters.values())
    residual = model.manifold(found.T, np.zeros((len(model.inputs), STEPS + 1)), parameters)
    assert abs(residual).max() < 1e-9


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_every_instant_inside_a_call_is_sampled(loop, version):
    """Calls of 35 ms hold many instants, also those that aren't the calls' own."""
    model, paths = loop
    held = np.tile([1.0 if name == "speed.reference" else 0.3 for name in model.inputs], (STEPS, 1))
    found = stepped(model, paths[version], held, STEPS // 35, tolerance=1e-10)
    run = trundle.simulate(
        model, STEPS * H, dict(zip(model.inputs, held[0], strict=True)),
        samples=STEPS // 35 + 1, rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    for name in ("v_x", "omega", "theta", "x", "y"):
        np.testing.assert_allclose(found[:, model.states.index(name)], run[name], rtol=1e-6, atol=1e-8)


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_kept_states_sample_again_and_starts_may_be_later(loop, version):
    model, paths = loop
    held = np.tile([1.0 if name == "speed.reference" else 0.3 for name in model.inputs], (STEPS, 1))
    description = fmpy.read_model_description(paths[version])
    state, given = places(description, model.states), places(description, model.inputs)
    with instance(paths[version], "cs", tolerance=1e6, startTime=5.0) as (each,):
        write(each, given, held[0])
        found = []
        each.doStep(currentCommunicationPoint=5.0, communicationStepSize=0.0625)
        kept = each.getFMUstate() if version == "2" else each.getFMUState()
        for _ in range(2):
            each.doStep(currentCommunicationPoint=5.0625, communicationStepSize=0.0625)
            found.append(read(each, state))
            (each.setFMUstate if version == "2" else each.setFMUState)(kept)
        (each.freeFMUstate if version == "2" else each.freeFMUState)(kept)
    np.testing.assert_array_equal(*found)
    with instance(paths[version], "cs", tolerance=1e6) as (each,):
        write(each, given, held[0])
        for k in range(2):
            each.doStep(currentCommunicationPoint=k * 0.0625, communicationStepSize=0.0625)
        np.testing.assert_allclose(found[0], read(each, state), rtol=1e-9, atol=1e-12)


@VERSIONS
def test_what_samples_is_for_co_simulation_alone(version, tmp_path, monkeypatch):
    without_compiler(monkeypatch)
    path = exported(sampled(), tmp_path / "out")[0][version]
    assert validation.validate_fmu(path) == []
    description = fmpy.read_model_description(path)
    assert description.modelExchange is None
    assert description.coSimulation is not None


@needs_compiler
@pytest.mark.slow
@VERSIONS
def test_model_exchange_is_refused(loop, version):
    with pytest.raises(Exception, match=r"[Ii]nstantiate"), instance(loop[1][version], "me"):
        pass

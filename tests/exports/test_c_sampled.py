"""C of closed loops that sample: the example's run is a rollout's, and `sampling` the kernel's."""

import ctypes

import numpy as np
import pytest

import trundle
from exports.test_c_package import built, library, ran
from exports.test_fmu_sampled import linkage, sampled
from trundle.errors import InputError

SECONDS, H, STEPS = "0.7", "0.001", 700
# The references of the speed and of the turning rate.
GIVEN = {"speed.reference": 1.0, "turn.reference": 0.3}


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    model, folder = sampled(), tmp_path_factory.mktemp("sampled") / "robot"
    trundle.export(model, "c", output=folder, name="robot")
    return model, folder, built(folder)


@pytest.mark.slow
def test_the_example_samples_as_a_rollout_does(loop):
    model, _, program = loop
    batch = trundle.rollout(model, inputs=GIVEN, steps=STEPS, dt=float(H))
    wanted = np.array([batch[name][::7, 0] for name in model.states]).T
    found = ran(program, SECONDS, H, *(str(GIVEN[name]) for name in model.inputs))[:, 1:]
    assert np.ptp(wanted[:, model.states.index("v_x")]) > 0.3
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_steps_that_divide_no_period_are_cut_at_samples(loop):
    model, _, program = loop
    run = trundle.simulate(model, 0.7, GIVEN, rtol=1e-11, atol=1e-11)
    found = ran(program, SECONDS, "0.0007", *(str(GIVEN[name]) for name in model.inputs))[-1, 1:]
    for name in ("v_x", "omega", "theta", "x", "y"):
        np.testing.assert_allclose(found[model.states.index(name)], run[name][-1], rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_a_closed_linkage_samples_as_a_rollout_does(tmp_path):
    """Back onto its constraints after every step, then what is sampled."""
    model = linkage()
    trundle.export(model, "c", output=tmp_path / "robot", name="robot")
    batch = trundle.rollout(model, steps=STEPS, dt=float(H))
    wanted = np.array([batch[name][::7, 0] for name in model.states]).T
    found = ran(built(tmp_path / "robot"), SECONDS, H, *("0" for _ in model.inputs))[:, 1:]
    speed = model.robot.controllers["hold"].reads
    assert np.ptp(wanted[:, model.states.index(speed)]) > 0.05
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_sampling_is_the_kernels(loop):
    model, folder, _ = loop
    rng, code = np.random.default_rng(5), library(folder, "robot")
    p = np.array([*model.parameters.values()])
    for _ in range(50):
        x, u = rng.normal(size=len(model.states)), rng.normal(size=len(model.inputs))
        due, found = rng.integers(0, 2, len(model.clocks)).astype(float), np.empty(len(x))
        arrays = (ctypes.c_void_p(each.ctypes.data) for each in (x, u, p, due, found))
        code.robot_sampling(*arrays)
        np.testing.assert_allclose(found, model.sampling(x, u, p, due), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_single_precision_samples(tmp_path):
    model = sampled()
    trundle.export(model, "c", output=tmp_path / "robot", name="robot", precision="single")
    batch = trundle.rollout(model, inputs=GIVEN, steps=STEPS, dt=float(H))
    found = ran(built(tmp_path / "robot"), SECONDS, H, *(str(GIVEN[name]) for name in model.inputs))[-1, 1:]
    wanted = np.array([batch[name][-1, 0] for name in model.states])
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("to", ["cpp", "numpy", "javascript", "microcontroller"])
def test_others_refuse_by_name(to):
    with pytest.raises(InputError, match=r"exported motion needs .* sample: speed, turn"):
        trundle.export(sampled(), to)

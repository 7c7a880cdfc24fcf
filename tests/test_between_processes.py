"""Robots, models, runs and batches between processes and in sets: they pickle, copy and hash."""

import copy
import inspect
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import trundle
from trundle import catalog

ROBOT = catalog.robot("tricycle")
MODEL = trundle.derive(ROBOT)
DOCUMENT = catalog.document("swerve")
RUN = trundle.simulate(MODEL, 0.2, {"front_drive.voltage": 6.0}, samples=5)
BATCH = trundle.rollout(MODEL, inputs={"front_drive.voltage": np.array([3.0, 6.0])}, steps=20, every=10)


def simulated(model: trundle.Model, volts: float) -> trundle.Run:
    return trundle.simulate(model, 0.2, {"front_drive.voltage": volts}, samples=5)


def rolled(volts: float) -> tuple[trundle.Model, trundle.Batch]:
    model = trundle.derive(ROBOT)
    return model, trundle.rollout(model, inputs={"front_drive.voltage": volts}, steps=20)


def same(first: object, second: object) -> bool:
    if isinstance(first, trundle.Run):
        return isinstance(second, trundle.Run) and all(
            np.array_equal(first[n], second[n]) for n in first.values
        )
    if isinstance(first, trundle.Batch):
        return isinstance(second, trundle.Batch) and np.array_equal(
            first.output("front.traction"), second.output("front.traction")
        )
    return first == second


@pytest.mark.parametrize("noun", [ROBOT, DOCUMENT, MODEL, RUN, BATCH], ids=lambda noun: type(noun).__name__)
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_what_comes_back_is_the_same_and_stays_as_it_is(noun, again):
    back = again(noun)
    assert same(noun, back)
    if noun is RUN:
        with pytest.raises(TypeError):
            back.values["x"] = 0.0
        with pytest.raises(ValueError, match="read-only"):
            back["x"][0] = 1.0


def test_every_catalogued_model_comes_back():
    for name in ("four_bar", "swerve", "pendulum"):
        model = trundle.derive(catalog.robot(name))
        back = pickle.loads(pickle.dumps(model))
        assert back == model
        assert {model: 1}[back] == 1


def test_models_hash_by_what_describes_them():
    assert hash(MODEL) == hash(trundle.derive(catalog.robot("tricycle")))
    other = trundle.derive(ROBOT.with_parameters({"r": 0.2}))
    assert MODEL.digest != other.digest
    assert len({MODEL, other, copy.deepcopy(MODEL), RUN, BATCH, copy.deepcopy(RUN)}) == 5


@pytest.mark.slow
def test_a_pool_of_processes_returns_them():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run = pool.submit(simulated, MODEL, 6.0).result()
        model, batch = pool.submit(rolled, 6.0).result()
    assert same(RUN, run)
    assert model.digest == MODEL.digest
    np.testing.assert_array_equal(batch["x"][-1, 0], BATCH["x"][-1, 1])
    np.testing.assert_array_equal(
        batch.output("front.traction")[-1, 0], BATCH.output("front.traction")[-1, 1]
    )


@pytest.mark.slow
def test_joblib_and_dask_return_them():
    joblib, dask = pytest.importorskip("joblib"), pytest.importorskip("dask")
    runs = joblib.Parallel(n_jobs=2)(joblib.delayed(simulated)(MODEL, volts) for volts in (6.0, 3.0))
    assert same(RUN, runs[0])
    assert runs[1].final["x"] < runs[0].final["x"]
    (run,) = dask.compute(dask.delayed(simulated)(MODEL, 6.0), scheduler="processes")
    assert same(RUN, run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: MODEL.parameters.update(r=0.3), "read-only\n.*parameters="),
        (
            lambda: MODEL.parameters.__setitem__("r", 0.3),
            "'r' can't be set .*\n.*trundle.simulate.*parameters=",
        ),
        (lambda: ROBOT.parameters.__setitem__("r", 0.3), "'r' can't be set .*\n.*with_parameters"),
        (lambda: ROBOT.wheels.pop("left"), "'left' can't be set or removed .*\n.*with_parameters"),
        (lambda: setattr(ROBOT.wheels["left"], "radius", 0.3), "'radius' .* frozen\n.*with_parameters"),
        (lambda: RUN.units.clear(), "read-only"),
    ],
)
def test_who_writes_to_what_is_kept_is_told_what_to_do(change, said):
    with pytest.raises(trundle.InputError, match=said):
        change()


def test_dir_shows_what_is_meant():
    assert "simulate" in dir(trundle)
    assert not {"annotations", "import_module", "TYPE_CHECKING", "errors", "model"} & set(dir(trundle))


@pytest.mark.parametrize(
    "name", ["catalog.swerve", "documents.load_urdf", "formulas.equations", "robot.register"]
)
@pytest.mark.slow
def test_rooms_that_the_documents_name_need_no_import_of_their_own(name):
    code = f"import trundle; trundle.{name}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


PICKLED = {
    "ode": lambda: trundle.ode(trundle.catalog.pendulum(), initial={"link_1.angle": 0.5}),
    "numpy": lambda: trundle.to_numpy(trundle.catalog.pendulum()),
    "driven": lambda: trundle.drive(
        {"motion": {"name": "t", "commands": [{"duration": 1, "twist": {"v_x": 1}}]}}
    ),
}


@pytest.mark.parametrize("name", PICKLED)
def test_what_users_hold_goes_between_processes(name):
    made = PICKLED[name]()
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        if name == "ode":
            np.testing.assert_array_equal(again(0.0, again.x0), made(0.0, made.x0))
            np.testing.assert_array_equal(again.jacobian(0.0, again.x0), made.jacobian(0.0, made.x0))
        elif name == "numpy":
            assert again.__doc__ == made.__doc__
            assert inspect.signature(again) == inspect.signature(made)
            np.testing.assert_array_equal(again([0.1, 0.2, 0.3, 0.4]), made([0.1, 0.2, 0.3, 0.4]))
        else:
            assert again.run().final == made.run().final

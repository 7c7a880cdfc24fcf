"""What functions take first, and what they say of anything else: an InputError, never an AttributeError."""

import numpy as np
import pytest

import trundle
from trundle import InputError, catalog
from trundle.documents import dump, load, load_urdf
from trundle.robot.component import plain

ROBOT = catalog.differential_drive()
MODEL = trundle.derive(ROBOT)
VOLTAGE = "left_motor.voltage"


def test_linearisations_take_what_runs_take():
    run = trundle.simulate(MODEL, 0.1, samples=3)
    wanted = MODEL.linearize({"v_x": 1.0}).A
    for given in (ROBOT, MODEL):
        np.testing.assert_array_equal(trundle.linearize(given, {"v_x": 1.0}).A, wanted)
    assert trundle.linearize_along(ROBOT, run).A.shape == (3, 9, 9)
    for call in (trundle.linearize, lambda given: trundle.linearize_along(given, run)):
        with pytest.raises(InputError, match="takes a robot, a model or a file, not int"):
            call(3)


@pytest.mark.parametrize("given", [None, 3, b"robot.yaml", ["robot.yaml"]])
def test_what_is_no_path_is_said(given):
    run = trundle.simulate(MODEL, 0.1, samples=3)
    for call in (trundle.load, run.save, trundle.Run.load, trundle.Batch.load):
        with pytest.raises(InputError, match=f"takes a path, not {type(given).__name__}"):
            call(given)


def test_text_in_place_of_a_path():
    with pytest.raises(InputError, match="text of several lines\n.*documents.parse"):
        trundle.run("trundle: 1\nrobot:\n  name: cart\n")
    with pytest.raises(InputError, match="not an empty text"):
        trundle.simulate("", 1.0)


def test_names_are_text():
    with pytest.raises(InputError, match="parameters: names are text, not int: 3"):
        trundle.simulate(MODEL, 1.0, parameters={3: 1.0})
    with pytest.raises(InputError, match="parameters: names are text, not 3"):
        ROBOT.with_parameters({3: 1.0})
    with pytest.raises(InputError, match="expected text, got 3"):
        trundle.simulate(MODEL, 0.1)[3]


def test_parameters_that_follow_or_stay_zero():
    for name, said in (
        ("wheels.right.radius", "follows from r .*\n  change r instead"),
        ("wheels.right.at.x", "plain 0"),
        ("wheels.right.radus", "there is no parameter"),
    ):
        with pytest.raises(InputError, match=said):
            trundle.simulate(MODEL, 1.0, parameters={name: 0.2})


def test_a_rollout_of_no_robots():
    with pytest.raises(InputError, match="r: an array without entries"):
        trundle.rollout(MODEL, parameters={"r": []}, steps=1, dt=0.1)


def test_what_leads_to_a_robot_is_derived(tmp_path):
    path = tmp_path / "cart.yaml"
    path.write_text(dump(ROBOT))
    for given in (path, str(path), {"robot": plain(ROBOT)}, load(path)):
        assert trundle.derive(given).states == MODEL.states


def test_what_is_derived_or_drawn():
    with pytest.raises(InputError, match="it is derived already"):
        trundle.derive(MODEL)
    with pytest.raises(InputError, match="derive takes a robot, a model or a file, not int"):
        trundle.derive(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"robot\.yaml: there is no such file"):
        trundle.derive("robot.yaml")
    with pytest.raises(InputError, match=r"model\.robot"):
        trundle.to_svg(MODEL)


def test_a_run_in_place_of_a_description(tmp_path):
    path = trundle.simulate(MODEL, 0.1, samples=3).save(tmp_path / "run.nc")
    for call in (trundle.load, trundle.run):
        with pytest.raises(InputError, match=r"holds a run or a batch.*\n.*trundle\.Run\.load"):
            call(path)


@pytest.mark.parametrize("given", ["right.rate", [3], 3])
def test_odometry_takes_a_list_of_rates(given):
    with pytest.raises(InputError, match="expected a list of rates' names"):
        trundle.odometry(MODEL, given)


def test_a_caster_is_there_or_not():
    with pytest.raises(InputError, match="caster: expected True or False, got 'no'"):
        catalog.robot("tricycle", caster="no")


MASKED = np.ma.masked_array([0.1, 0.2], mask=[False, True])
SWERVE = trundle.kinematics(catalog.swerve(modules=2))
MODULES = trundle.Limits(steering_rate=2, drive_acceleration=3)
MOTION = trundle.plan(SWERVE, (1, 0, 0), limits=MODULES)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: trundle.simulate(MODEL, 1.0, rtol=2), "rtol must be below 1"),
        (lambda: trundle.simulate(MODEL, 1.0, atol=1e308), "run.atol: .*out of bounds"),
        (lambda: trundle.simulate(MODEL, times=[5e-324]), "times: .*out of bounds: at least"),
        (lambda: trundle.simulate(MODEL, 1e-320), "run.duration: .*out of bounds"),
        (lambda: trundle.simulate(MODEL, 1.0, initial={"x": 1e308}), "run.initial.x: .*out of bounds"),
        (lambda: trundle.simulate(MODEL, 1.0, {VOLTAGE: 10**400}), "input of 1000.* is too large"),
        (lambda: trundle.simulate(MODEL, 1.0, {VOLTAGE: lambda t: 10**400}), "must return a number"),
        (lambda: trundle.simulate(MODEL, 1.0, {VOLTAGE: lambda t, state: 10**400}), "must return a number"),
        (lambda: trundle.simulate(MODEL, times=MASKED), "times must be increasing finite numbers"),
        (
            lambda: trundle.simulate(MODEL, 1.0, {VOLTAGE: (MASKED, [1, 2])}),
            "times must hold real numbers, got masked",
        ),
        (
            lambda: trundle.rollout(MODEL, initial={"x": MASKED}, steps=1),
            "'x' must hold real numbers, got masked",
        ),
        (lambda: trundle.rollout(MODEL, initial={"x": [[1], [1, 2]]}, steps=1), "rows of different lengths"),
        (lambda: trundle.Run("cart", [0, 1], {"x": MASKED}), "got masked"),
        (lambda: MODEL.rhs(np.ma.masked_array(np.zeros(9), mask=np.eye(9)[0])), "got masked"),
        (lambda: SWERVE.module_states(MASKED, 0, 0), "v_x, v_y, omega must hold real numbers, got masked"),
        (lambda: SWERVE.states(MASKED, [1, 1]), "states of modules must hold real numbers, got masked"),
        (lambda: MOTION.poses(MASKED), "times must hold real numbers, got masked"),
        (
            lambda: trundle.plan(SWERVE, [np.ma.masked_array([1, 0, 0], mask=[0, 0, 1])], limits=MODULES),
            "targets must hold real numbers, got masked",
        ),
        (
            lambda: trundle.odometry(catalog.offset_drive()).update(
                (0, 0, 0), {"left.angle": MASKED, "right.angle": 0}
            ),
            "got masked",
        ),
        (lambda: trundle.holonomic_twist((1, 0, 0), (0, 0, 0), np.ma.masked_all(3)), "got masked"),
        (lambda: trundle.table([0, 1, 2], [1e308, -1e308, 1e308], "cubic"), "out of bounds"),
        (lambda: trundle.table([0, 1e-320, 1], [1.0, -1.0, 1.0], "cubic"), "too close to each other"),
        (lambda: trundle.table([0, 1e-320, 1], [1.0, -1.0, 1.0]), "too close to each other"),
        (lambda: trundle.table([0, 1e-308, 1], [1.0, 2.0, 3.5], "cubic"), "too close to each other"),
        (lambda: trundle.load(None), "load takes a path, not NoneType"),
        (lambda: load_urdf(3), "load_urdf takes a path, not int"),
        (lambda: trundle.Run.load(5), "load takes a path, not int"),
        (lambda: trundle.derive(catalog.differential_drive(gear_ratio=1e300)), "gear_ratio: .*out of bounds"),
    ],
)
def test_what_nobody_means(call, said):
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.parametrize("y", ["1e154", "-1e308", "1e100*1e100"])
def test_numbers_of_a_description_have_a_bound(y):
    joint = {"type": "revolute", "at": [0, y, 0], "body": {"mass": 1, "inertia": {"zz": 1}}}
    with pytest.raises(InputError, match="robot.joints.arm.at.y: .* out of bounds: at most 1e.50"):
        trundle.load({"robot": {"joints": {"arm": joint}}})

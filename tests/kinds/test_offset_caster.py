"""A caster whose wheel stands beside its fork, written outside the package: it has all that a robot has."""

import math
from typing import ClassVar, Literal

import numpy as np
import pytest

import trundle
from exports import test_java_classes, test_ros2
from exports.wheeled_cases import cases, off
from trundle.robot import PivotedWheel, Read, default, parse_robot, register
from trundle.robot.values import Length
from trundle.robot.wheels import WHEELS
from trundle.scalars import Scalar
from trundle.show.page import page_of

java, ros2 = test_java_classes.answer, test_ros2.answer

TRAIL, BESIDE = 0.04, 0.025
FORK = {"mass": 0.3, "inertia": {"zz": 0.003}}
WHEEL = {"radius": 0.06, "mass": 0.4, "width": 0.02}
AT = [-0.3, 0.05, 0.06]


class OffsetCaster(PivotedWheel):
    """Trails behind a free vertical pivot and stands beside it."""

    is_caster: ClassVar[bool] = True

    type: Literal["offset_caster"] = "offset_caster"
    trail: Length = default(TRAIL, "How far the wheel's centre is behind the pivot (m).")
    beside: Length = default(BESIDE, "How far it is to the left of the pivot (m).")

    def centre(self, read: Read) -> tuple[Scalar, Scalar]:
        """Behind the pivot and to its left."""
        return -read(self.trail), read(self.beside)


@pytest.fixture(autouse=True, scope="module")
def known():
    """Its name, while these tests run."""
    before = dict(WHEELS._members)
    register(OffsetCaster)
    yield
    WHEELS._members = before


def cart(rear=None, joints=None, **contact):
    """Two driven wheels, and the caster behind them (or what stands for it)."""
    driven = {"radius": 0.1, "mass": 1.0, "width": 0.03}
    rear = rear or {"type": "offset_caster", "at": AT, "fork": FORK}
    return parse_robot(
        {
            "name": "cart",
            "body": {"mass": 12, "center_of_mass": [-0.1, 0, 0.1], "inertia": {"zz": 0.5}},
            "joints": joints or {},
            "wheels": {
                "left": {"at": [0, 0.2, 0.1], **driven},
                "right": {"at": [0, -0.2, 0.1], **driven},
                "rear": {**WHEEL, **contact, **rear},
            },
            "motors": {
                name: {"type": "torque", "drives": name[:-6]} for name in ("left_motor", "right_motor")
            },
        }
    )


def powered_base():
    """Two of them with motors on spin and pivot, one on the left of its pivot, one on the right: any twist."""
    wheel = {"type": "offset_caster", **WHEEL, "fork": FORK}
    return parse_robot(
        {
            "name": "base",
            "body": {"mass": 12, "center_of_mass": [0.02, 0, 0.1], "inertia": {"zz": 0.5}},
            "wheels": {
                "a": {"at": [0.2, 0.1, 0.06], **wheel},
                "b": {"at": [-0.2, -0.1, 0.06], **wheel, "beside": -BESIDE},
            },
            "motors": {
                f"{name}{what}": {"type": "torque", "drives": f"{name}{drives}"}
                for name in "ab"
                for what, drives in (("_drive", ""), ("_steer", ".steering"))
            },
        }
    )


ROBOTS = {"cart": cart, "base": powered_base}
TORQUES = {
    "left_motor.torque": lambda t: 0.9 * np.sin(2 * t),
    "right_motor.torque": lambda t: 0.8 * np.cos(3 * t),
}


@pytest.mark.parametrize("contact", [pytest.param("ideal", marks=pytest.mark.slow), "slip"])
def test_it_moves_as_a_wheel_on_a_hinge_and_keeps_energy(contact):
    hinge = {"fork": {"type": "revolute", "at": AT, "body": FORK}}
    built = cart({"parent": "fork", "at": [-TRAIL, BESIDE, 0]}, hinge, contact=contact)
    runs = [
        trundle.simulate(trundle.derive(robot), 2.0, TORQUES, rtol=1e-9, atol=1e-11)
        for robot in (cart(contact=contact), built)
    ]
    for name in ("x", "y", "theta", "rear.angle"):
        assert runs[0].final[name] == pytest.approx(runs[1].final[name], abs=1e-6), name
    assert runs[0].final["rear.steering"] == pytest.approx(runs[1].final["fork.angle"], abs=1e-6)
    assert abs(runs[0].final["rear.steering"]) > 0.1
    for run in runs:
        assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]


def test_its_contact_rolls_as_the_motion_is_given():
    """The velocity of the contact, from the pose's derivatives: none across the wheel, R φ̇ along it."""
    run = trundle.roll(
        cart(), 3.0, {"left.rate": lambda t: 4 + np.sin(t), "right.rate": lambda t: 3 + np.cos(2 * t)}
    )
    angle = run["theta"] + run["rear.steering"]
    cos, sin, turn = np.cos(run["theta"]), np.sin(run["theta"]), run["omega"] + run["rear.steering_rate"]
    e, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    base = np.array([cos * run["v_x"] - sin * run["v_y"], sin * run["v_x"] + cos * run["v_y"]])
    arm = np.array([cos * AT[0] - sin * AT[1], sin * AT[0] + cos * AT[1]])
    pivot = base + run["omega"] * np.array([-arm[1], arm[0]])
    velocity = pivot + turn * (-TRAIL * n - BESIDE * e)
    np.testing.assert_allclose((velocity * n).sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose((velocity * e).sum(axis=0), WHEEL["radius"] * run["rear.rate"], atol=1e-9)
    assert np.ptp(run["rear.steering"]) > 0.3


@pytest.mark.parametrize("name", ROBOTS)
def test_odometry_follows_the_simulated_motion(name):
    robot = ROBOTS[name]()
    model = trundle.derive(robot)
    inputs = {each: (lambda t, k=k: 0.3 * np.sin(2 * t + k)) for k, each in enumerate(model.inputs)}
    run = trundle.simulate(model, 2.0, inputs, rtol=1e-9, atol=1e-10, samples=2001)
    odometry = model.odometry()
    poses, _ = odometry.along(run)
    for column, each in enumerate(("x", "y", "theta")):
        np.testing.assert_allclose(poses[:, column], run[each], atol=1e-5)


def test_it_can_do_what_a_caster_lets_a_robot_do():
    plain = {"type": "caster", "at": AT, "fork": FORK, "offset": TRAIL}
    assert str(trundle.analyze(cart())) == str(trundle.analyze(cart(plain)))
    assert "any twist" in str(trundle.analyze(powered_base()))


@pytest.mark.parametrize("name", ROBOTS)
def test_its_equations_agree_with_its_program(name):
    """Its rolling row holds the pivot's rate; solved together with the lateral row it is the twist's alone."""
    written = trundle.equations(ROBOTS[name]())
    assert "agrees with the compiled program" in str(written)
    inverse = next(e for section in written.sections for e in section.equations if e.name == "inverse")
    assert inverse.vector is not None
    assert len(inverse.vector) == 3


def test_page_and_picture_show_it():
    run = trundle.simulate(trundle.derive(cart()), 0.2, TORQUES, samples=11)
    page = page_of(run)
    assert "They are left out" not in page
    assert 'id="equations"' in page
    assert "rear.steering" in page


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("cart", ["left.rate", "right.rate"]),
        ("base", ["a.steering_rate", "a.rate", "b.steering_rate", "b.rate"]),
    ],
)
def test_who_drives_it_gives_the_rates_of_what_has_motors(name, rates):
    """A caster that only trails is no input; one with motors is."""
    driver = pytest.importorskip("trundle.show.window.driver")
    run = {"mode": "kinematic", "duration": 1.0, "inputs": dict.fromkeys(rates[:3], 1.0)}
    problem = driver.problem_of({"robot": ROBOTS[name](), "run": run}, None, None)
    assert sorted(problem.signals) == sorted(rates)


@pytest.mark.parametrize("language", ["java", "ros2"])
@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_exported_classes_give_what_the_library_gives(name, language, request, rng):
    given = cases(ROBOTS[name](), 300, rng)
    assert off(request.getfixturevalue(language)(given), given.expected()) <= 1e-12


@pytest.mark.slow
def test_an_fmu_has_the_kernels_rates_and_outputs(tmp_path):
    pytest.importorskip("fmpy")
    from exports.fmus import exported
    from exports.test_fmu import assert_same

    model = trundle.derive(cart())
    paths, _ = exported(model, tmp_path)
    assert_same(model, paths["3"], 50)


def test_a_twist_rolls_it_by_the_closed_form():
    """Both rows by hand: t δ̇ = −n·u − t ω and R φ̇ = e·u − s (ω + δ̇), with t the trail, s what it is beside."""
    module = trundle.kinematics(powered_base()).modules[0]
    v_x, v_y, omega = 0.4, -0.2, 0.7
    speed, rate = module.rolling((math.cos(0.3), math.sin(0.3)), (v_x, v_y, omega))
    x, y = v_x - omega * 0.1, v_y + omega * 0.2
    along, across = x * math.cos(0.3) + y * math.sin(0.3), y * math.cos(0.3) - x * math.sin(0.3)
    assert rate == pytest.approx(across / TRAIL - omega)
    assert speed == pytest.approx(along - across / TRAIL * BESIDE)

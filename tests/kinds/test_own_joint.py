"""A joint of one's own: registered with its formulas, in trees and closing loops; joints of any type close loops."""

from typing import ClassVar, Literal

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.mechanics.joints import JointKind, rotation_about
from trundle.mechanics.quantities import angle, turning
from trundle.robot import Joint, parse_robot
from trundle.robot.bodies import JOINTS
from trundle.scalars import cos, sin
from trundle.spatial.motions import Motion, Pose

ARM = 0.1
Y = (0, 1, 0)


class Orbit(Joint):
    """Turns about y, a fixed way above its own origin: a hinge that stands beside itself."""

    type: Literal["orbit"] = "orbit"
    coordinates = ("angle",)
    speeds = ("rate",)
    formulas: ClassVar[object] = JointKind(
        (angle("angle"),),
        (turning("rate", "angle"),),
        lambda shape, q: Pose(rotation_about(Y, q[0]), (ARM * sin(q[0]), 0, ARM * cos(q[0]))),
        lambda shape, pose: (Motion((ARM, 0, 0), Y),),
        lambda shape, q, nu: tuple(nu),
    )


@pytest.fixture(autouse=True)
def _guest():
    before = dict(JOINTS._members)
    trundle.register(Orbit)
    yield
    JOINTS._members = before


BODY = {"mass": 1.0, "center_of_mass": [0.2, 0, 0], "inertia": {"xx": 0.01, "yy": 0.02, "zz": 0.02}}
HINGE = {"type": "revolute", "axis": [0, 1, 0]}


def test_registering_is_enough():
    """An orbit is a hinge at its origin whose body stands ARM higher."""
    moved = {**BODY, "center_of_mass": [0.2, 0, ARM]}
    own = trundle.derive(
        parse_robot({"joints": {"j": {"type": "orbit", "rpy": [0.3, 0, 0.2], "body": BODY}}})
    )
    hinge = trundle.derive(parse_robot({"joints": {"j": {**HINGE, "rpy": [0.3, 0, 0.2], "body": moved}}}))
    for q, v in np.random.default_rng(0).normal(size=(5, 2)):
        np.testing.assert_allclose(own.rhs([q, v]), hinge.rhs([q, v]), rtol=1e-10)
    run = trundle.simulate(own, 1.0, initial={"j.angle": 1.0}, samples=11)
    assert run.summary["energy_imbalance"] < 1e-8


def linkage(loop):
    return parse_robot(
        {
            "name": "closed",
            "joints": {
                "crank": {**HINGE, "body": {**BODY, "center_of_mass": [0.1, 0, 0]}},
                "coupler": {**HINGE, "parent": "crank", "at": [0.2, 0, 0], "body": BODY},
                "rocker": {**HINGE, "at": [0.5, 0, 0], "body": BODY},
            },
            "loops": {
                "pin": {
                    **loop,
                    "first": {"body": "coupler", "at": [0.5, 0, 0]},
                    "second": {"body": "rocker", "at": [0.4, 0, 0]},
                }
            },
        }
    )


START = {"crank.angle": 0.5, "rocker.angle": 1.2, "coupler.angle": 0.4, "crank.rate": 1.0}


def test_a_hinge_that_closes_a_loop_is_the_loop_of_type_revolute():
    models = [
        trundle.derive(linkage(each)) for each in (HINGE, {"type": "joint", "joint": {**HINGE, "damping": 0}})
    ]
    runs = [trundle.simulate(model, 1.0, initial=START, samples=11) for model in models]
    for name in models[0].states:
        np.testing.assert_allclose(runs[0][name], runs[1][name], atol=1e-9)
    sizes = [np.hypot(run["pin.force_x"], run["pin.force_z"]) for run in runs]
    np.testing.assert_allclose(sizes[0], sizes[1], rtol=1e-8)
    assert runs[1].summary["constraint_residual"] < 1e-12
    turn = runs[1]["rocker.angle"] - runs[1]["crank.angle"] - runs[1]["coupler.angle"]
    wrapped = np.angle(np.exp(1j * (runs[1]["pin.angle"] - turn)))
    np.testing.assert_allclose(wrapped, 0, atol=1e-9)


def test_a_spring_in_a_closing_joint_keeps_its_energy():
    joint = {**HINGE, "stiffness": 3.0, "damping": 0.1}
    model = trundle.derive(linkage({"type": "joint", "joint": joint}))
    run = trundle.simulate(model, 1.0, initial=START, samples=11)
    assert run.summary["energy_imbalance"] < 1e-8
    assert run["energy.losses"][-1] > 1e-3


def test_a_joint_of_ones_own_closes_a_loop():
    """An orbit at the coupler's end is a hinge there that the rocker meets ARM higher."""
    own = trundle.derive(linkage({"type": "joint", "joint": {"type": "orbit"}}))
    run = trundle.simulate(own, 0.5, initial=START, samples=11)
    assert run.summary["constraint_residual"] < 1e-10
    assert run.summary["energy_imbalance"] < 1e-8
    gap = np.hypot(*(run[f"pin.{axis}"] - _end(run, axis) for axis in "xz"))
    np.testing.assert_allclose(gap, ARM, atol=1e-9)


def _end(run, axis):
    """The coupler's end over a run."""
    first = run["crank.angle"]
    both = first + run["coupler.angle"]
    if axis == "x":
        return 0.2 * np.cos(first) + 0.5 * np.cos(both)
    return -0.2 * np.sin(first) - 0.5 * np.sin(both)


def test_a_closing_joint_has_no_place_of_its_own():
    with pytest.raises(InputError, match=r"closes a loop has no 'at'(.|\n)*first and second"):
        linkage({"type": "joint", "joint": {**HINGE, "at": [0, 0, 1]}})

"""Joints from outside the package whose formulas can't be right: said at registration or at the first derivation."""

from typing import Any, Literal

import pytest

import trundle
from trundle.errors import InputError
from trundle.mechanics.joints import KINDS, JointKind, check_joint
from trundle.mechanics.quantities import length, sliding
from trundle.robot import DriveAxis, Joint, parse_robot, register
from trundle.robot.bodies import JOINTS
from trundle.spatial.motions import Motion, Pose
from trundle.spatial.vectors import IDENTITY, ZERO

ALONG_X = Motion((1, 0, 0), ZERO)


@pytest.fixture(autouse=True)
def _guests(monkeypatch):
    """Takes away what a test registers."""
    before = dict(JOINTS._members)
    monkeypatch.setitem(KINDS, "guest", None)
    yield
    JOINTS._members = before


def derived(**changes: Any) -> trundle.Model:
    """A rail along x as a joint of one's own, with something changed in its formulas."""

    class Guest(Joint):
        type: Literal["guest"] = "guest"
        coordinates = ("place",)
        speeds = ("speed",)

    formulas: dict[str, Any] = {
        "coordinates": (length("place"),),
        "speeds": (sliding("speed", "place"),),
        "pose": lambda shape, q: Pose(IDENTITY, (q[0], 0, 0)),
        "subspace": lambda shape, pose: (ALONG_X,),
        "rates": lambda shape, q, nu: tuple(nu),
    }
    KINDS["guest"] = JointKind(**(formulas | changes))
    register(Guest)
    return trundle.derive(parse_robot({"joints": {"j": {"type": "guest", "body": {"mass": 1}}}}))


def test_a_joint_of_ones_own():
    assert derived().speeds == ("j.speed",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"coordinates": (length("other"),)},
            r"Guest have the coordinates \('other',\), but it says \('place',\)",
        ),
        ({"subspace": lambda shape, pose: (ALONG_X, ALONG_X)}, "its subspace has 2 columns for 1 speeds"),
        (
            {"subspace": lambda shape, pose: (Motion((0, 1, 0), ZERO),)},
            r"has \(0, 1, 0, .* moves by \(1, 0, 0, ",
        ),
        ({"rates": lambda shape, q, nu: ()}, "it gives 0 rates for 1 coordinates"),
        ({"pose": lambda shape, q: 1 / 0}, "Guest failed: ZeroDivisionError"),
    ],
)
def test_formulas_that_cannot_be(changes, message):
    with pytest.raises(InputError, match=message):
        derived(**changes)


def test_every_joint_of_the_package_fits():
    for name in JOINTS:
        check_joint(JOINTS.named(name), KINDS[name])


@pytest.mark.parametrize("axis", [DriveAxis("nothing", 0, "place"), DriveAxis("", 0, "place")])
def test_an_axis_to_drive_that_is_not_there(axis):
    class Guest(Joint):
        type: Literal["guest"] = "guest"
        coordinates = ("place",)
        speeds = ("speed",)
        drives = (axis,)

    with pytest.raises(InputError, match="Guest has nothing to drive by"):
        register(Guest)

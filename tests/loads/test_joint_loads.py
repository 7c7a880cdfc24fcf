"""Joint loads in numbers: limb.md's closed forms, Pinocchio, energy, and there and back again."""

import numpy as np
import pytest

import trundle
from trundle import Frame, InputError, Wrench

from .limb import TABLE, closed_forms, limb_motion, limb_robot


def components(wrench):
    return np.array([wrench.force[:, 0], wrench.force[:, 1], wrench.moment[:, 2]])


def test_the_closed_forms_of_the_limb():
    t = np.linspace(0.0, 3.0, 301)
    loads = trundle.joint_loads(limb_robot(), limb_motion(t))
    for joint, expected in closed_forms(t).items():
        wrench = loads.wrench(joint)
        assert np.abs(components(wrench) - np.array(expected)).max() < 1e-12
        assert not wrench.force[:, 2].any()
        assert not wrench.moment[:, :2].any()
        assert (wrench.on, wrench.frame.name) == (joint, joint)


@pytest.mark.parametrize("t", TABLE)
def test_the_table_of_the_limb(t):
    loads = trundle.joint_loads(limb_robot(), limb_motion(np.array([t])))
    for joint, expected in TABLE[t].items():
        assert np.abs(components(loads.wrench(joint))[:, 0] - expected).max() < 1e-9


def test_a_tip_wrench_in_the_world_and_in_the_hand():
    t = np.linspace(0.0, 1.0, 7)
    free = trundle.joint_loads(limb_robot(), limb_motion(t))
    world, hand = Frame("world"), Frame("P_2")
    tip = free.frames["P_2"].point("tip", (0.0, 0.4, 0.0))
    place = tip.position(in_=free.world)
    pull = Wrench(
        (1.0, 2.0, 0), (0, 0, 0.5), on="P_2", by="rope", point=world.point("tip", place), frame=world
    )
    held = trundle.joint_loads(limb_robot(), limb_motion(t), external=[pull])
    for joint in free.joints:
        change = held.wrench(joint, at=tip, in_="world").force - free.wrench(joint, at=tip, in_="world").force
        assert np.abs(change + [1.0, 2.0, 0.0]).max() < 1e-12
        change = held.wrench(joint, at=tip).moment - free.wrench(joint, at=tip).moment
        assert np.abs(change + [0.0, 0.0, 0.5]).max() < 1e-12
    force = held.frames["P_2"].rotation(in_=held.world).transpose(0, 2, 1) @ [1.0, 2.0, 0.0]
    own = Wrench(force, (0, 0, 0.5), on="P_2", by="rope", point=hand.point("tip", (0, 0.4, 0)), frame=hand)
    same = trundle.joint_loads(limb_robot(), limb_motion(t), external=[own])
    assert np.abs(same.wrenches - held.wrenches).max() < 1e-12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": np.array([0.0, 0.2, 0.1])}, "sample 2 is at 0.1 s"),
        ({"names": ("P_0.angle", "P_1.angle", "P_3.angle")}, "lack 'P_2.angle'"),
        ({"velocities": np.zeros((3, 2))}, "velocities"),
        ({"positions": np.array([[0, 0, 0], [0, np.nan, 0], [0, 0, 0]])}, "'P_1.angle' hold nan in sample 1"),
    ],
)
def test_motions_that_do_not_fit(change, said):
    motion = limb_motion(np.array([0.0, 0.1, 0.2]))
    fields = {name: getattr(motion, name) for name in motion.__dataclass_fields__}
    with pytest.raises(InputError, match=said):
        trundle.joint_loads(limb_robot(), trundle.JointMotion(**{**fields, **change}))


def test_a_body_without_mass_is_named():
    with pytest.raises(InputError, match="the body of 'P_2' has no mass"):
        trundle.joint_loads(limb_robot(masses=(0.7, 0.5, 0)), limb_motion(np.array([0.0])))

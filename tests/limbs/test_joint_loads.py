"""Joint loads in numbers: limb.md's closed forms, Pinocchio, energy, and there and back again."""

import sys

import numpy as np
import pytest

import trundle
from limbs.limb import TABLE, closed_forms, limb_motion, limb_robot
from limbs.random_limbs import random_limb, random_samples
from trundle import Frame, InputError, Wrench
from trundle.documents.document import read_text
from trundle.mechanics.assembly import assemble


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
    place = tip.position(frame=free.world)
    pull = Wrench(
        (1.0, 2.0, 0), (0, 0, 0.5), on="P_2", by="rope", point=world.point("tip", place), frame=world
    )
    held = trundle.joint_loads(limb_robot(), limb_motion(t), external=[pull])
    for joint in free.joints:
        change = (
            held.wrench(joint, at=tip, frame="world").force - free.wrench(joint, at=tip, frame="world").force
        )
        assert np.abs(change + [1.0, 2.0, 0.0]).max() < 1e-12
        change = held.wrench(joint, at=tip).moment - free.wrench(joint, at=tip).moment
        assert np.abs(change + [0.0, 0.0, 0.5]).max() < 1e-12
    force = held.frames["P_2"].rotation(frame=held.world).transpose(0, 2, 1) @ [1.0, 2.0, 0.0]
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
    with pytest.warns(UserWarning, match="nothing behind P_2 has a mass or is pushed"):
        loads = trundle.joint_loads(limb_robot(masses=(0.7, 0.5, 0)), limb_motion(np.array([0.0])))
    assert not np.any(loads.wrench("P_2").moment)


def test_a_wrist_without_masses_has_the_loads_of_what_pushes_the_hand():
    """Inverse dynamics need no masses: M = r × F. What runs by forces says that it does."""
    forearm = {"name": "forearm", "mass": 1.2, "center_of_mass": [0.1, 0, 0], "inertia": {"zz": 0.01}}
    joints = {
        "elbow": {"axis": [0, 0, 1], "body": forearm},
        "flexion": {"axis": [0, 0, 1], "parent": "elbow", "at": [0.25, 0, 0]},
        "deviation": {"axis": [0, 1, 0], "parent": "flexion", "body": {"name": "hand"}},
    }
    robot = trundle.load({"robot": {"name": "arm", "base": "fixed", "joints": joints}})
    time = np.linspace(0, 1, 11)
    angles = {"elbow.angle": time, "flexion.angle": np.sin(time), "deviation.angle": 0 * time}
    motion = trundle.joint_motion({"time": time, **angles}, robot)
    with pytest.warns(UserWarning, match="nothing behind flexion, deviation has a mass"):
        alone = trundle.joint_loads(robot, motion)
    hand = alone.frames["deviation"]
    place, force = hand.point("palm", (0.08, 0, 0)), (0.0, 5.0, 3.0)
    pushed = Wrench(force, (0, 0, 0), on="deviation", by="rope", point=place, frame=hand)
    loads = trundle.joint_loads(robot, motion, external=[pushed])
    # the joint gives what the push doesn't: -(0.08 x) × (5 y + 3 z)
    np.testing.assert_allclose(loads.joint_moment["flexion.rate"], -0.4, atol=1e-12)
    np.testing.assert_allclose(loads.joint_moment["deviation.rate"], 0.24, atol=1e-12)
    with pytest.raises(InputError, match="no inertia to resist flexion.rate, deviation.rate"):
        trundle.simulate(robot, 1.0)


def test_the_observers_split_of_the_limb():
    """Segment 2 seen from B at P_2, as limb.md has it."""
    t = np.array([0.3, 1.0])
    loads = trundle.joint_loads(limb_robot(), limb_motion(t))
    origin = loads.frames["P_2"].origin
    found = loads.breakdown("P_2", observer=loads.frames["P_1"], origin=origin).at(origin)
    s2, c2, s4, c4, s6 = np.sin(2 * t), np.cos(2 * t), np.sin(4 * t), np.cos(4 * t), np.sin(6 * t)
    expected = {
        "seen": (0.96 * s4, -0.96 * c4),
        "d_alembert": (0.24 * s2, 0.24 * c2 + 1.62, -0.324 * s4 - 0.048 * s6),
        "euler": (0 * t, 0 * t),
        "centrifugal": (-0.54 * s4, 0.54 * c4),
        "coriolis": (-1.44 * s4, 1.44 * c4),
    }
    for name, forms in expected.items():
        assert np.abs(components(found[name])[: len(forms)] - forms).max() < 1e-12, name
    assert loads.residual.max() < 1e-12


def test_parts_of_a_breakdown_balance_with_springs_friction_and_wrenches_from_outside(rng):
    robot = random_limb(rng, 5, armature=0.2, damping=0.3, coulomb=0.5, coulomb_speed=0.1, stiffness=4.0)
    motion = random_samples(rng, robot, 5)
    world = Frame("world")
    push = Wrench(*rng.normal(size=(2, 5, 3)), on="j2", by="ground", point=world.origin, frame=world)
    loads = trundle.joint_loads(robot, motion, external=[push, push])
    size = np.abs(loads.wrenches).max()
    assert loads.residual.max() < 1e-10 * size
    for joint in loads.joints:
        whole, parts = loads.wrench(joint), loads.actuator(joint) + loads.constraint(joint)
        assert np.abs(whole.force - parts.force).max() < 1e-10 * size
        if joint != "base" or robot.base != "fixed":
            found = loads.breakdown(joint, observer=loads.frames["j1"], origin=loads.frames["j2"].origin)
            assert np.abs(found.residual.moment).max() < 1e-9 * size
        assert np.abs(loads.constraint(joint).power(_past_parent(loads, joint))).max() < 1e-9 * size
        assert np.abs(whole.power(_past_parent(loads, joint)) - loads.power[joint]).max() < 1e-9 * size


def _past_parent(loads, joint):
    """The twist of a joint's child past its parent."""
    frames = loads.frames
    index = loads.joints.index(joint)
    parent = loads.recursion.tree.links[index].parent
    return trundle.Twist.of(
        frames[joint], seen_from=loads.world if parent < 0 else frames[loads.joints[parent]]
    )


def test_ground_reactions_of_opensim_hold_a_standing_leg(tmp_path):
    names = ("ground_force_v", "ground_force_p", "ground_torque_")
    columns = [f"{name}{axis}" for name in names for axis in "xyz"]
    force, place, torque = (
        np.array([20.0, -10.0, 700.0]),
        np.array([0.1, 0.02, -0.9]),
        np.array([0, 0, 300.0]),
    )
    row = " ".join(map(str, [*force, *place, *torque]))
    rows = "".join(f"{k / 10} {row}\n" for k in range(9))
    (tmp_path / "grf.mot").write_text(f"inDegrees=no\nendheader\ntime {' '.join(columns)}\n{rows}")
    grf, world = trundle.read_recording(tmp_path / "grf.mot"), trundle.Frame("world")
    assert not grf.markers
    found = [np.column_stack([grf.channels[name + axis] for axis in "xyz"]) for name in names]
    point = world.point("pressure", found[1])
    push = trundle.Wrench(found[0], found[2], on="foot", by="ground", point=point, frame=world)
    still = {"time": grf.time, **{f"{name}.angle": np.zeros(9) for name in ("hip", "knee", "ankle")}}
    leg = trundle.catalog.leg(body_mass=70, height=1.75)
    pushed, free = (trundle.joint_loads(leg, still, external=each).wrench("ankle") for each in ([push], []))
    ankle = np.array([0, 0, -(0.245 + 0.246) * 1.75])
    np.testing.assert_allclose((pushed.force - free.force)[4], -force, atol=1e-10)
    moment = -np.cross(place - ankle, force) - torque
    np.testing.assert_allclose((pushed.moment - free.moment)[4], moment, atol=1e-10)
    with pytest.raises(trundle.InputError, match=r"several wrenches[\s\S]*\[wrench\]"):
        trundle.joint_loads(leg, still, external=push)


def test_a_description_is_read_once_and_assembled_in_numbers_and_in_symbols(tmp_path):
    """`joint_loads` of a file and a recording: one reading, and one mechanism that motion and loads share."""
    path, seen = tmp_path / "limb.yaml", []
    path.write_text(trundle.documents.dump(trundle.catalog.pendulum(links=2)))
    time = np.arange(6.0)

    def note(frame, event, _):
        called = frame.f_code
        if event == "call" and called in (read_text.__code__, assemble.__code__):
            seen.append(called.co_name)

    sys.setprofile(note)
    try:
        trundle.joint_loads(path, {"time": time, "link_1.angle": time, "link_2.angle": time})
    finally:
        sys.setprofile(None)
    assert sorted(seen) == ["assemble", "assemble", "read_text"]

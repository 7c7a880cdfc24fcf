"""Laws of joint loads on random trees: Pinocchio's recursion, the energy's rate, there and back again, closed loops."""

import numpy as np
import pytest

import trundle
from limbs.random_limbs import random_limb, random_samples, smooth_motion
from parameters import mostly_slow
from tests.mechanics.pinocchio_trees import Twin
from trundle import Frame, Wrench
from trundle.mechanics.frames import velocities, world_poses
from trundle.mechanics.momentum import kinetic_energy, potential_energy

# Pinocchio 4.1 leaves out that a universal joint's axes move (tests/mechanics has its derivative).
THEIRS = ("revolute", "spherical", "prismatic", "cylindrical", "screw", "planar")


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio", reason="Pinocchio (the extra 'peers') is not installed")


def against_pinocchio(pin, rng, count, chain=False):
    robot = random_limb(rng, count, THEIRS, chain)
    motion = random_samples(rng, robot, 4)
    hand = f"j{count - 1}"
    force, moment, place = rng.normal(size=(3, 4, 3))
    own = Frame(hand)
    tip = Wrench(force, moment, on=hand, by="tool", point=own.point("tip", place), frame=own)
    loads = trundle.joint_loads(robot, motion, external=[tip])
    tree = loads.recursion.tree
    twin = Twin(pin, tree)
    for k in range(4):
        push = pin.Force(force[k], moment[k] + np.cross(place[k], force[k]))
        outside = [pin.Force.Zero() for _ in range(twin.model.njoints)]
        index = loads.recursion.mechanism.assembly.links[hand]
        outside[twin.ids[index]] = twin.places[index].act(push)
        q, v, a = twin.q(motion.positions[k]), twin.v(motion.velocities[k]), twin.v(motion.accelerations[k])
        pin.rnea(twin.model, twin.data, q, v, a, outside)
        for i, link in enumerate(tree.links):
            if not link.moves:
                continue
            theirs = twin.places[i].actInv(twin.data.f[twin.ids[i]]).vector
            ours = np.concatenate([loads.wrench(link.name).force[k], loads.wrench(link.name).moment[k]])
            assert np.abs(ours - theirs).max() <= 1e-9 * max(1.0, np.abs(theirs).max()), link.name


@pytest.mark.parametrize("count", mostly_slow([1, 2, 3, 5, 9, 20], [1, 2, 3]))
@pytest.mark.slow
def test_joint_wrenches_are_pinocchios(pin, rng, count):
    against_pinocchio(pin, rng, count)
    against_pinocchio(pin, rng, count, chain=True)


@pytest.mark.campaign
def test_joint_wrenches_of_many_trees_are_pinocchios(pin, campaign):
    for rng in campaign(200):
        against_pinocchio(pin, rng, int(rng.integers(1, 25)), bool(rng.integers(2)))


def energy_balance(rng, count):
    """ΣM·θ̇ + external power, the moving base's support with it, against dE/dt."""
    robot = random_limb(rng, count, base=str(rng.choice(["planar", "floating"])))
    motion, slopes = smooth_motion(rng, robot)
    world, hand = Frame("world"), f"j{count - 1}"
    force, moment, place = rng.normal(size=(3, len(motion), 3))
    pull = Wrench(force, moment, on=hand, by="rope", point=world.point("grip", place), frame=world)
    loads = trundle.joint_loads(robot, motion, external=[pull])
    tree = loads.recursion.tree
    poses = tree.joint_poses(list(motion.positions.T))
    nu = list(motion.velocities.T)
    energy = kinetic_energy(tree, velocities(tree, poses, nu), nu) + potential_energy(
        tree, world_poses(tree, poses)
    )
    twist = trundle.Twist.of(loads.frames[hand], seen_from=loads.world)
    here = Wrench(
        force, moment, on=hand, by="rope", point=loads.world.point("grip", place), frame=loads.world
    )
    given = sum(loads.power.values()) + here.power(twist)
    size = max(np.abs(given).max(), np.abs(slopes @ np.ones(len(energy))).max() * np.abs(energy).max(), 1.0)
    assert np.abs(given - slopes @ energy).max() <= 1e-9 * size


@pytest.mark.slow
def test_what_joints_and_wrenches_give_is_the_energys_rate(rng):
    energy_balance(rng, 5)


@pytest.mark.campaign
def test_what_joints_and_wrenches_give_is_the_energys_rate_on_many_trees(campaign):
    for rng in campaign(60):
        energy_balance(rng, int(rng.integers(1, 10)))


def there_and_back(rng, count):
    robot = random_limb(rng, count, base=str(rng.choice(["planar", "floating"])), armature=0.1)
    model = trundle.derive(robot)
    motion = random_samples(rng, model, 3)
    loads = trundle.joint_loads(model, motion)
    force = np.array([loads.actuator_torque[name] for name in model.speeds])
    back = model.forward_dynamics(())(motion.positions.T.copy(), motion.velocities.T.copy(), force)
    assert np.abs(back - motion.accelerations.T).max() <= 1e-9 * max(1.0, np.abs(force).max())


@pytest.mark.slow
def test_inverse_then_forward_gives_the_motion_back(rng):
    there_and_back(rng, 6)


@pytest.mark.campaign
def test_inverse_then_forward_gives_many_motions_back(campaign):
    for rng in campaign(60):
        there_and_back(rng, int(rng.integers(1, 12)))

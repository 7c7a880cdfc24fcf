"""joint_loads: from a robot and a motion to the wrench through every joint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import warn
from trundle.limbs.capture.joint_motion import JointMotion, joint_motion, mechanism_or_given, moving_of
from trundle.limbs.capture.recording import Recording
from trundle.limbs.loads.followers import led
from trundle.limbs.loads.loads import Loads
from trundle.limbs.loads.loop_forces import loop_forces
from trundle.limbs.loads.recursion import Recursion, recursion_of, require_tree
from trundle.limbs.loads.samples import ExternalWrenches, LoadSamples, outside_of, samples_of
from trundle.mechanics.tree import WORLD
from trundle.model.arguments import Given, robot_of, three
from trundle.model.moving import MovingMechanism
from trundle.program import compile_program
from trundle.robot import Robot
from trundle.spatial.vectors import Vector
from trundle.wrenches import Wrench


def joint_loads(
    robot: Given | MovingMechanism,
    motion: JointMotion | Recording | Mapping[str, npt.ArrayLike],
    *,
    external: Iterable[Wrench] = (),
    gravity: Sequence[float | str] | None = None,
    driven: Sequence[str] | None = None,
    base: str | None = None,
) -> Loads:
    """The wrench through every joint that a motion needs, by Newton's and Euler's equations up the tree.

    W_i = f_i − w_i + Σ W_children with f_i = I a + v ×* I v of body i and w_i from outside; closed loops give
    M ν̇ + c = Aᵀλ + τ_drives. What follows other coordinates by gears and cams is moved by those: their effort is
    the whole generalised force, τ_l + Σ (∂q_f/∂q_l) τ_f.

    Parameters
    ----------
    robot : Robot, Model, path, mapping or MovingMechanism
        A tree of bodies on joints, its base fixed, planar or floating; loops may close it.
    motion : JointMotion, Recording or mapping
        Coordinates, speeds and their rates. Of a recording, or of arrays by name ("time", in s, and one for each
        coordinate, (n,), in rad or m), derivatives come by an interpolating spline; `trundle.joint_motion` smooths.
    external : sequence of Wrench, optional
        What pushes on bodies from outside, one moment's or over the motion: on `wrench.on`. Its frame's root stands for
        the world, or for a body's own frame if it is called as the body or its joint.
    gravity : three numbers, optional
        g in m/s², world axes; by default the robot's own, downward along z.
    driven : sequence of str, optional
        With closed loops, the speeds that drives push; by default those of the motors.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Loads
        Every joint's wrench, in any frame, and what it is made of.

    Raises
    ------
    InputError
        The robot has wheels; times don't increase, a coordinate is missing or unknown, a number is none; a
        wrench acts on what isn't there; the motion opens a loop, or loops and drives can't give it.

    References
    ----------
    Luh, Walker & Paul 1980; Featherstone 2008, sections 5.3 and 8.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> still = {"time": np.arange(6.0), "link_1.angle": np.full(6, np.pi / 2)}
    >>> loads = trundle.joint_loads(trundle.catalog.pendulum(links=1), still)
    >>> loads.wrench("link_1").moment[0].round(4)
    array([0.    , 2.4525, 0.    ])
    """
    given = mechanism_or_given(robot, "joint_loads", base)
    require_tree(_described(given))
    around = None if gravity is None else _vector(gravity)
    if not isinstance(motion, JointMotion):
        given = moving_of(given)
        motion = joint_motion(motion, given)
    # Where the motion was derived here, the robot was assembled in numbers on the way.
    numbers = given.mechanism.numbers if isinstance(given, MovingMechanism) else None
    recursion = recursion_of(numbers or _described(given), around)
    samples = samples_of(motion, recursion)
    outside = outside_of(external, recursion, len(samples.time))
    _warn_weightless(recursion, outside)
    assembly = recursion.mechanism.assembly
    wrenches, needed = _evaluated(recursion, samples, outside)
    efforts, ties = led(assembly, samples.q, needed)
    if not assembly.loops:
        return Loads(recursion, samples, outside, wrenches, efforts, ties)
    held = loop_forces(recursion, samples, efforts, driven)
    outside = outside.joined(held.pushed, held.table)
    wrenches, needed = _evaluated(recursion, samples, outside)
    _, ties = led(assembly, samples.q, needed)
    return Loads(recursion, samples, outside, wrenches, held.efforts, ties, held.undetermined)


def _described(given: Given | MovingMechanism) -> Robot:
    """The robot whose joints these are."""
    if isinstance(given, MovingMechanism):
        return given.mechanism.robot
    return robot_of(given, "joint_loads", "joint loads need its bodies and joints")


def _evaluated(
    recursion: Recursion, samples: LoadSamples, outside: ExternalWrenches
) -> tuple[FloatArray, FloatArray]:
    program = recursion.loads(outside.pushed)
    wrenches, efforts = compile_program(program).over_samples(*samples.tables, outside.table)
    return wrenches, efforts


def _vector(gravity: Sequence[float | str]) -> Vector:
    x, y, z = three(gravity, "gravity", "x, y and z", ("m/s^2",) * 3)
    return x, y, z


def _warn_weightless(recursion: Recursion, outside: ExternalWrenches) -> None:
    """A joint that carries no mass and no load has no wrench: either that is meant, or the description lacks it."""
    tree = recursion.tree
    carrying = recursion.carrying | {
        ancestor for place in outside.pushed for ancestor in tree.ancestors(place.link)
    }
    idle = [
        link.name
        for index, link in enumerate(tree.links)
        if index not in carrying and link.parent != WORLD and link.moves
    ]
    if idle:
        warn(f"nothing behind {', '.join(idle)} has a mass or is pushed: these joints' loads are zero")

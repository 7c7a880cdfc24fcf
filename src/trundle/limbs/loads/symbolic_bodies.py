"""Bodies on frames, in symbols: what the recursion needs of them, from frames with inertias or from a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from trundle.errors import InputError, require_known
from trundle.formulas.algebra.writing import exactly
from trundle.mechanics.inverse_dynamics import joint_motions
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.model.arguments import Given, named, robot_of
from trundle.model.mechanism import mechanism
from trundle.scalars import Scalar
from trundle.spatial.motions import Inertia as SpatialInertia
from trundle.spatial.motions import Motion, Pose, inertia_about_origin
from trundle.spatial.vectors import Vector
from trundle.wrenches import Frame, Inertia
from trundle.wrenches.chains import placement_in, upward
from trundle.wrenches.inertia import central_moments
from trundle.wrenches.placement import Placement
from trundle.wrenches.symbolic import time_symbol


@dataclass(frozen=True, eq=False)
class SymbolicBodies:
    """A tree of bodies by name, their frames, and how they move in their parents: poses, twists and their rates."""

    tree: Tree
    frames: Mapping[str, Frame]
    poses: Sequence[Pose]
    own: Sequence[Motion]
    rates: Sequence[Motion]


def bodies_on_frames(bodies: Mapping[Frame, Inertia], gravity: Vector) -> SymbolicBodies:
    """Bodies on frames of one root, which stands still; a body moves past the nearest one that its frame rides on."""
    order = sorted(bodies, key=lambda frame: len(list(upward(frame))))
    index = {id(frame): k for k, frame in enumerate(order)}
    links: list[Link] = []
    placements: list[Placement] = []
    for frame in order:
        if frame.root is not order[0].root or frame.parent is None:
            raise InputError(
                f"'{frame.name}' doesn't move in '{order[0].root.name}', as '{order[0].name}' does",
                key="bodies",
                hint="make each body's frame with child(), all from one root, which stands still",
            )
        *_, first = [frame.root, *_above(frame, index)]
        parent = index.get(id(first), WORLD)
        placement = placement_in(frame, first)
        if placement.twist is None or placement.acceleration is None:
            raise InputError(f"how '{frame.name}' moves in '{first.name}' isn't known", key="bodies")
        links.append(Link(frame.name, parent, "fixed", inertia=_spatial(frame, bodies[frame])))
        placements.append(placement)
    if len({link.name for link in links}) < len(links):
        raise InputError("two bodies have one name", key="bodies", hint="give each frame its own name")
    return SymbolicBodies(
        Tree(tuple(links), gravity),
        {frame.name: frame for frame in order},
        [placement.pose for placement in placements],
        [placement.twist or Motion((0, 0, 0), (0, 0, 0)) for placement in placements],
        [placement.acceleration or Motion((0, 0, 0), (0, 0, 0)) for placement in placements],
    )


def _above(frame: Frame, index: Mapping[int, int]) -> list[Frame]:
    """The nearest frame above that is a body's, if there is one."""
    above = frame.parent
    while above is not None:
        if id(above) in index:
            return [above]
        above = above.parent
    return []


def _spatial(frame: Frame, inertia: Inertia) -> SpatialInertia:
    """About the frame's origin, in its axes."""
    if inertia.center.frame is not frame:
        raise InputError(
            f"the inertia on '{frame.name}' is that of '{inertia.body}'",
            key="bodies",
            hint="one body a frame",
        )
    return inertia_about_origin(inertia.mass, inertia.center.coordinates, central_moments(inertia, frame))


def bodies_of_robot(
    given: Given,
    motion: Mapping[str, sympy.Expr] | None,
    gravity: Vector | None,
    base: str | None = None,
) -> SymbolicBodies:
    """A robot's bodies: named parameters are symbols, other numbers exact, coordinates functions of time."""
    robot = robot_of(given, "symbolic_loads", "it has no bodies and joints", base)
    for part in ("wheels", "couplings", "loops"):
        if getattr(robot, part):
            raise InputError(
                f"'{robot.name}' has {part}: formulas of joint loads are those of trees", key=part
            )
    numbers = mechanism(robot)
    parameters = {
        name: sympy.Symbol(name) if name in robot.parameters else exactly(value) if value else 0
        for name, value in numbers.parameters.items()
    }
    assembly = numbers.in_scalars(parameters, []).assembly
    time = time_symbol(None)
    chosen = dict(named(motion, "motion"))
    q = [_put(chosen, name, time) for name in assembly.coordinates]
    nu = []
    for name in assembly.speeds:
        coordinate = assembly.quantities.coordinate_of(name)
        rate = sympy.diff(q[assembly.coordinates.index(coordinate)], time) if coordinate else None
        nu.append(rate if rate is not None and name not in chosen else _put(chosen, name, time))
    for name in chosen:
        known = (*assembly.coordinates, *assembly.speeds)
        require_known(name, known, f"the robot has no '{name}'", key="motion")
    tree = assembly.tree if gravity is None else Tree(assembly.tree.links, gravity)
    poses = tree.joint_poses(q)
    own, rates = joint_motions(tree, poses, nu, [sympy.diff(speed, time) for speed in nu])
    frames: list[Frame] = []
    world = Frame("world")
    for link, placement in zip(tree.links, map(Placement, poses, own, rates), strict=True):
        above = world if link.parent == WORLD else frames[link.parent]
        frames.append(Frame(link.name, above, None, placement, world))
    return SymbolicBodies(tree, {frame.name: frame for frame in frames}, poses, own, rates)


def _put(chosen: Mapping[str, sympy.Expr], name: str, time: sympy.Expr) -> Scalar:
    if name in chosen:
        return sympy.sympify(chosen[name])
    return sympy.Function(name.replace(".", "_"))(time)

"""Trees that are measured: planar chains, a general arm, a floating base with limbs; ours and Pinocchio's."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from trundle.mechanics.fewer_operations import recast
from trundle.mechanics.forward_dynamics import forward_dynamics
from trundle.mechanics.tree import Link, Tree
from trundle.program import Program, Tracer
from trundle.spatial.motions import Pose, inertia_about_origin
from trundle.spatial.vectors import Matrix, Vector

LENGTH, MASS = 0.5, 1.0
AXES: tuple[Vector, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Body(NamedTuple):
    """One link as both sides build it: parent's index (−1 the world), joint, placement R and p, mass, centre, inertia
    about it.
    """

    parent: int
    kind: str
    axis: Vector
    rotation: np.ndarray
    position: np.ndarray
    mass: float
    center: np.ndarray
    inertia: np.ndarray


def planar_chain(links: int) -> list[Body]:
    """Thin rods on parallel hinges."""
    about = np.diag([0.0, MASS * LENGTH**2 / 12, 0.0])
    center, below = np.array([0, 0, -LENGTH / 2]), np.array([0, 0, -LENGTH])
    places = [np.zeros(3)] + [below] * (links - 1)
    return [
        Body(k - 1, "revolute", (0, 1, 0), np.eye(3), place, MASS, center, about)
        for k, place in enumerate(places)
    ]


def general_arm(joints: int) -> list[Body]:
    """Hinges whose axes stand in any direction to each other, with full inertias."""
    rng = np.random.default_rng(joints)
    return [_random_body(rng, k - 1, "revolute", (0, 0, 1), _rotation(rng)) for k in range(joints)]


def floating_tree(joints: int, limb: int = 6) -> list[Body]:
    """A free body with limbs of six hinges about x, y and z in turn, full inertias."""
    rng = np.random.default_rng(joints)
    bodies = [_random_body(rng, -1, "floating", (0, 0, 1), np.eye(3))._replace(position=np.zeros(3))]
    for k in range(1, joints + 1):
        parent = 0 if k % limb == 1 else k - 1
        bodies.append(_random_body(rng, parent, "revolute", AXES[k % 3], np.eye(3)))
    return bodies


def _rotation(rng: np.random.Generator) -> np.ndarray:
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))


def _random_body(
    rng: np.random.Generator, parent: int, kind: str, axis: Vector, rotation: np.ndarray
) -> Body:
    root = rng.normal(size=(3, 3))
    about = 0.01 * root @ root.T + 0.02 * np.eye(3)
    mass = float(rng.uniform(0.5, 2.0))
    return Body(parent, kind, axis, rotation, 0.3 * rng.normal(size=3), mass, 0.1 * rng.normal(size=3), about)


def tree_of(bodies: list[Body]) -> Tree:
    """The tree that the algorithms walk; exact zeros and ones are structure."""
    links = [
        Link(
            f"link_{k}",
            b.parent,
            b.kind,
            b.axis,
            Pose(_matrix(b.rotation), _vector(b.position)),
            inertia_about_origin(b.mass, _vector(b.center), _matrix(b.inertia)),
        )
        for k, b in enumerate(bodies)
    ]
    return Tree(tuple(links))


def _number(x: float) -> float | int:
    return int(x) if x in (0.0, 1.0) else float(x)


def _vector(x: np.ndarray) -> Vector:
    return (_number(x[0]), _number(x[1]), _number(x[2]))


def _matrix(rows: np.ndarray) -> Matrix:
    return (_vector(rows[0]), _vector(rows[1]), _vector(rows[2]))


def forward_program(tree: Tree) -> Program:
    """(q, ν, τ) → ν̇ by the articulated-body algorithm."""
    q_labels = [f"{link.name}.{c}" for link in tree.links for c in link.joint.coordinates]
    labels = [f"{link.name}.{s}" for link in tree.links for s in link.joint.speeds]
    tracer = Tracer("q", "nu", "tau")
    q = tracer.inputs("q", len(q_labels))
    nu, tau = (tracer.inputs(name, len(labels)) for name in ("nu", "tau"))
    fast = recast(tree, q)
    rates = forward_dynamics(fast.tree, fast.poses, nu, tau)
    groups = {"q": q_labels, "nu": labels, "tau": labels}
    return tracer.program("forward_dynamics", groups, {"nu_dot": (labels, rates)})


def pinocchio_model(bodies: list[Body]) -> tuple[Any, Any]:
    """The same tree as Pinocchio's model and data."""
    pin: Any = import_module("pinocchio")  # has no types

    hinges = dict(zip(AXES, (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ), strict=True))
    model = pin.Model()
    numbers: list[int] = []
    for k, b in enumerate(bodies):
        joint = pin.JointModelFreeFlyer() if b.kind == "floating" else hinges[b.axis]()
        parent = 0 if b.parent < 0 else numbers[b.parent]
        numbers.append(model.addJoint(parent, joint, pin.SE3(b.rotation, b.position), f"joint_{k}"))
        model.appendBodyToJoint(numbers[-1], pin.Inertia(b.mass, b.center, b.inertia), pin.SE3.Identity())
    return model, model.createData()


def states(bodies: list[Body], count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q (with unit quaternions), ν and τ of shapes (n, count)."""
    rng = np.random.default_rng(1)
    floating = bodies[0].kind == "floating"
    size = len(bodies) + (5 if floating else 0)
    q, nu, tau = rng.normal(size=(size + floating, count)), *rng.normal(size=(2, size, count))
    if floating:
        q[3:7] /= np.linalg.norm(q[3:7], axis=0)
    return q, nu, tau


def pinocchio_q(bodies: list[Body], q: np.ndarray) -> np.ndarray:
    """One q with the quaternion's scalar part last, as Pinocchio has it."""
    return q[[0, 1, 2, 4, 5, 6, 3, *range(7, len(q))]] if bodies[0].kind == "floating" else q.copy()

"""Values of exported programs recognised as what they are: entries of the mass matrix, velocities of links, outputs.

A program's instructions say how a value comes about, not what it is, and simplification leaves no trace of it. So a
value is compared with quantities that were computed another way, at random states and parameters: what agrees at all
of them is the same function. Nothing but names hangs on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np

from trundle.arrays import FloatArray
from trundle.languages.names import value_names
from trundle.languages.package import Entry
from trundle.mechanics.articulated import less_outer
from trundle.mechanics.fewer_operations import Recast, recast
from trundle.mechanics.forward_dynamics import (
    ArticulatedJoint,
    Walk,
    articulated_joints,
    forward_walk,
    velocity_terms,
)
from trundle.mechanics.frames import velocities, world_poses
from trundle.mechanics.inverse_dynamics import (
    inverse_dynamics,
    joint_wrenches,
    link_accelerations,
    link_forces,
)
from trundle.mechanics.momentum import composites
from trundle.mechanics.tree import WORLD, Tree
from trundle.model import Model
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.moving import reduced_mass
from trundle.program import Program
from trundle.program.ir import LOADS
from trundle.program.tangents import every_value
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    Force,
    Inertia,
    Motion,
    Pose,
    flat,
    force_to_parent,
    inertia_to_parent,
    momentum,
    motion_to_child,
    scale_force,
)
from trundle.spatial.vectors import ZERO, apply, scale

# Random states: what only has the same sign or the same branch differs at one of so many.
_COUNT = 24
# Two ways of computing a quantity differ by rounding, this much of its size at most.
_ROUNDING = 1e-9
# What M is made of grows with the square of the speeds, and long trees are walked without it.
_FEW = 24
_AXES = "xyz"
_PARTS = ("fx", "fy", "fz", "nx", "ny", "nz")
_RATES = ("x", "y", "z", "wx", "wy", "wz")


def with_names(entries: Sequence[Entry], model: Model) -> tuple[Entry, ...]:
    """The entries of a model, those of the whole model and their twins with names for their values."""
    groups = _samples(model)
    known = _quantities(model, groups)
    prepare = next((entry for entry in entries if entry.name == "prepare"), None)
    if prepare is not None and set(prepare.program.inputs) <= set(model.dynamics.inputs):
        values = every_value(prepare.program, [groups["parameter"]])
        groups["prepared"] = np.array(
            [np.broadcast_to(values[v], _COUNT) for v in prepare.program.results[0]]
        )
    named = [replace(entry, named=_named(entry.program, groups, known)) for entry in entries]
    made = next((entry for entry in named if entry.name == "prepare"), None)
    return tuple(entry if made is None else _with_prepared_names(entry, made) for entry in named)


def _with_prepared_names(entry: Entry, prepare: Entry) -> Entry:
    """An entry whose inputs that `prepare` makes are called as they are there."""
    group = prepare.program.outputs[0]
    if group not in entry.program.inputs:
        return entry
    texts = value_names(prepare.program, prepare.named)
    place = entry.program.inputs.index(group)
    names = {
        i.out: texts[prepare.program.results[0][i.source[1]]]
        for i in entry.program.instructions
        if i.op == "input" and i.source[0] == place
    }
    return replace(entry, named={**names, **entry.named})


def _samples(model: Model) -> dict[str, FloatArray]:
    """Random states, inputs and parameters, (n, count) each; these near their values, and none of them 0."""
    rng = np.random.default_rng(0)
    state, given, _ = model.dynamics.inputs
    x = rng.uniform(-1.2, 1.2, (state.size, _COUNT))
    if model.robot is not None:
        x = model.quantities.normalised(state.labels, x.T).T
    p = np.array([*model.parameters.values()], dtype=float)[:, None]
    near = p * rng.uniform(0.7, 1.3, (len(p), _COUNT))
    p = np.where(p == 0, rng.uniform(0.1, 0.5, near.shape), near)
    u = rng.uniform(-3, 3, (given.size, _COUNT))
    due = rng.integers(0, 2, (len(model.clocks), _COUNT)).astype(float)
    return {"state": x, "input": u, "parameter": p, "due": due}


def _quantities(model: Model, groups: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Quantities of a model by what they are called, those first that say most; none that is one number everywhere."""
    pairs: list[tuple[str, Scalar]] = []
    with np.errstate(all="ignore"):
        if model.robot is not None:
            numbers = mechanism(model.robot)
            at = numbers.in_scalars(*_scalars(model, groups))
            pairs += _of_mechanism(at, model, groups["state"], _rates(model, groups))
    values = every_value(model.observe, [groups[group.name] for group in model.observe.inputs])
    pairs += [
        (label, values[v])
        for label, v in zip(model.observe.outputs[0].labels, model.observe.results[0], strict=True)
    ]
    known: dict[str, FloatArray] = {}
    for name, value in pairs:
        row = np.asarray(value, dtype=float)
        if row.ndim and np.isfinite(row).all() and np.ptp(row) > _ROUNDING * np.abs(row).max():
            known.setdefault(name, row)
    return known


def _scalars(model: Model, groups: Mapping[str, FloatArray]) -> tuple[dict[str, Scalar], list[Scalar]]:
    """Parameters and coordinates as arrays."""
    parameters = dict(zip(model.parameters, groups["parameter"], strict=True))
    return parameters, list(groups["state"][: len(model.coordinates)])


def _rates(model: Model, groups: Mapping[str, FloatArray]) -> list[Scalar]:
    """The rates of the speeds by the model's own dynamics."""
    values = every_value(model.dynamics, [groups[group.name] for group in model.dynamics.inputs])
    first = len(model.coordinates)
    return [values[v] for v in model.dynamics.results[0][first : first + len(model.speeds)]]


def _of_mechanism(
    at: Mechanism, model: Model, state: FloatArray, rates: Sequence[Scalar]
) -> Iterator[tuple[str, Scalar]]:
    """Speeds, mass matrix, twists and rotations of links: in their own axes, in the world's and in their joints'."""
    first = len(model.coordinates)
    own_speeds = state[first : first + len(model.speeds)]
    nu = at.speeds(list(own_speeds))
    if len(nu) != len(own_speeds) or any(np.any(a != b) for a, b in zip(nu, own_speeds, strict=True)):
        rates = ()
    yield from zip(at.assembly.speeds, nu, strict=True)
    mass = reduced_mass(at)
    for i, j in product(range(len(mass)), repeat=2):
        if i <= j:
            yield f"M {i + 1} {j + 1}", mass[i][j]
    tree, poses = at.assembly.tree, at.at.poses
    names = [link.name for link in tree.links]
    own = velocities(tree, poses, nu[: tree.speed_count])
    turned = [pose.rotation for pose in world_poses(tree, poses)]
    yield from _twists(names, own)
    world = [Motion(apply(R, v.linear), apply(R, v.angular)) for R, v in zip(turned, own, strict=True)]
    yield from _twists([f"{name} world" for name in names], world)
    for name, rotation in zip(names, turned, strict=True):
        yield from _entries(f"R {name}", rotation)
    yield from _inertias(names, [link.inertia for link in tree.links])
    yield from _of_recast(recast(tree, at.at.q), names, nu, rates)
    yield from _of_newton_euler(names, tree, poses, nu[: tree.speed_count])
    if len(nu) <= _FEW:
        yield from _of_composites(names, tree, poses)
        yield from _of_elimination(mass)


def _of_elimination(mass: Sequence[Sequence[Scalar]]) -> Iterator[tuple[str, Scalar]]:
    """M = L D Lᵀ by eliminating its speeds in their order: what is left of M without the first k, and L."""
    left = [[np.asarray(entry, dtype=float) for entry in row] for row in mass]
    for k, pivot in enumerate(left[:-1]):
        for i in range(k + 1, len(left)):
            share = left[i][k] / pivot[k]
            yield f"L {i + 1} {k + 1}", share
            left[i] = [a - share * b for a, b in zip(left[i], pivot, strict=True)]
            yield from ((f"M {i + 1} {j + 1} without {k + 1}", left[i][j]) for j in range(k + 1, i + 1))


def _of_newton_euler(
    names: Sequence[str], tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]
) -> Iterator[tuple[str, Scalar]]:
    """What the bias force passes by: accelerations at steady speeds, momenta, wrenches of links and through joints."""
    twists, accelerations = link_accelerations(tree, poses, nu, [0.0] * len(nu))
    yield from _motions("a", "alpha", names, accelerations)
    rest = Motion(ZERO, ZERO), Motion(scale(-1, tree.gravity), ZERO)
    before = [f"{name} before" for name in names]
    for letters, first, all_motions in (
        (("v", "omega"), rest[0], twists),
        (("a", "alpha"), rest[1], accelerations),
    ):
        from_parents = [(first, *all_motions)[link.parent + 1] for link in tree.links]
        carried = [motion_to_child(pose, m) for pose, m in zip(poses, from_parents, strict=True)]
        yield from _motions(*letters, before, carried)
    momenta = [momentum(link.inertia, v) for link, v in zip(tree.links, twists, strict=True)]
    for name, (linear, angular) in zip(names, momenta, strict=True):
        yield from ((f"P {name} {a}", x) for a, x in zip(_AXES, linear, strict=True))
        yield from ((f"L {name} {a}", x) for a, x in zip(_AXES, angular, strict=True))
    needed = link_forces(tree, twists, accelerations)
    through = joint_wrenches(tree, poses, needed)
    yield from _wrenches("f", [f"{name} own" for name in names], needed)
    yield from _wrenches("f", names, through)
    parents = [force_to_parent(pose, f) for pose, f in zip(poses, through, strict=True)]
    yield from _wrenches("f", [f"{name} parent" for name in names], parents)


def _of_composites(names: Sequence[str], tree: Tree, poses: Sequence[Pose]) -> Iterator[tuple[str, Scalar]]:
    """What the mass matrix passes by: links with all that hangs on them, and the wrench that a speed's growth takes."""
    whole = composites(tree, poses)
    yield from _inertias([f"{name} on" for name in names], whole)
    parents = [inertia_to_parent(pose, each) for pose, each in zip(poses, whole, strict=True)]
    yield from _inertias([f"{name} on parent" for name in names], parents)
    for index, (name, link, pose) in enumerate(zip(names, tree.links, poses, strict=True)):
        columns = link.subspace(pose)
        for k, column in enumerate(columns):
            which = f"{name} {k + 1}" if len(columns) > 1 else name
            force = momentum(whole[index], column)
            yield from _wrenches("F", [which], [force])
            for ancestor in tree.ancestors(index):
                force = force_to_parent(poses[ancestor], force)
                if tree.links[ancestor].parent != WORLD:
                    yield from _wrenches("F", [f"{which} at {names[tree.links[ancestor].parent]}"], [force])


def _of_recast(
    fast: Recast, names: Sequence[str], nu: Sequence[Scalar], rates: Sequence[Scalar]
) -> Iterator[tuple[str, Scalar]]:
    """What the articulated-body algorithm passes by, in the frames that it walks in: those of joints. `rates`: of the
    speeds; none where the tree has others than the state.
    """
    tree, poses = fast.tree, fast.poses
    first = {index: name for name, (index, _) in reversed([*zip(names, fast.places, strict=True)])}
    moving = [f"{first[index]} frame" for index in range(len(tree.links))]
    speeds = nu[: tree.speed_count]
    yield from _twists(moving, velocities(tree, poses, speeds))
    yield from _inertias(moving, [link.inertia for link in tree.links])
    wrenches, biases = velocity_terms(tree, poses, speeds)
    for name, pose in zip(moving, poses, strict=True):
        yield from _entries(f"R {name} parent", pose.rotation)
    yield from _wrenches("p", moving, wrenches)
    for name, bias in zip(moving, biases, strict=True):
        yield from ((f"c {name} {part}", x) for part, x in zip(_RATES, flat(bias), strict=True))
    try:
        joints = articulated_joints(tree, poses)
    except ZeroDivisionError:  # a link without mass that a coupling holds: no program walks it so
        return
    for name, joint in zip(moving, joints, strict=True):
        yield from _of_joint(name, joint)
    if rates:
        tau = inverse_dynamics(tree, poses, speeds, rates)
        yield from _of_walk(moving, poses, forward_walk(tree, poses, speeds, tau))


def _of_walk(names: Sequence[str], poses: Sequence[Pose], walk: Walk) -> Iterator[tuple[str, Scalar]]:
    """Bias forces on the way in; accelerations on the way out, before a joint's own motion and with it."""
    yield from _motions("a", "alpha", names, walk.accelerations)
    yield from _motions("a", "alpha", [f"{name} before" for name in names], walk.carried)
    yield from _wrenches("pA", names, walk.forces)
    yield from _wrenches("pa", names, walk.pushes)
    parents = [force_to_parent(pose, push) for pose, push in zip(poses, walk.pushes, strict=True)]
    yield from _wrenches("pa", [f"{name} parent" for name in names], parents)
    for name, drives in zip(names, walk.drives, strict=True):
        for k, drive in enumerate(drives):
            yield f"u over D {name} {k + 1}" if len(drives) > 1 else f"u over D {name}", drive


def _of_joint(name: str, joint: ArticulatedJoint) -> Iterator[tuple[str, Scalar]]:
    """The inertia that a joint carries, I^A, along it (U, D) and what of it is left beyond the joint, I^a."""
    several = len(joint.u_columns) > 1
    for k, u in enumerate(joint.u_columns):
        which = f"{name} {k + 1}" if several else name
        yield f"D {which}", joint.d_matrix[k][k]
        yield from _wrenches("U", [which], [u])
    whole = joint.left
    for k, (u, gain) in enumerate(zip(joint.u_columns, joint.gains, strict=False)):
        which = f"{name} {k + 1}" if several else name
        yield from _wrenches("G", [which], [gain])
        whole = less_outer(whole, scale_force(-1, u), gain)
    for letters, inertia in (("IA", whole), ("Ia", joint.left)):
        for block, matrix in zip("MCJ", inertia, strict=True):
            yield from _entries(f"{letters} {name} {block}", matrix)


def _entries(text: str, matrix: Sequence[Sequence[Scalar]]) -> Iterator[tuple[str, Scalar]]:
    for (i, a), (j, b) in product(enumerate(_AXES), repeat=2):
        yield f"{text} {a}{b}", matrix[i][j]


def _inertias(names: Sequence[str], inertias: Sequence[Inertia]) -> Iterator[tuple[str, Scalar]]:
    """Masses, first moments m c and inertias about the frames' origins."""
    for name, inertia in zip(names, inertias, strict=True):
        yield f"m {name}", inertia.mass
        yield from ((f"h {name} {a}", x) for a, x in zip(_AXES, inertia.first_moment, strict=True))
        for (i, a), (j, b) in combinations_with_replacement(enumerate(_AXES), 2):
            yield f"I {name} {a}{b}", inertia.rotational[i][j]


def _twists(names: Sequence[str], twists: Sequence[Motion]) -> Iterator[tuple[str, Scalar]]:
    return _motions("v", "omega", names, twists)


def _motions(
    linear: str, angular: str, names: Sequence[str], motions: Sequence[Motion]
) -> Iterator[tuple[str, Scalar]]:
    for name, motion in zip(names, motions, strict=True):
        for letter, vector in ((linear, motion.linear), (angular, motion.angular)):
            yield from ((f"{letter} {name} {a}", x) for a, x in zip(_AXES, vector, strict=True))


def _wrenches(letter: str, names: Sequence[str], wrenches: Sequence[Force]) -> Iterator[tuple[str, Scalar]]:
    for name, wrench in zip(names, wrenches, strict=True):
        yield from ((f"{letter} {name} {part}", x) for part, x in zip(_PARTS, flat(wrench), strict=True))


def _named(
    program: Program, groups: Mapping[str, FloatArray], known: Mapping[str, FloatArray]
) -> dict[int, str]:
    """Names of a program's values that are known ones, or these with the other sign, by their numbers."""
    sizes = {name: len(values) for name, values in groups.items()}
    if any(sizes.get(group.name) != group.size for group in program.inputs):
        return {}
    values = every_value(program, [groups[group.name] for group in program.inputs])
    moving = [i.out for i in program.instructions if i.op not in LOADS and np.ndim(values[i.out])]
    table = np.array([values[v] for v in moving], dtype=float).reshape(-1, _COUNT)
    order = np.argsort(table[:, 0], kind="stable")
    sorted_first = table[order, 0]
    texts, rows = list(known), np.array([*known.values()], dtype=float).reshape(-1, _COUNT)
    slack = _ROUNDING * np.abs(rows)
    names: dict[int, str] = {}
    for sign, form in ((1.0, "{}"), (-1.0, "minus {}")):
        wanted = sign * rows
        start = np.searchsorted(sorted_first, wanted[:, 0] - slack[:, 0])
        stop = np.searchsorted(sorted_first, wanted[:, 0] + slack[:, 0])
        for k in np.flatnonzero(stop > start):
            near = np.sort(order[start[k] : stop[k]])
            alike = near[(np.abs(table[near] - wanted[k]) <= slack[k]).all(axis=1)]
            if len(alike):
                names.setdefault(moving[alike[0]], form.format(texts[k]))
    return names

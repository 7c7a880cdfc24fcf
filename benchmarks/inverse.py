"""Joint loads: the limb of three segments in symbols and numbers, and a skeleton of 20 bodies beside Pinocchio."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module

import numpy as np
import sympy
from sympy.physics.mechanics import dynamicsymbols

from benchmarks.measure import MISSING, Row, best_seconds, best_together, installed, seconds_text
from trundle import Frame, Inertia, JointMotion, Robot, derive, joint_loads, load, symbolic_loads
from trundle.limbs.loads.recursion import Recursion, recursion_of
from trundle.mechanics.tree import WORLD, Tree
from trundle.program import compile_program
from trundle.program.simplify import only_output

SAMPLES, LONG = 1000, 100_000
BATCH = 1024  # samples whose numbers, 2.6 kB each, stay in a second-level cache
# A person's joints: kind and what carries it. Twenty bodies, the pelvis with them, and 48 speeds.
JOINTS = {
    "lumbar": ("spherical", "pelvis"),
    "thorax": ("spherical", "lumbar"),
    "neck": ("spherical", "thorax"),
    "head": ("spherical", "neck"),
    **{f"hip_{side}": ("spherical", "pelvis") for side in "lr"},
    **{f"knee_{side}": ("revolute", f"hip_{side}") for side in "lr"},
    **{f"ankle_{side}": ("universal", f"knee_{side}") for side in "lr"},
    **{f"toes_{side}": ("revolute", f"ankle_{side}") for side in "lr"},
    **{f"scapula_{side}": ("universal", "thorax") for side in "lr"},
    **{f"shoulder_{side}": ("spherical", f"scapula_{side}") for side in "lr"},
    **{f"elbow_{side}": ("universal", f"shoulder_{side}") for side in "lr"},
    "wrist_l": ("universal", "elbow_l"),
}


def symbols(quick: bool) -> list[Row]:
    """The seed's question in letters: frames, recursion and named steps of all joints, with nothing kept from before
    but SymPy's own cache.
    """
    rows: list[Row] = []
    for count, target in ((3, 0.1), (50, 1.0)):
        seconds = best_seconds(lambda n=count: _question(n), tries=1 if quick else 5, least=0.0)
        what = f"{count} segments in symbols: the joint wrenches in segment frames"
        peer, ratio = ("157.6 s (limb.md)", 157.6 / seconds) if count == 3 else ("", None)
        rows.append(Row(what, seconds_text(seconds), peer, ratio, f"≤ {target:g} s", seconds <= target))
    return rows


def limb(quick: bool) -> list[Row]:
    """1,000 samples of the limb of three segments: the kernel alone, and from the motion to loads."""
    joints = {
        f"P_{k}": {
            "type": "revolute",
            **({} if k == 0 else {"parent": f"P_{k - 1}", "at": [0, before, 0]}),
            "body": {"mass": mass, "center_of_mass": [0, f"{length}/2", 0]},
        }
        for k, (mass, length, before) in enumerate(((0.7, 0.8, 0.0), (0.5, 0.6, 0.8), (0.3, 0.4, 0.6)))
    }
    robot = load({"robot": {"name": "limb", "gravity": 0.0, "joints": joints}})
    motion = _motion(robot, SAMPLES)
    program = recursion_of(robot, None).loads(())
    kernel = compile_program(program)
    groups = [
        np.ascontiguousarray(each.T) for each in (motion.positions, motion.velocities, motion.accelerations)
    ]
    none = np.zeros((0, SAMPLES))
    alone, whole = best_together(
        lambda: kernel(*groups, none, threads=1),
        lambda: joint_loads(robot, motion),
        tries=5 if quick else 50,
    )
    what = f"{SAMPLES:,} samples of three segments"
    note = f"{program.operations} operations"
    return [
        Row(f"{what}, the kernel", seconds_text(alone), target="≤ 100 µs", met=alone <= 100e-6, note=note),
        Row(f"{what}, joint_loads", seconds_text(whole), target="≤ 100 µs", met=whole <= 100e-6),
    ]


def skeleton(quick: bool) -> list[Row]:
    """All joint wrenches of a skeleton over many samples on one core, cold and beside Pinocchio's `rnea`."""
    robot = _skeleton()
    motion = _motion(robot, LONG)
    started = time.perf_counter()
    recursion = recursion_of(robot, None)
    tables = motion.positions, motion.velocities, motion.accelerations, np.zeros((LONG, 0))
    kernel = compile_program(recursion.loads(()))
    kernel.over_samples(*tables)
    cold = time.perf_counter() - started
    batch = [np.ascontiguousarray(table[:BATCH].T) for table in tables]
    forces = compile_program(only_output(kernel.program, "effort"))
    for each in (kernel, forces):
        each.over_samples(*tables)  # compiled for batches, which short ones then take too
    works: list[Callable[[], object]] = [
        lambda: kernel.over_samples(*tables),
        lambda: kernel(*batch, threads=1),
        lambda: forces(*batch, threads=1),
    ]
    few = 200
    if installed("pinocchio"):
        works.append(_theirs(recursion, motion, few))
    ours, whole, near, *theirs = best_together(*works, tries=3 if quick else 15)
    each = near / BATCH
    ratio = theirs[0] / few / each if theirs else None
    what = "a skeleton of 20 bodies"
    return [
        Row(f"{what}, {LONG:,} samples on a core", seconds_text(ours), target="≤ 1 s", met=ours <= 1.0),
        Row(
            "…, traced, compiled and run the first time", seconds_text(cold), target="≤ 2 s", met=cold <= 2.0
        ),
        Row(
            f"{what}: forces of all speeds a sample, against Pinocchio's rnea from Python",
            seconds_text(each),
            seconds_text(theirs[0] / few) if theirs else MISSING,
            ratio,
            "≥ 20 ×",
            None if ratio is None else ratio >= 20,
            f"{kernel.program.operations} operations, {BATCH:,} samples a batch",
        ),
        Row(
            "…, and the wrenches through all joints",
            seconds_text(whole / BATCH),
            seconds_text(theirs[0] / few) if theirs else MISSING,
            theirs[0] / few / (whole / BATCH) if theirs else None,
        ),
    ]


def _question(count: int) -> int:
    """limb.md's limb with any number of segments, all in letters; how many steps it takes."""
    angles, masses, lengths = (
        dynamicsymbols(f"theta_:{count}"),
        *map(sympy.symbols, (f"m_:{count}", f"l_:{count}")),
    )
    frame, bodies = Frame("W"), {}
    for k in range(count):
        origin = (0, lengths[k - 1] if k else 0, 0)
        frame = frame.child(f"P_{k}", rotation=((0, 0, 1), angles[k]), origin=origin)
        center = frame.point(f"C_{k}", (0, lengths[k] / 2, 0))
        bodies[frame] = Inertia(masses[k], [[0, 0, 0]] * 3, center=center)
    return len(symbolic_loads(bodies, gravity=(0, 0, 0)).steps)


def _skeleton() -> Robot:
    inertia = {"xx": 0.02, "yy": 0.021, "zz": 0.004, "xy": 0.0005, "xz": 0.0003, "yz": -0.0002}

    def body(name: str) -> dict[str, object]:
        return {"name": name, "mass": 2.0, "center_of_mass": [0.01, 0.02, -0.2], "inertia": inertia}

    joints = {
        f"{name}_joint": {"type": kind, "parent": parent, "at": [0.02, 0.1, -0.3], "body": body(name)}
        | ({"axis": [0, 1, 0]} if kind != "spherical" else {})
        | ({"axis2": [1, 0, 0]} if kind == "universal" else {})
        for name, (kind, parent) in JOINTS.items()
    }
    return load({"robot": {"name": "skeleton", "base": "floating", "body": body("pelvis"), "joints": joints}})


def _motion(robot: Robot, count: int) -> JointMotion:
    """Random samples, which cost what any others do; quaternions of length 1."""
    model, rng = derive(robot), np.random.default_rng(0)
    names, speeds = model.coordinates, model.speeds
    q = model.quantities.normalised(names, rng.normal(size=(len(names), count))).T
    nu, nu_dot = rng.normal(size=(2, count, len(speeds)))
    return JointMotion(np.arange(float(count)), names, speeds, q, nu, nu_dot)


def _theirs(recursion: Recursion, motion: JointMotion, count: int) -> Callable[[], None]:
    """`rnea` on rows of arrays, as a loop in Python calls it."""
    pin = import_module("pinocchio")  # comes without types

    from tests.mechanics.pinocchio_trees import Twin

    tree: Tree = recursion.tree
    assert tree.links[0].parent == WORLD
    twin = Twin(pin, tree)
    q = np.array([twin.q(row) for row in motion.positions[:count]])
    v, a = (np.array([twin.v(row) for row in t[:count]]) for t in (motion.velocities, motion.accelerations))
    model, data = twin.model, twin.data

    def work() -> None:
        for k in range(count):
            pin.rnea(model, data, q[k], v[k], a[k])

    return work

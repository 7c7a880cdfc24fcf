"""What closed loops and drives give at a motion: M ν̇ + c − τ_passive = Aᵀλ + B τ_drives, solved at every sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known, suggest
from trundle.limbs.loads.followers import led_rows
from trundle.limbs.loads.recursion import Pushed, Recursion
from trundle.limbs.loads.samples import LoadSamples
from trundle.mechanics.frames import world_poses
from trundle.mechanics.linear import table
from trundle.mechanics.loop_joints import Closure, LoopJoint, close
from trundle.model.mechanism import Mechanism
from trundle.spatial.motions import ZERO_FORCE, Pose, add_forces, compose, force_to_parent, scale_force

# Singular values up to this share of the largest are rounding: rows that repeat others.
_ZERO = 1e-9
# Gaps (m, or sines of angles) up to here count as closed: what solvers leave, far below what anyone measures.
_CLOSED = 1e-6


@dataclass(frozen=True, eq=False)
class LoopForces:
    """Wrenches of the loops on both their bodies, in the world (n, 6 each), and what the drives then give (s, n).

    `undetermined` names loops and speeds whose share redundancy leaves open: theirs is the split of least norm.
    """

    pushed: tuple[Pushed, ...]
    table: FloatArray
    efforts: FloatArray
    undetermined: tuple[str, ...]


def loop_forces(
    recursion: Recursion, samples: LoadSamples, needed: FloatArray, driven: Sequence[str] | None
) -> LoopForces:
    """The loops' wrenches at a motion that needs generalised forces `needed` (s, n) of the tree.

    Raises InputError where the motion opens a loop, where nothing is said to be driven, or where loops and drives
    can't give the motion.
    """
    tree, assembly = recursion.tree, recursion.mechanism.assembly
    poses = tree.joint_poses(list(samples.q.T))
    closures = [close(tree, poses, loop, len(recursion.speeds)) for loop in assembly.loops]
    _refuse_open(assembly.loops, closures, samples.time)
    columns = _driven_columns(recursion.mechanism, recursion.speeds, driven)
    count, width = len(samples.time), len(recursion.speeds)
    rows, drives = (
        table(led_rows(assembly, samples.q, part), count, width)
        for part in ([row for closure in closures for row in closure.rows], np.eye(width)[columns].tolist())
    )
    # Loops and drives share the work, so one system holds both: Aᵀ λ + Eᵀ τ = needed.
    given = np.concatenate([rows, drives], axis=1)  # (n, λ and τ, s)
    solution, open_columns = _least_norm(np.swapaxes(given, 1, 2), needed.T)
    _refuse_unmet(recursion.speeds, given, solution, needed, samples.time)
    efforts = np.zeros_like(needed)
    efforts[columns] = solution[:, rows.shape[1] :].T
    owners = [loop.name for loop, closure in zip(assembly.loops, closures, strict=True) for _ in closure.rows]
    owners += [recursion.speeds[k] for k in columns]
    undetermined = tuple(dict.fromkeys(owners[k] for k in open_columns))
    pushed, wrenches = _on_bodies(
        assembly.loops, closures, world_poses(tree, poses), solution[:, : rows.shape[1]].T
    )
    return LoopForces(pushed, wrenches, efforts, undetermined)


def _refuse_open(loops: Sequence[LoopJoint], closures: Sequence[Closure], time: FloatArray) -> None:
    """InputError where a loop's gap (m, or the sine of an angle) is more than solvers leave, with the worst time."""
    for loop, closure in zip(loops, closures, strict=True):
        gap = np.max([np.abs(np.broadcast_to(part, time.shape)) for part in closure.gaps], axis=0)
        worst = int(gap.argmax())
        if gap[worst] > _CLOSED:
            raise InputError(
                f"the motion opens the loop '{loop.name}' by {gap[worst]:.3g} at t = {time[worst]:.6g} s",
                key=loop.name,
                hint="coordinates of a closed loop follow from some of them: simulate it, or use inverse kinematics",
            )


def _driven_columns(mechanism: Mechanism, speeds: Sequence[str], driven: Sequence[str] | None) -> list[int]:
    """The places of the speeds that drives push: those that are named, or else the motors'."""
    if driven is None:
        driven = [speeds[actuator.column] for actuator in mechanism.assembly.actuators]
        if not driven:
            raise InputError(
                f"'{mechanism.robot.name}' has closed loops and no motor, so which joints are driven isn't known",
                key="driven",
                hint=f"name the driven speeds: driven=[...]; {suggest('', speeds)}",
            )
    for name in driven:
        require_known(name, speeds, f"'{name}' is not a speed", key="driven")
    return [speeds.index(name) for name in driven]


def _least_norm(matrices: FloatArray, right: FloatArray) -> tuple[FloatArray, list[int]]:
    """The shortest x with least |M x − r| for a sample, and the places of x that are left open at some sample."""
    # All of V is asked for: its vectors without a singular value span what redundancy leaves open.
    u, values, vh = np.linalg.svd(matrices, full_matrices=True)
    size = values.shape[1]
    kept = values > _ZERO * values.max(axis=1, keepdims=True, initial=1e-300)
    parts = np.einsum("nij,ni->nj", u[:, :, :size], right)
    parts = np.where(kept, parts / np.where(kept, values, 1.0), 0.0)
    free = np.concatenate([~kept, np.ones((len(kept), vh.shape[1] - size), dtype=bool)], axis=1)
    touched = np.where(free[:, :, None], np.abs(vh), 0.0).max(axis=(0, 1), initial=0.0)
    x = np.einsum("nji,nj->ni", vh[:, :size], parts)
    return x, [int(k) for k in np.flatnonzero(touched > _ZERO)]


def _refuse_unmet(
    speeds: Sequence[str], given: FloatArray, solution: FloatArray, needed: FloatArray, time: FloatArray
) -> None:
    """InputError where loops and drives leave some of the needed forces: Σ given x − needed, with the worst sample."""
    left = np.abs(np.einsum("nks,nk->sn", given, solution) - needed)
    if left.max(initial=0.0) <= 1e-7 * max(np.abs(needed).max(initial=0.0), 1.0):
        return
    row, sample = divmod(int(left.argmax()), left.shape[1])
    raise InputError(
        f"nothing gives what '{speeds[row]}' needs at t = {time[sample]:.6g} s: {left[row, sample]:.3g} are left "
        "beside loops, springs and drives",
        key="driven",
        hint=f"name more driven speeds, or push from outside; {suggest(speeds[row], speeds)}",
    )


def _on_bodies(
    loops: Sequence[LoopJoint], closures: Sequence[Closure], world: Sequence[Pose], multipliers: FloatArray
) -> tuple[tuple[Pushed, ...], FloatArray]:
    """Each loop's wrench on its second body and its reaction on the first, about the world's origin (n, 6)."""
    pushed: list[Pushed] = []
    tables: list[FloatArray] = []
    left = iter(multipliers)
    for loop, closure in zip(loops, closures, strict=True):
        wrench = ZERO_FORCE  # about b's origin, in a's axes
        for unit in closure.wrenches:
            wrench = add_forces(wrench, scale_force(next(left), unit))
        rotation = compose(world[loop.first.link], loop.first.placement).rotation
        place = compose(world[loop.second.link], loop.second.placement).position
        moved = force_to_parent(Pose(rotation, place), wrench)
        parts = np.array([np.broadcast_to(x, multipliers.shape[1:]) for part in moved for x in part]).T
        for link, sign in ((loop.second.link, 1.0), (loop.first.link, -1.0)):
            pushed.append(Pushed(link, "world"))
            tables.append(sign * parts)
    return tuple(pushed), np.hstack(tables)

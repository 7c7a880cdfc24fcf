"""Where no motion keeps all that is asked: what gives way, and where, in the motion that misses the least of it.

min ε T + Σ |missed| over all rows that are wished for (limits, zones, obstacles, poses), each with a slack of its own:
a feasible programme however little the wishes agree (Fletcher's ℓ₁ penalty). What holds a programme together stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.motion.fastest.intervals import RATES, WRITTEN, Formulas, Layout, formulas
from trundle.motion.fastest.problem import Problem
from trundle.motion.fastest.programme import Nodes, assembled, settings
from trundle.motion.paths.pose_paths import LIMITS
from trundle.scalars import SX

# What time counts beside all that is missed: a motion that misses nothing isn't made to miss something by it.
_TIME = 1e-3
# What is missed by less than this (shares of limits, sizes of the robot, rad) is kept.
_KEPT = 1e-5
# IPOPT's steps at most.
_ITERATIONS = 500


@dataclass(frozen=True)
class Missed:
    """What a motion misses most: its name, of which wheel, obstacle or stop, by how much, and near which pose."""

    name: str
    owner: int
    amount: float
    pose: FloatArray
    interval: int


def least_missed(
    problem: Problem, phases: tuple[int, ...], guess: Nodes
) -> tuple[Nodes, Missed | None, float] | None:
    """The nodes that miss the least of what is asked, what they miss most (None: nothing), and all that they miss.

    None where that isn't found.
    """
    import casadi as ca

    shape = problem.shape(phases)
    one = formulas(replace(shape, phases=(1,)))
    near = np.ones((shape.intervals, len(shape.obstacles)), dtype=bool)
    always = np.ones((shape.intervals, one.always), dtype=bool)
    kept = np.concatenate([always, np.repeat(near, one.blocks, axis=1)], axis=1)
    soft = np.flatnonzero(np.tile([name not in WRITTEN for name, _ in one.names], shape.intervals))
    bounds = problem.bounds(phases, guess)
    held = _pose_places(shape, bounds)
    eased = _eased(assembled(one, shape, kept), soft, held)
    options = settings(False) | {"max_iter": _ITERATIONS}
    solver = ca.nlpsol("elastic", "ipopt", eased[0], {"print_time": False, **eased[1], "ipopt": options})
    rows = one.between(shape, problem.paces(phases, 1.0))
    slacks = np.zeros(2 * (len(soft) + len(held)))
    asked = bounds[0].packed[held]
    free = [bound.packed for bound in bounds]
    free[0][held], free[1][held] = -np.inf, np.inf
    answer = solver(
        x0=np.concatenate([guess.packed, slacks]),
        p=problem.numbers(1.0),
        lbx=np.concatenate([free[0], slacks]),
        ubx=np.concatenate([free[1], slacks + np.inf]),
        lbg=np.concatenate([rows[0].ravel(), asked]),
        ubg=np.concatenate([rows[1].ravel(), asked]),
    )
    # a motion that isn't the best one yet tells, too, what it misses
    if not (solver.stats()["success"] or solver.stats()["iterations"]["inf_pr"][-1] < _KEPT):
        return None
    z = np.array(answer["x"]).ravel()
    count = len(guess.packed)
    nodes = Nodes.unpacked(z[:count], shape)
    over, under = z[count:].reshape(2, -1)
    return nodes, _most_missed(problem, one, nodes, (soft, held), over - under), float((over + under).sum())


def _pose_places(shape: Layout, bounds: tuple[Nodes, Nodes]) -> IntArray:
    """Where poses are asked for among all variables, behind the start."""
    states, controls, lines = shape.counts
    width = states + controls + lines
    fixed = np.argwhere(bounds[0].states[1:, :3] == bounds[1].states[1:, :3]) + [1, 0]
    return fixed @ [width, 1]


def _eased(
    parts: tuple[dict[str, SX], dict[str, SX]], soft: IntArray, held: IntArray
) -> tuple[dict[str, SX], dict[str, SX]]:
    """A programme with slacks (over, then under) of soft rows, and of variables that are held, for rows behind them."""
    import casadi as ca

    problem, derivatives = parts
    z, p = problem["x"], problem["p"]
    size, rows, count = z.numel(), problem["g"].numel(), len(soft) + len(held)
    places = [*soft.tolist(), *range(rows, rows + len(held))]
    slack = ca.Sparsity.triplet(rows + len(held), count, places, list(range(count)))
    gives = ca.horzcat(-ca.DM(slack, 1.0), ca.DM(slack, 1.0))
    pick = ca.DM(ca.Sparsity.triplet(len(held), size, list(range(len(held))), held.tolist()), 1.0)
    every = ca.MX.sym("every", size + 2 * count)
    f, multipliers = ca.MX.sym("f"), ca.MX.sym("l", rows + len(held))
    own, slacks = every[:size], every[size:]
    values, jacobian = derivatives["jac_g"](own, p)
    cost, gradient = derivatives["grad_f"](own, p)
    held_rows = ca.vertcat(values, own[held.tolist()]) + ca.mtimes(gives, slacks)
    total = _TIME * cost + ca.sum1(slacks)
    bent = derivatives["hess_lag"](own, p, _TIME * f, multipliers[:rows])
    return {"x": every, "p": p, "f": total, "g": held_rows}, {
        "jac_g": ca.Function("jac_g", [every, p], [held_rows, ca.horzcat(ca.vertcat(jacobian, pick), gives)]),
        "grad_f": ca.Function(
            "grad_f", [every, p], [total, ca.vertcat(_TIME * gradient, ca.MX.ones(2 * count))]
        ),
        "hess_lag": ca.Function(
            "hess_lag", [every, p, f, multipliers], [ca.diagcat(bent, ca.MX(2 * count, 2 * count))]
        ),
    }


def _most_missed(
    problem: Problem, one: Formulas, nodes: Nodes, places: tuple[IntArray, IntArray], missed: FloatArray
) -> Missed | None:
    """The wish that is missed by most."""
    worst = int(np.abs(missed).argmax())
    if abs(missed[worst]) < _KEPT:
        return None
    soft, held = places
    if worst < len(soft):
        interval, row = divmod(int(soft[worst]), len(one.names))
        name, owner = one.names[row]
    else:
        width = sum(part.shape[1] for part in (nodes.states, nodes.controls, nodes.lines))
        interval, owner = divmod(int(held[worst - len(soft)]), width)
        name = "pose"
    pose = nodes.states[interval, :3] * [problem.size, problem.size, 1.0]
    return Missed(name, owner, float(missed[worst]), pose, interval)


def explain(problem: Problem, phases: tuple[int, ...], missed: Missed) -> str:
    """A sentence that says what gives way where."""
    where = f"at ({missed.pose[0]:.4g}, {missed.pose[1]:.4g})"
    amount, owner = abs(missed.amount), missed.owner
    if missed.name == "pose":
        stop = problem.keys[int(np.searchsorted(problem.stop_nodes(phases), missed.interval))]
        by = f"{math.degrees(amount):.3g}°" if owner == 2 else f"{amount * problem.size:.3g} m"
        return f"the robot comes to {stop} only within {by}, {where}"
    if missed.name == "keep_out":
        place = problem.obstacles[owner].place
        return f"the robot doesn't pass keep_out[{place}] {where}: it would be {amount * problem.size:.3g} m inside"
    if missed.name in LIMITS:
        return _base_told(problem, phases, missed, where)
    wheel = problem.drive.names[owner]
    if missed.name == "steering range":
        return f"{wheel} would leave its steering range {where}"
    share = math.sqrt(1 + amount) if missed.name == "grip" else 1 + amount
    assert missed.name in (*RATES, "grip")
    return f"the {missed.name} of {wheel} would be {share:.4g} times what it may be {where}"


def _base_told(problem: Problem, phases: tuple[int, ...], missed: Missed, where: str) -> str:
    """The same of the base's own limits, and of speeds at poses on the way."""
    nodes = problem.stop_nodes(phases)
    place = LIMITS.index(missed.name)
    unit = float(problem.units[place])
    if missed.amount < 0:  # only speeds at poses are asked for at least
        stop = int(np.flatnonzero(nodes == missed.interval)[0])
        speed = problem.stops[stop].speed or 0.0
        reached = math.sqrt(max((speed / unit) ** 2 + missed.amount, 0.0)) * unit
        return f"{problem.keys[stop]} would be passed at {reached:.4g} m/s, not at {speed:.4g} m/s"
    leg = int(np.searchsorted(nodes, missed.interval, "right")) - 1
    most = getattr(problem.stops[leg].leg, missed.name)
    share = math.sqrt(1 + missed.amount * (unit / most) ** 2)
    way = f"from {problem.keys[leg]} to {problem.keys[leg + 1]}"
    return f"the base's {missed.name} {way} would be {share:.4g} times what its zone allows, {where}"

"""The planner's times against a second formulation: collocation with CasADi and IPOPT from several starts.

Each module's angle is a triple integrator and its speed a double one, inputs constant on intervals; modules agree with
one rigid motion at the nodes only, so the collocation is freer than any motion without slip.
"""

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

import trundle
from trundle.motion.drive.drive import Limits
from trundle.motion.planning.course_pieces import AlongCourse
from trundle.motion.planning.courses import fit_speeds
from trundle.motion.planning.planner import plan
from trundle.motion.planning.proofs import least_time
from trundle.motion.planning.search import through_rest
from trundle.motion.planning.ways import laid, ways

LIMITS = Limits(2, 10, 75, 1, 5, 10)
NODES = 30


@lru_cache
def collocation():
    """A solver for four modules: parameters are the states at both ends (4, 2 × 2) and A."""
    m, n = 4, NODES
    x, xi, u, time = (
        ca.SX.sym("x", 5 * m, n + 1),
        ca.SX.sym("xi", 3, n + 1),
        ca.SX.sym("u", 2 * m, n),
        ca.SX.sym("T"),
    )
    ends, matrix = ca.SX.sym("ends", 2 * m, 2), ca.SX.sym("A", 2 * m, 3)
    h = time / n
    rows = []
    for k in range(n):
        a, da, dda, s, ds = (x[i * m : (i + 1) * m, k] for i in range(5))
        jerk, bend = u[:m, k], u[m:, k]
        rows.append(
            x[:, k + 1]
            - ca.vertcat(
                a + h * da + h**2 / 2 * dda + h**3 / 6 * jerk,
                da + h * dda + h**2 / 2 * jerk,
                dda + h * jerk,
                s + h * ds + h**2 / 2 * bend,
                ds + h * bend,
            )
        )
    for k in range(1, n):  # at the ends angles and speeds are given, and agree
        a, s = x[:m, k], x[3 * m : 4 * m, k]
        rolled = ca.vertcat(*[ca.vertcat(s[i] * ca.cos(a[i]), s[i] * ca.sin(a[i])) for i in range(m)])
        rows.append(matrix @ xi[:, k] - rolled)
    for k, side in ((0, 0), (n, 1)):
        rows += [
            x[:m, k] - ends[:m, side],
            x[3 * m : 4 * m, k] - ends[m:, side],
            x[m : 3 * m, k],
            x[4 * m :, k],
        ]
    variables = ca.vertcat(ca.vec(x), ca.vec(xi), ca.vec(u), time)
    problem = {
        "x": variables,
        "f": time,
        "g": ca.vertcat(*rows),
        "p": ca.vertcat(ca.vec(ends), ca.vec(matrix)),
    }
    ipopt = {"print_level": 0, "sb": "yes", "max_iter": 150, "tol": 1e-6, "mu_strategy": "adaptive"}
    ipopt |= {
        "warm_start_init_point": "yes",
        "bound_push": 1e-6,
        "warm_start_bound_push": 1e-6,
        "mu_init": 1e-3,
    }
    options = {"print_time": False, "ipopt": ipopt}
    return ca.nlpsol("least_time", "ipopt", problem, options)


def limits_of_variables():
    m, n = 4, NODES
    state = np.repeat([np.inf, 2.0, 10.0, 1.0, 5.0], m)
    top = np.concatenate(
        [
            np.tile(state, n + 1),
            np.full(3 * (n + 1), np.inf),
            np.tile(np.repeat([75.0, 10.0], m), n),
            [np.inf],
        ]
    )
    low = -top
    low[-1] = 1e-3
    return low, top


def collocated(matrix, pieces):
    """The time that IPOPT finds from a motion on, in its class of flips; inf where it meets no end."""
    durations = np.array([piece.duration for piece in pieces])
    begins = np.concatenate([[0], np.cumsum(durations)])
    times = np.linspace(0, begins[-1], NODES + 1)
    place = np.clip(np.searchsorted(begins, times, "right") - 1, 0, len(pieces) - 1)
    samples = [
        pieces[i].samples(np.array([min(time - begins[i], durations[i])]))
        for i, time in zip(place, times, strict=True)
    ]
    names = ("angle", "steering_rate", "steering_acceleration", "drive_speed", "drive_acceleration")
    states = np.array([np.concatenate([getattr(each, name)[0] for name in names]) for each in samples])
    inputs = np.array([np.concatenate([each.steering_jerk[0], each.drive_jerk[0]]) for each in samples[:-1]])
    twists = np.array([each.twist[0] for each in samples])
    guess = np.concatenate([states.ravel(), twists.ravel(), inputs.ravel(), [begins[-1]]])
    ends = np.concatenate([states[k][[*range(4), *range(12, 16)]] for k in (0, -1)])
    low, top = limits_of_variables()
    solver = collocation()
    found = solver(x0=guess, lbx=low, ubx=top, lbg=0, ubg=0, p=np.concatenate([ends, matrix.ravel("F")]))
    missed = float(
        np.abs(found["g"].full()).max()
    )  # what meets the constraints counts, whether it is the best or not
    return float(found["f"].full().item()) if missed <= 1e-7 else np.inf


def random_twist(matrix, rng):
    while True:
        twist = rng.uniform(-1, 1, 3) * [1, 1, 1.5]
        if np.hypot(*(matrix @ twist).reshape(-1, 2).T).max() <= 1:
            return twist


def unpolished(drive, start, end, angles, count):
    """Courses of the ways that seem fastest, one of each kind."""
    kinds = {}
    for way in ways(drive, start, end):
        kinds.setdefault((way.kind, way.sign, way.crossing[:1]), way)
    for way in list(kinds.values())[:count]:
        controls, crossing = laid(drive, way)
        sizes = [np.linalg.norm(each) for each in (start, end, controls[0], controls[-1])]
        ends = np.array([[sizes[0] / sizes[2], way.sign * sizes[1] / sizes[3]]])
        r, time = fit_speeds(drive, controls[None], [crossing], ends, np.ones(1))
        yield AlongCourse(drive, controls, crossing, r[0], max(2.0, float(time[0])), angles)


@pytest.mark.campaign
def test_no_collocation_is_faster_than_a_module_alone_and_plans_are_near(campaign):
    square = trundle.kinematics(trundle.catalog.swerve())
    matrix = square.matrix
    drive = square.drive.limited(LIMITS)
    gaps, gains, converged = [], [], 0
    for rng in campaign(200):
        start, end = random_twist(matrix, rng), random_twist(matrix, rng)
        found = plan(square, end, start=start, limits=LIMITS)
        angles = found.samples([0.0]).angle[0]
        starts = [found.pieces, through_rest(drive, start, end, angles)]
        starts += [(each,) for each in unpolished(drive, start, end, angles, count=3)]
        best = min(collocated(matrix, each) for each in starts)
        converged += np.isfinite(best)
        alone = least_time(drive, start, end, angles)
        assert alone <= best * (1 + 1e-6)
        gaps.append(1 - alone / found.duration)
        gains.append(1 - min(best, found.duration) / found.duration)
    print(f"{converged} of {len(gaps)} converged; median gap {np.median(gaps):.3f}")
    print(f"collocation, free between its nodes, saves {np.median(gains):.3f} in the median")
    assert converged >= 0.5 * len(gaps)
    assert np.median(gaps) <= 0.25 or len(gaps) < 20

"""The three-segment limb of shared/reference/limb.md: closed forms exact in symbols, its table in numbers."""

from functools import partial

import numpy as np
import pytest
import sympy as sp
from sympy import Rational as Q
from sympy.core.cache import clear_cache
from sympy.physics.vector import dynamicsymbols

import trundle
from work import calls

from .limb import make_limb

Z = (0, 0, 1)
t = sp.Symbol("t")
LENGTHS = (Q(8, 10), Q(6, 10), Q(4, 10))
MASSES = (Q(7, 10), Q(5, 10), Q(3, 10))
# Times, and F_x, F_y, M_z at P_2 in C, P_1 in B, P_0 in A.
TABLE = {
    0.0: ((0, -4.8, 0), (0, -6.55, 0), (0, -6.83, 0)),
    0.3: (
        (-1.743626751, -3.472491060, 0.348725350),
        (2.378823730, -4.563546592, -1.146325985),
        (4.540100181, -2.703272618, -4.778406129),
    ),
    1.0: (
        (1.293079762, -2.111538203, -0.258615952),
        (-2.806949689, -0.781953779, 1.316438170),
        (1.879131793, -2.506944538, -0.186867264),
    ),
}


def s(k):
    return sp.sin(k * t)


def c(k):
    return sp.cos(k * t)


def exact(*numbers):
    """Decimals as fractions, so that equal is equal."""
    return [sp.nsimplify(number, rational=True) for number in numbers]


def same(found, expected):
    return all(
        sp.expand(a - sp.nsimplify(b, rational=True)) == 0 for a, b in zip(found, expected, strict=True)
    )


@pytest.fixture(scope="module")
def limb():
    return make_limb([(Z, t), (Z, 2 * t), (Z, 4 * t)], LENGTHS, MASSES)


@pytest.fixture(scope="module")
def joint_wrenches(limb):
    return limb.joint_wrenches()


def test_joint_wrenches_are_the_closed_forms(joint_wrenches):
    expected = [
        (
            2.97 * s(2) + 2.94 * s(6),
            -2.97 * c(2) - 2.94 * c(6) - 0.92,
            -2.112 * s(2) - 1.44 * s(4) - 2.304 * s(6),
        ),
        (
            -0.64 * s(2) + 2.94 * s(4),
            -0.64 * c(2) - 2.94 * c(4) - 2.97,
            0.264 * s(2) - 1.44 * s(4) + 0.048 * s(6),
        ),
        (-1.62 * s(4) - 0.24 * s(6), -1.62 * c(4) - 0.24 * c(6) - 2.94, 0.324 * s(4) + 0.048 * s(6)),
    ]
    for wrench, (fx, fy, mz) in zip(joint_wrenches, expected, strict=True):
        found = wrench.expanded()
        assert same((*found.force, *found.moment), (fx, fy, 0, 0, 0, mz))


def test_joint_wrenches_are_the_table(joint_wrenches):
    for at, rows in TABLE.items():
        for wrench, row in zip(reversed(joint_wrenches), rows, strict=True):
            found = [float(x.subs(t, at)) for x in (wrench.force[0], wrench.force[1], wrench.moment[2])]
            assert found == pytest.approx(row, abs=5e-10)


def test_the_same_in_numbers_over_time(joint_wrenches, rng):
    times = np.sort(rng.uniform(0, 3, 50))
    turns = [(Z, k * times, k + 0 * times, 0 * times) for k in (1, 2, 4)]
    numbers = make_limb(turns, [float(x) for x in LENGTHS], [float(x) for x in MASSES]).joint_wrenches()
    for found, symbols in zip(numbers, joint_wrenches, strict=True):
        for mine, its in ((found.force, symbols.force), (found.moment, symbols.moment)):
            expected = [np.broadcast_to(sp.lambdify(t, x)(times), times.shape) for x in its]
            assert np.abs(mine - np.stack(expected, axis=-1)).max() < 1e-12


def test_dynamicsymbols_are_functions_of_time(joint_wrenches):
    angles = dynamicsymbols("theta:3")
    general = make_limb([(Z, angle) for angle in angles], LENGTHS, MASSES).joint_wrenches()
    motion = dict(zip(angles, (t, 2 * t, 4 * t), strict=True))
    for wrench, expected in zip(general, joint_wrenches, strict=True):
        found = wrench.map(lambda x: sp.sympify(x).subs(motion).doit()).expanded()
        assert same(found.force, expected.expanded().force)
        assert same(found.moment, expected.expanded().moment)


def test_what_an_observer_in_b_sees_of_segment_2(limb, joint_wrenches):
    found = trundle.Breakdown.of(
        limb.inertias[2], {"joint": joint_wrenches[2]}, observer=limb.frames[1], origin=limb.joints[2]
    ).at(limb.joints[2])
    expected = {
        "seen": (0.96 * s(4), -0.96 * c(4), 0),
        "d_alembert": (0.24 * s(2), 0.24 * c(2) + 1.62, -0.324 * s(4) - 0.048 * s(6)),
        "euler": (0, 0, 0),
        "centrifugal": (-0.54 * s(4), 0.54 * c(4), 0),
        "coriolis": (-1.44 * s(4), 1.44 * c(4), 0),
    }
    for name, (fx, fy, mz) in expected.items():
        term = found[name].expanded()
        assert same((*map(sp.sympify, (*term.force, *term.moment)),), exact(fx, fy, 0, 0, 0, mz)), name
    assert all(
        sp.sympify(x) == 0 for x in (*found.residual.expanded().force, *found.residual.expanded().moment)
    )


def test_what_an_observer_in_the_world_sees_is_all_there_is(limb, joint_wrenches):
    found = trundle.Breakdown.of(
        limb.inertias[2], {"joint": joint_wrenches[2]}, observer=limb.world, origin=limb.world.origin
    )
    assert all(
        x == 0 for name in ("d_alembert", "euler", "centrifugal", "coriolis") for x in found[name].force
    )
    assert all(
        sp.sympify(x) == 0 for x in (*found.residual.expanded().force, *found.residual.expanded().moment)
    )


@pytest.mark.slow
def test_twice_the_segments_take_twice_the_products():

    def wrenches(count):
        clear_cache()  # SymPy compares what it keeps of a chain with an equal one as trees, which never ends
        angles = dynamicsymbols(f"theta:{count}")
        limb = make_limb([(Z, angle) for angle in angles], [sp.Symbol("l")] * count, [sp.Symbol("m")] * count)
        limb.joint_wrenches()

    few, many = (calls(partial(wrenches, count))["times"] for count in (15, 30))
    assert 0 < many < 2.2 * few

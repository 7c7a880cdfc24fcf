"""Constraints by their rows, and how much slower motions run for them: closed forms, one batch beside one by one."""

from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.constraints.real_limits import of_pace, planned_with
from trundle.motion.constraints.slowdown import hold, slowdown
from trundle.motion.constraints.wheels import WheelLimits
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import shaped
from trundle.robot.constraint import Row

WHO = trundle.kinematics(catalog.limited_swerve())


def line(start, end, time=1.0, shape="scurve", who=WHO):
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    angles = who.drive.pointed((start if start.any() else end).tolist())[0]
    return TwistLine(who.drive, start, end - start, shaped(shape, 0.0, 1.0, time), angles)


def declared(**limits):
    return Constraints((WheelLimits(WHO.names, [trundle.Limits(**limits)] * len(WHO.names)),))


class Tipping:
    """h |a_x| ≤ g d of a load at the origin: a limit of a user's own."""

    def rows(self, at):
        twist, rate = at.samples.twist, at.samples.twist_rate
        along = rate[:, [0]] - twist[:, [2]] * twist[:, [1]]
        return [Row(["tipping"], (0.8 * along,), 9.81 * 0.2)]


def test_shares_of_rows():
    grip = Row(
        ["grip"],
        (np.array([[3.0], [0.0], [1.0]]), np.array([[4.0], [0.0], [0.0]])),
        np.array([[10.0], [0], [0]]),
    )
    assert grip.shares[:, 0].tolist() == [0.5, 0.0, np.inf]
    assert Row(["power"], (np.array([[-2.0]]),), 4.0, one_sided=True).shares == -0.5
    assert Row(["speed"], (np.array([[-2.0]]),), 4.0).shares == 0.5


def test_slower_by_the_order_of_what_is_limited():
    """On a straight line accelerations go with the pace, jerks with its square."""
    piece = line((0, 0, 0), (1, 0, 0), 0.5)
    shape = shaped("scurve", 0.0, 1.0, 0.5)
    a, j = (max(map(abs, shape.extremes(order))) for order in (1, 2))
    ((factor, name),) = slowdown([piece], declared(drive_acceleration=a / 3))
    assert factor == pytest.approx(3, rel=1e-7)
    assert name.startswith("drive_acceleration of")
    ((factor, name),) = slowdown([piece], declared(drive_jerk=j / 9))
    assert factor == pytest.approx(3, rel=1e-7)
    assert name.startswith("drive_jerk of")
    assert slowdown([piece], declared(drive_acceleration=a * 1.01)) == [(1.0, "")]
    assert slowdown([piece], Constraints(())) == [(1.0, "")]


def test_a_limit_of_ones_own_slows_and_what_hangs_on_the_twist_alone_has_no_pace():
    fast = max(map(abs, shaped("scurve", 0.0, 1.0, 0.5).extremes(1)))
    limits = Constraints((Tipping(),))
    ((factor, name),) = slowdown([line((0, 0, 0), (1.5, 0, 0), 0.5)], limits)
    assert (factor, name) == (pytest.approx(1.5 * fast * 0.8 / (9.81 * 0.2), rel=1e-7), "tipping")
    assert slowdown([line((0, 0, 0), (0, 2, 3), 0.5)], limits) == [(np.inf, "tipping")]


def test_a_batch_says_what_each_piece_says_alone_and_the_slower_pieces_keep_to_it():
    robot = catalog.swerve(
        motor="kraken_x60", gear_ratio=6.75, friction=1.1, center_height=0.2, battery=12.6, contact="slip"
    )
    who = trundle.kinematics(robot)
    constraints = of_pace(
        who.drive.limited(trundle.Limits(steering_rate=8, drive_jerk=60)), planned_with(who, 0.95)
    )
    rng = np.random.default_rng(17)
    pieces = [line(*rng.uniform(-1.5, 1.5, (2, 3)), 0.1, who=who) for _ in range(4)]
    found = slowdown(pieces, constraints)
    assert max(factor for factor, _ in found) > 2
    for piece, (factor, name) in zip(pieces, found, strict=True):
        ((alone, why),) = slowdown([piece], constraints)
        assert (alone, why) == (pytest.approx(factor, rel=1e-7), name)
        slower = piece.slower(factor)
        times = np.unique(
            np.concatenate([np.arange(0, slower.duration, 1e-3), np.nextafter(slower.breaks[1:], 0)])
        )
        taken = constraints.shares(slower.samples(times))
        assert 0.99 < max(share.max() for share in taken.values()) <= 1 + 1e-6


def test_a_slower_piece_is_the_same_twists_at_that_pace():
    piece = line((0.3, -0.2, 0.4), (1, 0.5, -0.7), 0.8)
    times = np.linspace(0, 0.8, 50)
    slower, paced = piece.slower(2.5).samples(2.5 * times), piece.samples(times).at_pace(np.full(50, 0.4))
    for name in ("twist", "twist_rate", "twist_jerk", "angle", *QUANTITIES):
        np.testing.assert_allclose(getattr(slower, name), getattr(paced, name), atol=1e-9)


def test_shares_of_twists_that_are_held():
    """|v| ≤ V of all wheels; what is below needs no less."""
    steady = line((2, 0, 0), (2, 0, 0)).samples(np.array([0.5]))
    limits = declared(drive_speed=0.5)
    ((share, name),) = hold(steady, limits, 1.0)
    assert share == pytest.approx(0.25, rel=1e-7)
    assert name.startswith("drive_speed of")
    assert hold(steady, limits, 0.5)[0][0] == pytest.approx(0.125, rel=1e-7)
    still = replace(steady, twist=steady.twist * 0.2, drive_speed=steady.drive_speed * 0.2)
    assert hold(still, limits, 1.0) == [(1.0, "")]

"""Limits of one's own in a robot's description: a pallet that must not tip, and a motor that must not get too hot."""

from collections.abc import Iterator
from math import sqrt
from typing import Literal

import trundle
from trundle.robot import Constraint, MotionState, Read, Row, default, within
from trundle.robot.values import Length, Plain


@trundle.register
class Tipping(Constraint):
    """h |a_x| ≤ g d_x and h |a_y| ≤ g d_y, a of the middle of the load's foot, at (x, 0) in the base's axes."""

    type: Literal["tipping"] = "tipping"
    ahead: Length = default(0.0, "Of the foot's middle ahead of the base's origin, x (m).")
    height: Length = default(0.8, "Of the load's centre above its foot, h (m).")
    foot: tuple[Length, Length] = default(("0.2 m", "0.2 m"), "From the foot's middle to its edges, d (m).")

    def rows(self, at: MotionState, read: Read) -> Iterator[Row]:
        """Its limits."""
        (v_x, v_y, omega), (dv_x, dv_y, domega) = at.twist, at.twist_rate
        x, h, (d_x, d_y) = read(self.ahead), read(self.height), map(read, self.foot)
        yield within("tipping forward", 9.81 * d_x, h * (dv_x - omega * v_y - omega**2 * x))
        yield within("tipping aside", 9.81 * d_y, h * (dv_y + omega * v_x + domega * x))


@trundle.register
class Heat(Constraint):
    """R i² R_th ≤ T − T_air: no current at which a winding would settle above its greatest temperature."""

    type: Literal["heat"] = "heat"
    resistance: Plain = default(3.0, "From windings to air, R_th (K/W).")
    rise: Plain = default(75.0, "Greatest temperature above the air, T − T_air (K).")

    def rows(self, at: MotionState, read: Read) -> Iterator[Row]:
        """Its limits."""
        for name, motor in at.motors.items():
            if motor.current is not None:  # it has a winding
                most = sqrt(read(self.rise) / (motor.resistance * read(self.resistance)))
                yield within(f"temperature of {name}", most, motor.current)


if __name__ == "__main__":
    robot = trundle.catalog.swerve(motor="kraken_x60", friction=1.1, center_height=0.2, battery=12.6)
    path = trundle.pose_path([(0, 0, 0), (2, 0.3, 0.5), (4, 0, -0.4)])
    for limits in ({}, {"pallet": {"type": "tipping", "ahead": "10 cm"}}, {"windings": Heat()}):
        driven = trundle.follow(path, robot.with_constraints(limits))
        print(f"{driven.motion.duration:.3f} s, bound by {driven.limit_usage.binding[0][0]}")

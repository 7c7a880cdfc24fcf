"""A bicycle that nobody steers: what keeps it upright is its speed."""

from __future__ import annotations

from trundle.catalog.entry import Data, MeasureLike, described, entry
from trundle.catalog.rover_parts import rod
from trundle.robot.description import Robot

# How fast it rolls as it comes (m/s), and how fast it begins to fall to its right (rad/s).
_SPEED, _PUSH = 5.0, 0.5


def _pushed(robot: Robot) -> Data:
    """It rolls, and is pushed sideways."""
    rates = {
        f"{name}.rate": round(_SPEED / robot.number(wheel.radius), 6) for name, wheel in robot.wheels.items()
    }
    return {"duration": 6.0, "step": 0.005, "initial": {"v_x": _SPEED, **rates, "omega_x": _PUSH}}


@entry(_pushed, terrain={"sinkage": 0.001})
def bicycle(
    *,
    wheelbase: MeasureLike = 1.02,
    trail: MeasureLike = 0.08,
    tilt: MeasureLike = "18 deg",
    contact: str = "linear",
    friction: MeasureLike = 1.0,
) -> Robot:
    """Whipple's bicycle with a rigid rider, hands off: two wheels, and a fork on a steering axis that leans back.

    The benchmark of Meijaard, Papadopoulos, Ruina & Schwab (2007), 94 kg: from 4.3 to 6.0 m/s it comes upright by
    itself. It has no motor; a run begins at its speed.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.bicycle(trail="5 cm").joints)
    ['steer', 'fork']
    """
    law: Data = {"contact": contact, "friction": friction}
    sizes: dict[str, MeasureLike] = {
        "wheelbase": wheelbase, "trail": trail, "tilt": tilt, "r_rear": 0.3, "r_front": 0.35,
    }  # fmt: skip
    # of the front hub, ahead of the steering axis; the joint is where the axis comes nearest to it
    sizes["offset"] = "r_front*sin(tilt) - trail*cos(tilt)"
    head = ["wheelbase - offset*cos(tilt)", 0, "r_front - r_rear - offset*sin(tilt)"]
    rider: Data = {"type": "box", "size": [0.25, 0.4, 0.8], "at": [0.3, 0, 0.8]}
    body: Data = {
        "mass": 85.0,
        "center_of_mass": [0.3, 0, "0.9 - r_rear"],
        "inertia": {"xx": 9.2, "yy": 11.0, "zz": 2.8, "xz": -2.4},
        "shapes": {"frame": rod(0.04, (0, 0), (0.85, 0.55), 0.0), "rider": rider},
    }
    fork: Data = {
        "mass": 4.0,
        "center_of_mass": [-0.12, 0, 0.35],
        "inertia": {"xx": 0.05892, "yy": 0.06, "zz": 0.00708, "xz": 0.00756},
        "shapes": {"fork": rod(0.03, (0, 0), (-0.2, 0.62), 0.0)},
    }
    rear, front = {"axle": 0.12, "diameter": 0.0603}, {"axle": 0.28, "diameter": 0.1405}
    return described(
        "bicycle",
        sizes,
        base="floating",
        body=body,
        joints={
            "steer": {"type": "revolute", "axis": [0, 0, 1], "at": head, "rpy": [0, "-tilt", 0]},
            # at the front hub, upright again
            "fork": {"type": "fixed", "parent": "steer", "at": ["offset", 0, 0], "rpy": [0, "tilt", 0], "body": fork},
        },
        wheels={
            "rear": {"radius": "r_rear", "mass": 2.0, "inertia": rear, **law},
            "front": {"parent": "fork", "radius": "r_front", "mass": 3.0, "inertia": front, **law},
        },
    )  # fmt: skip

"""A generic rocker-bogie: six wheels on rockers and bogies, so that all carry the same on uneven ground."""

from __future__ import annotations

import math

from trundle.catalog.entry import Data, MeasureLike, described, entry, keys_given
from trundle.catalog.rover_parts import CURVATURE, box_inertia, measured, motors_of, rate_control, rod, size
from trundle.robot import units
from trundle.robot.description import Robot

_GROUND: Data = {"ground": {"type": "plane"}, "step": {"type": "step", "height": 0.2, "at": [1.2, 0.0]}}


@entry(lambda robot: {"duration": 10.0, "step": 0.02}, terrain={"surfaces": _GROUND, "sinkage": 0.005})
def rocker_bogie(
    *,
    speed: MeasureLike = 0.3,
    curvature: MeasureLike = 0.0,
    radius: MeasureLike = 0.15,
    wheelbase: MeasureLike = 1.2,
    track: MeasureLike = 0.9,
    body_mass: MeasureLike = 50.0,
    wheel_mass: MeasureLike = 2.0,
    differential_stiffness: MeasureLike | None = None,
    contact: str = "linear",
    friction: MeasureLike = 1.0,
) -> Robot:
    """A rover on six wheels: a rocker a side carries the front wheel and a bogie, gears join the rockers.

    Wheels stand at d, 0 and -d, twice d the wheelbase. The bogie's pivot lies at -d/2 at the height of the axles, the
    centre of mass above the middle wheels: all carry the same.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.rocker_bogie().joints)
    ['rocker_left', 'bogie_left', 'rocker_right', 'bogie_right']
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    r, d, half = size("radius", radius), size("wheelbase", wheelbase) / 2, size("track", track) / 2
    mass, hull = measured("body_mass", body_mass, units.MASS), [d, round(2 * (half - r), 6), 2 * r]
    wheel: Data = {
        "radius": r, "mass": wheel_mass, "width": round(2 * r / 3, 6), **keys_given(contact=contact, friction=friction),
    }  # fmt: skip
    hinge: Data = {"type": "revolute", "axis": [0, 1, 0]}
    joints: dict[str, Data] = {}
    wheels: dict[str, Data] = {}
    controllers: dict[str, Data] = {}
    for side, y in (("left", half), ("right", -half)):
        rocker, bogie = f"rocker_{side}", f"bogie_{side}"
        # The rocker turns in the body above the middle wheel, a diameter above the axles.
        beside = -math.copysign(r / 2, y)  # rods lie on the inner side of the wheels
        rods = {
            "front": rod(r / 5, (0, 0), (d, -2 * r), beside),
            "rear": rod(r / 5, (0, 0), (-d / 2, -2 * r), beside),
        }
        bar = {"bar": rod(r / 5, (-d / 2, 0), (d / 2, 0), beside)}
        joints[rocker] = {**hinge, "at": [0, y, 0], "body": {"shapes": rods}}
        joints[bogie] = {**hinge, "at": [-d / 2, 0, -2 * r], "parent": rocker, "body": {"shapes": bar}}
        wheels[f"front_{side}"] = {"parent": rocker, "at": [d, 0, -2 * r], **wheel}
        wheels[f"middle_{side}"] = {"parent": bogie, "at": [d / 2, 0, 0], **wheel}
        wheels[f"rear_{side}"] = {"parent": bogie, "at": [-d / 2, 0, 0], **wheel}
        for end in ("front", "middle", "rear"):
            controllers[f"{end}_{side}_rate"] = rate_control(f"{end}_{side}", v * (1 - y * k) / r)
    return described(
        "rocker_bogie",
        {},
        base="floating",
        body={
            "mass": mass,
            "inertia": box_inertia(mass, *hull),
            "shapes": {"hull": {"type": "box", "size": hull}},
        },
        joints=joints,
        couplings={"differential": _differential(differential_stiffness)},
        wheels=wheels,
        motors=motors_of(*wheels),
        controllers=controllers,
    )


def _differential(stiffness: MeasureLike | None) -> Data:
    """What makes the right rocker turn as far back as the left one turns forward: gears, or ones that give way."""
    joined: Data = {"joint": "rocker_left", "follows": {"rocker_right": -1.0}}
    if stiffness is None:
        return {"type": "gear", **joined}
    damping = measured("differential_stiffness", stiffness, units.ANGULAR_STIFFNESS) / 20  # as Rocky 7's
    return {"type": "elastic", "stiffness": stiffness, "damping": damping, **joined}

"""Vehicles for rough ground: floating bases, joints that give way, a motor at every wheel or track.

With the numbers of N. Seegmiller's library of vehicle models (2014); Zoe, Rocky 7 and Talon reproduce its trajectories.
Their motors hold the rates that lead them at a speed along an arc.
"""

from __future__ import annotations

import math

from trundle.catalog.entry import Data, MeasureLike, described, entry
from trundle.catalog.rover_parts import CURVATURE, box_inertia, law_of, measured, motors_of, rate_control
from trundle.robot import units
from trundle.robot.description import Robot

_HILLS: Data = {"type": "waves", "amplitude": 0.1, "length": 4.0, "across": 4.0}
_RIPPLES: Data = {"type": "waves", "amplitude": 0.05, "length": 2.0, "across": 2.0}


@entry(lambda robot: {"duration": 10.0, "step": 0.04}, terrain={"surfaces": {"hills": _HILLS}})
def zoe(*, speed: MeasureLike = 0.5, curvature: MeasureLike = 0.2, contact: str | None = None) -> Robot:
    """Zoe, a rover of 198 kg: two axles that steer by their wheels' rates alone, the rear one free to roll.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.zoe().joints)
    ['steer_front', 'roll_rear', 'steer_rear']
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    length, track, radius, mass = 1.91, 1.64, 0.325, 0.9 * 198
    wheel: Data = {"radius": radius, "mass": 0.1 * 198 / 4, "width": 0.07, **law_of(contact)}
    hinge: Data = {"type": "revolute", "axis": [0, 0, 1]}
    wheels: dict[str, Data] = {}
    controllers: dict[str, Data] = {}
    for axle, way in (("front", 1), ("rear", -1)):
        steer = way * math.atan(length / 2 * k)
        shares = {f"{axle}_left_motor.rate": -1 / radius, f"{axle}_right_motor.rate": 1 / radius}
        controllers[f"steer_{axle}_control"] = {
            "type": "pid", "reads": f"steer_{axle}.angle", "drives": shares, "target": steer,
            "proportional": 1.0, "lowest": -1.5, "highest": 1.5,
        }  # fmt: skip
        for side, y in (("left", 1), ("right", -1)):
            name = f"{axle}_{side}"
            wheels[name] = {"parent": f"steer_{axle}", "at": [0, y * track / 2, -0.119], **wheel}
            controllers[f"{name}_rate"] = rate_control(
                name, (v / math.cos(steer) - y * track / 2 * v * k) / radius
            )
    return described(
        "zoe",
        {},
        base="floating",
        body={"mass": mass, "center_of_mass": [0, 0, 0.25], "inertia": box_inertia(mass, 1.91, 1.0, 0.5)},
        joints={
            "steer_front": {**hinge, "at": [length / 2, 0, 0]},
            "roll_rear": {"type": "revolute", "axis": [1, 0, 0], "at": [-length / 2, 0, 0]},
            "steer_rear": {**hinge, "parent": "roll_rear"},
        },
        wheels=wheels,
        motors=motors_of(*wheels),
        controllers=controllers,
    )


# Rocky 7's wheel radius, half its track (m), and how steep the rockers' rear arms are (rad).
_ROCKY_RADIUS, _ROCKY_HALF, _ROCKY_SLANT = 0.065, 0.2, math.radians(49)


def _rocky_control(side: str, y: float, v: float, k: float) -> dict[str, Data]:
    """What leads a side of Rocky 7, at y (m), at a speed (m/s) along an arc of a curvature (1/m)."""
    ahead = 0.288 + 0.16 * math.sin(_ROCKY_SLANT)  # of the steered wheel, from the bogie
    angle = math.atan(ahead * k / (1 - y * k))
    straight = v * (1 - k * y)
    turned = straight * math.cos(angle) + v * k * ahead * math.sin(angle)
    steer: Data = {
        "type": "pid", "reads": f"steer_{side}.angle", "drives": f"steer_{side}_motor.rate", "target": angle,
        "proportional": 5.0,
    }  # fmt: skip
    rates = {"front": turned, "middle": straight, "rear": straight}
    return {
        f"steer_{side}_control": steer,
        **{
            f"{end}_{side}_rate": rate_control(f"{end}_{side}", rate / _ROCKY_RADIUS)
            for end, rate in rates.items()
        },
    }


@entry(lambda robot: {"duration": 10.0, "step": 0.04}, terrain={"surfaces": {"ripples": _RIPPLES}})
def rocky7(*, speed: MeasureLike = 0.5, curvature: MeasureLike = 1 / 3, contact: str | None = None) -> Robot:
    """Rocky 7, a rover of 14 kg: rockers joined by a differential, bogies behind, steered wheels in front.

    Examples
    --------
    >>> import trundle
    >>> len(trundle.catalog.rocky7().wheels)
    6
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    wheel: Data = {"radius": _ROCKY_RADIUS, "mass": 0.5, "width": 0.08, **law_of(contact)}
    joints: dict[str, Data] = {}
    wheels: dict[str, Data] = {}
    controllers: dict[str, Data] = {}
    for side, way in (("left", 1), ("right", -1)):
        rocker, steer, bogie = (f"{part}_{side}" for part in ("rocker", "steer", "bogie"))
        behind, below = -0.16 * math.sin(_ROCKY_SLANT), -0.16 * math.cos(_ROCKY_SLANT)
        pitching: Data = {"type": "revolute", "axis": [0, 1, 0]}
        joints |= {
            rocker: {**pitching, "at": [0.12075, way * _ROCKY_HALF, 0.105]},
            steer: {"type": "revolute", "axis": [0, 0, 1], "at": [0.288, 0, 0], "parent": rocker},
            bogie: {**pitching, "at": [behind, 0, below], "parent": rocker},
        }
        wheels |= {
            f"front_{side}": {"parent": steer, "at": [0, 0, -0.125], **wheel},
            f"middle_{side}": {"parent": bogie, "at": [0.069, 0, -0.02], **wheel},
            f"rear_{side}": {"parent": bogie, "at": [-0.069, 0, -0.02], **wheel},
        }
        controllers |= _rocky_control(side, way * _ROCKY_HALF, v, k)
    differential: Data = {"type": "elastic", "joint": "rocker_left", "follows": {"rocker_right": -1.0}}
    return described(
        "rocky7",
        {},
        base="floating",
        body={
            "mass": 11.0,
            "center_of_mass": [0.18, 0, 0.155],
            "inertia": box_inertia(11.0, 0.40, 0.26, 0.16),
        },
        joints=joints,
        couplings={"differential": {**differential, "stiffness": 2250.0, "damping": 112.5}},
        wheels=wheels,
        motors=motors_of(*wheels, "steer_left", "steer_right"),
        controllers=controllers,
    )


@entry(lambda robot: {"duration": 10.0, "step": 0.04}, terrain={"sinkage": 0.01})
def talon(*, speed: MeasureLike = 0.5, curvature: MeasureLike = 0.5, contact: str | None = None) -> Robot:
    """Talon, a robot of 52 kg on two tracks, which turns by letting them slip.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.talon().wheels["left"].type
    'track'
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    mass, half, radius, length = 115 * 0.45359237, 0.20955, 0.127, 0.6096
    # Of a sprocket the model knows the inertia about its axle alone: what a thin disc has about its diameters is
    # taken from the body, which turns with it.
    axle = 0.05 * mass * radius**2 / 2
    body = {
        axes: moment - (0 if axes == "yy" else axle)
        for axes, moment in box_inertia(mass, 0.6096, 0.2667, 0.1905).items()
    }
    track: Data = {
        "type": "track", "radius": radius, "length": length, "mass": 1e-6,
        "inertia": {"axle": axle, "diameter": axle / 2}, **law_of(contact),
    }  # fmt: skip
    return described(
        "talon",
        {},
        base="floating",
        body={"mass": mass, "inertia": body},
        wheels={
            name: {**track, "at": [-length / 2, y * half, 0]} for name, y in (("left", 1), ("right", -1))
        },
        motors=motors_of("left", "right"),
        controllers={
            f"{name}_rate": rate_control(name, v * (1 - y * half * k) / radius)
            for name, y in (("left", 1), ("right", -1))
        },
    )


@entry(lambda robot: {"duration": 10.0, "step": 0.04}, terrain={"surfaces": {"hills": _HILLS}})
def landtamer(*, speed: MeasureLike = 0.5, curvature: MeasureLike = 0.2, contact: str | None = None) -> Robot:
    """LandTamer, a vehicle of 1463 kg on six wheels that don't steer: it turns by letting them slip.

    Examples
    --------
    >>> import trundle
    >>> len(trundle.catalog.landtamer().joints)
    0
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    mass, long, half, radius = 3225 * 0.45359237, 1.0668, 0.81915, 0.4191
    height = 0.82804
    wheel: Data = {"radius": radius, "mass": 0.05 * mass / 6, "width": 0.254, **law_of(contact)}
    places = [
        (f"{end}_{side}", x, y)
        for end, x in (("front", long), ("middle", 0.0), ("rear", -long))
        for side, y in (("left", half), ("right", -half))
    ]
    return described(
        "landtamer",
        {},
        base="floating",
        body={
            "mass": 0.95 * mass,
            "center_of_mass": [0, 0, height / 2],
            "inertia": box_inertia(0.95 * mass, 2 * long, 2 * half, height),
        },
        wheels={name: {"at": [x, y, 0], **wheel} for name, x, y in places},
        motors=motors_of(*(name for name, _, _ in places)),
        controllers={f"{name}_rate": rate_control(name, v * (1 - y * k) / radius) for name, _, y in places},
    )


@entry(lambda robot: {"duration": 10.0, "step": 0.04}, terrain={"surfaces": {"hills": _HILLS}})
def recbot(*, speed: MeasureLike = 0.5, curvature: MeasureLike = 0.125, contact: str | None = None) -> Robot:
    """RecBot, a utility vehicle of 667 kg that steers in front, as a car does, and is driven behind.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.recbot().joints["steer_left"].type
    'revolute'
    """
    v, k = measured("speed", speed, units.SPEED), measured("curvature", curvature, CURVATURE)
    mass, long, ahead, behind, height = 667.0, 1.77, 0.635, 0.6095, 0.8252
    wheel: Data = {"mass": 0.05 * mass / 4, **law_of(contact)}
    joints: dict[str, Data] = {}
    wheels: dict[str, Data] = {}
    controllers: dict[str, Data] = {}
    for side, way in (("left", 1), ("right", -1)):
        steer, front, rear = f"steer_{side}", f"front_{side}", f"rear_{side}"
        joints[steer] = {"type": "revolute", "axis": [0, 0, 1], "at": [long, way * ahead, 0]}
        wheels[front] = {"parent": steer, "at": [0, 0, -0.0754], "radius": 0.2794, "width": 0.2413, **wheel}
        wheels[rear] = {"at": [0, way * behind, 0], "radius": 0.3048, "width": 0.3048, **wheel}
        angle = math.atan(long * k / (1 - way * ahead * k))
        controllers[f"{steer}_control"] = {
            "type": "pid", "reads": f"{steer}.angle", "drives": f"{steer}_motor.rate", "target": angle,
            "proportional": 5.0,
        }  # fmt: skip
        controllers[f"{rear}_rate"] = rate_control(rear, v * (1 - way * behind * k) / 0.3048)
    return described(
        "recbot",
        {},
        base="floating",
        body={
            "mass": 0.95 * mass,
            "center_of_mass": [long / 2, 0, height / 2],
            "inertia": box_inertia(0.95 * mass, long, 2 * behind, height),
            # It would hide in its wheels if it were as wide as its track.
            "shapes": {
                "hull": {"type": "box", "size": [long, behind, height / 2], "at": [long / 2, 0, height / 2]}
            },
        },
        joints=joints,
        wheels=wheels,
        motors=motors_of("steer_left", "steer_right", "rear_left", "rear_right"),
        controllers=controllers,
    )

"""The catalogue's robots that steer their wheels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Unpack

from trundle.catalog.entry import (
    Data,
    MeasureLike,
    check_count,
    described,
    entry,
    keys_given,
    run,
    scaled,
    volts,
    wheel_of,
)
from trundle.catalog.wheeled_parts import (
    AXLE,
    CORNERS,
    Power,
    SteeredChassis,
    about_all,
    batteries,
    chassis,
    driving,
    steered,
    steering,
    weighed,
)
from trundle.errors import InputError
from trundle.robot.component import plain
from trundle.robot.description import Robot

# A wheel that is driven and steered.
_MODULE: dict[str, object] = {
    "type": "steered",
    "radius": "r",
    "width": 0.04,
    "mass": 1.0,
    "fork": {"mass": 1.5, "inertia": about_all(0.01)},
}
# What its parts weigh (kg).
_MODULE_MASSES: list[MeasureLike] = [1.0, 1.5]
# What turns with a steered wheel of a car.
_FORK: Data = {"mass": 1.0, "inertia": about_all(0.01)}


def _swerve_run(robot: Robot) -> Data:
    targets = dict.fromkeys(robot.wheels, 60.0)
    if len(robot.wheels) == 2:  # wheels that are parallel and abreast would leave the turn undetermined
        targets = {"front": 30.0, "rear": -20.0}
    inputs = volts(**{f"{name}_drive": 8.0 for name in robot.wheels})
    return run(8.0, inputs | steered(robot, {f"{name}_steer": angle for name, angle in targets.items()}))


@entry(_swerve_run)
def swerve(
    *,
    modules: int = 4,
    radius: MeasureLike = 0.05,
    wheelbase: MeasureLike = 1.0,
    track: MeasureLike = 1.0,
    body_mass: MeasureLike = 40.0,
    contact: str | None = None,
    motor: str | None = None,
    gear_ratio: MeasureLike = 8.0,
    friction: MeasureLike | None = None,
    **measures: Unpack[SteeredChassis],
) -> Robot:
    """Modules that each drive and steer a wheel. Two stand fore and aft, four at the corners, others on a circle.

    The wheels slip by default: more than two ideal ones would lock it. Two modules are ideal by default.

    Examples
    --------
    >>> import trundle
    >>> len(trundle.catalog.swerve(modules=3).wheels)
    3
    """
    check_count("modules", modules, 2, 32)
    places = _module_places(modules)
    sizes = [(wheelbase, 1.0), (track, 1.0)] if modules == 4 else [(wheelbase, 1.0)]
    wheel = _MODULE | keys_given(friction=friction)
    wheel |= {"contact": contact or ("ideal" if modules == 2 else "slip")}
    rest = _MODULE_MASSES * modules
    return weighed(
        measures,
        "swerve",
        {"r": radius, "wheelbase": wheelbase} | ({"track": track} if modules == 4 else {}),
        body=chassis(body_mass, 40.0, 5.0, [0, 0, 0.1], *sizes, measures=measures, rest=rest),
        wheels={name: {**wheel, "at": at} for name, at in places.items()},
        motors=_module_motors(places, gear_ratio, motor, measures),
        **batteries(measures),
    )


@entry(_swerve_run)
def limited_swerve(
    *,
    radius: MeasureLike = 0.05,
    wheelbase: MeasureLike = 1.0,
    track: MeasureLike = 1.0,
    body_mass: MeasureLike = 40.0,
    motor: str | None = None,
    gear_ratio: MeasureLike = 8.0,
    steering_rate: MeasureLike = 2.0,
    steering_acceleration: MeasureLike = 10.0,
    steering_jerk: MeasureLike = 75.0,
    drive_speed: MeasureLike = 1.0,
    drive_acceleration: MeasureLike = 5.0,
    drive_jerk: MeasureLike = 10.0,
    **measures: Unpack[SteeredChassis],
) -> Robot:
    """Four steered modules with limits of steering and drive, for plans of motions: left_front, left_rear and so on.

    Measures and limits are those of the simulator basic-swerve-sim (van der Velde).

    Examples
    --------
    >>> import trundle
    >>> trundle.kinematics(trundle.catalog.limited_swerve()).names
    ('left_front', 'left_rear', 'right_rear', 'right_front')
    """
    limits = {"steering_rate": steering_rate, "steering_acceleration": steering_acceleration}
    limits |= {"steering_jerk": steering_jerk, "drive_speed": drive_speed}
    limits |= {"drive_acceleration": drive_acceleration, "drive_jerk": drive_jerk}
    corners = [("left", "front"), ("left", "rear"), ("right", "rear"), ("right", "front")]
    places = {f"{side}_{end}": CORNERS[f"{end}_{side}"] for side, end in corners}
    wheel = {**_MODULE, "contact": "slip", "limits": limits}
    sizes = [(wheelbase, 1.0), (track, 1.0)]
    body = chassis(body_mass, 40.0, 5.0, [0, 0, 0.1], *sizes, measures=measures, rest=_MODULE_MASSES * 4)
    return weighed(
        measures,
        "limited_swerve",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=body,
        wheels={name: {**wheel, "at": at} for name, at in places.items()},
        motors=_module_motors(places, gear_ratio, motor, measures),
        **batteries(measures),
    )


def _module_motors(
    names: Collection[str], gear_ratio: MeasureLike, motor: str | None, power: SteeredChassis
) -> dict[str, Data]:
    """Of every module a motor that drives and one that steers."""
    motors = {f"{name}_drive": driving(name, gear_ratio, motor, power) for name in names}
    return motors | {f"{name}_steer": steering(f"{name}.steering", power) for name in names}


def _module_places(modules: int) -> dict[str, list[MeasureLike]]:
    if modules == 2:
        return {"front": ["wheelbase/2", 0, 0], "rear": ["-wheelbase/2", 0, 0]}
    if modules == 4:
        return {name: CORNERS[name] for name in ("front_left", "rear_left", "rear_right", "front_right")}
    turn = {f"module_{place + 1}": f"2*pi*{place}/{modules}" for place in range(modules)}
    return {
        name: [f"wheelbase/2*cos({angle})", f"wheelbase/2*sin({angle})", 0] for name, angle in turn.items()
    }


@entry(
    lambda robot: run(15.0, volts(left_motor=12, right_motor=12) | steered(robot, {"steering_servo": 20.0}))
)
def ackermann(
    *,
    radius: MeasureLike = 0.15,
    wheelbase: MeasureLike = 1.0,
    track: MeasureLike = 0.7,
    body_mass: MeasureLike = 80.0,
    wheel_mass: MeasureLike = 2.0,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    **measures: Unpack[SteeredChassis],
) -> Robot:
    """A car: rear wheels driven by a motor each, front wheels steered so that all axles meet in one point.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.ackermann().couplings)
    ['steering']
    """
    wheel = wheel_of(0.08, wheel_mass, contact, friction)
    front = {"type": "steered", **wheel, "fork": _FORK}
    sides = {"left": "track/2", "right": "-track/2"}
    masses = [wheel_mass] * 4 + [1.0] * 2
    sizes = [(wheelbase, 1.0), (track, 0.7)]
    return weighed(
        measures,
        "ackermann",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=chassis(body_mass, 80.0, 10.0, ["wheelbase/2", 0, 0.1], *sizes, measures=measures, rest=masses),
        wheels={f"rear_{side}": {"at": [0, y, 0], **wheel} for side, y in sides.items()}
        | {f"front_{side}": {"at": ["wheelbase", y, 0], **front} for side, y in sides.items()},
        motors={f"{side}_motor": driving(f"rear_{side}", gear_ratio, motor, measures) for side in sides}
        | {"steering_servo": steering("steering", measures)},
        couplings={"steering": {"wheels": ["front_left", "front_right"]}},
        **batteries(measures),
    )


@entry(
    lambda robot: run(15.0, volts(left_motor=12, right_motor=12) | steered(robot, {"steering_servo": 20.0}))
)
def car_with_trailers(
    *,
    trailers: int = 1,
    length: MeasureLike = 0.8,
    offset: MeasureLike = 0.2,
    mass: MeasureLike = 20.0,
    radius: MeasureLike = 0.15,
    wheelbase: MeasureLike = 1.0,
    track: MeasureLike = 0.7,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    **measures: Unpack[Power],
) -> Robot:
    """A car that draws trailers of one axle: each hangs on a hitch `offset` behind the axle before it.

    With an offset of 0 hitches lie on the axles: θ̇ = v sin(θ_before − θ)/length (Laumond 1993).

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.car_with_trailers(trailers=3).joints)
    ['hitch_1', 'hitch_2', 'hitch_3']
    """
    check_count("trailers", trailers, 1, 20)
    car = plain(ackermann(
        radius=radius, wheelbase=wheelbase, track=track, motor=motor, gear_ratio=gear_ratio, contact=contact,
        friction=friction, **measures,
    ))  # fmt: skip
    inertia = about_all(scaled(2.0, 20.0, mass, (length, 0.8), (track, 0.7)))
    body = {"mass": mass, "center_of_mass": ["-length", 0, 0.1], "inertia": inertia}
    joints: Data = {}
    wheels: Data = dict(car.pop("wheels"))
    for place in range(1, trailers + 1):
        hung = {"at": ["-offset", 0, 0]}
        if place > 1:
            hung = {"parent": f"hitch_{place - 1}", "at": ["-length - offset", 0, 0]}
        joints[f"hitch_{place}"] = {"type": "revolute", **hung, "body": body}
        for side, y in (("left", "track/2"), ("right", "-track/2")):
            wheel = wheel_of(0.08, 2.0, contact, friction)
            wheels[f"trailer_{place}_{side}"] = {"parent": f"hitch_{place}", "at": ["-length", y, 0], **wheel}
    parameters = car.pop("parameters") | {"length": length, "offset": offset}
    return described(
        **car | {"name": "car_with_trailers"}, parameters=parameters, joints=joints, wheels=wheels
    )


@entry(lambda robot: run(15.0, volts(front_drive=12) | steered(robot, {"front_steer": 30.0})))
def tricycle(
    *,
    radius: MeasureLike = 0.15,
    wheelbase: MeasureLike = 0.9,
    track: MeasureLike = 0.6,
    body_mass: MeasureLike = 60.0,
    caster: bool = True,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    **measures: Unpack[SteeredChassis],
) -> Robot:
    """Two fixed wheels and one in front that steers and drives; `caster` adds an offset caster behind.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.tricycle(caster=False).wheels)
    ['left', 'right', 'front']
    """
    wheel = wheel_of(0.05, 2.0, contact, friction)
    wheels: dict[str, Data] = {name: {"at": AXLE[name], **wheel} for name in ("left", "right")}
    wheels["front"] = {"type": "steered", "at": ["wheelbase", 0, 0], **wheel, "fork": _FORK}
    if not isinstance(caster, bool):
        raise InputError(f"expected True or False, got {caster!r}", key="caster")
    if caster:
        rear: Data = {
            "type": "caster",
            "at": [-0.3, 0, "0.05 - r"],
            "radius": 0.05,
            "offset": 0.03,
            "width": 0.03,
        }
        light = {"mass": 0.3, "inertia": about_all(5e-4)}
        wheels["rear"] = {**rear, "mass": 0.4, "fork": light, "steering_damping": 0.01}
        wheels["rear"] |= keys_given(contact=contact, friction=friction)
    masses = [2.0, 2.0, 2.0, 1.0] + ([0.4, 0.3] if caster else [])
    sizes = [(wheelbase, 0.9), (track, 0.6)]
    return weighed(
        measures,
        "tricycle",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=chassis(body_mass, 60.0, 6.0, ["wheelbase/3", 0, 0.1], *sizes, measures=measures, rest=masses),
        wheels=wheels,
        motors={
            "front_drive": driving("front", gear_ratio, motor, measures),
            "front_steer": steering("front.steering", measures),
        },
        **batteries(measures),
    )

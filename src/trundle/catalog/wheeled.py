"""The catalogue's robots on wheels that none steers."""

from __future__ import annotations

import math
from typing import Unpack

from trundle.catalog.entry import (
    Data,
    MeasureLike,
    described,
    entry,
    keys_given,
    run,
    scaled,
    servo,
    volts,
    wheel_of,
)
from trundle.catalog.wheeled_parts import (
    AXLE,
    CORNERS,
    Chassis,
    Power,
    about_all,
    batteries,
    chassis,
    driving,
    fed,
    on_balls,
    weighed,
)
from trundle.errors import InputError
from trundle.robot.description import Robot

# A large motor that turns its wheel directly.
_GEARLESS = {"torque_constant": 1.0, "resistance": 0.05, "inductance": 1e-4}


@entry(lambda robot: run(30.0, volts(right_motor=24, left_motor=20)))
def differential_drive(
    *,
    radius: MeasureLike = 0.15,
    track: MeasureLike = 1.2,
    width: MeasureLike = 0.15,
    body_mass: MeasureLike = 50.0,
    offset: MeasureLike = 0.0,
    wheel_mass: MeasureLike = 2.0,
    torque_constant: MeasureLike = _GEARLESS["torque_constant"],
    resistance: MeasureLike = _GEARLESS["resistance"],
    inductance: MeasureLike = _GEARLESS["inductance"],
    motor: str | None = None,
    gear_ratio: MeasureLike | None = None,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    casters: bool = False,
    **measures: Unpack[Chassis],
) -> Robot:
    """Two driven wheels on one axle; the centre of mass lies `offset` ahead of it.

    After Crist's differential drive: gearless motors, one a wheel. On `casters` it stands over terrain, its centre of
    mass by default 5 cm above the axle.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.differential_drive(track="80 cm").parameter_values()["track"]
    0.8
    """
    winding: Data = {"torque_constant": torque_constant, "resistance": resistance, "inductance": inductance}
    if motor is not None:
        if winding != _GEARLESS:
            message = f"'{motor}' has a torque constant, a resistance and an inductance of its own"
            hint = "leave these out, or the motor; in the file a key beside `model` replaces the model's"
            raise InputError(message, key="motor", hint=hint)
        winding = {"model": motor, "voltage_limit": 12.0}
    winding = fed(winding, measures)
    wheel = wheel_of(width, wheel_mass, contact, friction)
    body = chassis(
        body_mass, 50.0, 5.0, ["d", 0, 0.05 if casters else 0], (track, 1.2),
        measures=measures, rest=[wheel_mass, wheel_mass],
    )  # fmt: skip
    return weighed(
        measures,
        "differential_drive",
        {"d": offset, "r": radius, "track": track},
        body=body,
        wheels={name: {"at": at, **wheel} for name, at in AXLE.items()}
        | on_balls(casters, "track/3", "-track/3"),
        motors={
            f"{name}_motor": {"drives": name, **winding, **keys_given(gear_ratio=gear_ratio)} for name in AXLE
        },
        **batteries(measures),
    )


def _offset_drive_run(robot: Robot) -> Data:
    turning = {"times": [0, 10], "values": [0, "360 deg"], "interpolation": "linear"}
    return run(10.0, volts(right_motor=6.0, left_motor=5.0) | {"steering_servo.angle": turning})


@entry(_offset_drive_run)
def offset_drive(
    *,
    radius: MeasureLike = 0.1,
    track: MeasureLike = 0.5,
    offset: MeasureLike = 0.2,
    drive_mass: MeasureLike = 15.0,
    platform_mass: MeasureLike = 20.0,
    wheel_mass: MeasureLike = 1.5,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    casters: bool = False,
    **measures: Unpack[Power],
) -> Robot:
    """A differential drive under a platform that turns on a joint `offset` ahead of the axle: omnidirectional.

    After Wada's offset drive. The joint's angle is that of the drive as seen from the platform: its axis points down.
    On `casters` it stands over terrain, its platform 20 cm above the axle.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.offset_drive().joints)
    ['steering']
    """
    wheel = wheel_of(0.05, wheel_mass, contact, friction)
    platform = {
        "name": "platform",
        "mass": platform_mass,
        "inertia": about_all(scaled(1.2, 20.0, platform_mass)),
    }
    motors = {f"{name}_motor": driving(name, gear_ratio, motor, measures) for name in AXLE}
    at: list[MeasureLike] = ["s", 0, 0.2 if casters else 0]
    return described(
        "offset_drive",
        {"r": radius, "s": offset, "track": track},
        body={"mass": drive_mass, "inertia": about_all(scaled(0.5, 15.0, drive_mass, (track, 0.5)))},
        joints={"steering": {"type": "revolute", "at": at, "axis": [0, 0, -1], "body": platform}},
        wheels={name: {"at": at, **wheel} for name, at in AXLE.items()} | on_balls(casters, "2*s", "-s"),
        motors=motors | {"steering_servo": servo("steering", 200.0, 40.0)},
        **batteries(measures),
    )


@entry(
    lambda robot: run(
        10.0, volts(front_left_motor=10.0, front_right_motor=6.0, rear_left_motor=6.0, rear_right_motor=12.0)
    )
)
def mecanum(
    *,
    radius: MeasureLike = 0.1,
    wheelbase: MeasureLike = 0.5,
    track: MeasureLike = 0.5,
    body_mass: MeasureLike = 30.0,
    roller_angle: MeasureLike = "45 deg",
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    **measures: Unpack[Chassis],
) -> Robot:
    """Four wheels with rollers at an angle: it drives in every direction without steering.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.mecanum(roller_angle="40 deg").parameters["roller"]
    Value('40 deg')
    """
    wheel = wheel_of(0.06, 1.5, contact, friction) | {"type": "mecanum"}
    rollers = {name: "roller" if name in ("front_right", "rear_left") else "-roller" for name in CORNERS}
    sizes = [(wheelbase, 0.5), (track, 0.5)]
    return weighed(
        measures,
        "mecanum",
        {"r": radius, "wheelbase": wheelbase, "track": track, "roller": roller_angle},
        body=chassis(body_mass, 30.0, 1.5, [0, 0, 0.05], *sizes, measures=measures, rest=[1.5] * 4),
        wheels={name: {**wheel, "at": at, "roller_angle": rollers[name]} for name, at in CORNERS.items()},
        motors={f"{name}_motor": driving(name, gear_ratio, motor, measures) for name in CORNERS},
        **batteries(measures),
    )


@entry(lambda robot: run(10.0, volts(left_motor=-8, rear_motor=1, right_motor=8)))
def three_omni(
    *,
    radius: MeasureLike = 0.05,
    spread: MeasureLike = 0.25,
    body_mass: MeasureLike = 12.0,
    motor: str | None = None,
    gear_ratio: MeasureLike = 10.0,
    contact: str | None = None,
    friction: MeasureLike | None = None,
    **measures: Unpack[Chassis],
) -> Robot:
    """Three omni wheels around the centre, 120 degrees apart: it drives in every direction.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.three_omni(spread="1 ft").parameter_values()["spread"]
    0.3048
    """
    wheel = wheel_of(0.03, 0.5, contact, friction) | {"type": "omni"}
    places: dict[str, tuple[str, list[MeasureLike]]] = {
        "left": ("150 deg", ["spread*cos(60 deg)", "spread*sin(60 deg)", 0]),
        "rear": ("270 deg", ["-spread", 0, 0]),
        "right": ("30 deg", ["spread*cos(300 deg)", "spread*sin(300 deg)", 0]),
    }
    sizes = [(spread, 0.25)]
    return weighed(
        measures,
        "three_omni",
        {"r": radius, "spread": spread},
        body=chassis(body_mass, 12.0, 0.4, [0, 0, 0.05], *sizes, measures=measures, rest=[0.5] * 3),
        wheels={name: {**wheel, "at": at, "heading": heading} for name, (heading, at) in places.items()},
        motors={f"{name}_motor": driving(name, gear_ratio, motor, measures) for name in places},
        **batteries(measures),
    )


@entry(lambda robot: run(10.0, volts(**{name: 14 if "right" in name else 4 for name in robot.motors})))
def skid_steer(
    *,
    radius: MeasureLike = 0.12,
    wheelbase: MeasureLike = 0.5,
    track: MeasureLike = 0.6,
    body_mass: MeasureLike = 40.0,
    friction: MeasureLike = 0.8,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
    **measures: Unpack[Chassis],
) -> Robot:
    """Four driven wheels that can't be steered: it turns by letting them slip.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.skid_steer().parameter_values()["mu"]
    0.8
    """
    wheel = {"radius": "r", "width": 0.08, "mass": 1.5, "contact": "slip", "friction": "mu"}
    sizes = [(wheelbase, 0.5), (track, 0.6)]
    return weighed(
        measures,
        "skid_steer",
        {"r": radius, "wheelbase": wheelbase, "track": track, "mu": friction},
        body=chassis(body_mass, 40.0, 2.5, [0, 0, 0.05], *sizes, measures=measures, rest=[1.5] * 4),
        wheels={name: {"at": at, **wheel} for name, at in CORNERS.items()},
        motors={f"{name}_motor": driving(name, gear_ratio, motor, measures) for name in CORNERS},
        **batteries(measures),
    )


def _segway_run(robot: Robot) -> Data:
    """It leans as far as its acceleration v̇ holds it up: (m h cos q + r m_all) v̇ = m h g sin q, T = r m_all v̇."""
    body, wheel, lean = robot.joints["lean"].body, robot.rolling["left"], math.radians(10)
    r, h, m, rim = map(robot.number, (wheel.radius, body.center_of_mass[2], body.mass, wheel.mass))
    rolling = r * (rim + sum(robot.number(value) for path, value in robot.every_value if path[-1] == "mass"))
    acceleration = m * h * 9.81 * math.sin(lean) / (m * h * math.cos(lean) + rolling)
    torques: Data = {f"{name}.torque": rolling * acceleration / 2 for name in robot.motors}
    return run(2.0, torques, initial={"lean.angle": lean})


@entry(_segway_run)
def segway(
    *,
    radius: MeasureLike = 0.1,
    track: MeasureLike = 0.6,
    drive_mass: MeasureLike = 2.0,
    body_mass: MeasureLike = 10.0,
    center_height: MeasureLike = 0.6,
    wheel_mass: MeasureLike = 0.5,
) -> Robot:
    """Two wheels under a body that leans on their axle and holds their motors.

    It falls unless a controller balances it, as `model.lqr` gives one.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.segway().motors["left_motor"].mounted_on
    'lean'
    """
    sizes = [(track, 0.6)]
    moment = scaled(1.0, 10.0, body_mass, (center_height, 0.6))
    moments = {"xx": moment, "yy": moment, "zz": scaled(0.15, 10.0, body_mass, *sizes)}
    body = {"mass": body_mass, "center_of_mass": [0, 0, "center_height - r"], "inertia": moments}
    wheel = wheel_of(0.05, wheel_mass, None, None)
    return described(
        "segway",
        {"r": radius, "track": track, "center_height": center_height},
        body={"mass": drive_mass, "inertia": about_all(scaled(0.07, 2.0, drive_mass, *sizes))},
        joints={"lean": {"type": "revolute", "axis": [0, 1, 0], "body": body}},
        wheels={name: {"at": at, **wheel} for name, at in AXLE.items()},
        motors={f"{name}_motor": {"type": "torque", "drives": name, "mounted_on": "lean"} for name in AXLE},
    )

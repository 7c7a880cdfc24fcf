"""The catalogue's robots on wheels."""

from __future__ import annotations

from trundle.catalog.entry import (
    Data,
    MeasureLike,
    chassis,
    check_count,
    described,
    drive,
    entry,
    given,
    run,
    scaled,
    servo,
    sweep,
    volts,
    wheel_of,
)
from trundle.errors import InputError
from trundle.robot.description import Robot

# The corners of a rectangle: front left, front right, rear left, rear right.
_CORNERS: dict[str, list[MeasureLike]] = {
    f"{end}_{side}": [f"{x}wheelbase/2", f"{y}track/2", 0]
    for end, x in (("front", ""), ("rear", "-"))
    for side, y in (("left", ""), ("right", "-"))
}
# A large motor that turns its wheel directly.
_GEARLESS = {"torque_constant": 1.0, "resistance": 0.05, "inductance": 1e-4}
# A wheel that is driven and steered.
_MODULE: dict[str, object] = {
    "type": "steered",
    "radius": "r",
    "width": 0.04,
    "mass": 1.0,
    "fork": {"mass": 1.5, "inertia": {"zz": 0.01}},
}
# What turns with a steered wheel of a car.
_FORK: Data = {"mass": 1.0, "inertia": {"zz": 0.01}}
# The two ends of an axle.
_AXLE: dict[str, list[MeasureLike]] = {"right": [0, "-track/2", 0], "left": [0, "track/2", 0]}


@entry(lambda robot: run(30.0, volts(right_motor=24, left_motor=20)))
def differential_drive(
    *,
    radius: MeasureLike = 0.15,
    track: MeasureLike = 1.2,
    width: MeasureLike = 0.15,
    body_mass: MeasureLike = 50.0,
    body_inertia: MeasureLike | None = None,
    offset: MeasureLike = 0.0,
    wheel_mass: MeasureLike = 2.0,
    torque_constant: MeasureLike = _GEARLESS["torque_constant"],
    resistance: MeasureLike = _GEARLESS["resistance"],
    inductance: MeasureLike = _GEARLESS["inductance"],
    motor: str | None = None,
    gear_ratio: MeasureLike | None = None,
    contact: str | None = None,
    friction: MeasureLike | None = None,
) -> Robot:
    """Two driven wheels on one axle; the centre of mass lies `offset` ahead of it.

    After Crist's differential drive: gearless motors, one a wheel.

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
    wheel = wheel_of(width, wheel_mass, contact, friction)
    inertia = scaled(5.0, 50.0, body_mass, (track, 1.2)) if body_inertia is None else body_inertia
    return described(
        "differential_drive",
        {"d": offset, "r": radius, "track": track},
        body={"mass": body_mass, "center_of_mass": ["d", 0, 0], "inertia": {"zz": inertia}},
        wheels={name: {"at": at, **wheel} for name, at in _AXLE.items()},
        motors={
            f"{name}_motor": {"drives": name, **winding, **given(gear_ratio=gear_ratio)} for name in _AXLE
        },
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
) -> Robot:
    """A differential drive under a platform that turns on a joint `offset` ahead of the axle: omnidirectional.

    After Wada's offset drive. The joint's angle is that of the drive as seen from the platform: its axis points down.

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
        "inertia": {"zz": scaled(1.2, 20.0, platform_mass)},
    }
    motors = {f"{name}_motor": drive(name, gear_ratio, motor) for name in _AXLE}
    return described(
        "offset_drive",
        {"r": radius, "s": offset, "track": track},
        body={"mass": drive_mass, "inertia": {"zz": scaled(0.5, 15.0, drive_mass, (track, 0.5))}},
        joints={"steering": {"type": "revolute", "at": ["s", 0, 0], "axis": [0, 0, -1], "body": platform}},
        wheels={name: {"at": at, **wheel} for name, at in _AXLE.items()},
        motors=motors | {"steering_servo": servo("steering", 200.0, 40.0)},
    )


def _swerve_run(robot: Robot) -> Data:
    targets = dict.fromkeys(robot.wheels, "60 deg")
    if len(robot.wheels) == 2:  # wheels that are parallel and abreast would leave the turn undetermined
        targets = {"front": "30 deg", "rear": "-20 deg"}
    inputs = volts(**{f"{name}_drive": 8.0 for name in robot.wheels})
    return run(8.0, inputs | {f"{name}_steer.angle": sweep(angle) for name, angle in targets.items()})


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
    wheel = _MODULE | given(friction=friction)
    wheel |= {"contact": contact or ("ideal" if modules == 2 else "slip")}
    motors = {f"{name}_drive": drive(name, gear_ratio, motor) for name in places}
    return described(
        "swerve",
        {"r": radius, "wheelbase": wheelbase} | ({"track": track} if modules == 4 else {}),
        body=chassis(body_mass, 40.0, 5.0, [0, 0, 0.1], *sizes),
        wheels={name: {**wheel, "at": at} for name, at in places.items()},
        motors=motors | {f"{name}_steer": servo(f"{name}.steering") for name in places},
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
    places = {f"{side}_{end}": _CORNERS[f"{end}_{side}"] for side, end in corners}
    wheel = {**_MODULE, "contact": "slip", "limits": limits}
    return described(
        "limited_swerve",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=chassis(body_mass, 40.0, 5.0, [0, 0, 0.1], (wheelbase, 1.0), (track, 1.0)),
        wheels={name: {**wheel, "at": at} for name, at in places.items()},
        motors={f"{name}_drive": drive(name, gear_ratio, motor) for name in places}
        | {f"{name}_steer": servo(f"{name}.steering") for name in places},
    )


def _module_places(modules: int) -> dict[str, list[MeasureLike]]:
    if modules == 2:
        return {"front": ["wheelbase/2", 0, 0], "rear": ["-wheelbase/2", 0, 0]}
    if modules == 4:
        return {name: _CORNERS[name] for name in ("front_left", "rear_left", "rear_right", "front_right")}
    turn = {f"module_{place + 1}": f"2*pi*{place}/{modules}" for place in range(modules)}
    return {
        name: [f"wheelbase/2*cos({angle})", f"wheelbase/2*sin({angle})", 0] for name, angle in turn.items()
    }


@entry(
    lambda robot: run(15.0, volts(left_motor=12, right_motor=12) | {"steering_servo.angle": sweep("20 deg")})
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
) -> Robot:
    """A car: rear wheels driven by a motor each, front wheels steered so that all axles meet in one point.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.ackermann().couplings)
    ['steering']
    """
    wheel = wheel_of(0.08, wheel_mass, contact, friction)
    steered = {"type": "steered", **wheel, "fork": _FORK}
    sides = {"left": "track/2", "right": "-track/2"}
    return described(
        "ackermann",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=chassis(body_mass, 80.0, 10.0, ["wheelbase/2", 0, 0.1], (wheelbase, 1.0), (track, 0.7)),
        wheels={f"rear_{side}": {"at": [0, y, 0], **wheel} for side, y in sides.items()}
        | {f"front_{side}": {"at": ["wheelbase", y, 0], **steered} for side, y in sides.items()},
        motors={f"{side}_motor": drive(f"rear_{side}", gear_ratio, motor) for side in sides}
        | {"steering_servo": servo("steering")},
        couplings={"steering": {"wheels": ["front_left", "front_right"]}},
    )


@entry(lambda robot: run(15.0, volts(front_drive=12) | {"front_steer.angle": sweep("30 deg")}))
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
) -> Robot:
    """Two fixed wheels and one in front that steers and drives; `caster` adds an offset caster behind.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.tricycle(caster=False).wheels)
    ['left', 'right', 'front']
    """
    wheel = wheel_of(0.05, 2.0, contact, friction)
    wheels: Data = {name: {"at": _AXLE[name], **wheel} for name in ("left", "right")}
    wheels["front"] = {"type": "steered", "at": ["wheelbase", 0, 0], **wheel, "fork": _FORK}
    if not isinstance(caster, bool):
        raise InputError(f"expected True or False, got {caster!r}", key="caster")
    if caster:
        rear = {"type": "caster", "at": [-0.3, 0, "0.05 - r"], "radius": 0.05, "offset": 0.03, "width": 0.03}
        light = {"mass": 0.3, "inertia": {"zz": 5e-4}}
        wheels["rear"] = {**rear, "mass": 0.4, "fork": light, "steering_damping": 0.01}
    return described(
        "tricycle",
        {"r": radius, "wheelbase": wheelbase, "track": track},
        body=chassis(body_mass, 60.0, 6.0, ["wheelbase/3", 0, 0.1], (wheelbase, 0.9), (track, 0.6)),
        wheels=wheels,
        motors={"front_drive": drive("front", gear_ratio, motor), "front_steer": servo("front.steering")},
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
) -> Robot:
    """Four wheels with rollers at an angle: it drives in every direction without steering.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.mecanum(roller_angle="40 deg").parameters["roller"]
    Value('40 deg')
    """
    wheel = wheel_of(0.06, 1.5, contact, friction) | {"type": "mecanum"}
    rollers = {name: "roller" if name in ("front_right", "rear_left") else "-roller" for name in _CORNERS}
    return described(
        "mecanum",
        {"r": radius, "wheelbase": wheelbase, "track": track, "roller": roller_angle},
        body=chassis(body_mass, 30.0, 1.5, [0, 0, 0.05], (wheelbase, 0.5), (track, 0.5)),
        wheels={name: {**wheel, "at": at, "roller_angle": rollers[name]} for name, at in _CORNERS.items()},
        motors={f"{name}_motor": drive(name, gear_ratio, motor) for name in _CORNERS},
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
    return described(
        "three_omni",
        {"r": radius, "spread": spread},
        body=chassis(body_mass, 12.0, 0.4, [0, 0, 0.05], (spread, 0.25)),
        wheels={name: {**wheel, "at": at, "heading": heading} for name, (heading, at) in places.items()},
        motors={f"{name}_motor": drive(name, gear_ratio, motor) for name in places},
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
) -> Robot:
    """Four driven wheels that can't be steered: it turns by letting them slip.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.skid_steer().parameter_values()["mu"]
    0.8
    """
    wheel = {"radius": "r", "width": 0.08, "mass": 1.5, "contact": "slip", "friction": "mu"}
    return described(
        "skid_steer",
        {"r": radius, "wheelbase": wheelbase, "track": track, "mu": friction},
        body=chassis(body_mass, 40.0, 2.5, [0, 0, 0.05], (wheelbase, 0.5), (track, 0.6)),
        wheels={name: {"at": at, **wheel} for name, at in _CORNERS.items()},
        motors={f"{name}_motor": drive(name, gear_ratio, motor) for name in _CORNERS},
    )

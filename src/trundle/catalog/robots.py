"""The catalogue: robots to start from, each a function of its main measures, each with a run that shows it moving.

Every measure takes a number in SI or text with a unit ("6 in"). What several parts share becomes a named parameter
(r, track, wheelbase), so that `--set track=0.8` moves all of them. Motors are sized so that 24 V reaches a few metres
a second; the numbers are of no particular product.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from trundle.catalog.robot_runs import RUNS
from trundle.documents.document import Document
from trundle.documents.reader import parse
from trundle.documents.runspec import RunSpec
from trundle.documents.writer import dump
from trundle.errors import InputError, suggest
from trundle.robot.description import Robot, parse_robot

Measure = float | str
Data = dict[str, Any]


def _drive(target: str) -> Data:
    """A geared DC motor: 24 rad/s at the wheel without load at 24 V, 48 N m when it stands still."""
    return {
        "drives": target,
        "torque_constant": 0.05,
        "resistance": 0.5,
        "inductance": 5e-4,
        "gear_ratio": 20.0,
        "rotor_inertia": 2e-5,
        "voltage_limit": 24.0,
    }


def _servo(target: str, stiffness: float = 40.0, damping: float = 4.0) -> Data:
    return {"type": "servo", "drives": target, "stiffness": stiffness, "damping": damping}


def differential_drive(
    *,
    radius: Measure = 0.15,
    track: Measure = 1.2,
    width: Measure = 0.15,
    body_mass: Measure = 50.0,
    body_inertia: Measure = 5.0,
    offset: Measure = 0.0,
    wheel_mass: Measure = 2.0,
    torque_constant: Measure = 1.0,
    resistance: Measure = 0.05,
    inductance: Measure = 1e-4,
) -> Robot:
    """Two driven wheels on one axle; the centre of mass lies `offset` ahead of it.

    After Crist's differential drive: gearless motors, one a wheel.
    """
    motor = {"torque_constant": torque_constant, "resistance": resistance, "inductance": inductance}
    wheel = {"radius": "r", "width": width, "mass": wheel_mass}
    return parse_robot(
        {
            "name": "differential_drive",
            "body": {"mass": body_mass, "center_of_mass": ["d", 0, 0], "inertia": {"zz": body_inertia}},
            "wheels": {
                "right": {"at": [0, "-track/2", 0], **wheel},
                "left": {"at": [0, "track/2", 0], **wheel},
            },
            "motors": {
                "right_motor": {"drives": "right", **motor},
                "left_motor": {"drives": "left", **motor},
            },
            "parameters": {"d": offset, "r": radius, "track": track},
        }
    )


def offset_drive(
    *,
    radius: Measure = 0.1,
    track: Measure = 0.5,
    offset: Measure = 0.2,
    drive_mass: Measure = 15.0,
    platform_mass: Measure = 20.0,
    wheel_mass: Measure = 1.5,
) -> Robot:
    """A differential drive under a platform that turns on a joint `offset` ahead of the axle: omnidirectional.

    After Wada's offset drive. The joint's angle is that of the drive as seen from the platform: its axis points down.
    """
    wheel = {"radius": "r", "width": 0.05, "mass": wheel_mass}
    return parse_robot(
        {
            "name": "offset_drive",
            "body": {"mass": drive_mass, "inertia": {"zz": 0.5}},
            "joints": {
                "steering": {
                    "type": "revolute",
                    "at": ["s", 0, 0],
                    "axis": [0, 0, -1],
                    "body": {"name": "platform", "mass": platform_mass, "inertia": {"zz": 1.2}},
                }
            },
            "wheels": {
                "right": {"at": [0, "-track/2", 0], **wheel},
                "left": {"at": [0, "track/2", 0], **wheel},
            },
            "motors": {
                "right_motor": _drive("right"),
                "left_motor": _drive("left"),
                "steering_servo": _servo("steering", 200.0, 40.0),
            },
            "parameters": {"r": radius, "s": offset, "track": track},
        }
    )


def swerve(
    *,
    modules: int = 4,
    radius: Measure = 0.05,
    wheelbase: Measure = 1.0,
    track: Measure = 1.0,
    body_mass: Measure = 40.0,
    contact: str | None = None,
) -> Robot:
    """Modules that each drive and steer a wheel. Two stand fore and aft, four at the corners, others on a circle.

    The wheels slip by default: more than two ideal ones would lock it. Two modules are ideal by default.
    """
    if isinstance(modules, bool) or not isinstance(modules, int) or not 2 <= modules <= 32:
        raise InputError(f"expected 2 to 32 modules, got {modules!r}", key="modules")
    places = _module_places(modules)
    wheel = {
        "type": "steered",
        "radius": "r",
        "width": 0.04,
        "mass": 1.0,
        "contact": contact or ("ideal" if modules == 2 else "slip"),
        "fork": {"mass": 1.5, "inertia": {"zz": 0.01}},
    }
    used = {"r": radius, "wheelbase": wheelbase} | ({"track": track} if modules == 4 else {})
    motors = {f"{name}_drive": _drive(name) | {"gear_ratio": 8.0} for name in places}
    motors |= {f"{name}_steer": _servo(f"{name}.steering") for name in places}
    return parse_robot(
        {
            "name": "swerve",
            "body": {"mass": body_mass, "center_of_mass": [0, 0, 0.1], "inertia": {"zz": 5.0}},
            "wheels": {name: {**wheel, "at": [*at, 0]} for name, at in places.items()},
            "motors": motors,
            "parameters": used,
        }
    )


def _module_places(modules: int) -> dict[str, list[Measure]]:
    if modules == 2:
        return {"front": ["wheelbase/2", 0], "rear": ["-wheelbase/2", 0]}
    if modules == 4:
        return {
            "front_left": ["wheelbase/2", "track/2"],
            "rear_left": ["-wheelbase/2", "track/2"],
            "rear_right": ["-wheelbase/2", "-track/2"],
            "front_right": ["wheelbase/2", "-track/2"],
        }
    turn = {f"module_{each + 1}": f"2*pi*{each}/{modules}" for each in range(modules)}
    return {name: [f"wheelbase/2*cos({angle})", f"wheelbase/2*sin({angle})"] for name, angle in turn.items()}


def ackermann(
    *,
    radius: Measure = 0.15,
    wheelbase: Measure = 1.0,
    track: Measure = 0.7,
    body_mass: Measure = 80.0,
    wheel_mass: Measure = 2.0,
) -> Robot:
    """A car: rear wheels driven by a motor each, front wheels steered so that all axles meet in one point."""
    wheel = {"radius": "r", "width": 0.08, "mass": wheel_mass}
    steered = {"type": "steered", **wheel, "fork": {"mass": 1.0, "inertia": {"zz": 0.01}}}
    return parse_robot(
        {
            "name": "ackermann",
            "body": {"mass": body_mass, "center_of_mass": ["wheelbase/2", 0, 0.1], "inertia": {"zz": 10.0}},
            "wheels": {
                "rear_left": {"at": [0, "track/2", 0], **wheel},
                "rear_right": {"at": [0, "-track/2", 0], **wheel},
                "front_left": {"at": ["wheelbase", "track/2", 0], **steered},
                "front_right": {"at": ["wheelbase", "-track/2", 0], **steered},
            },
            "motors": {
                "left_motor": _drive("rear_left"),
                "right_motor": _drive("rear_right"),
                "steering_servo": _servo("steering"),
            },
            "couplings": {"steering": {"wheels": ["front_left", "front_right"]}},
            "parameters": {"r": radius, "wheelbase": wheelbase, "track": track},
        }
    )


def tricycle(
    *,
    radius: Measure = 0.15,
    wheelbase: Measure = 0.9,
    track: Measure = 0.6,
    body_mass: Measure = 60.0,
    caster: bool = True,
) -> Robot:
    """Two fixed wheels and one in front that steers and drives; `caster` adds an offset caster behind."""
    wheel = {"radius": "r", "width": 0.05, "mass": 2.0}
    fork = {"mass": 1.0, "inertia": {"zz": 0.01}}
    wheels: Data = {
        "left": {"at": [0, "track/2", 0], **wheel},
        "right": {"at": [0, "-track/2", 0], **wheel},
        "front": {"type": "steered", "at": ["wheelbase", 0, 0], **wheel, "fork": fork},
    }
    if caster:
        wheels["rear"] = {
            "type": "caster",
            "at": [-0.3, 0, "0.05 - r"],
            "radius": 0.05,
            "offset": 0.03,
            "width": 0.03,
            "mass": 0.4,
            "fork": {"mass": 0.3, "inertia": {"zz": 5e-4}},
            "steering_damping": 0.01,
        }
    return parse_robot(
        {
            "name": "tricycle",
            "body": {"mass": body_mass, "center_of_mass": ["wheelbase/3", 0, 0.1], "inertia": {"zz": 6.0}},
            "wheels": wheels,
            "motors": {"front_drive": _drive("front"), "front_steer": _servo("front.steering")},
            "parameters": {"r": radius, "wheelbase": wheelbase, "track": track},
        }
    )


def mecanum(
    *,
    radius: Measure = 0.1,
    wheelbase: Measure = 0.5,
    track: Measure = 0.5,
    body_mass: Measure = 30.0,
    roller_angle: Measure = "45 deg",
) -> Robot:
    """Four wheels with rollers at an angle: it drives in every direction without steering."""
    wheel = {"type": "mecanum", "radius": "r", "width": 0.06, "mass": 1.5}
    places = {
        "front_left": ("wheelbase/2", "track/2", "-roller"),
        "front_right": ("wheelbase/2", "-track/2", "roller"),
        "rear_left": ("-wheelbase/2", "track/2", "roller"),
        "rear_right": ("-wheelbase/2", "-track/2", "-roller"),
    }
    return parse_robot(
        {
            "name": "mecanum",
            "body": {"mass": body_mass, "center_of_mass": [0, 0, 0.05], "inertia": {"zz": 1.5}},
            "wheels": {
                name: {**wheel, "at": [x, y, 0], "roller_angle": angle}
                for name, (x, y, angle) in places.items()
            },
            "motors": {f"{name}_motor": _drive(name) for name in places},
            "parameters": {"r": radius, "wheelbase": wheelbase, "track": track, "roller": roller_angle},
        }
    )


def three_omni(*, radius: Measure = 0.05, spread: Measure = 0.25, body_mass: Measure = 12.0) -> Robot:
    """Three omni wheels around the centre, 120 degrees apart: it drives in every direction."""
    wheel = {"type": "omni", "radius": "r", "width": 0.03, "mass": 0.5}
    angles = {"left": 60, "rear": 180, "right": 300}
    return parse_robot(
        {
            "name": "three_omni",
            "body": {"mass": body_mass, "center_of_mass": [0, 0, 0.05], "inertia": {"zz": 0.4}},
            "wheels": {
                name: {
                    **wheel,
                    "at": [f"spread*cos({angle} deg)", f"spread*sin({angle} deg)", 0]
                    if angle != 180
                    else ["-spread", 0, 0],
                    "heading": f"{(angle + 90) % 360} deg",
                }
                for name, angle in angles.items()
            },
            "motors": {f"{name}_motor": _drive(name) | {"gear_ratio": 10.0} for name in angles},
            "parameters": {"r": radius, "spread": spread},
        }
    )


def skid_steer(
    *,
    radius: Measure = 0.12,
    wheelbase: Measure = 0.5,
    track: Measure = 0.6,
    body_mass: Measure = 40.0,
    friction: Measure = 0.8,
) -> Robot:
    """Four driven wheels that can't be steered: it turns by letting them slip."""
    wheel = {"radius": "r", "width": 0.08, "mass": 1.5, "contact": "slip", "friction": "mu"}
    places = {
        "front_left": ("wheelbase/2", "track/2"),
        "front_right": ("wheelbase/2", "-track/2"),
        "rear_left": ("-wheelbase/2", "track/2"),
        "rear_right": ("-wheelbase/2", "-track/2"),
    }
    return parse_robot(
        {
            "name": "skid_steer",
            "body": {"mass": body_mass, "center_of_mass": [0, 0, 0.05], "inertia": {"zz": 2.5}},
            "wheels": {name: {"at": [x, y, 0], **wheel} for name, (x, y) in places.items()},
            "motors": {f"{name}_motor": _drive(name) for name in places},
            "parameters": {"r": radius, "wheelbase": wheelbase, "track": track, "mu": friction},
        }
    )


def pendulum(*, links: int = 2, length: Measure = 0.5, mass: Measure = 1.0, damping: Measure = 0.0) -> Robot:
    """A chain of thin rods on hinges, hanging from a fixed point; it swings in the x-z plane."""
    if isinstance(links, bool) or not isinstance(links, int) or not 1 <= links <= 1000:
        raise InputError(f"expected 1 to 1000 links, got {links!r}", key="links")
    joints: Data = {}
    for each in range(1, links + 1):
        hung: Data = {} if each == 1 else {"parent": f"link_{each - 1}", "at": [0, 0, "-length"]}
        joints[f"link_{each}"] = {
            "type": "revolute",
            **hung,
            "axis": [0, 1, 0],
            "body": {
                "mass": "m",
                "center_of_mass": [0, 0, "-length/2"],
                "inertia": {"xx": "m*length**2/12", "yy": "m*length**2/12"},
            },
            "damping": damping,
        }
    return parse_robot({"name": "pendulum", "joints": joints, "parameters": {"length": length, "m": mass}})


def _rod(length: str, mass: str) -> Data:
    """A slender rod along x that turns about y."""
    moment = f"{mass}*{length}**2/12"
    return {
        "mass": mass,
        "center_of_mass": [f"{length}/2", 0, 0],
        "inertia": {"yy": moment, "zz": moment},
    }


# About -y: positive angles lift what points forward.
_HINGE: Data = {"type": "revolute", "axis": [0, -1, 0]}


def four_bar(
    *,
    crank: Measure = 0.3,
    coupler: Measure = 0.9,
    rocker: Measure = 0.7,
    ground: Measure = 1.0,
    density: Measure = 1.5,
) -> Robot:
    """Crank, coupler and rocker between two pivots, a closed loop; by default the crank goes all the way round.

    Rods of `density` kg/m in the x-z plane. A motor turns the crank; where the shortest and the longest of the four
    are together longer than the others (Grashof 1883) it can't go round.
    """
    joints = {
        "crank": {**_HINGE, "body": _rod("a", "a*density")},
        "coupler": {**_HINGE, "parent": "crank", "at": ["a", 0, 0], "body": _rod("b", "b*density")},
        "rocker": {**_HINGE, "at": ["ground", 0, 0], "body": _rod("c", "c*density")},
    }
    pin = {"first": {"body": "coupler", "at": ["b", 0, 0]}, "second": {"body": "rocker", "at": ["c", 0, 0]}}
    return parse_robot(
        {
            "name": "four_bar",
            "joints": joints,
            "loops": {"pin": {**_HINGE, **pin}},
            "motors": {"motor": _drive("crank")},
            "parameters": {"a": crank, "b": coupler, "c": rocker, "ground": ground, "density": density},
        }
    )


def slider_crank(
    *,
    crank: Measure = 0.05,
    rod: Measure = 0.15,
    density: Measure = 2.0,
    flywheel: Measure = 0.01,
    piston_mass: Measure = 0.5,
    friction: Measure = 2.0,
) -> Robot:
    """A crank with a flywheel, a connecting rod and a piston that slides along x: a pump or an engine.

    Crank and rod of `density` kg/m in the x-z plane, `flywheel` its moment of inertia (kg m²), `friction` the piston's
    viscous one (N s/m).
    """
    shaft = {"mass": "a*density", "center_of_mass": ["a/2", 0, 0], "inertia": {"yy": "flywheel"}}
    joints = {
        "crank": {**_HINGE, "body": shaft},
        "rod": {**_HINGE, "parent": "crank", "at": ["a", 0, 0], "body": _rod("l", "l*density")},
        "piston": {
            "type": "prismatic",
            "axis": [1, 0, 0],
            "body": {"mass": piston_mass},
            "damping": friction,
        },
    }
    wrist = {"first": {"body": "rod", "at": ["l", 0, 0]}, "second": {"body": "piston"}}
    return parse_robot(
        {
            "name": "slider_crank",
            "joints": joints,
            "loops": {"wrist": {**_HINGE, **wrist}},
            "motors": {"motor": _drive("crank")},
            "parameters": {"a": crank, "l": rod, "density": density, "flywheel": flywheel},
        }
    )


_ROBOTS: dict[str, Callable[..., Robot]] = {
    "differential_drive": differential_drive,
    "offset_drive": offset_drive,
    "swerve": swerve,
    "ackermann": ackermann,
    "mecanum": mecanum,
    "three_omni": three_omni,
    "tricycle": tricycle,
    "skid_steer": skid_steer,
    "pendulum": pendulum,
    "four_bar": four_bar,
    "slider_crank": slider_crank,
}


def names() -> tuple[str, ...]:
    """Names of the catalogue's robots."""
    return tuple(_ROBOTS)


def summary(name: str) -> str:
    """What a robot of the catalogue is, in one sentence."""
    return (inspect.getdoc(_entry(name)) or "").partition("\n")[0]


def options(name: str) -> dict[str, Any]:
    """The measures a robot of the catalogue takes, and their defaults."""
    return {each.name: each.default for each in inspect.signature(_entry(name)).parameters.values()}


def _entry(name: str) -> Callable[..., Robot]:
    if name not in _ROBOTS:
        raise InputError(f"there is no {name!r} in the catalogue", hint=suggest(name, _ROBOTS))
    return _ROBOTS[name]


def robot(name: str, **measures: Measure | int | bool) -> Robot:
    """A robot of the catalogue by name; raises InputError on an unknown name or measure."""
    known = options(name)
    for each in measures:
        if each not in known:
            raise InputError(f"{name} has no measure {each!r}", hint=suggest(each, known))
    return _entry(name)(**measures)


def document(name: str, **measures: Measure | int | bool) -> Document:
    """A robot of the catalogue with a run that shows it moving, as text and as nouns."""
    made = robot(name, **measures)
    run = RunSpec(**RUNS[name](made))
    return parse(dump(made, run, comment=summary(name)))

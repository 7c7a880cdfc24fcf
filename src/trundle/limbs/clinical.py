"""Loads as clinics name them: angle, net moment and power of a movement, such as the flexion of the right hip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import parse
from trundle.errors import InputError, require_known
from trundle.expected import by_name, check_bool, check_type
from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.anatomy import MOVEMENTS, Movement, movement, usual_movement
from trundle.robot.bodies import SphericalJoint, drive_axes
from trundle.robot.structure import body_names
from trundle.simulation.options import positive

CONVENTION = "ISB (Wu et al. 2002; Grood & Suntay 1983), about the joints' own axes"
_WHAT = "such as {'knee': 'right knee flexion'}"


class NamedAxis(NamedTuple):
    """An axis of a joint that has an anatomical name: the columns of its coordinate, its speed and its net moment."""

    joint: str
    angle: str
    rate: str
    net: str
    movement: Movement


def clinical(
    run: Run,
    *,
    movements: Mapping[str, str] | None = None,
    external: bool = False,
    height: float | str | None = None,
) -> Run:
    """A run's angles, net moments and powers by their anatomical names, with the signs of the ISB.

    A moment is the whole generalised force Sᵀw about a joint's own axis: what muscles, ligaments and springs give
    together. For three hinges in a row it is the moment about their actual axes, which needn't be square to one
    another. A power is that moment times the rate about the axis.

    Parameters
    ----------
    run : Run
        What `loads.to_run()` or `trundle inverse` gave; with a mass there moments are in N m/kg, powers in W/kg.
    movements : mapping of str to str, optional
        By a joint's name what it does as its angle grows: "right knee flexion". By default what the description says
        (`movement:` of a joint), else what joints of gait models are called (`hip_flexion_r`, `knee_angle_l`).
    external : bool, optional
        Whether moments are the external ones, which muscles balance: the signs turn. By default internal ones.
    height : float or str, m, optional
        What moments are divided by, too.

    Returns
    -------
    Run
        Columns such as "right_hip_flexion.angle" (rad), ".moment" and ".power", and "right_hip.power" of the joint;
        positive in flexion, adduction, internal rotation, dorsiflexion and inversion.

    Raises
    ------
    InputError
        No joint has an anatomical name, words name no movement, two axes have the same, or the run has no loads.

    References
    ----------
    Wu et al. 2002, J. Biomech. 35:543; Grood & Suntay 1983, J. Biomech. Eng. 105:136. Moments about joints' own axes
    beside other frames: Schache & Baker 2007, Gait & Posture 25:440.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0, 1, 11)
    >>> swing = {"time": t, "link_1.angle": 0.1 * t, "link_2.angle": 0 * t}
    >>> run = trundle.joint_loads(trundle.catalog.pendulum(), swing).to_run(mass=70)
    >>> named = trundle.clinical(run, movements={"link_1": "left hip extension"})
    >>> named["left_hip_flexion.angle"][-1].round(3), named.units["left_hip_flexion.moment"]
    (np.float64(-0.1), 'N m/kg')
    """
    found = list(named_axes(check_type(run, Run, "run", "loads.to_run() gives one"), movements))
    if not found:
        hint = f"say so in the description (movement: right knee flexion), or by movements, {_WHAT}"
        raise InputError("no joint of this run has an anatomical name", key="movements", hint=hint)
    for axis in found:
        if axis.net not in run:
            hint = "trundle.joint_loads(robot, motion).to_run() gives one"
            raise InputError(f"this run has no net moment '{axis.net}'", hint=hint)
    tall = 1.0 if height is None else positive(height, "height", "m")
    values: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for name, unit, column in _columns(
        run, found, (-1.0 if check_bool(external, "external") else 1.0) / tall
    ):
        values[name] = values[name] + column if name in values else column
        units[name] = unit if height is None else _per_height(unit)
    about = {
        "convention": CONVENTION,
        "moments": "external" if external else "internal",
        "height": None if height is None else tall,
    }
    angles = tuple(name for name in values if name.endswith(".angle"))
    groups = {"coordinates": angles, "outputs": tuple(name for name in values if name not in angles)}
    return Run(run.name, run.time, values, units, run.description, {**run.summary, **about}, groups)


def _columns(run: Run, axes: list[NamedAxis], factor: float) -> Iterator[tuple[str, str, FloatArray]]:
    """Names, units and numbers; of joints' powers a part for each axis, moments times a factor."""
    for axis in axes:
        label, sign = axis.movement.label, axis.movement.sign
        yield f"{label}.angle", "rad", sign * run[axis.angle]
        yield f"{label}.moment", run.units.get(axis.net, ""), sign * factor * run[axis.net]
    for axis in axes:
        unit = run.units.get(axis.net, "").replace("N m", "W")
        power = run[axis.net] * run[axis.rate]
        yield f"{axis.movement.label}.power", unit, power
        yield f"{axis.movement.place.replace(' ', '_')}.power", unit, power


def _per_height(unit: str) -> str:
    return {"N m": "N m/m", "N m/kg": "N m/(kg m)"}.get(unit, unit)


def named_axes(run: Run, movements: Mapping[str, str] | None = None) -> Iterator[NamedAxis]:
    """The axes of a run's robot that have anatomical names, in the robot's order; InputError for two of one name."""
    robot = _robot(run)
    given = named_by(movements, robot)
    seen: dict[str, str] = {}
    for name, axis in axes_of(robot, given):
        if name not in given and _extends(run, robot, axis):
            axis = axis._replace(movement=axis.movement.opposed)
        taken = seen.setdefault(axis.movement.label, name)
        if taken != name:
            message = f"{axis.movement.label} is what both {taken} and {name} are called"
            raise InputError(message, key="movements", hint="name one of them otherwise")
        yield axis


def _extends(run: Run, robot: Robot, axis: NamedAxis) -> bool:
    """Whether a `knee_angle` of which neither description nor limits say so grows as the knee extends: it is mostly
    below zero, and a knee bends one way only.
    """
    joint = robot.joints[axis.joint]
    told = [getattr(joint, key, None) for key in ("movement", "lower", "upper")]
    by_name = axis.joint.lower().startswith("knee_angle") and axis.movement.name == "flexion"
    return by_name and not any(each is not None for each in told) and float(np.median(run[axis.angle])) < 0


def axes_of(robot: Robot, given: Mapping[str, Movement] | None = None) -> Iterator[tuple[str, NamedAxis]]:
    """By a joint's name, with its part ("hip.first"), the axes with anatomical names: as given, as the description
    says, as gait models call them.
    """
    for name, joint in robot.joints.items():
        for ending, (axis, component) in drive_axes(joint).items():
            if axis.sliding:
                continue
            ends = [None if end is None else robot.number(end) for end in (component.lower, component.upper)]
            said = getattr(component, "movement", None)
            usual = None if ending else usual_movement(name, *ends)
            found = (given or {}).get(name + ending) or (movement(said) if said else usual)
            if found is not None:
                speed = joint.speeds[axis.place]
                net = "net" if len(joint.speeds) == 1 else f"net_{speed}"
                angle, rate, moment = (f"{name}.{what}" for what in (axis.coordinate, speed, net))
                yield name + ending, NamedAxis(name, angle, rate, moment, found)


def sides_of(robot: Robot, given: Mapping[str, Movement] | None = None) -> dict[str, str]:
    """The sides of all bodies, by any name: that of the nearest movement on the way to the base, "" in the middle."""
    own = {axis.joint: axis.movement.side for _, axis in axes_of(robot, given) if axis.movement.side}
    bodies, found = body_names(robot), {"base": ""}

    def side(joint: str) -> str:
        if joint not in found:
            found[joint] = own.get(joint) or side(bodies[robot.joints[joint].parent])
        return found[joint]

    return {body: side(joint) for body, joint in bodies.items()}


def named_by(movements: Mapping[str, str] | None, robot: Robot) -> dict[str, Movement]:
    """What a user calls the axes of joints."""
    given = {} if movements is None else by_name(movements, "movements", _WHAT)
    known = [
        name + ending
        for name, joint in robot.joints.items()
        for ending, (axis, _) in drive_axes(joint).items()
        if not axis.sliding
    ]
    found: dict[str, Movement] = {}
    for name, words in given.items():
        if isinstance(robot.joints.get(name), SphericalJoint):
            message = f"'{name}' turns any way, about no axes of its own, so that it has no such angle"
            hint = "three hinges in a row have: flexion, adduction, rotation, as the hips of trundle.catalog.person"
            raise InputError(message, key=f"movements.{name}", hint=hint)
        require_known(name, known, f"there is no joint '{name}' that turns", key="movements")
        meant = movement(words) if isinstance(words, str) else None
        if meant is None:
            hint = f"such as 'right knee flexion', ending in one of {', '.join(MOVEMENTS)}"
            raise InputError(f"{words!r} names no movement", key=f"movements.{name}", hint=hint)
        found[name] = meant
    return found


def _robot(run: Run) -> Robot:
    """The robot that a run tells of."""
    if "yaml" not in run.description:
        raise InputError("this run tells no robot", key="run", hint="a run from a .nc file does")
    return _read(run.description["yaml"])


@lru_cache(maxsize=2)
def _read(text: str) -> Robot:
    return parse(text).robot

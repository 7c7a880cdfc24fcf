"""The catalogue's linkages: chains and closed loops of rods in the x-z plane."""

from __future__ import annotations

from trundle.catalog.entry import (
    Data,
    MeasureLike,
    check_count,
    described,
    drive,
    entry,
    keys_given,
    run,
    volts,
)
from trundle.robot.description import Robot

# About -y: positive angles lift what points forward.
_HINGE: Data = {"type": "revolute", "axis": [0, -1, 0]}


def _rod(length: str) -> Data:
    """A slender rod along x of `density`, which turns about y."""
    mass = f"{length}*density"
    moment = f"{mass}*{length}**2/12"
    return {"mass": mass, "center_of_mass": [f"{length}/2", 0, 0], "inertia": {"yy": moment, "zz": moment}}


@entry(lambda robot: {"duration": 10.0, "initial": {"link_1.angle": "90 deg"}})
def pendulum(
    *, links: int = 2, length: MeasureLike = 0.5, mass: MeasureLike = 1.0, damping: MeasureLike = 0.0
) -> Robot:
    """A chain of thin rods on hinges, hanging from a fixed point; it swings in the x-z plane.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.pendulum(links=3).joints)
    ['link_1', 'link_2', 'link_3']
    """
    check_count("links", links, 1, 1000)
    moments = {"xx": "m*length**2/12", "yy": "m*length**2/12"}
    body = {"mass": "m", "center_of_mass": [0, 0, "-length/2"], "inertia": moments}
    hinge = {"type": "revolute", "axis": [0, 1, 0], "body": body, "damping": damping}
    joints: Data = {}
    for place in range(1, links + 1):
        hung = {} if place == 1 else {"parent": f"link_{place - 1}", "at": [0, 0, "-length"]}
        joints[f"link_{place}"] = {**hinge, **hung}
    return described("pendulum", {"length": length, "m": mass}, joints=joints)


def _four_bar_run(robot: Robot) -> Data:
    # the rocker's angle chooses the way of assembly, and needn't fit exactly
    return run(5.0, volts(motor=6.0), initial={"crank.angle": "60 deg", "rocker.angle": "95 deg"})


@entry(_four_bar_run)
def four_bar(
    *,
    crank: MeasureLike = 0.3,
    coupler: MeasureLike = 0.9,
    rocker: MeasureLike = 0.7,
    ground: MeasureLike = 1.0,
    density: MeasureLike = 1.5,
    damping: MeasureLike | None = None,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
) -> Robot:
    """Crank, coupler and rocker between two pivots, a closed loop; by default the crank goes all the way round.

    A motor turns the crank; where the shortest and the longest of the four are together longer than the others
    (Grashof 1883) it can't go round.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.four_bar(crank=0.25).loops)
    ['pin']
    """
    hinge = _HINGE | keys_given(damping=damping)
    pin = {"first": {"body": "coupler", "at": ["b", 0, 0]}, "second": {"body": "rocker", "at": ["c", 0, 0]}}
    return described(
        "four_bar",
        {"a": crank, "b": coupler, "c": rocker, "ground": ground, "density": density},
        joints={
            "crank": {**hinge, "body": _rod("a")},
            "coupler": {**hinge, "parent": "crank", "at": ["a", 0, 0], "body": _rod("b")},
            "rocker": {**hinge, "at": ["ground", 0, 0], "body": _rod("c")},
        },
        loops={"pin": {**_HINGE, **pin}},
        motors={"motor": drive("crank", gear_ratio, motor)},
    )


def _slider_crank_run(robot: Robot) -> Data:
    numbers = robot.parameter_values()
    return run(2.0, volts(motor=12.0), initial={"piston.position": numbers["a"] + numbers["l"]})


@entry(_slider_crank_run)
def slider_crank(
    *,
    crank: MeasureLike = 0.05,
    rod: MeasureLike = 0.15,
    density: MeasureLike = 2.0,
    flywheel: MeasureLike = 0.01,
    piston_mass: MeasureLike = 0.5,
    friction: MeasureLike = 2.0,
    motor: str | None = None,
    gear_ratio: MeasureLike = 20.0,
) -> Robot:
    """A crank with a flywheel, a connecting rod and a piston that slides along x: a pump or an engine.

    Examples
    --------
    >>> import trundle
    >>> trundle.catalog.slider_crank(crank="6 cm").parameter_values()["a"]
    0.06
    """
    shaft = {"mass": "a*density", "center_of_mass": ["a/2", 0, 0], "inertia": {"yy": "flywheel"}}
    slide = {"type": "prismatic", "axis": [1, 0, 0], "damping": friction}
    return described(
        "slider_crank",
        {"a": crank, "l": rod, "density": density, "flywheel": flywheel},
        joints={
            "crank": {**_HINGE, "body": shaft},
            "rod": {**_HINGE, "parent": "crank", "at": ["a", 0, 0], "body": _rod("l")},
            "piston": {**slide, "body": {"mass": piston_mass}},
        },
        loops={
            "wrist": {**_HINGE, "first": {"body": "rod", "at": ["l", 0, 0]}, "second": {"body": "piston"}}
        },
        motors={"motor": drive("crank", gear_ratio, motor)},
    )

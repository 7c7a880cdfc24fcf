"""Any planar robot: wheels of every type anywhere, arms and trailers on joints, gears, motors, odd angles and places.

`random_robots` has known designs; here the parts are thrown together, and land on special places often: on each other,
on an axis, square to it.
"""

from __future__ import annotations

import numpy as np

from .random_robots import _u, body, gear, robot, servo, wheel

WHEELS = {
    "fixed": lambda rng: {},
    "steered": lambda rng: {"type": "steered"},
    "kingpin": lambda rng: {"type": "kingpin", "scrub": _place(rng), "fork": body(rng, 0.05)},
    "caster": lambda rng: {"type": "caster", "offset": _u(rng, 0.03, 0.1)},
    "mecanum": lambda rng: {"type": "mecanum", "roller_angle": _turn(rng)},
    "omni": lambda rng: {"type": "omni"},
}
TREE_JOINTS = (
    "revolute",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "pin_slot",
    "spherical",
)
# Joints with one coordinate, which gears and motors may move.
SINGLE = ("revolute", "prismatic")
LAWS = ({}, {}, {"contact": "slip"}, {"contact": "free"}, {"contact": "bristle"})


def _place(rng) -> float:
    """A coordinate: often a round one, so that parts meet."""
    return float(rng.choice([0.0, 0.0, 0.2, -0.2, 0.03, _u(rng, -0.6, 0.6), _u(rng, -0.6, 0.6)]))


def _turn(rng) -> float:
    """An angle, often one square to the axes."""
    return float(rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi / 4, _u(rng, -3, 3), _u(rng, -3, 3)]))


def _axis(rng) -> list[float]:
    """An axis: upright, along another one, or tilted."""
    special = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    tilted = rng.uniform(-1, 1, 3).round(2).tolist()
    return special[int(rng.integers(4))] if rng.random() < 0.7 else [*tilted[:2], tilted[2] + 1.5]


def _joint(rng, kind: str, parent: str) -> dict[str, object]:
    made: dict[str, object] = {"type": kind, "at": [_place(rng), _place(rng), 0.0], "parent": parent}
    # A centre of mass on the axis now and then: nothing turns the joint, then.
    made["body"] = body(rng, float(rng.choice([0.0, 0.3])))
    upright = made["body"]["inertia"]["zz"]
    made["body"]["inertia"] |= {"xx": _u(rng, 0.6, 1) * upright, "yy": _u(rng, 0.6, 1) * upright}
    if kind != "spherical":
        made["axis"] = _axis(rng)
    if kind in ("universal", "pin_slot"):
        made["axis"], made["axis2"] = [0, 0, 1], [1, 0.3, 0]
    if kind == "screw":
        made["pitch"] = 0.01
    if kind in SINGLE:
        made |= {
            "stiffness": _u(rng, 0, 5),
            "damping": _u(rng, 0, 1),
            "coulomb": float(rng.choice([0.0, 0.2])),
        }
    if rng.random() < 0.3:
        made["rpy"] = [0.0, 0.0, _turn(rng)] if rng.random() < 0.5 else [_turn(rng) for _ in range(3)]
    return made


def anything(rng):
    """A planar robot of up to five wheels and two joints; its ideal wheels or gears may lock it."""
    joints: dict[str, dict[str, object]] = {}
    for k in range(int(rng.choice([0, 0, 1, 1, 2]))):
        parent = "base" if not joints or rng.random() < 0.5 else "joint_0"
        joints[f"joint_{k}"] = _joint(rng, str(rng.choice(TREE_JOINTS)), parent)
    upright = [
        n for n, j in joints.items() if j["type"] == "revolute" and j["axis"] in ([0, 0, 1], [0, 0, -1])
    ]
    upright = [n for n in upright if "rpy" not in joints[n] and joints[n]["parent"] == "base"]
    wheels = {}
    for k in range(int(rng.integers(1, 6))):
        keys = WHEELS[str(rng.choice(list(WHEELS)))](rng) | LAWS[int(rng.integers(len(LAWS)))]
        parent = {"parent": upright[0]} if upright and rng.random() < 0.3 else {}
        made = wheel(rng, _place(rng), _place(rng), **keys, heading=_turn(rng), **parent)
        if keys.get("contact") in ("slip", "bristle"):
            made["load"] = _u(rng, 20, 100)  # on shares of the weight most such robots would tip
        wheels[f"wheel_{k}"] = made
    servos = [f"{n}.steering" for n, w in wheels.items() if w.get("type") in ("steered", "kingpin")]
    found = robot(rng, wheels, joints, servos)
    for name, each in joints.items():
        if each["type"] in SINGLE and rng.random() < 0.5:
            found["motors"][f"{name}_servo"] = servo(rng, name)
    _tie(rng, found)
    return found


def _tie(rng, found) -> None:
    """Now and then a gear or a cam from one joint or wheel to another, or a belt between forks."""
    ends = [*found["wheels"], *(n for n, j in found["joints"].items() if j["type"] == "revolute")]
    forks = [n for n, w in found["wheels"].items() if "fork" in w]
    pairs = [ends, [f"{n}.steering" for n in forks]]
    for k, names in enumerate(pairs):
        if len(names) > 1 and rng.random() < 0.25:
            first, second = rng.permutation(names)[:2].tolist()
            ratio = float(rng.choice([1.0, -1.0, _u(rng, -3, 3)]))
            follows = {second.replace(".", "__"): ratio}
            tie = gear(first, offset=_turn(rng), **follows)
            if not k and rng.random() < 0.4:
                tie = {"type": "cam", "joint": first, "follows": second, "curve": _curve(rng)}
            found.setdefault("couplings", {})[f"gear_{k}"] = tie


def _curve(rng) -> dict[str, object]:
    """Any curve of an angle."""
    kind = str(rng.choice(["natural", "simm", "linear", "polynomial"]))
    if kind == "polynomial":
        return {"type": kind, "coefficients": rng.uniform(-0.5, 0.5, rng.integers(1, 5)).round(3).tolist()}
    count = int(rng.integers(2, 6))
    x = np.cumsum(rng.uniform(0.2, 0.8, count)) - 1
    return {"type": kind, "x": x.round(3).tolist(), "y": rng.uniform(-0.8, 0.8, count).round(3).tolist()}

"""Robots with closed loops: of the catalogue, and others that close twice, more often than they need, in space, or on a
base that moves.
"""

from functools import cache, partial

import trundle
from derived import derived
from model.linkages import bar, parallelogram

BODY = {"mass": 0.6, "center_of_mass": [0.05, 0.02, 0.03], "inertia": {"xx": 0.02, "yy": 0.025, "zz": 0.03}}


def five_bar():
    """Two cranks that hold a point between them: two freedoms."""
    arm = {"mass": 0.4, "center_of_mass": ["arm/2", 0, 0], "inertia": {"zz": "0.4*arm**2/12"}}
    return {
        "name": "five_bar",
        "gravity": [0, -9.81, 0],
        "joints": {
            "left": {"body": bar(0.4, 0.5), "damping": 0.2},
            "left_arm": {"parent": "left", "at": [0.4, 0, 0], "body": arm},
            "right": {"at": [0.3, 0, 0], "body": bar(0.4, 0.5), "damping": 0.2},
            "right_arm": {"parent": "right", "at": [0.4, 0, 0], "body": arm},
        },
        "loops": {
            "tip": {
                "type": "revolute",
                "first": {"body": "left_arm", "at": ["arm", 0, 0]},
                "second": {"body": "right_arm", "at": ["arm", 0, 0]},
            }
        },
        "parameters": {"arm": 0.5},
    }


def scotch_yoke():
    """A crank whose tip moves a slide through a pin in a slot."""
    pin = {"type": "pin_slot", "parent": "yoke", "axis2": [0, 1, 0]}
    return {
        "name": "yoke",
        "gravity": 0,
        "joints": {
            "crank": {"body": {"mass": 0.2, "inertia": {"zz": 0.01}}},
            "yoke": {"type": "prismatic", "axis": [1, 0, 0], "stiffness": 20, "body": {"mass": 1.0}},
            "pin": {**pin, "body": {"mass": 0.1, "inertia": {"zz": 1e-3}}},
        },
        "loops": {
            "tip": {"type": "fixed", "first": {"body": "crank", "at": ["r", 0, 0]}, "second": {"body": "pin"}}
        },
        "parameters": {"r": 0.3},
    }


def rod_in_space(base="fixed"):
    """A crank that swings a rocker about another axis by a rod between two balls."""
    return {
        "name": "rods",
        "base": base,
        "gravity": 9.81,
        **({} if base == "fixed" else {"body": {"mass": 8, "inertia": {"xx": 0.5, "yy": 0.6, "zz": 0.7}}}),
        "joints": {
            "crank": {"axis": [0, 1, 0], "body": BODY},
            "rocker": {"axis": [0.3, 0, 1], "at": [0.6, 0.1, 0], "body": BODY, "damping": 0.02},
        },
        "loops": {
            "rod": {
                "type": "rod",
                "length": "rod",
                "first": {"body": "crank", "at": [0.15, 0.05, 0]},
                "second": {"body": "rocker", "at": [0.1, 0.3, 0]},
            }
        },
        "parameters": {"rod": 0.7},
    }


@cache
def described(make, *words):
    return trundle.derive({"trundle": 1, "robot": make(*words)})


@cache
def of(make):
    return trundle.derive(make())


# By name: the model, states that are set, and parameters that are changed.
LOOPS = {
    "four_bar": (partial(derived, "four_bar"), {"crank.angle": 1.0472, "crank.rate": 2.0}, {"b": 0.95}),
    "slider_crank": (partial(derived, "slider_crank"), {"crank.angle": 0.7, "crank.rate": -3.0}, {"l": 0.16}),
    "five_bar": (
        partial(described, five_bar),
        {"left.angle": 2.1, "right_arm.angle": 0.9, "right.rate": 1.0},
        {"arm": 0.55},
    ),
    "parallelogram": (
        partial(of, parallelogram),
        {"crank.angle": -1.0, "leg2.rate": 0.5},
        {"gravity.y": -4.0},
    ),
    "scotch_yoke": (partial(described, scotch_yoke), {"yoke.position": 0.1, "crank.rate": 2.0}, {"r": 0.35}),
    "rod_in_space": (
        partial(described, rod_in_space),
        {"crank.angle": -0.4, "rocker.rate": 1.0},
        {"rod": 0.75},
    ),
    "rod_on_a_base": (
        partial(described, rod_in_space, "floating"),
        {"crank.angle": 0.3, "crank.rate": 1.0, "z": 0.5},
        {"rod": 0.65},
    ),
}

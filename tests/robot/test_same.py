"""Robots that differ in names only, and robots that differ in anything else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import trundle
from robot.same import same_mechanics
from trundle.robot import parse_robot
from trundle.robot.component import plain
from trundle.robot.parts import FAMILIES

NAMES = list(trundle.catalog.names())


def renamed(robot: trundle.Robot, rng: np.random.Generator) -> trundle.Robot:
    """The robot with other names, its families in another order."""
    data: Any = {key: value for key, value in plain(robot).items() if key != "speeds"}
    new = {name: f"n{k}" for k, name in enumerate(n for family in FAMILIES for n in getattr(robot, family))}
    for k, body in enumerate([robot.body, *(joint.body for joint in robot.joints.values())]):
        if body is not None and body.name:
            new.setdefault(body.name, f"b{k}")
    new |= {
        f"{name}.{part}": f"{other}.{part}"
        for name, other in new.items()
        for part in ("steering", "slide", "turn")
    }
    data = _with_names(data, {**new, **{name: f"p_{name}" for name in robot.parameters}})
    for family in FAMILIES:
        if family in data:
            keys = list(data[family])
            data[family] = {key: data[family][key] for key in rng.permutation(keys).tolist()}
    return parse_robot({**data, "name": "another"})


def _with_names(data: Any, new: dict[str, str], field: str = "") -> Any:
    if isinstance(data, dict):
        return {new.get(key, key): _with_names(value, new, key) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_names(value, new, field) for value in data]
    if isinstance(data, str) and field not in ("type", "contact", "model", "base"):
        for name in sorted(new, key=len, reverse=True):
            if data == name:
                return new[name]
        return _in_formula(data, new)
    return data


def _in_formula(text: str, new: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda found: new.get(found[0], found[0]), text)


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_count(name: str, rng: np.random.Generator):
    robot = trundle.catalog.robot(name)
    other = renamed(robot, rng)
    assert robot != other
    assert same_mechanics(robot, other)
    assert same_mechanics(other, robot)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_counts(name: str, rng: np.random.Generator):
    robot = trundle.catalog.robot(name)
    other = renamed(robot, rng)
    values = [(key, number) for key, number in robot.parameter_values().items() if ".limits." not in key]
    for key, number in values[:: max(1, len(values) // 8)]:
        changed = robot.with_parameters({key: number * (1 + 1e-9) or 1e-9})
        assert not same_mechanics(changed, other), key


def test_what_hangs_on_what_counts():
    arm = {
        "type": "revolute",
        "axis": [0, 1, 0],
        "body": {"mass": 1.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}},
    }
    chain = parse_robot({"joints": {"a": arm, "b": {**arm, "parent": "a"}, "c": {**arm, "parent": "b"}}})
    fork = parse_robot({"joints": {"a": arm, "b": {**arm, "parent": "a"}, "c": {**arm, "parent": "a"}}})
    turned = parse_robot({"joints": {"c": arm, "a": {**arm, "parent": "c"}, "b": {**arm, "parent": "a"}}})
    assert not same_mechanics(chain, fork)
    assert same_mechanics(chain, turned)


def test_circles_of_equal_parts_are_told_apart():
    """Gears between equal joints: a ring of six is none of two rings of three, though every joint looks the same."""
    disc = {"type": "revolute", "armature": 1.0}
    joints = {f"j{k}": disc for k in range(6)} | {f"k{k}": disc for k in range(6)}
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    two = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]

    def geared(pairs):
        gears = {
            f"g{k}": {"type": "gear", "joint": f"k{k}", "follows": {f"j{a}": 1, f"j{b}": 1}}
            for k, (a, b) in enumerate(pairs)
        }
        return parse_robot({"joints": joints, "couplings": gears})

    moved = [(5, 3), (3, 1), (1, 0), (0, 2), (2, 4), (4, 5)]
    assert same_mechanics(geared(ring), geared(moved))
    assert not same_mechanics(geared(ring), geared(two))


def test_units_and_formulas_do_not_count():
    one = trundle.catalog.differential_drive(radius="6 in")
    other = one.with_parameters({"r": 0.1524})
    assert same_mechanics(one, other)

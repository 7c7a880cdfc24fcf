"""Equations of any planar robot: written in every format, each one what the program computes, or a reason why not."""

import re

import numpy as np
import pytest
import sympy
import yaml

import trundle
from formulas.test_against_programs import compare
from formulas.test_equations import EXAMPLES
from model.any_robot import anything
from model.random_robots import ALL, car
from trundle.catalog import differential_drive
from trundle.errors import InputError
from trundle.formulas.algebra.polynomials import Symbol, SymbolTable, TrigPolynomial
from trundle.formulas.algebra.rates import vanishes
from trundle.formulas.checks.verification import TOLERANCE
from trundle.robot import parse_robot

FORMATS = ("text", "latex", "markdown", "html", "tex", "data")
BASE = {"mass": 20.0, "inertia": {"zz": 0.8}}


def written(robot):
    """A robot's equations, which agree with its programs, after they were written in every format."""
    found = trundle.equations(robot)
    assert not [note for section in found.sections for note in section.notes if "differs" in note]
    assert all(getattr(found, name)() for name in FORMATS)
    assert found.error <= TOLERANCE
    return found


def wheeled(**wheels):
    """A robot of wheels alone."""
    common = {"radius": 0.06, "mass": 0.8, "width": 0.03}
    return {"base": "planar", "body": BASE, "wheels": {name: common | keys for name, keys in wheels.items()}}


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(4))
def test_any_robot_has_equations_in_every_format(part, campaign):
    """A known design with random numbers, or parts thrown together, which may lock."""
    for rng in campaign(250):
        rng = np.random.default_rng([part, *rng.integers(2**32, size=2)])
        known = rng.random() < 0.4
        robot = parse_robot(ALL[str(rng.choice(list(ALL)))](rng) if known else anything(rng))
        try:
            model = trundle.derive(robot)
        except InputError as error:
            if known or not re.search("lock|on the line of|stand at one place", error.message):
                raise
            continue
        written(model)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(4))
def test_cars_have_all_their_equations(part, campaign):
    """Ackermann fronts, casters, trailers, odd radii: every format, and accelerations as the program has them."""
    for rng in campaign(500):
        rng = np.random.default_rng([part, *rng.integers(2**32, size=2)])
        assert "mass_matrix" in all_of(parse_robot(car(rng)), rng)


def all_of(robot, rng):
    """A robot's equations, of which none is left out, in every format; what they say moves it as the program does."""
    found = compare(robot, rng)
    assert not [section.title for section in found.sections if not section.equations]
    if found.accelerations:  # what they say of h stands there by its symbol, once
        assert all(sympy.count_ops(entry) <= 30 for entry in found.bias)
    assert all(getattr(found, name)() for name in FORMATS)
    # The longest are of cars whose wheels turn in forks with a mass beside their axes: 590.
    assert all(sympy.count_ops(each.expression) <= 700 for each in found.definitions)
    return found


@pytest.mark.slow
def test_a_share_of_the_cars(rng):
    all_of(parse_robot(car(rng)), rng)


def test_trailers_follow_one_after_another():
    """Over the car's speed and all angles q̇_1 takes 106 operations, M 920; by the trailers' motion both are short."""
    robot = wheeled(
        left={"at": [0, 0.3, 0]},
        right={"at": [0, -0.3, 0.01], "radius": 0.07},
        front={"at": [0.9, 0, 0], "type": "steered"},
        axle_0={"at": [-0.9, 0, 0], "parent": "hitch_0"},
        axle_1={"at": [-1.4, 0, 0], "parent": "hitch_1"},
    )
    hitch = {"type": "revolute", "at": [-0.5, 0, 0], "axis": [0, 0, 1], "body": BASE}
    robot["joints"] = {"hitch_0": hitch | {"parent": "base"}, "hitch_1": hitch | {"parent": "hitch_0"}}
    robot["motors"] = {"steers": {"type": "torque", "drives": "front.steering"}}
    found = trundle.equations(parse_robot(robot))
    before, after = sympy.symbols("omega_0 omega_1")
    assert found["speed.hitch_1.rate"].right == after - before
    assert found["speed.hitch_1.omega"].left == after
    assert max(sympy.count_ops(each.expression) for each in found.definitions) <= 80
    assert found.error <= TOLERANCE


@pytest.mark.parametrize("driven", ["rear", "steered_left"])
def test_a_three_wheeled_car_with_odd_radii(driven):
    """One driven rate: where the linkage's axle isn't the rear wheel's, as parameters are drawn, no rates agree."""
    robot = wheeled(
        rear={"at": [0.03, 0.05, 0.115], "radius": 0.115},
        steered_left={"at": [0.9, 0.3, 0.153], "radius": 0.153, "type": "steered"},
        steered_right={"at": [0.9, -0.3, 0.197], "radius": 0.197, "type": "steered"},
    )
    robot["couplings"] = {"linkage": {"wheels": ["steered_left", "steered_right"], "axle": 0.03}}
    robot["motors"] = {"engine": {"type": "torque", "drives": driven}}
    found = trundle.equations(parse_robot(robot), "kinematics")
    assert "forward" in found
    assert found.error <= TOLERANCE


def test_a_car_whose_drawn_steering_nearly_points_at_its_axle():
    """At one of the points a denominator nearly vanishes, and the base has 111 m/s: both sides differ by 3e-10."""
    draws = np.random.default_rng([20261123, 288]).integers(2**32, size=2)
    found = trundle.equations(parse_robot(car(np.random.default_rng([1, *draws]))), "kinematics")
    assert "forward" in found
    assert found.error <= TOLERANCE


@pytest.mark.parametrize("front", [[0.2, 0.03, 0], [0.01, 0.45, 0], [-0.36, 0.45, 0]])
@pytest.mark.slow
def test_a_synchro_drive_with_its_wheels_anywhere(front):
    described = (
        (EXAMPLES / "gears" / "synchro.yaml").read_text(encoding="utf-8").replace("[a, 0, 0]", str(front))
    )
    robot = yaml.safe_load(described)["robot"]
    assert "mass_matrix" in written(parse_robot(robot))


@pytest.mark.parametrize(
    "wheels",
    [
        {"lone": {"type": "mecanum", "at": [0.1, 0.2, 0], "roller_angle": 0}},
        {
            "a": {"at": [0, 0.2, 0]},
            "b": {"at": [0.3, 0, 0], "type": "mecanum", "roller_angle": 0, "heading": 1.3},
        },
        {"a": {"at": [0, -0.2, 0], "heading": "90 deg"}, "b": {"type": "omni", "heading": 0.1}},
    ],
)
def test_rollers_that_never_turn_their_wheel(wheels):
    """A wheel that the ground never turns has no rate to tell from the base's motion, nor the other way round."""
    written(parse_robot(wheeled(**wheels)))


@pytest.mark.parametrize("more", [{}, {"rear": {"type": "caster", "at": [0.1, 0, 0], "offset": 0.05}}])
def test_forward_kinematics_that_would_fill_pages_are_said_to_be_left_out(more):
    """Rollers at four angles: 60 to 400 kB of text, for 10 to 75 s of work."""
    places = {"a": (0.3, 0.2, 0.7), "b": (0.33, -0.2, -0.8), "c": (-0.3, 0.21, -1.1), "d": (-0.31, -0.2, 0.3)}
    mecanum = {
        name: {"type": "mecanum", "at": [x, y, 0], "roller_angle": angle}
        for name, (x, y, angle) in places.items()
    }
    text = written(parse_robot(wheeled(**mecanum, **more))).text()
    assert "Not written out: it would fill pages. `trundle.roll` computes it." in text
    assert len(text) < 20_000


def test_arms_beside_wheels_of_which_some_slip():
    robot = wheeled(
        rolls={"at": [0, 0.2, 0]},
        slips={"at": [0, -0.2, 0], "contact": "slip", "load": 50},
        tail={"type": "omni"},
    )
    robot["joints"] = {"arm": {"type": "revolute", "at": [0.1, 0, 0], "axis": [0, 0, 1], "body": BASE}}
    assert "forward.arm" in written(parse_robot(robot))


def test_a_steered_wheel_on_the_fixed_axle_that_a_gear_has_turned():
    """Its own speed is zero, so nothing can be told by it."""
    robot = wheeled(
        fixed={"at": [-0.2, -0.2, 0], "heading": "-90 deg"},
        free={"type": "steered", "at": [0, 0.3, 0], "contact": "slip", "load": 50},
        turned={"type": "steered", "at": [0.5, -0.2, 0], "heading": 2.4},
    )
    robot["couplings"] = {
        "chain": {
            "type": "gear",
            "joint": "turned.steering",
            "follows": {"free.steering": -1},
            "offset": "-90 deg",
        }
    }
    with pytest.raises(InputError, match="'turned' stands on the line of the fixed wheels' axle"):
        trundle.derive(parse_robot(robot))


STEERED = {"type": "steered", "at": [0.2, 0.1, 0]}
KINGPIN = STEERED | {"type": "kingpin", "scrub": 0.05, "fork": {"mass": 3, "inertia": {"zz": 1}}}


@pytest.mark.parametrize(
    ("wheels", "named"),
    [
        ({"a": STEERED, "b": STEERED}, "'a' and 'b'"),
        ({"a": STEERED, "b": KINGPIN | {"heading": 0.4}}, "'a' and 'b'"),
        ({"a": KINGPIN | {"scrub": -0.05}, "b": KINGPIN | {"heading": 0.4}}, "'a' and 'b'"),
        ({"a": STEERED | {"heading": 1.0}, "b": KINGPIN, "c": STEERED}, "'a', 'b' and 'c'"),
    ],
)
def test_steered_wheels_about_one_pivot(wheels, named):
    with pytest.raises(InputError, match=f"{named} stand at one place"):
        trundle.derive(parse_robot(wheeled(**wheels)))
    *_, last = wheels
    beside = wheels[last] | {"at": [0.2, 0.1 + 1e-3, 0]}
    if len(wheels) == 2:
        assert trundle.derive(parse_robot(wheeled(**wheels | {last: beside})))


@pytest.mark.parametrize(
    "wheel",
    [
        {"at": [0.3, 0, 0], "heading": "90 deg", "scrub": 0.3},  # the contact starts where the axles meet
        {"at": [0, -0.1, 0], "heading": 0.5},  # the pivot is on the axle: all the base does is turn about it
    ],
)
def test_a_kingpin_in_line_with_a_fixed_axle(wheel):
    assert "mass_matrix" in written(parse_robot(wheeled(fixed={"at": [0, 0.2, 0]}, led=KINGPIN | wheel)))


def test_a_kingpin_that_starts_as_a_fixed_wheel():
    robot = wheeled(fixed={"at": [0, 0.2, 0]}, led=KINGPIN | {"at": [0, -0.1, 0]})
    with pytest.raises(InputError, match="'led' stands on the line of the fixed wheels' axle"):
        trundle.derive(parse_robot(robot))


def test_kinematics_of_a_robot_that_its_wheels_lock():
    robot = wheeled(a={"at": [0, 0.2, 0]}, b={"heading": 0.5}, c={"at": [0.3, 0, 0], "heading": 1.5})
    robot["joints"] = {"arm": {"type": "revolute", "at": [0.1, 0, 0], "axis": [0, 0, 1], "body": BASE}}
    assert "inverse" in trundle.equations(parse_robot(robot), "kinematics")


def test_what_cancels_is_zero():
    """sin 2α/(2 cos α) − sin α has terms, and vanishes."""
    table = SymbolTable()
    table.add(Symbol("alpha", "coordinate"))
    sine, double = (TrigPolynomial(table, {((), "sin", ((0, k),)): 1}) for k in (1, 2))
    hidden = double / (2 * TrigPolynomial(table, {((), "cos", ((0, 1),)): 1})) - sine
    assert hidden.terms
    assert vanishes(hidden)
    assert not vanishes(hidden + sine)


def test_symmetric_matrices_are_told_by_their_form():
    """M's entries are the same expressions on both sides: nothing has to be simplified to see it."""
    assert "symmetric" in trundle.equations(differential_drive(offset=0.2)).text(40)


def test_an_entry_of_the_mass_matrix_is_written_once():
    """Accelerations of two speeds that go together have symbols for M, and so has M."""
    found = trundle.equations(trundle.load(EXAMPLES / "gears" / "rear_axle.yaml"))
    written = [*found.mass_matrix.flat(), *(each.expression for each in found.definitions)]
    long = [each for each in written if sympy.count_ops(each) > 5]
    assert len(set(long)) == len(long)


def test_a_base_whose_speed_is_zero_but_for_rounding():
    """Wheels lock the base's v_x, which programs find as rounding of its other speeds."""
    described = wheeled(
        held={"at": [0.03, 0, 0], "heading": "-90 deg"},
        led={
            "at": [0.134, 0, 0],
            "type": "kingpin",
            "scrub": -0.224,
            "fork": {"mass": 3, "inertia": {"zz": 1}},
        },
    )
    body = BASE | {"inertia": {"xx": 1}}
    arm = {"type": "revolute", "at": [-0.2, 0, 0], "parent": "base", "axis": [1, 0, 0], "body": body}
    written(parse_robot(described | {"joints": {"arm": arm}}))

"""Quantities: what every name of a model stands for, made where its part is; no unit is guessed from a name."""

from collections import Counter

import numpy as np
import pytest

import trundle
from derived import derived
from trundle import analyze, derive, simulate
from trundle.analysis.motor_rates import unit_rates
from trundle.errors import InputError
from trundle.mechanics.assembly import assemble
from trundle.mechanics.joints import KINDS
from trundle.mechanics.quantities import Quantities, Quantity, angle, turning
from trundle.model.rolling_motion import derive_rolling
from trundle.robot import parse_robot

BODY = {"mass": 2.0, "center_of_mass": [0.1, 0, 0.2], "inertia": {"xx": 0.2, "yy": 0.3, "zz": 0.25}}

# How many states, inputs and outputs of each unit models of the catalogue had when units were a table of suffixes.
GOLDEN = {
    "ackermann": {"m": 2, "rad": 9, "m/s": 4, "rad/s": 8, "A": 2, "V": 2, "N m": 3, "W": 5, "N": 8, "J": 3},
    "differential_drive": {"m": 2, "rad": 3, "m/s": 3, "rad/s": 3, "A": 2, "V": 2, "N m": 2, "W": 4, "N": 4, "J": 3},
    "four_bar": {"rad": 3, "rad/s": 3, "A": 1, "V": 1, "N m": 1, "W": 3, "N": 2, "m": 22, "J": 3, "m/s": 1},
    "slider_crank": {"rad": 2, "m": 23, "rad/s": 2, "m/s": 2, "A": 1, "V": 1, "N m": 1, "W": 3, "N": 2, "J": 3},
    "swerve": {"m": 2, "rad": 13, "m/s": 11, "rad/s": 9, "A": 4, "V": 4, "N m": 8, "W": 10, "N": 12, "J": 3},
}  # fmt: skip


def jointed(kind, **changes):
    return parse_robot({"joints": {"j": {"type": kind, "body": BODY, **changes}}})


@pytest.mark.parametrize("name", GOLDEN)
def test_units_of_the_catalogue_stay(name):
    model = derived(name)
    assert (
        Counter(model.units[each] for each in (*model.states, *model.inputs, *model.outputs)) == GOLDEN[name]
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("fixed", "spin")])
def test_rates_and_coordinates_find_each_other(kind):
    keys = {"pitch": 0.1} if kind == "screw" else {}
    quantities = assemble(robot := jointed(kind, **keys), robot.resolver()).quantities
    for each in quantities.every:
        assert each.owner == "j"
        assert each.name == f"j.{each.label}"
        if each.coordinate:
            assert quantities.rate_of(each.coordinate) == each.name
            assert quantities[each.coordinate].slides == each.slides
            assert each.unit == f"{quantities[each.coordinate].unit}/s"


@pytest.mark.parametrize(("target", "unit", "effort"), [("slide", "m/s", "N"), ("turn", "rad/s", "N m")])
def test_a_motor_on_a_cylindrical_joint_says_what_it_moves(target, unit, effort):
    joints = {"lift": {"type": "cylindrical", "body": BODY}}
    motors = {"m": {"type": "torque", "drives": f"lift.{target}"}}
    robot = parse_robot({"joints": joints, "motors": motors})
    assert unit_rates(analyze(robot).maps, "motor")[1:] == (
        f"motor rates of norm 1 {unit}",
        f"no motor above 1 {unit}",
    )
    assert (units := derive(robot).units)["m.torque"] == units["m.delivered"] == effort
    rate = {"slide": "lift.speed", "turn": "lift.rate"}[target]
    assert (
        trundle.derive(robot).quantities.coordinate_of(rate)
        == f"lift.{'position' if target == 'slide' else 'angle'}"
    )


def test_a_servo_on_a_slide_holds_a_position():
    motors = {"hold": {"type": "servo", "drives": "j", "stiffness": 500.0, "damping": 50.0}}
    robot = parse_robot(
        {"joints": {"j": {"type": "prismatic", "axis": [1, 0, 0], "body": BODY}}, "motors": motors}
    )
    model = derive(robot)
    assert (model.units["hold.angle"], model.units["hold.torque"]) == ("m", "N")
    run = simulate(model, 20.0, {"hold.angle": "5 cm"}, samples=3)
    assert run["j.position"][-1] == pytest.approx(0.05, abs=1e-6)


def test_kinematics_take_the_slide_of_a_cylindrical_joint():
    robot = jointed("cylindrical")
    found = derive_rolling(robot, ["j.speed", "j.rate"])
    assert (found.units["j.speed"], found.units["j.position"]) == ("m/s", "m")
    run = trundle.roll(robot, 1.0, {"j.position": lambda t: 0.1 * t, "j.rate": "1 rev/s"}, samples=3)
    assert run["j.position"][-1] == pytest.approx(0.1)
    assert run["j.angle"][-1] == pytest.approx(2 * np.pi)


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_quaternions_start_upright_and_stay_unit(kind, rng):
    model = derive(jointed(kind))
    start = dict(model.initial)
    (place,) = model.quantities.quaternions(model.states)
    names = model.states[place : place + 4]
    assert [start[name] for name in names] == [1.0, 0.0, 0.0, 0.0]
    run = simulate(model, 1.0, initial={name: float(rng.uniform(-1, 1)) for name in model.speeds}, samples=21)
    lengths = np.sqrt(sum(run[name] ** 2 for name in names))
    assert np.abs(lengths - 1).max() < 1e-9
    many = rng.normal(size=(len(model.states), 7))
    made = model.quantities.normalised(model.states, many)
    assert np.allclose(np.linalg.norm(made[place : place + 4], axis=0), 1)
    others = [k for k in range(len(model.states)) if not place <= k < place + 4]
    assert (made[others] == many[others]).all()
    with pytest.raises(InputError, match=rf"the initial quaternion \({names[0]}, .*has length 2"):
        simulate(model, 1.0, initial={names[0]: 2.0})


def test_a_name_stands_for_one_quantity():
    first, second = Quantity("a", "m"), Quantity("a", "N")
    assert Quantities.gather([first], [second]).every == (first,)
    of = turning("rate", "angle").of("left")
    assert (of.name, of.label, of.owner, of.coordinate) == ("left.rate", "rate", "left", "left.angle")
    both = Quantities.gather([angle("angle").of("left"), of])
    assert (both.rate_of("left.angle"), both.rate_of("nobody"), both.coordinate_of("nobody")) == (
        "left.rate",
        "",
        "",
    )

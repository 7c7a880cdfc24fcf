"""What robots with loops and gears can and cannot do: dead points and change points by geometry, growth vectors."""

import math

import numpy as np
import pytest

import trundle
from model.linkages import bar, four_bar, parallelogram, slider_crank
from model.test_loops import random_chain
from trundle.analysis.analyze import analyze
from trundle.errors import InputError
from trundle.mechanics.closing import closed
from trundle.robot import parse_robot


def four_bar_joints(crank=0.3, coupler=0.9, rocker=0.7, base=1.0):
    return {
        "crank": {"type": "revolute", "body": bar(crank, 0.5)},
        "coupler": {"type": "revolute", "parent": "crank", "at": [crank, 0, 0], "body": bar(coupler, 1.0)},
        "rocker": {"type": "revolute", "at": [base, 0, 0], "body": bar(rocker, 0.8)},
    }


def driven(joint):
    return {"motors": {"drive": {"type": "torque", "drives": joint}}}


def found(analysis, what):
    """The configurations of one kind of singularity."""
    (one,) = [each for each in analysis.singularities if each.what == what]
    return [dict(point.at) for point in one.points]


def angle_beside(a, b, c):
    """The angle between sides a and b of a triangle, opposite c."""
    return math.acos((a * a + b * b - c * c) / (2 * a * b))


def grashof(rng):
    """Lengths of a crank that goes all the way round, and of coupler, rocker and base."""
    while True:
        crank, *others = sorted(rng.uniform(0.2, 1.2, 4))
        if crank + max(others) < sum(others) - max(others) - 0.05:
            return (crank, *rng.permutation(others).tolist())


@pytest.mark.slow
def test_a_four_bar_is_dead_where_crank_and_coupler_lie_in_line(rng):
    """Driven from the rocker: stretched and folded, each on both sides of the base; from the crank nowhere."""
    a, b, c, g = grashof(rng)
    can = analyze(four_bar((a, b, c), g, **driven("rocker")))
    stretched, folded = angle_beside(a + b, g, c), math.pi - angle_beside(abs(b - a), g, c)
    expected = sorted([stretched, -stretched, folded, -folded])
    points = sorted(found(can, "motors"), key=lambda at: at["crank.angle"])
    np.testing.assert_allclose([at["crank.angle"] for at in points], expected, atol=1e-7)
    np.testing.assert_allclose([math.sin(at["coupler.angle"]) for at in points], 0, atol=1e-7)
    assert not found(can, "loops")
    assert not found(analyze(four_bar((a, b, c), g)), "motors")
    for at in points:
        here = analyze(four_bar((a, b, c), g, **driven("rocker")), at)
        assert not here.held
        assert here.motions == here.freedoms == 1
        assert analyze(four_bar((a, b, c), g), at).held


@pytest.mark.slow
def test_a_crank_that_can_not_go_round_is_dead_at_its_ends(rng):
    """A double rocker, driven from its crank: where coupler and rocker are stretched, or folded."""
    a, b, c, g = 0.9 + rng.uniform(0, 0.05), 0.5, 0.8 + rng.uniform(0, 0.05), 0.6
    limits = [angle_beside(a, g, side) for side in (b + c, abs(b - c)) if abs(a - g) < side < a + g]
    points = found(analyze(four_bar((a, b, c), g)), "motors")
    assert len(points) == 2 * len(limits) > 0
    np.testing.assert_allclose(
        sorted(at["crank.angle"] for at in points), sorted([*limits, *(-each for each in limits)]), atol=1e-7
    )


@pytest.mark.slow
def test_a_slider_crank_is_dead_at_top_and_bottom(rng):
    """Driven by its piston, as an engine is; seen the other way round, there the piston stands still."""
    a, rod = 0.1, float(rng.uniform(0.15, 0.5))
    engine, pump = slider_crank(a, rod, **driven("piston")), slider_crank(a, rod)
    expected = [(0, a - rod), (0, a + rod), (math.pi, -a - rod), (math.pi, rod - a)]
    for what, can in (
        ("motors", analyze(engine)),
        ("piston", analyze(pump, frame="piston")),
    ):
        points = sorted((round(at["crank.angle"], 6), at["piston.position"]) for at in found(can, what))
        np.testing.assert_allclose(points, expected, atol=1e-6)
    assert not found(analyze(pump), "motors")
    (dead,) = [each for each in analyze(engine).singularities if each.what == "motors"]
    assert dead.explain().endswith("a dead point, it can move while its motors stand still")
    assert analyze(pump, frame="piston").frame_manipulability.explain() == "no motion at all"


@pytest.mark.parametrize("legs", [2, 3])
@pytest.mark.slow
def test_a_parallelogram_changes_its_way_of_assembly_where_it_is_flat(legs):
    """With a third crank what the others hold already is held twice, which is no singularity."""
    robot = parallelogram(legs)
    can = analyze(robot)
    points = sorted(at["crank.angle"] for at in found(can, "loops"))
    np.testing.assert_allclose(points, [0, math.pi], atol=1e-7)
    assert can.freedoms == 1
    assert analyze(robot, {"crank.angle": 0, "beam.angle": 0, "leg1.angle": 0}).motions == 2
    assert analyze(robot, {"crank.angle": 1.0}).motions == 1
    assert can.controllability.growth == (1,)


def test_the_rockers_speed_by_the_cranks(rng):
    """ω_rocker = ω_crank a sin(α − γ)/(c sin(β − γ)), all angles to the base; as a point's manipulability."""
    a, b, c, g = 0.3, 0.9, 0.7, 1.0
    at = {"crank.angle": float(rng.uniform(-3, 3)), "rocker.angle": math.radians(95)}
    can = analyze(four_bar((a, b, c), g), at, frame="rocker", point=(2.0, 0, 0))
    alpha, beta = can.configuration["crank.angle"], can.configuration["rocker.angle"]
    assert alpha == at["crank.angle"]
    gamma = alpha + can.configuration["coupler.angle"]
    ratio = a * math.sin(alpha - gamma) / (c * math.sin(beta - gamma))
    assert can.frame_manipulability.radii == (pytest.approx(2 * abs(ratio)),)


def test_a_configuration_is_where_a_run_starts(rng):
    robot = four_bar()
    at = {"crank.angle": float(rng.uniform(0.2, 3)), "rocker.angle": 1.6}
    model = trundle.derive(robot)
    x = dict(zip(model.states, model.state_vector(at), strict=True))
    for name, value in analyze(robot, at).configuration.items():
        assert math.cos(value - x[name]) == pytest.approx(1)
    with pytest.raises(InputError, match="stay open"):
        analyze(four_bar((0.9, 0.5, 0.8), 0.6), {"crank.angle": 3.0})


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["spherical", "revolute", "fixed"])
def test_random_spatial_loops_have_their_freedoms(rng, loop):
    """The same as by derivation, and the numbers close to the last digits."""
    robot = random_chain(rng, 6, loop)
    can = analyze(robot)
    assert can.freedoms == trundle.derive(robot).freedoms
    assert can.controllability.growth == (can.freedoms,)
    general = can.maps.general(4, rng)
    assert np.abs(can.maps.loops.gaps_and_rows(general)[0]).max() < 1e-12
    _, left = closed(can.maps.loops.conditions, general + rng.normal(size=general.shape) * 1e-3)
    assert left.max() < 1e-12


def linkage_on_wheels(loops=True):
    """A differential drive with a parallelogram on it, or with its crank alone."""
    joints = {"crank": {"type": "revolute", "at": [0.2, 0, 0], "body": bar(0.3, 0.5)}}
    more = {}
    if loops:
        joints["beam"] = {"type": "revolute", "parent": "crank", "at": [0.3, 0, 0], "body": bar(0.4, 1.0)}
        joints["leg"] = {"type": "revolute", "at": [0.6, 0, 0], "body": bar(0.3, 0.5)}
        ends = {"first": {"body": "beam", "at": [0.4, 0, 0]}, "second": {"body": "leg", "at": [0.3, 0, 0]}}
        more["loops"] = {"pin": {"type": "revolute", **ends}}
    return parse_robot(
        {
            "base": "planar",
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "wheels": {
                "left": {"at": [0, 0.3, 0], "radius": 0.1},
                "right": {"at": [0, -0.3, 0], "radius": 0.1},
            },
            "joints": joints,
            "motors": {
                "l": {"type": "torque", "drives": "left"},
                "r": {"type": "torque", "drives": "right"},
                "lift": {"type": "torque", "drives": "crank"},
            },
            **more,
        }
    )


def test_loops_are_holonomic():
    """A parallelogram on a robot adds the one freedom that its crank alone would add, and no brackets."""
    plain, held = (analyze(linkage_on_wheels(loops)) for loops in (False, True))
    for one, two in (
        (plain.controllability, held.controllability),
        (plain.full_controllability, held.full_controllability),
    ):
        assert (two.growth, two.dimension) == (one.growth, one.dimension)
        assert [(b.name, b.level) for b in two.brackets] == [(b.name, b.level) for b in one.brackets]
    assert held.controllability.growth == (3, 4)
    assert held.base_motion.basis == plain.base_motion.basis
    assert held.freedoms == plain.freedoms == 3
    assert {round(at["crank.angle"], 6) for at in found(held, "loops")} == {0, round(math.pi, 6)}


def steered_by_a_rod(tiller):
    """A front wheel on a knuckle, which a rod turns from a tiller; with equal arms a parallelogram."""
    body = {"mass": 1, "inertia": {"zz": 0.1}}
    ends = {
        "first": {"body": "tiller", "at": [0, tiller, 0]},
        "second": {"body": "knuckle", "at": [0, 0.2, 0]},
    }
    return parse_robot(
        {
            "base": "planar",
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "joints": {
                "knuckle": {"type": "revolute", "at": [1.0, 0, 0], "body": body},
                "tiller": {"type": "revolute", "at": [0.4, 0, 0], "body": body},
            },
            "loops": {"rod": {"type": "rod", "length": 0.6, **ends}},
            "wheels": {
                "left": {"at": [0, 0.3, 0], "radius": 0.1},
                "right": {"at": [0, -0.3, 0], "radius": 0.1},
                "front": {"at": [0, 0, 0], "parent": "knuckle", "radius": 0.1},
            },
            "motors": {
                "steer": {"type": "torque", "drives": "tiller"},
                "drive": {"type": "torque", "drives": "front"},
            },
        }
    )


@pytest.mark.parametrize("tiller", [0.2, 0.15])
def test_steering_through_a_rod_leads_where_steering_does(tiller):
    """The car's growth vector (2, 3, 4), and the car's centre of rotation where the knuckle stands."""
    can = analyze(steered_by_a_rod(tiller), {"tiller.angle": "20 deg"})
    assert (can.controllability.growth, can.controllability.dimension) == ((2, 3, 4), 4)
    assert can.controllability.here == (2, 3, 4)
    knuckle = can.configuration["knuckle.angle"]
    assert (knuckle == pytest.approx(math.radians(20))) == (tiller == 0.2)
    np.testing.assert_allclose(can.base_motion.centre, (0, 1 / math.tan(knuckle)), atol=1e-9)


def geared(name):
    return trundle.load(f"examples/gears/{name}.yaml")


@pytest.mark.slow
def test_gears_carry_speeds_and_singularities():
    """The car's motor turns 6 times a wheel's turn; its column 15 times as far as the wheel steers, to 90°."""
    can = analyze(geared("rear_axle"))
    assert can.manipulability.axes == (pytest.approx((0.28 / 6, 0, 0)),)
    assert can.motions == 2
    points = [at["column.angle"] for at in found(can, "motors")]
    np.testing.assert_allclose(np.abs(points), 15 * math.pi / 2, rtol=1e-9)
    turned = analyze(geared("rear_axle"), {"column.angle": "150 deg"})
    np.testing.assert_allclose(turned.base_motion.centre, (0, 1.8 / math.tan(math.radians(10))), atol=1e-9)


def test_a_synchro_drive_never_turns():
    can = analyze(geared("synchro"))
    reach = can.controllability
    assert (reach.growth, reach.dimension) == ((2, 3), 4)
    assert [[name for name, _ in terms] for terms in reach.integrals] == [["theta"]]
    assert can.manipulability.axes == (pytest.approx((0.06 / 15, 0, 0)),)  # its motor has a gear of 15
    assert "belt_left.gear" in {relation.names[0] for relation in can.repeated}


@pytest.mark.slow
def test_a_linkage_driven_through_a_gear_is_dead_where_it_was(rng):
    """The rocker's dead points, seen from a shaft that turns so many times as far."""
    ratio = float(rng.integers(2, 5))
    shaft = {"type": "revolute", "at": [2, 0, 0], "body": {"inertia": {"zz": 0.1}}}
    joints = {**four_bar_joints(), "shaft": shaft}
    mesh = {"type": "gear", "joint": "rocker", "follows": {"shaft": 1 / ratio}}
    can = analyze(four_bar(joints=joints, couplings={"mesh": mesh}, **driven("shaft")))
    assert can.freedoms == 1
    points, expected = found(can, "motors"), found(analyze(four_bar(**driven("rocker"))), "motors")
    for at in expected:
        (same,) = {
            round(math.cos(here["shaft.angle"] / ratio - at["rocker.angle"]), 9)
            for here in points
            if math.cos(here["crank.angle"] - at["crank.angle"]) > 1 - 1e-9
        }
        assert same == 1
    assert len({round(math.cos(at["crank.angle"]), 6) for at in points}) == 2

"""What robots can and cannot do: laws on random robots, published growth vectors, known singularities."""

import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod

import trundle
from model import random_robots
from parameters import mostly_slow
from trundle import catalog, documents
from trundle.analysis.analyze import analyze
from trundle.analysis.lie_filtration import NamedField, filtration
from trundle.errors import InputError
from trundle.mechanics.linear import apply
from trundle.model.classification import mobility_of, rolling
from trundle.model.constraints import configure, constraint_rows, coordinate_rates
from trundle.robot.description import parse_robot
from trundle.show.summaries.analysis_sentences import axis_text
from trundle.show.summaries.analysis_summary import sections
from trundle.show.summaries.lines import Page


def car(trailers=0, driven="front"):
    """A tricycle whose trailers hang on its rear axle, and then on each other's."""
    wheel = {"radius": 0.1}
    made = {
        "name": "car",
        "body": {"mass": 10, "inertia": {"zz": 1}},
        "wheels": {
            "left": {"at": [0, "w", 0], **wheel},
            "right": {"at": [0, "-w", 0], **wheel},
            "front": {"type": "steered", "at": ["l", 0, 0], **wheel},
        },
        "joints": {},
        "motors": {
            "drive": {"type": "torque", "drives": driven},
            "steer": {"type": "torque", "drives": "front.steering"},
        },
        "parameters": {"w": 0.3, "l": 1.0},
    }
    parent = "base"
    for k in range(1, trailers + 1):
        made["joints"][f"hitch_{k}"] = {
            "type": "revolute",
            "parent": parent,
            "at": [0 if k == 1 else -1, 0, 0],
            "body": {"name": f"trailer_{k}", "mass": 1, "inertia": {"zz": 1}},
        }
        made["wheels"][f"trailing_{k}"] = {"at": [-1, 0, 0], "parent": f"trailer_{k}", **wheel}
        parent = f"trailer_{k}"
    return parse_robot(made)


@pytest.mark.parametrize("kind", mostly_slow(catalog.names(), ["differential_drive", "tricycle", "four_bar"]))
@pytest.mark.slow
def test_every_answer_for_every_robot_of_the_catalogue(kind):
    robot = catalog.robot(kind)
    found = analyze(robot)
    for each in (
        found.controllability,
        found.full_controllability,
        *found.singularities,
    ):
        assert each.explain()
    assert found.freedoms == trundle.derive(robot).freedoms or any(
        wheel.law.pushes for wheel in robot.wheels.values()
    )
    if robot.wheels:
        assert found.base_motion.explain()
        assert found.manipulability.explain()
        if not any(wheel.type == "steered" for wheel in robot.wheels.values()):
            assert found.base_motion.dimension == found.mobility.mobility


@pytest.mark.parametrize("kind", sorted(random_robots.ALL))
def test_admissible_twists_satisfy_the_rows(kind, rng):
    """Aν = 0 for each twist of the basis, the other speeds solved for; and no other twist does."""
    robot = parse_robot(random_robots.ALL[kind](rng))
    found = analyze(robot)
    q = found.maps.general(1, rng)
    found = analyze(robot, dict(zip(found.maps.names, q[0], strict=True)))
    rows = found.maps.constraints(q)[0] / found.maps.scale
    base, others = list(found.maps.base), [j for j in range(rows.shape[1]) if j not in found.maps.base]
    for twist in found.base_motion.basis:
        rest = np.linalg.lstsq(rows[:, others], -rows[:, base] @ twist, rcond=None)[0]
        np.testing.assert_allclose(rows[:, base] @ twist + rows[:, others] @ rest, 0, atol=1e-9)
    null = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows, tol=1e-9) :].T
    assert np.linalg.matrix_rank(null[base], tol=1e-7) == found.base_motion.dimension


def test_relations_hold_between_the_rows(rng):
    found = analyze(catalog.robot("ackermann"))
    names = [f"{row.owner}.{row.what}" for row in found.maps.about]
    for relation in found.repeated:
        for q in found.maps.general(3, rng):
            rows = found.maps.constraints(q[None])[0]
            used = rows[[names.index(name) for name in relation.names]]
            assert np.linalg.matrix_rank(used, tol=1e-9) == len(used) - 1
    assert [r.names[0] for r in found.repeated] == ["rear_right.lateral", "front_right.lateral"]


@pytest.mark.slow
def test_the_centre_of_rotation_of_a_steered_robot(rng):
    """A tricycle turns about the point of the rear axle at l/tan δ; four modules about the point asked for."""
    for delta in rng.uniform(-1.4, 1.4, 5):
        motion = analyze(catalog.robot("tricycle", wheelbase=0.9), {"front.steering": delta}).base_motion
        assert motion.dimension == 1
        np.testing.assert_allclose(motion.centre, [0, 0.9 / math.tan(delta)], atol=1e-9)
    for point in rng.uniform(-2, 2, (5, 2)):
        for modules in (2, 3, 4, 6):
            robot = catalog.robot("swerve", modules=modules)
            angles = analyze(robot).steering((point[1], -point[0], 1.0))
            found = analyze(robot, angles)
            np.testing.assert_allclose(found.base_motion.centre, point, atol=1e-8)
            assert found.mobility.mobility == 1
    assert analyze(catalog.robot("swerve"), {"front_left.steering": 0.2}).base_motion.dimension == 0
    with pytest.raises(InputError, match="no steered wheels"):
        analyze(catalog.robot("mecanum")).steering((1, 0, 0))


GROWTHS = [
    (catalog.robot("differential_drive"), {}, (2, 3), (2, 3)),
    (catalog.robot("offset_drive"), {}, (3, 4), (3, 4)),
    (catalog.robot("swerve", modules=2), {}, (3, 5), (3, 5)),
    (catalog.robot("swerve"), {}, (3, 5), (3, 5)),
    (catalog.robot("mecanum"), {}, (3,), (3,)),
    (catalog.robot("pendulum", links=3), {}, (3,), (3,)),
    (catalog.robot("pendulum", links=200), {}, (200,), (200,)),
    (catalog.robot("ackermann"), {}, (2, 3, 4), (2, 3, 4)),
    (car(), {}, (2, 3, 4), (2, 3, 4)),
    (car(1), {}, (2, 3, 4, 5), (2, 3, 4, 5)),
    (car(2), {}, (2, 3, 4, 5, 6), (2, 3, 4, 5, 6)),
    # Jean 1996: degrees at singular hitches are Fibonacci numbers; at all of them across, F_6 = 8.
    (car(1), {"front.steering": "90 deg"}, (2, 3, 4, 5), (2, 3, 4, 4, 5)),
    (car(2), {"hitch_1.angle": "90 deg"}, (2, 3, 4, 5, 6), (2, 3, 4, 5, 5, 6)),
    (car(2), {"hitch_2.angle": "90 deg"}, (2, 3, 4, 5, 6), (2, 3, 4, 5, 6)),
    (
        car(2),
        {"front.steering": "90 deg", "hitch_1.angle": "90 deg"},
        (2, 3, 4, 5, 6),
        (2, 3, 4, 4, 5, 5, 5, 6),
    ),
]


@pytest.mark.parametrize(("robot", "at", "growth", "here"), GROWTHS)
@pytest.mark.slow
def test_published_growth_vectors(robot, at, growth, here):
    found = analyze(robot, at).controllability
    assert found.complete
    assert found.growth == growth
    assert found.here == here
    assert found.degree == len(growth)
    assert len(found.brackets) == found.dimension
    assert len({bracket.moves for bracket in found.brackets}) == found.dimension
    said = f", at this configuration ({', '.join(map(str, here))})"
    assert (said in found.explain()) == (here != growth)


def test_wheel_angles_are_not_all_reached():
    """right − left says where the robot points: (track/r) θ = right.angle − left.angle."""
    found = analyze(catalog.robot("differential_drive", track=1.2, radius=0.15)).full_controllability
    assert not found.complete
    assert found.growth == (2, 3, 4)
    assert found.dimension == 5
    (terms,) = found.integrals
    assert dict(terms) == pytest.approx({"theta": 8, "right.angle": -1, "left.angle": 1})
    assert "never changes: 8 theta - right.angle + left.angle" in found.explain()
    skid = analyze(catalog.robot("skid_steer")).controllability
    assert (skid.growth, dict(skid.integrals[0])) == ((1,), {"theta": 1.0})


def growth_by_sympy(robot, coordinates, rng):
    """The growth vector with S(q) from SymPy's null space of A(q), and SymPy's brackets: nothing by AD or pivots."""
    maps = analyze(robot).maps
    names = list(maps.names)
    q = [sp.Symbol(name) for name in names]
    assembly = maps.assembly
    at = configure(assembly, names, q)
    rows, _ = constraint_rows(assembly, at, rolling(assembly))
    exact = sp.Matrix([[sp.nsimplify(entry, rational=True) for entry in row] for row in rows])
    basis = [vector.applyfunc(sp.simplify) for vector in exact.nullspace()]
    chosen = [names.index(name) for name in coordinates]
    symbols = sp.Matrix([q[k] for k in chosen])

    def field(vector):
        rates = coordinate_rates(assembly, names, at, list(vector))
        return sp.Matrix([sp.nsimplify(rates[k], rational=True) for k in chosen])

    def bracket(f, g):
        return g.jacobian(symbols) * f - f.jacobian(symbols) * g

    points = rng.uniform(0.2, 1.0, (2, len(chosen)))

    def values(fields):
        functions = [sp.lambdify([list(symbols)], list(each), "mpmath") for each in fields]
        with mpmath.workdps(
            50
        ):  # brackets of fields that aren't simplified are 0/0 where tan(steering) = w/l
            return np.array(
                [[np.array(f(list(map(mpmath.mpf, p))), dtype=float) for f in functions] for p in points]
            )

    fields = [NamedField(str(k), field(vector)) for k, vector in enumerate(basis)]
    return filtration(fields, bracket, values, len(chosen)).growth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "coordinates"),
    [
        (catalog.robot("differential_drive"), ("x", "y", "theta")),
        (catalog.robot("differential_drive"), ("x", "y", "theta", "right.angle", "left.angle")),
        (catalog.robot("offset_drive"), ("x", "y", "theta", "steering.angle")),
        (car(), ("x", "y", "theta", "front.steering")),
        (car(1), ("x", "y", "theta", "hitch_1.angle", "front.steering")),
    ],
)
def test_growth_vectors_against_sympy(robot, coordinates, rng):
    found = analyze(robot)
    own = found.full_controllability if "left.angle" in coordinates else found.controllability
    assert own.coordinates == coordinates
    assert own.growth == growth_by_sympy(robot, coordinates, rng)


def test_the_offset_drive_is_singular_only_without_its_offset():
    """Wada's drive: the platform's twist by the motors' rates has the determinant r² s/W, whatever the angle."""
    found = analyze(catalog.robot("offset_drive"))
    platform = {each.what: each for each in found.singularities}["platform"]
    assert platform.parameters == ("s",)
    assert platform.points == ()
    assert platform.explain() == "only with s = 0: platform can't be moved in one direction"
    assert found.frame_manipulability.parts == ("v_x", "v_y", "omega_z")
    assert len(found.frame_manipulability.radii) == 3
    # the determinant from the numbers: G maps rates of norm 1 to twists, ω counted at the length
    volume = found.frame_manipulability.measure / found.length
    assert volume == pytest.approx(0.1**2 * 0.2 / 0.5 / 20**2)  # behind gears of 20


@pytest.mark.slow
def test_two_modules_lose_their_constraint_in_line():
    found = analyze(catalog.robot("swerve", modules=2))
    wheels = {each.what: each for each in found.singularities}["wheels"]
    (point,) = wheels.points
    assert dict(point.at) == pytest.approx({"front.steering": math.pi / 2, "rear.steering": math.pi / 2})
    along = analyze(catalog.robot("swerve", modules=2), dict(point.at))
    assert along.base_motion.dimension == 2


def test_a_rear_motor_stands_still_at_the_centre():
    """A car driven by its left rear wheel alone loses it where that wheel is the centre: tan δ = l/w."""
    found = analyze(car(driven="left"))
    motors = {each.what: each for each in found.singularities}["motors"]
    (point,) = motors.points
    assert dict(point.at) == pytest.approx({"front.steering": math.atan2(1.0, 0.3)})
    held = analyze(car(driven="left"), dict(point.at)).manipulability
    assert held.radii == ()
    assert len(held.undriven) == 1
    assert "no motor holds" in held.explain()


@pytest.mark.slow
def test_the_elbow():
    for links in (2, 3):
        found = analyze(catalog.robot("pendulum", links=links))
        (tip,) = found.singularities
        assert tip.what == f"link_{links}"
        np.testing.assert_allclose([dict(p.at)["link_2.angle"] for p in tip.points], [0, math.pi], atol=1e-7)


def test_joint_limits_bound_the_search():
    data = {
        "name": "arm",
        "joints": {
            "shoulder": {"type": "revolute", "body": {"mass": 1, "inertia": {"zz": 1}}},
            "elbow": {
                "type": "revolute",
                "parent": "shoulder",
                "at": [1, 0, 0],
                "lower": "20 deg",
                "upper": "150 deg",
                "body": {"mass": 1, "center_of_mass": [1, 0, 0], "inertia": {"zz": 1}},
            },
        },
    }
    (tip,) = analyze(parse_robot(data)).singularities
    assert tip.points == ()
    assert dict(tip.search.worst.at)["elbow.angle"] == pytest.approx(math.radians(20), abs=0.05) or dict(
        tip.search.worst.at
    )["elbow.angle"] == pytest.approx(math.radians(150), abs=0.05)
    data["joints"]["elbow"]["lower"] = "-20 deg"
    (tip,) = analyze(parse_robot(data)).singularities
    assert [round(dict(p.at)["elbow.angle"], 6) for p in tip.points] == [0]


def test_a_frames_manipulability_is_its_jacobians(rng):
    model = trundle.derive(catalog.robot("pendulum", links=2))
    q = rng.uniform(-2, 2, 2)
    at = dict(zip(model.coordinates, q, strict=True))
    point = (0.1, 0.0, -0.5)
    found = model.analyze(at, frame="link_2", point=point)
    program = model.frame("link_2", point)
    jacobian = program.evaluate(q, np.zeros(2), np.array(list(model.parameters.values())))[3].reshape(6, 2)
    expected = np.linalg.svd(jacobian[[0, 2]], compute_uv=False)
    np.testing.assert_allclose(found.frame_manipulability.radii, expected, rtol=1e-9)
    assert found.frame.parts == ("v_x", "v_z")


def test_velocities_of_a_differential_drive():
    """v = r(a + b)/2, ω = r(a − b)/W: circles of r/√2, ω counted at half the track."""
    found = analyze(catalog.robot("differential_drive", track=1.2, radius=0.15))
    assert found.length == pytest.approx(0.6)
    np.testing.assert_allclose(found.manipulability.radii, 0.15 / math.sqrt(2))
    np.testing.assert_allclose(
        found.manipulability.axes, [[0.15 / math.sqrt(2), 0, 0], [0, 0, 0.25 / math.sqrt(2)]]
    )
    other = analyze(catalog.robot("differential_drive", track=1.2, radius=0.15), length="1.2 m")
    assert other.manipulability.condition == pytest.approx(2)
    limited = analyze(catalog.robot("mecanum"))
    assert "480 rad/s before the gear, those at top speed" in limited.manipulability.rates
    (relation,) = limited.rate_relations
    assert relation.explain() == "rear_left.rate + rear_right.rate = front_left.rate + front_right.rate"


def _wheeled(motor, radius=0.1):
    """Two wheels 0.4 m apart, a motor on each."""
    sides = (("left", 1), ("right", -1))
    wheels = {
        name: {"type": "fixed", "at": [0, side * 0.2, radius], "radius": radius} for name, side in sides
    }
    motors = {f"{name}_motor": {"drives": name, **motor} for name in wheels}
    return parse_robot({"wheels": wheels, "motors": motors})


@pytest.mark.parametrize("ratio", [1, 20, -20])
def test_unit_rates_are_those_of_motors_shafts(ratio):
    """At 1 rad/s of the shaft a wheel turns at 1/N: v = r/N, ω = 2 r/(N W)."""
    found = analyze(_wheeled({"type": "torque", "gear_ratio": ratio})).manipulability
    np.testing.assert_allclose(found.radii, 0.1 / math.sqrt(2) / abs(ratio))
    np.testing.assert_allclose(found.fastest, [[0.1 / abs(ratio), 0, 0], [0, 0, 0.5 / abs(ratio)]])
    assert found.limit == "no motor above 1 rad/s" + ("" if ratio == 1 else " before the gear")


def test_unit_rates_behind_couplings():
    """A shaft's reduction of 6 and a differential are behind the motor's own gear of 5: v = r/(5 · 6)."""
    text = Path("examples/gears/rear_axle.yaml").read_text(encoding="utf-8")
    geared = text.replace("motor: {drives: shaft,", "motor: {drives: shaft, gear_ratio: 5,")
    robots = [documents.parse(each).robot for each in (text, geared)]
    radii = [found.radii[0] for robot in robots if (found := analyze(robot).manipulability)]
    np.testing.assert_allclose(radii[0], 5 * radii[1])
    assert radii[0] == pytest.approx(0.28 / 6)


def test_rates_at_top_speed_are_said_at_the_shaft():
    winding = {"torque_constant": 0.5, "resistance": 1.0, "voltage_limit": 12}
    found = analyze(_wheeled({**winding, "gear_ratio": 20})).manipulability
    assert found is not None
    assert found.fastest is not None
    assert found.limit == "no motor above 24 rad/s before the gear, its rate at top speed"
    assert found.fastest[0][0] == pytest.approx(0.1 * 24 / 20)


def test_real_motors_run_free_as_published():
    robot = trundle.catalog.swerve(motor="kraken_x60", gear_ratio=6.75, radius="2 in")
    free = 6000 * 2 * np.pi / 60 / 6.75  # rad/s of the wheels
    swift = trundle.analyze(robot).manipulability.fastest
    assert swift is not None
    assert swift[0][0] == pytest.approx(free * 0.0508, rel=1e-9)
    rubbing = {"torque_constant": 0.5, "resistance": 2.0, "coulomb": 0.5, "voltage_limit": 12}
    found = trundle.analyze(_wheeled(rubbing)).top_speed
    assert found is not None
    assert found.speed == pytest.approx(0.1 * (12 - 2 * 1) / 0.5, rel=1e-5)  # dry friction is smoothed
    assert found.limit == "voltage of left_motor, right_motor"


@pytest.mark.parametrize(
    ("kind", "fastest"),
    [
        ("differential_drive", {"v_x": 0.15, "omega": 0.25}),  # r, 2r/W at 1 rad/s: no limit is described
        ("swerve", {"v_x": 60 * 0.05}),
        ("mecanum", {"v_x": 2.4, "v_y": 2.4, "omega": 2.4 / 0.5}),
        ("three_omni", {"v_x": 2.4 * 2 / math.sqrt(3), "v_y": 2.4, "omega": 2.4 / 0.25}),
    ],
)
def test_top_speeds_of_textbook_robots(kind, fastest):
    found = analyze(catalog.robot(kind)).manipulability
    assert found is not None
    assert found.fastest is not None
    told = {name: max(abs(axis[k]) for axis in found.fastest) for k, name in enumerate(found.parts)}
    assert {name: value for name, value in told.items() if value > 1e-9} == pytest.approx(fastest)
    assert found.explain().startswith(f"up to {axis_text(found, found.fastest[0])}")


WHEEL = {"radius": 0.1, "mass": 1.0}
HEAVY = {"mass": 2.0, "inertia": {"zz": 0.05}}


def two_drives(ahead=0.0):
    """Two differential drives on pivots under one platform, their axles `ahead` of the pivots."""
    return {
        "body": HEAVY,
        "joints": {f"p{k}": {"type": "revolute", "at": [x, 0, 0], "body": HEAVY} for k, x in ((1, 0.5), (2, -0.5))},
        "wheels": {
            f"{side}{k}": {"parent": f"p{k}", "at": [ahead, y, 0], **WHEEL}
            for k in (1, 2)
            for side, y in (("left", 0.2), ("right", -0.2))
        },
    }  # fmt: skip


def steered(*places, gears=(), **wheels):
    """Steered wheels a, b, … at the places; `gears` are ratios of b's, c's, … steering to a's."""
    names = "abcd"[: len(places)]
    turned = {n: {"type": "steered", "at": [*at, 0], **WHEEL} for n, at in zip(names, places, strict=True)}
    gear = {
        f"gear_{name}": {"type": "gear", "joint": f"{name}.steering", "follows": {"a.steering": ratio}}
        for name, ratio in zip(names[1:], gears, strict=False)
    }
    return {"body": HEAVY, "wheels": {**turned, **wheels}, "couplings": gear}


def mimicking(ratio):
    """A differential drive whose right wheel follows the left one."""
    wheels = {side: {"at": [0, y, 0], **WHEEL} for side, y in (("left", 0.2), ("right", -0.2))}
    gear = {"type": "gear", "joint": "right", "follows": {"left": ratio}}
    return {"body": HEAVY, "wheels": wheels, "couplings": {"gear": gear}}


@pytest.mark.parametrize(
    ("robot", "expected"),
    [
        (two_drives(), (1, 2)),  # pivots over the axles steer
        (two_drives(0.3), (3, 0)),  # beside them they are driven casters
        (steered((0.5, 0.3), (-0.5, 0.3), gears=[-1]), (1, 1)),  # all axles meet on one line
        (steered((0.5, 0.3), (-0.5, 0.3), gears=[1]), (1, 1)),  # parallel: it never turns
        (steered((0.5, 0.3), (-0.5, 0.3)), (1, 2)),
        (steered((0.5, 0), fixed={"at": [0, 0, 0], **WHEEL}), (1, 1)),
        (steered((0.5, 0.3), (-0.5, 0.3), (0, -0.3), gears=[-1]), None),  # only coordinated
        (mimicking(1), (1, 0)),  # straight ahead
        (mimicking(-2), (1, 0)),  # about a point between the wheels
    ],
)
def test_mobility_of_wheels_on_pivots_and_behind_gears(robot, expected):
    """The class against what the base's twists are at random configurations: δ_m of them at each, δ_m + δ_s in all."""
    made = parse_robot(robot)
    found = analyze(made).mobility
    assert (None if found is None else (found.mobility, found.steerability)) == expected
    assert mobility_of(analyze(made).maps.assembly) == found
    if expected is None:
        return
    rng = np.random.default_rng(3)
    pivots = ("steering", "p1.angle", "p2.angle")
    names = [name for name in analyze(made).maps.names if name.endswith(pivots)]
    twists = []
    for _ in range(4):
        motion = analyze(made, dict(zip(names, rng.uniform(-1, 1, len(names)), strict=True))).base_motion
        assert motion.dimension == expected[0]
        twists += motion.basis
    assert np.linalg.matrix_rank(twists, tol=1e-9) == sum(expected)


@pytest.mark.parametrize("joints", [3, 40])
def test_an_arm_on_a_drive_adds_its_joints_and_no_brackets(joints):
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    arm = {
        f"j{k}": {
            "type": "revolute",
            "axis": [0, 1, 0],
            "body": body,
            **({"parent": f"j{k - 1}"} if k else {}),
        }
        for k in range(joints)
    }
    wheels = {name: {"at": [0, y, 0], **WHEEL} for name, y in (("left", 0.3), ("right", -0.3))}
    found = analyze(parse_robot({"body": HEAVY, "wheels": wheels, "joints": arm}))
    assert found.controllability.growth == (2 + joints, 3 + joints)
    assert found.controllability.complete
    assert found.full_controllability.growth == (2 + joints, 3 + joints, 4 + joints)


def test_robots_that_cannot_be_derived_can_be_asked():
    locked = catalog.robot("swerve", contact="ideal")
    with pytest.raises(InputError, match="lock"):
        trundle.derive(locked)
    found = analyze(locked)
    assert found.maps.coordinated == ("rear_right", "front_right")
    assert found.controllability.growth == (3, 5)
    (note,) = found.singularities
    assert "any angle" in note.explain()


def test_other_bases():
    free = parse_robot(
        {"name": "free", "base": "floating", "body": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}
    )
    found = analyze(free)
    assert found.controllability.growth == (6,)
    assert found.controllability.complete
    assert (found.base_motion, found.manipulability, found.singularities) == (None, None, ())
    ball = parse_robot(
        {
            "name": "ball",
            "joints": {
                "hip": {"type": "spherical", "body": {"mass": 1, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}
            },
        }
    )
    assert analyze(ball).controllability.dimension == 3


def test_what_makes_no_sense_is_refused():
    robot = catalog.robot("pendulum")
    with pytest.raises(InputError, match="not a coordinate"):
        analyze(robot, {"link_1.angel": 1.0})
    with pytest.raises(InputError, match="no link 'link_9'"):
        analyze(robot, frame="link_9")
    with pytest.raises(InputError, match="a point's x, y and z"):
        analyze(robot, frame="link_1", point=(1, 2))
    with pytest.raises(InputError, match="needs a frame"):
        analyze(catalog.robot("mecanum"), point=(0, 0, 0))
    with pytest.raises(InputError, match="a point's x, y and z"):
        analyze(robot, frame="link_1", point="origin")
    for length in (0, -1, 1e-300, math.nan):
        with pytest.raises(InputError, match="length"):
            analyze(robot, length=length)
    with pytest.raises(InputError, match="takes a robot"):
        analyze(3)
    with pytest.raises(InputError, match="a mapping of names"):
        analyze(robot, [1])
    with pytest.raises(InputError, match="names are text, not int: 1"):
        analyze(robot, {1: 1.0})
    with pytest.raises(InputError, match="no link '3'"):
        analyze(robot, frame=3)
    for twist in ((1, 2), "fast", (1, math.nan, 0)):
        with pytest.raises(InputError, match="twist|finite"):
            analyze(catalog.robot("tricycle")).steering(twist)
    floating = parse_robot(
        {"base": "floating", "body": {"mass": 1.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}}
    )
    for quaternion in ({"q_w": 0.0}, {"q_x": 1.0}):
        with pytest.raises(InputError, match="a rotation's has 1"):
            analyze(floating, quaternion)
    assert analyze(floating, {"q_w": 0.6, "q_x": 0.8}).configuration["q_x"] == pytest.approx(0.8)
    with pytest.raises(InputError):
        analyze(robot, {"link_1.angle": "3 kg"})


def test_a_model_is_asked_like_its_robot():
    """Also a reopened one; one from SymPy has no wheels to look at."""
    robot = catalog.robot("tricycle")
    at = {"front.steering": 0.5}
    assert analyze(trundle.derive(robot), at).base_motion == analyze(robot, at).base_motion
    assert "it turns about (0, 1.647) m" in repr(analyze(robot, at))
    angle = sp.Function("theta")
    t = sp.Symbol("t")
    pendulum = LagrangesMethod(angle(t).diff(t) ** 2 / 2 + sp.cos(angle(t)), [angle(t)])
    pendulum.form_lagranges_equations()
    with pytest.raises(InputError, match="not derived from a description"):
        analyze(trundle.from_sympy(pendulum))


def test_general_configurations_let_coordinated_robots_move(rng):
    maps = analyze(catalog.robot("swerve", modules=5)).maps
    for q in maps.general(5, rng):
        rows = maps.constraints(q[None])[0]
        twist = np.linalg.svd(rows)[2][-1]
        assert np.abs(apply(rows.tolist(), twist.tolist())).max() < 1e-9


def test_a_flat_ellipsoid_is_said_in_words():
    """Mecanum wheels whose rollers stand as tyres do can't go sideways: that stood there as "condition inf"."""
    said = "\n".join(sections(trundle.analyze(catalog.mecanum(roller_angle="0 deg")), Page()))
    assert "condition infinite: it is flat" in said
    assert "inf," not in said

"""Loads that slopes and accelerations shift: hands' formulas, and the same robot as a body that could also rise, roll
and pitch, on which the contacts' forces leave nothing to do so.
"""

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import ExternalWrench, inverse_dynamics, link_wrenches
from trundle.mechanics.momentum import center_of_mass
from trundle.model import load_shift
from trundle.model.forces import base_frames, contact_place
from trundle.model.health import Standing, standing
from trundle.model.manifold import settle
from trundle.model.mechanism import mechanism
from trundle.robot import ContactLaw, Push, parse_robot, register
from trundle.robot.component import plain
from trundle.robot.contact import LAWS
from trundle.scalars import smooth_sign
from trundle.show.summaries.robot_summary import standing_facts
from trundle.spatial.motions import Force

FRONT, REAR, HALF, HEIGHT, RADIUS, MASS, G = 0.7, 0.5, 0.3, 0.4, 0.1, 60.0, 9.81
# Without mass, so that all of the weight is the body's; an axle's inertia is there to be driven.
WHEEL = {"radius": RADIUS, "inertia": {"axle": 0.01, "diameter": 0.01}, "contact": "slip"}
MIDDLE = (FRONT - REAR) / 2
PLACES = {
    "front_left": (FRONT, HALF),
    "front_right": (FRONT, -HALF),
    "rear_left": (-REAR, HALF),
    "rear_right": (-REAR, -HALF),
}


def car(gravity=G, height=HEIGHT, ahead=0, **wheel):
    """A car with its mass `height` above the ground, and as far `ahead` of the base's origin."""
    body = {"mass": MASS, "center_of_mass": [ahead, 0, height - RADIUS], "inertia": {"zz": 4.0}}
    wheels = {name: {"at": [x, y, 0], **WHEEL, **wheel} for name, (x, y) in PLACES.items()}
    return parse_robot({"gravity": gravity, "body": body, "wheels": wheels})


def sloped(angle, heading=0.0):
    """Gravity on a slope that falls by an angle (rad) along the world's x, or along a heading from it."""
    pull = G * np.sin(angle)
    return [pull * np.cos(heading), pull * np.sin(heading), -G * np.cos(angle)]


def at(model, values=None):
    """Rates and outputs by name at a state, zero where nothing is given."""
    state = np.array([(values or {}).get(name, 0.0) for name in model.states])
    inputs, parameters = np.zeros(len(model.inputs)), np.array(list(model.parameters.values()))
    (rates,) = model.dynamics.evaluate(state, inputs, parameters)
    (seen,) = model.observe.evaluate(state, inputs, parameters)
    return dict(zip(model.states, rates, strict=True)), dict(zip(model.outputs, seen, strict=True))


def axles(seen):
    """What the front and the rear axle carry."""
    return [sum(seen[f"{end}_{side}.load"] for side in ("left", "right")) for end in ("front", "rear")]


def ended(run):
    """What a run ends with, by name."""
    return {f"{name}.load": run[f"{name}.load"][-1] for name in PLACES}


@pytest.mark.parametrize("angle", [-0.25, 0.3])
@pytest.mark.slow
def test_a_car_parked_on_a_slope_by_hand(angle):
    """m g (cos a · b/L ± h/L sin a), where brakes and treads hold it."""
    model = trundle.derive(car(sloped(angle), contact="bristle", damping=1e6))
    run = trundle.simulate(model, 1.5, samples=4)
    length, weight = FRONT + REAR, MASS * G
    front = weight * (REAR * np.cos(angle) + HEIGHT * np.sin(angle)) / length
    rear = weight * (FRONT * np.cos(angle) - HEIGHT * np.sin(angle)) / length
    assert axles(ended(run)) == pytest.approx([front, rear], rel=1e-6)


@pytest.mark.slow
def test_it_turns_with_its_heading():
    """Across the slope the lower side carries more: m g (cos a/2 ± h/(2 y) sin a)."""
    model = trundle.derive(car(sloped(0.2), contact="bristle", damping=1e6, bristle_stiffness=1e6))
    run = trundle.simulate(model, 1.5, initial={"theta": np.pi / 2}, samples=4)
    lower = ended(run)["front_right.load"] + ended(run)["rear_right.load"]
    by_hand = MASS * G * (np.cos(0.2) / 2 + HEIGHT * np.sin(0.2) / (2 * HALF))
    assert lower == pytest.approx(by_hand, rel=1e-4)  # it leans on treads of finite stiffness: some 1e-5 rad


def test_a_braking_car_by_hand():
    """With all wheels locked it brakes by μ g, and μ m g h/L goes to the front."""
    model = trundle.derive(car(damping=1e7, friction=0.5, slip_speed=1e-6))
    run = trundle.simulate(model, 0.2, initial={"v_x": 4.0}, samples=3, rtol=1e-9)
    shifted = 0.5 * MASS * G * HEIGHT / (FRONT + REAR)
    still = np.array([REAR, FRONT]) * MASS * G / (FRONT + REAR)
    assert run.final["v_x"] == pytest.approx(4.0 - 0.5 * G * 0.2, rel=1e-5)
    assert axles(ended(run)) == pytest.approx(still + [shifted, -shifted], rel=1e-5)


def test_a_car_that_slides_sideways_by_hand():
    """The side that leads carries m g/2 + μ m g h/(2 y)."""
    model = trundle.derive(car(friction=0.3, slip_speed=1e-6))
    _, seen = at(model, {"v_y": 2.0})
    leads = seen["front_left.load"] + seen["rear_left.load"]
    assert leads == pytest.approx(MASS * G * (0.5 + 0.3 * HEIGHT / (2 * HALF)), rel=1e-9)


@pytest.mark.parametrize("turn", [0.0, np.pi])
def test_it_tips_where_the_slope_is_b_over_h(turn):
    """tan a = b/h, b from the mass to the lower axle."""
    reach = FRONT if turn == 0.0 else REAR
    steepest = np.arctan2(reach, HEIGHT)
    trundle.derive(car(sloped(steepest - 1e-6, turn)))
    with pytest.raises(InputError, match="would tip") as error:
        trundle.derive(car(sloped(steepest + 1e-6, turn)))
    assert ("rear_left" if turn == 0.0 else "front_left") in error.value.message


def test_it_is_said_on_which_slope_a_standing_robot_tips(rng):
    """Over the nearest side of the wheels: by the least of all angles, and in words."""
    found = standing(car())
    assert found == Standing(pytest.approx(HEIGHT), pytest.approx(np.arctan2(HALF, HEIGHT)), found.over)
    assert len({name.rpartition("_")[2] for name in found.over}) == 1  # both on one side
    assert standing(car(height=RADIUS)) is None
    ((_, words),) = standing_facts(car())
    assert words.startswith("on slopes beyond 36.9 deg, over")
    robot = random_robot(rng, "slip")
    found, here = standing(robot), mechanism(robot)
    frames = base_frames(here.assembly, here.at.poses)
    _, center = center_of_mass(here.assembly.tree, frames)
    places = np.array([contact_place(wheel, frames) for wheel in here.assembly.wheels]) - center[:2]
    # in any direction, what reaches furthest keeps it from tipping that way
    away = np.exp(1j * np.linspace(0, 2 * np.pi, 100_001))
    reach = np.max(np.outer(away.real, places[:, 0]) + np.outer(away.imag, places[:, 1]), axis=1).min()
    nearest = np.tan(found.slope) * found.height
    step = 2 * np.pi / 100_000  # a direction between two is missed by half of it
    assert nearest - 1e-9 <= reach <= nearest + step * np.abs(places).max()


def test_without_heights_a_slope_is_refused_by_name():
    """Of a catalogue robot, too; loads that are given need no height."""
    robot = car(sloped(0.1), height=RADIUS)
    with pytest.raises(InputError, match=r"center_of_mass has no height") as error:
        trundle.derive(robot)
    assert error.value.key == "robot.body.center_of_mass"
    flat = trundle.catalog.differential_drive(contact="slip")
    tilted = parse_robot(plain(flat) | {"gravity": sloped(0.1)})
    with pytest.raises(InputError, match="center_of_mass"):
        trundle.derive(tilted)
    loaded = trundle.derive(car(sloped(0.1), height=RADIUS, load=100.0))
    assert at(loaded)[1]["rear_left.load"] == 100.0


def test_without_heights_nothing_shifts():
    """The plain 0 says that no height is known: loads are those at rest."""
    _, seen = at(trundle.derive(car(height=RADIUS)), {"v_x": 3.0, "v_y": 1.0, "omega": 2.0})
    still = np.array([REAR, FRONT]) * MASS * G / (FRONT + REAR)
    assert axles(seen) == pytest.approx(still, rel=1e-12)


# The same robot, free to rise, roll and pitch.


def speeds(model, values):
    """All speeds by name at values of the states."""
    here = mechanism(model.robot, dict(model.parameters))
    here = here.configured([values[name] for name in here.names])
    nu = here.speeds([values[name] for name in here.basis.labels])
    return dict(zip(here.assembly.speeds, nu, strict=True))


def accelerations(model, values, rates, step=1e-5):
    """Rates of all speeds by name: those of dependent ones ν = S(q) u by a difference along the motion."""
    ahead, behind = (
        speeds(model, {name: values[name] + way * rates[name] for name in model.states})
        for way in (step, -step)
    )
    return {name: rates.get(name, (ahead[name] - behind[name]) / (2 * step)) for name in ahead}


def ground_push(wheel, known):
    """What the ground does to a wheel, at its contact, in the axes of its frame."""
    force = np.array([0.0, 0.0, known[wheel.pressed.name]])
    for direction in wheel.directions:
        size = known.get(wheel.force(direction).name, 0.0)
        force[:2] += size * np.array([direction.along, direction.across])
    moment = (0.0, known.get(wheel.moment.name, 0.0), 0.0)
    return ExternalWrench(wheel.link, Force(tuple(force), moment), (0.0, 0.0, -wheel.radius))


def unbalanced(model, values):
    """What the base of the same robot on a floating joint would need beyond the contacts' forces (N, N m), at the
    accelerations of the program.
    """
    rates, seen = at(model, values)
    known = {**values, **seen}
    here = mechanism(model.robot, dict(model.parameters))
    here = here.configured([values[name] for name in here.names])
    tree, names = here.assembly.tree, here.assembly.speeds[: here.assembly.tree.speed_count]

    def floating(by_name):
        v_x, v_y, omega, *rest = (by_name[name] for name in names)
        return [v_x, v_y, 0.0, 0.0, 0.0, omega, *rest]

    free = replace(tree, links=(replace(tree.links[0], kind="floating"), *tree.links[1:]))
    pushes = [ground_push(wheel, known) for wheel in here.assembly.wheels]
    external = link_wrenches(free, world_poses(tree, here.at.poses), pushes)
    motion = floating(speeds(model, values)), floating(accelerations(model, values, rates))
    return np.array(inverse_dynamics(free, here.at.poses, *motion, external)[:6])


class Dragging(ContactLaw):
    """Coulomb's friction that wears off with the load, and a moment that resists rolling."""

    type: Literal["dragging"] = "dragging"
    resists: ClassVar[bool] = True

    def push(self, touch, read):
        grip = read(self.friction) * touch.load * (1 - 2e-4 * touch.load)
        forces = [-grip * smooth_sign(slip, 0.1) for slip in touch.slip]
        return Push(forces, moment=-0.02 * touch.radius * touch.load * smooth_sign(touch.rim, 0.1))


def random_robot(rng, kind):
    """Wheels anywhere around masses of any height, an arm on top, on a slope: `kind` says what else."""

    def wheel(x, y, **keys):
        radius = rng.uniform(0.05, 0.2)
        return {"at": [x, y, radius - 0.1], "radius": radius, "mass": rng.uniform(0.2, 1.0), **keys}

    def body(mass, z):
        inertia = {"xx": 0.2, "yy": 0.3, "zz": 0.25, "xy": 0.02, "xz": -0.03}
        return {"mass": mass, "center_of_mass": [*rng.uniform(-0.05, 0.05, 2), z], "inertia": inertia}

    corners = {"a": (0.8, 0.6), "b": (-0.7, 0.7), "c": (-0.6, -0.8), "d": (0.7, -0.6)}
    law = {"contact": {"bristle": "bristle", "own": "dragging"}.get(kind, "slip")}
    law["friction"] = rng.uniform(0.2, 0.9)
    wheels = {
        name: wheel(*place, heading=rng.uniform(-3, 3), **law)
        if name in "ab"
        else wheel(*place, type="steered", fork=body(0.3, 0), **law)
        for name, place in corners.items()
    }
    motors = {}
    if kind == "ideal":
        wheels["a"].update(contact="ideal")
        motors["rotor"] = {"drives": "a", "torque_constant": 0.1, "resistance": 1.0, "rotor_inertia": 0.05}
    if kind == "given":
        wheels["a"]["load"] = 60.0
        wheels["ball"] = {"type": "ball", "at": [0.1, 0.2, -0.05], "radius": 0.05, "mass": 0.3}
    joints = {
        "turn": {"at": [0.1, 0, 0.2], "rpy": [0.1, 0.2, 0.3], "body": body(2.0, 0.1)},
        "lift": {"type": "prismatic", "parent": "turn", "axis": [0.2, 0.1, 1], "body": body(1.0, 0.2)},
        "nod": {"parent": "lift", "axis": [0.3, 1, 0], "armature": 0.1, "body": body(1.0, 0.1)},
    }
    loops = {}
    if kind == "loop":
        joints["rod"] = {"parent": "turn", "at": [0.3, 0, 0], "axis": [0, 1, 0], "body": body(0.5, 0.2)}
        rod = {"first": {"body": "nod", "at": [0, 0, 0.3]}, "second": {"body": "rod", "at": [0, 0, 0.3]}}
        loops["link"] = {"type": "rod", "length": 0.3, **rod}
    slope = [*rng.uniform(-1, 1, 2), -9.5]
    parts = {"wheels": wheels, "joints": joints, "loops": loops, "motors": motors}
    return parse_robot({"gravity": slope, "body": body(30.0, rng.uniform(-0.1, 0.6)), **parts})


def slow_enough(model, rng):
    """A random state, slow enough that all wheels stand."""
    values = {name: rng.uniform(-1, 1) for name in model.states}
    values |= {name: 1e-4 * values[name] for name in model.states if name.endswith("deflection")}
    for _ in range(12):
        if model.manifold is not None:
            values = dict(zip(model.states, settle(model, values, (), model.parameters), strict=True))
        loads = [value for name, value in at(model, values)[1].items() if name.endswith(".load")]
        if min(loads) > 0:
            return values
        values = {name: value / 2 for name, value in values.items()}
    raise AssertionError(f"{model.name} never stands")


@pytest.fixture
def own_law():
    """Dragging for the time of a test."""
    before = dict(LAWS._members)
    register(Dragging)
    yield
    LAWS._members = before


KINDS = mostly_slow(["slip", "bristle", "own", "ideal", "given", "loop"], ["slip", "own", "ideal"])


@pytest.mark.usefixtures("own_law")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_that_would_lift_roll_or_pitch_it(rng, kind):
    """The loads balance Newton and Euler at the run's own accelerations."""
    model = trundle.derive(random_robot(rng, kind))
    left = unbalanced(model, slow_enough(model, rng))
    assert np.abs(left).max() < 1e-9 * 400  # of its weight


@pytest.mark.usefixtures("own_law")
@pytest.mark.parametrize("kind", ["slip", "bristle", "own"])
@pytest.mark.slow
def test_the_energy_account_holds(rng, kind):
    """Work and losses go on balancing: loads do no work."""
    model = trundle.derive(random_robot(rng, kind))
    run = trundle.simulate(model, 0.3, initial={"v_x": 0.3, "omega": 0.2}, samples=10, rtol=1e-8)
    assert run.summary["energy_imbalance"] <= 1e-6 * run.summary["energy_turned_over"]


def test_steps_and_the_direct_solution_agree(rng, monkeypatch):
    """Newton's steps give what three linear equations give for friction that is proportional to the load."""
    robot = random_robot(rng, "slip")
    direct = trundle.derive(robot)
    values = slow_enough(direct, rng)
    monkeypatch.setattr(load_shift, "_proportional", lambda numbers: False)
    by_steps = at(trundle.derive(robot), values)[1]
    expected = at(direct, values)[1]
    loads = [name for name in expected if name.endswith(".load")]
    assert len(loads) == 4
    assert [by_steps[name] for name in loads] == pytest.approx([expected[name] for name in loads], rel=1e-10)


@pytest.mark.slow
def test_a_run_says_when_it_tips_and_over_which_wheels():
    """Sideways at μ h > y it turns over: at once, over the wheels on the side that leads."""
    model = trundle.derive(car(friction=1.2))
    with pytest.warns(
        RuntimeWarning, match=r"nothing presses front_right, rear_right .* front_left, rear_left"
    ):
        run = trundle.simulate(model, 0.1, initial={"v_y": 2.0}, samples=11)
    assert run.summary["lifted"] == {"front_right": 0.0, "rear_right": 0.0}
    assert run["front_left.load"].max() <= MASS * G * (1 + 1e-12)  # all that there is
    steady = trundle.simulate(trundle.derive(car(friction=0.5)), 0.1, initial={"v_y": 2.0}, samples=11)
    assert "lifted" not in steady.summary


@pytest.mark.filterwarnings("ignore:.*nothing presses")
def test_when_wheels_lift_hangs_on_no_samples():
    """A spinning car slides round until its left wheels carry nothing."""
    model, start = trundle.derive(car(friction=1.2)), {"v_x": 3.0, "omega": 4.0}
    few, many = (
        trundle.simulate(model, 0.5, initial=start, samples=count, progress=False) for count in (31, 3001)
    )
    close = trundle.simulate(model, times=np.linspace(0.03, 0.05, 20_001), initial=start, progress=False)
    lifted = few.summary["lifted"]
    assert 0.03 < lifted["front_left"] < lifted["rear_left"] < 0.05
    assert many.summary["lifted"] == pytest.approx(lifted, abs=1e-6)
    for name, when in lifted.items():
        bare = close.time[np.flatnonzero(close[f"{name}.load"] <= 0)[0]]
        assert -1e-9 < bare - when < 1.1e-6


def test_equations_show_the_loads_by_the_accelerations():
    """And are compared with the program, as all are; where couplings bind the speeds, they are left out and said."""
    written = trundle.equations(car(sloped(0.1)), "dynamics", points=40)
    defined = {str(each.symbol): each for each in written.definitions}
    assert "vdot_x" in map(str, defined["W_x"].expression.free_symbols)
    (section,) = (each for each in written.sections if each.title == "Slipping contacts")
    assert "depend on the accelerations" in section.notes[0]
    bound = trundle.equations(trundle.catalog.ackermann(contact="slip"), "dynamics")
    (section,) = (each for each in bound.sections if each.title == "Slipping contacts")
    assert "not written out" in section.notes[0]
    assert "front_left.traction" in {equation.name for equation in section.equations}


def in_mujoco(friction, gravity, velocity):
    """Mean loads over the last second of three on which a body slides on four frictional feet, by MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    touch = f'condim="3" solref="0.02 1" friction="{friction} 0 0"'
    feet = "".join(
        f'<geom type="sphere" size="0.01" pos="{x} {y} {0.01 - HEIGHT}" mass="0" {touch}/>'
        for x, y in PLACES.values()
    )
    body = f'<inertial pos="{MIDDLE} 0 0" mass="{MASS}" diaginertia="2 3 4"/>{feet}'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.0002" gravity="{" ".join(map(str, gravity))}" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="50 50 1" {touch}/><body pos="0 0 {HEIGHT}"><freejoint/>{body}</body>'
        "</worldbody></mujoco>"
    )
    data, force, total = mujoco.MjData(model), np.zeros(6), np.zeros(4)
    data.qvel[:3] = velocity
    for step in range(15_000):
        mujoco.mj_step(model, data)
        for contact in range(data.ncon if step >= 10_000 else 0):
            mujoco.mj_contactForce(model, data, contact, force)
            total[data.contact[contact].geom2 - 1] += force[0]
    return total / 5_000


@pytest.mark.slow
@pytest.mark.parametrize(("gravity", "velocity"), [((0, 0, -G), (0, 12, 0)), ((1, 0, -9.5), (12, 0, 0))])
def test_mujoco_agrees(gravity, velocity):
    """A car with locked wheels and its mass midway, so that it doesn't turn, slides sideways and down a slope. MuJoCo's
    feet are soft: the car hops on them, and the mean of a second is one in a hundred off.
    """
    model = trundle.derive(car(list(gravity), ahead=MIDDLE, damping=1e7, friction=0.3, slip_speed=1e-6))
    start = dict(zip(("v_x", "v_y"), velocity, strict=False))
    run = trundle.simulate(model, 3.0, initial=start, samples=301, rtol=1e-7)
    ours = [run[f"{name}.load"][run.time >= 2.0].mean() for name in PLACES]
    assert in_mujoco(0.3, gravity, velocity) == pytest.approx(ours, rel=0.015)

"""A step over ground makes no energy: bodies in flight, wheels on ice, turns on grip, and what its books tell."""

import numpy as np
import pytest

import trundle
from tests.parameters import mostly_slow
from trundle.mechanics.frames import velocities, world_poses
from trundle.mechanics.momentum import center_of_mass, kinetic_energy, total_momentum
from trundle.model.ground_model import derive_on
from trundle.model.mechanism import mechanism
from trundle.robot.terrain import parse_terrain
from trundle.simulation.stepping import stepped_problem

GRAVITY = 9.81
PLACES = {"fl": (0.5, 0.4), "fr": (0.5, -0.4), "rl": (-0.5, 0.4), "rr": (-0.5, -0.4)}
WHEEL = {"radius": 0.2, "mass": 2.0, "width": 0.05, "contact": "linear"}
HIGH = 1e4


def car(**wheel):
    """100 kg on four free wheels."""
    wheels = {name: {"at": [*at, 0], **WHEEL, **wheel} for name, at in PLACES.items()}
    body = {"mass": 100.0, "center_of_mass": [0, 0, 0.01], "inertia": {"xx": 10.0, "yy": 10.0, "zz": 10.0}}
    return trundle.Robot(name="car", base="planar", body=body, wheels=wheels)


def random_body(rng, mass):
    """Principal axes and centre of mass anywhere."""
    turned, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    about = turned @ np.diag(mass * rng.uniform(0.01, 0.02, 3)) @ turned.T
    entries = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    inertia = {name: float(about[at]) for name, at in entries.items()}
    return {"mass": mass, "center_of_mass": rng.uniform(-0.05, 0.05, 3).tolist(), "inertia": inertia}


def chain(rng, links, kind="revolute", **parts):
    """A floating tree of so many links, with one foot that never touches anything."""
    joints, parent = {}, "base"
    for k in range(links - 1):
        axis = rng.normal(size=3)
        joints[f"j{k}"] = {
            "type": kind,
            "parent": parent,
            "at": rng.uniform(-0.3, 0.3, 3).tolist(),
            "axis": (axis / np.linalg.norm(axis)).tolist(),
            "body": random_body(rng, rng.uniform(1, 3)),
        }
        parent = f"j{k}"
    toe = {"type": "foot", "at": [0, 0, -0.1], "radius": 0.01, "contact": "linear"}
    return trundle.Robot(
        name="chain", base="floating", body=random_body(rng, 5.0), joints=joints, wheels={"toe": toe}, **parts
    )


def thrown(robot, omega, step, seconds, **rates):
    """All states of a flight from (3, 0, 0) m/s, at every step."""
    steps = round(seconds / step)
    initial = {
        "z": HIGH,
        "v_x": 3.0,
        **dict(zip(("omega_x", "omega_y", "omega_z"), omega, strict=True)),
        **rates,
    }
    problem = stepped_problem(
        derive_on(robot, parse_terrain({})),
        {},
        initial,
        {},
        duration=steps * step,
        step=step,
        samples=steps + 1,
        seed=0,
    )
    inputs = np.zeros((steps, len(problem.system.inputs)))
    return problem.system, problem._advanced(problem.start, inputs, 0, steps, lambda _: None)


def seen(model, states):
    """By summing over the bodies: P, L about the centre of mass (world), the centre's place, the energy about it."""
    rows = dict(zip(model.states, states, strict=True))
    place = np.array([rows[name] for name in "xyz"])
    rows |= {name: np.zeros_like(rows[name]) for name in "xyz"}  # of the place nothing of this hangs
    numbers = mechanism(model.robot, terrain=True)
    there = numbers.configured([rows[name] for name in numbers.names])
    tree, nu = there.assembly.tree, [rows[name] for name in model.speeds]
    world = world_poses(tree, there.at.poses)
    momenta = total_momentum(tree, world, velocities(tree, there.at.poses, nu))
    mass, center = center_of_mass(tree, world)
    turned = np.array(np.broadcast_arrays(*(part for row in world[0].rotation for part in row)))
    back = np.einsum("ijt,it->jt", turned.reshape(3, 3, -1), np.array(momenta.linear)) / mass
    resting = [*(v - b for v, b in zip(nu[:3], back, strict=True)), *nu[3:]]
    energy = kinetic_energy(tree, velocities(tree, there.at.poses, resting), resting)
    return np.array(momenta.linear), np.array(momenta.angular), np.array(center) + place, energy, mass


def kept(model, states, step):
    """Largest shares by which momenta are not Newton's, how far the centre is from its parabola (m), the energy about
    it over that at first.
    """
    linear, angular, center, energy, mass = seen(model, states)
    time = step * np.arange(states.shape[1])
    falls = np.array([[0.0], [0.0], [-GRAVITY]])
    off = linear - linear[:, :1] - mass * falls * time
    way = center - center[:, :1] - linear[:, :1] / mass * time - falls / 2 * time**2
    pushed = np.abs(off).max() / np.linalg.norm(linear, axis=0).max()
    spun = np.abs(angular - angular[:, :1]).max() / np.linalg.norm(angular[:, 0])
    return pushed, spun, np.abs(way).max(), energy / energy[0]


@pytest.mark.parametrize("per_turn", [3, 8, 30])
def test_a_body_keeps_momenta_and_energy_over_100_turns(per_turn, rng):
    omega = rng.normal(size=3) + [1.0, 20.0, 3.0]
    turn = 2 * np.pi / np.linalg.norm(omega)
    model, states = thrown(chain(rng, 1), omega, turn / per_turn, 100 * turn)
    pushed, spun, off, energy = kept(model, states, turn / per_turn)
    assert pushed < 1e-12
    assert spun < 1e-11
    assert off < 1e-8  # of a fall by kilometres
    assert np.abs(energy - 1).max() < 1e-10


@pytest.mark.parametrize("spin", [10.0, 300.0])
def test_balanced_wheels_spin_as_fast_as_they_like_on_a_tumbling_base(spin, rng):
    omega = rng.normal(size=3) + [10.0, 20.0, 30.0]
    turn = 2 * np.pi / np.linalg.norm(omega)
    rates = {f"{name}.rate": spin * rng.uniform(-1, 1) for name in PLACES}
    model, states = thrown(car(), omega, turn / 30, 20 * turn, **rates)
    pushed, spun, _, energy = kept(model, states, turn / 30)
    assert max(pushed, spun) < 1e-10
    assert np.abs(energy - 1).max() < 1e-10


def fastest_turn(robot, omega, rates):
    """How long the fastest link's fastest turn takes (s), along a way of many small steps."""
    turn = 2 * np.pi / (np.linalg.norm(omega) + sum(map(abs, rates.values())))
    model, states = thrown(robot, omega, turn / 60, 100 * turn, **rates)
    rows = dict(zip(model.states, states, strict=True))
    base = np.sqrt(sum(rows[f"omega_{axis}"] ** 2 for axis in "xyz"))
    return 2 * np.pi / (base + sum(abs(rows[name]) for name in rates)).max()


FLIGHTS = [(2, 30, 0.04, 5e-4), (3, 30, 0.04, 5e-4), (2, 100, 4e-3, 2e-5), (3, 100, 4e-3, 2e-5)]


@pytest.mark.parametrize(("links", "per_turn", "swing", "loss"), mostly_slow(FLIGHTS, FLIGHTS[:1]))
def test_robots_with_joints_keep_momenta_and_swing_little(links, per_turn, swing, loss, rng):
    robot, omega = chain(rng, links), np.array([20.0, 30.0, -10.0])
    rates = {f"j{k}.rate": rng.uniform(-20, 20) for k in range(links - 1)}
    turn = fastest_turn(robot, omega, rates)
    model, states = thrown(robot, omega, turn / per_turn, 100 * turn, **rates)
    pushed, spun, _, energy = kept(model, states, turn / per_turn)
    assert max(pushed, spun) < 1e-10
    assert np.abs(energy - 1).max() < swing
    tenth = len(energy) // 10
    assert -100 * loss < energy[-tenth:].mean() - energy[:tenth].mean() < swing / 4


@pytest.mark.parametrize("per_turn", mostly_slow([1.5, 2, 3, 5, 7], [3]))
def test_below_eight_steps_a_turn_nothing_runs_away(per_turn, rng):
    robot, omega = chain(rng, 3), np.array([20.0, 30.0, -10.0])
    rates = {f"j{k}.rate": rng.uniform(-20, 20) for k in range(2)}
    turn = 2 * np.pi / (np.linalg.norm(omega) + sum(map(abs, rates.values())))
    model, states = thrown(robot, omega, turn / per_turn, 100 * turn, **rates)
    pushed, spun, _, energy = kept(model, states, turn / per_turn)
    assert max(pushed, spun) < 1e-10
    assert energy.max() < 3


@pytest.mark.parametrize("step", mostly_slow([0.2, 0.05, 0.02, 0.005, 0.002], [0.2, 0.05]))
def test_a_car_on_ice_goes_on_as_newton_says(step):
    run = trundle.simulate(car(friction=1e-6), 5.0, terrain={}, initial={"v_x": 5, "omega_z": 3}, step=step)
    assert np.hypot(run["v_x"][-1], run["v_y"][-1]) == pytest.approx(5, abs=1e-4)
    assert run["x"][-1] == pytest.approx(25, abs=1e-3)
    assert run.summary["energy"]["made_by_step"] < 1e-5


def test_the_step_of_the_reference_makes_energy_and_says_so():
    """Its own error: a factor √(1 + h² ω²) of speed a step (the reference's fault 13)."""
    given = {"initial": {"v_x": 5, "omega_z": 3}, "step": 0.2, "attitude": "euler_angles"}
    run = trundle.simulate(car(friction=1e-9), 5.0, terrain={}, **given)
    speed = np.hypot(run["v_x"], run["v_y"])
    assert speed[-1] == pytest.approx(5 * (1 + 0.36) ** (25 / 2), rel=1e-3)
    energy = run.summary["energy"]
    assert energy["made_by_step"] > 0.9
    assert energy["made_by_step_from"] == 0


@pytest.mark.parametrize("step", mostly_slow([0.2, 0.05, 0.01, 0.002], [0.05]))
def test_a_car_on_balls_neither_gains_nor_loses(step):
    balls = {name: {"type": "ball", "at": [*at, 0], "radius": 0.2} for name, at in PLACES.items()}
    body = {"mass": 50.0, "center_of_mass": [0, 0, 0.05], "inertia": {"xx": 2.0, "yy": 3.0, "zz": 4.0}}
    robot = trundle.Robot(name="tray", base="planar", body=body, wheels=balls)
    run = trundle.simulate(robot, 4.0, terrain={}, initial={"v_x": 2, "omega_z": 3}, step=step)
    assert np.hypot(run["v_x"], run["v_y"]) == pytest.approx(2, abs=1e-9)


@pytest.mark.parametrize("step", mostly_slow([0.2, 0.05, 0.01, 0.002], [0.01]))
def test_a_throw_is_a_parabola(step):
    toe = {"type": "foot", "at": [0, 0, -0.1], "radius": 0.01, "contact": "linear"}
    body = {"mass": 10.0, "center_of_mass": [0, 0, 0], "inertia": {"xx": 0.5, "yy": 0.6, "zz": 0.7}}
    robot = trundle.Robot(name="bar", base="floating", body=body, wheels={"toe": toe})
    run = trundle.simulate(
        robot, 1.0, terrain={}, initial={"z": 100.0, "v_x": 3.0, "omega_y": min(20.0, 2 / step)}, step=step
    )
    assert run["x"][-1] == pytest.approx(3, abs=1e-10)
    assert 100 - run["z"][-1] == pytest.approx(GRAVITY / 2, abs=1e-10)


def test_a_chain_thrown_in_steps_too_long_says_which_step_can(rng):
    given = {"initial": {"z": HIGH, "omega_x": 20.0, "omega_y": 30.0, "j0.rate": 5.0}}
    run = trundle.simulate(chain(rng, 3), 2.0, terrain={}, step=0.05, **given)
    assert run.summary["too_long_steps"] > 0
    step = run.summary["energy"]["step"]
    base = np.linalg.norm([run[f"omega_{axis}"] for axis in "xyz"], axis=0)
    most = base + abs(np.asarray(run["j0.rate"])) + abs(np.asarray(run["j1.rate"]))
    assert 0.5 / most.max() / 2 < step <= 0.5 / base.max()  # half a radian, to one digit
    shorter = trundle.simulate(chain(rng, 3), 2 * step, terrain={}, step=step / 4, **given)
    assert "too_long_steps" not in shorter.summary


def test_steps_of_legs_in_flight_and_on_the_ground_are_solved(rng):
    """Whether forces balance is told by what the step itself took: `observe` read numbers beyond those it was given."""
    leg = {"type": "prismatic", "axis": [0, 0, -1], "stiffness": 8e3, "damping": 300.0, "body": {"mass": 3.0}}
    joints = {f"{name}_leg": {**leg, "at": [*at, 0]} for name, at in PLACES.items()}
    toe = {"type": "foot", "at": [0, 0, -0.1], "radius": 0.05, "contact": "bristle"}
    wheels = {name: {"parent": f"{name}_leg", **toe} for name in PLACES}
    robot = trundle.Robot(
        name="table", base="floating", body=random_body(rng, 90.0), joints=joints, wheels=wheels
    )
    initial = {"z": 0.8, "v_x": 5, "omega_x": -1, "omega_z": -2.5}
    run = trundle.simulate(robot, 1.0, terrain={}, initial=initial, step=0.01)
    assert run.summary["unsolved_steps"] == 0
    assert run.summary["energy"]["made_by_step"] < 1e-4


@pytest.mark.parametrize("step", mostly_slow([1e-2, 1e-3, 1e-4], [1e-4]))
def test_flights_at_small_steps_are_solved(step, rng):
    """What rounding leaves of m v/h grows as steps shrink: a search for less than that finds nothing."""
    run = trundle.simulate(
        chain(rng, 3), 200 * step, terrain={}, initial={"z": HIGH, "v_x": 50, "omega_y": 6}, step=step
    )
    assert run.summary["unsolved_steps"] == 0


def test_joints_with_a_cam_turn_alike_however_fast_the_robot_is_thrown(rng):
    """Galilei's law; and energy is kept to the first order in the step."""
    curve = {"type": "natural", "x": [-3, -1.5, 0, 1.5, 3], "y": [0, 1.0, 0.2, 1.2, 0]}
    cam = {"cam": {"type": "cam", "joint": "j1", "follows": "j0", "curve": curve}}
    robot, ends = chain(rng, 3, couplings=cam), {}
    for speed, step in ((0, 1e-3), (30, 1e-3), (0, 5e-4)):
        start = {"z": HIGH, "v_x": speed, "omega_y": 6.0, "j0.rate": 5.0}
        run = trundle.simulate(robot, 0.5, terrain={}, initial=start, step=step)
        energy = sum(run[f"energy.{name}"] for name in ("kinetic", "potential", "internal"))
        ends[speed, step] = (
            np.array([run[name][-1] for name in ("j0.angle", "j0.rate", "omega_y")]),
            np.ptp(energy),
        )
    assert np.abs(ends[30, 1e-3][0] - ends[0, 1e-3][0]).max() < 1e-7  # rounding, in 500 steps
    assert 1.8 < ends[0, 1e-3][1] / ends[0, 5e-4][1] < 2.2


def test_a_part_called_step_is_shown():
    """What a step remembers has names that no part can have."""
    lift = {
        "type": "prismatic",
        "axis": [0, 0, -1],
        "stiffness": 8e3,
        "damping": 300.0,
        "body": {"mass": 3.0},
    }
    wheels = {name: {"at": [*at, 0], **WHEEL} for name, at in PLACES.items()}
    body = {"mass": 100.0, "center_of_mass": [0, 0, 0.01], "inertia": {"xx": 10.0, "yy": 10.0, "zz": 10.0}}
    robot = trundle.Robot(name="car", base="planar", body=body, wheels=wheels, joints={"step": lift})
    run = trundle.simulate(robot, 0.1, terrain={}, step=0.01)
    assert [name for name in run.columns if name.startswith("step")] == ["step.position", "step.rate"]


def test_a_pendulum_on_a_car_is_no_fault_of_the_plane():
    """The base is put by the centre of mass, beside where its speed leads: the step's own doing, as a plane is flat."""
    wheels = {name: {"at": [*at, 0], **WHEEL} for name, at in PLACES.items()}
    arm = {"type": "revolute", "axis": [0, 1, 0], "at": [0, 0, 0.3]}
    arm["body"] = {
        "mass": 3.0,
        "center_of_mass": [0, 0, -0.4],
        "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.01},
    }
    body = {"mass": 300.0, "inertia": {"xx": 30.0, "yy": 30.0, "zz": 30.0}}
    robot = trundle.Robot(name="swing", base="planar", body=body, wheels=wheels, joints={"arm": arm})
    run = trundle.simulate(robot, 2.0, terrain={}, step=0.005, initial={"arm.angle": np.radians(120)})
    energy = run.summary["energy"]
    assert energy["made_by_ground"] < 1e-3
    assert 0.005 < energy["made_by_step"] < 0.05

"""Motors that hold rates, off terrain: closed forms, torques told to other motors, runs by rates alone."""

import numpy as np
import pytest
import yaml

import trundle
from model import linkages, random_robots
from model.test_against_multipliers import named_motion
from parameters import mostly_slow
from trundle.documents import dump
from trundle.model.manifold import on_manifold
from trundle.model.mechanism import mechanism
from trundle.robot import parse_robot

GRAVITY, MASS, REACH, INERTIA, DRAG = 9.81, 2.0, 0.3, 0.4, 0.7
RATE, LAG = 3.0, 0.05


def pendulum(links=1, **motor):
    """Rods that hang on each other's ends and turn about y, all driven."""
    rod = {
        "mass": MASS,
        "center_of_mass": [0, 0, -REACH],
        "inertia": dict.fromkeys(("xx", "yy", "zz"), INERTIA),
    }
    joints = {
        f"link_{k}": {"type": "revolute", "axis": [0, 1, 0], "body": rod, "damping": DRAG}
        | ({"parent": f"link_{k - 1}", "at": [0, 0, -2 * REACH]} if k else {})
        for k in range(links)
    }
    motors = {f"m{k}": {"type": "ideal", "drives": each, **motor} for k, each in enumerate(joints)}
    return parse_robot({"gravity": GRAVITY, "joints": joints, "motors": motors})


def described(robot):
    """A robot as plain data."""
    return yaml.safe_load(dump(robot))["robot"]


def retyped(description, names=None, **motor):
    """A description's motors of those `names` (all, by default) of another type, on what they drive."""
    motors = {
        name: {"drives": each["drives"], **motor} if names is None or name in names else each
        for name, each in description["motors"].items()
    }
    return {**description, "motors": motors}


def test_a_pendulums_torque_is_the_closed_forms():
    """ω = c (1 − e^(−t/T)), τ = (J + m r²) ω̇ + d ω + m g r sin q; its power is what the run counts as work."""
    model = trundle.derive(pendulum(lag=LAG))
    assert model.states == ("link_0.angle", "link_0.rate")
    assert (model.inputs, model.units["m0.rate"], model.units["m0.torque"]) == (("m0.rate",), "rad/s", "N m")
    run = trundle.simulate(model, 2.0, {"m0.rate": RATE}, rtol=1e-11, atol=1e-13)
    q, decay = run["link_0.angle"], np.exp(-run.time / LAG)
    np.testing.assert_allclose(run["link_0.rate"], RATE * (1 - decay), atol=1e-8)
    expected = (INERTIA + MASS * REACH**2) * RATE / LAG * decay + DRAG * run["link_0.rate"]
    np.testing.assert_allclose(run["m0.torque"], expected + MASS * GRAVITY * REACH * np.sin(q), atol=1e-6)
    np.testing.assert_allclose(run["m0.power"], run["m0.torque"] * run["link_0.rate"], atol=1e-12)
    assert run.summary["energy_imbalance"] <= 1e-8 * run.summary["energy_turned_over"]


def test_inverse_dynamics_of_the_motion_are_the_torques(rng):
    model = trundle.derive(pendulum(3))
    x, u = rng.uniform(-2, 2, 6), rng.uniform(-5, 5, 3)
    values, _ = named_motion(model, x, u)
    force = model.inverse_dynamics()(x[:3], x[3:], model.rhs(x, u)[3:])
    torques = [values[f"m{k}.torque"] for k in range(3)]
    np.testing.assert_allclose(torques, force + DRAG * x[3:], atol=1e-9 * np.abs(torques).max())


# Of random robots the motors that hold rates: as many as their wheels and gears leave free.
HELD = {
    "differential": ["motor_1", "motor_2"],
    "with_casters": ["motor_2"],
    "tricycle": ["motor_3", "servo_0"],
    "ackermann": ["motor_1", "linkage_motor"],
    "two_steered": ["motor_2", "servo_0", "servo_1"],
    "omni": ["motor_1", "motor_2", "motor_3"],
    "mecanum": ["motor_1", "motor_3", "motor_4"],
    "trailer": ["motor_1", "motor_2"],
    "platform": ["motor_1", "turner"],
    "skid": ["motor_1", "motor_2", "motor_3", "motor_4"],
    "slipping_swerve": ["motor_1", "motor_3", "servo_0", "servo_2"],
    "belted": ["motor_1", "motor_2"],
    "differential_gear": ["engine_motor", "steering"],
    "steering_column": ["motor_2", "driver"],
}


def planar(kind):
    """A maker of random robots of a kind, and the names of the motors that hold."""
    return lambda rng: (random_robots.ALL[kind](rng), HELD[kind])


def four_bar(rng):
    """A four-bar with a crank that holds its rate, or a rocker."""
    made = described(linkages.four_bar(motors={"m": {"type": "torque", "drives": "crank"}}))
    made["motors"]["m"]["drives"] = str(rng.choice(["crank", "rocker"]))
    return made, ["m"]


def chain(rng):
    """A chain of twelve links: M⁻¹ comes by recursion."""
    joints = {
        f"j{k}": {
            "type": "revolute",
            "at": rng.uniform(-0.4, 0.4, 3).tolist(),
            "body": random_robots.body(rng),
        }
        | ({"parent": f"j{k - 1}"} if k else {})
        for k in range(12)
    }
    motors = {f"m{k}": {"type": "torque", "drives": f"j{k}"} for k in range(0, 12, 2)}
    return {"joints": joints, "motors": motors}, ["m0", "m4", "m8"]


KINDS = {kind: planar(kind) for kind in HELD} | {"four_bar": four_bar, "chain": chain}
QUICK = ("differential", "tricycle", "trailer", "skid", "four_bar", "chain")


@pytest.mark.parametrize("kind", mostly_slow(KINDS, QUICK))
def test_torque_motors_with_its_torques_move_a_robot_alike(kind, rng):
    moved_alike(kind, rng)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_thirty_robots_of_each_kind(kind, campaign):
    for rng in campaign(30):
        moved_alike(kind, rng)


def moved_alike(kind, rng):
    """The second formulation: a multiplier's torque, told to a motor that gives torques, gives the same rates of all
    states, forces and loads, and what is held goes to its command.
    """
    description, names = KINDS[kind](rng)
    holding = trundle.derive(parse_robot(retyped(description, names, type="ideal", lag=LAG)))
    giving = trundle.derive(parse_robot(retyped(description, names, type="torque")))
    assert holding.states == giving.states
    assembly = mechanism(holding.robot).assembly
    for _ in range(3):
        x, u = rng.uniform(-0.9, 0.9, len(holding.states)), rng.uniform(-5, 5, len(holding.inputs))
        p = np.array(list(holding.parameters.values()))
        for _ in range(10):
            x = on_manifold(holding, x[:, None], u, p)[:, 0]
        values, rates = named_motion(holding, x, u)
        told = dict(zip(holding.inputs, u, strict=True))
        told |= {f"{name}.torque": values[f"{name}.torque"] for name in names}
        others, other_rates = named_motion(giving, x, np.array([told[name] for name in giving.inputs]))
        largest = max(1.0, max(abs(rates[name]) for name in holding.states))
        for name in holding.states:
            assert abs(rates[name] - other_rates[name]) <= 1e-8 * largest, name
        largest = max(map(abs, values.values()))
        for name in {*holding.outputs} - told.keys():
            assert abs(values[name] - others[name]) <= 1e-8 * largest, name
        for name in names:
            (motor,) = (each for each in assembly.actuators if each.name == name)
            speed = assembly.speeds[motor.column]
            wanted = (told[f"{name}.rate"] - values[speed]) / LAG
            assert rates[speed] == pytest.approx(wanted, rel=1e-8, abs=1e-7), name


@pytest.mark.parametrize("name", ["skid_steer", "tricycle", "slider_crank"])
def test_stiff_velocity_motors_come_to_the_same(name):
    """Their motion and torques differ by a tenth at ten times the gain; the account of energy closes."""
    made = described(trundle.catalog.robot(name))
    made.pop("batteries", None)

    def run(**motor):
        model = trundle.derive(parse_robot(retyped(made, **motor, lag=LAG)))
        commands = {each: 0.3 if "steer" in each else 2.0 + k for k, each in enumerate(model.inputs)}
        found = trundle.simulate(model, 0.5, commands, rtol=1e-10, atol=1e-12)
        assert found.summary["energy_imbalance"] <= 1e-8 * found.summary["energy_turned_over"]
        return found

    held = run(type="ideal")
    torques = [each for each in held.columns if each.endswith(("motor.torque", "steer.torque"))]
    late = held.time >= 0.1  # gains that are finite start from zero torque
    apart = []
    for gain in (300.0, 3000.0):
        stiff = run(type="velocity", gain=gain)
        motion = max(abs(stiff.final[each] - held.final[each]) for each in held.states)
        torque = max(np.abs(stiff[each] - held[each])[late].max() for each in torques)
        apart.append((motion, torque))
    (motion, torque), (less_motion, less_torque) = apart
    assert less_motion <= 0.15 * motion
    assert less_torque <= 0.15 * torque


def towing():
    """A drive with a trailer on a hitch."""
    wheel = {"radius": 0.1, "mass": 1.0}
    sides = {"left": 0.25, "right": -0.25}
    wheels = {side: {**wheel, "at": [0, y, 0]} for side, y in sides.items()}
    wheels |= {
        f"trailer_{side}": {**wheel, "at": [-1.0, y, 0], "parent": "hitch"} for side, y in sides.items()
    }
    body = {"mass": 8.0, "center_of_mass": [-0.4, 0.1, 0], "inertia": {"zz": 0.6}}
    return parse_robot(
        {
            "body": {"mass": 20, "inertia": {"zz": 1.0}},
            "wheels": wheels,
            "joints": {"hitch": {"type": "revolute", "axis": [0, 0, 1], "at": [-0.3, 0, 0], "body": body}},
            "motors": {f"{side}_motor": {"type": "ideal", "drives": side} for side in sides},
        }
    )


def test_a_trailer_goes_where_it_goes_by_rates_alone():
    robot = towing()
    model = trundle.derive(robot)
    rolled = trundle.roll(robot, 5.0, {"left.rate": 4.0, "right.rate": 6.0}, rtol=1e-10, atol=1e-12)
    start = {name: rolled[name][0] for name in model.speeds}
    commands = {"left_motor.rate": 4.0, "right_motor.rate": 6.0}
    run = trundle.simulate(model, 5.0, commands, initial=start, rtol=1e-12, atol=1e-14)
    for name in ("x", "y", "theta", "hitch.angle"):
        np.testing.assert_allclose(run[name], rolled[name], atol=1e-7)
    assert run.summary["energy_imbalance"] <= 1e-8 * run.summary["energy_turned_over"]


@pytest.mark.filterwarnings("error")
def test_rollouts_take_steps_of_ten_milliseconds():
    """Off by a hundredth of a jump at the first step, as e⁻¹ is by Runge and Kutta's method; then nearer and nearer."""
    model, commands = trundle.derive(towing()), {"left_motor.rate": 4.0, "right_motor.rate": 6.0}
    run = trundle.simulate(model, 3.0, commands, rtol=1e-10, atol=1e-12)
    batch = trundle.rollout(model, inputs=commands, steps=300, dt=0.01)
    for name in ("x", "y", "theta", "hitch.angle"):
        assert batch.final(name)[0] == pytest.approx(run.final[name], abs=1e-3), name
    assert batch.final("v_x")[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.slow
def test_motions_are_tracked_by_rates():
    """Modules that slip and steer by rates stay as far behind as the lag makes them."""
    made = retyped(described(trundle.catalog.swerve()), type="ideal")
    made.pop("batteries", None)
    robot = parse_robot(made)
    limits = trundle.Limits(steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=1)
    motion = trundle.plan(robot, (0.5, 0.5, 1.0), limits=limits)
    assert trundle.track(robot, motion, progress=False).largest["position"] < 1e-3


def test_it_is_linearised():
    model = trundle.derive(towing())
    about = model.linearize({"v_x": 0.5}, {"left_motor.rate": 5.0, "right_motor.rate": 5.0})
    place = [about.states.index(name) for name in ("v_x", "omega")]
    np.testing.assert_allclose(about.A[np.ix_(place, place)], -100 * np.eye(2), atol=1e-9)
    r, half = 0.1, 0.25
    expected = 100 * np.array([[r / 2, r / 2], [-r / 2 / half, r / 2 / half]])
    np.testing.assert_allclose(about.B[place], expected, atol=1e-9)
    x, u = np.array(model.state_vector({"v_x": 0.5})), np.array([5.0, 5.0])
    p = np.array(list(model.parameters.values()))
    shown = [model.outputs.index(each) for each in about.outputs]

    def seen(moved, told):
        return model.observe.evaluate(moved, told, p)[0][shown]

    for name in (*model.speeds, "hitch.angle"):
        step = 1e-4 * (np.array(model.states) == name)
        slope = (seen(x + step, u) - seen(x - step, u)) / 2e-4
        np.testing.assert_allclose(about.C[:, about.states.index(name)], slope, atol=1e-5)
    for k, step in enumerate(0.1 * np.eye(2)):
        slope = (seen(x, u + step) - seen(x, u - step)) / 0.2
        np.testing.assert_allclose(about.D[:, k], slope, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "fighting"),
    [
        ("mecanum", "front_left_motor, front_right_motor, rear_left_motor, rear_right_motor would fight"),
        ("ackermann", "left_motor, right_motor would fight"),
    ],
)
def test_motors_that_would_fight_are_named(name, fighting):
    made = retyped(described(trundle.catalog.robot(name)), type="ideal")
    made.pop("batteries", None)
    with pytest.raises(trundle.InputError, match=fighting) as told:
        trundle.derive(parse_robot(made))
    assert "another type, such as velocity with a gain" in told.value.hint


def locked():
    """Two wheels that roll side by side on one axle and a third one, square to them, that can't turn."""
    wheel = {"radius": 0.1, "mass": 1.0}
    places = {"left": [0, 0.2, 0], "right": [0, -0.2, 0]}
    wheels = {name: {**wheel, "at": place} for name, place in places.items()}
    wheels["across"] = {**wheel, "at": [0, 0, 0], "heading": "90 deg"}
    motors = {"m": {"type": "ideal", "drives": "across"}}
    return parse_robot({"body": {"mass": 9, "inertia": {"zz": 1}}, "wheels": wheels, "motors": motors})


def test_fighting_by_loops_gears_and_what_is_locked_is_told():
    with pytest.raises(trundle.InputError, match="motor m can't hold its rate: rolling wheels"):
        trundle.derive(locked())
    crank = {"m": {"type": "ideal", "drives": "crank"}, "n": {"type": "ideal", "drives": "rocker"}}
    with pytest.raises(trundle.InputError, match="m, n would fight: .* of 'four_bar' tie their rates"):
        trundle.derive(linkages.four_bar(motors=crank))
    geared = described(pendulum(2))
    geared["couplings"] = {"gear": random_robots.gear("link_1", link_0=2.0)}
    with pytest.raises(trundle.InputError, match="m0, m1 would fight"):
        trundle.derive(parse_robot(geared))


def test_equations_say_what_it_holds():
    found = trundle.equations(towing(), "dynamics")
    (motors,) = (section for section in found.sections if section.title == "Motors")
    assert any("left_motor gives" in note and "one more unknown" in note for note in motors.notes)
    assert {"motion", "mass_matrix", "input_matrix"} <= found.by_name.keys()
    (state,) = trundle.equations(towing(), "state").sections
    assert "motors that hold rates" in state.notes[0]

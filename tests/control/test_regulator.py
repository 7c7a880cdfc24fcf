"""Regulators: Riccati's equation, a second solution of it, what a perturbation costs when simulated, what can't be."""

import functools
import re
from typing import Literal

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import trundle
from derived import derived
from model.any_robot import anything
from model.random_robots import ALL
from trundle.control import riccati
from trundle.control.linear_control import state_measure
from trundle.errors import InputError, NumericsError
from trundle.robot import State, StateFeedback, units
from trundle.robot.values import Plain

FAST = {"m": 0.1, "rad": 0.1, "m/s": 0.2, "rad/s": 0.3}
# What is held where, of the catalogue's robots that inputs can hold; the others' states stay free.
HELD = {
    "differential_drive": ({"v_x": 1.0, "omega": 0.3}, ("v_x", "omega")),
    "offset_drive": ({"v_x": 1.0, "omega": 0.0}, ("v_x", "y", "theta")),
    "swerve": ({"v_x": 1.0}, ("v_x",)),
    "limited_swerve": ({"v_x": 1.0}, ("v_x",)),
    "ackermann": ({"front_left.speed": 2.0, "steering.angle": 0.0}, ("front_left.speed", "y", "theta")),
    "tricycle": ({"front.speed": 1.0, "front.steering": 0.1}, ("front.speed", "front.steering")),
    "mecanum": ({"v_x": 0.5, "v_y": 0.3}, ("v_x", "v_y", "omega")),
    "three_omni": ({"v_x": 0.0}, ("v_x", "v_y", "omega", "x", "y", "theta")),
    "skid_steer": ({"v_x": 0.5}, ("v_x",)),
    "segway": ({"v_x": 1.0, "omega": 0.0, "lean.angle": 0.0}, ("v_x", "omega", "lean.angle")),
    "car_with_trailers": (
        {"front_right.speed": 2.0, "steering.angle": 0.0},
        ("front_right.speed", "y", "theta"),
    ),
    "four_bar": ({"crank.angle": 0.5}, ("crank.angle", "crank.rate")),
    "slider_crank": ({"crank.angle": 0.5}, ("crank.angle", "crank.rate")),
}


@pytest.mark.slow
def test_every_robot_of_the_catalogue_that_has_inputs_is_here():
    driven = {name for name in trundle.catalog.names() if derived(name).inputs}
    assert driven == set(HELD)


@functools.cache
def held(name):
    """A model of the catalogue, its steady motion and tolerances."""
    model = derived(name)
    at, states = HELD[name]
    motion = model.trim(at)
    tolerances = {state: FAST[model.units[state]] for state in states}
    tolerances |= {command: 0.5 * (1 + abs(motion.input[command])) for command in model.inputs}
    return model, motion, tolerances


def weights_of(regulator):
    about, tolerances = regulator.about, regulator.tolerances
    q = np.diag([tolerances[name] ** -2 if name in tolerances else 0.0 for name in about.states])
    return q, np.diag([tolerances[name] ** -2 for name in about.inputs])


def residual_of(regulator):
    """What AᵀS + SA − SB R⁻¹BᵀS + Q is, of its terms, with states in multiples of what unit inputs bring them to."""
    a, b, s = regulator.about.A, regulator.about.B, regulator.riccati
    q, r = weights_of(regulator)
    measure = state_measure(a, b)
    terms = a.T @ s, s @ a, -s @ b @ np.linalg.solve(r, b.T @ s), q
    sizes = [np.linalg.norm(term * measure * measure[:, None]) for term in (*terms, sum(terms))]
    return sizes[-1] / sum(sizes[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_riccatis_equation_holds_and_the_loop_is_stable(name):
    model, motion, tolerances = held(name)
    regulator = model.lqr(motion, tolerances)
    residual = residual_of(regulator)
    print(f"{name}: residual {residual:.1e}, slowest pole {regulator.poles[0]:.4g}")
    assert residual <= 1e-10
    assert regulator.poles.real.max() < 0
    assert (
        all(margin.disk >= 1 - 1e-6 for margin in regulator.margins.values())
        or len(regulator.about.inputs) > 1
    )


@trundle.register
class Counted(StateFeedback):
    """A state feedback that counts what is made least, in multiples of a unit, as a state of its own."""

    type: Literal["test_counted"] = "test_counted"  # pyright: ignore[reportIncompatibleVariableOverride]
    tolerances: dict[str, Plain]
    unit: Plain

    def states(self, read):
        return {"cost": State(units.ANY)}

    def reads_from(self):
        others = (name for name in self.tolerances if name not in self.drives)
        return tuple(dict.fromkeys((*super().reads_from(), *others)))

    def law(self, sight, read):
        action = super().law(sight, read)
        off = {name: action.commands[name] - read(row.offset) for name, row in self.drives.items()}
        off |= {
            name: sight.read[name] - read(self.around[name]) for name in self.tolerances if name not in off
        }
        spent = sum((off[name] / read(size)) ** 2 for name, size in self.tolerances.items())
        return action._replace(rates={"cost": spent / read(self.unit)})


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_the_cost_is_what_a_small_perturbation_costs(name, rng):
    """The closed loop, a part of the robot, from a small perturbation and its opposite, until it has died out."""
    model, motion, tolerances = held(name)
    regulator = model.lqr(motion, tolerances)
    about, law = regulator.about, regulator.controller()
    _, states = HELD[name]
    off = {state: 1e-4 * tolerances[state] * rng.uniform(0.5, 1) for state in states}
    moved = about.basis @ [off.get(state, 0.0) for state in about.states]
    around = {**law.around, **{state: motion.state[state] for state in states}}
    hold = Counted(drives=law.drives, around=around, tolerances=tolerances, unit=regulator.cost(off))
    loop = trundle.derive(model.robot, controllers={"hold": hold})
    length = 16 / np.abs(regulator.poles.real).min()  # what is left of the cost then is e^-32
    costs = []
    for sign in (1, -1):
        start = {
            state: motion.state[state] + sign * change
            for state, change in zip(model.states, moved, strict=True)
        }
        run = trundle.simulate(loop, length, initial=start, samples=3, rtol=1e-12, atol=1e-14)
        costs.append(run.final["hold.cost"])
    print(f"{name}: cost off by {np.mean(costs) - 1:.1e}")
    assert np.mean(costs) == pytest.approx(1.0, abs=1e-6)


def kleinman(a, b, q, r, start):
    """Riccati's solution to 40 digits, by Lyapunov equations from a stabilising gain (Kleinman 1968)."""
    with mpmath.workdps(40):
        a, b, q, r, gain = (mpmath.matrix(each.tolist()) for each in (a, b, q, r, start))
        n = a.rows
        eye = mpmath.eye(n)
        for _ in range(8):
            closed = a - b * gain
            system = mpmath.matrix(n * n, n * n)
            for i in range(n):
                for j in range(n):
                    for k in range(n):
                        system[i * n + j, k * n + j] += closed[k, i] * eye[j, j]
                        system[i * n + j, i * n + k] += closed[k, j]
            right = -(q + gain.T * r * gain)
            flat = mpmath.lu_solve(system, mpmath.matrix([right[i, j] for i in range(n) for j in range(n)]))
            solution = mpmath.matrix(n, n)
            for i in range(n):
                for j in range(n):
                    solution[i, j] = flat[i * n + j]
            gain = mpmath.inverse(r) * b.T * solution
        return np.array(gain.tolist(), dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["differential_drive", "ackermann", "tricycle"])
def test_gains_against_kleinmans_iteration_in_forty_digits(name):
    model, motion, tolerances = held(name)
    regulator = model.lqr(motion, tolerances)
    about = regulator.about
    exact = kleinman(about.A, about.B, *weights_of(regulator), regulator.K)
    print(f"{name}: gains off by {np.abs(regulator.K - exact).max() / np.abs(exact).max():.1e}")
    np.testing.assert_allclose(regulator.K, exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("period", [1e-3, 0.02, 0.5])
def test_sampled_regulators_are_where_the_recursion_ends(name, period):
    """The equation from one sample to the next, and a loop that is stable."""
    model, motion, tolerances = held(name)
    growth = motion.linearize().poles.real.max()  # of a caster that is pushed
    regulator = model.lqr(motion, tolerances, period=min(period, 2 / max(growth, 1e-9)))
    about, s = regulator.about, regulator.riccati
    q, r = weights_of(regulator)
    step = riccati.zero_order_hold(about.A, about.B, q, r, regulator.period)
    gain, before = step.before(s)
    # states in multiples of what unit inputs bring them to, inputs of their tolerances
    size, spent = state_measure(about.A, about.B), np.sqrt(np.diag(r))[:, None]
    cost = s * size * size[:, None]
    worst = np.abs((before - s) * size * size[:, None]).max() / np.abs(cost).max()
    print(f"{name} every {regulator.period:g} s: residual {worst:.1e}")
    assert worst <= 1e-10
    np.testing.assert_allclose(gain * size * spent, regulator.K * size * spent, atol=1e-9)
    assert np.abs(regulator.poles).max() < 1


def test_sampling_fast_is_acting_always_and_costs_are_those_of_the_held_inputs(rng):
    """A double integrator, a cart on rails: gains at 0.1 ms; the cost at 0.2 s, summed by fine integration."""
    cart = {"robot": {"name": "cart", "joints": {"rail": {"type": "prismatic", "axis": [1, 0, 0], "body": {"mass": 2}}},
                      "motors": {"push": {"type": "torque", "drives": "rail"}}}}  # fmt: skip
    model = trundle.derive(cart)
    tolerances = {"rail.position": 0.1, "rail.rate": 0.5, "push.torque": 3.0}
    always, fast = model.lqr(None, tolerances), model.lqr(None, tolerances, period=1e-4)
    np.testing.assert_allclose(fast.K, always.K, rtol=1e-3)
    # m ẍ = u: K = (r/q₁, …) in closed form
    k_1 = 3.0 / 0.1
    k_2 = np.sqrt((3.0 / 0.5) ** 2 + 2 * 2.0 * k_1)
    np.testing.assert_allclose(always.K, [[k_1, k_2]], rtol=1e-12)
    slow = model.lqr(None, tolerances, period="0.2 s")
    x, cost, h = np.array([0.05, -0.1]), 0.0, 0.2
    for _ in range(200):
        u = -(slow.K @ x)[0]
        t = np.linspace(0, h, 2001)
        position, rate = x[0] + x[1] * t + u * t**2 / 4, x[1] + u * t / 2
        cost += scipy.integrate.simpson((position / 0.1) ** 2 + (rate / 0.5) ** 2 + (u / 3.0) ** 2, x=t)
        x = np.array([position[-1], rate[-1]])
    assert cost == pytest.approx(slow.cost({"rail.position": 0.05, "rail.rate": -0.1}), rel=1e-9)
    assert np.abs(slow.poles).max() < 1


def test_margins_are_where_the_loop_gets_unstable():
    """Within a disk's gains and phases the loop is stable; the disk is that of the sensitivity's peak."""
    model, motion, tolerances = held("differential_drive")
    regulator = model.lqr(motion, tolerances)
    a, b, k = regulator.about.A, regulator.about.B, regulator.K
    for place, margin in enumerate(regulator.margins.values()):
        for factor in (margin.lowest, margin.highest, np.exp(1j * margin.phase), np.exp(-1j * margin.phase)):
            changed = b.astype(complex).copy()
            changed[:, place] = changed[:, place] * (1 + 0.999 * (factor - 1))
            assert np.linalg.eigvals(a - changed @ k).real.max() < 0
        omega = margin.frequency
        inner = np.linalg.solve(1j * omega * np.eye(len(a)) - a + b @ k, b[:, place])
        sensitivity = 1 - k[place] @ inner
        assert 1 / abs(sensitivity - 0.5) == pytest.approx(margin.disk, rel=1e-9)


WRONG = {
    "a state that isn't there": ({"v_x": 1.0}, {"v_z": 1.0}, "no state or input 'v_z'.*v_"),
    "no tolerance of an input": ({"v_x": 1.0}, {"v_x": 0.1}, "no tolerance for .*_motor.voltage"),
    "none of a state": (
        {"v_x": 1.0},
        {"left_motor.voltage": 1.0, "right_motor.voltage": 1.0},
        "no state has a tolerance",
    ),
    "a tolerance below 0": ({"v_x": 1.0}, {"v_x": -1.0}, "greater than 0"),
    "in another unit": ({"v_x": 1.0}, {"v_x": "5 V"}, "expected a speed"),
    "standing beside the axle": (
        {"v_x": 0.0, "omega": 0.0},
        {"y": 0.1, "x": 0.1, "theta": 0.1, "left_motor.voltage": 1.0, "right_motor.voltage": 1.0},
        "no tolerance of y can be kept.*wheels that roll and don't slide",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_held_is_told(case):
    at, tolerances, said = WRONG[case]
    with pytest.raises(InputError, match=f"(?s){said}"):
        derived("differential_drive").lqr(at, tolerances)


def test_a_motion_whose_pose_goes_on_has_no_constant_rows():
    model = derived("differential_drive")
    volts = {"left_motor.voltage": "6 V", "right_motor.voltage": "6 V"}
    regulator = model.lqr({"v_x": 1.0, "omega": 0.0}, {"y": "5 cm", "theta": "3 deg", **volts})
    assert {"x", "left.angle", "right.angle"}.isdisjoint(regulator.about.states)
    assert "phase" in str(regulator)
    regulator.controller()  # straight on, y and theta stay
    circle = model.lqr({"v_x": 1.0, "omega": 0.5}, {"x": "5 cm", "y": "5 cm", "theta": "3 deg", **volts})
    with pytest.raises(InputError, match="go on"):
        circle.controller()


def test_costs_take_text_with_units_and_refuse_what_is_no_number():
    model = derived("differential_drive")
    hold = model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", "left_motor.voltage": 6, "right_motor.voltage": 6})
    assert hold.cost({"v_x": "1 cm/s"}) == hold.cost({"v_x": 0.01})
    for wrong, said in {"a": "expected a number", float("nan"): "finite", "5 V": "expected a speed"}.items():
        with pytest.raises(InputError, match=said):
            hold.cost({"v_x": wrong})
    with pytest.raises(InputError, match="deviation"):
        hold.cost(None)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(4))
def test_any_robot_is_held_or_its_refusal_is_told(part, campaign):
    """Random robots, motions, tolerances and periods: a stable loop whose equation holds, or a reason why not."""
    for rng in campaign(60):
        rng = np.random.default_rng([part, *rng.integers(2**32, size=2)])
        drawn = (regulator_of_chance(rng) for _ in range(40))
        period, regulator = next(one for one in drawn if one is not None)
        assert regulator.poles.real.max() < 0 if period is None else np.abs(regulator.poles).max() < 1
        assert period is not None or residual_of(regulator) <= 1e-10


def regulator_of_chance(rng):
    """A random robot's period and regulator, or None where it was refused with a reason."""
    known = rng.random() < 0.8
    try:
        robot = ALL[str(rng.choice(list(ALL)))](rng) if known else anything(rng)
        model = trundle.derive(trundle.robot.parse_robot(robot))
        motion = model.trim({str(rng.choice(model.speeds)): float(rng.uniform(0.2, 1))})
    except (InputError, NumericsError):
        return None  # it locks, or such a motion isn't there
    chosen = rng.permutation(motion.linearize().states)[: rng.integers(1, 4)]
    tolerances = {str(name): float(rng.uniform(0.05, 0.5)) for name in chosen}
    tolerances |= {name: float(rng.uniform(0.5, 5)) for name in model.inputs}
    period = None if rng.random() < 0.6 else float(10 ** rng.uniform(-3, -0.3))
    try:
        return period, model.lqr(motion, tolerances, period=period)
    except InputError as error:
        if not re.search("can be kept|sees|no inputs|steady", error.message):
            raise
        return None


def test_robots_that_nothing_can_hold_are_told_why():
    with pytest.raises(InputError, match="'pendulum' has no inputs: no motor moves it"):
        derived("pendulum").lqr(None, {"link_1.angle": 0.1})
    with pytest.raises(InputError, match="driven by its controllers: path, speed, turn"):
        trundle.lqr("examples/feedback/circle.yaml", {"v_x": 1.0}, {"v_x": 0.1})


def test_a_regulator_around_inner_loops_reads_their_states_and_drives_their_references():
    """Speed and turning rate are held by PIDs; the regulator holds the line by what they are asked for."""
    described = trundle.robot.component.plain(trundle.load("examples/feedback/circle.yaml"))
    del described["controllers"]["path"], described["parameters"]["R"]
    robot = trundle.robot.parse_robot(described)
    model = trundle.derive(robot)
    motion = model.trim({"v_x": 2.0, "omega": 0.0})
    tolerances = {"y": "5 cm", "theta": "5 deg", "speed.reference": 0.5, "turn.reference": 0.5}
    regulator = model.lqr(motion, tolerances)
    assert {"speed.integral", "turn.integral"} <= set(regulator.about.states)
    loop = trundle.derive(robot, controllers={"line": regulator.controller()})
    assert loop.inputs == ()
    poles = loop.linearize({name: motion.state[name] for name in loop.states}).poles
    np.testing.assert_allclose(
        np.sort_complex(poles[np.abs(poles) > 1e-3]), np.sort_complex(regulator.poles), rtol=1e-6
    )
    run = trundle.simulate(loop, 12.0, initial={**motion.state, "y": 0.1}, samples=61)
    assert abs(run.final["y"]) < 1e-6
    (section,) = (each for each in loop.equations("dynamics").sections if each.title == "Controllers")
    assert "speed.reference" in {each.name.removeprefix("law.") for each in section.equations}


def test_a_sampled_regulator_in_the_model_goes_from_sample_to_sample_as_it_was_designed():
    model, motion, tolerances = held("differential_drive")
    regulator = model.lqr(motion, tolerances, period=0.02)
    about = regulator.about
    a, b = riccati.stepped(about.A, about.B, 0.02)
    closed = a - b @ regulator.K
    loop = trundle.derive(model.robot, controllers={"hold": regulator.controller()})
    off = np.array([1e-5, -2e-5, 0, 0])
    start = {name: motion.state[name] for name in model.states}
    start |= {name: start[name] + change for name, change in zip(about.states, off, strict=True)}
    run = trundle.simulate(loop, 0.1, initial=start, samples=6, rtol=1e-12, atol=1e-15)
    for k in range(6):
        z = np.linalg.matrix_power(closed, k) @ off
        for place, name in enumerate(about.states[:2]):
            assert run[name][k] - motion.state[name] == pytest.approx(z[place], abs=1e-9 * 1e-5 + 1e-14)

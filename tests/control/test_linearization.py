"""Linearisations against SymPy's own Linearizer, differences, the variational equation, closed forms; controllability
by what it means.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod

import trundle
from derived import derived
from parameters import mostly_slow
from sympy_models.test_from_sympy import cart_pole, dynamicsymbols, pendulum_in_the_plane, rolling_disc
from sympy_models.test_whipple import TABLE
from sympy_models.whipple import BENCHMARK, whipple
from trundle import catalog
from trundle.errors import InputError, NumericsError
from trundle.model import derive
from trundle.program import compile_program
from trundle.robot import parse_robot

BALL = {
    "body": {"mass": 1.0, "inertia": {"xx": 0.2, "yy": 0.3, "zz": 0.4}},
    "base": "floating",
    "joints": {
        "ball": {
            "type": "spherical",
            "at": [0.1, 0.2, 0.3],
            "body": {"mass": 0.8, "center_of_mass": [0.1, 0, -0.4], "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}},
        },
        "arm": {
            "type": "revolute",
            "axis": [0, 1, 0],
            "parent": "ball",
            "at": [0, 0, -0.5],
            "stiffness": 3.0,
            "body": {"mass": 0.5, "center_of_mass": [0, 0, -0.2], "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.01}},
        },
    },
    "motors": {"arm_motor": {"type": "torque", "drives": "arm"}},
}  # fmt: skip


def ball_robot():
    """A floating base with a spherical joint and a driven arm."""
    return derive(parse_robot({"name": "ball", **BALL}))


# --- differences -------------------------------------------------------------------------------------------------


def differences(f, size, step=1e-3):
    """∂f by central differences of sixth order, (·, size); error about step⁶ and 1e-16/step."""
    columns = []
    for k in range(size):
        moved = np.zeros(size)
        moved[k] = step
        weights = (45 / 60, -9 / 60, 1 / 60)
        columns.append(sum(w / step * (f(j * moved) - f(-j * moved)) for j, w in enumerate(weights, 1)))
    return np.array(columns).T


def moving_axes(model, x0, rate0):
    """States beside x₀ with a planar base's position along its own axes, and what rates of the state are in them.

    e = R(θ₀)ᵀ (p − p₀) on a base that turns: ė = Rᵀ (ṗ − ṗ₀) − θ̇₀ J e; the drift Rᵀ ṗ₀ itself stays in.
    """
    if model.robot.base != "planar":
        return lambda d: x0 + d, lambda rate, d: rate
    cos, sin = np.cos(x0[2]), np.sin(x0[2])
    turn = np.array([[cos, -sin], [sin, cos]])
    swing = rate0[2] * np.array([[0, -1], [1, 0]])
    return (
        lambda d: x0 + np.concatenate([turn @ d[:2], d[2:]]),
        lambda rate, d: np.concatenate([turn.T @ rate[:2] - swing @ d[:2], rate[2:]]),
    )


# Quaternions have linearisations of their own kind, tested below.
TREES = [n for n in catalog.names() if not catalog.robot(n).loops and catalog.robot(n).base != "floating"]


@pytest.mark.parametrize("name", mostly_slow(TREES, ["differential_drive", "mecanum", "leg"]))
def test_matrices_are_the_differences_of_the_compiled_programs(name, rng):
    model = derived(name)
    x = {each: rng.uniform(-0.7, 0.7) for each in model.states}
    u = {each: rng.uniform(-2, 2) for each in model.inputs}
    about = model.linearize(x, u)
    x0, u0 = np.array(list(x.values())), np.array([u[each] for each in model.inputs])
    p = np.array(list(model.parameters.values()))
    rate, seen = compile_program(model.dynamics).single(), compile_program(model.observe).single()
    shown = [model.outputs.index(each) for each in about.outputs]
    # Contacts' forces saturate within their slip speed, 1 mm/s, so steps must stay far below it.
    step = 1e-5 if name in ("swerve", "skid_steer") else 1e-3
    wide = 0.1  # inputs enter linearly: a wide step leaves rounding behind
    beside, error_rate = moving_axes(model, x0, rate(x0, u0, p)[0])
    for found, expected in (
        (about.A, differences(lambda d: error_rate(rate(beside(d), u0, p)[0], d), len(x0), step)),
        (about.B, differences(lambda d: error_rate(rate(x0, u0 + d, p)[0], 0 * x0), len(u0), wide)),
        (about.C, differences(lambda d: seen(beside(d), u0, p)[0][shown], len(x0), step)),
        (about.D, differences(lambda d: seen(x0, u0 + d, p)[0][shown], len(u0), wide)),
    ):
        if expected.size:
            scale = np.abs(expected).max(axis=1, keepdims=True) + 1e-3
            np.testing.assert_allclose(found / scale, expected.reshape(found.shape) / scale, atol=1e-7)
    assert list(about.rate.values()) == pytest.approx(error_rate(rate(x0, u0, p)[0], 0 * x0))
    assert list(about.output.values()) == pytest.approx(seen(x0, u0, p)[0][shown])


@pytest.mark.parametrize(
    ("name", "guess"), [("four_bar", {"rocker.angle": 1.7}), ("slider_crank", {"piston.position": 0.2})]
)
@pytest.mark.slow
def test_a_closed_loop_is_linearised_in_what_drives_it(name, guess, rng):
    """A of crank angle, rate and current: differences of the rates with the loop closed anew at each."""
    model = derived(name)
    kept = ["crank.angle", "crank.rate", "motor.current"]
    centre = np.array([1.0, 2.0, 0.5]) + rng.uniform(-0.2, 0.2, 3)
    p = list(model.parameters.values())
    places = [model.states.index(each) for each in kept]

    def state(z):
        start = {**dict(zip(kept, z, strict=True)), **guess}
        return np.array(model.state_vector(start))

    def rates(z):
        return model.dynamics.evaluate(state(z), [6.0], p)[0][places]

    about = model.linearize(dict(zip(model.states, state(centre), strict=True)), {"motor.voltage": 6.0})
    assert list(about.states) == kept
    expected = differences(lambda d: rates(centre + d), 3)
    np.testing.assert_allclose(about.A, expected, atol=1e-6 * np.abs(expected).max())


# --- the variational equation --------------------------------------------------------------------------------------


def transition(trajectory):
    """Φ(t_end, t_0) of ż = A(t) z by the sixth-order Magnus-free way: RK4 on steps of two samples."""
    phi = np.eye(len(trajectory.states))
    for k in range(0, len(trajectory) - 2, 2):
        h = trajectory.time[k + 2] - trajectory.time[k]
        a, b, c = trajectory.A[k : k + 3]
        k1 = a @ phi
        k2 = b @ (phi + h / 2 * k1)
        k3 = b @ (phi + h / 2 * k2)
        k4 = c @ (phi + h * k3)
        phi = phi + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return phi


def moved_ends(model, run, trajectory, inputs, duration, step):
    """T⁺ of the difference of runs that start beside `run`, a column a direction, by central differences."""
    x = np.array([run[name] for name in model.states])
    start, end = trajectory.basis[0], np.linalg.pinv(trajectory.basis[-1])
    columns = []
    for k in range(len(trajectory.states)):
        ends = []
        for sign in (1, -1):
            begin = x[:, 0] + sign * step * start[:, k]
            initial = dict(zip(model.states, begin, strict=True))
            # what the constraints determine is left to them: it moves by terms of second order
            for name in trajectory.dependent:
                del initial[name]
            settled = dict(zip(model.states, model.state_vector(unit(initial)), strict=True))
            other = trundle.simulate(
                model, duration, inputs, initial=settled, samples=2, rtol=1e-12, atol=1e-13
            )
            ends.append([other.final[name] for name in model.states])
        columns.append(end @ (np.array(ends[0]) - np.array(ends[1])) / (2 * step))
    return np.array(columns).T


def unit(initial):
    """Quaternions brought to length 1."""
    initial = dict(initial)
    for name in [name for name in initial if name.rpartition(".")[2] == "q_w"]:
        four = [name[:-1] + letter for letter in "wxyz"]
        length = np.sqrt(sum(initial[each] ** 2 for each in four))
        initial |= {each: initial[each] / length for each in four}
    return initial


def falling_disc():
    method, parameters = rolling_disc()
    return trundle.from_sympy(method, parameters=parameters, name="disc")


CASES = {
    "drive": (
        lambda: derived("differential_drive"),
        {"right_motor.voltage": 24.0, "left_motor.voltage": 20.0},
        {"v_x": 1.0, "omega": 0.3},
    ),
    "ball": (
        ball_robot,
        {"arm_motor.torque": 0.3},
        {"omega_x": 1.0, "omega_z": 2.0, "ball.omega_y": -1.5, "ball.omega_x": 0.7, "arm.angle": 0.4},
    ),
    "four_bar": (
        lambda: derived("four_bar"),
        {"motor.voltage": 3.0},
        {"crank.angle": 1.0, "rocker.angle": 1.6, "crank.rate": 2.0},
    ),
    "disc": (falling_disc, {}, {"q2": 0.1, "u3": 6.0, "u1": 0.4, "u2": 0.2}),
}


@pytest.mark.parametrize("name", mostly_slow(CASES, ["drive", "disc"]))
@pytest.mark.slow
def test_a_trajectorys_matrices_carry_neighbouring_runs(name):
    """ż = A(t) z from t₀ to the end gives what runs from neighbouring states do: also where quaternions turn."""
    make, inputs, initial = CASES[name]
    model, duration = make(), 0.4
    run = trundle.simulate(model, duration, inputs, initial=initial, samples=1601, rtol=1e-12, atol=1e-13)
    trajectory = model.linearize_along(run)
    expected = moved_ends(model, run, trajectory, inputs, duration, 1e-4)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(transition(trajectory) / scale, expected / scale, atol=3e-7)
    middle = trajectory[800]
    values = {state: run[state][800] for state in model.states}
    alone = model.linearize(values, {name: run[name][800] for name in model.inputs})
    if set(alone.states) == set(middle.states):
        np.testing.assert_allclose(middle.A, alone.A, atol=1e-9 * np.abs(alone.A).max())


# --- SymPy ---------------------------------------------------------------------------------------------------------


def by_sympy(method, model, about, **partition):
    """A and B of SymPy's Linearizer at the numbers of `about`, and the names of its independent states."""
    linearizer = method.to_linearizer(**partition)
    groups = [np.array(list(each.values())) for each in (about.state, about.input, about.parameters)]
    (rate,), (shown,) = model.dynamics.evaluate(*groups), model.observe.evaluate(*groups)
    # LagrangesMethod's equations, which its Linearizer takes, count multipliers against its mass_matrix_full.
    multipliers = {name: -value for name, value in zip(model.outputs, shown, strict=True)}
    known = {**about.state, **about.input, **multipliers}
    constants = method.mass_matrix_full.free_symbols | method.forcing_full.free_symbols
    point = {each: about.parameters[each.name] for each in constants if each.name in about.parameters}
    for symbol in [*linearizer.q, *linearizer.u, *linearizer.r, *linearizer.lams]:
        point[symbol] = known[name_of(symbol)]
    rates = dict(zip(model.states, rate, strict=True))
    for symbol in [*linearizer.q, *linearizer.u]:
        point[symbol.diff(sp.Symbol("t"))] = rates[name_of(symbol)]
    # The order of substitution matters: a speed that is a coordinate's rate must not lose its coordinate first.
    mass, a, b = linearizer.linearize(op_point=point)
    numbers = [np.array(each, dtype=float) for each in (mass, a, b)]
    pick = np.array(linearizer.perm_mat, dtype=float).T
    solved = pick @ np.linalg.solve(numbers[0], np.hstack([each for each in numbers[1:] if each.size]))
    states = [name_of(symbol) for symbol in [*linearizer.q_i, *linearizer.u_i]]
    return solved[:, : len(states)], solved[:, len(states) :], states


def name_of(symbol):
    if isinstance(symbol, sp.Derivative):
        return f"{symbol.expr.func}_dot"
    return str(symbol.func)


def assert_same_as_sympy(method, model, about, **partition):
    a, b, states = by_sympy(method, model, about, **partition)
    assert set(states) == set(about.states)
    order = [about.states.index(each) for each in states]
    np.testing.assert_allclose(about.A[np.ix_(order, order)], a, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(about.B[order], b.reshape(len(order), -1), rtol=1e-10, atol=1e-11)


def test_cart_and_pole_as_sympys_linearizer(rng):
    method, force, parameters = cart_pole()
    model = trundle.from_sympy(method, inputs=[force], parameters=parameters)
    at = {"q": 0.3, "theta": rng.uniform(-2, 2), "u": rng.normal(), "omega": rng.normal()}
    assert_same_as_sympy(method, model, model.linearize(at, {"F": 1.3}))


def test_rolling_disc_as_sympys_linearizer(rng):
    method, parameters = rolling_disc()
    model = trundle.from_sympy(method, parameters=parameters)
    at = {"q1": 0.5, "q2": 0.2, "u1": rng.normal(), "u2": rng.normal(), "u3": 4.0}
    about = model.linearize(at)
    assert about.dependent == ("u4", "u5")
    assert_same_as_sympy(method, model, about)


def test_pendulum_with_a_multiplier_as_sympys_linearizer():
    method, parameters = pendulum_in_the_plane()
    model = trundle.from_sympy(method, parameters=parameters)
    about = model.linearize({"x": 0.6, "x_dot": 0.7, "y": -np.sqrt(4 - 0.36)})
    x, y = method.q
    rates = [each.diff() for each in (x, y)]
    assert about.states == ("x", "x_dot")
    assert_same_as_sympy(method, model, about, q_ind=[x], q_dep=[y], qd_ind=[rates[0]], qd_dep=[rates[1]])
    hanging = model.linearize({"y": -2.0})
    assert hanging.is_equilibrium
    np.testing.assert_allclose(
        np.sort_complex(hanging.poles), [-1j * np.sqrt(9.81 / 2), 1j * np.sqrt(9.81 / 2)]
    )


@pytest.mark.slow
def test_the_bicycles_poles_are_the_papers():
    model = trundle.from_sympy(whipple(), parameters=BENCHMARK, name="Whipple bicycle")
    for speed, (real, imaginary, capsize, castering) in TABLE.items():
        about = model.linearize({"u_rear": -speed / BENCHMARK["r_R"]})
        assert about.is_equilibrium  # the model has no coordinates along the ground
        assert set(about.dependent) == set(model.dependent)
        expected = [0, 0, castering, capsize, real + 1j * imaginary, real - 1j * imaginary]
        for pole in expected:
            near = np.abs(about.poles - pole).min()
            assert near <= (1e-12 * abs(pole) if pole else 1e-9)


# --- the same robot twice, closed forms ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_drive_by_sympy_and_by_description_are_the_same_system(rng):
    """Two derivations, one with constraints and multipliers: the same response from voltages to speeds."""
    path = Path(__file__).parents[2] / "examples" / "from_sympy" / "diff_drive_lagrange.py"
    spec = importlib.util.spec_from_file_location("diff_drive_lagrange", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    theirs, ours = example.build(offset=0.1), derived("differential_drive")
    values = {**theirs.parameters}
    changes = {"d": 0.1, "r": values["r"], "track": 2 * values["w"], "body.mass": values["m_b"]}
    changes |= {"body.inertia.zz": values["I_zz"]}
    for side in ("right", "left"):
        changes |= {f"wheels.{side}.mass": values["m_w"], f"wheels.{side}.width": values["t_w"]}
        motor = {"torque_constant": 1.0, "resistance": values["R"], "inductance": values["L"]}
        changes |= {f"motors.{side}_motor.{key}": number for key, number in motor.items()}
    v, omega, heading = 1.2, 0.4, 0.7
    moving = {"x_dot": v * np.cos(heading), "theta_dot": omega, "theta": heading}
    one = theirs.linearize(moving, outputs=["phi_1_dot", "theta_dot"])
    two = ours.linearize(
        {"v_x": v, "omega": omega, "theta": heading}, parameters=changes, outputs=["right.rate", "omega"]
    )
    assert len(one.states) == len(two.states) == 9
    for s in (0.3j, 2.0 + 1j, 40j):
        responses = [each.C @ np.linalg.solve(s * np.eye(9) - each.A, each.B) + each.D for each in (one, two)]
        np.testing.assert_allclose(*responses, rtol=1e-8)
    # the other one's axes stand still: only on a straight are they as good as the base's own
    del moving["theta_dot"]
    straight = ours.linearize({"v_x": v, "theta": heading}, parameters=changes)
    assert theirs.linearize(moving).controllability.rank == straight.controllability.rank == 7
    assert two.controllability.rank == 8


def test_a_hanging_rods_poles_and_what_they_mean():
    model = derive(catalog.pendulum(links=1, length=0.5))
    hanging = model.linearize()
    assert hanging.is_equilibrium
    assert (hanging.states, hanging.units["link_1.angle"]) == (("link_1.angle", "link_1.rate"), "rad")
    frequency = np.sqrt(3 * 9.81 / (2 * 0.5))  # of a uniform rod on its end
    np.testing.assert_allclose(hanging.poles, [1j * frequency, -1j * frequency], rtol=1e-12)
    assert f"{frequency / (2 * np.pi):.4g} Hz" in str(hanging)
    upright = model.linearize({"link_1.angle": "180 deg"})
    assert upright.is_equilibrium
    np.testing.assert_allclose(upright.poles, [frequency, -frequency], rtol=1e-12)
    assert "grows" in str(upright)
    aside = model.linearize({"link_1.angle": "90 deg"})
    assert not aside.is_steady
    assert aside.drifting == ("link_1.rate",)


# --- what inputs move ----------------------------------------------------------------------------------------------


def test_a_drive_at_rest_cannot_slide_sideways_but_it_can_park():
    about = derived("differential_drive").linearize()
    r, track = about.parameters["r"], about.parameters["track"]
    found = about.controllability
    assert found.rank == 6
    assert {"y": 1.0} in found.nonholonomic
    (other,) = [each for each in found.nonholonomic if each != {"y": 1.0}]
    assert other == pytest.approx({"right.angle": 1.0, "x": -1 / r, "theta": -track / (2 * r)})
    assert found.integrals == (pytest.approx({"left.angle": 1.0, "right.angle": -1.0, "theta": track / r}),)
    assert found.unreached == ()
    assert "Lie brackets" in found.explain()
    assert not found.is_stabilizable


@pytest.mark.parametrize("heading", [0.0, np.pi / 2, np.pi, 2.0])
def test_a_drive_that_drives_corrects_sideways_whatever_its_heading(heading):
    model = derived("differential_drive")
    still = model.linearize({"theta": heading}).controllability
    moving = model.linearize({"theta": heading, "v_x": 0.5}).controllability
    assert (still.rank, moving.rank) == (6, 7)
    # x and y are measured along the base's own axes
    assert [each for each in still.nonholonomic if set(each) <= {"x", "y"}] == [{"y": 1.0}]
    assert not [each for each in moving.nonholonomic if set(each) <= {"x", "y", "theta"}]


def test_what_no_motor_drives_is_unreached():
    body = {"mass": 1.0, "inertia": {"zz": 0.2}}
    arm = {
        "base": "fixed",
        "joints": {
            "driven": {"type": "revolute", "body": body},
            "loose": {"type": "revolute", "at": [0, 0, 1], "damping": 0.3, "body": body},
        },
        "motors": {"motor": {"type": "torque", "drives": "driven"}},
    }  # fmt: skip
    found = derive(parse_robot(arm)).linearize().controllability
    assert found.rank == 2
    assert found.nonholonomic == found.integrals == ()
    assert {name for each in found.unreached for name in each} == {"loose.angle", "loose.rate"}
    assert min(pole.real for pole in found.poles) == pytest.approx(-0.3 / 0.2)


def test_swerve_modules_that_roll_ideally_leave_no_pose_uncontrolled():
    found = derived("mecanum").linearize().controllability
    assert not [each for each in found.nonholonomic if set(each) <= {"x", "y", "theta"}]
    assert len(found.integrals) == 2  # four wheels, whose angles two relations tie


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        ["differential_drive", "tricycle", "ackermann", "mecanum"], ["differential_drive", "mecanum"]
    ),
)
def test_integrals_are_what_no_bracket_reaches_at_any_configuration(name, rng):
    """As many as the growth vector leaves out there, and constant along runs that go anywhere (to their tolerance)."""
    robot = catalog.robot(name)
    model = derive(robot)
    angles = [each for each in model.coordinates if each.endswith((".steering", "steering.angle"))]
    inputs = {each: (lambda t, k=k: 3 * np.sin((1 + k) * t)) for k, each in enumerate(model.inputs)}
    run = trundle.simulate(model, 2.0, inputs)
    for _ in range(4):
        at = {each: float(rng.uniform(-1.2, 1.2)) for each in angles if rng.uniform() < 0.7}
        reach = trundle.analyze(robot, at).full_controllability
        found = model.linearize({"theta": float(rng.uniform(-3, 3)), **at}).controllability
        assert len(found.integrals) == reach.dimension - reach.here[-1]
        assert len(found.nonholonomic) + len(found.integrals) == reach.dimension - reach.here[0]
        for each in found.integrals:
            moved = sum((value * run[state] for state, value in each.items()), np.zeros(1))
            np.testing.assert_allclose(moved - moved[0], 0, atol=1e-5)


@pytest.mark.slow
def test_brackets_of_a_car_with_two_trailers():
    """All of the seven coordinates but the wheels' own relations: the growth vector is 2, 3, 4, 5 (Laumond 1993)."""
    wheels = {
        f"{side}_{k}": {
            "at": [0, y, 0],
            "radius": 0.1,
            "mass": 1.0,
            **({"parent": f"trailer_{k}"} if k else {}),
        }
        for k in range(3)
        for side, y in (("left", 0.3), ("right", -0.3))
    }
    for name, wheel in wheels.items():
        if not name.endswith("0"):
            wheel["at"] = [-0.8, wheel["at"][1], 0]
    body = {"mass": 2.0, "inertia": {"zz": 0.1}}
    robot = parse_robot(
        {
            "name": "train",
            "body": {"mass": 5.0, "inertia": {"zz": 0.4}},
            "wheels": wheels,
            "joints": {
                "hitch_1": {"type": "revolute", "body": {**body, "name": "trailer_1"}},
                "hitch_2": {
                    "type": "revolute",
                    "parent": "trailer_1",
                    "at": [-0.8, 0, 0],
                    "body": {**body, "name": "trailer_2"},
                },
            },
            "motors": {side: {"type": "torque", "drives": f"{side}_0"} for side in ("left", "right")},
        }
    )
    model = derive(robot)
    found = model.linearize().controllability
    bodies = {"x", "y", "theta", "hitch_1.angle", "hitch_2.angle"}
    assert len([each for each in found.nonholonomic if set(each) <= bodies]) == 3
    assert not [each for each in found.integrals if set(each) <= bodies]


# --- shape of the thing --------------------------------------------------------------------------------------------


def test_a_quaternion_is_three_rotations():
    model = ball_robot()
    about = model.linearize()
    assert about.states[3:9] == (
        *(f"rotation_{axis}" for axis in "xyz"),
        *(f"ball.rotation_{axis}" for axis in "xyz"),
    )
    assert {about.units[each] for each in about.states[3:9]} == {"rad"}
    assert len(about.states) == 20
    # rates of the rotations are the angular velocities
    np.testing.assert_allclose(about.A[3:6, 13:16], np.eye(3), atol=1e-15)
    # no pole at -2/s: the length of a quaternion is no motion
    assert np.abs(about.poles + 2).min() > 0.1


def test_constraints_that_repeat_each_other_take_one_freedom():
    method, parameters = pendulum_in_the_plane(
        extra_rows=[lambda x, y, length: 3 * (x**2 + y**2) - 3 * length**2]
    )
    about = trundle.from_sympy(method, parameters=parameters).linearize({"x": 0.6})
    plain = trundle.from_sympy(pendulum_in_the_plane()[0], parameters=parameters).linearize({"x": 0.6})
    assert about.states == plain.states
    np.testing.assert_allclose(about.A, plain.A, atol=1e-12)


def test_a_singular_state_is_refused():
    x, y = dynamicsymbols("x y")
    m = sp.Symbol("m")
    method = LagrangesMethod(m * (x.diff() ** 2 + y.diff() ** 2) / 2, [x, y], hol_coneqs=[x * y])
    method.form_lagranges_equations()
    model = trundle.from_sympy(method, parameters={m: 1.0})
    assert model.linearize({"x": 1.0}).states == ("x", "x_dot")
    with pytest.raises(NumericsError, match="singular at this state"):
        model.linearize({"x": 0.0, "y": 0.0})


def test_outputs_are_states_and_outputs_as_asked():
    model = derived("differential_drive")
    about = model.linearize({"v_x": 1.0}, outputs=["theta", "left.rate"])
    assert about.outputs == ("theta", "left.rate")
    assert (about.C[0] == [name == "theta" for name in about.states]).all()
    r, track = about.parameters["r"], about.parameters["track"]
    np.testing.assert_allclose(about.C[1, about.states.index("v_x")], 1 / r)
    np.testing.assert_allclose(about.C[1, about.states.index("omega")], -track / (2 * r))
    assert about.output["left.rate"] == pytest.approx(1 / r)
    assert "constraint_residual" not in model.linearize().outputs
    with pytest.raises(ValueError, match="read-only"):
        about.A[0, 0] = 1.0


@pytest.mark.filterwarnings("ignore:.*(inputs move|moment only)")
def test_it_becomes_a_system_of_scipy():
    about = derived("differential_drive").linearize({"v_x": 1.0}, outputs=["y"])
    system = about.to_scipy()
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(system, name), getattr(about, name))


@pytest.mark.filterwarnings("ignore:.*(inputs move|moment only)")
def test_it_becomes_a_system_of_python_control():
    control = pytest.importorskip("control")
    about = derived("differential_drive").linearize({"v_x": 1.0}, outputs=["y", "left.rate"])
    system = about.to_control()
    assert isinstance(system, control.StateSpace)
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(system, name), getattr(about, name))
    assert system.state_labels == [name.replace(".", "_") for name in about.states]
    assert system.input_labels == ["right_motor_voltage", "left_motor_voltage"]
    assert system.output_labels == ["y", "left_rate"]
    np.testing.assert_allclose(np.sort_complex(system.poles()), np.sort_complex(about.poles), atol=1e-6)


def test_without_python_control_it_says_so(monkeypatch):
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(InputError, match=r"pip install control"):
        derived("pendulum").linearize().to_control()


def test_it_shows_itself():
    about = derived("differential_drive").linearize({"v_x": 1.0}, {"left_motor.voltage": 2.0})
    text = repr(about)
    assert "linearised about v_x = 1, left_motor.voltage = 2" in text
    assert "not an equilibrium" in text
    assert "inputs control 7 of 9 directions" in text
    assert max(map(len, text.splitlines())) <= 260  # the heading; tables keep to 120
    assert max(map(len, text.splitlines()[2:])) <= 120
    page = about._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 5
    assert "right_motor.voltage</th>" in page


def test_wrong_names_and_values():
    model = derived("differential_drive")
    for arguments, message in (
        ({"state": {"v_z": 1.0}}, "v_x"),
        ({"state": {"theta": "2 kg"}}, "theta"),
        ({"inputs": {"left_motor.volts": 1.0}}, "did you mean 'left_motor.voltage'"),
        ({"inputs": [1.0, 2.0]}, "a mapping of names"),
        ({"parameters": {"rr": 1.0}}, "rr"),
        ({"outputs": ["yy"]}, "neither a state nor an output"),
        ({"outputs": "y"}, "list of names"),
        ({"outputs": ["x", "y", "x"]}, "'x' comes twice"),
    ):
        with pytest.raises(InputError, match=message):
            model.linearize(**arguments)
    with pytest.raises(InputError, match="expected a run"):
        model.linearize_along({"x": 1})
    other = trundle.simulate(derived("pendulum"), 1.0, samples=3)
    with pytest.raises(InputError, match="has no 'x'"):
        model.linearize_along(other)

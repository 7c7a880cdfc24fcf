"""Steady motions: they go on as they are, small motions beside them are what A and B say, and feedback made of A and B
keeps the robot on them.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_continuous_are

import trundle
from derived import derived
from parameters import mostly_slow
from sympy_models.test_whipple import TABLE
from sympy_models.whipple import BENCHMARK, whipple
from trundle import catalog
from trundle.control.deviation import DeviationMap
from trundle.control.tangent import moving_axes
from trundle.errors import InputError, NumericsError
from trundle.model import derive
from trundle.program import compile_program
from trundle.robot import parse_robot

EXAMPLES = Path(__file__).parents[2] / "examples"


def tractor():
    """A differential drive that pulls a trailer on one axle."""
    wheels = {
        f"{side}{tail}": {
            "at": [x, y, 0],
            "radius": 0.1,
            "mass": 0.5,
            **({"parent": "trailer"} if tail else {}),
        }
        for tail, x in (("", 0.0), ("_rear", -0.6))
        for side, y in (("left", 0.2), ("right", -0.2))
    }
    trailer = {"name": "trailer", "mass": 3.0, "center_of_mass": [-0.5, 0, 0], "inertia": {"zz": 0.2}}
    motor = {"type": "dc", "torque_constant": 0.3, "resistance": 0.5}
    return {
        "name": "tractor",
        "body": {"mass": 8.0, "inertia": {"zz": 0.3}},
        "wheels": wheels,
        "joints": {"hitch": {"type": "revolute", "at": [-0.2, 0, 0], "body": trailer}},
        "motors": {f"{side}_motor": {**motor, "drives": side} for side in ("left", "right")},
    }


def model_of(name):
    return derive(parse_robot(tractor())) if name == "tractor" else derived(name)


CIRCLES = {
    "differential_drive": {"v_x": 1.0, "omega": 0.5},
    "tricycle": {"v_x": 1.0, "omega": 0.3},
    "ackermann": {"v_x": 1.0, "omega": 0.3},
    "swerve": {"v_x": 1.0, "v_y": 0.2, "omega": 0.5},
    "mecanum": {"v_x": 0.5, "v_y": 0.2, "omega": 0.2},
    "offset_drive": {"v_x": 0.5, "omega": 0.2},
    "tractor": {"v_x": 0.8, "omega": 0.4},
}


@pytest.mark.parametrize("name", mostly_slow(CIRCLES, ["differential_drive", "mecanum", "tractor"]))
def test_a_steady_motion_goes_on_as_it_is(name):
    """Simulated with its own inputs, every speed stays, and the pose moves along an arc."""
    model = model_of(name)
    found = model.trim(CIRCLES[name])
    assert max(map(abs, found.residual.values())) < 1e-7
    run = trundle.simulate(model, 1.0, found.input, initial=found.state, samples=5, rtol=1e-10, atol=1e-12)
    for state in (*model.speeds, *model.currents, *CIRCLES[name]):
        np.testing.assert_allclose(
            run[state], {**found.state, **CIRCLES[name]}[state], atol=2e-6, err_msg=state
        )
    np.testing.assert_allclose(run["theta"][-1], CIRCLES[name]["omega"], atol=1e-6)
    about = found.linearize()
    assert about.is_steady
    end = {state: float(run[state][-1]) for state in model.states}
    np.testing.assert_allclose(about.deviation(end, time=1.0), 0, atol=3e-6)


@pytest.mark.parametrize("name", mostly_slow(CIRCLES, ["differential_drive", "mecanum", "tractor"]))
def test_its_matrices_are_the_same_all_along(name):
    model = model_of(name)
    found = model.trim(CIRCLES[name])
    about = found.linearize()
    moved = {**found.state, "x": 3.0, "y": -2.0, "theta": 2.3}
    elsewhere = model.linearize(moved, found.input)
    np.testing.assert_allclose(elsewhere.A, about.A, atol=1e-11 * np.abs(about.A).max())
    np.testing.assert_allclose(elsewhere.B, about.B, atol=1e-11 * np.abs(about.B).max())


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        ["differential_drive", "tricycle", "ackermann", "tractor"], ["differential_drive", "tractor"]
    ),
)
def test_the_pose_error_of_runs_beside_is_what_a_and_b_say(name):
    """z(τ) = exp(A τ) z(0) + ∫ exp(A s) B δu ds against differences of simulated runs."""
    model = model_of(name)
    found = model.trim(CIRCLES[name])
    about, tau, step = found.linearize(), 0.5, 1e-4
    n, m = about.B.shape
    both = expm(tau * np.block([[about.A, about.B], [np.zeros((m, n + m))]]))
    directions = np.eye(n + m)
    for k in range(n + m):
        ends = []
        for sign in (1, -1):
            start = found.x + sign * step * (about.basis @ directions[k, :n])
            inputs = found.u + sign * step * directions[k, n:]
            run = trundle.simulate(
                model,
                tau,
                dict(zip(model.inputs, inputs, strict=True)),
                initial=dict(zip(model.states, start, strict=True)),
                samples=2,
                rtol=1e-11,
                atol=1e-13,
            )
            ends.append(about.deviation(run.final, time=tau))
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / (2 * step), both[:n, k], atol=2e-5 * np.abs(both).max()
        )


def regulator(about, pose=1.0, rest=1.0):
    """K of u = −K z for weights on the pose and on all else."""
    weights = [pose if each in ("x", "y", "theta") else rest for each in about.states]
    riccati = solve_continuous_are(about.A, about.B, np.diag(weights), np.eye(len(about.inputs)))
    return about.B.T @ riccati


SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("differential_drive", "tricycle", "ackermann", "swerve")
]


@pytest.mark.parametrize("name", ["tractor", *SLOW])
def test_a_regulator_brings_the_robot_back_to_its_circle(name):
    """The loop is closed on the nonlinear model, from beside the circle, over more than a turn of it."""
    model = model_of(name)
    found = model.trim(CIRCLES[name])
    whole = found.linearize()
    about = whole.reduced(without=[each for each in whole.free_moving if each not in ("x", "y", "theta")])
    assert {"x", "y", "theta"} <= set(about.states)
    assert about.controllability.is_controllable
    assert about.caveats == ()
    gain = regulator(about, pose=100.0, rest=1e-3)
    rate, slopes = (compile_program(each).single() for each in (model.dynamics, model.rate_slopes))
    p = np.array(list(model.parameters.values()))

    def error(t, x):
        return about.deviation(dict(zip(model.states, x, strict=True)), t)

    def loop(t, x):
        return rate(x, found.u - gain @ error(t, x), p)[0]

    def slope(t, x):
        _, by_x, by_u = slopes(x, found.u - gain @ error(t, x), p)
        names, _, _, dual, _ = moving_axes(model, DeviationMap(about).moved_on(t), np.zeros(x.size))
        fed_back = gain @ dual[[names.index(each) for each in about.states]]
        return by_x.reshape(x.size, x.size) - by_u.reshape(x.size, -1) @ fed_back

    start = found.x + about.basis @ [
        {"x": -0.05, "y": 0.1, "theta": 0.1}.get(each, 0.0) for each in about.states
    ]
    duration = 1.2 * 2 * np.pi / CIRCLES[name]["omega"]
    end = solve_ivp(loop, (0, duration), start, method="Radau", jac=slope, rtol=1e-6, atol=1e-8).y[:, -1]
    assert np.linalg.norm(error(0.0, start)) > 0.1
    np.testing.assert_allclose(error(duration, end), 0, atol=1e-3)


def test_python_controls_regulator_is_the_same_and_warned_where_it_would_fail():
    control = pytest.importorskip("control")
    whole = derived("differential_drive").trim(v_x=1.0).linearize()
    about = whole.reduced()
    assert about.states[:5] == ("x", "y", "theta", "v_x", "omega")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gain, _, poles = control.lqr(about.to_control(), np.eye(7), np.eye(2))
    np.testing.assert_allclose(gain, regulator(about), atol=1e-6)
    assert poles.real.max() < -0.05
    for convert in (whole.to_control, whole.to_scipy):
        with pytest.warns(
            UserWarning, match=r"inputs move 7 of 9 directions(.|\n)*\.reduced\(\) leaves that out"
        ):
            convert()
    moment = derived("four_bar").linearize({"crank.rate": 2.0})
    with pytest.warns(UserWarning, match=r"at this moment only(.|\n)*linearize_along"):
        moment.to_scipy()
    assert "at this moment only" in repr(moment)


@pytest.mark.slow
def test_the_bicycles_poles_at_trimmed_speeds_are_the_papers():
    model = trundle.from_sympy(whipple(), parameters=BENCHMARK, name="Whipple bicycle")
    for speed, (real, imaginary, capsize, castering) in TABLE.items():
        found = model.trim(u_rear=-speed / BENCHMARK["r_R"])
        about = found.linearize()
        assert about.is_steady
        for pole in (castering, capsize, real + 1j * imaginary, real - 1j * imaginary):
            assert np.abs(about.poles - pole).min() <= 1e-11 * abs(pole)


def test_a_hanging_and_a_standing_pendulum_are_found_from_nearby():
    model = derive(catalog.pendulum(links=2))
    for angle in (0.0, np.pi):
        found = model.trim(start={"link_1.angle": angle - 0.1, "link_2.angle": angle + 0.1})
        np.testing.assert_allclose(
            [found.state["link_1.angle"], found.state["link_2.angle"]], angle, atol=1e-9
        )
        assert found.linearize().is_equilibrium


@pytest.mark.parametrize("rate", [3.0, -3.0])
def test_casters_trail(rate):
    """On the other side of its pivot one rolls as steadily, and turns around; no whole turns are left in its angle."""
    model = derived("tricycle")
    motion = model.trim({"front.steering": 0.1, "front.rate": rate})
    assert motion.linearize().poles.real.max() < 1e-9
    assert abs(motion.state["rear.steering"]) < np.pi + 1e-9
    ahead = model.trim(
        {"front.steering": 0.1, "front.rate": rate}, start={"rear.steering": np.pi * (rate > 0)}
    )
    assert ahead.linearize().poles.real.max() > 1
    assert abs(model.trim({"front.steering": 0.1}).state["rear.steering"]) < np.pi


def test_what_is_left_free_still_holds():
    """Along a free direction the equations and what was asked for hold to first order."""
    model = derived("mecanum")
    found = model.trim(v_x=0.5)
    assert len(found.free) == 3  # two more speeds of the base, and motors that work against each other
    assert {each for one in found.free for each in one} >= {"v_y", "omega"}
    for direction in found.free:
        step = 1e-5
        x = [value + step * direction.get(name, 0.0) for name, value in found.state.items()]
        u = [value + step * direction.get(name, 0.0) for name, value in found.input.items()]
        rate = dict(
            zip(model.states, model.dynamics.evaluate(x, u, list(model.parameters.values()))[0], strict=True)
        )
        assert max(abs(rate[name]) for name in (*model.speeds, *model.currents)) < 1e-4 * step * 100
        assert direction.get("v_x", 0.0) == 0.0
    text = found.explain()
    assert "steady motion with v_x = 0.5 m/s" in text
    assert text.count("left free") == 3


def test_of_several_motions_the_one_with_the_least_inputs_is_taken():
    """A car whose rear motors could work against each other lets them work alike."""
    found = derived("ackermann").trim(v_x=1.0, omega=0.0)
    assert found.input["left_motor.voltage"] == pytest.approx(found.input["right_motor.voltage"])


@pytest.mark.slow
def test_what_is_left_free_stays_where_no_input_is_saved():
    """A Segway takes no torque at any speed and turning rate: at 1 m/s it was said to turn at 181 rad/s."""
    model = derived("segway")
    for speed in np.linspace(0.1, 3.0, 30):
        found = model.trim(v_x=speed)
        assert found.free == ({"omega": 1.0},)
        assert found.state["omega"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "targets", "said"),
    [
        ("differential_drive", {"v_x": 1.0, "v_y": 0.5}, "nothing that can change moves v_y, which is 0"),
        (
            "four_bar",
            {"crank.rate": 2.0},
            "not a relative equilibrium(.|\n)*'crank.angle'(.|\n)*linearize_along",
        ),
        ("pendulum", {"link_1.angle": 1.0}, "the rate of link_1.rate is"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_had_is_said(name, targets, said):
    with pytest.raises(NumericsError, match=said):
        derived(name).trim(targets)


@pytest.mark.slow
def test_a_battery_is_trimmed_at_a_charge_and_that_it_empties_is_said():
    model = derive(trundle.load(EXAMPLES / "battery" / "competition_swerve.yaml"))
    found = model.trim(v_x=1.0, omega=0.5, fixed=["battery.charge"])
    steering = [found.state[name] for name in model.states if name.endswith(".steering")]
    assert max(map(abs, steering)) < 0.3  # as the arc's geometry has it, and no module backwards
    assert not found.linearize().is_steady
    with pytest.raises(NumericsError, match=r"never stays(.|\n)*fixed=\['battery.charge'\]"):
        model.trim(v_x=1.0)


def test_limits_of_motors_limit_what_can_be_had():
    robot = catalog.differential_drive()
    model = derive(robot)
    volts = model.trim(v_x=1.0).input["left_motor.voltage"]
    assert model.trim({"left_motor.voltage": volts, "right_motor.voltage": volts}).state[
        "v_x"
    ] == pytest.approx(1.0)
    assert model.trim(v_x="1 m/s", parameters={"r": 0.3}).input["left_motor.voltage"] == pytest.approx(
        volts / 2
    )


def response(about, s):
    """C (s − A)⁻¹ B + D."""
    return about.C @ np.linalg.solve(s * np.eye(len(about.states)) - about.A, about.B) + about.D


def test_chosen_states_are_exact_or_refused():
    about = derived("differential_drive").trim(v_x=1.0).linearize(outputs=["x", "y", "left.rate"])
    kept = ["y", "theta", "v_x", "omega", "right_motor.current", "left_motor.current"]
    part = about.with_states(kept)
    assert part.states == tuple(kept)
    assert part.outputs == ("y", "left.rate")
    full, small = (
        each.C @ np.linalg.solve(0.3j * np.eye(len(each.states)) - each.A, each.B) + each.D
        for each in (about, part)
    )
    np.testing.assert_allclose(full[1:], small, rtol=1e-9)
    assert part.controllability.is_controllable
    np.testing.assert_allclose(part.dual @ part.basis, np.eye(6), atol=1e-15)
    with pytest.raises(InputError, match="the rate of 'y' depends on theta"):
        about.with_states(["y", "v_x"])
    with pytest.raises(InputError, match="did you mean 'theta'"):
        about.with_states(["thet"])
    with pytest.raises(InputError, match="not the text"):
        about.with_states("theta")
    with pytest.raises(InputError, match="has no inputs"):
        derived("pendulum").linearize().reduced()


def test_a_reduced_system_answers_inputs_as_the_whole_does():
    about = derived("tricycle").trim(v_x=1.0, omega=0.3).linearize(outputs=["x", "y", "theta", "rear.angle"])
    part = about.reduced()
    assert len(part.states) == about.controllability.rank < len(about.states)
    for s in (0.4j, 1.0 + 2.0j):
        np.testing.assert_allclose(response(about, s), response(part, s), rtol=1e-7, atol=1e-10)


def test_what_no_input_moves_and_grows_is_said_after_it_was_left_out():
    body = {"mass": 1.0, "center_of_mass": [0, 0, -0.3], "inertia": {"xx": 0.2, "yy": 0.2, "zz": 0.2}}
    arm = {
        "base": "fixed",
        "joints": {
            "driven": {"type": "revolute", "axis": [0, 1, 0], "body": body},
            "loose": {"type": "revolute", "axis": [0, 1, 0], "at": [0, 3, 0], "body": body},
        },
        "motors": {"motor": {"type": "torque", "drives": "driven"}},
    }
    about = derive(parse_robot({"name": "arm", **arm})).linearize({"loose.angle": "180 deg"})
    part = about.reduced()
    assert part.states == ("driven.angle", "driven.rate")
    assert any("grows on its own" in each for each in part.caveats)


def test_wrong_names_and_times_are_told():
    model = derived("differential_drive")
    with pytest.raises(InputError, match="did you mean 'omega'"):
        model.trim(omegaa=1.0)
    with pytest.raises(InputError, match="not a state or input"):
        model.trim(v_x=1.0, start={"v_y": 1.0})
    with pytest.raises(InputError, match="v_x"):
        model.trim(v_x="1 kg")
    about = model.linearize({"v_x": 1.0})
    with pytest.raises(InputError, match="does not go on as it is"):
        about.deviation(about.state, time=1.0)
    with pytest.raises(InputError, match="has no 'x'"):
        about.deviation({})


def test_a_steady_motion_prints_as_what_it_is():
    found = derived("differential_drive").trim(v_x=1.0, omega=0.5)
    assert str(found) == found.explain()
    assert "in a steady motion with v_x = 1 m/s, omega = 0.5 rad/s" in repr(found)


def test_what_only_fades_with_the_distance_is_no_steady_motion():
    def link(length, mass):
        return {
            "mass": mass,
            "center_of_mass": [0, 0, length],
            "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.01},
        }

    tilted = {"at": [0, 0, 0.4], "rpy": [0, 0.3, 0]}
    joints = {
        "shoulder": {"axis": [0, 1, 0], "body": link(0.25, 2)},
        "elbow": {"parent": "shoulder", "at": [0, 0, 0.5], "axis": [0, 1, 0], "body": link(0.2, 1)},
        "wrist": {"type": "prismatic", "parent": "elbow", **tilted, "body": link(0.05, 0.3)},
    }
    model = derive(parse_robot({"name": "arm", "base": "fixed", "joints": joints}))
    rest = model.trim()
    # The hand slides level, what is beyond the elbow balances about it, and the upper arm stands or hangs.
    assert abs(np.cos(rest.state["shoulder.angle"] + rest.state["elbow.angle"] + 0.3)) < 1e-7
    assert rest.state["wrist.position"] == pytest.approx(-(0.2 + 0.3 * 0.4) / 0.3 * np.cos(0.3) - 0.05)
    assert abs(np.sin(rest.state["shoulder.angle"])) < 1e-7


def test_it_shows_itself_in_words_without_rounding():
    found = derived("swerve").trim(v_x=2.0)
    assert repr(found) == str(found) == found.explain()
    assert "front_left_steer.angle = 0 rad" in str(found)
    assert "body.mass" not in str(found)


@pytest.mark.parametrize("motor", [None, "kraken_x60"])
def test_wheels_that_could_slip_roll(motor):
    found = trundle.derive(trundle.catalog.swerve(motor=motor)).trim(v_x=2.0)
    for wheel in ("front_left", "rear_left", "rear_right", "front_right"):
        assert found.state[f"{wheel}.rate"] == pytest.approx(2.0 / 0.05, rel=1e-6)
        assert found.state[f"{wheel}.steering"] == pytest.approx(0.0, abs=1e-9)

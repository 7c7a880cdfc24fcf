"""Controllers that act at every instant: their law holds where a step ends, so that steps may be long."""

import numpy as np
import pytest

import trundle
from trundle.robot.controllers import CONTROLLERS

MOTOR = {"torque_constant": 0.05, "resistance": 0.9, "gear_ratio": 120}
WHEEL = {"radius": 0.15, "mass": 1.0, "width": 0.05, "contact": "linear", "friction": 1.0}
BODY = {
    "mass": 40.0,
    "center_of_mass": [0, 0, 0.05],
    "inertia": {"xx": 1.0, "yy": 1.5, "zz": 2.0},
}
STEPS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
CORNERS = {"fl": (0.3, 0.25), "fr": (0.3, -0.25), "rl": (-0.3, 0.25), "rr": (-0.3, -0.25)}
EACH = dict.fromkeys((f"{name}_motor.voltage" for name in CORNERS), 1)
TURNED = {name: -1 if name[1] == "l" else 1 for name in EACH}


def cart(controllers, motor=None):
    """Four wheels with a motor each."""
    wheels = {name: {"at": [x, y, 0], **WHEEL} for name, (x, y) in CORNERS.items()}
    motors = {f"{name}_motor": {"drives": name, **MOTOR, **(motor or {})} for name in wheels}
    parts = {"wheels": wheels, "motors": motors, "controllers": controllers}
    return trundle.Robot(name="cart", base="planar", body=BODY, **parts)


def wheel_by_wheel(**law):
    """A PID for every wheel's rate."""
    return {
        f"hold_{name}": {"reads": f"{name}.rate", "drives": f"{name}_motor.voltage", "target": 1.2, **law}
        for name in CORNERS
    }


def drive(motor=None, **parts):
    """Two driven wheels, and a ball before and behind."""
    wheels = {name: {"at": [0, y, 0], **WHEEL} for name, y in (("left", 0.25), ("right", -0.25))}
    wheels |= {
        name: {"type": "ball", "at": [x, 0, -0.1], "radius": 0.05}
        for name, x in (("ahead", 0.3), ("behind", -0.3))
    }
    motors = {f"{name}_motor": {"drives": name, **(motor or MOTOR)} for name in ("left", "right")}
    return trundle.Robot(name="drive", base="planar", body=BODY, wheels=wheels, motors=motors, **parts)


# A motor's voltage over its speed: that of a wheel that nothing brakes.
BACK = 0.05 * 120


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("law", "rate"),
    [
        # nothing brakes a wheel on flat ground: its voltage is k g ω, and the law's is 14 (1.2 − ω)
        ({"proportional": 14}, 1.2 * 14 / (14 + BACK)),
        ({"proportional": 14, "integral": 60}, 1.2),
        ({"proportional": 14, "integral": 60, "lowest": -8, "highest": 8}, 1.2),
        ({"proportional": 14, "integral": 60, "highest": 6, "lowest": -6}, 6 / BACK),
        ({"proportional": 14, "integral": 60, "derivative": 0.1, "filter": 1e-3}, 1.2),
    ],
)
def test_pids_come_to_the_value_of_their_law_at_every_step(step, law, rate):
    run = trundle.simulate(cart(wheel_by_wheel(**law)), 8.0, terrain={}, step=step, samples=5, progress=False)
    for name in CORNERS:
        assert run[f"{name}.rate"][-1] == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize("step", STEPS)
def test_a_state_feedback_comes_to_the_value_of_its_law_at_every_step(step):
    """u = 9 − 14 v_x − 3 rate; and v_x = r ω, u = k g ω."""
    row = {"gains": {"v_x": 14, "fl.rate": 3}, "offset": 9}
    law = {"type": "state_feedback", "drives": dict.fromkeys(EACH, row)}
    run = trundle.simulate(cart({"lqr": law}), 4.0, terrain={}, step=step, samples=5, progress=False)
    radius = run["v_x"][-1] / run["fl.rate"][-1]  # the wheel's, less its sinkage
    assert run["fl.rate"][-1] == pytest.approx(9 / (BACK + 3 + 14 * radius), abs=1e-3)
    assert run["fl.rate"][-1] == pytest.approx(9 / (BACK + 3 + 14 * WHEEL["radius"]), rel=0.01)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("motor", [MOTOR, {**MOTOR, "inductance": 1e-6}])
def test_a_tracker_comes_to_its_line_at_every_step(step, motor):
    t = np.linspace(0, 12, 241)
    line = {"time": t, "x": 0.4 * t, "y": 0 * t, "theta": 0 * t}
    robot = drive(motor, controllers={"track": {"type": "tracker"}})
    asked = {"step": step, "initial": {"y": 0.2}, "samples": 13, "progress": False}
    run = trundle.simulate(robot, 12.0, {"track": line}, terrain={}, **asked)
    assert abs(run["track.lateral"][-1]) < 1e-3
    assert abs(run["track.heading"][-1]) < 1e-3


TWO = {"left_motor.voltage": 1, "right_motor.voltage": 1}
SPEED = {"reads": "v_x", "drives": TWO, "proportional": 20, "integral": 40}
TURN = {"reads": "omega", "drives": {"left_motor.voltage": -1, "right_motor.voltage": 1}, "proportional": 5}
CASCADE = {"speed": SPEED, "turn": TURN}
TAKES = {"speed_to": "speed.reference", "turn_to": "turn.reference"}
ROW = {"gains": {"v_x": 3, "left.rate": 1, "yaw": 1, "pitch": 1}, "offset": 1}
STEERED = {"speed_to": "speed.reference", "steer_to": "turn.reference", "wheelbase": 0.5}
KINDS = {
    "pid": CASCADE,
    "angle": {"turn": {**TURN, "reads": "yaw", "angle": True, "integral": 1, "target": 0.1}},
    **{name: {"lead": {"type": name, **TAKES}, **CASCADE} for name in ("unicycle", "kanayama", "samson")},
    **{name: {"lead": {"type": name, **STEERED}, **CASCADE} for name in ("stanley", "pure_pursuit")},
    "holonomic": {"lead": {"type": "holonomic", **TAKES, "sideways_to": "aside.reference"}, **CASCADE}
    | {"aside": {"reads": "v_y", "drives": TWO, "proportional": 1}},
    "tracker": {"lead": {"type": "tracker"}},
    "circle": {"lead": {"type": "circle", "circle": {"center": [0, 0], "radius": 1}, "speed": 0.3, **TAKES}, **CASCADE},
    "state_feedback": {"lqr": {"type": "state_feedback", "drives": dict.fromkeys(TWO, ROW)}},
    "feedback_along": {"lqr": {"type": "feedback_along", "reads": ["x", "y", "theta", "v_x"], "drives": [*TWO]}},
    "state_space": {
        "lead": {"type": "state_space", "reads": ["v_x", "pitch"], "drives": [*TWO], "A": [[-5.0]], "B": [[1, 0.1]],
                 "C": [[2], [2]], "D": [[3, 0], [3, 0]], "around": {"v_x": 0.5}}
    },
}  # fmt: skip


def test_every_kind_that_needs_no_period_is_among_them():
    known = {name for name in CONTROLLERS if CONTROLLERS.named(name).__module__.startswith("trundle.")}
    assert {*KINDS} == known - {"estimator"} | {"angle"}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore:nobody gives")
def test_every_law_has_slopes_at_rest(name):
    """From rest, at the origin, level: where |ω|, roots and angles of vectors have none by their rules."""
    robot = drive({**MOTOR, "inductance": 1e-4}, controllers=KINDS[name])
    run = trundle.simulate(robot, 0.2, terrain={}, step=0.1, samples=3, progress=False)
    assert all(np.isfinite(run[column]).all() for column in run.columns)
    assert run.summary["balance_residual"] < 1e-6


@pytest.mark.parametrize("step", [0.1, 0.025])
@pytest.mark.parametrize("law", [{"proportional": 14, "integral": 20}, {"proportional": 3, "highest": 2}])
def test_the_law_is_that_of_the_step_s_end(law, step):
    """Of every step, on a hill: it reads the speeds of the step, which are those at its end but for h²."""
    hill = {"surfaces": {"hill": {"type": "hill", "height": 0.15, "width": 1.0, "at": [1.0, 0.3]}}}
    controllers = {"hold": {"reads": "v_x", "drives": EACH, "target": 0.5, **law}}
    controllers["turn"] = {"reads": "yaw", "drives": TURNED, "proportional": 5, "target": 0.3}
    steps = round(3 / step)
    run = trundle.simulate(cart(controllers), 3.0, terrain=hill, step=step, samples=steps + 1, progress=False)
    error = 0.5 - run["v_x"][1:]
    aimed = law["proportional"] * error + (run["hold.integral"][1:] if "integral" in law else 0)
    wanted = np.minimum(aimed, law.get("highest", np.inf)) + 5 * (0.3 - run["yaw"][1:])
    off = 0.02 * step**2  # m/s
    assert run["fr_motor.voltage"][:-1] == pytest.approx(wanted, abs=(law["proportional"] + 5) * off)
    if "integral" in law:
        assert np.diff(run["hold.integral"]) == pytest.approx(step * 20 * error, abs=step * 20 * off)

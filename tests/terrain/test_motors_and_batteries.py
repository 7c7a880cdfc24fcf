"""Motors, batteries and laws with states of their own on terrain: the planar model, closed forms, stiff steps."""

import math

import numpy as np
import pytest

import trundle
from tests.terrain.limits import on_hard_ground

PLACES = {"fl": (0.3, 0.25), "fr": (0.3, -0.25), "rl": (-0.3, 0.25), "rr": (-0.3, -0.25)}
WHEEL = {"radius": 0.15, "mass": 1.0, "width": 0.05, "contact": "linear", "friction": 5.0}
DC = {"type": "dc", "torque_constant": 0.05, "resistance": 0.5, "inductance": 5e-3, "gear_ratio": 20}
BATTERY = {"open_circuit_voltage": 13, "internal_resistance": 0.1, "capacity": "1 Ah"}
WEIGHT = 44 * 9.81


def box(wheel=None, motor=None, **parts):
    wheels = {name: {"at": [*at, 0], **WHEEL, **(wheel or {})} for name, at in PLACES.items()}
    motors = {f"{name}_motor": {"drives": name, **(motor or DC)} for name in PLACES}
    inertia = {"xx": 1.0, "yy": 1.5, "zz": 2.0}
    body = {"mass": 40.0, "center_of_mass": [0, 0, 0.05], "inertia": inertia}
    return trundle.Robot(
        name="box", **{"base": "planar", "body": body, "wheels": wheels, "motors": motors, **parts}
    )


def told(what, left, right):
    return {f"{name}_motor.{what}": left if name[1] == "l" else right for name in PLACES}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("motor", "inputs", "parts", "own"),
    [
        (DC, told("voltage", 9.0, 12.0), {"batteries": {"b": BATTERY}}, ["fl_motor.current", "b.charge"]),
        (
            {"type": "velocity", "gain": 2.0, "lag": 0.1, "integral": 8.0},
            told("rate", 3.0, 5.0),
            {},
            ["rr_motor.reference", "rr_motor.sum"],
        ),
    ],
)
def test_on_hard_flat_ground_a_robot_moves_as_its_planar_model(motor, inputs, parts, own):
    robot = box({"slip_damping": 800.0}, motor, **parts)
    names = ["x", "y", "theta", "v_x", "v_y", "omega", "fl.rate", "rr.rate", *own]
    plane = trundle.simulate(robot, 0.5, inputs, samples=2)
    wanted = np.array([plane[name][-1] for name in names])
    came = on_hard_ground(robot, 0.5, inputs, names, 5e-4)
    assert np.abs(came - wanted).max() < 1e-6 * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.2, 0.01])
def test_a_quick_winding_bounds_no_step(step):
    """τ = L/R = 1 µs: the current is that without an inductance."""
    ends = [
        trundle.simulate(
            box(motor={**DC, "inductance": henry}),
            2.0,
            told("voltage", 10, 10),
            terrain={},
            step=step,
            samples=2,
        )["v_x"][-1]
        for henry in (0.0, 5e-7)
    ]
    assert ends[1] == pytest.approx(ends[0], rel=1e-4)


@pytest.mark.slow
def test_bristles_hold_a_robot_on_a_slope_and_slide_beyond_friction():
    """Held: Σ σ₀ z = W sin θ, and nothing creeps. Beyond μ it slides down at g (sin θ − μ cos θ)."""
    held = {"contact": "bristle", "friction": 0.5}
    slope = {"surfaces": {"slope": {"slope": "10 deg"}}}
    brake = {"type": "ideal"}
    run = trundle.simulate(box(held, brake), 4.0, terrain=slope, step=0.01)
    bent = sum(run[f"{name}.rolling_deflection"][-1] for name in PLACES)
    assert abs(bent) * 1e5 == pytest.approx(WEIGHT * math.sin(math.radians(10)), rel=1e-6)
    assert abs(run["v_x"][-1]) < 1e-9

    slope = {"surfaces": {"slope": {"slope": "40 deg"}}}
    run = trundle.simulate(box(held, brake), 2.0, terrain=slope, step=0.005)
    change = (run["v_x"][-1] - run["v_x"][200]) / (run.time[-1] - run.time[200])
    angle = math.radians(40)
    assert -change == pytest.approx(9.81 * (math.sin(angle) - 0.5 * math.cos(angle)), rel=1e-3)


@pytest.mark.slow
def test_a_battery_gives_what_its_motors_take():
    run = trundle.simulate(
        box(batteries={"b": BATTERY}), 1.0, told("voltage", 12, 12), terrain={}, step=0.005, samples=201
    )
    taken = sum(run[f"{name}_motor.power"] for name in PLACES)
    assert run["b.voltage"] * run["b.current"] == pytest.approx(taken, rel=1e-9, abs=1e-6)
    assert run["b.voltage"] == pytest.approx(13 - 0.1 * run["b.current"], rel=1e-9)
    drawn = np.concatenate([[0.0], np.cumsum(run["b.current"][:-1])]) * 0.005
    assert run["b.charge"] == pytest.approx(1 - drawn / 3600, abs=1e-9)

"""What the robots on wheels share: motors with their limits, a battery, the whole robot's mass and how high it is."""

import math

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import InputError, catalog
from trundle.robot.component import plain

WHEELED = [name for name in catalog.names() if "battery" in catalog.options(name)]
WEIGHED = [name for name in WHEELED if "robot_mass" in catalog.options(name)]
STEERED = [name for name in WHEELED if "steering_motor" in catalog.options(name)]
# A robot of competitions: 115 lb on Krakens, which also steer, and on a floor with friction 1.1.
COMPETITION = {
    "motor": "kraken_x60", "gear_ratio": 6.75, "current_limit": 120, "supply_current_limit": 60,
    "steering_motor": "kraken_x60", "steering_current_limit": 40, "battery": 12, "robot_mass": "115 lb",
    "center_height": "6 in", "friction": 1.1, "wheelbase": "22.5 in", "track": "22.5 in", "radius": "2 in",
}  # fmt: skip


def masses(robot):
    """The masses of all that a robot has (kg)."""
    carried = [part for wheel in robot.wheels.values() for part in (wheel, getattr(wheel, "fork", None))]
    bodies = [robot.body, *(joint.body for joint in robot.joints.values()), *carried]
    return [robot.number(body.mass) for body in bodies if body is not None and body.mass is not None]


@pytest.mark.parametrize("name", WEIGHED)
def test_the_whole_robot_has_the_mass_that_it_shall_have(name):
    robot = catalog.robot(name, robot_mass="115 lb")
    assert sum(masses(robot)) == pytest.approx(115 * 0.45359237, rel=1e-12)
    with pytest.raises(InputError, match="mass and its body's are both given") as caught:
        catalog.robot(name, robot_mass=60, body_mass=51)
    assert caught.value.key == "robot_mass"


@pytest.mark.parametrize("name", WEIGHED)
def test_the_whole_robot_has_the_inertia_that_it_shall_have(name, rng):
    """M of the planar robot whose wheels nothing holds: I = M_ωω − |M_vω|²/m, about its own centre of mass."""
    inertia = rng.uniform(20, 40)
    data = plain(catalog.robot(name, robot_mass="115 lb", robot_inertia=inertia))
    data = {key: part for key, part in data.items() if key not in ("couplings", "motors", "batteries")}
    data["parameters"].pop("mu", None)
    for wheel in data["wheels"].values():
        wheel |= {"contact": "free"}
        wheel.pop("friction", None)
    model = trundle.derive({"robot": data})
    base = [model.speeds.index(speed) for speed in ("v_x", "v_y", "omega")]
    mass = model.mass_matrix(dict.fromkeys(model.coordinates, 0.0), {})[np.ix_(base, base)]
    assert mass[2, 2] - mass[:2, 2] @ mass[:2, 2] / mass[0, 0] == pytest.approx(inertia, rel=1e-12)
    with pytest.raises(InputError, match="body_inertia is given beside it"):
        catalog.robot(name, robot_inertia=inertia, body_inertia=1)
    with pytest.raises(InputError, match="leave its body none") as caught:
        catalog.robot(name, robot_inertia="0.01 kg m^2")
    assert caught.value.key == "robot_inertia"
    least = float(str(caught.value.hint).split()[3])
    assert least > 0.01
    catalog.robot(name, robot_inertia=1.001 * least)
    formula = catalog.robot(name, robot_inertia=f"{least} kg m^2 + r^2*2 kg").body.inertia.zz
    assert formula.names == ("r",)


@pytest.mark.parametrize("name", WHEELED)
def test_motors_have_their_limits_and_the_battery(name):
    limits = {"current_limit": "120 A", "supply_current_limit": 60}
    document = catalog.document(name, motor="neo", battery="12.6 V", battery_resistance="15 mohm", **limits)
    (battery,) = document.robot.batteries.values()
    number = document.robot.number
    assert (number(battery.open_circuit_voltage), number(battery.internal_resistance)) == (12.6, 0.015)
    assert number(battery.capacity) == 18 * 3600
    driving = [motor for motor in document.robot.motors.values() if motor.type == "dc"]
    for motor in driving:
        assert (number(motor.current_limit), number(motor.supply_current_limit)) == (120, 60)
        assert motor.voltage_limit is None  # the battery's is
    assert len(driving) == sum(each.endswith(".voltage") for each in document.run.inputs)


@pytest.mark.parametrize("name", mostly_slow(STEERED, ["tricycle"]))
def test_a_real_motor_steers_where_a_servo_would(name):
    """And its voltages bring the steering to where the servo holds it, but for what the start costs: most for a car."""
    limits = {"steering_current_limit": 40, "steering_supply_current_limit": 30, "steering_ratio": 12.8}
    document = catalog.document(name, motor="neo", steering_motor="kraken_x60", **limits)
    steering = [motor for each, motor in document.robot.motors.items() if "steer" in each]
    number = document.robot.number
    for motor in steering:
        assert motor.model == "kraken_x60"
        assert (number(motor.gear_ratio), number(motor.voltage_limit)) == (12.8, 12)
        assert (number(motor.current_limit), number(motor.supply_current_limit)) == (40, 30)
    run = trundle.run(document, duration=1.5, progress=False)
    servo = catalog.document(name).run.inputs
    for each, signal in servo.items():
        if each.endswith(".angle"):
            motor = document.robot.motors[each.removesuffix(".angle")]
            column = motor.drives if "." in motor.drives else f"{motor.drives}.angle"
            assert run[column][-1] == pytest.approx(signal.values[-1].number, rel=0.15)


@pytest.mark.parametrize(
    ("kind", "measures", "key"),
    [
        ("swerve", {"battery_resistance": 0.01}, "battery_resistance"),
        ("mecanum", {"battery_capacity": "18 Ah"}, "battery_capacity"),
        ("ackermann", {"steering_ratio": 12}, "steering_ratio"),
        ("swerve", {"steering_current_limit": 40}, "steering_current_limit"),
    ],
)
def test_what_a_measure_is_of_is_said(kind, measures, key):
    with pytest.raises(InputError, match="there is no battery|a servo steers") as caught:
        catalog.robot(kind, **measures)
    assert caught.value.key == key
    assert "add" in caught.value.hint


@pytest.mark.parametrize(
    ("measures", "key", "words"),
    [
        ({"robot_mass": "5 kg"}, "robot_mass", "wheels with what holds them 10 kg already"),
        ({"center_height": "-3 in"}, "center_height", "0.0762 m below the ground"),
    ],
)
def test_a_robot_that_cannot_be_is_told(measures, key, words):
    with pytest.raises(InputError, match=words) as caught:
        catalog.swerve(**measures)
    assert caught.value.key == key


def test_measures_that_are_shared_are_those_that_there_are():
    with pytest.raises(TypeError, match="unexpected keyword argument 'batery'"):
        catalog.swerve(batery=12)


def test_loads_shift_with_the_height_of_the_whole_robot():
    """Σ N = m g and Σ N x = −m a h while a robot speeds up ahead with slip: h of all its masses, wheels at r."""
    robot = catalog.swerve(**COMPETITION)
    model, number = trundle.derive(robot), robot.number
    inputs = {f"{name}_drive.voltage": 6.0 for name in robot.wheels}
    run = trundle.simulate(model, 0.2, inputs, samples=21, progress=False)
    loads = np.stack([run[f"{name}.load"] for name in robot.wheels])
    places = np.array([number(wheel.at[0]) for wheel in robot.wheels.values()])
    mass, body = sum(masses(robot)), number(robot.body.mass)
    height = (body * 6 * 0.0254 + (mass - body) * 2 * 0.0254) / mass
    acceleration = np.sum([run[f"{name}.traction"] for name in robot.wheels], axis=0) / mass
    steady = slice(4, 11)  # wheels that speed up have moments of their own: less than a thousandth here
    assert acceleration[steady].min() > 3
    gravity = -robot.parameter_values().get("gravity.z", -9.81)
    np.testing.assert_allclose(loads.sum(axis=0), mass * gravity, rtol=2e-3)
    np.testing.assert_allclose((places @ loads)[steady], -mass * acceleration[steady] * height, rtol=2e-3)


@pytest.mark.parametrize("offset", [0.0, 0.25, -0.1])
def test_trailers_turn_as_their_hitches_say(offset, rng):
    """L θ̇ = v sin φ − h θ̇' cos φ and v_next = v cos φ + h θ̇' sin φ, with φ = θ' − θ (Laumond 1993 where h = 0)."""
    length = rng.uniform(0.5, 1.5)
    model = trundle.derive(catalog.car_with_trailers(trailers=3, length=length, offset=offset))
    state, numbers = rng.uniform(-1, 1, len(model.states)), np.array(list(model.parameters.values()))
    inputs = np.zeros(len(model.inputs))
    (rates,), (outputs,) = (each.evaluate(state, inputs, numbers) for each in (model.dynamics, model.observe))
    at = dict(zip(model.states, state, strict=True)) | dict(zip(model.outputs, outputs, strict=True))
    rate = dict(zip(model.states, rates, strict=True))
    speed, turning = at["v_x"], at["omega"]
    for place in (1, 2, 3):
        phi = -at[f"hitch_{place}.angle"]
        own = (speed * np.sin(phi) - offset * turning * np.cos(phi)) / length
        assert rate[f"hitch_{place}.angle"] == pytest.approx(own - turning, rel=1e-12, abs=1e-12)
        speed, turning = speed * np.cos(phi) + offset * turning * np.sin(phi), own
        for side, y in (("left", 0.35), ("right", -0.35)):
            spun = (speed - y * turning) / 0.15
            assert at[f"trailer_{place}_{side}.rate"] == pytest.approx(spun, rel=1e-12, abs=1e-12)


def test_the_segway_leans_into_its_acceleration(rng):
    """Its run holds it there: sin q = v̇ (m h cos q + r m_all)/(m h g) on all measures, though it would fall."""
    document = catalog.document("segway", body_mass=rng.uniform(5, 80), radius=rng.uniform(0.05, 0.2))
    run = trundle.run(document, duration=1.0, progress=False)
    assert run["lean.angle"] == pytest.approx(np.radians(10), abs=1e-6)
    assert np.diff(run["v_x"], 2) == pytest.approx(0, abs=1e-6)
    model = trundle.derive(document.robot)
    weights = {"v_x": 0.3, "omega": 0.3, "lean.angle": 0.1, **dict.fromkeys(model.inputs, 2.0)}
    held = model.lqr(model.trim(v_x=0.5, omega=0.0), weights)
    assert held.poles.real.max() < 0


@pytest.mark.parametrize(
    "measure", ["robot_inertia", "robot_mass", "body_mass", "radius", "battery", "gear_ratio"]
)
@pytest.mark.parametrize("wrong", ["abc", "nan", math.nan, "6 A"])
def test_a_wrong_measure_is_named_whatever_it_becomes_a_part_of(measure, wrong):
    with pytest.raises(InputError) as caught:
        catalog.swerve(**{measure: wrong})
    assert caught.value.key == measure
    assert f"{wrong!r} for " in str(caught.value)

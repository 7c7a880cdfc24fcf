"""Top speeds: those of runs at full command, of closed forms, and the same number wherever one is told."""

import json
import math
from typing import Any

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import catalog
from trundle.robot import parse_robot, units
from trundle.robot.component import plain
from trundle.show.summaries.analysis_summary import essential_facts

# The run's largest voltage, for motors without a limit and a battery (V).
VOLTS = 24.0
SUPPLIES: dict[str, dict[str, Any]] = {
    "limit": {},
    "battery": {"battery": 12},
    "sag": {"battery": 12, "motor": "neo", "gear_ratio": 10, "battery_resistance": 0.1},
    "drawn": {"battery": 12, "motor": "neo", "gear_ratio": 10, "supply_current_limit": 15},
}
# The catalogue's robots whose wheels motors drive; a segway's are sources of torque that nothing limits.
WHEELED = (
    "differential_drive", "offset_drive", "mecanum", "three_omni", "skid_steer", "swerve", "limited_swerve",
    "ackermann", "car_with_trailers", "tricycle",
)  # fmt: skip
CASES = [(name, supply) for name in WHEELED for supply in SUPPLIES]
QUICK = [("differential_drive", "sag"), ("three_omni", "drawn"), ("swerve", "limit"), ("tricycle", "sag")]


def rubbing(robot: trundle.Robot, rng: np.random.Generator) -> trundle.Robot:
    """The robot with friction in the bearings of its wheels, the same left and right, and without declared limits."""
    data: Any = plain(robot)
    damping, coulomb = rng.uniform(0.01, 0.05), rng.uniform(0.05, 0.2)
    for wheel in data["wheels"].values():
        wheel.pop("limits", None)
        if wheel.get("type", "fixed") not in ("ball", "caster"):
            wheel |= {"damping": damping, "coulomb": coulomb}
    return parse_robot(data)


def at_full_command(robot: trundle.Robot, rates: Any, volts: float) -> trundle.Run:
    """A run of 100 s from rest: what turns ahead at full command, all else told 0."""
    model = trundle.derive(robot)
    inputs = dict.fromkeys(model.inputs, 0.0)
    for name, motor in robot.motors.items():
        if motor.commands is units.VOLTAGE and f"{motor.drives}.rate" in rates:
            inputs[f"{name}.voltage"] = math.copysign(volts, rates[f"{motor.drives}.rate"])
    return trundle.simulate(model, 100.0, inputs, progress=False)


@pytest.mark.parametrize(("name", "supply"), mostly_slow(CASES, QUICK))
@pytest.mark.parametrize("rubs", [False, True], ids=["free", "rubbing"])
@pytest.mark.filterwarnings("ignore")
def test_a_run_at_full_command_has_the_top_speed(name, supply, rubs, rng):
    robot = catalog.robot(name, **SUPPLIES[supply])
    robot = rubbing(robot, rng) if rubs else robot
    found = trundle.analyze(robot, voltage=VOLTS).top_speed
    assert found is not None
    run = at_full_command(robot, found.rates, 1e3 if "battery" in SUPPLIES[supply] else VOLTS)
    steady = run["v_x"][-10:]
    assert np.ptp(steady) < 1e-4 * steady[-1]
    assert abs(run["omega"][-1]) < 1e-9
    if found.limit.startswith("drive_speed"):
        assert found.speed == pytest.approx(1.0)  # as declared, below what its motors do
        assert steady[-1] > found.speed
    else:
        assert steady[-1] == pytest.approx(found.speed, rel=1e-3)


K, R, GEAR, SOURCE, RADIUS = 0.02, 0.1, 10.0, 12.0, 0.1


def two_wheels(b: float, c: float, **battery: float) -> trundle.Robot:
    """Two wheels with a motor each, whose bearings take b ω + c, on one battery."""
    wheel = {"radius": RADIUS, "damping": b, "coulomb": c, "coulomb_speed": 1e-6}
    return parse_robot(
        {
            "body": {"mass": 10, "inertia": {"zz": 1}},
            "wheels": {side: {"at": [0, y, 0], **wheel} for side, y in (("left", 0.3), ("right", -0.3))},
            "motors": {
                f"{side}_motor": {"drives": side, "torque_constant": K, "resistance": R, "gear_ratio": GEAR}
                for side in ("left", "right")
            },
            "batteries": {"b": {"open_circuit_voltage": SOURCE, "capacity": "9 Ah", **battery}},
        }
    )


def test_a_battery_that_sags_and_bearings_that_rub_are_solved_for(rng):
    """Two motors of N K i = b ω + c each, V = R i + K N ω and V = E − 2 R_b i: a linear system."""
    b, c, r_b = rng.uniform(0.01, 0.05), rng.uniform(0.05, 0.2), rng.uniform(0.05, 0.2)
    i, omega, volts = np.linalg.solve(
        [[K * GEAR, -b, 0], [-R, -K * GEAR, 1], [2 * r_b, 0, 1]], [c, 0, SOURCE]
    )
    found = trundle.analyze(two_wheels(b, c, internal_resistance=r_b)).top_speed
    assert found is not None
    assert found.speed == pytest.approx(omega * RADIUS, rel=1e-6)
    assert found.limit == f"battery of left_motor, right_motor ({volts:.4g} V)"
    assert i > 0


@pytest.mark.filterwarnings("ignore:.*the battery")
def test_off_below_ends_the_top_speed(rng):
    """2 v i = V_off (E − V_off)/R_b, v = R i + K N ω: a square in ω. A run stays on just below it alone."""
    b, c, r_b = rng.uniform(0.05, 0.1), rng.uniform(0.1, 0.2), rng.uniform(0.05, 0.2)
    unswitched = trundle.analyze(two_wheels(b, c, internal_resistance=r_b)).top_speed
    assert unswitched is not None
    sags = float(unswitched.limit.split("(")[1].split()[0])
    off = sags + rng.uniform(0.2, 0.8) * (SOURCE - sags)
    i = np.polynomial.Polynomial([c, b]) / (K * GEAR)
    volts = R * i + np.polynomial.Polynomial([0, K * GEAR])
    omega = (2 * volts * i - off * (SOURCE - off) / r_b).roots().max()
    robot = two_wheels(b, c, internal_resistance=r_b, off_below=off)
    found = trundle.analyze(robot).top_speed
    assert found is not None
    assert found.speed == pytest.approx(omega * RADIUS, rel=1e-6)
    assert found.speed < unswitched.speed
    assert found.limit == f"battery of left_motor, right_motor ({off:.4g} V, its off_below)"
    for share, ends in ((0.999, False), (1.001, True)):
        inputs = dict.fromkeys(("left_motor.voltage", "right_motor.voltage"), share * volts(omega))
        run = trundle.simulate(robot, 5.0, inputs, initial={"v_x": share * found.speed}, progress=False)
        assert ("brown_out" in run.summary) == ends


def require_none(robot: trundle.Robot, why: str) -> None:
    """That a robot has no top speed, for a reason that everybody tells."""
    can = trundle.analyze(robot)
    assert can.top_speed is None
    assert why in str(can.no_top_speed)
    assert ("top speed", f"none: {can.no_top_speed}") in essential_facts(can)


def test_what_nothing_limits_or_cannot_go_ahead_has_none():
    """And the analysis says why, and so does `trundle check`."""
    nobody_said = "no voltage_limit, battery or friction ends it"
    require_none(catalog.segway(), nobody_said)
    require_none(catalog.differential_drive(), nobody_said)
    assert trundle.analyze(catalog.differential_drive(), voltage="24 V").no_top_speed is None
    slope = plain(catalog.differential_drive(battery=12))
    require_none(parse_robot({**slope, "gravity": [1.2, 0, -9.7]}), "on a slope it depends on the heading")
    sideways = plain(catalog.differential_drive(battery=12))
    for wheel in sideways["wheels"].values():
        wheel["heading"] = "90 deg"
    require_none(parse_robot(sideways), "don't let it go straight ahead")
    unpowered = {**slope, "motors": {}, "batteries": {}}
    require_none(parse_robot(unpowered), "no motor turns")


@pytest.mark.parametrize("wrong", [0, -5, "-5 V"])
def test_voltages_are_above_zero(wrong):
    with pytest.raises(trundle.InputError, match=f"voltage: expected a voltage above 0 V, got {wrong!r}"):
        trundle.analyze(catalog.differential_drive(), voltage=wrong)
    can = trundle.analyze(catalog.differential_drive(), voltage="24 V")
    assert can.top_speed is not None
    assert can.top_speed.limit == "largest voltage of right_motor, left_motor (24 V)"


def test_all_doors_tell_the_same_speed(tmp_path, capsys, monkeypatch):
    """`trundle check` in words and as data, `analyze`, the velocities of the base, and the driving window."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pytest.importorskip("pygame")
    from trundle.cli.app import main
    from trundle.show.window import display
    from trundle.show.window.driver import Driver, problem_of

    file = tmp_path / "robot.yaml"
    document = catalog.document("differential_drive", **SUPPLIES["sag"])
    file.write_text(document.source.replace("mass: 2.0,", "mass: 2.0, damping: 0.05,"))
    assert main(["check", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["analysis"]
    assert main(["check", str(file)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    robot = trundle.load(file)
    found = trundle.analyze(robot).top_speed
    assert found is not None
    assert told["top_speed"] == {"speed": found.speed, "limit": found.limit, "text": found.explain()}
    assert told["manipulability"]["fastest"][0] == pytest.approx([found.speed, 0, 0])
    assert f"top speed {found.explain()}" in said
    assert f"up to v_x {found.speed:.3g} m/s" in said
    with display.opened("test", (900, 600)):
        driver = Driver(problem_of(trundle.documents.load(file), None, None), (900, 600), 1.0)
        assert driver._readings()[-1] == f"top speed {found.speed:.2f} m/s"
        assert driver.speed == pytest.approx(0.6 * found.speed)

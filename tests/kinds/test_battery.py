"""Batteries: against a search for every solution, an integration of their own, and the energy they account for."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import trundle
from trundle.errors import InputError
from trundle.robot.batteries import Winding, supply_voltage
from trundle.robot.component import plain

CURVE = [[0, 11.0], [0.5, 12.2], [1, 12.9]]
BATTERY = {"open_circuit_voltage": CURVE, "internal_resistance": 0.03, "capacity": "20 A h"}
MOTOR = {"torque_constant": 0.02, "resistance": 0.05, "friction": 1e-5}


def flywheels(battery=BATTERY, **motor):
    """Two flywheels on fixed axles, a motor each, one battery."""
    joints = {
        name: {"type": "revolute", "body": {"inertia": {"zz": inertia}}}
        for name, inertia in (("a", 2e-3), ("b", 5e-3))
    }
    motors = {f"m{name}": {**MOTOR, **motor, "drives": name} for name in joints}
    return trundle.load(
        {"robot": {"name": "bench", "joints": joints, "motors": motors, "batteries": {"battery": battery}}}
    )


def greatest_solution(source, resistance, windings):
    """The greatest V with V (E − V)/R = Σ v i, by search: where it changes its sign last."""

    def unbalanced(volts):
        drawn = sum(v * winding.flow(v) for winding in windings for v in [winding.voltage(volts)])
        return volts * (source - volts) - resistance * drawn

    grid = np.linspace(1e-9, source + 40, 20_001)
    above = np.flatnonzero(unbalanced(grid) > 0)
    if not above.size:
        return 0.0
    return brentq(unbalanced, grid[above[-1]], grid[above[-1] + 1], xtol=1e-13)


def a_winding(random):
    """Any winding: driving, braking or plugged, its current a state or not, limited or not."""
    current = random.uniform(-200, 200) if random.random() < 0.5 else None
    limit = random.uniform(5, 80) if random.random() < 0.5 else None
    return Winding(
        random.uniform(-14, 14), random.uniform(-14, 14), random.uniform(0.02, 0.3), current, limit
    )


def test_the_voltage_is_the_greatest_that_solves_the_battery_and_its_controllers(seed):
    random = np.random.default_rng(seed)
    for _ in range(150):
        windings = [a_winding(random) for _ in range(random.integers(1, 5))]
        source, resistance = random.uniform(6, 14), random.uniform(0.005, 0.1)
        found = supply_voltage(source, resistance, windings)
        assert found == pytest.approx(greatest_solution(source, resistance, windings), abs=2e-3)
        drawn = sum(v * winding.flow(v) for winding in windings for v in [winding.voltage(found)])
        assert found * (source - found) / resistance == pytest.approx(drawn, abs=1e-8)
        for winding in windings:
            v = winding.voltage(found)
            assert abs(v) <= found * (1 + 1e-12)
            if winding.draw_limit is not None:
                assert v * winding.flow(v) <= winding.draw_limit * found * (1 + 1e-9) + 1e-9


def bench_by_hand(volts, duration):
    """The same flywheels: speeds and charge, the battery's voltage searched for at every step."""
    k, r, friction, inertias = 0.02, 0.05, 1e-5, np.array([2e-3, 5e-3])
    charges, voltages = zip(*CURVE, strict=True)

    def bus(speeds, charge):
        source = float(np.interp(charge, charges, voltages))

        def unbalanced(supply):
            v = np.clip(volts, -supply, supply)
            return supply * (source - supply) / 0.03 - float(np.sum(v * (v - k * speeds) / r))

        return brentq(unbalanced, 5.0, 20.0, xtol=1e-12), source

    def rates(_, state):
        supply, source = bus(state[:2], state[2])
        currents = (np.clip(volts, -supply, supply) - k * state[:2]) / r
        return [
            *((k * currents - friction * state[:2]) / inertias),
            -(source - supply) / 0.03 / 72_000,
            source * (source - supply) / 0.03,
        ]

    answer = solve_ivp(rates, (0, duration), [0, 0, 1, 0], method="LSODA", rtol=1e-10, atol=1e-12)
    return answer.y[:, -1], bus(answer.y[:2, -1], answer.y[2, -1])[0]


def test_a_run_agrees_with_an_integration_by_hand_and_keeps_its_energy():
    run = trundle.simulate(flywheels(), 2.0, {"ma.voltage": 12.5, "mb.voltage": 9.0})
    (one, other, charge, work), supply = bench_by_hand(np.array([12.5, 9.0]), 2.0)
    assert run.final["a.rate"] == pytest.approx(one, rel=1e-7)
    assert run.final["b.rate"] == pytest.approx(other, rel=1e-7)
    assert 1 - run.final["battery.charge"] == pytest.approx(1 - charge, rel=1e-6)
    assert run["battery.voltage"][-1] == pytest.approx(supply, rel=1e-8)
    assert run["energy.work"][-1] == pytest.approx(work, rel=1e-6)
    assert np.abs(run["energy.imbalance"]).max() < 1e-6 * work
    given = run["battery.voltage"] * run["battery.current"]
    np.testing.assert_allclose(given, run["ma.power"] + run["mb.power"], rtol=1e-9, atol=1e-9)
    assert run["battery.voltage"].min() < 11  # it sags
    # what its cells gave is what its charge says: ∫ E Q ds
    spent = np.linspace(run["battery.charge"][-1], 1, 20_001)
    volts = np.interp(spent, *zip(*CURVE, strict=True))
    assert run["energy.work"][-1] == pytest.approx(72_000 * np.trapezoid(volts, spent), rel=1e-6)


@pytest.mark.parametrize(
    "motor",
    [{"inductance": 1e-4}, {"current_limit": 60}, {"supply_current_limit": 30},
     {"inductance": 1e-4, "current_limit": 80, "supply_current_limit": 30}],
)  # fmt: skip
def test_windings_and_limits_keep_the_balance_and_themselves(motor):
    run = trundle.simulate(flywheels(**motor), 1.0, {"ma.voltage": 12.0, "mb.voltage": -10.0})
    given = run["battery.voltage"] * run["battery.current"]
    np.testing.assert_allclose(given, run["ma.power"] + run["mb.power"], rtol=1e-9, atol=1e-8)
    assert np.abs(run["energy.imbalance"]).max() < 1e-6 * run["energy.work"][-1]
    limit = motor.get("current_limit", np.inf)
    assert np.abs(run["ma.current"]).max() <= limit * (1 + 1e-6)
    drawn = np.maximum(run["ma.power"], run["mb.power"]) / run["battery.voltage"]
    assert drawn.max() <= motor.get("supply_current_limit", np.inf) * (1 + 1e-6)


def test_braking_charges_it():
    table = {"times": [0, 1, 1.001, 3], "values": [12, 12, 4, 4]}
    inputs = {"ma.voltage": table, "mb.voltage": table}
    run = trundle.simulate(flywheels(), 1.5, inputs, initial={"battery.charge": 0.4})
    after = run.time > 1.002
    assert run["battery.current"][after][0] < 0
    assert run["battery.voltage"][after][0] > 11.9
    assert run["battery.charge"][after][10] > run["battery.charge"][after][0]
    assert np.abs(run["energy.imbalance"]).max() < 1e-6 * run["energy.work"].max()


def test_a_rollout_and_a_linearisation_take_it():
    model = trundle.derive(flywheels(inductance=1e-4))
    inputs = {"ma.voltage": 12.0, "mb.voltage": 9.0}
    batch = trundle.rollout(model, inputs=inputs, steps=20_000, dt=1e-5, every=20_000, count=2)
    run = trundle.simulate(model, 0.2, inputs)
    assert batch.final("a.rate")[0] == pytest.approx(run.final["a.rate"], rel=1e-6)
    assert batch.final("battery.charge")[0] == pytest.approx(run.final["battery.charge"], rel=1e-9)
    linear = model.linearize({"a.rate": 100.0, "ma.current": 20.0}, {"ma.voltage": 6.0})
    assert np.isfinite(linear.A).all()
    assert np.isfinite(linear.B).all()


def test_a_brown_out_is_said_and_keeps_its_energy():
    """A full reversal: the windings' currents are more than the battery gives into a short circuit."""
    robot = flywheels(inductance=1e-3)
    with pytest.warns(RuntimeWarning, match="brown-out") as said:
        run = trundle.simulate(robot, 0.05, {"ma.voltage": 12.0}, initial={"ma.current": 600.0})
    assert {warning.filename for warning in said} == {__file__}  # where the run was asked for
    assert run.summary["brown_out"] == {"battery": 0.0}
    assert run["battery.voltage"][0] == 0.0
    assert run["battery.voltage"][-1] > 0.0
    assert run["battery.current"][0] == pytest.approx(12.9 / 0.03)
    assert np.abs(run["energy.imbalance"]).max() < 1e-6 * run["energy.losses"][-1]


def test_an_empty_battery_is_said():
    with pytest.warns(RuntimeWarning, match="it is empty"):
        run = trundle.simulate(flywheels(), 0.5, {"ma.voltage": 12.0}, initial={"battery.charge": 1e-4})
    assert "empty" in run.summary


@pytest.mark.filterwarnings("ignore:.*the battery")
def test_when_it_breaks_down_and_is_empty_hangs_on_no_samples():
    """Motors that are plugged: their currents grow with their windings' inductance."""
    model = trundle.derive(flywheels(inductance=1e-3))
    plugged = ([0.0, 0.2, 0.3], [12.0, -12.0, -12.0], "previous")
    inputs = {"ma.voltage": plugged, "mb.voltage": plugged}
    for what, charge, rate in (("brown_out", 0.9, 600.0), ("empty", 5e-4, 300.0)):
        initial = {"battery.charge": charge, "a.rate": rate, "b.rate": rate}
        few, many = (
            trundle.simulate(model, 0.5, inputs, initial=initial, samples=count, progress=False)
            for count in (31, 3001)
        )
        when = few.summary[what]["battery"]
        assert 0.2 < when < 0.3
        assert when not in few.time
        assert many.summary[what]["battery"] == pytest.approx(when, abs=1e-6)
        times = np.linspace(when - 1e-3, when + 1e-3, 2001)
        close = trundle.simulate(model, times=times, inputs=inputs, initial=initial, progress=False)
        quantity = {"brown_out": "voltage", "empty": "charge"}[what]
        first = close.time[np.flatnonzero(close[f"battery.{quantity}"] <= 0)[0]]
        assert -1e-9 < first - when < 1.1e-6


@pytest.mark.parametrize(
    ("switch", "word"), [({}, "R_i"), ({"off_below": 9.0, "on_above": 10.0}, "rate of the relay of battery")]
)
def test_its_equations_are_written(switch, word):
    """They are held against the compiled programs as they are written."""
    robot = flywheels({**BATTERY, **switch}, supply_current_limit=30, current_limit=50)
    text = str(trundle.equations(trundle.derive(robot), "dynamics"))
    assert "voltage of battery" in text
    assert word in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"batteries": {"battery": {**BATTERY, "capacity": "3 V"}}}, "charge"),
        ({"batteries": {"battery": {**BATTERY, "open_circuit_voltage": [[1, 12], [0, 11]]}}}, "increase"),
        ({"batteries": {"battery": {**BATTERY, "internal_resistance": 0}}}, "greater than zero"),
        ({"batteries": {"one": BATTERY, "two": BATTERY}}, "names none"),
        ({"batteries": {"battery": {**BATTERY, "on_above": 9}}}, "on_above needs off_below"),
        (
            {"batteries": {"battery": {**BATTERY, "off_below": 9, "on_above": 9}}},
            "greater than off_below, 9 V",
        ),
        (
            {"batteries": {"battery": {**BATTERY, "off_below": 12.9}}},
            "off_below: .* without load it has 12.9 V",
        ),
        (
            {
                "batteries": {
                    "battery": {**BATTERY, "open_circuit_voltage": 12, "off_below": 9, "on_above": "12.1 V"}
                }
            },
            "on_above: .* never has more than 12.1 V: without load it has 12 V",
        ),
        ({"batteries": {"battery": {**BATTERY, "off_below": 0}}}, "off_below must be greater than zero"),
        ({"motors": {"m": {"type": "servo", "drives": "a", "stiffness": 1}}}, "feeds no motor"),
        ({"motors": {"m": {**MOTOR, "drives": "a", "battery": "batery"}}}, "there is no battery"),
        ({"motors": {"m": {**MOTOR, "drives": "a", "supply_current_limit": 3}}, "batteries": {}}, "supply"),
    ],
)
def test_what_can_not_be_is_said(change, words):
    robot = {
        "name": "bench",
        "joints": {"a": {"type": "revolute", "body": {"inertia": {"zz": 1e-3}}}},
        "motors": {"m": {**MOTOR, "drives": "a"}},
        "batteries": {"battery": BATTERY},
    }
    with pytest.raises(InputError, match=words):
        trundle.load({"robot": {**robot, **change}})


@pytest.mark.parametrize(
    ("state", "value"), [("charge", 1.5), ("charge", -0.2), ("relay", 5.0), ("relay_lock", -2.0)]
)
def test_starts_beyond_what_a_battery_has_are_refused(state, value):
    """By runs and rollouts, on planes and over ground."""
    robot = plain(
        trundle.catalog.differential_drive(battery=12.0, casters=True, contact="slip", friction=1.0)
    )
    robot["batteries"]["battery"]["off_below"] = 8.5
    start, low = {f"battery.{state}": value}, 0 if state == "charge" else -1
    words = f"battery.{state} starts within {low} and 1, got {value:g}"
    for begin in (
        lambda: trundle.simulate({"robot": robot}, 0.1, initial=start),
        lambda: trundle.simulate({"robot": robot}, 0.1, terrain={}, initial=start),
        lambda: trundle.rollout({"robot": robot}, initial=start, steps=3, dt=1e-3, count=2),
        lambda: trundle.rollout({"robot": robot}, terrain={}, initial=start, steps=3, dt=1e-3, count=2),
    ):
        with pytest.raises(InputError, match=words):
            begin()


def test_the_example_sags_and_keeps_its_limits():
    with pytest.warns(RuntimeWarning, match=r"at 2\.01 s: it is charged at over 14\.8 V"):
        run = trundle.run("examples/battery/competition_swerve.yaml", progress=False)
    drives = [name.removesuffix(".current") for name in run.values if name.endswith("_drive.current")]
    assert len(drives) == 4
    for name in drives:
        assert np.abs(run[f"{name}.current"]).max() <= 120 * (1 + 1e-6)
        assert (run[f"{name}.power"] / run["battery.voltage"]).max() <= 60 * (1 + 1e-6)
    assert 8 < run["battery.voltage"].min() < 11
    assert run["battery.current"].min() < -50  # it brakes into the battery
    assert run.summary["energy_imbalance"] < 1e-6 * run.summary["energy_turned_over"]


RAMP = {f"{name}.voltage": ([0, 0.05, 0.2, 1], [0, 6, 12, 12]) for name in ("ma", "mb")}


def crossing(run, level):
    """When the battery's voltage first is at a level, by lines between many samples."""
    below = int(np.flatnonzero(run["battery.voltage"] < level)[0])
    return np.interp(-level, -run["battery.voltage"][below - 1 : below + 1], run.time[below - 1 : below + 1])


@pytest.mark.filterwarnings("ignore:.*the battery")
@pytest.mark.parametrize("motor", [{}, {"inductance": 1e-4}])
def test_off_below_switches_its_motors_off_for_good(motor):
    """1 ms after a run without it was below; then nothing but the shaft's friction acts, ω̇ = −b ω/I."""
    low, start = 10.9, {"battery.charge": 0.9, "b.rate": 30.0}
    free = trundle.simulate(flywheels(**motor), 0.3, RAMP, initial=start, samples=30_001, progress=False)
    run = trundle.simulate(
        flywheels({**BATTERY, "off_below": low}, **motor), 1.0, RAMP, initial=start, progress=False
    )
    off = run.summary["brown_out"]["battery"]
    assert off == pytest.approx(crossing(free, low) + 1e-3, abs=1e-6)
    after = run.time > off + 0.03  # 15 time constants L/R
    begin, since = int(np.flatnonzero(after)[0]), run.time[after] - run.time[after][0]
    for name, inertia in (("a", 2e-3), ("b", 5e-3)):
        decayed = run[f"{name}.rate"][begin] * np.exp(-1e-5 / inertia * since)
        np.testing.assert_allclose(run[f"{name}.rate"][after], decayed, rtol=1e-7)
    np.testing.assert_allclose(run["battery.charge"][after], run["battery.charge"][-1], rtol=0, atol=1e-9)
    source = np.interp(run["battery.charge"][-1], *zip(*CURVE, strict=True))
    np.testing.assert_allclose(run["battery.voltage"][after], source, rtol=1e-6)
    assert np.abs(run["energy.imbalance"]).max() < 1e-6 * run["energy.work"][-1]


@pytest.mark.filterwarnings("ignore:.*the battery")
def test_on_above_switches_them_on_again_and_dips_of_less_than_a_millisecond_do_nothing():
    """The voltage recovers while they are off: so they switch as long as they ask for too much, off for 1.5 to 3 ms."""
    model = trundle.derive(flywheels({**BATTERY, "off_below": 10.9, "on_above": 12.0}))
    dip = ([0, 0.01, 0.0109, 0.1], [1.0, 12.0, 1.0, 1.0], "previous")
    run = trundle.simulate(model, 0.05, {"ma.voltage": dip}, samples=5001, progress=False)
    assert run["battery.voltage"].min() < 10.9
    assert "brown_out" not in run.summary
    held = trundle.simulate(model, 0.1, {"ma.voltage": 12.0}, samples=20_001, progress=False)
    is_off = held["battery.relay"] < 0
    flips = held.time[1:][np.diff(is_off.astype(int)) != 0]
    assert flips.size > 20
    assert np.diff(flips).min() > 0.95e-3
    assert np.diff(flips)[::2].max() < 3e-3  # from off to on
    assert held["a.rate"][-1] > 5 * held["a.rate"][is_off.argmax()]
    np.testing.assert_array_equal(np.abs(held["ma.current"][is_off]) < 1e-9, True)


@pytest.mark.filterwarnings("ignore:.*the battery")
def test_rollouts_and_runs_over_ground_switch_off_within_a_step():
    base = trundle.catalog.differential_drive(
        battery=12.0, battery_resistance=0.03, casters=True, contact="slip", friction=1.0
    )
    robot = plain(base)
    robot["batteries"]["battery"]["off_below"] = 8.5
    inputs = {"left_motor.voltage": 12.0, "right_motor.voltage": 12.0}
    run = trundle.simulate({"robot": robot}, 0.3, inputs, progress=False)
    with pytest.warns(RuntimeWarning, match="brown-out: below 8.5 V its motors are switched off"):
        ground = trundle.simulate({"robot": robot}, 0.3, inputs, terrain={}, step=5e-4, progress=False)
    off = run.summary["brown_out"]["battery"]
    assert ground.summary["brown_out"]["battery"] == pytest.approx(off, abs=1.1e-3)
    assert ground["left_motor.current"][-1] == pytest.approx(0, abs=1e-9)
    assert ground["battery.voltage"][-1] == pytest.approx(12.0)
    batch = trundle.rollout({"robot": robot}, inputs=inputs, steps=3000, dt=1e-4, every=10, count=2)
    assert batch.final("v_x")[0] == pytest.approx(run.final["v_x"], rel=0.05)
    assert batch.final("battery.relay")[0] == pytest.approx(-1)


@pytest.mark.filterwarnings("ignore:.*the battery")
@pytest.mark.parametrize("step", [5e-4, 2e-3, 0.02, 0.2])
@pytest.mark.parametrize("inductance", [0, 5e-4])
def test_a_relay_acts_on_steps_after_the_one_that_sags(step, inductance):
    """That one drives, draws what it shows, and shows the voltage; relays stay between their sides at every step."""
    robot = plain(
        trundle.catalog.differential_drive(
            battery=12.0, battery_resistance=0.03, casters=True, contact="slip", friction=1
        )
    )
    robot["batteries"]["battery"]["off_below"] = 11.5
    for motor in robot["motors"].values():
        motor["inductance"] = inductance
    inputs = {"left_motor.voltage": 12.0, "right_motor.voltage": 12.0}
    run = trundle.simulate(
        {"robot": robot}, 20 * step, inputs, terrain={}, step=step, samples=21, progress=False
    )
    relay, volts, amperes = (run[f"battery.{name}"] for name in ("relay", "voltage", "current"))
    assert np.abs([relay, run["battery.relay_lock"]]).max() <= 1 + 1e-12
    off = int(np.flatnonzero(relay < 0)[0])
    assert run.summary["brown_out"] == {"battery": pytest.approx(off * step)}
    assert volts[off - 1] < 11.5
    assert run["v_x"][off] > run["v_x"][off - 1]
    np.testing.assert_allclose(
        -64_800 * np.diff(run["battery.charge"]), step * amperes[:-1], rtol=1e-7, atol=1e-9
    )
    if not inductance:
        np.testing.assert_allclose(amperes[off:], 0, atol=1e-9)


@pytest.mark.parametrize(
    ("what", "level", "charge", "rate"),
    [("low_voltage", 12.9 / 2, 0.9, 300.0), ("high_voltage", 1.15 * 12.9, 1.0, 1200.0)],
)
def test_voltages_out_of_a_batterys_range_are_said(what, level, charge, rate):
    """Below half of E more current gives less power; 1.15 E is more than a charger gives. When hangs on no samples."""
    model = trundle.derive(flywheels({**BATTERY, "internal_resistance": 0.06}, inductance=1e-3))
    volts = ([0.0, 0.2, 0.3], [12.0, -9.0, -9.0] if what == "low_voltage" else [12.0, 6.0, 6.0], "previous")
    given = {"ma.voltage": volts, "mb.voltage": volts}
    initial = {"battery.charge": charge, "a.rate": rate, "b.rate": rate}
    with pytest.warns(RuntimeWarning, match=f"{level:.3g} V"):
        few, many = (
            trundle.simulate(model, 0.3, given, initial=initial, samples=count, progress=False)
            for count in (31, 30_001)
        )
    volts = many["battery.voltage"]
    beyond = volts < level if what == "low_voltage" else volts > level
    when = few.summary[what]["battery"]
    assert 0 <= many.time[int(np.flatnonzero(beyond)[0])] - when < 1.1e-5


def test_warnings_say_how_many_times_more_it_switched_off():
    """Whatever the samples, and as many as a rollout of small steps has."""
    robot = flywheels({**BATTERY, "off_below": 10.9, "on_above": 12.0})
    batch = trundle.rollout(robot, inputs={"ma.voltage": 12.0}, steps=10_000, dt=1e-5)
    off = batch["battery.relay"][:, 0] < 0
    more = np.count_nonzero(off[1:] & ~off[:-1]) - 1
    assert more > 5
    for samples in (31, 5001):
        with pytest.warns(RuntimeWarning, match=f"switched off; {more} more times after that"):
            trundle.simulate(robot, 0.1, {"ma.voltage": 12.0}, samples=samples, progress=False)

"""Loops that are unstable are said by name: where long steps hide them, and where samples come too seldom."""

import re
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import trundle
from tests.terrain.test_continuous_loops import EACH, KINDS, STEPS, cart, drive, wheel_by_wheel
from trundle.robot.component import plain
from trundle.show.verdicts import doubts
from trundle.simulation import unstable_loops as looked

# A flywheel on a cart that stands: its motor's torque is k (u − k ω)/R with k = 0.05 · 20 N m/A, on J (kg m²).
K, R, J = 1.0, 0.5, 2e-3


def flywheel(law, motor=None):
    """A wheel of a motor alone, about a vertical axis on a heavy cart."""
    data = plain(cart({}))
    data |= {
        "motors": {
            "spin": {
                "drives": "wheel",
                "torque_constant": 0.05,
                "resistance": R,
                "gear_ratio": 20,
                **(motor or {}),
            }
        }
    }
    inertia = {"xx": J, "yy": J, "zz": J}
    body = {"mass": 0.5, "inertia": inertia}
    data["joints"] = {"wheel": {"type": "revolute", "axis": [0, 0, 1], "body": body}}
    law = {"reads": "wheel.rate", "drives": "spin.voltage", "target": 2, **law}
    return trundle.Robot(**{**data, "controllers": {"hold": law}})


def run_of(robot, seconds=0.4, step=0.02, **more):
    """A run and what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = trundle.simulate(
            robot, seconds, terrain=more.pop("terrain", {}), step=step, progress=False, **more
        )
    return run, [str(each.message) for each in said if "unstable" in str(each.message)]


@pytest.mark.parametrize("step", STEPS)
def test_a_sign_that_is_wrong_is_warned_of_at_every_step(step):
    """It stands still at its unstable point, ω = 3: 10 (ω − 1.2) = k g ω."""
    run, said = run_of(cart(wheel_by_wheel(proportional=-10)), 2.0, step, samples=9)
    assert run["fl.rate"][-1] == pytest.approx(3.0, abs=1e-3)
    assert run.summary["unstable_loops"] == dict.fromkeys(
        ("hold_fl", "hold_fr", "hold_rl", "hold_rr"), len(run.time)
    )
    (words,) = said
    assert "is unstable" in doubts(run)[0]
    assert "the controllers 'hold_fl', 'hold_fr', 'hold_rl', 'hold_rr' are unstable" in words


def test_who_does_it_is_named_and_nobody_else():
    controllers = wheel_by_wheel(proportional=14) | {
        "hold_rl": {"reads": "rl.rate", "drives": "rl_motor.voltage", "target": 1.2, "proportional": -10}
    }
    run, (words,) = run_of(cart(controllers), 2.0, 0.1, samples=9)
    assert run.summary["unstable_loops"] == {"hold_rl": len(run.time)}
    assert words.startswith("the controller 'hold_rl' is unstable")


def test_an_oscillation_that_a_step_damps_is_found():
    """J ω̇ = k i, L i̇ = u − R i − k ω, u = −K_i ∫ω: by Hurwitz it swings up from K_i = R (k² + …)/L …, at steps of 20 ms
    it is still.
    """
    inductance = 5e-3
    # λ³ + (R/L) λ² + k²/(J L) λ + k K_i/(J L): stable up to K_i = k R/L
    most = K * R / inductance
    for gain, unstable in ((0.9 * most, False), (1.1 * most, True)):
        robot = flywheel({"integral": gain, "proportional": 0}, {"inductance": inductance})
        run, said = run_of(robot)
        assert ("unstable_loops" in run.summary, bool(said)) == (unstable, unstable)
        assert run["wheel.rate"][-1] == pytest.approx(2, abs=0.2)  # the step damps it


@pytest.mark.parametrize(
    "law",
    [
        {"proportional": 5},
        {"proportional": 4, "integral": 200},
        {"proportional": 5, "lowest": -9, "highest": 9},
    ],
)
def test_the_longest_period_is_that_of_the_sampled_poles(law):
    """x⁺ = φ x + (1 − φ)/k u with φ = exp(−k² T/(R J)), z⁺ = z + T K_i e: where a pole leaves the unit circle."""

    def outermost(period):
        phi = np.exp(-K * K * period / (R * J))
        gamma, p, i = (1 - phi) / K, law["proportional"], law.get("integral", 0)
        return (
            np.abs(np.linalg.eigvals([[phi - gamma * p, gamma], [-period * i, 1]])).max()
            if i
            else abs(phi - gamma * p)
        )

    longest = brentq(lambda period: outermost(period) - 1, 1e-5, 1e-2)
    below, above = (1e-4 * np.floor(1e4 * longest), 1e-4 * np.ceil(1e4 * longest))
    (fine, silent), (bad, said) = (
        run_of(flywheel({**law, "period": period}), 40 * period, period, samples=11)
        for period in (below, above)
    )
    assert not silent
    assert "unstable_loops" not in fine.summary
    assert bad.summary["unstable_loops"] == {"hold": 11}
    assert bad.summary["longest_periods"]["hold"] == pytest.approx(longest, rel=2e-3)
    assert said == [
        f"the controller 'hold' is unstable at its period of {1e3 * above:g} ms; up to {said[0].split()[-3]} ms holds"
    ]
    assert float(said[0].split()[-3]) == pytest.approx(1e3 * longest, rel=0.1)


def test_a_delay_counts_and_steps_between_samples_change_nothing():
    """With a delay of one period u_k acts on x_(k+1): λ² − φ λ + K_p (1 − φ)/k leaves at K_p (1 − φ) = k."""
    longest = -np.log(1 - K / 3) * R * J
    for step in (1e-3, 2e-4):
        law = {"proportional": 3, "period": 1e-3, "delay": 1e-3}
        run, _ = run_of(flywheel(law), 0.04, step, samples=11)
        assert run.summary["longest_periods"]["hold"] == pytest.approx(longest, rel=2e-3)


def test_a_delay_of_half_a_period_counts_with_its_own_instant():
    """u_k acts from half a period on: x⁺ = φ x + (√φ (1 − √φ) u⁻ + (1 − √φ) u)/k with φ = exp(−k² T/(R J))."""

    def outermost(period):
        half = np.exp(-K * K * period / (2 * R * J))
        late, now = 3 * half * (1 - half) / K, 3 * (1 - half) / K
        return np.abs(np.linalg.eigvals([[half**2 - now, -late], [1, 0]])).max()

    longest = brentq(lambda period: outermost(period) - 1, 1e-5, 1e-2)
    law = {"proportional": 3, "period": 2e-3, "delay": 1e-3}
    run, _ = run_of(flywheel(law), 0.04, 1e-3, samples=11)
    assert run.summary["longest_periods"]["hold"] == pytest.approx(longest, rel=2e-3)


def test_a_sampled_loop_of_the_wrong_sign_holds_at_no_period():
    _, said = run_of(flywheel({"proportional": -5, "period": "1 ms"}), 0.02, 1e-3)
    (words,) = said
    assert words.startswith(
        "the controller 'hold' is unstable at its period of 1 ms; in the states that it reached no"
    )


def test_runs_that_end_without_numbers_say_whose_loop_it_was():
    """Rounding decides which of them end: others swing on, between limits of 1e200."""
    ended = 0
    for gain in (14, 16, 20, 25):
        robot = cart(wheel_by_wheel(proportional=gain, period="20 ms"))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                trundle.simulate(robot, 4.0, terrain={}, step=0.01, progress=False)
            except trundle.NumericsError:
                ended += 1
                said = [str(each.message) for each in told]
                assert any(
                    re.search(r"unstable at their period of 20 ms; up to 0\.[12]", each) for each in said
                )
    assert ended


RUBBLE = {
    "surfaces": {"rubble": {"type": "fractal", "seed": 3, "slope": 0.15, "shortest": 0.5, "longest": 4}}
}
DC = {"torque_constant": 0.05, "resistance": 0.9, "gear_ratio": 120, "inductance": 1e-3}


def sound(name):
    """A robot with controllers that nothing is wrong with, and what its run is given."""
    t = np.linspace(0, 10, 201)
    eight = {"inputs": {"track": {"time": t, "x": 4 * np.sin(0.15 * t), "y": 2 * np.sin(0.3 * t)}}}
    who, _, how = name.partition(" ")
    if who == "cart":
        data = plain(cart(wheel_by_wheel(proportional=14, integral=20, lowest=-12, highest=12)))
        for wheel in data["wheels"].values():
            wheel |= {"contact": how, "friction": 0.3}
        return trundle.Robot(**data), {"initial": {"v_x": 3.0, "v_y": 1.0, "omega_z": 1.0}}
    if who == "drive":
        robot = drive(controllers=KINDS[how])
        return robot, {"inputs": {"lead": eight["inputs"]["track"]}} if how == "tracker" else {}
    if who == "lqr":
        row = {"gains": {"v_x": 14, "fl.rate": 3}, "offset": 9}
        return cart({"lqr": {"type": "state_feedback", "drives": dict.fromkeys(EACH, row)}}), {}
    data = plain(getattr(trundle.catalog, who)())
    if "dc" in how:
        data["motors"] = {motor: {**DC, "drives": each["drives"]} for motor, each in data["motors"].items()}
    data["controllers"] = {"track": {"type": "tracker", **({"period": "40 ms"} if "sampled" in how else {})}}
    return trundle.Robot(**data), eight


SOUND = (
    *(f"cart {law}" for law in ("linear", "slip", "pacejka", "bristle")), "drive tracker", "drive circle", "lqr",
    "rocker_bogie dc", "landtamer dc", "talon dc", "rocky7 sampled", "zoe sampled", "landtamer sampled",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
@pytest.mark.filterwarnings("ignore:nobody gives")
def test_sound_loops_are_not_blamed_over_rough_ground(name, monkeypatch):
    """100 steps each, every one looked at: more than 1,000 in all."""
    monkeypatch.setattr(looked, "_LOOKS", 101)
    robot, given = sound(name)
    run, said = run_of(robot, 4.0, 0.04, terrain=RUBBLE, samples=101, **given)
    assert not said
    assert "unstable_loops" not in run.summary

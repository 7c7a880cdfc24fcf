"""Controllers that sample: the closed loop's kernels against the same loop in Python, both by RK4 at one step."""

import pickle
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.robot import Action, Controller, State, default, units
from trundle.robot.controllers import CONTROLLERS
from trundle.robot.values import Plain
from trundle.simulation.dynamic import dynamic_problem
from trundle.simulation.options import options_of
from trundle.simulation.stepper import Stepper

CIRCLE = Path(__file__).parents[2] / "examples" / "feedback" / "circle.yaml"
BOTH = {"left_motor.voltage": 1, "right_motor.voltage": 1}
SPEED = {"reads": "v_x", "drives": BOTH, "proportional": 8.0, "integral": 5.0, "feedforward": 6.0}
LIMITED = SPEED | {"lowest": -9.0, "highest": 9.0, "period": "10 ms"}
TURN = {"reads": "omega", "drives": {"left_motor.voltage": -1, "right_motor.voltage": 1}, "proportional": 4.0}


def driven(**controllers):
    """The differential drive of the tutorial, with these controllers."""
    described = trundle.robot.component.plain(trundle.load(CIRCLE).without_controllers)
    return trundle.derive({"robot": {**described, "controllers": controllers}})


class ByHand:
    """The plant under laws in Python: `law(k, values)` at every step k writes the commands that hold from then on."""

    def __init__(self, loop, law, dt, start=None):
        self.plant, self.law, self.dt = trundle.derive(loop.robot.without_controllers), law, dt
        self.p = np.array(list(self.plant.parameters.values()))
        self.start = np.array(self.plant.state_vector(start or {}))

    def run(self, steps):
        """The plant's states (n, steps + 1)."""
        x, kept = self.start, []
        for k in range(steps + 1):
            kept.append(x)
            held = self.law(k, dict(zip(self.plant.states, x, strict=True)))
            u = np.array([held.get(name, 0.0) for name in self.plant.inputs])

            def rate(x, u=u):
                return self.plant.dynamics(x, u, self.p)

            a = rate(x)
            b = rate(x + self.dt / 2 * a)
            c = rate(x + self.dt / 2 * b)
            x = x + self.dt / 6 * (a + 2 * b + 2 * c + rate(x + self.dt * c))
        return np.array(kept).T


def same(loop, apart, dt, steps, inputs=None):
    """Whether a rollout of the loop has the states of the plant under a law in Python."""
    batch = trundle.rollout(loop, inputs=inputs, steps=steps, dt=dt)
    states = np.array([batch[name][:, 0] for name in apart.plant.states])
    wanted = apart.run(steps)
    assert np.ptp(wanted) > 0.1
    np.testing.assert_allclose(states, wanted, rtol=1e-10, atol=1e-10)
    return batch


class Pi:
    """A PI law with limits and back-calculation, as textbooks write it for samples."""

    def __init__(self, period):
        self.period, self.integral = period, 0.0

    def __call__(self, wanted, value):
        error = wanted - value
        free = 6.0 * wanted + 8.0 * error + self.integral
        command = min(max(free, -9.0), 9.0)
        self.integral += self.period * (5.0 * error + (command - free) * 5.0 / 8.0)
        return command


def test_a_sampled_pid_is_the_same_in_python():
    loop, pi, held = driven(speed=LIMITED), Pi(0.01), {}

    def law(k, values):
        if k % 20 == 0:
            held["u"] = pi(1.0, values["v_x"])
        return dict.fromkeys(BOTH, held["u"])

    batch = same(loop, ByHand(loop, law, 5e-4), 5e-4, 600, {"speed.reference": 1.0})
    assert loop.clocks == {"speed": (0.01, 0.0)}
    # stored samples come after what is sampled at their time
    volts = batch.output("left_motor.voltage")[:, 0]
    jumps = np.flatnonzero(np.diff(volts)) + 1
    assert jumps.size >= 10
    assert not (jumps % 20).any()
    np.testing.assert_array_equal(volts, batch["speed.left_motor.voltage"][:, 0])


@pytest.mark.parametrize(("delay", "late"), [("4 ms", 8), ("10 ms", 20), ("27 ms", 54), ("30 ms", 60)])
def test_commands_take_effect_after_their_delay(delay, late):
    loop, pi, told = driven(speed=LIMITED | {"delay": delay}), Pi(0.01), []

    def law(k, values):
        if k % 20 == 0:
            told.append((k + late, pi(1.0, values["v_x"])))
        acting = [command for at, command in told if at <= k]
        return dict.fromkeys(BOTH, acting[-1] if acting else 0.0)

    same(loop, ByHand(loop, law, 5e-4), 5e-4, 500, {"speed.reference": 1.0})


def test_rates_differ_and_cascades_are_of_one_instant():
    """An outer loop of 40 ms drives the reference of one of 10 ms; a third is 20 ms late by 5 ms on the same motors."""
    outer = {"reads": "x", "drives": "speed.reference", "proportional": 2.0, "target": 4.0, "period": "40 ms"}
    loop = driven(speed=LIMITED, turn=TURN | {"period": "20 ms", "delay": "5 ms", "target": 0.4}, outer=outer)
    pi, held, told = Pi(0.01), {}, []

    def law(k, values):
        if k % 80 == 0:
            held["wanted"] = 2.0 * (4.0 - values["x"])
        if k % 40 == 0:
            told.append((k + 10, 4.0 * (0.4 - values["omega"])))
        if k % 20 == 0:
            held["u"] = pi(held["wanted"], values["v_x"])
        turn = ([0.0] + [command for at, command in told if at <= k])[-1]
        return {"left_motor.voltage": held["u"] - turn, "right_motor.voltage": held["u"] + turn}

    same(loop, ByHand(loop, law, 5e-4), 5e-4, 800)


def test_a_reference_that_changes_is_sampled_when_it_does():
    loop, pi, held = driven(speed=LIMITED), Pi(0.01), {}
    wanted = np.where(np.arange(400) < 200, 0.5, 1.0)[:, None]

    def law(k, values):
        if k % 20 == 0:
            held["u"] = pi(wanted[min(k, 399), 0], values["v_x"])
        return dict.fromkeys(BOTH, held["u"])

    same(loop, ByHand(loop, law, 5e-4), 5e-4, 400, {"speed.reference": wanted})


class Leaky(Controller):
    """An integral that forgets, between two limits that grow."""

    type: Literal["leaky_sampled"] = "leaky_sampled"
    reads: str
    forgets: Plain = default(3.0, "1/s, default 3.")

    def reads_from(self):
        return (self.reads,)

    def acts_on(self):
        return tuple(BOTH)

    def states(self, read):
        return {"sum": State(units.ANY, 0.5)}

    def law(self, sight, read):
        total, value = sight.states["sum"], sight.read[self.reads]
        command = 6.0 * total / (1.0 + total * total)
        return Action(
            dict.fromkeys(BOTH, command), rates={"sum": 2.0 - value - read(self.forgets) * total * total}
        )


def test_a_law_of_ones_own_serves_continuous_and_sampled(monkeypatch):
    monkeypatch.setattr(CONTROLLERS, "_members", dict(CONTROLLERS._members))
    trundle.register(Leaky)
    loop = driven(own=Leaky(reads="v_x", period="20 ms"))
    own = {"sum": 0.5, "u": 0.0}

    def law(k, values):
        if k % 10 == 0:
            own["u"] = 6.0 * own["sum"] / (1.0 + own["sum"] ** 2)
            own["sum"] += 0.02 * (2.0 - values["v_x"] - 3.0 * own["sum"] ** 2)
        return dict.fromkeys(BOTH, own["u"])

    same(loop, ByHand(loop, law, 2e-3), 2e-3, 300)


CASES = {
    "one rate": {},
    "late": {"speed": {"delay": "13 ms"}, "turn": {"delay": "20 ms"}},
    "rates": {"path": {"period": "50 ms"}, "turn": {"period": "20 ms", "delay": "5 ms"}},
    "beside a continuous one": {"path": {"period": None}},
}


@pytest.mark.parametrize("case", CASES)
def test_a_run_is_a_rollout_by_small_steps(case):
    controllers = trundle.robot.component.plain(trundle.load(CIRCLE))["controllers"]
    controllers = {
        name: own | {"period": "10 ms"} | CASES[case].get(name, {}) for name, own in controllers.items()
    }
    described = trundle.robot.component.plain(trundle.load(CIRCLE))
    loop = trundle.derive({"robot": {**described, "controllers": controllers}})
    batch = trundle.rollout(loop, steps=8000, dt="50 us", every=400)
    run = trundle.simulate(loop, 0.4, samples=21)
    for name in loop.states:
        scale = max(1.0, abs(run[name]).max())
        np.testing.assert_allclose(run[name] / scale, batch[name][:, 0] / scale, atol=2e-7, err_msg=name)
    assert run.summary["energy_imbalance"] < 1e-6 * run.summary["energy_turned_over"]


def test_the_sampled_circle_is_held():
    """The tutorial's robot at 10 ms: radius, speed and distance within 1e-3, motors within 24 V."""
    controllers = trundle.robot.component.plain(trundle.load(CIRCLE))
    controllers["controllers"] = {
        name: own | {"period": "10 ms", "delay": "2 ms" if name != "path" else 0}
        for name, own in controllers["controllers"].items()
    }
    loop = trundle.derive({"robot": controllers})
    batch = trundle.rollout(loop, steps=60_000, dt="500 us", every=100)
    distance = np.hypot(batch["x"], batch["y"] - 6.6)[:, 0]
    assert abs(distance[-1] - 6.6) < 6.6e-3
    assert abs(batch["v_x"][-1, 0] - 3.0) < 3e-3
    assert max(abs(batch.output(name)).max() for name in BOTH) <= 24.0


def test_robots_of_a_batch_sample_on_their_own():
    loop = driven(speed=LIMITED)
    wanted = np.linspace(0.2, 1.0, 9)
    batch = trundle.rollout(loop, inputs={"speed.reference": wanted}, steps=200, dt=1e-3)
    alone = trundle.rollout(loop, inputs={"speed.reference": wanted[4]}, steps=200, dt=1e-3)
    np.testing.assert_allclose(batch.values[:, :, 4], alone.values[:, :, 0], rtol=1e-12, atol=1e-12)


def test_a_pickled_model_samples():
    loop = driven(speed=LIMITED | {"delay": "3 ms"})
    again = pickle.loads(pickle.dumps(loop))
    assert again == loop
    assert again.clocks == {"speed": (0.01, 0.0), "speed.delayed": (0.01, 0.003)}


def test_what_does_not_fit_is_told():
    with pytest.raises(InputError, match="a delay needs samples"):
        driven(speed=SPEED | {"delay": "3 ms"})
    with pytest.raises(InputError, match="can't use parameters"):
        driven(speed=SPEED | {"period": "2*r"})
    with pytest.raises(InputError, match="a filter of 5 ms swings up"):
        driven(speed=LIMITED | {"derivative": 0.1, "filter": "5 ms"})
    with pytest.raises(InputError, match="period must be greater than zero, got -5 ms"):
        driven(speed=LIMITED | {"period": "-5 ms"}, turn=TURN)
    with pytest.raises(InputError, match="more than 50 periods"):
        driven(speed=LIMITED | {"delay": "1 s"})
    loop = driven(speed=LIMITED)
    with pytest.raises(
        InputError, match=r"dt = 0.003 s doesn't divide the period(?s:.*)dt = 0.00333333"
    ) as told:
        trundle.rollout(loop, steps=10, dt="3 ms")
    assert told.value.key == "dt"
    with pytest.warns(UserWarning, match="'speed' samples every 0.01 s: once, at t = 0, in a run of 0.005 s"):
        trundle.simulate(loop, 0.005, {"speed.reference": 1.0})
    with pytest.raises(InputError, match="shapes the programs"):
        trundle.simulate(loop, 1.0, parameters={"controllers.speed.period": 0.02})
    for needs in (loop.linearize, lambda: loop.trim(v_x=1), lambda: trundle.ode(loop), loop.numpy):
        with pytest.raises(InputError, match=r"controllers of .* sample: speed"):
            needs()
    with pytest.raises(InputError, match="exported motion needs"):
        trundle.export(loop, "cpp")


def sampled_circle(**changes):
    """The tutorial's robot with all controllers sampled."""
    described = trundle.robot.component.plain(trundle.load(CIRCLE))
    controllers = {
        name: own | {"period": "10 ms"} | changes for name, own in described["controllers"].items()
    }
    return trundle.derive({"robot": {**described, "controllers": controllers}})


@pytest.mark.parametrize("changes", [{}, {"delay": "4 ms"}])
def test_steps_in_native_code_are_what_an_integrator_finds_from_sample_to_sample(changes):
    """At times on samples and off them; peaks and the energy account, too."""
    loop, times = sampled_circle(**changes), [0.004, 0.05, 0.1234, 0.3, 0.35]
    quick = trundle.simulate(loop, times=times)
    slow = trundle.simulate(loop, times=times, method="dop853")
    assert quick.summary["steps"] > 0
    assert slow.summary["method"] == "dop853"
    for name in (*loop.states, *loop.outputs):
        scale = max(1.0, abs(slow[name]).max())
        np.testing.assert_allclose(quick[name] / scale, slow[name] / scale, atol=1e-7, err_msg=name)
        peaks = [(run.peaks[name].lowest, run.peaks[name].highest) for run in (quick, slow)]
        scale = max(1.0, *map(abs, peaks[1]))
        # polynomials through the long steps of dop853 miss a peak by some 1e-6
        np.testing.assert_allclose(*peaks, atol=1e-5 * scale, err_msg=name)
    assert quick.summary["energy_imbalance"] < 1e-7 * quick.summary["energy_turned_over"]


def test_inputs_that_only_samples_read_go_through_native_code():
    loop = driven(speed=LIMITED)
    table = ([0.0, 0.1, 0.2], [0.2, 0.8, 0.5], "previous")
    runs = [
        trundle.simulate(loop, 0.3, {"speed.reference": given}, samples=31, method=method)
        for given in (table, lambda t: np.sin(9 * t))
        for method in ("auto", "dop853")
    ]
    for quick, slow in zip(runs[::2], runs[1::2], strict=True):
        assert quick.summary["steps"] > 0
        for name in (*loop.states, *loop.outputs):
            np.testing.assert_allclose(quick[name], slow[name], atol=2e-6, err_msg=name)


def test_inputs_that_the_motion_reads_are_integrated_with():
    loop = driven(turn=TURN | {"period": "10 ms", "target": 0.4, "drives": "right_motor.voltage"})
    held, moving = (
        trundle.simulate(loop, 0.2, {"left_motor.voltage": given}) for given in (1.0, lambda t: 5 * t)
    )
    assert held.summary["steps"] > 0
    again = trundle.simulate(loop, 0.2, {"left_motor.voltage": 1.0}, method="dop853")
    np.testing.assert_allclose(held["theta"], again["theta"], atol=1e-8)
    assert "steps" not in moving.summary


def test_who_drives_an_input_and_what_nobody_gives_is_told():
    loop = driven(speed=LIMITED)
    for runs in (
        trundle.simulate,
        lambda loop, _, inputs: trundle.rollout(loop, steps=10, dt=1e-3, inputs=inputs),
    ):
        with pytest.raises(
            InputError, match=r"'left_motor.voltage' is driven by speed(?s:.*)give speed.reference"
        ):
            runs(loop, 0.1, {"left_motor.voltage": 1.0})
        with pytest.warns(UserWarning, match=r"nobody gives speed.reference: held at 0"):
            runs(loop, 0.1, {})


def test_limits_that_changed_numbers_make_cross_are_refused():
    loop = driven(speed=LIMITED)
    with pytest.raises(InputError, match=r"lowest \(10\) is not below highest \(9\)"):
        trundle.simulate(loop, 0.1, {"speed.reference": 1.0}, parameters={"controllers.speed.lowest": 10})


def test_a_robot_that_somebody_drives_samples():
    """Steps of a window's length, between samples: the same motion as that of a run."""
    loop = sampled_circle(delay="4 ms")
    stepper = Stepper(dynamic_problem(loop, None, None, None, options_of(0.6, 2)))
    for _ in range(36):
        stepper.step(np.zeros(0), 1 / 60)
    run = trundle.simulate(loop, times=[0.3, 0.6])
    for name in loop.states[:9]:
        assert stepper.values[name] == pytest.approx(run.final[name], abs=1e-4, rel=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "three_omni"])
def test_other_robots_sample_too(name):
    """One whose loop is held by a projection after every step, and one of three motors."""
    plant = derived(name)
    speed = next(state for state in plant.states if plant.quantities[state].kind == "speed")
    hold = {"reads": speed, "drives": plant.inputs[0], "proportional": 0.5, "target": 0.3, "period": "20 ms"}
    loop = trundle.derive(plant.robot, controllers={"hold": hold | {"delay": "5 ms"}})
    batch = trundle.rollout(loop, steps=800, dt="250 us", every=160)
    run = trundle.simulate(loop, 0.2, samples=6)
    assert run.summary["steps"] > 0
    for state in loop.states:
        np.testing.assert_allclose(run[state], batch[state][:, 0], atol=1e-7, rtol=1e-7, err_msg=state)

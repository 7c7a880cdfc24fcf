"""Closed loops and derivatives: rollouts beside plain ones, one 30 s run beside python-control's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.drive import DESCRIPTION, VOLTAGES, diff_drive
from benchmarks.measure import MISSING, Row, best_seconds, best_together, installed, rate_text, seconds_text

# What sensitivities by 5 parameters and a controller may cost, in the time of a plain rollout.
ONE, BATCHED, LOOP = 4.0, 9.0, 2.0
# Against python-control's `input_output_response` at the same tolerance, its right-hand side in NumPy, and our compiled
# one: by RK45, its own choice. LSODA, the fastest of its methods here, stands beside it.
TOLERANCE = 1e-9
NUMPY, COMPILED = 300.0, 50.0
# Sampled, against SciPy's `solve_ivp` from sample to sample.
PERIOD, SAMPLED = 0.01, 100.0
NAMES = ["r", "body.mass", "d", "motors.right_motor.resistance", "motors.left_motor.torque_constant"]
DT, DURATION, SAMPLES = 1e-3, 30.0, 3000
REFERENCES = {"speed.reference": 1.0, "turn.reference": 0.3}


def held_drive(**more: Any) -> Any:
    """The differential drive with its mass off the axle, under two controllers: continuous, unless more is said."""
    from trundle.controllers import PidController
    from trundle.documents import parse
    from trundle.model import derive

    right, left = "right_motor.voltage", "left_motor.voltage"
    gains: dict[str, Any] = {"proportional": 10, "integral": 20, "lowest": -20, "highest": 20, **more}
    both: dict[str, Any] = {right: 1, left: 1}
    apart: dict[str, Any] = {right: 1, left: -1}
    controllers = {
        "speed": PidController(reads="v_x", drives=both, **gains),
        "turn": PidController(reads="omega", drives=apart, **gains),
    }
    return derive(parse(DESCRIPTION.replace("d: 0.0", "d: 0.1")).robot, controllers=controllers)


def sensitivities(quick: bool) -> list[Row]:
    """Rollouts with derivatives by five parameters, in the time of the same without."""
    from trundle.simulation import rollout

    model, tries = diff_drive(), 10 if quick else 60
    rows: list[Row] = []
    for count, steps, limit, words in (
        (1, 20_000, ONE, "one robot"),
        (2048, 200, BATCHED, "2,048 robots, per core"),
    ):

        def work(gradients: list[str], count: int = count, steps: int = steps) -> Callable[[], Any]:
            given: dict[str, Any] = {"steps": steps, "dt": DT, "every": steps, "count": count, "threads": 1}
            return lambda: rollout(model, inputs=VOLTAGES, gradients=gradients, **given)

        plain, with_them = best_together(work([]), work(NAMES), tries=tries)
        ratio, each = with_them / plain, count * steps
        name = f"a step with derivatives by 5 parameters, {words}, against one without"
        ours, other = (seconds_text(seconds / each) for seconds in (with_them, plain))
        rows.append(Row(name, ours, other, ratio, f"≤ {limit:g} ×", ratio <= limit))
    return rows


def closed_loop(quick: bool) -> list[Row]:
    """A step of the closed loop beside one of the robot alone: under two controllers, and with a tracker above them."""
    from trundle.model import derive
    from trundle.simulation import rollout

    count, steps = 2048, 200
    given: dict[str, Any] = {"steps": steps, "dt": DT, "every": steps, "count": count, "threads": 1}
    tracked = held_tracked()
    references = dict.fromkeys(tracked.inputs, np.linspace(0.0, 1.0, steps)[:, None])
    rows: list[Row] = []
    for words, closed, inputs in (
        ("two PID controllers", held_drive(), REFERENCES),
        ("a tracker and two PID controllers", tracked, references),
    ):
        plant = derive(closed.robot.without_controllers)
        works = (
            lambda closed=closed, inputs=inputs: rollout(closed, inputs=inputs, **given),
            lambda plant=plant: rollout(plant, inputs=VOLTAGES, **given),
        )
        loop, alone = best_together(*works, tries=10 if quick else 60)
        ours, other = (rate_text(count * steps / seconds, "steps") for seconds in (loop, alone))
        name = f"batched rollouts under {words}, against the robot alone, per core"
        ratio = loop / alone
        rows.append(Row(name, ours, other, ratio, f"≤ {LOOP:g} × the time", ratio <= LOOP))
    return rows


def held_tracked() -> Any:
    """The drive under a tracker, whose speed and turning rate two controllers hold."""
    from trundle.documents import parse
    from trundle.model import derive

    right, left = "right_motor.voltage", "left_motor.voltage"
    controllers: dict[str, Any] = {
        "track": {"type": "unicycle", "speed_to": "speed.reference", "turn_to": "turn.reference"},
        "speed": {"reads": "v_x", "drives": {right: 1, left: 1}, "proportional": 20, "integral": 20},
        "turn": {"reads": "omega", "drives": {right: 1, left: -1}, "proportional": 10, "integral": 20},
    }
    return derive(parse(DESCRIPTION.replace("d: 0.0", "d: 0.1")).robot, controllers=controllers)


def one_loop(quick: bool) -> list[Row]:
    """Seconds of one 30 s closed loop, ours with every output and check, python-control's with its states."""
    from trundle.simulation import simulate

    model = held_drive()
    name = "one 30 s closed loop of the offset drive, against python-control"
    mine = best_seconds(lambda: simulate(model, DURATION, REFERENCES, samples=SAMPLES), tries=60, least=0.0)
    if not installed("control"):
        return [Row(name, seconds_text(mine), MISSING, target=f"≥ {NUMPY:g} ×")]
    final = simulate(model, DURATION, REFERENCES, samples=SAMPLES).final["x"]
    rows: list[Row] = []
    for words, rate, target in (
        ("a right-hand side in NumPy", _in_numpy(model), NUMPY),
        ("our compiled one", _compiled(model), COMPILED),
    ):
        peer, quickest = (_response(model, rate, method) for method in ("RK45", "LSODA"))
        apart, other = abs(final - peer()), best_seconds(peer, tries=1, least=0.0)
        least = best_seconds(quickest, tries=1, least=0.0)
        ratio = other / mine
        fastest = f"by LSODA {seconds_text(least)}, {least / mine:.3g} ×"
        note = f"RK45 at {TOLERANCE:g}; {fastest}; final x apart by {apart:.1e} m"
        ours, theirs = seconds_text(mine), seconds_text(other)
        rows.append(Row(f"{name}, {words}", ours, theirs, ratio, f"≥ {target:g} ×", ratio >= target, note))
    return rows


def _response(
    model: Any, rate: Callable[[np.ndarray, np.ndarray], np.ndarray], method: str
) -> Callable[[], float]:
    """A function that runs python-control's loop and returns where x ends."""
    import control

    size = len(model.states)
    system = control.nlsys(
        lambda t, x, u, params: rate(x, u), None, inputs=len(model.inputs), states=size, outputs=size
    )
    times = np.linspace(0.0, DURATION, SAMPLES)
    wanted: Any = np.array([np.full(SAMPLES, REFERENCES[name]) for name in model.inputs])
    bounds = {"rtol": TOLERANCE, "atol": TOLERANCE / 10}

    def run() -> float:
        found = control.input_output_response(
            system, times, wanted, 0.0, solve_ivp_method=method, solve_ivp_kwargs=bounds
        )
        return float(found.states[0, -1])

    return run


def _in_numpy(model: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The closed loop's rates as NumPy code that Trundle writes."""
    rate, p = model.numpy("dynamics"), np.array(list(model.parameters.values()))
    return lambda x, u: rate(x, u, p)


def _compiled(model: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The closed loop's rates in native code."""
    from trundle.program import compile_program

    single, p = compile_program(model.dynamics).single(), np.array(list(model.parameters.values()))
    return lambda x, u: single(np.ascontiguousarray(x), np.ascontiguousarray(u), p)[0]


def sampled_loop(quick: bool) -> list[Row]:
    """Seconds of the same loop sampled every 10 ms, against SciPy's `solve_ivp` from sample to sample."""
    from trundle.simulation import rollout, simulate

    model, count = held_drive(period="10 ms"), round(DURATION / PERIOD)
    # a tenth of the samples tells the peer's time: all of them cost alike
    peer, part = _sample_by_sample(model), count // 10
    other = best_seconds(lambda: peer(part), tries=1, least=0.0) * count / part
    steps, every = round(DURATION / DT), round(PERIOD / DT)
    rows: list[Row] = []
    for words, run in (
        ("simulate", lambda: simulate(model, DURATION, REFERENCES, samples=SAMPLES)),
        ("a rollout of one", lambda: rollout(model, inputs=REFERENCES, steps=steps, dt=DT, every=every)),
    ):
        mine = best_seconds(run, tries=20, least=0.0)
        name = f"one 30 s loop sampled every 10 ms, {words}, against solve_ivp from sample to sample"
        ratio, note = other / mine, "RK45 at its default of 1e-3, right-hand side in NumPy"
        ours, theirs = seconds_text(mine), seconds_text(other)
        rows.append(Row(name, ours, theirs, ratio, f"≥ {SAMPLED:g} ×", ratio >= SAMPLED, note))
    return rows


def _sample_by_sample(model: Any) -> Callable[[int], np.ndarray]:
    """A function that runs so many samples of the same law in Python: the usual way without a sampled simulator."""
    from scipy.integrate import solve_ivp

    from trundle.model import derive

    plant = derive(model.robot.without_controllers)
    rate, p = plant.numpy("dynamics"), np.array(list(plant.parameters.values()))
    read = [plant.states.index(name) for name in ("v_x", "omega")]
    right, left = (plant.inputs.index(f"{side}_motor.voltage") for side in ("right", "left"))
    wanted = np.array(list(REFERENCES.values()))

    def run(samples: int) -> np.ndarray:
        x, integral, u = np.zeros(len(plant.states)), np.zeros(2), np.zeros(2)
        for _ in range(samples):
            error = wanted - x[read]
            free = 10 * error + integral
            command = np.clip(free, -20, 20)
            u[right], u[left] = command[0] + command[1], command[0] - command[1]
            integral = integral + PERIOD * (20 * error + 2 * (command - free))
            x = solve_ivp(lambda t, y: rate(y, u, p), (0.0, PERIOD), x).y[:, -1]
        return x

    return run

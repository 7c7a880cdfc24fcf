"""Controllers in the model: the closed loop's programs against the plant's and laws written again by hand."""

import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import scipy.linalg

import trundle
from parameters import mostly_slow
from trundle.errors import InputError, NumericsError
from trundle.robot import Action, Controller
from trundle.robot.controllers import CONTROLLERS
from trundle.show.page import page_of

CIRCLE = Path(__file__).parents[2] / "examples" / "feedback" / "circle.yaml"
SPEED = {
    "reads": "v_x",
    "drives": {"left_motor.voltage": 1, "right_motor.voltage": 1},
    "proportional": 8.0,
    "integral": 5.0,
    "derivative": 0.3,
    "filter": 0.05,
    "feedforward": 6.0,
    "lowest": -20.0,
    "highest": 20.0,
}


def driven(**controllers):
    """The differential drive of the catalogue, with controllers."""
    described = trundle.robot.component.plain(trundle.load(CIRCLE).without_controllers)
    return trundle.robot.parse_robot({**described, "controllers": controllers})


def states_of(model, rng, count):
    return rng.normal(size=(len(model.states), count))


def both(robot, rng, laws, inputs=None, count=50):
    """The closed loop's rates, and those of the plant at the commands that `laws(values)` gives, with their own rates.

    laws: from all of the plant's values by name, the controllers' states and the references to (commands, own rates).
    """
    loop, plant = trundle.derive(robot), trundle.derive(robot.without_controllers)
    x, r = states_of(loop, rng, count), rng.normal(size=(len(loop.inputs), count))
    closed = loop.rhs(x, r)
    apart = plant.states
    p = list(plant.parameters.values())
    found = []
    for k in range(count):
        values = dict(zip(loop.states, x[:, k], strict=True)) | dict(zip(loop.inputs, r[:, k], strict=True))
        state = [values[name] for name in apart]
        shown = plant.observe(state, np.zeros(len(plant.inputs)), p)
        values |= dict(zip(plant.outputs, shown, strict=True))
        commands, own = laws(values)
        u = [commands.get(name, values.get(name, 0.0)) for name in plant.inputs]
        rates = dict(zip(apart, plant.rhs(state, u), strict=True)) | own
        found.append([rates[name] for name in loop.states])
    return closed, np.array(found).T


def test_a_pid_is_what_books_say(rng):
    def law(values):
        error = values["speed.reference"] - values["v_x"]
        rate = (values["v_x"] - values["speed.filtered"]) / 0.05
        free = 6.0 * values["speed.reference"] + 8.0 * error + values["speed.integral"] - 0.3 * rate
        command = min(max(free, -20.0), 20.0)
        own = {"speed.integral": 5.0 * error + (command - free) * 5.0 / 8.0, "speed.filtered": rate}
        return {"left_motor.voltage": command, "right_motor.voltage": command}, own

    robot = driven(speed=SPEED)
    closed, apart = both(robot, rng, law)
    np.testing.assert_allclose(closed, apart, rtol=1e-11, atol=1e-9)
    loop = trundle.derive(robot)
    assert loop.states[-2:] == ("speed.integral", "speed.filtered")
    assert loop.inputs == ("speed.reference",)
    assert loop.units["speed.reference"] == loop.units["speed.error"] == "m/s"
    assert loop.units["speed.integral"] == "V"
    assert {"left_motor.voltage", "right_motor.voltage", "speed.error"} <= {*loop.outputs}


def test_the_poles_of_a_linear_loop_are_python_controls(rng):
    """Within its limits a PI loop is linear: its poles are those of the plant's transfer function fed back."""
    control = pytest.importorskip("control")
    pi = {key: SPEED[key] for key in ("reads", "drives", "proportional", "integral")}
    robot = driven(speed=pi)
    free = trundle.derive(robot.without_controllers)
    moving = free.trim({"left_motor.voltage": 7.0, "right_motor.voltage": 7.0})
    names = ["v_x", "omega", *free.currents]
    plant = moving.linearize().with_states(names)
    shown = np.eye(len(names))[[0]]
    opened = control.ss(plant.A, plant.B @ np.ones((2, 1)), shown, [[0.0]])
    wanted = control.feedback(opened * control.tf([8.0, 5.0], [1, 0]), 1).poles()
    closed = trundle.derive(robot)
    at = moving.state | {"speed.integral": 7.0 - 8.0 * (1.0 - moving.state["v_x"])}
    near = closed.linearize(at, {"speed.reference": 1.0})
    loop = near.with_states(["v_x", "omega", *closed.currents]).poles
    np.testing.assert_allclose(np.sort_complex(loop), np.sort_complex(wanted), rtol=1e-7, atol=1e-9)


def test_state_feedback_around_a_point(rng):
    rows = {
        "left_motor.voltage": {"gains": {"v_x": 3.0, "omega": -2.0}, "offset": 12.0, "highest": 14.0},
        "right_motor.voltage": {"gains": {"right.rate": 0.5}},
    }
    robot = driven(hold={"type": "state_feedback", "drives": rows, "around": {"v_x": 1.5}})

    def law(values):
        left = min(12.0 - 3.0 * (values["v_x"] - 1.5) + 2.0 * values["omega"], 14.0)
        return {"left_motor.voltage": left, "right_motor.voltage": -0.5 * values["right.rate"]}, {}

    closed, apart = both(robot, rng, law)
    np.testing.assert_allclose(closed, apart, rtol=1e-11, atol=1e-9)


def test_what_several_put_on_one_input_is_added_and_cascades_are_ordered(rng):
    """The outer controller stands first, and drives the inner one's reference; a third adds to the same motor."""
    outer = {"reads": "x", "drives": "inner.reference", "proportional": 2.0, "target": 4.0}
    inner = {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 3.0}
    beside = {"reads": "omega", "drives": {"left_motor.voltage": -0.5}, "proportional": 1.0, "target": 0.5}
    robot = driven(outer=outer, inner=inner, beside=beside)

    def law(values):
        wanted = 2.0 * (4.0 - values["x"])
        left = 3.0 * (wanted - values["v_x"]) - 0.5 * (0.5 - values["omega"])
        return {"left_motor.voltage": left}, {}

    closed, apart = both(robot, rng, law)
    np.testing.assert_allclose(closed, apart, rtol=1e-11, atol=1e-9)
    assert trundle.derive(robot).inputs == ("right_motor.voltage",)


def test_the_circle_is_held_to_rounding():
    """A circle of 6.6 m at 3 m/s about a given centre, motors within 24 V; beside it the same robot by voltages alone.

    What the latter does is in closed form: torques stand for nothing at a steady turn but m d v ω and its moment.
    """
    run = trundle.run(CIRCLE)
    distance = np.hypot(run["x"], run["y"] - 6.6)
    assert abs(distance[-1] - 6.6) < 1e-6
    assert abs(run.final["v_x"] / run.final["omega"] - 6.6) < 1e-6
    assert abs(run.final["v_x"] - 3.0) < 1e-6
    assert abs(run.final["omega"] - 3.0 / 6.6) < 1e-6
    assert max(abs(run[name]).max() for name in ("left_motor.voltage", "right_motor.voltage")) <= 24.0
    assert abs(distance - 6.6).max() < 5e-3

    volts = {"left_motor.voltage": 20 * (1 - 0.6 / 6.6), "right_motor.voltage": 20 * (1 + 0.6 / 6.6)}
    drifting = trundle.simulate(trundle.load(CIRCLE).without_controllers, 30.0, volts)
    v, omega = drifting.final["v_x"], drifting.final["omega"]
    left, right = (
        constant * (volts[name] - constant * (v + side * 0.6 * omega) / 0.15) / 0.05
        for constant, name, side in ((0.99, "left_motor.voltage", -1), (1.0, "right_motor.voltage", 1))
    )
    assert (left + right) / 0.15 == pytest.approx(-50 * 0.3 * omega**2, rel=1e-6)
    assert (right - left) * 0.6 / 0.15 == pytest.approx(50 * 0.3 * v * omega, rel=1e-6)
    assert abs(np.hypot(drifting["x"], drifting["y"] - 6.6) - 6.6).max() > 1.5
    assert trundle.compare(run, drifting).labels == ("controllers path, speed, turn", "no controllers")


def test_a_car_is_no_base_for_the_circle_s_law():
    """It can't be told a speed and a turning rate at once; what steers it is said."""
    car = trundle.catalog.ackermann()
    inputs = trundle.derive(car).inputs
    lead = {"type": "circle", "circle": {"center": [0, 5], "radius": 5}, "speed": 1}
    lead |= {"speed_to": inputs[0], "turn_to": inputs[-1]}
    with pytest.raises(
        InputError,
        match=r"circle controller 'lead' can't lead 'ackermann': its wheels let it choose 1 velocity",
    ) as told:
        trundle.derive(car, controllers={"lead": lead})
    assert "stanley and pure_pursuit steer" in str(told.value.hint)


def test_controllers_that_sample_are_called_so():
    hold = {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 1, "target": 0.5}
    late = hold | {"drives": "right_motor.voltage", "period": "10 ms", "delay": "4 ms"}
    robot = trundle.catalog.differential_drive()
    every = ({"hold": hold}, {"hold": hold | {"period": "10 ms"}}, {"hold": hold, "late": late})
    runs = [trundle.simulate(trundle.derive(robot, controllers=each), 0.1) for each in every]
    assert trundle.compare(*runs).labels == (
        "controllers hold",
        "controllers hold every 10 ms",
        "controllers hold; late every 10 ms, 4 ms late",
    )


@pytest.mark.slow
def test_the_tutorial_draws_both_in_a_picture_and_on_a_page(tmp_path):
    script = CIRCLE.with_suffix(".py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    for name in ("held", "sampled"):
        assert f"{name}: radius 6.600000 m at 3.000000 m/s" in done.stdout
    assert (tmp_path / "path.png").stat().st_size > 10_000
    assert "no controllers" in (tmp_path / "circle.html").read_text(encoding="utf-8")
    assert "parameters.controllers.speed.proportional" in (tmp_path / "sampled.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("speed", "clockwise"),
    mostly_slow([(2.0, False), (2.0, True), (-2.0, False), (-2.0, True)], [(-2.0, True)]),
)
def test_circles_both_ways_forward_and_backward(speed, clockwise):
    """From inside, outside and across; the base ends on the circle, going round the way that was asked for."""
    data = trundle.robot.component.plain(trundle.load(CIRCLE))
    data["controllers"]["path"] |= {"speed": speed}
    data["controllers"]["path"]["circle"] |= {"clockwise": clockwise}
    model = trundle.derive(trundle.robot.parse_robot(data))
    for start in ({"x": 3.0, "y": 5.0}, {"x": -9.0, "theta": 2.0}):
        run = trundle.simulate(model, 20.0, initial=start, samples=200)
        assert abs(run["path.distance"][-1]) < 1e-4
        around = np.unwrap(np.arctan2(run["y"] - 6.6, run["x"]))
        assert np.sign(around[-1] - around[-20]) == (-1 if clockwise else 1)


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_the_circles_gains_are_the_regulators(speed):
    """Against the Riccati equation: d(turn)/d(distance, course) on a circle so large that it is a straight line."""
    tolerances = distance, course, turn = 0.2, 0.3, 0.8
    a, b = np.array([[0.0, speed], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    weights = np.diag([distance**-2, course**-2])
    riccati = scipy.linalg.solve_continuous_are(a, b, weights, [[turn**-2]])
    gain = (turn**2 * b.T @ riccati)[0]
    follower = CONTROLLERS.read(
        {"type": "circle", "circle": {"center": [0, 1e6], "radius": 1e6}, "speed": speed, "speed_to": "v",
         "turn_to": "w", **dict(zip(("distance", "course", "turn"), tolerances, strict=True))}
    )  # fmt: skip

    def turning(y, theta):
        seen = {"x": 0.0, "y": y, "theta": theta, "v_x": speed, "v_y": 0.0}
        return follower.law(trundle.robot.Sight(seen, {}, {}), lambda value: value.number).commands["w"]

    h = 1e-4
    slopes = [(turning(h, 0) - turning(-h, 0)) / (2 * h), (turning(0, h) - turning(0, -h)) / (2 * h)]
    np.testing.assert_allclose(slopes, -gain, rtol=1e-5)


class Bang(Controller):
    """Full voltage one way or the other, with a state that counts how long."""

    type: Literal["bang"] = "bang"
    reads: str
    drives: str

    def reads_from(self):
        return (self.reads,)

    def acts_on(self):
        return (self.drives,)

    def references(self):
        return ("wanted",)

    def states(self, read):
        return {"time": trundle.robot.State(trundle.robot.units.TIME, 0.5)}

    def law(self, sight, read):
        off = sight.references["wanted"] - sight.read[self.reads]
        return Action(
            {self.drives: trundle.scalars.where(trundle.scalars.less(off, 0), -5.0, 5.0)}, {"time": 1.0}
        )


@pytest.fixture
def bang():
    before = dict(CONTROLLERS._members)
    trundle.register(Bang)
    yield
    CONTROLLERS._members = before


def test_a_users_own(bang, rng):
    robot = driven(own={"type": "bang", "reads": "omega", "drives": "left_motor.voltage"})

    def law(values):
        return {"left_motor.voltage": 5.0 if values["own.wanted"] >= values["omega"] else -5.0}, {
            "own.time": 1.0
        }

    closed, apart = both(robot, rng, law)
    np.testing.assert_allclose(closed, apart, rtol=1e-11, atol=1e-9)
    assert trundle.simulate(robot, 2.0).final["own.time"] == pytest.approx(2.5)


def test_gains_are_parameters_of_rollouts_and_stay_in_files(tmp_path):
    model = trundle.derive(CIRCLE)
    gains = np.array([2.0, 10.0, 50.0])
    many = trundle.rollout(
        model, steps=2000, dt=1e-3, every=2000, parameters={"controllers.speed.proportional": gains}
    )
    single = [
        trundle.rollout(
            model, steps=2000, dt=1e-3, every=2000, parameters={"controllers.speed.proportional": gain}
        )
        for gain in gains
    ]
    np.testing.assert_allclose(many["v_x"][-1], [each["v_x"][-1].item() for each in single], rtol=1e-12)
    assert len({*np.round(many["v_x"][-1], 9)}) == 3
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.slow
def test_a_page_and_equations_of_a_loop():
    assert "controllers.speed.proportional" in page_of(CIRCLE)
    found = trundle.equations(CIRCLE)
    assert found.error < 1e-12
    assert "V_left" in found.text()


WRONG = {
    "reads what isn't there": ({"a": {**SPEED, "reads": "v_z"}}, "reads 'v_z'.*did you mean 'v_"),
    "drives what isn't there": (
        {"a": {"reads": "v_x", "drives": "left.voltage"}},
        "drives 'left.voltage'.*left_motor",
    ),
    "drives itself": ({"a": {"reads": "v_x", "drives": "a.reference"}}, "drives 'a.reference'"),
    "a target in another unit": ({"a": {**SPEED, "target": "50 cm"}}, "expected a v_x .m/s., got one in m"),
    "a limit in another unit": (
        {"a": {**SPEED, "highest": "20 A"}},
        "expected .*left_motor.voltage .V., got",
    ),
    "an offset in another unit": (
        {
            "a": {
                "type": "state_feedback",
                "drives": {"left_motor.voltage": {"gains": {"v_x": 1}, "offset": "1 m"}},
            }
        },
        "expected .*left_motor.voltage .V.",
    ),
    "an algebraic loop": (
        {
            "a": {"reads": "left_motor.power", "drives": "right_motor.voltage"},
            "b": {"reads": "right_motor.power", "drives": "left_motor.voltage"},
        },
        "algebraic loop: a -> b -> a",
    ),
    "one that reads what it drives at once": (
        {"a": {"reads": "left_motor.power", "drives": "left_motor.voltage"}},
        "algebraic loop: a -> a",
    ),
    "references in a circle": (
        {"a": {"reads": "v_x", "drives": "b.reference"}, "b": {"reads": "v_x", "drives": "a.reference"}},
        "algebraic loop: a -> b -> a",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_told(case):
    controllers, said = WRONG[case]
    with pytest.raises(InputError, match=f"(?s){said}") as error:
        trundle.derive(driven(**controllers))
    assert error.value.key.startswith("robot.controllers.a")


def test_a_derivative_needs_a_filter():
    with pytest.raises(InputError, match="needs a filter"):
        driven(a={"reads": "v_x", "drives": "left_motor.voltage", "derivative": 1.0})
    with pytest.raises(InputError, match="anti_windup"):
        driven(a={"reads": "v_x", "drives": "left_motor.voltage", "integral": 1.0, "highest": 3.0})


def test_directions_are_compared_within_half_a_turn(rng):
    robot = driven(
        turn={"reads": "theta", "drives": "left_motor.voltage", "proportional": 2.0, "angle": True}
    )

    def law(values):
        return {
            "left_motor.voltage": 2.0
            * math.remainder(values["turn.reference"] - values["theta"], 2 * math.pi)
        }, {}

    closed, apart = both(robot, rng, law)
    np.testing.assert_allclose(closed, apart, rtol=1e-11, atol=1e-9)


def test_gains_may_be_formulas_of_parameters(rng):
    """An integral and a derivative by a parameter give what the same numbers give."""
    numbers = {**SPEED, "integral": 2.0, "derivative": 0.1, "anti_windup": 0.5}
    formulas = {**numbers, "integral": "2*k", "derivative": "k/10", "proportional": "8*k"}
    plain, by_parameters = (trundle.derive(driven(a=pid)) for pid in (numbers, formulas))
    assert plain.states == by_parameters.states
    x, r = states_of(plain, rng, 9), rng.normal(size=(1, 9))
    np.testing.assert_allclose(by_parameters.rhs(x, r), plain.rhs(x, r), rtol=1e-13)


@pytest.mark.parametrize(
    ("controller", "said"),
    [
        ({**SPEED, "lowest": 5.0, "highest": -5.0}, "lowest .5. is not below highest .-5."),
        (
            {"type": "state_feedback", "drives": {"b": {"gains": {"v_x": 1}, "lowest": 3, "highest": 1}}},
            "lowest .3. is not below highest .1.",
        ),
        (
            {"type": "circle", "circle": {"center": [0, 0], "radius": 2}, "speed": 1, "speed_to": "b", "turn_to": "b"},
            "'b' can't take both",
        ),
        ({key: SPEED[key] for key in ("reads", "drives")} | {"derivative": "k"}, "needs a filter"),
        (math.sin, "expected a controller, got the function sin\n.*class that trundle.register knows"),
        (trundle.controllers.PidController, r"got the class PidController\n.*PidController\(…\)"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(controller, said):
    with pytest.raises(InputError, match=said):
        driven(a=controller)


def test_a_loop_without_rates_at_its_start_is_told():
    """Anti-windup by k_i/k_p, k_p a formula that is 0."""
    model = trundle.derive(driven(a={**SPEED, "proportional": "k - k"}))
    with pytest.raises(NumericsError, match="a.integral.*have no rates: .*controllers.*left_motor.voltage"):
        trundle.simulate(model, 0.1)


def test_a_run_takes_controllers_and_comes_back_bit_for_bit(tmp_path):
    """From a file with voltages of its own: what drives them takes their place, and a saved run tells it."""
    file = CIRCLE.parents[1] / "diff_drive" / "circle.yaml"
    hold = {
        "speed": trundle.controllers.PidController(
            reads="v_x", drives={"left_motor.voltage": 1}, proportional=10, integral=20, target="3 m/s"
        )
    }
    run = trundle.run(file, controllers=hold, duration=1.0, samples=101)
    assert run.groups["inputs"] == ("right_motor.voltage",)
    run.save(tmp_path / "run.nc")
    saved = trundle.Run.load(tmp_path / "run.nc")
    robot = trundle.documents.parse(saved.description["yaml"]).robot
    assert list(robot.controllers) == ["speed"]
    right = {"right_motor.voltage": saved["right_motor.voltage"][0]}
    again = trundle.simulate(trundle.derive(robot), 1.0, right, samples=101)
    for name in run.values:
        for other in (saved, again):
            np.testing.assert_array_equal(other[name], run[name], err_msg=name)


def test_an_algebraic_loop_is_told_link_by_link():
    hold = {"drives": "left_motor.voltage", "reads": "left_motor.power", "proportional": 1}
    with pytest.raises(
        InputError, match="a reads left_motor.power, which hangs at once on left_motor.voltage"
    ):
        trundle.derive(trundle.load(CIRCLE).without_controllers, controllers={"a": hold})
    circle = {
        name: {"reads": "v_x", "proportional": 1, "drives": f"{other}.reference"}
        for name, other in ("ab", "ba")
    }
    with pytest.raises(InputError, match=r"(?s)b drives a\.reference.*a drives b\.reference"):
        trundle.derive(trundle.load(CIRCLE).without_controllers, controllers=circle)


def test_controllers_of_a_run_are_for_motors():
    rolling = {"robot": trundle.robot.component.plain(trundle.load(CIRCLE).without_controllers)}
    rolling |= {"trundle": 1, "run": {"mode": "kinematic", "inputs": {"left.rate": 1, "right.rate": 1}}}
    hold = {"speed": {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 1}}
    with pytest.raises(InputError, match="the run section gives the wheels' motions"):
        trundle.run(rolling, controllers=hold)
    with pytest.raises(InputError, match=r"(?s)controllers\.speed.*pdi.*did you mean 'pid'"):
        trundle.run(CIRCLE, controllers={"speed": {"type": "pdi"}})

"""Plants by steps of a user's own: by hand, by another formula, by the catalogue's pendulum, in batches and stores."""

import numpy as np
import pytest

import trundle
from trundle import InputError
from trundle.scalars import absolute, sin, tanh

NUMBERS = {"m": 2.0, "k": 5.0, "drag": 1.0}


def balance(after, x, u, p, h):
    force = p["k"] * (u["voltage"] - p["k"] * after["v"])
    return {
        "x": (after["x"] - x["x"]) / h - after["v"],
        "v": p["m"] * (after["v"] - x["v"]) / h - force + p["drag"] * after["v"],
    }


def closed_form(x, u, p, h):
    """The same, solved by hand."""
    v = (p["m"] * x["v"] / h + p["k"] * u["voltage"]) / (p["m"] / h + p["k"] * p["k"] + p["drag"])
    return {"x": x["x"] + h * v, "v": v}


def cart(**given):
    given = given or {"balance": balance}
    return trundle.from_steps(
        states={"x": "m", "v": "m/s"}, inputs={"voltage": "V"}, parameters=NUMBERS, units={"force": "N"},
        outputs=lambda x, u, p: {"force": p["k"] * (u["voltage"] - p["k"] * x["v"])}, name="cart", **given,
    )  # fmt: skip


@pytest.mark.parametrize("step", [0.5, 0.1, 0.01])
def test_a_balance_is_its_closed_form(step):
    solved, mapped = (
        trundle.simulate(plant, 2.0, {"voltage": 6.0}, step=step, progress=False)
        for plant in (cart(), cart(step=closed_form))
    )
    for name in ("x", "v", "force"):
        assert solved[name] == pytest.approx(mapped[name], abs=1e-12)
    assert solved.units == {"x": "m", "v": "m/s", "voltage": "V", "force": "N"}
    assert solved.summary["method"] == f"implicit steps of {step:g} s"


def midpoint(after, x, u, p, h):
    angle, rate = ((after[name] + x[name]) / 2 for name in ("angle", "rate"))
    return {
        "angle": (after["angle"] - x["angle"]) / h - rate,
        "rate": (after["rate"] - x["rate"]) / h + p["gravity"] * sin(angle),
    }


def test_the_midpoint_rule_is_of_the_second_order_beside_the_catalogue_s_pendulum():
    plant = trundle.from_steps(
        balance=midpoint, states={"angle": "rad", "rate": "rad/s"}, parameters={"gravity": 9.81}
    )
    model = trundle.derive(trundle.catalog.robot("pendulum", links=1))
    exact = trundle.simulate(model, 2.0, initial={"link_1.rate": 1.5}, progress=False)
    gravity = {"gravity": -float(trundle.linearize(model).A[1][0])}  # m g l/J, as θ'' = −(m g l/J) θ near 0
    gaps = []
    for step in (0.02, 0.01):
        run = trundle.simulate(
            plant, 2.0, initial={"rate": 1.5}, step=step, parameters=gravity, progress=False
        )
        gaps.append(abs(run["angle"][-1] - exact["link_1.angle"][-1]))
    assert 3.8 < gaps[0] / gaps[1] < 4.2


def test_robots_of_a_rollout_and_of_a_sweep_are_runs(tmp_path):
    plant, speeds = cart(), np.linspace(0, 1, 5)
    given = {"voltage": 6.0}
    batch = trundle.rollout(plant, initial={"v": speeds}, inputs=given, steps=20, dt=0.1, progress=False)
    found = trundle.sweep(
        plant, over={"initial.v": speeds}, inputs=given, measures=["final.x", "max(force)"], steps=20, dt=0.1,
        store=tmp_path / "out.zarr", progress=False,
    )  # fmt: skip
    again = trundle.Sweep.load(tmp_path / "out.zarr")
    for robot, speed in enumerate(speeds):
        run = trundle.simulate(plant, 2.0, given, initial={"v": speed}, step=0.1, progress=False)
        assert batch["x"][-1, robot] == pytest.approx(run["x"][-1], abs=1e-13)
        assert batch.output("force")[:, robot] == pytest.approx(run["force"], abs=1e-12)
        assert found["final.x"][robot] == pytest.approx(run["x"][-1], abs=1e-13)
        assert found["max(force)"][robot] == pytest.approx(run["force"].max(), abs=1e-12)
    assert again.run(3)["x"][-1] == pytest.approx(found["final.x"][3], abs=1e-13)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give either step or balance"),
        ({"step": closed_form, "balance": balance}, "give either step or balance"),
        ({"step": lambda x, u, p, h: x if x["v"] else {}}, "step can't be traced.*\n.*where"),
        (
            {"step": lambda x, u, p, h: {"x": np.sin(x["x"]), "v": 0.0}},
            "step can't be traced.*\n.*trundle.scalars",
        ),
        ({"step": lambda x, u, p, h: {"x": x["y"], "v": 0.0}}, "there is no 'y'"),
        ({"step": lambda x, u, p, h: {"x": x["x"]}}, "gives nothing for the state 'v'"),
        ({"step": lambda x, u, p, h: {"x": 0.0, "v": 0.0, "w": 1.0}}, "gives 'w', which is no state"),
        ({"balance": lambda after, x, u, p, h: 3}, "expected a mapping of names, got int"),
        ({"balance": lambda after, x, u, p, h: {"x": x["x"], "v": x["v"]}}, "doesn't hang on the state"),
        ({"step": lambda x, u, p, h: x, "length": 0}, "a number above 0"),
    ],
)
def test_what_can_t_be_is_said(given, words):
    with pytest.raises(InputError, match=words):
        trundle.from_steps(states={"x": "m", "v": "m/s"}, **given)


def test_one_name_stands_for_one_thing():
    twice = {"step": lambda x, u, p, h: {"x": x["x"]}, "states": {"x": "m"}}
    with pytest.raises(InputError, match="'x' stands for two things, the state and the input"):
        trundle.from_steps(**twice, inputs={"x": "N"})
    with pytest.raises(InputError, match="'x' stands for two things, the state and the output"):
        trundle.from_steps(**twice, outputs=lambda x, u, p: {"x": -x["x"]})
    with pytest.raises(InputError, match="one state at least"):
        trundle.from_steps(step=closed_form, states={})


def test_what_needs_a_rate_says_so():
    with pytest.raises(
        InputError, match="linearize needs a rate, x' = f\\(x, u, p\\), and 'cart' goes by steps"
    ):
        trundle.linearize(cart())
    with pytest.raises(InputError, match="no derivatives"):
        trundle.rollout(cart(), steps=2, dt=0.1, gradients=["m"])
    with pytest.raises(InputError, match="rtol is for integrators"):
        trundle.simulate(cart(), 1.0, rtol=1e-6)
    with pytest.raises(InputError, match="'w' is not a coordinate of 'cart'"):
        trundle.simulate(cart(), 1.0, initial={"w": 1.0})


def test_kinks_are_solved_and_what_is_not_is_told():
    """Dry friction sticks where its law says; where a balance has no root the run counts the steps."""
    rubbed = trundle.from_steps(
        balance=lambda after, x, u, p, h: {
            "v": (after["v"] - x["v"]) / h - u["force"] + 10 * tanh(after["v"] / p["width"])
        },
        states={"v": "m/s"}, inputs={"force": "N"}, parameters={"width": 1e-3},
    )  # fmt: skip
    for step in (0.05, 0.01):
        run = trundle.simulate(rubbed, 1.0, {"force": 5.0}, initial={"v": 2.0}, step=step, progress=False)
        assert run["v"][-1] == pytest.approx(1e-3 * np.arctanh(0.5), rel=1e-12)
        assert "unsolved_steps" not in run.summary
    rootless = trundle.from_steps(
        balance=lambda after, x, u, p, h: {"v": 1 + absolute(after["v"])}, states={"v": "m/s"}
    )
    with pytest.warns(UserWarning, match="10 of 10 steps are unsolved"):
        run = trundle.simulate(rootless, 0.1, initial={"v": 2.0}, progress=False)
    assert run.summary["unsolved_steps"] == 10


def test_saturated_loops_are_solved():
    slider = trundle.from_steps(
        balance=lambda after, x, u, p, h: {"v": (after["v"] - x["v"]) / h - u["F"]},
        states={"v": "m/s"}, inputs={"F": "N"},
    )  # fmt: skip
    bounded = {"reads": "v", "drives": "F", "proportional": 100, "target": 0.33, "lowest": -1, "highest": 1}
    run = trundle.simulate(slider.closed({"c": bounded}), 1.0, step=0.05, progress=False)
    v = 0.0
    for k in range(20):
        # v' = v + h min(1, 100 (0.33 − v'))
        v = v + 0.05 if 100 * (0.33 - v - 0.05) >= 1 else (v + 5 * 0.33) / 6
        assert run["v"][k + 1] == pytest.approx(v, abs=1e-12)


def test_rollouts_take_its_own_step():
    plant = cart(balance=balance, length=0.05)
    assert trundle.rollout(plant, steps=10).summary["dt"] == 0.05
    sweep = {"over": {"m": [1.0, 2.0]}, "inputs": {"voltage": 6.0}, "measures": ["final.v"], "steps": 10}
    assert (
        trundle.sweep(plant, **sweep)["final.v"].tolist()
        == trundle.sweep(plant, **sweep, dt=0.05)["final.v"].tolist()
    )


HOLD = {"reads": "v", "drives": "voltage", "proportional": 14.0, "integral": 5.0, "target": 0.5}


def held_by_hand(h, steps, p=NUMBERS):
    """The cart under the same PI, its force solved with the law at the step's end."""
    x, v, summed = 0.0, 0.0, 0.0
    rows = [(x, v, summed)]
    for _ in range(steps):
        # m (v' − v)/h = k (U − k v') − d v', U = 14 e' + 5 s', e' = 0.5 − v', s' = s + h e'
        gain = 14.0 + 5.0 * h
        v = (p["m"] * v / h + p["k"] * (gain * 0.5 + 5.0 * summed)) / (
            p["m"] / h + p["k"] ** 2 + p["drag"] + p["k"] * gain
        )
        x, summed = x + h * v, summed + h * (0.5 - v)
        rows.append((x, v, summed))
    return np.array(rows).T


@pytest.mark.parametrize("step", [0.5, 0.1, 0.01])
def test_a_law_is_put_into_the_balance(step):
    loop, steps = cart().closed({"hold": HOLD}), round(4.0 / step)
    run = trundle.simulate(loop, 4.0, step=step, samples=steps + 1, progress=False)
    x, v, summed = held_by_hand(step, steps)
    assert run["x"] == pytest.approx(x, abs=1e-9)
    assert run["v"] == pytest.approx(v, abs=1e-9)
    assert run["voltage"][-2] == pytest.approx(14 * (0.5 - v[-1]) + 5 * summed[-1], abs=1e-9)
    assert run["force"][:-1] == pytest.approx(5 * (run["voltage"][:-1] - 5 * v[:-1]), abs=1e-9)
    batch = trundle.rollout(loop, initial={"v": [0.0, 0.0]}, steps=steps, dt=step)
    assert batch["v"][:, 1] == pytest.approx(v, abs=1e-9)
    assert batch.output("voltage")[:, 0] == pytest.approx(run["voltage"], abs=1e-9)


def test_samples_end_steps_as_they_do_on_a_plane():
    """Beside a loop written by hand: a PI every 20 ms whose command comes 10 ms late."""
    loop = cart().closed({"hold": {**HOLD, "period": "20 ms", "delay": "10 ms"}})
    run = trundle.simulate(loop, 1.0, step=0.01, samples=101, progress=False)
    x, v, summed, acting, waiting = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(101):
        if k % 2 == 1:
            acting = waiting
        if k % 2 == 0:
            waiting = 14 * (0.5 - v) + 5 * summed
            summed = summed + 0.02 * (0.5 - v)
        assert run["x"][k] == pytest.approx(x, abs=1e-9)
        assert run["v"][k] == pytest.approx(v, abs=1e-9)
        assert run["hold.voltage"][k] == pytest.approx(acting, abs=1e-9)
        x, v = (closed_form({"x": x, "v": v}, {"voltage": acting}, NUMBERS, 0.01)[name] for name in "xv")


def test_a_map_is_closed_where_a_step_begins_and_says_so():
    run = trundle.simulate(cart(step=closed_form).closed({"hold": HOLD}), 0.1, step=0.001, progress=False)
    assert run.summary["controllers"] == "act where a step begins, as the plant gives a map and no balance"
    x = v = summed = 0.0
    for _ in range(100):
        told = 14 * (0.5 - v) + 5 * summed
        summed += 0.001 * (0.5 - v)
        x, v = (closed_form({"x": x, "v": v}, {"voltage": told}, NUMBERS, 0.001)[name] for name in "xv")
    assert run["v"][-1] == pytest.approx(v, abs=1e-9)


def test_loops_that_an_implicit_step_would_hide_are_told():
    bad = {"reads": "v", "drives": "voltage", "proportional": -10, "target": 0.5}
    with pytest.warns(UserWarning, match="the controller 'hold' is unstable: what is off grows e-fold in"):
        run = trundle.simulate(cart().closed({"hold": bad}), 1.0, step=0.01, progress=False)
    assert run.summary["unstable_loops"]


def test_numbers_of_controllers_are_parameters_and_loops_are_kept(tmp_path):
    loop = cart().closed({"hold": {**HOLD, "proportional": "2*k", "period": "20 ms"}})
    assert loop.parameters["controllers.hold.target"] == 0.5
    design = {"over": {"controllers.hold.target": "0.2:0.6:3", "k": [4.0, 5.0]}, "measures": ["final.v"]}
    sweep = trundle.sweep(loop, **design, steps=100, dt=0.01, store=str(tmp_path / "store"))
    again = trundle.sweep(loop, **design, steps=100, dt=0.01, store=str(tmp_path / "store"), resume=True)
    assert again["final.v"].tolist() == sweep["final.v"].tolist()
    one = {"controllers.hold.target": 0.6, "k": 5.0}
    run = trundle.simulate(loop, 1.0, parameters=one, step=0.01, progress=False)
    assert run["v"][-1] == pytest.approx(sweep["final.v"][-1], rel=1e-12)


def test_further_controllers_join_those_that_are_there():
    speed = {"reads": "v", "drives": "voltage", "proportional": 14.0}
    place = {"reads": "x", "drives": "speed.reference", "proportional": 2.0, "target": 1.0}
    both = cart().closed({"speed": speed, "place": place})
    assert cart().closed({"speed": speed}).closed({"place": place}) == both
    assert both.inputs == ()
    assert trundle.simulate(both, 20.0, step=0.1, progress=False)["x"][-1] == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        ({"reads": "w", "drives": "voltage"}, "reads 'w', which 'cart' hasn't"),
        ({"reads": "v", "drives": "volts"}, "drives 'volts', which is no input"),
        ({"type": "tracker"}, "can't lead 'cart': it has no base on wheels"),
        ({"reads": "v", "drives": "voltage", "target": "0.5 m"}, "m"),
    ],
)
def test_controllers_that_don_t_fit_are_refused(controller, words):
    with pytest.raises(InputError, match=words):
        cart().closed({"hold": controller})

"""Plants by steps of a user's own: by hand, by another formula, by the catalogue's pendulum, in batches and stores."""

import numpy as np
import pytest

import trundle
from trundle import InputError
from trundle.scalars import sin

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
    ],
)
def test_what_can_t_be_is_said(given, words):
    with pytest.raises(InputError, match=words):
        trundle.from_steps(states={"x": "m", "v": "m/s"}, **given)


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

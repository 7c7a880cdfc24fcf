"""What may be given as an input: functions of time and of the state, labelled data, files; and what is said of them."""

from itertools import pairwise

import numpy as np
import pandas
import pytest
import xarray

import trundle
from derived import derived
from trundle import InputError, catalog
from trundle.simulation.stretches import smooth_between

LEFT, RIGHT = "left_motor.voltage", "right_motor.voltage"
MODEL = derived("differential_drive")


@pytest.mark.parametrize("method", ["auto", "Radau", "DOP853"])
def test_a_linear_feedback_is_the_closed_loop(method):
    """V = K (r − v_x) on both motors: the closed loop of the linear robot, by its matrix exponential."""
    from scipy.linalg import expm

    gain, wanted = 8.0, 0.5
    volts = {name: lambda t, state: gain * (wanted - state["v_x"]) for name in (LEFT, RIGHT)}
    run = trundle.simulate(MODEL, 0.4, volts, method=method, samples=9)
    plain = MODEL.linearize()
    names = list(plain.states)
    A = plain.A - gain * plain.B.sum(axis=1)[:, None] * (np.array(names) == "v_x")
    b = gain * wanted * plain.B.sum(axis=1)
    whole = np.block([[A, b[:, None]], [np.zeros((1, len(b) + 1))]])
    for k, t in enumerate(run.time):
        expected = expm(whole * t)[:-1, -1][names.index("v_x")]
        assert run["v_x"][k] == pytest.approx(expected, abs=2e-6)
    np.testing.assert_allclose(run[LEFT], gain * (wanted - run["v_x"]), rtol=1e-12)


def test_outputs_that_hang_on_no_input_can_be_followed():
    seen = trundle.simulate(MODEL, 1.0, {LEFT: 6.0, RIGHT: lambda t, state: 6.0 - state["left.rate"]})
    np.testing.assert_allclose(seen[RIGHT], 6.0 - seen["left.rate"], rtol=1e-9, atol=1e-12)


def test_what_the_state_says():
    kept = []
    trundle.simulate(MODEL, 0.1, {LEFT: lambda t, state: kept.append(state) or 1.0}, samples=2)
    state = kept[-1]
    assert set(MODEL.states) <= set(state)
    with pytest.raises(TypeError):
        state["v_x"] = 1.0
    assert LEFT not in state
    assert state.get("vx", 2.0) == 2.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, state: state["vx"], "'left_motor.voltage': there is no 'vx'.*\n.*'v_x'"),
        (lambda t, state: state["left_motor.power"], "there is no 'left_motor.power'"),
        (lambda t: 1 / 0, "'left_motor.voltage' raised ZeroDivisionError at t = 0 s: division by zero"),
        (lambda t, state: {}["a"], "raised KeyError at t = 0 s"),
        (pandas.Series([1.0, 2.0], pandas.date_range("2020", periods=2)), "datetime64.*\n.*seconds"),
        (pandas.DataFrame({"a": [1.0], "b": [2.0]}), "more than one input"),
        (xarray.DataArray(np.zeros((2, 2))), "more than one input"),
        ({"file": "missing.csv"}, "there is no such file: 'missing.csv'"),
        ({"file": "volts.csv", "colum": "a"}, "unknown key 'colum'"),
    ],
)
def test_what_is_said_of_an_input(call, said):
    with pytest.raises(InputError, match=said):
        trundle.simulate(MODEL, 1.0, {LEFT: call})


def test_an_angle_follows_no_motion():
    with pytest.raises(InputError, match=r"can't follow the motion\n.*'left.rate'"):
        trundle.roll(catalog.differential_drive(), 1.0, {"left.angle": lambda t, state: t, "right.rate": 1.0})


def test_labelled_data_and_files(tmp_path, monkeypatch):
    times, volts = [0.0, 1.0, 2.0], [0.0, 12.0, 6.0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "volts.csv").write_text(
        "time,volts\n" + "".join(f"{t},{v}\n" for t, v in zip(times, volts, strict=True))
    )
    wanted = trundle.simulate(MODEL, 2.0, dict.fromkeys((LEFT, RIGHT), (times, volts)))
    deltas = pandas.to_timedelta(times, unit="s")
    for given in (
        pandas.Series(volts, times),
        pandas.Series(volts, deltas),
        xarray.DataArray(volts, {"time": times}, ["time"]),
        xarray.DataArray(volts, {"time": deltas.to_numpy()}, ["time"]),
        {"file": "volts.csv", "column": "volts"},
    ):
        run = trundle.run(
            catalog.document("differential_drive").robot, inputs={LEFT: given, RIGHT: given}, duration=2
        )
        np.testing.assert_array_equal(run["x"], wanted["x"])


@pytest.mark.parametrize("name", ["LSODA", "Radau", "BDF", "DOP853", "RK45", "RK23"])
def test_methods_by_scipys_names(name):
    run = trundle.simulate(MODEL, 0.5, {LEFT: 6.0}, method=name)
    assert run.summary["method"] == name.lower()
    assert run["theta"][-1] == pytest.approx(trundle.simulate(MODEL, 0.5, {LEFT: 6.0})["theta"][-1], abs=1e-6)


def test_wheels_turn_by_where_the_robot_is():
    """θ̇ ∝ −θ: a heading that is steered back, by the wheels' rates alone."""
    robot = catalog.differential_drive(radius=0.1, track=0.5)
    gain = 2.0
    run = trundle.roll(
        robot,
        2.0,
        {
            "left.rate": lambda t, state: gain * state["theta"] * 2.5,
            "right.rate": lambda t, state: -gain * state["theta"] * 2.5,
        },
        initial={"theta": 0.4},
    )
    np.testing.assert_allclose(run["theta"], 0.4 * np.exp(-gain * run.time), rtol=1e-8)


def test_scipys_own_integrator_follows_the_motion_too():
    from scipy.integrate import solve_ivp

    volts = {RIGHT: lambda t, state: 6.0 - 4.0 * state["v_x"]}
    run, ode = trundle.simulate(MODEL, 1.0, volts), MODEL.ode(volts)
    found = solve_ivp(ode, (0, 1), ode.x0, method="LSODA", rtol=1e-9, atol=1e-10, vectorized=True)
    assert found.y[ode.states.index("v_x"), -1] == pytest.approx(run["v_x"][-1], rel=1e-6)
    with pytest.raises(InputError, match="leave jac out"):
        ode.jacobian(0.0, ode.x0)


def test_whole_tables_of_inputs():
    frame = pandas.DataFrame({LEFT: [0.0, 6.0], RIGHT: [6.0, 0.0]}, index=[0.0, 1.0])
    with pytest.raises(InputError, match=r"got DataFrame\n.*here dict\(\.\.\.\) of it"):
        trundle.simulate(MODEL, 1.0, frame)
    run = trundle.simulate(MODEL, 1.0, dict(frame))
    again = trundle.simulate(MODEL, 1.0, run.dataset[[LEFT, RIGHT]])
    np.testing.assert_allclose(again["x"], run["x"], atol=1e-9)


def test_units_behind_the_names_of_a_table(tmp_path):
    """A log in milliseconds and millivolts is the same input as one in SI."""
    for name, head, per in (("si", "time,volts", 1.0), ("log", "Timestamp (ms),volts [mV]", 1e3)):
        rows = "".join(f"{per * k / 10:g},{per * k:g}\n" for k in range(11))
        (tmp_path / f"{name}.csv").write_text(f"{head}\n{rows}", encoding="utf-8")
    model, finals = derived("differential_drive"), []
    for name in ("si", "log"):
        table = {"file": str(tmp_path / f"{name}.csv"), "column": "volts"}
        finals.append(trundle.simulate(model, 1.0, {"left_motor.voltage": table}, samples=3).final["theta"])
    assert finals[0] == pytest.approx(finals[1], rel=1e-9)


def test_one_function_gives_all_inputs_by_name_or_in_order():
    """The same law as a function an input, as a mapping, and as an array: the same runs, bit for bit."""
    model = derived("differential_drive")
    left, right = model.inputs

    def law(side):
        return lambda t, state: 6.0 + side * (1.0 - state["omega"]) + np.sin(t)

    def by_name(t, state):
        return {left: law(-1)(t, state), right: law(1)(t, state)}

    alone = trundle.simulate(model, 1.0, {left: law(-1), right: law(1)}, samples=11)
    named = trundle.simulate(model, 1.0, by_name, samples=11)
    ordered = trundle.simulate(
        model, 1.0, lambda t, state: np.array([*by_name(t, state).values()]), samples=11
    )
    assert ordered.final == named.final == alone.final
    open_loop = trundle.run(
        trundle.catalog.document("differential_drive"), inputs=lambda t: {right: 12.0}, duration=1
    )
    assert open_loop[left].max() == 0
    assert open_loop[right].min() == 12


def test_a_function_of_all_inputs_is_asked_once_a_state():
    asked = []
    model = derived("differential_drive")

    def law(t, state):
        asked.append(state)
        return {model.inputs[0]: 1.0, model.inputs[1]: 2.0}

    ode = trundle.ode(model, law)
    ode(0.0, ode.x0)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"left_motor.volts": 1.0}, "'left_motor.voltage'"),
        ([1.0], "there are 2 inputs"),
        (3.0, "there are 2 inputs"),
    ],
)
def test_answers_of_a_function_of_all_inputs_that_do_not_fit(answer, words):
    with pytest.raises(trundle.InputError, match=words):
        trundle.simulate(trundle.catalog.differential_drive(), 1.0, lambda t: answer)


def test_a_kinematic_run_wants_its_inputs_by_name():
    with pytest.raises(trundle.InputError, match="a mapping of names"):
        trundle.roll(trundle.catalog.differential_drive(), 1.0, lambda t: {"left.rate": 1.0})


def test_cubic_tables_are_no_places_to_stop():
    """A spline has no kinks: an integrator that stopped at every node took forty times as long."""
    times = np.linspace(0, 2, 101)
    model = derived("differential_drive")
    volts = {
        name: (lambda t, a=a: 6 + a * np.sin(3 * t)) for name, a in zip(model.inputs, (1, 2), strict=True)
    }
    tables = {name: (times, [call(t) for t in times], "cubic") for name, call in volts.items()}
    assert trundle.table(*next(iter(tables.values()))).kinks == (0.0, 2.0)
    exact = trundle.simulate(model, 2.0, volts, rtol=1e-10, atol=1e-11)
    close = trundle.simulate(model, 2.0, tables, rtol=1e-10, atol=1e-11)
    for name in model.states:
        size = np.abs(exact[name]).max()  # the spline itself is off by h⁴
        np.testing.assert_allclose(close[name], exact[name], atol=1e-6 * max(size, 1.0), err_msg=name)


def test_splines_of_stretches_jump_where_they_do(rng):
    """Cubics come back exactly, one at a time and many at once; rounding between stretches is no jump."""
    edges = [0.0, 0.4, 1.0, 1.5]
    nodes = [np.linspace(a, b, 7) for a, b in pairwise(edges)]
    cubics = rng.normal(size=(4, 2))
    jumps = np.array([[0.0, 0.0], [0.0, 1.0], [1e-12, 3.0]])  # the first signal goes on, the second doesn't
    values = [np.vander(t, 4) @ cubics + jump for t, jump in zip(nodes, jumps, strict=True)]
    times = np.sort(rng.uniform(0, 1.5, 40))
    stretch = np.searchsorted(edges[1:-1], times, "right")
    expected = np.vander(times, 4) @ cubics + jumps[stretch]
    for k, signal in enumerate(smooth_between(nodes, values)):
        assert signal.jumps == ((), (0.4, 1.0))[k]
        np.testing.assert_allclose([signal.value(t) for t in times], expected[:, k], atol=1e-10)
        np.testing.assert_allclose(signal.sample(times), expected[:, k], atol=1e-10)
        assert signal.slope is not None
        slope = np.vander(times, 3) @ (cubics[:3, k] * [3, 2, 1])
        np.testing.assert_allclose([signal.slope(t) for t in times], slope, atol=1e-8)
        assert signal.value(-1.0) == signal.value(0.0)
        assert signal.sample(np.array([9.0])) == signal.value(1.5)


@pytest.mark.parametrize("interpolation", ["linear", "cubic", "previous"])
def test_tables_at_many_times_are_what_they_are_one_by_one(interpolation, rng):
    times = np.sort(rng.uniform(0, 3, 9))
    signal = trundle.table(times, rng.normal(size=9), interpolation)
    asked = np.concatenate([[-1.0, 5.0], times, np.nextafter(times, -9), rng.uniform(-0.5, 3.5, 50)])
    assert signal.sample(asked).tolist() == [signal.value(time) for time in asked.tolist()]

"""Closed loops in native code from end to end: the same runs as SciPy's, whatever their inputs are."""

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.simulation import native, problem

GAINS = {"proportional": 10, "integral": 20, "lowest": -8, "highest": 8}
SHARES = {"left_motor.voltage": 1, "right_motor.voltage": 1}
TIMES = np.linspace(0, 3, 61)


@pytest.fixture(scope="module")
def loop():
    """A drive whose speed is held, and the voltage of one motor of which is given besides."""
    return trundle.derive(
        trundle.catalog.differential_drive(),
        controllers={"speed": {"reads": "v_x", "drives": SHARES, **GAINS}},
    )


def both(loop, references, **options):
    """A run in native code, and the same by SciPy's DOP853 at tighter bounds."""
    given = {"inputs": {"speed.reference": references}, "times": TIMES, **options}
    quick = trundle.simulate(loop, **given, rtol=1e-11, atol=1e-12)
    return quick, trundle.simulate(loop, **given, method="dop853", rtol=1e-12, atol=1e-13, max_step=0.1)


@pytest.mark.parametrize(
    "references",
    [
        0.7,
        ([0.0, 0.5, 1.5, 2.0], [0.2, 0.8, -0.3, 0.4], "previous"),
        ([0.2, 0.5, 1.5, 2.0], [0.2, 0.8, -0.3, 0.4], "linear"),
        pytest.param(
            ([-0.5, 0.2, 0.5, 1.5, 2.0, 4.0], [0.1, 0.2, 0.8, -0.3, 0.4, 0.2], "cubic"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (np.linspace(0, 3, 701), np.sin(np.linspace(0, 3, 701)), "linear"), marks=pytest.mark.slow
        ),
    ],
    ids=["constant", "previous", "linear", "cubic", "long"],
)
def test_runs_are_those_of_scipy(loop, references):
    """States, outputs, energy account, peaks: through limits, and kinks and jumps of tables."""
    quick, slow = both(loop, references)
    assert quick.summary["steps"] > 10
    assert "steps" not in slow.summary
    for name in (*loop.states, *loop.inputs, *loop.outputs, "energy.work", "energy.imbalance"):
        # saturation is a kink that steps end at only as far as their errors show it
        scale = max(1.0, abs(slow[name]).max())
        np.testing.assert_allclose(quick[name] / scale, slow[name] / scale, atol=1e-8, err_msg=name)
    for name in ("v_x", "left_motor.voltage", "speed.error"):
        for one, other in ((quick, slow), (slow, quick)):
            assert one.peaks[name].highest == pytest.approx(other.peaks[name].highest, abs=2e-5)
    assert quick.summary["energy_imbalance"] < 1e-9 * quick.summary["energy_turned_over"]


def test_by_default_it_is_as_close_as_lsoda(loop):
    """Of states, by their largest values, and of the energy balance, which only the integrator's errors leave open."""
    given = {"inputs": {"speed.reference": 0.7}, "times": TIMES}
    exact = trundle.simulate(loop, **given, method="dop853", rtol=1e-13, atol=1e-14)
    quick, other = (trundle.simulate(loop, **given, method=method) for method in ("auto", "lsoda"))
    largest = {name: abs(exact[name]).max() for name in loop.states}
    off, theirs = (
        max(abs(run[name] - exact[name]).max() / size for name, size in largest.items() if size > 1e-9)
        for run in (quick, other)
    )
    assert quick.summary["steps"] > 10
    assert off < theirs
    assert quick.summary["energy_imbalance"] < other.summary["energy_imbalance"]


def test_what_is_no_polynomial_goes_to_scipy(loop):
    """Functions of time and of the motion, a method that is asked for, robots without controllers."""
    for given in (lambda t: np.sin(t), lambda t, state: 1 - state["v_x"]):
        assert "steps" not in trundle.simulate(loop, 0.1, {"speed.reference": given}).summary
    assert "steps" not in trundle.simulate(loop, 0.1, {"speed.reference": 1.0}, method="lsoda").summary
    assert "steps" not in trundle.simulate(trundle.derive(loop.robot.without_controllers), 0.1).summary


def test_stiff_loops_go_to_lsoda(loop, monkeypatch):
    """Where steps would be too many, the run is the one that it was."""
    monkeypatch.setattr(native, "_MOST", 5)
    monkeypatch.setattr(native, "_MORE", 0)
    run = trundle.simulate(loop, 2.0, {"speed.reference": 1.0})
    assert run.summary["method"] == "lsoda"
    monkeypatch.undo()
    quick = trundle.simulate(loop, 2.0, {"speed.reference": 1.0})
    assert quick.summary["method"] == "dop853"
    assert run.final["v_x"] == pytest.approx(quick.final["v_x"], abs=1e-7)


@pytest.mark.parametrize("period", [None, "20 ms"])
def test_steps_that_are_many_are_looked_at_on_the_way(loop, period, monkeypatch):
    """Peaks and what runs show between samples are the same."""
    own = {"reads": "v_x", "drives": SHARES, **GAINS} | ({"period": period} if period else {})
    model = trundle.derive(loop.robot.without_controllers, controllers={"speed": own})
    given = {"inputs": {"speed.reference": ([0.0, 1.0, 2.0], [0.5, -0.3, 0.6], "linear")}, "samples": 7}
    whole = trundle.simulate(model, 3.0, **given)
    peaks = {name: (whole.peaks[name].lowest, whole.peaks[name].highest) for name in whole.values}
    monkeypatch.setattr(native, "_MOST_KEPT", 500)
    often = trundle.simulate(model, 3.0, **given)
    for name, expected in peaks.items():
        scale = 1e-7 * max(1.0, *map(abs, expected))
        assert (often.peaks[name].lowest, often.peaks[name].highest) == pytest.approx(expected, abs=scale), (
            name
        )
    assert often.between["v_x"].shape[1] > 5


def test_no_scipy_is_asked_where_it_is_not_needed(loop, monkeypatch):
    monkeypatch.setattr(problem, "_by_scipy", None)
    assert trundle.simulate(loop, 0.5, {"speed.reference": 1.0}).final["v_x"] > 0.1


def test_the_longest_step_is_kept(loop):
    short = trundle.simulate(loop, 3.0, {"speed.reference": 0.5}, max_step="1 ms")
    assert short.summary["steps"] >= 3000


def test_a_loop_that_diverges_says_when(loop):
    """In the words of SciPy's runs."""
    bad = {"reads": "v_x", "drives": "left_motor.voltage", "proportional": -1e6, "target": 1.0}
    diverging = trundle.derive(trundle.catalog.differential_drive(), controllers={"bad": bad})
    with pytest.raises(trundle.TrundleError, match=r"t = \d"):
        trundle.simulate(diverging, 30.0)


def test_samples_keep_constraints():
    """A linkage with a loop that is closed by a projection, under a controller that samples."""
    plant = derived("four_bar")
    speed = next(state for state in plant.states if plant.quantities[state].kind == "speed")
    hold = {"reads": speed, "drives": plant.inputs[0], "proportional": 0.5, "target": 0.3, "period": "20 ms"}
    closed = trundle.derive(plant.robot, controllers={"hold": hold})
    run = trundle.simulate(closed, 0.5)
    assert run.summary["steps"] > 10
    assert run.summary["loop_residual"] < 1e-9
    assert run.summary["energy_imbalance"] < 1e-8 * max(run.summary["energy_turned_over"], 1e-3)

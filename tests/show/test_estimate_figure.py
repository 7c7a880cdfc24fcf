"""The figure of an estimate: what it draws of logs and of loops, and what it refuses."""

import numpy as np
import pytest

import trundle
from trundle.errors import InputError

SENSORS = {
    "encoders": {"noise": 0.02},
    "fixes": {"type": "pose", "position": "2 cm", "heading": "1 deg", "period": 0.2},
}
ROBOT = trundle.catalog.differential_drive().with_sensors(SENSORS)
RUN = trundle.roll(ROBOT, 3.0, {"v_x": 0.5, "omega": 0.2}, samples=301)


def drawn(axes):
    return {line.get_label(): line for line in axes.lines}


def test_it_draws_measured_estimated_and_true():
    found = trundle.estimate(ROBOT, trundle.measure(ROBOT, RUN, seed=1), gate=1.5)
    assert found.summary["fixes"]["fixes"]["gated"] > 0
    path, ahead, left, heading = trundle.estimate_figure(found, RUN).axes
    lines = drawn(path)
    np.testing.assert_array_equal(lines["estimated"].get_ydata(), found["y"])
    assert len(lines["fixes"].get_xdata()) == found.summary["fixes"]["fixes"]["used"]
    assert len(lines["fixes, left out by the gate"].get_xdata()) == found.summary["fixes"]["fixes"]["gated"]
    c, s = np.cos(found["theta"]), np.sin(found["theta"])
    off = [found[name] - np.interp(found.time, RUN.time, RUN[name]) for name in ("x", "y", "theta")]
    np.testing.assert_allclose(drawn(ahead)["error"].get_ydata(), 100 * (c * off[0] + s * off[1]), atol=1e-9)
    np.testing.assert_allclose(drawn(left)["error"].get_ydata(), 100 * (c * off[1] - s * off[0]), atol=1e-9)
    np.testing.assert_allclose(drawn(heading)["error"].get_ydata(), np.degrees(off[2]), atol=1e-9)


def test_a_loop_is_compared_at_its_samples():
    model = trundle.derive(ROBOT, controllers={"where": {"type": "estimator"}})
    quiet = {name: 0.0 for name in model.inputs if name.startswith("where.")}
    volts = {"left_motor.voltage": 2.0, "right_motor.voltage": 2.4}
    run = trundle.simulate(model, 1.0, volts | quiet, samples=1234)
    for axes in trundle.estimate_figure(run).axes[1:]:
        assert (
            np.abs(drawn(axes)["error"].get_ydata()).max() < 0.01
        )  # cm and degrees: between samples it would be 0.4


def test_what_is_refused():
    with pytest.raises(InputError, match="holds no estimate"):
        trundle.estimate_figure(RUN)
    found = trundle.estimate(ROBOT, trundle.measure(ROBOT, RUN, seed=1))
    with pytest.raises(InputError, match="the truth has no 'theta'"):
        trundle.estimate_figure(found, trundle.Run("cart", [0.0, 1.0], {"x": [0, 1], "y": [0, 1]}))

"""What batteries give and get back: by the charge that is gone, by the energy account, and by closed forms."""

import numpy as np
import pytest

import trundle
from trundle.documents import load
from trundle.errors import InputError
from trundle.results.between import further_points
from trundle.simulation.battery_use import use_of

EXAMPLE = "examples/battery/competition_swerve.yaml"


def test_a_current_that_changes_its_sign_is_cut_there():
    """i = 4 − t over 6 s behind 2 Ω and 10 V: ∫ i⁺ = 8, ∫ i⁻ = 2; ∫ (E − R i) i = 80 − 128/3 and 20 + 16/3."""
    t = np.array([0.0, 1.0, 6.0])
    use = use_of(t, 4 - t, np.full(3, 10.0), 2.0)
    assert (use.drawn, use.returned) == pytest.approx((8, 2), rel=1e-14)
    assert (use.energy_drawn, use.energy_returned) == pytest.approx((80 - 128 / 3, 20 + 16 / 3), rel=1e-14)


@pytest.mark.parametrize(("samples", "off"), [(31, 2e-3), (301, 5e-4), (3001, 1e-4)])
def test_what_is_gone_is_what_the_charge_says(samples, off):
    """Q (1 − charge) = drawn − returned, and ∫ E i dt, the work of the cells, is what came out and what R took."""
    robot = load(EXAMPLE).robot
    battery = robot.batteries["battery"]
    with pytest.warns(RuntimeWarning, match="its motors brake too hard"):
        run = trundle.run(EXAMPLE, samples=samples)
    use = trundle.battery_use(run)["battery"]
    gone = robot.number(battery.capacity) * (run["battery.charge"][0] - run["battery.charge"][-1])
    assert use.drawn - use.returned == pytest.approx(gone, rel=off)
    assert use.returned > 0
    time, current = (
        np.concatenate(rows)
        for rows in zip(
            (run.time, run["battery.current"]), further_points(run, "battery.current"), strict=True
        )
    )
    order = np.argsort(time)
    heat = np.trapezoid(robot.number(battery.internal_resistance) * current[order] ** 2, time[order])
    assert use.energy_drawn - use.energy_returned + heat == pytest.approx(run["energy.work"][-1], rel=3 * off)


def test_a_plan_gives_what_its_samples_say():
    robot = trundle.catalog.swerve(motor="kraken_x60", friction=1.1, battery=12.6)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (3, 1, 0.5)]), robot)
    found = trundle.battery_use(trundle.to_run(driven, rate=5000.0))["battery"]
    planned = driven.limit_usage.batteries["battery"]
    for what in ("drawn", "returned", "energy_drawn", "energy_returned"):
        assert getattr(planned, what) == pytest.approx(getattr(found, what), rel=2e-3)
    assert found.drawn > found.returned > 0


def test_what_is_no_run_is_said():
    with pytest.raises(InputError, match="run"):
        trundle.battery_use({"time": [0, 1]})

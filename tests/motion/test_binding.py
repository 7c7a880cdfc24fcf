"""What binds a motion when: by closed forms on straight lines, by sums of what lasts, and as the battery's own law."""

import numpy as np
import pytest

import trundle
from benchmarks.tracking import COMPETITION
from trundle import catalog

LINE = trundle.pose_path([(0, 0, 0), (3, 0, 0)])
LIMITS = {"drive_speed": 1.5, "drive_acceleration": 2.0}
SQUARE = {
    f"m{k}": {"type": "steered", "at": [x, y, 0], "radius": 0.05, "limits": LIMITS}
    for k, (x, y) in enumerate([(0.3, 0.3), (-0.3, 0.3), (-0.3, -0.3), (0.3, -0.3)])
}


def test_a_line_is_bound_by_acceleration_then_speed_then_acceleration():
    """From rest to rest over 3 m: 0.75 s of 2 m/s², 1.25 s of 1.5 m/s, 0.75 s of −2 m/s²."""
    driven = trundle.follow(
        LINE, trundle.load({"robot": {"name": "square", "base": "planar", "wheels": SQUARE}})
    )
    told = driven.summary()
    assert driven.grip is None
    assert (told["friction_use"], told["battery"], told["supply_current"]) == (None, None, None)
    seconds = {"drive_acceleration": 0.0, "drive_speed": 0.0}
    for name, lasts in told["binding"].items():
        seconds[name.partition(" of ")[0]] += lasts
    assert seconds["drive_acceleration"] == pytest.approx(1.5, abs=0.08)
    assert seconds["drive_speed"] == pytest.approx(1.25, abs=0.08)
    order = [name.partition(" of ")[0] for name, _, _ in driven.limit_usage.binding]
    kinds = [name for k, name in enumerate(order) if not k or order[k - 1] != name]
    assert kinds == ["drive_acceleration", "drive_speed", "drive_acceleration"]
    assert all(end > begin for _, begin, end in driven.limit_usage.binding)
    assert all(each["to"] > each["from"] for each in told["active"])
    assert list(trundle.drive_figures(driven))[4:] == ["binding"]


@pytest.mark.parametrize("path", [LINE, trundle.pose_path([(0, 0, 0), (2, 2, 1)])])
def test_what_binds_alike_is_named_together(path):
    """Its shares are the largest ones but for a thousandth all along; before, equal motors took turns 200 times."""
    driven = trundle.follow(path, catalog.swerve(motor="kraken_x60", friction=1.1))
    uses = driven.limit_usage
    most = np.max(list(uses.shares.values()), axis=0)
    bound = np.zeros(uses.times.size, bool)
    # of looks on both sides of a break the first is no time before the other
    lasting = np.append(np.diff(uses.times) > 1e-9, False)
    for name, begin, end in uses.binding:
        kind, _, owners = name.partition(" of ")
        inside = (uses.times >= begin) & (uses.times < np.nextafter(end, 0))
        bound |= inside
        for owner in owners.split(", "):
            assert (uses.shares[f"{kind} of {owner}"] >= most - 1.001e-3)[inside & lasting].all()
    assert (most[~bound & lasting] < 0.96).all()
    assert len(uses.binding) <= 12
    modules = {each["module"] for each in driven.summary()["active"]}
    assert modules <= {*driven.names, *driven.robot.motors}


@pytest.mark.slow
def test_a_competition_robot_is_bound_by_floor_and_battery():
    """At every instant something is used nearly to the full; V = E − R I, and V I is what all motors take."""
    robot = trundle.catalog.robot("swerve", **COMPETITION)
    driven = trundle.follow(LINE, robot)
    uses, told = driven.limit_usage, driven.summary()
    assert driven.grip == 0.95
    assert told["friction_use"] <= 0.95 * (1 + 1e-6)
    assert sum(told["binding"].values()) == pytest.approx(driven.motion.duration, rel=0.05)
    assert {name.partition(" of ")[0] for name in told["binding"]} <= {
        "grip",
        "battery",
        "voltage",
        "current",
        "supply current",
    }
    volts, current = uses.forces.supplies["battery"], uses.currents["battery"]
    assert told["battery"] == volts.min()
    assert told["supply_current"] == current.max()
    taken = sum(uses.forces.commands[f"{name}.voltage"] * uses.forces.currents[name] for name in robot.motors)
    np.testing.assert_allclose(volts * current, taken, atol=1e-6 * np.abs(taken).max())
    declared = trundle.follow(
        LINE, robot, grip=None, limits=trundle.Limits(drive_speed=1, drive_acceleration=1)
    )
    assert declared.grip is None
    assert declared.summary()["friction_use"] < told["friction_use"]


def test_every_kind_of_plan_is_kept_with_its_forces():
    """Paths, commands and plans: forces, slip, torques, currents and battery, their extremes in the summary."""
    robot = trundle.catalog.swerve(motor="kraken_x60", friction=1.1, battery=12.6, contact="slip")
    twist = {"name": "go", "commands": [{"duration": 1, "twist": {"v_x": 1}}]}
    limits = trundle.Limits(steering_rate=4, drive_acceleration=2)
    plans = [
        trundle.follow(trundle.pose_path([(0, 0, 0), (0.5, 0, 0)]), robot),
        trundle.drive({"motion": twist}, robot),
        trundle.plan(robot, (1, 0, 0), limits=limits),
    ]
    for plan in plans:
        run = trundle.to_run(plan)
        assert np.abs(run["front_left.rolling_slip"]).max() > 0
        for name in ("traction", "side_force", "load", "lateral_slip"):
            assert run[f"front_left.{name}"].shape == run.time.shape
        for name in ("front_left_drive.torque", "front_left_drive.current", "front_left_drive.voltage"):
            assert np.abs(run[name]).max() > 0
        assert 0 < run.summary["friction_use"] <= 0.95 * (1 + 1e-6)
        assert run.summary["battery"] == pytest.approx(run["battery.voltage"].min(), rel=0.05)
        assert run.summary["supply_current"] > 0


@pytest.mark.parametrize("robot", [catalog.mecanum(), catalog.tricycle()])
def test_a_floor_without_friction_limits_nothing_and_that_is_told(robot):
    """A share of 0 % of it read as a reserve."""
    path = trundle.pose_path([(0, 0), (4, 0), (6, 1)])
    limits = trundle.Limits(drive_speed=5, drive_acceleration=17)
    told = trundle.follow(path, robot, limits=limits, progress=False).summary()
    assert told["friction_use"] is None
    assert [note for note in told["notes"] if "no friction is declared" in note and ".friction" in note]

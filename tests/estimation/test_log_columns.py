"""Logs with other names, units and columns than Trundle's give the estimates that Trundle's own give."""

import numpy as np
import pytest

import trundle
from trundle import InputError

SENSORS = {
    "encoders": {"noise": 0.02},
    "gyro": {"type": "gyro", "noise": 0.002},
    "fixes": {"type": "position", "position": "2 cm"},
}
WHEELS = {side: {"at": [0, y, 0], "radius": 0.1} for side, y in (("left", 0.25), ("right", -0.25))}
ROBOT = trundle.Robot(name="base", base="planar", wheels=WHEELS, sensors=SENSORS)
RUN = trundle.roll(ROBOT, 4.0, {"v_x": 0.5, "omega": 0.9}, samples=401)
LOG = trundle.measure(ROBOT, RUN, seed=1)
WANTED = trundle.estimate(ROBOT, LOG)
COLUMNS = {
    "time": "stamp",
    "left.angle": "enc l",
    "encoders.right.distance": "way_r",
    "gyro.angle": "yaw [deg]",
    "fixes.x": "gps_e [mm]",
    "y": "gps_n",
}


def rows_of(log=LOG):
    """The log as a stranger's program writes it: whole nanoseconds of a clock, degrees, ways, a heading that wraps."""
    nanoseconds = np.rint(log.time * 1e9).astype(np.int64) + 1_700_000_000_123_456_789
    gyro = np.flatnonzero(np.isfinite(log["gyro.rate"]))
    yaw = np.full(len(log), np.nan)
    yaw[0] = np.rad2deg(3.0)  # of the first angle there is no rate yet
    yaw[gyro] = np.rad2deg(3.0 + np.cumsum(log["gyro.rate"][gyro] * np.diff(log.time[gyro], prepend=0.0)))
    cells = {
        "stamp [ns]": map(str, nanoseconds),
        "enc l [deg]": map(repr, np.rad2deg(log["encoders.left.angle"]).tolist()),
        "way_r": map(repr, (0.1 * log["encoders.right.angle"]).tolist()),
        "yaw": map(repr, ((yaw + 180) % 360 - 180).tolist()),
        "gps_e": map(repr, (1e3 * log["fixes.x"]).tolist()),
        "gps_n": map(repr, log["fixes.y"].tolist()),
        "state": ["driving"] * len(log),
    }
    return ",".join(cells), [",".join(row) for row in zip(*cells.values(), strict=True)]


def test_the_same_drive_by_other_names_gives_the_same_estimate(tmp_path):
    header, rows = rows_of()
    file = tmp_path / "theirs.csv"
    file.write_text("\n".join([header, *rows]).replace("nan", ""))
    found = trundle.estimate(ROBOT, file, columns=COLUMNS)
    for name in ("x", "y", "theta", "covariance.x.x", "gyro.nis"):
        np.testing.assert_allclose(found[name], WANTED[name], atol=1e-6, rtol=0)  # the clock's ns, over 10 ms


def test_runs_and_files_with_other_names_give_the_same_to_rounding(tmp_path):
    theirs = {
        "t": np.array(LOG.time),
        "l": LOG["encoders.left.angle"],
        "r": 0.1 * LOG["encoders.right.angle"],
        "turning": LOG["gyro.rate"],
        "e": 1e3 * LOG["fixes.x"],
        "n": LOG["fixes.y"],
        "battery": np.full(len(LOG), 12.0),
    }
    log = trundle.Run("theirs", theirs.pop("t"), theirs)
    columns = {
        "left.angle": "l",
        "right.distance": "r",
        "rate": "turning",
        "fixes.x": "e [mm]",
        "fixes.y": "n",
    }
    found = trundle.estimate(ROBOT, log, columns=columns)
    for name in ("x", "y", "theta", "covariance.theta.theta"):
        np.testing.assert_allclose(found[name], WANTED[name], atol=1e-12, rtol=0)
    file = log.save(tmp_path / "theirs.csv")
    again = trundle.estimate(ROBOT, file, columns=columns)
    np.testing.assert_allclose(again["x"], WANTED["x"], atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"left.angel": "enc l"}, "no sensor of 'base' tells 'left.angel'"),
        ({**COLUMNS, "left.angle": "enc_left"}, "the log has no column 'enc_left'"),
        ({**COLUMNS, "left.angle": 3}, "a column's name is text"),
        ({**COLUMNS, "left.angle": "enc l [m]"}, "in deg, and columns says m"),
        ({"angle": "enc l"}, "'angle' is one of"),
        ({name: COLUMNS[name] for name in ("time", "left.angle")}, "the log lacks"),
    ],
)
def test_names_that_don_t_fit_are_refused(tmp_path, columns, words):
    header, rows = rows_of()
    file = tmp_path / "theirs.csv"
    file.write_text("\n".join([header, *rows]).replace("nan", ""))
    with pytest.raises(InputError, match=words):
        trundle.estimate(ROBOT, file, columns=columns)

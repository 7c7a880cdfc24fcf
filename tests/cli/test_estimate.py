"""`trundle estimate`: what it prints and writes, and what it refuses."""

import json

import numpy as np
import pytest

import trundle
from trundle.cli.app import main
from trundle.documents import dump

ROBOT = trundle.catalog.differential_drive().with_sensors(
    {
        "encoders": {"noise": 0.02},
        "fixes": {"type": "pose", "position": "2 cm", "heading": "1 deg", "latency": 0.05},
    }
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimate")
    run = trundle.roll(ROBOT, 3.0, {"v_x": 0.5, "omega": 0.2}, initial={"y": 0.3}, samples=301)
    (folder / "robot.yaml").write_text(dump(ROBOT))
    run.save(folder / "truth.nc")
    trundle.measure(ROBOT, run, seed=1).save(folder / "log.csv")
    return folder


def test_it_writes_what_the_library_gives(files, capsys):
    words = ["estimate", str(files / "robot.yaml"), str(files / "log.csv"), "--json"]
    words += [
        "--pose",
        "y=30 cm",
        "--deviation",
        "x=10 cm",
        "y=10 cm",
        "--gate",
        "fixes=5",
        "--noise",
        "encoders=0.03",
    ]
    words += ["--output", str(files / "found.nc"), "--figure", str(files / "found.png")]
    assert main([*words, "--truth", str(files / "truth.nc")]) == 0
    answer = json.loads(capsys.readouterr().out)
    wanted = trundle.estimate(
        ROBOT,
        files / "log.csv",
        pose=[0, 0.3, 0],
        covariance=np.diag([0.1 * 0.1, 0.1 * 0.1, 0]),
        gate=5,
        noise={"encoders": 0.03},
    )
    assert answer["pose"] == {name: wanted[name][-1] for name in ("x", "y", "theta")}
    assert answer["fixes"]["fixes"]["used"] == 31
    kept = trundle.Run.load(files / "found.nc")
    np.testing.assert_array_equal(kept["covariance.x.x"], wanted["covariance.x.x"])
    assert (files / "found.png").stat().st_size > 20_000


def test_it_smooths_where_it_is_asked_to(files, capsys):
    assert main(["estimate", str(files / "robot.yaml"), str(files / "log.csv"), "--smooth", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    wanted = trundle.estimate(ROBOT, files / "log.csv", smooth=True)
    assert answer["smoothed"]
    assert answer["deviations"]["x"] == pytest.approx(np.sqrt(wanted["covariance.x.x"][-1]))


def test_people_read_poses_and_fixes(files, capsys):
    assert main(["estimate", str(files / "robot.yaml"), str(files / "log.csv")]) == 0
    said = capsys.readouterr().out
    for words in ("ends at x", "±", "fixes of", "left out by the gate"):
        assert words in said
    # the fix of the end comes after the last of the encoders, and counts
    assert "never looked at" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--gate", "much"], "expected NUMBER or NAME=NUMBER"),
        (["--gate", "lidar=3"], "--gate lidar: 'lidar' is not a sensor"),
        (["--gate", "4", "fixes=3"], "--gate: 4 is for all sensors, and there is more"),
        (["--noise", "encoders=-1"], "--noise encoders"),
        (["--pose", "z=1"], "--pose z: 'z' is not one of the pose"),
        (["--deviation", "theta=1 m"], "--deviation theta"),
        (["--output", "found.txt"], "ends in one of"),
    ],
)
def test_what_is_refused(files, capsys, words, said):
    assert main(["estimate", str(files / "robot.yaml"), str(files / "log.csv"), *words]) in (1, 2)
    assert said in capsys.readouterr().err


def test_a_log_without_a_column_says_which(files, capsys):
    (files / "short.csv").write_text("time,arrival,encoders.left.angle\n0,0,0\n1,1,1\n")
    assert main(["estimate", str(files / "robot.yaml"), str(files / "short.csv")]) == 1
    said = capsys.readouterr().err
    assert "short.csv: the log lacks 'encoders.right.angle', which the sensor 'encoders' tells" in said


def test_columns_may_have_other_names(files, capsys):
    text = (files / "log.csv").read_text()
    names = {"encoders.left.angle": "enc_l", "encoders.right.angle": "enc_r", "time": "t"}
    for ours, theirs in names.items():
        text = text.replace(ours, theirs, 1)
    (files / "theirs.csv").write_text(text)
    words = ["estimate", str(files / "robot.yaml")]
    assert main([*words, str(files / "log.csv"), "--json"]) == 0
    wanted = json.loads(capsys.readouterr().out)
    columns = ["--columns", "time=t,left.angle=enc_l", "right.angle=enc_r"]
    assert main([*words, str(files / "theirs.csv"), *columns, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pose"] == wanted["pose"]
    assert main([*words, str(files / "theirs.csv"), "--columns", "time", "--json"]) == 1
    assert "write NAME=COLUMN" in capsys.readouterr().err

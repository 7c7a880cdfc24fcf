"""`trundle check`: what a robot is, and why a locked one can't move."""

import pytest

from trundle.robot import catalog


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("differential_drive", [2, 0]), ("ackermann", [1, 1]), ("tricycle", [1, 1]), ("three_omni", [3, 0]),
     ("mecanum", [3, 0]), ("swerve", [1, 2]), ("pendulum", None)],
)  # fmt: skip
def test_mobility(trundle, folder, kind, expected):
    (folder / "robot.yaml").write_text(catalog.document(kind).source)
    answer = trundle("check", "robot.yaml", "--json")
    assert answer.status == 0, answer.err
    data = answer.data
    assert data["mobility"] == expected
    assert data["name"] == kind
    assert set(data["parameters"]) <= {*data["parameters"]}
    assert all(wheel["law"] for wheel in data["wheels"])
    assert not (folder / "runs").exists()


def test_text(trundle):
    answer = trundle("check", "circle.yaml")
    assert answer.status == 0
    for word in (
        "diff_drive",
        "coordinates",
        "4, rank 3",
        "(2, 0)",
        "operations",
        "ideal: rolls without slipping",
    ):
        assert word in answer.out


def test_quiet(trundle):
    assert trundle("check", "circle.yaml", "--quiet").out == ""


def locked(folder):
    (folder / "locked.yaml").write_text(catalog.document("swerve", contact="ideal").source)


def test_a_locked_swerve_is_explained_with_its_class(trundle, folder):
    locked(folder)
    answer = trundle("check", "locked.yaml")
    assert answer.status == 1
    assert "(1, 2)" in answer.out
    assert "must be turned together" in answer.out
    assert "front_left" in answer.err
    assert "contact: slip" in answer.err
    assert "locked.yaml:" in answer.err


def test_a_locked_swerve_as_one_object(trundle, folder):
    locked(folder)
    data = trundle("check", "locked.yaml", "--json").data
    assert data["mobility"] == [1, 2]
    assert data["error"]["exit_status"] == 1
    assert data["error"]["line"]
    assert len(data["wheels"]) == 4


def test_running_a_locked_swerve_leaves_nothing(trundle, folder):
    locked(folder)
    assert trundle("run", "locked.yaml").status == 1
    assert not (folder / "runs").exists()


def test_a_kinematic_description(trundle):
    data = trundle("check", "kinematic.yaml", "--json").data
    assert data["inputs"] == ["left.rate", "right.rate"]
    assert data["mode"] == "kinematic"
    assert data["mobility"] == [2, 0]
    assert "kinematic, 10 s" in trundle("check", "kinematic.yaml").out


def test_the_run_section_is_checked(trundle, folder):
    (folder / "wrong.yaml").write_text((folder / "circle.yaml").read_text().replace("left_motor.v", "left.v"))
    answer = trundle("check", "wrong.yaml")
    assert answer.status == 1
    assert "wrong.yaml:16" in answer.err
    assert "left.voltage" in answer.err

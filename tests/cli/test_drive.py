"""`trundle drive`, `trundle profiles` and `trundle verify`: their files, words and statuses."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

import trundle as package
from documents.test_frc_robots import MODULES, SETTINGS, project
from motion.simulator_motions import MOTIONS, plan, still
from trundle.cli.drive_command import _BASE_LIMITS
from trundle.documents.writer import dump
from trundle.motion.paths.pose_paths import LIMITS
from trundle.results import Run


def written(folder, *plans):
    files = []
    for each in plans:
        file = folder / f"{each['plan']['name']}.yaml"
        file.write_text(yaml.safe_dump(each, sort_keys=False))
        files += ["--file", str(file)]
    return files


@pytest.mark.slow
def test_drive_writes_everything(trundle, tmp_path):
    files = written(tmp_path, MOTIONS["0_deg_fwd_to_90_deg"], MOTIONS["inplace_rotation"])
    done = trundle("drive", *files, "--output", str(tmp_path / "out"))
    assert done.status == 0, done.err
    assert "slowed    command 2 1.6 times, for the steering_rate of left_front" in done.out
    folder = tmp_path / "out" / "0_deg_fwd_to_90_deg"
    assert sorted(each.name for each in folder.iterdir()) == [
        "0_deg_fwd_to_90_deg.csv",
        "0_deg_fwd_to_90_deg.nc",
        "0_deg_fwd_to_90_deg.traj",
        "binding.png",
        "friction.png",
        "modules.png",
        "motors.png",
        "path.png",
        "rotation_center.png",
        "slip.png",
        "summary.json",
        "trajectory.csv",
    ]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["final"] == pytest.approx({"x": 1.3, "y": 0.8, "theta": 0.0}, abs=1e-6)
    assert summary["exceeded"] == []
    run = Run.load(folder / "0_deg_fwd_to_90_deg.nc")
    assert run.final["x"] == pytest.approx(1.3)
    assert run.summary["duration"] == summary["duration"]


def test_drive_writes_one_table_alone(trundle, tmp_path):
    files = written(tmp_path, MOTIONS["0_deg_fwd_to_90_deg"], MOTIONS["inplace_rotation"])
    table, whole = tmp_path / "out" / "plan.csv", tmp_path / "out" / "plan.nc"
    for file in (table, whole):
        done = trundle("drive", *files[:2], "--output", str(file), "--json")
        assert done.status == 0, done.err
        assert json.loads(done.out)["output"] == str(file)
    assert sorted(each.name for each in table.parent.iterdir()) == ["plan.csv", "plan.nc"]
    assert Run.load(table).final["x"] == pytest.approx(1.3)
    assert Run.load(whole).summary["final"] == pytest.approx({"x": 1.3, "y": 0.8, "theta": 0.0}, abs=1e-6)
    again = trundle("drive", *files[:2], "--output", str(table))
    assert again.status == 1
    assert "--force" in again.err
    assert f"wrote {table}" in trundle("drive", *files[:2], "--output", str(table), "--force").out
    both = trundle("drive", *files, "--output", str(tmp_path / "both.csv"))
    assert both.status == 1
    assert "--output: 2 plans don't go into one file" in both.err
    assert not (tmp_path / "both.csv").exists()


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_tables_of_other_programs_are_refused_before_any_work(trundle, tmp_path, ending):
    """The ending is a file's and no folder's; the error says what writes it."""
    files, table = written(tmp_path, MOTIONS["inplace_rotation"]), tmp_path / f"plan.{ending}"
    done = trundle("drive", *files, "--output", str(table))
    assert done.status == 1
    assert "--output" in done.err
    assert "to_dataframe()" in done.err
    assert not table.exists()


@pytest.mark.slow
def test_drive_follows_paths_and_what_it_wrote(trundle, tmp_path):
    path = Path(__file__).parents[2] / "examples" / "swerve" / "paths" / "score.path"
    done = trundle("drive", "--file", str(path), "--output", str(tmp_path), "--no-graphs")
    assert done.status == 0, done.err
    summary = json.loads((tmp_path / "score" / "summary.json").read_text(encoding="utf-8"))
    assert summary["final"] == pytest.approx({"x": 2.07, "y": 2.83, "theta": math.radians(122)}, abs=1e-9)
    assert summary["exceeded"] == []
    again = ("--file", str(tmp_path / "score" / "score.traj"), "--output", str(tmp_path / "again"))
    assert trundle("drive", *again, "--no-graphs").status == 0
    other = json.loads((tmp_path / "again" / "score" / "summary.json").read_text(encoding="utf-8"))
    assert other["final"] == pytest.approx(summary["final"], abs=1e-9)
    assert other["duration"] == pytest.approx(summary["duration"], rel=0.05)


def test_broken_paths_leave_nothing_behind(trundle, tmp_path):
    file = tmp_path / "wrong.path"
    file.write_text('{\n "version": "2024.0"\n}')
    done = trundle("drive", "--file", str(file), "--output", str(tmp_path / "out"))
    assert done.status == 1
    assert "wrong.path:2: version: expected PathPlanner's format 2025" in done.err
    assert not (tmp_path / "out").exists()


def test_the_table_has_the_simulators_columns(trundle, tmp_path):
    files = written(tmp_path, MOTIONS["inplace_rotation_from_0_fwd"])
    done = trundle("drive", *files, "--output", str(tmp_path), "--no-graphs", "-c", "body", "-mp", "linear")
    assert done.status == 0, done.err
    folder = tmp_path / "inplace_rotation_from_0_fwd"
    with (folder / "inplace_rotation_from_0_fwd.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows[0]) == 26 + 24 * 4
    assert len(rows) == 301
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    assert numbers["Time (s)"][-1] == 3.0
    assert numbers["z-rotvel-body [bc] (rad/s)"][-1] == pytest.approx(1.0)
    assert numbers["x-acc-module-0 [mc] (m/s^2)"][50] == pytest.approx(1.0)
    angle, rate = (
        numbers[f"z-rot{what}-module-1 [bc] {unit}"] for what, unit in (("", "(rad)"), ("vel", "(rad/s)"))
    )
    np.testing.assert_allclose(np.gradient(angle[110:190], 0.01)[1:-1], rate[111:189], rtol=2e-2)


def test_a_second_run_replaces_the_first_and_nothing_else(trundle, tmp_path):
    files = [*written(tmp_path, MOTIONS["inplace_rotation"]), "--output", str(tmp_path), "--no-graphs"]
    assert trundle("drive", *files).status == 0
    assert trundle("drive", *files, "--control-level", "coordinated").status == 0
    folder = tmp_path / "inplace_rotation"
    for each in folder.iterdir():
        each.unlink()
    (folder / "summary.json").write_text("mine")
    done = trundle("drive", *files)
    assert done.status == 1
    assert "holds summary.json, but not from an earlier run" in done.err


@pytest.mark.parametrize(
    "name", ["inplace_rotation.csv", "inplace_rotation.traj", "summary.json", "path.png"]
)
@pytest.mark.slow
def test_what_lies_beside_an_earlier_drive_is_not_its_own(trundle, tmp_path, name):
    files = [*written(tmp_path, MOTIONS["inplace_rotation"]), "--output", str(tmp_path), "--no-graphs"]
    assert trundle("drive", *files).status == 0
    mine = tmp_path / "inplace_rotation" / name
    mine.write_text("time,x\n0,1\n")
    done = trundle("drive", *[each for each in files if each != "--no-graphs"])
    assert done.status == 1
    assert (
        f"holds {name}, but not from an earlier run, or changed since: writing would destroy it" in done.err
    )
    assert mine.read_text(encoding="utf-8") == "time,x\n0,1\n"
    assert trundle("drive", *files, "--force").status == 0


@pytest.mark.parametrize("name", ["profiles.csv", "profiles.json", "profiles.png"])
@pytest.mark.slow
def test_what_lies_beside_earlier_profiles_is_not_theirs(trundle, tmp_path, name):
    assert trundle("profiles", "--output", str(tmp_path)).status == 0
    assert trundle("profiles", "--output", str(tmp_path)).status == 0
    (tmp_path / name).write_text("time,x\n0,1\n")
    done = trundle("profiles", "--output", str(tmp_path))
    assert done.status == 1
    assert f"holds {name}, but not from" in done.err


def test_a_wrong_file_leaves_nothing_behind(trundle, tmp_path):
    wrong = plan("wrong", [(1.0, still(0.0))])
    wrong["plan"]["commands"][0]["modules"][0]["name"] = "left-fron"
    files = written(tmp_path, MOTIONS["inplace_rotation"], wrong)
    done = trundle("drive", *files, "--output", str(tmp_path / "out"))
    assert done.status == 1
    assert "wrong.yaml:" in done.err
    assert "no module 'left_fron'" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_profiles_writes_the_comparison(trundle, tmp_path):
    done = trundle("profiles", "--output", str(tmp_path / "p"))
    assert done.status == 0, done.err
    assert "impulse" in done.out
    data = json.loads((tmp_path / "p" / "profiles.json").read_text(encoding="utf-8"))
    assert set(data["data"]["trapezoidal.jerk"]) == {None}
    assert data["profiles"]["trapezoidal"]["impulsive"] == ["jerk"]
    assert max(data["data"]["time_optimal.velocity"]) == pytest.approx(2.0)
    assert (tmp_path / "p" / "profiles.png").is_file()


@pytest.mark.slow
def test_verify_reads_the_simulators_verifications(trundle, tmp_path):
    folder = tmp_path / "motions" / "combined"
    folder.mkdir(parents=True)
    written(folder, MOTIONS["inplace_rotation"], plan("wrong", [(1.0, 1.0, 0.0, 0.0)], twist=(1.0, 0.0, 0.0)))
    entries = [
        {"name": name, "description": "", "include": name != "absent", "simulation_file": f"{name}.yaml"}
        for name in ("inplace_rotation", "absent")
    ]
    verification = {"verification_base_directory": "motions", "verifications": {"combined": entries}}
    file = tmp_path / "verifications.yaml"
    file.write_text(yaml.safe_dump({"verification": verification}))
    done = trundle("verify", "--file", str(file), "--output", str(tmp_path / "v"))
    assert done.status == 0, done.out + done.err
    assert "10 of 10 passed" in done.out
    with (tmp_path / "v" / "verification.csv").open() as stream:
        assert {row["passed"] for row in csv.DictReader(stream)} == {"True"}
    entries[0]["simulation_file"] = "wrong.yaml"
    file.write_text(yaml.safe_dump({"verification": verification}))
    done = trundle("verify", "--file", str(file), "--output", str(tmp_path / "v"))
    assert done.status == 1
    assert "contradict one rigid motion" in " ".join(done.out.split())


def test_verify_says_where_folders_are_missing(trundle, tmp_path):
    entries = [{"name": "a", "simulation_file": "a.yaml"}]
    file = tmp_path / "verifications.yaml"
    verification = {"verification_base_directory": "nowhere", "verifications": {"combined": entries}}
    file.write_text(yaml.safe_dump({"verification": verification}))
    done = trundle("verify", "--file", str(file), "--output", str(tmp_path / "v"))
    assert done.status == 1
    assert "there is no folder 'nowhere'" in done.err
    assert not (tmp_path / "v").exists()


@pytest.mark.slow
def test_any_robot_drives_and_json_is_one_object(trundle, tmp_path):
    assert trundle("new", "mecanum", str(tmp_path / "robot.yaml")).status == 0
    file = tmp_path / "sideways.yaml"
    motion = {
        "name": "sideways",
        "commands": [{"duration": 1, "twist": {"v_x": 0.2, "v_y": 0.3, "omega": 0.1}}],
    }
    file.write_text(yaml.safe_dump({"trundle": 1, "motion": motion}))
    files = ["--file", str(file)]
    words = ["drive", *files, "--robot", str(tmp_path / "robot.yaml"), "--output", str(tmp_path / "out")]
    done = trundle(*words, "--json", "-c", "body", "-mp", "linear")
    assert done.status == 0, done.err
    (summary,) = done.data["plans"]
    assert summary["drive_jerk"] is None
    assert summary["robot"] == "mecanum"


def test_two_plans_of_one_name_are_refused(trundle, tmp_path):
    files = written(tmp_path, MOTIONS["inplace_rotation"]) * 2
    done = trundle("drive", *files, "--output", str(tmp_path / "out"))
    assert done.status == 1
    assert "two files hold a plan called 'inplace_rotation'" in done.err


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("..", "_"),
        (".", "_"),
        ("../../up", "_.._up"),
        ("trajectory", "trajectory_1"),
        ("Summary", "Summary_1"),
        ("a/b\\c", "a_b_c"),
        ("CON", "_CON"),
        ("nul.x", "_nul.x"),
        (".hidden", "hidden"),
        ("x" * 300, "x" * 50),
        ("Fahrt zur Tür", "Fahrt_zur_Tür"),
    ],
)
@pytest.mark.slow
def test_a_motions_name_stays_in_its_folder(trundle, tmp_path, name, stem):
    turn = {"name": name, "commands": [{"duration": 1, "twist": {"omega": 0.5}}]}
    (tmp_path / "turn.yaml").write_text(yaml.safe_dump({"trundle": 1, "motion": turn}))
    out = tmp_path / "deep" / "out"
    done = trundle("drive", "--file", tmp_path / "turn.yaml", "--output", out, "--no-graphs")
    assert done.status == 0, done.err
    assert [each.name for each in out.iterdir()] == [stem]
    assert [each.name for each in out.parent.iterdir()] == ["out"]
    expected = {f"{stem}.nc", f"{stem}.csv", f"{stem}.traj", "trajectory.csv", "summary.json"}
    assert {each.name for each in (out / stem).iterdir()} == expected
    assert trundle("drive", "--file", tmp_path / "turn.yaml", "--output", out, "--no-graphs").status == 0


def test_a_teams_settings_drive_its_path(trundle, tmp_path):
    """As a user would: what the robot is, its plan along a path, with pictures, and what the settings don't say."""
    robot = tmp_path / "settings.json"
    robot.write_text(json.dumps(SETTINGS | MODULES))
    checked = trundle("check", robot)
    assert checked.status == 0
    assert "4.4 m/s straight ahead" in checked.out
    path = Path(__file__).parents[2] / "examples" / "swerve" / "paths" / "score.path"
    done = trundle("drive", "--file", path, "--robot", robot, "--output", tmp_path / "out")
    assert done.status == 0
    assert done.err.count("says nothing of a battery") == 1
    summary = json.loads((tmp_path / "out" / "score" / "summary.json").read_text(encoding="utf-8"))
    assert summary["exceeded"] == []
    assert 0 < summary["friction_use"] <= 0.95
    assert (tmp_path / "out" / "score" / "path.png").is_file()


@pytest.mark.parametrize("name", ["choreo.chor", "settings.json"])
def test_a_robot_is_no_path(name, trundle, tmp_path):
    data, said = {
        "choreo.chor": (project(2), "give its .traj"),
        "settings.json": (SETTINGS | MODULES, "paths/NAME.path"),
    }[name]
    file = tmp_path / name
    file.write_text(json.dumps(data))
    done = trundle("drive", "--file", file, "--output", tmp_path / "out")
    assert done.status == 1
    assert said in done.err
    assert "trundle: 1" not in done.err


def test_a_routine_is_no_path(trundle, tmp_path):
    routine = {"version": "2025.0", "command": {"type": "sequential", "data": {"commands": []}}}
    for name in ("three_pieces.auto", "renamed.path"):
        (tmp_path / name).write_text(json.dumps(routine))
        done = trundle("drive", "--file", tmp_path / name, "--output", tmp_path / "out")
        assert done.status == 1
        assert "autonomous routine of PathPlanner's" in done.err
        assert "waypoints' is missing" not in done.err


def test_a_routine_tells_which_paths_it_names(trundle, tmp_path):
    legs = [{"type": "path", "data": {"pathName": name}} for name in ("out", "back", "out")]
    nested = {"type": "parallel", "data": {"commands": legs[1:]}}
    routine = {"command": {"type": "sequential", "data": {"commands": [legs[0], nested]}}}
    (tmp_path / "two.auto").write_text(json.dumps(routine))
    done = trundle("drive", "--file", tmp_path / "two.auto", "--output", tmp_path / "o")
    assert done.status == 1
    assert done.err.rstrip().endswith("of pathplanner/paths: out.path, back.path")
    missing = trundle("drive", "--file", tmp_path / "three.auto", "--output", tmp_path / "o")
    assert "there is no such file" in missing.err
    assert "two.auto" in missing.err


def test_a_missing_path_is_answered_with_paths(trundle, tmp_path):
    for name in ("score.path", "robot.yaml"):
        (tmp_path / name).write_text("")
    done = trundle("drive", "--file", tmp_path / "other.path", "--output", tmp_path / "o")
    assert "score.path" in done.err
    assert "robot.yaml" not in done.err


@pytest.mark.slow
def test_paths_keep_to_motors_and_floor_unless_told_otherwise(trundle, tmp_path):
    robot, path = tmp_path / "robot.yaml", tmp_path / "line.traj"
    made = ("--motor", "kraken_x60", "--gear-ratio", "6.75", "--battery", "12", "--wheelbase", "22 in")
    assert trundle("new", "swerve", str(robot), *made).status == 0
    line = package.follow(package.pose_path([(0, 0, 0), (2, 0, 0)]), progress=False)
    package.write_trajectory(line, path)
    done = trundle(
        "drive", "--file", str(path), "--robot", str(robot), "-ng", "--output", str(tmp_path / "out")
    )
    assert done.status == 0, done.err
    assert "x = 2 m" in done.out
    assert "of the friction, 95% allowed" in done.out
    assert "battery" in done.out
    assert "--robot names another" not in done.out
    declared = trundle("drive", "--file", str(path), "--robot", str(robot), "--limits", "declared", "-ng")
    assert declared.status == 1
    assert "nothing limits how fast" in declared.err
    assert "drive_speed" in declared.err


@pytest.mark.slow
def test_the_fastest_motion_between_poses_is_a_plan_like_others(trundle, tmp_path):
    poses = (
        "--fastest",
        "0,0,0",
        "3 m,0,0 deg",
        "--keep-out",
        "1.5,1.6,0.3",
        "--keep-out",
        "1,-2;2,-2;2,-1.5",
    )
    done = trundle("drive", *poses, "--json", "-ng", "--output", str(tmp_path / "out"))
    assert done.status == 0, done.err
    (summary,) = done.data["plans"]
    assert summary["final"]["x"] == pytest.approx(3)
    assert summary["starts"][0]["duration"] == pytest.approx(summary["duration"])
    assert summary["exceeded"] == []
    assert (tmp_path / "out" / "fastest" / "fastest.traj").exists()


@pytest.mark.slow
def test_zones_and_events_of_a_fastest_motion_are_kept(trundle, tmp_path):
    poses = ("--fastest", "0,0,0", "1,0,", "2,0,0", "--zone", "1,2,velocity=50 cm/s,rate=90 deg/s")
    events = ("--event", "raise arm, up,1", "--event", "shoot,1.5")
    done = trundle("drive", *poses, *events, "--json", "-ng", "--output", str(tmp_path / "out"))
    assert done.status == 0, done.err
    (summary,) = done.data["plans"]
    (zone,) = summary["zones"]
    assert zone["limits"] == pytest.approx({"velocity": 0.5, "rate": math.pi / 2})
    begin, end = zone["from"], zone["to"]
    assert end == pytest.approx(summary["duration"])
    assert {told["event"]: told["time"] for told in summary["events"]} == pytest.approx(
        {"raise arm, up": begin, "shoot": (begin + end) / 2}
    )
    assert end - begin > 1 / 0.5
    kept = Run.load(tmp_path / "out" / "fastest" / "fastest.nc")
    assert kept.summary["zones"] == summary["zones"]
    assert kept.summary["events"] == summary["events"]


def test_a_field_under_a_table_is_refused(trundle, tmp_path):
    field = ("--field", "field.png", "16 m", "8 m")
    done = trundle("drive", "--fastest", "0,0,0", "1,0,0", "--output", str(tmp_path / "plan.nc"), *field)
    assert done.status == 1
    assert "--field: a field lies under the path's figure" in done.err
    assert "holds numbers alone" in done.err
    assert not (tmp_path / "plan.nc").exists()


def test_zones_limit_what_paths_zones_do():
    assert tuple(_BASE_LIMITS) == LIMITS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to drive"),
        (("--fastest", "0,0,0"), "two poses or more"),
        (("--fastest", "0,0,0", "3"), "numbers between commas"),
        (("--fastest", "0,0,0", "3,here"), "--fastest"),
        (("--fastest", "-1, 0, 0", "1,0,,900", "2,0,0"), "via[0]: it is to be passed at 900 m/s"),
        (("--fastest", "0,0,0", "-1,0,,900", "-.5,0,0"), "via[0]: it is to be passed at 900 m/s"),
        (("--fastest", "0,0,0", "2,0,0", "--keep-out", "-0.1,0,1"), "covers the start"),
        (("--fastest", "0,0,0", "3,0,0", "--keep-out", "0.1,0,1"), "covers the start"),
        (("--file", "a.path", "--keep-out", "1,0,1"), "only --fastest"),
        (("--file", "a.path", "--zone", "0,1,rate=1"), "only --fastest has poses that it counts"),
        (("--file", "a.path", "--event", "shoot,1"), "only --fastest has poses that it counts"),
        (("--fastest", "0,0,0", "3,0,0", "--zone", "0,1"), "expected two poses and limits, got '0,1'"),
        (("--fastest", "0,0,0", "3,0,0", "--zone", "0,1,1.5"), "expected two poses and limits"),
        (("--fastest", "0,0,0", "3,0,0", "--zone", "0,1,speed=1"), "no limit 'speed'"),
        (("--fastest", "0,0,0", "3,0,0", "--zone", "0,1,rate=1 m/s"), "--zone"),
        (("--fastest", "0,0,0", "3,0,0", "--zone", "0,2,rate=1"), "no way from pose 0 to pose 2"),
        (("--fastest", "0,0,0", "3,0,0", "--event", "shoot"), "expected a name and a pose"),
        (("--fastest", "0,0,0", "3,0,0", "--event", "shoot,2"), "there is no pose 2"),
        (("--fastest", "0,0,0", "3,0,0", "--event", "shoot,here"), "--event"),
    ],
)
def test_what_is_asked_of_fastest_motions_wrongly_is_told(trundle, tmp_path, words, message):
    (tmp_path / "a.path").write_text("{}")
    words = [str(tmp_path / word) if word == "a.path" else word for word in words]
    done = trundle("drive", *words, "--output", str(tmp_path / "out"))
    assert done.status in (1, 2)
    assert message in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_commands_keep_what_motors_and_floor_give(trundle, tmp_path):
    robot, go = tmp_path / "robot.yaml", {"duration": 0.2, "twist": {"v_x": 3, "omega": 1}}
    (tmp_path / "go.yaml").write_text(
        yaml.safe_dump({"trundle": 1, "motion": {"name": "go", "commands": [go]}})
    )
    files = ["--file", str(tmp_path / "go.yaml")]
    real = {"motor": "kraken_x60", "friction": 1.1, "robot_mass": 52.0, "battery": 12.6}
    robot.write_text(dump(package.catalog.swerve(**real)))
    found = {}
    for limits in ("real", "declared"):
        words = ["--robot", str(robot), "--limits", limits, "--no-graphs", "--json"]
        done = trundle("drive", *files, *words, "--output", str(tmp_path / limits))
        assert done.status == 0, done.err
        (found[limits],) = json.loads(done.out)["plans"]
    assert found["real"]["friction_use"] == pytest.approx(0.95, rel=1e-3)
    assert found["real"]["battery"] < 12.6
    assert found["real"]["supply_current"] > 0
    assert found["real"]["stretch"]["why"][0]["limit"] == "grip"
    assert found["declared"]["duration"] == pytest.approx(0.2)
    told = trundle("drive", *files, *words[:2], "--no-graphs", "--output", str(tmp_path / "told")).out
    assert "slowed    command 1" in told
    assert "for the grip of" in told
    go["duration"] = 0.02
    (tmp_path / "go.yaml").write_text(
        yaml.safe_dump({"trundle": 1, "motion": {"name": "go", "commands": [go]}})
    )
    words = [*words[:2], "--control-level", "body", "--no-graphs", "--output", str(tmp_path / "lifted")]
    assert "carries nothing" in trundle("drive", *files, *words).out

"""`trundle check`: what a robot is, and why a locked one can't move."""

import pytest

from parameters import mostly_slow
from trundle import catalog


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


def test_a_file_with_a_terrain_is_checked_as_its_run_is(trundle, folder):
    (folder / "leg.yaml").write_text(catalog.document("hopper").source)
    answer = trundle("check", "leg.yaml")
    assert answer.status == 0, answer.err
    for word in ("terrain", "flat", "toe", "foot", "load by how deep it is"):
        assert word in answer.out
    answer = trundle("check", "leg.yaml", "--full")
    assert answer.status == 1
    assert "the file has a terrain" in answer.err


def test_wheels_on_a_floating_base_need_a_terrain(trundle, folder):
    text = (folder / "circle.yaml").read_text().replace("base: planar", "base: floating")
    (folder / "floating.yaml").write_text(text)
    for command in ("check", "run"):
        answer = trundle(command, "floating.yaml")
        assert answer.status == 1
        assert "floating.yaml:" in answer.err
        assert "give the file one, terrain: {}" in answer.err


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


def test_what_a_robot_can_do(trundle):
    """The essentials in the text, everything in the object."""
    out = " ".join(trundle("check", "circle.yaml").out.split())
    assert "it drives straight along 0°, and turns about any point of the line x = 0 m" in out
    assert "growth vector (2, 3) of 3: [v_x, omega] moves it sideways" in out
    assert "condition 1, turning" in out
    assert "twists of the base" not in out
    found = trundle("check", "circle.yaml", "--json").data["analysis"]
    assert found["base_motion"]["dimension"] == 2
    assert found["base_motion"]["basis"] == [[1, 0, 0], [0, 0, 1]]
    assert found["reach"]["growth"] == [2, 3]
    assert found["reach_of_all_coordinates"]["never_changes"] == [
        {"theta": 8, "right.angle": -1, "left.angle": 1}
    ]
    assert found["repeated_rows"] == [{"left.lateral": 1, "right.lateral": -1}]
    assert [each["what"] for each in found["singularities"]] == ["wheels", "motors"]


def test_the_offset_drives_singularity_in_full(trundle, folder):
    (folder / "robot.yaml").write_text(catalog.document("offset_drive").source)
    out = " ".join(trundle("check", "robot.yaml", "--full").out.split())
    assert "only with s = 0: platform can't be moved in one direction" in out
    assert "velocities of platform" in out


@pytest.mark.parametrize("kind", mostly_slow(catalog.names(), ["differential_drive", "swerve", "four_bar"]))
def test_the_whole_catalogue_in_full(trundle, folder, kind, monkeypatch):
    """In lines that fit the window, headings apart."""
    (folder / "robot.yaml").write_text(catalog.document(kind).source)
    monkeypatch.setenv("COLUMNS", "80")
    answer = trundle("check", "robot.yaml", "--full")
    assert answer.status == 0, answer.err
    floats = catalog.robot(kind).base == "floating"  # free in space, nothing limits what it can do
    assert ("what it can do" in answer.out) == ("singular configurations" in answer.out) == (not floats)
    assert max(map(len, answer.out.splitlines()[1:])) <= 80
    assert trundle("check", "robot.yaml", "--json").data["analysis"]["singularities"] is not None


@pytest.mark.slow
def test_a_configuration_and_a_figure(trundle, folder):
    (folder / "robot.yaml").write_text(catalog.document("tricycle").source)
    answer = trundle("check", "robot.yaml", "--at", "front.steering=45 deg", "--figure", "robot.png")
    assert answer.status == 0, answer.err
    assert "at front.steering = 45°: it turns about (0, 0.9) m" in " ".join(answer.out.split())
    assert (folder / "robot.png").read_bytes().startswith(b"\x89PNG")
    data = trundle("check", "robot.yaml", "--at", "front.steering=45 deg", "--json").data["analysis"]
    assert data["base_motion"]["centre"] == pytest.approx([0, 0.9])


def test_a_frame_of_a_linkage(trundle, folder):
    (folder / "robot.yaml").write_text(catalog.document("pendulum").source)
    data = trundle("check", "robot.yaml", "--frame", "link_2", "--point", "0,0,-0.5", "--json").data[
        "analysis"
    ]
    assert data["frame"]["point"] == [0, 0, -0.5]
    assert [each["at"] for each in data["singularities"][0]["configurations"]] == [
        {"link_2.angle": 0},
        {"link_2.angle": pytest.approx(3.141592653589793)},
    ]
    assert trundle("check", "robot.yaml", "--frame", "link_2", "--figure", "arm.svg").status == 0


@pytest.mark.slow
def test_a_linkages_dead_points(trundle, folder):
    """Said in words, at the configuration asked for and in general; without any, that there are none."""
    text = catalog.document("slider_crank").source
    (folder / "pump.yaml").write_text(text)
    (folder / "engine.yaml").write_text(text.replace("drives: crank", "drives: piston"))
    out = " ".join(trundle("check", "pump.yaml").out.split())
    assert "what it can do singular nowhere" in out
    out = " ".join(
        trundle("check", "pump.yaml", "--frame", "piston", "--at", "crank.angle=90 deg").out.split()
    )
    assert "at crank.angle = 90°, piston.position = 0.1414 m" in out
    assert "piston up to v_x 0.0025 m/s, no motor above 1 rad/s before the gear" in out
    assert "crank.angle = 0°, piston.position = 0.2 m, rod.angle = 0°" in out
    assert "piston stands still" in out
    out = " ".join(trundle("check", "engine.yaml", "--at", "crank.angle=0").out.split())
    assert "now a dead point: it can move while its motors stand still" in out
    answer = trundle("check", "engine.yaml", "--full", "--json")
    assert [each["what"] for each in answer.data["analysis"]["singularities"]] == ["loops", "motors"]
    refused = trundle("check", "engine.yaml", "--at", "piston.position=0.5")
    assert refused.status == 1
    assert "--at" in refused.err
    assert "stay open" in refused.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--at", "front.stering=1"), "--at front.stering"),
        (("--at", "front.steering=3 kg"), "--at front.steering"),
        (("--at", "front.steering=abc"), "--at front.steering: expected a number, got 'abc'"),
        (("--at", "front.steering=1", "--at", "front.steering=2"), "'front.steering' is given twice"),
        (("--frame", "nose"), "--frame"),
        (("--frame", "front", "--point", "a,2,3"), "--point: expected a number"),
        (("--length", "1e-300"), "--length: expected a length between"),
        (("--point", "1,2,3"), "--point"),
        (("--frame", "front", "--point", "1,2"), "--point"),
        (("--length", "0"), "--length"),
        (("--figure", "robot.gif"), "robot.gif"),
    ],
)
def test_wrong_questions(trundle, folder, options, message):
    (folder / "robot.yaml").write_text(catalog.document("tricycle").source)
    answer = trundle("check", "robot.yaml", *options)
    assert answer.status == 1, answer.out
    assert message in answer.err


def test_a_locked_robot_is_told_what_it_could_do(trundle, folder):
    locked(folder)
    out = trundle("check", "locked.yaml").out
    assert "growth vector (3, 5) of 5" in " ".join(out.split())
    assert "that wheel may have any angle" in " ".join(out.split())


def test_a_key_that_motors_do_not_have_is_named(trundle, folder):
    text = catalog.document("tricycle").source.replace("type: servo", "kind: servo")
    (folder / "old.yaml").write_text(text)
    answer = trundle("check", "old.yaml")
    assert answer.status == 1
    assert "unknown key 'kind'" in answer.err
    assert "type: names a motor's class" in answer.err


@pytest.mark.parametrize("kind", ["ackermann", "tricycle", "swerve", "four_bar"])
def test_no_line_of_a_heading_ends_inside_brackets(trundle, folder, monkeypatch, kind):
    monkeypatch.setenv("COLUMNS", "80")
    trundle("new", kind, "robot.yaml")
    lines = trundle("check", "robot.yaml").out.splitlines()
    heading = lines[: next(place for place, line in enumerate(lines) if line.startswith("  bodies"))]
    assert all(len(line) <= 80 and line.count("(") == line.count(")") for line in heading)


def test_top_speeds_of_motors_without_a_limit_are_those_at_the_runs_largest_voltage(trundle, folder):
    assert trundle("new", "differential_drive", "robot.yaml").status == 0
    said = trundle("check", "robot.yaml").out
    said = " ".join(said.split())
    limit = "limited by the largest voltage of right_motor, left_motor (24 V)"
    assert f"top speed 3.6 m/s straight ahead on level ground, {limit}" in said
    assert "no motor above 24 rad/s, its rate at top speed" in said


def test_top_speeds_on_a_battery_are_those_of_a_full_one(trundle, folder):
    trundle("new", "differential_drive", "robot.yaml")
    battery = (
        "  batteries: {b: {open_circuit_voltage: 12.0, internal_resistance: 0.01, capacity: 9 Ah}}\n  motors:"
    )
    path = folder / "robot.yaml"
    path.write_text(path.read_text().replace("  motors:", battery, 1))
    said = " ".join(trundle("check", "robot.yaml").out.split())
    assert "top speed 1.8 m/s straight ahead" in said
    assert "limited by the battery of right_motor, left_motor (12 V)" in said

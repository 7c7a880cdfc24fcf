"""`trundle export`: a folder, what is said of it, and what is refused."""

import pytest

import trundle as library
from trundle.exports.targets import TARGETS


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(library.documents.dump(library.catalog.differential_drive()))
    return path


def test_it_writes_what_the_library_writes(trundle, robot, tmp_path):
    answer = trundle(
        "export", robot, "--to", "numpy", "--what", "dynamics,odometry", "--output", tmp_path / "out"
    )
    assert answer.status == 0
    assert "differential_drive.py" in answer.out
    package = library.export(robot, "numpy", ["dynamics", "odometry"])
    for name in package.files:
        assert (tmp_path / "out" / name).read_bytes() == package.content(name)


def test_the_object_has_names_and_sizes(trundle, robot, tmp_path):
    found = trundle("export", robot, "--to", "jax", "--output", tmp_path / "out", "--json").data
    assert found["model"] == "differential_drive"
    assert found["entries"][0]["name"] == "dynamics"
    for name, size in found["files"].items():
        assert (tmp_path / "out" / name).stat().st_size == size


def test_a_robot_without_masses_has_kinematics_alone(trundle, tmp_path):
    words = "export", "kinematic.yaml", "--to", "numpy", "--output", tmp_path / "out"
    found = trundle(*words, "--json").data
    kinematics = ["wheel_states", "next_wheel_states", "base_twist", "wheel_measures"]
    names = [entry["name"] for entry in found["entries"]]
    assert names[: names.index("prepare")] == [
        *kinematics,
        "allowed_twist",
        "joint_commands",
        "odometry_step",
    ]
    answer = trundle(*words, "--what", "dynamics")
    assert answer.status == 1
    assert "mass" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "numpy", "--what", "dynamic"], "did you mean 'dynamics'"),
        (["--to", "numpy", "--name", "lambda"], "--name"),
        (["--to", "fortan"], "did you mean 'fortran'?"),
        (["--to", "C++"], "did you mean 'cpp'?"),
        (["--to", "matlab"], "did you mean 'octave'?"),
        (["--to", "python"], "did you mean 'jax' or 'numpy'?"),
        (["--to", "klingon"], "known: "),
        (["--to", "numpy", "--precision", "single"], "there is double"),
    ],
)
def test_what_does_not_fit_writes_nothing(trundle, robot, tmp_path, words, said):
    answer = trundle("export", robot, *words, "--output", tmp_path / "out")
    assert answer.status == 1
    assert said in answer.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_somebody_elses_is_refused(trundle, robot, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years")
    answer = trundle("export", robot, "--to", "numpy", "--output", tmp_path / "out")
    assert answer.status == 1
    assert "thesis.tex" in answer.err
    assert trundle("export", robot, "--to", "numpy", "--output", tmp_path / "out", "--force").status == 0


def test_help_lists_the_targets(trundle):
    text = trundle("export", "--help").out
    assert all(f"  {name} " in text for name in TARGETS)


def test_it_says_that_the_start_of_a_run_stays_behind(trundle, robot, tmp_path):
    words = "export", robot, "--to", "numpy", "--what", "dynamics", "--output"
    assert "run." not in trundle(*words, tmp_path / "plain").out
    with robot.open("a", encoding="utf-8") as file:
        file.write("run:\n  initial: {v_x: 1.0}\n  inputs: {left_motor.voltage: 1.0}\n")
    assert "without run.initial: models start" in trundle(*words, tmp_path / "out").out

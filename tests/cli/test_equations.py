"""`trundle equations`: formats, what is asked for, files, errors."""

import json
import os
import subprocess
import sys

import pytest

from trundle import catalog


@pytest.fixture
def offset(folder):
    (folder / "offset.yaml").write_text(catalog.document("offset_drive").source)
    return "offset.yaml"


def test_text(trundle):
    answer = trundle("equations", "circle.yaml")
    assert answer.status == 0, answer.err
    for word in ("Constraints of rolling", "Forward kinematics", "Motors", "Accelerations", "Intermediate quantities",
                 "moment of inertia of a wheel about its axle", "agrees with the compiled program"):  # fmt: skip
        assert word in answer.out
    assert not answer.err


@pytest.mark.parametrize(
    ("what", "there", "missing"),
    [
        ("kinematics", "Forward kinematics", "Motors"),
        ("constraints", "Constraints of rolling", "Forward kinematics"),
        ("dynamics", "Equations of motion", "Constraints of rolling"),
        ("state", "Every line uses states, inputs, parameters and lines above it.", "Equations of motion"),
    ],
)
def test_what(trundle, what, there, missing):
    out = trundle("equations", "circle.yaml", "--what", what).out
    assert there in out
    assert missing not in out


def test_json_in_both_ways(trundle):
    one = trundle("equations", "circle.yaml", "--json").data
    other = trundle("equations", "circle.yaml", "--format", "json").data
    assert one == other
    assert one["operations"] > 0
    accelerations = [
        e for s in one["sections"] for e in s["equations"] if e["name"].startswith("acceleration.")
    ]
    assert [e["name"] for e in accelerations] == ["acceleration.v_x", "acceleration.omega"]
    assert all(isinstance(e["right"], str) and e["operations"] > 0 for e in accelerations)


@pytest.mark.slow
def test_a_web_page(trundle, folder):
    answer = trundle("equations", "circle.yaml", "--format", "page", "--output", "page.html")
    assert answer.status == 0, answer.err
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<math" in text
    assert trundle("equations", "circle.yaml", "--format", "page", "--output", "page.html").status == 0
    assert trundle("equations", "circle.yaml", "--format", "mathml").out.startswith('<div class="equations">')


def test_latex_and_markdown(trundle, offset):
    latex = trundle("equations", offset, "--what", "kinematics", "--format", "latex").out
    assert r"\begin{align}" in latex
    assert r"\dot{\phi}_{\mathrm{right}}" in latex
    markdown = trundle("equations", offset, "--what", "kinematics", "--format", "markdown").out
    assert markdown.startswith("# offset_drive")
    assert "$$" in markdown


def test_output(trundle, folder):
    answer = trundle("equations", "circle.yaml", "--format", "json", "--output", "made/circle.json")
    assert answer.status == 0, answer.err
    assert "operations" in json.loads((folder / "made" / "circle.json").read_text(encoding="utf-8"))
    told = trundle("equations", "circle.yaml", "--format", "latex", "--output", "circle.tex", "--json").data
    assert told["file"] == "circle.tex"
    assert (
        (folder / "circle.tex")
        .read_text(encoding="utf-8")
        .startswith(r"% \usepackage{amsmath, array, longtable}")
    )
    trundle("equations", "circle.yaml", "--format", "tex", "--output", "whole.tex")
    assert (folder / "whole.tex").read_text(encoding="utf-8").startswith(r"\documentclass")


def test_output_into_nowhere(trundle, folder):
    answer = trundle("equations", "circle.yaml", "--output", ".")
    assert answer.status == 1
    assert "folder" in answer.err


@pytest.mark.slow
def test_a_terminal_without_unicode(folder):
    """A whole process: its standard output takes ASCII only."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [
        sys.executable,
        "-c",
        "import sys; from trundle.cli import main; sys.exit(main())",
        "equations",
    ]

    def run(*options):
        return subprocess.run(
            [*command, "kinematic.yaml", *options],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )

    text = run()
    assert text.returncode == 1
    assert "encoding, ascii" in text.stderr
    assert "Traceback" not in text.stderr
    assert run("--format", "latex").returncode == 0


def test_kinematic_files_are_shown_kinematically(trundle):
    out = trundle("equations", "kinematic.yaml").out
    assert "Forward kinematics" in out
    assert "Equations of motion" not in out


def test_a_locked_robot(trundle, folder):
    (folder / "locked.yaml").write_text(catalog.document("swerve", contact="ideal").source)
    assert "lock" in trundle("equations", "locked.yaml", "--what", "constraints").out
    answer = trundle("equations", "locked.yaml", "--what", "dynamics")
    assert answer.status == 1
    assert "locked.yaml" in answer.err


def test_wrong_choices_are_usage_errors(trundle):
    assert trundle("equations", "circle.yaml", "--format", "pdf").status == 2
    assert trundle("equations", "circle.yaml", "--what", "nothing").status == 2
    assert trundle("equations").status == 2

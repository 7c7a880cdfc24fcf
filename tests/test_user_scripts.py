"""The programs that three users would copy run as they are, and say what they should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def said(name, folder):
    """What a script prints, run in a folder of its own; warnings are errors."""
    command = [sys.executable, "-W", "error::UserWarning", str(ROOT / "examples" / "python" / f"{name}.py")]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_a_thesis(tmp_path):
    pytest.importorskip("control")
    text = said("thesis", tmp_path)
    ends, steady = (
        [float(part.split(" ")[0]) for part in text.split(word)[1:]] for word in ("ends at ", "steady is ")
    )
    assert ends == pytest.approx(steady, rel=1e-4)
    assert float(text.split("by hand, at d = 0: ")[1].split(" ")[0]) == pytest.approx(steady[1], abs=1e-5)
    alone, held = (float(text.split(f"{run}: ")[1].split(" ")[0]) for run in ("voltages alone", "held"))
    assert held < 0.02
    assert alone > 1
    made = {each.name for each in (tmp_path / "runs" / "thesis").iterdir()}
    assert {"equations.tex", "turn.pdf", "path.png", "states.png", "load 0 cm.nc"} <= made


@pytest.mark.slow
def test_a_builder_of_swerve_robots(tmp_path):
    text = said("swerve_builder", tmp_path)
    ways = [
        float(line.split(": ")[1].split(" ")[0]) for line in text.splitlines() if line.startswith("friction")
    ]
    assert ways == sorted(ways)
    assert "battery down to" in text


@pytest.mark.slow
def test_a_swerve_from_nothing_to_its_trajectory(tmp_path):
    text = said("swerve_to_robot", tmp_path)
    assert "held: True" in text
    assert float(text.split("slip at most ")[1].split(" ")[0]) < 1e-9
    assert "ends at [1.5, -1.0, 3.1]" in text
    made = {each.name for each in (tmp_path / "runs" / "swerve_to_robot").iterdir()}
    assert {"robot.yaml", "robot.svg", "loop.traj", "loop.csv", "path.png", "states.png"} <= made


@pytest.mark.slow
def test_a_researcher(tmp_path):
    text = said("researcher", tmp_path)
    shown = text.split("torques that hold it: ")[1].split("\n")[0].split(" gravity: ")
    held, gravity = ([float(each) for each in row.strip("[]").split()] for row in shown)
    assert held == gravity  # as printed; -0. and 0. are one number
    left = text.split("three leans: ")[1].split("\n")[0].strip("[]").replace("'", "").split(", ")
    assert all(float(each) < 0.01 for each in left)


@pytest.mark.slow
def test_a_live_view_of_two_wheels(tmp_path, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    text = said("../live_view/live_view", tmp_path)
    assert "a circle of radius 170 m" in text
    assert float(text.split("off it by ")[1].split(" ")[0]) < 1e-6


@pytest.mark.slow
def test_a_limb_in_symbols_and_in_numbers(tmp_path):
    text = said("../limb/limb", tmp_path)
    assert "P_0.moment_z = -264*sin(2*t)/125 - 36*sin(4*t)/25 - 288*sin(6*t)/125" in text
    assert float(text.split("left over: ")[1].split(" ")[0]) < 1e-12
    made = {each.name for each in (tmp_path / "runs" / "limb").iterdir()}
    assert made == {
        f"{name}.png" for name in ("angles", "moments", "forces", "powers", "paths", "breakdown")
    } | {"limb.gif"}

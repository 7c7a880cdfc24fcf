"""Every example, and every command that the README and the catalogue's page show, run as they are (`make examples`).

The programs that users would copy say what they should, too.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from trundle.cli import main

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py"))
DESCRIPTIONS = sorted(path.relative_to(ROOT).as_posix() for path in EXAMPLES.rglob("*.yaml"))
# Of the other pages with commands `make plain` runs docs/commands.md.
PAGES = ("README.md", "docs/catalogue.md")
# Scripts that need what users bring themselves.
NEEDS = {"python/thesis.py": "control", "gait/gait.py": "ezc3d", "gait/walk.py": "ezc3d"}

pytestmark = [pytest.mark.slow, pytest.mark.example]


def thesis(text, made):
    ends, steady = (
        [float(part.split(" ")[0]) for part in text.split(word)[1:]] for word in ("ends at ", "steady is ")
    )
    assert ends == pytest.approx(steady, rel=1e-4)
    assert float(text.split("by hand, at d = 0: ")[1].split(" ")[0]) == pytest.approx(steady[1], abs=1e-5)
    alone, held = (float(text.split(f"{run}: ")[1].split(" ")[0]) for run in ("voltages alone", "held"))
    assert held < 0.02
    assert alone > 1
    assert {"equations.tex", "turn.pdf", "path.png", "states.png", "load 0 cm.nc"} <= made


def swerve_builder(text, _):
    ways = [
        float(line.split(": ")[1].split(" ")[0]) for line in text.splitlines() if line.startswith("friction")
    ]
    assert ways == sorted(ways)
    assert "battery down to" in text


def swerve_to_robot(text, made):
    assert "held: True" in text
    assert float(text.split("slip at most ")[1].split(" ")[0]) < 1e-9
    assert "ends at [1.5, -1.0, 3.1]" in text
    assert {"robot.yaml", "robot.svg", "loop.traj", "loop.csv", "path.png", "states.png"} <= made


def researcher(text, _):
    shown = text.split("torques that hold it: ")[1].split("\n")[0].split(" gravity: ")
    held, gravity = ([float(each) for each in row.strip("[]").split()] for row in shown)
    assert held == gravity  # as printed; -0. and 0. are one number
    left = text.split("three leans: ")[1].split("\n")[0].strip("[]").replace("'", "").split(", ")
    assert all(float(each) < 0.01 for each in left)


def live_view(text, _):
    assert "a circle of radius 170 m" in text
    assert float(text.split("off it by ")[1].split(" ")[0]) < 1e-6


def limb(text, made):
    assert "P_0.moment_z = -264*sin(2*t)/125 - 36*sin(4*t)/25 - 288*sin(6*t)/125" in text
    assert float(text.split("left over: ")[1].split(" ")[0]) < 1e-12
    assert made == {
        f"{name}.png" for name in ("angles", "moments", "forces", "powers", "paths", "breakdown")
    } | {"limb.gif"}


# What scripts say and leave in runs/NAME.
CHECKS = {
    check.__name__: check for check in (thesis, swerve_builder, swerve_to_robot, researcher, live_view, limb)
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs(script, tmp_path):
    """In a folder of its own; warnings for users are errors where a check says what the script shall say."""
    if script in NEEDS and find_spec(NEEDS[script]) is None:
        pytest.skip(f"{NEEDS[script]} is not installed")
    name = Path(script).stem
    strict = ["-W", "error::UserWarning"] if name in CHECKS else []
    environment = {
        **os.environ,
        "MPLBACKEND": "Agg",
        "SDL_VIDEODRIVER": "dummy",
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, *strict, str(EXAMPLES / script)]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    if name in CHECKS:
        folder = tmp_path / "runs" / name
        CHECKS[name](ran.stdout, {each.name for each in folder.iterdir()} if folder.is_dir() else set())


@pytest.mark.parametrize("file", DESCRIPTIONS)
def test_a_description_runs(file, tmp_path, monkeypatch):
    """Motions by `trundle drive`, all others by `trundle run`, figures and all."""
    monkeypatch.chdir(ROOT)
    command = ["drive", "--file"] if "/motions/" in file else ["run"]
    assert main([*command, file, "--quiet", "--output", str(tmp_path / "out")]) == 0
    assert any((tmp_path / "out").rglob("*.nc"))


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page, tmp_path):
    """The lines of its ```sh blocks that start with `trundle`, one after the other."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    commands = [line for line in lines if line.startswith("trundle ")]
    assert commands
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in commands:
        shell = ["bash", "-euo", "pipefail", "-c", command]
        ran = subprocess.run(
            shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stderr}"

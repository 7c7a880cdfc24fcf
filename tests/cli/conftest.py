"""Running `trundle` inside the test's process, in a folder of its own."""

import io
import json
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trundle.cli import main

CIRCLE = """\
trundle: 1
robot:
  name: diff_drive
  base: planar
  body: {mass: 50.0, center_of_mass: [d, 0, 0], inertia: {zz: 5.0}}
  wheels:
    right: {at: [0, -0.6, 0], radius: r, width: 0.15, mass: 2.0}
    left: {at: [0, 0.6, 0], radius: r, width: 0.15, mass: 2.0}
  motors:
    right_motor: {drives: right, torque_constant: 1.0, resistance: 0.05, inductance: 1.0e-4}
    left_motor: {drives: left, torque_constant: 1.0, resistance: 0.05, inductance: 1.0e-4}
  parameters: {d: 0.0, r: 0.15}
run:
  duration: 2.0
  samples: 21
  inputs: {right_motor.voltage: 24.0, left_motor.voltage: 20.0}
"""

KINEMATIC = """\
trundle: 1
robot:
  name: two_wheels
  wheels:
    left: {at: [0, s/2, 0], radius: r}
    right: {at: [0, -s/2, 0], radius: r}
  parameters: {r: 15.0, s: 60.0}
run:
  mode: kinematic
  duration: 10.0
  samples: 11
  inputs: {left.rate: 2.0, right.rate: 1.4}
"""


@dataclass(frozen=True)
class Answer:
    """What one command line gave."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON object; fails on NaN and Infinity, which are not JSON."""

        def refuse(token):
            raise AssertionError(f"{token} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder with circle.yaml and kinematic.yaml in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circle.yaml").write_text(CIRCLE)
    (tmp_path / "kinematic.yaml").write_text(KINEMATIC)
    return tmp_path


@pytest.fixture
def trundle(folder, capsys, monkeypatch):
    """`trundle("run", "circle.yaml", stdin="...")` -> Answer."""

    def call(*words: str, stdin: str | bytes = "") -> Answer:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """`made("--no-figures")`: the folder of a run of circle.yaml with these options, which is made once."""

    @cache
    def run(*words: str) -> Path:
        folder = tmp_path_factory.mktemp("made")
        (folder / "circle.yaml").write_text(CIRCLE)
        command = ["run", str(folder / "circle.yaml"), "--output", str(folder / "run"), "--quiet", *words]
        assert main(command) == 0
        return folder / "run"

    return run


@pytest.fixture
def earlier(made, folder):
    """The folder of an earlier run of circle.yaml, figures and all, as it was left."""
    return shutil.copytree(made(), folder / "runs" / "circle")

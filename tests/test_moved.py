"""Names of modules that have moved lead to the modules where they are now, and say so."""

import importlib
import subprocess
import sys

import pytest

from trundle.moved import MOVED, new_name


@pytest.mark.parametrize("old", sorted(MOVED))
def test_old_names_are_the_new_modules_and_warn(old):
    sys.modules.pop(f"trundle.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"trundle.{old} is now trundle.{MOVED[old]}"):
        module = importlib.import_module(f"trundle.{old}")
    assert module is importlib.import_module(f"trundle.{MOVED[old]}")
    assert module.__spec__.name == f"trundle.{MOVED[old]}"


def test_what_stands_below_a_room_moves_with_it():
    assert new_name("planning.planner") == "motion.planning.planner"
    assert new_name("robot.wheels") is None
    sys.modules.pop("trundle.capture.recording", None)
    with pytest.warns(DeprecationWarning, match="limbs.capture.recording"):
        old = importlib.import_module("trundle.capture.recording")
    assert old.Recording.__module__ == "trundle.limbs.capture.recording"


@pytest.mark.slow
def test_public_doors_say_nothing():
    """`trundle.window.play`, `trundle.page.page_of` and `trundle.motion.time_optimal` keep their names."""
    script = "import trundle; trundle.window.play, trundle.page.page_of; import trundle.motion.time_optimal"
    answer = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr

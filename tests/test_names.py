"""The package's names: said once for type checkers, and loaded when somebody asks for them."""

import pydoc
import re
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path

import pytest

import trundle
from derived import derived
from trundle.errors import did_you_mean
from trundle.shown import Displayable


@pytest.mark.parametrize("name", trundle.__all__)
def test_every_name_leads_to_what_it_says(name):
    thing = getattr(trundle, name)
    renamed = {"load": "load_robot", "odometry": "derive_odometry"}
    if hasattr(thing, "__name__"):
        assert thing.__name__.rpartition(".")[2] == renamed.get(name, name)
    assert name in dir(trundle)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        trundle.lode  # noqa: B018


def test_names_are_known_before_anything_heavy_is_loaded():
    call = "import sys, trundle; 'simulate' in dir(trundle); print({'numpy', 'casadi', 'sympy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", call], capture_output=True, text=True).stdout == "set()\n"


def test_names_are_read_out_of_a_zip_file(tmp_path):
    folder = Path(trundle.__file__).parent
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in folder.glob("*.py"):
            archive.write(path, f"trundle/{path.name}")
    call = "import trundle; print('package.zip' in trundle.__file__, 'simulate' in dir(trundle))"
    told = subprocess.run(
        [sys.executable, "-c", call],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path / "package.zip")},
    )
    assert told.stdout == "True True\n", told.stderr


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: trundle.simulte, "simulate"),
        (lambda: trundle.catalog.diff_drive, "differential_drive"),
        (lambda: derived("pendulum").linearise, "linearize"),
        (lambda: trundle.catalog.pendulum().with_parameter, "with_parameters"),
        (lambda: trundle.Run("cart", [0.0], {"x": [0.0]}).to_datframe, "to_dataframe"),
        (lambda: trundle.documents.dump_yrdf, "dump_urdf"),
    ],
)
def test_an_unknown_name_leads_to_the_nearest(ask, meant):
    with pytest.raises(AttributeError) as raised:
        ask()
    assert str(raised.value).count(f"did you mean '{meant}'?") == 1
    told = "".join(traceback.format_exception_only(raised.value))
    assert told.lower().count("did you mean") == 1  # Python's own guess isn't added


def test_what_fails_inside_a_property_is_told_as_it_is():
    class Own(Displayable):
        @property
        def broken(self):
            raise AttributeError("inside")

    with pytest.raises(AttributeError, match="^inside$"):
        Own().broken  # noqa: B018
    assert not hasattr(Own(), "_ipython_display_")


def test_help_begins_with_a_guide():
    told = pydoc.plaintext.document(trundle)
    guide = told[: told.index("PACKAGE CONTENTS")]
    named = set(re.findall(r"[a-z_]+", guide))
    verbs = {
        "load",
        "derive",
        "simulate",
        "roll",
        "run",
        "analyze",
        "linearize",
        "kinematics",
        "inverse",
        "export",
    }
    assert verbs <= named
    listed = guide.partition("what a robot is")[2].partition("`help")[0]
    for line in listed.splitlines()[1:]:
        for name in re.findall(r"[A-Za-z_]+", re.split(r"\S  +", line)[-1]):
            assert name in (*trundle.__all__, "run", "plot"), name


HIPS = [f"hip_{what}_{side}" for what in ("flexion", "adduction", "rotation") for side in "lr"]


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        (
            "right_motor.volts",
            ["left_motor.voltage", "right_motor.voltage"],
            "did you mean 'right_motor.voltage'?",
        ),
        (
            "left_motor.volts",
            ["left_motor.voltage", "right_motor.voltage"],
            "did you mean 'left_motor.voltage'?",
        ),
        ("hip.angle", [*HIPS, "mtp_angle_r", "mtp_angle_l", "knee_angle_r"], "did you mean one of 'hip_add"),
        ("elbow.angle", [*HIPS, "mtp_angle_r"], ""),
        ("knee.angle", ["knee_angle", "hip_angle"], "did you mean 'knee_angle'?"),
        ("wheels.left.radus", ["left.radius", "right.radius"], "did you mean 'left.radius'?"),
    ],
)
def test_hints_lead_to_the_right_name(name, known, hint):
    told = did_you_mean(name, known)
    assert told.startswith(hint)
    assert bool(told) == bool(hint)

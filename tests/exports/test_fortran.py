"""Fortran packages: built by their makefiles without a warning, and run as the kernels do."""

import shutil

import pytest

from exports.running import (
    VOLTAGES,
    exported,
    hostile_model,
    model_of,
    output_of,
    require_hostile_run,
    require_refusals,
    require_same_run,
)
from languages.fortran import STRICT
from parameters import SHORT
from trundle import catalog, derive
from trundle.errors import InputError

pytestmark = pytest.mark.skipif(
    shutil.which("gfortran") is None or shutil.which("make") is None, reason="no gfortran or no make"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = exported("differential_drive", "fortran", tmp_path_factory.mktemp("fortran") / "robot")
    output_of(["make", f"FFLAGS={' '.join(STRICT)} -O2"], folder)
    return folder


def test_the_example_refuses_what_is_no_time_and_no_number(built):
    require_refusals("./main", folder=built)


@pytest.mark.parametrize(("seconds", "tolerance"), [(0.001, 1e-12), (30.0, 1e-9)])
def test_the_example_runs_as_the_kernels(built, seconds, tolerance):
    printed = output_of(["./main", str(seconds), "0.001", *map(str, VOLTAGES)], built)
    require_same_run(printed, "differential_drive", VOLTAGES, round(seconds * 1000), tolerance)


def test_loops_are_closed_after_every_step(tmp_path):
    folder = exported("four_bar", "fortran", tmp_path / "robot", "dynamics")
    output_of(["make", f"FFLAGS={' '.join(STRICT)} -O1"], folder)
    inputs = (1.0,) * len(model_of("four_bar").inputs)
    printed = output_of(["./main", "0.1", "0.001", *map(str, inputs)], folder)
    require_same_run(printed, "four_bar", inputs, 100, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_every_robot_builds_without_a_warning(name, tmp_path):
    output_of(["make", f"FFLAGS={' '.join(STRICT)}"], exported(name, "fortran", tmp_path / "robot"))


def test_kinematics_alone_are_a_module(tmp_path):
    folder = exported("differential_drive", "fortran", tmp_path / "robot", "kinematics")
    assert not (folder / "main.f90").exists()
    output_of(["make", f"FFLAGS={' '.join(STRICT)}"], folder)


@pytest.mark.slow
def test_long_chains_grow_linearly_and_build_without_a_warning(tmp_path):
    chains = [derive(catalog.pendulum(links=links)) for links in (50, 100)]
    short, long = (chain.export("fortran", "dynamics", name="chain").files["chain.f90"] for chain in chains)
    assert len(long) < 2.3 * len(short)
    chains[1].export("fortran", "dynamics", output=tmp_path / "robot")
    output_of(["make", f"FFLAGS={' '.join(STRICT)} -O2"], tmp_path / "robot")


@pytest.mark.parametrize(
    ("name", "words"), [("Module", "can't be a name in Fortran"), ("Dynamics", "is a subroutine")]
)
def test_a_module_can_not_have_any_name(name, words):
    with pytest.raises(InputError, match=words):
        model_of("pendulum").export("fortran", name=name)


def test_names_may_be_hostile(tmp_path):
    hostile_model().export("fortran", output=tmp_path / "robot", name="robot")
    output_of(["make", f"FFLAGS={' '.join(STRICT)}"], tmp_path / "robot")
    require_hostile_run(output_of(["./main", "0.01"], tmp_path / "robot"))

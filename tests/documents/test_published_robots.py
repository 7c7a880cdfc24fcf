"""The robots that people publish: every URDF of the package example-robot-data, as Pinocchio reads it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from documents.test_urdf_dynamics import TOLERANCE, compare
from trundle import derive, simulate
from trundle.documents import load_urdf
from trundle.errors import InputError

PACKAGE = Path("lib", f"python3.{sys.version_info.minor}", "site-packages", "cmeel.prefix", "share")
ROBOTS = Path(sys.prefix) / PACKAGE / "example-robot-data" / "robots"
FILES = sorted(ROBOTS.rglob("*.urdf"))
# What doesn't load: the file, the base, and why in one line.
REFUSED = {
    ("alex_psyonic_hands.urdf", "fixed"): "there is no joint 'index_q1'",
    ("alex_psyonic_hands.urdf", "floating"): "there is no joint 'index_q1'",
    ("quadrotor_base.urdf", "fixed"): "there is nothing that can move",
    ("romeo.urdf", "fixed"): "neither it nor anything behind it has a mass",
    ("romeo.urdf", "floating"): "neither it nor anything behind it has a mass",
    ("romeo_laas_small.urdf", "fixed"): "neither it nor anything behind it has a mass",
    ("romeo_laas_small.urdf", "floating"): "neither it nor anything behind it has a mass",
    ("ur3.urdf", "fixed"): "the attribute 'name' is missing",  # nor does Pinocchio read it: it has no links
    ("ur3.urdf", "floating"): "the attribute 'name' is missing",
}


@pytest.mark.campaign
@pytest.mark.skipif(not FILES, reason="the package example-robot-data is not installed")
@pytest.mark.filterwarnings("ignore:.*(taken as they stand|the robot floats)")
def test_published_robots_move_as_in_pinocchio(campaign, seed):
    order = np.random.default_rng(seed).permutation(len(FILES))
    for rng, place in zip(campaign(len(FILES)), order, strict=False):
        file = FILES[place]
        print(file.name)
        for base in ("fixed", "floating"):
            if (file.name, base) in REFUSED:
                with pytest.raises(InputError, match=REFUSED[file.name, base]):
                    load_urdf(file, base=base)
                continue
            differences = compare(file.read_text(), rng, base)
            assert max(differences.values()) <= TOLERANCE, (file.name, base, differences)


@pytest.mark.skipif(not FILES, reason="the package example-robot-data is not installed")
@pytest.mark.filterwarnings("ignore:.*(taken as they stand|the robot floats)")
@pytest.mark.parametrize(("name", "trunk"), [("a1", "trunk"), ("kinova", "j2s6s200_link_base")])
def test_roots_without_mass_are_one_with_what_is_fixed_to_them(name, trunk):
    (file,) = ROBOTS.rglob(f"{name}.urdf")
    with pytest.warns(UserWarning, match=f"'base' has no mass, but '{trunk}', which is fixed to it"):
        assert load_urdf(file).base == "floating"
    assert load_urdf(file, base="planar").base == "planar"


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="the package example-robot-data is not installed")
@pytest.mark.filterwarnings("ignore:.*(taken as they stand|the robot floats)")
@pytest.mark.parametrize("name", ["talos_full_v2", "tiago", "tiago_dual"])
def test_big_robots_with_dry_friction_fall_without_losing_energy(name):
    """38, 54 and 107 independent speeds, whose matrices of slopes would take minutes to compile."""
    (file,) = ROBOTS.rglob(f"{name}.urdf")
    model = derive(load_urdf(file))
    assert model.stiff
    run = simulate(model, 0.1, samples=11)
    assert "audited_jacobian" not in vars(model)
    assert run.summary["energy_imbalance"] <= 1e-8 * run.summary["energy_turned_over"]

"""Trajectories over terrain, kinematic and dynamic, are those of the reference, at its step and by its Euler angles."""

import pytest

from tests.terrain.reference import Case, trajectories

# The reference has ten digits; its own two implementations agree to 5e-9.
TOLERANCE = 1e-6
QUICK = {"talon_flat_arcR2__kin__converged__dt0.04", "talon_flat_arcR2__dyn__converged__dt0.04"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in trajectories()]
)
def test_trajectories_are_the_reference_s(name):
    assert Case(name).off() < TOLERANCE

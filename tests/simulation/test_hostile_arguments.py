"""Arguments that nobody means, as a search for them found them: each a clear error."""

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.errors import InputError


@pytest.fixture(scope="module")
def pendulum():
    return derived("pendulum")


def test_a_date_is_no_duration(pendulum):
    with pytest.raises(InputError, match="expected a (time|number)"):
        trundle.simulate(pendulum, duration=np.datetime64("2020-01-01"))


def test_an_array_is_no_interpolation():
    with pytest.raises(InputError, match="is not known"):
        trundle.table([0.0, 1.0], [1.0, 3.0], np.zeros((2, 2)))  # pyright: ignore[reportArgumentType]


def test_steps_beyond_all_bounds(pendulum):
    with pytest.raises(InputError, match="steps is out of bounds"):
        trundle.rollout(pendulum, initial={"link_1.angle": [0.1, 0.2]}, steps=10**400)


def test_wheels_that_weigh_almost_nothing():
    """Scaled by 1e-308, a mass matrix would overflow: such a wheel moves as one without mass does."""
    light, none = (trundle.derive(trundle.catalog.ackermann(wheel_mass=mass)) for mass in (1e-308, 0.0))
    at = dict.fromkeys(light.coordinates, 0.1)
    np.testing.assert_allclose(light.mass_matrix(at), none.mass_matrix(at), rtol=1e-12)

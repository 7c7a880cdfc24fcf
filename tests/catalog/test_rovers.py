"""Vehicles for rough ground: masses and inertias of the sources' numbers, steady slip, loads that are shared."""

import math

import numpy as np
import pytest

import trundle
from trundle import InputError, catalog
from trundle.mechanics.momentum import mass_matrix
from trundle.model.mechanism import mechanism

# Body: mass, size of the box, height of its centre; wheels: how they stand, radius, width, mass (Seegmiller 2014).
_LAND_TAMER, _REC_BOT = 3225 * 0.45359237, 667.0
SOURCES = {
    "landtamer": (
        (0.95 * _LAND_TAMER, (2.1336, 1.6383, 0.82804), (0, 0, 0.41402)),
        [
            ((x, y, 0), 0.4191, 0.254, 0.05 * _LAND_TAMER / 6)
            for x in (1.0668, 0, -1.0668)
            for y in (0.81915, -0.81915)
        ],
    ),
    "recbot": (
        (0.95 * _REC_BOT, (1.77, 1.219, 0.8252), (0.885, 0, 0.4126)),
        [((1.77, y, -0.0754), 0.2794, 0.2413, 0.05 * _REC_BOT / 4) for y in (0.635, -0.635)]
        + [((0, y, 0), 0.3048, 0.3048, 0.05 * _REC_BOT / 4) for y in (0.6095, -0.6095)],
    ),
}


def about_origin(mass, moments, place):
    """A body's inertia about the origin, by Steiner's theorem."""
    x = np.array(place)
    return np.diag(moments) + mass * (x @ x * np.eye(3) - np.outer(x, x))


def box(mass, x, y, z):
    return [mass * (y * y + z * z) / 12, mass * (x * x + z * z) / 12, mass * (x * x + y * y) / 12]


def cylinder(mass, r, h):
    across = mass * (3 * r * r + h * h) / 12
    return [across, mass * r * r / 2, across]


@pytest.mark.parametrize("name", SOURCES)
def test_mass_and_inertia_are_those_of_the_source_s_parts(name):
    (mass, size, centre), wheels = SOURCES[name]
    parts = [(mass, box(mass, *size), centre)]
    parts += [(m, cylinder(m, r, h), place) for place, r, h, m in wheels]
    here = mechanism(catalog.robot(name), terrain=True)
    rows = np.array(mass_matrix(here.assembly.tree, here.at.poses), dtype=float)[:6, :6]
    assert rows[0, 0] == pytest.approx(sum(m for m, _, _ in parts), rel=1e-12)
    moments = sum(about_origin(*part) for part in parts)
    assert np.allclose(rows[3:6, 3:6], moments, rtol=1e-12, atol=1e-9)
    # M's corner holds m [c]×.
    x, _, z = sum(m * np.array(place) for m, _, place in parts)
    assert (rows[0, 4], rows[1, 5]) == pytest.approx((z, x), rel=1e-12, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SOURCES, "rocker_bogie"])
def test_the_steady_slip_on_a_slope_is_its_closed_form(name):
    """h sin θ/(0.1 s) where all wheels are driven; RecBot's front wheels are not, so its rear ones slip twice that."""
    angle = math.radians(10)
    slope = {"surfaces": {"slope": {"type": "plane", "slope": "10 deg"}}}
    run = trundle.simulate(
        catalog.robot(name, speed=0.5, curvature=0), 4.0, terrain=slope, step=0.04, samples=2
    )
    slip = 0.02 * math.sin(angle) / 0.1 * (2 if name == "recbot" else 1)
    assert run["rear_left.rolling_slip"][-1] == pytest.approx(-slip, abs=1e-6)
    assert math.hypot(run["v_x"][-1], run["v_z"][-1]) == pytest.approx(0.5 - slip, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [None, 1e4])
def test_a_rocker_bogie_s_wheels_carry_the_same(stiffness):
    robot = catalog.robot("rocker_bogie", speed=0, differential_stiffness=stiffness)
    run = trundle.simulate(robot, 4.0, terrain={}, step=0.04, samples=2)
    sixth = (50 + 6 * 2) * 9.81 / 6
    assert [run[f"{name}.load"][-1] for name in robot.wheels] == pytest.approx([sixth] * 6, rel=1e-6)


@pytest.mark.slow
def test_a_rocker_bogie_s_wheels_carry_about_the_same_on_a_hump():
    """A wheel's height of ground under one wheel: a rigid frame would lift others."""
    hump = {"surfaces": {"hump": {"type": "hill", "height": 0.15, "width": 0.2, "at": [0.6, 0.45]}}}
    robot = catalog.robot("rocker_bogie", speed=0)
    run = trundle.simulate(robot, 1.0, terrain=hump, step=0.04)
    sixth = (50 + 6 * 2) * 9.81 / 6
    assert run["pitch"][0] < -0.05
    for name in robot.wheels:
        assert 0.7 * sixth < run[f"{name}.load"][-1] < 1.3 * sixth


@pytest.mark.parametrize(
    ("measure", "value", "words"),
    [
        ("radius", 0, "greater than zero"),
        ("wheelbase", "2 kg", "expected a length"),
        ("track", "2 a", "unknown unit|uses a"),
        ("contact", "glue", "glue"),
    ],
)
def test_measures_that_can_t_be_are_said(measure, value, words):
    with pytest.raises(InputError, match=words):
        catalog.robot("rocker_bogie", **{measure: value})

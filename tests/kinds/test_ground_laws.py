"""Laws of wheels on terrain, against the forces and Jacobians of the reference, and by closed forms."""

import math

import numpy as np
import pytest

import trundle
from tests.terrain.reference import forces
from trundle.errors import InputError
from trundle.program import Tracer
from trundle.program.tangents import jacobian
from trundle.robot.contact import LAWS, Bearing, Touch

TOLERANCE = 1e-6
# Of the reference's vehicles: radius and width of the wheel, stiffness of the ground.
ZOE, ROCKY = (0.325, 0.07, 24279.75), (0.065, 0.08, 20 * 57.225)


def law_of(row):
    kind = row["model"].partition("_")[0]
    if kind == "ode":
        return LAWS.read({"type": "linear", "friction": 1.0, "limit": "box"})
    if kind == "pacejka":
        return LAWS.read({"type": "pacejka", "friction": 1.0})
    width = (ZOE if "zoe" in row["model"] else ROCKY)[1]
    return LAWS.read({"type": "soil", "contact_width": width, "quadrature": "trapezoid"})


def pushed(law, row, moved):
    """f_x, f_y, f_z at v_x, v_y, v_z, rω and the distance."""
    radius, _, stiffness = ROCKY if "rocky" in row["model"] else ZOE
    x, y, z, rim, distance = moved
    bearing = Bearing(-distance, -z, stiffness, stiffness / 20)
    push = law.push(Touch((x, y), bearing.load, rim, radius, {}, bearing), lambda value: value.number)
    return [*push.forces, push.load if law.carries else bearing.load]


def numbers(row):
    return [float(row[name]) for name in ("vx", "vy", "vz", "Rw", "dz")]


@pytest.mark.parametrize("row", forces(), ids=lambda row: f"{row['model']}-{row['vx']}-{row['vy']}")
def test_forces_are_the_reference_s(row):
    ours = pushed(law_of(row), row, numbers(row))
    theirs = [float(row[name]) for name in ("fx", "fy", "fz")]
    assert ours == pytest.approx(theirs, abs=TOLERANCE)


MOVING = [row for row in forces() if float(row["vx"]) and float(row["vy"]) and "ishigami" not in row["model"]]


@pytest.mark.parametrize("row", MOVING, ids=lambda row: f"{row['model']}-{row['vx']}")
def test_slopes_are_the_reference_s(row):
    """Those of the linear and of Pacejka's law, relative to the largest entry, away from rest."""
    tracer = Tracer("moved")
    symbols = tracer.inputs("moved", 5)
    rows = jacobian(pushed(law_of(row), row, symbols), symbols)
    program = tracer.program(
        "slopes",
        {"moved": tuple("xyzrd")},
        {"slopes": ([str(k) for k in range(15)], [e for r in rows for e in r])},
    )
    ours = program(numbers(row)).reshape(3, 5)
    theirs = np.array([[float(row[f"J{i}{j}"]) for j in range(1, 6)] for i in range(1, 4)])
    assert np.abs(ours - theirs).max() < TOLERANCE * np.abs(theirs).max()


@pytest.mark.parametrize("row", [r for r in forces() if "ishigami" in r["model"] and float(r["vx"])],
                         ids=lambda row: f"{row['model']}-{row['vx']}")  # fmt: skip
def test_slopes_in_soil_are_the_reference_s_by_its_differences(row):
    """The reference takes forward differences of 1e-6; where they round off, its forces' ten digits do."""
    law, at = law_of(row), numbers(row)
    here = np.array(pushed(law, row, at))
    columns = []
    for place in range(5):
        moved = list(at)
        moved[place] += 1e-6
        columns.append((np.array(pushed(law, row, moved)) - here) / 1e-6)
    theirs = np.array([[float(row[f"J{i}{j}"]) for j in range(1, 6)] for i in range(1, 4)])
    assert np.abs(np.array(columns).T - theirs).max() < TOLERANCE * np.abs(theirs).max()


def touch(slip, load=100.0, rim=1.0):
    return Touch(slip, load, rim, 0.3, {}, Bearing(0.02, 0.0, load / 0.02, 0.0))


def read(value):
    return value.number


def test_the_ellipse_doesn_t_depend_on_the_heading():
    law = LAWS.read({"type": "linear", "friction": 0.5})
    for angle in np.linspace(0, 2 * math.pi, 13):
        way = np.array([math.cos(angle), math.sin(angle)])
        assert law.push(touch(tuple(3 * way)), read).forces == pytest.approx(-50.0 * way)


def test_small_slips_are_viscous_in_both_limits():
    for limit in ("ellipse", "box"):
        law = LAWS.read({"type": "linear", "friction": 0.5, "limit": limit})
        assert law.push(touch((0.01, -0.02)), read).forces == pytest.approx([-5.0, 10.0])


def test_pacejka_is_smooth_at_rest():
    law = LAWS.read({"type": "pacejka", "friction": 1.0})
    assert law.push(touch((0.0, 0.0)), read).forces == pytest.approx([0.0, 0.0])
    small, smaller = (np.array(law.push(touch((e, 2 * e)), read).forces) / e for e in (1e-7, 1e-8))
    assert small == pytest.approx(smaller, rel=1e-5)


def test_the_rim_in_soil_is_as_broad_as_the_wheel_where_nobody_says_another():
    bearing = Bearing(0.02, 0.0, 5000.0, 0.0)
    touch = Touch((-0.1, 0.02), 0.0, 0.5, 0.3, {}, bearing, 0.07)
    said, unsaid = (LAWS.read({"type": "soil", **keys}) for keys in ({"contact_width": 0.07}, {}))
    here, there = (law.push(touch, lambda value: value.number) for law in (said, unsaid))
    assert [*here.forces, here.load] == [*there.forces, there.load]
    with pytest.raises(InputError, match="how broad the wheel is") as error:
        unsaid.push(touch._replace(width=0), lambda value: value.number)
    assert "width: 10 cm" in str(error.value.hint)
    rover = trundle.catalog.rocker_bogie(contact="soil")
    assert all(wheel.law.contact_width is None for wheel in rover.wheels.values())


def test_a_wheel_in_soil_that_runs_backward_is_mirrored():
    law = LAWS.read({"type": "soil", "contact_width": 0.07})
    ahead = law.push(touch((-0.05, 0.02), rim=0.5), read)
    back = law.push(touch((0.05, 0.02), rim=-0.5), read)
    assert back.forces == pytest.approx([-ahead.forces[0], ahead.forces[1]])
    assert back.load == pytest.approx(ahead.load)

"""People's segments: the tables' own sums, definitions that must agree, and the leg that is made of them."""

import numpy as np
import pytest

import trundle
from trundle import InputError
from trundle.catalog.anthropometry import _DE_LEVA_HEIGHTS, _DE_LEVA_TRUNK, head_arms_trunk

TABLES = [("winter", None), ("de_leva", "female"), ("de_leva", "male")]


def total(segments):
    arms = () if "head" in segments else ("upper_arm", "forearm", "hand")  # Winter's trunk has the arms
    return sum(each.sides * each.mass for each in segments.values() if each.name not in arms)


@pytest.mark.parametrize(("table", "sex"), TABLES)
def test_both_sides_make_the_whole_body(table, sex):
    # the women's column adds up to 99.99 % as it is printed
    assert total(trundle.body_segments(100.0, 1.7, table=table, sex=sex)) == pytest.approx(100, abs=0.011)


def test_winters_parts_are_his_wholes():
    parts = {name: each.mass for name, each in trundle.body_segments(1.0, 1.0).items()}
    assert parts["foot"] + parts["shank"] == pytest.approx(0.061)
    assert parts["foot"] + parts["shank"] + parts["thigh"] == pytest.approx(0.161)
    assert parts["forearm"] + parts["hand"] + parts["upper_arm"] == pytest.approx(0.050)


# de Leva's alternative end points of the same segments: length (mm), centre (%), radii (%); the same centre and radii
ALTERNATIVE = {
    ("female", "shank"): (432.3, 44.16, 27.1, 26.7, 9.3),
    ("male", "shank"): (434.0, 44.59, 25.5, 24.9, 10.3),
    ("female", "forearm"): (262.4, 45.92, 26.3, 25.9, 9.5),
    ("male", "forearm"): (266.9, 46.08, 27.8, 26.7, 12.2),
}


@pytest.mark.parametrize(("sex", "name"), ALTERNATIVE)
def test_de_levas_other_definitions_have_the_same_centre(sex, name):
    length, center, *radii = ALTERNATIVE[sex, name]
    height = {"female": 1.735, "male": 1.741}[sex]
    segment = trundle.body_segments(70, height, table="de_leva", sex=sex)[name]
    assert segment.center * 1e3 == pytest.approx(length * center / 100, abs=0.1)
    np.testing.assert_allclose(np.multiply(segment.radii, 1e3), np.multiply(radii, length / 100), atol=0.5)


def test_numbers_as_they_are_printed():
    thigh = trundle.body_segments(73, 1.741, table="de_leva", sex="male")["thigh"]
    assert thigh.length == pytest.approx(0.4222)
    assert thigh.center == pytest.approx(0.4095 * 0.4222)
    frame = trundle.Frame("thigh")
    inertia = thigh.inertia(frame.point("G", (0, 0, -thigh.center)))
    expected = 73 * 0.1416 * np.square(np.array([0.329, 0.329, 0.149]) * 0.4222)
    np.testing.assert_allclose(np.diag(inertia.matrix), expected)
    assert inertia.at(frame.origin).matrix[1, 1] == pytest.approx(
        expected[1] + inertia.mass * thigh.center**2
    )


@pytest.mark.parametrize("hip", ["revolute", "spherical"])
@pytest.mark.parametrize(("table", "sex"), TABLES)
def test_the_leg_is_made_of_the_same_numbers(table, sex, hip):
    segments = trundle.body_segments(80, 1.8, table=table, sex=sex)
    robot = trundle.catalog.leg(body_mass=80, height=1.8, table=table, sex=sex, hip=hip)
    for joint, name in (("hip", "thigh"), ("knee", "shank"), ("ankle", "foot")):
        body = robot.joints[joint].body
        assert body.name == name
        assert robot.number(body.mass) == pytest.approx(segments[name].mass)
    shank = robot.joints["knee"].body
    moments = [robot.number(getattr(shank.inertia, axis)) for axis in ("xx", "yy", "zz")]
    np.testing.assert_allclose(moments, segments["shank"].mass * np.square(segments["shank"].radii))
    assert robot.number(robot.joints["ankle"].at[2]) == pytest.approx(-segments["shank"].length)
    assert robot.number(shank.center_of_mass[2]) == pytest.approx(-segments["shank"].center)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_the_trunks_parts_are_the_trunk(sex):
    """De Leva's three parts of the trunk against the table's own row for all of it: lengths, centre, radii."""
    trunk = trundle.body_segments(100, 1.0, table="de_leva", sex=sex)["trunk"]
    parts = _DE_LEVA_TRUNK[sex]
    assert sum(row[0] for row in parts.values()) == pytest.approx(trunk.mass)
    height = _DE_LEVA_HEIGHTS[sex]
    assert sum(row[1] for row in parts.values()) == pytest.approx(trunk.length * height)
    top, masses, centers, radii = 0.0, [], [], []
    for mass, length, center, *k in parts.values():
        masses.append(mass)
        centers.append(top + length * center / 100)
        radii.append(np.multiply(k, length / 100))
        top += length
    center = np.average(centers, weights=masses)
    # 3 mm of the men's 532 mm: as it is printed, their trunk's centre isn't that of its parts
    assert center == pytest.approx(trunk.center * height, abs={"female": 0.1, "male": 3.5}[sex])
    away = np.subtract(centers, center)[:, None] * [1, 1, 0]
    k = np.sqrt(np.average(np.square(radii) + away**2, axis=0, weights=masses))
    np.testing.assert_allclose(k / trunk.length / height, np.divide(trunk.radii, trunk.length), atol=6e-4)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_head_arms_and_trunk_are_about_winters(sex):
    """Two tables of other people: the centre within 2 % of the height, masses as what the legs leave."""
    whole, winter = head_arms_trunk("de_leva", sex), head_arms_trunk("winter", None)
    assert whole.center == pytest.approx(winter.center, abs=0.02)
    assert whole.radii[0] == pytest.approx(winter.radii[0], abs=0.02)
    segments = trundle.body_segments(1.0, 1.7, table="de_leva", sex=sex)
    legs = 2 * sum(segments[name].mass for name in ("thigh", "shank", "foot"))
    assert whole.mass + legs == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize(("table", "sex"), TABLES)
def test_a_leg_on_a_body_that_floats(table, sex):
    robot = trundle.catalog.leg(body_mass=80, height=1.8, table=table, sex=sex, base="floating")
    assert robot.base == "floating"
    assert robot.body.name == "trunk"
    whole = head_arms_trunk(table, sex)
    assert robot.number(robot.body.mass) == pytest.approx(80 * whole.mass)
    assert robot.number(robot.body.center_of_mass[2]) == pytest.approx(1.8 * whole.center)
    with pytest.raises(InputError, match="base of a leg can't be 'planar'"):
        trundle.catalog.leg(base="planar")


def test_a_legs_effort_is_its_net_moment():
    t = np.linspace(0, 1, 101)
    swing = {"hip.angle": 0.5 * np.sin(6 * t), "knee.angle": 0.6 - 0.5 * np.cos(6 * t), "ankle.angle": 0 * t}
    loads = trundle.joint_loads(trundle.catalog.leg(), {"time": t, **swing})
    for joint, sign in (("hip", -1), ("knee", 1), ("ankle", -1)):
        assert loads.wrench(joint).moment[:, 1] == pytest.approx(
            sign * loads.actuator_torque[f"{joint}.rate"], abs=1e-9
        )


def test_a_leg_of_an_older_file_keeps_its_damping():
    old = trundle.catalog.document("leg", damping=0.5).source
    assert "damping: 0.5" in old
    robot = trundle.documents.parse(old).robot
    assert robot.number(robot.joints["knee"].damping) == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": "70 kg"}, "expected a person's mass, at most 1000, got '70 kg'"),
        ({"mass": 0}, "mass: expected a person's mass"),
        ({"height": 175}, "height: expected a person's height, at most 3, got 175"),
        ({"table": "wintr"}, r"unknown table 'wintr'\n.*'winter'"),
        ({"table": "de_leva"}, "columns by sex, got None"),
        ({"sex": "male"}, "one for both sexes"),
    ],
)
def test_what_is_no_person(given, message):
    with pytest.raises(InputError, match=message):
        trundle.body_segments(**{"mass": 70, "height": 1.75, **given})

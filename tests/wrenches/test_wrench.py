"""Wrenches: one wrench wherever it is taken, power the same in every frame, sums of what belongs together."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation
from sympy.physics.vector import dynamicsymbols

import trundle


@pytest.fixture
def world():
    return trundle.Frame("world")


def random_frame(rng, parent, name, *, samples=()):
    """A child in any pose and motion, as numbers."""
    draw = lambda: rng.normal(size=(*samples, 3))  # noqa: E731
    rotation = Rotation.random(int(np.prod(samples, dtype=int)), rng=rng).as_matrix().reshape(*samples, 3, 3)
    return parent.child(
        name,
        rotation=rotation,
        origin=draw(),
        velocity=draw(),
        acceleration=draw(),
        angular_velocity=draw(),
        angular_acceleration=draw(),
    )


def test_a_wrench_is_the_same_at_every_point_and_in_every_frame(world, rng):
    thigh = random_frame(rng, world, "thigh", samples=(7,))
    shank = random_frame(rng, thigh, "shank", samples=(7,))
    ankle = shank.point("ankle", rng.normal(size=3))
    w = trundle.Wrench(
        rng.normal(size=(7, 3)), rng.normal(size=3), on="shank", by="thigh", point=shank.origin, frame=shank
    )
    power = w.power(trundle.Twist.of(shank, seen_from=world))
    elsewhere = w.at(ankle).in_frame(world).at(world.origin).in_frame(thigh)
    assert np.allclose(elsewhere.power(trundle.Twist.of(shank, seen_from=world)), power, atol=1e-11)
    back = elsewhere.at(shank.origin).in_frame(shank)
    assert np.allclose(back.force, w.force, atol=1e-12)
    assert np.allclose(back.moment, w.moment, atol=1e-11)
    assert (back.on, back.by) == ("shank", "thigh")


def test_power_of_an_internal_wrench_is_that_of_the_relative_motion(world, rng):
    thigh = random_frame(rng, world, "thigh")
    shank = random_frame(rng, thigh, "shank")
    w = trundle.Wrench(
        rng.normal(size=3), rng.normal(size=3), on="shank", by="thigh", point=shank.origin, frame=shank
    )
    both = w.power(trundle.Twist.of(shank, seen_from=world)) + w.reaction().power(
        trundle.Twist.of(thigh, seen_from=world)
    )
    assert both == pytest.approx(w.power(trundle.Twist.of(shank, seen_from=thigh)), abs=1e-12)


def test_symbols_and_numbers_are_one_law(world):
    t, f = sp.symbols("t f")
    arm = world.child("arm", rotation=((0, 0, 1), t), origin=(0, t**2, 0))
    pull = trundle.Wrench((f, 0, 0), (0, 0, f * t), on="arm", by="rope", point=arm.origin, frame=arm)
    symbols = pull.at(world.origin).in_frame(world)
    values = {t: 0.7, f: 3.0}
    still = trundle.Frame("world")
    there = still.child("arm", rotation=((0, 0, 1), 0.7), origin=(0, 0.49, 0))
    numbers = (
        trundle.Wrench((3.0, 0, 0), (0, 0, 2.1), on="arm", by="rope", point=there.origin, frame=there)
        .at(still.origin)
        .in_frame(still)
    )
    assert np.allclose(
        [float(sp.sympify(x).subs(values)) for x in symbols.moment], numbers.moment, atol=1e-14
    )
    assert np.allclose([float(sp.sympify(x).subs(values)) for x in symbols.force], numbers.force, atol=1e-14)


def test_sums_demand_the_same_body_point_and_frame(world):
    arm = world.child("arm", rotation=((0, 0, 1), 0.3), origin=(1, 0, 0))

    def at(on, point, frame):
        return trundle.Wrench((1, 0, 0), (0, 0, 0), on=on, by="x", point=point, frame=frame)

    a = at("arm", arm.origin, arm)
    assert (a + a).force[0] == 2
    assert (a - a).force[0] == 0
    with pytest.raises(trundle.InputError, match=r"(?s)on 'arm' and on 'leg'.*reaction"):
        _ = a + at("leg", arm.origin, arm)
    with pytest.raises(trundle.InputError, match=r"(?s)different points.*\.at\(origin of arm\)"):
        _ = a - at("arm", world.origin, arm)
    with pytest.raises(trundle.InputError, match=r"(?s)different frames.*\.in_frame\(arm\)"):
        _ = a + at("arm", arm.origin, world)
    with pytest.raises(trundle.InputError, match=r"acts on 'arm', the twist is of 'world'"):
        a.power(trundle.Twist.of(world, seen_from=arm))


def test_it_says_what_it_is(world):
    pull = trundle.Wrench((1.5, 0, 0), (0, 0, 2), on="arm", by="rope", point=world.origin, frame=world)
    assert "on 'arm' by 'rope', about origin of world" in repr(pull)
    assert "1.5 N" in repr(pull)
    assert "<table>" in pull._repr_html_()
    many = trundle.Wrench(
        np.arange(6.0).reshape(2, 3), (0, 0, 0), on="arm", by="rope", point=world.origin, frame=world
    )
    assert "0 to 3 N over 2 samples" in repr(many)
    assert "seen from 'world'" in repr(trundle.Twist.of(world, seen_from=world))


def test_expressions_are_set_in_notebooks(world):
    angle = dynamicsymbols("theta")
    pull = trundle.Wrench(
        (angle.diff(), 0, 0), (0, 0, 0), on="arm", by="rope", point=world.origin, frame=world
    )
    shown = pull._repr_html_()
    assert (
        '<math displaystyle="true"><mover accent="true"><mi>θ</mi><mo stretchy="false">˙</mo></mover></math> N'
        in shown
    )
    assert "$" not in shown, "nothing waits for a script"


def test_pythons_sum_adds_wrenches(world):
    pull = trundle.Wrench((1, 0, 0), (0, 0, 1), on="arm", by="rope", point=world.origin, frame=world)
    assert sum([pull, pull, pull]).force[0] == 3
    with pytest.raises(TypeError):
        _ = 1 + pull


def test_bodies_are_named(world):
    with pytest.raises(trundle.InputError, match=r"on takes a body's name, got Frame\('world'\)"):
        trundle.Wrench((1, 0, 0), (0, 0, 1), on=world, by="rope", point=world.origin, frame=world)  # type: ignore[arg-type]

"""Positions, velocities and accelerations of any point, and turning of any frame, seen from any frame."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Point, ReferenceFrame
from sympy.physics.vector import dynamicsymbols

import trundle
from trundle.wrenches.symbolic import expanded

from .limb import make_limb
from .test_limb import LENGTHS, MASSES, Z, t
from .test_wrench import random_frame


def tree():
    """Frames that turn in every way that can be given, in two branches, and a point that moves in its own."""
    world = trundle.Frame("world")
    a = world.child("a", rotation=(sp.sin(t), t / 2, t**2), origin=(t, sp.cos(t), 0))
    b = a.child("b", rotation=((sp.Rational(3, 5), 0, sp.Rational(4, 5)), 2 * t), origin=(0, 1, t**2))
    turn = sp.Matrix([[sp.cos(t), 0, sp.sin(t)], [0, 1, 0], [-sp.sin(t), 0, sp.cos(t)]])
    c = world.child("c", rotation=turn, origin=(sp.sin(t), 0, 2))
    p = b.point("p", (sp.cos(3 * t), t, 1))
    return world, a, b, c, p


def numbers(vector, time):
    return np.array([float(sp.sympify(x).subs(t, time)) for x in vector])


@pytest.mark.parametrize("relative", [False, True])
def test_rates_are_derivatives_of_what_is_seen(relative):
    """Differences over h of the position in the observer's own axes: the definition, free of any formula."""
    _, a, b, c, p = tree()
    origin = a.origin if relative else None
    for observer in (a, b, c):
        position = p.position(frame=observer, relative_to=origin)
        velocity = p.velocity(seen_from=observer, relative_to=origin)
        acceleration = p.acceleration(seen_from=observer, relative_to=origin)
        at, h = 0.4, 1e-3
        x = [numbers(position, at + k * h) for k in (-2, -1, 0, 1, 2)]
        assert np.allclose(numbers(velocity, at), (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h), atol=1e-9)
        second = (-x[0] + 16 * x[1] - 30 * x[2] + 16 * x[3] - x[4]) / (12 * h**2)
        assert np.allclose(numbers(acceleration, at), second, atol=1e-7)


def test_turning_is_the_rate_of_the_rotation():
    world, _, b, c, _ = tree()
    for observer in (world, c):
        rotation = sp.Matrix(b.rotation(frame=observer))
        spin = (rotation.diff(t) * rotation.T).subs(t, 0.4).evalf()
        omega = b.angular_velocity(seen_from=observer)
        assert np.allclose(numbers(omega, 0.4), [float(spin[2, 1]), float(spin[0, 2]), float(spin[1, 0])])
        # The rate of ω as the observer sees it is that of its components in the observer's axes.
        rate = [sp.diff(x, t) for x in omega]
        assert np.allclose(numbers(b.angular_acceleration(seen_from=observer), 0.4), numbers(rate, 0.4))


def test_numbers_move_as_the_symbols_that_they_were_taken_from():
    world, a, b, c, p = tree()
    times = np.array([0.1, 0.4, 0.9])
    over = lambda vector: np.stack([numbers(vector, at) for at in times])  # noqa: E731
    still = trundle.Frame("world")

    def sampled(frame, parent, below):
        return below.child(
            frame.name,
            rotation=np.stack([over(row) for row in frame.rotation(frame=parent)], axis=1),
            origin=over(frame.origin.position(frame=parent)),
            velocity=over(frame.origin.velocity(seen_from=parent)),
            acceleration=over(frame.origin.acceleration(seen_from=parent)),
            angular_velocity=over(frame.angular_velocity(seen_from=parent)),
            angular_acceleration=over(frame.angular_acceleration(seen_from=parent)),
        )

    na = sampled(a, world, still)
    nb, nc = sampled(b, a, na), sampled(c, world, still)
    point = nb.point(
        "p",
        over(p.position(frame=b)),
        velocity=over(p.velocity(seen_from=b)),
        acceleration=over(p.acceleration(seen_from=b)),
    )
    for seen_from, mine in ((world, still), (c, nc), (a, na), (b, nb)):
        for frame, axes in ((b, nb), (world, still)):
            assert np.allclose(
                point.velocity(seen_from=mine, frame=axes), over(p.velocity(seen_from=seen_from, frame=frame))
            )
            expected = over(p.acceleration(seen_from=seen_from, frame=frame))
            assert np.allclose(point.acceleration(seen_from=mine, frame=axes), expected, atol=1e-11)
            expected = over(c.angular_acceleration(seen_from=seen_from, frame=frame))
            assert np.allclose(nc.angular_acceleration(seen_from=mine, frame=axes), expected, atol=1e-11)


def test_sympys_own_mechanics_agrees():
    """A turning table on a turning arm, by ReferenceFrame and Point, whose velocities come from differentiation."""
    q1, q2 = dynamicsymbols("q1 q2")
    n = ReferenceFrame("N")
    one = n.orientnew("A", "Axis", (q1, n.z))
    two = one.orientnew("B", "Axis", (q2, one.x))
    o = Point("O")
    o.set_vel(n, 0)
    p = o.locatenew("P", 2 * one.y + 3 * two.z)
    world = trundle.Frame("N")
    a = world.child("A", rotation=(Z, q1))
    b = a.child("B", rotation=((1, 0, 0), q2), origin=(0, 2, 0))
    mine = b.point("P", (0, 0, 3))
    theirs = p.pos_from(o).dt(n)
    found = mine.velocity(seen_from=world, frame=b)
    assert sp.simplify(sp.Matrix(found) - theirs.to_matrix(two)) == sp.zeros(3, 1)
    found = mine.acceleration(seen_from=world, frame=b)
    assert sp.simplify(sp.Matrix(found) - theirs.dt(n).to_matrix(two)) == sp.zeros(3, 1)
    found = b.angular_acceleration(seen_from=world, frame=b)
    assert sp.simplify(sp.Matrix(found) - two.ang_acc_in(n).to_matrix(two)) == sp.zeros(3, 1)


class TestWhereTheSeedIsWrong:
    """The points of limb.md's list that are formulas, each by what is right."""

    limb = make_limb([(Z, t), (Z, 2 * t), (Z, 4 * t)], LENGTHS, MASSES)

    def test_inertias_turn_on_both_sides(self):
        found = self.limb.inertias[1].at(self.limb.joints[1]).in_frame(self.limb.world).matrix
        s, c = sp.sin(3 * t), sp.cos(3 * t)
        expected = sp.Rational(9, 200) * sp.Matrix([[c**2, s * c, 0], [s * c, s**2, 0], [0, 0, 1]])
        assert (sp.Matrix(found) - expected).applyfunc(expanded) == sp.zeros(3, 3)

    def test_parallel_axes_keep_the_moments_about_the_centre(self):
        body = trundle.Frame("body")
        rod = trundle.Inertia(2.0, np.diag([1.0, 2.0, 2.5]), center=body.point("G", (0, 3.0, 0)))
        assert np.allclose(rod.at(body.origin).matrix, np.diag([1.0 + 18, 2.0, 2.5 + 18]))

    def test_centrifugal_is_not_dalembert(self):
        frames, joints = self.limb.frames, self.limb.joints
        found = trundle.Breakdown.of(self.limb.inertias[1], {}, observer=frames[0], origin=joints[1])
        # The observer turns with 1 rad/s at 0.8 m from the world's origin, the mass at 0.3 m from the observer's.
        assert [x.simplify() for x in found["d_alembert"].force[:2]] == [
            0,
            sp.Rational(5, 10) * sp.Rational(8, 10),
        ]
        centrifugal = found["centrifugal"].force
        expected = sp.Rational(5, 10) * sp.Rational(3, 10) * sp.Matrix([-sp.sin(2 * t), sp.cos(2 * t), 0])
        assert sp.simplify(sp.Matrix(centrifugal) - expected) == sp.zeros(3, 1)

    def test_relative_turning_is_a_difference(self):
        a, b = self.limb.frames[:2]
        assert b.angular_velocity(seen_from=a) == (0, 0, 2)
        assert b.angular_velocity(seen_from=self.limb.world) == (0, 0, 3)

    def test_bodies_with_inertia_have_a_moment_about_their_centre(self):
        world = trundle.Frame("world")
        arm = world.child("arm", rotation=(Z, t**2))
        disc = trundle.Inertia(1, sp.diag(1, 1, 2), center=arm.origin)
        assert disc.momentum_rate(seen_from=world).moment == (0, 0, 4)

    def test_points_downstream_move_with_all_joints_upstream(self):
        world, joints = self.limb.world, self.limb.joints
        for point in (joints[2], joints[3], self.limb.inertias[2].center):
            position = sp.Matrix(point.position(frame=world))
            velocity = sp.Matrix(point.velocity(seen_from=world))
            assert (velocity - position.diff(t)).applyfunc(expanded) == sp.zeros(3, 1)


class TestWhatIsRefused:
    def test_frames_of_other_roots(self):
        one, other = trundle.Frame("lab"), trundle.Frame("treadmill")
        with pytest.raises(trundle.InputError, match=r"(?s)no frame in common.*'lab' and 'treadmill'.*child"):
            one.origin.position(frame=other.child("belt"))

    def test_motion_that_is_not_known(self, rng):
        world = trundle.Frame("world")
        shank = world.child("shank", rotation=(Z, np.linspace(0, 1, 5)))
        foot = shank.child("foot", origin=(0, 0, -0.4))
        assert foot.origin.position(frame=world).shape == (5, 3)
        with pytest.raises(
            trundle.InputError, match=r"(?s)'shank' moves in 'world' is not known.*angular_velocity=…"
        ):
            foot.origin.velocity(seen_from=world)
        assert np.all(foot.origin.velocity(seen_from=shank) == 0)
        half = world.child("half", rotation=(Z, 0.1), angular_velocity=(0, 0, 1))
        assert half.angular_velocity(seen_from=world)[2] == 1
        with pytest.raises(
            trundle.InputError, match=r"(?s)its acceleration doesn't follow.*angular_acceleration=…"
        ):
            half.angular_acceleration(seen_from=world)
        pressure = world.point("centre of pressure", rng.normal(size=(5, 3)))
        with pytest.raises(trundle.InputError, match=r"(?s)how point 'centre of pressure' moves.*velocity=…"):
            pressure.velocity(seen_from=world)

    def test_what_is_no_rotation(self):
        world = trundle.Frame("world")
        for rotation, message in (
            (np.diag([1.0, 1.0, 1.1]), r"is not a rotation: an entry of RᵀR is 0.21 off"),
            (np.diag([1.0, 1.0, -1.0]), "is a mirror"),
            (sp.diag(1, 1, t), "is not a rotation"),
            (((0, 0, 2), 0.3), "axis must have length 1, got 2"),
            (((0, 0, t), 0.3), "axis must be three numbers or constant expressions"),
            ((1, 2, 3, 4, 5), "a sequence of 5 is not a rotation"),
            ((Z, 10**400), "holds a number beyond 1.8e"),
            (0.3, r"needs 3 × 3 entries, got 0.3"),
            ((Z, "x"), "needs three numbers, arrays or expressions, got 'x'"),
        ):
            with pytest.raises(trundle.InputError, match=message):
                world.child("a", rotation=rotation)

    def test_gaps_stay_gaps_and_hide_nothing(self):
        world = trundle.Frame("world")
        turns = np.tile(np.eye(3), (4, 1, 1))
        turns[1] = np.nan
        a = world.child("a", rotation=turns)
        assert np.isnan(a.point("p", (1, 0, 0)).position(frame=world)[:, 0]).tolist() == [
            False,
            True,
            False,
            False,
        ]
        turns[3, 0, 0] = 1.1
        with pytest.raises(trundle.InputError, match="0.21 off"):
            world.child("a", rotation=turns)
        turns[3, 0, 0] = np.inf
        with pytest.raises(trundle.InputError, match="infinite"):
            world.child("a", rotation=turns)

    def test_batches_that_do_not_go_together(self):
        world = trundle.Frame("world")
        a = world.child("a", origin=np.zeros((5, 3)))
        with pytest.raises(trundle.InputError, match="frame 'b': arrays of 5 and 6 samples"):
            a.child("b", origin=np.zeros((6, 3)))
        with pytest.raises(trundle.InputError, match="by 'c': arrays of 6 and 5 samples"):
            trundle.Wrench(np.zeros((6, 3)), (0, 0, 0), on="a", by="c", point=a.origin, frame=a)
        with pytest.raises(
            trundle.InputError, match=r"needs three components, got an array of shape \(5, 2\)"
        ):
            world.child("b", origin=np.zeros((5, 2)))

    def test_another_letter_of_the_same_name_is_not_time(self):
        real = sp.Symbol("t", real=True)
        with pytest.raises(trundle.InputError, match=r"(?s)not the time 't'.*Frame\(name, time=t\)"):
            trundle.Frame("world").child("a", rotation=(Z, 2 * real))
        with pytest.raises(trundle.InputError, match="time must be a SymPy symbol, got 1.5"):
            trundle.Frame("world", time=1.5).child("a", rotation=(Z, t))
        world = trundle.Frame("world", time=real)
        assert world.child("a", rotation=(Z, 2 * real)).angular_velocity(seen_from=world) == (0, 0, 2)


def test_unit_quaternions_are_rotations():
    x, y, z = dynamicsymbols("x y z")
    w = sp.sqrt(1 - x**2 - y**2 - z**2)
    turn = sp.Matrix(
        [
            [1 - 2 * (y**2 + z**2), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x**2 + z**2), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)],
        ]
    )
    world = trundle.Frame("world")
    omega = world.child("a", rotation=turn).angular_velocity(seen_from=world)
    at_rest = {x: 0, y: 0, z: 0}
    rates = [sp.diff(each) for each in (x, y, z)]
    found = [
        component.subs(dict(zip(rates, sp.symbols("a b c"), strict=True))).subs(at_rest)
        for component in omega
    ]
    assert found == [2 * letter for letter in sp.symbols("a b c")]


def test_a_frame_seen_from_itself_stands_still(rng):
    world = trundle.Frame("world")
    frame = random_frame(rng, random_frame(rng, world, "a"), "b")
    assert not np.any(frame.angular_velocity(seen_from=frame))
    assert not np.any(frame.point("p", (1, 2, 3)).acceleration(seen_from=frame))


def test_what_was_given_may_be_written_to_again():
    places = np.zeros((4, 3))
    point = trundle.Frame("world").point("p", places)
    places[:] = 1
    assert not np.any(point.position(frame=point.frame))


@pytest.mark.slow
def test_long_chains_are_no_deep_recursion():
    at = world = trundle.Frame("world")
    for k in range(3000):
        at = at.child(f"f_{k}", rotation=(Z, 0.001, 0.001, 0.0), origin=(0, 0.001, 0))
    assert at.angular_velocity(seen_from=world)[2] == pytest.approx(3)

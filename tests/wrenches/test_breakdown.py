"""A body broken down as any observer sees it: terms add up, and their sum does not depend on who looks."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import trundle

from .test_wrench import random_frame


def random_inertia(rng, frame):
    """That of some masses at random places."""
    places, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 2, 5)
    center = masses @ places / masses.sum()
    r = places - center
    matrix = np.einsum(
        "k,kij->ij", masses, (r**2).sum(1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
    )
    return trundle.Inertia(masses.sum(), matrix, center=frame.point("G", center))


def random_case(rng, samples=()):
    """A body at the end of a chain, its weight and what else it needs, and an observer off the chain."""
    world = trundle.Frame("world")
    thigh = random_frame(rng, world, "thigh", samples=samples)
    body = random_frame(rng, thigh, "shank", samples=samples)
    inertia = random_inertia(rng, body)
    gravity = inertia.weight((0, 0, -9.81), frame=world)
    need = inertia.momentum_rate(seen_from=world).at(body.origin)
    joint = need - gravity.in_frame(body).at(body.origin)
    observer = random_frame(rng, random_frame(rng, world, "x", samples=samples), "observer", samples=samples)
    origin = observer.point("o", rng.normal(size=3))
    return world, inertia, {"joint": joint, "gravity": gravity}, observer, origin


def scale_of(found):
    return max(np.abs(part).max() for name in found for part in (found[name].force, found[name].moment))


@pytest.mark.parametrize("samples", [(), (20,)])
def test_terms_add_up_to_what_is_seen(rng, samples):
    _, inertia, wrenches, observer, origin = random_case(rng, samples)
    found = trundle.Breakdown.of(inertia, wrenches, observer=observer, origin=origin)
    for each in (
        found,
        found.at(origin),
        found.in_frame(inertia.center.frame).at(inertia.center.frame.origin),
    ):
        worst = max(np.abs(each.residual.force).max(), np.abs(each.residual.moment).max())
        assert worst < 1e-10 * max(1.0, scale_of(each))


def test_the_split_depends_on_the_origin_and_the_total_on_nothing(rng):
    world, inertia, wrenches, observer, origin = random_case(rng)
    other = observer.point("other", rng.normal(size=3))
    first, second = (
        trundle.Breakdown.of(inertia, wrenches, observer=observer, origin=o).in_frame(world)
        for o in (origin, other)
    )
    # The true total is what is seen less what is fictitious, whoever looks.
    own = ("d_alembert", "euler", "centrifugal", "coriolis")
    totals = [each.seen - each.sum(*own) for each in (first, second)]
    totals.append(trundle.Breakdown.of(inertia, wrenches, observer=world, origin=world.origin).seen)
    truth = inertia.momentum_rate(seen_from=world).in_frame(world)
    for total in totals:
        assert np.abs(total.force - truth.force).max() < 1e-10 * scale_of(first)
        assert np.abs(total.moment - truth.moment).max() < 1e-10 * scale_of(first)
    assert np.abs(first["euler"].force - second["euler"].force).max() > 1e-3


@pytest.mark.campaign
def test_any_body_and_any_observer(campaign):
    """Residual of the balance, and the total seen by an observer with any origin against the inertial one's."""
    for rng in campaign(1000):
        world, inertia, wrenches, observer, origin = random_case(rng, (10,))
        found = trundle.Breakdown.of(inertia, wrenches, observer=observer, origin=origin)
        scale = scale_of(found)
        total = found.seen - found.sum("d_alembert", "euler", "centrifugal", "coriolis")
        truth = inertia.momentum_rate(seen_from=world).in_frame(observer)
        assert np.abs(total.force - truth.force).max() < 1e-10 * scale
        assert np.abs(total.moment - truth.moment).max() < 1e-10 * scale
        assert np.abs(found.residual.force).max() < 1e-10 * scale
        assert np.abs(found.residual.moment).max() < 1e-10 * scale
        # Origins that move in the observer's frame are observers' origins, too.
        free = random_frame(rng, world, "free", samples=(10,)).origin
        again = trundle.Breakdown.of(inertia, wrenches, observer=observer, origin=free)
        assert np.abs(again.residual.force).max() < 1e-10 * scale_of(again)
        assert np.abs(again.residual.moment).max() < 1e-10 * scale_of(again)


def test_moments_are_those_of_many_point_masses(rng):
    """The rigid body's rows of the split, against the sum over its points of the point mass's."""
    world = trundle.Frame("world")
    body = random_frame(rng, world, "body")
    observer = random_frame(rng, world, "observer")
    places, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1, 6)
    center = body.point("G", masses @ places / masses.sum())
    points = [
        trundle.Inertia(m, np.zeros((3, 3)), center=body.point("p", place))
        for m, place in zip(masses, places, strict=True)
    ]
    parts = [
        trundle.Breakdown.of(p, {}, observer=observer, origin=observer.origin).at(center) for p in points
    ]
    whole_inertia = points[0].at(center)
    for each in points[1:]:
        whole_inertia = whole_inertia + each.at(center)
    whole = trundle.Breakdown.of(whole_inertia, {}, observer=observer, origin=observer.origin).at(center)
    for name in ("seen", "d_alembert", "euler", "centrifugal", "coriolis"):
        assert np.abs(whole[name].force - sum(each[name].force for each in parts)).max() < 1e-11
        assert np.abs(whole[name].moment - sum(each[name].moment for each in parts)).max() < 1e-11


def test_table_and_words(rng):
    _, inertia, wrenches, observer, origin = random_case(rng, (4,))
    found = trundle.Breakdown.of(inertia, wrenches, observer=observer, origin=origin)
    table = found.table()
    assert table["euler.moment_z"].shape == (4,)
    left = found.seen.force[:, 0] - sum(term.force[:, 0] for term in found.terms.values())
    np.testing.assert_allclose(table["residual.force_x"], left, atol=1e-12)
    assert set(found) == {"seen", "d_alembert", "euler", "centrifugal", "coriolis", "joint", "gravity"}
    assert "as 'observer' sees it from o" in repr(found)
    assert "residual" in repr(found)
    assert "<table>" in found._repr_html_()
    with pytest.raises(trundle.InputError, match=r"(?s)no term 'eular'.*did you mean 'euler'"):
        found["eular"]


def test_only_the_bodys_own_wrenches_count(rng):
    _, inertia, wrenches, observer, origin = random_case(rng)
    with pytest.raises(trundle.InputError, match=r"(?s)acts on 'thigh', not on 'shank'.*reaction"):
        trundle.Breakdown.of(
            inertia,
            {"joint": trundle.Wrench((1, 0, 0), (0, 0, 0), on="thigh", by="x", point=origin, frame=observer)},
            observer=observer,
            origin=origin,
        )
    with pytest.raises(trundle.InputError, match="observer's own term"):
        trundle.Breakdown.of(inertia, {"euler": wrenches["joint"]}, observer=observer, origin=origin)


def test_inertia_about_points_and_in_frames(rng):
    world = trundle.Frame("world")
    body = random_frame(rng, world, "body")
    inertia = random_inertia(rng, body)
    away = body.point("P", rng.normal(size=3) * 3)
    r = np.asarray(inertia.center.coordinates) - np.asarray(away.coordinates)
    steiner = inertia.mass * (r @ r * np.eye(3) - np.outer(r, r))
    assert np.allclose(inertia.at(away).matrix, inertia.matrix + steiner, atol=1e-12)
    assert np.allclose(inertia.at(away).at(inertia.center).matrix, inertia.matrix, atol=1e-12)
    turn = body.rotation(frame=world)
    assert np.allclose(inertia.in_frame(world).matrix, turn @ inertia.matrix @ turn.T, atol=1e-12)
    # Given about another point, it is the same body.
    again = trundle.Inertia(inertia.mass, inertia.at(away).matrix, center=inertia.center, point=away)
    assert np.allclose(
        again.momentum_rate(seen_from=world).moment, inertia.momentum_rate(seen_from=world).moment
    )
    assert "kg m²" in repr(inertia)


@pytest.mark.parametrize(
    ("mass", "matrix", "message"),
    [
        (-1.0, np.eye(3), "its mass must be at least 0 kg, got -1"),
        (1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "symmetric: two entries differ by 0.1"),
        (1.0, np.diag([1.0, 1.0, 3.0]), "principal moments are 1, 1, 3 kg m²"),
        (1.0, np.diag([-1.0, 1.0, 1.0]), "principal moments are -1, 1, 1"),
        (1.0, sp.diag(1, 1, 3), "principal moments are 1, 1, 3 kg m²"),
        (sp.Integer(-1), sp.eye(3), "its mass must be at least 0 kg, got -1"),
        (1.0, 3.0, r"needs 3 × 3 entries, got 3.0"),
        (1.0, np.eye(2), r"needs 3 × 3 entries, got an array of shape \(2, 2\)"),
    ],
)
def test_inertias_that_no_body_has(mass, matrix, message):
    body = trundle.Frame("body")
    with pytest.raises(trundle.InputError, match=message):
        trundle.Inertia(mass, matrix, center=body.origin)


def test_a_moment_about_one_axis_is_enough_in_the_plane():
    body = trundle.Frame("body")
    assert trundle.Inertia(1.0, np.diag([0, 0, 0.3]), center=body.origin).matrix[2, 2] == 0.3
    odd = trundle.Inertia(1.0, np.diag([1.0, 1.0, 3.0]), center=body.origin, as_given=True)
    assert odd.matrix[2, 2] == 3


def test_rotations_of_scipy_are_rotations_here(rng):
    turn = Rotation.from_rotvec([0, 0, 0.3])
    frame = trundle.Frame("world").child("a", rotation=turn)
    assert np.allclose(frame.rotation(frame=frame.root), turn.as_matrix())

"""Force plates on their way to a motion: smoothed as force and moment, averaged with their impulse, and whose."""

import numpy as np
import pytest

import trundle
from trundle import InputError
from trundle.limbs.capture.plate_samples import denser

CORNERS = np.array([(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)])
FINE = np.arange(2000) / 1000
COARSE = np.arange(200) / 100


def step(start, end, times=FINE):
    """A foot's load over a contact, 0 to 700 N and back, (n,)."""
    s = np.clip((times - start) / (end - start), 0, 1)
    return 700 * np.sin(np.pi * s) ** 0.5 * (s > 0) * (s < 1)


def plate(name, load, place, centre=(0, 0, 0), free=0.0, times=FINE):
    """A plate that is pushed at places (n, 3), with a tenth of the load forward, and a free moment (n,)."""
    force = np.stack([0.1 * load, 0 * load, load], axis=1)
    moment = np.cross(np.asarray(place) - centre, force) + np.outer(free * load, [0, 0, 1])
    return trundle.ForcePlate(name, CORNERS + centre, times, force, moment)


def test_the_impulse_of_a_mean_is_the_samples_own(rng):
    for _ in range(20):
        count = int(rng.integers(50, 400))
        times = np.cumsum(rng.uniform(0.2e-3, 1e-3, count))
        force, moment = rng.normal(size=(2, count, 3))
        given = trundle.ForcePlate("p", CORNERS, times, force, moment)
        wanted = np.sort(rng.uniform(times[0], times[-1], int(rng.integers(2, count // 8))))
        if not denser(
            times, wanted
        ):  # two times that happen to be next to each other: the rule there is another
            continue
        found = given.at(wanted)
        edges = np.concatenate([[1.5 * wanted[0] - 0.5 * wanted[1]], (wanted[1:] + wanted[:-1]) / 2])
        edges = np.clip(np.append(edges, 1.5 * wanted[-1] - 0.5 * wanted[-2]), times[0], times[-1])
        middles = np.concatenate([[times[0]], (times[1:] + times[:-1]) / 2, [times[-1]]])
        # what of every sample's interval lies within the times' own
        inside = np.clip(np.minimum(middles[1:], edges[-1]) - np.maximum(middles[:-1], edges[0]), 0, None)
        for mean, samples in ((found.force, force), (found.moment, moment)):
            np.testing.assert_allclose(np.diff(edges) @ mean, inside @ samples, atol=1e-13)


def test_what_swings_is_met_at_the_times_themselves():
    """Over 10 ms a mean takes 2.8 % of what swings at 13 Hz; a tenth of that stays: sinc(fh) (1 + sin²(πfh)/6)."""
    fine, coarse = np.arange(20001) / 10000, np.arange(201) / 100
    force = np.outer(np.sin(2 * np.pi * 13 * fine), [0, 0, 1.0])
    there = trundle.ForcePlate("p", CORNERS, fine, force, 2 * force).at(coarse)
    left = np.sinc(0.13) * (1 + np.sin(np.pi * 0.13) ** 2 / 6)
    assert np.sinc(0.13) < 0.973 < 0.997 < left < 1
    expected, inside = left * np.sin(2 * np.pi * 13 * coarse), slice(2, -2)
    # to what the samples' own intervals are off, (π f 1e-4)²/6
    np.testing.assert_allclose(there.force[inside, 2], expected[inside], atol=1e-5)
    np.testing.assert_allclose(there.moment[inside, 2], 2 * expected[inside], atol=2e-5)


def test_as_many_samples_as_times_stay_as_they_are_and_fewer_are_linear():
    given = plate("p", step(0.2, 0.9), np.zeros((2000, 3)))
    np.testing.assert_array_equal(given.at(FINE).force, given.force)
    finer = np.arange(4001) / 2001
    np.testing.assert_allclose(
        given.at(finer[:3000]).force[:, 2], np.interp(finer[:3000], FINE, given.force[:, 2])
    )


@pytest.mark.parametrize(
    "method", [{"method": "butterworth", "cutoff": 20}, {"method": "savitzky_golay", "window": 31}]
)
def test_smoothing_keeps_what_force_and_moment_say_together(rng, method):
    load, at = step(0.3, 0.9) + rng.normal(scale=3, size=2000), np.tile([0.11, -0.05, 0.0], (2000, 1))
    given = plate("p", load, at, free=0.004)
    smooth = given.smoothed(method)
    # one place and one free moment a newton under any load: no filter of these themselves keeps that
    pushed = smooth.wrench("foot")
    stood = pushed.force[:, 2] > 0
    assert stood.sum() > 500
    np.testing.assert_allclose(pushed.point.position(frame=pushed.frame)[stood], at[stood], atol=1e-12)
    np.testing.assert_allclose(
        pushed.moment[stood], np.outer(0.004 * pushed.force[stood, 2], [0, 0, 1]), atol=1e-10
    )
    # wherever the moment is counted from, the wrench is the same
    shift = np.array([3.0, -2.0, 0.0])
    moved = trundle.ForcePlate(
        "p", CORNERS + shift, FINE, given.force, given.moment - np.cross(shift, given.force)
    )
    one, other = (each.at(each.frame.origin) for each in (pushed, moved.smoothed(method).wrench("foot")))
    np.testing.assert_allclose(one.moment, other.moment, atol=1e-9)
    # forward in time and backward: nothing lags
    back = trundle.ForcePlate("p", CORNERS, FINE, given.force[::-1], given.moment[::-1]).smoothed(method)
    np.testing.assert_allclose(back.force[::-1][200:-200], smooth.force[200:-200], atol=1e-9)
    # as a table of ground reactions it is the same wrench
    place = np.where(load[:, None] != 0, at, 0.0)
    ground = trundle.GroundReaction(
        "g", FINE, given.force, place, given.moment - np.cross(place, given.force)
    )
    for there in (COARSE, FINE):
        one, other = (each.smoothed(method).at(there) for each in (given, ground))
        np.testing.assert_allclose(one.moment, np.cross(other.place, other.force) + other.torque, atol=1e-9)
    np.testing.assert_allclose(other.place[other.pressing > 20], at[other.pressing > 20], atol=1e-12)


def test_a_filter_that_rings_pushes_nobody():
    """What a filter leaves below zero is no load: a plate doesn't pull."""
    load = np.where((FINE > 0.5) & (FINE < 1), 800.0, 0.0)
    smooth = plate("p", load, np.zeros((2000, 3))).smoothed("butterworth", cutoff=20)
    assert smooth.force[:, 2].min() < -25
    assert smooth.wrench("foot").force[:, 2].min() == 0


WALKER = {
    "trundle": 1,
    "robot": {
        "name": "walker",
        "base": "floating",
        "body": {"name": "pelvis", "mass": 40, "inertia": {"xx": 1, "yy": 1, "zz": 1}},
        "joints": {
            f"{part}_{side}": {
                "axis": [0, 1, 0],
                "at": [0, y if part == "hip" else 0, 0 if part == "hip" else -0.85],
                "parent": "pelvis" if part == "hip" else f"leg_{side}",
                "body": {"name": f"{body}_{side}", "mass": 5, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}},
            }
            for side, y in (("r", -0.1), ("l", 0.1))
            for part, body in (("hip", "leg"), ("ankle", "foot"))
        },
    },
}
SPOTS = {"heel": (-0.07, 0.0, -0.05), "toe": (0.15, 0.0, -0.05)}
MARKERS = (
    {f"{name}_{side}": (f"foot_{side}", at) for side in "rl" for name, at in SPOTS.items()}
    | {f"knee_{side}": (f"leg_{side}", (0.05, 0.02, -0.4)) for side in "rl"}
    | {
        f"hip_{k}": ("pelvis", at)
        for k, at in enumerate([(0.1, 0.1, 0.1), (-0.1, 0.1, 0.1), (0.1, -0.1, 0.1)])
    }
)


def hops(places, y=(-0.1, 0.1)):
    """A recording in which each foot stands at these x (n,), the pelvis over their middle, all axes straight."""
    seen = {}
    for side, x, across in zip("rl", places, y, strict=True):
        for name, at in SPOTS.items():
            seen[f"{name}_{side}"] = np.stack(
                [x + at[0], np.full(len(x), across), np.full(len(x), 0.03)], axis=1
            )
    return seen


def feet(seen):
    return {f"foot_{side}": np.stack([seen[f"{name}_{side}"] for name in SPOTS], axis=1) for side in "rl"}


def stood(plates, seen, pairs=(), times=COARSE):
    from trundle.limbs.capture.assigned_plates import standing

    return standing(plates, pairs, feet(seen), times, 20.0)


def under(x, y=-0.1, times=FINE):
    return np.stack([x + 0 * times, y + 0 * times, 0 * times], axis=1)


def test_the_foot_is_found_contact_by_contact():
    """The right foot on plate 1, then across to plate 2 with a part of its load, and the left one on plate 1 later."""
    right = np.where(COARSE < 0.95, 0.0, 1.2)
    left = np.where(COARSE < 1.2, 0.8, 0.05)
    seen = hops((right, left))
    first = step(0.2, 0.8) + step(1.3, 1.9)
    spots = np.where(FINE[:, None] < 1, under(0.08), under(0.1, 0.1))
    across = plate("b", 0.4 * step(0.4, 0.8), under(0.15), (0.61, 0, 0))
    found = stood([plate("a", first, spots, free=0.01), across], seen)
    told = [(contact.plate, contact.body, contact.by) for contact in found.contacts]
    assert told == [("a", "foot_r", "markers"), ("a", "foot_l", "markers"), ("b", "foot_r", "markers")]
    assert [contact.start for contact in found.contacts] == pytest.approx([0.2, 1.3, 0.4], abs=0.011)
    assert all((contact.off or 1) < 0.1 < (contact.margin or 0) for contact in found.contacts)
    assert not found.lonely
    # what feet get is all that plates give, down to where they give nothing
    for name in "ab":
        pushes = [wrench for wrench in found.wrenches if wrench.by == name]
        given = {"a": plate("a", first, spots, free=0.01), "b": across}[name]
        whole = given.wrench("all", times=COARSE, threshold=1e-9)
        np.testing.assert_allclose(sum(wrench.force for wrench in pushes), whole.force, atol=1e-12)
        moments = [wrench.at(wrench.frame.origin).moment for wrench in pushes]
        np.testing.assert_allclose(sum(moments), whole.at(whole.frame.origin).moment, atol=1e-12)


def test_a_load_that_comes_and_goes_is_whole_and_has_no_centre_of_its_own():
    """A threshold tells contacts: what is below it as a foot lands and leaves acts where the load was last known."""
    seen = hops((np.zeros(200), np.full(200, 0.6)))
    load = np.interp(FINE, [0.3, 0.4, 0.7, 0.8], [0, 800, 800, 0])
    drift = np.where(FINE > 1.2, 8.0, 0.0)  # nobody's
    given = plate("a", load + drift, under(0.2 * (FINE - 0.5)), free=0.01)
    (push,) = stood([given], seen).wrenches
    average = given.at(COARSE)
    inside = (COARSE > 0.295) & (COARSE < 0.805)
    np.testing.assert_allclose(push.force, np.where(inside[:, None], average.force, 0), atol=1e-9)
    about = push.at(push.frame.origin).moment
    np.testing.assert_allclose(about, np.where(inside[:, None], average.moment, 0), atol=1e-9)
    places = np.asarray(push.point.position(frame=push.frame))
    light = inside & (average.pressing < 20)
    assert light.sum() == 2
    np.testing.assert_array_equal(places[light], places[[31, 79]])


def test_a_marker_that_was_not_seen_drops_out():
    seen = hops((np.zeros(200), np.full(200, 0.6)))
    seen["toe_r"][20:80] = np.nan
    seen["heel_r"][30:40] = np.nan
    (contact,) = stood([plate("a", step(0.1, 0.9), under(0.0))], seen).contacts
    assert contact.body == "foot_r"
    assert (contact.off or 1) < 0.1


def test_two_feet_on_a_plate_are_refused_by_names_and_times():
    seen = hops((np.zeros(200), np.full(200, 0.45)))
    shift = under(0.0) + np.outer(np.clip((FINE - 0.6) / 0.1, 0, 1), [0.45, 0.2, 0])
    with pytest.raises(
        InputError, match=r"'a' from 0.2 to 1 s has two feet on it: 'foot_r', and 'foot_l' from 0.6"
    ):
        stood([plate("a", step(0.2, 1.0), shift)], seen)
    # who says whose it is has the say
    with pytest.warns(
        UserWarning, match="said to push 'foot_l', whose markers are 257 mm .* nearest is 'foot_r'"
    ):
        found = stood([plate("a", step(0.2, 1.0), shift)], seen, [("foot_l", "a")])
    assert [(contact.body, contact.by) for contact in found.contacts] == [("foot_l", "external")]
    # of two that are named, the nearer
    found = stood([plate("a", step(0.2, 1.0), under(0.0))], seen, [("foot_l", "a"), ("foot_r", "plate1")])
    assert [(contact.body, contact.by) for contact in found.contacts] == [("foot_r", "markers")]


def test_feet_that_are_as_near_are_refused():
    seen = hops((np.zeros(200), np.full(200, 0.02)))
    with pytest.raises(
        InputError,
        match=r"'a' from 0.2 to 1 s: the centre of pressure is off 'foot_r' by 104 mm and 'foot_l' by 104 mm",
    ):
        stood([plate("a", step(0.2, 1.0), under(0.0, 0.0))], seen)


def test_somebody_elses_foot_is_nobodys():
    seen = hops((np.zeros(200), np.full(200, 0.6)))
    far = plate("a", step(0.2, 1.0), under(0.1, 0.9))
    found = stood([far], seen)
    assert not found.contacts
    ((lonely, start, end),) = found.lonely
    assert lonely is far
    assert (start, end) == pytest.approx((0.2, 1.0), abs=0.02)
    with pytest.warns(
        UserWarning, match=r"said to push 'foot_r', whose markers are 1\d{3} mm from its centre of pressure"
    ):
        stood([far], seen, [("foot_r", "a")])


def test_a_foot_is_the_last_body_with_markers_unless_told():
    from trundle.limbs.capture.assigned_plates import feet_of
    from trundle.limbs.capture.joint_motion import moving_of

    assembly = moving_of(WALKER).mechanism.assembly
    seen = {name: np.zeros((3, 3)) for name in MARKERS}
    assert set(feet_of(assembly, seen, MARKERS, [])) == {"foot_r", "foot_l"}
    assert set(feet_of(assembly, seen, MARKERS, ["leg_r"])) == {"leg_r", "foot_l"}
    assert feet_of(assembly, seen, MARKERS, [])["foot_r"].shape == (3, 2, 3)


BORDER, ARM = (
    0.05,
    0.1,
)  # where the plates meet (m, along x), and how far apart a foot that crosses presses on both


def crossed(time, noise):
    """Two plates one behind the other under a walk on a belt: every foot lands on the first and goes over to the
    second, while the other one lands.
    """
    from examples.gait import walk

    centres = {"front": np.array([0.55, 0.03, 0.0]), "rear": np.array([-0.45, -0.02, 0.0])}
    half = np.array([(0.5, 0.4, 0), (-0.5, 0.4, 0), (-0.5, -0.4, 0), (0.5, -0.4, 0)])
    loads = {name: [np.zeros((len(time), 3)), np.zeros((len(time), 3))] for name in centres}
    for force, place, free in walk.pushes(time).values():
        s = np.clip((place[:, [0]] - BORDER) / 0.16 + 0.5, 0, 1)
        s = s * s * (3 - 2 * s)
        for name, share, arm in (("front", s, (1 - s) * ARM), ("rear", 1 - s, -s * ARM)):
            at = place + arm * [1, 0, 0]
            loads[name][0] += share * force
            loads[name][1] += share * (np.cross(at - centres[name], force) + free)
    return [
        trundle.ForcePlate(
            name,
            centres[name] + half,
            time,
            force + noise.normal(scale=1.0, size=force.shape),
            moment + noise.normal(scale=0.1, size=force.shape),
        )
        for name, (force, moment) in loads.items()
    ]


def measured(end, noise):
    """A walk on plates that feet cross, until a time (s), with 0.5 mm of noise on markers and the plates' own: what
    comes of it, and what is true.
    """
    from examples.gait import walk

    time, fine = np.arange(0, end, 0.01), np.arange(0, end + 0.0085, 0.001)
    true = walk.loads(time)
    seen = {
        name: each + noise.normal(scale=5e-4, size=each.shape) for name, each in walk.markers(true).items()
    }
    found = trundle.inverse(
        walk.PERSON,
        trundle.Recording(time, seen, plates=tuple(crossed(fine, noise))),
        markers=walk.MARKERS,
        smoothing={"method": "butterworth", "cutoff": 8.0, "order": 4},
        plate_smoothing={"method": "butterworth", "cutoff": 25.0, "order": 4},
        threshold=5.0,
        progress=False,
    )
    return found, true


def errors(found, true):
    """By joint of the legs, inside: of angles the root of the mean square (degrees), of moments that and the largest at
    any time, both by the peak.
    """
    from examples.gait import walk

    time, exact = found.motion.time, walk.motion(found.motion.time)
    inside = (time > 0.5) & (time < time[-1] - 0.5)
    for name in [f"{name}_{side}" for name in walk.LEGS for side in "rl"]:
        angle = np.degrees(found.motion[f"{name}.angle"] - exact[f"{name}.angle"])[inside]
        moment = true.actuator_torque[f"{name}.rate"]
        off = (found.loads.actuator_torque[f"{name}.rate"] - moment)[inside] / np.abs(moment).max()
        yield name, np.sqrt(np.mean(angle**2)), np.sqrt(np.mean(off**2)), np.abs(off).max()


@pytest.mark.slow
def test_feet_that_cross_from_plate_to_plate_in_a_noisy_walk():
    """0.5 mm of noise of markers, 1 N of plates: whose foot is where, and moments to 3 % of the peak at any time."""
    from examples.gait import walk

    found, true = measured(5.501, np.random.default_rng(0))
    strikes = {"foot_r": np.arange(walk.START, 5.4, walk.PERIOD), "foot_l": np.arange(1.05, 5.4, walk.PERIOD)}
    for foot, times in strikes.items():
        lands = [contact for contact in found.contacts if (contact.plate, contact.body) == ("front", foot)]
        for when in times[times < 5.0]:
            near = min(lands, key=lambda contact, when=when: abs(contact.start - when))
            assert abs(near.start - when) < 0.04
            crossing = [
                c
                for c in found.contacts
                if (c.plate, c.body) == ("rear", foot) and near.start < c.start < near.end
            ]
            assert crossing
    for name, _, _, worst in errors(found, true):
        print(f"{name}: {worst:.2%} of the peak at most")
        assert worst < 0.03


@pytest.mark.campaign
def test_walks_of_ten_strides_on_plates_that_feet_cross(campaign):
    """Angles to 0.2 degrees; moments to 3 % of the peak at any time, and 1 % as the root of the mean square.

    The largest of 12 moments at 1,100 times is four standard deviations of the noise, and chance has a say in it: of
    seeds 100 to 119 it was 2.2 to 2.98 %. So nine draws of ten have to stay below 3 %, all below 3.5 %. No other filter
    does better: the walk's harmonics reach 7.3 Hz, so that 7 Hz takes 4.5 % of hips' flexion, and 9 Hz leaves noise of
    3.5 % in hips' adduction; order 6 has less of both on the mean, 2.48 % for 2.56, and 3.2 % once in 20 draws.
    """
    largest = []
    for case in campaign(40, least=2):
        found = list(errors(*measured(12.001, case)))
        assert max(angle for _, angle, _, _ in found) < 0.2
        assert max(mean for _, _, mean, _ in found) < 0.01
        largest.append(max(found, key=lambda each: each[3]))
        print(f"{largest[-1][0]}: {largest[-1][3]:.2%} of the peak at most")
    worst = np.array([each[3] for each in largest])
    assert worst.max() < 0.035
    assert (worst >= 0.03).sum() <= max(1, len(worst) // 10)


@pytest.mark.slow
def test_of_an_exact_walk_nothing_is_lost():
    """Without noise and filters what is left is what plates of 1000 Hz lose at a motion's 100 Hz: 0.1 % of the peak."""
    from examples.gait import walk

    time, fine = np.arange(0, 3.301, 0.01), np.arange(0, 3.3095, 0.001)
    true = walk.loads(time)
    still = type("Still", (), {"normal": staticmethod(lambda scale, size: np.zeros(size))})
    found = trundle.inverse(
        walk.PERSON,
        trundle.Recording(time, walk.markers(true), plates=tuple(crossed(fine, still))),
        markers=walk.MARKERS,
        progress=False,
    )
    for name, _, _, worst in errors(found, true):
        print(f"{name}: {worst:.2%} of the peak at most")
        assert worst < 0.002

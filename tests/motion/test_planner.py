"""The coordinated planner: no slip, every limit held, never slower than plain ways."""

from itertools import permutations

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.motion.drive.drive import QUANTITIES, Limits
from trundle.motion.pieces.motion import total
from trundle.motion.pieces.profiles import move_time
from trundle.motion.planning.courses import THOROUGH, fit_speeds, least_duration, log_rates, waves
from trundle.motion.planning.planner import plan, plan_to_pose
from trundle.motion.planning.proofs import bounds, least_time
from trundle.motion.planning.search import through_rest
from trundle.motion.planning.splines import sampling
from trundle.motion.planning.ways import laid, ways

FULL = Limits(2, 10, 75, 1, 5, 10)
PLAIN = Limits(steering_rate=2, drive_speed=1, drive_acceleration=5)
# Kinds of pairs of twists, a tenth of them each.
KINDS = ("rest", "axis", "rotation", "from rest", "about a module", *("any",) * 5)


@pytest.fixture(scope="module")
def square():
    """The kinematics of four modules at (±0.5, ±0.5) m."""
    return trundle.kinematics(trundle.catalog.swerve())


def speeds(square, twist):
    return np.hypot(*(square.matrix @ twist).reshape(-1, 2).T)


def random_twist(square, rng):
    """Uniform over the twists whose fastest module is within 1 m/s."""
    while True:
        twist = rng.uniform(-1, 1, 3) * [1, 1, 1.5]
        if speeds(square, twist).max() <= 1:
            return twist


def random_pair(square, rng, kind):
    """Start, end, and the modules' angles at the start."""
    start, end = random_twist(square, rng), random_twist(square, rng)
    x, y = square.places[rng.integers(4)]
    about = np.array([y, -x, 1.0])
    if kind == "rest":
        end = -start * rng.uniform(0.1, 1)
    elif kind == "axis":
        share = rng.uniform(0.2, 0.8)
        end = (rng.uniform(-0.6, 0.6) * about - (1 - share) * start) / share
        end /= max(1.0, speeds(square, end).max())
    elif kind == "rotation":
        start = np.array([0, 0, rng.uniform(-1, 1) * 1.4])
    elif kind == "from rest":
        return np.zeros(3), end, rng.uniform(-3, 3, 4)
    elif kind == "about a module":
        end = about * rng.uniform(-0.5, 0.5)
    return start, end, np.arctan2(*(square.matrix @ start).reshape(-1, 2).T[::-1])


def check(found, limits, start, end, step=1e-4):
    """No slip, all limits held to 1e-9, twists and angles without jumps."""
    times = np.linspace(0, found.duration, int(found.duration / step) + 2)
    s = found.samples(times)
    assert all(np.isfinite(getattr(s, name)).all() for name in QUANTITIES)
    agreed = (found.kinematics.matrix @ s.twist.T).T.reshape(len(times), -1, 2)
    rolled = s.drive_speed[..., None] * np.stack([np.cos(s.angle), np.sin(s.angle)], axis=-1)
    assert np.abs(agreed - rolled).max() <= 1e-9
    for name in QUANTITIES:
        assert np.abs(getattr(s, name)).max() <= limits.of(name) * (1 + 1e-9), name
    assert np.abs(s.twist[[0, -1]] - [start, end]).max() <= 1e-9
    assert np.abs(np.diff(s.angle, axis=0)).max() <= limits.steering_rate * step * 1.01
    assert np.abs(np.diff(s.drive_speed, axis=0)).max() <= limits.drive_acceleration * step * 1.01
    # no impulses: what the derivatives are limited to, the quantities change by
    smooth = ("steering_rate", "steering_acceleration", "drive_acceleration")
    for name, rate in zip(smooth, ("steering_acceleration", "steering_jerk", "drive_jerk"), strict=True):
        if np.isfinite(limits.of(rate)):
            most = limits.of(rate) * np.diff(times).max() * (1 + 1e-9)
            assert np.abs(np.diff(getattr(s, name), axis=0)).max() <= most + 1e-9, name
    return s


TRANSITIONS = [  # from, to, the best of PathPlanner's setpoint generator, of the straight line, and of stopping
    ((1, 0, 0), (0, 1, 0), 0.785),
    ((1, 0, 0), (0, 0, 1), 0.73),
    ((0.5, 0, 0.5), (0, 0.5, -0.5), 0.87),
    ((0.3, -0.1, 0.4), (0.11, -0.3, 0.4), 0.49),
    ((0.3, -0.1, 0.4), (0.14, -0.3, 0.4), 0.49),
    ((0.3, -0.1, 0.4), (0.1, -0.3, 0.4), 0.49),
]


@pytest.mark.parametrize(("start", "end", "best"), TRANSITIONS)
def test_known_transitions_take_no_longer_than_other_planners(square, start, end, best):
    found = plan(square, end, start=start, limits=PLAIN)
    check(found, PLAIN, start, end)
    assert found.duration <= best + 0.005


@pytest.mark.parametrize(("start", "end", "best"), TRANSITIONS[2:])
def test_where_line_and_stop_are_slow_another_way_is_faster(square, start, end, best):
    assert plan(square, end, start=start, limits=PLAIN).duration <= 0.95 * best


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_random_pairs(square, rng, kind):
    for _ in range(2):
        start, end, angles = random_pair(square, rng, kind)
        found = plan(square, end, start=start, angles=angles, limits=FULL)
        check(found, FULL, start, end)
        assert found.duration <= baselines(square, start, end, angles) * (1 + 1e-9)


def baselines(square, start, end, angles):
    """The faster of the straight line of twists and of stopping, under the same limits and certificate."""
    drive = square.drive.limited(FULL)
    stop = total(through_rest(drive, start, end, angles))
    if min(speeds(square, start).min(), speeds(square, end).min()) < 1e-9:
        return stop
    line = next(way for way in ways(drive, start, end) if way.kind == "line" and way.sign == 1)
    controls, crossing = laid(drive, line)
    sizes = [np.linalg.norm(each) for each in (start, end, controls[0], controls[-1])]
    ends = np.array([[sizes[0] / sizes[2], sizes[1] / sizes[3]]])
    steered = least_duration(drive, log_rates(waves(drive, controls[None], [crossing], sampling())))
    steered = np.maximum(steered, least_time(drive, start, end, angles))
    r, _ = fit_speeds(drive, controls[None], [crossing], ends, steered, THOROUGH)
    return min(stop, bounds(drive, controls, crossing, r[0]).duration(drive))


@pytest.mark.campaign
def test_ten_thousand_pairs(square, campaign):
    gaps, drive = [], square.drive.limited(FULL)
    for case, rng in enumerate(campaign(10_000)):
        start, end, angles = random_pair(square, rng, KINDS[case % 10])
        found = plan(square, end, start=start, angles=angles, limits=FULL)
        check(found, FULL, start, end)
        assert found.duration <= baselines(square, start, end, angles) * (1 + 1e-9)
        gaps.append(1 - least_time(drive, start, end, angles) / found.duration)
        assert gaps[-1] >= -1e-9
    print(f"median gap {np.median(gaps):.3f}")
    assert np.median(gaps) <= 0.25 or len(gaps) < 100


def random_pose(rng):
    return (*rng.uniform(-3, 3, 2).tolist(), float(rng.uniform(-np.pi, np.pi)))


@pytest.mark.campaign
def test_a_thousand_poses(square, campaign):
    ratios = []
    for rng in campaign(1_000):
        start, end, angles = random_pose(rng), random_pose(rng), rng.uniform(-3, 3, 4)
        found = plan_to_pose(square, end, pose=start, angles=angles, limits=FULL)
        missed = found.poses(found.duration)[0] - end
        assert np.abs(missed[:2]).max() <= 1e-9
        assert abs(np.remainder(missed[2] + np.pi, 2 * np.pi) - np.pi) <= 1e-9
        check(found, FULL, np.zeros(3), np.zeros(3), step=1e-3)
        apart = complex(*np.subtract(end[:2], start[:2])) * np.exp(-1j * start[2])
        chords = np.abs(apart + (np.exp(1j * (end[2] - start[2])) - 1) * (square.places @ [1, 1j]))
        ratios.append(found.duration / move_time(chords.max(), 1, 5, 10))  # of one wheel straight on
    assert np.median(ratios) <= 1.5 or len(ratios) < 100


@pytest.mark.parametrize("target", [(5, 0, 3.1), (0, 5, 3), (-4, 3, -2.8)])
def test_to_a_pose_no_slower_than_straight_on_and_a_turn(square, target):
    """Far away and nearly turned round an arc is a detour: two plans one behind the other are no faster."""
    found = plan_to_pose(square, target, limits=FULL)
    check(found, FULL, np.zeros(3), np.zeros(3))
    assert found.poses(found.duration)[0] == pytest.approx(target, abs=1e-9)
    there = plan_to_pose(square, (*target[:2], 0), limits=FULL)
    after = there.transitions[0].end_angles
    turned = plan_to_pose(square, target, pose=(*target[:2], 0), angles=after, limits=FULL)
    assert found.duration <= (there.duration + turned.duration) * (1 + 1e-12)


def test_already_there(square):
    """A motion that is over at once has a pose and samples, too."""
    for found in (
        plan(square, (0, 0, 0), limits=FULL),
        plan_to_pose(square, (1, 2, 3), pose=(1, 2, 3), limits=FULL),
    ):
        assert found.duration == 0
        np.testing.assert_array_equal(found.poses([0, 0]), [found.start, found.start])
        assert not found.distances([0]).any()
        assert not found.samples([0]).twist.any()


@pytest.mark.parametrize("wish", [("1 m/s", 0, 0), [(1, 0, 0), (1, 0)], None])
def test_targets_that_are_no_numbers(square, wish):
    with pytest.raises(InputError, match="targets must hold real numbers"):
        plan(square, wish, limits=FULL)


def test_a_start_faster_than_the_limits_is_told(square):
    for found in (
        plan(square, (0.5, 0, 0), start=(1.2, 0, 0), limits=FULL),
        plan_to_pose(square, (3, 0, 0), start=(1.2, 0, 0), limits=FULL),
    ):
        assert len(found.notes) == 1
        assert "start: it needs 1.2 m/s of" in found.notes[0]
    assert not plan(square, (0.5, 0, 0), start=(1, 0, 0), limits=FULL).notes


def test_to_a_pose_from_a_moving_start(square):
    found = plan_to_pose(square, (1, 2, 0.5), start=(0.3, 0.2, -0.3), limits=FULL)
    assert found.poses(found.duration)[0] == pytest.approx([1, 2, 0.5], abs=1e-9)
    check(found, FULL, (0.3, 0.2, -0.3), np.zeros(3))


def test_a_sequence_joins_without_jumps(square):
    twists = [(0.5, 0, 0), (0, 0.5, 0.2), (0, 0, 0), (0.2, -0.1, -0.5)]
    found = plan(square, twists, limits=FULL)
    check(found, FULL, np.zeros(3), twists[-1])
    ends = np.cumsum([each.duration for each in found.transitions])
    assert found.samples(ends).twist == pytest.approx(np.array(twists), abs=1e-9)
    assert len(found.candidates) == 4


def test_candidates_tell_why_they_lost(square):
    found = plan(square, (0.1, -0.3, 0.4), start=(0.3, -0.1, 0.4), limits=PLAIN)
    first, *others = found.candidates[0]
    assert first.verdict == "chosen"
    assert "axis of" in first.way
    assert any("straight line" in each.way for each in others)
    assert all(
        "longer" in each.verdict or "slower" in each.verdict or "fast" in each.verdict for each in others
    )


def test_motion_that_changes_nothing_takes_no_time(square):
    for twist in ((0, 0, 0), (0.5, 0, 0)):
        found = plan(square, twist, start=twist, limits=FULL)
        assert found.duration == 0
        assert found.samples([0.0]).twist[0] == pytest.approx(twist)


def test_a_zero_twist_holds_the_angles(square):
    found = plan(square, (0, 0, 0), start=(0.3, 0.4, 0), limits=FULL)
    s = found.samples([0, found.duration])
    assert (s.angle[0] == s.angle[1]).all()
    assert found.duration == pytest.approx(2 * np.sqrt(0.5 / 10))  # 2 √(v/j)


@pytest.mark.parametrize(
    ("policy", "reached"), [("hold", (0.3, 0, 0)), ("stop", (0, 0, 0)), ("nearest", (1, 0, 0))]
)
def test_what_is_done_beyond_a_limit(square, policy, reached):
    found = plan(square, (2, 0, 0), start=(0.3, 0, 0), limits=FULL, infeasible=policy)
    assert found.samples([found.duration]).twist[0] == pytest.approx(reached, abs=1e-12)
    assert "drive_speed is 1 m/s" in found.notes[0]
    assert any(name in found.notes[0] for name in square.names)


@pytest.mark.parametrize("places", [(0.5, -0.5), (0.6, 0.2, -0.1, -0.5)])
@pytest.mark.parametrize(
    "limits",
    [
        PLAIN,
        Limits(steering_rate=2, steering_acceleration=10, drive_acceleration=3),
        Limits(steering_acceleration=10, drive_jerk=3),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_modules_in_a_line(places, limits):
    """Twists may change without steering, and what has no limit need not be bounded."""
    wheels = {
        f"at_{k}": {"type": "steered", "at": [x, 0, 0], "radius": 0.1, "width": 0.1, "mass": 1}
        for k, x in enumerate(places)
    }
    body = {"mass": 5, "inertia": {"zz": 1}}
    robot = trundle.kinematics({"robot": {"name": "line", "base": "planar", "body": body, "wheels": wheels}})
    for start, end in permutations([(0, 0.3, 0), (0, 0, 0.6), (0, 0.05, 0.3), (0.3, 0, 0)], 2):
        found = plan(robot, end, start=start, limits=limits)
        check(found, limits, start, end)


def test_limited_ranges_are_kept(square, rng):
    limited = Limits(2, 10, 75, 1, 5, 10, steering_range=(-1.8, 1.8))
    for _ in range(6):
        found = plan(square, [random_twist(square, rng) for _ in range(3)], limits=limited)
        s = found.samples(np.linspace(0, found.duration, 2000))
        assert np.abs(s.angle).max() <= 1.8 + 1e-9


def test_a_twist_outside_every_range_is_named(square):
    limited = Limits(2, 10, 75, 1, 5, 10, steering_range=(-0.5, 0.5))
    found = plan(square, (0, 1, 0), limits=limited)
    assert "steering_range" in found.notes[0]
    assert found.duration == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"infeasible": "guess"}, "no policy 'guess'"),
        ({"angles": [0, 0, 0]}, "expected 4 angles"),
        ({"start": (1, 0, 0), "angles": [0, 0, 0, 0.3]}, "would slip at 0.296 m/s"),
        ({"limits": {"nobody": FULL}}, "no module 'nobody'"),
        ({"limits": {"front_left": FULL}}, "limits lack"),
        ({"limits": Limits(drive_speed=1)}, "would take no time"),
        ({"start": (1, 0)}, "expected three finite numbers"),
    ],
)
def test_bad_input(square, given, said):
    with pytest.raises(InputError, match=said):
        plan(square, (0.5, 0, 0), **{"limits": FULL, **given})


def test_wheels_that_cannot_steer_are_named():
    with pytest.raises(InputError, match="is not steered"):
        plan(trundle.catalog.mecanum(), (1, 0, 0), limits=FULL)


@pytest.mark.parametrize("change", [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5])
def test_the_shortest_courses_hold_their_limits_too(square, rng, change):
    """Where twists differ by so little, rounding of the course is a jerk of the steering: 5e-6 over its limit once."""
    for _ in range(4):
        start = rng.uniform(-0.4, 0.4, 3)
        found = plan(square, start + rng.uniform(-1, 1, 3) * change, start=start, limits=FULL)
        samples = found.samples(np.linspace(0, found.duration, 801))
        for name in QUANTITIES:
            limit = getattr(FULL, name)
            assert np.abs(getattr(samples, name)).max() <= limit * (1 + 1e-9), name

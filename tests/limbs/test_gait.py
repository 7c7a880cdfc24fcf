"""A walk in cycles: events of plates, markers and recordings, lengths, work, and what is left out of means."""

import numpy as np
import pytest

import trundle
from limbs import walker
from trundle.errors import InputError

EXTERNAL = {"foot_r": "right", "foot_l": "left"}


@pytest.fixture(scope="module")
def robot():
    return walker.robot()


@pytest.fixture(scope="module")
def found(robot):
    recording = walker.recording(plates=tuple(walker.plates()))
    return trundle.inverse(robot, recording, external=EXTERNAL, markers=None)


@pytest.fixture(scope="module")
def gait(found):
    return found.gait(mass=walker.MASS)


def measured(gait, side, name):
    return next(each for each in gait.measures if (each.side, each.name) == (side, name))


def test_plates_tell_when_feet_are_down(gait):
    assert gait.source == "plates"
    for side, steps in gait.steps.items():
        # The bow passes 20 N within a millisecond, and the plates' samples are as far apart.
        assert steps.strikes == pytest.approx(walker.strikes(side), abs=2e-3)
        assert steps.offs == pytest.approx(walker.offs(side), abs=2e-3)
        assert measured(gait, side, "stride time").mean == pytest.approx(walker.STRIDE, abs=1e-3)
        assert gait.off(side) == pytest.approx(100 * walker.STANCE, abs=0.2)
        assert measured(gait, side, "cadence").mean == pytest.approx(120 / walker.STRIDE, abs=0.2)


def marked(robot, belt):
    """The walk from markers alone."""
    motion = walker.recording(belt)
    loads = trundle.joint_loads(robot, motion)
    markers = {
        name: loads.frames[body].point(name, at).position(frame=loads.world)
        for name, (body, at) in walker.MARKERS.items()
    }
    held = {name: motion.channels[name] for name in motion.channels}
    recording = trundle.Recording(motion.time, markers, held)
    return trundle.inverse(robot, recording, markers=walker.MARKERS, progress=False)


@pytest.mark.parametrize("belt", [0.0, walker.SPEED])
def test_markers_tell_it_too_and_how_long_steps_are(robot, belt):
    with pytest.warns(UserWarning, match="no plate has the foot's force"):
        gait = marked(robot, belt).gait()
    assert gait.source == "markers"
    for side, steps in gait.steps.items():
        # A heel is furthest ahead where it is as fast as the pelvis, some hundredths before it stands.
        true = walker.strikes(side)
        early = [np.abs(true - strike).min() for strike in steps.strikes]
        assert max(early) < 0.06
        assert measured(gait, side, "stride length").mean == pytest.approx(walker.LENGTH, abs=1e-3)
        assert measured(gait, side, "speed").mean == pytest.approx(walker.SPEED, abs=1e-3)
        assert measured(gait, side, "step length").mean == pytest.approx(walker.LENGTH / 2, abs=0.02)
        assert measured(gait, side, "step time").mean == pytest.approx(walker.STRIDE / 2, abs=1e-3)
    assert all(name.endswith(".angle") for name in gait.curves)


def test_the_recordings_own_events_come_first(robot):
    own = {"Right Foot Strike": (0.5, 1.5, 2.5), "Right Foot Off": (1.1, 2.1), "Left Foot Strike": (1.0,)}
    recording = walker.recording(plates=tuple(walker.plates()), events=own)
    found = trundle.inverse(robot, recording, external=EXTERNAL)
    with pytest.warns(UserWarning, match="the stance of 1 of 2 right cycles"):  # it was no stance at all
        gait = found.gait()
    assert gait.source == "recording"
    assert gait.spans["right"].tolist() == [[0.5, 1.5], [1.5, 2.5]]
    assert list(gait.spans) == ["right"]
    assert found.gait("plates").source == "plates"


def test_curves_are_cut_by_their_own_sides_strikes(found, gait):
    percent = gait.percent / 100
    for side in walker.PHASES:
        expected = walker.ankle(side, walker.PHASES[side] + walker.STRIDE * percent)
        assert gait.mean(f"{side}_ankle_dorsiflexion.angle") == pytest.approx(expected, abs=0.02)
        assert gait.deviation(f"{side}_ankle_dorsiflexion.angle").max() < 0.02
    run = found.to_run(mass=walker.MASS)
    start, end = gait.spans["left"][1]
    expected = np.interp(start + (end - start) * percent, run.time, run["ankle_angle_l.net"])
    assert gait.curves["left_ankle_dorsiflexion.moment"][1] == pytest.approx(expected, abs=0.02)


def test_work_by_phase_is_the_powers_integral(gait):
    for side in walker.PHASES:
        names = ("loading response", "single support", "pre-swing", "swing")
        parts = [
            measured(gait, side, f"{side} ankle {way} work, {phase}").values
            for phase in names
            for way in ("positive", "negative")
        ]
        power, loaded = gait.curves[f"{side}_ankle.power"], gait.spans[side][gait.loaded[side]]
        lasting = loaded[:, 1] - loaded[:, 0]
        whole = np.array([np.trapezoid(row, dx=t / 100) for row, t in zip(power, lasting, strict=True)])
        assert sum(parts) == pytest.approx(whole, abs=5e-3 * np.abs(parts).max())
        assert all((part >= 0).all() for part in parts[::2])
        assert all((part <= 0).all() for part in parts[1::2])


def test_cycles_without_the_foots_force_don_t_count_for_moments(robot):
    (right, left) = walker.plates()
    quiet = right.time > 2.5
    half = trundle.ForcePlate(
        "right", right.corners, right.time, np.where(quiet[:, None], 0, right.force), 0 * right.moment
    )
    recording = walker.recording(plates=(half, left), events=_events())
    with pytest.warns(UserWarning, match="the stance of 3 of 5 right cycles: their moments"):
        gait = trundle.inverse(robot, recording, external=EXTERNAL).gait("recording")
    assert gait.loaded["right"].tolist() == [True, True, False, False, False]
    assert len(gait.curves["right_ankle_dorsiflexion.moment"]) == 2
    assert len(gait.curves["right_ankle_dorsiflexion.angle"]) == 5


def _events():
    named = {}
    for side in walker.PHASES:
        named[f"{side.title()} Foot Strike"] = tuple(walker.strikes(side))
        named[f"{side.title()} Foot Off"] = tuple(walker.offs(side))
    return named


def test_a_missed_strike_makes_no_cycle_of_two(robot):
    strikes = [0.5, 1.6, 2.7, 4.9, 5.9]
    recording = walker.recording(events={"Right Foot Strike": strikes, "Right Foot Off": [1.1]})
    with pytest.warns(UserWarning, match="no plate has"):
        gait = trundle.inverse(robot, recording).gait()
    assert gait.spans["right"].tolist() == [[0.5, 1.6], [1.6, 2.7], [4.9, 5.9]]


def test_a_force_that_trembles_at_the_threshold_is_one_contact():
    t = np.arange(400) / 1000
    force = np.where((t > 0.1) & (t < 0.3), 20 + 8 * np.sin(2 * np.pi * 31 * t), 0.0)
    assert len(trundle.contacts(t, force, 20.0, 0.005)) > 3
    assert len(trundle.contacts(t, force, 20.0, 0.005, release=10.0)) == 1
    with pytest.raises(InputError, match="release: 30 N is above the threshold, 20 N"):
        trundle.contacts(t, force, 20.0, release=30.0)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("recording", "two strikes of one foot; recording: none"),
        ("markers", "markers: none"),
        ("auto", "recording: none; plates: none; markers: none"),
        ("plate", "there is no source of events 'plate'"),
    ],
)
def test_what_lacks_is_told(robot, by, message):
    with pytest.raises(InputError, match=message):
        trundle.inverse(robot, walker.recording()).gait(by)


def test_bands_of_mean_moments_have_the_noise_of_their_cycles(found):
    """Of K cycles markers' noise counts by √K less, segments' parameters are off in all alike; by mass and height."""
    time, names = found.motion.time, ("ankle_angle_r.net", "ankle_angle_l.net")
    values = {name: np.zeros(time.size) for name in names}
    sources = {"markers": 6.0, "segments": 8.0, "smoothing": 15.0}
    bands = trundle.Bands(
        time,
        values,
        {source: {name: np.full(time.size, sd) for name in names} for source, sd in sources.items()},
    )
    gait = found.gait(mass=70, height=1.75, bands=bands)
    assert set(gait.bands) == {"right_ankle_dorsiflexion.moment", "left_ankle_dorsiflexion.moment"}
    for side in ("right", "left"):
        name = f"{side}_ankle_dorsiflexion.moment"
        count = len(gait.curves[name])
        expected = 1.959963984540054 * np.sqrt(36 / count + 64 + 225) / (70 * 1.75)
        np.testing.assert_allclose(gait.bands[name], expected)
        low, high = gait.band(name)
        np.testing.assert_allclose(high - low, 2 * expected)
        table = gait.table()
        np.testing.assert_allclose(table[f"{name}.low [N m/(kg m)]"], low)
        np.testing.assert_allclose(table[f"{name}.high [N m/(kg m)]"], high)
    with pytest.raises(InputError, match="the gait has no band of 'right_hip_flexion.moment'"):
        gait.band("right_hip_flexion.moment")
    with pytest.raises(InputError, match="uncertainty"):
        found.gait().band("right_hip_flexion.moment")


@pytest.mark.parametrize("up", ["z", "y"])
@pytest.mark.parametrize("heading", [0.0, 2.5])
def test_a_pelvis_has_tilt_obliquity_and_rotation(up, heading):
    """A pelvis that is turned, then raised on the right, then tilted forward, whichever way its person walks."""
    from scipy.spatial.transform import Rotation

    hips = {
        f"hip_flexion_{side}": {"axis": [0, -1, 0] if up == "z" else [0, 0, 1], "body": {"mass": 1.0}}
        for side in "rl"
    }
    gravity = [0, 0, -9.81] if up == "z" else [0, -9.81, 0]
    robot = {"name": "hips", "base": "floating", "gravity": gravity, "joints": hips}
    robot["body"] = {"name": "pelvis", "mass": 10, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
    t = np.linspace(0, 4, 401)
    tilt, rise, lead = 0.2 + 0.1 * np.sin(t), 0.1 * np.cos(t), 0.15 * np.sin(2 * np.pi * t / 4)
    # about x ahead, y left, z up
    turned = Rotation.from_euler("ZXY", np.column_stack([heading + lead, -rise, tilt]))
    if up == "y":  # x ahead, y up, z right
        swap = Rotation.from_matrix(np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
        turned = swap * turned * swap.inv()
    x, y, z, w = turned.as_quat().T
    channels = {"x": 0 * t, "y": 0 * t, "z": 0 * t, "q_w": w, "q_x": x, "q_y": y, "q_z": z}
    channels |= {f"hip_flexion_{side}.angle": 0.3 * np.sin(2 * np.pi * t) for side in "rl"}
    events = {"Right Foot Strike": (0.0, 4.0), "Left Foot Strike": (0.0, 4.0)}
    found = trundle.inverse({"trundle": 1, "robot": robot}, trundle.Recording(t, {}, channels, events=events))
    with pytest.warns(UserWarning, match="no plate has the foot's force"):
        gait = found.gait()
    for side, own in (("right", 1), ("left", -1)):
        expected = {"anterior_tilt": tilt, "up_obliquity": own * rise, "internal_rotation": own * lead}
        for name, values in expected.items():
            curve = gait.mean(f"{side}_pelvis_{name}.angle")
            np.testing.assert_allclose(curve, np.interp(0.04 * gait.percent, t, values), atol=3e-5)

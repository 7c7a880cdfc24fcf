"""A person scaled from a static trial: known lengths, noise that stays noise, and trials that are none, told."""

import numpy as np
import pytest

import trundle
from limbs.standing import KNEES, NOISE, somebody, trial
from trundle import InputError
from trundle.catalog import person_markers
from trundle.catalog.person import SIDES
from trundle.robot.values import read_value

LENGTHS = ("pelvis_width", "pelvis_depth", "trunk_length") + tuple(
    f"{name}_length_{side}" for name in ("thigh", "shank") for side in SIDES
)
ANGLES = ("pelvic_tilt", *(f"{name}_{side}" for name in ("knee_varus", "toe_out") for side in SIDES))


def scaled(robot, recording, **options):
    given = {"body_mass": robot.parameter_values()["body_mass"], "height": robot.parameter_values()["height"]}
    return trundle.scale_person(recording, **{**given, "sex": "male", **options})


@pytest.mark.parametrize("hip_centre", ["harrington", "bell"])
def test_known_lengths_come_back(rng, hip_centre):
    """People of all sizes, 0.5 mm of noise on every marker: lengths to 2 mm, angles to 1 degree."""
    for sex in 5 * ("female", "male"):
        robot = somebody(rng, hip_centre, sex)
        found = scaled(robot, trial(robot, rng), hip_centre=hip_centre, sex=sex)
        truth = robot.resolver(robot.parameter_values())
        for name in (*LENGTHS, *ANGLES):
            most = np.radians(1) if name in ANGLES else 0.002
            assert found.lengths[name] == pytest.approx(float(truth(read_value(name))), abs=most), name
        for name, (body, place) in person_markers(robot).items():
            assert found.markers[name][0] == body
            if name in KNEES:
                continue  # they are on the knee's axis, at an angle to the thigh
            np.testing.assert_allclose(found.markers[name][1], place, atol=0.003)


def test_without_noise_they_are_exact(rng):
    robot = somebody(rng, "bell")
    found = scaled(robot, trial(robot, rng, noise=0.0), hip_centre="bell")
    truth = robot.resolver(robot.parameter_values())
    for name in (*LENGTHS, *ANGLES):
        assert found.lengths[name] == pytest.approx(float(truth(read_value(name))), abs=1e-12)
    for name, (_, place) in person_markers(robot).items():
        if name not in KNEES:
            np.testing.assert_allclose(found.markers[name][1], place, atol=1e-12)


@pytest.mark.slow
def test_the_person_stands_in_the_trial_but_for_noise(rng, tmp_path):
    """Saved, read back and fitted to the same trial: the markers are off by their noise, and soles are level."""
    robot = somebody(rng)
    recording = trial(robot, rng)
    files = scaled(robot, recording).save(tmp_path / "scaled")
    found = trundle.inverse(files[0], recording, markers=files[1], progress=False)
    # three axes of thirty markers, of which the fit follows the person's 21 motions
    assert found.fit is not None
    assert found.fit["rms"] == pytest.approx(NOISE * np.sqrt(3 * (90 - 21) / 90), rel=0.03)
    assert np.abs(np.degrees(found.motion["lumbar_bending.angle"].mean())) < 0.1


def test_what_markers_tell_goes_before_the_height(rng):
    """Without a height it goes with the legs, and the masses are de Leva's parts of the body's."""
    robot = somebody(rng)
    found = trundle.scale_person(trial(robot, rng), body_mass="80 kg", sex="female").robot
    legs = sum(
        found.parameter_values()[f"{name}_length_{side}"] for name in ("thigh", "shank") for side in SIDES
    )
    assert found.parameter_values()["height"] == pytest.approx(legs / 2 / ((368.5 + 438.6) / 1735))
    assert found.number(found.joints["hip_rotation_r"].body.mass) == pytest.approx(0.1478 * 80)


def test_markers_by_other_names_and_others_besides(rng):
    robot = somebody(rng)
    recording = trial(robot, rng)
    markers = {name: places for name, places in recording.markers.items() if name not in ("RPSI", "LPSI")}
    markers["SACR"] = (recording.markers["RPSI"] + recording.markers["LPSI"]) / 2
    markers["R.Knee"] = markers.pop("RKNE")
    markers["RKNE"] = markers["RTHI"] + 0.01  # the laboratory's own use of a standard name
    markers["wand"] = markers["LTHI"] + [0, 0, 0.05]
    markers["T1"] = markers["C7"]
    other = trundle.Recording(recording.time, markers)
    found = scaled(robot, other, markers={"R.Knee": "RKNE", "wand": "thigh_l"})
    plain = scaled(robot, recording)
    assert found.lengths["thigh_length_r"] == pytest.approx(plain.lengths["thigh_length_r"], abs=1e-9)
    assert found.markers["R.Knee"][0] == "thigh_r"
    assert found.markers["wand"][0] == "thigh_l"
    assert found.markers["SACR"][0] == "pelvis"
    assert set(found.left_out) == {"RKNE", "T1"}


def test_legs_alone_carry_a_trunk_that_is_held(rng):
    robot = somebody(rng)
    recording = trial(robot, rng)
    trunk = {name for name, (body, _) in person_markers(robot).items() if body == "trunk"}
    legs = {name: places for name, places in recording.markers.items() if name not in trunk}
    found = scaled(robot, trundle.Recording(recording.time, legs))
    assert found.robot.joints["lumbar"].type == "fixed"


def test_a_trial_whose_up_is_y(rng):
    robot = somebody(rng)
    recording = trial(robot, rng)
    lying = recording.turned("z", to="y")
    found = scaled(robot, lying, up="y")
    for name, length in scaled(robot, recording).lengths.items():
        assert found.lengths[name] == pytest.approx(length, abs=1e-12)
    with pytest.raises(InputError, match=r"isn't above the heels along z\n.*up='y' \(--up y\)"):
        scaled(robot, lying)


def test_a_trial_that_moves_is_told(rng):
    robot = somebody(rng)
    recording = trial(robot, rng, noise=0.0)
    markers = dict(recording.markers)
    markers["LKNE"] = markers["LKNE"] + np.where(recording.time[:, None] > 0.945, [0, 0.03, 0], 0)
    moves = trundle.Recording(recording.time, markers, source="static.c3d")
    with pytest.raises(
        InputError, match=r"static.c3d: static: .*'LKNE' is 28.5 mm .* at 0.95 s, more than 20 mm"
    ):
        scaled(robot, moves)
    assert scaled(robot, moves, still_within="3 cm").lengths


def test_what_no_person_measures_is_told(rng):
    """Centimetres taken for metres, and two names for one marker."""
    robot = somebody(rng)
    recording = trial(robot, rng, noise=0.0)
    large = {name: 100 * places for name, places in recording.markers.items()}
    with pytest.raises(InputError, match=r"the right leg is [\d.]+ m long.*no person's\n.*\(mm, m\)"):
        scaled(robot, trundle.Recording(recording.time, large))
    for one, other in (("RASI", "LASI"), ("RPSI", "RASI")):
        markers = dict(recording.markers) | {
            one: recording.markers[other],
            "L" + one[1:]: recording.markers["LASI"],
        }
        with pytest.raises(InputError, match="at the same place"):
            scaled(robot, trundle.Recording(recording.time, markers))


def test_a_mass_that_nobody_has_is_told(rng):
    robot = somebody(rng)
    with pytest.warns(UserWarning, match=r"m tall has a mass of 70000 kg .* is the mass in kg\?"):
        scaled(robot, trial(robot, rng), body_mass=70000)


def test_a_marker_that_is_never_seen_is_told(rng):
    robot = somebody(rng)
    recording = trial(robot, rng)
    places = dict(recording.markers) | {"RKNE": np.full_like(recording.markers["RKNE"], np.nan)}
    with pytest.raises(InputError, match="the static trial has no RKNE; it names RKNE, never seen in it"):
        scaled(robot, trundle.Recording(recording.time, places))


def test_legs_of_two_lengths_are_told(rng):
    robot = somebody(rng)
    with pytest.warns(UserWarning, match="on the right") as told:
        scaled(robot, trial(robot, rng), markers={"RTHI": "RKNE"})
    assert [str(word.message).partition(" is ")[0] for word in told] == ["thigh_length", "shank_length"]


@pytest.mark.parametrize(
    ("lost", "options", "message"),
    [
        (
            ("RKNM", "LANM"),
            {},
            r"has no RKNM, LANM; it names LANM, never seen in it\n.*markers={'NAME': 'RKNM'} \(--marker NAME=RKNM\)",
        ),
        (("LPSI",), {}, "has no LPSI"),
        ((), {"markers": {"knee": "RKNE"}}, "no marker 'knee'"),
        ((), {"markers": {"C7": "neck"}}, "marker 'C7' can't be 'neck'"),
        ((), {"markers": {"RKNE": "RKNM", "RKNM": "RKNE"}}, r"RKNE isn't outward of RKNM.*\n.*each other's"),
        ((), {"markers": {"LHEE": "LTOE", "LTOE": "LHEE"}}, "LTOE isn't ahead of LHEE"),
        ((), {"markers": {"RASI": "LASI", "LASI": "RASI"}}, "isn't outward of"),
        ((), {"markers": {"C7": "T10", "RTHI": "T10"}}, "'C7' and 'RTHI' can't both be T10"),
        ((), {"markers": {"LTOE": "RASI", "LHEE": "LTOE", "RTHI": "LHEE"}}, "pelvis hangs|above the heels"),
        ((), {"height": 175}, "at most 3 m, got 175 m"),
        ((), {"hip_centre": "davis"}, "no hip centre 'davis'"),
        ((), {"sex": "x"}, "columns by sex"),
        ((), {"up": "x"}, "up is y or z"),
        ((), {"body_mass": -3}, "mass"),
    ],
)
def test_what_is_no_trial(rng, lost, options, message):
    robot = somebody(rng)
    recording = trial(robot, rng)
    markers = {name: places for name, places in recording.markers.items() if name not in lost}
    # one that was never seen is missing, too
    if "LANM" in lost:
        markers["LANM"] = np.full((100, 3), np.nan)
    with pytest.raises(InputError, match=message):
        scaled(robot, trundle.Recording(recording.time, markers), **options)

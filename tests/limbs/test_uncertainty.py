"""Bands of net moments: their sensitivities against differences of the whole way, their deviations against draws."""

import dataclasses

import numpy as np
import pytest
import yaml

import trundle
from cli import walking_leg as leg
from model.splined_leg import BODY, knee
from trundle import InputError
from trundle.limbs import uncertainty as inside
from trundle.limbs.capture.joint_motion import moving_of
from trundle.limbs.capture.marker_model import marker_model
from trundle.limbs.capture.response import Response, response_of
from trundle.limbs.loads.sensitivities import motion_slopes

BODIES = {
    "pelvis": (11.0, (0.0, 0.0, 0.05), (0.1, 0.1, 0.1)),
    "thigh": (8.0, (0.01, 0.0, -0.2), (0.1, 0.11, 0.02)),
    "shank": (3.0, (0.0, 0.01, -0.2), (0.05, 0.06, 0.01)),
}


def person(bodies=BODIES):
    """A pelvis free in space, a thigh on a ball joint, a shank on a hinge."""
    described = {
        name: {
            "name": name,
            "mass": m,
            "center_of_mass": list(c),
            "inertia": dict(zip(("xx", "yy", "zz"), i, strict=True)),
        }
        if not isinstance(i, dict)
        else {"name": name, "mass": m, "center_of_mass": list(c), "inertia": i}
        for name, (m, c, i) in bodies.items()
    }
    hip = {"type": "spherical", "parent": "pelvis", "at": [0, -0.1, 0], "body": described["thigh"]}
    knee = {"axis": [0, 1, 0], "parent": "thigh", "at": [0, 0, -0.4], "body": described["shank"]}
    robot = {
        "name": "person",
        "base": "floating",
        "body": described["pelvis"],
        "joints": {"hip": hip, "knee": knee},
    }
    return {"trundle": 1, "robot": robot}


SPOTS = ((0.1, 0.03, 0.01), (-0.08, 0.04, -0.06), (0.01, -0.09, -0.12), (0.03, 0.02, -0.2))
MARKERS = {f"{body}_{k}": (body, spot) for body in BODIES for k, spot in enumerate(SPOTS)}
SPOTS_OF_A_LEG = {f"{link}_{k}": (link, spot) for link in ("hip", "twist") for k, spot in enumerate(SPOTS)}
T = np.arange(61) / 50


@pytest.fixture(scope="module")
def true():
    """Where the markers are at a motion in which everything turns."""
    model = marker_model(moving_of(person()), MARKERS)
    q = np.array([0.25 * np.sin(5 * T + k) + name.endswith("q_w") for k, name in enumerate(model.names)]).T
    places, _ = model.evaluate(model.unit(q))
    return dict(zip(MARKERS, places.reshape(len(T), -1, 3).transpose(1, 0, 2), strict=True))


def found(places, robot=None, **options):
    recording = trundle.Recording(T, places)
    return trundle.inverse(robot or person(), recording, markers=MARKERS, progress=False, **options)


def noisy(places, rng, size=5e-4):
    return {name: each + rng.normal(scale=size, size=each.shape) for name, each in places.items()}


def net(given):
    return np.array([given.loads.joint_moment[speed] for speed in given.loads.recursion.speeds]).T


METHODS = [
    {"method": "none"},
    {"method": "butterworth", "cutoff": 6},
    {"method": "savitzky_golay", "window": 11},
    {"method": "gcv_spline"},
    {"method": "opensim", "cutoff": 6},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method["method"])
def test_a_response_is_the_smoothing(rng, method):
    chosen, block = trundle.smoothing(method), rng.normal(size=(300, 2)) + np.arange(300)[:, None] ** 2 / 1e3
    time = np.arange(300) / 100
    answer = response_of(chosen.linear(time, [block]), 300)
    assert answer.weights.shape[2] < 300 or method["method"] in ("gcv_spline", "opensim")
    expected = chosen.samples(time, block)
    for order, table in enumerate(expected):
        rows = [
            answer.weights[order, t] @ block[answer.first[t] : answer.first[t] + answer.weights.shape[2]]
            for t in range(300)
        ]
        np.testing.assert_allclose(rows, table, atol=1e-7 * np.abs(table).max())
    np.testing.assert_allclose(answer.matrix @ block, expected.values, atol=1e-7 * np.abs(block).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    "earlier", [None, {"method": "savitzky_golay", "window": 7}], ids=["markers", "smoothed"]
)
@pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: method["method"])
def test_sensitivities_are_differences_of_the_whole_way(true, rng, method, earlier):
    """Markers moved a little, all at once: inverse kinematics, smoothing, speeds and dynamics follow in proportion."""
    seen = noisy(true, rng, 2e-3)  # residuals that count
    shift = {name: rng.normal(size=each.shape) for name, each in seen.items()}
    options = {"smoothing": method, "marker_smoothing": earlier}
    step = 1e-6
    ahead, behind = (
        net(found({name: each + side * step * shift[name] for name, each in seen.items()}, **options))
        for side in (1, -1)
    )
    expected = (ahead - behind) / (2 * step)
    here = found(seen, **options)
    moving = moving_of(here.loads.recursion.mechanism.robot)
    known = inside._seen(here, moving, 1.0)
    moved = np.concatenate([shift[name] for name in MARKERS], axis=1)
    moved = moved if known.earlier is None else known.earlier @ moved
    steps = inside._moments_by_markers(
        inside._moment_slopes(here, moving, known),
        inside._responses(moving, here, known.fit.postures),
        known.fit.slopes,
    )
    changes = [np.einsum("iom,im->o", moments, moved[window]) for window, moments in steps]
    np.testing.assert_allclose(changes, expected, atol=3e-6 * np.abs(expected).max())


def test_variances_are_sums_of_squared_sensitivities(rng):
    """Coordinates of two smoothings, over windows of their own, by G_i = F_i F_iᵀ and by all markers at once."""
    count, moments, coordinates, places = 12, 3, 4, 9
    slopes, fit = (
        rng.normal(size=(3, count, moments, coordinates)),
        rng.normal(size=(count, coordinates, places)),
    )
    wide, narrow = (
        Response(np.clip(np.arange(count) - size // 2, 0, count - size), rng.normal(size=(3, count, size)))
        for size in (7, 3)
    )
    responses = [wide, narrow, wide, wide]
    steps = inside._moments_by_markers(slopes, responses, fit)
    expected = [(change**2).sum(axis=(0, 2)) for _, change in steps]
    found = [*inside._variances(slopes, responses, fit @ np.swapaxes(fit, 1, 2))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
def test_sensitivities_go_through_cams(rng):
    """A knee whose slides and twist follow its angle by splines: two coordinates, five moving joints."""
    robot = {"trundle": 1, "robot": {"name": "leg", **knee()}}
    model = marker_model(moving_of(robot), SPOTS_OF_A_LEG)
    assert model.names == ("hip.angle", "knee.angle")
    places, _ = model.evaluate(np.array([0.3 * np.sin(4 * T), 0.1 + 0.5 * np.cos(5 * T)]).T)
    seen = dict(zip(SPOTS_OF_A_LEG, places.reshape(len(T), -1, 3).transpose(1, 0, 2), strict=True))
    seen = noisy(seen, rng, 1e-3)
    options = {
        "markers": SPOTS_OF_A_LEG,
        "smoothing": {"method": "butterworth", "cutoff": 8},
        "progress": False,
    }

    def given(places, described=robot):
        return trundle.inverse(described, trundle.Recording(T, places), **options)

    shift = {name: rng.normal(size=each.shape) for name, each in seen.items()}
    ahead, behind = (
        net(given({n: each + side * 1e-6 * shift[n] for n, each in seen.items()})) for side in (1, -1)
    )
    here = given(seen)
    moving = moving_of(here.loads.recursion.mechanism.robot)
    known = inside._seen(here, moving, 1.0)
    steps = inside._moments_by_markers(
        inside._moment_slopes(here, moving, known),
        inside._responses(moving, here, known.fit.postures),
        known.fit.slopes,
    )
    moved = np.concatenate([shift[name] for name in SPOTS_OF_A_LEG], axis=1)
    changes = np.array([np.einsum("iom,im->o", moments, moved[window]) for window, moments in steps])
    expected = (ahead - behind) / 2e-6
    np.testing.assert_allclose(changes, expected, atol=3e-6 * np.abs(expected).max())
    bands = here.uncertainty("1 mm", {"twist": {"mass": 0.3}}, progress=False)
    assert list(bands.values) == ["hip.net", "knee.net"]
    heavier = knee()
    heavier["joints"]["twist"] = {**heavier["joints"]["twist"], "body": {**BODY, "mass": 3.3}}
    more = net(given(seen, {"trundle": 1, "robot": {"name": "leg", **heavier}})) - net(here)
    speeds = here.loads.recursion.speeds
    for joint in ("hip", "knee"):
        grown = np.abs(more[:, speeds.index(f"{joint}.rate")])
        np.testing.assert_allclose(bands.deviation(f"{joint}.net", "segments"), grown, atol=1e-9)


@pytest.mark.slow
def test_slopes_by_the_motion_are_differences(true, rng):
    loads = found(true).loads
    slopes = motion_slopes(loads)
    for part, of in (("q", slopes.q), ("nu", slopes.nu), ("nu_dot", slopes.nu_dot)):
        table = getattr(loads.samples, part)
        turn = rng.normal(size=table.shape)
        moved = []
        for side in (1, -1):
            samples = dataclasses.replace(loads.samples, **{part: table + side * 1e-5 * turn})
            moved.append(_wrenches(loads, samples))
        expected = (moved[0] - moved[1]) / 2e-5
        np.testing.assert_allclose(
            np.einsum("nsc,nc->ns", of, turn), expected, atol=1e-6 * np.abs(expected).max()
        )


def _wrenches(loads, samples):
    from trundle.program import compile_program

    program = loads.recursion.loads(loads.outside.pushed)
    wrenches, _ = compile_program(program).over_samples(*samples.tables, loads.outside.table)
    return np.array(
        list(dataclasses.replace(loads, samples=samples, wrenches=wrenches).joint_moment.values())
    ).T


@pytest.mark.slow
def test_segments_deviations_are_differences_of_described_bodies(true):
    deviations = {
        "thigh": {"mass": 0.5, "center": 0.01, "inertia": 0.1},
        "shank": {"mass": 0.2, "center": 0.004},
    }
    here = found(true)
    bands = here.uncertainty(None, deviations, progress=False)
    squares = 0
    for body, parts in deviations.items():
        mass, center, inertia = BODIES[body]
        along = np.array(center) / np.linalg.norm(center)
        for part, size in parts.items():
            changed = []
            for side in (1e-3, -1e-3):
                m = mass + side * size * (part == "mass")
                c = np.array(center) + side * size * along * (part == "center")
                i = np.array(inertia) * (1 + side * size * (part == "inertia"))
                changed.append(net(found(true, person({**BODIES, body: (m, c.tolist(), i.tolist())}))))
            squares = squares + ((changed[0] - changed[1]) / 2e-3) ** 2
    names = ("hip.net_omega_x", "hip.net_omega_y", "hip.net_omega_z", "knee.net")
    assert tuple(bands.values) == names
    expected = np.sqrt(squares)[:, -4:]
    for name, column in zip(names, expected.T, strict=True):
        np.testing.assert_allclose(bands.deviation(name, "segments"), column, atol=1e-6 * expected.max())


@pytest.mark.slow
def test_the_noise_is_estimated_by_residuals(true, rng):
    for earlier in (None, {"method": "butterworth", "cutoff": 8}):
        given = found(
            noisy(true, rng), smoothing={"method": "butterworth", "cutoff": 8}, marker_smoothing=earlier
        )
        bands = given.uncertainty(segments=None, progress=False)
        # of 61 · (36 − 10) squares
        assert bands.record["noise"] == pytest.approx(5e-4, rel=5 / np.sqrt(2 * 61 * 26))
        assert bands.record["noise_from"] == "residuals"


@pytest.mark.campaign
@pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: method["method"])
def test_noisy_repetitions_lie_in_the_bands(true, campaign, method):
    """The share of repetitions within 95 % bands, and their deviations against the bands' own."""
    centre = found(true, smoothing=method)
    bands = centre.uncertainty("0.5 mm", None, progress=False)
    names = list(bands.values)
    middle = net(centre)[:, -len(names) :]
    draws = np.array([
        net(found(noisy(true, case), smoothing=method))[:, -len(names) :] for case in campaign(200, least=40)
    ])  # fmt: skip
    spread = np.array([bands.deviation(name) for name in names]).T
    share = float((np.abs(draws - middle) < 1.96 * spread).mean())
    ratio = np.sqrt(((draws - middle) ** 2).mean(axis=0)) / spread
    print(f"{method['method']}: {share:.1%} of {len(draws)} inside, deviation {ratio.mean():.3f} of theirs")
    assert 0.90 < share < 0.99
    assert ratio.mean() == pytest.approx(1, abs=0.1)


@pytest.mark.campaign
def test_bands_of_splines_that_choose_have_the_truth_in_them(true, campaign):
    """The share of true moments in the bands of noisy repetitions, each with the smoothing that it chose.

    Cross-validation takes away as much of the motion as it leaves of the noise: by the noise alone it was 84 %.
    """
    exact = net(found(true))
    inside = []
    for case in campaign(200, least=20):
        here = found(noisy(true, case), smoothing="gcv_spline")
        bands = here.uncertainty("0.5 mm", None, progress=False)
        off = np.abs(net(here) - exact)[:, -len(bands.values) :]
        inside.append(off < 1.96 * np.array([bands.deviation(name) for name in bands.values]).T)
    share = float(np.mean(inside))
    print(f"gcv_spline: {share:.1%} of {len(inside)} inside")
    assert 0.90 < share < 0.99


def test_a_leg_in_a_plane_has_bands_by_source(tmp_path, rng):
    time = np.arange(121) / 100
    seen = noisy(leg.markers(leg.motion(time)), rng)
    listed = {name: {"body": body, "at": list(at)} for name, (body, at) in leg.MARKERS.items()}
    (tmp_path / "markers.yaml").write_text(yaml.safe_dump({"markers": listed}))
    given = trundle.inverse(
        {"trundle": 1, "robot": leg.LEG},
        trundle.Recording(time, seen),
        markers=tmp_path / "markers.yaml",
        smoothing={"method": "butterworth", "cutoff": 6},
        progress=False,
    )
    bands = given.uncertainty(progress=False)
    told = dict(bands.record)["segments"]
    assert isinstance(told, dict)
    assert set(told) == {"thigh", "shank", "foot"}
    assert told["shank"]["mass"] == pytest.approx(3.2 * 0.36 / 3.00)
    low, high = bands.band("hip.net")
    both = np.hypot(bands.deviation("hip.net", "markers"), bands.deviation("hip.net", "segments"))
    np.testing.assert_allclose(high - low, 2 * 1.959963984540054 * both)
    men = given.uncertainty(None, sex="male", progress=False)
    told = dict(men.record)["segments"]
    assert isinstance(told, dict)
    assert told["shank"]["mass"] == pytest.approx(3.2 * 0.219 / 3.16)
    table = bands.table(mass=70)
    np.testing.assert_allclose(table["knee.net.high"] * 70, bands.band("knee.net")[1])
    for call, told in (
        (lambda: bands.deviation("hip"), "there is no net moment 'hip'"),
        (lambda: bands.deviation("hip.net", "noise"), "choose one of markers, segments"),
        (lambda: given.uncertainty("0.5 kg"), "marker_noise"),
        (lambda: given.uncertainty(-1.0), "noise is a positive length"),
        (lambda: given.uncertainty(None, "guessed"), "there are no deviations called 'guessed'"),
        (lambda: given.uncertainty(None, {"arm": {"mass": 1}}), "no body with a mass called 'arm'"),
        (lambda: given.uncertainty(None, {"foot": {"weight": 1}}), "no deviation of its 'weight'"),
        (lambda: given.uncertainty(None, sex="child"), "no deviations of 'child'"),
    ):
        with pytest.raises(InputError, match=told):
            call()


@pytest.mark.slow
def test_what_has_no_bands_is_told(true):
    still = {"time": np.arange(6.0), "link_1.angle": np.full(6, 0.5)}
    arm = trundle.inverse(trundle.catalog.pendulum(links=1), still)
    with pytest.raises(
        InputError, match="the motion came from coordinates, so that there is no marker noise"
    ):
        arm.uncertainty()
    with pytest.raises(
        InputError, match=r"no body is called as a person's segment\n  names tell them by upper_trunk"
    ):
        arm.uncertainty(None)
    spline = found(true, smoothing={"method": "noise_spline", "noise": 1e-3})
    with pytest.raises(InputError, match="'noise_spline' chooses its knots by the data"):
        spline.uncertainty("1 mm", None)
    chosen = found(true, marker_smoothing="gcv_spline")
    with pytest.raises(InputError, match="'gcv_spline' of markers chooses how much by every marker and axis"):
        chosen.uncertainty("1 mm", None)

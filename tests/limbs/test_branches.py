"""Of the postures with one pose the one with usual angles is meant: ranges choose, and neither stop nor weigh."""

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

import trundle
from limbs.walks import TIME, WALKERS, Walk
from trundle.documents import osim_weights
from trundle.limbs.capture import inverse_kinematics
from trundle.limbs.capture.branches import branches_of
from trundle.limbs.capture.joint_motion import moving_of
from trundle.limbs.capture.marker_model import marker_model

PEER = pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed")
TURN = 2 * np.pi
BEYOND = "angles are far beyond their usual ranges: "


BODY = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15}}


def chain(rng, joints):
    """The markers of hinges, each on the one before: four on the last one, one on the first."""
    names, data = [*joints], {}
    for parent, name in zip(["base", *names[:-1]], names, strict=True):
        data[name] = {"type": "revolute", "parent": parent, "body": BODY, **joints[name]}
    robot = trundle.load({"robot": {"name": "chain", "base": "fixed", "joints": data}})
    markers = {f"m{k}": (names[-1], tuple(place.tolist())) for k, place in enumerate(rng.normal(size=(4, 3)))}
    return marker_model(moving_of(robot), markers | {"first": (names[0], (0.3, 0.1, 0.2))})


def gimbal(rng, axes=None):
    """Three hinges through one point, on one that stands; by default with any axes in frames that are turned."""
    hinges = {"mast": {}, "g0": {"at": [0.1, 0.2, 0.3]}, "g1": {}, "g2": {}}
    for k in range(3):
        own = {"axis": rng.normal(size=3).tolist(), "rpy": rng.uniform(-1, 1, 3).tolist()}
        hinges[f"g{k}"] |= own if axes is None else {"axis": axes[k].tolist()}
    return chain(rng, hinges)


def test_three_axes_through_a_point_have_two_branches_however_they_lie(rng):
    for _ in range(3):
        model = gimbal(rng)
        (triple,) = branches_of(model).triples
        q = rng.uniform(-3, 3, (50, 4))
        other = triple.second(q)
        assert model.names[triple.columns[0]] == "g0.angle"
        np.testing.assert_allclose(model.evaluate(other)[0], model.evaluate(q)[0], atol=1e-12)
        back = triple.second(other) - q
        np.testing.assert_allclose(back, TURN * np.round(back / TURN), atol=1e-9)
        assert np.abs(np.sin((other - q)[:, 2] / 2)).max() > 0.1  # another posture


def test_about_square_axes_the_other_branch_is_half_turns(rng):
    model = gimbal(rng, np.eye(3))
    (triple,) = branches_of(model).triples
    q = rng.uniform(-3, 3, (50, 4))
    off = triple.second(q) - np.stack([q[:, 0], q[:, 1] + np.pi, np.pi - q[:, 2], q[:, 3] + np.pi], axis=1)
    np.testing.assert_allclose(off, TURN * np.round(off / TURN), atol=1e-9)


def test_what_is_no_branch_is_none(rng, tmp_path):
    """Axes that don't meet have one branch; turns of what drives splines move the robot, of hinges they don't."""
    apart = {f"g{k}": {"axis": axis.tolist(), "at": [0, 0.1 * k, 0]} for k, axis in enumerate(np.eye(3))}
    branches = branches_of(chain(rng, apart))
    assert not branches.triples
    assert branches.turning.all()
    walk = Walk(tmp_path, "gait2392")
    branches = branches_of(walk.model)
    still = [name for name, turns in zip(walk.model.names, branches.turning, strict=True) if not turns]
    assert {*still} == {f"pelvis_t{x}.position" for x in "xyz"} | {"knee_angle_r.angle", "knee_angle_l.angle"}
    threes = [[walk.model.names[k].partition("_")[0] for k in each.columns] for each in branches.triples]
    assert sorted(threes) == [
        ["hip"] * 3,
        ["hip"] * 3,
        ["lumbar"] * 3,
        ["tilt.angle", "list.angle", "turn.angle"],
    ]


def sight_of(walk, recording):
    return inverse_kinematics._sight(walk.model, recording.markers, {}, [1.0] * len(walk.markers))


def elsewhere(walk, q, rng):
    """Other postures of a pose (c,), knees by splines beside: turns and branches at random."""
    branches, there = branches_of(walk.model), q[None].copy()
    for triple in branches.triples:
        there = triple.second(there) if rng.random() < 0.5 else there
    knees = np.array([name.startswith("knee") for name in walk.model.names])
    return there + TURN * rng.integers(-2, 3, there.shape) * (branches.turning | knees)


@pytest.mark.parametrize("form", [*WALKERS])
def test_wherever_a_fit_ends_the_usual_posture_is_meant(tmp_path, rng, form):
    """Also where knees by splines were fitted a turn away, which is another pose."""
    walk = Walk(tmp_path, form, heading=rng.uniform(-100, 100))
    sight, true = sight_of(walk, walk.recording()), np.array(list(walk.true.values())).T
    for k in rng.integers(TIME.size, size=5):
        sample = np.array([k])
        place = sight.nearest(sample, elsewhere(walk, true[k], rng))
        meant = sight.nearest(sample, sight.choose(sample, place, walk.model.start[None]).q)
        np.testing.assert_allclose(meant.q[0], true[k], atol=1e-9)


@pytest.mark.parametrize("form", ["gait10dof18musc", "hinges"])
def test_walks_all_ways_are_fitted_without_turns(tmp_path, rng, form):
    walk = Walk(tmp_path, form, heading := rng.uniform(-170, 170))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if abs(heading) > 95 else "error")
        motion = walk.fitted()
    assert walk.off(motion)[0] < 1e-9
    assert motion.marker_error.max() < 1e-12


def test_who_walks_the_other_way_turns_the_pelvis_and_is_told(tmp_path):
    walk = Walk(tmp_path, "hinges", heading=170)
    with pytest.warns(
        UserWarning, match=rf"{BEYOND}turn.angle is 176° at t = 0.\d+ s \(usual: -90 to 90°\)$"
    ):
        motion = walk.fitted()
    assert walk.off(motion)[0] < 1e-9


@pytest.mark.parametrize("knee", [15, 40])
def test_ranges_neither_stop_nor_weigh(tmp_path, knee):
    """A knee that hyperextends by 5° is fitted as it is; so is one that no knee does, and it is told."""
    walk = Walk(tmp_path, "gait10dof18musc", more={"knee_angle_r.angle": knee})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        motion = walk.fitted()
    assert walk.off(motion)[0] < 1e-9
    texts = [str(each.message) for each in told]
    assert len(texts) == (knee == 40)
    expected = rf"{BEYOND}knee_angle_r.angle is 40° at t = [.\d]+ s \(usual: -120 to 10°\)"
    assert all(re.fullmatch(expected, text) for text in texts), texts


def test_without_limits_ranges_choose_all_the_same(tmp_path):
    """Clamped knees stop at their range; without limits they don't, and end no turn away."""
    walk = Walk(tmp_path, "gait10dof18musc", clamped=("knee",), more={"knee_angle_r.angle": 20})
    held, free = walk.fitted(), walk.fitted(limits=False)
    np.testing.assert_allclose(np.degrees(held["knee_angle_r.angle"]).max(), 10, atol=1e-9)
    assert walk.off(free)[0] < 1e-9
    model = marker_model(moving_of(walk.robot), walk.markers, limits=False)
    assert np.isinf([model.lower, model.upper]).all()
    knee = model.names.index("knee_angle_r.angle")
    np.testing.assert_allclose(np.degrees([model.least[knee], model.greatest[knee]]), (-120, 10))
    beyond = np.degrees(model.beyond(np.radians([[340.0] * len(model.names)]))[0, knee])
    np.testing.assert_allclose(beyond, 315)


def test_a_coordinate_that_is_known_is_not_chosen(tmp_path):
    walk = Walk(tmp_path, "hinges", more={"knee_angle_r.angle": 320})
    recording = walk.recording()
    channels = {"knee_angle_r.angle": np.full(TIME.size, np.radians(320))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = walk.fitted(trundle.Recording(TIME, markers=recording.markers, channels=channels))
    assert walk.off(motion)[0] < 1e-9


def test_the_law_counts_before_it_weighs(rng):
    """Fewest beyond, then least excess, then nearest: compared with every posture of a pose."""
    model, turns = (
        gimbal(rng, np.eye(3)),
        np.stack(np.meshgrid(*[np.arange(-3, 4)] * 4), axis=-1).reshape(-1, 4),
    )
    (triple,) = branches_of(model).triples
    for _ in range(300):
        least = rng.uniform(-3, 1, 4)
        ranged = replace(
            model, least=least, greatest=least + rng.uniform(0.2, 3, 4) + 20 * (rng.random(4) < 0.2)
        )
        branches = replace(branches_of(model), model=ranged)
        q, near = rng.uniform(-6, 6, (1, 4)), rng.uniform(-3, 3, (1, 4))
        chosen = branches.choose(q, near)
        every = np.concatenate([q + TURN * turns, triple.second(q) + TURN * turns])
        count, excess = branches.rank(every)
        best = np.lexsort((((every - near) ** 2).sum(axis=1), excess.round(9), count))[0]
        np.testing.assert_allclose(chosen[0], every[best], atol=1e-9)


def test_a_fit_that_leaves_its_ranges_on_the_way_is_led_back(tmp_path, rng):
    """Whichever posture of a pose a descent from the sample before ends in."""
    walk = Walk(tmp_path, "gait10dof18musc")
    sight, true = sight_of(walk, walk.recording()), np.array(list(walk.true.values())).T
    samples = np.arange(1, TIME.size)
    there = [
        sight.nearest(samples[k : k + 1], elsewhere(walk, true[k + 1], rng)).q[0] for k in range(samples.size)
    ]
    trail = inverse_kinematics._Trail(sight, TIME, SimpleNamespace(fraction=None))
    trail.keep(samples, sight.at(samples, np.array(there)), np.full(samples.size, 1.0), true[:-1])
    np.testing.assert_allclose(trail.postures[1:], true[1:], atol=1e-9)


def test_descriptions_say_what_is_usual():
    """In their own units; without it the stops say so."""
    joints = {
        "knee": {
            "lower": "-130 deg",
            "upper": 0.2,
            "usual": {"upper": "10 deg", "value": "-5 deg"},
            "body": BODY,
        },
        "slide": {
            "type": "prismatic",
            "parent": "knee",
            "usual": {"value": "40 cm", "upper": 1},
            "body": BODY,
        },
    }
    description = {"robot": {"name": "leg", "base": "fixed", "joints": joints}}
    model = marker_model(moving_of(trundle.load(description)), {"toe": ("slide", (1, 2, 3))})
    assert model.names == ("knee.angle", "slide.position")
    np.testing.assert_allclose(model.start, (np.radians(-5), 0.4))
    np.testing.assert_allclose(
        (model.least, model.greatest), ((np.radians(-130), -np.inf), (np.radians(10), np.inf))
    )
    joints["knee"]["usual"]["lower"] = "20 deg"
    with pytest.raises(
        trundle.InputError, match=r"knee.usual.lower: the lower limit 0.349066 is not below the upper"
    ):
        trundle.load(description)


def opensim(folder, walks, weights=()):
    """OpenSim's own angles (degrees) of walks, (file, recording, heading), by coordinate; by default weights are 1."""
    cases = [
        {
            "file": str(file),
            "time": TIME.tolist(),
            "markers": {name: place.tolist() for name, place in recording.markers.items()},
            "start": {"turn": np.radians(heading)} if heading else {},
            "weights": dict(weights),
        }
        for file, recording, heading in walks
    ]
    given, found = folder / "cases.json", folder / "results.json"
    given.write_text(json.dumps(cases))
    script = __file__.replace("limbs/test_branches", "documents/opensim_markers")
    subprocess.run(
        [sys.executable, script, str(given), str(found)], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )
    return json.loads(found.read_text())


def write_tasks(folder, weights, more=""):
    """A set-up of OpenSim's inverse kinematics whose tasks stand in another file."""
    tasks = "".join(
        f'<IKMarkerTask name="{name}"><apply>true</apply><weight>{weight!r}</weight></IKMarkerTask>'
        for name, weight in weights.items()
    )
    inside = f"<IKTaskSet><objects>{tasks}{more}</objects></IKTaskSet>"
    (folder / "tasks.xml").write_text(f'<OpenSimDocument Version="40000">{inside}</OpenSimDocument>')
    tool = '<InverseKinematicsTool><IKTaskSet file="tasks.xml"/></InverseKinematicsTool>'
    (folder / "setup_ik.xml").write_text(f'<OpenSimDocument Version="40000">{tool}</OpenSimDocument>')
    return folder / "setup_ik.xml"


@PEER
@pytest.mark.filterwarnings(f"ignore:{BEYOND}")
def test_markers_weigh_as_in_opensims_tasks(tmp_path, rng):
    walk = Walk(tmp_path, "gait10dof18musc")
    recording, given = walk.recording(rng), {name: rng.uniform(0.1, 20) for name in walk.markers}
    motion = walk.fitted(recording, weights=osim_weights(write_tasks(tmp_path, given)))
    (theirs,) = opensim(tmp_path, [(walk.file, recording, 0)], given)
    for name in [name for name in motion.names if name.endswith("angle")]:
        off = np.abs(np.degrees(motion[name]) - theirs[name.removesuffix(".angle")]).max()
        assert off < 1e-3, name


def test_tasks_give_the_roots_of_their_weights_of_markers_that_count(tmp_path):
    off = '<IKMarkerTask name="toe"><apply>false</apply><weight>3</weight></IKMarkerTask>'
    assert osim_weights(write_tasks(tmp_path, {"heel": 4.0, "knee": 0.25}, off)) == {"heel": 2.0, "knee": 0.5}
    coordinate = '<IKCoordinateTask name="knee"><apply>true</apply></IKCoordinateTask>'
    with pytest.warns(UserWarning, match="tasks that aren't markers' are left out: 1"):
        osim_weights(write_tasks(tmp_path, {"heel": 4.0}, coordinate))
    with pytest.raises(trundle.InputError, match="the weight of marker 'heel' is 0\n"):
        osim_weights(write_tasks(tmp_path, {"heel": 0.0}))
    (tmp_path / "tasks.xml").write_text("<OpenSimDocument/>")
    with pytest.raises(trundle.InputError, match="tasks.xml:1: there is no <IKTaskSet>"):
        osim_weights(tmp_path / "setup_ik.xml")


@PEER
@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore:{BEYOND}")
def test_noisy_walks_are_opensims(tmp_path, rng):
    """OpenSim begins its own search where the walk heads; ours begins at the file's defaults."""
    cases = []
    for form in WALKERS:
        for heading in (0, 0) if form == "gait10dof18musc" else rng.uniform(-180, 180, 3):
            folder = tmp_path / str(len(cases))
            folder.mkdir()
            walk = Walk(folder, form, heading)
            recording = walk.recording(rng)
            cases.append((walk.file, recording, heading, walk.fitted(recording)))
    for (*_, heading, motion), theirs in zip(
        cases, opensim(tmp_path, [case[:3] for case in cases]), strict=True
    ):
        for name in [name for name in motion.names if name.endswith("angle")]:
            off = np.degrees(motion[name]) - theirs[name.removesuffix(".angle")]
            off -= 360 * np.round(off[0] / 360) if name == "turn.angle" else 0
            assert np.abs(off).max() < 1e-3, (heading, name)


@pytest.mark.slow
@pytest.mark.filterwarnings(f"ignore:{BEYOND}")
@pytest.mark.parametrize("clamped", [(), ("knee", "hip")])
@pytest.mark.parametrize("form", [*WALKERS])
def test_whatever_the_search_draws_the_posture_is_one(tmp_path, rng, form, clamped, monkeypatch):
    for heading in (0,) if form == "gait10dof18musc" else rng.uniform(-180, 180, 3):
        walk = Walk(tmp_path, form, heading, clamped)
        sight = sight_of(walk, walk.recording(rng))
        postures = []
        for seed in range(50):
            monkeypatch.setattr(inverse_kinematics, "_SEED", seed)
            postures.append(sight.searched(seed % 3, walk.model.start, walk.model.start).q[0])
        true = np.array(list(walk.true.values())).T
        for k in range(3):
            found = np.degrees(postures[k::3])
            assert np.ptp(found, axis=0).max() < 1e-3
            off = found[0] - np.degrees(true[k])
            off = np.where(
                branches_of(walk.model).turning, off - 360 * np.round(off / 360) * (np.abs(off) > 180), off
            )
            assert np.abs(off).max() < 20

"""Rollouts over terrain: lanes are single runs, whatever differs between them; who overturned or is stuck counts."""

import numpy as np
import pytest

import trundle
from tests.terrain.test_runs import box, rates, slope
from trundle.errors import InputError

RANDOM = {"type": "fractal", "slope": 0.2, "shortest": 0.5, "longest": 2.0}
COUNT = 5


def lanes(surface, given, **others):
    terrain = {"surfaces": {"ground": surface}}
    arguments = {"inputs": rates(3.0), "steps": 40, "dt": 0.05, "every": 20, **others}
    return trundle.rollout(box(), terrain=terrain, parameters=given, **arguments)


@pytest.mark.slow
def test_seeds_heights_and_yaws_are_those_of_single_runs():
    seeds, scale, yaw = np.array([4, 0, 4, 9, 2]), np.linspace(0.2, 1, COUNT), np.linspace(-1, 2, COUNT)
    given = {"terrain.surfaces.ground.seed": seeds, "terrain.surfaces.ground.scale": scale}
    batch = lanes(RANDOM, given, initial={"yaw": yaw})
    assert batch.count == COUNT
    for lane in (0, 2, 3):
        surface = {**RANDOM, "seed": int(seeds[lane]), "scale": float(scale[lane])}
        ground, start = {"surfaces": {"ground": surface}}, {"yaw": float(yaw[lane])}
        run = trundle.simulate(box(), 2.0, rates(3.0), terrain=ground, step=0.05, samples=3, initial=start)
        for name in ("x", "y", "z", "v_x"):
            assert batch[name][:, lane] == pytest.approx(run[name], abs=1e-11)
        for name in ("roll", "fl.rolling_slip"):
            assert batch.output(name)[:, lane] == pytest.approx(run[name], abs=1e-9)


@pytest.mark.slow
def test_friction_slope_and_the_robot_s_own_parameters_differ():
    given = {"terrain.surfaces.ground.slope": np.radians([0, 8]), "body.mass": np.array([40.0, 60.0])}
    batch = lanes({"type": "plane", "slope": "1 deg"}, given)
    run = trundle.simulate(
        box(), 2.0, rates(3.0), terrain=slope(8), step=0.05, samples=3, parameters={"body.mass": 60.0}
    )
    assert batch["x"][:, 1] == pytest.approx(run["x"], abs=1e-11)
    ice = {"surfaces": {"ground": {"type": "plane"}}, "regions": {"ice": {"friction": 0.5}}}
    batch = trundle.rollout(
        box(), terrain=ice, parameters={"terrain.regions.ice.friction": np.array([0.0, 1.0])},
        inputs=rates(3.0), steps=40, dt=0.05,
    )  # fmt: skip
    assert batch.final("x")[0] == pytest.approx(0.0, abs=1e-9)
    assert batch.final("x")[1] > 0.5
    assert batch.summary["stuck"] == 1
    assert batch.summary["overturned"] == 0


@pytest.mark.slow
def test_who_overturns_is_counted_apart():
    """Across a slope steeper than the track over twice the centre's height allows."""
    tall = box(
        body={"mass": 40.0, "center_of_mass": [0, 0, 0.5], "inertia": {"xx": 1.0, "yy": 1.5, "zz": 2.0}}
    )
    batch = trundle.rollout(
        tall, terrain=slope(5, uphill=90), parameters={"terrain.surfaces.slope.slope": np.radians([5.0, 35.0])},
        inputs=rates(0.0), steps=60, dt=0.05,
    )  # fmt: skip
    assert batch.summary["overturned"] == 1
    assert batch.summary["stuck"] == 0
    run = trundle.simulate(tall, 3.0, rates(0.0), terrain=slope(35, uphill=90), step=0.05)
    assert run.summary["overturned_at"] > 0


@pytest.mark.slow
def test_a_robot_that_digs_in_is_stuck_in_its_run():
    icy = {"regions": {"ice": {"friction": 0.0}}}
    assert trundle.simulate(box(), 1.0, rates(3.0), terrain=icy, step=0.05).summary["stuck"]
    assert "stuck" not in trundle.simulate(box(), 1.0, rates(3.0), terrain={}, step=0.05).summary


@pytest.mark.slow
def test_who_leaves_a_map_is_counted():
    surface = {"type": "grid", "heights": [[0, 0], [0, 0]], "spacing": 3}
    batch = lanes(surface, {}, inputs={name: np.array([0.0, 8.0]) for name in rates(0.0)})
    assert batch.summary["beyond_map"] == 1


@pytest.mark.slow
def test_a_robot_has_one_fate_however_it_falls_beyond_its_map():
    how = {
        "terrain": {"surfaces": {"map": {"type": "grid", "heights": [[0, 0], [0, 0]], "spacing": 3}}},
        "inputs": rates(8.0), "steps": 150, "dt": 0.02, "progress": False,
    }  # fmt: skip
    batch = trundle.rollout(box(), **how)
    assert batch.final("q_y") ** 2 + batch.final("q_x") ** 2 > 0.1  # it tumbles
    told = {name: batch.summary[name] for name in ("overturned", "stuck", "beyond_map")}
    assert told == {"overturned": 0, "stuck": 0, "beyond_map": 1}
    found = trundle.sweep(box(), over={"initial.yaw": [0.0, 1.0]}, measures=["final.z"], **how)
    assert {name: found.outcomes[name] for name in told} == {"overturned": 0, "stuck": 0, "beyond_map": 2}


@pytest.mark.slow
def test_kinematic_lanes():
    batch = lanes(RANDOM, {"terrain.surfaces.ground.seed": np.arange(3)}, mode="kinematic")
    run = trundle.simulate(
        box(),
        2.0,
        rates(3.0),
        terrain={"surfaces": {"ground": {**RANDOM, "seed": 2}}},
        step=0.05,
        samples=3,
        mode="kinematic",
    )
    assert batch["x"][:, 2] == pytest.approx(run["x"], abs=1e-11)


@pytest.mark.parametrize(
    ("given", "others", "words"),
    [
        ({"terrain.surfaces.ground.seed": [0.5]}, {}, "whole numbers"),
        ({"terrain.surfaces.ground.sead": [1]}, {}, "has no number"),
        ({"terrain.stiffness": [1e4]}, {}, "leaves it to its default"),
        ({"terrain.sinkage": [0.01, -0.1]}, {}, "greater than zero"),
        ({"mass": [1.0]}, {}, "mass"),
        ({}, {"gradients": ["x"]}, "no derivatives"),
        ({}, {"mode": "planar"}, "unknown mode"),
        ({}, {"initial": {"vx": 1.0}}, "vx"),
        ({}, {"inputs": {"nobody": 1.0}}, "nobody"),
    ],
)
def test_what_no_rollout_over_terrain_takes(given, others, words):
    with pytest.raises(InputError, match=words):
        lanes(RANDOM, {name: np.array(value) for name, value in given.items()}, **others)


@pytest.mark.parametrize(
    ("surface", "name", "hint"),
    [
        (
            {"type": "plane", "slope": 0.1},
            "terrain.seed",
            "'fractal' have one; numbers are terrain.",
        ),
        (RANDOM, "terrain.surfaces.ground.sead", "terrain.surfaces.ground.seed"),
    ],
)
def test_numbers_of_the_ground_are_named_as_they_are_given(surface, name, hint):
    with pytest.raises(InputError) as told:
        lanes(surface, {name: np.array([1])})
    assert hint in str(told.value.hint)


@pytest.mark.slow
def test_robots_that_fall_begin_at_the_angles_that_are_given():
    """Beside z, one and many; without z the ground says roll and pitch."""
    pitch = np.array([-0.2, 0.3])
    angles = {"z": 0.8, "roll": 0.1, "yaw": "90 deg"}
    batch = lanes({"type": "plane"}, {}, initial={**angles, "pitch": pitch}, steps=2, dt=0.01, every=1)
    for lane, value in enumerate(pitch):
        run = trundle.simulate(
            box(), 0.02, rates(3.0), terrain={}, step=0.01, initial={**angles, "pitch": value}, progress=False
        )
        assert [run[name][0] for name in ("roll", "pitch", "yaw")] == pytest.approx([0.1, value, np.pi / 2])
        for name in ("z", "q_w", "q_x", "q_y", "q_z", "v_x"):
            assert batch[name][:, lane] == pytest.approx(run[name], abs=1e-12)


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ({"roll": 0.1}, "the ground says roll where a robot settles\n.*z, too"),
        ({"pitch": 0.1, "yaw": 1.0}, "the ground says pitch"),
        ({"yaw": 1.0, "q_w": 1.0}, "yaw and a quaternion are given"),
    ],
)
def test_angles_that_say_nothing_or_too_much_are_refused(initial, words):
    with pytest.raises(trundle.InputError, match=words):
        trundle.simulate(box(), 0.02, terrain={}, step=0.01, initial=initial)
    with pytest.raises(trundle.InputError, match=words):
        lanes({"type": "plane"}, {}, initial=initial)

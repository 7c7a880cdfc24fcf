"""Scenes over time: wheels turn as they roll, and all of a scene is plain data."""

import json

import numpy as np
import pytest

import trundle
from trundle.show.drawing.scene import marks
from trundle.show.drawing.scenes import motion, scene
from trundle.show.figures.arrows import with_wrenches
from trundle.show.figures.path import track_of


def rolled(robot, duration=1.0, **inputs):
    run = trundle.roll(robot, duration, inputs, samples=401, progress=False)
    return motion(robot, run.values, {})


def test_what_is_painted_on_a_rolling_wheel_stands_still_where_it_touches_the_ground():
    shapes = rolled(trundle.catalog.differential_drive(), **{"left.rate": 3.0, "right.rate": 3.0})
    assert shapes.spins is not None
    np.testing.assert_allclose(shapes.spins[-1], [3.0, 3.0], atol=1e-9)
    for index, wheel in enumerate(shapes.wheels):
        rim = marks(shapes, index, "y")[:, 6:, 1]  # (x, z) of the outer ends of what is on its side
        speed = np.gradient(rim, 1 / 400, axis=0)
        lowest = rim[..., 1] - rim[..., 1].min() < 1e-4 * wheel.radius
        assert lowest.any()
        assert np.linalg.norm(speed[lowest], axis=1).max() < 0.03 * 3.0 * wheel.radius


def test_marks_that_the_wheel_hides_are_not_drawn():
    shapes = rolled(trundle.catalog.differential_drive(), **{"left.rate": 3.0, "right.rate": 3.0})
    from_above = marks(shapes, 0, "z")
    seen = np.isfinite(from_above[:, :6, 0, 0]).sum(axis=1)
    assert np.isnan(from_above[:, 6:]).all()
    assert set(seen.tolist()) <= {2, 3}


@pytest.mark.parametrize("name", ["swerve", "ackermann", "mecanum"])
def test_spins_are_the_wheels_own_coordinates(name):
    robot = trundle.catalog.robot(name)
    shapes = rolled(robot, v_x=1.0)
    assert shapes.spins is not None
    radii = [wheel.radius for wheel in shapes.wheels]
    np.testing.assert_allclose(shapes.spins[-1] * radii, 1.0, rtol=1e-6)


def test_a_scene_is_plain_data_but_for_its_arrays():
    for shapes in (
        rolled(trundle.catalog.swerve(), v_x=1.0),
        scene(trundle.catalog.four_bar()),
        scene(trundle.catalog.pendulum()),
    ):
        plain = shapes.plain()
        assert plain["poses"].shape == (len(shapes.poses), plain["frames"], 12)
        arrays = {name for name, value in plain.items() if isinstance(value, np.ndarray)}
        assert arrays <= {"poses", "spins"}
        kept = json.loads(json.dumps({name: plain[name] for name in plain if name not in arrays}))
        assert [wheel["name"] for wheel in kept["wheels"]] == [wheel.name for wheel in shapes.wheels]
        assert kept["traced"] == [shapes.traced.frame, list(shapes.traced.at)]


def test_between_samples_rotations_stay_rotations_and_points_keep_near_their_arcs():
    shapes = rolled(trundle.catalog.differential_drive(), **{"left.rate": 1.0, "right.rate": 3.0})
    coarse = shapes.at([0, 200, 400])
    for position in (0.5, 1.25, 1.9):
        found, near = coarse.between(position), shapes.at([int(200 * position)])
        turn = found.poses[0, :, :, :3]
        np.testing.assert_allclose(
            turn @ turn.swapaxes(1, 2), np.eye(3)[None].repeat(len(turn), 0), atol=1e-12
        )
        np.testing.assert_allclose(found.poses, near.poses, atol=5e-3)  # chords of arcs
        np.testing.assert_allclose(found.spins, near.spins, atol=1e-9)
    assert np.array_equal(coarse.between(9.0).poses, coarse.poses[-1:])


def test_what_the_ground_does_to_wheels_is_drawn_as_arrows():
    run = trundle.run(trundle.catalog.document("differential_drive"), duration=1.0)
    track = track_of(run)
    assert track is not None
    shown = with_wrenches(track.scene, run)
    assert [arrow.name for arrow in shown.arrows] == ["right", "left"]
    for arrow in shown.arrows:
        force = np.hypot(run[f"{arrow.name}.traction"], run[f"{arrow.name}.side_force"])
        np.testing.assert_allclose(np.linalg.norm(arrow.vector, axis=1), arrow.scale * force, atol=1e-12)
        np.testing.assert_allclose(arrow.at[:, 2], -0.15, atol=1e-12)  # a radius below the axles

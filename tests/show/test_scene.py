"""Scenes over time: wheels turn as they roll, and all of a scene is plain data."""

import json

import numpy as np
import pytest

import trundle
from trundle.model.drawing import motion, scene
from trundle.scene import marks


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

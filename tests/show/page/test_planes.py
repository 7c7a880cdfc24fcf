"""Planes of a page: wheels' forces are shares of friction, motors' torques lie within their edges, dots move."""

from typing import Any

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.show.page import page_of
from trundle.show.page import planes as page_planes


@pytest.fixture(scope="module")
def driven():
    robot = trundle.catalog.swerve(
        motor="kraken_x60", friction=1.1, steering_motor="kraken_x60", current_limit=80
    )
    bend = {"name": "bend", "commands": [{"duration": 1, "twist": {"v_x": 1, "omega": -2.5}}]}
    return trundle.drive({"motion": bend}, robot, progress=False)


@pytest.fixture(scope="module")
def followed(driven):
    return trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.4, 0.5)]), driven.robot, progress=False)


def planes(run) -> list[dict[str, Any]]:
    """A page's panels of a plane, as JSON."""
    return page_planes.planes(run)


def where(curve, run):
    """The points (n, 2) of a curve of a plane."""
    _, across, up, divided = curve
    name, one, other = divided or (None, 1.0, 1.0)
    by = 1.0 if name is None else run[name]
    return np.stack([run[across] / (one * by), run[up] / (other * by)], axis=1)


def test_circles_hold_shares_of_friction(driven):
    run = driven.run()
    circles = [plane for plane in planes(run) if plane["section"] == "friction"]
    assert [plane["title"] for plane in circles] == list(driven.names)
    shares = [np.hypot(*where(plane["curves"][0], run).T).max() for plane in circles]
    assert max(shares) == pytest.approx(driven.summary()["friction_use"], rel=2e-2)  # of as many samples
    assert max(shares) <= driven.summary()["friction_use"] * (1 + 1e-9)
    # the way bends to the right, and so do the forces
    assert np.mean([where(plane["curves"][0], run)[:, 0] for plane in circles]) > 0.02


def test_speed_along_the_way_has_the_colour_of_what_binds(followed):
    run, binding = followed.run(), followed.limit_usage.binding
    (plane,) = (plane for plane in planes(run) if plane["section"] == "binding")
    times, way, speed = plane["track"]
    assert len(binding) == len(plane["spans"]) > 0
    for (name, begin, end), (colour, *span) in zip(binding, plane["spans"], strict=True):
        assert span == [begin, end]
        assert plane["names"][colour].startswith(name.partition(" of ")[0].replace("_", " "))
        assert {begin, end} <= set(times)
    longest = [float(name.split(", ")[1].split()[0]) for name in plane["names"]]
    assert longest == sorted(longest, reverse=True)
    assert sum(longest) == pytest.approx(
        sum(end - begin for _, begin, end in binding), abs=0.005 * len(longest)
    )
    samples = followed.motion.samples(times).twist
    assert speed == pytest.approx(np.hypot(samples[:, 0], samples[:, 1]), abs=11 / 100 / 4)  # at kinks
    poses = followed.motion.poses(np.linspace(0, followed.motion.duration, 4001))
    assert way[-1] == pytest.approx(np.hypot(*np.diff(poses[:, :2], axis=0).T).sum(), rel=1e-3)


def test_motors_lie_within_what_they_can_give(driven):
    run = driven.run()
    driving, steering = (plane for plane in planes(run) if plane["section"] == "motors")
    assert len(driving["curves"]) == len(steering["curves"]) == 4
    for plane in (driving, steering):
        (rates, most), (_, least) = plane["edges"]
        for curve in plane["curves"]:
            rate, torque = where(curve, run).T
            assert (torque <= np.interp(rate, rates, most)).all()
            assert (torque >= np.interp(rate, rates, least)).all()


def test_runs_without_wheels_or_torques_have_none():
    run = trundle.simulate(derived("pendulum"), 0.1)
    assert planes(run) == []
    assert "createPlanes" not in page_of(run).split("startPage(document, {")[-1]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_dots_are_where_the_forces_are(driven, opened, width):
    run = driven.run()
    page = opened(page_of(run), width=width, height=900)
    page.evaluate("document.querySelector('#plots-friction').open = true")
    page.wait_for_function(
        "document.querySelector('#plots-friction .plane canvas').hasAttribute('aria-label')"
    )

    def spot(time):
        page.evaluate(f"trundlePage.player.seek({time}, true)")
        box, dot = (
            page.locator(f"#plots-friction {name}").first.bounding_box() for name in (".plane", ".dot")
        )
        return np.array(
            [dot[key] + dot[size] / 2 - box[key] for key, size in (("x", "width"), ("y", "height"))]
        )

    circle = next(plane for plane in planes(run) if plane["section"] == "friction")
    points, times = where(circle["curves"][0], run), [0.2, 0.9]
    shares = np.stack([np.interp(times, run.time, column) for column in points.T], axis=1)
    first, second = (spot(time) for time in times)
    moved, expected = second - first, (shares[1] - shares[0]) * [1, -1]
    assert np.hypot(*moved) > 3
    assert moved / np.hypot(*moved) == pytest.approx(expected / np.hypot(*expected), abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_a_dot_goes_along_the_way(followed, opened, width):
    page = opened(page_of(followed.run()), width=width, height=900)
    page.evaluate("document.querySelector('#plots-binding').open = true")
    page.wait_for_function(
        "document.querySelector('#plots-binding .plane canvas').hasAttribute('aria-label')"
    )
    spots = []
    for time in (0.0, 0.5, 1.0):
        page.evaluate(f"trundlePage.player.seek({time * followed.motion.duration}, true)")
        box, dot = (page.locator(f"#plots-binding {name}").bounding_box() for name in (".plane", ".dot"))
        spots.append([dot["x"] - box["x"], dot["y"] - box["y"]])
    (first, middle, last), width_of = np.array(spots), box["width"]
    assert first[0] < middle[0] < last[0] < width_of
    assert middle[1] < first[1] - 10  # faster than at rest is higher

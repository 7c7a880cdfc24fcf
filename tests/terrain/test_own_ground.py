"""A ground written outside the package: a halfpipe drives as its circle says, in runs, rollouts and files."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

import trundle
from tests.terrain.test_runs import box, rates
from trundle.documents import dump, load, parse
from trundle.robot import Spot, Surface, default
from trundle.robot.component import plain
from trundle.robot.values import Length, Positive
from trundle.scalars import sqrt


@trundle.register
class Gutter(Surface):
    """The inside of a pipe along x: distance R − √(y² + (z − R)²)."""

    type: Literal["gutter"] = "gutter"
    exact = True
    radius: Positive[Length] = default(4.0, "Radius R (m).")

    def spot(self, point, read):
        radius, (_, y, z) = read(self.radius), point
        away = sqrt(y * y + (z - radius) * (z - radius) + 1e-12)
        normal = (0.0, -y / away, (radius - z) / away)
        return Spot(radius - away, normal, normal)


def pipe(radius):
    return {"surfaces": {"pipe": {"type": "gutter", "radius": radius}}, "sinkage": "2 mm"}


@pytest.mark.parametrize("y", [-1.2, 0.0, 0.7])
def test_a_robot_settles_square_to_the_radius(y):
    """A base is tilted by the angle at which it stands on the circle: sin φ = y / (R − what lies below its origin)."""
    run = trundle.simulate(box(), 0.02, {}, terrain=pipe(5.0), initial={"y": y}, step=0.01, progress=False)
    up = 5.0 - run["z"][0]
    assert np.tan(run["roll"][0]) == pytest.approx(np.tan(np.arctan2(y, up)), abs=1e-3)


def test_along_the_pipe_it_drives_as_on_flat_ground():
    over = trundle.simulate(box(), 1.0, rates(3.0), terrain=pipe(5e3), step=0.01, progress=False)
    flat = trundle.simulate(box(), 1.0, rates(3.0), terrain={"sinkage": "2 mm"}, step=0.01, progress=False)
    assert over["x"][-1] == pytest.approx(flat["x"][-1], abs=1e-5)


def test_robots_of_a_rollout_differ_in_its_number():
    radii = np.array([4.0, 6.0])
    given = {"terrain.surfaces.pipe.radius": radii}
    batch = trundle.rollout(
        box(),
        terrain=pipe(5.0),
        parameters=given,
        initial={"y": 0.5},
        steps=20,
        dt=0.01,
        every=20,
        progress=False,
    )
    for robot, radius in enumerate(radii):
        run = trundle.simulate(
            box(), 0.2, {}, terrain=pipe(radius), initial={"y": 0.5}, step=0.01, progress=False
        )
        assert batch["y"][-1, robot] == pytest.approx(run["y"][-1], abs=1e-11)


def test_a_file_names_it():
    document = load({"robot": plain(box()), "terrain": pipe(5.0)})
    again = parse(dump(document.robot, terrain=document.terrain))
    assert again.terrain.surfaces["pipe"].radius.number == 5.0


@trundle.register
class Floor(Surface):
    """Flat, as `law` says of a point."""

    type: Literal["floor"] = "floor"
    exact = True
    law: ClassVar[Callable[[Any], Any]]

    def spot(self, point, read):
        return type(self).law(point)


FLOOR = {"surfaces": {"floor": {"type": "floor"}}}
UP = (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (lambda p: Spot(p[2], (0.0, 0.0, -1.0), UP), "its distance falls along its normal"),
        (lambda p: Spot(p[2], (0.0, 0.0, 2.0), UP), "its normal isn't of length 1"),
        (lambda p: Spot(p[2], UP, (0.3, 0.0, 1.0)), "its gradient isn't the distance's derivative"),
    ],
)
def test_a_ground_that_contradicts_itself_is_told(monkeypatch, says, words):
    monkeypatch.setattr(Floor, "law", staticmethod(says), raising=False)
    with pytest.warns(UserWarning, match=f"the surface 'floor' contradicts itself at 8 of 8.*{words}"):
        trundle.rollout(box(), terrain=FLOOR, steps=1, dt=0.01, progress=False)


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (lambda p: Spot(p[2] if p[0] < 9 else 0.0, UP, UP), "Floor.spot failed.*\n.*no `if` on a value"),
        (lambda p: (p[2], UP, UP), "Floor.spot gives.*\n.*expected trundle.robot.Spot"),
        (lambda p: Spot(p[2], (0.0, 1.0), UP), "Floor.spot gives"),
    ],
)  # fmt: skip
def test_a_ground_that_can_t_be_traced_says_where(monkeypatch, says, words):
    monkeypatch.setattr(Floor, "law", staticmethod(says), raising=False)
    with pytest.raises(trundle.InputError, match=words):
        trundle.simulate(box(), 0.02, {}, terrain=FLOOR, step=0.01, progress=False)

"""Robots on feet: a leg that keeps hopping, a quadruped that stands and crouches."""

import numpy as np
import pytest

import trundle
from trundle import InputError, catalog

GRAVITY = 9.81


def mass_of(robot):
    return robot.number(robot.body.mass) + sum(
        robot.number(joint.body.mass) for joint in robot.joints.values()
    )


@pytest.mark.slow
def test_a_hopper_comes_to_hops_of_one_height():
    """The limited push gives as much as the foot's blow and the damper take; between blows it falls freely."""
    run = trundle.run(catalog.document("hopper"), samples=2501, progress=False)
    z, time = run["z"] - run["leg.position"] / 17, run.time  # of the centre of mass: a foot of a sixteenth
    tops = [k for k in range(1, len(z) - 1) if z[k] > max(z[k - 1], z[k + 1])]
    heights = z[tops][-4:]
    assert np.ptp(heights) < 0.01 * heights.mean()
    aloft = run["toe.load"] == 0
    last = tops[-1]
    inside = aloft & (abs(time - time[last]) < 0.1)
    fall = z[last] - GRAVITY / 2 * (time[inside] - time[last]) ** 2
    assert np.abs(z[inside] - fall).max() < 1e-3  # steps of 2 ms, and a top that lies between them


@pytest.mark.slow
def test_a_quadruped_falls_stands_and_crouches():
    document = catalog.document("quadruped")
    run = trundle.run(document, samples=1001, progress=False)
    feet = [f"{name}.load" for name in document.robot.wheels]
    assert all(run[name][0] == 0 for name in feet)
    weight = GRAVITY * mass_of(document.robot)
    for second in (2.9, 5.9, 9.9):
        assert sum(run[name][int(100 * second)] for name in feet) == pytest.approx(weight, rel=1e-3)
    assert run["z"][590] < 0.75 * run["z"][290]
    assert np.abs([run["roll"][-1], run["pitch"][-1]]).max() < 0.02


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: catalog.hopper(leg_length=0), "leg_length: must be greater than zero"),
        (lambda: catalog.hopper(leg_stiffness="4 kg"), "leg_stiffness"),
        (lambda: catalog.hopper(body_mass=-1), "body_mass: must be greater than zero"),
        (lambda: catalog.hopper(leg_stiffness=-1), "leg_stiffness: must be greater than zero"),
        (lambda: catalog.quadruped(leg_length="x"), "leg_length"),
        (lambda: catalog.quadruped(body_mass=0), "body_mass: must be greater than zero"),
        (lambda: catalog.quadruped(friction=-0.1), "friction must not be negative"),
    ],
)
def test_measures_that_make_no_sense_are_told(make, words):
    with pytest.raises(InputError, match=words):
        make()

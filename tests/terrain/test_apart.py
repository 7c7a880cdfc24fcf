"""Grounds that a wheel touches apart: the step's distance, contacts in corners, and what coinciding grounds bear."""

import math

import numpy as np
import pytest

import trundle
from tests.terrain.test_runs import BOX, WEIGHT, box, rates
from trundle import InputError, catalog
from trundle.robot.terrain import parse_terrain
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import euler_rotation
from trundle.terrain.contact import apart, exact_contact

STEP = {"type": "step", "height": 0.4, "at": [1.0, 0.0], "uphill": "20 deg"}
FLAT = {"type": "plane"}
UPRIGHT = euler_rotation(0.0, 0.0, 0.0)


def ground_of(**surfaces):
    return parse_terrain({"surfaces": surfaces})


def nearest_of_step(point):
    """How far a point is from the step's riser, tread or edge, by trying many of their points (m)."""
    angle = math.radians(20)
    along = math.cos(angle) * (point[0] - 1.0) + math.sin(angle) * point[1]
    down, back = np.linspace(0.4, -2, 20001), np.linspace(0, 3, 20001)
    riser = np.hypot(along, point[2] - down).min()
    tread = np.hypot(along - back, point[2] - 0.4).min()
    within = along > 0 and point[2] < 0.4
    return -min(riser, tread) if within else min(riser, tread)


def test_a_step_s_distance_is_that_of_its_nearest_point(rng):
    ground = ground_of(step=STEP)
    for _ in range(50):
        point = rng.uniform(-0.5, 1.5, 3)
        # Neighbours of 20001 points lie 1.5e-4 m apart.
        assert ground.spot(tuple(point)).distance == pytest.approx(nearest_of_step(point), abs=2e-4)


def test_a_step_s_normal_is_the_slope_of_its_distance(rng):
    ground = ground_of(step=STEP)
    for _ in range(50):
        point = rng.uniform(-0.5, 1.5, 3)
        spot = ground.spot(tuple(point))
        slopes = [
            (ground.spot(tuple(point + e)).distance - ground.spot(tuple(point - e)).distance) / 2e-6
            for e in 1e-6 * np.eye(3)
        ]
        assert spot.normal == pytest.approx(slopes, abs=1e-6)


def test_an_edge_is_touched_where_the_circle_comes_nearest(rng):
    """With the axle along the edge: the contact, and how deep it is, are those of the plane across the way there."""
    ground = ground_of(step={**STEP, "uphill": 0.0}).grounds[0]
    for angle in rng.uniform(0.1, 1.4, 10):
        near = rng.uniform(0.25, 0.35)
        centre = (1 - near * math.cos(angle), 0.2, 0.4 + near * math.sin(angle))
        found = exact_contact(ground.spot, Pose(UPRIGHT, centre), 0.3)
        assert found.distance == pytest.approx(near - 0.3, abs=1e-12)
        assert found.normal == pytest.approx((-math.cos(angle), 0, math.sin(angle)), abs=1e-12)
        edge = np.array([1, 0.2, 0.4])
        assert found.place == pytest.approx(edge + found.distance * np.array(found.normal), abs=1e-12)


def test_a_wheel_in_a_corner_touches_tread_and_riser():
    terrain = ground_of(tread=FLAT, riser={**STEP, "uphill": 0.0})
    pose = Pose(UPRIGHT, (1 - 0.29, 0.0, 0.28))
    tread, riser = apart(terrain.grounds, lambda ground: exact_contact(ground.spot, pose, 0.3))
    assert (tread.ground, riser.ground) == ("tread", "riser")
    assert (tread.distance, riser.distance) == pytest.approx((-0.02, -0.01))
    assert (tread.share(0.02), riser.share(0.01)) == (1, 1)


@pytest.mark.parametrize(
    "depths", [(0.02, 0.02), (0.03, 0.01), (0.02, 0.013, 0.006), (0.01, 0.04, 0.01, 0.02)]
)
def test_grounds_that_coincide_bear_as_the_deepest_alone(depths):
    """Of planes of one direction each layer bears once."""
    planes = {f"p{k}": {**FLAT, "through": [0, 0, depth]} for k, depth in enumerate(depths)}
    pose = Pose(UPRIGHT, (0.0, 0.0, 0.3))
    contacts = apart(ground_of(**planes).grounds, lambda ground: exact_contact(ground.spot, pose, 0.3))
    borne = sum(contact.share(depth) * depth for contact, depth in zip(contacts, depths, strict=True))
    assert borne == pytest.approx(max(depths), rel=1e-12)


def test_hills_and_waves_make_one_ground():
    hill = {"type": "hill", "height": 0.2, "width": 0.5}
    terrain = ground_of(flat=FLAT, hill=hill, other={**hill, "at": [2, 0]}, riser=STEP)
    assert [ground.name for ground in terrain.grounds] == ["flat", "riser", "relief"]
    assert [ground.name for ground in ground_of(flat=FLAT, hill=hill).grounds] == ["flat", "hill"]
    with pytest.raises(InputError, match="a surface is called 'relief'"):
        ground_of(relief=FLAT, hill=hill, other=hill)


@pytest.mark.slow
def test_a_plane_that_is_there_twice_is_one():
    once = trundle.simulate(box(), 2.0, rates(3.0), terrain={}, step=0.02, initial={"z": 0.18})
    planes = {"surfaces": {"a": FLAT, "b": FLAT}}
    twice = trundle.simulate(box(), 2.0, rates(3.0), terrain=planes, step=0.02, initial={"z": 0.18})
    for name in ("x", "z", "pitch", "fl.load"):
        assert np.abs(once[name] - twice[name]).max() < 1e-9 * max(1, np.abs(once[name]).max())
    assert twice["fl.a.load"] == pytest.approx(once["fl.load"] / 2)


WALL = {"surfaces": {"floor": FLAT, "wall": {"type": "plane", "slope": "90 deg", "through": [0.6, 0, 0]}}}


@pytest.fixture(scope="module")
def against_a_wall():
    """Slowly, without friction at the wall: friction there would lift the front."""
    icy = {"regions": {"icy": {"friction": 0.0, "x": [0.55, 1.0]}}}
    return trundle.simulate(box(), 6.0, rates(0.5), terrain={**WALL, **icy}, step=0.02)


@pytest.mark.slow
def test_against_a_wall_forces_balance(against_a_wall):
    """What wheels pull forward on the floor is what the wall pushes back; the floor bears the weight."""
    run, wheels = against_a_wall, BOX["wheels"]
    pulled = sum(run[f"{name}.floor.traction"][-1] for name in wheels)
    pushed = sum(run[f"{name}.wall.load"][-1] for name in wheels)
    assert pulled == pytest.approx(pushed, rel=1e-3)
    assert pushed > 0.1 * WEIGHT
    assert sum(run[f"{name}.floor.load"][-1] for name in wheels) == pytest.approx(WEIGHT, rel=1e-3)
    assert run["x"][-1] == pytest.approx(0.6 - 0.3 - 0.15, abs=0.02)


@pytest.mark.slow
def test_a_wheel_with_two_contacts_has_both_and_their_sum(against_a_wall):
    run = against_a_wall
    assert run["fl.load"] == pytest.approx(run["fl.floor.load"] + run["fl.wall.load"])
    assert run["fl.sinkage"] == pytest.approx(np.maximum(run["fl.floor.sinkage"], run["fl.wall.sinkage"]))
    assert run["rl.wall.load"].max() == 0.0
    assert np.abs(run["rl.wall.rolling_slip"]).max() == 0.0
    assert run.column("fl.wall.load").owner == "fl.wall"


@pytest.mark.slow
def test_its_figures_show_both_and_the_friction_in_use(against_a_wall):
    from trundle.show.figures.panels import friction_use

    use = friction_use(against_a_wall)
    assert set(use) == {f"{name}.{ground}" for name in BOX["wheels"] for ground in ("floor", "wall")}
    assert max(use["rl.floor"]) <= 1 + 1e-9
    against_a_wall.plot.contacts()


@pytest.mark.slow
def test_without_forces_a_rocker_bogie_rolls_up_a_step():
    """The nearest ground counts: it rolls along the tread, up the riser, over the edge, and stands a step higher."""
    step = {
        "surfaces": {"ground": FLAT, "step": {"type": "step", "height": 0.2, "at": [1.0, 0]}},
        "sinkage": "1 mm",
    }
    run = trundle.simulate(catalog.robot("rocker_bogie"), 10.0, terrain=step, mode="kinematic", step=0.01)
    assert run["z"][-1] - run["z"][0] == pytest.approx(0.2, abs=1e-3)
    assert run["pitch"][-1] == pytest.approx(0.0, abs=1e-2)
    # What other wheels push into the riser is led back in 0.1 s: about v T deep.
    deepest = max(run[f"{name}.sinkage"].max() for name in ("front_left", "middle_left", "rear_left"))
    assert deepest < 1.5 * 0.3 * 0.1


@pytest.mark.slow
def test_a_robot_beside_a_wall_drives_along_it():
    """Its wheels lie flat to the wall, which has no deepest point for them."""
    side = {"type": "plane", "slope": "90 deg", "uphill": "90 deg", "through": [0, 0.5, 0]}
    run = trundle.simulate(
        box(), 2.0, rates(2.0), terrain={"surfaces": {"floor": FLAT, "side": side}}, step=0.02
    )
    assert run["x"][-1] == pytest.approx(2 * 2.0 * 0.15, rel=0.02)
    assert run["fl.side.load"].max() == 0.0


@pytest.mark.slow
def test_arrows_point_as_tread_and_riser_push(against_a_wall):
    """All arrows together hold the weight; the wall's point back."""
    from trundle.show.figures.arrows import with_wrenches
    from trundle.show.figures.path import track_of

    track = track_of(against_a_wall)
    assert track is not None
    arrows = {arrow.name: arrow for arrow in with_wrenches(track.scene, against_a_wall).arrows}
    assert set(arrows) == {*(f"{name}.floor" for name in BOX["wheels"]), "fl.wall", "fr.wall"}
    pushed = sum(arrow.vector[-1] / arrow.scale for arrow in arrows.values())
    assert pushed == pytest.approx([0, 0, WEIGHT], rel=1e-3, abs=1)
    wall = arrows["fl.wall"]
    assert wall.vector[-1] / wall.scale == pytest.approx(
        [-against_a_wall["fl.wall.load"][-1], 0, 0], abs=1e-9
    )
    assert wall.at[-1][0] == pytest.approx(0.6, abs=0.02)

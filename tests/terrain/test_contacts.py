"""Contacts of wheels, their Jacobian, and M and c of the vehicles, against the reference and by their own laws."""

import math

import numpy as np
import pytest

import trundle
from tests.terrain.reference import ANGLES, NAMES, PLACE, SPEEDS, contacts, terrain, trajectories
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.momentum import mass_matrix
from trundle.mechanics.wheels import point_rows
from trundle.model.ground_model import derive_on
from trundle.model.mechanism import mechanism
from trundle.robot.terrain import parse_terrain
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import apply, euler_rotation, transpose
from trundle.terrain.advance import quaternion_of
from trundle.terrain.contact import contacts_of, wheel_contact

# The file has sixteen digits.
TOLERANCE = 1e-9
VEHICLES = {
    "zoe": "zoe_sin2d_arcR5__kin__converged__dt0.04",
    "rocky7": "rocky_sin2d_arcR3__kin__converged__dt0.04",
}


def columns_of(vehicle):
    """Joints and speeds of the reference, in its order, by our names."""
    header = trajectories()[VEHICLES[vehicle]]["columns"]
    joints = [NAMES[vehicle][name] for name in header if name in NAMES[vehicle]]
    return joints, [*SPEEDS.values(), *(f"{name}.rate" for name in joints)]


class Posed:
    """A vehicle in numbers at the reference's state, on its hills."""

    def __init__(self, vehicle):
        self.reference = contacts()["zoe" if vehicle == "zoe" else "rocky"]
        joints, speeds = columns_of(vehicle)
        state = self.reference["state"]
        values = dict(zip(PLACE, state[3:6], strict=True))
        values |= dict(zip(("q_w", "q_x", "q_y", "q_z"), quaternion_of(*state[:3]), strict=True))
        values |= {f"{name}.angle": value for name, value in zip(joints, state[6:], strict=True)}
        here = mechanism(trundle.catalog.robot(vehicle), terrain=True)
        self.here = here.configured([values[name] for name in here.names])
        self.assembly, self.poses = self.here.assembly, self.here.at.poses
        self.places = [self.assembly.speeds.index(name) for name in speeds]
        self.nu = np.zeros(len(speeds))
        self.nu[self.places] = self.reference["qvel"]
        ground = terrain("sin2d", vehicle)
        world = world_poses(self.assembly.tree, self.poses)
        order = [name for name in joints if name in {wheel.name for wheel in self.assembly.wheels}]
        wheels = {wheel.name: wheel for wheel in self.assembly.wheels}
        self.wheels = [wheels[name] for name in order]
        self.world = [world[wheel.link] for wheel in self.wheels]
        self.touching = [
            contacts_of(ground, pose, wheel)[0][0]
            for wheel, pose in zip(self.wheels, self.world, strict=True)
        ]


@pytest.fixture(scope="module", params=VEHICLES)
def posed(request):
    return Posed(request.param)


def near(ours, theirs):
    return np.allclose(np.array(ours, dtype=float), np.array(theirs), rtol=0, atol=TOLERANCE)


def test_mass_and_bias_are_the_reference_s(posed):
    pick = np.ix_(posed.places, posed.places)
    mass = np.array(mass_matrix(posed.assembly.tree, posed.poses), dtype=float)[pick]
    assert near(mass, posed.reference["H"])
    bias = inverse_dynamics(posed.assembly.tree, posed.poses, posed.nu, [0.0] * len(posed.nu))
    assert near(np.array(bias, dtype=float)[posed.places], posed.reference["C"])


def test_points_and_distances_are_the_reference_s(posed):
    assert near([each.place for each in posed.touching], posed.reference["contact_points_world"])
    assert near([each.distance for each in posed.touching], posed.reference["contact_dz"])


def test_frames_are_the_reference_s(posed):
    for each, pose, frame in zip(
        posed.touching, posed.world, posed.reference["contact_frames_world"], strict=True
    ):
        axes = [apply(pose.rotation, axis) for axis in each.axes]
        assert near(transpose(axes), frame)


def test_jacobian_is_the_reference_s(posed):
    rows = []
    for each, wheel in zip(posed.touching, posed.wheels, strict=True):
        own = point_rows(posed.assembly.tree, posed.poses, wheel.link, each.point, each.axes)
        rows += [[row[place] for place in posed.places] for row in own]
    assert near(rows, posed.reference["wheel_jacobian"])


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_a_vehicle_settles_where_the_reference_does(vehicle):
    row = trajectories()[VEHICLES[vehicle]]
    first = dict(zip(row["columns"], row["first"], strict=True))
    model = derive_on(trundle.catalog.robot(vehicle), terrain("sin2d", vehicle), "kinematic")
    found = dict(zip(model.states, model.start({}, model.parameters)[:, 0], strict=True))
    quaternion = quaternion_of(*(first[name] for name in ANGLES))
    assert [found[f"q_{part}"] for part in "wxyz"] == pytest.approx(quaternion, abs=TOLERANCE)
    assert found["z"] == pytest.approx(first["z"], abs=TOLERANCE)
    for theirs, ours in NAMES[vehicle].items():
        assert found[f"{ours}.angle"] == pytest.approx(first[theirs], abs=TOLERANCE)


SURFACES = [
    {"type": "plane", "slope": "25 deg", "uphill": "40 deg", "through": [0.1, 0.2, 0.3]},
    {"type": "plane", "slope": "90 deg", "through": [0.3, 0, 0]},
    {"type": "waves", "amplitude": 0.1, "length": 3.0},
    {"type": "waves", "amplitude": 0.1, "length": 3.0, "across": 2.5},
    {"type": "hill", "height": 0.3, "width": 0.8, "at": [0.2, -0.1]},
    {"type": "ramp", "rise": 0.2, "run": 0.6, "rounding": 0.2, "uphill": "20 deg"},
]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface["type"])
def test_the_contact_is_the_least_distance_on_the_circle(surface, rng):
    ground, radius = parse_terrain({"surfaces": {"it": surface}}), 0.3
    for _ in range(10):
        angles = rng.uniform(-0.4, 0.4, 2)
        rotation = (
            euler_rotation(*angles, rng.uniform(-3, 3))
            if surface.get("slope") != "90 deg"
            else (euler_rotation(*angles, rng.uniform(-0.5, 0.5)))
        )
        place = rng.uniform(-1, 1, 3)
        place[2] += 0.5
        pose = Pose(rotation, tuple(place))
        found = wheel_contact(ground.spot, pose, radius)

        def at(alpha, pose=pose):
            point = (-radius * math.sin(alpha), 0.0, -radius * math.cos(alpha))
            return ground.spot(tuple(np.array(pose.position) + np.array(pose.rotation) @ point)).distance

        least = min(at(alpha) for alpha in np.linspace(-math.pi, math.pi, 2001))
        # Between two of 2001 angles the distance falls by less than r (π/2000)²/2 (1 + r κ).
        # Of 20,000 wheels a ramp's are 2e-10 m off within a wheel of the ground, one 7e-7 m where it is a metre away.
        assert found.distance <= least + (1e-9 if abs(found.distance) < radius else 1e-5)
        assert found.distance >= least - 2 * radius * (math.pi / 2000) ** 2


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface["type"])
def test_gradients_are_derivatives(surface, rng):
    ground = parse_terrain({"surfaces": {"it": surface}})
    for _ in range(5):
        place = rng.uniform(-1, 1, 3)
        spot = ground.spot(tuple(place))
        assert np.linalg.norm(spot.normal) == pytest.approx(1, abs=1e-12)
        for axis in range(3):
            step = 1e-5 * np.eye(3)[axis]
            rise = ground.spot(tuple(place + step)).distance - ground.spot(tuple(place - step)).distance
            assert rise / 2e-5 == pytest.approx(spot.gradient[axis], abs=1e-8)

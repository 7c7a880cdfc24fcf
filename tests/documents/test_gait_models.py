"""Gait models in the forms that laboratories share: read, moved and weighed as OpenSim does, and kept by the laws."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import trundle
from documents.gait_models import FORMS, random_limb, rolling_leg
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.model.mechanism import mechanism
from trundle.robot import CamCoupling

PEER = pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed")
# Rounding of some sixty joints in a chain, of the largest moment or velocity of a model.
EXACT = 1e-11


def load(tmp_path, model, name="model.osim"):
    (tmp_path / name).write_text(model.text)
    return trundle.load(tmp_path / name)


def random_motion(robot, rng, samples=4, still=()):
    """Random coordinates, speeds and accelerations of what is independent: within most curves, and a little beyond."""
    here = mechanism(robot)
    names, speeds = here.names, here.basis.labels
    tables = [rng.uniform(-size, size, (samples, len(names))) for size in (1.2, 2.0, 5.0)]
    tables[1][:, [speed.rpartition(".")[0] in still for speed in speeds]] = 0.0
    return JointMotion(0.01 * np.arange(samples), names, speeds, *tables)


def moved(motion, positions=None, velocities=None, accelerations=None):
    """The same motion with other tables; zeros where a number stands."""
    tables = {"positions": positions, "velocities": velocities, "accelerations": accelerations}
    return replace(motion, **{key: table for key, table in tables.items() if table is not None})


def opensim(tmp_path, cases):
    """What OpenSim says of loads of model files: every sample's poses and velocities by body, moments by coordinate."""
    given, found = tmp_path / "cases.json", tmp_path / "results.json"
    asked = []
    for file, loads in cases:
        tables = loads.samples.tables
        names = [name.rpartition(".")[0] for name in loads.recursion.speeds]
        known = [name for name in names if f'"{name}"' in file.read_text()]
        rows = [[dict(zip(names, row.tolist(), strict=True)) for row in table] for table in tables]
        samples = [[{n: part[n] for n in known} for part in parts] for parts in zip(*rows, strict=True)]
        asked.append({"file": str(file), "samples": samples})
    given.write_text(json.dumps(asked))
    script = __file__.replace("test_gait_models", "opensim_peer")
    subprocess.run(
        [sys.executable, script, str(given), str(found)], check=True, cwd=tmp_path
    )  # it writes a log
    return json.loads(found.read_text())


def assert_as_opensim_has_it(loads, found):
    """Poses and velocities of all bodies; and the moments, what follows by constraints given to what it follows."""
    ours = {body: loads.frames[body] for body in found[0][0]}
    for body, frame in ours.items():
        theirs = [np.array([sample[0][body][k] for sample in found]) for k in range(4)]
        world = loads.world
        own = (
            frame.origin.position(frame=world),
            frame.rotation(frame=world),
            frame.origin.velocity(seen_from=world, frame=world),
            frame.angular_velocity(seen_from=world, frame=world),
        )
        for mine, other in zip(own, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=EXACT * max(np.abs(other).max(), 1))
    moments = {name: np.array([sample[1][name] for sample in found]) for name in found[0][1]}
    speeds, q = loads.recursion.speeds, dict(zip(loads.recursion.coordinates, loads.samples.q.T, strict=True))
    for tie in loads.recursion.mechanism.assembly.couplings:
        dependent = tie.follower.coordinate.rpartition(".")[0]
        if dependent in moments:  # OpenSim's solver leaves its constraints' forces on what follows
            ((slope,),) = tie.slopes([q[tie.leaders[0].coordinate]])
            led = moments.pop(dependent)
            np.testing.assert_allclose(loads.ties[tie.name], led, atol=EXACT * np.abs(led).max())
            moments[tie.leaders[0].coordinate.rpartition(".")[0]] += slope * led
    compared = 0
    for name, theirs in moments.items():
        if f"{name}.rate" in speeds:
            peak = max(np.abs(theirs).max(), 1.0)
            np.testing.assert_allclose(
                loads.actuator_torque[f"{name}.rate"], theirs, atol=EXACT * peak, err_msg=name
            )
            compared += 1
    return compared


@pytest.mark.parametrize("form", FORMS)
def test_forms_are_read(tmp_path, form):
    model = FORMS[form]()
    names = [name.rpartition(".")[0] for name in mechanism(load(tmp_path, model)).names]
    assert sorted(names) == sorted(model.free)


@PEER
@pytest.mark.slow
def test_forms_move_and_weigh_as_in_opensim(tmp_path, rng):
    """With the knees of Rajagopal's form at rest, see `test_turning_knees_...`; everything else moves."""
    models, cases = {form: make() for form, make in FORMS.items()}, []
    for form, model in models.items():
        robot = load(tmp_path, model, f"{form}.osim")
        still = ("knee_angle_r", "knee_angle_l") if form == "Rajagopal2016" else ()
        motion = random_motion(robot, rng, still=still)
        cases.append((tmp_path / f"{form}.osim", trundle.joint_loads(robot, motion)))
    for model, (_, loads), found in zip(models.values(), cases, opensim(tmp_path, cases), strict=True):
        assert assert_as_opensim_has_it(loads, found) == len(model.free)


def away_from_knots(robot, rng, width):
    """A random motion of one sample whose coordinates are that far from where curves have another third derivative."""
    knots = [
        x for tie in robot.couplings.values() if isinstance(tie, CamCoupling) for x in tie.curve.pieces.knots
    ]
    while True:
        motion = random_motion(robot, rng, samples=1)
        if all(np.abs(motion.positions - knot).min() > 3 * width for knot in knots):
            return motion


def stencil(motion, width):
    """What OpenSim is asked for to know its mass matrix about a motion's one sample: forces there at rest with
    u̇ = u and u̇ = 0, for steps along u and along every coordinate.
    """
    q, u = motion.positions[0], motion.velocities[0]
    steps = [u, *np.eye(len(q))]
    places = [q + k * width * step for step in steps for k in (-2, -1, 1, 2)]
    tables = [np.array([place for place in places for _ in range(2)])]
    tables += [np.zeros_like(tables[0]), np.array([a for _ in places for a in (u, 0 * u)])]
    return JointMotion(0.01 * np.arange(len(tables[0])), motion.names, motion.speeds, *tables)


def velocity_forces(forces, u, width):
    """c = Ṁ u − ½ ∂(uᵀ M u)/∂q of forces (samples, n) at a stencil, by central differences of fourth order."""
    inertial = (forces[::2] - forces[1::2]).reshape(-1, 4, len(u))
    weights = np.array([1, -8, 8, -1]) / (12 * width)
    slopes = np.einsum("k,skn->sn", weights, inertial)
    return slopes[0] - slopes[1:] @ u / 2


@PEER
@pytest.mark.campaign
def test_random_limbs_move_and_weigh_by_opensims_masses(tmp_path, campaign):
    """Poses, velocities and the forces at rest are OpenSim's; those of the speeds follow from its masses.

    OpenSim's own differ where a coordinate turns several axes of a CustomJoint with another one between: they aren't
    ½ dM/dq u², so that its energy isn't kept. What is exact is compared exactly; the difference of masses has 1e-8.
    """
    width, cases, motions = 2e-3, [], []
    limbs = [rolling_leg(), *(random_limb(rng) for rng in campaign(100))]
    for k, model in enumerate(limbs):
        robot = load(tmp_path, model, f"{k}.osim")
        motion = away_from_knots(robot, np.random.default_rng(k), width)
        motions.append(trundle.joint_loads(robot, motion))
        around = trundle.joint_loads(robot, stencil(motion, width))
        cases.append((tmp_path / f"{k}.osim", around))
        resting = trundle.joint_loads(robot, moved(motion, velocities=0 * motion.velocities))
        cases.append((tmp_path / f"{k}.osim", resting))
    found = opensim(tmp_path, cases)
    for loads, (_, around), theirs, (_, resting), at_rest in zip(
        motions, cases[::2], found[::2], cases[1::2], found[1::2], strict=True
    ):
        assert assert_as_opensim_has_it(around, theirs)
        assert assert_as_opensim_has_it(resting, at_rest)
        speeds = loads.recursion.mechanism.basis.labels
        names = [speed.rpartition(".")[0] for speed in speeds]
        forces = np.array([[sample[1][name] for name in names] for sample in theirs])
        u = np.array([loads.samples.nu[0, loads.recursion.speeds.index(speed)] for speed in speeds])
        ours = np.array(
            [loads.actuator_torque[speed][0] - resting.actuator_torque[speed][0] for speed in speeds]
        )
        expected = velocity_forces(forces, u, width)
        np.testing.assert_allclose(ours, expected, atol=1e-7 * max(np.abs(expected).max(), 1.0))

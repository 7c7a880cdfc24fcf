"""The catalogue's planar robots over terrain: their planar models on hard ground, slopes, tipping, what they lack."""

import math
from itertools import pairwise

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from tests.terrain.limits import on_hard_ground
from trundle.catalog import document
from trundle.cli.app import main
from trundle.robot.component import plain

MEASURES = {"differential_drive": {"casters": True}, "offset_drive": {"casters": True}}
ROBOTS = (
    "differential_drive",
    "offset_drive",
    "mecanum",
    "three_omni",
    "skid_steer",
    "swerve",
    "limited_swerve",
    "ackermann",
    "tricycle",
)


def catalogued(name, **wheel):
    """A robot of the catalogue with other keys of all its wheels that roll."""
    data = plain(getattr(trundle.catalog, name)(**MEASURES.get(name, {})))
    for each in data["wheels"].values():
        if each.get("type") != "ball":
            each |= wheel
    data["parameters"].pop("mu", None)
    return trundle.Robot(**data)


def inputs_of(name, share):
    """A share of the last inputs of its run as it comes."""
    signals = document(name).run.inputs.items()
    return {key: share * (s.values[-1] if hasattr(s, "values") else s).number for key, s in signals}


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_on_hard_flat_ground_a_robot_moves_as_its_planar_model(name):
    """With forces that hang on slip alone: the planar model's loads are those of a rigid ground."""
    robot = catalogued(name, contact="linear", slip_damping=300.0, friction=1e3)
    model, inputs = trundle.derive(robot), inputs_of(name, 0.05)
    plane = trundle.simulate(model, 0.2, inputs, samples=2)
    wanted = np.array([plane[state][-1] for state in model.states])
    came = on_hard_ground(robot, 0.2, inputs, model.states, 2.5e-4)
    assert np.abs(came - wanted).max() < 1e-6 * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("uphill", [0, 90])
def test_on_a_slope_loads_are_those_of_the_planar_model(name, uphill):
    """A planar robot whose gravity is tilted shares its weight among wheels as springs do, and so does the ground."""
    data = plain(catalogued(name, contact="bristle", friction=0.9))
    for motor in data["motors"].values():
        if motor.get("type", "dc") == "dc":
            motor_of = {"type": "velocity", "drives": motor["drives"], "gain": 100.0}
            motor.clear()
            motor |= motor_of
    theta, way = math.radians(5), math.radians(uphill)
    ground = {"surfaces": {"slope": {"slope": theta, "uphill": way}}, "sinkage": 1e-6}
    run = trundle.simulate(trundle.Robot(**data), 2.0, terrain=ground, step=0.002, samples=2)
    pull = 9.81 * math.sin(theta)
    data["gravity"] = [-pull * math.cos(way), -pull * math.sin(way), -9.81 * math.cos(theta)]
    plane = trundle.simulate(trundle.Robot(**data), 2.0, samples=2)
    for wheel in data["wheels"]:
        assert run[f"{wheel}.load"][-1] == pytest.approx(plane[f"{wheel}.load"][-1], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "tips"), [(38, False), (48, True)])
def test_a_base_tips_over_where_its_tread_says(degrees, tips):
    """Braked across a slope that rises to its left: it tips where tan θ > (track/2)/height = 1."""
    data = plain(catalogued("skid_steer", contact="linear", friction=3.0))
    data["motors"] = {
        each: {"type": "ideal", "drives": each.removesuffix("_motor")} for each in data["motors"]
    }
    # a body of 40 kg so high that all 46 kg have their centre 0.3 m above the ground
    data["body"]["center_of_mass"] = [0, 0, 46 / 40 * 0.18]
    slope = {"surfaces": {"slope": {"slope": f"{degrees} deg", "uphill": "90 deg"}}, "sinkage": "1 mm"}
    run = trundle.simulate(trundle.Robot(**data), 3.0, terrain=slope, step=0.005)
    assert ("overturned_at" in run.summary) == tips
    assert bool(run.summary.get("lifted")) == tips


@pytest.mark.slow
def test_a_mecanum_base_goes_sideways_up_a_slope_and_its_rollers_push_along_their_axes():
    """Wheels told to go left: the slip along a roller's axis is that of the load, across it it rolls freely."""
    robot = catalogued("mecanum", contact="linear", friction=1.0)
    motors = {each: {"type": "ideal", "drives": motor.drives} for each, motor in robot.motors.items()}
    robot = trundle.Robot(**{**plain(robot), "motors": motors})
    ways = {"front_left": -1, "front_right": 1, "rear_left": 1, "rear_right": -1}
    inputs = {f"{name}_motor.rate": 5.0 * way for name, way in ways.items()}
    theta, sinkage = math.radians(5), 0.005
    slope = {"surfaces": {"slope": {"slope": theta, "uphill": "90 deg"}}, "sinkage": sinkage}
    run = trundle.simulate(robot, 3.0, inputs, terrain=slope, step=0.01)
    # W sin θ = 4 C v cos² 45° with C = 0.1 s W/(4 sinkage)
    slip = 2 * sinkage / 0.1 * math.sin(theta)
    assert run["v_y"][-1] == pytest.approx(0.5 - slip, abs=1e-6)
    assert run["v_x"][-1] == pytest.approx(0.0, abs=1e-6)
    forces = np.array([run[f"{name}.roller_force"][-1] for name in ways])
    assert np.ptp(np.abs(forces)) < 0.2 * np.abs(forces).max()


def geared(name, rate, **wheel):
    """A robot of the catalogue whose motors turn wheels as told, its steering as it comes; and what they are told."""
    data = plain(catalogued(name, **wheel))
    driven = [each for each, motor in data["motors"].items() if motor["drives"] in data["wheels"]]
    for each in driven:
        data["motors"][each] = {"type": "ideal", "drives": data["motors"][each]["drives"]}
    return trundle.Robot(**data), {f"{each}.rate": rate for each in driven}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["differential_drive", "skid_steer", "swerve", "ackermann", "tricycle"])
def test_the_steady_slip_uphill_is_its_closed_form(name):
    """W sin θ = n C v of n wheels that motors drive, C = 0.1 s W/(N h): v = h sin θ/0.1 s · N/n, of N contacts."""
    robot, inputs = geared(name, 3.0, contact="linear", friction=10.0)
    theta, sinkage = math.radians(5), 0.002
    slope = {"surfaces": {"slope": {"slope": theta}}, "sinkage": sinkage}
    run = trundle.simulate(robot, 4.0, inputs, terrain=slope, step=0.01, samples=2)
    slip = sinkage / 0.1 * math.sin(theta) * len(robot.wheels) / len(inputs)
    driven = robot.motors[next(iter(inputs)).partition(".")[0]].drives
    assert run[f"{driven}.rolling_slip"][-1] == pytest.approx(-slip, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mecanum", "ackermann", "tricycle"])
def test_steps_converge_with_the_first_order(name):
    robot, inputs = geared(name, 4.0, contact="linear", friction=1.0)
    hill = {"surfaces": {"hill": {"type": "hill", "height": 0.05, "width": 1.0, "at": [1.0, 0.3]}}}
    ends = []
    for step in (2.5e-3, 1.25e-3, 6.25e-4):
        run = trundle.simulate(robot, 1.0, inputs, terrain=hill, step=step, samples=2)
        ends.append(np.array([run[each][-1] for each in ("x", "y", "z", "roll", "pitch", "yaw")]))
    first, second = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert 1.7 < first / second < 2.3


@pytest.mark.parametrize("name", mostly_slow(ROBOTS, ["differential_drive", "mecanum", "ackermann"]))
def test_with_a_law_and_a_terrain_a_file_of_the_catalogue_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    law = {} if name in ("skid_steer", "limited_swerve") else {"contact": "linear"}
    flags = ["--casters"] if MEASURES.get(name) else []
    flags += [text for key, value in law.items() for text in (f"--{key}", value)]
    assert main(["new", name, "robot.yaml", *flags]) == 0
    text = (tmp_path / "robot.yaml").read_text()
    (tmp_path / "robot.yaml").write_text(text + "\nterrain: {surfaces: {s: {slope: 3 deg}}}\n")
    assert main(["run", "robot.yaml", "--no-figures", "--json", "--duration", "0.1"]) == 0
    assert '"terrain"' in capsys.readouterr().out

"""Entries: what every catalogue robot can be exported as, with names, units and defaults that fit its programs."""

from pathlib import Path

import numpy as np
import pytest

import trundle
from derived import derived
from languages.cases import MODELS
from parameters import mostly_slow
from trundle.choices import EXPORTED
from trundle.errors import InputError
from trundle.exports.entries import entries, entry_named, unit_per
from trundle.exports.functions import ModelFunction
from trundle.languages import JAVASCRIPT, NUMPY, C, identifiers

EXAMPLES = Path(__file__).parents[2] / "examples"
WHEELED = {"wheel_states", "next_wheel_states", "odometry_step"}


@pytest.mark.parametrize("name", mostly_slow(MODELS, ["differential_drive", "mecanum", "four_bar"]))
def test_every_entry_computes_what_its_kernel_does(name, rng):
    model = MODELS[name]()
    for entry in entries(model):
        program = entry.program
        given = [rng.uniform(-1, 1, group.size) for group in program.inputs]
        given = [
            np.array(entry.defaults["parameter"]) if group.name == "parameter" else each
            for group, each in zip(program.inputs, given, strict=True)
        ]
        expected, found = program(*given), ModelFunction(entry, NUMPY.name)(*given)
        pairs = [(found, expected)] if len(program.outputs) == 1 else zip(found, expected, strict=True)
        for got, wanted in pairs:
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max(initial=1e-3))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_names_units_and_defaults_fit(name):
    model = MODELS[name]()
    found = entries(model)
    names = [entry.name for entry in found]
    assert len(set(names)) == len(names)
    assert set(names) >= {"dynamics", "jacobian", "outputs"}
    assert (set(names) >= WHEELED) == (model.robot.base == "planar")
    assert ("projection" in names) == (model.projection is not None)
    for entry in found:
        for language in (C, JAVASCRIPT, NUMPY):
            assert identifiers([entry.name], language)[entry.name] == entry.name
        assert entry.name not in {group.name for each in found for group in each.groups}
        assert entry.part in EXPORTED
        assert entry_named(model, entry.name).program.key == entry.program.key
        for group in entry.groups:
            assert len(entry.units[group.name]) == group.size
            assert len(entry.defaults.get(group.name, group.labels)) == group.size


def test_units_are_those_of_the_model():
    model = derived("differential_drive")
    units = entry_named(model, "jacobian").units
    size = len(model.states)
    matrix = np.array(units["d rate/d state"]).reshape(size, size)
    speed, angle = model.states.index("v_x"), model.states.index("theta")
    assert matrix[speed, speed] == unit_per("m/s^2", "m/s") == "(m/s^2)/(m/s)"
    assert matrix[angle, angle] == "(rad/s)/rad"
    assert units["rate"][speed] == "m/s^2"
    assert entry_named(model, "odometry_step").units["d pose/d increment"] == ("m/rad",) * 4 + ("",) * 2
    assert entry_named(model, "base_twist").units["twist"] == ("m/s", "m/s", "rad/s")


def test_a_parameter_that_is_called_as_a_state_keeps_its_unit():
    """Every function of a package then takes the same structure; in C two of that name don't compile."""
    wheels = {name: {"at": [0, y, 0], "radius": "theta"} for name, y in [("left", 0.3), ("right", -0.3)]}
    robot = {"name": "named", "body": {"mass": 9.0, "inertia": {"zz": 1.0}}, "wheels": wheels}
    found = entries(trundle.derive({"robot": {**robot, "parameters": {"theta": 0.1}}}))
    taken = {entry.units["parameter"] for entry in found if "parameter" in entry.units}
    assert len(taken) == 1
    assert taken.pop()[0] == "m"
    assert entry_named(derived("differential_drive"), "dynamics").units["state"][2] == "rad"


def test_what_a_model_lacks_is_said():
    pendulum = derived("pendulum")
    assert {entry.part for entry in entries(pendulum)} == {"dynamics", "jacobian", "outputs"}
    with pytest.raises(InputError, match="planar base"):
        entries(pendulum, ["odometry"])
    with pytest.raises(InputError, match="can't be exported"):
        entries(pendulum, ["dynamic"])


def test_wheels_are_counted_where_motors_do_not_tell_the_motion():
    robot = trundle.load(EXAMPLES / "gears" / "rear_axle.yaml")
    (entry,) = entries(trundle.derive(robot), ["odometry"])
    assert entry.program.inputs[1].labels == tuple(f"{name}.angle" for name in robot.wheels)

"""Models as text: read back they equal the original, bit for bit; programs that are none are refused."""

import json
import math
import pickle
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import trundle
from parameters import SHORT, mostly_slow
from sympy_models.whipple import BENCHMARK, whipple
from trundle.errors import InputError, TrundleError
from trundle.model import archive
from trundle.model.model import Model
from trundle.program import Program, compile_program
from trundle.program.ir import ARITY
from trundle.program.plain import from_plain, to_plain
from trundle.robot import parse_robot
from trundle.robot.component import plain

EXAMPLES = Path(__file__).parents[2] / "examples"
LINK = {"type": "revolute", "axis": [0, 1, 0], "body": {"mass": 1.0, "inertia": {"yy": 0.02}}}
FOUR_BAR = {
    "name": "four_bar",
    "joints": {
        "crank": LINK,
        "coupler": {**LINK, "parent": "crank", "at": ["a", 0, 0]},
        "rocker": {**LINK, "at": [0.5, 0, 0]},
    },
    "loops": {
        "pin": {
            "type": "revolute",
            "axis": [0, 1, 0],
            "first": {"body": "coupler", "at": [0.5, 0, 0]},
            "second": {"body": "rocker", "at": ["a", 0, 0]},
        }
    },
    "parameters": {"a": 0.2},
}
"""A parallelogram."""


def catalogue(name):
    return trundle.derive(getattr(trundle.catalog, name)())


def from_urdf():
    return trundle.derive(trundle.load(EXAMPLES / "urdf" / "arm.urdf"))


def four_bar():
    return trundle.derive(parse_robot(FOUR_BAR))


def kane():
    return trundle.from_sympy(whipple(), parameters=BENCHMARK, name="Whipple's bicycle")


def lagrange():
    """With a branch that has no value: its program holds a NaN."""
    q: Any = dynamicsymbols("q")
    m, k = sp.symbols("m k")
    t: Any = dynamicsymbols._t
    spring: Any = sp.Piecewise((k * q**2 / 2, q < 10))
    method = LagrangesMethod(m * sp.diff(q, t) ** 2 / 2, [q])
    method.form_lagranges_equations()
    return trundle.from_sympy(method, parameters={m: 2.0, k: 3.0}, outputs={"spring": spring})


MODELS: dict[str, Any] = {
    **{name: (lambda name=name: catalogue(name)) for name in SHORT},
    "urdf": from_urdf,
    "four_bar": four_bar,
    "kane": kane,
    "lagrange": lagrange,
}


@pytest.fixture(scope="module")
def kept():
    """Model and its text, made once."""
    made: dict[str, tuple[Model, str]] = {}

    def make(name):
        if name not in made:
            model = MODELS[name]()
            made[name] = model, archive.to_text(model)
        return made[name]

    return make


@pytest.mark.parametrize("name", mostly_slow(MODELS, set(MODELS) - {"kane"}))
def test_a_model_that_is_read_back_equals_the_original(kept, name):
    model, text = kept(name)
    again = archive.from_text(text)
    for each in fields(Model):
        first, second = getattr(model, each.name), getattr(again, each.name)
        if isinstance(first, Program):
            assert (first.inputs, first.outputs, first.key) == (second.inputs, second.outputs, second.key)
        else:
            assert first == second, each.name
    assert type(again) is Model
    assert archive.to_text(again) == text


def programs(model):
    """Every program of a model, by its field."""
    own = {name: value for name, value in vars(model).items() if isinstance(value, Program)}
    return {**own, **model.formed}


@pytest.mark.parametrize("name", mostly_slow(["swerve", "pendulum", "kane"], ["swerve", "pendulum"]))
def test_its_kernels_give_the_same_bits(kept, rng, name):
    model, text = kept(name)
    again = programs(archive.from_text(text))
    for field, program in programs(model).items():
        points = [rng.uniform(0.1, 1.0, (group.size, 17)) for group in program.inputs]
        first = compile_program(program)(*points)
        # not the shared kernel of programs with the same key, but one made of the instructions that were read
        second = type(compile_program(program))(again[field])(*points)
        for a, b in zip(first, second, strict=True):
            assert np.array_equal(a, b, equal_nan=True), field


def test_reading_derives_nothing(kept, monkeypatch):
    _, text = kept("ackermann")

    def refused(*_, **__):
        raise AssertionError("reading must not derive")

    monkeypatch.setattr(sys.modules["trundle.model.arguments"], "derive_robot", refused)
    monkeypatch.setattr(casadi, "Function", refused)
    monkeypatch.setattr(casadi.SX, "sym", refused)
    model = archive.from_text(text)
    (rate,) = compile_program(model.dynamics)(
        model.state_vector(), np.ones(len(model.inputs)), list(model.parameters.values())
    )
    assert np.isfinite(rate).all()


def test_it_is_used_like_the_original(kept):
    model, text = kept("differential_drive")
    again = archive.from_text(text)
    given = {"inputs": {"right_motor.voltage": 24.0}, "parameters": {"r": "6 in"}}
    first, second = trundle.simulate(model, 2.0, **given), trundle.simulate(again, 2.0, **given)
    for name in first.values:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-7, atol=1e-9)
    assert first.description == second.description
    assert again.mass_matrix == model.mass_matrix
    assert again.kinematics() == model.kinematics()
    assert trundle.derive(again.robot).dynamics == model.dynamics


def test_numbers_beyond_json_are_kept(kept):
    model, text = kept("lagrange")
    assert any(math.isnan(i.value) for i in model.observe.instructions), "else this shows nothing"
    assert '["const", "nan"]' in text
    assert archive.from_text(text).observe.key == model.observe.key


@pytest.mark.parametrize(("value", "said"), [(1j, "complex"), (float("nan"), "JSON compliant")])
def test_values_that_have_no_form_are_refused_loudly(value, said):
    model = replace(catalogue("pendulum"), parameters={"when": value})
    with pytest.raises(TrundleError, match=said):
        archive.to_text(model)


def change(content, path, value):
    """The content with another value at a path of keys."""
    content = json.loads(json.dumps(content))
    target: Any = content
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return json.dumps(content)


MISTAKES = {
    ("model", "dynamics", "instructions", -1): [
        (["frobnicate", 0], "unknown operation 'frobnicate'"),
        (["sine", 0], "did you mean 'sin"),
        (["add", 0], "'add' takes 2 earlier values"),
        (["add", 0, 10**9], "'add' takes 2 earlier values"),
        (["add", 0, -1], "'add' takes 2 earlier values"),
        (["add", 0, True], "'add' takes 2 earlier values"),
        (["input", 0, 99], "an input's group and element"),
        (["input", 5, 0], "an input's group and element"),
        (["const", 1], "a decimal point"),
        (["const", "many"], "a decimal point"),
        ([], "an operation and its operands"),
        (7, "an operation and its operands"),
    ],
    ("model", "dynamics", "results"): [
        ([], "one list an output group, 1 in all"),
        ([[0]], "values for the group 'rate'"),
    ],
    ("model", "dynamics", "results", 0, 0): [(10**6, "takes a value 1000000"), (0.0, r"takes a value 0\.0")],
    ("model", "dynamics", "inputs", "state"): [(["a", "a"], "comes twice"), ("ab", "a list of labels")],
    ("model", "dynamics", "inputs"): [({}, "input's group")],
    ("model", "dynamics", "extra"): [(1, "a program has the keys")],
    ("model", "dynamics"): [(None, "a program has the keys")],
    ("model", "name"): [(5, "expected text")],
    ("model", "stiff"): [(1, "true or false")],
    ("model", "derive_seconds"): [("1", "expected a number")],
    ("model", "coordinates"): [("x", "a list")],
    ("model", "constraints", "rank"): [(0.5, "a whole number")],
    ("model", "surprise"): [(1, "surprise")],
    ("model",): [([], "a mapping of keys")],
    ("description",): [({}, "'trundle' is missing"), (3, "a mapping of keys")],
    ("description", "robot"): [([], "mapping"), ({"name": "x", "wheelz": {}}, "did you mean 'wheels'")],
}


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: ".".join(str(key) for key in path))
def test_mistakes_are_named(kept, path):
    content = json.loads(kept("pendulum")[1])
    for value, match in MISTAKES[path]:
        with pytest.raises(InputError, match=match):
            archive.from_text(change(content, path, value))


def test_programs_of_every_operation_are_kept(rng):
    groups = {"a": ["x", "y"], "b": ["z"]}
    instructions: list[Any] = [
        ["input", 0, 0],
        ["input", 0, 1],
        ["input", 1, 0],
        ["const", -0.0],
        ["const", "inf"],
    ]
    for op, arity in ARITY.items():
        places = (1, 0) if op == "lookup" else ()  # behind its index: how far on, in which table
        if op not in ("input", "const"):
            instructions.append([op, *(int(k) for k in rng.integers(0, len(instructions), arity)), *places])
    values = list(range(len(instructions)))
    data = {
        "name": "all",
        "inputs": groups,
        "outputs": {"values": [f"{v}" for v in values]},
        "instructions": instructions,
        "results": [values],
        "tables": [{"reach": 1, "values": [0.5, -2.0, "inf"]}],
    }
    program = from_plain(data)
    assert to_plain(program) == data
    assert from_plain(json.loads(json.dumps(to_plain(program)))) == program
    assert math.copysign(1, program.instructions[3].value) == -1
    assert isinstance(program.describe(), str)


@pytest.mark.parametrize("name", ["differential_drive", "four_bar", "swerve"])
def test_models_are_equal_by_what_they_hold(name):
    robot = trundle.catalog.robot(name)
    first, second = trundle.derive(robot), trundle.derive(robot)
    for other in (second, pickle.loads(pickle.dumps(first))):
        assert other == first
        assert hash(other) == hash(first)
    assert first != trundle.derive(trundle.catalog.robot("pendulum"))


DESCRIPTIONS = [
    path for path in sorted(EXAMPLES.glob("**/*.yaml")) if "\nrobot:" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_robots_of_files_are_equal_by_what_they_hold(path):
    robot = trundle.load(path)
    assert archive._robot({"trundle": 1, "robot": plain(robot)}, "description") == robot

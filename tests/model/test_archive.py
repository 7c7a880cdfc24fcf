"""Kept models: reopened they equal the original, bit for bit; what is damaged, newer or no model's file is refused."""

import contextlib
import copy
import json
import math
import pickle
import random
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
from trundle.robot.noun import plain

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
def kept(tmp_path_factory):
    """Model and its file, made once."""
    made: dict[str, tuple[Model, Path]] = {}

    def make(name):
        if name not in made:
            model = MODELS[name]()
            made[name] = model, model.save(tmp_path_factory.mktemp("kept") / f"{name}.trundle.json")
        return made[name]

    return make


@pytest.mark.parametrize("name", mostly_slow(MODELS, set(MODELS) - {"kane"}))
def test_a_reopened_model_equals_the_one_that_was_saved(kept, name):
    model, path = kept(name)
    again = trundle.open(path)
    for each in fields(Model):
        first, second = getattr(model, each.name), getattr(again, each.name)
        if isinstance(first, Program):
            assert (first.inputs, first.outputs, first.key) == (second.inputs, second.outputs, second.key)
        else:
            assert first == second, each.name
    assert type(again) is Model
    assert archive.to_text(again) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", mostly_slow(["swerve", "pendulum", "kane"], ["swerve", "pendulum"]))
def test_its_kernels_give_the_same_bits(kept, rng, name):
    model, path = kept(name)
    again = trundle.open(path)
    for field, program in archive.programs(model).items():
        points = [rng.uniform(0.1, 1.0, (group.size, 17)) for group in program.inputs]
        first = compile_program(program)(*points)
        # not the shared kernel of programs with the same key, but one made of the instructions that were read
        second = type(compile_program(program))(archive.programs(again)[field])(*points)
        for a, b in zip(first, second, strict=True):
            assert np.array_equal(a, b, equal_nan=True), field


def test_reopening_derives_nothing(kept, monkeypatch):
    _, path = kept("ackermann")

    def refused(*_, **__):
        raise AssertionError("reopening must not derive")

    monkeypatch.setattr(sys.modules["trundle.model.arguments"], "derive_robot", refused)
    monkeypatch.setattr(casadi, "Function", refused)
    monkeypatch.setattr(casadi.SX, "sym", refused)
    model = trundle.open(path)
    (rate,) = compile_program(model.dynamics)(
        model.state_vector(), np.ones(len(model.inputs)), list(model.parameters.values())
    )
    assert np.isfinite(rate).all()


def test_it_is_used_like_the_original(kept):
    model, path = kept("differential_drive")
    again = trundle.open(path)
    given = {"inputs": {"right_motor.voltage": 24.0}, "parameters": {"r": "6 in"}}
    first, second = trundle.simulate(model, 2.0, **given), trundle.simulate(again, 2.0, **given)
    for name in first.values:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-7, atol=1e-9)
    assert first.description == second.description
    assert again.mass_matrix == model.mass_matrix
    assert again.kinematics() == model.kinematics()
    assert trundle.derive(again.robot).dynamics == model.dynamics


def test_the_file_is_plain_json_in_readable_lines(kept):
    _, path = kept("differential_drive")
    text = path.read_text(encoding="utf-8")
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert content["trundle_model"] == 2
    assert content["description"]["robot"]["parameters"]["r"] == 0.15
    assert max(len(line) for line in text.splitlines()) < 140
    assert all(sum(type(a) is list for a in i) == 0 for i in content["model"]["dynamics"]["instructions"])


def test_numbers_beyond_json_are_kept(kept):
    model, path = kept("lagrange")
    assert any(math.isnan(i.value) for i in model.observe.instructions), "else this shows nothing"
    assert '["const", "nan"]' in path.read_text(encoding="utf-8")
    assert trundle.open(path).observe.key == model.observe.key


def test_every_field_of_a_model_has_a_form_and_every_program_its_check():
    hints = {each.name: str(each.type) for each in fields(Model)}
    programs = {name for name, hint in hints.items() if "Program" in hint}
    assert programs == {*archive._NEEDED, "formed"}, "tell archive._NEEDED what the new program gives"


@pytest.mark.parametrize(("value", "said"), [(1j, "complex"), (float("nan"), "JSON compliant")])
def test_values_that_have_no_form_are_refused_loudly(tmp_path, value, said):
    model = replace(catalogue("pendulum"), parameters={"when": value})
    with pytest.raises(TrundleError, match=said):
        model.save(tmp_path / "strange.trundle.json")
    assert not list(tmp_path.iterdir())


def test_names_of_files(kept, tmp_path):
    model, path = kept("pendulum")
    with pytest.raises(InputError, match=r"ends in \.trundle\.json(.|\n)*arm\.trundle\.json"):
        model.save(tmp_path / "arm.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="no such file"):
        trundle.open(tmp_path / "none.trundle.json")
    with pytest.raises(InputError, match="is a folder"):
        trundle.open(tmp_path)
    with pytest.raises(InputError, match=r"trundle\.open\(path\)"):
        trundle.load(path)
    with pytest.raises(InputError, match=r"no model's file(.|\n)*trundle\.load"):
        trundle.open(EXAMPLES / "diff_drive" / "circle.yaml")
    target = tmp_path / "new folder" / "a.TRUNDLE.json"
    assert model.save(target) == target
    assert model.save(target) == target  # an old one is replaced
    assert trundle.open(str(target)) == model


def stamped(content):
    """The text of a file whose checksum fits, whatever is in it."""
    return json.dumps({**content, "sha256": archive.checksum(content)})


def content_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def refused(tmp_path, text, match):
    path = tmp_path / "bad.trundle.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=match) as caught:
        trundle.open(path)
    assert str(path) in str(caught.value)


def test_other_versions_are_refused(kept, tmp_path):
    content = content_of(kept("pendulum")[1])
    newer = {**content, "trundle_model": 3, "written_by": "trundle 7.0", "model": {"anything": 1}}
    refused(tmp_path, stamped(newer), r"written by trundle 7\.0 in version 3(.|\n)*upgrade")
    older = {**content, "trundle_model": 1, "written_by": "trundle 0.1.0"}
    refused(tmp_path, stamped(older), r"written by trundle 0\.1\.0 in version 1(.|\n)*derive the model")
    refused(tmp_path, stamped({**content, "trundle_model": "two"}), "expected the version")
    described = {**content["description"], "trundle": 2}
    refused(
        tmp_path,
        stamped({**content, "description": described}),
        r"description\.trundle(.|\n)*at most 1, got 2",
    )


def test_damage_is_refused(kept, tmp_path):
    text = kept("pendulum")[1].read_text(encoding="utf-8")
    for end in (0, 1, 40, len(text) // 2, len(text) - 3):
        refused(tmp_path, text[:end], "damaged|no model's file")
    refused(tmp_path, text.replace("0.5", "0.6", 1), "checksum")
    refused(tmp_path, text.replace("0.5", "NaN", 1), "NaN")
    refused(tmp_path, text.replace("0.5", "1e999", 1), "can't be")
    refused(
        tmp_path, text.replace('"trundle_model": 2', '"trundle_model": 2, "trundle_model": 2'), "comes twice"
    )
    refused(tmp_path, "[" * 100_000, "nested|JSON")
    refused(tmp_path, text.replace('"trundle_model": 2', '"trundle_model": ' + "1" * 5000), "digits|JSON")
    (tmp_path / "binary.trundle.json").write_bytes(b"\x80\x04\x95\xff\x00")
    with pytest.raises(InputError, match="UTF-8"):
        trundle.open(tmp_path / "binary.trundle.json")


def change(content, path, value):
    """The content with another value at a path of keys."""
    content = json.loads(json.dumps(content))
    target: Any = content
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return stamped(content)


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
    ("model", "dynamics", "inputs"): [({}, "input's group|don't belong together")],
    ("model", "dynamics", "extra"): [(1, "a program has the keys")],
    ("model", "dynamics"): [(None, "a program has the keys")],
    ("model", "name"): [(5, "expected text")],
    ("model", "stiff"): [(1, "true or false")],
    ("model", "derive_seconds"): [("1", "expected a number")],
    ("model", "coordinates"): [("x", "a list"), (["link_1.angle", "link_1.angle"], "don't belong together")],
    ("model", "quantities"): [({"every": []}, "don't belong together")],
    ("model", "dependent"): [(["nobody"], "don't belong together")],
    ("model", "parameters", "gravity"): [(9.7, "don't belong together")],
    ("model", "parameters", "more"): [(1.0, "don't belong together")],
    ("model", "constraints", "rank"): [(0.5, "a whole number")],
    ("model", "surprise"): [(1, "a Model has no 'surprise'")],
    ("model",): [([], "a mapping of keys")],
    ("description",): [({}, "'trundle' is missing"), (3, "a mapping of keys")],
    ("description", "robot"): [([], "mapping"), ({"name": "x", "wheelz": {}}, "did you mean 'wheels'")],
    ("description", "robot", "name"): [("other", "don't belong together")],
    ("surprise",): [(1, "has the keys")],
}


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: ".".join(str(key) for key in path))
def test_mistakes_are_named(kept, tmp_path, path):
    content = content_of(kept("pendulum")[1])
    for value, match in MISTAKES[path]:
        refused(tmp_path, change(content, path, value), match)


def test_missing_fields_take_their_default_or_are_named(kept, tmp_path):
    model, path = kept("pendulum")
    content = content_of(path)
    del content["model"]["projection"]
    path = tmp_path / "older.trundle.json"
    path.write_text(stamped(content), encoding="utf-8")
    assert trundle.open(path) == model
    del content["model"]["observe"]
    refused(tmp_path, stamped(content), "'observe' is missing")


def test_outputs_that_runs_count_on_are_missed(kept, tmp_path):
    text = kept("differential_drive")[1].read_text(encoding="utf-8")
    for name in ("energy.kinetic", "constraint_residual", "energy.work"):
        content = json.loads(text.replace(f'"{name}"', '"renamed"'))
        refused(tmp_path, stamped(content), "don't belong together")


def test_programs_too_long_to_compile_are_refused(kept, tmp_path, monkeypatch):
    model, path = kept("pendulum")
    monkeypatch.setattr(archive, "MOST_INSTRUCTIONS", 5)
    for call in (lambda: trundle.open(path), lambda: model.save(tmp_path / "long.trundle.json")):
        with pytest.raises(InputError, match="instructions; a model's file may have 5"):
            call()


def assert_valid(model):
    """What whoever compiles, evaluates or differentiates a program counts on."""
    for name, program in archive.programs(model).items():
        sizes = [group.size for group in program.inputs]
        for out, (op, own, args, value, source, _) in enumerate(program.instructions):
            assert own == out
            assert len(args) == ARITY[op]
            assert all(type(a) is int and 0 <= a < out for a in args)
            assert type(value) is float
            assert op != "input" or 0 <= source[1] < sizes[source[0]]
        for group, values in zip(program.outputs, program.results, strict=True):
            assert len(values) == group.size
            assert all(0 <= v < len(program.instructions) for v in values)
        expected = {"state": model.states, "input": model.inputs, "parameter": tuple(model.parameters)}
        expected |= {"coordinate": model.coordinates, "speed": model.speeds}
        for group in program.inputs:
            assert group.labels[: len(expected[group.name])] == expected[group.name], name


JUNK = [
    None, True, 0, 1, -1, 3, 10**20, 0.0, -2.5, 1e300, "", "x", "nan", "add", "state", "\ud800",
    [], [[]], {}, [0], {"a": 1}, ["input", 0, 0], ["const", 1.0], ["sin", 0],
]  # fmt: skip


def somewhere(dice, node):
    """The mapping or list that holds a random place in plain data, and the place's key; deep places are as likely as
    broad ones.
    """
    while True:
        key = dice.choice(list(node)) if isinstance(node, dict) else dice.randrange(len(node))
        if not isinstance(node[key], (dict, list)) or not node[key] or dice.random() < 0.1:
            return node, key
        node = node[key]


def mutate(dice, content):
    """One change somewhere: another value, something left out, twice, or in another's place."""
    target, key = somewhere(dice, content)
    kind = dice.randrange(5)
    if kind == 0:
        del target[key]
    elif kind == 1 and isinstance(target, list):
        target.insert(key, target[key])
    elif kind == 2 and isinstance(target, list):
        dice.shuffle(target)
    elif kind == 3 and isinstance(target, dict):
        target[dice.choice(["x", "name", "state", "", *target])] = target.pop(key)
    elif kind == 4 and type(target[key]) in (int, float):
        target[key] = target[key] * dice.choice([-1, 0, 2, 1000, 0.5])
    else:
        target[key] = copy.deepcopy(dice.choice(JUNK))


@pytest.mark.parametrize(
    "name", mostly_slow(["differential_drive", "lagrange", "four_bar"], ["differential_drive", "lagrange"])
)
@pytest.mark.slow
def test_mutated_content_is_refused_or_valid(kept, seed, name):
    """With a checksum that fits, so that every check behind it is put to the test."""
    dice, text = random.Random(seed), kept(name)[1].read_text(encoding="utf-8")
    accepted = 0
    for _ in range(300):
        content = json.loads(text)
        for _ in range(dice.choice([1, 1, 2, 5])):
            mutate(dice, content)
        try:
            changed = stamped(content)
        except (ValueError, KeyError):
            changed = json.dumps(content)
        try:
            model = archive.from_text(changed)
        except InputError:
            continue
        accepted += 1
        assert_valid(model)
        assert model.name in repr(model)
    assert 0 < accepted < 300


def test_mutated_bytes_are_refused(kept, seed, tmp_path):
    model, path = kept("pendulum")
    dice, good = random.Random(seed), path.read_bytes()
    bad = tmp_path / "bad.trundle.json"
    for _ in range(300):
        data = bytearray(good)
        for _ in range(dice.choice([1, 1, 3, 20])):
            at = dice.randrange(len(data))
            kind = dice.randrange(3)
            data[at : at + (kind != 1)] = bytes([dice.randrange(256)]) if kind else b""
        bad.write_bytes(data)
        with contextlib.suppress(InputError):
            assert trundle.open(bad) == model  # only spaces between the entries were hit


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


def test_the_page_on_the_file_names_every_operation_and_key(kept):
    page = (EXAMPLES.parent / "docs" / "model_file.md").read_text(encoding="utf-8")
    assert [op for op in ARITY if f"`{op}`" not in page and f'"{op}"' not in page] == []
    assert [key for key in content_of(kept("pendulum")[1]) if f"`{key}`" not in page] == []


@pytest.mark.parametrize("name", ["differential_drive", "four_bar", "swerve"])
def test_models_are_equal_by_what_they_hold(name, tmp_path):
    robot = trundle.catalog.robot(name)
    first, second = trundle.derive(robot), trundle.derive(robot)
    opened = trundle.open(first.save(tmp_path / "model.trundle.json"))
    for other in (second, opened, pickle.loads(pickle.dumps(first))):
        assert other == first
        assert hash(other) == hash(first)
    assert first != trundle.derive(trundle.catalog.robot("pendulum"))


DESCRIPTIONS = [
    path for path in sorted(EXAMPLES.glob("**/*.yaml")) if "\nrobot:" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", DESCRIPTIONS, ids=lambda path: path.stem)
def test_robots_of_files_are_equal_by_what_they_hold(path):
    robot = trundle.load(path)
    assert archive._robot({"trundle": 1, "robot": plain(robot)}) == robot


@pytest.mark.parametrize("name", ["link_1.angle", "link_2.rate"])
def test_a_state_that_was_renamed_everywhere_is_none_of_the_description(name, tmp_path):
    path = trundle.derive(trundle.catalog.pendulum()).save(tmp_path / "model.trundle.json")
    text = path.read_text(encoding="utf-8")
    assert text.count(f'"{name}"') > 3
    refused(
        tmp_path, stamped(json.loads(text.replace(f'"{name}"', '"renamed.angle"'))), "aren't those of its"
    )


def test_an_input_that_was_renamed_everywhere_is_none_of_the_description(tmp_path):
    path = trundle.derive(trundle.catalog.differential_drive()).save(tmp_path / "model.trundle.json")
    text = path.read_text(encoding="utf-8").replace('"left_motor.voltage"', '"left_motor.volts"')
    refused(tmp_path, stamped(json.loads(text)), "aren't those of its")

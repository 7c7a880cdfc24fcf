"""What values of exported programs are called: names are true, and change no machine code."""

import inspect
import re
import subprocess
import sys
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import trundle
from languages.c_code import compiler
from languages.cases import MODELS
from parameters import mostly_slow
from trundle.exports.entries import entries
from trundle.exports.preparing import with_prepared
from trundle.exports.recognized import with_names
from trundle.languages import C, source
from trundle.languages.language import functions, text_of
from trundle.languages.names import value_names
from trundle.program.tangents import every_value

GEARS = Path(__file__).parents[2] / "examples" / "gears"
# Robots whose trees have more coordinates than the state: gears and linkages move the others.
ALL = {
    **MODELS,
    **{name: partial(trundle.derive, GEARS / f"{name}.yaml") for name in ("rear_axle", "synchro")},
}
NAMES = mostly_slow(ALL, ["pendulum", "differential_drive", "four_bar", "rear_axle", "synchro"])


def _named(model, what="dynamics"):
    return with_names(entries(model, [what]), model)[0]


@pytest.mark.parametrize("name", NAMES)
def test_mass_matrix_and_velocities_are_what_their_names_say(name, seed):
    model = ALL[name]()
    rng, entry = np.random.default_rng(seed), _named(model)
    assert entry.named
    state, given, _ = entry.program.inputs
    x = model.quantities.normalised(state.labels, rng.uniform(-1, 1, state.size))
    p = np.array([*model.parameters.values()])
    values = every_value(entry.program, [x, rng.uniform(-1, 1, given.size), p])
    count = len(model.coordinates)
    q, u = x[:count], x[count : count + len(model.speeds)]
    mass, links, checked = model.mass_matrix(q, parameters=p), model.moving.mechanism.assembly.links, 0
    for value, text in entry.named.items():
        sign = -1 if text.startswith("minus ") else 1
        letter, *words = text.removeprefix("minus ").split(" ")
        if letter == "M" and len(words) == 2:
            expected = mass[int(words[0]) - 1, int(words[1]) - 1]
        elif letter in ("v", "omega") and len(words) == 2 and words[0] in links:
            motion = model.frame(words[0])(q, u, parameters=p)
            first = 0 if letter == "v" else 3
            own = np.reshape(motion.rotation, (3, 3)).T @ motion.velocity[first : first + 3]
            expected = own["xyz".index(words[1])]
        else:
            continue
        np.testing.assert_allclose(sign * values[value], expected, rtol=1e-9, atol=1e-12, err_msg=text)
        checked += 1
    assert checked


def _body_twists(model, names, q, u, p):
    """Twists of links in their own axes, (links, 6)."""
    rows = []
    for name in names:
        motion = model.frame(name)(q, u, parameters=p)
        R = np.reshape(motion.rotation, (3, 3))
        rows.append([*(R.T @ motion.velocity[:3]), *(R.T @ motion.velocity[3:])])
    return np.array(rows), R


@pytest.mark.slow
def test_accelerations_are_how_twists_change_and_gravity(rng):
    model = _panda()
    entry = _named(model)
    x, p = rng.uniform(-1, 1, len(model.state_vector())), np.array([*model.parameters.values()])
    values = every_value(entry.program, [x, np.zeros(len(model.inputs)), p])
    q, u = np.split(x, [len(model.coordinates)])
    links = [*model.moving.mechanism.assembly.links]
    g, step, checked = model.parameters["gravity"], 1e-5, 0
    # along steady speeds: what the twist's components in a link's own axes change by is its spatial acceleration
    after, before = (_body_twists(model, links, q + sign * step * u, u, p)[0] for sign in (1, -1))
    change = dict(zip(links, (after - before) / (2 * step), strict=True))
    for value, text in entry.named.items():
        sign = -1 if text.startswith("minus ") else 1
        letter, *words = text.removeprefix("minus ").split(" ")
        if letter in ("a", "alpha") and len(words) == 2 and words[0] in change:
            axis = "xyz".index(words[1])
            expected = change[words[0]][axis + (0 if letter == "a" else 3)]
            if letter == "a":  # gravity is downward, so −g is upward
                expected += g * _body_twists(model, words[:1], q, u, p)[1][2, axis]
            np.testing.assert_allclose(sign * values[value], expected, rtol=1e-6, atol=1e-6, err_msg=text)
            checked += 1
    assert checked > 3


def _panda():
    file = next(Path(sys.prefix).rglob("panda.urdf"), None)
    if file is None:
        pytest.skip("the package example-robot-data is not installed")
    with warnings.catch_warnings(action="ignore"):
        return trundle.derive(trundle.load(file, base="fixed"))


@pytest.mark.slow
def test_most_values_of_a_panda_are_called_what_they_are():
    text = trundle.export(_panda(), "c", "dynamics", name="panda").files["panda.c"]
    words = re.findall(r"const double (\w+) = (?!passed)", text)
    numbered = [word for word in words if re.fullmatch(r"v\d+", word)]
    assert len(numbered) < len(words) / 3  # it was two thirds


def test_numpy_s_and_an_fmu_s_functions_have_the_names_of_c(tmp_path):
    model = trundle.derive(trundle.catalog.pendulum(links=2))
    text = source({"f": _named(model).program}, C, {"f": _named(model).named})
    names = {word for word in re.findall(r"\b[A-Za-z]\w+ = ", text) if "M_" in word or "omega" in word}
    assert names
    python = inspect.getsource(model.numpy())
    model.export("fmu", output=tmp_path / "fmu")
    with zipfile.ZipFile(next((tmp_path / "fmu").glob("*3.fmu"))) as unit:
        fmu = next(unit.read(name) for name in unit.namelist() if name.endswith("model.c")).decode()
    for name in names:
        assert name in python
        assert name in fmu


def test_sines_inputs_and_results_have_their_names():
    text = source({"f": MODELS["pendulum"]().dynamics}, C)
    assert "const double sin_link_1_angle = sin(link_1_angle);" in text
    assert "const double rate_of_link_1_rate = " in text
    assert "sin(link_1_angle_plus_link_2_angle)" in text


def test_a_value_has_one_name_and_a_name_one_value():
    for name in ("pendulum", "differential_drive", "four_bar"):
        model = MODELS[name]()
        for entry in with_names(with_prepared(entries(model)), model):
            names = value_names(entry.program, entry.named)
            assert len(set(names.values())) == len(names)


def test_names_change_no_machine_code(tmp_path, monkeypatch):
    model = MODELS["mecanum"]()
    (entry,) = with_names(entries(model, ["dynamics"]), model)

    def text():
        return text_of([*functions("f", entry.program, C, (), entry.named)], C)

    named = text()
    monkeypatch.setattr("trundle.languages.language.value_names", lambda program, known: {})
    numbered = text()
    assert "const double M_1_1 = " in named
    assert "const double M_1_1 = " not in numbered
    path, objects = tmp_path / "f.c", []
    for each in (named, numbered):
        path.write_text(f"#include <math.h>\n{each}", encoding="utf-8")
        command = [compiler("gcc"), "-std=c99", "-O2", "-c", str(path), "-o", str(tmp_path / "f.o")]
        subprocess.run(command, check=True, timeout=60)
        objects.append((tmp_path / "f.o").read_bytes())
    assert objects[0] == objects[1]

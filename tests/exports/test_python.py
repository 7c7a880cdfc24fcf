"""Models as NumPy and JAX modules, against the kernels: 1,000 random states at once, and one by one."""

import numpy as np
import pytest

import trundle
from exports.modules import stepped
from languages.cases import edges, models, off, operations, random_program, states
from trundle.languages import JAX, NUMPY, source

MODELS = models()
LANGUAGES = {"numpy": NUMPY, "jax": JAX}


def functions(programs, language):
    if language is JAX:
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    found = {}
    exec(source(programs, language), found)
    return found


# JAX compiles each operation on its own here, for some seconds a robot.
@pytest.mark.parametrize(
    ("name", "language"),
    [
        pytest.param(name, language, marks=[pytest.mark.slow] * (language == "jax" and name != "pendulum"))
        for name in MODELS
        for language in LANGUAGES
    ],
)
def test_robots_match_their_kernels(name, language, seed):
    model = MODELS[name]()
    given = states(model, 1000, seed)
    found = functions({"dynamics": model.dynamics, "outputs": model.observe}, LANGUAGES[language])
    for program, function in ((model.dynamics, "dynamics"), (model.observe, "outputs")):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, np.asarray(found[function](*given)), expected) <= 1
        one = [group[:, 0] for group in given]
        np.testing.assert_allclose(
            found[function](*one), found[function](*given)[:, 0], rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("language", [pytest.param("jax", marks=pytest.mark.slow), "numpy"])
@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind, language):
    program, rng = random_program(kind), np.random.default_rng(kind)
    given = [rng.normal(size=(group.size, 50)) for group in program.inputs]
    found = functions({"f": program}, LANGUAGES[language])["f"](*given)
    for got, expected in zip(found if isinstance(found, tuple) else [found], program(*given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("language", [pytest.param("jax", marks=pytest.mark.slow), "numpy"])
def test_every_operation_at_its_edges(language):
    program, given = operations(), edges()
    got = np.asarray(functions({"f": program}, LANGUAGES[language])["f"](given))
    for label, mine, wanted in zip(program.outputs[0].labels, got, np.asarray(program(given)), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-13, err_msg=label)


@pytest.mark.parametrize("target", LANGUAGES)
@pytest.mark.parametrize("name", ["differential_drive", "four_bar"])
def test_a_module_steps_as_its_model(name, target):
    model = trundle.derive(trundle.catalog.robot(name))
    functions({}, LANGUAGES[target])
    found = {}
    exec(model.export(target).files[f"{name}.py"], found)
    x, u = np.array([*found["START"].values()]), np.ones(len(model.inputs))
    p = np.array([*found["PARAMETERS"].values()])
    assert found["START"] == dict(zip(model.states, model.state_vector(), strict=True))
    assert found["PARAMETERS"] == dict(model.parameters)
    np.testing.assert_allclose(
        found["step"](x, u, p, 1e-3), stepped(model, x, u, p, 1e-3), rtol=1e-12, atol=1e-15
    )

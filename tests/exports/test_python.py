"""Models as NumPy and JAX modules, against the kernels: 1,000 random states at once, and one by one."""

import subprocess
import sys

import numpy as np
import pytest

from exports.running import HOSTILE, hostile_model, readme_code, rk4
from languages import laws
from languages.cases import MODELS, states
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.languages import JAX, NUMPY, source

# JAX compiles each operation on its own here, for some seconds a robot.
LANGUAGES = {"numpy": NUMPY, "jax": JAX}
NUMPY_AND_SLOW_JAX = ["numpy", pytest.param("jax", marks=pytest.mark.slow)]


def functions(programs, language):
    if language == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    found = {}
    exec(source(programs, LANGUAGES[language]), found)
    return found


def caller(language):
    """What calls a program in a language: the output groups at many states, (n, count) each."""

    def called(program, *groups):
        found = functions({"f": program}, language)["f"](*groups)
        return [np.asarray(each) for each in (found if isinstance(found, tuple) else [found])]

    return called


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels_in_numpy(name, seed):
    laws.robot_matches_its_kernel(name, caller("numpy"), seed)


@pytest.mark.parametrize("name", mostly_slow(MODELS, ["pendulum"]))
def test_robots_match_their_kernels_in_jax(name, seed):
    laws.robot_matches_its_kernel(name, caller("jax"), seed)


@pytest.mark.parametrize("name", ["pendulum", "differential_drive"])
@pytest.mark.parametrize("language", NUMPY_AND_SLOW_JAX)
def test_one_state_is_as_one_of_many(name, language, seed):
    model = MODELS[name]()
    given = states(model, 5, seed)
    for program in (model.dynamics, model.observe):
        many = caller(language)(program, *given)[0]
        one = caller(language)(program, *(group[:, 0] for group in given))[0]
        np.testing.assert_allclose(one, many[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("language", NUMPY_AND_SLOW_JAX)
@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind, language):
    laws.random_program_matches_its_kernel(kind, caller(language))


@pytest.mark.parametrize("language", NUMPY_AND_SLOW_JAX)
def test_every_operation_at_its_edges(language):
    laws.every_operation_matches_at_its_edges(caller(language))


@pytest.mark.parametrize("language", NUMPY_AND_SLOW_JAX)
def test_constants_keep_their_bits(language):
    laws.constants_keep_their_bits(caller(language))


@pytest.mark.parametrize("target", LANGUAGES)
@pytest.mark.parametrize("name", mostly_slow(["differential_drive", "four_bar"], ["four_bar"]))
def test_a_module_steps_as_its_model(name, target):
    model = MODELS[name]()
    functions({}, target)
    found = {}
    exec(model.export(target).files[f"{name}.py"], found)
    x, u = np.array([*found["START"].values()]), np.ones(len(model.inputs))
    p = np.array([*found["PARAMETERS"].values()])
    assert found["START"] == dict(zip(model.states, model.state_vector(), strict=True))
    assert found["PARAMETERS"] == dict(model.parameters)
    np.testing.assert_allclose(
        found["step"](x, u, p, 1e-3), rk4(model, x, u, 1e-3, 1, p), rtol=1e-12, atol=1e-15
    )


def test_a_module_hides_none_that_libraries_import():
    for target, name in (("numpy", "numpy"), ("jax", "numpy"), ("numpy", "random")):
        with pytest.raises(InputError, match="would hide something else") as caught:
            MODELS["pendulum"]().export(target, name=name)
        assert f"{name}_robot" in caught.value.hint


@pytest.mark.parametrize("target", NUMPY_AND_SLOW_JAX)
def test_the_readmes_lines_run(target, tmp_path):
    """As they stand, without warnings."""
    if target == "jax":
        pytest.importorskip("jax")
    for name, what in [
        ("four_bar", None),
        *(("differential_drive", part) for part in ("jacobian", "odometry", "kinematics")),
    ]:
        folder = tmp_path / (what or "all")
        MODELS[name]().export(target, what, output=folder)
        code = readme_code(folder)
        assert "robot." in code
        command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", NUMPY_AND_SLOW_JAX)
def test_a_module_tells_its_numbers_whatever_they_are_called(target):
    functions({}, target)
    found = {}
    exec(hostile_model().export(target, name="robot").files["robot.py"], found)
    told = found["dynamics"].__doc__.splitlines()
    assert told[0] == "The state's rate of change, x' = f(x, u, p)."
    named = ", ".join(name.replace("\n", "?") for name in HOSTILE)
    assert f"    parameter, {len(HOSTILE)} numbers: {named}" in told
    assert found["OUTPUTS"] == hostile_model().outputs


@pytest.mark.parametrize("language", NUMPY_AND_SLOW_JAX)
def test_prepared_functions_are_the_plain_ones(language, rng):
    laws.prepared_functions_are_the_plain_ones(caller(language), rng)

"""`model.numpy()`, `model.jax()`, `model.casadi()`, `model.ode()`: the kernels' numbers, derivatives and motions."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import trundle
from derived import derived
from exports.running import rk4
from languages.cases import MODELS, states
from trundle.errors import InputError
from trundle.exports.entries import entries

DRIVE = MODELS["differential_drive"]()
SWERVE = MODELS["swerve"]()
# A voltage on each wheel, for a curve.
VOLTAGES = np.array([2.0, 1.5])


@pytest.fixture
def jax():
    found = pytest.importorskip("jax")
    found.config.update("jax_enable_x64", True)
    return found


def numbers(model):
    return np.array(list(model.parameters.values()))


def functions(model):
    """Every function that an exported model may have, with its program."""
    kinematics = entries(model, ["kinematics"])
    return {
        "dynamics": model.dynamics,
        "jacobian": model.rate_slopes,
        **{entry.name: entry.program for entry in kinematics},
        "odometry_step": model.odometry().program,
        "outputs": model.observe,
    }


@pytest.mark.parametrize("name", functions(SWERVE))
@pytest.mark.slow
def test_all_functions_in_numpy_and_casadi(name, rng):
    program = functions(SWERVE)[name]
    given = [rng.normal(size=group.size) for group in program.inputs]
    if program.inputs[-1].name == "parameter":
        given[-1] = numbers(SWERVE)
    expected = program(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    with warnings.catch_warnings(action="error"):
        found = SWERVE.numpy(name)(*given)
    for got, wanted in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max(initial=1e-3))
    for got, wanted in zip(SWERVE.casadi(name).call(given), expected, strict=True):
        got = np.asarray(got).ravel()
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max(initial=1e-3))


def test_defaults_are_no_input_and_the_models_parameters():
    x = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    expected = DRIVE.dynamics(x, [0.0, 0.0], numbers(DRIVE))
    np.testing.assert_allclose(DRIVE.numpy()(x), expected, rtol=1e-13)
    assert "state, 9 numbers: x (m), y (m), theta (rad)" in DRIVE.numpy().__doc__


@pytest.mark.parametrize("name", [pytest.param("differential_drive", marks=pytest.mark.slow), "pendulum"])
def test_jax_differentiates_and_maps(name, jax, seed):
    model = MODELS[name]()
    f = model.jax()
    x, u, p = (group[:, :20] for group in states(model, 20, seed))
    rates = jax.jit(jax.vmap(f, in_axes=(1, 1, None), out_axes=1))(x, u, p[:, 0])
    expected = model.dynamics(x, u, p)
    np.testing.assert_allclose(rates, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    for forward in (jax.jacfwd, jax.jacrev):
        slope = jax.jit(forward(f))(x[:, 0], u[:, 0], p[:, 0])
        wanted = model.dynamics.jacobian("rate", "state")(x[:, 0], u[:, 0], p[:, 0]).reshape(slope.shape)
        np.testing.assert_allclose(slope, wanted, rtol=1e-11, atol=1e-11 * np.abs(wanted).max())
    gradient = jax.grad(lambda p: (f(x[:, 0], u[:, 0], p) ** 2).sum())(p[:, 0])
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 0


@pytest.mark.parametrize("name", ["swerve", "three_omni", "tricycle"])
@pytest.mark.slow
def test_jax_has_finite_gradients_at_rest(name, jax):
    """Where wheels stand still, formulas divide by their speed in the side of a choice that doesn't count."""
    model = MODELS[name]()
    x = np.array(model.state_vector())
    slope = jax.jacfwd(model.jax())(x)
    wanted = model.dynamics.jacobian("rate", "state")(x, np.zeros(len(model.inputs)), numbers(model))
    np.testing.assert_allclose(slope, wanted.reshape(slope.shape), rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_jax_drives_as_the_kernel(jax):
    """The differential drive for 30 s in steps of 1 ms: 1e-12 after one step, 1e-9 after all."""
    f, h = DRIVE.jax(), 1e-3

    def step(x, _):
        a = f(x, VOLTAGES)
        b = f(x + h / 2 * a, VOLTAGES)
        c = f(x + h / 2 * b, VOLTAGES)
        d = f(x + h * c, VOLTAGES)
        return x + h / 6 * (a + 2 * b + 2 * c + d), None

    x = jax.numpy.zeros(len(DRIVE.states))
    run = jax.jit(lambda x, steps: jax.lax.scan(step, x, length=steps)[0], static_argnums=1)
    for steps, tolerance in ((1, 1e-12), (30_000, 1e-9)):
        kernel = rk4(DRIVE, np.zeros(len(DRIVE.states)), VOLTAGES, h, steps)
        assert np.abs(run(x, steps) - kernel).max() <= tolerance * np.abs(kernel).max()


@pytest.mark.slow
def test_jax_says_where_it_is_single():
    pytest.importorskip("jax")
    script = (
        "import warnings, jax, numpy as np, trundle\n"
        "for wide in (False, True):\n"
        "    jax.config.update('jax_enable_x64', wide)\n"
        "    with warnings.catch_warnings(record=True) as said:\n"
        "        warnings.simplefilter('always')\n"
        "        f = trundle.to_jax(trundle.catalog.pendulum(links=1))\n"
        "    told = [each for each in said if 'single precision' in str(each.message)]\n"
        "    print(len(told), f(np.zeros(2)).dtype)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "float32", "0", "float64"], done.stderr


def test_casadi_has_names_and_derivatives():
    casadi = pytest.importorskip("casadi")
    f = DRIVE.casadi()
    assert (f.name_in(), f.name_out()) == (["state", "input", "parameter"], ["rate"])
    assert DRIVE.casadi("odometry_step").name_out()[0] == "new_pose"
    x, p = np.full(9, 0.5), numbers(DRIVE)
    slope = f.factory("slope", f.name_in(), ["jac:rate:state"])(x, VOLTAGES, p)
    wanted = DRIVE.dynamics.jacobian("rate", "state")(x, VOLTAGES, p)
    np.testing.assert_allclose(np.asarray(slope).ravel(), wanted, rtol=1e-12, atol=1e-12)
    again = casadi.Function.deserialize(f.serialize())
    np.testing.assert_allclose(np.asarray(again(x, VOLTAGES, p)), np.asarray(f(x, VOLTAGES, p)), rtol=1e-15)


@pytest.mark.slow
def test_ode_takes_solve_ivps_own_methods():
    inputs = dict(zip(DRIVE.inputs, VOLTAGES, strict=True))
    ode = DRIVE.ode(inputs)
    how = {"rtol": 1e-10, "atol": 1e-12}
    found = solve_ivp(ode, (0, 1), ode.x0, method="Radau", jac=ode.jacobian, **how)
    run = trundle.simulate(DRIVE, 1.0, inputs, samples=2)
    expected = [run[name][-1] for name in DRIVE.states]
    np.testing.assert_allclose(found.y[:, -1], expected, rtol=1e-6, atol=1e-8)


def test_what_there_is_not_is_said():
    with pytest.raises(InputError, match="no function 'dynamic'") as caught:
        DRIVE.numpy("dynamic")
    assert "did you mean 'dynamics'" in caught.value.hint
    with pytest.raises(InputError, match="no function 'projection'"):
        DRIVE.casadi("projection")
    with pytest.raises(InputError, match="planar base"):
        trundle.to_numpy(trundle.catalog.pendulum(), "odometry_step")


@pytest.mark.parametrize("of", ["numpy", "jax"])
def test_states_of_the_wrong_shape_are_refused(of, request):
    """JAX reads the last number where there are too few; states a row each were read as something else."""
    f = DRIVE.numpy()
    if of == "jax":
        f = request.getfixturevalue("jax").jit(DRIVE.jax())
    for x, u, said in [
        (np.zeros((50, 9)), VOLTAGES, r"state: expected shape \(9,\) or \(9, count\), got \(50, 9\)"),
        (np.zeros(9), VOLTAGES[:1], r"input: expected shape \(2,\).*got \(1,\)"),
        (np.zeros(9), np.zeros(3), "input: expected shape"),
        (0.0, VOLTAGES, "state: expected shape"),
    ]:
        with pytest.raises(InputError, match=said):
            f(x, u)


def test_functions_tell_their_arguments_and_results():
    told = DRIVE.numpy("odometry_step").__doc__.splitlines()
    assert (
        told[0] == "The base's pose after increments of wheels and joints, on one arc, and its derivatives."
    )
    assert "pose, 3 numbers: x (m), y (m), theta (rad)" in told
    assert "new_pose, 3 numbers: x (m), y (m), theta (rad)" in told
    assert "d_pose_d_increment, 6 numbers: 3 rows (pose) of 2 columns (increment), row by row" in told


@pytest.mark.parametrize("library", ["numpy", pytest.param("jax", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_groups_that_are_no_numbers_are_told(library):
    model = derived("differential_drive")
    if library == "jax":
        pytest.importorskip("jax")
    f, x = getattr(model, library)(), np.array(model.state_vector())
    wrong = [
        ("state", r"an array of numbers, got dict", lambda: f({"x": 1.0})),
        ("input", r"an array of numbers, got dict", lambda: f(x, {"left_motor.voltage": 2.0})),
        ("parameter", r"an array of numbers, got dict", lambda: f(x, parameter={"r": 1.0})),
        ("state", r"an array of numbers, got 'x'", lambda: f("x")),
        ("state", r"real numbers, got complex", lambda: f(x + 1j)),
        ("state", r"real numbers, got complex", lambda: f([1j, *x[1:]])),
        ("p", r"'p' is no group of 'dynamics'", lambda: f(x, p=[1.0])),
        ("state", r"'state' is given twice", lambda: f(x, state=x)),
        ("state", r"needs the state", f),
        (None, r"takes 3 groups", lambda: f(x, x, x, x)),
    ]
    for key, message, call in wrong:
        with pytest.raises(InputError, match=message) as raised:
            call()
        assert raised.value.key == key
    np.testing.assert_array_equal(f(state=x), f(x))
    np.testing.assert_array_equal(f(x, parameter=[*model.parameters.values()]), f(x))

"""`model.jax()`: kernels that JAX calls, maps and differentiates, in both modes and of second order, also at rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.exports.entries import entry_named
from trundle.program.llvm import xla_call

jax = pytest.importorskip("jax")

# One that is joined with what stands around it, and one that is called as native code.
MODELS = {name: derived(name) for name in ("differential_drive", "swerve")}
PUBLISHED = Path(sys.prefix)


@pytest.fixture(autouse=True)
def _wide():
    jax.config.update("jax_enable_x64", True)


def groups_of(model, rng, count=None):
    lead = () if count is None else (count,)
    return (
        np.array(model.state_vector()) + 0.3 * rng.normal(size=(*lead, len(model.states))),
        rng.normal(size=(*lead, len(model.inputs))),
        np.array(list(model.parameters.values())),
    )


def close(got, wanted, tolerance=1e-10):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


def slopes(model, x, u, p, of="state"):
    flat = model.dynamics.jacobian("rate", of)(x, u, p)
    return flat.reshape(len(model.states), -1, *flat.shape[1:])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
@pytest.mark.slow
def test_both_modes_are_our_own_jacobian(name, mode, rng):
    model = MODELS[name]
    x, u, p = groups_of(model, rng)
    found = jax.jit(getattr(jax, mode)(model.jax(), argnums=(0, 1, 2)))(x, u, p)
    for part, of in zip(found, ("state", "input", "parameter"), strict=True):
        close(part, slopes(model, x, u, p, of))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [3, 300])
def test_maps_of_functions_and_of_slopes(name, count, rng):
    """Few states and many, which are other code; what all share, what none has, a map in a map, states a column."""
    model = MODELS[name]
    f = model.jax()
    x, u, p = groups_of(model, rng, count)
    wanted = model.dynamics(x.T, u.T, np.repeat(p[:, None], count, 1)).T
    close(jax.jit(jax.vmap(f, (0, 0, None)))(x, u, p), wanted)
    close(jax.vmap(f, (1, 1, None), 1)(x.T, u.T, p), wanted.T)
    close(f(x.T, u.T, p), wanted.T)
    close(f(x, u, p, batch="first"), wanted)
    nested = jax.vmap(jax.vmap(f, (0, 0, None)), (0, 0, None))
    close(nested(x.reshape(3, -1, x.shape[1]), u.reshape(3, -1, u.shape[1]), p).reshape(wanted.shape), wanted)
    grid = jax.vmap(jax.vmap(f, (None, 0, None)), (0, None, None))(x[:4], u[:3], p)
    close(grid[2, 1], f(x[2], u[1], p))
    found = jax.jit(jax.vmap(jax.jacfwd(f), (0, 0, None)))(x[:5], u[:5], p)
    for k in range(3):
        close(found[k], slopes(model, x[k], u[k], p))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_loss_over_many_has_the_gradient_of_what_all_share(name, rng):
    model = MODELS[name]
    f = model.jax()
    x, u, p = groups_of(model, rng, 4)
    weight = rng.normal(size=len(model.states))
    loss = lambda p: (jax.vmap(f, (0, 0, None))(x, u, p) @ weight).sum()  # noqa: E731
    wanted = sum(weight @ slopes(model, a, b, p, "parameter") for a, b in zip(x, u, strict=True))
    close(jax.jit(jax.grad(loss))(p), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_second_derivatives_do_not_hang_on_the_order_of_modes(name, rng):
    model = MODELS[name]
    x, u, p = groups_of(model, rng)
    weight = rng.normal(size=len(model.states))
    scalar = lambda x: weight @ model.jax()(x, u, p)  # noqa: E731
    twice = jax.jit(jax.hessian(scalar))(x)
    close(twice, twice.T)
    close(jax.jit(jax.jacrev(jax.jacfwd(scalar)))(x), twice)
    h, step = 1e-5, rng.normal(size=len(x))
    ahead, behind = (weight @ slopes(model, x + sign * h * step, u, p) for sign in (1, -1))
    close(twice @ step, (ahead - behind) / (2 * h), 1e-5)


@pytest.mark.parametrize("name", ["swerve", "tricycle", "ackermann"])
@pytest.mark.parametrize(
    "function", ["dynamics", "wheel_states", "next_wheel_states", "base_twist", "odometry_step"]
)
@pytest.mark.slow
def test_slopes_at_rest_are_numbers(name, function):
    """Roots of 0 and angles of (0, 0) have no slope by the rules: 0/0, which spoiled all that was added to it."""
    model = derived(name)
    entry, f = entry_named(model, function), model.jax(function)
    given = {"state": model.state_vector(), "parameter": list(model.parameters.values())}
    groups = [np.array(given.get(group.name, np.zeros(group.size))) for group in entry.program.inputs]
    places = tuple(range(len(groups)))
    for forward, reverse in zip(
        jax.tree.leaves(jax.jacfwd(f, argnums=places)(*groups)),
        jax.tree.leaves(jax.jacrev(f, argnums=places)(*groups)),
        strict=True,
    ):
        assert np.isfinite(forward).all()
        np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-9)


def test_loops_and_threads_share_one_operation(rng):
    model = MODELS["swerve"]
    f, h = jax.jit(model.jax()), 1e-3
    x, u, p = groups_of(model, rng, 64)
    euler = jax.jit(lambda x: jax.lax.scan(lambda x, _: (x + h * f(x, u[0], p), None), x, length=20)[0])
    wanted = x[0]
    for _ in range(20):
        wanted = wanted + h * model.dynamics(wanted, u[0], p)
    close(euler(x[0]), wanted)
    alone = [np.asarray(f(a, b, p)) for a, b in zip(x, u, strict=True)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: np.asarray(f(*pair, p)), zip(x, u, strict=True)))
    np.testing.assert_array_equal(together, alone)


def test_other_devices_get_operations_of_jax(rng):
    model = MODELS["swerve"]
    groups = groups_of(model, rng)
    here, there = (
        jax.export.export(jax.jit(model.jax()), platforms=[platform], disabled_checks=checks)(*groups)
        for platform, checks in (
            ("cpu", [jax.export.DisabledSafetyCheck.custom_call(f"{name}") for name in native_names(model)]),
            ("cuda", []),
        )
    )
    assert "custom_call @trundle_" in here.mlir_module()
    assert "custom_call @trundle_" not in there.mlir_module()
    assert "multiply" in there.mlir_module()


def native_names(model):
    return [f"trundle_{model.dynamics.key[:40]}_rows_000"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_offsets_are_those_of_xla_s_own_header(tmp_path):
    members = {
        "_EXTENSION": "offsetof(XLA_FFI_CallFrame, extension_start)",
        "_ARGUMENTS": "offsetof(XLA_FFI_CallFrame, args) + offsetof(XLA_FFI_Args, args)",
        "_RESULTS": "offsetof(XLA_FFI_CallFrame, rets) + offsetof(XLA_FFI_Rets, rets)",
        "_TYPE": "offsetof(XLA_FFI_Extension_Base, type)",
        "_METADATA": "offsetof(XLA_FFI_Metadata_Extension, metadata)",
        "_MAJOR": "offsetof(XLA_FFI_Metadata, api_version) + offsetof(XLA_FFI_Api_Version, major_version)",
        "_MINOR": "offsetof(XLA_FFI_Metadata, api_version) + offsetof(XLA_FFI_Api_Version, minor_version)",
        "_DATA": "offsetof(XLA_FFI_Buffer, data)",
        "_DIMENSIONS": "offsetof(XLA_FFI_Buffer, dims)",
    }
    lines = "".join(f'printf("%zu\\n", (size_t)({where}));' for where in members.values())
    source = tmp_path / "offsets.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n"
        f'#include "xla/ffi/api/c_api.h"\nint main(void) {{ {lines} return XLA_FFI_Extension_Metadata != 1; }}\n'
    )
    binary = tmp_path / "offsets"
    subprocess.run(["gcc", "-I", jax.ffi.include_dir(), source, "-o", binary], check=True)
    told = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in told.split()] == [getattr(xla_call, name) for name in members]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["panda", "tiago"])
def test_published_robots_have_slopes_in_both_modes(name, rng):
    file = next(PUBLISHED.rglob(f"{name}.urdf"), None)
    if file is None:
        pytest.skip("the package example-robot-data is not installed")
    model = trundle.derive(trundle.load(file, base="fixed"))
    x, u, p = groups_of(model, rng)
    wanted = slopes(model, x, u, p)
    for mode in (jax.jacfwd, jax.jacrev):
        close(jax.jit(mode(model.jax()))(x, u, p), wanted)
        close(jax.jit(jax.vmap(mode(model.jax()), (0, None, None)))(x[None], u, p)[0], wanted)

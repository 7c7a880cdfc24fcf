"""CUDA packages: compiled by NVRTC, which needs no GPU, by nvcc where one is, and run as C++ with empty qualifiers."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from exports.running import VOLTAGES, exported, hostile_model, kernels_end, model_of
from languages.c_code import compiled
from languages.nvidia import EMPTY, nvrtc_compiled
from parameters import SHORT, mostly_slow

# One thread at a time: blocks of one, whose number a loop counts.
_THREADS = "#include <stddef.h>\nstatic struct { int x; } blockIdx, blockDim = {1}, threadIdx;\n"
_EACH = """
extern "C" void each(int count, int sets, int steps, double h, double *x, const double *u, const double *p,
                     double *rate) {
    for (blockIdx.x = 0; blockIdx.x < count; blockIdx.x++) {
        roll(count, sets, steps, h, x, u, p);
        dynamics_of_all(count, sets, x, u, p, rate);
    }
}
"""


@pytest.mark.parametrize("name", mostly_slow(SHORT, ["differential_drive", "four_bar"]))
@pytest.mark.slow
def test_nvidia_compiles_whole_packages(name):
    text = model_of(name).export("cuda").files[f"{name}.cu"]
    ptx = nvrtc_compiled(text)
    assert ".visible .entry roll" in ptx
    assert ".visible .entry outputs_of_all" in ptx


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The differential drive's package, compiled as C++."""
    text = model_of("differential_drive").export("cuda", "dynamics").files["differential_drive.cu"]
    folder, flags = tmp_path_factory.mktemp("cuda"), ("-O1", "-Wno-unused-function")
    return compiled(f"{EMPTY}{_THREADS}{text}{_EACH}", folder, "g++", flags, ".cpp")


@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize(("steps", "tolerance"), [(1, 1e-12), (30000, 1e-9)])
def test_kernels_run_many_robots_as_the_kernels(code, sets, steps, tolerance):
    model, count = model_of("differential_drive"), 3
    x = np.tile(np.array([model.state_vector()]).T, count)
    u = np.tile(np.array([VOLTAGES]).T, count)
    u[:, 1] = 0.0
    p, rate = np.tile(np.array([[*model.parameters.values()]]).T, sets), np.empty_like(x)
    arrays = [ctypes.c_void_p(each.ctypes.data) for each in (x, u, p, rate)]
    code.each(count, sets, steps, ctypes.c_double(1e-3), *arrays)
    expected = np.stack(
        [kernels_end(model.name, inputs, steps) for inputs in (VOLTAGES, (0.0, 0.0), VOLTAGES)], 1
    )
    assert np.abs(x - expected).max() <= tolerance * np.abs(expected).max()
    every = np.tile(p[:, :1], count)
    np.testing.assert_allclose(rate, model.dynamics(x, u, every), rtol=1e-12, atol=1e-9)


@pytest.mark.slow
def test_nvcc_builds_the_example(tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    folder = exported("differential_drive", "cuda", tmp_path / "robot")
    done = subprocess.run(["make"], capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]
    assert "warning" not in done.stderr, done.stderr[:3000]


def test_names_may_be_hostile():
    assert ".entry roll" in nvrtc_compiled(hostile_model().export("cuda", name="robot").files["robot.cu"])

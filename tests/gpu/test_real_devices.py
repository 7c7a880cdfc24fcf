"""What cuda-core really is, where it is installed, and a real GPU, where there is one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trundle
from derived import derived
from gpu.fake_cuda import FakeGpu
from gpu.test_robots import SWEPT, VOLTS
from trundle.errors import InputError
from trundle.gpu import cuda
from trundle.gpu.cuda import Cuda, opened


def _gpu() -> str:
    """Why there is none; empty where there is."""
    if find_spec("cuda") is None or find_spec("cuda.core") is None:
        return "cuda-core is not installed"
    try:
        opened("cuda")
    except InputError as error:
        return error.message
    return ""


_MISSING = _gpu()
installed = pytest.mark.skipif(_MISSING == "cuda-core is not installed", reason=_MISSING)
present = pytest.mark.skipif(bool(_MISSING), reason=f"no GPU: {_MISSING}")


@installed
def test_the_fake_has_what_cuda_core_has(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("cuda.core", "cuda.bindings.driver")
    real = {name: import_module(name) for name in names}
    FakeGpu().installed(monkeypatch)
    for name in names:
        for word in vars(import_module(name)):
            assert word.startswith("_") or hasattr(real[name], word), f"{name}.{word}"
    core = real["cuda.core"]
    assert core.LaunchConfig(grid=3, block=cuda.BLOCK).block == (cuda.BLOCK, 1, 1)
    assert core.LinkerOptions(arch="sm_90").arch == "sm_90"
    assert bytes(core.ObjectCode.from_ptx(b"text").code) == b"text"
    for method in ("from_cubin", "get_kernel"):
        assert hasattr(core.ObjectCode, method)
    for place in ("set_current", "compute_capability", "default_stream", "name", "properties"):
        assert hasattr(core.Device, place)


@installed
@pytest.mark.skipif(not _MISSING, reason="there is a GPU")
def test_without_a_driver_it_is_said() -> None:
    with pytest.raises(InputError, match="no GPU answers as 'cuda'"):
        trundle.rollout(derived("differential_drive"), inputs=VOLTS, steps=5, device="cuda")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cuda:
    monkeypatch.setenv("TRUNDLE_CACHE", str(tmp_path))
    return opened("cuda")


@present
@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_gpu_has_the_bits_of_the_interpreter(
    device: Cuda, monkeypatch: pytest.MonkeyPatch, precision: Any
) -> None:
    rng = np.random.default_rng(29)
    how: dict[str, Any] = {
        "inputs": VOLTS, "parameters": {"r": rng.uniform(0.1, 0.2, 300)}, "steps": 50, "every": 10, "device": "cuda",
        "precision": precision,
    }  # fmt: skip
    model = derived("differential_drive")
    there = trundle.rollout(model, **how)
    FakeGpu().installed(monkeypatch)
    cuda._LOADED.clear()
    here = trundle.rollout(model, **how)
    cuda._LOADED.clear()
    assert np.array_equal(there.values, here.values)


@present
def test_a_gpu_sweeps(device: Cuda) -> None:
    model = derived("differential_drive")
    there, here = (trundle.sweep(model, device=where, **SWEPT) for where in ("cuda", "cpu"))
    for name in SWEPT["measures"]:
        np.testing.assert_allclose(there[name], here[name], rtol=1e-9, atol=1e-12)


@present
def test_code_that_was_kept_is_loaded(device: Cuda) -> None:
    model = derived("differential_drive")
    first = trundle.rollout(model, inputs=VOLTS, steps=5, device="cuda")
    cuda._LOADED.clear()
    again = trundle.rollout(model, inputs=VOLTS, steps=5, device="cuda")
    assert np.array_equal(first.values, again.values)

"""Rollouts on a GPU that this machine interprets: the whole way of the data, against the CPU's rollouts."""

from __future__ import annotations

import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from gpu.fake_cuda import FakeGpu
from trundle.errors import InputError, NumericsError
from trundle.gpu import cubins, cuda
from trundle.gpu.devices import Device
from trundle.program import Program, trace
from trundle.program.rollout import rollout as native


def swinging() -> Program:
    """A pendulum with a force: x'' = -k sin x + u."""
    state, u, k = ca.SX.sym("x", 2), ca.SX.sym("u"), ca.SX.sym("k")
    rate = ca.vertcat(state[1], u - k * ca.sin(state[0]))
    inputs = {"state": (["x", "v"], state), "input": (["u"], u), "parameter": (["k"], k)}
    return trace("swinging", inputs, {"rate": (["x", "v"], rate)})


OPERATIONS = 120  # of a step of `swinging`: four sines of some 25, and what is around them


def _close(there: np.ndarray, here: np.ndarray, steps: int, precision: str) -> None:
    """Every operation may round by half a unit; numbers are around one, and errors grow by less than e^0.4 here."""
    unit = np.finfo(np.float64 if precision == "double" else np.float32).eps / 2
    assert (abs(there - here) <= 1.5 * OPERATIONS * steps * unit * np.maximum(1.0, abs(here))).all()


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("shape", ["one", "batch", "stepped", "wide and stepped"])
def test_robots_are_those_of_the_cpu(gpu: FakeGpu, precision: str, shape: str) -> None:
    rng, steps, count = np.random.default_rng(4), 12, 150
    start = rng.normal(size=(2, count)) if shape != "one" else rng.normal(size=2)
    u = {"one": 0.3, "batch": rng.normal(size=count), "stepped": rng.normal(size=(steps, 1))}.get(
        shape, rng.normal(size=(steps, count))
    )
    k = 4.0 if shape in ("one", "stepped") else rng.uniform(1, 9, count)
    groups = {"input": {"u": u}, "parameter": {"k": k}}
    how = {"dt": 0.01, "steps": steps, "every": 3}
    there = native(swinging(), start, groups, run=Device("cuda", precision).run, **how)
    here = native(swinging(), start, groups, **how)
    assert there.states.shape == here.states.shape
    assert there.final.shape == here.final.shape
    assert np.array_equal(there.steps, here.steps)
    _close(there.states, here.states, steps, precision)
    _close(there.final, here.final, steps, precision)
    assert not gpu.buffers


def _rolled(count: int = 700, steps: int = 8, **how):
    rng = np.random.default_rng(5)
    start, k = rng.normal(size=(2, count)), rng.uniform(1, 9, count)
    groups = {"input": {"u": rng.normal(size=(steps, count))}, "parameter": {"k": k}}
    there = Device("cuda").run
    return native(swinging(), start, groups, run=there, dt=0.01, steps=steps, every=2, **how)


def test_robots_that_do_not_fit_roll_one_after_the_other(gpu: FakeGpu) -> None:
    whole = _rolled()
    gpu.total = 60_000
    shares: list[float] = []
    cut = _rolled(progress=shares.append)
    assert [threads for threads, begin, _ in gpu.launches if begin == 0] == [768, 256, 256, 256]
    assert np.array_equal(whole.states, cut.states)
    assert np.array_equal(whole.final, cut.final)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert not gpu.buffers


def test_no_room_for_robots_is_said(gpu: FakeGpu) -> None:
    gpu.total = 5_000
    with pytest.raises(NumericsError, match=r"'Interpreter 100' has 0.00 GB free; 128 robots take"):
        _rolled()


def test_long_rollouts_are_cut_into_launches(gpu: FakeGpu) -> None:
    _rolled(count=3, steps=40)
    begins, ends = zip(*(steps for _, *steps in gpu.launches), strict=True)
    assert begins == (0, *ends[:-1])
    assert ends[-1] == 40
    assert ends[0] == 4


def test_memory_goes_back_when_something_fails(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("CUDA_ERROR_LAUNCH_FAILED")

    monkeypatch.setattr("cuda.core.launch", fails)
    with pytest.raises(NumericsError, match="the device failed: CUDA_ERROR_LAUNCH_FAILED"):
        _rolled()
    assert not gpu.buffers


def test_what_the_driver_compiled_is_kept(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(compiled: int, **how: bool) -> None:
        """In a process of its own, as far as kernels that are loaded go."""
        cuda._LOADED.clear()
        vars(gpu).update(how)
        _rolled()
        assert gpu.calls["compiled"] == compiled

    again(1)
    again(1)
    (file,) = cubins.folder().iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:-3])  # by a disk that was full
    again(2)
    assert file.read_bytes() == content
    again(3, refuses_cubins=True)  # by another driver
    again(3, refuses_cubins=False)
    monkeypatch.setattr(cubins, "MOST", 2)
    for number in range(4):
        cubins.write(f"{number}", b"code")
    assert len(list(cubins.folder().iterdir())) == 2


def test_a_cache_that_cannot_be_written_changes_nothing(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken = tmp_path / "file"
    taken.write_text("no folder")
    monkeypatch.setenv("TRUNDLE_CACHE", str(taken))
    _rolled()
    cuda._LOADED.clear()
    _rolled()
    assert gpu.calls["compiled"] == 2


def test_where_code_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUNDLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr("trundle.operating_system.SYSTEM", "linux")
    assert cubins.folder() == Path("/somewhere/trundle/cubins")


def _refused(device: object, message: str, hint: str) -> None:
    with pytest.raises(InputError, match=message) as told:
        cuda.opened(device)  # type: ignore[arg-type]
    assert told.value.key == "device"
    assert hint in (told.value.hint or "")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CUDA", 0, None])
def test_devices_that_are_none(device: object) -> None:
    _refused(device, "there is no device", '"cuda:1"')


def test_a_device_too_many(gpu: FakeGpu) -> None:
    _refused("cuda:1", r"no GPU answers as 'cuda:1': device_id must be within \[0, 1\)", "nvidia-smi")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    for name in ["cuda", *(name for name in sys.modules if name.startswith("cuda."))]:
        monkeypatch.setitem(sys.modules, name, None)
    _refused("cuda", "cuda-core, which is not installed", "pip install 'trundle[cuda]'")


def test_without_a_driver(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_number: int) -> None:
        raise RuntimeError('"cuda" is an NVIDIA driver library and can only be found via system search')

    monkeypatch.setattr("cuda.core.Device", missing)
    _refused("cuda", "no GPU answers as 'cuda': \"cuda\" is an NVIDIA driver library", "driver installed")


def _some_layout(rng: np.random.Generator, low: float, high: float, steps: int, count: int) -> np.ndarray:
    """A number, one a robot, one a step, or one a robot and step."""
    shape = [(), (count,), (steps, 1), (steps, count)][rng.integers(4)]
    return rng.uniform(low, high, shape)


@pytest.mark.campaign
def test_any_layout_and_any_memory(gpu: FakeGpu, campaign) -> None:
    for rng in campaign(1000):
        count, steps = int(rng.integers(1, 600)), int(rng.integers(1, 14))
        every = int(rng.choice([each for each in (1, 2, 3, steps) if steps % each == 0]))
        start = rng.normal(size=(2, count) if rng.random() < 0.7 else 2)
        groups = {
            "input": {"u": _some_layout(rng, -1, 1, steps, count)},
            "parameter": {"k": _some_layout(rng, 1, 9, steps, count)},
        }
        how = {"dt": 0.01, "steps": steps, "every": None if rng.random() < 0.3 else every, "count": count}
        here = native(swinging(), start, groups, **how)
        precision = "single" if rng.random() < 0.5 else "double"
        there = Device("cuda", precision).run
        gpu.total = 1 << 30
        whole = native(swinging(), start, groups, **how, run=there)
        gpu.total = int(rng.integers(100_000, 400_000))
        cut = native(swinging(), start, groups, **how, run=there)
        assert np.array_equal(whole.states, cut.states)
        assert np.array_equal(whole.final, cut.final)
        _close(whole.final, here.final, steps, precision)
        if here.states.size:
            _close(whole.states, here.states, steps, precision)

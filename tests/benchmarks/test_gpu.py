"""The benchmark of GPUs, where there is none and beside one that is made up."""

import re
from types import SimpleNamespace

import pytest

from benchmarks import gpu


def test_without_a_gpu_the_rows_say_so(monkeypatch):
    monkeypatch.setattr(gpu, "_device", lambda: None)
    rows = gpu.steps_on_a_gpu(quick=True)
    assert [row.ours for row in rows] == ["no GPU here"] * 2
    assert [row.target for row in rows] == ["≥ 1e+10 on an H100", "≥ 3e+10 on an H100"]
    assert all(row.met is None for row in rows)


def test_the_share_of_the_peak(monkeypatch):
    properties = SimpleNamespace(multiprocessor_count=132, clock_rate=1_980_000)
    device = SimpleNamespace(name="H100", target="sm_90", device=SimpleNamespace(properties=properties))
    monkeypatch.setattr(gpu, "_device", lambda: device)
    monkeypatch.setattr(gpu, "_rate", lambda *_, **where: 2e10 if where else 4e7)
    for row, lanes, met in zip(gpu.steps_on_a_gpu(quick=True), (64, 128), (True, False), strict=True):
        a_step = int(re.findall(r"(\d+) operations a step", row.note)[0])
        assert f"{2e10 * a_step / (132 * lanes * 1.98e9):.0%} of the peak of H100" in row.note
        assert row.met is met
        assert row.ratio == pytest.approx(2e10 * gpu._cores() / (4e7 * 16))


def test_a_step_is_no_longer_than_its_program():
    """Four times the rates, and per state what four stages add; sines and cosines are polynomials of at most 25."""
    model = gpu.diff_drive()
    turns = sum(model.dynamics.count_by_op().get(op, 0) for op in ("sin", "cos"))
    rates, states = model.dynamics.operations_excluding("parameter"), len(model.states)
    assert gpu.operations_a_step(model, "double") <= 4 * (rates + 25 * turns) + 8 * states

"""A GPU that this machine interprets, where a test asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu.fake_cuda import FakeGpu
from trundle.gpu import cuda


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeGpu:
    """It has an empty cache, and no kernel is loaded."""
    monkeypatch.setenv("TRUNDLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cuda, "_LOADED", type(cuda._LOADED)())
    return FakeGpu().installed(monkeypatch)

"""Packages are built by a make of their own, also where the tests run under one."""

import pytest


@pytest.fixture(autouse=True)
def _make_of_its_own(monkeypatch):
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        monkeypatch.delenv(name, raising=False)

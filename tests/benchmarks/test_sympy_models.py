"""The peer of the SymPy measurement is only asked where it can answer."""

import sysconfig

import pytest

from benchmarks import sympy_models


@pytest.mark.parametrize(
    ("packages", "compiler", "lacking"),
    [
        (True, "cc -pthread", ""),
        (False, "cc", "not installed"),
        (True, "no-such-compiler -O2", "no C compiler"),
    ],
)
def test_what_the_peer_lacks(monkeypatch, packages, compiler, lacking):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sympy_models, "installed", lambda name: packages)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: compiler)
    monkeypatch.setattr("shutil.which", lambda name: None if name == "no-such-compiler" else f"/bin/{name}")
    assert sympy_models._lacking() == lacking

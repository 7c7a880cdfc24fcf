"""Which targets there are: files bring them, and one that is broken takes no other with it."""

import subprocess
import sys

import pytest

import trundle.languages
from trundle.exports.targets import TARGETS, Targets


def test_a_broken_file_takes_no_other_target_with_it(tmp_path, monkeypatch):
    (tmp_path / "torn.py").write_text("raise OSError('this library is torn')")
    monkeypatch.setattr(trundle.languages, "__path__", [*trundle.languages.__path__, str(tmp_path)])
    known = {*TARGETS}
    found = Targets()
    with pytest.warns(UserWarning, match=r"targets of trundle.languages.torn are missing: OSError: .* torn"):
        assert {*found} == known
    assert found["c"].name == "c"


def test_looking_for_targets_imports_nothing_that_a_target_alone_needs():
    code = "import sys; from trundle.exports.targets import TARGETS; print(*TARGETS, 'jax' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert told == [*TARGETS, "False"]

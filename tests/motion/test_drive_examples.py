"""The examples of motions, at every level, end to end."""

import json
from pathlib import Path

import pytest

from parameters import mostly_slow
from trundle.choices import LEVELS
from trundle.cli import main

FILES = sorted((Path(__file__).parents[2] / "examples" / "swerve" / "motions").glob("*.yaml"))
_EACH = [(file, level) for file in FILES for level in LEVELS]
_QUICK = list(zip(FILES, LEVELS, strict=False))  # every level, each on another file


@pytest.mark.parametrize(
    ("file", "level"), mostly_slow(_EACH, _QUICK), ids=lambda value: getattr(value, "stem", value)
)
def test_examples_of_motions(file, level, tmp_path):
    words = [
        "drive",
        "--file",
        str(file),
        "--output",
        str(tmp_path),
        "--control-level",
        level,
        "--no-graphs",
        "-q",
    ]
    assert main(words) == 0
    summary = json.loads((tmp_path / file.stem / "summary.json").read_text())
    assert summary["slip"] < 1e-9 or level == "module"
    assert not summary["exceeded"] or level in ("module", "body")


def test_there_are_examples():
    assert len(FILES) == 4

"""The README's Python runs as written, one block after the other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.slow
def test_the_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    assert len(BLOCKS) > 5
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"README block {number}", "exec"), names)
    assert (tmp_path / "run.nc").exists()

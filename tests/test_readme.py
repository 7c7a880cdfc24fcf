"""The README's Python and that of the pages that lead on from it run as written, one block after the other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/python.md", "docs/equations.md", "docs/catalogue.md", "docs/sources.md"]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def test_the_readme_fits():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 200
    assert not [line for line in lines if len(line) > 120]

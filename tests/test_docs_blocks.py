"""The Python blocks of the README, docs/ and site/ run as written, those of a page one after the other."""

import re
from pathlib import Path

import pytest

from conftest import FAMILIES

ROOT = Path(__file__).parents[1]
PAGES = {
    page.relative_to(ROOT).as_posix(): re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("site/**/*.md")])
}
# Blocks that need what is not here, by words of theirs.
NEEDS = {
    "walk.c3d": "recordings of a reader's own",
    "walk_grf.mot": "recordings of a reader's own",
    "dask_jobqueue": "a cluster",
    'device="cuda"': "a GPU",
    "trundle.window": "a screen",
    "import walk": "ezc3d",
}


def needs(block: str) -> str | None:
    """What a block needs that is not here."""
    return next((why for words, why in NEEDS.items() if words in block), None)


def test_the_readme_fits():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 200
    assert not [line for line in lines if len(line) > 120]


def test_most_blocks_need_nothing():
    blocks = [block for page in PAGES.values() for block in page]
    assert sum(needs(block) is None for block in blocks) > 0.8 * len(blocks)


@pytest.fixture
def kinds_as_they_were():
    """Blocks register kinds of a reader's own: other tests know none of them."""
    before = [dict(family._members) for family in FAMILIES]
    yield
    for family, members in zip(FAMILIES, before, strict=True):
        family._members = members


@pytest.mark.slow
@pytest.mark.usefixtures("kinds_as_they_were")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.example] if page == "README.md" else [])
        for page, blocks in PAGES.items()
        if blocks
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(PAGES[page]):
        if needs(block) is None:
            exec(compile(block, f"{page}, block {number}", "exec"), names)

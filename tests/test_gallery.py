"""The gallery's parts: what goes in, its index, and that its look at pages sees faults."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

import trundle
from tools import chromium
from tools.gallery import EXAMPLES, PICTURED, build, entries, index
from trundle.files import is_marked

ROOT = Path(__file__).parents[1]


def test_every_robot_and_every_example_has_its_page():
    found = {each.name: each for each in entries()}
    assert {PICTURED, *trundle.catalog.names(), *trundle.catalog.names(terrain=True)} <= set(found)
    given = {each.given for each in found.values() if isinstance(each.given, Path)}
    for path in EXAMPLES.rglob("*.yaml"):
        assert path in given, path
    assert all(each.about and len(each.about) < 400 for each in found.values())


def test_the_index_has_a_card_for_each():
    found = list(entries())
    text = index(found)
    assert text.count("<img ") == len(found)
    assert "`" not in text


@pytest.mark.slow
def test_pages_and_pictures_are_written(tmp_path):
    chosen = [each for each in entries() if each.name in ("pendulum", "swerve-motions-forward_to_left")]
    build(tmp_path, chosen)
    for each in chosen:
        assert (tmp_path / f"{each.name}.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        with Image.open(tmp_path / f"{each.name}.png") as still:
            assert still.size == (480, 360)


def test_pictures_are_small_made_by_the_gallery_and_shown():
    pictures = sorted((ROOT / "docs/pictures").iterdir())
    pages = "".join(
        page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    )
    assert sum(each.stat().st_size for each in pictures) < 1_000_000
    for each in pictures:
        assert is_marked(each), each
        assert f"pictures/{each.name})" in pages


@pytest.mark.skipif(chromium.find() is None, reason="chromium is not installed")
@pytest.mark.slow
def test_faults_of_a_page_are_seen(tmp_path):
    pytest.importorskip("playwright")
    from tools.gallery_check import faults

    (tmp_path / "bad.html").write_text(
        "<!doctype html><p style='position:absolute;top:0'>one text</p><p style='position:absolute;top:4px'>another</p>"
        "<div style='width:3em;overflow:hidden;white-space:nowrap;margin-top:9em'>longer than its box</div>"
        "<p style='width:3000px'>wide</p><script>console.error('oh'); fetch('http://127.0.0.1:9/')</script>"
    )
    (tmp_path / "good.html").write_text("<!doctype html><p>one</p><p>two</p>")
    # playwright allows one browser a thread; the pages' tests may hold one here
    with ThreadPoolExecutor(1) as apart:
        told = "\n".join(apart.submit(faults, tmp_path, ["bad.html", "good.html"]).result())
    for said in ("overlap", "is cut", "wider than its window", "console: oh", "request: http://127.0.0.1:9/"):
        assert said in told
    assert "good" not in told
    assert (tmp_path / "sheet-phone.png").is_file()

"""The built site in Chromium: no complaint, no request, nothing wider than its window, nothing serious by axe-core.

It looks at out/site where `make docs` has built it. axe-core comes from npm: `npm install --prefix out/axe axe-core`.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools import chromium

ROOT = Path(__file__).parents[1]
SITE = ROOT / "out/site"
AXE = ROOT / "out/axe/node_modules/axe-core/axe.min.js"
# A page of every kind.
PAGES = (
    "index.html",
    "tutorials_made/index.html",
    "tutorials_made/plot_1_thesis.html",
    "howto.html",
    "docs/swerve.html",
    "explanations/certificates.html",
    "reference/api/index.html",
    "reference/api/simulate.html",
    "reference/commands/run.html",
    "reference/files/description.html",
    "reference/statuses.html",
    "gallery.html",
    "compared.html",
    "search.html",
)
LOOKS = [(wide, colours) for wide in (390, 1400) for colours in ("light", "dark")]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.find() is None, reason="chromium is not installed"),
    pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="no site: make docs"),
]


def apart(look, *arguments):
    """playwright allows one browser a thread; other tests may hold one here."""
    pytest.importorskip("playwright")
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(look, *arguments).result()


def faults(name):
    from tools.gallery_check import _chromium, _watched

    told = []
    with _chromium() as browser:
        for wide, colours in LOOKS:
            page = browser.new_page(viewport={"width": wide, "height": 900}, color_scheme=colours)
            said = _watched(page)
            page.goto((SITE / name).as_uri())
            page.wait_for_timeout(300)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
                said.append("wider than its window")
            if AXE.is_file():
                page.evaluate(AXE.read_text(encoding="utf-8"))
                found = page.evaluate("axe.run(document, {preload: false, iframes: false})")
                bad = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
                said += [f"axe: {each['id']}: {each['nodes'][0]['html'][:120]}" for each in bad]
            told += [f"{wide} {colours}: {each}" for each in said]
            page.close()
    return told


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_every_kind_has_no_fault(name):
    assert apart(faults, name) == []


def results():
    from tools.gallery_check import _chromium

    with _chromium() as browser:
        page = browser.new_page()
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=lqr")
        page.wait_for_selector("#search-results li", timeout=20_000)
        return page.locator("#search-results li").all_inner_texts()


def test_search_works_from_files():
    assert any("trundle.lqr" in text for text in apart(results))

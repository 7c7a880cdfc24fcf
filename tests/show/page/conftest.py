"""A browser for pages, without a network. A page that complains or asks for anything fails its test."""

from pathlib import Path

import pytest

from tools.chromium import find

# What drivers without a graphics processor say of their own speed, once many pictures were drawn.
_SLOW = "GL Driver Message (OpenGL, Performance"


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests; they are skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api")
    found = find()
    if found is None:
        pytest.skip("no chromium is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path: Path):
    """opened(html, width=1280, height=800, url_hash="", **context) opens the text as a file and returns the browser's
    page, of which `globalThis.trundlePage` is the page's own object. Afterwards errors on the console and requests fail
    the test, but for complaints that `refused` is a part of.
    """
    contexts, troubles = [], []

    def open_page(html: str, width=1280, height=800, url_hash="", refused=None, **options):
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        options = {"reduced_motion": "reduce", **options}  # else pages begin to play
        contexts.append(chromium.new_context(viewport={"width": width, "height": height}, **options))
        page = contexts[-1].new_page()

        def complained(text: str) -> None:
            if _SLOW in text:
                return
            if refused is None or refused not in text:
                troubles.append(text)

        def asked(url: str) -> None:
            if not url.startswith((path.as_uri(), "data:", "blob:")):
                troubles.append(f"a request: {url}")

        page.on("console", lambda said: complained(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complained(str(error)))
        page.on("dialog", lambda dialog: troubles.append(f"a dialog: {dialog.message}"))
        page.on("request", lambda request: asked(request.url))
        page.goto(path.as_uri() + url_hash)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []

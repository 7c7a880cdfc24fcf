"""Looks at pages in Chromium: what they complain of, what lies over something else, what is cut."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tools import chromium
from trundle.show.figures.style import png_mark

# Width, height and colours of each look at a page.
_LOOKS = {"wide": (1280, 900, "light"), "phone": (390, 844, "light"), "dark": (1280, 900, "dark")}
# A screenshot on a sheet, by its size, and the sheet's width in pixels.
_SMALL, _SHEET = 0.35, 1800
# What people read or press, where it is in sight; a canvas is looked at, with what lies on it.
_FIND_FAULTS = """() => {
  const shown = [...document.querySelectorAll("body *")].filter((each) => {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const box = each.getBoundingClientRect();
    return (own || ["BUTTON", "INPUT", "SELECT"].includes(each.tagName)) && box.width > 1 && box.height > 1 &&
      each.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !each.closest("svg, math, option");
  });
  // What scrolls is not cut; what stays in sight while a page scrolls is over something else at times.
  const within = (each, found) => {
    for (let at = each; at; at = at.parentElement) if (found(getComputedStyle(at))) return true;
    return false;
  };
  const scrolls = (each) => within(each, (style) => ["auto", "scroll"].includes(style.overflowX));
  const stays = (each) => within(each, (style) => ["fixed", "sticky"].includes(style.position));
  const name = (each) => each.tagName.toLowerCase() + " '" + each.textContent.trim().slice(0, 30) + "'";
  const told = [];
  // Its lines, as far as boxes that scroll let them be seen.
  const seen = (each) => {
    let lines = [...each.getClientRects()].map(({ left, right, top, bottom }) => ({ left, right, top, bottom }));
    for (let at = each.parentElement; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (![style.overflowX, style.overflowY].some((how) => how === "auto" || how === "scroll")) continue;
      const box = at.getBoundingClientRect();
      lines = lines.map((line) => ({ left: Math.max(line.left, box.left), right: Math.min(line.right, box.right),
        top: Math.max(line.top, box.top), bottom: Math.min(line.bottom, box.bottom) }));
    }
    return lines;
  };
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const boxes = shown.map((each) => each.getBoundingClientRect());
  const lines = shown.map(seen);
  shown.forEach((each, k) => {
    const style = getComputedStyle(each);
    if (boxes[k].right > innerWidth + 1 && !scrolls(each)) told.push(name(each) + " is beyond the right edge");
    if (each.scrollWidth > each.clientWidth + 1 && style.overflowX === "hidden") told.push(name(each) + " is cut");
    for (let other = k + 1; other < shown.length; other += 1) {
      if (each.contains(shown[other]) || shown[other].contains(each)) continue;
      if (stays(each) !== stays(shown[other])) continue;
      if (!lines[k].some((a) => lines[other].some((b) => over(a, b)))) continue;
      told.push(name(each) + " and " + name(shown[other]) + " overlap");
    }
  });
  if (document.documentElement.scrollWidth > innerWidth + 1) told.push("the page is wider than its window");
  return told;
}"""


def faults(folder: Path, names: Sequence[str]) -> list[str]:
    """What is wrong with the pages, in words; of each look all screenshots go to a sheet (sheet-wide.png, …)."""
    told: list[str] = []
    shots: dict[str, list[Image.Image]] = {look: [] for look in _LOOKS}
    with _chromium() as browser:
        for name in names:
            page = browser.new_page(reduced_motion="reduce")
            complaints = _watched(page)
            page.goto((folder / name).resolve().as_uri())
            for look, (wide, tall, colours) in _LOOKS.items():
                page.set_viewport_size({"width": wide, "height": tall})
                page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
                _seek(page)
                complaints += [f"{look}: {each}" for each in page.evaluate(_FIND_FAULTS)]
                shots[look].append(Image.open(io.BytesIO(page.screenshot())))
            told += [f"{name}: {each}" for each in dict.fromkeys(complaints)]
            page.close()
    for look, taken in shots.items():
        _sheet(taken).save(folder / f"sheet-{look}.png")
    return told


def screenshot(path: Path, picture: Path) -> None:
    """A page as a browser shows it, in the middle of its run."""
    with _chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 760}, reduced_motion="reduce")
        page.goto(path.resolve().as_uri())
        _seek(page)
        with Image.open(io.BytesIO(page.screenshot())) as shown:
            shown.convert("RGB").quantize(128).save(picture, pnginfo=png_mark(), optimize=True)


def _seek(page: Page) -> None:
    """To where the run is at two thirds, if there is one, and until it is drawn."""
    slider = page.locator("#transport input[type=range], .transport input[type=range]")
    if slider.count():
        slider.first.fill(str(float(slider.first.get_attribute("max") or 1) * 2 / 3))
    page.wait_for_timeout(300)


@contextmanager
def _chromium() -> Iterator[Browser]:
    found = chromium.find()
    if found is None:
        raise FileNotFoundError("Chromium, which looks at pages, is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def _watched(page: Page) -> list[str]:
    """What the page will complain of, and ask the network for."""
    told: list[str] = []
    page.on("console", lambda said: told.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("file:", "data:", "blob:"))
            else told.append(f"request: {asked.url}")
        ),
    )
    return told


def _sheet(shots: Sequence[Image.Image]) -> Image.Image:
    """All screenshots of one size, small, on one picture."""
    wide, tall = (round(each * _SMALL) for each in shots[0].size)
    across = _SHEET // wide
    sheet = Image.new("RGB", (wide * across, tall * -(-len(shots) // across)), "grey")
    for place, shot in enumerate(shots):
        row, column = divmod(place, across)
        sheet.paste(shot.resize((wide - 4, tall - 4), Image.Resampling.LANCZOS), (column * wide, row * tall))
    return sheet

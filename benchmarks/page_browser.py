"""Live pages in Chromium: from a moved slider to the path that is drawn anew, and how far off that path is."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import trundle
from benchmarks.measure import MISSING, Row, seconds_text
from benchmarks.page_frames import NO_CHROMIUM, frame_times
from tools import chromium
from trundle.show.page import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from trundle.model.arguments import Given

_CIRCLE = Path(__file__).parents[1] / "examples" / "diff_drive" / "circle.yaml"
_WINDINGS = {f"parameters.motors.{side}_motor.inductance": 1e-6 for side in ("left", "right")}
# Sets knobs and waits until a motion is drawn of what was asked for: in ms, and where the states end.
_ASK = """async (changes) => {
  const before = trundlePage.motion;
  const begun = performance.now();
  trundlePage.controls.set(Object.entries(changes));
  while (trundlePage.motion === before) await new Promise((done) => setTimeout(done));
  const spent = performance.now() - begun;
  const { values, seconds, method, steps, step, halfStepError } = trundlePage.motion;
  const final = Object.fromEntries(Object.entries(values).map(([name, column]) => [name, column.at(-1)]));
  return { spent, seconds, final, method, steps, step, halfStepError };
}"""
# A slider that is never let go, for as long as the frames are looked at.
_DRAG = """(() => {
  const knob = trundlePage.data.live.knobs.find(({ group }) => group === "parameters");
  let turn = 0;
  setInterval(() => trundlePage.controls.set([[knob.key, knob.value * (1 + 0.1 * Math.sin(turn++ / 9))]]), 16);
})()"""


def page_browser(quick: bool) -> list[Row]:
    """The live page's three cases, from slider to picture, and the main thread's frames while a slider moves."""
    from playwright.sync_api import sync_playwright

    found = chromium.find()
    if found is None:
        return [Row("live pages in Chromium", MISSING, note=NO_CHROMIUM)]
    swerve = trundle.catalog.document("swerve", contact="slip")
    tries = 5 if quick else 15
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        circle = Path(folder, "circle.html")
        circle.write_text(page_of(_CIRCLE), encoding="utf-8")
        slipping = Path(folder, "swerve.html")
        slipping.write_text(page_of(swerve), encoding="utf-8")
        rows = [
            _row("the diff drive's 30 s", browser, (circle, _CIRCLE), {}, 0.05, tries),
            _row("a slipping swerve's 8 s", browser, (slipping, swerve), {"run.duration": 8.0}, 0.2, tries),
            _row("the diff drive with 1 µH", browser, (circle, _CIRCLE), _WINDINGS, 0.5, tries),
        ]
        frames = frame_times(browser, circle, 2.0 if quick else 6.0, _DRAG)
        browser.close()
    most = float(np.percentile(frames, 95))
    note = f"median {np.median(frames):.1f} ms of {frames.size} frames"
    what = "live page: a frame while a slider moves and all is redrawn, 95th percentile"
    return [*rows, Row(what, f"{most:.1f} ms", note=note)]


def _row(
    what: str,
    browser: Browser,
    given: tuple[Path, Given],
    changes: Mapping[str, float],
    target: float,
    tries: int,
) -> Row:
    """The shortest of some runs in the page, as the worker took and as the slider waited, and how far off it ends."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(given[0].as_uri())
    _wait(tab)
    parameter = tab.evaluate("trundlePage.data.live.knobs.find(({ group }) => group === 'parameters')")
    key, value = parameter["key"], parameter["value"]
    asked = [{**changes, key: value + 1e-3 * (turn + 1) * (value or 1.0)} for turn in range(tries)]
    answers = [tab.evaluate(_ASK, each) for each in asked]
    tab.close()
    best, answer, last = min(each["seconds"] for each in answers), answers[-1], asked[-1]
    run = trundle.run(
        given[1],
        parameters={name[11:]: value for name, value in last.items() if name.startswith("parameters.")},
        duration=last.get("run.duration"),
        rtol=1e-11,
        atol=1e-12,
        progress=False,
    )
    off = max(abs(answer["final"][name] - run[name][-1]) for name in run.states)
    how = f"{answer['method']}, {answer['steps']} steps, half-step error {answer['halfStepError']:.1e}"
    return Row(
        f"live page, in Chromium: {what}",
        seconds_text(best),
        target=f"≤ {seconds_text(target)}",
        met=best <= target,
        note=f"{seconds_text(min(each['spent'] for each in answers) / 1e3)} until drawn; {how}; ends {off:.1e} off",
    )


def _wait(tab: Page) -> None:
    """Until the first run is there."""
    while not tab.evaluate("document.querySelector('.status').dataset.level ?? ''"):
        tab.wait_for_timeout(20)

"""Pages in Chromium with software rendering: their size, and the main thread's time for each frame that moves."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import trundle
from benchmarks.measure import Row
from trundle.errors import InputError
from trundle.page import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_EXAMPLES = Path(__file__).parents[1] / "examples"
_RUNS = {
    "differential drive": "diff_drive/circle.yaml",
    "swerve": "swerve/four_modules.yaml",
    "four-bar": "four_bar/crank.yaml",
}
SIZE, FRAME = 1.5e6, 8.0  # bytes, ms


def page_frames(quick: bool) -> list[Row]:
    """Pages of example runs that play: 95th percentile of the main thread's processor time in the tasks that draw a
    frame (script, style, layout, painting), from Chromium's own trace.
    """
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise InputError("the benchmark of pages needs chromium, which isn't installed")
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for what, file in _RUNS.items():
            html = page_of(trundle.run(_EXAMPLES / file, progress=False))
            path = Path(folder, "page.html")
            path.write_text(html, encoding="utf-8")
            size = len(html.encode())
            rows.append(
                Row(f"page of the {what}: size", f"{size / 1e3:.0f} kB", target="≤ 1.5 MB", met=size <= SIZE)
            )
            frames = frame_times(browser, path, 2.0 if quick else 6.0)
            most = float(np.percentile(frames, 95))
            note = f"median {np.median(frames):.1f} ms of {frames.size} frames"
            rows.append(
                Row(
                    "  a frame, 95th percentile",
                    f"{most:.1f} ms",
                    target=f"≤ {FRAME:g} ms",
                    met=most <= FRAME,
                    note=note,
                )
            )
        browser.close()
    return rows


def frame_times(browser: Browser, path: Path, seconds: float, beside: str = "0") -> np.ndarray:
    """The main thread's time (ms) in each task that fires an animation frame, while the page plays and something runs
    beside.
    """
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(path.as_uri())
    tab.wait_for_timeout(500)
    browser.start_tracing(page=tab, categories=["toplevel", "devtools.timeline"])
    tab.evaluate("trundlePage.player.play()")
    tab.evaluate(beside)
    tab.wait_for_timeout(1000 * seconds)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    tab.close()
    fired = [each for each in events if each["name"] == "FireAnimationFrame"]
    thread = (fired[0]["pid"], fired[0]["tid"])
    tasks = sorted(
        (each["ts"], each["dur"], each["tdur"])
        for each in events
        if "RunTask" in each["name"] and (each["pid"], each["tid"]) == thread and "tdur" in each
    )
    starts, durations, spent = np.array(tasks).T
    at = np.array([each["ts"] for each in fired])
    task = np.searchsorted(starts, at, side="right") - 1
    inside = at <= starts[task] + durations[task]
    return spent[task[inside]] / 1e3

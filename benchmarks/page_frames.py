"""Pages in Chromium with software rendering: their size, and the main thread's time for each frame that moves."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import trundle
from benchmarks.measure import MISSING, Row
from tools import chromium
from trundle.documents import dump, load_urdf
from trundle.robot.bodies import RevoluteJoint
from trundle.show.page import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_EXAMPLES = Path(__file__).parents[1] / "examples"
_RUNS = {
    "differential drive": "diff_drive/circle.yaml",
    "swerve": "swerve/four_modules.yaml",
    "four-bar": "four_bar/crank.yaml",
}
SIZE, FRAME, SPATIAL_FRAME = 1.5e6, 8.0, 20.0  # bytes, ms
_BODIES = 30
NO_CHROMIUM = "no chromium is installed"
# Of example-robot-data, where it is installed.
_MESHED = {
    "arm with meshes": "xarm_description/urdf/xarm7.urdf",
    "humanoid": "talos_data/robots/talos_full_v2.urdf",
}


def page_frames(quick: bool) -> list[Row]:
    """Pages of example runs that play: 95th percentile of the main thread's processor time in the tasks that draw a
    frame (script, style, layout, painting), from Chromium's own trace.
    """
    from playwright.sync_api import sync_playwright

    found = chromium.find()
    if found is None:
        return [Row("pages in Chromium", MISSING, note=NO_CHROMIUM)]
    runs = {what: trundle.run(_EXAMPLES / file, progress=False) for what, file in _RUNS.items()}
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        path, seconds = Path(folder, "page.html"), 2.0 if quick else 6.0
        for what, run in runs.items():
            rows += _rows(browser, path, what, page_of(run), seconds, SIZE, FRAME)
        chain = page_of(_swinging(_chain(), 601))
        rows += _rows(browser, path, f"{_BODIES} bodies in space", chain, seconds, None, SPATIAL_FRAME)
        for what, robot in _meshed():
            rows += _rows(browser, path, what, page_of(_swinging(robot, 121)), seconds, None, None)
        browser.close()
    return rows


def _rows(
    browser: Browser,
    path: Path,
    what: str,
    html: str,
    seconds: float,
    most_bytes: float | None,
    most_ms: float | None,
) -> list[Row]:
    path.write_text(html, encoding="utf-8")
    size = len(html.encode())
    frames = frame_times(browser, path, seconds)
    p95 = float(np.percentile(frames, 95))
    return [
        Row(
            f"page of the {what}: size",
            f"{size / 1e3:.0f} kB",
            target="" if most_bytes is None else f"≤ {most_bytes / 1e6:g} MB",
            met=None if most_bytes is None else size <= most_bytes,
        ),
        Row(
            "  a frame, 95th percentile",
            f"{p95:.1f} ms",
            target="" if most_ms is None else f"≤ {most_ms:g} ms",
            met=None if most_ms is None else p95 <= most_ms,
            note=f"median {np.median(frames):.1f} ms of {frames.size} frames",
        ),
    ]


def _chain() -> trundle.Robot:
    """Bodies on hinges about z and y by turns."""
    body = {"mass": 1.5, "center_of_mass": [0, 0, 0.12], "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.002}}
    joints = {
        f"j{k}": {
            "type": "revolute",
            "axis": [[0, 0, 1], [0, 1, 0]][k % 2],
            "parent": f"j{k - 1}" if k else "base",
            "at": [0, 0, 0.25],
            "body": body,
        }
        for k in range(_BODIES)
    }
    return trundle.load({"robot": {"name": "chain", "base": "fixed", "joints": joints}})


def _meshed() -> Iterator[tuple[str, trundle.Robot]]:
    found = find_spec("cmeel")
    for where in () if found is None else found.submodule_search_locations or ():
        robots = Path(where).parent / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        for what, file in _MESHED.items():
            if (robots / file).exists():
                yield what, load_urdf(robots / file, base="fixed")


def _swinging(robot: trundle.Robot, samples: int) -> trundle.Run:
    """Ten seconds in which every hinge swings, its coupled ones left out."""
    time = np.linspace(0.0, 10.0, samples)
    hinges = [name for name, joint in robot.joints.items() if isinstance(joint, RevoluteJoint)]
    values = {f"{name}.angle": 0.3 * np.sin((1 + 0.1 * k) * time + k) for k, name in enumerate(hinges)}
    return trundle.Run(
        robot.name, time, values, groups={"coordinates": list(values)}, description={"yaml": dump(robot)}
    )


def frame_times(browser: Browser, path: Path, seconds: float, beside: str = "0") -> np.ndarray:
    """The main thread's time (ms) in each task that fires an animation frame, while the page plays and something runs
    beside.
    """
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(path.as_uri())
    # the page's policy forbids wait_for_function's own way
    while not tab.evaluate("'trundlePage' in globalThis"):
        tab.wait_for_timeout(50)
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

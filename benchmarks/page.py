"""What a slider of a live page waits for: runs in JavaScript under Node, and how far off they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.drive import DESCRIPTION, VOLTAGES
from benchmarks.measure import MISSING, Row, seconds_text

if TYPE_CHECKING:
    from trundle.documents import Document
    from trundle.simulation.runfile import Changes

# Runs first, so that V8 has compiled what is measured, as it has once a page was looked at.
_WARM = 4
_SCRIPT = """
import { readFileSync } from "node:fs";
const request = decode(JSON.parse(readFileSync(0, "utf8")));
const seconds = [];
let run;
for (let k = 0; k < %d; k++) {
  run = simulate(model, request);
  if (k >= %d) seconds.push(run.seconds);
}
const final = run.states.map((column) => column.at(-1));
console.log(JSON.stringify({ seconds: Math.min(...seconds), final, method: run.method, steps: run.steps,
  step: run.step, halfStepError: run.halfStepError }));
"""


def page(quick: bool) -> list[Row]:
    """The live page's three cases: the diff drive, four slipping modules, and windings of a microhenry."""
    import trundle
    from trundle.documents import parse
    from trundle.simulation.runfile import Changes

    drive = parse(DESCRIPTION)
    small = {f"motors.{side}_motor.inductance": 1e-6 for side in ("left", "right")}
    swerve = trundle.catalog.document("swerve", contact="slip")
    return [
        _row("the diff drive's 30 s", drive, Changes(inputs=VOLTAGES, duration=30.0), 0.05, quick),
        _row("a slipping swerve's 8 s", swerve, Changes(duration=8.0), 0.2, quick),
        _row(
            "the diff drive with 1 µH",
            drive,
            Changes(inputs=VOLTAGES, duration=30.0, parameters=small),
            0.5,
            quick,
        ),
    ]


def _row(what: str, given: Document, changes: Changes, target: float, quick: bool) -> Row:
    """Seconds of a run in the page, beside those of `trundle.run`, and how far apart their ends are."""
    import numpy as np

    from trundle.show.page.inert_json import to_json
    from trundle.show.page.joining import joined
    from trundle.show.page.live import live_of, model_text
    from trundle.simulation.runfile import task_of

    what = f"live page, under Node: {what}"
    node = shutil.which("node")
    if node is None:
        return Row(what, MISSING, target=f"≤ {seconds_text(target)}")
    task = task_of(given, changes)
    tries = _WARM + (4 if quick else 20)
    text = "\n".join([joined("simulate", "data"), model_text(task.integrated), _SCRIPT % (tries, _WARM)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.mjs")
        file.write_text(text, encoding="utf-8")
        request = to_json(live_of(task.integrated)["base"])
        done = subprocess.run([node, file], input=request, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    began = time.perf_counter()
    run = task.run()
    peer = time.perf_counter() - began
    ends = np.array([run[name][-1] for name in task.problem.system.states])
    off = float(np.abs(np.array(answer["final"]) - ends).max())
    how = f"{answer['method']}, {answer['steps']} steps, half-step error {answer['halfStepError']:.1e}"
    return Row(
        what,
        seconds_text(answer["seconds"]),
        seconds_text(peer),
        None,
        f"≤ {seconds_text(target)}",
        answer["seconds"] <= target,
        f"{how}; ends {off:.1e} off",
    )

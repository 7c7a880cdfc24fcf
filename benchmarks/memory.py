"""Memory of a large rollout beside what it returns, and of many robots one after the other; each in a process of its
own.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.measure import Row

EXTRA = 50e6
WARM, GROWTH = 100, 0.1e6  # robots before it counts, bytes a robot

# The kernel's own count of this process's peak (Linux): `getrusage` would count the parent's before the process was
# its own.
_SCRIPT = """
import json, pathlib
from benchmarks.drive import VOLTAGES, diff_drive
from trundle.simulation import rollout
model = diff_drive()
rollout(model, inputs=VOLTAGES, steps=20, dt=1e-3, every=10, count=64)
def status(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))
pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
batch = rollout(model, inputs=VOLTAGES, steps=500, dt=1e-3, every=50, count=100_000)
print(json.dumps({"returned": batch.values.nbytes, "grown": status("VmHWM") - before}))
"""

# Robots thrown together for the tests: each derived, compiled for one state and for many, called, and forgotten.
_MANY = """
import pathlib, sys
sys.path.insert(0, "tests")
import numpy as np, trundle
from model.any_robot import anything
from model.random_robots import ALL
from trundle.robot import parse_robot
def robot(k):
    rng = np.random.default_rng([7, k])
    return parse_robot(ALL[str(rng.choice(list(ALL)))](rng) if rng.random() < 0.4 else anything(rng))
def each(k):
    try:
        model = trundle.derive(robot(k))
    except trundle.TrundleError:  # its wheels lock it
        return 0
    x, u, p = np.full(len(model.states), 0.1), np.zeros(len(model.inputs)), [*model.parameters.values()]
    for program in (model.dynamics, model.observe):
        program(x, u, p)
        program(np.tile(x[:, None], 9), u, p)
    return 1
def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
done, k, before = 0, 0, 0
while done < int(sys.argv[1]):
    done, k = done + each(k), k + 1
    before = before or (done == int(sys.argv[2]) and resident())
print(resident() - before)
"""


def many_robots(quick: bool) -> list[Row]:
    """Growth of a process over random robots, after the first 100: code is kept for the last 64 programs asked for."""
    count = 2 * WARM if quick else 5 * WARM
    if not sys.platform.startswith("linux"):
        return [Row(f"memory that {count} robots leave", "not measured", note="needs Linux")]
    command = [sys.executable, "-c", _MANY, str(count), str(WARM)]
    grown = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    what = f"memory that robots {WARM + 1} to {count} leave, each derived, compiled and called"
    most = GROWTH * (count - WARM)
    return [Row(what, f"{grown / 1e6:.1f} MB", target=f"≤ {most / 1e6:.0f} MB", met=grown <= most)]


def rollout_memory(quick: bool) -> list[Row]:
    """Growth of the process's peak memory over a rollout of 100,000 robots, less the bytes that the rollout returns."""
    if not sys.platform.startswith("linux"):
        return [
            Row(
                "memory of a rollout of 100,000 robots beyond what it returns",
                "not measured",
                note="needs Linux",
            )
        ]
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    extra = figures["grown"] - figures["returned"]
    return [
        Row(
            "memory of a rollout of 100,000 robots beyond what it returns",
            f"{extra / 1e6:.1f} MB",
            target="≤ 50 MB",
            met=extra <= EXTRA,
            note=f"returns {figures['returned'] / 1e6:.1f} MB",
        )
    ]

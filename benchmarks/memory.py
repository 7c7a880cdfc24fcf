"""Memory of a large rollout beside what it returns, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.measure import Row

EXTRA = 50e6

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

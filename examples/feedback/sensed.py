"""A circle that is held by what noisy sensors tell: the estimate in the loop, and the same from the log afterwards.

python examples/feedback/sensed.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import trundle

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/feedback")
folder.mkdir(parents=True, exist_ok=True)
file = Path(__file__).with_name("sensed.yaml")

run = trundle.run(file)
later = run.time > 10
off = np.hypot(run["x"], run["y"] - 6.6)[later] - 6.6
print(f"{1000 * np.sqrt(np.mean(off**2)):.1f} mm off the circle after 10 s, root mean square")
trundle.estimate_figure(run).savefig(folder / "in_the_loop.png")

# The log of what the sensors told, shuffled by the fixes' latency, and what comes of it without knowing the start well.
robot = trundle.load(file)
log = trundle.measure(robot, run, seed=2)
log.save(folder / "log.nc")
start = np.diag([0.3, 0.3, 0.2]) ** 2
found = trundle.estimate(robot, folder / "log.nc", pose=[0.2, -0.1, 0.1], covariance=start, gate=4)
about = found.summary["fixes"]["fixes"]
print(f"{about['used']} fixes used, {about['gated']} left out; mean NIS {about['mean_nis']:.2f}, expected 3")
spread = np.degrees(np.sqrt(found["covariance.gyro.bias"][-1]))
print(f"the gyro's bias is {np.degrees(found['gyro.bias'][-1]):.3f} deg/s, to {spread:.3f} deg/s")
trundle.estimate_figure(found, run).savefig(folder / "from_the_log.png")

"""A figure of eight that a tracker holds a robot to, by what an estimator says of its sensors: path and errors drawn.

python examples/feedback/eight.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import trundle

here = Path(__file__).parent
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/feedback")
folder.mkdir(parents=True, exist_ok=True)

run = trundle.run(here / "eight.yaml")
wanted = {
    name.removeprefix("track."): trundle.table(*told).sample(run.time)
    for name, told in trundle.reference(here / "eight.csv").items()
}


def off(pose: str) -> np.ndarray:
    """How far a pose in the run is to the left of where the robot should be (m)."""
    x, y = run[f"{pose}x"] - wanted["x"], run[f"{pose}y"] - wanted["y"]
    return np.cos(wanted["theta"]) * y - np.sin(wanted["theta"]) * x


true, known = off(""), off("where.")
later = run.time > 5
beside, wrong = (1000 * np.sqrt(np.mean(values[later] ** 2)) for values in (true, known - true))
print(f"{beside:.1f} mm off the path after 5 s, root mean square; what it knows is off by {wrong:.1f} mm")

figure, (path, errors) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
path.plot(wanted["x"], wanted["y"], "--", color="0.5", label="wanted")
path.plot(run["x"], run["y"], label="driven")
path.plot(run["x"][0], run["y"][0], "o", color="C0", label="start")
path.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
path.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=3)
errors.plot(run.time, 100 * true, label="off the path")
errors.plot(run.time, 100 * known, label="as the robot knows", lw=0.8)
errors.axhspan(-1, 1, color="0.9", zorder=0)
errors.set(xlabel="time (s)", ylabel="to the left of the path (cm)", ylim=(-3, 3))
errors.legend()
figure.savefig(folder / "eight.png", dpi=120)

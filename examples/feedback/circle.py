"""A circle that a robot with one weak motor drifts from, held by controllers at every instant and by sampled ones.

One picture and one page of all three, and a page of the sampled loop whose gains are sliders.

python examples/feedback/circle.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import trundle
from trundle.show.page import page_of

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/feedback")
folder.mkdir(parents=True, exist_ok=True)
file = Path(__file__).parent / "circle.yaml"

held = trundle.run(file)
# The same robot without its controllers, at the voltages that would drive the circle if both motors were alike.
volts = {
    "left_motor.voltage": 3.0 / 0.15 * (1 - 0.6 / 6.6),
    "right_motor.voltage": 3.0 / 0.15 * (1 + 0.6 / 6.6),
}
drifting = trundle.simulate(trundle.load(file).without_controllers, "30 s", volts)

# The same controllers in a computer that reads and commands a hundred times a second, 4 ms late.
robot = trundle.load(file)
computer = {"period": "10 ms", "delay": "4 ms"}
controllers = {name: {**dict(own), **computer} for name, own in robot.controllers.items()}
sampling = trundle.derive(robot, controllers=controllers)
sampled = trundle.simulate(sampling, "30 s")

runs = {"voltages alone": drifting, "held": held, "sampled": sampled}
for name, run in runs.items():
    off = abs(np.hypot(run["x"], run["y"] - 6.6) - 6.6)
    radius, speed = run.final["v_x"] / run.final["omega"], run.final["v_x"]
    print(f"{name}: radius {radius:.6f} m at {speed:.6f} m/s, up to {off.max():.2g} m off the circle")

trundle.compare(*runs.values(), labels=list(runs)).save(folder)
(folder / "circle.html").write_text(page_of([held, sampled, drifting]), encoding="utf-8")
sampling.animate(folder / "sampled.html")

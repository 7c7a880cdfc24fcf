"""A circle that a robot with one weak motor drifts from, and the same circle held by controllers.

python examples/feedback/circle.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import trundle

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/feedback")
folder.mkdir(parents=True, exist_ok=True)
file = Path(__file__).parent / "circle.yaml"

held = trundle.run(file)
# The same robot without its controllers, at the voltages that would drive the circle if both motors were alike.
volts = {
    "left_motor.voltage": 3.0 / 0.15 * (1 - 0.6 / 6.6),
    "right_motor.voltage": 3.0 / 0.15 * (1 + 0.6 / 6.6),
}
drifting = trundle.simulate(trundle.load(file).plant, "30 s", volts)

for name, run in {"voltages alone": drifting, "held": held}.items():
    distance = np.hypot(run["x"], run["y"] - 6.6) - 6.6
    print(f"{name}: {abs(distance[-1]):.2g} m off the circle after 30 s, at {run.final['v_x']:.6f} m/s")

comparison = trundle.compare(drifting, held, labels=["voltages alone", "held"])
comparison.save(folder)
trundle.animate(held, folder / "circle.html")

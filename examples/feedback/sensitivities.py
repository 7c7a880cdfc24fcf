"""Which parameter moves the end of a circle most: without controllers, and held by them.

python examples/feedback/sensitivities.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import trundle

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/feedback")
folder.mkdir(parents=True, exist_ok=True)
robot = trundle.load(Path(__file__).parent / "circle.yaml")
held, alone = trundle.derive(robot), trundle.derive(robot.without_controllers)
volts = {"left_motor.voltage": 20.0 * (1 - 0.6 / 6.6), "right_motor.voltage": 20.0 * (1 + 0.6 / 6.6)}

# all that both robots have in common and that isn't 0
names = [name for name in alone.parameters if name in held.parameters and alone.parameters[name]]


def moved(model: trundle.Model, inputs: dict[str, float]) -> np.ndarray:
    """How far the end moves (m) by one per cent of every parameter."""
    batch = trundle.rollout(model, inputs=inputs, steps=10_000, dt="1 ms", every=10_000, gradients=names)
    ends = [np.hypot(batch.gradient("x", name)[-1, 0], batch.gradient("y", name)[-1, 0]) for name in names]
    return 0.01 * np.array([model.parameters[name] for name in names]) * ends


ends = {"voltages alone": moved(alone, volts), "held": moved(held, {})}
order = np.argsort(ends["voltages alone"])[-10:]
for place in order[::-1]:
    print(f"{names[place]}: " + ", ".join(f"{label} {end[place]:.2g} m" for label, end in ends.items()))

fig, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
rows = np.arange(order.size)
axes.hlines(rows, 1e3 * ends["held"][order], 1e3 * ends["voltages alone"][order], colors="0.8", zorder=0)
for label, end in ends.items():
    axes.scatter(1e3 * end[order], rows, label=label)
axes.set_yticks(rows, [names[place] for place in order])
axes.set_xscale("log")
axes.set_xlabel("how far the end of 10 s moves by one per cent (mm)")
axes.legend(loc="lower right")
fig.savefig(folder / "sensitivities.png", dpi=150)

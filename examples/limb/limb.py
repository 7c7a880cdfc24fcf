"""An n-segment limb: the wrenches in its joints in symbols and in numbers, seen by any observer, and drawn.

Segments hang on each other by hinges about z, each along its own +y with its mass as a point at its middle; joint k
turns steadily, 2^k radians a second. No gravity: whatever the joints give, the motion alone needs.

    python examples/limb/limb.py           # writes runs/limb/
"""

from pathlib import Path

import numpy as np
import sympy

import trundle

n = 3  # segments, two at least
masses = ([0.7, 0.5, 0.3] + n * [0.2])[:n]  # kg
lengths = ([0.8, 0.6, 0.4] + n * [0.3])[:n]  # m
rates = [2**k for k in range(n)]  # rad/s
folder = Path("runs/limb")
folder.mkdir(parents=True, exist_ok=True)

# The limb: joint P_k carries segment S_k.
joints = {
    f"P_{k}": {
        "axis": [0, 0, 1],
        "parent": f"P_{k - 1}" if k else "base",
        "at": [0, f"l_{k - 1}" if k else 0, 0],
        "body": {"name": f"S_{k}", "mass": f"m_{k}", "center_of_mass": [0, f"l_{k}/2", 0]},
    }
    for k in range(n)
}
measures = {f"m_{k}": masses[k] for k in range(n)} | {f"l_{k}": lengths[k] for k in range(n)}
robot = {"name": "limb", "base": "fixed", "gravity": 0, "joints": joints, "parameters": measures}
limb = trundle.load({"robot": robot})

# In symbols: one recursion from the tip up, each component written out only when it is asked for.
t = sympy.Symbol("t")
angles = {f"P_{k}.angle": rate * t for k, rate in enumerate(rates)}
exact = trundle.symbolic_loads(limb, motion=angles)
tip = f"P_{n - 1}"
print(f"{tip}, moment about z:", exact.expanded(f"{tip}.moment_z"))
numbers = {sympy.Symbol(name): sympy.Rational(str(value)) for name, value in measures.items()}
for name in ("force_x", "force_y", "moment_z"):
    print(f"P_0.{name} =", sympy.expand(exact.expanded(f"P_0.{name}").xreplace(numbers)))

# In numbers: the same over one turn, as from a recording; derivatives come by a quintic spline.
time = np.linspace(0, 2 * np.pi, 401)
loads = trundle.joint_loads(limb, {"time": time, **{name: rates[k] * time for k, name in enumerate(angles)}})
print(f"at t = {time[19]:.3f} s:", loads.wrench("P_0").moment[19], "N m about P_0 on S_0, by the world")

# What an observer on the segment before sees of the last one: its frame and origin decide how it splits, not the sum.
body, watching = f"S_{n - 1}", loads.frames[f"S_{n - 2}"]
origin = watching.point(tip, (0, lengths[n - 2], 0))
split = loads.breakdown(body, observer=watching, origin=origin).at(loads.frames[body].origin)
print(split)
print("left over:", np.abs(split.residual.force).max(), "N")

run = loads.to_run()
for name, figure in trundle.load_figures(run).items():
    figure.savefig(folder / f"{name}.png")
trundle.breakdown_figure(split, time).savefig(folder / "breakdown.png")
trundle.animate(run, folder / "limb.gif", fps=15)
print("wrote", folder)

"""A thesis on a robot of one's own: describe it, print its equations, simulate, compare with a formula, draw.

A cart on two driven wheels carries its load ahead of the axle, on it, or behind: what does that do to a turn?

    python examples/python/thesis.py [FOLDER]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import trundle

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/thesis")
folder.mkdir(parents=True, exist_ok=True)

wheel = {"radius": "r", "mass": "0.8 kg", "width": "4 cm"}
motor = {"type": "dc", "torque_constant": "k", "resistance": 0.4, "inductance": "0.2 mH", "gear_ratio": "n"}
cart = trundle.load(
    {
        "robot": {
            "name": "cart",
            "parameters": {"r": "9 cm", "track": "42 cm", "d": "20 cm", "k": 0.05, "n": 10},
            "body": {"mass": "25 kg", "center_of_mass": ["-d", 0, "20 cm"], "inertia": {"zz": 1.2}},
            "wheels": {
                "left": {**wheel, "at": [0, "track/2", 0]},
                "right": {**wheel, "at": [0, "-track/2", 0]},
            },
            "motors": {f"{side}_motor": {**motor, "drives": side} for side in ("left", "right")},
        }
    }
)
model = trundle.derive(cart)

# Equations for the text, in the description's own letters; each has met the compiled programs at random points.
equations = model.equations()
(folder / "equations.tex").write_text(equations.latex(), encoding="utf-8")
print("omega' =", equations.accelerations["omega"])

# Three places of the load, d ahead of the axle.
volts = {"left_motor.voltage": 9.0, "right_motor.voltage": 12.0}
runs = {d: trundle.simulate(model, "20 s", volts, parameters={"d": d}) for d in ("20 cm", "0 cm", "-2 cm")}
for d, run in runs.items():
    run.save(folder / f"load {d}.nc")
    turn = model.trim(volts, parameters={"d": d})  # the steady turn at these voltages
    slowest = turn.linearize().with_states(["v_x", "omega", *model.currents]).poles[0].real
    print(
        f"d = {d:>6}: omega ends at {run.final['omega']:.5f} rad/s, steady is {turn.state['omega']:.5f} rad/s,"
    )
    print(
        f"  slowest pole {slowest:.3f} 1/s, energy out of balance by {run.summary['energy_imbalance']:.0e} J"
    )

# By hand, where the load is on the axle: in the end each wheel turns at V/(k n), as nothing brakes.
p = model.parameters
by_hand = (
    p["r"] * (volts["right_motor.voltage"] - volts["left_motor.voltage"]) / (p["k"] * p["n"] * p["track"])
)
print(f"by hand, at d = 0: {by_hand:.5f} rad/s")

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for d, run in runs.items():
    axes.plot(run.time, run["omega"], label=f"d = {d}")
axes.set(xlabel="time (s)", ylabel="ω (rad/s)")
axes.legend()
figure.savefig(folder / "turn.pdf")
runs["20 cm"].plot.save(folder)
print("in", folder, "are", ", ".join(sorted(each.name for each in folder.iterdir())))

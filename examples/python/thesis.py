"""A thesis on a robot of one's own: describe it, print its equations, simulate, compare with a formula, hold a circle.

A cart on two driven wheels carries its load ahead of the axle, on it, or behind: what does that do to a turn? And one
motor is worse than the other: what holds the cart on its circle? (The last part needs python-control.)

    python examples/python/thesis.py [FOLDER]
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import control
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

# A circle of 2 m at 1 m/s. The left motor's winding is warm, as 20 % more resistance: the cart drifts off.
circle = model.trim(v_x=1.0, omega=0.5)
warm = {"motors.left_motor.resistance": 0.48}
start = {**circle.state, "y": 0.1}  # and it begins 0.1 m beside its circle
drifting = trundle.simulate(model, "25 s", circle.input, initial=start, parameters=warm)

# What holds it: u = u0 - K z, with z how far it is from where the circle would have taken it by now.
beside = circle.linearize().reduced(without=["left.angle", "right.angle"])
weights = np.diag([{"x": 40.0, "y": 40.0, "theta": 10.0}.get(name, 1e-3) for name in beside.states])
gain = np.asarray(control.lqr(beside.to_control(), weights, np.eye(2))[0])
poles = np.linalg.eigvals(beside.A - beside.B @ gain)
print(f"slowest pole of the loop: {poles.real.max():.3f} 1/s")


def regulator(t: float, state: Mapping[str, float]) -> np.ndarray:
    """The voltages of both motors, in the model's order."""
    return circle.u - gain @ beside.deviation(state, t)


held = trundle.simulate(model, "25 s", regulator, initial=start, parameters=warm)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for name, run in {"voltages alone": drifting, "held": held}.items():
    axes[0].plot(run["x"], run["y"], label=name)
    off = [
        beside.deviation({state: run[state][k] for state in model.states}, t) for k, t in enumerate(run.time)
    ]
    x, y = (np.array(off)[:, beside.states.index(name)] for name in ("x", "y"))
    distance = np.hypot(x, y)
    axes[1].semilogy(run.time, distance, label=name)
    print(f"{name}: {distance[-1]:.3f} m beside the circle's own motion after 25 s")
axes[0].set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
axes[1].set(xlabel="time (s)", ylabel="distance (m)")
axes[0].legend()
figure.savefig(folder / "circle.png", dpi=120)
print("in", folder, "are", ", ".join(sorted(each.name for each in folder.iterdir())))

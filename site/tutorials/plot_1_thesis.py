"""
A thesis: a differential drive on a circle
==========================================

You have a robot with two driven wheels. You want its equations, a simulation, and a controller that holds a circle.

What you need: Python, ``pip install`` of Trundle, and ten minutes. At the end of this page is all of the code as a
Jupyter notebook (``pip install notebook``), which shows figures and equations. In a script save them, as
``run.plot.path().savefig("path.png")`` does.
"""

# %%
# Describe the robot
# ------------------
#
# A description has bodies, wheels and motors. Numbers are in SI units; text such as ``"42 cm"`` is
# converted. Names such as ``d`` are parameters, which you can change later.
#
# The robot's own axes: x points forward, y to the left, z up, from midway between the wheels. ``zz`` is the moment of
# inertia about the vertical through the centre of mass. The robot moves in the plane, so it needs no caster.

from collections.abc import Mapping

import numpy as np

import trundle

np.set_printoptions(precision=3, suppress=True, linewidth=88)

wheel = {"radius": "r", "mass": "0.8 kg", "width": "4 cm"}
motor = {
    "type": "dc",
    "torque_constant": "k",
    "resistance": 0.4,
    "inductance": "0.2 mH",
    "gear_ratio": "n",
}
cart = trundle.load(
    {
        "robot": {
            "name": "cart",
            "parameters": {"r": "9 cm", "track": "42 cm", "d": "5 cm", "k": 0.05, "n": 10},
            "body": {
                "mass": "25 kg",
                "center_of_mass": ["-d", 0, "20 cm"],
                "inertia": {"zz": 1.2},
            },
            "wheels": {
                "left": {**wheel, "at": [0, "track/2", 0]},
                "right": {**wheel, "at": [0, "-track/2", 0]},
            },
            "motors": {
                "left_motor": {**motor, "drives": "left"},
                "right_motor": {**motor, "drives": "right"},
            },
        }
    }
)

# %%
# The same text can stand in a YAML file: ``trundle.load("cart.yaml")``. The page
# :doc:`/reference/files/description` has every key.
#
# Derive the equations
# --------------------

model = trundle.derive(cart)
print("coordinates:", model.coordinates)
print("independent speeds:", model.speeds)
print("inputs:", model.inputs)

# %%
# The wheels roll without slip, so the cart can't move sideways. Two independent speeds are left: ``v_x``,
# forward, and ``omega``, the turning rate.
#
# Now the equations as you would print them. A simulation runs a compiled program of its own. Each line was first
# compared with that program at random points. A line that differs is never shown. For your thesis
# ``equations.latex()`` gives the same as text, ``equations.tex()`` as a whole document.

equations = model.equations()
equations

# %%
# Simulate
# --------
#
# The right motor gets more voltage than the left one, so the cart turns left.

volts = {"left_motor.voltage": 9.0, "right_motor.voltage": 12.0}
run = trundle.simulate(model, "12 s", volts)
run.plot.path()

# %%
# A run says how far you can trust it: how fast a wheel slipped at most, and what the energy's balance lacks.

print(f"slip of the wheels: at most {run.summary['constraint_residual']:.1e} m/s")
lost, turned_over = run.summary["energy_imbalance"], run.summary["energy_turned_over"]
print(f"energy: {lost:.1e} J out of balance, of {turned_over:.0f} J")
run.plot.states("v_x", "omega")

# %%
# Check the end by hand. Put the centre of mass onto the axle: d = 0. Nothing brakes then, so each motor runs up until
# its back-EMF is its voltage. The wheel ends at V/(k n), and the cart turns at r/track times the wheels' difference:

p = model.parameters
on_axle = trundle.simulate(model, "12 s", volts, parameters={"d": 0.0})
by_hand = p["r"] * (12.0 - 9.0) / (p["k"] * p["n"] * p["track"])
print(f"d = 0: simulated {on_axle.final['omega']:.5f} rad/s, by hand {by_hand:.5f} rad/s")
print(f"d = 5 cm: simulated {run.final['omega']:.5f} rad/s")

# %%
# With d = 5 cm the mass behind the axle would go straight on. It swings the tail outward, so the cart turns faster.
# In the equation of ω̇ that is the term with d m_b v_x ω.
#
# Linearise about a circle
# ------------------------
#
# ``trim`` finds the voltages of a steady motion: 1 m/s on a circle of radius 2 m.

steady = model.trim(v_x=1.0, omega=0.5)
print("voltages:", {name: round(value, 4) for name, value in steady.input.items()})

# %%
# ``linearize`` gives A, B and the poles. The angles of the wheels influence nothing, so they are left out.
# The deviation from the circle is measured in the circle's own moving frame, so A and B are constant.

beside = steady.linearize().reduced(without=["left.angle", "right.angle"])
print(beside.states)
print("A =", beside.A, "B =", beside.B, sep="\n")
print("poles:", beside.poles, sep="\n")

# %%
# Three poles have no negative real part: nothing leads the cart back to its circle.
#
# Hold the circle
# ---------------
#
# A linear-quadratic regulator needs one tolerance for every state and input that you care about: here 5 cm,
# 6 degrees and 2 V. It makes ∫ Σ (deviation/tolerance)² dt the least.

tolerances = {
    "x": "5 cm",
    "y": "5 cm",
    "theta": "6 deg",
    "left_motor.voltage": "2 V",
    "right_motor.voltage": "2 V",
}
regulator = model.lqr(steady, tolerances)
print("poles of the closed loop:", regulator.poles, sep="\n")

# %%
# ``steady.u`` and ``regulator.K`` are arrays: u = u_steady − K · deviation. ``regulator.about.deviation``
# says how far a state is off, in the circle's moving frame.
#
# Try it on a worse cart. Its left motor is warm and has 20 % more resistance. It starts 10 cm beside its
# circle. An input of a simulation may be a function of time and state:


def held_volts(t: float, state: Mapping[str, float]) -> np.ndarray:
    """The voltages of both motors, in the model's order."""
    return steady.u - regulator.K @ regulator.about.deviation(state, t)


warm = {"motors.left_motor.resistance": 0.48}
start = {**steady.state, "y": 0.1}
drifting = trundle.simulate(model, "25 s", steady.input, initial=start, parameters=warm)
held = trundle.simulate(model, "25 s", held_volts, initial=start, parameters=warm)


def beside_the_circle(run: trundle.Run) -> float:
    """How far from the circle a run ends, in mm."""
    return 1000 * abs(np.hypot(run["x"][-1], run["y"][-1] - 2.0) - 2.0)


print(f"voltages alone end {beside_the_circle(drifting):.0f} mm beside the circle")
print(f"the regulator ends {beside_the_circle(held):.2f} mm beside it")
trundle.compare(drifting, held, labels=["voltages alone", "regulator"]).path()

# %%
# A controller as a part of the robot
# -----------------------------------
#
# A function in Python stays in Python. A *controller* is data like the robot, so it goes along to pages, to C code and
# to FMUs. An FMU is a model that Simulink and others load.
#
# A controller of type ``circle`` turns the distance from a circle, and the course, into a turning rate. Two PID
# controllers hold the speed and this rate. ``feedforward`` is the voltage that a speed, or a rate, of 1 needs.

controllers = {
    "path": {
        "type": "circle",
        "circle": {"center": [0, 2], "radius": 2},
        "speed": "1 m/s",
        "speed_to": "forward.reference",
        "turn_to": "turning.reference",
    },
    "forward": {
        "reads": "v_x",
        "drives": {"left_motor.voltage": 1, "right_motor.voltage": 1},
        "feedforward": "k*n/r",
        "proportional": 10,
        "integral": 20,
    },
    "turning": {
        "reads": "omega",
        "drives": {"left_motor.voltage": -1, "right_motor.voltage": 1},
        "feedforward": "k*n*track/2/r",
        "proportional": 4,
        "integral": 20,
    },
}
closed = trundle.derive(cart, controllers=controllers)
run = trundle.simulate(closed, "25 s", initial={"y": 0.1}, parameters=warm)
print(f"the same warm cart, from rest, ends {beside_the_circle(run):.0e} mm beside the circle")

# %%
# The PID controllers integrate what is left, so the warm motor costs nothing in the end.
#
# Here is the closed loop, live. Move a slider: your browser simulates the new robot. Yours is the file
# ``circle.html``; ``closed.animate()`` shows it in a notebook.

closed.animate("circle.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/descriptions` says how your own robot is written, with the constants of your motor.
# - :doc:`/docs/feedback` leads to all controllers, and to regulators along a run.
# - :doc:`/docs/conventions` says what every sign and name means.
# - :doc:`/docs/export` takes the model to C, to FMUs and to other simulators.

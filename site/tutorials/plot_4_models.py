"""
A robot from URDF or SymPy at kernel speed
==========================================

You have a URDF file, or equations of motion by SymPy. You want fast functions: rates, batches, gradients, JAX.
A kernel is such a function, compiled for your processor.

What you need: :doc:`Trundle </index>`, ten minutes, and for one part ``pip install jax``.
"""

# %%
# An arm from URDF
# ----------------
#
# Save :download:`arm.urdf </tutorials/arm.urdf>` beside your script, or take a file of yours. This one names no
# motors, so each joint gets a torque: the robot is made again with its own keys, and ``motors`` beside them.

from time import process_time

import numpy as np
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, Point, ReferenceFrame, dynamicsymbols

import trundle

bare = trundle.load("arm.urdf")
motors = {f"{joint}_motor": {"type": "torque", "drives": joint} for joint in ("turret", "shoulder", "elbow")}
robot = trundle.Robot(**{**dict(bare), "motors": motors})
arm = trundle.derive(robot)
print(arm.coordinates, arm.speeds, arm.inputs)

# %%
# The terms of M(q) q̈ + h(q, q̇) = τ, by names. What isn't named is 0. ``trim`` finds the inputs that hold a pose:

pose = {"shoulder.angle": 0.6, "elbow.angle": 0.8}
print("M =", arm.mass_matrix(pose).round(4), sep="\n")
print("h =", arm.bias(pose, {"turret.rate": 1.0}).round(4))
print("torques that hold it:", arm.trim(pose).u.round(4))

# %%
# Rates
# -----
#
# The equations are a straight-line program, compiled for your processor. One call takes states x, inputs u
# and parameters p, and gives ẋ. With arrays (n, count) it takes many robots at once. Your times will differ.

count = 100_000
random = np.random.default_rng(1)
x = random.normal(size=(len(arm.states), count))
u = random.normal(size=(len(arm.inputs), count))
p = [*arm.parameters.values()]
rates = arm.dynamics(x, u, p)
begun = process_time()
for _ in range(10):
    arm.dynamics(x, u, p)
print(f"{(process_time() - begun) / 10 / count * 1e9:.0f} ns of computing for the rates of one arm")

# %%
# A model by SymPy
# ----------------
#
# A rod on a cart that a force pushes, by Lagrange. ``from_sympy`` takes what SymPy has formed. It needs no
# simplification. The rod stands on the cart, and falls: one eigenvalue is positive.

position, angle, force = dynamicsymbols("x angle force")
cart, rod, length, g = sp.symbols("cart rod length g")
speed, turning = position.diff(), angle.diff()
across, up = speed + length * turning * sp.cos(angle), length * turning * sp.sin(angle)
energy = (cart * speed**2 + rod * (across**2 + up**2)) / 2 - rod * g * length * sp.cos(angle)
ground, hub = ReferenceFrame("N"), Point("hub")
hub.set_vel(ground, speed * ground.x)
method = LagrangesMethod(energy, [position, angle], forcelist=[(hub, force * ground.x)], frame=ground)
method.form_lagranges_equations()
model = trundle.from_sympy(method, inputs=[force], parameters={cart: 1, rod: 0.2, length: 0.5, g: 9.81})
print("eigenvalues of the rod that stands:", model.trim(x=0.0).linearize().poles.round(4))

# %%
# Batches
# -------
#
# Ten thousand rods of different length fall for two seconds, by the classical Runge-Kutta method.

lengths = np.linspace(0.2, 1.0, 10_000)
begun = process_time()
batch = trundle.rollout(
    model,
    initial={"angle": 0.05},
    parameters={"length": lengths},
    steps=1000,
    dt="2 ms",
    every=100,
    threads=1,
)
print(f"{process_time() - begun:.2f} s of computing for {1000 * len(lengths):,} steps")
print("the carts end at", batch.final("x")[[0, 5000, -1]].round(3), "m")

# %%
# Gradients
# ---------
#
# ``gradients`` names what to derive by. Derivatives are carried along with the motion: exact ones of the steps.
# Compare them with differences:

names = ["length", "initial.angle"]
one = trundle.rollout(model, initial={"angle": 0.05}, steps=500, dt="2 ms", gradients=names)
exact = one.gradient("x", "length")[-1, 0]
shorter, longer = (
    trundle.rollout(
        model, initial={"angle": 0.05}, parameters={"length": 0.5 + d}, steps=500, dt="2 ms"
    ).final("x")[0]
    for d in (-1e-5, 1e-5)
)
print(f"dx/dlength: {exact:.8f} by derivatives, {(longer - shorter) / 2e-5:.8f} by differences")

# %%
# JAX
# ---
#
# The same model as a function of JAX. ``jit``, ``vmap`` and ``grad`` take it.

import jax

jax.config.update("jax_enable_x64", True)
f = model.jax()
p = np.array([*model.parameters.values()])
state = np.array([0.0, 0.1, 0.0, 0.0])
slope = jax.jit(jax.jacfwd(lambda x: f(x, np.zeros(1), p)))(state)
print("df/dx =", np.asarray(slope).round(4), sep="\n")
print(
    "the linearisation's A =",
    model.linearize(dict(zip(model.states, state, strict=True))).A.round(4),
    sep="\n",
)

# %%
# ``model.casadi()`` gives a CasADi function for opty, acados and IPOPT, and ``model.ode()`` one for SciPy's
# ``solve_ivp``.
#
# The arm, live
# -------------
#
# It falls from a pose, and its turret turns. Move a slider: the page simulates anew.

start = {"shoulder.angle": 0.4, "turret.rate": 1.5}
trundle.animate({"trundle": 1, "robot": robot, "run": {"duration": 5, "initial": start}}, "arm.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/urdf` leads to what is read of URDF, and to how wheels come on its joints.
# - :doc:`/docs/sensitivities` has more on gradients.
# - :doc:`/docs/export` lists twelve languages and formats.

"""Accelerations against SymPy's own formalisms: Kane's method in body-fixed frames, Lagrange's equations in the
world's.
"""

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

from trundle import catalog
from trundle.model import derive
from trundle.robot import parse_robot

from . import random_robots
from .lagrange import Wheeled
from .test_against_multipliers import named_motion


def bare(description, drives):
    """The same robot with ideal torques and without friction: what is compared is its mechanics."""
    for wheel in description["wheels"].values():
        wheel |= {"damping": 0.0, "coulomb": 0.0}
        if "steering_damping" in wheel:
            wheel["steering_damping"] = 0.0
    motors = {f"m_{k}": {"type": "torque", "drives": target} for k, target in enumerate(drives)}
    return {**description, "motors": motors}


ROBOTS = {
    "differential": (random_robots.differential, ["left", "right"]),
    "with_casters": (random_robots.with_casters, ["left", "right", "rear.steering"]),
    "tricycle": (random_robots.tricycle, ["front", "front.steering"]),
    "two_steered": (random_robots.two_steered, ["front", "rear", "front.steering", "rear.steering"]),
    "omni": (random_robots.omni, ["omni_0", "omni_1", "omni_2"]),
    "mecanum": (random_robots.mecanum, ["front_left", "rear_right", "front_right"]),
}


SLOW = {"with_casters", "tricycle", "two_steered", "omni", "mecanum"}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in ROBOTS]
)
def test_lagranges_equations(kind, rng):
    make, drives = ROBOTS[kind]
    description = bare(make(rng), drives)
    model, oracle = derive(parse_robot(description)), Wheeled(description)
    for _ in range(4):
        x, u = rng.uniform(-0.9, 0.9, len(model.states)), rng.uniform(-5, 5, len(model.inputs))
        values, rates = named_motion(model, x, u)
        q = [values[name] for name in oracle.names]
        c, s = np.cos(values["theta"]), np.sin(values["theta"])
        v = [c * values["v_x"] - s * values["v_y"], s * values["v_x"] + c * values["v_y"], values["omega"]]
        v += [values[speed(name)] for name in oracle.names[3:]]
        torques = np.zeros(oracle.count)
        for motor, target in zip(u, drives, strict=True):
            torques[oracle.names.index(target if "." in target else f"{target}.angle")] += motor
        a = oracle.accelerations(q, v, torques)
        turned = [
            c * a[0] + s * a[1] + values["omega"] * values["v_y"],
            -s * a[0] + c * a[1] - values["omega"] * values["v_x"],
        ]
        expected = np.array([*turned, *a[2:]])
        got = np.array([rates[name] for name in ("v_x", "v_y", "omega", *map(speed, oracle.names[3:]))])
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max()))


def speed(coordinate):
    owner, _, what = coordinate.rpartition(".")
    return f"{owner}.{'steering_rate' if what == 'steering' else 'rate'}"


@pytest.mark.parametrize("kind", ["differential", "tricycle"])
@pytest.mark.slow
def test_kanes_method(kind, rng):
    """Two independent speeds, all velocities written out in them by hand in body-fixed frames: Kane and
    Levinson's way.
    """
    make, drives = ROBOTS[kind]
    description = bare(make(rng), drives)
    model = derive(parse_robot(description))
    mass, forcing, names = kane(description, drives)
    for _ in range(4):
        x, u = rng.uniform(-0.9, 0.9, len(model.states)), rng.uniform(-5, 5, len(model.inputs))
        values, rates = named_motion(model, x, u)
        arguments = [values.get("front.steering", 0.0), *(values[name] for name in names), *u]
        expected = np.linalg.solve(
            np.array(mass(*arguments), float), np.array(forcing(*arguments), float).ravel()
        )
        got = [rates[name] for name in names]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max()))


def kane(description, drives):
    """Kane's mass matrix and forcing as functions of (steering angle, two speeds, torques), and the speeds' names."""
    t = dynamicsymbols._t
    wheels, steers = description["wheels"], "front" in description["wheels"]
    forward, second, theta, delta = dynamicsymbols("v u theta delta")
    ground, base, fork, middle = ReferenceFrame("N"), ReferenceFrame("B"), ReferenceFrame("F"), Point("M")
    if steers:  # the front wheel's axle passes the centre of turning, which lies on the fixed axle
        a, b = wheels["front"]["at"][:2]
        omega = forward * sympy.sin(delta) / (a * sympy.cos(delta) + b * sympy.sin(delta))
        kinematic = [delta.diff(t) - second, theta.diff(t) - omega]
    else:
        omega, kinematic = second, [delta.diff(t), theta.diff(t) - second]
    base.orient_axis(ground, ground.z, theta)
    base.set_ang_vel(ground, omega * ground.z)
    fork.orient_axis(base, base.z, delta)
    fork.set_ang_vel(base, (second if steers else 0) * base.z)
    middle.set_vel(ground, forward * base.x)
    bodies = [rigid("body", description["body"], middle, base, ground)]
    torques = sympy.symbols(f"tau:{len(drives)}")
    inputs, loads = dict(zip(drives, torques, strict=True)), []
    for name, wheel in wheels.items():
        place = middle.locatenew(name, wheel["at"][0] * base.x + wheel["at"][1] * base.y)
        place.v2pt_theory(middle, ground, base)
        frame = fork if wheel.get("type") == "steered" else base
        if frame is fork:
            bodies.append(rigid(f"fork_{name}", wheel["fork"], place, fork, ground))
            loads += [(fork, inputs["front.steering"] * base.z), (base, -inputs["front.steering"] * base.z)]
        rim, m, r = ReferenceFrame(f"W_{name}"), wheel["mass"], wheel["radius"]
        rim.orient_axis(frame, frame.y, 0)  # an axisymmetric wheel's inertia looks the same from its fork
        rim.set_ang_vel(frame, place.vel(ground).dot(frame.x) / r * frame.y)
        diameter, axle = m * (3 * r**2 + wheel["width"] ** 2) / 12, m * r**2 / 2
        bodies.append(
            RigidBody(f"wheel_{name}", place, rim, m, (inertia(frame, diameter, axle, diameter), place))
        )
        if name in inputs:
            loads += [(rim, inputs[name] * frame.y), (frame, -inputs[name] * frame.y)]
    method = KanesMethod(ground, [delta, theta], [forward, second], kinematic)
    method.kanes_equations(bodies, loads)
    plain = sympy.symbols("d p q")
    replace = dict(zip((delta, forward, second), plain, strict=True))
    rates = method.kindiffdict()
    arguments = [*plain, *torques]
    functions = [
        sympy.lambdify(arguments, m.xreplace(rates).xreplace(replace), "numpy", cse=True)
        for m in (method.mass_matrix, method.forcing)
    ]
    return (*functions, ["v_x", "front.steering_rate" if steers else "omega"])


def rigid(name, body, place, frame, ground):
    """A body with its mass centre at its own offset from `place`."""
    x, y, _ = body["center_of_mass"]
    center = place.locatenew(f"{name}_center", x * frame.x + y * frame.y)
    center.v2pt_theory(place, ground, frame)
    return RigidBody(name, center, frame, body["mass"], (inertia(frame, 0, 0, body["inertia"]["zz"]), center))


@pytest.mark.parametrize("links", [2, 3])
@pytest.mark.slow
def test_pendulum(links, rng):
    """A chain of rods by LagrangesMethod in absolute angles' sums; gravity and damping included."""
    length, mass, damping = (float(v) for v in rng.uniform(0.3, 1.5, 3))
    model = derive(catalog.pendulum(links=links, length=length, mass=mass, damping=damping))
    t = dynamicsymbols._t
    q = dynamicsymbols(f"q:{links}")
    kinetic, potential, hinge, angle = 0, 0, sympy.Matrix([0, 0]), 0
    for each in q:
        angle = angle + each
        rod = (
            sympy.Matrix([-sympy.sin(angle), -sympy.cos(angle)]) * length
        )  # a positive turn about y swings −z to −x
        velocity = (hinge + rod / 2).diff(t)
        kinetic += mass * velocity.dot(velocity) / 2 + mass * length**2 / 12 * angle.diff(t) ** 2 / 2
        potential += mass * 9.81 * (hinge + rod / 2)[1]
        hinge = hinge + rod
    method = LagrangesMethod(kinetic - potential, q)
    method.form_lagranges_equations()
    plain = sympy.symbols(f"a:{links}"), sympy.symbols(f"b:{links}")
    replace = [*((c.diff(t), p) for c, p in zip(q, plain[1], strict=True)), *zip(q, plain[0], strict=True)]
    evaluate = sympy.lambdify(
        plain, [method.mass_matrix.subs(replace), method.forcing.subs(replace)], "numpy", cse=True
    )
    for _ in range(5):
        x = rng.uniform(-2, 2, 2 * links)
        matrix, forcing = evaluate(x[:links], x[links:])
        expected = np.linalg.solve(matrix, np.ravel(forcing) - damping * x[links:])
        (rate,) = model.dynamics.evaluate(x, np.zeros(0), np.array(list(model.parameters.values())))
        np.testing.assert_allclose(
            rate[links:], expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max())
        )

"""Printed equations against compiled programs: every robot of the catalogue, random robots, every joint.

Here the printed expressions are evaluated by SymPy's own means and compared with kernels, independently of the check
that each equation passes before it is printed.
"""

import numpy as np
import pytest
import sympy

import trundle
from model import random_robots
from model.test_joints import JOINTS
from model.test_joints import pendulum as joint_pendulum
from parameters import SHORT, mostly_slow
from trundle import catalog
from trundle.formulas.symbols.names import rate_of
from trundle.program import compile_program
from trundle.robot import parse_robot

POINTS = 100
CATALOGUE = {name: lambda name=name: catalog.robot(name) for name in SHORT} | {
    "offset mass": lambda: catalog.differential_drive(offset=0.2),
    "two modules": lambda: catalog.swerve(modules=2),
    "three links": lambda: catalog.pendulum(links=3, damping=0.1),
}


def in_order(equations):
    """Symbols and expressions of everything that is defined by others: definitions, forces, motors' torques."""
    found = [(each.symbol, each.expression) for each in equations.definitions]
    for section in equations.sections:
        found += [
            (e.left, e.right) for e in section.equations if e.left.is_Symbol and not hasattr(e.right, "shape")
        ]
    return found


def values(equations, known):
    """Numbers of all symbols: the known ones, then whatever follows from them, by lambdify."""
    numbers = dict(known)
    waiting = [(s, e) for s, e in in_order(equations) if s.name not in numbers]
    while waiting:
        ready = [(s, e) for s, e in waiting if {x.name for x in e.free_symbols} <= set(numbers)]
        if not ready:
            break
        for symbol, expression in ready:
            numbers[symbol.name] = number(expression, numbers)
        waiting = [(s, e) for s, e in waiting if s.name not in numbers]
    return numbers


def number(expression, numbers):
    symbols = sorted(expression.free_symbols, key=str)
    function = sympy.lambdify(symbols, expression, "numpy")
    return np.broadcast_to(function(*(numbers[s.name] for s in symbols)), (POINTS,)).astype(float)


def drawn(equations, model, rng):
    """Random states, inputs and parameters: arrays for the kernel, and the same by symbol."""
    x = rng.uniform(-1.2, 1.2, (len(model.states), POINTS))
    for place, name in enumerate(model.states):
        if name.rpartition(".")[2] == "q_w":
            x[place : place + 4] /= np.linalg.norm(x[place : place + 4], axis=0)
    u = rng.uniform(-30, 30, (len(model.inputs), POINTS))
    by_source = {**dict(zip(model.states, x, strict=True)), **dict(zip(model.inputs, u, strict=True))}
    p = np.array([np.full(POINTS, value) for value in model.parameters.values()])
    place = {name: k for k, name in enumerate(model.parameters)}
    numbers = {}
    for info in equations.symbols:
        if info.kind == "parameter":
            own = (
                info.number * rng.uniform(0.9, 1.1, POINTS) if info.number else rng.uniform(-0.2, 0.2, POINTS)
            )
            numbers[info.symbol.name] = own
            for key in info.keys:
                p[place[key.lstrip("-")]] = -own if key.startswith("-") else own
        elif info.keys and info.keys[0] in by_source:
            numbers[info.symbol.name] = by_source[info.keys[0]]
    return x, u, p, numbers


def accelerations(equations, model, numbers):
    """u̇ from M u̇ = B τ + G f − h, solved by NumPy; explicit accelerations where there are any."""

    def matrix(side):
        return np.array([[number(side[i, j], numbers) for j in range(side.cols)] for i in range(side.rows)])

    force = -matrix(equations.bias)[:, 0]
    for name in ("input_matrix", "force_matrix"):
        if name in equations:
            columns = matrix(equations[name].right)
            vector = np.array([numbers[s] for s in pushes(equations, name == "input_matrix")])
            force = force + np.einsum("ijk,jk->ik", columns, vector)
    mass = np.moveaxis(matrix(equations.mass_matrix), 2, 0)
    rates = np.linalg.solve(mass, force.T[..., None])[..., 0].T
    for name, expression in equations.accelerations.items():
        explicit = number(expression, numbers)
        np.testing.assert_allclose(
            explicit, rates[model.speeds.index(name)], rtol=1e-9, atol=1e-9 * np.abs(rates).max()
        )
        rates[model.speeds.index(name)] = explicit
    return rates


def pushes(equations, motors):
    """Names of the forces that B or G multiply, in order."""
    by_title = {section.title: section.equations for section in equations.sections}
    if motors:
        return [e.left.name for e in by_title.get("Motors", ()) if e.name.endswith(".torque")]
    passive = [e.left.name for e in by_title.get("Springs and friction", ())]
    contacts = by_title.get("Slipping contacts", ())
    return passive + [e.left.name for e in contacts if not e.name.endswith("_slip")]


def compare(robot, rng):
    """Accelerations and currents' rates of the printed equations against the kernel, at 100 points."""
    model = trundle.derive(robot)
    equations = model.equations()
    x, u, p, numbers = drawn(equations, model, rng)
    (rates,) = compile_program(model.dynamics)(x, u, p)
    # loads that the accelerations shift are told by these
    by_key = {f"acceleration.{name}": rate for name, rate in zip(model.states, rates, strict=True)}
    numbers |= {info.symbol.name: by_key[info.keys[0]] for info in equations.symbols if info.kind == "rate"}
    numbers = values(equations, numbers)
    found = accelerations(equations, model, numbers)
    first = len(model.coordinates)
    expected = rates[first : first + len(model.speeds)]
    scale = np.abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-10)
    for name in model.currents:
        own = next(e for s in equations.sections for e in s.equations if e.name == f"{name}_rate")
        expected = rates[model.state_index[name]]
        np.testing.assert_allclose(
            number(own.right, numbers), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()
        )
    return equations


def states_moved(robot, rng):
    """The rates of all states, line by line as they are printed, against the kernel."""
    model = trundle.derive(robot)
    equations = model.equations("state")
    x, u, p, numbers = drawn(equations, model, rng)
    (rates,) = compile_program(model.dynamics)(x, u, p)
    (section,) = equations.sections
    assert not equations.definitions
    for line in section.equations:  # each uses only what stands above it
        numbers[line.left.name] = number(line.right, numbers)
    symbols = {key: info.symbol.name for info in equations.symbols for key in info.keys}
    for name, expected in zip(model.states, rates, strict=True):
        found = numbers[rate_of(symbols[name])]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    return equations


STATES = {
    "three links": lambda rng: catalog.pendulum(links=3, damping=0.1),
    "car": lambda rng: parse_robot(random_robots.car(rng)),
    "swerve": lambda rng: catalog.swerve(modules=2),
    **{
        name: lambda rng, name=name: catalog.robot(name)
        for name in ("differential_drive", "ackermann", "mecanum")
    },
    **{
        name: lambda rng, name=name: parse_robot(random_robots.ALL[name](rng))
        for name in ("trailer", "mixed")
    },
}


@pytest.mark.parametrize("name", mostly_slow(STATES, ["three links", "differential_drive", "mixed"]))
def test_state_equations(name, rng):
    states_moved(STATES[name](rng), rng)


TREES = [name for name in CATALOGUE if not getattr(CATALOGUE[name](), "loops", None)]


@pytest.mark.parametrize("name", mostly_slow(TREES, ["differential_drive", "mecanum", "three links"]))
def test_catalogue(name, rng):
    compare(CATALOGUE[name](), rng)


RANDOM = ("differential", "tricycle", "two_steered", "omni", "trailer", "platform", "mixed", "skid")


@pytest.mark.parametrize("name", mostly_slow(RANDOM, ["omni", "mixed"]))
def test_random_robots(name, rng):
    compare(parse_robot(random_robots.ALL[name](rng)), rng)


@pytest.mark.parametrize("kind", ["prismatic", "cylindrical", "planar"])
@pytest.mark.slow
def test_joints(kind, rng):
    compare(joint_pendulum(kind), rng)


CHECKED = ("with_casters", "ackermann", "one_steered", "mecanum", "slipping_swerve")


@pytest.mark.parametrize("name", mostly_slow(CHECKED, ["with_casters", "one_steered"]))
def test_random_robots_pass_their_own_check(name, rng):
    found = trundle.equations(parse_robot(random_robots.ALL[name](rng)), points=20)
    assert found.error <= 1e-10
    assert found.accelerations or "mass_matrix" in found


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(JOINTS))
def test_every_joint_passes_its_own_check(kind):
    assert trundle.equations(joint_pendulum(kind), points=3).error <= 1e-10


@pytest.mark.parametrize("name", mostly_slow(CATALOGUE, ["differential_drive", "mecanum", "four_bar"]))
def test_the_catalogue_passes_its_own_check_at_100_points(name):
    assert trundle.equations(CATALOGUE[name](), points=100).error <= 1e-10

"""A plugin for pytest: every method that SymPy's own tests form goes through from_sympy, and its rates are compared.

    python -m pytest -p sympy_models.sympys_tests --pyargs sympy.physics.mechanics.tests

writes a line of JSON a method to the file that the variable METHODS names: the test, and what our rates and
multipliers leave of SymPy's own full linear system, beside the terms of each equation, or what was said instead.
"""

import json
import os

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, dynamicsymbols, find_dynamicsymbols

import trundle
from sympy_models.test_from_sympy import sympy_system
from trundle.errors import InputError
from trundle.sympy_models.sympy_method import read_method

FORMED: list = []


def _recording(form):
    def wrapped(self, *args, **options):
        found = form(self, *args, **options)
        FORMED.append(self)
        return found

    return wrapped


def _no_more(*_args, **_options):
    pytest.skip("the method is formed; its linearisation takes up to minutes")


KanesMethod.kanes_equations = _recording(KanesMethod.kanes_equations)
LagrangesMethod.form_lagranges_equations = _recording(LagrangesMethod.form_lagranges_equations)
for kind in (KanesMethod, LagrangesMethod):
    kind.to_linearizer = kind.linearize = _no_more


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    FORMED.clear()
    try:
        return (yield)
    finally:
        with open(os.environ["METHODS"], "a", encoding="utf-8") as file:
            for method in {id(each): each for each in FORMED}.values():
                file.write(json.dumps({"test": item.nodeid.rpartition("/")[2], **verdict(method)}) + "\n")


def verdict(method):
    """How a method's rates and multipliers compare at random states and parameters."""
    rng = np.random.default_rng(0)
    states = [*method.q, *method.u]
    inputs, constants = _leaves(method, states)
    numbers = {each: float(rng.uniform(0.5, 1.5)) for each in constants}
    zeros = read_method(method).zeros
    system = sympy_system(method, [*states, *inputs, *numbers, *zeros])
    points = [(rng.uniform(0.2, 0.8, len(states)), rng.uniform(0.2, 0.8, len(inputs))) for _ in range(3)]
    systems = [system(*x, *u, *numbers.values(), *(0 for _ in zeros)) for x, u in points]
    found = {"condition": max(float(np.linalg.cond(matrix)) for matrix, _ in systems)}
    try:
        model = trundle.from_sympy(method, inputs=inputs, parameters=numbers)
    except InputError as error:
        return {**found, "said": str(error)}
    worst, p = 0.0, list(numbers.values())
    for (x, u), (matrix, force) in zip(points, systems, strict=True):
        full = np.concatenate([x, np.zeros(len(model.states) - len(x))])
        (rates,), (shown,) = (program.evaluate(full, u, p) for program in (model.dynamics, model.observe))
        got = [
            *rates[: len(x)],
            *(shown[k] for k, name in enumerate(model.outputs) if name.startswith("lam")),
        ]
        # beside the terms of each equation: the matrix may be as good as singular, and what it leaves open is no fault
        rest = np.abs(matrix @ np.array(got) - force.ravel())
        terms = np.abs(matrix) @ np.abs(np.array(got)) + np.abs(force.ravel())
        worst = max(worst, float((rest / np.maximum(terms, 1e-12 * terms.max())).max()))
    forms = _forms_apart(method, model, (states, inputs, zeros), points, numbers)
    return {**found, "difference": worst, "forms": forms}


def _forms_apart(method, model, symbols, points, numbers):
    """Largest difference of M x + h from what SymPy's blocks make of accelerations x of the independent speeds."""
    if "mass_matrix" not in model.formed:
        return 0.0
    (states, inputs, zeros), equations = symbols, read_method(method)
    blocks = (equations.mass, equations.forcing, equations.rows, equations.right)
    evaluate = sp.lambdify(
        [*states, *inputs, *numbers, *zeros], [sp.Matrix(block) for block in blocks], cse=True
    )
    worst, n, rng = 0.0, len(method.q), np.random.default_rng(1)
    for x, _ in points:
        given = (*x, *(0 for _ in inputs), *numbers.values(), *(0 for _ in zeros))
        mass, force, rows, right = (np.array(block, dtype=float) for block in evaluate(*given))
        count = len(force)
        moved = rng.normal(size=count)
        if mass.shape[1] > count:  # Kane's dependent speeds follow
            rest = np.linalg.solve(rows[:, count:], right.ravel() - rows[:, :count] @ moved)
            sympys = mass @ np.concatenate([moved, rest]) - force.ravel()
        else:
            sympys = mass @ moved - force.ravel()
        ours = model.mass_matrix(x[:n].copy(), x[n:].copy()) @ moved + model.bias(x[:n].copy(), x[n:].copy())
        terms = np.abs(mass).max() * np.abs(moved).max() + np.abs(force).max(initial=1e-300)
        worst = max(worst, float(np.abs(ours - sympys).max() / terms))
    return worst


def _leaves(method, states):
    """What SymPy's matrices hold besides the states: functions of time, and constants."""
    equations = read_method(method)
    entries = [
        sp.Matrix(block) for block in (*(equations.kinematic or ()), equations.mass, equations.forcing)
    ]
    others = (equations.rows, equations.right, equations.holonomic, equations.velocity)
    entries += [sp.Matrix(block) for block in others if block]
    known = {*states, *equations.zeros, *(each.diff() for each in method.q)}
    moving = set().union(*(find_dynamicsymbols(each) for each in entries)) - known
    constants = set().union(*(each.free_symbols for each in entries)) - {dynamicsymbols._t}
    return sorted(moving, key=str), sorted(constants, key=str)

"""atan, asin, exp, log and tanh in every kind of scalar, with their derivatives, against NumPy."""

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
import sympy

import trundle
from formulas.test_against_programs import compare
from trundle import scalars
from trundle.formulas.algebra.polynomials import Symbol, SymbolTable
from trundle.formulas.algebra.rates import rate
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.program import Tracer, compile_program, tangents, trace
from trundle.robot import parse_robot
from trundle.robot.contact import LAWS

# NumPy's function, its derivative, and where it is tried.
FUNCTIONS = {
    "asin": (np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)), (-0.95, 0.95)),
    "atan": (np.arctan, lambda x: 1 / (1 + x * x), (-30.0, 30.0)),
    "exp": (np.exp, np.exp, (-20.0, 20.0)),
    "log": (np.log, lambda x: 1 / x, (1e-6, 50.0)),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2, (-5.0, 5.0)),
}
POINTS = 200
# A few units in the last place; derivatives lose what 1 − z² cancels.
ROUNDING = 4 * np.finfo(float).eps


@pytest.fixture(params=FUNCTIONS)
def case(request, rng):
    """The function of `scalars`, points, NumPy's values and slopes there."""
    of, slope, (low, high) = FUNCTIONS[request.param]
    x = rng.uniform(low, high, POINTS)
    return getattr(scalars, request.param), x, of(x), slope(x)


def test_numbers_arrays_and_sympy(case):
    function, x, values, _ = case
    np.testing.assert_array_equal(function(x), values)
    single = [function(float(each)) for each in x]
    np.testing.assert_allclose(single, values, rtol=ROUNDING, atol=ROUNDING)
    symbol = sympy.Symbol("x")
    written = [float(function(symbol).subs(symbol, sympy.Float(each, 30)).evalf(25)) for each in x[:5]]
    np.testing.assert_allclose(written, values[:5], rtol=ROUNDING, atol=ROUNDING)


def programs(function):
    """The function and its derivative: traced by nodes, and read off CasADi."""
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    slope = tangents.jacobian([function(x)], [x])[0][0]
    groups = {"value": (("value",), [function(x)]), "slope": (("slope",), [slope])}
    symbol = ca.SX.sym("x")
    value = function(symbol)
    read = {"value": (("value",), value), "slope": (("slope",), ca.jacobian(value, symbol))}
    return (
        tracer.program("traced", {"state": ("x",)}, groups),
        trace("read", {"state": (("x",), symbol)}, read),
    )


def test_programs_kernels_and_their_derivatives(case):
    function, x, values, slopes = case
    for program in programs(function):
        for run in (program.evaluate, compile_program(program), lambda x, p=program: tangents.once(p, x)):
            found, slope = run(x[None])
            np.testing.assert_allclose(found[0], values, rtol=ROUNDING, atol=ROUNDING)
            np.testing.assert_allclose(slope[0], slopes, rtol=ROUNDING, atol=2 * ROUNDING)


def test_sums_their_rates_and_how_they_are_written(case):
    """The equations' own scalars: a symbol with a definition, whose rate is the slope times that of its argument."""
    function, x, values, slopes = case
    table = SymbolTable()
    angle = table.add(Symbol("q", "coordinate"))
    value = function(angle)
    numbers = SymbolValues(table, {0: x})
    np.testing.assert_allclose(numbers.polynomial(value), values, rtol=ROUNDING)
    np.testing.assert_allclose(numbers.polynomial(rate(value, {0: 3})), 3 * slopes, rtol=1e-12, atol=1e-13)
    writer = Writer(table)
    writer.expression(value)
    (shown,) = writer.shown.values()
    np.testing.assert_allclose(numbers(shown), values, rtol=ROUNDING)


def test_functions_of_nothing_are_plain_numbers():
    assert scalars.exp(0) == 1.0
    assert scalars.tanh(0) == scalars.atan(0) == scalars.asin(0) == scalars.log(1) == 0.0


@pytest.fixture
def magic():
    """The page's law, registered while a test lasts."""
    before = dict(LAWS._members)
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(source, "extending.md", "exec"), {"__name__": "magic"})
    yield
    LAWS._members = before


@pytest.mark.usefixtures("magic")
def test_a_magic_formula_with_stribecks_friction_in_equations(rng):
    """The law of docs/extending.md: written, typeset, read back, equal to the program, and balanced in a run."""
    wheel = {"radius": 0.1, "mass": 2.0, "contact": "magic", "friction": 0.8, "load": 90}
    robot = {
        "name": "cart",
        "body": {"mass": 20.0, "inertia": {"zz": 1.0}},
        "wheels": {"l": {"at": [0, 0.2, 0], **wheel}, "r": {"at": [0, -0.2, 0], **wheel}},
        "motors": {name: {"type": "torque", "drives": name[0]} for name in ("lm", "rm")},
    }
    found = compare(parse_robot(robot), rng)
    assert "Slipping contacts" in {section.title for section in found.sections if section.equations}
    latex = found.latex()
    assert r"\arctan" in latex
    assert "e^{" in latex
    assert "arctan" in found.html()
    run = trundle.simulate(trundle.derive(parse_robot(robot)), 1.0, {"lm.torque": 6.0, "rm.torque": 5.0})
    assert run.summary["energy_imbalance"] <= 1e-5 * run.summary["energy_turned_over"]


def test_the_sinc_of_half_a_turn_is_sine_over_angle():
    x = np.linspace(-np.pi, np.pi, 4001)
    np.testing.assert_allclose(scalars.sinc_to_pi(x), np.sinc(x / np.pi), rtol=0, atol=1e-15)
    np.testing.assert_allclose(scalars.sinc_to_pi(x), scalars.sinc(x), rtol=0, atol=1e-15)
    assert scalars.sinc_to_pi(sympy.Symbol("x")) == sympy.sinc(sympy.Symbol("x"))

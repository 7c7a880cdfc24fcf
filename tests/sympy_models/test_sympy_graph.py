"""SymPy expressions as CasADi graphs: the values are right, and costs follow the graph and not the printed tree."""

import casadi as ca
import pytest
import sympy as sp

import trundle.program
from trundle.errors import InputError
from trundle.sympy_models.sympy_graph import Converter

EXPRESSIONS = [
    "sin(x)*cos(y)*tan(x)", "atan2(x, y) + asin(x/9) + acos(y/9) + atan(x)", "sqrt(x) + x**3 + x**-2 + x**(1/3)",
    "x**y + 2**x + x**0.7 + exp(-x) + log(y)", "Abs(y - x) + sign(y - x)", "Min(x, y, 0.5) + Max(x, y, 2)",
    "sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(1 + x) + atanh(x/9)", "floor(5*x) + ceiling(5*y) + Mod(7*x, y)",
    "Piecewise((x, x < y), (y**2, x >= 2*y), (3, True)) + Heaviside(x - y) - Heaviside(y)",
    "sec(x) + csc(y) + cot(x)",
    "Piecewise((1, (x < y) & (x > 0.1)), (2, (x > 7) | Ne(x, y)), (0, True)) + erf(x)", "pi*x + E*y + 1/3 + 1e10/7*x",
    "Piecewise((1, ITE(x > y, x < 2, y < 1)), (2, True)) + Piecewise((1, ~(x > y)), (2, True))",
    "x*pi**x*sqrt(2)/sqrt(y)",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_functions(text, rng):
    x, y = sp.symbols("x y")
    expression = sp.sympify(text)
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    value = ca.SX(Converter({x: a, y: b})(expression))
    program = trundle.program.trace("f", {"v": (("x", "y"), ca.vertcat(a, b))}, {"f": (("f",), value)})
    kernel = trundle.program.compile_program(program)
    for numbers in rng.uniform(0.1, 3, (4, 2)):
        exact = float(expression.subs({x: sp.Float(numbers[0], 30), y: sp.Float(numbers[1], 30)}).evalf(30))
        assert kernel(numbers)[0][0] == pytest.approx(exact, rel=1e-13)


def test_shared_graphs_cost_what_they_are():
    """60 times e := sin(e) cos(e): 180 operations, though printed it would have 2^60 leaves."""
    expression = sp.Symbol("x")
    for _ in range(60):
        expression = sp.sin(expression) * sp.cos(expression)
    convert = Converter({sp.Symbol("x"): ca.SX.sym("x")})
    value = convert(expression)
    assert convert.nodes == 180
    assert ca.Function("f", ca.symvar(value), [value]).n_instructions() < 200


def test_equal_expressions_that_are_different_objects_are_one():
    def tower():
        expression = sp.Symbol("x")
        for _ in range(40):
            expression = sp.Mul(sp.sin(expression), sp.cos(expression), evaluate=False)
        return expression

    convert = Converter({sp.Symbol("x"): ca.SX.sym("x")})
    convert(tower())
    nodes = convert.nodes
    sp.core.cache.clear_cache()
    convert(tower())
    assert convert.nodes == nodes


@pytest.mark.slow
def test_deep_graphs_do_not_exhaust_the_stack():
    expression = sp.Symbol("x")
    for _ in range(20_000):
        expression = sp.sin(expression, evaluate=False)
    assert Converter({sp.Symbol("x"): 0.0})(expression) == 0.0


def test_what_programs_do_not_have_is_named():
    x = sp.Symbol("x")
    for expression, culprit in ((sp.besselj(0, x), "besselj"), (sp.Integral(x**2, (x, 0, 1)), "Integral")):
        with pytest.raises(InputError, match=f"'{culprit}'"):
            Converter({x: ca.SX.sym("x")})(expression + 1)

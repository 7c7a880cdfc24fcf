"""Expressions: numbers with units and arithmetic over parameters, in any scalar."""

from __future__ import annotations

import math

import casadi
import numpy as np
import pytest
import sympy

from trundle.robot import units
from trundle.robot.expressions import UNKNOWN, ExpressionError, Inferred, dimension_of, evaluate, names, parse
from trundle.robot.units import SYMBOLS, UNITS
from trundle.robot.values import number_of, read_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.15", 0.15),
        ("1e-4 H", 1e-4),
        ("6 in", 0.1524),
        ("20 deg", math.radians(20)),
        ("180 deg", math.pi),
        ("90°", math.pi / 2),
        ("2 rpm", 2 * 2 * math.pi / 60),
        ("3 lbf in", 3 * 4.4482216152605 * 0.0254),
        ("0.05 N m/A", 0.05),
        ("0.05 V/(rad/s)", 0.05),
        ("2 kg*m^2", 2.0),
        ("2 kg m**2", 2.0),
        ("2 kg·m²", 2.0),
        ("5 m/s^2", 5.0),
        ("5 m s^-2", 5.0),
        ("-6 in", -0.1524),
        ("2 m * 3", 6.0),
        ("2 m/4", 0.5),
        ("1 - 2 - 3", -4.0),
        ("8/2/2", 2.0),
        ("2**3**2", 512.0),
        ("-2**2", -4.0),
        ("2*-3", -6.0),
        ("2^-1", 0.5),
        ("(1 + 2)*3", 9.0),
        ("pi/2", math.pi / 2),
        ("sqrt(2)*sin(30 deg)", math.sqrt(2) / 2),
        (" + 1 ", 1.0),
        (".5", 0.5),
        ("5.", 5.0),
    ],
)
def test_number(text: str, expected: float) -> None:
    assert number_of(parse(text), {}) == pytest.approx(expected, rel=1e-15)


def test_units_of_a_length_are_exact_decimals() -> None:
    assert read_value("6 in").number == 0.1524
    assert read_value("20 deg").number == math.radians(20)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "empty", "number"),
        ("6 inn", "unknown unit 'inn'", "did you mean 'in'"),
        ("2 r", "unknown unit 'r'", "write '* r'"),
        ("2 m 3", "follows without an operator", ""),
        ("a b", "follows without an operator", "write '* b'"),
        ("(1 + 2", "never closed", ""),
        ("1 + 2)", "too many", ""),
        ("1 +", "ends too early", ""),
        ("* 2", "where a number", ""),
        ("sqrt 2", "is a function", "sqrt(...)"),
        ("sqr(2)", "no function 'sqr'", "did you mean 'sqrt'"),
        ("__import__(os)", "no function '__import__'", ""),
        ("a.b", "no place", ""),
        ("1; 2", "no place", ""),
        ("2 m^x", "whole number", ""),
        ("((" * 100, "nested", ""),
        ("-" * 300, "nested", ""),
        ("1" * 500, "500 characters", ""),
        ("2 km^99", "below 10", ""),
        ("2 m*(m*(km^9)^9)^9", "too large", ""),
    ],
)
def test_text_that_is_no_expression(text: str, message: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "zero"),
        ("9**9**9", "no value"),
        ("1e999", "not finite"),
        ("sqrt(-1)", "no value"),
        ("(-1)**0.5", "no real value"),
        ("1e308*10", "1e\\+308 is out of bounds"),
        ("2/1.7e308", "1.7e\\+308 is out of bounds"),
        ("*".join(7 * ["1e50"]), "not finite"),
        (f"0 * ({'*'.join(7 * ['1e50'])})", "not finite"),
    ],
)
def test_expression_without_a_number(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        number_of(parse(text), {})


def test_the_same_text_in_every_scalar() -> None:
    tree = parse("sqrt(a**2 + b**2)/2 - sin(b)*tan(a) + -b")
    assert names(tree) == ("a", "b")
    scope = {"a": 0.3, "b": 1.7}
    number = evaluate(tree, scope.__getitem__)
    assert number == number_of(tree, scope)
    batch = {name: np.full(3, value) for name, value in scope.items()}
    np.testing.assert_allclose(evaluate(tree, batch.__getitem__), number, rtol=1e-15)
    symbols = {name: sympy.Symbol(name) for name in scope}
    formula = evaluate(tree, symbols.__getitem__)
    assert float(formula.subs(scope)) == pytest.approx(number, rel=1e-14)
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    graph = evaluate(tree, {"a": a, "b": b}.__getitem__)
    assert float(casadi.Function("f", [a, b], [graph])(0.3, 1.7)) == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*r + 0.1 m", units.LENGTH.dimension),
        ("r/2 s", units.SPEED.dimension),
        ("m*r**2/12", units.INERTIA.dimension),
        ("sqrt(r*r)", units.LENGTH.dimension),
        ("r/r", units.NUMBER),
        ("q*r", UNKNOWN),
        ("-q", UNKNOWN),
        ("sin(q)", units.NUMBER),
    ],
)
def test_dimension(text: str, expected: Inferred) -> None:
    known: dict[str, Inferred] = {"r": (1, 0, 0, 0), "m": (0, 1, 0, 0), "q": UNKNOWN}
    assert dimension_of(parse(text), known.__getitem__) == expected


@pytest.mark.parametrize("text", ["r + m", "1 m + 2 kg", "sin(r)", "2**r", "sqrt(r)"])
def test_dimensions_that_clash(text: str) -> None:
    known: dict[str, Inferred] = {"r": (1, 0, 0, 0), "m": (0, 1, 0, 0)}
    with pytest.raises(ExpressionError):
        dimension_of(parse(text), known.__getitem__)


def test_every_field_knows_its_dimension() -> None:
    with pytest.raises(ExpressionError, match=r"expected a mass \(kg\), got one in m"):
        read_value("2 m", units.MASS)
    with pytest.raises(ExpressionError, match="pure number or an angle"):
        read_value("20 deg", units.LENGTH)
    with pytest.raises(ExpressionError, match="expected a mass, got true"):
        read_value(True, units.MASS)
    with pytest.raises(ExpressionError, match="finite"):
        read_value(math.nan, units.MASS)
    with pytest.raises(ExpressionError, match="finite"):
        read_value(10**400, units.MASS)
    assert read_value(np.float32(0.5)).number == 0.5
    assert read_value(np.int64(3)).number == 3.0


@pytest.mark.parametrize(
    ("words", "symbols"),
    [
        ("30 centimeters", "30 cm"),
        ("1 centimeter", "1 cm"),
        ("5 millimetres", "5 mm"),
        ("2 feet", "2 ft"),
        ("3 inches", "3 in"),
        ("150 pounds", "150 lb"),
        ("150 lbs", "150 lb"),
        ("80 amps", "80 A"),
        ("12 volts", "12 V"),
        ("100 milliamperes", "100 mA"),
        ("0.5 henries", "0.5 H"),
        ("90 degrees per second", "90 deg/s"),
        ("2 meters per second squared", "2 m/s^2"),
        ("2 revolutions per minute", "2 rpm"),
        ("3 per second", "3 Hz"),
        ("2 newton meters", "2 N m"),
        ("4 kilograms * 2", "4 kg * 2"),
    ],
)
def test_units_in_full(words: str, symbols: str) -> None:
    assert read_value(words).number == read_value(symbols).number
    assert parse(words) == parse(symbols)


def test_no_symbol_is_another_units_name() -> None:
    for word, (factor, dimension) in SYMBOLS.items():
        assert UNITS[word] == (factor, dimension)


@pytest.mark.parametrize(
    "text", ["80 ampz", "3 centimetrs", "2 vlots", "7 quux", "2 m per", "per second", "2 squared"]
)
def test_hints_on_units(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    told = f"{caught.value} {caught.value.hint}"
    assert "'ms'" not in told
    assert "47 more" not in told

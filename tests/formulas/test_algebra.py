"""Sums: their arithmetic against numbers, their normal form against identities, fractions in lowest terms."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from trundle.formulas.algebra.polynomials import Symbol, SymbolTable, TooLong
from trundle.formulas.algebra.rates import rate
from trundle.formulas.algebra.terms import exact
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.scalars import absolute, atan2, cos, is_zero, maximum, sin, sqrt, tan


@pytest.fixture
def table():
    return SymbolTable()


def symbols(table, names):
    return [table.add(Symbol(name, "parameter", number=1.0)) for name in names.split()]


def random_polynomial(rng, table, known, depth=3):
    """A random expression and what it is at numbers, as a function of these."""
    if depth == 0:
        k = int(rng.integers(len(known)))
        return known[k], lambda x: x[k]
    a, of_a = random_polynomial(rng, table, known, depth - 1)
    b, of_b = random_polynomial(rng, table, known, int(rng.integers(depth)))
    number = float(rng.choice([2.0, 0.5, -3.0, 0.1, math.sqrt(3) / 2]))
    return [
        (a + b, lambda x: of_a(x) + of_b(x)),
        (a * b, lambda x: of_a(x) * of_b(x)),
        (a - number * b, lambda x: of_a(x) - number * of_b(x)),
        (a / (2.5 + b * b), lambda x: of_a(x) / (2.5 + of_b(x) ** 2)),
        (sin(a), lambda x: np.sin(of_a(x))),
        (cos(a + 0.5), lambda x: np.cos(of_a(x) + 0.5)),
        (sqrt(a * a + b * b + 1.0), lambda x: np.sqrt(of_a(x) ** 2 + of_b(x) ** 2 + 1)),
    ][int(rng.integers(7))]


def test_arithmetic_and_writing_against_numbers(rng):
    for _ in range(40):
        table = SymbolTable()
        known = symbols(table, "a b c d")
        value, function = random_polynomial(rng, table, known)
        x = rng.uniform(0.3, 1.5, 4)
        expected = function(x)
        assert SymbolValues(table, dict(enumerate(x))).polynomial(value) == pytest.approx(
            expected, rel=1e-11, abs=1e-12
        )
        writer = Writer(table)
        expression = writer.expression(value)
        for symbol, definition in reversed(writer.shown.items()):
            expression = expression.subs(writer.symbol(symbol), definition)
        found = expression.subs(dict(zip(sympy.symbols("a b c d"), x, strict=True)))
        assert float(found) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_rates_against_differences(rng):
    for _ in range(20):
        table = SymbolTable()
        known = symbols(table, "a b c d")
        value, function = random_polynomial(rng, table, known)
        x, step = rng.uniform(0.3, 1.5, 4), rng.uniform(-1, 1, 4)
        change = rate(value, dict(enumerate(map(float, step))))
        ahead, behind = function(x + 1e-6 * step), function(x - 1e-6 * step)
        found = SymbolValues(table, dict(enumerate(x))).polynomial(change)
        assert found == pytest.approx((ahead - behind) / 2e-6, rel=1e-6, abs=1e-7)


def test_what_is_zero_has_no_terms(table):
    a, b, r = symbols(table, "a b r")
    assert is_zero(sin(a) ** 2 + cos(a) ** 2 - 1)
    assert is_zero(sin(a + b) - sin(a) * cos(b) - cos(a) * sin(b))
    assert is_zero((a * a - b * b) * r / r - (a - b) * (a + b))
    assert is_zero(sqrt(r * r) - r)
    assert is_zero(tan(a) * cos(a) - sin(a))
    assert is_zero((a + b) / (a + b) - 1)
    assert is_zero(cos(table.number(1) * (5 * math.pi / 6)) + table.number(math.sqrt(3) / 2))


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0.5000000000000001, (Fraction(1, 2), 1)), (-math.sqrt(3) / 2, (Fraction(-1, 2), 3)), (2.0, (2, 1)),
     (0.1234567, (Fraction("0.1234567"), 1)), (math.sqrt(8), (2, 2)), (1e-7, (Fraction("1e-07"), 1))],
)  # fmt: skip
def test_exact_numbers(number, expected):
    assert exact(number) == expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda a, b, m, i: m + 2 * i / b**2, "m + 2*i/b**2"),
        (lambda a, b, m, i: m * cos(a) ** 2 + i * sin(a) ** 2 / b**2, "m*cos(a)**2 + i*sin(a)**2/b**2"),
        (lambda a, b, m, i: sin(a) * cos(b) - cos(a) * sin(b), "sin(a - b)"),
        (lambda a, b, m, i: b * sin(a) / (4 * sin(a) ** 2), "b/(4*sin(a))"),
        (lambda a, b, m, i: (m * sin(a) + i * cos(a)) * b / (m * sin(a) + i * cos(a)) ** 2, "b/(i*cos(a) + m*sin(a))"),
        (lambda a, b, m, i: cos(a) / sin(a), "1/tan(a)"),
        (lambda a, b, m, i: (1 - cos(2 * a)) / sin(a), "2*sin(a)"),
        (lambda a, b, m, i: (m * m - i * i) / (m + i), "-i + m"),
    ],
)  # fmt: skip
def test_readable_forms(table, make, expected):
    assert str(Writer(table).expression(make(*symbols(table, "a b m i")))) == expected


def test_what_no_sum_can_hold_gets_a_letter(table):
    a, b = symbols(table, "a b")
    writer = Writer(table)
    assert str(writer.expression(maximum(a - b, 0) + absolute(b) + atan2(a, b))) == "z_1 + z_2 + z_3"
    assert {str(v) for v in writer.shown.values()} == {"Max(0, a - b)", "Abs(b)", "atan2(a, b)"}


def test_definitions_are_bounded(table):
    table.most_definitions = 3
    (a,) = symbols(table, "a")
    with pytest.raises(TooLong):
        for k in range(5):
            _ = 1 / (a + k + 1)

"""Laws of the room: sums are a field's elements in a unique form, derivatives are derivations, what is written is read
back, determinants and fractions keep their values, and everything that is made can be printed.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

import trundle
from model import random_robots
from model.test_joints import JOINTS
from model.test_joints import pendulum as joint_pendulum
from trundle.formulas.algebra.cofactors import inverse
from trundle.formulas.algebra.forms import best, cost, flat, folded, shortest
from trundle.formulas.algebra.polynomials import Symbol, SymbolDefinition, SymbolTable, without_content
from trundle.formulas.algebra.rates import rate
from trundle.formulas.algebra.reduction import reduced
from trundle.formulas.algebra.terms import Trig, content, exact, half, ordered, tidy, trig_factors, trig_terms
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.formulas.checks.verification import TOLERANCE
from trundle.formulas.symbols.names import inline
from trundle.formulas.typeset.ordering import Order
from trundle.formulas.typeset.printers import COLUMN, Latex, Pretty
from trundle.formulas.typeset.tex_width import tex_width
from trundle.mechanics.linear import adjugate, determinant, product
from trundle.robot import parse_robot
from trundle.scalars import cos, is_zero, sin, sqrt

NAMES = "a b c d"


def symbols(table):
    """Four symbols, and work enough to multiply out what is drawn."""
    table.allow(200, 150, 500_000)
    return [table.add(Symbol(name, "parameter", number=1.0)) for name in NAMES.split()]


def polynomial(rng, known, terms=3):
    """A random sum of products of symbols, sines and cosines."""
    total = known[0].table.number(0)
    for _ in range(terms):
        part = known[0].table.number(Fraction(int(rng.integers(-6, 7)), int(rng.integers(1, 5))))
        for _ in range(int(rng.integers(1, 4))):
            k, multiple = int(rng.integers(len(known))), int(rng.integers(1, 4))
            part = (
                part
                * [known[k], sin(multiple * known[k]), cos(known[k] - known[0]), sqrt(known[k] ** 2)][
                    int(rng.integers(4))
                ]
            )
        total = total + part
    return total


def factor(rng, known):
    """What goes below a fraction line as it is: numbers, symbols, single sines and cosines."""
    a, b = known[0], known[1]
    choices = [a, -2 * b, a * b / 3, sin(a), cos(2 * b), sin(a) * a, a.table.number(math.sqrt(3))]
    return choices[int(rng.integers(len(choices)))]


def divisor(rng, known):
    """Anything that a sum may be divided by."""
    a, b = known[0], known[1]
    choices = [factor(rng, known), sin(2 * a), 1 - cos(2 * a), 1 + cos(2 * b), a + b, a * a - 3, a + sin(b)]
    return choices[int(rng.integers(len(choices)))]


def same(a, b):
    return (a - b).terms == {}


# --- a unique form ----------------------------------------------------------------------------------------------------


def test_sums_are_a_commutative_ring(rng):
    for _ in range(30):
        known = symbols(SymbolTable())
        x, y, z = (polynomial(rng, known) for _ in range(3))
        assert same(x + y, y + x)
        assert same((x + y) + z, x + (y + z))
        assert same(x * y, y * x)
        assert same((x * y) * z, x * (y * z))
        assert same(x * (y + z), x * y + x * z)
        assert same(x - x, x * 0)
        assert same(x**3, x * x * x)
        assert (x + y).key == (y + x).key


def test_division_is_taken_back_by_multiplication(rng):
    for _ in range(60):
        known = symbols(SymbolTable())
        x, d = polynomial(rng, known), factor(rng, known)
        assert same(x / d * d, x)
        d = divisor(rng, known)
        assert same(d / d, known[0].table.number(1))
        assert same(1 / (1 / d), d)


def test_sines_below_a_fraction_line_have_one_form(rng):
    known = symbols(SymbolTable())
    a, b, c, _ = known
    assert same(1 / sin(2 * a), 1 / (2 * sin(a) * cos(a)))
    assert same(1 / (1 - cos(2 * a)), 1 / (2 * sin(a) ** 2))
    assert same(sin(a) / cos(a) * cos(a), sin(a))
    assert same(b / cos(a) + c, (b + c * cos(a)) / cos(a))
    assert same(1 / known[0].table.number(math.sqrt(2)), known[0].table.number(math.sqrt(2)) / 2)


def test_addition_theorems(rng):
    for _ in range(20):
        a, b, c, _ = symbols(SymbolTable())
        m, n = (int(k) for k in rng.integers(-4, 5, 2))
        x, y = m * a + b, n * c - a
        assert same(sin(x + y), sin(x) * cos(y) + cos(x) * sin(y))
        assert same(cos(x + y), cos(x) * cos(y) - sin(x) * sin(y))
        assert same(sin(x) ** 2 + cos(x) ** 2, a.table.number(1))
        assert same(sin(-x), -sin(x))


def test_numbers_are_exact(rng):
    for _ in range(200):
        near = Fraction(int(rng.integers(-900, 900)), int(rng.integers(1, 900)))
        root = int(rng.choice([1, 2, 3, 5, 6, 7]))
        scale = Fraction(int(rng.integers(1, 8)), int(rng.integers(1, 8)))
        assert exact(float(near)) == (tidy(near), 1)
        factor, square = exact(float(scale) * math.sqrt(root))
        assert float(factor) * math.sqrt(square) == pytest.approx(float(scale) * math.sqrt(root), rel=1e-14)
        assert square == root
        assert half(near) * 2 == near


def test_content_times_the_rest_is_the_sum(rng):
    for _ in range(40):
        table = SymbolTable()
        known = symbols(table)
        x = polynomial(rng, known) * known[1] / (known[2] ** 2 * cos(known[0]))
        if is_zero(x):
            continue
        number, powers, rest = without_content(table, x.terms)
        total = type(x)(table, rest) * type(x)(table, {(powers, "", ()): number})
        assert same(total, x)
        left, shared = content((powers, factor) for (powers, _, _), factor in rest.items())
        assert (left, {k: p for k, p in shared.items() if isinstance(k, int)}) == (1, {})


def test_products_of_sines_are_found(rng):
    for _ in range(20):
        k = int(rng.integers(1, 4))
        angle = ((0, 2 * k),)
        for terms in (
            trig_terms("sin", angle),
            trig_terms("cos", angle),
            {**trig_terms("cos", angle), ((), "", ()): 1},
        ):
            number, factors = trig_factors(terms)
            x = rng.uniform(0.1, 1.0)
            value = {"sin": math.sin, "cos": math.cos, "": lambda _: 1.0}
            meant = sum(
                float(f) * value[function](sum(m * x for _, m in own))
                for (_, function, own), f in terms.items()
            )
            found = float(number)
            for (function, own), power in factors:
                found *= value[function](sum(m * x for _, m in own)) ** power
            assert found == pytest.approx(meant, rel=1e-12)


def test_atoms_have_an_order():
    sine: Trig = ("sin", ((3, 1),))
    cosine: Trig = ("cos", ((3, 1),))
    assert ordered({sine: 1, 4: 2, cosine: -1, 2: 0, 0: 1}) == ((0, 1), (4, 2), (cosine, -1), (sine, 1))


# --- derivatives ------------------------------------------------------------------------------------------------------


def test_rates_are_a_derivation(rng):
    for _ in range(30):
        table = SymbolTable()
        known = symbols(table)
        rates = {k: polynomial(rng, known, 1) for k in range(len(known))}
        x, y = polynomial(rng, known), polynomial(rng, known)
        dx, dy = rate(x, rates), rate(y, rates)
        assert same(rate(x + 3 * y, rates), dx + 3 * dy)
        assert same(rate(x * y, rates), dx * y + x * dy)
        assert same(
            rate(sin(known[0] + 2 * known[1]), rates),
            cos(known[0] + 2 * known[1]) * (rates[0] + 2 * rates[1]),
        )


def test_rates_of_quotients_and_roots_against_differences(rng):
    for _ in range(30):
        table = SymbolTable()
        known = symbols(table)
        value = polynomial(rng, known) / divisor(rng, known) + sqrt(2 + known[3] ** 2)
        x, step = rng.uniform(0.3, 0.9, 4), rng.uniform(-1, 1, 4)

        def at(point, table=table, value=value):
            return SymbolValues(table, dict(enumerate(point))).polynomial(value)

        change = SymbolValues(table, dict(enumerate(x))).polynomial(
            rate(value, dict(enumerate(map(float, step))))
        )
        difference = (at(x + 1e-6 * step) - at(x - 1e-6 * step)) / 2e-6
        assert change == pytest.approx(difference, rel=1e-5, abs=1e-6)


# --- writing and reading ----------------------------------------------------------------------------------------------


def test_what_is_written_reads_back_and_has_the_same_value(rng):
    for _ in range(40):
        table = SymbolTable()
        known = symbols(table)
        value = polynomial(rng, known) / divisor(rng, known)
        writer = Writer(table)
        expression = writer.expression(value)
        names = {*NAMES.split(), *(str(writer.symbol(symbol)) for symbol in writer.shown)}
        again = sympy.sympify(str(expression), {name: sympy.Symbol(name) for name in names})
        assert again.free_symbols == expression.free_symbols
        point = SymbolValues(table, dict(enumerate(rng.uniform(0.3, 0.9, 4))))
        for written in (expression, again):
            assert float(point(written)) == pytest.approx(float(point.polynomial(value)), rel=1e-9, abs=1e-10)


def test_every_form_is_the_same_sum(rng):
    for _ in range(40):
        table = SymbolTable()
        known = symbols(table)
        value = polynomial(rng, known, 4)
        if is_zero(value):
            continue
        writer, point = Writer(table), SymbolValues(table, dict(enumerate(rng.uniform(0.3, 0.9, 4))))
        meant = pytest.approx(float(point.polynomial(value)), rel=1e-10, abs=1e-11)
        assert float(point(writer._tree(best(value)))) == meant
        assert cost(best(value)) <= cost(shortest(flat(value, {})))
        angles = {k for _, _, angle in value.terms for k, _ in angle}
        for form in ("sum", "both", "cos", "sin"):
            tree = shortest(flat(value, dict.fromkeys(angles, form)))
            assert float(point(writer._tree(tree))) == meant
            assert float(point(writer._tree(folded(table, tree)))) == meant


@pytest.mark.slow
def test_fractions_in_lowest_terms_keep_their_value(rng):
    for _ in range(8):
        table = SymbolTable()
        known = symbols(table)
        above, below, shared = (polynomial(rng, known, 2) for _ in range(3))
        if any(is_zero(each) for each in (above, below, shared)):
            continue
        point = SymbolValues(table, dict(enumerate(rng.uniform(0.3, 0.9, 4))))
        first, second = reduced(above * shared, below * shared)
        meant = float(point.polynomial(above)) / float(point.polynomial(below))
        assert float(point.polynomial(first)) / float(point.polynomial(second)) == pytest.approx(
            meant, rel=1e-7
        )


# --- matrices and numbers ---------------------------------------------------------------------------------------------


def test_cofactors(rng):
    for size in (1, 2, 3):
        table = SymbolTable()
        known = symbols(table)
        rows = [[polynomial(rng, known, 2) for _ in range(size)] for _ in range(size)]
        det = table.polynomial(determinant(rows))
        for i, row in enumerate(product(adjugate(rows), rows)):
            for j, entry in enumerate(row):
                assert same(table.polynomial(entry), det if i == j else table.number(0))
        point = SymbolValues(table, dict(enumerate(rng.uniform(0.3, 0.9, 4))))
        numbers = np.array([[float(point.polynomial(entry)) for entry in row] for row in rows])
        assert float(point.polynomial(det)) == pytest.approx(np.linalg.det(numbers), rel=1e-9, abs=1e-11)
        if abs(np.linalg.det(numbers)) > 1e-3:
            found = [[float(point.polynomial(entry)) for entry in row] for row in inverse(rows)]
            np.testing.assert_allclose(found @ numbers, np.eye(size), atol=1e-8)


def test_rounding_is_measured_by_the_terms_that_cancel():
    """0.1 (x − y) with x = y up to rounding: 1e-17 is nothing beside terms of size 1."""
    x, y = sympy.symbols("x y")
    values = SymbolValues(SymbolTable(), {}, {"x": np.array([1.0]), "y": np.array([1.0 + 2e-16])})
    expression = sympy.Mul(sympy.Rational(1, 10), x - y, evaluate=False)
    assert abs(values(expression)) <= TOLERANCE * values.size(expression)
    assert values.size(x * (x - y)) == pytest.approx(2.0)


@pytest.mark.parametrize("power", [-1, -2, sympy.Rational(1, 2)])
def test_rounding_of_a_denominator_is_in_proportion_to_what_is_left_of_it(power, rng):
    """(x − y) to a power near x = y, with both moved by a rounding: that share of it is what changes, or more."""
    x, y = sympy.symbols("x y")
    apart = np.array([1e-3, 1e-6])
    at = {"x": np.array([1.0, 1.0]), "y": 1.0 - apart}
    moved = {"x": at["x"] * (1 + 1e-12), "y": at["y"] * (1 - 1e-12)}
    before, after = (SymbolValues(SymbolTable(), {}, numbers) for numbers in (at, moved))
    expression = (x - y) ** power
    change = np.abs(after(expression) - before(expression))
    size = before.size(expression)
    assert (change <= 1e-12 * size * max(1, abs(float(power))) * (1 + 1e-3)).all()
    assert (change >= 1e-13 * size).all()


def test_rounding_of_a_letter_is_that_of_what_it_stands_for():
    """1/z near z = x − y = 0 is as rough as 1/(x − y): by a symbol or written out."""
    table = SymbolTable()
    x, y = symbols(table)[:2]
    z = table.define(SymbolDefinition("", (x - y,)), Symbol("z", "definition"))
    values = SymbolValues(table, {0: np.array([1.0]), 1: np.array([1.0 - 1e-6])})
    names = [sympy.Symbol(table.symbols[k].name) for k in (0, 1)]
    assert values.size(1 / sympy.Symbol(table.symbols[z].name)) == pytest.approx(
        values.size(1 / (names[0] - names[1]))
    )


# --- printing ---------------------------------------------------------------------------------------------------------


def random_expression(rng, depth=4):
    """Anything that equations may hold, sums below fraction lines and powers of functions among it."""
    symbols = sympy.symbols("q_1 v_x phidot_right m track delta_fl")
    if depth == 0:
        return symbols[int(rng.integers(len(symbols)))]
    a, b = random_expression(rng, depth - 1), random_expression(rng, int(rng.integers(depth)))
    largest = sympy.Max(a, b, evaluate=False)
    choices = [a + b, a - 2 * b, a * b, a / (b + 3), sympy.sin(a + b), sympy.cos(a) ** 2, sympy.atan2(a, b)]
    choices += [sympy.tan(b), largest**2, sympy.Abs(a) * b, sympy.sqrt(a**2 + 1)]
    return choices[int(rng.integers(len(choices)))]


@pytest.mark.slow
def test_widths_follow_from_those_of_the_parts(rng):
    """What is measured is what is drawn: in a terminal but for the space behind a first sign, on a page but for the
    small fractions within others, so never much less.
    """
    for _ in range(60):
        expression = random_expression(rng)
        pretty, page = Pretty(Order()), Latex(Order())
        assert 0 <= pretty.width(expression) - pretty.form(expression).width() <= 2
        drawn = tex_width(page.doprint(expression)) / COLUMN
        assert 0.95 * drawn - 1 <= page.width(expression) <= 1.6 * drawn + 4


@pytest.mark.slow
def test_anything_prints_in_one_order(rng):
    for _ in range(150):
        expression = random_expression(rng)
        for order in (
            Order(),
            Order({symbol: k for k, symbol in enumerate(sorted(expression.free_symbols, key=str))}),
        ):
            assert Pretty(order).form(expression).width() > 0
            text = Latex(order, {}).doprint(expression)
            assert text.count("{") == text.count("}")
        assert "**" not in inline(sympy.Symbol("x") ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(JOINTS))
def test_every_joint_is_printed_in_every_format(kind):
    found = trundle.equations(joint_pendulum(kind))
    for text in (found.text(80), found.latex(), found.markdown(), found.html(), found.mathml()):
        assert text
    assert all(str(each) and each._repr_latex_() for each in found.by_name.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["differential", "tricycle", "omni", "with_casters", "trailer", "skid", "ackermann"]
)
def test_random_robots_are_printed_in_every_format(name, rng):
    found = trundle.equations(parse_robot(random_robots.ALL[name](rng)))
    for text in (found.text(90), found.latex(), found.markdown(), found.html(), found.mathml()):
        assert text
    assert found.error <= TOLERANCE
    assert trundle.equations(trundle.derive(parse_robot(random_robots.ALL[name](rng))), "kinematics").sections

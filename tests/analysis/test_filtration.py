"""Growth vectors: published ones, from textbook fields by SymPy's own brackets."""

import numpy as np
import pytest
import sympy as sp

from trundle.analysis.lie_filtration import NamedField, constant_integrals, filtration


class Textbook:
    """A system q̇ = Σ g_i u_i in SymPy, its Lie brackets written out, its fields evaluated at points."""

    def __init__(self, q, fields):
        self.q = sp.Matrix(q)
        self.fields = [NamedField(name, sp.Matrix(field)) for name, field in fields.items()]

    def bracket(self, f, g):
        return (g.jacobian(self.q) * f - f.jacobian(self.q) * g).expand()

    def values_at(self, points):
        def values(fields):
            functions = [sp.lambdify([list(self.q)], list(field), "numpy") for field in fields]
            return np.array([[np.array(f(list(p)), dtype=float) for f in functions] for p in points])

        return values

    def general(self, rng, depth=8):
        points = rng.uniform(-1, 1, (3, len(self.q)))
        return filtration(self.fields, self.bracket, self.values_at(points), len(self.q), depth)

    def at(self, point, depth):
        values = self.values_at([point])
        return filtration(self.fields, self.bracket, values, len(self.q), depth, regular=False)


x, y, theta, phi, alpha, beta = sp.symbols("x y theta phi alpha beta")
UNICYCLE = Textbook([x, y, theta], {"drive": [sp.cos(theta), sp.sin(theta), 0], "turn": [0, 0, 1]})
# Murray, Li & Sastry 1994, example 7.3: growth vector (2, 3, 4); the drive is the front wheel's.
CAR = Textbook(
    [x, y, theta, phi],
    {
        "drive": [sp.cos(theta) * sp.cos(phi), sp.sin(theta) * sp.cos(phi), sp.sin(phi), 0],
        "steer": [0, 0, 0, 1],
    },
)
TRAILER = Textbook(
    [x, y, theta, phi, alpha],
    {
        "drive": [
            sp.cos(theta) * sp.cos(phi),
            sp.sin(theta) * sp.cos(phi),
            sp.sin(phi),
            0,
            sp.sin(theta - alpha) * sp.cos(phi),
        ],
        "steer": [0, 0, 0, 1, 0],
    },
)
HEISENBERG = Textbook([x, y, theta], {"a": [1, 0, 0], "b": [0, 1, x]})
# Two wheels on an axle, their angles among the coordinates: theta is their difference.
WHEELS = Textbook(
    [x, y, theta, phi, alpha],
    {
        "right": [sp.cos(theta) / 2, sp.sin(theta) / 2, sp.Rational(1, 3), 1, 0],
        "left": [sp.cos(theta) / 2, sp.sin(theta) / 2, -sp.Rational(1, 3), 0, 1],
    },
)


@pytest.mark.parametrize(
    ("system", "growth"),
    [
        (UNICYCLE, (2, 3)),
        (CAR, (2, 3, 4)),
        (TRAILER, (2, 3, 4, 5)),
        (HEISENBERG, (2, 3)),
        (WHEELS, (2, 3, 4)),
    ],
    ids=["unicycle", "car", "car with a trailer", "Heisenberg", "wheel angles"],
)
def test_published_growth_vectors(system, growth, rng):
    assert system.general(rng).growth == growth


def test_the_brackets_are_named():
    found = UNICYCLE.general(np.random.default_rng(1))
    assert found.basis == (("drive", 1), ("turn", 1), ("[drive, turn]", 2))
    sideways = UNICYCLE.bracket(UNICYCLE.fields[0].field, UNICYCLE.fields[1].field)
    assert sideways == sp.Matrix([sp.sin(theta), -sp.cos(theta), 0])


def test_what_never_changes(rng):
    """theta − (right − left)/3 of the two wheels, and nothing else that is linear."""
    found = WHEELS.general(rng)
    (row,) = constant_integrals(found.span)
    np.testing.assert_allclose(row / row[2], [0, 0, 1, -1 / 3, 1 / 3], atol=1e-9)


def test_singular_points_take_deeper_brackets(rng):
    """A car with a trailer, its front wheel across: degree 5 = F_5 instead of 4 (Jean 1996)."""
    point = rng.uniform(-1, 1, 5)
    assert TRAILER.at(point, 7).growth == (2, 3, 4, 5)
    point[3] = np.pi / 2
    assert TRAILER.at(point, 7).growth == (2, 3, 4, 4, 5)
    # q̇ = (u₁, u₂ x²): the bracket [g₁, [g₁, g₂]] is needed on the line x = 0, and g₂ itself off it.
    martinet = Textbook([x, y], {"a": [1, 0], "b": [0, x**2]})
    assert martinet.at([0.5, 0.1], 4).growth == (2,)
    assert martinet.at([0.0, 0.1], 4).growth == (1, 1, 2)


@pytest.mark.slow
def test_too_many_brackets_are_said_to_be_left_out(rng, monkeypatch):
    """Thirty spheres' fields have 435 brackets; inert ones among them have none."""
    names = sp.symbols("z:31")
    fields = {f"u{k}": [sp.Integer(j == k) for j in range(30)] + [names[k] ** 2] for k in range(30)}
    many = Textbook(names, fields)
    found = filtration(many.fields, many.bracket, many.values_at(rng.uniform(0.5, 1, (2, 31))), 31)
    assert (found.growth, found.cut) == ((30,), True)
    few = [*many.fields[:2], *(NamedField(each.name, each.field, inert=True) for each in many.fields[2:])]
    found = filtration(few, many.bracket, many.values_at(rng.uniform(0.5, 1, (2, 31))), 31)
    assert not found.cut


def test_integrable_fields_stop(rng):
    rotations = Textbook([x, y, theta], {"z": [-y, x, 0], "x": [0, -theta, y]})
    assert rotations.general(rng).growth == (2,)  # they stay on a sphere; [z, x] is tangent to it, too
    nothing = Textbook([x, y], {"zero": [sp.Integer(0), sp.Integer(0)]})
    assert nothing.general(rng).growth == (0,)

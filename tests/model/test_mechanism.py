"""A mechanism: the same constraints and speeds in every kind of scalar, decided on numbers."""

import casadi as ca
import numpy as np
import pytest
import sympy

from trundle import catalog
from trundle.errors import InputError
from trundle.mechanics.linear import table
from trundle.model.constraints import ideal_wheels
from trundle.model.mechanism import mechanism
from trundle.model.moving import moving_mechanism
from trundle.model.symbols import Symbols, column, derivative_along, entries, symbols_for
from trundle.robot import parse_robot
from trundle.robot.couplings import GearCoupling

from . import random_robots
from .linkages import four_bar

KINDS = [
    "differential",
    "with_casters",
    "ackermann",
    "two_steered",
    "mecanum",
    "trailer",
    "belted",
    "synchro",
]


def drawn(kind, seed=3):
    """The mechanism of a random robot in floats, and random coordinates."""
    numbers = mechanism(parse_robot(random_robots.ALL[kind](np.random.default_rng(seed))))
    return numbers, np.random.default_rng(seed + 1).uniform(-1, 1, len(numbers.names))


def matrices(here):
    """A(q) and S(q)."""
    return here.rows(ideal_wheels(here.assembly)), here.basis.matrix


def numbers_of(values, symbols, q):
    """A matrix of CasADi's expressions in numbers."""
    flat = ca.Function("f", [column(symbols)], [column([entry for row in values for entry in row])])(q)
    return np.array(flat).reshape(len(values), -1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_admissible_speed_keeps_the_wheels_rolling(kind):
    """A(q) S(q) = 0 at any configuration, S(q) of full rank."""
    numbers, q = drawn(kind)
    rows, basis = (np.array(each, dtype=float) for each in matrices(numbers.configured(list(q))))
    assert np.abs(rows @ basis).max() < 1e-12
    assert np.linalg.matrix_rank(basis) == basis.shape[1] == basis.shape[0] - np.linalg.matrix_rank(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_all_scalars_say_the_same(kind):
    """In floats, in arrays of many configurations and in CasADi's symbols A and S are the same numbers."""
    numbers, q = drawn(kind)
    symbols = entries(ca.SX.sym("q", len(q)))
    many = numbers.configured(list(np.stack([q, -q], axis=1)))
    symbolic = numbers.in_scalars(numbers.parameters, symbols)
    width = len(numbers.assembly.speeds)
    for mine, theirs, batch in zip(
        matrices(numbers.configured(list(q))), matrices(symbolic), matrices(many), strict=True
    ):
        expected = np.array(mine, dtype=float)
        assert numbers_of(theirs, symbols, q) == pytest.approx(expected, abs=1e-12)
        size = expected.shape[1]
        assert table(batch, 2, size)[0] == pytest.approx(expected, abs=1e-12)
        assert size in (width, len(symbolic.basis.labels))


def test_sympy_is_a_scalar_like_others():
    """The rolling of a differential drive in its textbook letters."""
    numbers, q = drawn("differential")
    letters = {name: sympy.Symbol(name) for name in numbers.parameters}
    coordinates = [sympy.Symbol(f"q_{k}") for k in range(len(numbers.names))]
    here = numbers.in_scalars(letters, coordinates)
    known = {letters[name]: value for name, value in numbers.parameters.items()}
    known |= dict(zip(coordinates, q, strict=True))
    found = [[float(sympy.sympify(entry).subs(known)) for entry in row] for row in here.basis.matrix]
    assert np.array(found) == pytest.approx(np.array(numbers.basis.matrix, dtype=float))


@pytest.mark.parametrize("kind", ["ackermann", "two_steered", "trailer", "synchro"])
def test_drift_is_how_speeds_change_at_constant_u(kind):
    """d(S(q) u)/dt along q̇, by symbols and by central differences."""
    numbers, q = drawn(kind)
    moving = moving_mechanism(numbers, Symbols())
    u = np.random.default_rng(7).uniform(-1, 1, len(moving.u))
    inputs = [column(moving.q), column(moving.u), column(list(moving.mechanism.parameters.values()))]
    values = [q, u, list(numbers.parameters.values())]
    drift, q_dot = (
        np.array(ca.Function("f", inputs, [column(each)])(*values)).ravel()
        for each in (moving.drift, moving.q_dot)
    )

    def speeds(t):
        return np.array(numbers.configured(list(q + t * q_dot)).speeds(list(u)), dtype=float)

    step = 1e-5
    assert drift == pytest.approx((speeds(step) - speeds(-step)) / (2 * step), abs=1e-8)


def test_zeros_by_structure_stay_plain():
    """What doesn't move has a rate that no program has to compute."""
    q, rate = ca.SX.sym("q", 2), ca.SX.sym("r", 2)
    assert derivative_along([q[0], 3], entries(q), [rate[0], 0])[1] == 0
    assert derivative_along([1, 2], entries(q), entries(rate)) == [0, 0]


def test_what_rolls_is_derived_by_casadi():
    """Speeds that hang together otherwise from place to place: what rolls takes CasADi, loops a tracer."""
    assert mechanism(four_bar()).bends
    assert symbols_for(mechanism(four_bar())).tracer is not None
    assert symbols_for(mechanism(catalog.differential_drive())).tracer is None
    slipping, _ = drawn("skid")
    assert not slipping.bends
    assert symbols_for(slipping).tracer is not None
    arm = catalog.pendulum(links=2).model_copy(
        update={"couplings": {"gear": GearCoupling(type="gear", joint="link_2", follows={"link_1": 2.0})}}
    )
    assert mechanism(arm).constrained
    assert not mechanism(arm).bends


def test_links_go_by_name():
    """An unknown link is an error that names the ones that are there."""
    here = mechanism(four_bar())
    assert here.assembly.tree.links[here.link("rocker")].name == "rocker"
    with pytest.raises(InputError, match="there is no link 'rockr'") as caught:
        here.link("rockr")
    assert "rocker" in str(caught.value)

"""Tables that programs look things up in: native code, NumPy, plain data, digests, and what has no table."""

import json

import numpy as np
import pytest

from trundle.errors import InputError, TrundleError
from trundle.languages import JAVASCRIPT, source
from trundle.program import Tracer, compile_program
from trundle.program.plain import from_plain, to_plain
from trundle.program.rollout import rollout
from trundle.program.tangents import derivative_along, once
from trundle.scalars import floor, lookup
from trundle.tables import Table

INDICES = [0.0, 0.99, 1.5, 46.0, 46.5, 47.0, -3.0, 1e12, np.inf, -np.inf, np.nan, 7.99]


def program_of(table):
    tracer = Tracer("state")
    x, y = tracer.inputs("state", 2)
    values = [lookup(table, x) + 2 * lookup(table, x, 3), lookup(table, floor(2 * y), 1) * x]
    return tracer.program("found", {"state": ("x", "y")}, {"out": (("a", "b"), values)})


@pytest.fixture
def table(rng):
    return Table(rng.normal(size=50), 3)


def test_native_code_reads_what_numpy_does(table):
    program, states = program_of(table), np.array([INDICES, INDICES])
    expected = once(program, states)[0]
    assert np.array_equal(compile_program(program)(states)[0], expected, equal_nan=True)
    one_by_one = [program(column) for column in states.T]
    assert np.array_equal(np.array(one_by_one).T, expected, equal_nan=True)


def test_indices_are_held_within_the_table(table):
    found = table.at(INDICES, 2)
    assert found.tolist() == table.values[[2, 2, 3, 48, 48, 48, 2, 48, 48, 2, 2, 9]].tolist()
    assert table.last == 46


def test_plain_data_holds_the_table(table):
    program = program_of(table)
    again = from_plain(json.loads(json.dumps(to_plain(program))))
    assert again == program
    assert again.key == program.key
    other = program_of(Table(table.values + 1e-9, 3))
    assert other.key != program.key
    assert other != program


@pytest.mark.parametrize("written", [[5], [5, 4, 0], [5, 0, 1], [5, 0.0, 0], [99, 0, 0]])
def test_plain_lookups_that_are_none(table, written):
    plain: dict = to_plain(program_of(table))
    place = next(k for k, each in enumerate(plain["instructions"]) if each[0] == "lookup")
    plain["instructions"][place] = ["lookup", *written]
    with pytest.raises(InputError, match="lookup"):
        from_plain(plain)


@pytest.mark.parametrize(
    "tables", [{}, [3], [{"reach": 0}], [{"reach": 0, "values": [1]}], [{"reach": 9, "values": [1.0]}]]
)
def test_plain_tables_that_are_none(table, tables):
    with pytest.raises(InputError):
        from_plain(to_plain(program_of(table)) | {"tables": tables})


def test_a_table_is_level_between_its_steps(table):
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    assert derivative_along([lookup(table, x)], [x], [1]) == [0]


def test_a_rollout_looks_up_lane_by_lane(table, rng):
    """x' = table[x] with a step of 1 by rates that stay within a step."""
    tracer = Tracer("state", "parameter")
    (x,), (p,) = tracer.inputs("state", 1), tracer.inputs("parameter", 1)
    rates = tracer.program(
        "rates", {"state": ("x",), "parameter": ("p",)}, {"rate": (("x",), [lookup(table, p) + 0 * x])}
    )
    places = rng.uniform(0, 46, 21)
    result = rollout(rates, [0.0], {"parameter": places[None]}, dt=1.0, steps=1)
    assert result.final[0] == pytest.approx(table.at(places, 0), rel=1e-15)


def test_who_has_no_tables_says_so(table):
    program = program_of(table)
    with pytest.raises(InputError, match="computes lookup, and JavaScript"):
        source({"found": program}, JAVASCRIPT)
    with pytest.raises(TrundleError, match="table of 50 numbers"):
        program.jacobian("out", "state")


@pytest.mark.parametrize(("values", "reach"), [([], 0), ([[1.0]], 0), ([1.0], 1), ([1.0], -1)])
def test_tables_that_are_none(values, reach):
    with pytest.raises(InputError, match="a table needs"):
        Table(np.array(values), reach)

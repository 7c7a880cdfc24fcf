"""Programs in another order and cut into pieces are the same programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.mechanisms import floating_tree, forward_program, planar_chain, tree_of
from program.programs import random_program
from trundle.program.ir import LOADS
from trundle.program.pieces import by_need, cut, is_chain, make_plan


@pytest.mark.parametrize("seed", range(5))
def test_by_need_changes_no_result(seed, rng):
    program = random_program(seed, size=30)
    ordered = by_need(program)
    assert all(a < i.out == k for k, i in enumerate(ordered.instructions) for a in i.args)
    assert sorted(i.op for i in ordered.instructions) == sorted(i.op for i in program.instructions)
    groups = [rng.normal(size=group.size) for group in program.inputs]
    plain, other = (replace(p, function=None).evaluate(*groups) for p in (program, ordered))
    for a, b in zip(plain, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_chain_is_known_by_its_depth_and_its_sines_move_to_their_joints():
    chain = forward_program(tree_of(planar_chain(9)))
    assert is_chain(chain)
    assert not is_chain(forward_program(tree_of(floating_tree(12))))
    ops = [i.op for i in by_need(chain).instructions if i.op in ("sin", "inv", "div")]
    assert "sin inv" in " ".join(ops)  # divisions stand between the sines, not behind them all


@pytest.mark.parametrize("size", [1, 20, 80, 10_000])
def test_cuts_lose_nothing_and_are_about_even(size):
    program = forward_program(tree_of(planar_chain(9)))
    work = [i for i in program.instructions if i.op not in LOADS]
    pieces = cut(work, size)
    assert [i for piece in pieces for i in piece] == work
    assert all(pieces)
    assert max(map(len, pieces)) <= max(2 * size, 1)


def test_a_slot_is_free_again_only_when_its_value_was_read():
    program = forward_program(tree_of(planar_chain(9)))
    wide = {i.out for i in program.instructions if i.op != "const"}
    plan = make_plan(program, wide, 30)
    held: dict[int, int] = {}
    for piece in plan.inside:
        made = {i.out for i in piece}
        reads = {a for i in piece for a in i.args if a in plan.slots and a not in made}
        assert all(held[plan.slots[value]] == value for value in reads)
        written = [v for v in made if v in plan.slots]
        assert not {plan.slots[v] for v in written} & {plan.slots[v] for v in reads}
        held.update({plan.slots[v]: v for v in written})
    assert plan.wide_slots < len(plan.slots)

"""How a program shows itself: one line in a terminal; its groups, operations by kind and first steps in a notebook."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from trundle.html import block, facts, folded, listing, table

if TYPE_CHECKING:
    from trundle.program.ir import Program

_MOST_LABELS = 12
_MOST_STEPS = 40


def program_text(program: Program) -> str:
    """<Program dynamics: state[9], input[2], parameter[16] -> rate[9], 90 operations>"""
    ins = ", ".join(f"{g.name}[{g.size}]" for g in program.inputs)
    outs = ", ".join(f"{g.name}[{g.size}]" for g in program.outputs)
    return f"<Program {program.name}: {ins} -> {outs}, {program.operations} operations>"


def program_html(program: Program) -> str:
    """Input and output groups with their labels, how often each operation occurs, and the first steps to unfold."""
    groups = [("in", group) for group in program.inputs] + [("out", group) for group in program.outputs]
    rows = [(way, group.name, str(group.size), _some(group.labels)) for way, group in groups]
    counted = ", ".join(f"{count} {op}" for op, count in program.count_by_op().items())
    steps = list(islice(program.steps(), _MOST_STEPS + 1))
    more = ["…"] if len(steps) > _MOST_STEPS else []
    return block(
        program.name,
        f"{program.operations} operations",
        table(("", "group", "size", "elements"), rows, numbers=(2,)),
        facts([("operations", counted or "none")]),
        folded("the first steps", listing("\n".join(steps[:_MOST_STEPS] + more))),
    )


def _some(labels: tuple[str, ...]) -> str:
    more = f", and {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else ""
    return ", ".join(labels[:_MOST_LABELS]) + more

"""What a program is: its groups of inputs and outputs, its operations."""

from __future__ import annotations

from itertools import islice

from trundle.html import block, facts, folded, listing, table
from trundle.program.ir import Program
from trundle.show.summaries.verbs import html, text

# Labels of a group, and steps of a program, beyond these many are left to the program itself: a page of a notebook
# shows no more at a glance.
_MOST_LABELS, _MOST_STEPS = 12, 40


@text.register
def program_text(program: Program) -> str:
    """<Program dynamics: state[9], input[2], parameter[16] -> rate[9], 90 operations>"""
    ins = ", ".join(f"{group.name}[{group.size}]" for group in program.inputs)
    outs = ", ".join(f"{group.name}[{group.size}]" for group in program.outputs)
    return f"<Program {program.name}: {ins} -> {outs}, {program.operations} operations>"


@html.register
def program_html(program: Program) -> str:
    """Input and output groups with their labels, how often operations occur, and the first steps to unfold."""
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

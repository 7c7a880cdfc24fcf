"""The three ways in which nouns say what they are; modules beside this one register how theirs do."""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module

from trundle.errors import InputError
from trundle.expected import came

# The room of a noun, and the module that sums up its nouns. It loads when one of them is shown: whoever has a
# noun has loaded its room already, so that a robot's line never waits for the rooms of models or analyses.
_MODULES = {
    "analysis": "analysis_sentences",
    "control": "linear_summary",
    "mechanics": "mobility_summary",
    "model": "model_summary",
    "program": "program_summary",
    "results": "run_summary",
    "robot": "robot_summary",
    "wrenches": "wrench_summary",
}


@singledispatch
def text(noun: object) -> str:
    """A noun for a terminal, in a line or a few."""
    raise _unknown(noun)


@singledispatch
def html(noun: object) -> str:
    """A noun for a notebook."""
    raise _unknown(noun)


@singledispatch
def sentence(finding: object) -> str:
    """A finding in a sentence or two."""
    hint = "such as model.mobility, analysis.controllability or analysis.singularities"
    raise InputError(f"expected a finding, got {came(finding)}", hint=hint)


def load_summaries_of(noun: object) -> None:
    """Load the summaries of the rooms that a noun's class and those that it is made from come from."""
    for kind in type(noun).__mro__:
        package, _, path = kind.__module__.partition(".")
        room = path.partition(".")[0]
        if package == "trundle" and room in _MODULES:
            import_module(f"trundle.show.summaries.{_MODULES[room]}")


def _unknown(noun: object) -> InputError:
    hint = "it tells of robots, models, runs, batches, analyses, linear systems, programs and wrenches"
    return InputError(f"expected one of Trundle's objects, got {came(noun)}", hint=hint)

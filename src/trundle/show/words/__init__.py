"""What nouns say of themselves: a line in a terminal, HTML and a drawing in a notebook, a sentence for a finding.

Rooms below know only the doors of `trundle.shown`; which function writes which noun stands here, once. What a kind of
wheel, contact law or motor says, it brings itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.show.words.lines import harmless

if TYPE_CHECKING:
    from trundle.robot import Robot

# Noun -> the module and the beginning of the names of its functions: `robot` stands for robot_text(robot) and
# robot_html(robot). Loaded when something is shown: a robot's line must not wait for the model room.
_WRITERS = {
    "Batch": ("run_words", "batch"),
    "Breakdown": ("wrench_words", "breakdown"),
    "Inertia": ("wrench_words", "inertia"),
    "Linearization": ("linear_words", "linearization"),
    "Model": ("model_words", "model"),
    "Program": ("model_words", "program"),
    "Robot": ("robot_words", "robot"),
    "Run": ("run_words", "run"),
    "Twist": ("wrench_words", "twist"),
    "Wrench": ("wrench_words", "wrench"),
}
# Finding -> the module, and the function whose name with `_sentence` behind says it.
_SENTENCES = {
    "BaseMotion": ("analysis_sentences", "base_motion"),
    "ConstraintSummary": ("model_words", "constraints"),
    "Controllability": ("linear_words", "controllability"),
    "Determinant": ("analysis_sentences", "determinant"),
    "Manipulability": ("analysis_sentences", "manipulability"),
    "Mobility": ("robot_words", "mobility"),
    "Reach": ("analysis_sentences", "reach"),
    "Relation": ("analysis_sentences", "relation"),
    "Singularity": ("analysis_sentences", "singularity"),
    "Trim": ("linear_words", "trim"),
}


def to_text(noun: object) -> str:
    """A robot, model, run, batch, program or linearisation in words for a terminal: what `print(noun)` shows.

    Parameters
    ----------
    noun : Robot, Model, Run, Batch, Program or Linearization
        What to put into words.

    Returns
    -------
    str
        One line for most; a linearisation's matrices and poles take more.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_text(trundle.catalog.pendulum())
    "Robot 'pendulum' on a fixed base: 2 joints (revolute); 3 parameters"
    """
    return harmless(_written(_WRITERS, noun, "text"))


def to_html(noun: object) -> str:
    """The same nouns as a piece of HTML, every text in it escaped: what a notebook shows.

    Parameters
    ----------
    noun : Robot, Model, Run, Batch, Program or Linearization
        What to show.

    Returns
    -------
    str
        One `<div>`, with pictures inside it.

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_html(trundle.catalog.pendulum())[:15]
    '<div><p><b>pend'
    """
    return _written(_WRITERS, noun, "html")


def to_svg(robot: Robot) -> str:
    """The diagram of a robot as the text of an SVG element.

    Parameters
    ----------
    robot : Robot
        What to draw, with all joints at zero.

    Returns
    -------
    str
        The element's text.

    Raises
    ------
    InputError
        For anything else, and where the robot can't be put together.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_svg(trundle.catalog.differential_drive())[:4]
    '<svg'
    """
    from trundle.robot import Robot
    from trundle.show.figures.diagram import diagram_svg

    if not isinstance(robot, Robot):
        hint = "a model's is model.robot"
        raise InputError(f"to_svg takes a robot, not {type(robot).__name__}", hint=hint)
    return diagram_svg(robot)


def explain(found: object) -> str:
    """A finding in one or two sentences: what `found.explain()` gives.

    Parameters
    ----------
    found : Mobility, Reach, Singularity, Controllability, ...
        What derivation, an analysis or a linearisation found.

    Returns
    -------
    str
        Angles in degrees, other numbers in SI units.

    Raises
    ------
    TypeError
        For what has no sentence here.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> trundle.explain(model.mobility)
    'it drives and turns, and never moves sideways'
    """
    return _written(_SENTENCES, found, "sentence")


def _written(writers: dict[str, tuple[str, str]], noun: object, form: str) -> str:
    """By the class or the nearest that it is made from: users may make classes of ours their own."""
    for kind in type(noun).__mro__:
        if kind.__name__ in writers:
            module, start = writers[kind.__name__]
            return getattr(import_module(f"trundle.show.words.{module}"), f"{start}_{form}")(noun)
    raise TypeError(f"expected one of {', '.join(writers)}, got {type(noun).__name__}")

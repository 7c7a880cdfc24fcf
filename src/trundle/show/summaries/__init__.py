"""What nouns say of themselves: a line in a terminal, HTML and a drawing in a notebook, a sentence for a finding.

Rooms below know only the doors of `trundle.shown`; the modules beside this one write what their nouns say. What a
kind of wheel, contact law or motor says, it brings itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.show.summaries import verbs
from trundle.show.summaries.lines import harmless

if TYPE_CHECKING:
    from trundle.robot import Robot


def to_text(noun: object) -> str:
    """A robot, model, run, batch, program or linearisation summed up for a terminal: what `print(noun)` shows.

    Parameters
    ----------
    noun : Robot, Model, Run, Batch, Program or Linearization
        What to sum up.

    Returns
    -------
    str
        One line for most; a linearisation's matrices and poles take more.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_text(trundle.catalog.pendulum())
    "Robot 'pendulum' on a fixed base: 2 joints (revolute); 3 parameters"
    """
    verbs.load_summaries_of(noun)
    return harmless(verbs.text(noun))


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
    InputError
        For anything else.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_html(trundle.catalog.pendulum())[:15]
    '<div><p><b>pend'
    """
    verbs.load_summaries_of(noun)
    return verbs.html(noun)


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
    """A result in one or two sentences: what its method `explain` gives.

    Parameters
    ----------
    found : Mobility, Reach, Singularity, Controllability, ...
        A result of a derivation, an analysis or a linearisation.

    Returns
    -------
    str
        Angles in degrees, other numbers in SI units.

    Raises
    ------
    InputError
        For what has no sentence here.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> trundle.explain(model.mobility)
    'it drives and turns, and never moves sideways'
    """
    verbs.load_summaries_of(found)
    return verbs.sentence(found)

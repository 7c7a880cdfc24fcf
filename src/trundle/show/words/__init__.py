"""How nouns show themselves: a line in a terminal, HTML and a drawing in a notebook.

Rooms below know only the doors of `trundle.html.Shown`; which function writes which noun stands here, once.
"""

from __future__ import annotations

from importlib import import_module

# Noun -> the module and the beginning of the names of its functions: `robot` stands for robot_text(robot) and
# robot_html(robot). Loaded when something is shown: a robot's line must not wait for the model room.
_WRITERS = {
    "Robot": ("trundle.robot.present", "robot"),
    "Model": ("trundle.model.present", "model"),
    "Program": ("trundle.program.present", "program"),
    "Run": ("trundle.results.present", "run"),
    "Batch": ("trundle.results.present", "batch"),
    "Linearization": ("trundle.control.linear_text", "linearization"),
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
    "Robot 'pendulum' on a fixed base: 1 joint (revolute); 8 parameters"
    """
    return _written(noun, "text")


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
    return _written(noun, "html")


def to_svg(robot: object) -> str:
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
        Where the robot can't be put together.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_svg(trundle.catalog.differential_drive())[:4]
    '<svg'
    """
    from trundle.show.diagram import diagram_svg

    return diagram_svg(robot)


def _written(noun: object, form: str) -> str:
    for kind in type(noun).__mro__:
        if kind.__name__ in _WRITERS:
            module, start = _WRITERS[kind.__name__]
            return getattr(import_module(module), f"{start}_{form}")(noun)
    raise TypeError(f"expected one of {', '.join(_WRITERS)}, got {type(noun).__name__}")

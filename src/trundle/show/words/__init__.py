"""What every noun says of itself: in a terminal, in a notebook, for the command line, and as plain data.

A noun's class names its words here; what a kind of wheel, contact law or motor says, it brings itself.
"""

from __future__ import annotations

from collections.abc import Callable

from trundle.show.words import analysis_words, linear_words, model_words, robot_words, run_words

_TEXT: dict[str, Callable[..., str]] = {
    "Batch": run_words.batch_text,
    "Linearization": linear_words.linearization_text,
    "Model": model_words.model_text,
    "Robot": robot_words.robot_text,
    "Run": run_words.run_text,
}
_HTML: dict[str, Callable[..., str]] = {
    "Batch": run_words.batch_html,
    "Linearization": linear_words.linearization_html,
    "Model": model_words.model_html,
    "Program": model_words.program_html,
    "Robot": robot_words.robot_html,
    "Run": run_words.run_html,
}
_SENTENCES: dict[str, Callable[..., str]] = {
    "BaseMotion": analysis_words.base_motion,
    "ConstraintSummary": model_words.constraints,
    "Controllability": linear_words.controllability,
    "Determinant": analysis_words.determinant,
    "Manipulability": analysis_words.manipulability,
    "Mobility": robot_words.mobility,
    "Reach": analysis_words.reach,
    "Relation": analysis_words.relation,
    "Singularity": analysis_words.singularity,
}


def to_text(noun: object) -> str:
    """A noun as text: one line, or a page where it is made of tables.

    Parameters
    ----------
    noun : Robot, Model, Run, Batch or Linearization
        What is shown.

    Returns
    -------
    str
        What `repr(noun)` gives.

    Raises
    ------
    TypeError
        Where the class of `noun` has no words here.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_text(trundle.catalog.pendulum(links=1))
    "Robot 'pendulum' on a fixed base: 1 joint (revolute); 3 parameters"
    """
    return _words(_TEXT, noun)


def to_html(noun: object) -> str:
    """A noun as HTML: pictures, tables and what unfolds, for a notebook or a page of one's own.

    Parameters
    ----------
    noun : Robot, Model, Run, Batch, Program or Linearization
        What is shown.

    Returns
    -------
    str
        One `<div>`; names from files are escaped, pictures carry their own bytes.

    Raises
    ------
    TypeError
        Where the class of `noun` has no words here.

    Examples
    --------
    >>> import trundle
    >>> trundle.to_html(trundle.catalog.pendulum(links=1))[:23]
    '<div><p><b>pendulum</b>'
    """
    return _words(_HTML, noun)


def explain(found: object) -> str:
    """A finding in one or two sentences.

    Parameters
    ----------
    found : object
        What derivation, an analysis or a linearisation found: each has `.explain()`, which gives this.

    Returns
    -------
    str
        Angles in degrees, other numbers in SI units.

    Raises
    ------
    TypeError
        Where the class of `found` has no words here.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> trundle.explain(model.mobility)
    'it drives and turns, and never moves sideways'
    """
    return _words(_SENTENCES, found)


def _words(forms: dict[str, Callable[..., str]], noun: object) -> str:
    """By the class or the nearest of those it is made from: users may make classes of ours their own."""
    for kind in type(noun).__mro__:
        if kind.__name__ in forms:
            return forms[kind.__name__](noun)
    raise TypeError(f"a {type(noun).__name__} has no words here; there are those of {', '.join(forms)}")

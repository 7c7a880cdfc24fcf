"""Equations in each format by its name; those of nouns lead here."""

from __future__ import annotations

from trundle.choices import EQUATION_FORMATS
from trundle.errors import InputError, require_known
from trundle.expected import came, check_int
from trundle.formulas.equation import Equation
from trundle.formulas.robot_equations import Equations
from trundle.formulas.typeset import hypertext, markup, terminal

_MARKUPS = {
    "latex": markup.latex, "tex": markup.tex, "markdown": markup.markdown, "html": hypertext.notebook,
    "mathml": hypertext.fragment, "page": hypertext.page,
}  # fmt: skip

# Columns that a formula's first sign and its indent need: what is longer goes over several lines.
_NARROWEST = 3


def format_equations(equations: Equations | Equation, form: str, width: int = 100) -> str:
    r"""Equations in a format: a whole report, or one equation of it.

    Parameters
    ----------
    equations : Equations or Equation
        One equation is written as text, LaTeX or HTML only, without what it means.
    form : {"text", "latex", "tex", "markdown", "html", "mathml", "page"}
        Text is for a terminal, `latex` a part of a document and `tex` a whole one, `html` for a notebook: MathML
        with its styles. `mathml` is a part of a page that has the styles, and `page` a whole one.
    width : int
        Columns of a terminal, for text.

    Returns
    -------
    str

    Raises
    ------
    InputError
        There is no such format, or none for one equation.

    Examples
    --------
    >>> import trundle
    >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
    >>> trundle.format_equations(equations, "markdown").splitlines()[0]
    '# pendulum'
    """
    if not isinstance(equations, (Equation, Equations)):
        message = f"expected equations, got {came(equations)}"
        raise InputError(message, key="equations", hint="trundle.equations(robot) gives them")
    check_int(width, "width", _NARROWEST)
    alone = isinstance(equations, Equation)
    known = ("text", "latex", "html") if alone else EQUATION_FORMATS
    require_known(form, known, f"no format '{form}' of equations", key="form")
    if isinstance(equations, Equation):
        if form == "html":
            return hypertext.notebook(equations)
        return (
            terminal.equation_text(equations, width) if form == "text" else markup.equation_latex(equations)
        )
    return terminal.text(equations, width) if form == "text" else _MARKUPS[form](equations)

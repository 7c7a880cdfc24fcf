"""Equations: all that a robot's equations are, in sections, with what every symbol means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import sympy

from trundle.errors import InputError, suggest
from trundle.formulas.equation import (
    ACCELERATION,
    Definition,
    Equation,
    Expression,
    Section,
    SymbolInfo,
)


@dataclass(frozen=True)
class Equations:
    """A robot's equations. `equations["forward"]` is one by its name; `definitions` are the intermediate quantities
    in an order in which each uses only earlier ones; `symbols` says what the symbols mean.

    Every equation has been compared with the compiled program at `points` random points, to within `error`
    (relative to its largest term), before it came here.
    """

    name: str
    what: str
    sections: tuple[Section, ...]
    definitions: tuple[Definition, ...]
    symbols: tuple[SymbolInfo, ...]
    points: int = 0
    error: float = 0.0

    @cached_property
    def by_name(self) -> Mapping[str, Equation]:
        """All equations by name."""
        return {equation.name: equation for section in self.sections for equation in section.equations}

    def __getitem__(self, name: str) -> Equation:
        try:
            return self.by_name[name]
        except KeyError:
            message = f"'{self.name}' has no equation '{name}' among its {self.what}"
            raise InputError(message, key=name, hint=suggest(name, self.by_name, most=40)) from None

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    @cached_property
    def operations(self) -> int:
        """Operations of everything that is shown, definitions included."""
        shown = sum(equation.operations for equation in self.by_name.values())
        return shown + sum(int(sympy.count_ops(definition.expression)) for definition in self.definitions)

    @property
    def mass_matrix(self) -> Expression:
        """M(q), of the independent speeds."""
        return self["mass_matrix"].right

    @property
    def bias(self) -> Expression:
        """h(q, u): what is left of the forces where nothing accelerates, gravity included."""
        return self["bias"].right

    @property
    def input_matrix(self) -> Expression:
        """B(q): what the motors' torques put on the independent speeds."""
        return self["input_matrix"].right

    @property
    def accelerations(self) -> dict[str, Expression]:
        """The explicit accelerations by the speed's name; empty where M u̇ = … is left as it is."""
        return {
            name.removeprefix(ACCELERATION): equation.right
            for name, equation in self.by_name.items()
            if name.startswith(ACCELERATION)
        }

    def expanded(self, expression: Expression) -> Expression:
        """An expression with all definitions put in.

        Parameters
        ----------
        expression : sympy.Expr or matrix
            Of any equation here.

        Returns
        -------
        sympy.Expr or matrix

        Raises
        ------
        AttributeError
            It is no expression.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))

        >>> short = trundle.equations(trundle.catalog.differential_drive())
        >>> used = {definition.symbol for definition in short.definitions}
        >>> used & short.expanded(short["mass_matrix"].right).free_symbols
        set()
        """
        for definition in reversed(self.definitions):
            expression = expression.subs(definition.symbol, definition.expression)
        return expression

    def operations_of(self, *names: str) -> int:
        """Operations of some equations' right sides with every definition that they use counted once.

        Parameters
        ----------
        *names : str
            Names of equations.

        Returns
        -------
        int

        Raises
        ------
        InputError
            There is no such equation.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> equations.operations_of("mass_matrix") <= equations.operations
        True
        """
        expressions = [self[name].right for name in names]
        needed = set().union(*(e.free_symbols for e in expressions))
        total = sum(int(sympy.count_ops(e)) for e in expressions)
        for definition in reversed(self.definitions):
            if definition.symbol in needed:
                needed |= definition.expression.free_symbols
                total += int(sympy.count_ops(definition.expression))
        return total

    def text(self, width: int = 100) -> str:
        """For a terminal: titled sections, two-dimensional formulas where they fit into `width` columns.

        Parameters
        ----------
        width : int
            Columns.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> equations.text(width=80).splitlines()[0]
        'pendulum'
        """
        return self._written("text", width)

    def tex(self) -> str:
        r"""For a reader: a whole LaTeX document, as it goes through pdflatex.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> equations.tex().startswith(r"\documentclass")
        True
        """
        return self._written("tex")

    def latex(self) -> str:
        r"""For a paper: sections with numbered equations, each with a label (`\eqref{eq:NAME:forward}`), that fit an A4
        page with margins of 2 cm; needs the packages amsmath, array and longtable.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> r"\begin{" in equations.latex()
        True
        """
        return self._written("latex")

    def markdown(self) -> str:
        """For a page or a notebook: headings, formulas in $$.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> "$$" in equations.markdown()
        True
        """
        return self._written("markdown")

    def html(self) -> str:
        """For a notebook's page: MathML with its styles, set without network or scripts.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> "<math" in equations.html()
        True
        """
        return self._written("html")

    def mathml(self) -> str:
        """For a web page: sections of HTML whose formulas are MathML Core, which browsers set by themselves.

        `trundle.format_equations(equations, "page")` is a whole page, with the styles that these want.

        Returns
        -------
        str

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> "<math" in equations.mathml()
        True
        """
        return self._written("mathml")

    def data(self) -> dict[str, object]:
        """Plain data for JSON: expressions as text, which `sympy.sympify` reads back with `symbols` among its locals.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            Something in the equations has no words in this format.

        Examples
        --------
        >>> import trundle
        >>> equations = trundle.equations(trundle.catalog.pendulum(links=1))
        >>> equations.data()["name"]
        'pendulum'
        """
        return {
            "name": self.name,
            "what": self.what,
            "operations": self.operations,
            "checked": {"points": self.points, "largest_relative_error": self.error},
            "sections": [
                {
                    "key": section.key,
                    "title": section.title,
                    "notes": list(section.notes),
                    "equations": [_equation_data(equation) for equation in section.equations],
                }
                for section in self.sections
            ],
            "definitions": [_definition_data(definition) for definition in self.definitions],
            "symbols": [_symbol_data(info) for info in self.symbols],
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Equations of {self.name}: {', '.join(section.title for section in self.sections)}>"

    def _repr_latex_(self) -> str:
        return self.latex()

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return self.html()

    def _written(self, form: str, width: int = 100) -> str:
        from trundle import format_equations

        return format_equations(self, form, width)


def _equation_data(equation: Equation) -> dict[str, object]:
    data = {
        "name": equation.name,
        "meaning": equation.meaning,
        "left": _entries(equation.left),
        "right": _entries(equation.right),
        "operations": equation.operations,
    }
    return data if equation.vector is None else data | {"vector": _entries(equation.vector)}


def _definition_data(definition: Definition) -> dict[str, object]:
    return {
        "symbol": definition.symbol.name,
        "expression": str(definition.expression),
        "operations": int(sympy.count_ops(definition.expression)),
        "meaning": definition.meaning,
        "unit": definition.unit,
    }


def _symbol_data(info: SymbolInfo) -> dict[str, object]:
    return {
        "symbol": info.symbol.name,
        "kind": info.kind,
        "meaning": info.meaning,
        "unit": info.unit,
        "value": info.number,
        "keys": list(info.keys),
    }


def _entries(side: Expression) -> Expression:
    """Text of an expression, a list of a column, lists of rows of a matrix."""
    if not isinstance(side, sympy.MatrixBase):
        return str(side)
    return [str(entry) for entry in side] if side.cols == 1 else [[*map(str, row)] for row in side.tolist()]

"""Equations a person can read: derived with exact sums, written as SymPy, compared with the compiled programs."""

from trundle.formulas.equation import Definition, Equation, Expression, Section, SymbolInfo
from trundle.formulas.report import equations
from trundle.formulas.robot_equations import Equations

__all__ = [
    "Definition",
    "Equation",
    "Equations",
    "Expression",
    "Section",
    "SymbolInfo",
    "equations",
]

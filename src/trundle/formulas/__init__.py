"""Equations a person can read: derived with exact sums, written as SymPy, compared with the compiled programs."""

from trundle.formulas.equations import Definition, Equation, Equations, Section, SymbolInfo
from trundle.formulas.expression_reader import read_expression
from trundle.formulas.report import equations_of

__all__ = [
    "Definition",
    "Equation",
    "Equations",
    "Section",
    "SymbolInfo",
    "equations_of",
    "read_expression",
]

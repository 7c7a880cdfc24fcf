"""Reads formulas back from MathML Core into SymPy, by nothing but what a browser gets."""

from xml.etree import ElementTree

import sympy

FUNCTIONS = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "atan2": sympy.atan2, "sinc": sympy.sinc, "abs": sympy.Abs,
    "min": sympy.Min, "max": sympy.Max, "exp": sympy.exp, "ln": sympy.log, "tanh": sympy.tanh, "arctan": sympy.atan,
    "arcsin": sympy.asin,
}  # fmt: skip
WORDS = {**FUNCTIONS, "sqrt": sympy.sqrt, "Matrix": sympy.Matrix, "Q": sympy.Rational}
OPERATORS = {"\u2062": "*", "⋅": "*", "−": "-", "[": "(", "]": ")", "/": "/", "=": "=="}
OF = "\u2061"


def shape(element):
    """An element as text without what only a browser needs, by which symbols are known."""
    inner = "".join(map(shape, element)) or (element.text or "")
    return f"<{element.tag}>{inner}</{element.tag}>"


class Reader:
    """Knows the names of one report's symbols by their shapes, and the symbols that may stand in it by their names."""

    def __init__(self, shapes, symbols):
        self.keys = {written: f"s{k}" for k, written in enumerate(shapes)}
        self.known = {f"s{k}": symbols[name] for k, name in enumerate(shapes.values()) if name in symbols}

    def value(self, text):
        """What Python's words stand for."""
        return eval(text, WORDS, self.known)

    def text(self, elements):
        """Python's words for elements in a row: brackets may go from one row over to the next."""
        elements = list(elements)
        taken = [k for k, each in enumerate(elements) if each.tag == "mo" and each.text == OF]
        if taken:
            assert taken == [1], "one function is a row by itself"
            return self.function(elements[0], self.text(elements[2:]))
        return "".join(map(self.one, elements))

    @staticmethod
    def function(head, inside):
        """A function of what is inside, its power above its name."""
        name, power = (head, "") if head.tag == "mi" else head
        assert name.text in FUNCTIONS
        return f"{name.text}{inside if inside[0] == '(' else f'({inside})'}" + (
            f"**({power.text})" if head.tag == "msup" else ""
        )

    def one(self, element):
        """Python's words for one element."""
        if shape(element) in self.keys:
            return self.keys[shape(element)]
        if element.tag == "mo":
            return OPERATORS.get(element.text, element.text)
        if element.tag == "mrow":
            return self.text(element)
        if element.tag == "msubsup":
            base = ElementTree.Element("msub")
            base.extend(list(element)[:2])
            return f"{self.one(base)}**({self.one(element[2])})"
        if element.tag == "mtable":
            rows = (f"[{','.join(f'({self.text(cell)})' for cell in row)}]" for row in element)
            return f"Matrix([{','.join(rows)}])"
        if element.tag == "msup" and element[1].text == "T":
            return f"({self.one(element[0])}).T"
        makers = {
            "mn": lambda: f"Q('{element.text}')",
            "mspace": lambda: "",
            "mfrac": lambda a, b: f"(({a})/({b}))",
            "msqrt": lambda a: f"sqrt({a})",
            "msup": lambda a, b: f"(({a})**({b}))",
        }
        return makers[element.tag](*map(self.one, element))

"""What a program's values are called where a person reads them: `sin_elbow_angle` and `M_1_2`, not v17."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from trundle.program.ir import LOADS, Program

# Values of one and two operands whose names say more than a number does.
_OF_ONE = {
    "sin": "sin {0}", "cos": "cos {0}", "tan": "tan {0}", "sq": "{0} squared", "inv": "one over {0}",
    "sqrt": "root of {0}", "twice": "twice {0}", "neg": "minus {0}", "abs": "size of {0}",
}  # fmt: skip
_OF_TWO = {"add": "{0} plus {1}", "sub": "{0} minus {1}", "mul": "{0} times {1}", "div": "{0} over {1}"}
# A longer name says less than the line that it stands in.
_LONGEST = 44
# What values without a name are called.
_NUMBERED = re.compile(r"v\d+", re.IGNORECASE)


def value_names(program: Program, known: Mapping[int, str]) -> dict[int, str]:
    """Texts for a program's values, none twice: inputs, `known` ones, what is computed of one or two of these, results.

    Parameters
    ----------
    program : Program
        Whose labels say what comes in and goes out.
    known : mapping of int to str
        What its values are besides, by their numbers.

    Returns
    -------
    dict of int to str
        Any text, by value; `identifiers` makes words of them. A value that is nothing in particular has none.

    Examples
    --------
    >>> from trundle.languages.names import value_names
    >>> from trundle.program import Tracer
    >>> tracer = Tracer("state")
    >>> (angle,) = tracer.inputs("state", 1)
    >>> program = tracer.program("f", {"state": ("elbow.angle",)}, {"out": (("drop",), [3 - angle * angle])})
    >>> list(value_names(program, {}).values())
    ['elbow.angle', 'elbow.angle squared', 'drop']
    """
    names: dict[int, str] = {}
    texts: set[str] = set()

    def name(pairs: Iterator[tuple[int, str]]) -> None:
        for value, text in pairs:
            text = f"{text} value" if _NUMBERED.fullmatch(text) else text
            if value not in names and text not in texts:
                names[value] = text
                texts.add(text)

    ops = [instruction.op for instruction in program.instructions]
    name((v, text) for v, text in known.items() if ops[v] == "input")
    name(_inputs(program))
    name((v, text) for v, text in _computed(program, dict(names)) if ops[v] in ("sin", "cos"))
    name((v, text) for v, text in known.items() if ops[v] not in LOADS)
    name(_computed(program, dict(names)))
    name(_results(program))
    return names


def _inputs(program: Program) -> Iterator[tuple[int, str]]:
    """Inputs by their labels, with their groups' names where two groups have a label."""
    often = Counter(label for group in program.inputs for label in group.labels)
    for instruction in program.instructions:
        if instruction.op == "input":
            group, element = instruction.source
            label = program.inputs[group].labels[element]
            yield instruction.out, label if often[label] == 1 else f"{program.inputs[group].name} {label}"


def _computed(program: Program, names: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Functions of what has a name, and of sums, differences, products and quotients of two such."""
    texts = dict(names)
    for op, out, args, *_ in program.instructions:
        template = _OF_ONE.get(op) or (_OF_TWO.get(op) if all(a in names for a in args) else None)
        if template is not None and all(a in texts for a in args):
            text = template.format(*[texts[a] for a in args])
            if len(text) <= _LONGEST:
                texts.setdefault(out, text)
                yield out, text


def _results(program: Program) -> Iterator[tuple[int, str]]:
    """Results by their labels; "rate of x" where more than one group has the label x."""
    groups = (*program.inputs, *program.outputs)
    often = Counter(label for group in groups for label in group.labels)
    for group, values in zip(program.outputs, program.results, strict=True):
        for label, value in zip(group.labels, values, strict=True):
            if program.instructions[value].op != "const":
                yield value, label if often[label] == 1 else f"{group.name} of {label}"

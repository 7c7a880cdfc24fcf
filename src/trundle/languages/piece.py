"""The lines of one piece of a program in a language, as a person can read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trundle.expected import check_str
from trundle.program.ir import LOADS, Instruction
from trundle.program.pieces import Pieces

if TYPE_CHECKING:
    from trundle.languages.language import Language

# The name of the array in which pieces of a program pass their values on.
PASSED = "passed"
# An operand that is used once is written where it is used, up to this many characters: lines that a person can read.
_INLINED = 60
_CALL = re.compile(r"[\w.]+\([^()]*\)")


class PieceLines:
    """The lines of one piece of a program, as they are written."""

    def __init__(
        self,
        plan: Pieces,
        number: int,
        arguments: Sequence[str],
        words: Mapping[int, str],
        language: Language,
    ) -> None:
        """Of a plan the piece of this number; `words` say what its values are called."""
        self.plan, self.program, self.language = plan, plan.program, language
        self.own = {i.out: i for i in plan.inside[number]}
        self.read, self.written = arguments[: len(self.program.inputs)], arguments[len(self.program.inputs) :]
        self.last = number == len(plan.inside) - 1
        self.written_often = {
            op: [text.count(f"{{{k}}}") for k in range(3)] for op, text in language.operations.items()
        }
        self.uses = self._uses()
        self.words = words
        self.text: dict[int, str] = {}  # how a value is read where it is used
        self.width: dict[
            int, int
        ] = {}  # of that text if values were numbered: what is inlined hangs on no name

    def _uses(self) -> Counter[int]:
        """How often values are written in this piece, where they are stored and passed on included."""
        uses: Counter[int] = Counter()
        for i in self.own.values():
            for k, a in enumerate(i.args):
                uses[a] += self.written_often[i.op][k]
        uses.update(v for group in self.program.results for v in group if v in self.own)
        uses.update(v for v in self.own if v in self.plan.slots)
        return uses

    def lines(self) -> Iterator[str]:
        """Definitions in the program's order, then what is passed on, then the results."""
        language = self.language
        for value in sorted({a for i in self.own.values() for a in i.args} - self.own.keys()):
            yield from self._loaded(value)
        for value, instruction in self.own.items():
            expression, width = self._expression(instruction)
            if self.uses[value] == 1 and width <= _INLINED and value not in self.plan.slots:
                bare = _CALL.fullmatch(expression)
                self.text[value] = expression if bare else f"({expression})"
                self.width[value] = width if bare else width + 2
            else:
                yield self._defined(value, expression)
        for value in sorted(self.own.keys() & self.plan.slots.keys()):
            target = language.place(PASSED, self.plan.slots[value])
            yield language.store.format(target=target, value=self.text[value])
        for array, group in zip(self.written, self.program.results, strict=True):
            for k, value in enumerate(group):
                if value in self.own or (self.last and self.program.instructions[value].op in LOADS):
                    if value not in self.text:
                        yield from self._loaded(value)
                    target = language.place(array, k)
                    yield language.store.format(target=target, value=self._bare(value))

    def _bare(self, value: int) -> str:
        text = self.text[value]
        return text[1:-1] if text.startswith("(") and self.uses[value] == 1 and value in self.own else text

    def _loaded(self, value: int) -> Iterator[str]:
        """Make a value that this piece doesn't compute known: a literal, an input, or what an earlier piece passes."""
        op, _, _, number, (group, element), _ = self.program.instructions[value]
        if op == "const":
            literal = check_str(self.language.number(number), "number", "the literal's text")
            self.text[value] = f"({literal})" if literal.startswith("-") else literal
            self.width[value] = len(self.text[value])
            return
        if op == "input":
            expression = self.language.place(self.read[group], element)
        else:
            expression = self.language.place(PASSED, self.plan.slots[value])
        if self.uses[value] > 1:
            yield self._defined(value, expression)
        else:
            self.text[value], self.width[value] = expression, len(expression)

    def _defined(self, value: int, expression: str) -> str:
        self.text[value], self.width[value] = self.words.get(value, f"v{value}"), len(f"v{value}")
        return self.language.define.format(name=self.text[value], value=expression)

    def _expression(self, instruction: Instruction) -> tuple[str, int]:
        """The operation on its operands as they are read, and how wide it is where values are numbered."""
        template, times = self.language.operations[instruction.op], self.written_often[instruction.op]
        width = len(template) - len("{0}") * sum(times)
        width += sum(times[k] * self.width[a] for k, a in enumerate(instruction.args))
        return template.format(*[self.text[a] for a in instruction.args]), width

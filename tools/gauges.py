"""Measure the package and hold it: `python -m tools.gauges` (a part of `make lint`; `--list` names the places).

A gauge counts what a reader pays for: files to open, lines, names that mean two things. It may not rise above its bound
in the table below. Where it falls, the bound is lowered too, so that what was gained stays.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools import walks

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
# Rooms that may ask for a kind by its name: those that own kinds, and a format that has joints of its own.
OWN_KINDS = ("robot/", "mechanics/", "documents/urdf/")
LONG = 8  # lines of code of a function: more of them are not read at a glance
POSITIONS = 6  # positional arguments: of more, a reader of a call can't say which is which


@dataclass(frozen=True)
class File:
    """A file of the package: its place in it, and its text."""

    place: str
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All that stands in it."""
        return list(ast.walk(ast.parse(self.text)))

    @cached_property
    def code(self) -> set[int]:
        """The numbers of its lines of code: neither empty nor comments nor docstrings."""
        texts = (node for node in self.nodes if isinstance(node, ast.Expr) and _is_text(node.value))
        words = {line for text in texts for line in _lines(text)}
        lines = enumerate(self.text.splitlines(), 1)
        return {n for n, line in lines if n not in words and line.strip() and line.strip()[0] != "#"}

    @cached_property
    def functions(self) -> dict[str, FunctionNode]:
        """Its functions by their places."""
        found = [node for node in self.nodes if isinstance(node, FunctionNode)]
        return {f"{self.place}:{node.lineno} {node.name}": node for node in found}


Files = list[File]
Places = Mapping[str, int]
"""What a gauge finds: how much at which place."""


def read(package: Path) -> Files:
    """The files of a package, in order."""
    paths = sorted(package.rglob("*.py"))
    return [File(path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _lines(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def code_lines(files: Files) -> Places:
    """Lines of code by file."""
    return {file.place: len(file.code) for file in files}


def silent(files: Files) -> Places:
    """Functions of more than LONG lines of code in their bodies that have no docstring."""
    return {
        place: 1
        for file in files
        for place, node in file.functions.items()
        if ast.get_docstring(node) is None and _length(node, file.code) > LONG
    }


def _length(node: FunctionNode, code: set[int]) -> int:
    """Lines of code of a function's body."""
    return sum(len(code.intersection(_lines(each))) for each in node.body)


def positional(files: Files) -> Places:
    """Functions of more than POSITIONS arguments that a call may give by their order."""
    found = {place: node.args for file in files for place, node in file.functions.items()}
    names = {place: [a.arg for a in (*args.posonlyargs, *args.args)] for place, args in found.items()}
    return {place: 1 for place, each in names.items() if len({*each} - {"self", "cls"}) > POSITIONS}


def any_lines(files: Files) -> Places:
    """Lines that have the type Any."""
    return {
        f"{file.place}:{node.lineno}": 1
        for file in files
        for node in file.nodes
        if (isinstance(node, ast.Name) and node.id == "Any")
        or (isinstance(node, ast.Attribute) and node.attr == "Any")
    }


def twice(files: Files) -> Places:
    """Names of classes and aliases of types that stand at the top of two files or more."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for node in ast.iter_child_nodes(file.nodes[0]):
            for name in _type_names(node):
                found[name].add(file.place)
    return {f"{name}: {', '.join(sorted(places))}": 1 for name, places in found.items() if len(places) > 1}


def _type_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        yield from (name for name in names if re.match(r"_?[A-Z]\w*[a-z]", name))


def by_name(files: Files) -> Places:
    """Where a room asks for a kind by its class or its `type` (CONTRIBUTING.md: kinds say what they can do)."""
    named = dict(pair for file in files if file.place.startswith("robot/") for pair in _kinds(file))
    return {
        f"{file.place}:{node.lineno} {ast.unparse(node)}": 1
        for file in files
        if not file.place.startswith(OWN_KINDS)
        for node in file.nodes
        if isinstance(node, ast.expr) and _asks(node, named)
    }


def _kinds(file: File) -> Iterator[tuple[str, object]]:
    """The classes of a file of `robot/` that a `type` names, and that name."""
    for node in file.nodes:
        if isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and each.value]
            types = [each.value for each in fields if ast.unparse(each.target) == "type"]
            yield from ((node.name, each.value) for each in types if isinstance(each, ast.Constant))


def _asks(node: ast.expr, kinds: Mapping[str, object]) -> bool:
    """Whether an expression asks if something is one of the kinds, or if its `type` is the name of one."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
        return any(isinstance(each, ast.Name) and each.id in kinds for each in ast.walk(node.args[1]))
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "type":
        said = [each for right in node.comparators for each in ast.walk(right)]
        return any(isinstance(each, ast.Constant) and each.value in kinds.values() for each in said)
    return False


def _walked(start: Callable[[Path], Callable[[], object]]) -> Callable[[Files], Places]:
    """A gauge of the files of the installed package that a walk passes."""

    def gauge(_: Files) -> Places:
        walks.import_all()
        with tempfile.TemporaryDirectory() as folder:
            return dict.fromkeys(walks.files(start(Path(folder))), 1)

    return gauge


@dataclass(frozen=True)
class Gauge:
    """What is counted, the most that there may be, and why.

    `play` is how far it may fall below before its bound is to be lowered; None: as far as it likes.
    """

    count: Callable[[Files], Places]
    most: int
    reason: str
    play: int | None = 0


GAUGES = {
    # The walks hang on which libraries are installed, so they are held from above alone.
    "files from a plan to its CSV": Gauge(_walked(walks.plan), 85, "a reader opens them one by one", None),
    "files from markers to a moment": Gauge(_walked(walks.markers), 85, "so are these", None),
    # Ordinary work moves the lines, so bounds have some play and are lowered by whole steps.
    "lines of code": Gauge(code_lines, 83_980, "each line is read and kept by somebody", 1000),
    "lines with Any": Gauge(any_lines, 59, "pyright checks nothing there", 5),
    "kinds asked for by name": Gauge(by_name, 24, "a kind of a user's own is passed over there"),
    "type names in two files": Gauge(twice, 17, "one word for two things misleads"),
    "long functions without a docstring": Gauge(silent, 0, "nothing says what they are for"),
    "functions of many positions": Gauge(positional, 2, "calls can't be read, and arguments are swapped"),
}


def verdict(gauge: Gauge, value: int) -> str:
    """What is to be done about a value; nothing where it is within its bound."""
    if value > gauge.most:
        return f"TOO MANY: {gauge.reason}; --list names the places"
    if gauge.play is not None and value < gauge.most - gauge.play:
        return f"better than its bound: lower that to {value} in tools/gauges.py"
    return ""


def report(files: Files, gauges: Mapping[str, Gauge], places: bool = False) -> int:
    """Print each gauge with its bound; 1 where a bound is passed, or is to be lowered."""
    status = 0
    for name, gauge in gauges.items():
        found = gauge.count(files)
        value = sum(found.values())
        said = verdict(gauge, value)
        print(f"{name:<36} {value:>6,} of {gauge.most:>6,}  {said}".rstrip())
        if places:
            print("\n".join(f"    {place}" + f" ({n})" * (n > 1) for place, n in sorted(found.items())))
        status |= bool(said)
    return status


if __name__ == "__main__":
    sys.exit(report(read(walks.PACKAGE), GAUGES, "--list" in sys.argv))

"""Hold every public function and class to numpydoc form: `python -m tools.docstrings` (a part of `make lint`).

Public is what `trundle` and its public rooms (`trundle.catalog`, `documents` …) export, and the public methods of
their classes. Of each it asks for one sentence first; every parameter under Parameters, with its type; Returns, where
it returns something; Raises, where an error can reach the caller (a short list below says where none can); and an
example (functions only), which the tests run as a doctest.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import docstring_parser

import trundle

# What can't raise: it only hands out what is there.
CANNOT_RAISE = frozenset(
    {
        "catalog.motors",
        "catalog.names",
        "Breakdown.expanded",
        "Breakdown.table",
        "Estimator.smooth",
        "InputError.at",
        "Wrench.expanded",
        "Wrench.reaction",
        "program.Program.count_by_op",
        "program.Program.describe",
        "program.Program.steps",
    }
)
# What kinds of components tell their family, which nobody asks a robot for; and what pydantic's own pages describe.
HOOKS = frozenset({"default_counts", "keys_of", "model_copy", "owners_of"})
# Whose methods engines ask, and not users: one sentence each, which overrides inherit.
INTERFACES = frozenset({"Plant"})
# Rooms whose classes are parts of a description: their methods are what a kind of your own says (docs/extending.md).
OWN_KINDS = frozenset({"controllers", "robot", "sensors"})
# What needs no example of its own: constructors of errors and results are not called by users.
NO_EXAMPLE = frozenset({"InputError.at"})


def public() -> Iterator[tuple[str, Callable[..., object] | type]]:
    """Names and objects of the public surface, methods as CLASS.NAME."""
    for name in sorted(trundle.__all__):
        thing = getattr(trundle, name)
        if inspect.isclass(thing):
            yield name, thing
            yield from ((f"{name}.{method}", each) for method, each in methods(thing))
        elif inspect.ismodule(thing):
            yield from members(name, thing)
        elif callable(thing):
            yield name, thing


def members(room: str, module: ModuleType) -> Iterator[tuple[str, Callable[..., object] | type]]:
    """What a room gives away, with the methods of its classes."""
    for name in getattr(module, "__all__", None) or sorted(dir(module)):
        each = getattr(module, name)
        if name.startswith("_") or not (inspect.isclass(each) or inspect.isfunction(each)):
            continue
        yield f"{room}.{name}", each
        if inspect.isclass(each) and room not in OWN_KINDS:
            yield from ((f"{room}.{name}.{method}", found) for method, found in methods(each))


def methods(cls: type) -> Iterator[tuple[str, Callable[..., object]]]:
    """The public methods that a class of this package defines, properties and what an interface asks left out."""
    asked = {name for base in cls.__mro__ if base.__name__ in INTERFACES for name in vars(base)}
    for base in cls.__mro__:
        if not base.__module__.startswith("trundle"):
            continue
        for name, each in dict(vars(base)).items():  # importing a type may finish the class
            function = getattr(each, "__func__", each)  # static and class methods
            if not name.startswith("_") and name not in {*HOOKS, *asked} and inspect.isfunction(function):
                yield name, function


def lacking(name: str, thing: Callable[..., object] | type) -> list[str]:
    """What a docstring lacks."""
    text = inspect.getdoc(thing) or ""
    found = docstring_parser.parse(text, docstring_parser.DocstringStyle.NUMPYDOC)
    result = [] if found.short_description else ["a sentence on what it does"]
    if inspect.isclass(thing):
        return result
    described = {each.strip().lstrip("*"): p for p in found.params for each in p.arg_name.split(",")}
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        known = (
            described.get(parameter.name)
            or described.get(f"*{parameter.name}")
            or described.get(f"**{parameter.name}")
        )
        if known is None:
            result.append(f"parameter '{parameter.name}'")
        elif not known.type_name:
            result.append(f"type of '{parameter.name}'")
    returned = inspect.signature(thing).return_annotation
    if returned not in (None, "None", inspect.Signature.empty) and not found.many_returns:
        result.append("Returns")
    if not found.raises and name not in CANNOT_RAISE:
        result.append("Raises")
    if not found.examples and name not in NO_EXAMPLE:
        result.append("an example")
    return result


def main() -> int:
    """Print what is lacking; 1 if anything is."""
    faults = [(name, faults) for name, thing in public() if (faults := lacking(name, thing))]
    for name, each in faults:
        print(f"{name} lacks {', '.join(each)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

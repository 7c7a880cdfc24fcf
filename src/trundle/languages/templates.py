"""What a language says of itself, checked where it is made: templates whose slots are those that are filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import Formatter
from typing import TYPE_CHECKING

from trundle.errors import InputError, require_known
from trundle.expected import by_name, came, check_str
from trundle.program.ir import ARITY

if TYPE_CHECKING:
    from trundle.languages.language import Language

# What is filled into the templates of a language: what must stand there, and what may.
_SLOTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "define": (("name", "value"), ()),
    "store": (("target", "value"), ()),
    "call": (("name", "arguments"), ()),
    "evaluate": (("name", "read", "written"), ()),
    "each": (("target", "value"), ("size",)),
    "in_each": (("array",), ()),
    "own": (("array",), ("name",)),
    "workspace": ((), ("name",)),
    "element": (("array", "place"), ()),
}


def check_language(language: Language) -> None:
    """Raise InputError for operations that no program has, and for templates with other slots than are filled in."""
    check_str(language.name, "name")
    check_str(language.suffix, "suffix")
    for name, template in by_name(language.operations, "operations").items():
        key = f"operations.{name}"
        require_known(name, ARITY, f"programs have no operation '{name}'", key=key)
        operands = [str(k) for k in range(ARITY[name])]
        _check(template, operands, (), key)
    for name, (needed, allowed) in _SLOTS.items():
        _check(getattr(language, name), needed, allowed, name)
    for name in ("number", "framed"):
        if not callable(getattr(language, name)):
            raise InputError(f"expected a function, got {came(getattr(language, name))}", key=name)
    for name, text in by_name(language.helpers, "helpers").items():
        check_str(text, f"helpers.{name}")
    words = language.reserved
    if isinstance(words, str) or not isinstance(words, Collection):
        raise InputError(f"expected a set of words, got {came(words)}", key="reserved")
    for word in words:
        check_str(word, "reserved")


def _check(template: object, needed: Collection[str], allowed: Collection[str], key: str) -> None:
    """Raise InputError where a template lacks a slot that is needed, or has one that nothing fills."""
    listed = ", ".join(f"{{{slot}}}" for slot in (*needed, *allowed))
    hint = f"its slots are {listed}; a brace itself is written twice: {{{{"
    try:
        parts = list(Formatter().parse(check_str(template, key, hint)))
    except ValueError as error:
        raise InputError(f"{template!r} can't be filled in: {error}", key=key, hint=hint) from None
    slots = {slot for _, slot, _, _ in parts if slot is not None}
    if wrong := slots - {*needed, *allowed}:
        raise InputError(f"{template!r} has a slot {{{min(wrong)}}} that nothing fills", key=key, hint=hint)
    if missing := [slot for slot in needed if slot not in slots]:
        raise InputError(f"{template!r} lacks {{{missing[0]}}}", key=key, hint=hint)

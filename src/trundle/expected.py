"""Arguments of the kind that was expected, or an InputError that says what came: for what is used as it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TypeVar

from trundle.errors import InputError

_T = TypeVar("_T")
# Signs of a text that a message repeats.
_MOST_SIGNS = 40


def came(given: object) -> str:
    """What an argument is, in a message: its type, and a text or a number itself."""
    if given is None or isinstance(given, bool):
        return str(given)
    if isinstance(given, (str, int, float)):
        text = repr(given)
        return text if len(text) <= _MOST_SIGNS else f"{text[:_MOST_SIGNS]}…"
    return f"the type {given.__name__}" if isinstance(given, type) else type(given).__name__


def check_type(given: object, kind: type[_T], key: str, hint: str | None = None) -> _T:
    """The argument, which is of a kind of Trundle's; InputError where it isn't."""
    if isinstance(given, kind):
        return given
    article = "an" if kind.__name__[0] in "AEIO" else "a"
    raise InputError(f"expected {article} {kind.__name__}, got {came(given)}", key=key, hint=hint)


def check_str(given: object, key: str, hint: str | None = None) -> str:
    """The argument, which is text; InputError where it isn't."""
    if isinstance(given, str):
        return given
    raise InputError(f"expected text, got {came(given)}", key=key, hint=hint)


def check_bool(given: object, key: str) -> bool:
    """The argument, which is True or False; InputError where it isn't."""
    if isinstance(given, bool):
        return given
    raise InputError(f"expected True or False, got {came(given)}", key=key)


def check_float(given: object, key: str, *, above: float = -math.inf, unit: str = "") -> float:
    """The argument, which is a plain number above a bound; InputError where it isn't. A NaN is above nothing."""
    if isinstance(given, Real) and not isinstance(given, bool) and float(given) > above:
        return float(given)
    bound = "" if above == -math.inf else f" above {above:g}"
    raise InputError(f"expected a number{bound}{f' {unit}' if unit else ''}, got {came(given)}", key=key)


def check_int(given: object, key: str, least: int) -> int:
    """The argument, which is a whole number of at least `least`; InputError where it isn't."""
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= least:
        return int(given)
    raise InputError(f"expected a whole number of at least {least}, got {came(given)}", key=key)


def names_of(given: object, key: str) -> tuple[str, ...]:
    """The argument, which is a list of names; InputError where it isn't: a text alone is none."""
    if not isinstance(given, str) and isinstance(given, Iterable):
        names = tuple(given)
        if all(isinstance(name, str) for name in names):
            return names
        given = next(name for name in names if not isinstance(name, str))
    hint = f"write [{given!r}]" if isinstance(given, str) else 'such as ["NAME"]'
    raise InputError(f"expected a list of names, got {came(given)}", key=key, hint=hint)


def by_name(given: Mapping[str, _T], key: str, hint: str | None = None) -> Mapping[str, _T]:
    """The argument, which is a mapping of names; InputError where it isn't."""
    if not isinstance(given, Mapping):
        raise InputError(f"expected a mapping of names, got {came(given)}", key=key, hint=hint)
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"names are text, not {came(name)}", key=key, hint=hint)
    return given


def all_of(given: Iterable[_T], kind: type[_T], key: str) -> tuple[_T, ...]:
    """The argument, which is a list of a kind of Trundle's; InputError where it isn't."""
    if not isinstance(given, Iterable):
        raise InputError(f"expected a list of {kind.__name__}, got {came(given)}", key=key)
    return tuple(check_type(each, kind, key) for each in given)

"""Derivatives of results by name: how files call them, and how they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trundle.errors import InputError, require_known
from trundle.expected import check_str

_BY = " by "


def column_by(of: str, by: str) -> str:
    """What a file calls a derivative: "v_x by r"."""
    return f"{of}{_BY}{by}"


def split_columns(names: Iterable[str], of_all: Iterable[str] | None = None) -> dict[str, dict[str, str]]:
    """The names of a file that are derivatives: by what they are taken by and then of what, those of all others, or of
    all that are named.
    """
    parts = {name: name.partition(_BY) for name in names if name != "time"}
    slopes: dict[str, dict[str, str]] = {}
    for name, (of, by, what) in parts.items():
        if by and of in parts:
            slopes.setdefault(what, {})[of] = name
    plain = parts.keys() - {name for of in slopes.values() for name in of.values()}
    wanted = plain if of_all is None else set(of_all)
    return {by: of for by, of in slopes.items() if of.keys() == wanted}


def require_direction(by: object, gradients: Mapping[str, object] | Sequence[str], what: str) -> str:
    """The name that derivatives were taken by; InputError where there are none by it."""
    name = check_str(by, "by")
    if not gradients:
        hint = f'ask for them where it is made: gradients=["{name}"]'
        raise InputError(f"this {what} has no derivatives", key=name, hint=hint)
    require_known(name, tuple(gradients), f"the {what} has no derivatives by {name!r}")
    return name

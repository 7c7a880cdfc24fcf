"""Mutations of good input: of plain data and argument trees, of text, of bytes; each by random numbers of its own."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

# Where floats end: zero's neighbours, squares that overflow or vanish, the largest, what is none.
NUMBERS = (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-308, 1e-160, 1e-17, 1e17, 1e154, -1e155, 1e300, 1.7e308, -1.7e308)
ODD = (*NUMBERS, math.inf, -math.inf, math.nan, 1, -1, 2**31, 2**63, 10**400, True, None)
WORDS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1e400",
        "1e308",
        "nan",
        "inf",
        "true",
        "6 in",
        "90 deg",
        "2 min",
        "1/0",
        "sqrt(-1)",
    ),
    *(
        "1e300*1e300",
        "r",
        "r*r",
        "base",
        "world",
        "left",
        "ideal",
        "slip",
        "é",
        "\0",
        "x" * 300,
        "a.b",
        "../x",
    ),
)
PIECES = (
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        ", ",
        "- ",
        "# ",
        "'",
        '"',
        "\t",
        "\n",
        "\n  ",
        "&a ",
        "*a",
        "<<: ",
        "!!x ",
        "---\n",
    ),
    *(
        "<",
        ">",
        "/>",
        "&lt;",
        "&",
        "=",
        "\0",
        "\ufeff",
        "\ud7ff",
        "🙂",
        "\r",
        ";",
        "(",
        ")",
        "**",
        "*",
        "/",
        "^",
        "+",
        "-",
    ),
    *("e", ".", "_", "sin(", "1e9", "1e308", "nan", "inf", "9" * 400),
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", re.IGNORECASE)


def number_text(rng: Random) -> str:
    """An odd number as text."""
    return (
        repr(rng.choice(NUMBERS))
        if rng.random() < 0.9
        else rng.choice(("1e400", "nan", "inf", "9" * 400, "0x10"))
    )


def mutate_text(text: str, rng: Random) -> str:
    """A number replaced, a line dropped, doubled or moved, a piece thrown in, or a part cut out."""
    how = rng.randrange(6)
    numbers = list(_NUMBER.finditer(text)) if how < 2 else []
    if numbers:
        found = rng.choice(numbers)
        return text[: found.start()] + number_text(rng) + text[found.end() :]
    if how < 4 and "\n" in text:
        lines = text.splitlines(keepends=True)
        place = rng.randrange(len(lines))
        line = lines.pop(place)
        lines[place:place] = [[], [line] * 2, [lines[place - 1], line] if lines else [line]][rng.randrange(3)]
        return "".join(lines)
    start = rng.randint(0, len(text))
    end = min(len(text), start + (rng.randint(0, 12) if rng.random() < 0.8 else 10**6))
    return text[:start] + (rng.choice(PIECES) if rng.random() < 0.8 else "") + text[end:]


def mutate_bytes(content: bytes, rng: Random) -> bytes:
    """A bit flipped, bytes written over, a part cut out or doubled, or the end cut off."""
    if not content:
        return bytes(rng.randrange(256) for _ in range(8))
    how, place = rng.randrange(6), rng.randrange(len(content))
    length = rng.choice((1, 2, 4, 8, 16, 100))
    rest = content[place + length :]
    if how <= 1:
        return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
    if how == 2:
        return content[:place] + rng.choice((b"\0", b"\xff", b"\x7f", b" ")) * length + rest
    if how == 3:
        return content[:place] + rest
    if how == 4:
        return content[:place] + content[place : place + length] * 2 + rest
    return content[:place]


def mutate_tree(
    tree: object, rng: Random, others: Sequence[object] = (), odd: Sequence[object] = ODD
) -> object:
    """A copy of plain data (mappings, lists, values) with one thing changed at one place.

    A value becomes an odd one, a text, or a value of another type; an entry goes, comes twice, gets another name, or is
    taken from the same key anywhere in the `others`.
    """
    tree = copy.deepcopy(tree)
    parent, key = _place(tree, rng)
    if parent is None:
        return rng.choice((None, 3, "text", [], {}, [tree], tree))
    how = rng.randrange(10)
    if how < 4:
        parent[key] = _changed(parent[key], rng, odd)
    elif how < 6:
        donors = [each for other in (*others, tree) for each in _all_of(other, key)]
        parent[key] = copy.deepcopy(rng.choice(donors)) if donors else rng.choice(WORDS)
    elif how == 6:
        del parent[key]
    elif how == 7:
        again = copy.deepcopy(parent[key])
        parent[key] = rng.choice(([], {}, again, {"x": again}, [again], [again] * 3, [again] * 40))
    elif isinstance(parent, dict):
        name = rng.choice(WORDS) if how == 8 else f"{key}{rng.choice(('2', '_', ' ', '.x', 'é'))}"
        parent[name] = copy.deepcopy(parent[key]) if rng.random() < 0.5 else parent.pop(key)
    else:
        parent[key : key + 1] = [parent[key]] * rng.choice((2, 3, 50))
    return tree


def _place(tree: object, rng: Random) -> tuple[Any, Any]:
    """A random place: the container and the key in it, reached by going down at random."""
    parent, key, here = None, "", tree
    while isinstance(here, dict | list) and here and (parent is None or rng.random() < 0.85):
        parent, key = here, rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        here = parent[key]
    return parent, key


def _changed(value: object, rng: Random, odd: Sequence[object]) -> object:
    """Another value: a text's number replaced as often as the whole text."""
    if isinstance(value, str) and rng.random() < 0.5:
        return _NUMBER.sub(lambda _: number_text(rng), value, count=rng.choice((0, 1)))
    if isinstance(value, float | int) and abs(value) < 1e300 and rng.random() < 0.3:
        return value * rng.choice((-1, 0.5, 2, 1e-3, 1e3, 1e9))
    return rng.choice(odd) if rng.random() < 0.6 else rng.choice(WORDS)


def _all_of(tree: object, key: str | int) -> Iterator[object]:
    """Every value under a key of that name."""
    if isinstance(tree, Mapping):
        if key in tree:
            yield tree[key]
        for each in tree.values():
            yield from _all_of(each, key)
    elif isinstance(tree, list):
        for each in tree:
            yield from _all_of(each, key)

"""What packages call the groups of their functions: one word for groups that are alike, whatever has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trundle.exports.entries import Entry
from trundle.program import Group


@dataclass(frozen=True)
class Word:
    """A group's word, with a unit a label, and a default a label where there are any.

    At a word's first use it is the group's name; a group of that name with other labels is "odometry_step parameter".
    """

    word: str
    group: Group
    units: Sequence[str]
    defaults: Sequence[float]


def words(entries: Sequence[Entry]) -> tuple[Word, ...]:
    """The groups of all entries but for matrices, each once, in the order in which they come."""
    found: dict[Group, Word] = {}
    for entry in entries:
        for group in entry.groups:
            if group in found or group.name.startswith("d "):
                continue
            plain = group.name not in (each.name for each in found)
            word = group.name if plain else f"{entry.name} {group.name}"
            units, defaults = entry.units[group.name], entry.defaults.get(group.name, ())
            found[group] = Word(word, group, units, defaults)
    return tuple(found.values())


def commented(functions: str, entries: Sequence[Entry], opening: str, comment: str) -> str:
    """Functions with a comment of {meaning} before each entry's, which begins with `opening`, of {name}."""
    for entry in entries:
        begin = opening.format(name=entry.name)
        told = comment.format(meaning=f"{entry.meaning[0].upper()}{entry.meaning[1:]}.")
        functions = functions.replace(begin, f"{told}\n{begin}")
    return functions

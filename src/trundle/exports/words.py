"""What packages call the groups of their functions: one word for groups that are alike, whatever has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trundle.exports.entries import Entry
from trundle.languages import Language, arguments
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


def group_words(entries: Sequence[Entry]) -> dict[Group, str]:
    """A word for each group of all entries, in the order in which they come, none twice."""
    found: dict[Group, str] = {}
    for entry in entries:
        for group in entry.groups:
            if group not in found:
                plain = group.name not in (each.name for each in found)
                found[group] = group.name if plain else f"{entry.name} {group.name}"
    return found


def words(entries: Sequence[Entry]) -> tuple[Word, ...]:
    """The words of all groups but matrices, with what the first entry that has a group tells of it."""
    first = {group: entry for entry in reversed(entries) for group in entry.groups}
    return tuple(
        Word(word, group, first[group].units[group.name], first[group].defaults.get(group.name, ()))
        for group, word in group_words(entries).items()
        if not group.name.startswith("d ")
    )


def told(entry: Entry, language: Language) -> Iterator[str]:
    """Lines: what a function does, and the names of its arguments' and results' numbers."""
    yield f"{entry.meaning[0].upper()}{entry.meaning[1:]}."
    yield ""
    sizes = {group.name: group.size for group in entry.groups}
    for name, group in zip(arguments(entry.program, language), entry.groups, strict=True):
        of, mark, by = group.name.removeprefix("d ").partition("/d ")
        numbers = f"{sizes[of]} rows of {sizes[by]}, row by row" if mark else ", ".join(group.labels)
        yield f"{name}: {numbers or 'nothing'}"


def commented(functions: str, entries: Sequence[Entry], opening: str, comment: str) -> str:
    """Functions with a comment of {meaning} before each entry's, which begins with `opening`, of {name}."""
    for entry in entries:
        begin = opening.format(name=entry.name)
        told = comment.format(meaning=f"{entry.meaning[0].upper()}{entry.meaning[1:]}.")
        functions = functions.replace(begin, f"{told}\n{begin}")
    return functions

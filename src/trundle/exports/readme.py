"""What a package says of itself: its functions, what their numbers are, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trundle.languages.package import Content, Entry, Package, filled
from trundle.program import Group


def readme(content: Content, summary: str, package: Package) -> str:
    """The text of README.md: how to use it, then tables of every function's numbers."""
    described = "The description that it came from is in `description.yaml`. " if content.description else ""
    head = filled(
        "package/introduction.md", name=content.name, summary=summary[0].upper() + summary[1:],
        model=content.model, digest=content.digest, described=described,
    )  # fmt: skip
    return "\n".join([head, package.usage.strip(), "", *_tables(content.entries, package.first), ""])


def layout(entry: Entry) -> dict[str, object]:
    """An entry's names, units and defaults as plain data."""

    def group(numbers: Group) -> dict[str, object]:
        told = {"name": numbers.name, "labels": numbers.labels, "units": entry.units[numbers.name]}
        return {**told, "defaults": entry.defaults[numbers.name]} if numbers.name in entry.defaults else told

    return {
        "name": entry.name,
        "meaning": entry.meaning,
        "inputs": [group(numbers) for numbers in entry.program.inputs],
        "outputs": [group(numbers) for numbers in entry.program.outputs],
    }


def _tables(entries: Sequence[Entry], first: int) -> Iterator[str]:
    """A section a function; groups that several share are told once."""
    told: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        yield f"## `{entry.name}`\n\n{entry.sentence}\n"
        for kind, groups in (("in", entry.program.inputs), ("out", entry.program.outputs)):
            for group in groups:
                yield from _table(entry, group, kind, told, first)


def _table(
    entry: Entry, group: Group, kind: str, told: dict[str, tuple[str, ...]], first: int
) -> Iterator[str]:
    """Lines of one group; `told`: the groups by name whose tables stand above, to which this one is added."""
    if group.name in entry.unnamed:
        yield f"{kind}: `{group.name}`, {group.size} numbers: {entry.unnamed[group.name]}\n"
        return
    again = kind == "out" and group.name in [read.name for read in entry.program.inputs]
    name = f"new {group.name}" if again else group.name
    if told.get(group.name) == group.labels or not group.size:
        yield f"{kind}: `{name}`, {'as above' if group.size else 'no numbers'}\n"
        return
    told[group.name] = group.labels
    defaults = entry.defaults.get(group.name)
    yield f"{kind}: `{name}`, {group.size} numbers\n"
    yield f"| place | name | unit |{' default |' if defaults else ''}"
    yield f"| ---: | --- | --- |{' ---: |' if defaults else ''}"
    for place, (label, unit) in enumerate(zip(group.labels, entry.units[group.name], strict=True)):
        value = f" {defaults[place]!r} |" if defaults else ""
        yield f"| {place + first} | `{label}` | {unit} |{value}"
    yield ""

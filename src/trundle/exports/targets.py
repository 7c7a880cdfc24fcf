"""Where models can be taken: the targets of every language, and those made for one kind of machine or tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

from trundle.errors import warn

if TYPE_CHECKING:
    from trundle.languages.language import Language
    from trundle.languages.package import Target

# Folders whose modules may bring targets: languages, and what is more than a language (boards, classes, FMUs).
_FOLDERS = ("trundle.languages", "trundle.exports")


def _modules(folder: str) -> Iterator[ModuleType]:
    """The modules of a folder; one that can't be imported is warned of, and takes no other with it."""
    for each in iter_modules(import_module(folder).__path__):
        if not each.ispkg:  # what a target alone needs stands in folders
            try:
                yield import_module(f"{folder}.{each.name}")
            except Exception as error:  # whatever a broken file does
                text = f"targets of {folder}.{each.name} are missing: {type(error).__name__}: {error}"
                warn(text)


def languages() -> list[Language]:
    """All languages that files bring, by their names; those in single precision are no languages of their own."""
    from trundle.languages.language import Language

    values = [each for module in _modules(_FOLDERS[0]) for each in vars(module).values()]
    found = {each.name: each for each in values if isinstance(each, Language)}
    return [found[name] for name in sorted(found) if " " not in name]


class Targets(Mapping[str, "Target"]):
    """All targets by name: a file brings its own as `PACKAGES`.

    Files are loaded when a target is first asked for, so that `trundle --help` loads none.
    """

    @cached_property
    def _by_name(self) -> Mapping[str, Target]:
        modules = [module for folder in _FOLDERS for module in _modules(folder)]
        targets: list[Target] = [target for module in modules for target in getattr(module, "PACKAGES", ())]
        return {target.name: target for target in sorted(targets, key=lambda target: target.name)}

    def __getitem__(self, name: str) -> Target:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


TARGETS = Targets()

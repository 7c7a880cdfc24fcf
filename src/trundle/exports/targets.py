"""Where models can be taken: the targets of every language, and those made for one kind of machine or tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trundle.languages.package import Target

# Folders whose modules may bring targets: languages, and what is more than a language (boards, classes, FMUs).
_FOLDERS = ("trundle.languages", "trundle.exports")


class Targets(Mapping[str, "Target"]):
    """All targets by name: a file brings its own as `PACKAGES`.

    Files are loaded when a target is first asked for, so that `trundle --help` loads none.
    """

    @cached_property
    def _by_name(self) -> Mapping[str, Target]:
        modules = [
            import_module(f"{folder}.{module.name}")
            for folder in _FOLDERS
            for module in iter_modules(import_module(folder).__path__)
        ]
        targets = [target for module in modules for target in getattr(module, "PACKAGES", ())]
        return {target.name: target for target in sorted(targets, key=lambda target: target.name)}

    def __getitem__(self, name: str) -> Target:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


TARGETS = Targets()

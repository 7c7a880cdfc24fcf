"""What a run knows of its values beside their samples, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest

_Item = TypeVar("_Item")


class UnknownValueError(InputError, KeyError):
    """A name that the run doesn't hold; a KeyError, too, so that `get` and `in` work."""


class OfValues(Mapping[str, _Item]):
    """Something of each of a run's values: as it was `given` with them, or as `_read` has it without."""

    def __init__(
        self, given: Mapping[str, _Item], time: FloatArray, values: Mapping[str, FloatArray]
    ) -> None:
        self._given, self._time, self._values, self._alike = given, time, values, set(values)
        if isinstance(given, OfValues):
            # Another run's, which `dataclasses.replace` hands on, is that of what it hands on, too.
            self._given, same = given._given, given._time is time
            before = given._values
            self._alike = {name for name in given._alike if same and before.get(name) is values.get(name)}

    def __getitem__(self, name: str) -> _Item:
        if not isinstance(name, str) or name not in self._values:
            raise UnknownValueError(
                f"the run has no value {name!r} here", hint=suggest(str(name), self._values)
            )
        return self._read(name, self._given.get(name) if name in self._alike else None)

    def _read(self, name: str, given: _Item | None) -> _Item:
        """What is known of a value that the run holds."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

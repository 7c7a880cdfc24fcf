"""`Faults`: what is wrong with a file that is read all the same.

A fault that leaves one meaning is a note. One that leaves none is a part's, which is left out with its error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from trundle.errors import InputError, counted, warn

# So many parts are named in warnings of their own: a wrong unit makes every marker one.
_MOST_TOLD = 8


@dataclass(frozen=True)
class Faults:
    """A file's faults as they are found: `strict` makes an error of each.

    `unread` has the parts that couldn't be read, with their errors; `notes` what was warned of.
    """

    file: str
    strict: bool = False
    unread: dict[str, InputError] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, message: str, key: str | None = None, line: int | None = None) -> InputError:
        """Warn, once, of what is wrong and keeps no part from being read; the error that `strict` makes of it."""
        error = InputError(message, file=self.file, line=line, key=key)
        if self.strict:
            raise error
        if str(error) not in self.notes:
            self.notes.append(str(error))
            warn(str(error))
        return error

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Where a part of the file is read: what is wrong with it keeps nothing else from being read."""
        try:
            yield
        except InputError as error:
            if self.strict:
                raise error.at(file=self.file) from None
            self.unread[name] = error.at(file=self.file)

    def tell(self) -> None:
        """Warn of the parts that couldn't be read."""
        for name in list(self.unread)[:_MOST_TOLD]:
            warn(f"{name} could not be read: {self.unread[name]}")
        if more := list(self.unread)[_MOST_TOLD:]:
            warn(
                f"{self.file}: {counted(len(more), 'more part')} could not be read, from {more[0]} to {more[-1]}"
            )


def printable(text: str, most: int = 40) -> str:
    """A text from a file as a message may have it: broken bytes and control characters are question marks."""
    return "".join(sign if sign.isprintable() and sign != "\ufffd" else "?" for sign in text[:most])

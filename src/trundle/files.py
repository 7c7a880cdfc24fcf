"""Writing files whole or not at all: a crash leaves the old file or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trundle.errors import InputError


def path_of(given: object, call: str) -> Path:
    """The path that was given to `call`; InputError for what is none, an empty text and text of several lines too."""
    text = isinstance(given, str)
    if isinstance(given, os.PathLike) or (text and given and "\n" not in given):
        return Path(given)
    came = type(given).__name__ if not text else "text of several lines" if given else "an empty text"
    hint = "YAML itself is read by trundle.documents.parse(text)" if text and given else "give a file's name"
    raise InputError(f"{call} takes a path, not {came}", hint=hint)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new empty file beside `path` to write to; when the block ends well, it takes `path`'s place.

    The new file lies in the same folder, because a rename is atomic only within one file system, and is synced
    to the disk before the rename. When the block raises, the new file is removed and an old one stays as it was.
    Folders that are missing are made. Raises InputError where the file cannot be written.
    """
    target = Path(os.path.realpath(path))  # through a symbolic link: the link stays, its target is replaced
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "not a regular file"
        raise InputError(f"cannot write {str(path)!r}: it is {what}", hint="name a file")
    draft = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Opened by hand rather than by tempfile, whose files nobody else may read.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield draft
        _sync(draft)
        draft.replace(target)
    except OSError as error:
        _remove(draft)
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write {str(path)!r}: {reason}",
            hint=f"is there room, and may you write in {target.parent}?",
        ) from error
    except BaseException:
        _remove(draft)
        raise
    _sync(target.parent)


def read_bytes_start(path: Path, count: int) -> bytes:
    """The first `count` bytes of a file; InputError where it is missing, a folder, or not readable."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", file=str(path)) from error


def _remove(draft: Path) -> None:
    with suppress(OSError):
        draft.unlink()


def _sync(path: Path) -> None:
    """Flush a file (or a folder's list of names) to the disk; folders cannot be synced everywhere."""
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR
    try:
        handle = os.open(path, flags)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)

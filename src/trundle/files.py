"""Writing files whole or not at all: a crash leaves the old file or the new one, never half of one.

A file is written in a draft folder beside its place and renamed from there. The folder holds an advisory lock as long
as somebody writes: one without was left by a process that was killed, and is swept at the next write there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trundle.errors import InputError

# The name of a draft folder; it doesn't hang on the file's, which may be as long as names can be.
_PREFIX, _SUFFIX = ".trundle-", ".part"


def path_of(given: object, call: str) -> Path:
    """The path that was given to `call`; InputError for what is none, an empty text and text of several lines too."""
    text = isinstance(given, str)
    if isinstance(given, os.PathLike) or (text and given and "\n" not in given):
        return _nameable(Path(given))
    came = type(given).__name__ if not text else "text of several lines" if given else "an empty text"
    hint = "YAML itself is read by trundle.documents.parse(text)" if text and given else "give a file's name"
    raise InputError(f"{call} takes a path, not {came}", hint=hint)


def _nameable(path: Path) -> Path:
    """The path; InputError where no file can have that name here."""
    try:
        named = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        named = False
    if not named:
        what = f"a zero byte, or signs that this system's encoding, {sys.getfilesystemencoding()}, has not"
        raise InputError(f"no file can be called {str(path)!r}: it has {what}", hint="name it otherwise")
    return path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new empty file beside `path` to write to; when the block ends well, it takes `path`'s place.

    The new file lies in a folder beside the old one, because a rename is atomic only within one file system, and is
    synced to the disk before the rename. When the block raises, the new file is removed and an old one stays as it was.
    Folders that are missing are made. Raises InputError where the file cannot be written.
    """
    _nameable(Path(path))
    try:
        target = Path(
            os.path.realpath(path)
        )  # through a symbolic link: the link stays, its target is replaced
        if target.exists() and not target.is_file():
            what = "a folder" if target.is_dir() else "not a regular file"
            raise InputError(f"cannot write {str(path)!r}: it is {what}", hint="name a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with _draft_folder(target.parent) as folder:
            draft = folder / target.name
            draft.touch()
            yield draft
            _sync(draft)
            draft.replace(target)
    except OSError as error:
        raise InputError(
            f"cannot write {str(path)!r}: {error.strerror or error}",
            hint=f"is there room, and may you write in '{Path(path).parent}'?",
        ) from error
    _sync(target.parent)


@contextmanager
def _draft_folder(parent: Path) -> Iterator[Path]:
    """A new folder, locked until the block ends and then removed with what is in it."""
    for left in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        if (lock := _lock(left, wait=False)) is not None:  # nobody writes there any more
            _remove(left, lock)
    while True:
        folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, parent))
        lock = _lock(folder, wait=True)
        if folder.exists():  # another process may have swept it before it was locked
            break
        _close(lock)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """The handle of an open folder that nobody else has locked; None where somebody has, or nothing can be locked."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove(folder: Path, lock: int | None) -> None:
    """Remove a draft folder, its file first, and unlock it."""
    with suppress(OSError):
        for draft in folder.iterdir():
            draft.unlink()
        folder.rmdir()
    _close(lock)


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def read_bytes_start(path: Path, count: int) -> bytes:
    """The first `count` bytes of a file; InputError where it is missing, a folder, or not readable."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", file=str(path)) from error


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

"""Writing files whole or not at all: a crash leaves the old file or the new one, never half of one.

A file is written in a draft folder beside its place and renamed from there. The folder holds an advisory lock as long
as somebody writes: one without was left by a process that was killed, and is swept at the next write there.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from trundle.errors import InputError
from trundle.operating_system import can_lock, kept_open, lock, replace, unlock
from trundle.version import __version__

# The name of a draft folder; it doesn't hang on the file's, which may be as long as names can be.
_PREFIX, _SUFFIX = ".trundle-", ".part"
# What all common file systems allow (bytes).
_LONGEST_NAME = 255
# Room for an ending and a number within that, where a letter takes up to four bytes.
_LONGEST_STEM = 50
# What Windows takes for devices, whatever their endings.
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}
_MARK = re.compile(
    rb'written by trundle |"written_by": "trundle '  # text and JSON
    rb"|Software\0Trundle|<dc:title>Trundle</dc:title>|/Creator \(Trundle\)"  # PNG, SVG, PDF
)
_LOOKED_AT = 4096


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
    problem = ""
    try:
        named = os.fsencode(path)
        if b"\0" in named:
            problem = "it has a zero byte"
        elif max(map(len, named.split(os.fsencode(os.sep)))) > _LONGEST_NAME:
            problem = f"a part of it is longer than {_LONGEST_NAME} bytes"
    except UnicodeEncodeError:
        problem = f"this system's encoding, {sys.getfilesystemencoding()}, lacks some of its signs"
    if problem:
        raise InputError(f"no file can be called {str(path)!r:.80}: {problem}", hint="name it otherwise")
    return path


def is_taken(path: str | os.PathLike[str]) -> bool:
    """Whether something is there, be it a link that leads nowhere; InputError where no file can be."""
    try:
        _nameable(Path(path)).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    return True


def file_name(wanted: str, taken: Iterable[str] = ()) -> str:
    """A name for files (without their endings) after a text that anything may stand in: it leads into no other folder,
    hides no file, and is none of those that are `taken`.

    Other signs than letters, digits and _ . + - become _; a number keeps names apart.
    """
    name = re.sub(r"[^\w.+-]", "_", wanted)[:_LONGEST_STEM].strip(".") or "_"
    if name.partition(".")[0].upper() in _DEVICES:
        name = f"_{name}"
    known = {each.casefold() for each in taken}
    numbered = (f"{name}_{number}" for number in count(1))
    return name if name.casefold() not in known else next(n for n in numbered if n.casefold() not in known)


def require_writable(folder: Path) -> None:
    """Raise InputError where a folder can't be made or written in, as far as permissions tell; nothing is made."""
    there = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path())
    with _as_input_error(folder):
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def signature() -> str:
    """The words by which `is_marked` knows files that Trundle wrote; text holds them in a comment or under a key."""
    return f"written by trundle {__version__}"


def is_marked(path: Path) -> bool:
    """Whether a picture, a text or JSON carries Trundle's mark, near its begin or its end."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            begin = file.read(_LOOKED_AT)
            file.seek(max(0, path.stat().st_size - _LOOKED_AT))
            return any(_MARK.search(part) for part in (begin, file.read(_LOOKED_AT)))
    except OSError:
        return False


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new empty file beside `path` to write to; when the block ends well, it takes `path`'s place.

    The new file lies in a folder beside the old one, because a rename is atomic only within one file system, and is
    synced to the disk before the rename. When the block raises, the new file is removed and an old one stays as it was.
    Folders that are missing are made. Raises InputError where the file cannot be written.
    """
    _nameable(Path(path))
    with _as_input_error(Path(path)):
        target = Path(os.path.realpath(path))  # through a link: it stays, and its target is replaced
        if target.exists() and not target.is_file():
            what = "a folder" if target.is_dir() else "not a regular file"
            raise InputError(f"cannot write {str(path)!r}: it is {what}", hint="name a file")
        with replacing_in(target.parent, [target.name]) as drafts:
            draft = drafts / target.name
            draft.touch()
            yield draft


@contextmanager
def replacing_in(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield a new folder to write to; when the block ends well, its files of these names take their places in `folder`,
    one right after the other in that order. Otherwise as `replacing`. What is written in a draft folder by `replacing`
    stays there until then.
    """
    if _is_draft(folder):
        yield folder
        return
    with _as_input_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _draft_folder(folder) as drafts:
            with _as_input_error_of_last(drafts, folder):
                yield drafts
            written = [drafts / name for name in names if (drafts / name).exists()]
            for draft in written:
                with _as_input_error(folder / draft.relative_to(drafts)):
                    _sync(draft)
            for draft in written:
                place = folder / draft.relative_to(drafts)
                with _as_input_error(place):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    replace(draft, place)
        _sync(folder)


def _is_draft(folder: Path) -> bool:
    return folder.name.startswith(_PREFIX) and folder.name.endswith(_SUFFIX)


@contextmanager
def _as_input_error(path: Path) -> Iterator[None]:
    """What the system refuses, as an InputError that names the file's place, not its draft's."""
    try:
        yield
    except OSError as error:
        within = path.parent.parent if _is_draft(path.parent) else path.parent
        raise InputError(
            f"cannot write {str(within / path.name)!r}: {error.strerror or error}",
            hint="close it where it is open: in a spreadsheet, a viewer, another run"
            if kept_open(error)
            else f"is there room, and may you write in '{within}'?",
        ) from error


@contextmanager
def _as_input_error_of_last(drafts: Path, folder: Path) -> Iterator[None]:
    """What the system refuses, told of the file in `folder` whose draft was written to last."""
    try:
        yield
    except OSError as error:
        there = [path for path in drafts.rglob("*") if path.is_file()]
        if not there:
            raise
        last = max(there, key=lambda path: path.stat().st_mtime_ns)
        with _as_input_error(folder / last.relative_to(drafts)):
            raise error


@contextmanager
def _draft_folder(parent: Path) -> Iterator[Path]:
    """A new folder, locked until the block ends and then removed with what is in it."""
    for left in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        if (handle := lock(left, wait=False)) is not None:  # nobody writes there any more
            _remove(left, handle)
    while True:
        folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, parent))
        handle = lock(folder, wait=True)
        if folder.exists():  # another process may have swept it before it was locked
            break
        unlock(handle)
    try:
        yield folder
    finally:
        _remove(folder, handle)


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Keep a folder as long as this lasts; whether nobody else keeps it. Where nothing can be locked it is True."""
    if not can_lock():
        yield True
        return
    handle = lock(folder, wait=False)
    try:
        yield handle is not None
    finally:
        unlock(handle)


def _remove(folder: Path, handle: int | None) -> None:
    """Remove a draft folder, its file first, and unlock it."""
    with suppress(OSError):
        shutil.rmtree(folder)
    unlock(handle)


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file that has at most so many; raises InputError."""
    file = str(path)
    try:
        _require_ordinary(path)
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(f"can't be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    if len(content) > most:
        raise InputError(f"has more than {most:,} bytes", file=file)
    return content


def decoded(content: bytes, file: str | None) -> str:
    """The text of a file's bytes, which is UTF-8 with or without its mark; InputError with the line where it isn't."""
    if is_utf16(content):
        hint = "save it as UTF-8; the > of Windows PowerShell writes UTF-16, and Set-Content -Encoding utf8 does not"
        raise InputError("is UTF-16 text, and UTF-8 was expected", file=file, line=1, hint=hint)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
        message = f"is not UTF-8 text: a byte {byte:02X} stands in this line"
        hint = "save it as UTF-8; in a spreadsheet that is the format 'CSV UTF-8'"
        raise InputError(message, file=file, line=line, hint=hint) from None


def is_utf16(content: bytes) -> bool:
    """Whether bytes begin as UTF-16 does (UTF-32 too): with its mark, or with letters beside zeros."""
    begin = content[:64]
    halves = begin[::2], begin[1::2]
    letters_and_zeros = len(begin) > 3 and any(any(a) and not any(b) for a, b in (halves, halves[::-1]))
    return begin.startswith((b"\xff\xfe", b"\xfe\xff")) or letters_and_zeros


def _require_ordinary(path: Path) -> None:
    """InputError for a folder, and for a pipe or a device, which could be endless or never begin."""
    if path.exists() and not path.is_file():
        raise InputError("is a folder" if path.is_dir() else "is no ordinary file", file=str(path))


def read_bytes_start(path: Path, count: int) -> bytes:
    """The first `count` bytes of an ordinary file; InputError where it is missing, a folder, or not readable."""
    try:
        _require_ordinary(path)
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

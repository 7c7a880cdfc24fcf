"""Code that the driver has compiled, kept in Trundle's cache folder: by the text that it was made of, and for what.

`TRUNDLE_CACHE` names another folder. What can't be read or written there is compiled anew; nothing fails by it.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from trundle.errors import InputError
from trundle.files import replacing
from trundle.operating_system import cache_folder

MOST = 256
"""Files that are kept, of 10 to 500 kB; those that were written first go first."""
_DIGEST = 32  # bytes of a file's checksum, with which it begins


def folder() -> Path:
    """Where they are kept: a folder of the user's own for what can be made again."""
    named = os.environ.get("TRUNDLE_CACHE")
    return (Path(named) if named else cache_folder() / "trundle") / "cubins"


def key(text: str, target: str) -> str:
    """What code is known by: the PTX text, and the kind of processor."""
    return f"{hashlib.sha256(text.encode()).hexdigest()[:40]}-{target}"


def read(name: str) -> bytes | None:
    """The code of a key; None where there is none, or only a damaged one."""
    with suppress(OSError, RuntimeError):  # RuntimeError: a user without a home
        content = (folder() / name).read_bytes()
        if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            return content[_DIGEST:]
    return None


def write(name: str, code: bytes) -> None:
    """Keep code by its key."""
    with suppress(OSError, RuntimeError, InputError):
        with replacing(folder() / name) as draft:
            draft.write_bytes(hashlib.sha256(code).digest() + code)
        files = [each for each in folder().iterdir() if each.is_file()]
        for old in sorted(files, key=lambda each: each.stat().st_mtime)[:-MOST]:
            old.unlink(missing_ok=True)


def forget(name: str) -> None:
    """Remove the code of a key, which is of no use."""
    with suppress(OSError, RuntimeError):
        (folder() / name).unlink(missing_ok=True)

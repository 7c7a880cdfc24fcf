"""How the files of a package become a folder, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from trundle.errors import InputError
from trundle.files import is_taken, path_of, replacing_in, signature
from trundle.languages.package import Package
from trundle.operating_system import leads_out

# What says that a folder is a package, and which files are its own.
MANIFEST = "trundle-export.json"


def write(package: Package, output: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a package's files into a folder, whole or not at all.

    Parameters
    ----------
    package : Package
        The files.
    output : str or path
        The folder: one that isn't there or is empty, or one that an earlier export wrote, whose files are replaced.
        What was added beside them (a compiler's products) stays.
    force : bool
        Replace whatever has a name of the package's files.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        The folder holds something else, or files that were changed since they were written; it can't be written.

    Examples
    --------
    >>> from trundle.exports.package import Package, write
    >>> folder = write(Package({"hello.txt": "hello"}, "", {}), "greeting")
    >>> sorted(path.name for path in folder.iterdir())
    ['hello.txt', 'trundle-export.json']
    """
    if MANIFEST in package.files:
        raise InputError(
            f"'{MANIFEST}' is written by the export itself", key="files", hint="name it otherwise"
        )
    folder = path_of(output, "export")
    before = _earlier(folder)
    if not force:
        _require_own(folder, before, package.files)
    digests = {name: sha256(package.content(name)).hexdigest() for name in package.files}
    manifest = {"written_by": signature().removeprefix("written by "), **package.facts, "files": digests}
    try:
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        hint = "text, numbers, lists and mappings of them"
        raise InputError(f"a package's facts are plain data: {error}", key="facts", hint=hint) from None
    with replacing_in(folder, [*package.files, MANIFEST]) as drafts:
        for name in package.files:
            (drafts / name).parent.mkdir(parents=True, exist_ok=True)
            (drafts / name).write_bytes(package.content(name))
        (drafts / MANIFEST).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    for name in before.keys() - package.files.keys():
        (folder / name).unlink(missing_ok=True)
    return folder


def require_free(output: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise InputError where `write` would, before any work is done for it."""
    if not force:
        _require_own(path_of(output, "export"), _earlier(path_of(output, "export")))


def _earlier(folder: Path) -> Mapping[str, str]:
    """The files that an earlier export wrote there, with their digests."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = manifest["files"] if str(manifest["written_by"]).startswith("trundle ") else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    # a manifest that somebody wrote by hand leads nowhere but into its folder
    return {
        name: str(digest)
        for name, digest in (files.items() if isinstance(files, dict) else ())
        if not leads_out(name)
    }


def _require_own(folder: Path, before: Mapping[str, str], coming: Iterable[str] = ()) -> None:
    """Raise InputError where a folder holds what no export wrote, or what was changed since; `coming`: new files."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, and an export is a folder", file=str(folder), hint="name a folder")
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    if there and not before:
        others = ", ".join(there[:3]) + (f" and {len(there) - 3} more" if len(there) > 3 else "")
        raise InputError(
            f"holds something else than an export: {others}",
            file=str(folder),
            hint="name a new or an empty folder",
        )
    for name in coming:
        if name not in before and is_taken(folder / name):
            hint = "move it elsewhere, or export with --force (force=True)"
            raise InputError("is there already, and no export wrote it", file=str(folder / name), hint=hint)
    for name, digest in before.items():
        path = folder / name
        if path.is_file() and sha256(path.read_bytes()).hexdigest() != digest:
            hint = "copy what you changed elsewhere, or export with --force (force=True)"
            raise InputError("was changed since it was exported", file=str(path), hint=hint)

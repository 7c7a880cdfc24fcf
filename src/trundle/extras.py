"""Libraries that only some work needs: imported where that begins, or an error that says what to install."""

from __future__ import annotations

import csv
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from pathlib import Path
from types import ModuleType

from trundle.errors import InputError

# What a library can't do without; the rest (compiled Python, lists, texts) is made again or not missed.
_CODE = {".py", ".so", ".pyd", ".dylib", ".dll"}


def load(
    module: str,
    needed: str,
    *,
    extra: str | None = None,
    distribution: str | None = None,
    key: str | None = None,
    instead: str = "",
) -> ModuleType:
    """A module of a library that a plain install lacks.

    `needed` begins the message: who needs what, "a window needs pygame-ce". `extra` is Trundle's that brings it, and
    says how old it may be; without one pip knows it by the `distribution`, whose name is the module's by default.
    `instead` says what does without it. Raises InputError where it is missing, too old, or there in part.
    """
    name = distribution or module.partition(".")[0]
    wanted = f"'trundle[{extra}]'" if extra else name
    there, least = _version(name), _least(name, extra)
    if there is not None and least is not None and _is_older(there, least):
        message = f"{needed} {least} or newer, but {name} {there} is installed"
        raise InputError(message, key=key, hint=f"pip install --upgrade {wanted}")
    broken, why = _lost(name) or (name, "")
    try:
        if not why:
            return import_module(module)
    except Exception as error:  # whatever a library does that is there in part
        if there is None:
            hint = f"pip install {wanted}{instead and f'; {instead}'}"
            raise InputError(f"{needed}, which is not installed", key=key, hint=hint) from None
        why = f"can't be imported: {error}"
    message = f"{needed}{f' {least} or newer' if least else ''}; {there} is installed, but {why}"
    raise InputError(message, key=key, hint=f"pip install --force-reinstall {broken}")


@cache
def _lost(name: str) -> tuple[str, str] | None:
    """What of a library, or of one that it needs, is gone or empty, and whose it is: some files are missed only when
    they are used.

    A library whose installer kept no list of its files counts as whole; its own tests, which some take away, don't.
    """
    for each in _with_needed(name):
        found = distribution(each)
        # not its `files`, which newer Pythons give without those that are gone
        for path, _, size in csv.reader((found.read_text("RECORD") or "").splitlines()):
            place = Path(str(found.locate_file(path)))
            counts = place.suffix in _CODE and int(size or 0) and not {"test", "tests"} & {*Path(path).parts}
            if counts and not _is_there(place):
                return each, f"{each} lacks {path}"
    return None


def _is_there(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _with_needed(name: str) -> list[str]:
    """A library and, one after the other, those that it needs, as far as they are installed."""
    from packaging.requirements import Requirement

    found = [name]
    for each in found:
        needed = [Requirement(text) for text in (_version(each) and requires(each)) or ()]
        wanted = [one.name for one in needed if not one.marker or one.marker.evaluate({"extra": ""})]
        found += [one for one in wanted if one not in found and _version(one)]
    return [each for each in found if _version(each)]


def _version(name: str) -> str | None:
    """The installed version of what pip calls so; None where it isn't there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _least(distribution: str, extra: str | None) -> str | None:
    """The oldest version that an extra of Trundle's takes, by the metadata of the installed Trundle."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(each) for each in requires("trundle") or ()]
    except PackageNotFoundError:  # a checkout that is only on the path
        return None
    for each in wanted:
        if each.name == distribution and each.marker and each.marker.evaluate({"extra": extra or ""}):
            return next((bound.version for bound in each.specifier if bound.operator == ">="), None)
    return None


def _is_older(there: str, least: str) -> bool:
    from packaging.version import Version

    return Version(there) < Version(least)

"""Libraries that only some work needs: imported where that begins, or an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from types import ModuleType

from trundle.errors import InputError


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
    try:
        return import_module(module)
    except Exception as error:  # whatever a library does that is there in part
        if there is None:
            hint = f"pip install {wanted}{instead and f'; {instead}'}"
            raise InputError(f"{needed}, which is not installed", key=key, hint=hint) from None
        what = f"{needed}{f' {least} or newer' if least else ''}"
        message = f"{what}; {there} is installed, but can't be imported: {error}"
        raise InputError(message, key=key, hint=f"pip install --force-reinstall {name}") from error


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

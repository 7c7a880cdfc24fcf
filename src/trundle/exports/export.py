"""The verb `export`: a model as a folder of source text in another language, with all that tells what is in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Protocol, cast

from trundle.documents import dump
from trundle.errors import InputError, suggest
from trundle.exports.entries import Entry, entries
from trundle.exports.package import Options, Package, require_free, write
from trundle.exports.readme import layout, readme
from trundle.exports.targets import TARGETS, Target
from trundle.languages import identifier
from trundle.model import Model
from trundle.model.arguments import Given, derived


class _Maker(Protocol):
    def package(self, model: Model, entries: Sequence[Entry], options: Options) -> Package: ...


def export(
    model: Given,
    to: str,
    what: str | Sequence[str] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    name: str | None = None,
    precision: str | None = None,
    force: bool = False,
) -> Package:
    """A model in another language: functions of plain numbers, with names, units and defaults.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What is exported; what is no model is derived first.
    to : str
        The target, a name of `trundle.exports.targets.TARGETS`.
    what : str or sequence of str, optional
        Among "dynamics", "jacobian", "kinematics", "odometry" and "outputs", also as one text with commas; by default
        what the target says, or all that the model has.
    output : str or path, optional
        The folder to write, whole or not at all; without it nothing is written.
    name : str, optional
        What stands in names of files, functions and classes, by default made of the robot's name.
    precision : {"double", "single"}, optional
        Of the numbers, where the target has a choice.
    force : bool
        Replace files in the folder that were changed or that no export wrote, too.

    Returns
    -------
    Package
        The files by name.

    Raises
    ------
    InputError
        A name is unknown or a keyword in that language; the model lacks a part; the language lacks a function that the
        model computes; the folder holds something else.

    Examples
    --------
    >>> import trundle
    >>> package = trundle.export(trundle.catalog.pendulum(), "numpy", "dynamics")
    >>> sorted(package.files)
    ['README.md', 'description.yaml', 'pendulum.py']
    """
    target = _target(to)
    if output is not None:
        require_free(output, force=force)
    precision = target.precisions[0] if precision is None else precision
    if precision not in target.precisions:
        hint = f"there is {' and '.join(target.precisions)}"
        raise InputError(f"'{to}' has no precision '{precision}'", key="precision", hint=hint)
    found = derived(model, "export")
    chosen = entries(found, target.what, target.optional) if what is None else entries(found, _parts(what))
    options = Options(to, _named(found.name if name is None else name, name is None, chosen), precision)
    made = cast(_Maker, import_module(f"trundle.exports.{target.module}")).package(found, chosen, options)
    package = _documented(found, chosen, options, made)
    if output is not None:
        write(package, output, force=force)
    return package


def _target(to: str) -> Target:
    if to not in TARGETS:
        raise InputError(f"nothing is exported to '{to}'", key="to", hint=suggest(to, TARGETS))
    return TARGETS[to]


def _named(name: str, made: bool, chosen: Sequence[Entry]) -> str:
    """The package's name, which is a word of any language's letters and none of its functions."""
    plain = identifier(name)
    if plain in [entry.name for entry in chosen]:
        hint = f"give another name: {plain}_model, say (--name on the command line)"
        raise InputError(
            f"the package has a function '{plain}' and can't be called that, too", key="name", hint=hint
        )
    if plain != name and not made:
        message = f"'{name}' can't be a package's name: expected ASCII letters, digits and underscores"
        raise InputError(message, key="name", hint=f"name it {plain}, say")
    return plain


def _parts(what: str | Sequence[str]) -> Sequence[str]:
    return [each.strip() for each in what.split(",")] if isinstance(what, str) else list(what)


def _documented(model: Model, chosen: Sequence[Entry], options: Options, made: Package) -> Package:
    """A package with what stands in every one: how it is used, what it computes, and what it came from."""
    files = {"README.md": readme(model, chosen, options, made), **made.files}
    if model.robot is not None:
        files["description.yaml"] = dump(model.robot)
    facts = {
        "model": model.name,
        "target": options.target,
        "name": options.name,
        "precision": options.precision,
        "digest": model.digest,
        **made.facts,
        "entries": [layout(entry) for entry in chosen],
    }
    return replace(made, files=files, facts=facts)

"""The verb `export`: a model as a folder of source text in another language, with all that tells what is in it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from trundle.choices import EXPORTED
from trundle.documents import Document, dump, urdf_extras
from trundle.errors import InputError, require_known, suggest
from trundle.expected import came, check_bool, check_str, names_of
from trundle.exports.entries import entries, loops_of
from trundle.exports.example import example_inputs, example_step
from trundle.exports.package import require_free, write
from trundle.exports.preparing import with_prepared, with_used_parameters
from trundle.exports.readme import layout, readme
from trundle.exports.recognized import with_names
from trundle.exports.targets import TARGETS, languages
from trundle.languages.language import identifier, is_name
from trundle.languages.package import Content, Entry, Package, Target
from trundle.model.arguments import Given, derived, opened
from trundle.robot import Robot

# The likely fix where a target of one's own is none.
_OWN = "a name such as 'numpy', or a trundle.languages.package.Target of your own"


def export(
    model: Given,
    to: str | Target,
    what: str | Sequence[str] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    name: str | None = None,
    precision: str | None = None,
    force: bool = False,
    base: str | None = None,
) -> Package:
    """A model in another language: functions of plain numbers, with names, units and defaults.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What is exported; what is no model is derived first.
    to : str or Target
        The target, a name of `trundle.exports.targets.TARGETS`, or one of your own (docs/extending/language.md).
    what : str or sequence of str, optional
        Among "dynamics", "jacobian", "kinematics", "commands", "odometry" and "outputs", also as one text with commas;
        by default what the target says, or all that the model has.
    output : str or path, optional
        The folder to write, whole or not at all; without it nothing is written.
    name : str, optional
        What stands in names of files, functions and classes, by default made of the robot's name.
    precision : {"double", "single"}, optional
        Of the numbers, where the target has a choice.
    force : bool
        Replace files in the folder that were changed or that no export wrote, too.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

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
    target, force = _target(to), check_bool(force, "force")
    if output is not None:
        require_free(output, force=force)
    precision = target.precisions[0] if precision is None else check_str(precision, "precision")
    if precision not in target.precisions:
        hint = f"there is {' and '.join(target.precisions)}"
        raise InputError(f"'{target.name}' has no precision '{precision}'", key="precision", hint=hint)
    source = opened(model, "export", base)
    whole = derived(source, "export")
    parts, optional = (target.what, target.optional) if what is None else (_parts(what), ())
    chosen = entries(whole, parts, optional, samples=target.samples)
    chosen = with_used_parameters(chosen) if target.lean else chosen
    chosen = with_prepared(chosen) if target.prepares else chosen
    inputs = example_inputs(source, whole)
    content = Content(
        name=_named(whole.name if name is None else check_str(name, "name"), name is None, chosen),
        precision=precision,
        entries=with_names(chosen, whole),
        model=whole.name,
        digest=whole.digest,
        inputs=inputs,
        step=example_step(whole, inputs, chosen),
        description=None if whole.robot is None else dump(whole.robot),
        joints=partial(_joints_of, whole.robot),
        base_frame=partial(_base_frame_of, whole.robot),
        clocks=whole.clocks,
        loops=loops_of(whole),
    )
    try:
        package = _documented(content, target)
    except InputError as error:
        if error.key == "name" and name is None and isinstance(source, Document):
            raise source.locate(_of_description(error, whole.name)) from error
        raise
    if output is not None:
        write(package, output, force=force)
    return package


def _target(to: str | Target) -> Target:
    if isinstance(to, Target):
        return to
    if not isinstance(to, str):
        raise InputError(f"expected a target's name, got {came(to)}", key="to", hint=_OWN)
    require_known(to, TARGETS, f"nothing is exported to '{to}'", key="to", hint=_nearest_target)
    return TARGETS[to]


def _nearest_target(name: object, known: Collection[str]) -> str:
    """The nearest target, by its name or by a word of what it says of itself: "C++", "matlab"."""
    hint, word = suggest(name, known), re.compile(rf"\b{re.escape(str(name))}", re.IGNORECASE)
    found = [each for each, target in TARGETS.items() if word.search(target.summary)]
    if hint.startswith("did you mean") or not 1 <= len(found) <= 3:
        return hint
    return f"did you mean {' or '.join(map(repr, found))}?"


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


def _of_description(error: InputError, name: str) -> InputError:
    """The error about a package's name where the description gave it: its key, all languages, a name for all."""
    plain = identifier(name)
    free = f"{plain}_robot"  # no language has such a word
    against = [each.name for each in languages() if not is_name(plain, each)]
    others = [each for each in against if f" in {each}:" not in error.message]
    message = f"{error.message}; nor in {', '.join(others)}" if others else error.message
    hint = f"name it {free} there, or the package alone: --name {free}, name={free!r}"
    return InputError(message, key="robot.name", hint=hint)


def _parts(what: str | Sequence[str]) -> Sequence[str]:
    parts = [part.strip() for part in what.split(",")] if isinstance(what, str) else names_of(what, "what")
    if not parts:
        raise InputError("nothing is to be exported", key="what", hint=f"choose among {', '.join(EXPORTED)}")
    return parts


def _documented(content: Content, target: Target) -> Package:
    """A package with what stands in every one: how it is used, what it computes, and what it came from."""
    made = target.build(content)
    files = {"README.md": readme(content, target.summary, made), **made.files}
    if content.description is not None:
        files["description.yaml"] = content.description
    facts = {
        "model": content.model,
        "target": target.name,
        "name": content.name,
        "precision": content.precision,
        "digest": content.digest,
        **made.facts,
        "entries": [layout(entry) for entry in content.entries],
    }
    return replace(made, files=files, facts=facts)


def _joints_of(robot: Robot | None) -> Mapping[str, str]:
    """What a URDF calls the joints of a robot's wheels; nothing of robots from elsewhere."""
    return {} if robot is None or robot.urdf is None else urdf_extras(robot).joints


def _base_frame_of(robot: Robot | None) -> str:
    """The link of a URDF whose frame the base's is; REP 105's name of others."""
    return "base_link" if robot is None or robot.urdf is None else urdf_extras(robot).base_frame

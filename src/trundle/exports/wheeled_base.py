"""What classes for the base of a robot on wheels hold beside its functions: names, parameters, encoders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from trundle.exports.c_package import comment
from trundle.exports.entries import Entry
from trundle.exports.package import Options
from trundle.files import signature
from trundle.languages import identifiers
from trundle.languages.language import Language
from trundle.model import Model
from trundle.program import Group

# The functions that each class calls.
KINEMATICS, TWIST, ODOMETRY = "wheel_states", "base_twist", "odometry_step"


def filled(asset: str, words: Mapping[str, str]) -> str:
    """The text of a file under assets/ with every @WORD@ replaced."""
    text = files("trundle.exports").joinpath("assets", asset).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def listed(values: Iterable[object]) -> str:
    """Numbers as literals with their bits, and names in quotes, as C++ and Java write them alike."""
    return ", ".join(f'"{each}"' if isinstance(each, str) else repr(each) for each in values)


@dataclass(frozen=True)
class Field:
    """A parameter as a field of a class: an identifier, its default as a literal, what it is in words."""

    name: str
    value: str
    told: str


def parameter_fields(entries: Sequence[Entry], language: Language) -> tuple[Group | None, list[Field]]:
    """The parameters that all functions of a package share, in their order; no group and none where there are none."""
    for entry in entries:
        for group in entry.program.inputs:
            if group.name == "parameter" and group.size:
                names = identifiers(group.labels, language).values()
                each = zip(
                    names, group.labels, entry.units[group.name], entry.defaults[group.name], strict=True
                )
                return group, [
                    Field(name, language.number(value), comment(f"{label}, {unit}" if unit else label))
                    for name, label, unit, value in each
                ]
    return None, []


def kinematics_class(
    asset: str, trailing: str, model: Model, entries: Sequence[Entry], options: Options
) -> str:
    """A class of kinematics; `trailing` is the argument of the trailing wheels' rates, where there are such wheels."""
    words = _kinematics_words(model, entries, options)
    name, _, suffix = asset.partition(".")
    determined = any(entry.name == TWIST for entry in entries)
    words["BACK"] = filled(f"{name}.back.{suffix}", {}) if determined else ""
    words["TRAILING_ARGUMENT"] = f", {trailing}" if words["TRAILING"] else ""
    return filled(asset, words)


def _kinematics_words(model: Model, entries: Sequence[Entry], options: Options) -> dict[str, str]:
    modules = model.kinematics().modules
    names = {entry.name for entry in entries}
    assert {KINEMATICS, "next_wheel_states", "wheel_measures"} <= names
    trailing = [k for k, module in enumerate(modules) if module.trails]
    return {
        **_signed(options),
        "COUNT": str(len(modules)),
        "NAMES": listed(module.name for module in modules),
        "TRAILING": listed(trailing),
        "TRAILING_COUNT": str(len(trailing)),
    }


def odometry_words(entry: Entry, options: Options) -> dict[str, str]:
    """What is filled into a class of odometry; it reads the coordinates that are counted, then other angles."""
    _, increment, angle, _ = entry.program.inputs
    readings = [*increment.labels, *(each for each in angle.labels if each not in increment.labels)]
    steered = [place for place, label in enumerate(increment.labels) if label.endswith(".steering")]
    return {
        **_signed(options),
        "READINGS": str(len(readings)),
        "INCREMENTS": str(increment.size),
        "ANGLES": str(angle.size),
        "NAMES": listed(readings),
        "ANGLE_PLACES": listed(readings.index(each) for each in angle.labels),
        "STEERED": listed(steered),
        "STEERED_COUNT": str(len(steered)),
    }


def _signed(options: Options) -> dict[str, str]:
    return {"ROBOT": options.name, "PACKAGE": options.name, "SIGNATURE": signature()}

"""What classes for the base of a robot on wheels hold beside its functions: names, radii, which encoders are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from trundle.exports.entries import Entry
from trundle.exports.package import Options
from trundle.files import signature
from trundle.model import Model

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
    assert {KINEMATICS, "next_wheel_states"} <= names
    trailing = [k for k, module in enumerate(modules) if module.trails]
    return {
        **_signed(options),
        "COUNT": str(len(modules)),
        "NAMES": listed(module.name for module in modules),
        "RADII": listed(float(module.radius) for module in modules),
        "HEADINGS": listed(float(module.heading) for module in modules),
        "TRAILING": listed(trailing),
        "TRAILING_COUNT": str(len(trailing)),
    }


def odometry_words(entry: Entry, options: Options) -> dict[str, str]:
    """What is filled into a class of odometry; it reads the coordinates that are counted, then other angles."""
    _, increment, angle, parameter = entry.program.inputs
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
        "PARAMETER_COUNT": str(parameter.size),
        "PARAMETERS": listed(entry.defaults["parameter"]),
    }


def _signed(options: Options) -> dict[str, str]:
    return {"ROBOT": options.name, "PACKAGE": options.name, "SIGNATURE": signature()}

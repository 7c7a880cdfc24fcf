"""What classes for the base of a robot on wheels hold beside its functions: names, parameters, encoders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trundle.languages import identifiers
from trundle.languages.c import comment
from trundle.languages.language import Language
from trundle.languages.package import Content, Entry, filled
from trundle.program import Group

# The functions that each class calls.
KINEMATICS, TWIST, ODOMETRY = "wheel_states", "base_twist", "odometry_step"


def listed(values: Iterable[object]) -> str:
    """Numbers as literals with their bits, and names in quotes, as C++ and Java write them alike."""
    return ", ".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in values)


@dataclass(frozen=True)
class Field:
    """A parameter as a field of a class: an identifier, its default as a literal, what it is in words."""

    name: str
    value: str
    told: str


def parameter_fields(content: Content, language: Language) -> tuple[Group | None, list[Field]]:
    """The parameters that all functions of a package share, in their order; no group and none where there are none."""
    for word in content.words:
        if word.word == "parameter" and word.group.size:
            names = identifiers(word.group.labels, language).values()
            rows = zip(names, word.group.labels, word.units, word.defaults, strict=True)
            return word.group, [
                Field(name, language.number(value), comment(f"{label}, {unit}" if unit else label))
                for name, label, unit, value in rows
            ]
    return None, []


def kinematics_class(asset: str, trailing: str, content: Content) -> str:
    """A class of kinematics; `trailing` is the argument of the trailing wheels' rates, where there are such wheels."""
    entry = content.entry(KINEMATICS)
    assert entry is not None
    by_name = {group.name: group.labels for group in entry.program.outputs}
    wheels, turning = by_name["angle"], by_name.get("steering_rate", ())
    name, _, suffix = asset.partition(".")
    words = {
        **_signed(content),
        "count": str(len(wheels)),
        "names": listed(wheels),
        "trailing": listed(wheels.index(wheel) for wheel in turning),
        "trailing_count": str(len(turning)),
        "trailing_argument": f", {trailing}" if turning else "",
        "back": filled(f"{name}.back.{suffix}") if content.entry(TWIST) else "",
    }
    return filled(asset, **words)


def odometry_words(entry: Entry, content: Content) -> dict[str, str]:
    """What is filled into a class of odometry; it reads the coordinates that are counted, then other angles."""
    _, increment, angle, _ = entry.program.inputs
    readings = [*increment.labels, *(label for label in angle.labels if label not in increment.labels)]
    # a counted angle on which the formulas depend, too, is a steering's: its encoder may wrap at a turn
    steered = [place for place, label in enumerate(increment.labels) if label in angle.labels]
    return {
        **_signed(content),
        "readings": str(len(readings)),
        "increments": str(increment.size),
        "angles": str(angle.size),
        "names": listed(readings),
        "angle_places": listed(readings.index(label) for label in angle.labels),
        "steered": listed(steered),
        "steered_count": str(len(steered)),
    }


def _signed(content: Content) -> dict[str, str]:
    prepared = content.prepared
    assert prepared is not None, "wheels have radii"
    return {"name": content.name, "prepared": str(prepared.size)}

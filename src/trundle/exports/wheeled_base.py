"""What classes for the base of a robot on wheels hold beside its functions: names, parameters, encoders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trundle.languages import identifiers
from trundle.languages.c import comment
from trundle.languages.language import Language
from trundle.languages.package import Content, Entry, filled
from trundle.program import Group

# The functions that classes call.
KINEMATICS, TWIST, ODOMETRY, COMMANDS = "wheel_states", "base_twist", "odometry_step", "joint_commands"


def listed(values: Iterable[object]) -> str:
    """Numbers as literals with their bits, and names in quotes, as C++ and Java write them alike."""
    return ", ".join(f'"{value}"' if isinstance(value, str) else repr(value) for value in values)


@dataclass(frozen=True)
class ParameterField:
    """A parameter as a field of a class: an identifier, its default as a literal, what it is in words."""

    name: str
    value: str
    told: str


def parameter_fields(content: Content, language: Language) -> tuple[Group | None, list[ParameterField]]:
    """The parameters that all functions of a package share, in their order; no group and none where there are none."""
    for word in content.words:
        if word.word == "parameter" and word.group.size:
            names = identifiers(word.group.labels, language).values()
            rows = zip(names, word.group.labels, word.units, word.defaults, strict=True)
            return word.group, [
                ParameterField(name, language.number(value), comment(f"{label}, {unit}" if unit else label))
                for name, label, unit, value in rows
            ]
    return None, []


def interfaces(commands: Entry, odometry: Entry) -> dict[str, tuple[str, ...]]:
    """Coordinates of joints that are told velocities and positions, and of those that are read."""
    outputs = {group.name: group.labels for group in commands.program.outputs}
    return {
        "velocities": outputs["velocity"],
        "positions": outputs.get("position", ()),
        "readings": readings(odometry),
    }


def readings(odometry: Entry) -> tuple[str, ...]:
    """The coordinates that are read: those that are counted, then other angles."""
    _, increment, angle, _ = odometry.program.inputs
    return (*increment.labels, *(label for label in angle.labels if label not in increment.labels))


@dataclass(frozen=True)
class Pivot:
    """A steered wheel whose pivot is read, by its place among the wheels and the readings; `trails` like a caster."""

    wheel: int
    reading: int
    trails: bool


def pivots(states: Entry, odometry: Entry) -> list[Pivot]:
    """The pivots that are read; wheels that trail are led by what is read, others by what they were told."""
    outputs = {group.name: group.labels for group in states.program.outputs}
    trailing, read = outputs.get("steering_rate", ()), readings(odometry)
    return [
        Pivot(k, read.index(f"{wheel}.steering"), wheel in trailing)
        for k, wheel in enumerate(outputs["angle"])
        if f"{wheel}.steering" in read
    ]


def classes(
    content: Content, folder: str, suffix: str, trailing: str, back: str
) -> tuple[dict[str, str], str]:
    """The classes that the entries allow, by name, and how they are used, from the texts in a folder of assets.

    trailing: the argument of the trailing wheels' rates; back: what is said of the way from wheels to the twist.
    """
    kinematics, odometry = content.entry(KINEMATICS), content.entry(ODOMETRY)
    texts: dict[str, str] = {}
    if kinematics is None and odometry is None:
        return texts, ""
    assert content.prepared is not None, "wheels have radii"
    shared = {"name": content.name, "prepared": content.prepared.size}
    usage = filled(f"{folder}/classes.md", name=content.name)
    if kinematics is not None:
        words = kinematics_words(kinematics, trailing)
        if has_back := content.entry(TWIST) is not None:
            words["back"] = filled(f"{folder}/Kinematics.back.{suffix}")
        texts["Kinematics"] = filled(f"{folder}/Kinematics.{suffix}", **shared, **words)
        usage += filled(f"{folder}/kinematics.md", name=content.name, back=back if has_back else "")
    if odometry is not None:
        words = odometry_words(odometry)
        texts["Odometry"] = filled(f"{folder}/Odometry.{suffix}", **shared, **words)
        usage += filled(f"{folder}/odometry.md", readings=words["names"].replace('"', "`"))
    return texts, usage


def kinematics_words(entry: Entry, trailing: str) -> dict[str, str]:
    """What is filled into a class of kinematics, or a loop."""
    by_name = {group.name: group.labels for group in entry.program.outputs}
    wheels, turning = by_name["angle"], by_name.get("steering_rate", ())
    return {
        "count": str(len(wheels)),
        "names": listed(wheels),
        "trailing": listed(wheels.index(wheel) for wheel in turning),
        "trailing_count": str(len(turning)),
        "trailing_argument": f", {trailing}" if turning else "",
        "back": "",
    }


def odometry_words(entry: Entry) -> dict[str, str]:
    """What is filled into a class of odometry, or a loop."""
    _, increment, angle, _ = entry.program.inputs
    read = readings(entry)
    # a counted angle on which the formulas depend, too, is a steering's: its encoder may wrap at a turn
    steered = [place for place, label in enumerate(increment.labels) if label in angle.labels]
    return {
        "readings": str(len(read)),
        "increments": str(increment.size),
        "angles": str(angle.size),
        "names": listed(read),
        "angle_places": listed(read.index(label) for label in angle.labels),
        "steered": listed(steered),
        "steered_count": str(len(steered)),
    }

"""The control loop of a base on wheels for a microcontroller: what is filled into its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trundle.exports.wheeled_base import (
    COMMANDS,
    KINEMATICS,
    ODOMETRY,
    interfaces,
    kinematics_words,
    odometry_words,
    pivots,
)
from trundle.languages.c import comment
from trundle.languages.package import Content


def loop_words(content: Content) -> dict[str, str] | None:
    """What is filled into the control loop; none where the package lacks what it calls."""
    states, commands, odometry = (content.entry(name) for name in (KINEMATICS, COMMANDS, ODOMETRY))
    if states is None or commands is None or odometry is None:
        return None
    joints, read = interfaces(commands, odometry), pivots(states, odometry)
    wheels, counted = kinematics_words(states, "rate"), odometry_words(odometry)
    places = {
        "pivot_count": str(len(read)),
        "pivots": ", ".join(f"{{{k.wheel}, {k.reading}, {str(k.trails).lower()}}}" for k in read)
        or "{0, 0, false}",
    }
    sizes = {
        f"{word}_room": max(1, int(size))
        for word, size in (
            ("angles", counted["angles"]),
            ("trailing", wheels["trailing_count"]),
            ("pivots", len(read)),
            ("positions", len(joints["positions"])),
        )
    }
    words = {
        **wheels, **counted, **sizes, **places, **_board_words(joints),
        "name": content.name,
        "upper": content.name.upper(),
        "wheels": wheels["count"],
        "trailing": wheels["trailing"] or "0",
        "angle_places": counted["angle_places"] or "0",
        "allowed": _allowed(content),
        "position_argument": ", position" if joints["positions"] else "",
    }  # fmt: skip
    return {word: str(value) for word, value in words.items()}


def _board_words(joints: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Names of joints as comments say them, and which command an encoder's joint follows where no robot is there."""

    def place(labels: Sequence[str]) -> str:
        return ", ".join(
            str(labels.index(label)) if label in labels else "-1" for label in joints["readings"]
        )

    words = {
        f"{word}_names": comment(", ".join(joints[key])) or "none"
        for word, key in (("reading", "readings"), ("velocity", "velocities"), ("position", "positions"))
    }
    return {
        **words,
        "velocities": str(len(joints["velocities"])),
        "positions": str(len(joints["positions"])),
        "by_velocity": place(joints["velocities"]),
        "by_position": place(joints["positions"]),
        "per_count": ", ".join(["6.2831853f / 4096"] * len(joints["readings"])),
    }


def _allowed(content: Content) -> str:
    """The call of allowed_twist; what does nothing beside `prepare` has no twin that takes its result."""
    twin = content.entry("allowed_twist_prepared")
    name = f"{content.name}_allowed_twist"
    if twin is None:
        return f"{name}(twist, &{content.name}_parameter_defaults, allowed);"
    return f"{name}_prepared(twist, prepared, allowed);"

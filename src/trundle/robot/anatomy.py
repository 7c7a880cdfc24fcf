"""Movements as anatomists name them: which joint, on which side, in which plane, and what its coordinate's growth is.

Signs are those of the ISB (Wu et al. 2002; of the knee Grood & Suntay 1983): flexion, adduction, internal rotation,
dorsiflexion and inversion count as positive.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trundle.robot.values import problem

SIDES = ("right", "left")
PLANES = ("sagittal", "frontal", "transverse")
# Of a pair the first counts as positive.
_PAIRS = {
    "sagittal": (
        ("flexion", "extension"),
        ("dorsiflexion", "plantarflexion"),
        ("anterior tilt", "posterior tilt"),
    ),
    "frontal": (
        ("adduction", "abduction"),
        ("inversion", "eversion"),
        ("up obliquity", "down obliquity"),
        ("right bending", "left bending"),
        ("radial deviation", "ulnar deviation"),
    ),
    "transverse": (
        ("internal rotation", "external rotation"),
        ("left rotation", "right rotation"),
        ("pronation", "supination"),
    ),
}
MOVEMENTS = tuple(name for pairs in _PAIRS.values() for pair in pairs for name in pair)
# What coordinates are called in gait models (OpenSim's, Delp et al. 1990, Rajagopal et al. 2016), without their side.
_USUAL = {
    "hip_flexion": "hip flexion",
    "hip_adduction": "hip adduction",
    "hip_rotation": "hip internal rotation",
    "knee_angle": "knee flexion",
    "knee_flexion": "knee flexion",
    "knee_adduction": "knee adduction",
    "knee_rotation": "knee internal rotation",
    "ankle_angle": "ankle dorsiflexion",
    "ankle_flexion": "ankle dorsiflexion",
    "ankle_dorsiflexion": "ankle dorsiflexion",
    "ankle_inversion": "ankle inversion",
    "ankle_rotation": "ankle internal rotation",
    "subtalar_angle": "subtalar inversion",
    "subtalar_inversion": "subtalar inversion",
    "mtp_angle": "toe extension",
    "toe_extension": "toe extension",
    "arm_flex": "shoulder flexion",
    "arm_add": "shoulder adduction",
    "arm_rot": "shoulder internal rotation",
    "elbow_flex": "elbow flexion",
    "pro_sup": "forearm pronation",
    "lumbar_extension": "lumbar extension",
    "lumbar_bending": "lumbar right bending",
    "lumbar_rotation": "lumbar left rotation",
    "trunk_flexion": "trunk flexion",
    "trunk_bending": "trunk right bending",
    "trunk_rotation": "trunk left rotation",
}
_SIDED = re.compile(r"(?P<name>.+?)(?:_(?P<side>r|l|right|left))?")


class Movement(NamedTuple):
    """What a coordinate does in words: `name` is what it does as it grows, of the pair `positive` and `negative`."""

    side: str
    joint: str
    plane: str
    name: str
    positive: str
    negative: str

    @property
    def sign(self) -> int:
        """1 where the coordinate grows as the sign convention has it, else −1."""
        return 1 if self.name == self.positive else -1

    @property
    def label(self) -> str:
        """What columns are called: "right_hip_flexion"."""
        return f"{self.place}_{self.positive}".replace(" ", "_")

    @property
    def place(self) -> str:
        """The joint with its side: "right hip"."""
        return f"{self.side} {self.joint}".strip()

    @property
    def opposed(self) -> Movement:
        """The movement the other way."""
        return self._replace(name=self.negative if self.sign > 0 else self.positive)


def movement(text: str) -> Movement | None:
    """A movement from its words, side first: "right hip flexion", "lumbar extension"; None for other words."""
    words = text.split()
    side = words.pop(0) if words and words[0] in SIDES else ""
    for plane, pairs in _PAIRS.items():
        for pair in pairs:
            for name in pair:
                count = len(name.split())
                if len(words) > count and words[-count:] == name.split():
                    return Movement(side, " ".join(words[:-count]), plane, name, *pair)
    return None


def usual_movement(name: str, least: float | None = None, greatest: float | None = None) -> Movement | None:
    """What a joint of that name does in gait models, `least` and `greatest` its limits (rad); None of other names.

    Some models have knees that grow as they extend: a knee bends further than it overextends, so its limits tell.
    """
    found = _SIDED.fullmatch(name.lower())
    if found is None or found["name"] not in _USUAL:
        return None
    side = next((side for side in SIDES if found["side"] and side[0] == found["side"][0]), "")
    named = movement(f"{side} {_USUAL[found['name']]}".strip())
    if found["name"] != "knee_angle" or least is None or greatest is None or named is None:
        return named
    return named.opposed if -least > greatest else named


def checked_movement(text: str) -> str:
    """Words that name a movement, for a description; else what is wrong with them."""
    if movement(text) is None:
        hint = f"such as 'right knee flexion', ending in one of {', '.join(MOVEMENTS)}"
        raise problem(f"{text!r} names no movement", hint)
    return " ".join(text.split())

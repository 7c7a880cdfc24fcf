"""Short names for what is in the equations: φ̇_right for right.rate, τ_fl for the torque on the wheel front_left.

SymbolNames are written as SymPy reads them: "phidot_right" shows as φ̇ with an index, "tau_fl" as τ with one.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count

from sympy.printing.pretty.pretty_symbology import greek_unicode, pretty_symbol, sub
from sympy.printing.str import StrPrinter

from trundle.formulas.equation import Expression
from trundle.robot import Robot

# What a coordinate or speed of a joint, wheel or coupling is called, by the last part of its name.
_JOINT = {
    "angle": "q", "position": "q", "rate": "qdot", "speed": "pdot", "angle_1": "alpha", "angle_2": "beta",
    "rate_1": "alphadot", "rate_2": "betadot",
}  # fmt: skip
_WHEEL = {
    "angle": "phi", "rate": "phidot", "steering": "delta", "steering_rate": "deltadot", "speed": "v",
}  # fmt: skip
_COUPLING = {"angle": "delta", "rate": "deltadot"}


def plain(name: str) -> str:
    """A description's name as an identifier that is no word of Python's."""
    if name == "lambda":
        return "lamda"  # SymPy's spelling, shown as λ
    return f"{name}_" if keyword.iskeyword(name) else re.sub(r"\W", "_", name)


def labels(names: Sequence[str]) -> dict[str, str]:
    """Short labels: initials of front_left and its like, the numbers of link_1, link_2, else the names."""
    numbered = [re.fullmatch(r"(.*\D)_?(\d+)", name) for name in names]
    if len(names) > 1 and all(numbered) and len({match[1] for match in numbered if match}) == 1:
        return {name: match[2] for name, match in zip(names, numbered, strict=True) if match}
    initials = ["".join(part[:1] for part in name.split("_")) for name in names]
    several = len(names) > 2 and all("_" in name for name in names)
    if several and len(set(initials)) == len(names) and all(initial.isalpha() for initial in initials):
        return dict(zip(names, initials, strict=True))
    return {name: plain(name) for name in names}


class SymbolNames:
    """Names of one robot's quantities; each is given once, and none that the description gives to a parameter."""

    def __init__(self, robot: Robot) -> None:
        self._taken = {plain(name) for name in robot.parameters}
        self._wheels = labels(tuple(robot.wheels))
        self._joints = labels(tuple(robot.joints))
        coupled = tuple(robot.couplings)
        self._couplings = dict.fromkeys(coupled, "") if len(coupled) == 1 else labels(coupled)
        self._robot = robot

    def unique(self, *wanted: str) -> str:
        """The first of the wanted names that is free, or the last with a number behind."""
        numbered = (f"{wanted[-1]}_{number}" for number in count(2))
        name = next(each for each in chain(wanted, numbered) if each not in self._taken)
        self._taken.add(name)
        return name

    def indexed(self, stem: str, index: str) -> str:
        """A name with an index, for a force, current or voltage of what the index says."""
        return self.unique(f"{stem}_{index}" if index else stem)

    def of(self, name: str) -> str:
        """The name of a coordinate or a speed."""
        owner, _, what = name.rpartition(".")
        if not owner:
            return self.unique(*(("v", "v_speed") if name == "speed" else (name, f"{name}_base")))
        if owner in self._wheels:
            return self.indexed(_WHEEL[what], self._wheels[owner])
        if owner in self._couplings:
            return self.indexed(_COUPLING.get(what, plain(what)), self._couplings[owner])
        stem = _JOINT.get(what, plain(what))
        if len(self._joints) == 1 and what in ("angle", "position", "rate") and stem not in self._taken:
            return self.unique(stem)
        if what == "position" and len(self._robot.joints[owner].coordinates) > 1:
            stem = "p"
        return self.indexed(stem, self._joints.get(owner, plain(owner)))

    def target(self, drives: str) -> str:
        """The index for what a motor drives: fl for a wheel, delta_fl for its steering, knee for a joint."""
        owner, _, part = drives.partition(".")
        if owner in self._wheels:
            return f"delta_{self._wheels[owner]}" if part == "steering" else self._wheels[owner]
        if owner in self._couplings:
            return "_".join(["delta", self._couplings[owner]]).rstrip("_")
        return "_".join([self._joints.get(owner, plain(owner)), *([part] if part else [])])

    def index(self, name: str) -> str:
        """The index for a quantity that belongs to a speed: phi_right for right.rate, omega for omega."""
        owner, _, what = name.rpartition(".")
        if not owner:
            return name.replace("_", "")
        if owner in self._wheels:
            return f"{_WHEEL[what].removesuffix('dot')}_{self._wheels[owner]}"
        return self.target(owner)

    def label(self, owner: str) -> str:
        """The short label of a wheel, joint or coupling."""
        for known in (self._wheels, self._joints, self._couplings):
            if owner in known:
                return known[owner]
        return plain(owner)


def raised(unit: str) -> str:
    """A unit with its powers raised; pure numbers have none."""
    return "" if unit == "1" else unit.replace("^2", "²").replace("^3", "³")


def measured(meaning: str, unit: str) -> str:
    """Words with their unit."""
    return f"{meaning} ({raised(unit)})" if raised(unit) else meaning


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


_WORDS = {
    "angle": "angle", "rate": "rate", "position": "position", "speed": "speed", "angle_1": "first angle",
    "angle_2": "second angle", "rate_1": "first rate", "rate_2": "second rate", "theta": "heading",
    "omega": "turning rate", "steering": "steering angle", "steering_rate": "steering rate",
}  # fmt: skip


def words_of(name: str, robot: Robot) -> str:
    """What a coordinate or speed is, with the model's name for it where the words don't hold it."""
    owner, _, what = name.rpartition(".")
    of = owner or ("the base" if what != "speed" else "the robot along its wheels")
    words = _WORDS.get(what)
    if words is None:
        stem, _, axis = what.partition("_")
        kinds = {"v": ("velocity", f"along its {axis}"), "omega": ("angular velocity", f"about its {axis}")}
        words, along = kinds.get(stem, ("quaternion", axis) if stem == "q" else ("place", f"along {what}"))
        of = f"{of} {along}"
    if owner in robot.wheels and what in ("angle", "rate"):
        of = f"{owner} about its axle"
    if owner in robot.wheels and what == "speed":
        words, of = "speed", f"{owner} along its heading"
    return f"{words} of {of}: {name}"


def rate_of(name: str) -> str:
    """The name of a quantity's rate: v_x → vdot_x, phidot_right → phiddot_right."""
    stem, mark, index = name.partition("_")
    if stem.endswith("ddot"):
        return f"{stem.removesuffix('ddot')}dddot{mark}{index}"
    return f"{stem.removesuffix('dot')}{'ddot' if stem.endswith('dot') else 'dot'}{mark}{index}"


def primed(function: str) -> str:
    """The name of a description's function as it is shown: f_knee for its own, f_knee′ for its derivative df_knee."""
    name = function.lstrip("d")
    return name + "′" * (len(function) - len(name))


def common(owners: Sequence[str], known: Mapping[str, str]) -> str:
    """A label for several owners: the words that all have, or the first one's label."""
    words = [owner.split("_") for owner in owners]
    shared = [word for word in words[0] if all(word in each for each in words)]
    return "_".join(shared) if shared else known.get(owners[0], plain(owners[0]))


def numbered(names: Iterable[str]) -> tuple[str, ...]:
    """Names with a number behind those that come again."""
    seen: dict[str, int] = {}
    indices = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        indices.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(indices)


def sign(name: str) -> str:
    """A symbol's name in Unicode: φ̇_right for phidot_right, q₁ for q_1; letters stay on the line, so that v_x and v_y
    look alike (there is no small y below the line).
    """
    if name.endswith(("ᵀ", "′")):
        return f"{sign(name[:-1])}{name[-1]}"
    head, *indices = name.split("_")
    shown: str = pretty_symbol(head) or head
    if indices and all(part.isdigit() for part in indices):
        if len(indices) > 1:
            return f"{shown}[{', '.join(indices)}]"
        return shown + "".join(sub[digit] for digit in indices[0])
    return "_".join([shown, *(greek_unicode.get(part) or part for part in indices)])


class _NoteLine(StrPrinter):
    def _print_Symbol(self, expr: Expression) -> str:
        return sign(expr.name)


def inline(expression: Expression) -> str:
    """An expression within a sentence."""
    text = _NoteLine().doprint(expression)
    for power, raised in (("**2", "²"), ("**3", "³"), ("*", "⋅")):
        text = text.replace(power, raised)
    return text


class Note(str):
    """A sentence with formulas in it: `parts` are text and SymPy's expressions. As a text it has them on the line."""

    parts: tuple[str | Expression, ...]

    def __new__(cls, *parts: str | Expression) -> Note:
        note = super().__new__(
            cls, "".join(part if isinstance(part, str) else inline(part) for part in parts)
        )
        note.parts = parts
        return note

"""What of a robot is written into Trundle's own elements of a URDF file: all that the file's others don't say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trundle.documents.urdf.actuators import DEFAULT
from trundle.documents.urdf.additions import TAGS, in_attribute
from trundle.documents.urdf.to_robot import UrdfNames, given_by_file
from trundle.documents.urdf.urdf_reader import UrdfReading
from trundle.robot.component import plain
from trundle.robot.couplings import GearCoupling
from trundle.robot.description import Robot
from trundle.robot.motors import MOTORS

# What an element's attributes say, by the path of the element below ("" for itself) and the attribute's name.
Said = dict[tuple[str, str], str]
_NOUNS = {tag: family for tag, family in TAGS.items() if family != "parameters"}


@dataclass(frozen=True)
class UrdfComponents:
    """What URDF's own elements say of wheels and couplings, by family and name, the joints that wheels took, and the
    names of the file, which know its motors.
    """

    components: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)
    names: UrdfNames | None = None

    def of(self, family: str, name: str, data: Mapping[str, object]) -> object:
        """What the file says of a component; of a motor for its kind, of one that only the file describes all of it."""
        if family != "motors" or self.names is None or name not in self.names.motors:
            return self.components.get(family, {}).get(name)
        alone = {"type": DEFAULT, **self.names.given_motor(name, DEFAULT)}
        return alone if data == alone else self.names.given_motor(name, str(data.get("type", MOTORS.default)))


def given_by(reading: UrdfReading) -> UrdfComponents:
    """What a file that was read gives."""
    joints = {wheel.name: str(wheel.joint) for wheel in reading.urdf.extension.on_joints}
    return UrdfComponents(given_by_file(reading.urdf, reading.names, strict=False), joints, reading.names)


def said_of_additions(
    robot: Robot, given: UrdfComponents, mimics: frozenset[str]
) -> tuple[dict[str, dict[str, Said]], frozenset[tuple[str, str]]]:
    """What the elements say by tag and name, and families and names of all components that aren't a joint's <mimic>."""
    added: dict[str, dict[str, Said]] = {}
    components: set[tuple[str, str]] = set()
    for tag, family in _NOUNS.items():
        for name, component in getattr(robot, family).items():
            if isinstance(component, GearCoupling) and component.joint in mimics:
                continue
            components.add((family, name))
            data = plain(component)
            there = given.of(family, name, data)
            own = _differing(data, there)
            if name in given.joints and family == "wheels":
                own = {"joint": given.joints[name], **own}
            if own or there is None:
                added.setdefault(tag, {})[name] = _said(name, own)
    for name in _used(robot):
        added.setdefault("parameter", {})[name] = _said(name, {"value": robot.parameters[name].source})
    return added, frozenset(components)


def _differing(data: Mapping[str, object], there: object) -> Mapping[str, object]:
    """The keys that say something else than the file does."""
    known = there if isinstance(there, Mapping) else {}
    return {key: value for key, value in data.items() if key not in known or known[key] != value}


def _said(name: str, keys: Mapping[str, object]) -> Said:
    return {("", "name"): name} | {("", key): in_attribute(value) for key, value in keys.items()}


def _used(robot: Robot) -> list[str]:
    """The parameters that formulas in those components use, and those that these follow from."""
    families = set(_NOUNS.values())
    todo = [name for path, value in robot.every_value if path[0] in families for name in value.names]
    used: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in used:
            used.add(name)
            todo += robot.parameters[name].names
    return [name for name in robot.parameters if name in used]

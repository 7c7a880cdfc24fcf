"""Motors that a URDF file names: <transmission> from an actuator to a joint, joints that ros2_control commands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from trundle.documents.urdf.elements import ONE_AXIS, Urdf
from trundle.documents.urdf.xml_tree import XmlPart
from trundle.errors import suggest
from trundle.robot.kinds import Kind
from trundle.robot.motors import MOTORS

# From where on an effort is a way to say that there is no limit.
_NO_LIMIT = 1e15
# The kind of a motor of which the file alone speaks: it does nothing until it is asked to.
DEFAULT = "torque"


@dataclass(frozen=True)
class UrdfActuator:
    """A motor's name, the joint that it drives, turns of the motor per turn of that, and the greatest effort there
    (N m, or N; None where nothing says).
    """

    name: str
    joint: str
    reduction: float
    effort: float | None

    def keys(self, kind: str, drives: str, sense: float) -> Mapping[str, object]:
        """What the file says of a motor of some kind: `drives`, and of its gear and its limit what the kind has."""
        fields = _fields(kind)
        geared = "gear_ratio" in fields
        data: dict[str, object] = {"drives": drives}
        if geared and self.reduction * sense != 1.0:
            data["gear_ratio"] = self.reduction * sense
        if "torque_limit" in fields and self.effort is not None:
            data["torque_limit"] = self.effort / abs(self.reduction) if geared else self.effort
        return data


def _fields(kind: str) -> Mapping[str, object]:
    """The keys of a kind; none of one that isn't there, which is told elsewhere."""
    found: type[Kind] | None = MOTORS.named(kind) if kind in tuple(MOTORS) else None
    return {} if found is None else found.model_fields


def actuators(urdf: Urdf) -> dict[str, UrdfActuator]:
    """The motors that a file names, by the joints that they drive; the first of two on one joint."""
    found: dict[str, UrdfActuator] = {}
    for actuator in [*_transmissions(urdf), *_commanded(urdf)]:
        joint = urdf.joints.get(actuator.joint)
        if joint is None or joint.type not in ONE_AXIS:
            continue  # which `without_motor` tells
        efforts = [actuator.effort, None if joint.limit is None else joint.limit.effort]
        least = min(
            (effort for effort in efforts if effort is not None and 0.0 < effort < _NO_LIMIT), default=None
        )
        found.setdefault(actuator.joint, replace(actuator, effort=least))
    return found


def without_motor(urdf: Urdf) -> Iterator[tuple[XmlPart, str]]:
    """The elements of transmissions and ros2_control whose joints aren't there or have no axis, and what is wrong.

    Other tools' elements are theirs to judge, so that this is no error.
    """
    held: dict[str, XmlPart] = {}
    controls = [(part, "ros2_control") for part in urdf.part.children("ros2_control")]
    for holder, tag in [*controls, *((part, "transmission") for part in _all_transmissions(urdf))]:
        for part in holder.children("joint"):
            name = part.element.get("name", "")
            joint = urdf.joints.get(name)
            if joint is None:
                hint = suggest(name, urdf.joints, most=6)
                yield (
                    part,
                    f"<{tag}> names the joint {name!r}, which isn't there: no motor comes of it; {hint}",
                )
            elif joint.type not in ONE_AXIS and (tag == "transmission" or part.children("command_interface")):
                held[name] = part
    if held:
        first, *others = held
        named = repr(first) + (f" and {len(others)} more" if others else "")
        kind = urdf.joints[first].type
        yield held[first], f"no motor comes of what would drive {named}: a {kind} joint has no single axis"


def _all_transmissions(urdf: Urdf) -> list[XmlPart]:
    """Those of ROS 1 and within <ros2_control>."""
    controls = urdf.part.children("ros2_control")
    inside = [child for control in controls for child in control.children("transmission")]
    return [*urdf.part.children("transmission"), *inside]


def _transmissions(urdf: Urdf) -> Iterator[UrdfActuator]:
    """Those of <transmission> that lead from one actuator to one joint."""
    for part in _all_transmissions(urdf):
        joints, motors = part.children("joint"), part.children("actuator")
        if len(joints) != 1 or len(motors) != 1:
            continue
        joint, motor = joints[0].element.get("name"), motors[0].element.get("name")
        if joint and motor:
            yield UrdfActuator(motor, joint, _reduction([*motors, *joints]), None)


def _reduction(parts: list[XmlPart]) -> float:
    """Turns of the motor per turn of the joint, which ROS 1 has in the actuator and ROS 2 in the joint."""
    for part in parts:
        for child in part.children():
            if child.element.tag in ("mechanicalReduction", "mechanical_reduction"):
                number = _number(child)
                if number == 0.0:
                    raise child.fail("the reduction is zero", hint="write 1 where there is no gear")
                return number
    return 1.0


def _commanded(urdf: Urdf) -> Iterator[UrdfActuator]:
    """The joints of <ros2_control> with a command, and the greatest effort that it takes."""
    for control in urdf.part.children("ros2_control"):
        for part in control.children("joint"):
            joint, commands = part.element.get("name"), part.children("command_interface")
            if not joint or not commands:
                continue
            greatest = [
                abs(_number(bound))
                for command in commands
                if command.element.get("name") == "effort"
                for bound in command.children("param")
                if bound.element.get("name") in ("min", "max")
            ]
            yield UrdfActuator(f"{joint}_motor", joint, 1.0, min(greatest, default=None))


def _number(part: XmlPart) -> float:
    written = (part.element.text or "").strip()
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise part.fail(f"expected a number, got {written!r}")
    return number

"""Packages of ROS 2: a controller of ros2_control from twists to joints, with odometry, on a header without ROS."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

from trundle.errors import InputError
from trundle.exports.wheeled_base import (
    COMMANDS,
    KINEMATICS,
    ODOMETRY,
    ParameterField,
    classes,
    interfaces,
    listed,
    parameter_fields,
    pivots,
)
from trundle.languages.c import C, Structure, require_package_name, structured
from trundle.languages.language import Function, Language, identifiers, text_of
from trundle.languages.package import Content, Entry, Package, Target, filled
from trundle.program import Group

# What the package is built on, as package.xml and CMakeLists.txt name it.
_DEPENDENCIES = (
    "controller_interface", "generate_parameter_library", "geometry_msgs", "hardware_interface", "nav_msgs",
    "pluginlib", "rclcpp", "rclcpp_lifecycle", "realtime_tools", "tf2_msgs",
)  # fmt: skip
_TAKEN = frozenset(
    (*_DEPENDENCIES, "std", "rsl", "ament_cmake", "controller_manager", "launch", "launch_ros")
)
# REP 144, and what rosidl asks of a package's name beyond it.
_NAME = re.compile(r"[a-z](?:_?[a-z0-9])*")
_BACK = "\n\n  Back, from rates and steering angles as they are read, `kinematics_.twist(wheels)` is the base's twist."


@dataclass(frozen=True)
class _Joint:
    """A joint: its coordinate in the description, the parameter that names it, and what it is called by default."""

    coordinate: str
    key: str
    default: str


def _package(content: Content) -> Package:
    """The whole package: header, controller, parameters, what builds and what starts it."""
    name = content.name
    _require_name(name)
    commands, odometry = content.entry(COMMANDS), content.entry(ODOMETRY)
    if commands is None or odometry is None or content.entry(KINEMATICS) is None:
        message = (
            "a controller is made of kinematics, commands and odometry, and not all of them are exported"
        )
        raise InputError(message, key="what", hint="leave --what out; --to cpp has functions alone")
    joints = _joints(commands, odometry, content.joints())
    header, classes_usage, fields = _header(content, commands)
    words = {
        "name": name,
        "model": escape(content.model),
        "depends": "\n".join(f"  <depend>{each}</depend>" for each in _DEPENDENCIES),
        "dependencies": "\n".join(f"  {each}" for each in _DEPENDENCIES),
    }
    parameters = [f"  parameters_.{field.name} = params_.robot.{field.name};" for field in fields]
    own = _controller_words(content, commands, odometry, joints)
    files = {
        "package.xml": filled("ros2/package.xml", **words),
        "CMakeLists.txt": filled("ros2/CMakeLists.txt", **words),
        "controller_plugin.xml": filled("ros2/controller_plugin.xml", **words),
        f"include/{name}/{name}.hpp": header,
        f"include/{name}/controller.hpp": filled("ros2/controller.hpp", name=name, **own),
        "src/controller.cpp": filled(
            "ros2/controller.cpp", name=name, parameter_lines="\n".join(parameters), **own
        ),
        f"src/{name}_parameters.yaml": _parameters(content, joints, fields, odometry),
        "config/controller.yaml": _configuration(content, joints, fields),
        "launch/controller.launch.py": filled("ros2/launch.in", name=name),
    }
    told = {word: _joint_names(labels, joints) for word, labels in interfaces(commands, odometry).items()}
    return Package(files, filled("ros2/usage.md", name=name, **told) + classes_usage, {})


def _require_name(name: str) -> None:
    """Raise InputError where ROS or C++ has no package of that name."""
    plain = re.sub("_+", "_", name.lower()).strip("_")
    taken = plain in _TAKEN or plain in CPP.reserved
    hint = f"name it {plain}{'_robot' if taken else ''}, say (--name on the command line)"
    if _NAME.fullmatch(name) is None:
        message = f"'{name}' can't be a package's name in ROS 2: expected a-z, 0-9 and single _ between them (REP 144)"
        raise InputError(message, key="name", hint=hint)
    if taken:
        message = f"'{name}' can't be a package's name: C++ or ROS means something else by it"
        raise InputError(message, key="name", hint=hint)
    require_package_name(name, CPP)


def _joints(commands: Entry, odometry: Entry, own: Mapping[str, str]) -> Mapping[str, _Joint]:
    """The joints by their coordinates, called as the robot's own file calls them; else "front.angle" is called front,
    "front.steering" front_steering.
    """
    groups = interfaces(commands, odometry).values()
    plain = {label: label.removesuffix(".angle") for group in groups for label in group}
    keys = identifiers(plain.values(), PARAMETERS)
    called = {name: own.get(name, name.replace(".", "_")) for name in plain.values()}
    return {label: _Joint(label, keys[name], called[name]) for label, name in plain.items()}


def _header(content: Content, commands: Entry) -> tuple[str, str, list[ParameterField]]:
    """The header that needs no ROS, how its classes are used, and the fields of its parameters."""
    group, fields = parameter_fields(content, PARAMETERS)
    assert group is not None, "wheels have radii"
    language = _cpp({group: Structure("Parameters", [field.name for field in fields])})
    texts, usage = classes(content, "ros2", "hpp", "turning.data()", back=_BACK)
    groups = {each.name: each.labels for each in commands.program.outputs}
    velocities, positions = groups["velocity"], groups.get("position", ())
    texts["Commands"] = filled(
        "ros2/Commands.hpp",
        velocities=len(velocities),
        velocity_names=listed(velocities),
        positions=len(positions),
        position_names=listed(positions),
        position_argument=", found.position.data()" if positions else "",
    )
    functions = text_of(content.functions(language), language)
    words = {"name": content.name, "parameters": _struct(fields), "functions": functions}
    return filled("ros2/onboard.hpp", **words, classes="\n".join(texts.values())), usage, fields


def _controller_words(
    content: Content, commands: Entry, odometry: Entry, joints: Mapping[str, _Joint]
) -> dict[str, str]:
    """What is filled into the controller: its joints, and which steered wheels are read."""
    called = {
        word: ",".join(f"\n      params_.joints.{joints[label].key}" for label in labels)
        for word, labels in interfaces(commands, odometry).items()
    }
    states = content.entry(KINEMATICS)
    assert states is not None
    read = [
        f"{{{pivot.wheel}, {pivot.reading}, {'true' if pivot.trails else 'false'}}}"
        for pivot in pivots(states, odometry)
    ]
    return {
        "velocity_joints": called["velocities"],
        "position_joints": called["positions"],
        "reading_joints": called["readings"],
        "pivot_count": str(len(read)),
        "pivots": f"{{{', '.join(read)}}}" if read else "",
        "angle_lines": _ANGLE_LINES if _angles(odometry) else "",
    }


_ANGLE_LINES = """\
    for (std::size_t k = 0; k < Odometry::angle_count; k++)
      angles[(Odometry::angle_count + 1) * k] = params_.angle_variance;
"""


def _angles(odometry: Entry) -> int:
    return odometry.program.inputs[2].size


def _parameters(
    content: Content, joints: Mapping[str, _Joint], fields: Sequence[ParameterField], odometry: Entry
) -> str:
    """The parameters in the form of generate_parameter_library."""
    named = [
        _parameter(
            joint.key,
            "string",
            json.dumps(joint.default),
            f"What the URDF calls the joint of {joint.coordinate}.",
        )
        for joint in joints.values()
    ]
    measured = [_parameter(field.name, "double", _number(field), f"{field.told}.") for field in fields]
    return filled(
        "ros2/parameters.yaml",
        name=content.name,
        base_frame=json.dumps(content.base_frame()),
        joints="\n".join(named),
        robot="\n".join(measured),
        angle_variance=filled("ros2/angle_variance.yaml") if _angles(odometry) else "",
    )


def _parameter(key: str, kind: str, value: str, told: str) -> str:
    checks = "\n      validation: {not_empty<>: []}" if kind == "string" else ""
    plain = json.dumps(re.sub(r'["\\]', "'", told))
    return (
        f"    {key}:\n      type: {kind}\n      default_value: {value}\n      read_only: true\n"
        f"      description: {plain}{checks}"
    )


def _number(field: ParameterField) -> str:
    """A default as YAML's readers take it: to many of them 2e-05 is text, and 2.0e-05 a number."""
    return re.sub(r"^(-?\d+)(?=e)", r"\1.0", field.value)


def _configuration(content: Content, joints: Mapping[str, _Joint], fields: Sequence[ParameterField]) -> str:
    """What the controller is started with: names of joints, and numbers to be measured."""
    named = [f"      {joint.key}: {json.dumps(joint.default)}" for joint in joints.values()]
    measured = [f"      {field.name}: {_number(field)}  # {field.told}" for field in fields]
    return filled(
        "ros2/controller.yaml",
        name=content.name,
        base_frame=json.dumps(content.base_frame()),
        joints="\n".join(named),
        robot="\n".join(measured),
    )


def _joint_names(labels: Sequence[str], joints: Mapping[str, _Joint]) -> str:
    return ", ".join(f"`{joints[label].default}`" for label in labels) or "none"


def _struct(fields: Sequence[ParameterField]) -> str:
    lines = "\n".join(f"  double {field.name} = {field.value};  // {field.told}" for field in fields)
    told = "// What was measured of the robot; by default what its description says."
    return f"{told}\nstruct Parameters {{\n{lines}\n}};\n\n"


def _cpp(structures: Mapping[Group, Structure]) -> Language:
    """C's functions as a header may hold them: inline, and without the word that C++ lacks."""
    language = structured(C, structures)

    def framed(function: Function) -> str:
        return f"inline {language.framed(function).removeprefix('static ').replace('*restrict ', '*')}"

    return replace(language, name="C++", suffix=".hpp", framed=framed, reserved=C.reserved | {"Parameters"})


CPP = _cpp({})
# Names of parameters, which stand in YAML, too, where a "type" makes a mapping a parameter.
PARAMETERS = replace(
    CPP, reserved=CPP.reserved | {"type", "yes", "no", "on", "off", "y", "n", "null", "true", "false"}
)
PACKAGES = (
    Target(
        "ros2",
        "a package of ROS 2: a ros2_control controller with odometry, its parameters and launch file",
        _package,
        what=("kinematics", "commands", "odometry"),
        lean=True,
    ),
)

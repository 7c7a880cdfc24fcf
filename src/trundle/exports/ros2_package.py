"""Models for ros2_control and other C++ on robots: one header with classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trundle.exports.wheeled_base import Field, classes, parameter_fields
from trundle.languages.c import C, Structure, require_package_name, structured
from trundle.languages.language import Function, Language, text_of
from trundle.languages.package import Content, Package, Target, filled
from trundle.program import Group

_BACK = "\n\n  Back, from rates and steering angles as they are read, `kinematics_.twist(wheels)` is the base's twist."


def _package(content: Content) -> Package:
    """NAME.hpp: functions, and what the entries allow of the classes Kinematics and Odometry."""
    name = content.name
    group, fields = parameter_fields(content, CPP)
    structures = {} if group is None else {group: Structure("Parameters", [field.name for field in fields])}
    language = _cpp(structures)
    require_package_name(name, CPP)
    texts, more = classes(content, "ros2", "hpp", "turning.data()", back=_BACK)
    words = {
        "name": name,
        "parameters": _struct(fields) if fields else "",
        "functions": text_of(content.functions(language), language),
        "classes": "\n".join(texts.values()),
    }
    usage = filled("ros2/usage.md", name=name) + more
    return Package({f"{name}.hpp": filled("ros2/onboard.hpp", **words)}, usage, {})


def _struct(fields: Sequence[Field]) -> str:
    lines = "\n".join(f"  double {field.name} = {field.value};  /* {field.told} */" for field in fields)
    told = "// What was measured of the robot; by default what its description says."
    return f"{told}\nstruct Parameters {{\n{lines}\n}};\n\n"


def _cpp(structures: Mapping[Group, Structure]) -> Language:
    """C's functions as a header may hold them: inline, and without the word that C++ lacks."""
    language = structured(C, structures)

    def framed(function: Function) -> str:
        return f"inline {language.framed(function).removeprefix('static ').replace('*restrict ', '*')}"

    return replace(language, name="C++", suffix=".hpp", framed=framed, reserved=C.reserved | {"Parameters"})


CPP = _cpp({})
PACKAGES = (
    Target(
        "ros2",
        "a C++ header with classes of kinematics and odometry, for controllers of ros2_control, too",
        _package,
        what=("kinematics", "odometry"),
    ),
)

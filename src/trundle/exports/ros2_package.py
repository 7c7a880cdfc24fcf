"""Models for ros2_control and other C++ on robots: one header with classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trundle.exports.wheeled_base import (
    KINEMATICS,
    ODOMETRY,
    TWIST,
    Field,
    filled,
    kinematics_class,
    odometry_words,
    parameter_fields,
)
from trundle.files import signature
from trundle.languages.c import C, Structure, structured
from trundle.languages.c_package import require_package_name
from trundle.languages.language import Function, Language, text_of
from trundle.languages.package import Content, Package, Target
from trundle.program import Group

_USAGE = """\
## How to use it

`{name}.hpp` is C++17 and needs nothing but the standard library, so it builds without ROS, too. `{name}::functions` are
the functions below; arrays that are written must be others than those that are read. Nothing here allocates or throws.
In a package of ROS 2 the header goes to `include/`.
"""
_CLASSES_USAGE = """
A controller of ros2_control uses the classes where the controllers for drives of one kind have formulas, in their
`update_and_write_commands`. `{name}::Parameters` has the description's values; the classes take others, as they were
measured on the robot, when they are made.
"""
_KINEMATICS_USAGE = """
- **Commands**, from a `geometry_msgs/msg/Twist` to the command interfaces, in rad/s and rad:

      // what isn't finite would stay in wheels_: leave it out
      wheels_ = kinematics_.wheels({{twist.linear.x, twist.linear.y, twist.angular.z}}, wheels_);
      for (std::size_t k = 0; k < wheels_.rate.size(); k++) {{
        // {name}::Kinematics::names[k]: its velocity interface, and where the wheel is steered its pivot's position
        velocity_[k].set_value(wheels_.rate[k]);
        steering_[k].set_value(wheels_.steering[k]);
      }}
"""
_TWIST_USAGE = """
  Back, from rates and steering angles as they are read, `kinematics_.twist(wheels)` is the base's twist.
"""
_ODOMETRY_USAGE = """
- **State**, from the position interfaces of {readings} (rad) to a `nav_msgs/msg/Odometry`, whose 6 x 6 covariance has
  x, y and the yaw at 0, 1 and 5:

      odometry_ = {{positions, {{}}, {{}}, parameters_}};  // once, at the first that are finite: pose, covariance
      odometry_.update(positions, increment_covariance, angle_covariance);  // false: not finite, nothing changed
      message.pose.pose.position.x = odometry_.pose().x;  // y alike
      message.pose.pose.orientation.z = std::sin(odometry_.pose().theta / 2);
      message.pose.pose.orientation.w = std::cos(odometry_.pose().theta / 2);
      constexpr std::size_t at[3] = {{0, 1, 5}};
      for (std::size_t i = 0; i < 3; i++)
        for (std::size_t j = 0; j < 3; j++)
          message.pose.covariance[6 * at[i] + at[j]] = odometry_.covariance()[3 * i + j];

  The covariances that it takes are those of the increments since the last update and of the angles, row-major; slip
  of the wheels makes the first about proportional to the way. Positions of wheels go on beyond whole turns; those of
  steering may begin anew after one.
"""


def _package(content: Content) -> Package:
    """NAME.hpp: functions, and what the entries allow of the classes Kinematics and Odometry."""
    name = content.name
    group, fields = parameter_fields(content, CPP)
    structures = {} if group is None else {group: Structure("Parameters", [field.name for field in fields])}
    language = _cpp(structures)
    require_package_name(name, CPP)
    classes: list[str] = []
    usage = _USAGE.format(name=name)
    if content.entry(KINEMATICS) or content.entry(ODOMETRY):
        usage += _CLASSES_USAGE.format(name=name)
    if content.entry(KINEMATICS):
        classes.append(kinematics_class("kinematics.hpp", "turning.data()", content))
        usage += _KINEMATICS_USAGE.format(name=name) + (_TWIST_USAGE if content.entry(TWIST) else "")
    if odometry := content.entry(ODOMETRY):
        words = odometry_words(odometry, content)
        classes.append(filled("odometry.hpp", words))
        usage += _ODOMETRY_USAGE.format(readings=words["NAMES"].replace('"', "`"))
    words = {
        "ROBOT": name,
        "SIGNATURE": signature(),
        "NAMESPACE": name,
        "PARAMETERS": _struct(fields) if fields else "",
        "FUNCTIONS": text_of(content.functions(language), language),
        "CLASSES": "\n".join(classes),
    }
    return Package({f"{name}.hpp": filled("onboard.hpp", words)}, usage, {})


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

"""Models for Java, as WPILib's users write it: functions, and classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trundle.exports.wheeled_base import (
    KINEMATICS,
    ODOMETRY,
    TWIST,
    filled,
    kinematics_class,
    listed,
    odometry_words,
    parameter_fields,
)
from trundle.files import signature
from trundle.languages.java import JAVA
from trundle.languages.language import Function, require_identifier, text_of
from trundle.languages.package import Content, Package, Target

_FUNCTIONS = """\
package {name};

/** The programs of {name} ({signature}) as functions of arrays, inputs first; README.md tells what every number is. */
public final class Functions {{
    private Functions() {{}}

{body}
}}
"""
_NUMBERS = """\
/** {meaning} */
public static double[] {name}() {{
    return new double[] {{{values}}};
}}
"""
_PARAMETERS = """\
package {name};

/** What was measured of {name}; by default what its description says. */
public final class Parameters {{
{fields}

    /** What the functions take. */
    public double[] toArray() {{
        return new double[] {{{names}}};
    }}
}}
"""
_USAGE = """\
## How to use it

The folder `{name}` is a Java package that needs Java 8 and nothing else. In a WPILib project it goes to
`src/main/java/{name}`; `javac {name}/*.java` compiles it anywhere.

- `Functions`: every function below. Arrays that are written must be others than those that are read.
"""
_PARAMETERS_USAGE = """\
- `Parameters`: a field each, at first as described. Change those that were measured on the robot and give them to both
  classes: `new Kinematics(parameters)`, `new Odometry(parameters)`; without it they take the description's.
"""
_KINEMATICS_USAGE = """\
- `Kinematics`: the base's twist to rates and steering angles of the wheels{back}. In a drivetrain's `periodic`:

      kinematics.toWheels(speeds.vxMetersPerSecond, speeds.vyMetersPerSecond, speeds.omegaRadiansPerSecond, wheels);
      // wheels.rate[k], the wheel's own in rad/s (its motor's is the gear ratio times that), goes to the motor of
      // Kinematics.name(k), wheels.steering[k] in rad to its pivot
"""
_ODOMETRY_USAGE = """\
- `Odometry`: the pose on the field and its covariance from the encoders {readings}, all in rad:

      odometry.reset(0, 0, 0, new double[9], readings); // once, at the first finite ones: pose, covariance
      odometry.update(readings, incrementCovariance, angleCovariance); // false: not finite, nothing changed
      var pose = new Pose2d(odometry.x(), odometry.y(), new Rotation2d(odometry.theta()));

  Readings of wheels go on beyond whole turns; those of steering may begin anew after one, as absolute encoders do.
  WPILib's `SwerveDriveOdometry` takes a step's last steering angles for all of it; this takes those of its middle, as
  on the true arc, and needs no gyroscope.
"""


def _package(content: Content) -> Package:
    """A Java package: Functions, and what the entries allow of Kinematics and Odometry."""
    require_identifier(content.name, JAVA)
    functions = content.functions(JAVA)
    texts = {"Functions": _functions(content, functions)}
    usage = _USAGE.format(name=content.name)
    if content.entry(KINEMATICS) or content.entry(ODOMETRY):
        texts["Parameters"] = _parameters(content)
        usage += _PARAMETERS_USAGE
    if content.entry(KINEMATICS):
        text = kinematics_class("Kinematics.java", "trailingRate", content)
        texts["Kinematics"] = _working(text, functions)
        usage += _KINEMATICS_USAGE.format(back=", and back" if content.entry(TWIST) else "")
    if odometry := content.entry(ODOMETRY):
        words = odometry_words(odometry, content)
        texts["Odometry"] = _working(filled("Odometry.java", words), functions)
        usage += _ODOMETRY_USAGE.format(readings=words["NAMES"].replace('"', "`"))
    return Package({f"{content.name}/{name}.java": text for name, text in texts.items()}, usage, {})


def _working(text: str, functions: Sequence[Function]) -> str:
    """A class whose functions in pieces pass their values on in an array of its own."""
    sizes = {function.name: function.passed for function in functions if function.public}
    room = max(size for name, size in sizes.items() if f"@{name}@" in text)
    for name, size in sizes.items():
        text = text.replace(f"@{name}@", ", work" if size else "")
    field = f"\n    private final double[] work = new double[{room}];"
    return text.replace("@WORK@", field if room else "")


def _functions(content: Content, functions: Sequence[Function]) -> str:
    body = "\n".join([*_numbers(content), text_of(functions, JAVA)])
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return _FUNCTIONS.format(name=content.name, signature=signature(), body=indented)


def _numbers(content: Content) -> Iterator[str]:
    """Methods that return parameters and the state at the start, of the functions that have them."""
    told = {
        "parameter": ("parameters", "The parameters' defaults."),
        "state": ("start", "The state at the start."),
    }
    for word in content.words:
        if word.word in told and word.defaults:
            name, meaning = told[word.word]
            yield _NUMBERS.format(name=name, meaning=meaning, values=listed(word.defaults))


def _parameters(content: Content) -> str:
    _, fields = parameter_fields(content, JAVA)
    lines = [f"    /** {field.told}. */\n    public double {field.name} = {field.value};" for field in fields]
    names = ", ".join(field.name for field in fields)
    return _PARAMETERS.format(name=content.name, fields="\n".join(lines), names=names)


PACKAGES = (
    Target(
        "java",
        "a Java package with classes of kinematics and odometry, for WPILib's users, too",
        _package,
        what=("kinematics", "odometry"),
    ),
)

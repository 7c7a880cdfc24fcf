"""Models for Java, as WPILib's users write it: functions, and classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trundle.exports.entries import Entry
from trundle.exports.package import Options, Package
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
from trundle.languages import JAVA, require_identifier, source
from trundle.languages.language import functions
from trundle.model import Model

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


def package(model: Model, entries: Sequence[Entry], options: Options) -> Package:
    """A Java package: Functions, and what the entries allow of Kinematics and Odometry."""
    require_identifier(options.name, JAVA)
    by_name = {entry.name: entry for entry in entries}
    texts = {"Functions": _functions(entries, options)}
    usage = _USAGE.format(name=options.name)
    if KINEMATICS in by_name or ODOMETRY in by_name:
        texts["Parameters"] = _parameters(entries, options)
        usage += _PARAMETERS_USAGE
    if KINEMATICS in by_name:
        text = kinematics_class("Kinematics.java", "trailingRate", model, entries, options)
        texts["Kinematics"] = _working(text, entries)
        usage += _KINEMATICS_USAGE.format(back=", and back" if TWIST in by_name else "")
    if ODOMETRY in by_name:
        words = odometry_words(by_name[ODOMETRY], options)
        texts["Odometry"] = _working(filled("Odometry.java", words), entries)
        usage += _ODOMETRY_USAGE.format(readings=words["NAMES"].replace('"', "`"))
    return Package({f"{options.name}/{name}.java": text for name, text in texts.items()}, usage, {})


def _working(text: str, entries: Sequence[Entry]) -> str:
    """A class whose functions in pieces pass their values on in an array of its own."""
    sizes = {each.name: [*functions(each.name, each.program, JAVA)][-1].passed for each in entries}
    room = max(size for name, size in sizes.items() if f"@{name}@" in text)
    for name, size in sizes.items():
        text = text.replace(f"@{name}@", ", work" if size else "")
    field = f"\n    private final double[] work = new double[{room}];"
    return text.replace("@WORK@", field if room else "")


def _functions(entries: Sequence[Entry], options: Options) -> str:
    code = source({entry.name: entry.program for entry in entries}, JAVA)
    body = "\n".join([*dict.fromkeys(_numbers(entries)), code])
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return _FUNCTIONS.format(name=options.name, signature=signature(), body=indented)


def _numbers(entries: Sequence[Entry]) -> Iterator[str]:
    """Methods that return parameters and the state at the start, of the functions that have them."""
    told = {
        "parameter": ("parameters", "The parameters' defaults."),
        "state": ("start", "The state at the start."),
    }
    for entry in entries:
        for group, values in entry.defaults.items():
            name, meaning = told[group]
            yield _NUMBERS.format(name=name, meaning=meaning, values=listed(values))


def _parameters(entries: Sequence[Entry], options: Options) -> str:
    _, fields = parameter_fields(entries, JAVA)
    lines = [f"    /** {each.told}. */\n    public double {each.name} = {each.value};" for each in fields]
    names = ", ".join(each.name for each in fields)
    return _PARAMETERS.format(name=options.name, fields="\n".join(lines), names=names)

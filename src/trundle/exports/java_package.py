"""Models for Java, as WPILib's users write it: functions, and classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trundle.exports.wheeled_base import classes, listed, parameter_fields
from trundle.languages.java import JAVA
from trundle.languages.language import Function, require_identifier, text_of
from trundle.languages.package import Content, Package, Target, filled


def _package(content: Content) -> Package:
    """A Java package: Functions, and what the entries allow of Kinematics and Odometry."""
    require_identifier(content.name, JAVA)
    functions = content.functions(JAVA)
    texts = {"Functions": _functions(content, functions)}
    usage = filled("java/usage.md", name=content.name)
    working, more = classes(content, "java", "java", "trailingRate", back=", and back")
    if working:
        texts["Parameters"] = _parameters(content)
        texts |= {name: _working(text, functions) for name, text in working.items()}
    return Package({f"{content.name}/{name}.java": text for name, text in texts.items()}, usage + more, {})


def _working(text: str, functions: Sequence[Function]) -> str:
    """A class whose functions in pieces pass their values on in an array of its own."""
    sizes = {function.name: function.passed for function in functions if function.public}
    room = max(size for name, size in sizes.items() if f"@{name}@" in text)
    for name, size in sizes.items():
        text = text.replace(f"@{name}@", ", work" if size else "")
    field = f"\n    private final double[] work = new double[{room}];"
    return text.replace("@work@", field if room else "")


def _functions(content: Content, functions: Sequence[Function]) -> str:
    body = "\n".join([*_numbers(content), text_of(functions, JAVA)])
    indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return filled("java/Functions.java", name=content.name, body=indented)


def _numbers(content: Content) -> Iterator[str]:
    """Methods that return parameters and the state at the start, of the functions that have them."""
    told = {
        "parameter": ("parameters", "The parameters' defaults."),
        "state": ("start", "The state at the start."),
    }
    for word in content.words:
        if word.word in told and word.defaults:
            name, meaning = told[word.word]
            yield filled("java/Numbers.java", name=name, meaning=meaning, values=listed(word.defaults))


def _parameters(content: Content) -> str:
    _, fields = parameter_fields(content, JAVA)
    lines = [f"    /** {field.told}. */\n    public double {field.name} = {field.value};" for field in fields]
    names = ", ".join(field.name for field in fields)
    return filled("java/Parameters.java", name=content.name, fields="\n".join(lines), names=names)


PACKAGES = (
    Target(
        "java",
        "a Java package with classes of kinematics and odometry, for WPILib's users, too",
        _package,
        what=("kinematics", "odometry"),
    ),
)

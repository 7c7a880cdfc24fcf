"""Models for Java, as WPILib's users write it: functions, and classes for kinematics and odometry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trundle.exports.wheeled_base import ParameterField, classes, listed, parameter_fields
from trundle.languages.c import comment
from trundle.languages.java import JAVA
from trundle.languages.language import Function, identifier, identifiers, require_identifier, text_of
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


_Path = tuple[str, ...]


@dataclass(frozen=True)
class _ParameterGroup:
    """Parameters of a part of the robot, by the end of their labels, and of its own parts."""

    fields: dict[str, ParameterField] = field(default_factory=dict[str, ParameterField])
    parts: dict[str, _ParameterGroup] = field(default_factory=dict[str, "_ParameterGroup"])


def _parameters(content: Content) -> str:
    """A class with a field a parameter, those of a part in a class of their own: `wheels.rear.offset`."""
    group, fields = parameter_fields(content, JAVA)
    assert group is not None, "wheels have radii"
    whole = _ParameterGroup()
    for label, each in zip(group.labels, fields, strict=True):
        *path, name = label.split(".", 2)
        part = whole
        for word in path:
            part = part.parts.setdefault(word, _ParameterGroup())
        part.fields[name] = each
    parts = list(_paths(whole))
    classes = _class_names([path for path, _ in parts])
    lines = [*_members(whole, (), classes)]
    for path, part in parts:
        lines += ["", f"    /** Those of {comment('.'.join(path))}. */"]
        lines.append(f"    public static final class {classes[path]} {{")
        lines += [f"    {line}" for line in _members(part, path, classes)]
        lines.append("    }")
    names = ", ".join(_reached(whole, label) for label in group.labels)
    return filled("java/Parameters.java", name=content.name, fields="\n".join(lines), names=names)


def _paths(part: _ParameterGroup, path: _Path = ()) -> Iterator[tuple[_Path, _ParameterGroup]]:
    """All parts of a part with the words that lead there."""
    for word, own in part.parts.items():
        yield (*path, word), own
        yield from _paths(own, (*path, word))


def _class_names(paths: Iterable[_Path]) -> dict[_Path, str]:
    """What the parts' classes are called, none as another: WheelsFrontLeft of wheels.front_left."""
    names: dict[_Path, str] = {}
    for path in paths:
        words = [word for each in path for word in identifier(each).split("_")]
        name = "".join(word[:1].upper() + word[1:] for word in words)
        while name in names.values():
            name += "_"
        names[path] = name
    written = identifiers(names.values(), JAVA, hidden=("Parameters",))
    return {path: written[name] for path, name in names.items()}


def _names(part: _ParameterGroup) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The members of a part's class: its fields and its parts, by their words."""
    found = identifiers([*part.fields, *(f"{word}." for word in part.parts)], JAVA)
    return found, {word: found[f"{word}."] for word in part.parts}


def _members(part: _ParameterGroup, path: _Path, classes: Mapping[_Path, str]) -> Iterator[str]:
    """Lines of a part's class."""
    fields, parts = _names(part)
    for word, own in part.fields.items():
        yield f"    /** {own.told}. */"
        yield f"    public double {fields[word]} = {own.value};"
    for word, name in parts.items():
        kind = classes[*path, word]
        yield f"    /** Those of {comment('.'.join((*path, word)))}. */"
        yield f"    public final {kind} {name} = new {kind}();"


def _reached(part: _ParameterGroup, label: str) -> str:
    """How the field of a parameter is reached from the whole."""
    *path, last = label.split(".", 2)
    words: list[str] = []
    for word in path:
        words.append(_names(part)[1][word])
        part = part.parts[word]
    return ".".join([*words, _names(part)[0][last]])


PACKAGES = (
    Target(
        "java",
        "a Java package with classes of kinematics and odometry, for WPILib's users, too",
        _package,
        what=("kinematics", "odometry"),
        lean=True,
    ),
)

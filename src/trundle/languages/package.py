"""Packages in a language: what goes into one, what comes out, and the targets that people ask for by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

from trundle.choices import EXPORTED
from trundle.errors import InputError, require_known
from trundle.expected import by_name, came, check_str, names_of
from trundle.files import signature
from trundle.languages.language import Argument, Function, Language, arguments, functions, identifiers
from trundle.program.ir import Group, Program

Texts = tuple[str, ...]
# What is filled into a text under assets/.
_SLOT = re.compile(r"@([A-Z0-9_]+)@")
# How far an example goes at once where its motions allow (s).
USUAL_STEP = 1e-3
MEANING = "the state after a time h, inputs held, by the classical Runge-Kutta method"
# Where the rates b, c, d are taken after a at the state, and the state afterwards (Hairer et al. 1993, table II.1.2).
_STAGES = {"b": "{state} + {h} / 2 * {a}", "c": "{state} + {h} / 2 * {b}", "d": "{state} + {h} * {c}"}
_AFTER = "{state} + {h} / 6 * ({a} + 2 * {b} + 2 * {c} + {d})"


@dataclass(frozen=True)
class Entry:
    """One function of a package.

    name: an identifier in every language, and no group's; part: the word of `trundle.choices.EXPORTED` that it belongs
    to; meaning: a sentence; units: by group, one a label, "" for pure numbers and where nobody knows; defaults: of
    groups that have them, parameters and states at the start, one number a label. unnamed: groups whose numbers have no
    names of their own, with what they are in words, such as "3 rows (pose) of 8 columns (increment)". named: what
    values of the program are that its labels don't tell, by their numbers, for whoever reads its text.
    """

    name: str
    part: str
    program: Program
    meaning: str
    units: Mapping[str, Texts]
    defaults: Mapping[str, tuple[float, ...]]
    unnamed: Mapping[str, str]
    named: Mapping[int, str] = field(default_factory=dict[int, str])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Inputs, then outputs."""
        return (*self.program.inputs, *self.program.outputs)

    @property
    def sentence(self) -> str:
        """The meaning with a capital and a full stop."""
        return f"{self.meaning[0].upper()}{self.meaning[1:]}."


@dataclass(frozen=True)
class GroupWord:
    """What a package calls groups that are alike, with a unit a label, and a default a label where there are any.

    At a word's first use it is the group's name; a group of that name with other labels is "odometry_step parameter".
    """

    word: str
    group: Group
    units: Sequence[str]
    defaults: Sequence[float]


@dataclass(frozen=True)
class Loops:
    """What closes loops where a motion starts.

    residual: of the configuration, so many first, then of the velocity; slope: of these by the state, row-major.
    coordinates, speeds: how many the state begins with; guess: where states begin that nobody gave; dependent: which
    of them follow from the others.
    """

    residual: Program
    slope: Program
    configuration: int
    coordinates: int
    speeds: int
    guess: tuple[float, ...]
    dependent: tuple[bool, ...]


@dataclass(frozen=True)
class Content:
    """What a package is made of.

    name: stands in names of files, modules, classes and functions; precision: "double" or "single"; model: the model's
    own name, digest: of its equations' source; description: the robot's in YAML, None where there is none; inputs:
    what an example moves the robot by; step: how far it goes at once unless told otherwise (s); joints and base_frame:
    read what a robot's own file calls the joints of its wheels, and the frame of its base. clocks: of controllers that
    sample, periods and first instants (s) by name, in the order of the group `due` of the entry `sampling`. loops:
    what closes them, where there are any.
    """

    name: str
    precision: str
    entries: tuple[Entry, ...]
    model: str
    digest: str
    description: str | None
    inputs: tuple[float, ...] = ()
    joints: Callable[[], Mapping[str, str]] = dict
    base_frame: Callable[[], str] = lambda: "base_link"
    clocks: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    loops: Loops | None = None
    step: float = USUAL_STEP

    def entry(self, name: str) -> Entry | None:
        """An entry by its name, where there is one."""
        return next((entry for entry in self.entries if entry.name == name), None)

    @cached_property
    def dynamics(self) -> Entry | None:
        """What an example runs."""
        return self.entry("dynamics")

    @property
    def apart(self) -> float:
        """Instants of clocks that are nearer than this (s) are one: a share of the shortest period."""
        return 1e-9 * min((period for period, _ in self.clocks.values()), default=1.0)

    @property
    def columns(self) -> list[str]:
        """What an example prints: time and the states, by words that a literal of any language and CSV can hold."""
        labels = () if self.dynamics is None else self.dynamics.program.inputs[0].labels
        return ["time", *map(_plain, labels)]

    @property
    def input_names(self) -> list[str]:
        """What an example takes, by such words, too."""
        return [] if self.dynamics is None else [*map(_plain, self.dynamics.program.inputs[1].labels)]

    @property
    def moved(self) -> tuple[float, ...]:
        """The inputs of an example: 1 each where nobody said others."""
        return self.inputs or (1.0,) * (0 if self.dynamics is None else self.dynamics.program.inputs[1].size)

    def example(self, number: Callable[[float], str], between: str = ", ") -> dict[str, object]:
        """What examples of all languages are filled with: what moves the robot, by literals, and what they print."""
        return {
            "name": self.name,
            "given": between.join(map(number, self.moved)),
            "columns": ",".join(self.columns),
            "step": self.step,
            "names": ", ".join(self.input_names) or "none",
        }

    def runs(self, command: str) -> str:
        """How a README says that a command runs the example, of whose words STEP is the step."""
        said = f"`{command.replace('STEP', f'{self.step:g}')}` runs the robot from its start"
        return said if self.step == USUAL_STEP else f"{said} (longer steps may grow there)"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a command says of an example that needs short steps."""
        if self.dynamics is None or self.step == USUAL_STEP:
            return ()
        return (
            f"steps of {self.step:g} s unless told otherwise: there are motions that decay too fast for longer ones",
        )

    @cached_property
    def prepared(self) -> Group | None:
        """What `prepare` gives, where there is something to prepare."""
        prepare = self.entry("prepare")
        return None if prepare is None else prepare.program.outputs[0]

    @cached_property
    def group_words(self) -> Mapping[Group, str]:
        """A word a group of all entries, in the order in which they come, none twice."""
        words: dict[Group, str] = {}
        for entry in self.entries:
            for group in entry.groups:
                if group not in words:
                    plain = group.name not in (known.name for known in words)
                    words[group] = group.name if plain else f"{entry.name} {group.name}"
        return words

    @cached_property
    def words(self) -> tuple[GroupWord, ...]:
        """The words of all groups whose numbers have names, with what the first entry that has a group tells of it."""
        first = {group: entry for entry in reversed(self.entries) for group in entry.groups}
        return tuple(
            GroupWord(word, group, first[group].units[group.name], first[group].defaults.get(group.name, ()))
            for group, word in self.group_words.items()
            if group.name not in first[group].unnamed
        )

    def functions(self, language: Language, called: str = "{name}") -> list[Function]:
        """The functions of all entries, named as `called` says, and behind them the steps of what has dynamics."""
        made = [
            function
            for entry in self.entries
            for function in functions(
                called.format(name=entry.name),
                entry.program,
                language,
                tuple(help_lines(entry, language)),
                entry.named,
            )
        ]
        return [*made, *self._steps(language, called)]

    def _steps(self, language: Language, called: str) -> Iterator[Function]:
        for kind in ("", "_prepared"):
            dynamics, projection = (self.entry(f"{name}{kind}") for name in ("dynamics", "projection"))
            if dynamics is not None:
                name, rates = (called.format(name=f"{word}{kind}") for word in ("step", "dynamics"))
                closed = None if projection is None else called.format(name=projection.name)
                yield _step(name, dynamics.program, rates, closed, language)


def _plain(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]", "_", label)


@dataclass(frozen=True)
class Package:
    """Files by their names, which may be in folders ("include/robot.hpp"), and how they are used, in Markdown.

    facts: what else a person may want to know, such as a binary's size; plain data. notes: the same in sentences, for
    the command to say. first: the place of a group's first number, as the language counts.
    """

    files: Mapping[str, str | bytes]
    usage: str
    facts: Mapping[str, object]
    notes: tuple[str, ...] = ()
    first: int = 0

    def __post_init__(self) -> None:
        """Refuse files that would lie outside of the package's folder, and what can't be written."""
        for name, content in by_name(self.files, "files").items():
            _require_inside(name, self.files)
            if not isinstance(content, (str, bytes)):
                raise InputError(f"expected text or bytes, got {came(content)}", key=f"files.{name}")
        check_str(self.usage, "usage", "how the files are used, in Markdown")
        by_name(self.facts, "facts")
        names_of(self.notes, "notes")

    def content(self, name: str) -> bytes:
        """A file's bytes."""
        text = self.files[name]
        return text if isinstance(text, bytes) else text.encode()


def _require_inside(name: str, names: Iterable[str]) -> None:
    """Raise InputError where a file's name leads out of the folder, on any system, or to another file's own folder."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r'[\\:*?"<>|\x00-\x1f]', name):
        hint = "a name, or a folder's and a name: 'src/robot.x'"
        raise InputError(f"{name!r} names no file in the package's folder", key="files", hint=hint)
    below = next((other for other in names if str(other).startswith(f"{name}/")), None)
    if below is not None:
        raise InputError(f"'{name}' can't be a file and the folder of '{below}'", key="files")


@dataclass(frozen=True)
class Target:
    """Where models can be taken: a name that people ask for, and what makes its package.

    summary: what a person gets. precisions: what numbers it can compute with, the default first. what: the parts that
    are exported where nothing is said; None for all that a model has. optional: more of them, where a model has them.
    prepares: whether `prepare` and the functions that take what it computes of the parameters come along. lean: whether
    parameters that no function uses are left out. samples: whether its package samples where a model's controllers do;
    others are refused such a model's motion.
    """

    name: str
    summary: str
    package: Callable[[Content], Package]
    precisions: tuple[str, ...] = ("double",)
    what: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()
    prepares: bool = True
    lean: bool = False
    samples: bool = False

    def __post_init__(self) -> None:
        """Refuse what isn't a name, a sentence, a function or a part of a model."""
        for key in ("name", "summary"):
            if not check_str(getattr(self, key), key):
                raise InputError("expected text that isn't empty", key=key)
        if not callable(self.package):
            message = f"expected a function from Content to Package, got {came(self.package)}"
            raise InputError(message, key="package")
        if not names_of(self.precisions, "precisions"):
            raise InputError("a target has a precision at least", key="precisions", hint="('double',)")
        for key in ("what", "optional"):
            for part in names_of(getattr(self, key) or (), key):
                require_known(part, EXPORTED, f"'{part}' can't be exported", key=key)

    def build(self, content: Content) -> Package:
        """Its package of what is exported; InputError where its function gives anything else."""
        package: object = self.package(content)
        if isinstance(package, Package):
            return package
        hint = "its function returns Package(files, usage, facts)"
        raise InputError(f"the target '{self.name}' gives {came(package)}, no Package", key="to", hint=hint)


def help_lines(entry: Entry, language: Language) -> Iterator[str]:
    """Lines: what a function does, then the names of an argument's numbers."""
    yield entry.sentence
    for name, group in zip(arguments(entry.program, language), entry.groups, strict=True):
        units = entry.units[group.name]
        labels = [f"{a} ({unit})" if unit else a for a, unit in zip(group.labels, units, strict=True)]
        numbers = entry.unnamed.get(group.name) or ", ".join(labels)
        yield f"{name}, {group.size} numbers: {numbers}" if group.size else f"{name}: nothing"


def filled(asset: str, **words: object) -> str:
    """The text of a file under assets/, "c/main.c" say, with every @WORD@ replaced by `word`.

    Such files hold what is long and another language's: examples, makefiles, classes, how a package is used. What is
    put in is not searched for further words. @SIGNATURE@ says who wrote it.
    """
    words = {"signature": signature(), **words}
    text = files("trundle.languages").joinpath("assets", *asset.split("/")).read_text(encoding="utf-8")
    return _SLOT.sub(lambda slot: str(words[slot[1].lower()]), text)


def helpers(asset: str, **words: object) -> dict[str, str]:
    """Functions that operations call, by name, from a file under assets/: each stands behind a line `@@ NAME: remark`,
    which is not part of it.
    """
    _, *parts = re.split(r"^@@ (\w+).*\n", filled(asset, **words), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def words(asset: str) -> frozenset[str]:
    """The words of a file under assets/, whose lines with # are remarks."""
    return frozenset(re.sub(r"^#.*", "", filled(asset), flags=re.MULTILINE).split())


def _step(name: str, program: Program, dynamics: str, projection: str | None, language: Language) -> Function:
    """x(t + h) of x' = f(x, u, p) by four calls of the function `dynamics`, whose program is f.

    `projection` is called with the result, where the model's constraints need it.
    """
    state, given, parameter, _ = arguments(program, language)
    read = [Argument(*pair) for pair in zip((state, given, parameter), program.inputs, strict=True)]
    time, after = identifiers(["h", "next"], language).values()
    size = program.inputs[0].size
    own = {key: language.own.format(name=name, array=key) for key in ("a", "b", "c", "d", "at")}
    place = {
        key: language.in_each.format(array=array)
        for key, array in {**own, "state": state, "next": after}.items()
    } | {"h": time}

    def call(function: str, at: str, to: str) -> str:
        return language.evaluate.format(name=function, read=f"{at}, {given}, {parameter}", written=to)

    def put(target: str, value: str) -> str:
        return language.each.format(size=size, target=place[target], value=value.format(**place))

    def lines() -> Iterator[str]:
        yield call(dynamics, state, own["a"])
        for stage, at in _STAGES.items():
            yield put("at", at)
            yield call(dynamics, own["at"], own[stage])
        yield put("next" if projection is None else "at", _AFTER)
        if projection is not None:
            yield call(projection, own["at"], after)

    arrays = dict.fromkeys(own.values(), size)
    told = (
        f"{MEANING[0].upper()}{MEANING[1:]}.",
        f"{state}, {given}, {parameter}: as dynamics takes them",
        f"{time}: the time, s",
    )
    written = [Argument(after, program.inputs[0])]
    return Function(name, [*read, Argument(time)], written, [*lines()], own=arrays, whole=True, told=told)

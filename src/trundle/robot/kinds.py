"""Kinds by name: the classes that `type:` (a wheel's `contact:`) can name, in families that users' classes can join.

A class says what it can do, so that nothing else has to know its name: `register` is all it takes to use it in files.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from trundle.errors import InputError, TrundleError, choose
from trundle.robot.component import Component
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Value, describe, problem
from trundle.scalars import Scalar

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound="Kind")

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

# Installed packages offer kinds under this group: the entry point's name is the kind's, its object the class.
ENTRY_POINTS = "trundle.kinds"

# Turns a value of the description into a scalar of whatever is computed with: a number, a symbol, an array.
Read = Callable[[Value], Scalar]


@dataclass(frozen=True)
class State:
    """A state that a motor or a contact brings along: what it measures, and where it starts if nothing else is said."""

    quantity: PhysicalQuantity
    start: float = 0.0


class Kind(Component):
    """Base of the components that a family tells apart by their `type`.

    `sources` are the works that it follows: keys of Trundle's bibliography, or whole BibTeX entries.
    """

    family: ClassVar[Registry]
    sources: ClassVar[tuple[str, ...]] = ()
    type: str

    @property
    def must_tell_type(self) -> bool:
        """A family's default goes without saying."""
        return self.type != self.family.default

    @classmethod
    def owners_of(cls, key: object) -> list[str]:
        """The kinds of the family that have a key."""
        return cls.family.having(key)


class Registry:
    """The classes that one key of a description can name: wheels, motors, joints, ...

    In an annotation (`Annotated[Wheel, WHEELS]`) it reads a mapping as the class that its `type` names.
    """

    def __init__(
        self,
        called: str,
        default: str,
        key: str = "type",
        check: Check | None = None,
    ) -> None:
        self.called, self.default, self.key = called, default, key
        self._check = check
        # Classes by name, or the module that adds one.
        self._members: dict[str, type[Kind] | str] = {}
        self._reserved: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def having(self, key: object) -> list[str]:
        """The kinds that have a key, in the plural."""
        return [f"{kind.called}s" for kind in self._all() if key in kind.keys_of({})]

    def __contains__(self, kind: object) -> bool:
        return kind in self._members.values()

    def add(self, *kinds: type[Kind]) -> None:
        """Let these classes be named; lists begin with the default, whichever module was loaded first."""
        for kind in kinds:
            name, field = name_of(kind), kind.model_fields["type"]
            first = {name: kind} if name == self.default else {}
            self._members = first | self._members | {name: kind}
            if "called" not in vars(kind):
                kind.called = f"{name.replace('_', ' ')} {self.called}"
            if not field.description:  # what editors show of the schema
                field.description = f"{name}: {(inspect.getdoc(kind) or kind.__name__).splitlines()[0]}"

    def later(self, module: str, *names: str) -> None:
        """Kinds of the package that stand in a room above, or that few need: their module, which adds them, is loaded
        where one of them is named.
        """
        self._members |= dict.fromkeys(names, module)

    def _load(self, name: str) -> type[Kind] | None:
        """The class of a name, from its module where it stands in one of its own; None where there is none."""
        if isinstance(module := self._members.get(name), str):
            import_module(module)
        kind = self._members.get(name)
        return None if isinstance(kind, str) else kind

    def _all(self) -> list[type[Kind]]:
        """All classes, from their modules too."""
        return [kind for name in self if (kind := self._load(name)) is not None]

    def reserve(self, keys: Iterable[str]) -> None:
        """Keys that none of the family may have: those of what holds it, where its own stand among them."""
        self._reserved |= set(keys) - {"type"}

    def join(self, kind: type[Kind]) -> None:
        """Add a class from outside the package; raises InputError where it can't be one of the family."""
        name = name_of(kind)
        earlier = self._load(name)
        if earlier is kind:
            return
        # a notebook's cell that runs again defines its class anew
        if earlier is not None and _definition(earlier) != _definition(kind):
            raise InputError(
                f"{kind.__name__}: the {self.called} {name!r} is taken by {earlier.__name__}",
                hint=f"choose another name: type: Literal[{name + '_2'!r}] = {name + '_2'!r}",
            )
        taken = sorted(self._reserved & kind.model_fields.keys())
        if taken:
            raise InputError(
                f"{kind.__name__} has keys that its holder has, too: {', '.join(taken)}",
                hint=f"call them otherwise: {name}_{taken[0]}",
            )
        if self._check is not None:
            self._check(kind)
        self.add(kind)

    def named(self, name: object) -> type[Kind]:
        """The class of a name; an installed package may bring it along (loaded now, when a description first asks)."""
        if isinstance(name, str):
            if name not in self._members:
                for entry in entry_points(group=ENTRY_POINTS, name=name):
                    self._bring(entry)
            if (kind := self._load(name)) is not None:
                return kind
        came = repr(name) if isinstance(name, str) else describe(name)
        hint = choose(name, [*self]) if self._members else "the package has none"
        own = "" if hint.startswith("did") else f"; {_OWN}"
        message = f"unknown {self.key} {came}" if name else f"a {self.called} needs its {self.key}"
        raise problem(message, f"{hint}{own}", (self.key,))

    def _bring(self, entry: EntryPoint) -> None:
        """Register what an installed package offers; raises InputError where that can't be had."""
        offered = f"the entry point {entry.name} = {entry.value} of an installed package"
        try:
            offer = entry.load()
        except Exception as error:  # whatever a package's own code does
            said = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{offered} can't be loaded: {said}", hint="mend or remove the package"
            ) from error
        try:
            register(offer)
        except InputError as error:
            raise InputError(f"{offered} brings no kind: {error.message}", hint=error.hint) from None
        if name_of(offer) != entry.name:
            raise InputError(
                f"{offered} brings a kind of the name {name_of(offer)!r}",
                hint=f"call the entry point {name_of(offer)}, or the class's type {entry.name!r}",
            )

    def read(self, written: object) -> Kind:
        """The component of a mapping, by its `type`; components stay what they are."""
        if isinstance(written, Kind) and written.family is self:
            if type(written) not in self:
                name = type(written).__name__
                raise problem(f"{name} is not registered", f"call trundle.register({name}) first")
            return written
        if callable(written):
            name, made = getattr(written, "__name__", describe(written)), isinstance(written, type)
            raise problem(
                f"expected a {self.called}, got the {'class' if made else 'function'} {name}",
                f"give one: {name}(…)" if made else _CLASS,
            )
        if not isinstance(written, Mapping):
            return self.named(self.default).model_validate(written)  # says what it expected
        return self.named(written.get("type", self.default)).model_validate(written)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        for kind in self._all():
            kind.model_rebuild()
        members = [kind.__pydantic_core_schema__ for kind in self._all()]
        # of a family that only users' classes join; JSON Schema allows no choice of nothing
        return handler(core_schema.union_schema(list(members)) if members else core_schema.dict_schema())


_CLASS = "one of your own is a class that trundle.register knows, with a method for its law"
_OWN = "one of your own is known after trundle.register, or where the package that brings it is installed"

# What a family asks of classes from outside beside a name; raises InputError.
Check = Callable[[type[Kind]], None]


def name_of(kind: type[Kind]) -> str:
    """The name by which a description asks for a kind: what its field `type` is by default."""
    field = kind.model_fields.get("type")
    if field is None or not isinstance(field.default, str):
        raise InputError(
            f"{kind.__name__} has no name for descriptions",
            hint="give it a field type: Literal['NAME'] = 'NAME'",
        )
    if not field.default.replace("-", "_").isidentifier():
        raise InputError(
            f"{kind.__name__} has a name that descriptions can't use: {field.default!r}",
            hint="letters, digits, _ and -, with a letter first: type: Literal['my_law'] = 'my_law'",
        )
    return field.default


def _definition(kind: type[Kind]) -> tuple[str, str]:
    """Where a class is defined."""
    return kind.__module__, kind.__qualname__


def register(kind: type[K]) -> type[K]:
    """Let descriptions use a class of your own by its name: a wheel, law, joint, motor, controller, sensor or
    constraint.

    Returns the class, so that it serves as a decorator. Registering the same class again changes nothing; one that is
    defined again in the same place, as in a notebook's cell that runs twice, takes the place of the first.

    Parameters
    ----------
    kind : type
        A `trundle.robot.RollingWheel`, `ContactLaw`, `Joint`, `Motor`, `Controller`, `Sensor` or `Constraint`, with
        ``type: Literal["NAME"] = "NAME"``.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    InputError
        Where it is no such class, has no name or a name that is taken, or lacks what its family must have.

    Examples
    --------
    >>> from typing import Literal
    >>> import trundle
    >>> from trundle.robot import Effort, Motor
    >>> @trundle.register
    ... class Winch(Motor):
    ...     type: Literal["winch"] = "winch"
    ...     def effort(self, drive, read):
    ...         return Effort(drive.command, power=drive.command * drive.rate)
    """
    family = getattr(kind, "family", None)
    if not (inspect.isclass(kind) and issubclass(kind, Kind) and isinstance(family, Registry)):
        came = getattr(kind, "__name__", repr(kind))
        raise InputError(
            f"register takes a class of one of the families of kinds, not {came}",
            hint="derive it from RollingWheel, ContactLaw, Joint, Motor, Controller, Sensor or Constraint of "
            "trundle.robot",
        )
    family.join(kind)
    return kind


def must_define(kind: type[Kind], base: type[Kind], *methods: str) -> None:
    """Raise InputError where a class leaves a method of its base undone."""
    for method in methods:
        if getattr(kind, method) is getattr(base, method):
            raise InputError(
                f"{kind.__name__} says nothing about its {method}",
                hint=f"define {method}{inspect.signature(getattr(base, method))} as in {base.__name__}",
            )


def must_measure(kind: type[Kind], what: str, measures: Mapping[str, PhysicalQuantity]) -> None:
    """Raise InputError where a class says what something measures by no `PhysicalQuantity`, or names it badly."""
    for name, measure in measures.items():
        if not isinstance(measure, PhysicalQuantity):
            raise InputError(
                f"{kind.__name__} says of its {what} {name!r} that it measures {measure!r}",
                hint="expected one of trundle.robot.units: units.VOLTAGE, units.TORQUE, …",
            )
        if not name.isidentifier():
            raise InputError(
                f"{kind.__name__} has a {what} {name!r}",
                hint="call it by letters, digits and _, with a letter first",
            )


def ask(kind: Kind, key: str, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a method of a kind answers; raises InputError with the class and the line where it fails."""
    try:
        return method(*args, **kwargs)
    except TrundleError:
        raise
    except Exception as error:  # a class from outside may do anything
        name = getattr(method, "__name__", "")
        own = getattr(getattr(type(kind), name, method), "__code__", None)
        frames = [
            frame for frame in extract_tb(error.__traceback__) if own and frame.filename == own.co_filename
        ]
        where = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in frames[:1])
        raise InputError(
            f"{type(kind).__name__}.{name} failed{where}: {type(error).__name__}: {error}",
            key=key,
            hint=f"{name}{inspect.signature(getattr(_base(kind), name, method))} works on numbers and on expressions: "
            "read(self.FIELD), arithmetic and trundle.scalars, no `if` on a value, no math or NumPy",
        ) from error


def ask_states(
    kind: Kind, key: str, method: Callable[P, Mapping[str, State]], *args: P.args, **kwargs: P.kwargs
) -> Mapping[str, State]:
    """The states that a kind brings along; raises InputError where they aren't `State`s by name."""
    states = ask(kind, key, method, *args, **kwargs)
    if isinstance(states, Mapping) and all(isinstance(state, State) for state in states.values()):
        must_measure(type(kind), "state", {name: state.quantity for name, state in states.items()})
        return states
    message = f"{type(kind).__name__} says of its states: {states!r}"
    raise InputError(message, key=key, hint="expected them by name, as {'current': State(units.CURRENT)}")


def _base(kind: Kind) -> type[Kind]:
    """The class of its family that says what the methods are: Motor, ContactLaw, …"""
    return next(base for base in reversed(type(kind).__mro__) if "family" in vars(base))

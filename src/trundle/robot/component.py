"""What every component of a description shares: frozen, no unknown keys, errors in the user's words; and walking over
components: every Value with its place, and the keys that they get.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, dataclass_transform

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from trundle.errors import suggest
from trundle.frozen import Frozen, ReadOnlyError
from trundle.robot.expressions import FUNCTIONS
from trundle.robot.problems import Path, input_error, key_of
from trundle.robot.values import Value, describe, problem

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class _Frozen(ModelMetaclass):
        """Tells type checkers that fields never change, so that a kind's `type` may be narrower than its base's."""

    class _Root(BaseModel, metaclass=_Frozen):
        pass
else:

    class _Meta(type(BaseModel)):
        """Turns pydantic's error into an InputError when a component is made from Python.

        Done where a class is called, not in `__init__`: pydantic calls a model's own `__init__` for nested
        models too, and the place of the error inside the whole would be lost. By `model_validate`, which returns
        what a component's own validator makes of it (a Robot is made in two steps), as `__init__` can't.
        """

        def __call__(cls, **fields: object) -> object:
            try:
                return cls.model_validate(fields)
            except ValidationError as error:
                raise input_error(error, cls.__name__) from None

    class _Root(BaseModel, metaclass=_Meta):
        pass


def default(value: object, description: str) -> Any:  # of the field's own type, as pydantic's Field says it
    """A field's default as it would be written (pydantic reads it like everything written), and its description.

    Parameters
    ----------
    value : object
        What stands there where nobody writes anything.
    description : str
        What it is, its unit, and the default.

    Returns
    -------
    Field
        Of pydantic.

    Raises
    ------
    TypeError
        Text is missing.

    Examples
    --------
    >>> from trundle.robot import default
    >>> default(0.5, "Of the spring (N m/rad). Default 0.5.").default
    0.5
    """
    return Field(value, description=description)


# What to do for another robot than the one that is there.
EDITING = (
    'robot.with_parameters({"wheels.left.radius": 0.2}) makes another robot, by parameters or by key paths'
)


class Component(_Root):
    """Base of the components."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)

    # Whether its keys stand among those of the component that holds it.
    inline: ClassVar[bool] = False
    # Whether its plain numbers are parameters of the robot's equations.
    in_equations: ClassVar[bool] = True
    # Fields whose numbers shape the programs, and are never parameters.
    shaping: ClassVar[tuple[str, ...]] = ()
    # Fields whose defaults have an effect, so that they are parameters where nobody wrote them, too.
    tunable: ClassVar[tuple[str, ...]] = ()
    # Where keys stand that people look for here: key -> what a message says of it.
    instead: ClassVar[Mapping[str, str]] = {}
    # How a message calls this component.
    called: ClassVar[str] = ""

    def __repr_args__(self) -> Iterable[tuple[str, object]]:
        """What stands between the brackets in a terminal: what was written, nothing else."""
        return [
            (field, getattr(self, field))
            for field in type(self).model_fields
            if field in self.model_fields_set
        ]

    def __setattr__(self, name: str, value: object) -> None:
        if name in type(self).model_fields:
            raise ReadOnlyError(f"'{name}' can't be set: a {type(self).__name__} is frozen", hint=EDITING)
        super().__setattr__(name, value)

    def __iter__(self) -> Generator[tuple[str, object], None, None]:
        """What `dict(component)` holds: its fields, and nothing that was computed from them."""
        return ((field, getattr(self, field)) for field in type(self).model_fields)

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        """The same with some fields changed; what was computed from the fields before is left behind."""
        made = super().model_copy(update=update, deep=deep)
        held = vars(made)
        for name in held.keys() - type(made).model_fields.keys():
            del held[name]
        return made

    @property
    def must_tell_type(self) -> bool:
        """Whether its type has to be written even where nobody did: in Python the class tells it."""
        return False

    def default_counts(self, field: str) -> bool:
        """Whether a default (not zero) that nobody wrote is a parameter too: only where it has an effect.

        It is asked of the package's own fields. Those that a class from outside brings are always parameters, unless
        that class says here which are.
        """
        return field in self.tunable

    @classmethod
    def keys_of(cls, data: Mapping[str, object]) -> list[str]:
        """The keys that such a component may have."""
        return list(cls.model_fields)

    @classmethod
    def owners_of(cls, key: object) -> list[str]:
        """What else has a key that such a component lacks, in the plural."""
        return []

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        """Refuse keys that the component doesn't have; the hint says who has them, or what is spelt alike."""
        if isinstance(data, cls):
            return data
        called = cls.called or cls.__name__.lower()
        if not isinstance(data, Mapping):
            keys = ", ".join(cls.model_fields)
            raise problem(
                f"expected a {called} (a mapping of keys), got {describe(data)}", hint=f"keys: {keys}"
            )
        known = cls.keys_of(data)
        for key in data:
            if key in known:
                continue
            if owners := cls.owners_of(key):
                *first, last = owners
                who = f"{', '.join(first)} and {last}" if first else last
                message = f"a {called} has no {key!r}; {who} have"
                raise problem(message, f"known: {', '.join(known)}", (key,))
            hint = cls.instead.get(str(key)) or suggest(str(key), known, most=40)
            raise problem(f"unknown key {key!r} in a {called}", hint, (key,))
        return data


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Names that mean something already: the root body, and what formulas call.
RESERVED = frozenset({"base", "world", "pi", *FUNCTIONS})


def _identifier(name: str) -> str:
    """A name that files, formulas and programs in other languages can hold."""
    if not _IDENTIFIER.fullmatch(name) or len(name) > 60:
        better = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:60]
        if better[:1].isdigit():
            better = f"_{better}"
        hint = "letters from a to z, digits and _, not starting with a digit"
        raise problem(f"{name[:80]!r} is not a valid name", f"{hint}: {better!r}" if better else hint)
    if name in RESERVED:
        raise problem(f"{name!r} is a reserved name", f"choose another, such as '{name}_1'")
    return name


Identifier = Annotated[str, AfterValidator(_identifier)]


T = TypeVar("T", bound=Component)

# Fields whose plain numbers shape the equations and are never parameters: an axis of symbols would bring its
# normalisation into every formula, and a spline through symbols a system of equations.
_STRUCTURAL = frozenset({"axis", "axis2", "x", "y", "coefficients"})


def components(component: Component, path: Path = ()) -> Iterator[tuple[Path, Component]]:
    """A component and every component inside it, with their key paths, in the order of the fields."""
    yield path, component
    for field in type(component).model_fields:
        inner = getattr(component, field)
        if isinstance(inner, Component):
            yield from components(inner, path if inner.inline else (*path, field))
        elif isinstance(inner, dict):
            for name, part in inner.items():
                if isinstance(part, Component):
                    yield from components(part, (*path, field, name))


def own_values(component: Component, path: Path) -> Iterator[tuple[Path, Value]]:
    """The Values that stand directly in a component's fields (in vectors, matrices and mappings too)."""
    for field in type(component).model_fields:
        yield from _values_in(getattr(component, field), (*path, field))


def _values_in(inner: object, path: Path) -> Iterator[tuple[Path, Value]]:
    if isinstance(inner, Value):
        yield path, inner
    elif isinstance(inner, (tuple, dict)):
        entries = inner.items() if isinstance(inner, dict) else enumerate(inner)
        for place, entry in entries:
            yield from _values_in(entry, (*path, place))


def keyed(component: T, path: Path = ()) -> T:
    """The same component with every Value told its key, and whether it is a parameter of its own."""
    fields = {
        field: _keyed(getattr(component, field), (*path, field), _counting(component, field))
        for field in type(component).model_fields
    }
    return type(component).model_construct(_fields_set=set(component.model_fields_set), **fields)


def _counting(component: Component, field: str) -> Callable[[Value], bool]:
    """Which values of a field are parameters: all named ones, and every number but zero that was written or counts."""
    if field == "parameters":
        return lambda value: not value.names
    may = component.in_equations and field not in _STRUCTURAL and field not in component.shaping
    # a class is hashable, though its components aren't
    brought = _brought(type(component), field)  # pyright: ignore[reportArgumentType]
    may = may and (field in component.model_fields_set or component.default_counts(field) or brought)
    return lambda value: may and not value.names and value.number != 0.0


@cache
def _brought(kind: type[Component], field: str) -> bool:
    """Whether a class from outside of the package brings a field, and says nothing of what counts."""
    outside = [base for base in kind.__mro__ if not base.__module__.startswith("trundle.")]
    own = any(field in vars(base).get("__annotations__", ()) for base in outside)
    return own and not any("default_counts" in vars(base) for base in outside)


def _keyed(inner: object, path: Path, counts: Callable[[Value], bool]) -> object:
    """The same with the keys of values put in, and mappings that refuse to be edited."""
    if isinstance(inner, Value):
        key = str(path[-1]) if path[0] == "parameters" else key_of(path)
        return replace(inner, key=key, is_parameter=counts(inner))
    if isinstance(inner, Component):
        return keyed(inner, path[:-1] if inner.inline else path)
    if isinstance(inner, tuple):
        return tuple(_keyed(entry, (*path, place), counts) for place, entry in enumerate(inner))
    if isinstance(inner, dict):
        return Frozen({name: _keyed(entry, (*path, name), counts) for name, entry in inner.items()}, EDITING)
    return inner


def plain(component: Component) -> dict[str, Any]:
    """A component as plain data: what was written, nothing else; its type first, then in the order of the fields."""
    written: dict[str, object] = {}
    for field in sorted(type(component).model_fields, key=lambda field: field != "type"):
        inner = getattr(component, field)
        if isinstance(inner, Component) and inner.inline:
            own = plain(inner)
            written |= {field: own.pop("type")} | own if "type" in own else own
        elif (inner is not None and field in component.model_fields_set) or (
            field == "type" and component.must_tell_type
        ):
            written[field] = _plain(inner)
    return written


def _plain(inner: object) -> object:
    """A part of a description as it would be written."""
    if isinstance(inner, Value):
        return inner.source
    if isinstance(inner, Component):
        return plain(inner)
    if isinstance(inner, (tuple, list)):
        return [_plain(entry) for entry in inner]
    if isinstance(inner, dict):
        return {name: _plain(entry) for name, entry in inner.items()}
    return inner


def with_entry(data: object, path: Path, written: object) -> object:
    """Plain data with one entry written anew; mappings and vectors on the way are made where they aren't there."""
    if not path:
        return written
    first, *rest = path
    if isinstance(first, int):
        entries: list[object] = list(data) if isinstance(data, list) else [0.0, 0.0, 0.0]
        entries[first] = with_entry(entries[first], tuple(rest), written)
        return entries
    there = data if isinstance(data, dict) else {}
    return {**there, first: with_entry(there.get(first), tuple(rest), written)}

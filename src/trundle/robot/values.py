"""Value: one number of a description, as it was written and what it means.

A value is a plain number in SI, text with a unit ("6 in"), or arithmetic over parameters ("track/2"). Values keep
their text, so that a description can be written back as its author wrote it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import le, lt, ne
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.expressions import (
    LITERAL,
    MOST,
    UNKNOWN,
    ExpressionError,
    ExpressionTree,
    Inferred,
    NumberLiteral,
    dimension_of,
    evaluate,
    names,
    parse,
)
from trundle.robot.units import NUMBER, Dimension, PhysicalQuantity, unit_text

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


@dataclass(frozen=True, slots=True)
class NumberBound:
    """What a field asks of its numbers, in code and in words, and what to do about others."""

    allows: Callable[[float], bool]
    words: str
    hint: str | None = None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            lambda value: replace(value, bound=self) if isinstance(value, Value) else value, handler(source)
        )


@dataclass(frozen=True, slots=True)
class Value:
    """One number of a description.

    `source` is what was written; `expression` its meaning in SI; `quantity` what the field measures, and `bound` what
    it asks. `names` are the parameters it uses; where there are none, `constant` is its number in SI. `key` is its path
    ("wheels.right.radius"), known once it is part of a Robot, and `is_parameter` says whether the number is a
    parameter of its own under that key.
    """

    source: float | str
    expression: ExpressionTree = field(compare=False)
    quantity: PhysicalQuantity = field(compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)
    constant: float | None = field(default=None, compare=False)
    bound: NumberBound | None = field(default=None, compare=False)
    key: str = field(default="", compare=False)
    is_parameter: bool = field(default=False, compare=False)

    @property
    def number(self) -> float:
        """The value in SI, for one that uses no parameters (ask the robot for the others)."""
        if self.constant is None:
            message = f"{self.source!r} depends on {', '.join(self.names)}"
            hint = "its number depends on the robot's parameters: use robot.number(value)"
            raise InputError(message, key=self.key or None, hint=hint)
        return self.constant

    def number_in(self, scope: Mapping[str, float]) -> float:
        """The value in SI, given its parameters; raises ExpressionError where there is no finite real number."""
        return number_of(self.expression, scope) if self.constant is None else self.constant

    def __float__(self) -> float:
        return self.number

    def __str__(self) -> str:
        return str(self.source)

    def __repr__(self) -> str:
        return f"Value({self.source!r})"


def number_of(tree: ExpressionTree, scope: Mapping[str, float]) -> float:
    """Value of an expression in plain floats; raises ExpressionError where there is no finite real number."""
    try:
        number = evaluate(tree, scope.__getitem__)
    except ZeroDivisionError:
        raise ExpressionError("divides by zero") from None
    except (OverflowError, ValueError) as error:
        raise ExpressionError(f"has no value ({error})") from None
    if isinstance(number, complex):
        raise ExpressionError("has no real value (a fractional power of a negative number)")
    if not math.isfinite(number):
        raise ExpressionError("is not finite")
    if abs(number) > MOST:
        raise ExpressionError(f"{number:g} is out of bounds: at most {MOST:g}")
    return float(number)


def read_value(written: object, quantity: PhysicalQuantity = units.ANY) -> Value:
    """Value from a number or text; raises ExpressionError with what was expected.

    The dimension is checked here where it can be known; values that use parameters are checked by the robot.
    """
    if isinstance(written, Value):
        written = written.source
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        if not _is_real(written):
            raise ExpressionError(
                f"expected {_with_article(quantity)}, got {describe(written)}", _example(quantity)
            )
        written = float(written)  # type: ignore[arg-type]
    if not isinstance(written, str):
        return _plain(written, quantity)
    tree = parse(written)
    used = names(tree)
    if used:
        return Value(written.strip(), tree, quantity, used)
    number = number_of(tree, {})
    check_dimension(dimension_of(tree, _no_parameters), quantity)
    return Value(written.strip(), tree, quantity, constant=number)


def _plain(written: float, quantity: PhysicalQuantity) -> Value:
    """A number in SI; refuses what is infinite or beyond all robots."""
    try:
        number = float(written)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExpressionError(f"expected a finite {quantity.name}, got {number}", _example(quantity))
    if abs(number) > MOST:
        raise ExpressionError(
            f"expected {_with_article(quantity)}, got {number:g}, out of bounds: at most {MOST:g}"
        )
    return Value(number, NumberLiteral(number), quantity, constant=number)


def _with_article(quantity: PhysicalQuantity) -> str:
    return f"{'an' if quantity.name[:1] in 'aeiou' else 'a'} {quantity.name}"


def _is_real(written: object) -> bool:
    # NumPy's scalars (and only scalars) are welcome, without importing NumPy to say so; its dates are none.
    return (
        type(written).__module__ == "numpy"
        and getattr(getattr(written, "dtype", None), "kind", "") in tuple("fiu")
        and getattr(written, "ndim", 1) == 0
    )


def _no_parameters(name: str) -> Inferred:
    return UNKNOWN


def check_dimension(dimension: Inferred, quantity: PhysicalQuantity) -> None:
    """Raise ExpressionError where a value's dimension isn't its field's."""
    if isinstance(dimension, str) or quantity.dimension is None or dimension == quantity.dimension:
        return
    came = "a pure number or an angle" if dimension == units.NUMBER else f"one in {unit_text(dimension)}"
    raise ExpressionError(
        f"expected {_with_article(quantity)} ({quantity.unit}), got {came}", _example(quantity)
    )


def _example(quantity: PhysicalQuantity) -> str:
    if not quantity.unit or quantity.unit == "1":
        return 'write a number, or arithmetic over parameters ("2*ratio")'
    return f'write a number in {quantity.unit}, or text with a unit ("1.5 {quantity.unit}") or a parameter\'s name'


def describe(written: object) -> str:
    """What came, in a file's words."""
    if written is None:
        return "nothing"
    if isinstance(written, bool):
        return "true" if written else "false"
    if isinstance(written, Mapping):
        return "a mapping (keys and values)"
    if isinstance(written, (list, tuple)):
        return f"a list of {len(written)}"
    text = repr(written)
    return text if len(text) <= 60 else text[:57] + "..."


def problem(message: str, hint: str | None = None, at: tuple[object, ...] = ()) -> PydanticCustomError:
    """What is wrong, how to put it right, and at which key, for validators to raise."""
    # The message travels in the context: pydantic would read braces in a template.
    return PydanticCustomError("component", "{message}", {"message": message, "hint": hint, "at": at})


class Reads:
    """Tells pydantic how to read a field of type Value: which quantity it measures.

    `turn` marks directions: a plain number beyond a full turn there is degrees that nobody converted.
    """

    # What uses no parameters, as it shapes the programs, and what to write there; None where formulas may stand.
    plain: ClassVar[tuple[str, str | None] | None] = None

    def __init__(self, quantity: PhysicalQuantity, *, turn: bool = False) -> None:
        self.quantity = quantity
        self.turn = turn

    def value(self, written: object) -> Value:
        """Read one value; raises ExpressionError."""
        value = read_value(written, self.quantity)
        if self.turn and isinstance(value.source, float) and abs(value.source) > 2 * math.pi:
            raise ExpressionError(
                f"{value.source:g} radians is more than a full turn",
                f'for degrees write "{value.source:g} deg"',
            )
        if self.plain is not None and value.names:
            what, hint = self.plain
            uses = f"and {value.source!r} uses {', '.join(value.names)}"
            raise ExpressionError(f"{what} can't use parameters, {uses}", hint)
        return value

    def values(self, written: Sequence[object]) -> tuple[Value, ...]:
        """The values of a list; what is wrong with one is told with its place."""
        values: list[Value] = []
        for place, each in enumerate(written):
            try:
                values.append(self.value(each))
            except ExpressionError as error:
                raise problem(str(error), error.hint, (place,)) from None
        return tuple(values)

    def read(self, written: object) -> object:
        try:
            return self.value(written)
        except ExpressionError as error:
            raise problem(str(error), error.hint) from None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def schema(self) -> JsonSchemaValue:
        """What editors are told of it."""
        return {"type": ["number", "string"], "x-unit": self.quantity.unit}

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return self.schema()


class ReadsVector(Reads):
    """The same for three values [x, y, z]."""

    def read(self, written: object) -> object:
        """Three values of one measure."""
        if not isinstance(written, (list, tuple)) or len(written) != 3:
            came = f"expected a list of three {self.quantity.name}s, got {describe(written)}"
            raise problem(came, "write [x, y, z], as in [0, -0.6, 0]")
        return self.values(written)

    def schema(self) -> JsonSchemaValue:
        return {"type": "array", "items": super().schema(), "minItems": 3, "maxItems": 3}


class ReadsAxis(ReadsVector):
    """The direction of an axis: numbers only, as it shapes the equations."""

    plain = "an axis", "write numbers, and turn the joint's frame by parameters: rpy"


class ReadsFixed(Reads):
    """A number that shapes the programs: no parameter, and no formula of parameters."""

    plain = "what sampling hangs on", 'write a number: "10 ms"'


class ReadsSpan(ReadsFixed):
    """One such number, or the least and the greatest of them."""

    def read(self, written: object) -> object:
        if not isinstance(written, (list, tuple)):
            return super().read(written)
        if len(written) != 2:
            came = f"expected a {self.quantity.name}, or the least and the greatest, got {describe(written)}"
            raise problem(came, "write [least, greatest], as in [0.02, 0.3]")
        return tuple(replace(value, bound=_NOT_NEGATIVE) for value in self.values(written))

    def schema(self) -> JsonSchemaValue:
        number = super().schema()
        return {"anyOf": [number, {"type": "array", "items": number, "minItems": 2, "maxItems": 2}]}


class ReadsWrap(Reads):
    """An angle, or counts; or the word no."""

    def read(self, written: object) -> object:
        return written if written == "no" else super().read(written)

    def schema(self) -> JsonSchemaValue:
        return {"anyOf": [super().schema(), {"const": "no"}]}


class ReadsGravity(ReadsVector):
    """Gravity: one number, straight down, or a vector in the world frame."""

    def read(self, written: object) -> object:
        return super().read(written) if isinstance(written, (list, tuple)) else Reads.read(self, written)

    def schema(self) -> JsonSchemaValue:
        vector = super().schema()
        return {"anyOf": [vector["items"], vector]}


ValueVector = tuple[Value, Value, Value]

T = TypeVar("T")
# What a field's number must be, around what it measures: radius: Positive[Length].
Positive = Annotated[T, NumberBound(partial(lt, 0.0), "must be greater than zero")]
_NOT_NEGATIVE = NumberBound(partial(le, 0.0), "must not be negative")
NotNegative = Annotated[T, _NOT_NEGATIVE]
NotZero = Annotated[T, NumberBound(partial(ne, 0.0), "must not be zero")]

Plain = Annotated[Value, Reads(units.ANY)]
Ratio = Annotated[Value, Reads(units.RATIO)]
Length = Annotated[Value, Reads(units.LENGTH)]
Duration = NotNegative[Annotated[Value, Reads(units.TIME)]]
FixedDuration = NotNegative[Annotated[Value, ReadsFixed(units.TIME)]]
Span = NotNegative[Annotated[Value | tuple[Value, Value], ReadsSpan(units.TIME)]]
Angle = Annotated[Value, Reads(units.ANGLE)]
Direction = Annotated[Value, Reads(units.ANGLE, turn=True)]
Wrap = Positive[Annotated[Value | Literal["no"], ReadsWrap(units.ANGLE)]]
Mass = NotNegative[Annotated[Value, Reads(units.MASS)]]
Moment = Annotated[Value, Reads(units.INERTIA)]
Speed = Annotated[Value, Reads(units.SPEED)]
Acceleration = Annotated[Value, Reads(units.ACCELERATION)]
Jerk = Annotated[Value, Reads(units.JERK)]
Rate = Annotated[Value, Reads(units.RATE)]
AngularAcceleration = Annotated[Value, Reads(units.ANGULAR_ACCELERATION)]
AngularJerk = Annotated[Value, Reads(units.ANGULAR_JERK)]
Force = Annotated[Value, Reads(units.FORCE)]
Torque = Annotated[Value, Reads(units.TORQUE)]
Stiffness = NotNegative[Annotated[Value, Reads(units.STIFFNESS)]]
AngularStiffness = NotNegative[Annotated[Value, Reads(units.ANGULAR_STIFFNESS)]]
Damping = NotNegative[Annotated[Value, Reads(units.DAMPING)]]
AngularDamping = NotNegative[Annotated[Value, Reads(units.ANGULAR_DAMPING)]]
Current = Annotated[Value, Reads(units.CURRENT)]
Capacity = Annotated[Value, Reads(units.CHARGE)]
Voltage = Annotated[Value, Reads(units.VOLTAGE)]
Resistance = Positive[Annotated[Value, Reads(units.RESISTANCE)]]
Inductance = NotNegative[Annotated[Value, Reads(units.INDUCTANCE)]]
TorqueConstant = Annotated[Value, Reads(units.TORQUE_CONSTANT)]
Position = Annotated[ValueVector, ReadsVector(units.LENGTH)]
Angles = Annotated[ValueVector, ReadsVector(units.ANGLE, turn=True)]
Axis = Annotated[ValueVector, ReadsAxis(units.RATIO)]
Gravity = Annotated[Value | ValueVector, ReadsGravity(units.ACCELERATION)]


# As instruments write units, beside those that descriptions know.
_WRITTEN = {
    "°": "deg", "degrees": "deg", "degree": "deg", "radians": "rad", "meters": "m", "millimeters": "mm",
    "sec": "s", "seconds": "s", "Nm": "N m", "N.m": "N m", "Nmm": "N mm", "N.mm": "N mm", "newtons": "N",
}  # fmt: skip
# What stands for a number without a unit.
_NUMBERS = ("", "1", "-")


def unit_in_si(text: str) -> tuple[float, Dimension]:
    """Factor to SI and dimension of a unit; InputError for what is none."""
    written = _WRITTEN.get(text, text)
    if written in _NUMBERS:
        return 1.0, NUMBER
    try:
        value = read_value(f"1 {written}")
        dimension = dimension_of(value.expression, lambda _: LITERAL)
    except ExpressionError as error:
        raise InputError(
            f"'{text}' is not a unit: {error}", hint="such as deg, rad, mm, m, ms, s, N, N m"
        ) from None
    if value.constant is None or isinstance(dimension, str) or value.constant <= 0:
        raise InputError(f"'{text}' is not a unit", hint="such as deg, rad, mm, m, ms, s, N, N m")
    return value.constant, dimension

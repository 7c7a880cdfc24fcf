"""A robot's parameters: their names, numbers and units, and the scalars its values become.

Named parameters stand first, then every plain number of the description under its key path. Parameters defined by
a formula over others ("track: 8*r") are no parameters of their own: they follow from those.
"""

from __future__ import annotations

from collections.abc import Mapping

from trundle import scalars
from trundle.errors import InputError, suggest
from trundle.robot.expressions import (
    LITERAL,
    UNKNOWN,
    ExpressionError,
    ExpressionTree,
    FormulaOperation,
    Inferred,
    Name,
    dimension_of,
    evaluate,
)
from trundle.robot.parts import Parts
from trundle.robot.problems import Mistake, Path, in_order
from trundle.robot.units import PhysicalQuantity, unit_text
from trundle.robot.values import Value
from trundle.scalars import Scalar


def definition_order(robot: Parts) -> list[str]:
    """Names of all `parameters`, each after those its formula uses; raises CircleError where there is no such order."""
    given = robot.parameters
    return in_order({name: [used for used in value.names if used in given] for name, value in given.items()})


class Resolver:
    """Turns the values of one robot into scalars.

    `scope` maps every parameter's name (see `parameter_values`) to a scalar of any kind: float, NumPy array, SymPy
    expression, CasADi SX. Numbers that are no parameters (exact zeros, unwritten defaults without effect) stay floats.
    """

    def __init__(self, robot: Parts, scope: Mapping[str, Scalar]) -> None:
        self._scope: dict[str, Scalar] = dict(scope)
        self._gravity = robot.gravity
        for name in definition_order(robot):
            value = robot.parameters[name]
            if not value.is_parameter:
                self._scope[name] = evaluate(value.expression, self._look_up)

    def _look_up(self, name: str) -> Scalar:
        try:
            return self._scope[name]
        except KeyError:
            message = f"no scalar was given for the parameter {name!r}"
            raise InputError(message, hint=suggest(name, self._scope)) from None

    def __call__(self, value: Value) -> Scalar:
        """The scalar a value stands for."""
        if value.is_parameter:
            return self._look_up(value.key)
        if value.constant is not None:
            return value.constant
        return evaluate(value.expression, self._look_up)

    def written(self, value: Value) -> Scalar:
        """The scalar of what was written, where a wheel's axle has made another number of it (`axles.py`)."""
        return evaluate(value.expression, self._look_up)

    def vector(self, vector: tuple[Value, Value, Value]) -> tuple[Scalar, Scalar, Scalar]:
        """Three scalars."""
        return self(vector[0]), self(vector[1]), self(vector[2])

    def direction(self, vector: tuple[Value, Value, Value]) -> tuple[Scalar, Scalar, Scalar]:
        """Three scalars scaled to length 1 (floats where the axis uses no parameters)."""
        x, y, z = self.vector(vector)
        length = scalars.sqrt(x * x + y * y + z * z)
        if isinstance(length, float) and length == 1.0:
            return x, y, z
        return x / length, y / length, z / length

    def gravity(self) -> tuple[Scalar, Scalar, Scalar]:
        """Acceleration of gravity in the world frame (m/s^2)."""
        if isinstance(self._gravity, tuple):
            return self.vector(self._gravity)
        return 0.0, 0.0, -self(self._gravity)


def numbers(robot: Parts, scope: Mapping[str, float]) -> tuple[dict[str, float], list[Mistake]]:
    """Number of every value of a robot by key, given its parameters; and what has no number."""
    known, numbers_by_key, problems = dict(scope), dict[str, float](), list[Mistake]()
    order: list[tuple[Path, Value]] = [
        (("parameters", name), robot.parameters[name]) for name in definition_order(robot)
    ]
    order += [(path, value) for path, value in robot.every_value if path[0] != "parameters"]
    for path, value in order:
        try:
            numbers_by_key[value.key] = known[value.key] if value.is_parameter else value.number_in(known)
        except KeyError:
            continue  # it hangs on a parameter that failed before it, which is reported
        except ExpressionError as error:
            problems.append(Mistake(path, f"{value.source!r} {error}", error.hint))
            continue
        if path[0] == "parameters":
            known[value.key] = numbers_by_key[value.key]
    return numbers_by_key, problems


def dimensions(robot: Parts) -> dict[str, Inferred]:
    """Dimension of every named parameter, as far as its own text says."""
    by_name: dict[str, Inferred] = {}
    for name in definition_order(robot):
        try:
            dimension = dimension_of(
                robot.parameters[name].expression, lambda used: by_name.get(used, UNKNOWN)
            )
        except ExpressionError:
            dimension = UNKNOWN  # reported where the parameter is checked
        # a plain number may be of any kind as a parameter, even though as a factor it is a pure number
        by_name[name] = UNKNOWN if dimension == LITERAL else dimension
    return by_name


def parameter_units(robot: Parts) -> dict[str, str]:
    """Unit of every parameter; for a named plain number that of its first use; "" where none shows."""
    known, uses = dimensions(robot), quantities(robot)
    by_key = {value.key: value for _, value in robot.every_value}

    def unit(name: str) -> str:
        if name not in robot.parameters:
            return by_key[name].quantity.unit
        if name in uses:
            return uses[name].unit
        dimension = known[name]
        return "" if isinstance(dimension, str) else unit_text(dimension)

    return {name: unit(name) for name in robot.own_numbers}


def quantities(robot: Parts) -> dict[str, PhysicalQuantity]:
    """What a named parameter measures, by the first field that is a multiple of it."""
    by_name: dict[str, PhysicalQuantity] = {}
    for path, value in robot.every_value:
        name = _multiple_of(value.expression) if value.names else None
        if name is not None and path[0] != "parameters":
            by_name.setdefault(name, value.quantity)
    for defined, value in robot.parameters.items():
        name = _multiple_of(value.expression) if value.names else None
        if name is not None and defined in by_name:
            by_name.setdefault(name, by_name[defined])
    return by_name


def _multiple_of(tree: ExpressionTree) -> str | None:
    """The name in name, -name, 2*name, name/2."""
    if isinstance(tree, Name):
        return tree.name
    if not isinstance(tree, FormulaOperation) or tree.operator not in ("neg", "*", "/"):
        return None
    named = [operand for operand in tree.operands if not _is_pure(operand)]
    if len(named) != 1 or (tree.operator == "/" and named[0] is not tree.operands[0]):
        return None
    return _multiple_of(named[0])


def _is_pure(tree: ExpressionTree) -> bool:
    return not isinstance(tree, (Name, FormulaOperation)) and tree.dimension is None


def written_keys(robot: Parts) -> list[str]:
    """The keys of all that a description says: parameters, and what follows from them."""
    return [value.key for _, value in robot.every_value if value.is_parameter or value.names]


def path_of(robot: Parts, name: str) -> Path:
    """Key path of a parameter in the description."""
    for path, value in robot.every_value:
        if value.key == name:
            return path
    raise InputError(
        f"there is no parameter {name!r}", key=name, hint=suggest(name, written_keys(robot), most=40)
    )

"""Robot: the whole description, checked; what its gears' ratios measure; and its numbers, some of them changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import ModelWrapValidatorHandler, model_validator
from pydantic_core import PydanticCustomError

from trundle.choices import BASES
from trundle.errors import InputError, choose, suggest
from trundle.expected import by_name
from trundle.robot import parameters as _parameters
from trundle.robot import units
from trundle.robot.bodies import drive_axes
from trundle.robot.checks import check_numbers, check_robot
from trundle.robot.controllers import Controller
from trundle.robot.couplings import CamCoupling, Coupling, GearCoupling
from trundle.robot.expressions import UNKNOWN, ExpressionError, dimension_of
from trundle.robot.noun import Noun, keyed, plain, with_entry
from trundle.robot.parameters import Resolver, dimensions, quantities, written_keys
from trundle.robot.parts import Parts
from trundle.robot.problems import report
from trundle.robot.sensors import Sensor
from trundle.robot.units import Measure, unit_text
from trundle.robot.values import Value, check_dimension, describe, read_value
from trundle.scalars import Scalar
from trundle.shown import Shown


def override(robot: Parts, changes: Mapping[str, float | str | Value]) -> dict[str, float]:
    """`parameter_values` with some changed; raises InputError on unknown names, wrong units, numbers out of bounds."""
    result = dict(robot.own_numbers)
    by_key = {value.key: value for _, value in robot.every_value}
    known, uses = dimensions(robot), quantities(robot)
    for name, written in changes.items():
        if name not in result:
            raise _unknown_parameter(robot, name, result)
        try:
            value = read_value(written, by_key[name].quantity)
            if value.names:
                raise ExpressionError(f"{value.source!r} uses {', '.join(value.names)}", "give a number")
            dimension, expected = known.get(name, UNKNOWN), uses.get(name)
            if not isinstance(dimension, str):
                expected = Measure("quantity", unit_text(dimension), dimension)
            if expected is not None:
                check_dimension(dimension_of(value.expression, lambda used: UNKNOWN), expected)
        except ExpressionError as error:
            raise InputError(str(error), key=name, hint=error.hint) from None
        result[name] = value.number
    problems = check_numbers(robot, result)
    if problems:
        first = report(problems)
        raise InputError(f"{first.key}: {first.message}", key=", ".join(changes), hint=first.hint)
    return result


def _unknown_parameter(robot: Parts, name: str, known: Mapping[str, float]) -> InputError:
    """An error that says why a name can't be changed: it follows from others, is a plain 0, or is unknown."""
    written = {value.key: value for _, value in robot.every_value}
    value = robot.parameters.get(name, written.get(name))
    if value is not None and value.names:
        message = f"{name!r} follows from {', '.join(value.names)} ({value.source})"
        return InputError(message, key=name, hint=f"change {' or '.join(value.names)} instead")
    if value is not None and value.constant:
        hint = "change it in the description, and derive the robot anew"
        return InputError("shapes the programs, and is no parameter", key=name, hint=hint)
    if value is not None:
        hint = "give it a parameter's name there, and the parameter a number"
        return InputError("is a plain 0 in the description, which stays 0", key=name, hint=hint)
    return InputError(
        f"there is no parameter {name!r}",
        key=name,
        hint=suggest(name, [*known, *written_keys(robot)], most=40),
    )


# What a ratio measures, by whether the follower slides and whether what it follows does.
_RATIOS = {
    (False, False): units.RATIO,
    (True, True): units.RATIO,
    (True, False): units.Measure("length per angle", "m/rad", units.LENGTH.dimension),
    (False, True): units.Measure("angle per length", "rad/m", (-1, 0, 0, 0)),
}


def _sliding(robot: Parts) -> frozenset[str]:
    """The names that a motor can drive along, not about, an axis."""
    return frozenset(
        name + ending
        for name, joint in robot.joints.items()
        for ending, (axis, _) in drive_axes(joint).items()
        if axis.sliding
    )


def measured(robot: Robot) -> Robot:
    """The robot with each number of its gears and cams told what it measures: m/rad for a rack, and so on."""
    slide = _sliding(robot)
    told = {name: _measured(coupling, slide) for name, coupling in robot.couplings.items()}
    return robot.model_copy(update={"couplings": told}) if told else robot


def _measured(coupling: Coupling, slide: frozenset[str]) -> Coupling:
    """The coupling with what its numbers measure: metres where a joint slides, radians elsewhere."""
    if isinstance(coupling, CamCoupling):
        measures = (
            units.LENGTH if name in slide else units.ANGLE for name in (coupling.follows, coupling.joint)
        )
        return coupling.model_copy(update={"curve": coupling.curve.measured(*measures)})
    return _geared(coupling, slide) if isinstance(coupling, GearCoupling) else coupling


def _geared(gear: GearCoupling, slide: frozenset[str]) -> GearCoupling:
    """The gear with what its ratios and its offset measure."""
    changed: dict[str, object] = {
        "follows": {
            name: replace(ratio, quantity=_RATIOS[gear.joint in slide, name in slide])
            for name, ratio in gear.follows.items()
        }
    }
    if "offset" in gear.model_fields_set:
        quantity = units.LENGTH if gear.joint in slide else units.ANGLE
        changed["offset"] = replace(gear.offset, quantity=quantity)
    return gear.model_copy(update=changed)


class Robot(Shown, Parts):
    """A robot: a base body, the bodies on joints, wheels, motors, and named parameters. All in SI and radians.

    Its fields are the keys of a description (`trundle schema` lists them); nouns or plain data fill them. Numbers may
    be text with a unit ("6 in") or a formula over `parameters` ("track/2"). A robot is frozen and has been checked.

    Examples
    --------
    >>> import trundle
    >>> arm = {"type": "revolute", "body": {"mass": "2 kg", "center_of_mass": [0.3, 0, 0]}}
    >>> trundle.Robot(name="arm", joints={"shoulder": arm}).parameter_values()["joints.shoulder.body.mass"]
    2.0
    """

    @model_validator(mode="wrap")
    @classmethod
    def _finished(cls, data: object, read: ModelWrapValidatorHandler[Robot]) -> Robot:
        """A robot whose values know their keys, and whose parts fit together.

        Keys are known only where the whole is, so they are given in a second step, which makes a new robot.
        """
        if isinstance(data, cls):
            return data
        robot = keyed(measured(read(data)))
        problems = check_robot(robot)
        if problems:
            context = {"message": problems[0].message, "problems": problems}
            raise PydanticCustomError("robot", "{message}", context)
        return robot

    def __reduce__(self) -> tuple[Callable[[object], Robot], tuple[dict[str, object]]]:
        return parse_robot, (
            plain(self),
        )  # what it was written as: bounds of users' own kinds may be lambdas

    def __str__(self) -> str:
        return repr(self)  # Pydantic's own text of a robot would be all of its fields

    def _repr_svg_(self) -> str:
        from trundle import to_svg

        return to_svg(self)

    @property
    def plant(self) -> Robot:
        """The robot without its controllers, and without the parameters that only they use.

        What they drive are inputs again.
        """
        if not self.controllers:
            return self
        aside = ("controllers", "parameters")
        used = {name for path, value in self.every_value if path[0] not in aside for name in value.names}
        for name in reversed(_parameters.definition_order(self)):
            used |= set(self.parameters[name].names) if name in used else set()
        kept = {name: value for name, value in self.parameters.items() if name in used}
        return self.model_copy(update={"controllers": {}, "parameters": kept})

    def with_controllers(self, controllers: Mapping[str, Controller | Mapping[str, object]]) -> Robot:
        """The robot with further controllers, or others in place of its own of the same names.

        Parameters
        ----------
        controllers : mapping of str to Controller or mapping
            By name: nouns, or what a file would hold.

        Returns
        -------
        Robot

        Raises
        ------
        InputError
            What a controller holds doesn't fit. What it reads and drives is looked at where a model is derived.

        Examples
        --------
        >>> import trundle
        >>> hold = {"reads": "v_x", "drives": "left_motor.voltage", "proportional": 10, "target": "1 m/s"}
        >>> robot = trundle.catalog.differential_drive().with_controllers({"speed": hold})
        >>> trundle.derive(robot).inputs
        ('right_motor.voltage',)
        """
        return self._with("controllers", controllers)

    def with_sensors(self, sensors: Mapping[str, Sensor | Mapping[str, object]]) -> Robot:
        """The robot with further sensors, or others in place of its own of the same names.

        Parameters
        ----------
        sensors : mapping of str to Sensor or mapping
            By name: nouns, or what a file would hold.

        Returns
        -------
        Robot

        Raises
        ------
        InputError
            What a sensor holds doesn't fit.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive().with_sensors({"gyro": {"type": "gyro", "noise": 0.002}})
        >>> robot.sensors["gyro"].period.number
        0.01
        """
        return self._with("sensors", sensors)

    def _with(self, family: str, further: Mapping[str, Noun | Mapping[str, object]]) -> Robot:
        """The robot with further parts of a family, or others in place of those of the same names."""
        said = plain(self)
        return parse_robot({**said, family: {**said.get(family, {}), **by_name(further, family)}})

    def parameter_values(self, changes: Mapping[str, float | str | Value] | None = None) -> dict[str, float]:
        """Every parameter and its number.

        The names and their order don't depend on the changes, so equations derived once hold for all of them.

        Parameters
        ----------
        changes : mapping of str to float or str, optional
            Other numbers for some parameters, in SI or as text with a unit ("6 in").

        Returns
        -------
        dict of str to float
            Named parameters first, then every number of the description by its key path ("wheels.left.mass"), in SI.

        Raises
        ------
        InputError
            Where a name is unknown, a unit doesn't fit, or the changed robot makes no sense.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive()
        >>> robot.parameter_values({"track": "80 cm"})["track"]
        0.8
        """
        changes = {} if changes is None else by_name(changes, "parameters")
        return override(self, changes) if changes else dict(self.own_numbers)

    def parameter_units(self) -> dict[str, str]:
        """Every parameter and its unit.

        Returns
        -------
        dict of str to str
            "" where the description doesn't show it.

        Raises
        ------
        InputError
            Never for a robot that was made: its parameters have been checked.

        Examples
        --------
        >>> import trundle
        >>> trundle.catalog.differential_drive().parameter_units()["track"]
        'm'
        """
        return _parameters.parameter_units(self)

    def resolver(self, scope: Mapping[str, Scalar] | None = None) -> Resolver:
        """What turns the values of this robot into scalars of any kind.

        Parameters
        ----------
        scope : mapping of str to scalar, optional
            A float, array or symbol for every parameter (see `parameter_values`). Default: the robot's own numbers.

        Returns
        -------
        Resolver
            Called with a value it gives the scalar, in SI.

        Raises
        ------
        InputError
            Where a parameter has no scalar.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive()
        >>> resolve = robot.resolver({**robot.parameter_values(), "track": 2.0})
        >>> resolve.vector(robot.wheels["left"].at)
        (0.0, 1.0, 0.0)
        """
        return Resolver(self, self.own_numbers if scope is None else scope)

    def number(self, value: Value) -> float:
        """Number of one of this robot's values.

        Parameters
        ----------
        value : Value
            A value of a noun of this robot, such as `robot.wheels["left"].radius`.

        Returns
        -------
        float
            In SI.

        Raises
        ------
        InputError
            Where the value uses a parameter that this robot doesn't have.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive(radius="6 in")
        >>> robot.number(robot.wheels["left"].radius)
        0.1524
        """
        return float(self.resolver()(value))

    def with_parameters(self, changes: Mapping[str, float | str]) -> Robot:
        """Another robot with some parameters written anew.

        Parameters
        ----------
        changes : mapping of str to float or str
            Named parameters, or numbers by key path ("wheels.left.mass"), to a number in SI, text with a unit ("6 in")
            or a formula over named parameters ("track/2").

        Returns
        -------
        Robot

        Raises
        ------
        InputError
            Where a name is unknown, or the changed robot makes no sense.

        Examples
        --------
        >>> import trundle
        >>> wide = trundle.catalog.differential_drive().with_parameters({"track": "4*r"})
        >>> wide.number(wide.wheels["left"].at[1])
        0.3
        """
        data: object = plain(self)
        for name, written in by_name(changes, "parameters").items():
            path = ("parameters", name) if name in self.parameters else _parameters.path_of(self, name)
            data = with_entry(data, path, written)
        return parse_robot(data)

    def same_mechanics(self, other: Robot) -> bool:
        """Whether another robot differs from this one in names only.

        Joints, wheels, motors and all other parts match one by one, with the same numbers (to 1e-12, relative) and on
        the same parts. Names, their order, looks, limits of plans, sensors, and the file that it came from don't count.

        Parameters
        ----------
        other : Robot
            Another description.

        Returns
        -------
        bool

        Raises
        ------
        InputError
            What is given is no robot.

        Examples
        --------
        >>> import trundle
        >>> from trundle.documents import dump, parse
        >>> robot = trundle.catalog.differential_drive()
        >>> renamed = parse(dump(robot).replace("left", "port")).robot
        >>> robot == renamed, robot.same_mechanics(renamed)
        (False, True)
        """
        from trundle.robot.same import same_mechanics  # late: few ask

        if not isinstance(other, Robot):
            raise InputError(f"same_mechanics takes a robot, not {type(other).__name__}", key="other")
        return same_mechanics(self, other)


def with_base(robot: Robot, base: str | None) -> Robot:
    """The robot on a base that moves otherwise; itself where `base` is None or how its base moves already."""
    if base is None or base == robot.base:
        return robot
    check_base(base, bool(robot.wheels))
    return parse_robot({**plain(robot), "base": base})


def check_base(base: str, wheeled: bool) -> None:
    """Raise InputError where no robot, or none with wheels, has such a base."""
    if not isinstance(base, str) or base not in BASES:
        raise InputError(f"unknown base {describe(base)}", key="base", hint=choose(base, BASES))
    if wheeled and base != "planar":
        message = f"a {base} base was asked for, and wheels roll on a planar one"
        hint = "leave it away: the description says planar; over a terrain the base floats by itself"
        raise InputError(message, key="base", hint=hint)


def floating(robot: Robot) -> Robot:
    """The robot on a base that can move any way, as over terrain; itself where it is on one."""
    return robot if robot.base == "floating" else parse_robot({**plain(robot), "base": "floating"})


def parse_robot(data: object) -> Robot:
    """A robot from plain data, as it stands under `robot:` in a file; raises InputError.

    Parameters
    ----------
    data : mapping
        Its keys.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        With the key of what is wrong.

    Examples
    --------
    >>> from trundle.robot import parse_robot
    >>> spin = {"type": "revolute", "axis": [0, 0, 1], "body": {"mass": 1}}
    >>> parse_robot({"name": "top", "base": "fixed", "joints": {"spin": spin}}).name
    'top'
    """
    if not isinstance(data, Mapping):
        raise InputError(f"expected a mapping of the robot's keys, got {type(data).__name__}")
    return Robot(**{str(key): value for key, value in data.items()})

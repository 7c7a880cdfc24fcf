"""Robot: the whole description, checked, and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import ModelWrapValidatorHandler, ValidationError, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from trundle.choices import BASES
from trundle.errors import InputError, choose
from trundle.expected import by_name
from trundle.robot import parameters as _parameters
from trundle.robot.axles import say, with_axles
from trundle.robot.checks import check_numbers, check_parts, tilt
from trundle.robot.component import Component, keyed, plain, with_entry
from trundle.robot.constraint import Constraint
from trundle.robot.controllers import Controller
from trundle.robot.overriding import override
from trundle.robot.parameters import Resolver
from trundle.robot.parts import Parts
from trundle.robot.problems import Mistake, input_error
from trundle.robot.ratios import measured
from trundle.robot.sensor import Sensor
from trundle.robot.values import Value, describe
from trundle.scalars import Scalar
from trundle.shown import Displayable

# How a robot is made of data: with axles that are rounded refused, or made exact without a word.
STRICT, QUIET = {"axles": "strict"}, {"axles": "quiet"}


class Robot(Displayable, Parts):
    """A robot: a base body, the bodies on joints, wheels, motors, and named parameters. All in SI and radians.

    Its fields are the keys of a description (`trundle schema` lists them); components or plain data fill them. Numbers
    may be text with a unit ("6 in") or a formula over `parameters` ("track/2"). A robot is frozen and has been checked.

    Examples
    --------
    >>> import trundle
    >>> arm = {"type": "revolute", "body": {"mass": "2 kg", "center_of_mass": [0.3, 0, 0]}}
    >>> trundle.Robot(name="arm", joints={"shoulder": arm}).parameter_values()["joints.shoulder.body.mass"]
    2.0
    """

    @model_validator(mode="wrap")
    @classmethod
    def _finished(cls, data: object, read: ModelWrapValidatorHandler[Robot], how: ValidationInfo) -> Robot:
        """A robot whose values know their keys, and whose parts fit together.

        Keys are known only where the whole is, so they are given in a second step, which makes a new robot. Its axles
        are made exact there, which is an error in a context of STRICT, and said but for one of QUIET.
        """
        if isinstance(data, cls):
            return data
        robot = keyed(measured(read(data)))
        notes: list[Mistake] = []
        if not (problems := check_parts(robot)):
            robot, notes = with_axles(robot)
            problems = check_numbers(robot, robot.own_numbers)
        if not problems and how.context is STRICT:
            problems = [note for note in notes if note.hint]
        if problems:
            context = {"message": problems[0].message, "problems": problems}
            raise PydanticCustomError("robot", "{message}", context)
        for note in (*notes, *tilt(robot, robot.own_numbers)):
            say(robot, note, aloud=how.context is not QUIET)
        return robot

    def __reduce__(self) -> tuple[Callable[[object], Robot], tuple[dict[str, object]]]:
        return _revalidated, (
            plain(self),
        )  # what it was written as: bounds of users' own kinds may be lambdas

    def __str__(self) -> str:
        return repr(self)  # Pydantic's own text of a robot would be all of its fields

    def _repr_svg_(self) -> str:
        from trundle import to_svg

        return to_svg(self)

    @property
    def without_controllers(self) -> Robot:
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
            By name: components, or what a file would hold.

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
            By name: components, or what a file would hold.

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

    def with_constraints(self, constraints: Mapping[str, Constraint | Mapping[str, object]]) -> Robot:
        """The robot with further limits of its motions, of registered classes, or others in place of its own.

        Parameters
        ----------
        constraints : mapping of str to Constraint or mapping
            By name: components, or what a file would hold.

        Returns
        -------
        Robot

        Raises
        ------
        InputError
            What a constraint holds doesn't fit.

        Examples
        --------
        >>> import trundle
        >>> trundle.catalog.swerve().with_constraints({}).constraints
        {}
        """
        return self._with("constraints", constraints)

    def with_payload(self, mass: float | str, at: Sequence[float | str] = (0.0, 0.0, 0.0)) -> Robot:
        """The robot with a point mass on its base: the joint `payload`, which holds a body there.

        Parameters
        ----------
        mass : float or str, kg
            A number, or text with a unit. Its parameter is `joints.payload.body.mass`.
        at : sequence of three float or str, m
            Where it is, in the base's frame.

        Returns
        -------
        Robot

        Raises
        ------
        InputError
            What is given is no mass and no point.

        Examples
        --------
        >>> import trundle
        >>> robot = trundle.catalog.differential_drive().with_payload("300 kg", at=(0.4, 0, "50 cm"))
        >>> robot.parameter_values()["joints.payload.at.z"]
        0.5
        """
        joint = {"type": "fixed", "at": at, "body": {"mass": mass}}
        return self._with("joints", {"payload": joint})

    def _with(self, family: str, further: Mapping[str, Component | Mapping[str, object]]) -> Robot:
        """The robot with further parts of a family, or others in place of those of the same names."""
        said = plain(self)
        return _revalidated({**said, family: {**said.get(family, {}), **by_name(further, family)}})

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
            A value of a component of this robot, such as `robot.wheels["left"].radius`.

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


def with_base(robot: Robot, base: str | None) -> Robot:
    """The robot on a base that moves otherwise; itself where `base` is None or how its base moves already."""
    if base is None or (isinstance(base, str) and base == robot.base):
        return robot
    check_base(base, bool(robot.wheels))
    return _revalidated({**plain(robot), "base": base})


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
    return robot if robot.base == "floating" else _revalidated({**plain(robot), "base": "floating"})


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


def _revalidated(data: object) -> Robot:
    """A robot from what another was written as, without a word of what was said of that one."""
    try:
        return Robot.model_validate(data, context=QUIET)
    except ValidationError as error:
        raise input_error(error, Robot.__name__) from None

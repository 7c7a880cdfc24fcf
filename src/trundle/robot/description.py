"""Robot: the whole description, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import ModelWrapValidatorHandler, model_validator
from pydantic_core import PydanticCustomError

from trundle.errors import InputError
from trundle.robot import parameters as _parameters
from trundle.robot.checks import check_robot
from trundle.robot.gearing import measured
from trundle.robot.overrides import override
from trundle.robot.parameters import Resolver
from trundle.robot.parts import Parts
from trundle.robot.values import Value
from trundle.robot.walk import keyed, plain, with_entry
from trundle.scalars import Scalar
from trundle.shown import Shown


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
        for name, written in changes.items():
            path = ("parameters", name) if name in self.parameters else _parameters.path_of(self, name)
            data = with_entry(data, path, written)
        return parse_robot(data)


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

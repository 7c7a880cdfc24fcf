"""Robot: the whole description, checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

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
from trundle.robot.walk import keyed, plain
from trundle.shown import Shown


class Robot(Shown, Parts):
    """A robot: a base body, the bodies on joints, wheels, motors, and named parameters. All in SI and radians."""

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

    def __str__(self) -> str:
        return repr(self)  # Pydantic's own text of a robot would be all of its fields

    def _repr_svg_(self) -> str:
        from trundle import to_svg

        return to_svg(self)

    def parameter_values(self, changes: Mapping[str, float | str | Value] | None = None) -> dict[str, float]:
        """Every parameter and its number in SI, some of them changed; raises InputError if the changes make no sense.

        The names and their order don't depend on the changes, so equations derived once hold for all of them.
        """
        return override(self, changes) if changes else _parameters.parameter_values(self)

    def parameter_units(self) -> dict[str, str]:
        """Every parameter and its unit as text ("" where the description doesn't show it)."""
        return _parameters.parameter_units(self)

    def resolver(self, scope: Mapping[str, Any] | None = None) -> Resolver:
        """What turns the values of this robot into scalars: by default its own numbers."""
        return Resolver(self, self.parameter_values() if scope is None else scope)

    def number(self, value: Value) -> float:
        """Number of one of this robot's values, in SI."""
        return float(self.resolver()(value))

    def with_parameters(self, changes: Mapping[str, float | str]) -> Robot:
        """Another robot with some parameters (named ones, formulas, or numbers by key path) written anew."""
        data = plain(self)
        for name, written in changes.items():
            target: Any = data
            path = ("parameters", name) if name in self.parameters else _parameters.path_of(self, name)
            for part, after in pairwise(path):
                if isinstance(target, dict):
                    target = target.setdefault(part, {} if isinstance(after, str) else [0.0, 0.0, 0.0])
                else:
                    target = target[part]
            target[path[-1]] = written
        return parse_robot(data)


def parse_robot(data: Mapping[str, Any]) -> Robot:
    """A robot from plain data, as it stands under `robot:` in a file; raises InputError."""
    if not isinstance(data, Mapping):
        raise InputError(f"expected a mapping of the robot's keys, got {type(data).__name__}")
    return Robot(**{str(key): value for key, value in data.items()})

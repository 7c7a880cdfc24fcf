"""The `run:` section: what to do with the robot."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from trundle.choices import MOST_SAMPLES, Attitude, InterpolationName, Method, Mode
from trundle.robot import Robot, units
from trundle.robot.component import Component
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import Reads, Value, problem

_NUMBER = 'write a number, or a number with a unit ("24 V")'


class ReadsConstant(Reads):
    """A value that uses no parameters: a run's numbers are its own."""

    plain = "a run's number", _NUMBER

    def value(self, written: object) -> Value:
        """A number with its unit; a run's numbers use no parameters."""
        try:
            return super().value(written)
        except ExpressionError as error:
            hint = (error.hint or "").replace(" or a parameter's name", "")
            known = hint and "over parameters" not in hint
            raise ExpressionError(str(error), hint if known else _NUMBER) from None


class ReadsNumber(ReadsConstant):
    """The same as a plain float in SI."""

    def read(self, written: object) -> object:
        value = super().read(written)
        assert isinstance(value, Value)
        return value.number


Constant = Annotated[Value, ReadsConstant(units.ANY)]
Seconds = Annotated[float, ReadsNumber(units.TIME)]
Frequency = Annotated[float, ReadsNumber(units.FREQUENCY)]
PlainNumber = Annotated[float, ReadsNumber(units.RATIO)]


def _positive(number: float) -> float:
    if number <= 0:
        raise problem(f"expected a number above zero, got {number:g}")
    return number


def _tolerance(number: float) -> float:
    if not 0 < number < 1:
        raise problem(f"expected a tolerance between 0 and 1, got {number:g}")
    return number


class Table(Component):
    """An input as a function of time, by its values at given times."""

    called: ClassVar[str] = "table"

    times: tuple[Seconds, ...] = Field(description="Times (s), increasing.")
    values: tuple[Constant, ...] = Field(description="The input's value at each time.")
    interpolation: InterpolationName = Field(
        "linear", description="Between the times: previous, linear or cubic."
    )

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values in SI."""
        return tuple(value.number for value in self.values)

    @model_validator(mode="after")
    def _consistent(self) -> Table:
        """Refuse a table without entries, of unequal columns, or whose times don't increase."""
        if len(self.times) < 1:
            raise problem("the table is empty", "give at least one time and value", ("times",))
        if len(self.times) != len(self.values):
            message = f"{len(self.times)} times but {len(self.values)} values"
            raise problem(message, "each time needs one value", ("values",))
        for place, (before, after) in enumerate(pairwise(self.times)):
            if after <= before:
                message = f"times must increase: {after:g} comes after {before:g}"
                raise problem(message, "sort the table and remove repeated times", ("times", place + 1))
        return self


class FileTable(Component):
    """An input from a column of a CSV file whose first column, or column `time`, is time (s)."""

    called: ClassVar[str] = "file table"

    file: str = Field(description="CSV file, relative to the description's folder.", min_length=1)
    column: str | None = Field(
        None, description="Column of the values. Default: the one named like the input."
    )
    interpolation: InterpolationName = Field(
        "linear", description="Between the times: previous, linear or cubic."
    )


def _signal(data: object) -> str:
    if isinstance(data, Mapping):
        return "<file>" if "file" in data else "<table>"
    return "<table>" if isinstance(data, Table) else "<file>" if isinstance(data, FileTable) else "<constant>"


SignalSpec = Annotated[
    Annotated[Constant, Tag("<constant>")]
    | Annotated[Table, Tag("<table>")]
    | Annotated[FileTable, Tag("<file>")],
    Discriminator(_signal),
]


class RunSpec(Component):
    """A run: how long, with which inputs, from where."""

    called: ClassVar[str] = "run"

    duration: Annotated[Seconds, AfterValidator(_positive)] = Field(
        10.0, description="How long (s), default 10."
    )
    mode: Mode = Field(
        "dynamic", description="dynamic: forces move it; kinematic: the wheels' motions are given."
    )
    inputs: dict[str, SignalSpec] = Field(
        default_factory=dict, description="Input name to number, text or table."
    )
    initial: dict[str, Constant] = Field(
        default_factory=dict, description="State name to its value at the start."
    )
    set: dict[str, Constant] = Field(default_factory=dict, description="Parameter name to another value.")
    method: Method = Field("auto", description="Integrator. Default auto: by the stiffness of the robot.")
    rtol: Annotated[PlainNumber, AfterValidator(_tolerance)] | None = Field(
        None, description="Relative tolerance. Default: 1e-9; 1e-11 with dop853."
    )
    atol: Annotated[PlainNumber, AfterValidator(_tolerance)] | None = Field(
        None, description="Absolute tolerance. Default: a tenth of the relative one."
    )
    step: Annotated[Seconds, AfterValidator(_positive)] | None = Field(
        None, description="Length of a step over terrain (s), default 0.01."
    )
    attitude: Attitude = Field(
        "exponential",
        description="The kind of step over terrain. Default exponential: momenta are carried, which makes no energy. "
        "euler_angles: that of Seegmiller's library.",
    )
    samples: int = Field(1001, ge=2, le=MOST_SAMPLES, strict=True, description="Stored times, default 1001.")
    rate: Annotated[Frequency, AfterValidator(_positive)] | None = Field(
        None, description="Stored times per second (Hz), instead of samples."
    )
    seed: int = Field(0, ge=0, strict=True, description="Seed of the sensors' noise, default 0.")

    @model_validator(mode="after")
    def _one_sampling(self) -> RunSpec:
        if self.rate is not None and "samples" in self.model_fields_set:
            raise problem("both samples and rate are given", "keep one of them", ("rate",))
        if self.rate is not None and self.rate * self.duration > MOST_SAMPLES:
            raise problem(f"more than {MOST_SAMPLES} samples", "lower the rate or the duration", ("rate",))
        return self


def largest_voltage(run: RunSpec, robot: Robot) -> float | None:
    """The largest voltage that a run's constants and tables put on a robot's motors (V); None for none."""
    motors = robot.motors.items()
    names = {f"{name}.{motor.command}" for name, motor in motors if motor.commands is units.VOLTAGE}
    given = [signal for name, signal in run.inputs.items() if name in names]
    numbers = [abs(signal.number) for signal in given if isinstance(signal, Value)]
    numbers += [abs(value) for signal in given if isinstance(signal, Table) for value in signal.numbers]
    return max(numbers, default=None) or None

"""PID controllers within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from trundle.robot import units
from trundle.robot.component import default
from trundle.robot.controllers import CONTROLLERS, Action, Controller, Sight, UnitOf, check_limits, within
from trundle.robot.kinds import Read, State
from trundle.robot.motor import optional
from trundle.robot.values import Duration, Plain, Positive, Value, describe, problem
from trundle.scalars import Scalar, atan2, cos, sin


def _shares(written: object) -> object:
    """The shares of a command by what it drives: a name alone takes all of it."""
    if isinstance(written, str):
        return {written: 1.0}
    if isinstance(written, Mapping) and written:
        return {str(name): share for name, share in written.items()}
    message = f"expected what it drives, got {describe(written or None)}"
    raise problem(message, "a name, such as left_motor.voltage, or shares: {left_motor.voltage: 1, …: -1}")


class PidController(Controller):
    """u = k_f r + k_p e + ∫ k_i e dt − k_d ẏ within limits, e = r − y; its integral stands still where a limit holds.

    ẏ is that of y behind a filter of first order, (y − y_f)/T. Where a limit holds, the integral is led back with a
    time constant (back-calculation), k_p/k_i unless another is given (Åström & Hägglund 2006, sec. 3.5).
    """

    letters: ClassVar[Mapping[str, str]] = {
        "reference": "r", "error": "e", "integral": "z", "filtered": "y_f"
    }  # fmt: skip

    sources: ClassVar[tuple[str, ...]] = ("astrom2006",)

    type: Literal["pid"] = "pid"
    reads: str | None = Field(
        default=None,
        description="What it holds: a state or an output, such as v_x. Default: nothing, it only feeds forward.",
    )
    drives: Annotated[dict[str, Plain], BeforeValidator(_shares)] = Field(
        description="What it drives: an input or another controller's reference, or shares by name, {a: 1, b: -1}."
    )
    target: Plain | None = Field(
        default=None,
        description="What it holds `reads` at. Default: the input NAME.reference, for runs and other controllers.",
    )
    proportional: Plain = default(0.0, "Command by error, default 0.")
    integral: Plain = default(0.0, "Rate of the command by error (1/s of it), default 0.")
    derivative: Plain = default(0.0, "Command against the rate of what is read, default 0.")
    filter: Positive[Duration] | None = Field(
        default=None, description="Time constant of the derivative's filter (s); a derivative needs one."
    )
    feedforward: Plain = default(0.0, "Command by what is wanted, default 0.")
    lowest: Plain | None = Field(default=None, description="The least command.")
    highest: Plain | None = Field(default=None, description="The greatest command.")
    anti_windup: Positive[Duration] | None = Field(
        default=None,
        description="In what time the integral is led back where a limit holds (s). Default: proportional/integral.",
    )
    angle: bool = Field(
        default=False,
        description="Whether what it reads is a direction: errors are taken within half a turn.",
    )

    @model_validator(mode="after")
    def _fits(self) -> PidController:
        """What regulates reads something; a derivative is filtered, no faster than its samples come."""
        regulates = not all(map(_is_zero, (self.proportional, self.integral, self.derivative)))
        if self.reads is None and (regulates or self.filter is not None):
            raise problem("nothing says what it holds", "write what it reads, such as left.rate", ("reads",))
        if not _is_zero(self.derivative) and self.filter is None:
            raise problem("a derivative needs a filter", "write filter: 0.02 s, say", ("derivative",))
        if (
            self.period is not None
            and self.filter is not None
            and (self.filter.constant or math.inf) <= self.period.number / 2
        ):
            message = f"a filter of {self.filter} swings up where samples are {self.period} apart"
            raise problem(message, "a time constant of the period or longer", ("filter",))
        limited = self.lowest is not None or self.highest is not None
        by_gains = not _is_zero(self.integral) and self.anti_windup is None
        if limited and by_gains and _is_zero(self.proportional):
            message = "an integral within limits needs anti_windup where nothing is proportional"
            raise problem(message, "write anti_windup: 0.1 s, say", ("integral",))
        check_limits(self.lowest, self.highest)
        return self

    def reads_from(self) -> tuple[str, ...]:
        """What it holds."""
        return () if self.reads is None else (self.reads,)

    def acts_on(self) -> tuple[str, ...]:
        """What takes a share of its command."""
        return tuple(self.drives)

    def references(self) -> tuple[str, ...]:
        """One, unless the target is written."""
        return () if self.target is not None else ("reference",)

    def alike(self) -> Mapping[str, tuple[Value | None, str]]:
        """The target what is read, the limits what is driven."""
        driven = next(iter(self.drives))
        limits = {"lowest": (self.lowest, driven), "highest": (self.highest, driven)}
        return limits if self.reads is None else {"target": (self.target, self.reads), **limits}

    def states(self, read: Read) -> Mapping[str, State]:
        """The integral, in units of the command, and what is read behind the filter."""
        own = {"integral": State(units.ANY)} if not _is_zero(self.integral) else {}
        return own | ({"filtered": State(units.ANY)} if self.filter is not None else {})

    def outputs(self) -> tuple[str, ...]:
        """How far it is off, where it holds anything."""
        return () if self.reads is None else ("error",)

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Those of what is read, and of what is driven."""
        command = unit_of(next(iter(self.drives)))
        like = command if self.reads is None else unit_of(self.reads)
        return {"reference": like, "filtered": like, "error": like, "integral": command}

    def law(self, sight: Sight, read: Read) -> Action:
        """The command within its limits, shared out."""
        wanted = sight.references["reference"] if self.target is None else read(self.target)
        value = wanted if self.reads is None else sight.read[self.reads]
        error, rates = wanted - value, dict[str, Scalar]()
        if self.angle:
            error = atan2(sin(error), cos(error))
        if self.reads is not None:
            error = sight.named("error", error)
        free = read(self.feedforward) * wanted + read(self.proportional) * error
        if self.filter is not None:
            rates["filtered"] = (value - sight.states["filtered"]) / read(self.filter)
            free = free - read(self.derivative) * rates["filtered"]
        if "integral" in sight.states:
            free = free + sight.states["integral"]
        if self.lowest is not None or self.highest is not None:
            free = sight.named("u_free", free, "command, before its limits, of")
        command = within(free, optional(self.lowest, read), optional(self.highest, read))
        command = sight.named("u", command, "command of")
        if "integral" in sight.states:
            rates["integral"] = read(self.integral) * error
            if self.lowest is not None or self.highest is not None:
                rates["integral"] = rates["integral"] + (command - free) * self._return_rate(read)
        shared = {name: read(share) * command for name, share in self.drives.items()}
        return Action(shared, rates, {} if self.reads is None else {"error": error})

    def _return_rate(self, read: Read) -> Scalar:
        """1/s at which what a limit cuts off is taken from the integral."""
        if self.anti_windup is not None:
            return 1 / read(self.anti_windup)
        return read(self.integral) / read(self.proportional)


def _is_zero(gain: Value) -> bool:
    """Whether a gain is 0 as written; a formula's number changes with the parameters."""
    return gain.constant == 0


CONTROLLERS.add(PidController)

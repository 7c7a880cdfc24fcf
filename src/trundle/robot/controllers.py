"""Controllers, by type: what they read, what they drive, and their laws in any scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from trundle.robot.kinds import Family, Kind, Read, State, must_define
from trundle.robot.motors import optional
from trundle.robot.noun import Noun, default
from trundle.robot.units import Measure
from trundle.robot.values import (
    Angle,
    Duration,
    Length,
    Plain,
    Positive,
    Rate,
    Speed,
    Value,
    describe,
    problem,
)
from trundle.scalars import Scalar, absolute, atan2, cos, less, maximum, minimum, sin, sinc, sqrt, where


class Sight(NamedTuple):
    """What a controller sees now, by name: what it reads, its references (inputs), and its own states."""

    read: Mapping[str, Scalar]
    references: Mapping[str, Scalar]
    states: Mapping[str, Scalar]


class Action(NamedTuple):
    """What a controller does now: the commands by what it drives, rates of its own states, and further outputs."""

    commands: Mapping[str, Scalar]
    rates: Mapping[str, Scalar] = {}
    outputs: Mapping[str, Scalar] = {}


# The unit of what can be read or driven, by name.
UnitOf = Callable[[str], str]


def _check_controller(kind: type[Kind]) -> None:
    assert issubclass(kind, Controller)
    must_define(kind, Controller, "reads_from", "acts_on", "law")


CONTROLLERS = Family("controller", "pid", check=_check_controller)


class Controller(Kind):
    """What drives a robot's inputs by what it reads of the robot.

    It reads states and outputs by name, and drives inputs of motors, references of other controllers, or both. What
    several controllers put on one input is added up.
    """

    family: ClassVar[Family] = CONTROLLERS

    def reads_from(self) -> tuple[str, ...]:
        """The names of the states and outputs that it reads."""
        raise NotImplementedError

    def acts_on(self) -> tuple[str, ...]:
        """The names of the inputs that it drives, and of other controllers' references ("speed.reference")."""
        raise NotImplementedError

    def references(self) -> tuple[str, ...]:
        """Its own inputs: what a run gives it, unless another controller does."""
        return ()

    def states(self, read: Read) -> Mapping[str, State]:
        """Its own states by name."""
        return {}

    def outputs(self) -> tuple[str, ...]:
        """What it shows beside its commands and states."""
        return ()

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """The units of its references, states and outputs by name; what isn't there has none."""
        return {}

    def alike(self) -> Mapping[str, tuple[Value | None, str]]:
        """Its values that measure the same as what is read or driven: by their keys, with the name of that."""
        return {}

    def law(self, sight: Sight, read: Read) -> Action:
        """What it does now; `read` turns a field into a scalar."""
        raise NotImplementedError


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

    type: Literal["pid"] = "pid"
    reads: str = Field(description="What it holds: a state or an output, such as v_x or left.rate.")
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
        if not _is_zero(self.derivative) and self.filter is None:
            raise problem("a derivative needs a filter", "write filter: 0.02 s, say", ("derivative",))
        limited = self.lowest is not None or self.highest is not None
        by_gains = not _is_zero(self.integral) and self.anti_windup is None
        if limited and by_gains and _is_zero(self.proportional):
            message = "an integral within limits needs anti_windup where nothing is proportional"
            raise problem(message, "write anti_windup: 0.1 s, say", ("integral",))
        _check_limits(self.lowest, self.highest)
        return self

    def reads_from(self) -> tuple[str, ...]:
        """What it holds."""
        return (self.reads,)

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
        return {"target": (self.target, self.reads), **limits}

    def states(self, read: Read) -> Mapping[str, State]:
        """The integral, in units of the command, and what is read behind the filter."""
        own = {"integral": State(_UNKNOWN)} if not _is_zero(self.integral) else {}
        return own | ({"filtered": State(_UNKNOWN)} if self.filter is not None else {})

    def outputs(self) -> tuple[str, ...]:
        """How far it is off."""
        return ("error",)

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Those of what is read, and of what is driven."""
        like, command = unit_of(self.reads), unit_of(next(iter(self.drives)))
        return {"reference": like, "filtered": like, "error": like, "integral": command}

    def law(self, sight: Sight, read: Read) -> Action:
        """The command within its limits, shared out."""
        value = sight.read[self.reads]
        wanted = sight.references["reference"] if self.target is None else read(self.target)
        error, rates = wanted - value, dict[str, Scalar]()
        if self.angle:
            error = atan2(sin(error), cos(error))
        free = read(self.feedforward) * wanted + read(self.proportional) * error
        if self.filter is not None:
            rates["filtered"] = (value - sight.states["filtered"]) / read(self.filter)
            free = free - read(self.derivative) * rates["filtered"]
        if "integral" in sight.states:
            free = free + sight.states["integral"]
        command = within(free, optional(self.lowest, read), optional(self.highest, read))
        if "integral" in sight.states:
            rates["integral"] = read(self.integral) * error
            if self.lowest is not None or self.highest is not None:
                rates["integral"] = rates["integral"] + (command - free) * self._return_rate(read)
        shared = {name: read(share) * command for name, share in self.drives.items()}
        return Action(shared, rates, {"error": error})

    def _return_rate(self, read: Read) -> Scalar:
        """1/s at which what a limit cuts off is taken from the integral."""
        if self.anti_windup is not None:
            return 1 / read(self.anti_windup)
        return read(self.integral) / read(self.proportional)


def _is_zero(gain: Value) -> bool:
    """Whether a gain is 0 as written; a formula's number changes with the parameters."""
    return gain.constant == 0


def _check_limits(lowest: Value | None, highest: Value | None) -> None:
    """Raise a problem where limits that are numbers leave nothing between them."""
    if lowest is None or highest is None or lowest.constant is None or highest.constant is None:
        return
    if lowest.constant >= highest.constant:
        came = f"lowest ({lowest.constant:g}) is not below highest ({highest.constant:g})"
        raise problem(came, "exchange them, or leave one away", ("lowest",))


def within(command: Scalar, lowest: Scalar | None, highest: Scalar | None) -> Scalar:
    """A command within limits, where there are any."""
    command = command if lowest is None else maximum(command, lowest)
    return command if highest is None else minimum(command, highest)


# What a controller's states measure hangs on what it reads: `units` says.
_UNKNOWN = Measure("quantity", "", None)


class FeedbackRow(Noun):
    """How one input is driven by what is read."""

    called: ClassVar[str] = "row of a state feedback"

    gains: dict[str, Plain] = Field(description="Command by what is read: u = offset − Σ gain (y − around).")
    offset: Plain = default(0.0, "The command where all that is read is where it should be, default 0.")
    lowest: Plain | None = Field(default=None, description="The least command.")
    highest: Plain | None = Field(default=None, description="The greatest command.")

    @model_validator(mode="after")
    def _fits(self) -> FeedbackRow:
        _check_limits(self.lowest, self.highest)
        return self


class StateFeedback(Controller):
    """u_i = offset_i − Σ_j K_ij (y_j − y0_j): gains of an LQR, of pole placement, or of your own."""

    type: Literal["state_feedback"] = "state_feedback"
    drives: dict[str, FeedbackRow] = Field(description="By input its row: {gains: {v_x: 3.1, …}, offset: …}.")
    around: dict[str, Plain] = Field(
        default_factory=dict, description="Where what is read should be, by name; 0 where nothing is written."
    )

    @model_validator(mode="after")
    def _fits(self) -> StateFeedback:
        if not self.drives or not all(row.gains for row in self.drives.values()):
            raise problem(
                "a state feedback needs gains",
                "drives: {left_motor.voltage: {gains: {v_x: 3.1}}}",
                ("drives",),
            )
        if unread := [name for name in self.around if name not in self.reads_from()]:
            raise problem(f"nothing reads {unread[0]!r}", "give it a gain", ("around",))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """Everything that has a gain."""
        return tuple(dict.fromkeys(name for row in self.drives.values() for name in row.gains))

    def acts_on(self) -> tuple[str, ...]:
        """The rows' names."""
        return tuple(self.drives)

    def alike(self) -> Mapping[str, tuple[Value | None, str]]:
        """Where what is read should be what is read, offsets and limits what is driven."""
        found = {f"around.{name}": (value, name) for name, value in self.around.items()}
        for name, row in self.drives.items():
            found |= {
                f"drives.{name}.{key}": (getattr(row, key), name) for key in ("offset", "lowest", "highest")
            }
        return found

    def law(self, sight: Sight, read: Read) -> Action:
        """One sum a row."""
        commands: dict[str, Scalar] = {}
        for name, row in self.drives.items():
            command: Scalar = read(row.offset)
            for of, gain in row.gains.items():
                off = sight.read[of] - read(self.around[of]) if of in self.around else sight.read[of]
                command = command - read(gain) * off
            commands[name] = within(command, optional(row.lowest, read), optional(row.highest, read))
        return Action(commands)


class Circle(Noun):
    """A circle on the ground."""

    called: ClassVar[str] = "circle"

    center: tuple[Length, Length] = Field(description="Where its centre is: [x, y] (m).")
    radius: Positive[Length] = Field(description="Its radius (m).")
    clockwise: bool = Field(default=False, description="Whether it is driven clockwise. Default: no.")


class CircleFollower(Controller):
    """Holds a base on a circle: the turning rate by the distance from it and by the course, at a speed that is given.

    With e the distance from the circle to its left, ψ the angle from its tangent to the course, and the curvature c of
    the circle about the same centre through the base: ω = v c cos ψ − k_e e sin ψ/ψ − k_ψ ψ. The gains are those of
    the linear-quadratic regulator of ė = v ψ, ψ̇ = ω, whose weights are tolerances (Bryson's rule):
    k_e = Δω/Δe and k_ψ = √((Δω/Δψ)² + 2 |v| Δω/Δe), in closed form and for every speed.
    """

    type: Literal["circle"] = "circle"
    circle: Circle = Field(description="{center: [x, y], radius: R}.")
    speed: Speed = Field(description="How fast it goes (m/s); backwards where it is negative.")
    speed_to: str = Field(
        description="What takes the speed: another controller's reference, speed.reference."
    )
    turn_to: str = Field(description="What takes the turning rate: another controller's reference.")
    distance: Positive[Length] = default("0.1 m", "Tolerance of the distance (m), default 0.1 m.")
    course: Positive[Angle] = default("10 deg", "Tolerance of the course (rad), default 10 deg.")
    turn: Positive[Rate] = default(
        "1 rad/s", "Turning rate that may be spent on them (rad/s), default 1 rad/s."
    )

    @model_validator(mode="after")
    def _fits(self) -> CircleFollower:
        if self.speed_to == self.turn_to:
            message = f"{self.turn_to!r} can't take both the speed and the turning rate"
            hint = "give a controller to both: speed_to: speed.reference, turn_to: turn.reference"
            raise problem(message, hint, ("turn_to",))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """The base's pose and velocity."""
        return ("x", "y", "theta", "v_x", "v_y")

    def acts_on(self) -> tuple[str, ...]:
        """What takes the speed, and what takes the turning rate."""
        return (self.speed_to, self.turn_to)

    def default_counts(self, field: str) -> bool:
        """Tolerances can be changed where nobody wrote them, too."""
        return field in ("distance", "course", "turn")

    def outputs(self) -> tuple[str, ...]:
        """How far it is off."""
        return ("distance", "course")

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Of its outputs."""
        return {"distance": "m", "course": "rad"}

    def law(self, sight: Sight, read: Read) -> Action:
        """Speed and turning rate; within a tenth of the radius the curvature stays what it is there."""
        x, y, theta, v_x, v_y = (sight.read[name] for name in self.reads_from())
        way = -1 if self.circle.clockwise else 1
        center_x, center_y = map(read, self.circle.center)
        radius, speed = read(self.circle.radius), read(self.speed)
        out_x, out_y = x - center_x, y - center_y
        from_center = sqrt(out_x * out_x + out_y * out_y)
        off = way * (radius - from_center)
        # the course's angle to the tangent, from the velocity in the base's axes; backwards it is opposite to the base
        ahead = where(less(speed, 0), -1.0, 1.0)
        slip = atan2(ahead * v_y, maximum(ahead * v_x, _SLOW))
        course = theta + slip - atan2(way * out_x, -way * out_y)
        course = atan2(ahead * sin(course), ahead * cos(course))
        size = absolute(speed)
        per_distance = read(self.turn) / read(self.distance)
        per_course = sqrt((read(self.turn) / read(self.course)) ** 2 + 2 * size * per_distance)
        curvature = way / maximum(from_center, radius / 10)
        turn = size * curvature * cos(course) - per_distance * off * sinc(course) - per_course * course
        commands = {self.speed_to: speed, self.turn_to: turn}
        return Action(commands, outputs={"distance": off, "course": course})


# Below this (m/s) a base has no course; where it points counts.
_SLOW = 1e-2


CONTROLLERS.add(PidController, StateFeedback, CircleFollower)

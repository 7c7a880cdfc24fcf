"""What a controller is: what it reads, what it drives, and its law in any scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

from pydantic import Field, model_validator

from trundle.robot.component import default
from trundle.robot.kinds import Kind, Read, Registry, State, must_define
from trundle.robot.values import (
    FixedDuration,
    Positive,
    Value,
    problem,
)
from trundle.scalars import Scalar, maximum, minimum

if TYPE_CHECKING:
    from trundle.robot.parts import Parts


def _unnamed(name: str, value: Scalar, words: str = "") -> Scalar:
    return value


class Sight(NamedTuple):
    """What a controller sees now, by name: what it reads, its references (inputs), and its own states.

    `named(name, value, words)` gives the value back. Written equations show it in a line of its own: an output by its
    name, or a part of the law by a letter, with words that end before the controller's name.
    """

    read: Mapping[str, Scalar]
    references: Mapping[str, Scalar]
    states: Mapping[str, Scalar]
    named: Callable[..., Scalar] = _unnamed


class Action(NamedTuple):
    """What a controller does now: the commands by what it drives, rates of its own states, and further outputs.

    after: where its states go at a sample, of those that have no rates.
    """

    commands: Mapping[str, Scalar]
    rates: Mapping[str, Scalar] = {}
    outputs: Mapping[str, Scalar] = {}
    after: Mapping[str, Scalar] = {}


class Draw(NamedTuple):
    """A reference that is noise: the stream that a run's seed draws it from, a number every `period` (s).

    Unit normals; evenly from 0 to 1 where it is `even`.
    """

    stream: str
    period: float
    even: bool = False


class DrivenBase(Protocol):
    """A robot's base on driven wheels, as a controller's law may ask of it; `model/motored_base.py` has it."""

    @property
    def robot(self) -> Parts:
        """Whose base it is."""
        ...

    @property
    def along(self) -> bool:
        """Whether its wheels let it go along one line only."""
        ...

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of what its motors and wheels tell."""
        ...

    @property
    def slips(self) -> tuple[str, ...]:
        """The wheels that slip for what they give."""
        ...

    @property
    def drives(self) -> tuple[str, ...]:
        """The inputs of its motors."""
        ...

    def axle(self, read: Read) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        """Where the fixed wheels' axle stands (x, y), in their middle, and the (cos, sin) along which they roll."""
        ...

    def sharpest(self, read: Read, limit: Scalar) -> Scalar | None:
        """The greatest curvature (1/m) at which no wheel is steered farther than a limit (rad); None for any."""
        ...

    def commands(
        self,
        twist: Sequence[Scalar],
        twist_rate: Sequence[Scalar],
        seen: Mapping[str, Scalar],
        read: Read,
        quickest: float,
        *,
        wished: Mapping[str, tuple[Scalar, Scalar]] | None = None,
        going: Sequence[Scalar] | None = None,
    ) -> Mapping[str, Scalar]:
        """The motors' inputs by which it has a twist (v_x, v_y, ω, in its axes) that changes at a rate.

        going: what of the twist is the reference's; the rest leads back. wished: forces on wheels (N), ahead and to the
        left, that it comes as near to as it can.
        """
        ...


# Samples that may wait for their turn at once: every one is a state of the closed loop.
MOST_WAITING = 50

# The unit of what can be read or driven, by name.
UnitOf = Callable[[str], str]


def _check_controller(kind: type[Kind]) -> None:
    assert issubclass(kind, Controller)
    must_define(kind, Controller, "reads_from", "acts_on", "law")


CONTROLLERS = Registry("controller", "pid", check=_check_controller)


class Controller(Kind):
    """What drives a robot's inputs by what it reads of the robot.

    It reads states and outputs by name, and drives inputs of motors, references of other controllers, or both. What
    several controllers put on one input is added up. `letters` are symbols for its references, states and outputs in
    written equations.

    With a `period` T it samples: at t = 0, T, 2T, … its law is evaluated on what was there just before, its commands
    are held until the next, and its own states go on by x ← x + T ẋ, with the rates ẋ of the law. With a `delay`
    commands take effect that much later.
    """

    family: ClassVar[Registry] = CONTROLLERS
    letters: ClassVar[Mapping[str, str]] = {}
    # Whether equations write its law out: some are too long for a page.
    written: ClassVar[bool] = True
    shaping: ClassVar[tuple[str, ...]] = ("period", "delay")

    period: Positive[FixedDuration] | None = Field(
        default=None,
        description="Time between samples (s), commands held. Default: it acts at every instant.",
    )
    delay: FixedDuration = default(0.0, "From a sample until its command takes effect (s), default 0.")

    @model_validator(mode="after")
    def _sampled(self) -> Self:
        if self.period is None and self.delay.number:
            raise problem("a delay needs samples", "give it a period: 10 ms, say", ("delay",))
        # a period that is not above zero is told of as such, with all bounds
        if self.period is not None and 0 < MOST_WAITING * self.period.number < self.delay.number:
            message = f"a delay of more than {MOST_WAITING} periods"
            raise problem(message, "a longer period, or less delay", ("delay",))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """The names of the states and outputs that it reads."""
        raise NotImplementedError

    def acts_on(self) -> tuple[str, ...]:
        """The names of the inputs that it drives, and of other controllers' references ("speed.reference")."""
        raise NotImplementedError

    def references(self) -> tuple[str, ...]:
        """Its own inputs: what a run gives it, unless another controller does."""
        return ()

    def noise(self) -> Mapping[str, Draw]:
        """Those of its references that are noise: runs draw them by a seed where nobody gives them."""
        return {}

    def states(self, read: Read) -> Mapping[str, State]:
        """Its own states by name."""
        return {}

    def memory(self) -> tuple[str, ...]:
        """Those of its states that it keeps for itself: files of runs have them, pictures and words don't."""
        return ()

    def at_once(self) -> tuple[str, ...]:
        """Those of its states that others read at a sample as they are after it, where it samples, too."""
        return ()

    def outputs(self) -> tuple[str, ...]:
        """What it shows beside its commands and states."""
        return ()

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """The units of its references, states and outputs by name; what isn't there has none."""
        return {}

    def alike(self) -> Mapping[str, tuple[Value | None, str]]:
        """Its values that measure the same as what is read or driven: by their keys, with the name of that."""
        return {}

    def on(self, base: DrivenBase) -> Controller:
        """The same for a robot's base, which the law may ask what motors are told."""
        return self

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """Why a base of these degrees (Campion and others 1996) can't do what it commands; None where it can."""
        return None

    def law(self, sight: Sight, read: Read) -> Action:
        """What it does now; `read` turns a field into a scalar."""
        raise NotImplementedError


def check_limits(lowest: Value | None, highest: Value | None) -> None:
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


def needs_two(mobility: int) -> str | None:
    """Why a base can't take a speed and a turning rate, two velocities to be chosen at once; None where it can."""
    if mobility >= 2:
        return None
    return f"its wheels let it choose {mobility} velocity at a time, not a speed and a turning rate"


# Most robots have no controllers; an estimator is made of odometry and a filter, which stand in rooms above.
CONTROLLERS.later("trundle.robot.pid", "pid")
CONTROLLERS.later(
    "trundle.robot.trackers", "unicycle", "kanayama", "samson", "holonomic", "stanley", "pure_pursuit"
)
CONTROLLERS.later("trundle.robot.base_tracker", "tracker")
CONTROLLERS.later("trundle.robot.linear_feedback", "state_feedback", "feedback_along", "state_space")
CONTROLLERS.later("trundle.robot.circle_follower", "circle")
CONTROLLERS.later("trundle.estimation.part", "estimator")

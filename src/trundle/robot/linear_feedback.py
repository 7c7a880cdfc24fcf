"""Linear controllers, as designs give them: of constant gains, of gains that a run brings, and with states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from trundle.robot import units
from trundle.robot.component import Component, default
from trundle.robot.controllers import CONTROLLERS, Action, Controller, Sight, UnitOf, check_limits, within
from trundle.robot.kinds import Read, State
from trundle.robot.motor import optional
from trundle.robot.sensor import POSE
from trundle.robot.values import Plain, Value, problem
from trundle.scalars import Scalar, atan2, cos, sin


def _names(written: object) -> object:
    """A list of names; one alone counts as a list of one."""
    return (written,) if isinstance(written, str) else written


NameTuple = Annotated[tuple[str, ...], BeforeValidator(_names)]


def _check_names(names: tuple[str, ...], key: str, example: str) -> None:
    if not names:
        raise problem(f"{key} is empty", f"{key}: [{example}]", (key,))
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise problem(f"{key} has {twice[0]!r} twice", "leave one of them", (key,))


class FeedbackRow(Component):
    """How one input is driven by what is read."""

    called: ClassVar[str] = "row of a state feedback"

    gains: dict[str, Plain] = Field(description="Command by what is read: u = offset − Σ gain (y − around).")
    offset: Plain = default(0.0, "The command where all that is read is where it should be, default 0.")
    lowest: Plain | None = Field(default=None, description="The least command.")
    highest: Plain | None = Field(default=None, description="The greatest command.")

    @model_validator(mode="after")
    def _fits(self) -> FeedbackRow:
        check_limits(self.lowest, self.highest)
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
        """Every input has a gain, and what gains are `around` is read."""
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


class FeedbackAlong(Controller):
    """u_i = u_i^r − Σ_j K_ij z_j beside a motion that a run's inputs tell: its states, its inputs, and the gains.

    z_j = y_j − y_j^r. Of a pose (`x`, `y`, `theta`) the position is measured along the axes of the motion's base,
    z = R(θ^r)ᵀ (p − p^r), and the heading within half a turn.
    """

    type: Literal["feedback_along"] = "feedback_along"
    reads: NameTuple = Field(description="The states that it reads; of a pose x, y and theta together.")
    drives: NameTuple = Field(description="The inputs that it drives.")

    @model_validator(mode="after")
    def _fits(self) -> FeedbackAlong:
        _check_names(self.reads, "reads", "x, y, theta, v_x")
        _check_names(self.drives, "drives", "left_motor.voltage")
        given = [name for name in POSE if name in self.reads]
        if given and given != ["theta"] and len(given) < len(POSE):
            lost = next(name for name in POSE if name not in given)
            message = f"reads has {', '.join(given)} without {lost}: a position is measured in a moving frame"
            raise problem(message, "give x, y and theta, or none of x and y", ("reads",))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """The states."""
        return self.reads

    def acts_on(self) -> tuple[str, ...]:
        """The inputs."""
        return self.drives

    def references(self) -> tuple[str, ...]:
        """The motion's states and inputs by their names, then a gain for every input and state."""
        gains = (gain_name(of, by) for of in self.drives for by in self.reads)
        return (*self.reads, *self.drives, *gains)

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Those of what is read and driven."""
        return {name: unit_of(name) for name in (*self.reads, *self.drives)}

    def law(self, sight: Sight, read: Read) -> Action:
        """One sum an input."""
        wanted = sight.references
        off: dict[str, Scalar] = {name: sight.read[name] - wanted[name] for name in self.reads}
        if "theta" in off:
            off["theta"] = atan2(sin(off["theta"]), cos(off["theta"]))
        if "x" in off:
            turned, along, left = wanted["theta"], off["x"], off["y"]
            off["x"] = cos(turned) * along + sin(turned) * left
            off["y"] = cos(turned) * left - sin(turned) * along
        commands: dict[str, Scalar] = {}
        for name in self.drives:
            command = wanted[name]
            for of in self.reads:
                command = command - wanted[gain_name(name, of)] * off[of]
            commands[name] = command
        return Action(commands)


def gain_name(of: str, by: str) -> str:
    """The reference of `FeedbackAlong` that is the gain of an input by a state."""
    return f"K.{of}.{by}"


NumberMatrix = tuple[tuple[Plain, ...], ...]


class LinearController(Controller):
    """ξ' = A ξ + B (y − around), u = offset − (C ξ + D (y − around)): a linear system in the way back.

    The sign is that of negative feedback, as python-control's `feedback(plant, controller)` closes a loop.
    """

    type: Literal["state_space"] = "state_space"
    reads: NameTuple = Field(
        description="What goes into it: states and outputs of the robot, in the order of B's columns."
    )
    drives: NameTuple = Field(description="The inputs that it drives, in the order of C's rows.")
    A: NumberMatrix = Field(default=(), description="Rows of A, (n, n). Default: it has no states.")
    B: NumberMatrix = Field(default=(), description="Rows of B, (n, by what it reads).")
    C: NumberMatrix = Field(default=(), description="Rows of C, (by what it drives, n).")
    D: NumberMatrix = Field(
        default=(), description="Rows of D, (by what it drives, by what it reads). Default: zeros."
    )
    around: dict[str, Plain] = Field(
        default_factory=dict, description="Where what is read should be, by name; 0 where nothing is written."
    )
    offset: dict[str, Plain] = Field(
        default_factory=dict, description="The commands there, by name; 0 where nothing is written."
    )

    @model_validator(mode="after")
    def _fits(self) -> LinearController:
        """Names are there once each, and A, B, C and D have the sizes that states, reads and drives give."""
        _check_names(self.reads, "reads", "v_x")
        _check_names(self.drives, "drives", "left_motor.voltage")
        n, r, m = len(self.A), len(self.reads), len(self.drives)
        expected = {"A": (n, n), "B": (n, r), "C": (m, n), "D": (m, r)}
        for key, (rows, columns) in expected.items():
            matrix: NumberMatrix = getattr(self, key)
            if (not rows or not columns or key == "D") and not matrix:
                continue
            if len(matrix) != rows or any(len(row) != columns for row in matrix):
                wide = " or ".join(map(str, sorted({len(row) for row in matrix})))
                came = f"{len(matrix)} by {wide}" if matrix else "missing"
                message = f"{key} is {came}; {n} states, {r} read, {m} driven make it {rows} by {columns}"
                raise problem(message, None, (key,))
        if not self.A and not self.D:
            raise problem("it has no matrices", "D: [[…]] for a gain, A, B and C for states", ("D",))
        for key, known in (("around", self.reads), ("offset", self.drives)):
            if unknown := [name for name in getattr(self, key) if name not in known]:
                raise problem(f"{key} names {unknown[0]!r}", f"known: {', '.join(known)}", (key,))
        return self

    def reads_from(self) -> tuple[str, ...]:
        """What goes in."""
        return self.reads

    def acts_on(self) -> tuple[str, ...]:
        """What comes out."""
        return self.drives

    def alike(self) -> Mapping[str, tuple[Value | None, str]]:
        """Where what is read should be what is read, offsets what is driven."""
        found = {f"around.{name}": (value, name) for name, value in self.around.items()}
        return found | {f"offset.{name}": (value, name) for name, value in self.offset.items()}

    def states(self, read: Read) -> Mapping[str, State]:
        """x1, x2, …"""
        return {f"x{k + 1}": State(units.ANY) for k in range(len(self.A))}

    def law(self, sight: Sight, read: Read) -> Action:
        """Two products a row."""
        state = list(sight.states.values())
        off = [sight.read[name] - self._or_zero(self.around, name, read) for name in self.reads]
        rates = [_row(self.A, k, state, read) + _row(self.B, k, off, read) for k in range(len(self.A))]
        back = [_row(self.C, k, state, read) + _row(self.D, k, off, read) for k in range(len(self.drives))]
        commands = {
            name: self._or_zero(self.offset, name, read) - value
            for name, value in zip(self.drives, back, strict=True)
        }
        return Action(commands, dict(zip(sight.states, rates, strict=True)))

    @staticmethod
    def _or_zero(values: Mapping[str, Value], name: str, read: Read) -> Scalar:
        return read(values[name]) if name in values else 0.0


def _row(matrix: NumberMatrix, k: int, by: list[Scalar], read: Read) -> Scalar:
    """The k-th entry of a product; what is written as 0 is left out."""
    total: Scalar = 0.0
    for entry, value in zip(matrix[k] if matrix else (), by, strict=bool(matrix)):
        if entry.constant != 0:
            total = total + read(entry) * value
    return total


CONTROLLERS.add(StateFeedback, FeedbackAlong, LinearController)

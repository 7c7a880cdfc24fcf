"""What commands are taken from and to: states, targets, and the steps between them."""

from __future__ import annotations

from dataclasses import dataclass

from trundle.arrays import FloatArray
from trundle.choices import ProfileShape
from trundle.motion.commands.commands import Three
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.constraints.real_limits import ActuationLimits
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.pieces.motion import Piece


@dataclass(frozen=True, eq=False)
class Setpoint:
    """Where commands stand: the twist (3,), the modules' angles (m,) without jumps, and their speeds (m,)."""

    twist: FloatArray
    angles: FloatArray
    speeds: FloatArray


@dataclass(frozen=True)
class Goal:
    """What a command asks for: a twist, or angles and speeds of the modules in the kinematics' order."""

    place: int
    duration: float
    twist: Three | None = None
    modules: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True)
class Slowdown:
    """A command that takes longer than asked, how many times, and which limit of which module asks for it.

    Beside declared limits "grip", "voltage" and so on, of a wheel, a motor or a battery.
    """

    command: int
    factor: float
    limit: str
    module: str


@dataclass(frozen=True)
class Maneuver:
    """The pieces of one command, the state after it, and what was changed of it."""

    pieces: tuple[Piece, ...]
    state: Setpoint
    slowdowns: tuple[Slowdown, ...] = ()
    notes: tuple[str, ...] = ()

    def then(self, other: Maneuver) -> Maneuver:
        """This one and another behind it."""
        return Maneuver(
            (*self.pieces, *other.pieces),
            other.state,
            (*self.slowdowns, *other.slowdowns),
            (*self.notes, *other.notes),
        )


@dataclass(frozen=True)
class Control:
    """How commands are taken: by which drive, with what its steering's motors imply too (`bounded`), with profiles of
    which shape, and whether its limits are held: by all constraints on the pace, and within which motors and floor.
    """

    kinematics: Kinematics
    drive: Drive
    bounded: Drive
    shape: ProfileShape
    constraints: Constraints
    held: bool = False
    real: ActuationLimits | None = None

"""What a robot's own description limits of its motions: its `constraints`, classes of anyone's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from trundle.errors import InputError, require_known
from trundle.motion.constraints.constraint import Moving
from trundle.motion.drive.drive import Drive
from trundle.motion.forces.forces import MotionForces
from trundle.motion.pieces.motion import Samples
from trundle.robot import Read
from trundle.robot.constraint import (
    BatteryMotion,
    Constraint,
    ContactForce,
    MotionState,
    MotorMotion,
    Row,
    WheelMotion,
)
from trundle.robot.kinds import ask

T = TypeVar("T")


class _UnknownForcesError(InputError):
    """A constraint reads forces where a plan knows none."""


class _ByName(Mapping[str, T]):
    """What is there by name; InputError says which names there are, or that no forces are known (None)."""

    def __init__(self, what: str, known: Mapping[str, T] | None) -> None:
        self._what, self._found = what, known

    @property
    def _values(self) -> Mapping[str, T]:
        if self._found is None:
            raise _UnknownForcesError(
                f"it reads a {self._what}, and the plan knows no forces",
                hint="they are known of bases with masses on wheels whose motors have limits; not where grip is None, "
                "wheels slide to turn, or the ground is a slope",
            )
        return self._found

    def __getitem__(self, name: str) -> T:
        require_known(name, self._values, f"there is no {self._what} {name!r}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True, eq=False)
class Described:
    """The constraints of a description by name, on modules by theirs; `read` turns fields into numbers."""

    names: tuple[str, ...]
    each: Mapping[str, Constraint]
    read: Read

    @classmethod
    def of(cls, drive: Drive) -> Described:
        """Those of a drive's robot."""
        assert drive.robot is not None
        return cls(drive.names, drive.robot.constraints, drive.robot.resolver())

    def rows(self, at: Moving) -> Iterator[Row]:
        """Their rows, each by its name and the constraint's; none of a constraint that reads forces nobody knows."""
        motion = _motion(self.names, at.samples, getattr(at, "forces", None))
        for name, constraint in self.each.items():
            try:
                rows = self._rows(name, constraint, motion)
            except _UnknownForcesError:
                continue
            yield from (_shaped(row, name, len(at.samples)) for row in rows)

    def check(self, samples: Samples, forces: MotionForces | None) -> None:
        """InputError where a constraint fails on a motion, reads forces that aren't known, or says no numbers."""
        motion, told = _motion(self.names, samples, forces), set[str]()
        for name, constraint in self.each.items():
            kind, key = type(constraint).__name__, f"robot.constraints.{name}"
            try:
                rows = self._rows(name, constraint, motion)
            except _UnknownForcesError as error:
                raise InputError(error.message, key=key, hint=error.hint) from None
            for row in rows:
                if (wrong := _wrong(row, len(samples))) is not None:
                    raise InputError(f"{kind}.rows {wrong[0]}", key=key, hint=wrong[1])
                if (shown := _shaped(row, name, len(samples)).names[0]) in told:
                    hint = "give each row a name of its own, such as that of its wheel"
                    raise InputError(f"two rows are called {shown!r}", key=key, hint=hint)
                told.add(shown)

    def _rows(self, name: str, constraint: Constraint, motion: MotionState) -> list[Row]:
        def rows(at: MotionState, read: Read) -> list[Row]:
            return list(constraint.rows(at, read))  # a generator fails here, not later

        key = f"robot.constraints.{name}"
        try:
            return ask(constraint, key, rows, motion, self.read)
        except InputError as error:
            error.key = key
            raise


def _wrong(row: object, count: int) -> tuple[str, str] | None:
    """What is wrong with a row at so many places, and what helps; None where nothing is."""
    if not isinstance(row, Row):
        return f"gave {row!r}", "expected within(name, most, x) or below(name, most, x) of trundle.robot"
    name, most = row.names[0], np.asarray(row.most)
    sizes = {np.shape(part) for part in (*row.x, most)} - {(), (count,)}
    if sizes:
        hint = "x and most are one number a place each, or numbers"
        return f"gave arrays {sizes.pop()} for {name!r} at {count} places", hint
    if np.isnan(most).any() or not all(np.isfinite(part).all() for part in row.x):
        return (
            f"gave NaN or inf for {name!r}, at rest or at 1 m/s",
            "divide by nothing that is zero: v/√(v² + ε²)",
        )
    if (most < 0).any() or not most.any():
        hint = "most is above 0; x is at least 100 by below(name, x, 100)"
        return f"allows nothing, or less, for {name!r}: {row.most}", hint
    return None


def _shaped(row: Row, name: str, count: int) -> Row:
    """The row with what it limits as columns, (n, 1)."""
    x = tuple(np.broadcast_to(part, count)[:, None] for part in row.x)
    most = np.broadcast_to(np.asarray(row.most, dtype=float), count)[:, None]
    what = row.names[0]
    return row._replace(names=[what if " of " in what else f"{what} of {name}"], x=x, most=most)


def _motion(names: tuple[str, ...], samples: Samples, forces: MotionForces | None) -> MotionState:
    """A motion as constraints see it."""
    rolling = (
        samples.drive_speed,
        samples.drive_acceleration,
        samples.angle,
        samples.steering_rate,
        samples.steering_acceleration,
    )
    wheels = {
        name: WheelMotion(*columns)
        for name, *columns in zip(names, *(part.T for part in rolling), strict=True)
    }
    twist, rate = ((part[:, 0], part[:, 1], part[:, 2]) for part in (samples.twist, samples.twist_rate))
    known = (None, None, None) if forces is None else (_contacts(forces), _motors(forces), _batteries(forces))
    contacts, motors, batteries = known
    return MotionState(
        twist,
        rate,
        _ByName("wheel", wheels),
        _ByName("contact", contacts),
        _ByName("motor", motors),
        _ByName("battery", batteries),
    )


def _contacts(forces: MotionForces) -> dict[str, ContactForce]:
    columns = forces.traction.T, forces.side_force.T, forces.load.T
    return {name: ContactForce(*own) for name, *own in zip(forces.names, *columns, strict=True)}


def _motors(forces: MotionForces) -> dict[str, MotorMotion]:
    """What motors give and take, by name."""
    motors: dict[str, MotorMotion] = {}
    for column, actuators in forces.driven.actuators.items():
        for motor in actuators:
            taken = forces.torques[motor.name], forces.rates[column], forces.commands[motor.command.name]
            ohms = float(motor.settled_winding(0.0, 0.0, 0.0).resistance) if motor.motor.has_winding else None
            motors[motor.name] = MotorMotion(*taken, forces.currents.get(motor.name), ohms)
    return motors


def _batteries(forces: MotionForces) -> dict[str, BatteryMotion]:
    return {name: BatteryMotion(volts, forces.powers[name]) for name, volts in forces.supplies.items()}

"""Couplings: what makes one coordinate of a robot follow others, by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from trundle.robot.component import default
from trundle.robot.curves import CURVES, Curve
from trundle.robot.kinds import Kind, Registry
from trundle.robot.values import AngularDamping, AngularStiffness, Length, Plain, describe, problem

_FOLLOWS = "Ratio by what it follows, such as {a: -2}: joint = sum of ratio times each, plus the offset."


COUPLINGS = Registry("coupling", "ackermann")


class Coupling(Kind):
    """What makes coordinates follow others."""

    family: ClassVar[Registry] = COUPLINGS


class AckermannCoupling(Coupling):
    """Two steered wheels whose axles meet on the fixed axle: one coordinate NAME.angle for both.

    The angle is that of a single wheel midway between them (the bicycle's).
    """

    called: ClassVar[str] = "linkage"

    type: Literal["ackermann"] = "ackermann"
    wheels: tuple[str, str] = Field(description="The two steered wheels, [left, right].")
    axle: Length = default(0.0, "Where the fixed axle is along x (m), default 0.")


def _leaders(written: object) -> object:
    if isinstance(written, Mapping) and written:
        return {str(name): ratio for name, ratio in written.items()}
    message = f"expected the ratio to each thing it follows, got {describe(written or None)}"
    raise problem(message, "write follows: {NAME: RATIO}, such as {a: -2}")


class FollowerCoupling(Coupling):
    """What makes one coordinate follow others; the names are those that a motor could drive."""

    joint: str = Field(description="What follows: a joint, a wheel's spin (`left`), a steering, a coupling.")

    @property
    def leaders(self) -> tuple[str, ...]:
        """What it follows."""
        raise NotImplementedError


class GearCoupling(FollowerCoupling):
    """A coordinate that follows others by fixed ratios (gears, belts, racks): q = sum of ratio q_i, plus an offset.

    Output NAME.torque: what the gear puts on `joint` (N m, or N on one that slides); each of those that it follows
    feels -ratio times as much.
    """

    called: ClassVar[str] = "gear"

    type: Literal["gear"] = "gear"
    follows: Annotated[dict[str, Plain], BeforeValidator(_leaders)] = Field(description=_FOLLOWS)
    offset: Plain = default(0.0, "Where it stands when what it follows is at zero (rad or m), default 0.")

    @property
    def leaders(self) -> tuple[str, ...]:
        return tuple(self.follows)


class CamCoupling(FollowerCoupling):
    """A coordinate that follows another by a curve: q = f(p), as a cam's follower does, or what slides in a knee.

    Output NAME.torque: what the cam puts on `joint` (N m, or N on one that slides); what it follows feels -f'(p) times
    as much.
    """

    called: ClassVar[str] = "cam"

    type: Literal["cam"] = "cam"
    follows: str = Field(description="What it follows, as a motor would drive it.")
    curve: Annotated[Curve, CURVES] = Field(description="The curve f: {type: natural, x: [...], y: [...]}.")

    @property
    def leaders(self) -> tuple[str, ...]:
        return (self.follows,)


class ElasticCoupling(Coupling):
    """A spring and a damper between coordinates: torque = −(stiffness c + damping ċ), c = q − Σ ratio q_i − offset.

    A gear that gives way, as a rover's differential does. What it follows feels -ratio times the torque. Kinematic
    runs over terrain lead c back to zero.
    """

    tunable: ClassVar[tuple[str, ...]] = ("stiffness", "damping")
    called: ClassVar[str] = "elastic coupling"

    type: Literal["elastic"] = "elastic"
    joint: str = Field(
        description="What it acts on: a joint, a wheel's spin (`left`), a steering, a coupling."
    )
    follows: Annotated[dict[str, Plain], BeforeValidator(_leaders)] = Field(description=_FOLLOWS)
    offset: Plain = default(0.0, "Where it is at rest when what it follows is at zero (rad or m), default 0.")
    stiffness: AngularStiffness = Field(description="Torque per c (N m/rad).")
    damping: AngularDamping = default(0.0, "Torque per rate of c (N m s/rad), default 0.")


COUPLINGS.add(AckermannCoupling, GearCoupling, CamCoupling, ElasticCoupling)


def linkages(couplings: Mapping[str, Coupling]) -> dict[str, AckermannCoupling]:
    """The couplings that have a coordinate of their own."""
    return {name: coupling for name, coupling in couplings.items() if isinstance(coupling, AckermannCoupling)}


def gears(couplings: Mapping[str, Coupling]) -> dict[str, GearCoupling]:
    """The couplings by fixed ratios."""
    return {name: coupling for name, coupling in couplings.items() if isinstance(coupling, GearCoupling)}


def cams(couplings: Mapping[str, Coupling]) -> dict[str, CamCoupling]:
    """The couplings by curves."""
    return {name: coupling for name, coupling in couplings.items() if isinstance(coupling, CamCoupling)}


def elastic(couplings: Mapping[str, Coupling]) -> dict[str, ElasticCoupling]:
    """The couplings that give way."""
    return {name: coupling for name, coupling in couplings.items() if isinstance(coupling, ElasticCoupling)}


def followers(couplings: Mapping[str, Coupling]) -> dict[str, FollowerCoupling]:
    """The couplings of one coordinate that follows others: gears and cams."""
    return {name: coupling for name, coupling in couplings.items() if isinstance(coupling, FollowerCoupling)}


def linked_steerings(couplings: Mapping[str, Coupling]) -> dict[str, str]:
    """The steerings that linkages hold, and the first linkage that holds each."""
    pairs = [(wheel, name) for name, linkage in linkages(couplings).items() for wheel in linkage.wheels]
    return {f"{wheel}.steering": name for wheel, name in reversed(pairs)}

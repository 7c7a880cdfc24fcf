"""What controllers can read of a robot on terrain beside its states: its attitude, and what couplings lead."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.choices import Mode
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.quantities import Quantity
from trundle.model.constraints import coupled_coordinates
from trundle.model.mechanism import Mechanism
from trundle.scalars import Scalar

# The base's attitude, and what planar bases call their heading and their turning rate.
ANGLES = tuple(Quantity(name, "rad", "place") for name in ("roll", "pitch", "yaw"))
_THETA, _OMEGA = Quantity("theta", "rad", "coordinate"), Quantity("omega", "rad/s", "speed")


def derived_names(assembly: Assembly, mode: Mode) -> list[Quantity]:
    """What there is to read; in kinematic runs speeds follow from what controllers do, and nobody can read them."""
    names = [*coupled_coordinates(assembly), *(assembly.speeds if mode == "dynamic" else ())]
    turning = [_OMEGA] if mode == "dynamic" else []
    return [*ANGLES, _THETA, *turning, *(assembly.quantities[name] for name in names)]


def derived(angles: Sequence[Scalar], here: Mechanism, nu: Sequence[Scalar] | None) -> dict[str, Scalar]:
    """Their values at roll, pitch and yaw (rad), a configuration, and all speeds where they can be read."""
    found: dict[str, Scalar] = dict(zip((each.name for each in ANGLES), angles, strict=True))
    found[_THETA.name] = angles[2]
    found |= {name: here.at.values[name] for name in coupled_coordinates(here.assembly)}
    if nu is not None:
        found |= dict(zip(here.assembly.speeds, nu, strict=True))
        found[_OMEGA.name] = found["omega_z"]
    return found

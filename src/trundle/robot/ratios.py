"""What the numbers of gears and cams measure, by which of the joints that they tie slide."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from trundle.robot import units
from trundle.robot.bodies import drive_axes
from trundle.robot.couplings import CamCoupling, Coupling, GearCoupling
from trundle.robot.parts import Parts

R = TypeVar("R", bound=Parts)

# What a ratio measures, by whether the follower slides and whether what it follows does.
_RATIOS = {
    (False, False): units.RATIO,
    (True, True): units.RATIO,
    (True, False): units.PhysicalQuantity("length per angle", "m/rad", units.LENGTH.dimension),
    (False, True): units.PhysicalQuantity("angle per length", "rad/m", (-1, 0, 0, 0)),
}


def _sliding(robot: Parts) -> frozenset[str]:
    """The names that a motor can drive along, not about, an axis."""
    return frozenset(
        name + ending
        for name, joint in robot.joints.items()
        for ending, (axis, _) in drive_axes(joint).items()
        if axis.sliding
    )


def measured(robot: R) -> R:
    """The robot with each number of its gears and cams told what it measures: m/rad for a rack, and so on."""
    slide = _sliding(robot)
    told = {name: _measured(coupling, slide) for name, coupling in robot.couplings.items()}
    return robot.model_copy(update={"couplings": told}) if told else robot


def _measured(coupling: Coupling, slide: frozenset[str]) -> Coupling:
    """The coupling with what its numbers measure: metres where a joint slides, radians elsewhere."""
    if isinstance(coupling, CamCoupling):
        measures = (
            units.LENGTH if name in slide else units.ANGLE for name in (coupling.follows, coupling.joint)
        )
        return coupling.model_copy(update={"curve": coupling.curve.measured(*measures)})
    return _geared(coupling, slide) if isinstance(coupling, GearCoupling) else coupling


def _geared(gear: GearCoupling, slide: frozenset[str]) -> GearCoupling:
    """The gear with what its ratios and its offset measure."""
    changed: dict[str, object] = {
        "follows": {
            name: replace(ratio, quantity=_RATIOS[gear.joint in slide, name in slide])
            for name, ratio in gear.follows.items()
        }
    }
    if "offset" in gear.model_fields_set:
        quantity = units.LENGTH if gear.joint in slide else units.ANGLE
        changed["offset"] = replace(gear.offset, quantity=quantity)
    return gear.model_copy(update=changed)

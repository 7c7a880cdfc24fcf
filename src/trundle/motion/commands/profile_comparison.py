"""The profiles beside each other: one change by all shapes, and as fast as limits allow."""

from __future__ import annotations

import numpy as np

from trundle.choices import PROFILES
from trundle.motion.commands.record import sample_times
from trundle.motion.pieces.profiles import ORDERS, Profile, shaped
from trundle.motion.time_optimal import Axis, time_optimal
from trundle.results import Run

# A turn by one radian in a second; the limits are those of `trundle.catalog.limited_swerve`'s steering.
_CHANGE, _DURATION = 1.0, 1.0
_LIMITS = (2.0, 10.0, 75.0)
_UNITS = ("rad", "rad/s", "rad/s^2", "rad/s^3")


def compared() -> dict[str, Profile]:
    """The profiles by name, the smoothest first."""
    axis = Axis((0.0, 0.0, 0.0), (_CHANGE, 0.0, 0.0), *_LIMITS)
    shapes = {kind: shaped(kind, 0.0, _CHANGE, _DURATION) for kind in reversed(PROFILES)}
    return {"time_optimal": time_optimal([axis])[0], **shapes}


def comparison(rate: float = 500.0) -> Run:
    """Their values and three derivatives over time; a derivative that is an impulse somewhere is NaN throughout."""
    times = sample_times(_DURATION, rate)
    values, units = {}, {}
    for name, profile in compared().items():
        over = times > profile.duration
        for order, what in enumerate(ORDERS):
            value = profile.at(np.minimum(times, profile.duration), order)
            value = np.where(over & (order > 0), 0.0, value)
            values[f"{name}.{what}"] = np.full_like(value, np.nan) if what in profile.impulsive else value
            units[f"{name}.{what}"] = _UNITS[order]
    told = {
        name: {
            "duration": profile.duration,
            "impulsive": list(profile.impulsive),
            **{
                what: None if what in profile.impulsive else max(map(abs, profile.extremes(order)))
                for order, what in enumerate(ORDERS)
            },
        }
        for name, profile in compared().items()
    }
    limits = dict(zip(ORDERS[1:], _LIMITS, strict=True))
    return Run("profiles", times, values, units, summary={"profiles": told, "time_optimal_limits": limits})

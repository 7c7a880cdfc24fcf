"""What an estimate says: where it ended and how sure that is, and how its fixes stand."""

from __future__ import annotations

import math
from collections.abc import Mapping

from trundle.results import Run
from trundle.show.summaries.lines import quantity, table

_POSE = {"x": "m", "y": "m", "theta": "rad"}


def estimate_record(found: Run) -> dict[str, object]:
    """An estimate as plain data: the last pose with its standard deviations, and the summary."""
    return {
        "robot": found.name,
        "duration": found.duration,
        "rows": len(found),
        "pose": {name: float(found[name][-1]) for name in _POSE},
        "deviations": _deviations(found),
        **found.summary,
    }


def estimate_text(found: Run) -> str:
    """The same for people."""
    spread = _deviations(found)
    ends = ", ".join(
        f"{name} {quantity(float(found[name][-1]), unit)} ± {quantity(spread[name], unit)}"
        for name, unit in _POSE.items()
    )
    lines = [f"{found.name}: {len(found):,} rows over {quantity(found.duration, 's')}", f"ends at {ends}"]
    fixes = found.summary.get("fixes", {})
    rows = [("fixes of", "used", "left out by the gate", "mean NIS")]
    for name, about in fixes.items() if isinstance(fixes, Mapping) else ():
        nis = about["mean_nis"]
        rows.append((name, str(about["used"]), str(about["gated"]), "" if nis is None else f"{nis:.2f}"))
    gyro = found.summary.get("gyro", {})
    for name, about in gyro.items() if isinstance(gyro, Mapping) else ():
        if about["mean_nis"] is not None:
            lines.append(f"{name}: mean NIS {about['mean_nis']:.2f}, 1 by the noise that it counts on")
    if len(rows) > 1:
        lines += ["", *table(rows, right=(1, 2, 3))]
    missed = found.summary.get("missed", {})
    for what, count in missed.items() if isinstance(missed, Mapping) else ():
        lines.append(f"{count} of {what}: never looked at")
    return "\n".join(lines)


def _deviations(found: Run) -> dict[str, float]:
    return {name: math.sqrt(max(float(found[f"covariance.{name}.{name}"][-1]), 0.0)) for name in _POSE}

"""What a path limits of the base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.motion.constraints.constraint import Moving
from trundle.robot.constraint import Row


@dataclass(frozen=True)
class ZoneLimits:
    """|v| ≤ …, |v̇ + ω × v| ≤ …, |ω| ≤ …, |ω̇| ≤ … of the base's origin, from when up to when (s) zones hold."""

    zones: Sequence[tuple[float, float, Mapping[str, float]]]

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row a quantity that a zone limits; where several hold, the first one counts."""
        (v_x, v_y, turn), (a_x, a_y, change) = at.samples.twist.T, at.samples.twist_rate.T
        quantities = {
            "velocity": (v_x, v_y),
            "acceleration": (a_x - turn * v_y, a_y + turn * v_x),
            "rate": (turn,),
            "rate_change": (change,),
        }
        for name, x in quantities.items():
            most = np.full((len(at.times), 1), np.inf)
            for begin, end, limits in reversed(self.zones):
                inside = (at.times >= begin) & (at.times < end)
                most[inside] = limits.get(name, most[inside])
            if np.isfinite(most).any():
                yield Row([f"{name} of a zone"], tuple(part[:, None] for part in x), most)

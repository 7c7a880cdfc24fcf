"""How a sampled controller holds what it drives: the states that its commands wait and stand in, and when they jump.

A command takes effect its delay d = m T + r after its sample, 0 ≤ r < T. It stands in the first of its places. Where
m > 0 or r > 0 others wait behind it; a sample moves all of them on. With r > 0 the one that has waited longest takes
effect at a clock of its own, r after every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trundle.robot.controllers import Controller
from trundle.scalars import Scalar, less, where

# The input group of `sampling`: 1 where a clock is due, else 0.
DUE = "due"
# Times closer than this share of a period are one.
_SAME = 1e-9


@dataclass(frozen=True)
class Hold:
    """The samples of a controller called `name`: every `period` seconds, their commands `lateness` whole periods and
    `rest` seconds later.
    """

    name: str
    period: float
    lateness: int
    rest: float

    @property
    def clocks(self) -> dict[str, tuple[float, float]]:
        """Its clocks by name: the period and the first time (s)."""
        own = {self.name: (self.period, 0.0)}
        return own | ({f"{self.name}.delayed": (self.period, self.rest)} if self.rest else {})

    def places(self, driven: str) -> list[str]:
        """The names of the states that hold its command for `driven`: what acts now, then what waits, oldest first."""
        waiting = self.lateness + (1 if self.rest else 0)
        acting = f"{self.name}.{driven}"
        return [acting, *(f"{acting}.waiting_{k + 1}" for k in range(waiting))]

    def moved(
        self, driven: str, command: Scalar, states: Mapping[str, Scalar], due: Mapping[str, Scalar]
    ) -> dict[str, Scalar]:
        """The places after an instant at which its clocks are `due`, or not; `command` is the law's."""
        names = self.places(driven)
        held = [states[name] for name in names]
        sampled = less(0.5, due[self.name])
        if not self.rest:
            after = [*held[1:], command]
            return {name: where(sampled, new, old) for name, new, old in zip(names, after, held, strict=True)}
        acting, *waiting = held
        late = where(less(0.5, due[f"{self.name}.delayed"]), waiting[0], acting)
        after = [*waiting[1:], command]
        moved = [where(sampled, new, old) for new, old in zip(after, waiting, strict=True)]
        return dict(zip(names, [late, *moved], strict=True))


def hold_of(name: str, controller: Controller) -> Hold | None:
    """How a controller holds its commands; None where it acts at every instant."""
    if controller.period is None:
        return None
    period, delay = controller.period.number, controller.delay.number
    lateness = int(delay / period + _SAME)
    rest = delay - lateness * period
    return Hold(name, period, lateness, rest if rest > _SAME * period else 0.0)

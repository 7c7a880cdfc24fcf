"""Wrenches from outside as the recursion takes them: on which link, in whose axes, six numbers a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.limbs.loads.recursion import Pushed, Recursion
from trundle.wrenches import Wrench


@dataclass(frozen=True, eq=False)
class Outside:
    """Wrenches over time: `pushed` says where each acts, `table` (n, 6 each) force and moment about that origin.

    `given` are the wrenches as they came, in the same order; those of loops come behind them.
    """

    pushed: tuple[Pushed, ...]
    table: FloatArray
    given: tuple[Wrench, ...] = ()

    def joined(self, pushed: Sequence[Pushed], table: FloatArray) -> Outside:
        """These and others."""
        return Outside((*self.pushed, *pushed), np.hstack([self.table, table]), self.given)


def outside_of(external: Iterable[Wrench], recursion: Recursion, count: int) -> Outside:
    """The wrenches over `count` samples.

    The root of a wrench's frame says where it is given: one named after a link is that link's own frame, any other is
    the world. Raises InputError for unknown bodies, other numbers of samples, and what isn't finite.
    """
    if isinstance(external, Wrench):
        raise InputError("external takes several wrenches", key="external", hint="external=[wrench] for one")
    given = tuple(external)
    places: list[Pushed] = []
    tables = [np.empty((count, 0))]
    links = recursion.mechanism.assembly.links
    for wrench in given:
        if not isinstance(wrench, Wrench):
            raise InputError(f"external takes wrenches, not {type(wrench).__name__}", key="external")
        if wrench.on not in links:
            raise InputError(
                f"there is no body '{wrench.on}'", key="external", hint=suggest(wrench.on, links)
            )
        root = wrench.frame.root
        own = root.name in links
        if own and links[root.name] != links[wrench.on]:
            raise InputError(
                f"the wrench on '{wrench.on}' is given in the frame of '{root.name}', which moves in another way",
                key="external",
                hint=f"give it in the world, or in a frame of '{wrench.on}'",
            )
        places.append(Pushed(links[wrench.on], "link" if own else "world"))
        at_root = wrench.at(root.origin).in_(root)
        tables.append(_table(at_root, count))
    return Outside(tuple(places), np.hstack(tables), given)


def _table(wrench: Wrench, count: int) -> FloatArray:
    what = f"the wrench on '{wrench.on}' by '{wrench.by}'"
    if not all(isinstance(part, np.ndarray) for part in (wrench.force, wrench.moment)):
        raise InputError(
            f"{what} is symbolic", key="external", hint="put numbers in, or use trundle.symbolic_loads"
        )
    try:
        parts = [np.broadcast_to(part, (count, 3)) for part in (wrench.force, wrench.moment)]
    except ValueError:
        shapes = f"{wrench.force.shape} and {wrench.moment.shape}"
        raise InputError(
            f"{what} has shapes {shapes}, and the motion {count} samples", key="external"
        ) from None
    table = np.hstack(parts)
    if not np.isfinite(table).all():
        row = int(np.argwhere(~np.isfinite(table))[0, 0])
        raise InputError(
            f"{what} holds what is no number in sample {row + 1}",
            key="external",
            hint="a plate's centre of pressure is none without force: give it a threshold",
        )
    return table

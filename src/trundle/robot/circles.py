"""Circles among things that depend on each other: joints on parents, parameters on others, gears on leaders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter


class CircleError(ValueError):
    """Things that depend on each other in a circle: each on the next, the last on the first."""

    def __init__(self, circle: list[str]) -> None:
        super().__init__(" -> ".join([*circle, circle[0]]))
        self.circle = circle


def in_order(depends: Mapping[str, Iterable[str]]) -> list[str]:
    """The names in an order in which each comes after those it depends on; raises CircleError where there is none.

    A circle begins with the name that stands first among the keys.
    """
    try:
        return list(TopologicalSorter(depends).static_order())
    except CycleError as error:
        circle = error.args[1][:0:-1]  # graphlib lists what is depended on first, and one name at both ends
        start = min(map(list(depends).index, circle))
        at = circle.index(list(depends)[start])
        raise CircleError([*circle[at:], *circle[:at]]) from None

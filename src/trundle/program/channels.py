"""The inputs of a rollout, one channel an element, in the layout that the caller chose."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, suggest
from trundle.program.ir import Group, Program

# A whole group as an array, or its elements by label.
GroupInput = ArrayLike | Mapping[str, ArrayLike]


@dataclass(frozen=True)
class Channel:
    """One input element as a view of shape (steps or 1, count or 1), the lanes side by side in memory.

    ``wide``: differs between lanes; ``stepped``: changes from step to step.
    """

    data: FloatArray
    wide: bool
    stepped: bool

    @property
    def step_stride(self) -> int:
        """Doubles from one step to the next."""
        return self.data.strides[0] // 8 if self.stepped else 0


def channels_of(
    program: Program, groups: Mapping[str, GroupInput], steps: int, skip: Collection[str]
) -> dict[tuple[int, int], Channel]:
    """The channels of all elements by (group, element), but of the input groups in ``skip``."""
    expected = [g.name for g in program.inputs if g.name not in skip]
    for name in groups:
        if name not in expected:
            raise InputError(f"'{program.name}' has no input group '{name}'; {suggest(name, expected)}")
    channels: dict[tuple[int, int], Channel] = {}
    for index, group in enumerate(program.inputs):
        if group.name in skip:
            continue
        if group.name not in groups and group.size:
            raise InputError(f"'{program.name}' needs a value for the input group '{group.name}'")
        for number, channel in enumerate(_of_group(group, groups.get(group.name, ()), steps)):
            channels[index, number] = channel
    return channels


def common_count(
    channels: Mapping[tuple[int, int], Channel], start: FloatArray, count: int | None
) -> int | None:
    """The number of lanes that all arrays agree on; None where nothing is a batch."""
    counts = {c.data.shape[1] for c in channels.values() if c.wide}
    counts |= {start.shape[1]} if start.ndim == 2 else set()
    counts |= {count} if count is not None else set()
    if len(counts) > 1:
        raise InputError(
            f"the numbers of robots differ between the inputs: {', '.join(map(str, sorted(counts)))}"
        )
    number = counts.pop() if counts else None
    if number is not None and number < 1:
        raise InputError(f"a rollout needs at least one robot, got {number}")
    return number


def _of_group(group: Group, value: GroupInput, steps: int) -> list[Channel]:
    """The channels of a group: rows of an array, or elements by label; nothing is copied but what has gaps."""
    if isinstance(value, Mapping):
        unknown = [label for label in value if label not in group.labels]
        if unknown:
            raise InputError(
                f"group '{group.name}' has no element '{unknown[0]}'; {suggest(unknown[0], group.labels)}"
            )
        missing = [label for label in group.labels if label not in value]
        if missing:
            raise InputError(f"group '{group.name}' also needs {', '.join(missing)}")
        return [_of_element(f"'{label}' of '{group.name}'", value[label], steps) for label in group.labels]
    array = as_numbers(value, f"group '{group.name}'")
    wide, stepped = _axes(group, array.shape, steps)
    if wide and array.strides[-1] != 8:
        array = np.ascontiguousarray(array)
    views = array if not stepped else np.moveaxis(array, 1, 0)
    return [_channel(v, wide, stepped) for v in views]


def _axes(group: Group, shape: tuple[int, ...], steps: int) -> tuple[bool, bool]:
    """Whether a group's array has an axis of lanes, and one of steps."""
    n = group.size
    by_lane = len(shape) == 2 and shape[0] == n
    by_step = len(shape) == 2 and shape == (steps, n)
    if by_lane and by_step:
        raise InputError(
            f"group '{group.name}' of shape {shape} may be (n, count) or (steps, n); "
            f"give (steps, n, 1) or (1, n, count) instead"
        )
    if shape == (n,):
        return False, False
    if by_lane or by_step:
        return by_lane, by_step
    if len(shape) == 3 and shape[1] == n and shape[0] in (1, steps):
        return True, True
    raise InputError(
        f"group '{group.name}' expects shape ({n},), ({n}, count), ({steps}, {n}) or ({steps}, {n}, count), got {shape}"
    )


def _of_element(what: str, value: ArrayLike, steps: int) -> Channel:
    array = as_numbers(value, what)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] not in (1, steps)):
        raise InputError(
            f"{what} expects a number, (count,), ({steps}, 1) or ({steps}, count) for {steps} steps, got {array.shape}"
        )
    if array.ndim and array.strides[-1] != 8:
        array = np.ascontiguousarray(array)
    return _channel(array, wide=array.ndim > 0, stepped=array.ndim == 2)


def _channel(view: FloatArray, wide: bool, stepped: bool) -> Channel:
    """A view with its axes that exist, as (steps or 1, count or 1); axes of length one are no axes."""
    if not stepped:
        view = view[None]
    if not wide:
        view = view[:, None]
    return Channel(view, wide and view.shape[1] > 1, stepped and view.shape[0] > 1)

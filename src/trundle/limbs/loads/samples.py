"""What the recursion takes at every sample: a motion, all there, finite, in its order; and wrenches from outside, on
which link, in whose axes, six numbers each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known
from trundle.expected import all_of
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.limbs.loads.followers import followed
from trundle.limbs.loads.recursion import Pushed, Recursion
from trundle.model.constraints import follower_columns
from trundle.wrenches import Wrench


@dataclass(frozen=True, eq=False)
class LoadSamples:
    """Times (n,), q (n, c), ν and ν̇ (n, s) in the order of a recursion, and how they were smoothed."""

    time: FloatArray
    q: FloatArray
    nu: FloatArray
    nu_dot: FloatArray
    smoothing: Mapping[str, object]

    @property
    def tables(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What programs take first."""
        return self.q, self.nu, self.nu_dot


def samples_of(motion: JointMotion, recursion: Recursion) -> LoadSamples:
    """The motion's tables, their columns sorted; InputError says which name, shape, time or number doesn't fit."""
    time = motion.time
    if time.ndim != 1 or time.size == 0:
        raise InputError(
            f"a motion's time is one row of at least one number, not of shape {time.shape}", key="time"
        )
    _refuse_gaps(time, time, ("time",))
    steps = np.diff(time)
    if (steps <= 0).any():
        at = int(np.argmax(steps <= 0))
        raise InputError(
            f"a motion's times increase: sample {at + 1} is at {time[at + 1]:.9g} s, and the one before at "
            f"{time[at]:.9g} s",
            key="time",
        )
    assembly = recursion.mechanism.assembly
    coordinates, followers = recursion.mechanism.names, set(follower_columns(assembly))
    speeds = tuple(name for k, name in enumerate(recursion.speeds) if k not in followers)
    tables = (
        _table(time, motion.positions, motion.names, coordinates, "positions"),
        _table(time, motion.velocities, motion.speeds, speeds, "velocities"),
        _table(time, motion.accelerations, motion.speeds, speeds, "accelerations"),
    )
    samples = LoadSamples(time, *(followed(assembly, *tables) if followers else tables), motion.smoothing)
    coordinates, quantities = recursion.coordinates, assembly.quantities
    if quantities.quaternions(coordinates):
        quantities.check_quaternions(dict(zip(coordinates, samples.q.T, strict=True)))
    return samples


def _table(
    time: FloatArray, table: FloatArray, names: tuple[str, ...], wanted: tuple[str, ...], what: str
) -> FloatArray:
    """A motion's table with its columns in the order that is wanted; InputError where names or shape don't fit."""
    if table.shape != (len(time), len(names)):
        raise InputError(
            f"a motion of {len(time)} times and {len(names)} names has {what} ({len(time)}, {len(names)}), not "
            f"{table.shape}",
            key=what,
        )
    if names != wanted:
        for name in wanted:
            require_known(name, names, f"the motion's {what} lack '{name}'", key=name)
        for name in names:
            require_known(name, wanted, f"the robot has no '{name}', whose {what} came", key=name)
    _refuse_gaps(time, table, names, what)
    return table if names == wanted else table[:, [names.index(name) for name in wanted]]


def _refuse_gaps(time: FloatArray, table: FloatArray, names: tuple[str, ...], what: str = "values") -> None:
    """InputError at the first number that isn't finite, with its name, sample and time."""
    if np.isfinite(table).all():
        return
    row, column = np.argwhere(~np.isfinite(table.reshape(len(time), -1)))[0]
    raise InputError(
        f"the {what} of '{names[column]}' hold {table.reshape(len(time), -1)[row, column]} in sample {row} "
        f"(t = {time[row]:.6g} s)",
        key=names[column],
        hint="fill gaps first, by a rule that you name: trundle.joint_motion(..., gaps=...), or --gaps",
    )


@dataclass(frozen=True, eq=False)
class ExternalWrenches:
    """Wrenches over time: `pushed` says where they act, `table` (n, 6 per wrench) force and moment about that origin.

    `given` are the wrenches as they came, in the same order; those of loops come behind them.
    """

    pushed: tuple[Pushed, ...]
    table: FloatArray
    given: tuple[Wrench, ...] = ()

    def joined(self, pushed: Sequence[Pushed], table: FloatArray) -> ExternalWrenches:
        """These and others."""
        return ExternalWrenches((*self.pushed, *pushed), np.hstack([self.table, table]), self.given)


def outside_of(external: Iterable[Wrench], recursion: Recursion, count: int) -> ExternalWrenches:
    """The wrenches over `count` samples.

    The root of a wrench's frame says where it is given: one named after a link is that link's own frame, any other is
    the world. Raises InputError for unknown bodies, other numbers of samples, and what isn't finite.
    """
    if isinstance(external, Wrench):
        raise InputError("external takes several wrenches", key="external", hint="external=[wrench] for one")
    given = all_of(external, Wrench, "external")
    places: list[Pushed] = []
    tables = [np.empty((count, 0))]
    links = recursion.mechanism.assembly.links
    for wrench in given:
        require_known(wrench.on, links, f"there is no body '{wrench.on}'", key="external")
        root = wrench.frame.root
        own = root.name in links
        if own and links[root.name] != links[wrench.on]:
            raise InputError(
                f"the wrench on '{wrench.on}' is given in the frame of '{root.name}', which moves in another way",
                key="external",
                hint=f"give it in the world, or in a frame of '{wrench.on}'",
            )
        places.append(Pushed(links[wrench.on], "link" if own else "world"))
        at_root = wrench.at(root.origin).in_frame(root)
        tables.append(_wrench_table(at_root, count))
    return ExternalWrenches(tuple(places), np.hstack(tables), given)


def _wrench_table(wrench: Wrench, count: int) -> FloatArray:
    """Force and moment (n, 6) of a wrench at every sample; InputError where it is symbolic, misshapen or not finite."""
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
            f"{what} contains NaN or infinity in sample {row + 1}",
            key="external",
            hint="a plate's centre of pressure is none without force: give it a threshold",
        )
    return table

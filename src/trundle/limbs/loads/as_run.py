"""Loads as a run: a column a component, which tables, figures and films are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents.writer import dump
from trundle.errors import require_known
from trundle.limbs.loads.loads import Loads
from trundle.mechanics.coupling import Tie
from trundle.mechanics.tree import WORLD
from trundle.model.constraints import follower_columns
from trundle.results import Run
from trundle.simulation.options import positive

# Whose axes wrenches may be given in, besides those of a body by its name.
_FRAMES = ("child", "parent", "world")
_PER_MASS = {"N": "N/kg", "N m": "N m/kg", "W": "W/kg"}


def to_run(loads: Loads, frame: str = "child", mass: float | str | None = None) -> Run:
    """What `Loads.to_run` says."""
    weight = None if mass is None else positive(mass, "mass", "kg")
    require_known(frame, [*_FRAMES, *loads.frames], f"there is no frame {frame!r}", key="frame")
    robot, assembly = loads.recursion.mechanism.robot, loads.recursion.mechanism.assembly
    motion = dict(zip(assembly.coordinates, loads.samples.q.T, strict=True))
    rates = dict(zip(assembly.speeds, loads.samples.nu.T, strict=True))
    outputs: dict[str, FloatArray] = {}
    units = {name: assembly.quantities[name].unit for name in (*motion, *rates)}
    for name, unit, values in (*_columns(loads, frame), *_pushes(loads)):
        scaled = weight is not None and unit in _PER_MASS
        outputs[name] = values / weight if weight is not None and scaled else values
        units[name] = _PER_MASS[unit] if scaled else unit
    groups = {"coordinates": tuple(motion), "speeds": tuple(rates), "outputs": tuple(outputs)}
    about = {"frame": frame, "mass": weight, "undetermined": list(loads.undetermined)}
    about |= {"smoothing": dict(loads.samples.smoothing), "peaks": peaks(loads.time, outputs)}
    description = {"yaml": dump(robot), "parameters": dict(robot.parameter_values())}
    return Run(robot.name, loads.time, motion | rates | outputs, units, description, about, groups)


def _pushes(loads: Loads) -> Iterator[tuple[str, str, FloatArray]]:
    """What pushes a body from outside, in the world's axes: the force, and where it acts; where nothing pushes, the
    point goes evenly from where it was last to where it will be.
    """
    shape, pushed = (loads.time.size, 3), {}
    for wrench in loads.outside.given:
        root = wrench.frame.root
        force, place = wrench.in_frame(root).force, wrench.point.position(frame=root)
        if root.name in loads.recursion.mechanism.assembly.links:
            own = loads.frames[root.name]
            turned = own.rotation(frame=loads.world)
            force = np.einsum("...ik,...k->...i", turned, force)
            place = own.origin.position(frame=loads.world) + np.einsum("...ik,...k->...i", turned, place)
        force, place = (np.broadcast_to(np.asarray(part, float), shape) for part in (force, place))
        size = np.linalg.norm(force, axis=1, keepdims=True)
        before = pushed.get(wrench.on, (0.0, 0.0, 0.0))
        pushed[wrench.on] = tuple(a + b for a, b in zip(before, (force, size * place, size), strict=True))
    for body, (force, heavy, size) in pushed.items():
        known = np.flatnonzero(size[:, 0] > 0)
        for axis, values, weighed in zip("xyz", force.T, heavy.T, strict=True):
            yield f"{body}.ground_force_{axis}", "N", values
            if known.size:
                places = np.interp(np.arange(shape[0]), known, weighed[known] / size[known, 0])
                yield f"{body}.ground_point_{axis}", "m", places


def peaks(time: FloatArray, columns: Mapping[str, FloatArray]) -> dict[str, dict[str, dict[str, float]]]:
    """The largest force, moment, power and net effort at a joint by size, and when they come."""
    peaks: dict[str, dict[str, dict[str, float]]] = {}
    for name in columns:
        joint, _, what = name.rpartition(".")
        if what == "power" or what.startswith("net"):
            sizes = np.abs(columns[name])
        elif what in ("force_x", "moment_x"):
            what = what[:-2]
            sizes = np.sqrt(sum(np.square(columns[f"{joint}.{what}_{axis}"]) for axis in "xyz"))
        else:
            continue
        at = int(sizes.argmax())
        peaks.setdefault(joint, {})[what] = {"largest": float(sizes[at]), "time": float(time[at])}
    return peaks


def generalized_forces(run: Run) -> dict[str, str]:
    """By the names that OpenSim's inverse dynamics gives them, the columns of what acts along joints' freedoms:
    `knee_angle_r_moment` is knee_angle_r.net.
    """
    return {
        f"{joint}{what.removeprefix('net')}_{'moment' if run.units[name].startswith('N m') else 'force'}": name
        for joint, part in run.parts.items()
        for what, name in part.items()
        if what.startswith("net")
    }


def _columns(loads: Loads, frame: str) -> Iterator[tuple[str, str, FloatArray]]:
    """Name, unit and numbers of all that loads tell, joint by joint; of a base that stands still nothing."""
    tree, assembly = loads.recursion.tree, loads.recursion.mechanism.assembly
    followers = {assembly.speeds[column] for column in follower_columns(assembly)}
    for link, at in zip(tree.links, tree.speed_slices(), strict=True):
        free = [speed for speed in assembly.speeds[at] if speed not in followers]
        if (link.parent == WORLD and not link.moves) or (link.moves and not free):
            continue  # what stands still; and what follows, whose leaders tell it all
        parent = loads.world.name if link.parent == WORLD else tree.links[link.parent].name
        axes = {"child": None, "parent": parent, "world": loads.world}.get(frame, frame)
        wrench = loads.wrench(link.name, frame=axes)
        for what, unit, vectors in (("force", "N", wrench.force), ("moment", "N m", wrench.moment)):
            for axis, values in zip("xyz", np.asarray(vectors).T, strict=True):
                yield f"{link.name}.{what}_{axis}", unit, values
        yield f"{link.name}.power", "W", loads.power[link.name]
        if link.parent != WORLD:
            for what, given in (("net", loads.joint_moment), ("effort", loads.actuator_torque)):
                for name, speed in named_along(what, loads, free):
                    yield name, assembly.quantities[speed].effort_unit, given[speed]
    for tie in assembly.couplings:
        if isinstance(tie, Tie):
            yield tie.torque.name, tie.torque.unit, loads.ties[tie.name]


def named_along(what: str, loads: Loads, speeds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """How a run calls what is given along a joint's freedoms: `effort`, or of several `effort_…`; and the speeds."""
    for speed in speeds:
        quantity = loads.recursion.mechanism.assembly.quantities[speed]
        yield f"{quantity.owner}.{what}" + ("" if len(speeds) == 1 else f"_{quantity.label}"), speed

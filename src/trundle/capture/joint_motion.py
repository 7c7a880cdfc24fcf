"""JointMotion: a robot's coordinates, speeds and their rates over time, from measured coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.capture.recording import Recording
from trundle.capture.smoothing import Smoothed, Smoothing, checked_times, refuse_missing
from trundle.capture.smoothing import smoothing as chosen_smoothing
from trundle.errors import InputError, suggest
from trundle.frozen import Frozen, Rebuilt
from trundle.mechanics.quantities import Quantities
from trundle.model import Model
from trundle.model.arguments import Given, opened, robot_of
from trundle.model.moving import MovingMechanism
from trundle.model.programs import program_of, symbolic_mechanism
from trundle.model.symbols import derivative_along, jacobian
from trundle.program import compile_program

# How far a measured quaternion's length may be from 1: files with four decimals leave 1e-4.
_LENGTH = 1e-3
# Samples whose speeds are solved for at once; more would fill memory with their matrices.
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class JointMotion(Rebuilt):
    """What a robot's coordinates do over time, differentiated consistently.

    Parameters
    ----------
    time : array, shape (n,), s
        Increasing.
    names : tuple of str
        The robot's coordinates, as `model.coordinates` has them; four parts for a joint that turns any way.
    speeds : tuple of str
        Its speeds, as `model.speeds` has them: of joints that turn any way the angular velocity in the child's axes.
    positions : array, shape (n, len(names)), rad, m
        The coordinates, angles unwrapped.
    velocities, accelerations : array, shape (n, len(speeds)), rad/s, m/s and per s
        The speeds u with q̇ = N(q) S(q) u, and u̇.
    smoothing : mapping
        What was done to the measured signals, as plain data.
    """

    time: FloatArray
    names: tuple[str, ...]
    speeds: tuple[str, ...]
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    smoothing: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("time", "positions", "velocities", "accelerations"):
            array = np.array(getattr(self, name), dtype=float)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "smoothing", Frozen(self.smoothing))

    def __getitem__(self, name: str) -> FloatArray:
        """A coordinate or a speed over time (n,), by its name; InputError with the nearest where there is none."""
        for names, table in ((self.names, self.positions), (self.speeds, self.velocities)):
            if name in names:
                return table[:, names.index(name)]
        raise InputError(
            f"the motion has no '{name}'", key=name, hint=suggest(name, (*self.names, *self.speeds))
        )

    def __len__(self) -> int:
        return self.time.size


def joint_motion(
    recording: Recording | Mapping[str, npt.ArrayLike],
    robot: Given,
    *,
    smoothing: Smoothing | str | Mapping[str, object] = "none",
) -> JointMotion:
    """A robot's motion from its measured coordinates: angles unwrapped, smoothed as asked, differentiated.

    q̇ = N(q) S(q) u gives the speeds u, and its derivative u̇. Quaternions are smoothed in four dimensions and brought
    back to length 1, with the derivatives of just that: which axes either side has makes no difference.

    Parameters
    ----------
    recording : Recording or mapping
        With a channel for each of the robot's coordinates (rad, m); or arrays by name, "time" (s) among them.
    robot : Robot, Model, path or mapping
        Whose coordinates these are.
    smoothing : Smoothing, str or mapping, optional
        As `trundle.smoothing` takes it; by default none: the quintic spline through all samples, not-a-knot.

    Returns
    -------
    JointMotion
        Coordinates, speeds and their rates at the recording's times.

    Raises
    ------
    InputError
        A coordinate is missing, in a unit of something else, or has gaps; fewer than six samples; times that a filter
        can't take; a quaternion of another length than 1.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> motion = trundle.joint_motion({"time": t, "link_1.angle": t**2}, trundle.catalog.pendulum(links=1))
    >>> motion["link_1.rate"][-1].round(9), motion.accelerations[0].round(9)
    (np.float64(2.0), array([2.]))
    """
    measured, moving, chosen = as_recording(recording), moving_of(robot), chosen_smoothing(smoothing)
    names, quantities = moving.mechanism.names, moving.mechanism.assembly.quantities
    times = checked_times(measured.time)
    table = np.array([measured.channel(name, quantities[name].unit) for name in names]).T.reshape(
        len(times), -1
    )
    refuse_missing(times, table, names, measured.source)
    return differentiated(moving, times, table, chosen)


def as_recording(given: Recording | Mapping[str, npt.ArrayLike]) -> Recording:
    """A recording as it is, or arrays by name as one."""
    if isinstance(given, Recording):
        return given
    if "time" not in given:
        raise InputError("a motion needs its times", key="time", hint=suggest("time", given))
    channels = {name: as_numbers(values, name) for name, values in given.items() if name != "time"}
    return Recording(as_numbers(given["time"], "time"), channels=channels)


def differentiated(
    moving: MovingMechanism, times: FloatArray, table: FloatArray, chosen: Smoothing
) -> JointMotion:
    """The motion of measured coordinates (n, c), all there, in the mechanism's order."""
    names, quantities = moving.mechanism.names, moving.mechanism.assembly.quantities
    positions, rates, second = (np.empty(table.shape) for _ in range(3))
    for columns in _blocks(names, quantities):
        block, turning = table[:, columns], len(columns) == 4
        if turning:
            block = _one_sided(block, names[columns[0]], times)
        elif quantities[names[columns[0]]].unit == "rad":
            block = np.unwrap(block, axis=0)
        found = chosen.samples(times, block)
        positions[:, columns], rates[:, columns], second[:, columns] = (
            _normalised(found) if turning else found
        )
    velocities, accelerations = _speeds(moving, positions, rates, second)
    return JointMotion(times, names, moving.labels, positions, velocities, accelerations, chosen.record)


def moving_of(robot: Given) -> MovingMechanism:
    """The mechanism in symbols of a robot, a model, or what leads to one; a model keeps its own."""
    found = opened(robot, "a motion")
    return (
        found.moving
        if isinstance(found, Model)
        else symbolic_mechanism(robot_of(found, "a motion", "it has no joints"))
    )


def _blocks(names: Sequence[str], quantities: Quantities) -> Iterator[list[int]]:
    """The places of what is smoothed as one: four for a quaternion, else one."""
    turning = {k: list(range(k, k + 4)) for k in quantities.quaternions(names)}
    inside = {k for four in turning.values() for k in four}
    yield from turning.values()
    yield from ([k] for k in range(len(names)) if k not in inside)


def _one_sided(block: FloatArray, name: str, times: FloatArray) -> FloatArray:
    """Unit quaternions (n, 4), each of the two of a rotation chosen that is nearer to the one before."""
    length = np.linalg.norm(block, axis=1)
    worst = int(np.abs(length - 1).argmax())
    if abs(length[worst] - 1) > _LENGTH:
        raise InputError(
            f"the quaternion at t = {times[worst]:g} s has length {length[worst]:.6g}, and a rotation's has 1",
            key=name,
        )
    unit = block / length[:, None]
    flips = np.where((unit[1:] * unit[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return unit * np.cumprod(np.concatenate([[1.0], flips]))[:, None]


def _normalised(found: Smoothed) -> Smoothed:
    """q = s/|s| and its derivatives, of a curve s(t) in four dimensions."""
    s, rate, second = found

    def dot(a: FloatArray, b: FloatArray) -> FloatArray:
        return (a * b).sum(axis=1, keepdims=True)

    length = np.sqrt(dot(s, s))
    growth = dot(s, rate) / length**2  # d ln |s| / dt
    change = (dot(rate, rate) + dot(s, second)) / length**2 - 2 * growth**2  # and its rate
    q, q_dot = s / length, (rate - growth * s) / length
    return Smoothed(q, q_dot, (second - 2 * growth * rate + (growth**2 - change) * s) / length)


def _speeds(
    moving: MovingMechanism, q: FloatArray, q_dot: FloatArray, q_ddot: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """u and u̇ with q̇ = P(q) u and q̈ = P u̇ + Ṗ u, by least squares where P has more rows than columns.

    A quaternion's four rates are met exactly by three speeds; rates that break rolling constraints are not.
    """
    count, labels = len(q), moving.labels
    parameters = np.array([float(v) for v in moving.mechanism.numbers.parameters.values()])
    matrix = [value for row in jacobian(moving.q_dot, moving.u) for value in row]
    outputs = {
        "map": ([f"{a}, {b}" for a in moving.mechanism.names for b in labels], matrix),
        "drift": (moving.mechanism.names, derivative_along(moving.q_dot, moving.q, moving.q_dot)),
    }
    kernel = compile_program(program_of(moving, "speeds", outputs))
    u, u_dot = np.empty((count, len(labels))), np.empty((count, len(labels)))
    for start in range(0, count, _CHUNK):
        at = slice(start, start + _CHUNK)
        positions = np.ascontiguousarray(q[at].T)
        size = positions.shape[1]
        flat, _ = kernel(positions, np.zeros((len(labels), size)), parameters)
        p = np.moveaxis(flat.reshape(len(q[0]), len(labels), size), -1, 0)
        u[at] = _least_squares(p, q_dot[at])
        _, drift = kernel(positions, np.ascontiguousarray(u[at].T), parameters)
        u_dot[at] = _least_squares(p, q_ddot[at] - drift.T)
    return u, u_dot


def _least_squares(p: FloatArray, right: FloatArray) -> FloatArray:
    """(PᵀP)⁻¹Pᵀ r of many (n, c, s) and (n, c); P is orthogonal but for halves, so that this costs no digits."""
    transposed = np.swapaxes(p, 1, 2)
    return np.asarray(
        np.linalg.solve(transposed @ p, transposed @ right[:, :, None])[:, :, 0], dtype=np.float64
    )

"""JointMotion: a robot's coordinates, speeds and their rates over time, from measured coordinates.

`speeds.py` smooths and differentiates them, and solves for the speeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.documents import Document
from trundle.errors import InputError, require_known, suggest
from trundle.expected import by_name
from trundle.frozen import Brief, Frozen, Rebuilt, frozen, settle
from trundle.limbs.capture.gaps import Filling, Gaps, gaps_of, refuse_swaps
from trundle.limbs.capture.inverse_kinematics import inverse_kinematics
from trundle.limbs.capture.marker_model import Markers, judge_fit, marker_model, warn_unusual
from trundle.limbs.capture.recording import Recording, column_of
from trundle.limbs.capture.smoothing import Smoothing, checked_times, refuse_missing, smooth
from trundle.limbs.capture.smoothing import smoothing as chosen_smoothing
from trundle.limbs.capture.speeds import differentiated, unwrap
from trundle.model import Model
from trundle.model.arguments import Given, opened, robot_of
from trundle.model.moving import MovingMechanism
from trundle.model.programs import symbolic_mechanism
from trundle.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class JointMotion(Brief, Rebuilt):
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
    marker_errors : mapping of str to array, shape (n,), m
        How far markers are from where they were seen, NaN where they weren't; empty without markers.
    """

    time: FloatArray
    names: tuple[str, ...]
    speeds: tuple[str, ...]
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    smoothing: Mapping[str, object] = field(default_factory=dict)
    marker_errors: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("time", "positions", "velocities", "accelerations"):
            settle(self, **{name: frozen(np.array(getattr(self, name), dtype=float))})
        settle(self, smoothing=Frozen(self.smoothing), marker_errors=Frozen(self.marker_errors))

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

    @property
    def marker_error(self) -> FloatArray:
        """The root of the mean square of the markers' distances at a sample, (n,), m."""
        if not self.marker_errors:
            raise InputError("this motion was not found from markers")
        return np.sqrt(np.nanmean(np.array(list(self.marker_errors.values())) ** 2, axis=0))


def joint_motion(
    recording: Recording | Mapping[str, npt.ArrayLike],
    robot: Given | MovingMechanism,
    *,
    markers: Markers | None = None,
    weights: Mapping[str, float] | None = None,
    limits: bool = True,
    gaps: Gaps | str | Mapping[str, object] | None = None,
    smoothing: Smoothing | str | Mapping[str, object] = "none",
    marker_smoothing: Smoothing | str | Mapping[str, object] | None = None,
    base: str | None = None,
    progress: bool = True,
) -> JointMotion:
    """A robot's motion from its measured coordinates or from markers: smoothed as asked, differentiated.

    q̇ = N(q) S(q) u gives the speeds u, and its derivative u̇. Angles are unwrapped. Quaternions are smoothed in four
    dimensions and brought back to length 1, with the derivatives of just that: which axes either side has makes no
    difference. With markers the coordinates are those at which ½ Σ w² |p(q) − y|² is least, sample by sample; markers
    that weren't seen drop out there.

    Parameters
    ----------
    recording : Recording or mapping
        With channels for the robot's coordinates (rad, m), or with markers; or arrays by name, of which one is
        "time" (s).
    robot : Robot, Model, path, mapping or MovingMechanism
        Whose motion this is; a mechanism in symbols where the caller has made it.
    markers : mapping of str to (str, (x, y, z)), optional
        By a marker's name in the recording the link that carries it (a joint, a body, or "base") and its place in the
        link's frame (m, or text with units). Coordinates that the recording has as channels are held at these.
    weights : mapping of str to float, optional
        w by marker, 1 by default.
    limits : bool, optional
        Whether postures stay within the joints' `lower` and `upper`. What is usual chooses among postures of
        one pose either way.
    gaps : Gaps, str or mapping, optional
        "spline" or "linear" fills gaps of up to 0.2 s, {"rule": "spline", "longest": s} longer ones; by default
        channels with gaps are refused.
    smoothing : Smoothing, str or mapping, optional
        Of the coordinates, as `trundle.smoothing` takes it; by default none: the quintic spline through all samples.
    marker_smoothing : Smoothing, str or mapping, optional
        Of the markers, before they are fitted; needs markers without gaps.
    progress : bool, optional
        Whether to show a bar for long recordings where a person watches.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    JointMotion
        Coordinates, speeds and their rates at the recording's times.

    Raises
    ------
    InputError
        A coordinate or marker is missing, in a unit of something else, or has gaps that aren't to be filled; markers
        change places, leave a coordinate open, or are further off than the robot is large; fewer than six samples;
        times that a filter can't take; quaternions of another length than 1.

    Warns
    -----
    UserWarning
        A marker is off by more than a twentieth of the robot's size; an angle is beyond its usual range by over 15°.

    References
    ----------
    Lu & O'Connor 1999, Bone position estimation from skin marker co-ordinates using global optimisation.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> t, pendulum = np.linspace(0.0, 1.0, 101), trundle.catalog.pendulum(links=1)
    >>> motion = trundle.joint_motion({"time": t, "link_1.angle": t**2}, pendulum)
    >>> motion["link_1.rate"][-1].round(9), motion.accelerations[0].round(9)
    (np.float64(2.0), array([2.]))
    """
    measured, moving, chosen = as_recording(recording), moving_of(robot, base), chosen_smoothing(smoothing)
    fill, names = Filling(gaps_of(gaps)), moving.mechanism.names
    quantities = moving.mechanism.assembly.quantities
    distances: dict[str, FloatArray] = {}
    record = dict(chosen.record)
    try:
        times = checked_times(measured.time)
        known = known_of(measured, moving, whole=markers is None)
        apart = [name for name in known if name in measured.channels]
        channels = {name: column_of(measured, name, quantities[name].unit, apart) for name in known}
        coordinates, turned = unwrap(channels, quantities, times)
        record |= {"unwrapped": turned} if turned else {}
        coordinates = {name: _whole(times, column, name, fill) for name, column in coordinates.items()}
        if markers is not None:
            by_name(markers, "markers", "such as {'ankle': ('shank', (0, 0.4, 0))}")
            earlier = None if marker_smoothing is None else chosen_smoothing(marker_smoothing)
            record |= {} if earlier is None else {"markers": earlier.record}
            _require_seen(measured, markers)
            seen = {name: marker_places(measured, name, fill, earlier) for name in markers}
            refuse_swaps(times, seen)
            model = marker_model(moving, markers, known, limits)
            postures, off = inverse_kinematics(
                model, times, seen, coordinates, _weights(markers, weights), progress
            )
            coordinates, _ = unwrap(dict(zip(names, postures.T, strict=True)), quantities, times)
            judge_fit(model, postures, off)
            warn_unusual(model, times, np.array([coordinates[name] for name in names]).T)
            distances = dict(zip(markers, off.T, strict=True))
        moved = differentiated(moving, times, coordinates, chosen, known)
    except InputError as error:
        raise error.at(file=measured.source or None) from None
    return JointMotion(times, names, moving.labels, *moved, record | fill.record, distances)


def known_of(measured: Recording, moving: MovingMechanism, whole: bool) -> list[str]:
    """The coordinates that channels give, quaternions with all their parts; all of them where `whole`."""
    names, quantities = moving.mechanism.names, moving.mechanism.assembly.quantities
    present = {name for name in names if whole or name in measured.channels}
    if whole and measured.markers and not measured.channels:
        hint = "its markers can: `markers` (--markers FILE) says which is where on which body"
        raise InputError(f"has no column '{names[0]}' nor any other coordinate", hint=hint)
    for k in quantities.quaternions(names):
        four = names[k : k + 4]
        present |= set(four) if present & set(four) else set()
    return [name for name in names if name in present]


def _whole(times: FloatArray, column: FloatArray, name: str, fill: Filling) -> FloatArray:
    """A coordinate (n,) without gaps: filled, or refused."""
    result = fill(times, column, name)
    refuse_missing(times, result[:, None], [name])
    return result


def _require_seen(measured: Recording, markers: Markers) -> None:
    """InputError with all markers that the recording lacks."""
    missing = [name for name in markers if name not in measured.markers]
    if len(missing) > 1:
        others = [name for name in measured.markers if name not in markers]
        hint = f"others there: {', '.join(others)}" if others else "leave them out of `markers`"
        message = f"the recording has no markers {', '.join(missing)}"
        raise InputError(message, key="markers", hint=hint)


def marker_places(measured: Recording, name: str, fill: Filling, earlier: Smoothing | None) -> FloatArray:
    """Where a marker was seen (n, 3), filled and smoothed where that was asked for."""
    require_known(name, measured.markers, f"the recording has no marker '{name}'", key=name)
    places = fill(measured.time, measured.markers[name], name, whole=earlier is not None)
    if earlier is None:
        return places
    refuse_missing(measured.time, places, [f"{name}.{axis}" for axis in "xyz"])
    return smooth(measured.time, places, earlier).values


def _weights(markers: Markers, given: Mapping[str, float] | None) -> list[float]:
    """The markers' weights in their order, 1 where none is named."""
    for name, weight in (given or {}).items():
        require_known(name, markers, f"there is no marker '{name}'", key="weights")
        if not (np.isfinite(weight) and weight > 0):
            raise InputError(
                f"a marker's weight is a positive number, not {weight!r}",
                key=name,
                hint="leave the marker out",
            )
    return [float((given or {}).get(name, 1.0)) for name in markers]


def as_recording(given: Recording | Mapping[str, npt.ArrayLike]) -> Recording:
    """A recording as it is, or arrays by name as one."""
    if isinstance(given, Recording):
        return given
    hint = "give a recording, its file, or arrays by name with their times as 'time'"
    given = by_name(given, "motion", hint)
    require_known("time", given, "a motion needs its times", key="time")
    channels = {name: as_numbers(values, name) for name, values in given.items() if name != "time"}
    return Recording(as_numbers(given["time"], "time"), channels=channels)


def mechanism_or_given(
    robot: Given | MovingMechanism, call: str, base: str | None = None
) -> MovingMechanism | Robot | Model | Document:
    """What leads to a robot, opened, on the base that is asked for; a mechanism in symbols as it is."""
    if not isinstance(robot, MovingMechanism):
        return opened(robot, call, base)
    if base is not None:
        raise InputError("a mechanism in symbols has its base already", key="base", hint="give its robot")
    return robot


def moving_of(robot: Given | MovingMechanism, base: str | None = None) -> MovingMechanism:
    """The mechanism in symbols of a robot, a model, or what leads to one; one that is made, and a model's, as it is."""
    described = mechanism_or_given(robot, "a motion", base)
    if isinstance(described, MovingMechanism):
        return described
    if isinstance(described, Model):
        return described.moving
    return symbolic_mechanism(robot_of(described, "a motion", "it has no joints"))

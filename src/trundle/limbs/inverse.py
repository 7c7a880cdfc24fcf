"""`inverse`: from what was measured of a motion to the loads in a robot's joints, and what lies between."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError, counted, warn
from trundle.expected import came
from trundle.files import path_of
from trundle.limbs.capture.assigned_plates import (
    PlateForces,
    feet_of,
    floor_of,
    require_plates,
    require_read,
    require_upright,
    standing,
    warn_unassigned,
    warn_untared,
)
from trundle.limbs.capture.force_plates import THRESHOLD
from trundle.limbs.capture.gaps import Gaps
from trundle.limbs.capture.ground_reactions import LEAST, ground_reactions
from trundle.limbs.capture.joint_motion import JointMotion, as_recording, joint_motion, moving_of
from trundle.limbs.capture.marker_model import Markers, read_markers
from trundle.limbs.capture.plate_samples import within
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.recording_files import read_recording
from trundle.limbs.capture.smoothing import Smoothing
from trundle.limbs.capture.smoothing import smoothing as as_smoothing
from trundle.limbs.inverse_result import InverseDynamicsResult, fit_of
from trundle.limbs.loads import Loads
from trundle.limbs.loads.joint_loads import joint_loads
from trundle.model.arguments import Given, number, opened
from trundle.robot.structure import up_axis

FileName = str | os.PathLike[str]

# The cosine of 60 degrees: people who walk, run and squat have their pelvis less tilted than that on average.
_LYING = 0.5
# Markers on skin move by a few centimetres on their bone (Leardini et al. 2005: up to 40 mm on a thigh). A fit that is
# farther off is of other units, axes, names or of another person.
FIT = 0.05
# A motion may last so many samples longer than its forces, or this share of its own: devices are stopped one by one.
_FEW, _SMALL_PART = 5, 0.01


def inverse(
    robot: Given,
    motion: Recording | FileName | Mapping[str, npt.ArrayLike],
    *,
    markers: Markers | FileName | None = None,
    smoothing: Smoothing | str | Mapping[str, object] = "none",
    marker_smoothing: Smoothing | str | Mapping[str, object] | None = None,
    plate_smoothing: Smoothing | str | Mapping[str, object] = "none",
    gaps: Gaps | str | Mapping[str, object] | None = None,
    external: Sequence[tuple[str, str]] | Mapping[str, str] | FileName = (),
    plates: Recording | FileName | None = None,
    up: str | None = None,
    start: float | str | None = None,
    end: float | str | None = None,
    threshold: float | None = None,
    max_marker_rms: float | str = FIT,
    base: str | None = None,
    progress: bool = True,
) -> InverseDynamicsResult:
    """The wrenches in a robot's joints that a measured motion needs, as `trundle inverse` works them out.

    Of markers the coordinates q are those with least ½ Σ |p(q) − y|² in each sample; q̇ = N(q) S(q) u gives speeds and
    their rates; W_i = f_i − w_i + Σ W_children, with f_i = I a + v ×* I v, the wrench through each joint.

    Parameters
    ----------
    robot : Robot, Model, path or mapping
        A tree of bodies on joints; loops may close it.
    motion : Recording, path or mapping
        What was measured: coordinates (rad, m) or markers (m) over time (s); or arrays by name, "time" among them.
    markers : mapping or path, optional
        By a marker's name the link that carries it and its place there (m), or the YAML file that says so.
    smoothing : Smoothing, str or mapping, optional
        Of the coordinates, as `trundle.smoothing` takes it; none by default. "opensim" sees all of the recording and
        its times as written, the others the part from `start` to `end`.
    marker_smoothing : Smoothing, str or mapping, optional
        Of the markers, before bodies are posed by them.
    plate_smoothing : Smoothing, str or mapping, optional
        Of the plates' forces and moments, at their own rate: "butterworth" with the coordinates' cut-off, or higher.
    gaps : Gaps, str or mapping, optional
        "spline" or "linear" fills gaps of up to 0.2 s, {"rule": "spline", "longest": s} longer ones; by default they
        are refused.
    external : mapping of str to str, sequence of pairs, or path, optional
        By a body's name the force plate or ground reaction that pushes it, by its name or as "plate1", "plate2", …
        Of plates that aren't named the foot is found by its markers, contact by contact: a foot is the last body of a
        limb that has markers. A plate that is named with several bodies pushes the nearest of these. Or OpenSim's file
        of external loads: these are interpolated as OpenSim does it where `plate_smoothing` is none.
    plates : Recording or path, optional
        A recording that has the plates or ground reactions, if the motion's has none.
    up : "y" or "z", optional
        Which axis is up in the recordings: they are turned as the robot stands, by its gravity.
    start, end : float or str, s, optional
        The part of the motion that counts, by the recording's times; by default all of it.
    threshold : float, N, optional
        The least force on a plate that makes a contact: below it noise gives no centre of pressure. Of a contact all of
        the load counts, as it comes and goes. By default 20 N; of OpenSim's external loads any.
    max_marker_rms : float or str, m, optional
        How far markers may be off, as a root mean square over all of them; by default 50 mm.
    progress : bool, optional
        Whether to show a bar for long recordings where a person watches.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    InverseDynamicsResult
        The loads, the motion, the recording, and the fit of the markers.

    Raises
    ------
    InputError
        A file can't be read, or a force plate in it can't and `external` doesn't say which ones to use; what
        `trundle.joint_motion` and `trundle.joint_loads` refuse; a plate that isn't there, or pushes along another axis
        than the robot's gravity; two feet on one plate at a time; feet that are as near to a plate's centre of pressure
        as another; `up` for a robot whose gravity is along neither -y nor -z.
    NumericsError
        The markers' fit is worse than `max_marker_rms`: no loads of it mean anything.

    Warns
    -----
    UserWarning
        A plate is pushed on, and neither `external` nor markers tell by which body: the loads leave its force out. Or
        the body that `external` names is far from where the plate pushes; a plate's zero is off; the base lies on its
        side, as if another axis were up. A few samples of the motion lie beyond the plates' times: they are left out.

    References
    ----------
    Lu & O'Connor 1999, global optimisation; Luh, Walker & Paul 1980; Featherstone 2008, section 5.3.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> held = {"time": np.arange(6.0), "link_1.angle": np.full(6, np.pi / 2)}
    >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), held)
    >>> arm.loads.wrench("link_1").moment[0].round(4)
    array([0.    , 2.4525, 0.    ])
    """
    given = opened(robot, "inverse", base)
    moving = moving_of(given)
    stands = up_axis(moving.mechanism.robot)
    chosen = as_smoothing(smoothing)
    whole = _turned(_recording(motion, literal=chosen.as_recorded), up, stands)
    recording = _part(whole, start, end)
    by_file, assembly = isinstance(external, (str, os.PathLike)), moving.mechanism.assembly
    threshold = (LEAST if by_file else THRESHOLD) if threshold is None else threshold
    plates, pairs = _forces(external, plates, recording.time, as_smoothing(plate_smoothing))
    pushing = recording if plates is None else _turned(_recording(plates), up, stands)
    require_read(pushing, pairs)
    forces = (*pushing.plates, *ground_reactions(pushing))
    recording = _without_ends(recording, forces)
    marked = read_markers(markers) if isinstance(markers, (str, os.PathLike)) else markers
    moved = joint_motion(
        whole if chosen.as_recorded else recording,
        moving,
        markers=marked,
        gaps=gaps,
        smoothing=chosen,
        marker_smoothing=marker_smoothing,
        progress=progress,
    )
    measured = _during(moved, recording.time)
    _require_fit(measured, number(max_marker_rms, "max_marker_rms", "m"))
    floor, done = floor_of(forces, plate_smoothing, measured.time)
    require_plates(pairs, floor, assembly.links)
    feet = feet_of(assembly, recording.markers, marked or {}, [body for body, _ in pairs])
    found = standing(floor, pairs, feet, measured.time, threshold)
    # A recording that was turned stands as the robot does; one that wasn't must show so by its plates.
    require_upright(floor, pairs, found, None if by_file or up is not None else stands)
    loads = joint_loads(moving, measured, external=found.wrenches)
    warn_unassigned(found, floor, loads.frames)
    warn_untared(floor, THRESHOLD if by_file else threshold)
    if marked and up is None and stands is not None:
        _tell_lying(loads, stands)
    turned = None if up is None or stands is None else {"recording": up, "robot": stands}
    done = {**done, "threshold": threshold}
    return InverseDynamicsResult(
        loads, measured, recording, floor, tuple(found.contacts), done, turned, marked
    )


def _forces(
    external: Sequence[tuple[str, str]] | Mapping[str, str] | FileName,
    plates: Recording | FileName | None,
    times: FloatArray,
    smoothed: Smoothing,
) -> tuple[Recording | FileName | None, Sequence[tuple[str, str]]]:
    """The recording that has the plates, and bodies with theirs. OpenSim's external loads have both, at these times."""
    if not isinstance(external, (str, os.PathLike)):
        return plates, _pairs(external)
    if plates is not None:
        message = (
            f"'{os.fspath(external)}' names the file of its forces, and `plates` (--plates) names another one"
        )
        raise InputError(message, key="external", hint="leave one of them out")
    from trundle.limbs.capture.external_loads import external_loads

    return external_loads(path_of(external, "inverse"), times if smoothed.name == "none" else None)


def _part(recording: Recording, start: float | str | None, end: float | str | None) -> Recording:
    """The recording from one time to another, where they are named."""
    if start is None and end is None:
        return recording
    first, last = recording.time[[0, -1]].tolist()
    first = first if start is None else number(start, "start", "s")
    return recording.between(first, last if end is None else number(end, "end", "s"))


def _without_ends(recording: Recording, forces: Sequence[PlateForces]) -> Recording:
    """The recording without the few samples at which no force was recorded; with more of them as it is."""
    first = max((float(force.time[0]) for force in forces), default=-np.inf)
    last = min((float(force.time[-1]) for force in forces), default=np.inf)
    time = recording.time
    lost = time.size - int(within(time, first, last).sum())
    if not 0 < lost <= max(_FEW, _SMALL_PART * time.size) or lost == time.size:
        return recording
    span = f"{first:g} to {last:g} s"
    warn(f"the motion's forces were recorded from {span}: {counted(lost, 'sample')} beyond are left out")
    return recording.between(first, last)


def _during(motion: JointMotion, times: FloatArray) -> JointMotion:
    """A motion at these of its times alone."""
    at = np.isin(motion.time, times)
    tables = ("time", "positions", "velocities", "accelerations")
    errors = {name: off[at] for name, off in motion.marker_errors.items()}
    return replace(motion, **{name: getattr(motion, name)[at] for name in tables}, marker_errors=errors)


def _tell_lying(loads: Loads, stands: str) -> None:
    """Warn of a free base whose own axis that is up is level or below on average: laboratories have other axes up."""
    axis = "xyz".index(stands)
    turned = np.asarray(loads.frames["base"].rotation(frame=loads.world))
    if turned.ndim == 3 and float(turned[:, axis, axis].mean()) < _LYING:
        other = {"y": "z", "z": "y"}[stands]
        warn(
            f"the base lies on its side on average, as gravity is along {stands}: is {other} up in the recording? "
            f'up="{other}" (--up {other}) turns it'
        )


def _require_fit(motion: JointMotion, within: float) -> None:
    """Raise NumericsError where markers are farther off than that (m, root mean square)."""
    fit = fit_of(motion)
    if fit is not None and float(fit["rms"]) > within:
        raise NumericsError(
            f"the markers are {1e3 * float(fit['rms']):.3g} mm off (root mean square), more than {1e3 * within:g} mm, "
            f"most {fit['worst']}, by {1e3 * float(fit['largest']):.3g} mm at {fit['time']:.4g} s: are their unit, "
            "their axes (up, --up), their names and the lengths right? A larger max_marker_rms (--max-marker-rms) "
            "accepts worse fits"
        )


def _pairs(external: Sequence[tuple[str, str]] | Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Bodies and what pushes them; InputError for anything but names."""
    given = tuple(external.items()) if isinstance(external, Mapping) else external
    hint = 'such as {"foot": "plate1"}'
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"expected bodies with their plates, got {came(given)}", key="external", hint=hint)
    for pair in given:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(x, str) for x in pair)):
            message = f"expected a body's name and a plate's, got {came(pair)}"
            raise InputError(message, key="external", hint=hint)
    return tuple((body, plate) for body, plate in given)


def _recording(
    motion: Recording | FileName | Mapping[str, npt.ArrayLike], literal: bool = False
) -> Recording:
    """What a path leads to, its rounded times even again or `literal`; or what came."""
    if isinstance(motion, (str, os.PathLike)):
        return read_recording(motion, times="literal" if literal else "even")
    return as_recording(motion)


def _turned(recording: Recording, up: str | None, robots: str | None) -> Recording:
    """The recording as the robot stands, where it is said how it was made."""
    if up is None:
        return recording
    if robots is None:
        hint = "give the description its gravity, such as gravity: [0, -9.81, 0]"
        raise InputError("the robot's gravity is along neither -y nor -z", key="up", hint=hint)
    return recording.turned(up, robots)

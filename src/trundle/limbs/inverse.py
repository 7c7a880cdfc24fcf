"""`inverse`: from what was measured of a motion to the loads in a robot's joints, and what lies between."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import numpy.typing as npt

from trundle.arrays import as_numbers
from trundle.errors import InputError, NumericsError, choose, require_known
from trundle.expected import a_kind, came
from trundle.frozen import Brief
from trundle.limbs.capture.assigned_plates import (
    Contact,
    PlateForces,
    by_name,
    feet_of,
    floor_of,
    require_plates,
    require_upright,
    standing,
    tell_lonely,
)
from trundle.limbs.capture.cycles import Cycles, contacts, cycles
from trundle.limbs.capture.force_plates import THRESHOLD
from trundle.limbs.capture.gaps import Gaps
from trundle.limbs.capture.ground_reactions import ground_reactions
from trundle.limbs.capture.joint_motion import JointMotion, as_recording, joint_motion, moving_of
from trundle.limbs.capture.marker_model import Markers, read_markers
from trundle.limbs.capture.recording import Recording
from trundle.limbs.capture.recording_files import read_recording
from trundle.limbs.capture.smoothing import Smoothing
from trundle.limbs.clinical import clinical
from trundle.limbs.gait import Floor, Gait, gait
from trundle.limbs.loads.joint_loads import joint_loads
from trundle.limbs.loads.loads import Loads
from trundle.model.arguments import Given, number, opened
from trundle.results import Run
from trundle.robot import Robot
from trundle.wrenches import Breakdown

FileName = str | os.PathLike[str]

# How far (m) a joint may move on a body and still stand still there: rounding leaves 1e-13 m on a kilometre.
_STILL = 1e-9
# Gravity is along an axis where this share of it is: up to 2.6 degrees off, which no second axis comes near.
_ALONG = 0.999
# Markers on skin move by a few centimetres on their bone (Leardini et al. 2005: up to 40 mm on a thigh). A fit that is
# farther off is of other units, axes, names or of another person.
FIT = 0.05
# The mean of cycles and its band take two whole ones: three events.
_LEAST_STARTS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Inverse(Brief):
    """The loads in a robot's joints, the motion that needs them, and the recording that it came from.

    `trundle.inverse` makes it.

    Parameters
    ----------
    loads : Loads
        The wrench through every joint.
    motion : JointMotion
        Coordinates, speeds and their rates.
    recording : Recording
        What was measured, in axes whose up is the robot's.
    plates : tuple of ForcePlate and GroundReaction
        What was pushed on, in the same axes and smoothed as asked; those of `plates` where these came in a recording of
        their own.
    contacts : tuple of Contact
        Which body stood on which plate, from when to when, and how that is known.
    plates_done : mapping
        What was done to the plates, as plain data: `smoothing`, `times`, `threshold` (N).
    up : mapping of str to str, optional
        Which axis was up in the `recording` and is for the `robot`, where this was asked for.
    markers : mapping, optional
        By a marker's name the body that carries it and its place there, where the motion came from markers.
    """

    loads: Loads
    motion: JointMotion
    recording: Recording
    plates: tuple[PlateForces, ...] = ()
    contacts: tuple[Contact, ...] = ()
    plates_done: Mapping[str, object] = field(default_factory=dict)
    up: Mapping[str, str] | None = None
    markers: Markers | None = None

    @property
    def fit(self) -> Mapping[str, float | str] | None:
        """How far markers are from where they were seen: `rms` (m), the `worst`, its `largest` (m) and `time` (s).

        None where the motion came from coordinates.
        """
        return _fit(self.motion)

    def to_run(self, in_: str = "child", mass: float | str | None = None) -> Run:
        """The loads as a run, whose summary tells the recording's events, its file, the fit of markers and the axes.

        Parameters
        ----------
        in_ : str, optional
            In whose axes wrenches are: "child", "parent", "world", or a body by its name.
        mass : float or str, kg, optional
            What forces, moments and powers are divided by.

        Returns
        -------
        Run
            A column a component, such as "knee.moment_y" (N m) and "knee.power" (W).

        Raises
        ------
        InputError
            There is no such frame, or the mass isn't positive.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> swing = {"time": np.linspace(0, 1, 11), "link_1.angle": np.zeros(11)}
        >>> trundle.inverse(trundle.catalog.pendulum(links=1), swing).to_run().summary["frame"]
        'child'
        """
        run = self.loads.to_run(in_, mass)
        told: dict[str, object] = {
            "events": {name: list(times) for name, times in self.recording.events.items()},
            "motion": self.recording.source,
            "marker_fit": self.fit,
            "plates": {**self.plates_done, "contacts": [asdict(contact) for contact in self.contacts]}
            if self.plates
            else None,
            "up": None if self.up is None else dict(self.up),
        }
        return replace(run, summary={**run.summary, **told})

    def cycles(
        self, at: str | Sequence[float], run: Run | None = None, threshold: float = THRESHOLD
    ) -> Cycles:
        """The loads' cycles: cut at an event, at a plate's contacts or at times, those that lie in the motion.

        Parameters
        ----------
        at : str or sequence of float, s
            An event of the recording, a plate or ground reaction (also "plate1", "plate2", …), or times.
        run : Run, optional
            What is cut: by default `to_run()`.
        threshold : float, N, optional
            The least force on a plate that counts as contact.

        Returns
        -------
        Cycles

        Raises
        ------
        InputError
            There is no such event or plate, or fewer than two whole cycles.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> swing = {"time": t, "link_1.angle": np.sin(2 * np.pi * t)}
        >>> len(trundle.inverse(trundle.catalog.pendulum(links=1), swing).cycles([0, 1, 2, 3]))
        3
        """
        run = self.to_run() if run is None else a_kind(run, Run, "run")
        starts = self._starts(at, threshold) if isinstance(at, str) else as_numbers(at, "at").ravel().tolist()
        whole = [start for start in starts if run.time[0] <= start <= run.time[-1]]
        if len(whole) < _LEAST_STARTS:
            message = f"an average takes two whole cycles, so three events; {len(whole)} are in the recording"
            hint = "times do as well: [0.2, 1.4, 2.6] (--cycles 0.2,1.4,2.6)"
            raise InputError(message, key="cycles", hint=hint)
        return cycles(run, whole)

    def _starts(self, name: str, threshold: float) -> Sequence[float]:
        """When an event happened, or when a plate was stepped on."""
        if name in self.recording.events:
            return self.recording.events[name]
        known = by_name(self.plates)
        if name in known:
            plate = known[name]
            return contacts(plate.time, plate.pressing, threshold)[:, 0].tolist()
        there = [*self.recording.events, *known]
        hint = choose(name, there) if there else "it has none: give the times, such as 0.2,1.4,2.6"
        raise InputError(f"the recording has no event {name!r}", key="cycles", hint=hint)

    def gait(
        self,
        by: str = "auto",
        *,
        mass: float | str | None = None,
        height: float | str | None = None,
        external: bool = False,
        movements: Mapping[str, str] | None = None,
        threshold: float = THRESHOLD,
    ) -> Gait:
        """The walk in cycles from strike to strike, by side: angles, moments and powers by their anatomical names,
        means and deviations, times and lengths of steps, and the work of joints by phase.

        Parameters
        ----------
        by : "auto", "recording", "plates" or "markers", optional
            What tells when feet meet the ground and leave it: the recording's events (C3D's "Right Foot Strike"), the
            forces on feet, or markers of heels and toes beside the pelvis (Zeni et al. 2008). By default the first of
            these with a whole cycle.
        mass : float or str, kg, optional
            What moments and powers are divided by.
        height : float or str, m, optional
            What moments are divided by, too.
        external : bool, optional
            Whether moments are the external ones.
        movements : mapping of str to str, optional
            Anatomical names by joint, as `trundle.clinical` takes them.
        threshold : float, N, optional
            A foot meets the ground where its force rises above this, and leaves it where it falls below half of it.

        Returns
        -------
        Gait

        Raises
        ------
        InputError
            No joint has an anatomical name; nothing tells two strikes of one foot.

        Warns
        -----
        UserWarning
            A foot's force isn't known over the whole stance of some cycles: they don't count for moments and powers.

        References
        ----------
        Zeni, Richards & Higginson 2008, Gait & Posture 27:710; Perry 1992, Gait Analysis, of phases.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 4, 401)
        >>> swing = {"time": t, "link_1.angle": np.sin(2 * np.pi * t)}
        >>> events = {"Left Foot Strike": (0.5, 1.5, 2.5)}
        >>> recording = trundle.Recording(t, channels={"link_1.angle": swing["link_1.angle"]}, events=events)
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), recording)
        >>> arm.gait(movements={"link_1": "left hip flexion"}).spans["left"]
        array([[0.5, 1.5],
               [1.5, 2.5]])
        """
        run = clinical(self.to_run(mass=mass), movements=movements, external=external, height=height)
        # Events are those of what was measured: smoothing spreads a step over its neighbours.
        measured = by_name((*self.recording.plates, *ground_reactions(self.recording)))
        floor = Floor(by_name(self.plates) | measured, self.contacts)
        return gait(self.loads, self.recording, floor, self.markers or {}, run, movements, by, threshold)

    def breakdown(self, body: str, observer: str, joint: str) -> Breakdown:
        """The body's balance as another body sees it from a joint that rides on it, about the first body's joint.

        Parameters
        ----------
        body : str
            Whose balance is split; a joint's name means the body that it carries.
        observer : str
            The body, or joint, whose frame looks on.
        joint : str
            Where on the observer the split has its origin: its own joint, or one that it carries.

        Returns
        -------
        Breakdown

        Raises
        ------
        InputError
            There is no such body or joint, or the joint moves about on the observer.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> t = np.linspace(0, 1, 11)
        >>> swing = {"time": t, "link_1.angle": t, "link_2.angle": -t}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=2), swing)
        >>> list(arm.breakdown("link_2", "link_1", "link_2").terms)[:2]
        ['d_alembert', 'euler']
        """
        for key, name in (("body", body), ("observer", observer), ("joint", joint)):
            require_known(name, self.loads.frames, f"there is no body or joint {name!r}", key=key)
        frame = self.loads.frames[observer]
        places = self.loads.frames[joint].origin.position(relative_to=frame.origin, in_=frame)
        if np.ptp(places, axis=0).max() > _STILL:
            hint = "an observer's origin rides with it: its own joint, or one that it carries"
            raise InputError(f"{joint!r} moves about on {observer!r}", key="observer", hint=hint)
        split = self.loads.breakdown(body, observer=frame, origin=frame.point(joint, places[0]))
        return split.at(self.loads.frames[body].origin)


def inverse(
    robot: Given,
    motion: Recording | FileName | Mapping[str, npt.ArrayLike],
    *,
    markers: Markers | FileName | None = None,
    smoothing: Smoothing | str | Mapping[str, object] = "none",
    marker_smoothing: Smoothing | str | Mapping[str, object] | None = None,
    plate_smoothing: Smoothing | str | Mapping[str, object] = "none",
    gaps: Gaps | str | Mapping[str, object] | None = None,
    external: Sequence[tuple[str, str]] | Mapping[str, str] = (),
    plates: Recording | FileName | None = None,
    up: str | None = None,
    threshold: float = THRESHOLD,
    fit_within: float | str = FIT,
    base: str | None = None,
    progress: bool = True,
) -> Inverse:
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
        Of the coordinates, as `trundle.smoothing` takes it; none by default.
    marker_smoothing : Smoothing, str or mapping, optional
        Of the markers, before bodies are posed by them.
    plate_smoothing : Smoothing, str or mapping, optional
        Of the plates' forces and moments, at their own rate: "butterworth" with the coordinates' cut-off, or higher.
    gaps : Gaps, str or mapping, optional
        "spline" or "linear" fills gaps of up to 0.2 s, {"rule": "spline", "longest": s} longer ones; by default they
        are refused.
    external : mapping of str to str, or sequence of pairs, optional
        By a body's name the force plate or ground reaction that pushes it, by its name or as "plate1", "plate2", …
        Of plates that aren't named the foot is found by its markers, contact by contact: a foot is the last body of a
        limb that has markers. A plate that is named with several bodies pushes the nearest of these.
    plates : Recording or path, optional
        A recording that has the plates or ground reactions, if the motion's has none.
    up : "y" or "z", optional
        Which axis is up in the recordings: they are turned as the robot stands, by its gravity.
    threshold : float, N, optional
        The least force on a plate that counts: below it noise gives no centre of pressure.
    fit_within : float or str, m, optional
        How far markers may be off, as a root mean square over all of them; by default 50 mm.
    progress : bool, optional
        Whether to show a bar for long recordings where a person watches.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Inverse
        The loads, the motion, the recording, and the fit of the markers.

    Raises
    ------
    InputError
        A file can't be read; what `trundle.joint_motion` and `trundle.joint_loads` refuse; a plate that isn't there,
        or pushes along another axis than the robot's gravity; two feet on one plate at a time; feet that are as near to
        a plate's centre of pressure as another; `up` for a robot whose gravity is along neither -y nor
        -z.
    NumericsError
        The markers' fit is worse than `fit_within`: no loads of it mean anything.

    Warns
    -----
    UserWarning
        A plate is pushed on, and neither `external` nor markers tell by which body: the loads leave its force out. Or
        the body that `external` names is far from where the plate pushes.

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
    stands = _up_of(moving.mechanism.robot)
    recording = _turned(_recording(motion), up, stands)
    marked = read_markers(markers) if isinstance(markers, (str, os.PathLike)) else markers
    measured = joint_motion(
        recording,
        moving,
        markers=marked,
        gaps=gaps,
        smoothing=smoothing,
        marker_smoothing=marker_smoothing,
        progress=progress,
    )
    _require_fit(measured, number(fit_within, "fit_within", "m"))
    pushing = recording if plates is None else _turned(_recording(plates), up, stands)
    floor, done = floor_of((*pushing.plates, *ground_reactions(pushing)), plate_smoothing, measured.time)
    pairs, assembly = _pairs(external), moving.mechanism.assembly
    require_plates(pairs, floor, assembly.links)
    feet = feet_of(assembly, recording.markers, marked or {}, [body for body, _ in pairs])
    found = standing(floor, pairs, feet, measured.time, threshold)
    # A recording that was turned stands as the robot does; one that wasn't must show so by its plates.
    require_upright(floor, pairs, found, None if up is not None else stands)
    loads = joint_loads(moving, measured, external=found.wrenches)
    tell_lonely(found, floor, loads.frames)
    turned = None if up is None or stands is None else {"recording": up, "robot": stands}
    done = {**done, "threshold": threshold}
    return Inverse(loads, measured, recording, floor, tuple(found.contacts), done, turned, marked)


def _fit(motion: JointMotion) -> Mapping[str, float | str] | None:
    """See `Inverse.fit`."""
    if not motion.marker_errors:
        return None
    off = np.array(list(motion.marker_errors.values()))
    worst, sample = np.unravel_index(np.nanargmax(off), off.shape)
    return {
        "rms": float(np.sqrt(np.nanmean(off**2))),
        "worst": list(motion.marker_errors)[worst],
        "largest": float(off[worst, sample]),
        "time": float(motion.time[sample]),
    }


def _require_fit(motion: JointMotion, within: float) -> None:
    """Raise NumericsError where markers are farther off than that (m, root mean square)."""
    fit = _fit(motion)
    if fit is not None and float(fit["rms"]) > within:
        raise NumericsError(
            f"the markers are {1e3 * float(fit['rms']):.3g} mm off (root mean square), more than {1e3 * within:g} mm, "
            f"most {fit['worst']}, by {1e3 * float(fit['largest']):.3g} mm at {fit['time']:.4g} s: are their unit, "
            "their axes (up, --up), their names and the lengths right? fit_within (--fit-within) takes worse fits"
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


def _recording(motion: Recording | FileName | Mapping[str, npt.ArrayLike]) -> Recording:
    """What a path leads to, or what came."""
    if isinstance(motion, (str, os.PathLike)):
        return read_recording(motion)
    return as_recording(motion)


def _up_of(robot: Robot) -> str | None:
    """Which of the axes y and z is up for a robot, by its gravity; None where neither is."""
    _, y, z = g = [float(part) for part in robot.resolver(robot.parameter_values()).gravity()]
    least = _ALONG * math.hypot(*g)
    return "y" if y < -least else "z" if z < -least else None


def _turned(recording: Recording, up: str | None, robots: str | None) -> Recording:
    """The recording as the robot stands, where it is said how it was made."""
    if up is None:
        return recording
    if robots is None:
        hint = "give the description its gravity, such as gravity: [0, -9.81, 0]"
        raise InputError("the robot's gravity is along neither -y nor -z", key="up", hint=hint)
    return recording.turned(up, robots)

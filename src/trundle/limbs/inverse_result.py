"""`InverseDynamicsResult`: the loads in a robot's joints with all that lies between them and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from trundle.arrays import as_numbers
from trundle.errors import InputError, choose, require_known
from trundle.expected import check_type
from trundle.frozen import Brief
from trundle.limbs.bands import Bands
from trundle.limbs.capture.assigned_plates import (
    PlateContact,
    PlateForces,
    by_name,
    require_read,
)
from trundle.limbs.capture.cycles import Cycles, contacts, time_normalize
from trundle.limbs.capture.force_plates import THRESHOLD
from trundle.limbs.capture.ground_reactions import ground_reactions
from trundle.limbs.capture.joint_motion import JointMotion
from trundle.limbs.capture.marker_model import Markers
from trundle.limbs.capture.recording import Recording
from trundle.limbs.clinical import clinical
from trundle.limbs.gait import Gait
from trundle.limbs.gait_segmentation import Floor, gait
from trundle.limbs.loads.loads import Loads
from trundle.results import Run
from trundle.wrenches import Breakdown

# How far (m) a joint may move on a body and still stand still there: rounding leaves 1e-13 m on a kilometre.
_STILL = 1e-9
# The mean of cycles and its band take two whole ones: three events.
_LEAST_STARTS = 3


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamicsResult(Brief):
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
    contacts: tuple[PlateContact, ...] = ()
    plates_done: Mapping[str, object] = field(default_factory=dict)
    up: Mapping[str, str] | None = None
    markers: Markers | None = None

    @property
    def fit(self) -> Mapping[str, float | str] | None:
        """How far markers are from where they were seen: `rms` (m), the `worst`, its `largest` (m) and `time` (s).

        None where the motion came from coordinates.
        """
        return fit_of(self.motion)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The recording's markers that are on no body, and so pose nothing; none where coordinates are the motion."""
        known = {} if self.markers is None else self.markers
        return tuple(name for name in self.recording.markers if name not in known) if known else ()

    def uncertainty(
        self,
        marker_noise: float | str | None = "residuals",
        segments: str | Mapping[str, Mapping[str, float]] | None = "published",
        sex: str | None = None,
        progress: bool = True,
    ) -> Bands:
        """What noise of markers and deviations of segments' parameters do to net joint moments, by exact sensitivities.

        δτ = Σ_t ∂τ/∂q⁽ᵃ⁾ S⁽ᵃ⁾ ∂q/∂y δy + ∂τ/∂p δp: through inverse kinematics, smoothing, speeds and inverse dynamics.

        Parameters
        ----------
        marker_noise : float or str, m, optional
            The standard deviation of a marker's coordinate, independent in time. "residuals" estimates it by how far
            markers are off the fit; None leaves it out.
        segments : str or mapping, optional
            "published": what Zatsiorsky & Seluyanov (1983) found masses, centres and moments of inertia to be off from
            what mass and height say, for bodies called as segments. Or by body {"mass": kg, "center": m, "inertia":
            share}; None leaves them out.
        sex : {"female", "male"}, optional
            Whose published deviations; by default the larger of both.
        progress : bool, optional
            Whether to show a bar for long motions where a person watches.

        Returns
        -------
        Bands

        Raises
        ------
        InputError
            There are no markers for their noise, or no segments by such names; the smoothing isn't linear; the robot
            has closed loops.

        References
        ----------
        Zatsiorsky & Seluyanov 1983, The mass and inertia characteristics of the main segments of the human body.

        Examples
        --------
        >>> import numpy as np, trundle
        >>> held = {"time": np.arange(6.0), "link_1.angle": np.full(6, np.pi / 2)}
        >>> arm = trundle.inverse(trundle.catalog.pendulum(links=1), held)
        >>> arm.uncertainty(None, {"link_1": {"mass": 0.1}}).deviation("link_1.net")[0].round(4)
        np.float64(0.2453)
        """
        from trundle.limbs.uncertainty import uncertainty

        return uncertainty(self, marker_noise, segments, sex, progress)

    def to_run(self, frame: str = "child", mass: float | str | None = None) -> Run:
        """The loads as a run, whose summary tells the recording's events, its file, the fit of markers and the axes.

        Parameters
        ----------
        frame : str, optional
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
        run = self.loads.to_run(frame, mass)
        told: dict[str, object] = {
            "events": {name: list(times) for name, times in self.recording.events.items()},
            "motion": self.recording.source,
            "marker_fit": self.fit,
            "markers_left_out": list(self.left_out),
            "plates": {**self.plates_done, "contacts": [asdict(contact) for contact in self.contacts]}
            if self.plates
            else None,
            "up": None if self.up is None else dict(self.up),
        }
        return replace(run, summary={**run.summary, **told})

    def time_normalize(
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
        >>> len(trundle.inverse(trundle.catalog.pendulum(links=1), swing).time_normalize([0, 1, 2, 3]))
        3
        """
        run = self.to_run() if run is None else check_type(run, Run, "run")
        starts = self._starts(at, threshold) if isinstance(at, str) else as_numbers(at, "at").ravel().tolist()
        whole = [start for start in starts if run.time[0] <= start <= run.time[-1]]
        if len(whole) < _LEAST_STARTS:
            message = f"an average takes two whole cycles, so three events; {len(whole)} are in the recording"
            hint = "times do as well: [0.2, 1.4, 2.6] (--cycles 0.2,1.4,2.6)"
            raise InputError(message, key="cycles", hint=hint)
        return time_normalize(run, whole)

    def _starts(self, name: str, threshold: float) -> Sequence[float]:
        """When an event happened, or when a plate was stepped on."""
        if name in self.recording.events:
            return self.recording.events[name]
        known = by_name(self.plates)
        if name in known:
            plate = known[name]
            return contacts(plate.time, plate.pressing, threshold)[:, 0].tolist()
        require_read(self.recording, [("", name)])
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
        bands: Bands | None = None,
    ) -> Gait:
        """The walk in cycles from strike to strike, by side: angles, moments and powers by their anatomical names,
        means and deviations, times and lengths of steps, and the work of joints by phase.

        The pelvis has its tilt, obliquity and rotation against the room and the way that the feet point, turned in the
        order rotation, obliquity, tilt (Baker 2001): forward, this side up and this side ahead are positive.

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
        bands : Bands, optional
            What `uncertainty` gave: mean moments get bands of 95 % by it, in `Gait.bands`, tables and figures.

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
        Zeni, Richards & Higginson 2008, Gait & Posture 27:710; Perry 1992, Gait Analysis, of phases; Baker 2001, Gait &
        Posture 13:1, of the pelvis.

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
        markers = self.markers or {}
        return gait(
            self.loads,
            self.recording,
            floor,
            markers,
            run,
            movements=movements,
            by=by,
            threshold=threshold,
            bands=None if bands is None else check_type(bands, Bands, "bands", "uncertainty(…) gives them"),
        )

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
        places = self.loads.frames[joint].origin.position(relative_to=frame.origin, frame=frame)
        if np.ptp(places, axis=0).max() > _STILL:
            hint = "an observer's origin rides with it: its own joint, or one that it carries"
            raise InputError(f"{joint!r} moves about on {observer!r}", key="observer", hint=hint)
        split = self.loads.breakdown(body, observer=frame, origin=frame.point(joint, places[0]))
        return split.at(self.loads.frames[body].origin)


def fit_of(motion: JointMotion) -> Mapping[str, float | str] | None:
    """See `InverseDynamicsResult.fit`."""
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

"""What `trundle inverse` is asked for: options as calls of the library, whose errors name the options then."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from trundle.cli.request import read_request
from trundle.errors import InputError, choose, suggest

if TYPE_CHECKING:
    from trundle.arrays import FloatArray
    from trundle.limbs.capture.cycles import Cycles
    from trundle.limbs.capture.force_plates import ForcePlate
    from trundle.limbs.capture.ground_reactions import GroundReaction
    from trundle.limbs.capture.joint_motion import JointMotion
    from trundle.limbs.capture.recording import Recording
    from trundle.limbs.capture.smoothing import Smoothing
    from trundle.limbs.loads.loads import Loads
    from trundle.results import Run
    from trundle.robot import Robot
    from trundle.wrenches import Breakdown, Wrench

    Plate = ForcePlate | GroundReaction
    Up = str | None

# What the library calls what an option gives.
_OPTIONS = {
    "smoothing": "--smooth",
    "marker_smoothing": "--smooth-markers",
    "gaps": "--gaps",
    "in_": "--frame",
    "mass": "--mass",
    "external": "--external",
    "threshold": "--threshold",
}
# How far (m) a joint may move on a body and still stand still there but for rounding.
_STILL = 1e-9
# Gravity is along an axis if so much of it is.
_ALONG = 0.999


@dataclass(frozen=True)
class Answer:
    """The loads, the motion that needs them, and the recording that it came from."""

    loads: Loads
    motion: JointMotion
    recording: Recording
    plates: tuple[Plate, ...]
    up: Up

    def run(self, args: Namespace) -> Run:
        """The loads as a run, in the frame and over the mass that were asked for, with the recording's events."""
        run = self.loads.to_run(args.frame, args.mass)
        events = {name: list(times) for name, times in self.recording.events.items()}
        told = {"events": events, "motion": self.recording.source, "marker_fit": _fit(self.motion)}
        told |= {"up": {"recording": args.up, "robot": self.up} if args.up else None}
        return replace(run, summary={**run.summary, **told})

    def cycles(self, run: Run, args: Namespace) -> Cycles | None:
        """The run's cycles, where they were asked for: those that lie in it."""
        from trundle.limbs.capture.cycles import cycles

        if not args.cycles:
            return None
        starts = _starts(args.cycles, self.recording, self.plates, args.threshold)
        whole = [each for each in starts if run.time[0] <= each <= run.time[-1]]
        if len(whole) < 3:
            message = f"an average takes two whole cycles, so three events; {len(whole)} are in the recording"
            raise InputError(message, key="--cycles", hint="--cycles 0.2,1.4,2.6 names their times")
        return cycles(run, whole)


def answer(args: Namespace, progress: bool) -> Answer:
    """Read the files that the options name, and work out the loads."""
    from trundle.limbs.capture.ground_reactions import ground_reactions
    from trundle.limbs.capture.joint_motion import joint_motion
    from trundle.limbs.capture.marker_file import read_markers
    from trundle.limbs.capture.recording_files import read_recording
    from trundle.limbs.loads.joint_loads import joint_loads

    request = read_request(args.file)
    robot, up = request.kept or request.document.robot, _robots_up(request.document.robot)
    recording = _turned(read_recording(args.motion), args.up, up)
    earlier = _smoothing(args.smooth_markers, "--smooth-markers") if args.smooth_markers else None
    motion = joint_motion(
        recording,
        robot,
        markers=read_markers(args.markers) if args.markers else None,
        gaps=_gaps(args.gaps),
        smoothing=_smoothing(args.smooth, "--smooth"),
        marker_smoothing=earlier,
        progress=progress,
    )
    pushing = _turned(read_recording(args.plates), args.up, up) if args.plates else recording
    plates = (*pushing.plates, *ground_reactions(pushing))
    external = [*_external(args, plates, motion.time, up)]
    with request.located():
        return Answer(joint_loads(robot, motion, external=external), motion, recording, plates, up)


def _fit(motion: JointMotion) -> Mapping[str, float | str] | None:
    """How far markers are from where they were seen (m): all of them, and the worst with its time."""
    import numpy as np

    if not motion.marker_errors:
        return None
    off = np.array(list(motion.marker_errors.values()))
    worst, k = np.unravel_index(np.nanargmax(off), off.shape)
    return {
        "rms": float(np.sqrt(np.nanmean(off**2))),
        "worst": list(motion.marker_errors)[worst],
        "largest": float(off[worst, k]),
        "time": float(motion.time[k]),
    }


def _starts(text: str, recording: Recording, plates: tuple[Plate, ...], threshold: float) -> Sequence[float]:
    """When cycles begin: an event by its name, when a plate is stepped on, or times with commas between them."""

    from trundle.limbs.capture.cycles import contacts

    if text in recording.events:
        return recording.events[text]
    known = _named_plates(plates)
    if text in known:
        plate = known[text]
        return contacts(plate.time, plate.pressing, threshold)[:, 0].tolist()
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        there = [*recording.events, *known]
        hint = choose(text, there) if there else "it has none: give the times, such as 0.2,1.4,2.6"
        raise InputError(f"the recording has no event {text!r}", key="--cycles", hint=hint) from None


@contextmanager
def options_named() -> Iterator[None]:
    """Errors about what an option gave name the option."""
    try:
        yield
    except InputError as error:
        section, _, rest = (error.key or "").partition(".")
        if error.file is None and section in _OPTIONS:
            key = f"{_OPTIONS[section]} {rest}".rstrip()
            raise InputError(error.message, key=key, hint=error.hint) from None
        raise


def breakdown(loads: Loads, args: Namespace) -> Breakdown | None:
    """The split that was asked for, of a body by an observer, about the body's joint."""
    import numpy as np

    if not (args.breakdown or args.observer):
        return None
    if not (args.breakdown and args.observer):
        option = "--observer" if args.breakdown else "--breakdown"
        hint = "--breakdown shank --observer thigh@knee: the origin counts, so it isn't guessed"
        raise InputError("a breakdown needs a body and who observes it", key=option, hint=hint)
    frame, mark, joint = args.observer.partition("@")
    if not mark:
        hint = f"{frame}@JOINT, where the split's origin is"
        raise InputError("an observer needs a frame and an origin", key="--observer", hint=hint)
    for key, name in (("--breakdown", args.breakdown), ("--observer", frame), ("--observer", joint)):
        if name not in loads.frames:
            raise InputError(f"there is no body or joint {name!r}", key=key, hint=suggest(name, loads.frames))
    observer = loads.frames[frame]
    places = loads.frames[joint].origin.position(relative_to=observer.origin, in_=observer)
    if np.ptp(places, axis=0).max() > _STILL:
        hint = "an observer's origin rides with it: its own joint, or one that it carries"
        raise InputError(f"{joint!r} moves about on {frame!r}", key="--observer", hint=hint)
    origin = observer.point(joint, places[0])
    split = loads.breakdown(args.breakdown, observer=observer, origin=origin)
    return split.at(loads.frames[args.breakdown].origin)


def _robots_up(robot: Robot) -> Up:
    """Which of the axes y and z is up for a robot, by its gravity; None where neither is."""
    _, y, z = g = [float(each) for each in robot.resolver(robot.parameter_values()).gravity()]
    least = _ALONG * math.hypot(*g)
    return "y" if y < -least else "z" if z < -least else None


def _turned(recording: Recording, up: Up, robots: Up) -> Recording:
    """The recording as the robot stands, where --up says how it was made."""
    if up is None:
        return recording
    if robots is None:
        hint = "give the description its gravity, such as gravity: [0, -9.81, 0]"
        raise InputError("the robot's gravity is along neither -y nor -z", key="--up", hint=hint)
    return recording.turned(up, robots)


def _require_upright(plate: Plate, robots: Up) -> None:
    """InputError where a plate faces along y and the robot's gravity is along z, or the other way round."""
    import numpy as np

    faces = "xyz"[int(np.abs(plate.normal).argmax())]
    if plate.normal.any() and {faces, robots} == {"y", "z"}:
        message = f"'{plate.name}' pushes along {faces}, and the robot's gravity is along {robots}"
        hint = f"--up {faces} turns the recordings so that their {faces} is up; --up {robots} leaves them as they are"
        raise InputError(message, key="--external", hint=hint)


def _named_plates(plates: tuple[Plate, ...]) -> dict[str, Plate]:
    """Plates by their names, and as plate1, plate2, … in the file's order."""
    numbered = {f"plate{k + 1}": each for k, each in enumerate(plates)}
    return {each.name: each for each in plates} | numbered


def _external(args: Namespace, plates: tuple[Plate, ...], times: FloatArray, up: Up) -> Iterator[Wrench]:
    from trundle.wrenches import Frame

    laboratory, known = Frame("laboratory"), _named_plates(plates)
    for body, name in args.external or ():
        if name not in known:
            hint = choose(name, known) if known else "--plates names a recording that has some"
            message = f"there is no force plate or ground reaction {name!r}"
            raise InputError(message, key="--external", hint=hint)
        if args.up is None:
            _require_upright(known[name], up)
        yield known[name].wrench(body, times=times, threshold=args.threshold, frame=laboratory)


def _smoothing(text: str, option: str) -> Smoothing:
    """METHOD, METHOD:NUMBER (its first) or METHOD:NAME=NUMBER,…"""
    from trundle.limbs.capture.smoothing import METHODS, smoothing

    method, _, numbers = text.partition(":")
    first = next((each.name for each in fields(METHODS[method])), "") if method in METHODS else ""
    return smoothing(method, **_numbers(numbers, first or "number", option))


def _gaps(text: str | None) -> Mapping[str, object] | None:
    """RULE:SECONDS"""
    if text is None:
        return None
    rule, _, longest = text.partition(":")
    return {"rule": rule, **_numbers(longest, "longest", "--gaps")}


def _numbers(text: str, first: str, option: str) -> dict[str, float]:
    """NUMBER or NAME=NUMBER with commas between them, by name."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.rpartition("=")
        try:
            found[name.strip() or first] = int(number) if number.strip().isdigit() else float(number)
        except ValueError:
            hint = "such as butterworth:6,order=4"
            raise InputError(f"expected a number, got {number.strip()!r}", key=option, hint=hint) from None
    return found

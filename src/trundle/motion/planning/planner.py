"""The coordinated planner: without slip from a twist to another one, or through several, as fast as its search can.

At every instant all modules agree with one rigid motion, and no limit is exceeded between samples either:
docs/planner.md says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.choices import INFEASIBLE, Infeasible
from trundle.errors import InputError, choose, no_attribute, require_known
from trundle.model.arguments import Given
from trundle.motion.drive.drive import Drive, Limits
from trundle.motion.drive.kinematics import Kinematics, kinematics, planned
from trundle.motion.pieces.motion import Motion, Piece
from trundle.motion.pieces.pieces import straight
from trundle.motion.pieces.profiles import Profile
from trundle.motion.planning.pose_plans import arc_to
from trundle.motion.planning.search import Candidate, Transition, nearest_turns, transition

# Start angles of a moving base agree with its twist to this share of its wheels' speed.
_AGREES = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Motion):
    """A motion that the planner chose, and the ways that it compared.

    Parameters
    ----------
    transitions : tuple of Transition
        One a target: its pieces and candidates.
    notes : tuple of str
        Targets that could not be had, and what was done instead; a start faster than the limits.
    """

    transitions: tuple[Transition, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[tuple[Candidate, ...], ...]:
        """All ways that were compared, target by target: the chosen one first, with their times and why others lost."""
        return tuple(part.candidates for part in self.transitions)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say what does the job of a name that is gone."""
            if name not in ("bound", "gap"):
                return object.__getattribute__(self, name)
            raise no_attribute("a plan", name, (), ".candidates are what it was compared with")


def plan(
    robot: Given | Kinematics,
    targets: npt.ArrayLike,
    *,
    start: npt.ArrayLike = (0.0, 0.0, 0.0),
    angles: npt.ArrayLike | None = None,
    limits: Limits | Mapping[str, Limits] | None = None,
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0),
    infeasible: Infeasible = "nearest",
) -> Plan:
    """The quickest motion of the search from a twist to another one, or through several, on wheels that all steer.

    min T such that ξ(0) = ξ₀, ξ(T) = ξ₁, s_i (cos α_i, sin α_i) = v + ω × r_i of every module at every instant, and
    α̇, α̈, α⃛, s, ṡ, s̈ are within its limits. Accelerations are zero at every target.

    Parameters
    ----------
    robot : Robot, Model, path, mapping or Kinematics
        With modules that steer about their centres.
    targets : array_like (3,) or (n, 3), m/s, m/s, rad/s
        v_x, v_y and ω in the body's frame, one after the other.
    start : array_like (3,), optional
        The twist at the start. Default: at rest.
    angles : array_like (m,), rad, optional
        Of the modules at the start, in the body's frame. Default: as the start's twist needs them, wheels that it
        doesn't move at zero (or the middle of their range).
    limits : Limits, or mapping of them by module, optional
        Default: those that the description declares.
    pose : tuple of three floats, optional
        x, y (m), θ (rad) at the start.
    infeasible : str, optional
        What to do instead of a target that a limit forbids: "hold" the twist, "stop", or the "nearest" twist: the same
        direction, slower.

    Returns
    -------
    Plan
        The motion, and its candidates.

    Raises
    ------
    InputError
        A wheel is not steered about its centre, an angle contradicts the start's twist or its range, or no limit is
        declared that steering or drives need.

    Examples
    --------
    >>> import trundle
    >>> limits = trundle.Limits(steering_rate=2, drive_speed=1, drive_acceleration=5)
    >>> quarter = trundle.plan(trundle.catalog.swerve(), (0, 1, 0), start=(1, 0, 0), limits=limits)
    >>> round(quarter.duration, 2)  # a quarter turn at 2 rad/s
    0.79
    """
    require_known(infeasible, INFEASIBLE, f"there is no policy {infeasible!r}", key="infeasible", hint=choose)
    wishes = _twists(targets, "targets")
    who, drive, twist, turned = _begun(robot, start, angles, limits)
    transitions: list[Transition] = []
    notes = _start_notes(drive, twist)
    for number, target in enumerate(wishes):
        wanted, note = _feasible(drive, twist, turned, target, infeasible)
        if note:
            notes.append(f"target {number + 1}: {note}")
        transitions.append(transition(drive, twist, wanted, turned))
        twist, turned = wanted, transitions[-1].end_angles
    pieces = tuple(piece for part in transitions for piece in part.pieces)
    pieces = pieces or (_standing(drive, twist, turned),)
    return Plan(who, pieces, pose, transitions=tuple(transitions), notes=tuple(notes))


def plan_to_pose(
    robot: Given | Kinematics,
    target: tuple[float, float, float],
    *,
    start: npt.ArrayLike = (0.0, 0.0, 0.0),
    angles: npt.ArrayLike | None = None,
    limits: Limits | Mapping[str, Limits] | None = None,
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Plan:
    """A motion to a pose, at rest there: brake, steer, and follow one twist along an arc.

    T₁ = T₀ exp(ξ̂): the twist whose arc leads to the pose keeps all wheels at one angle. It is followed as fast as the
    limits allow.

    Parameters
    ----------
    robot : Robot, Model, path, mapping or Kinematics
        With modules that steer about their centres.
    target : tuple of three floats
        x, y (m), θ (rad) in the world; θ may differ by whole turns.
    start : array_like (3,), optional
        The twist at the start. Default: at rest.
    angles : array_like (m,), rad, optional
        Of the modules at the start, as for `plan`.
    limits : Limits, or mapping of them by module, optional
        Default: those that the description declares.
    pose : tuple of three floats, optional
        x, y (m), θ (rad) at the start.

    Returns
    -------
    Plan
        The motion, and its candidates.

    Raises
    ------
    InputError
        As `plan`; or a pose that isn't three numbers; or a steering range that holds no angle for either arc.

    References
    ----------
    Lynch & Park 2017, "Modern Robotics", section 3.3.3: the logarithm of a rigid motion.

    Examples
    --------
    >>> import trundle
    >>> limits = trundle.Limits(steering_rate=2, drive_speed=1, drive_acceleration=5)
    >>> arc = trundle.plan_to_pose(trundle.catalog.swerve(), (1, 0.5, 2), limits=limits)
    >>> arc.poses(arc.duration).round(9).tolist()
    [[1.0, 0.5, 2.0]]
    """
    wanted, begin = _twists(target, "target")[0], tuple(_twists(pose, "pose")[0].tolist())
    who, drive, twist, turned = _begun(robot, start, angles, limits)
    arc = arc_to(who, drive, twist, turned, begin, wanted)
    pieces = arc.pieces or (_standing(drive, twist, turned),)
    notes = tuple(_start_notes(drive, twist))
    return Plan(who, pieces, begin, transitions=(arc,), notes=notes)


def _begun(
    robot: Given | Kinematics,
    start: npt.ArrayLike,
    angles: npt.ArrayLike | None,
    limits: Limits | Mapping[str, Limits] | None,
) -> tuple[Kinematics, Drive, FloatArray, FloatArray]:
    """Kinematics, modules with their limits, and the twist and the modules' angles at the start."""
    who = planned(robot if isinstance(robot, Kinematics) else kinematics(robot))
    drive = steered(who.drive.limited(limits), who.name)
    twist = _twists(start, "start")[0]
    return who, drive, twist, _start_angles(drive, twist, angles)


def steered(drive: Drive, robot: str) -> Drive:
    """The drive itself; InputError for wheels that don't steer about their centres, or that nothing limits."""
    for module in drive.modules:
        if module.is_steered and not float(module.offset[1]):
            continue
        kind = "stands beside its pivot" if module.pivots else "is not steered"
        raise InputError(
            f"the wheel {module.name!r} of '{robot}' {kind}: plans need modules that steer about their centres",
            key=f"robot.wheels.{module.name}",
        )
    bounded = np.isfinite(drive.steering).any(axis=0) & np.isfinite(drive.rolling[1:]).any(axis=0)
    if not bounded.all():
        name = drive.names[int(np.flatnonzero(~bounded)[0])]
        raise InputError(
            f"the module {name!r} has no limit of its steering or none of its drive's acceleration or jerk: "
            "a plan would take no time",
            key=f"robot.wheels.{name}.limits",
            hint="declare steering_rate and drive_acceleration, or give `limits`",
        )
    return drive


def _twists(values: npt.ArrayLike, key: str) -> FloatArray:
    """Rows (n, 3) of one twist or several; InputError for what is neither."""
    twists = np.atleast_2d(as_numbers(values, key))
    if twists.ndim != 2 or twists.shape[1] != 3 or not np.isfinite(twists).all():
        raise InputError(f"expected three finite numbers, or rows of them, got {values!r}", key=key)
    return twists


def _start_angles(drive: Drive, twist: FloatArray, angles: npt.ArrayLike | None) -> FloatArray:
    """The modules' angles at the start, checked against the twist and the ranges."""
    if angles is None:
        lower, upper = drive.ranges
        bounded = np.isfinite(lower) & np.isfinite(upper)
        middle = np.where(bounded, lower, 0) / 2 + np.where(bounded, upper, 0) / 2
        turned = middle + nearest_turns(drive, middle, twist)
    else:
        turned = as_numbers(angles, "angles")
        if turned.shape != drive.places.shape or not np.isfinite(turned).all():
            raise InputError(f"expected {len(drive.names)} angles, got {angles!r}", key="angles")
    outside = drive.beyond(turned) != 0  # NaN, where a range holds no angle, too
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"the start needs {drive.names[place]!r} at an angle outside its steering_range", key="angles"
        )
    u = drive.velocities(twist)
    slip = np.abs((u * np.exp(-1j * turned)).imag)
    if slip.max() > _AGREES * np.abs(u).max():
        place = int(slip.argmax())
        raise InputError(
            f"the angle of {drive.names[place]!r} contradicts the start's twist: "
            f"the wheel would slip at {slip[place]:.3g} m/s",
            key="angles",
            hint=f"at this twist it rolls along {np.angle(u[place]):.6g} rad",
        )
    return turned


def _feasible(
    drive: Drive, twist: FloatArray, angles: FloatArray, target: FloatArray, policy: Infeasible
) -> tuple[FloatArray, str]:
    """The target, or what the policy takes in its place, and why."""
    speeds = np.abs(drive.velocities(target))
    ratio = speeds / drive.rolling[0]
    barred = np.flatnonzero(np.isnan(nearest_turns(drive, angles, target)))
    # 1e-12: a target at the limit, as `slower` below is, may be above it by rounding
    if ratio.max() <= 1 + 1e-12 and not len(barred):
        return target, ""
    if len(barred):
        reason = f"no angle within the steering_range of {drive.names[barred[0]]!r} suits it"
    else:
        reason = _too_fast(drive, speeds)
    if policy == "hold":
        return twist, f"{reason}; the twist is held"
    if policy == "stop" or len(barred):
        return np.zeros(3), f"{reason}; the base stops"
    slower = target / ratio.max()
    return slower, f"{reason}; slowed to {1 / ratio.max():.4g} of it"


def _too_fast(drive: Drive, speeds: FloatArray) -> str:
    """The module that speeds (m,) ask too much of, in words."""
    place = int((speeds / drive.rolling[0]).argmax())
    return (
        f"it needs {speeds[place]:.4g} m/s of {drive.names[place]!r}, whose drive_speed is "
        f"{drive.rolling[0, place]:.4g} m/s"
    )


def _start_notes(drive: Drive, twist: FloatArray) -> list[str]:
    """A start that is measured may be too fast: the motion slows down from there, its limit broken until then."""
    speeds = np.abs(drive.velocities(twist))
    return [f"start: {_too_fast(drive, speeds)}"] if (speeds > drive.rolling[0] * (1 + 1e-12)).any() else []


def _standing(drive: Drive, twist: FloatArray, angles: FloatArray) -> Piece:
    """The twist at one moment: what a motion is made of that needs no time."""
    return straight(drive, twist, Profile(np.zeros(2), np.array([[0.0, 1.0]])), angles)

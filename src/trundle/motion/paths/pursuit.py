"""Going after a motion from a pose off it: a holonomic controller on top of the planner, within all limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.expected import a_real
from trundle.model.arguments import kind_of, three
from trundle.motion.commands.control_levels import Control, State, Target, coordinated, slowed_plan
from trundle.motion.commands.drive import Driven
from trundle.motion.drive.drive import Limits
from trundle.motion.forces.real_limits import checked, real_limits
from trundle.motion.pieces.motion import Motion, Piece
from trundle.motion.planning.planner import Plan, plan_to_pose
from trundle.motion.trackers.tracker import Homing

# What a controller sees of a pose at a time (s).
Measured = Callable[[float, FloatArray], npt.ArrayLike]


@dataclass(frozen=True, eq=False, repr=False)
class Pursuit(Motion):
    """A motion that goes after another one.

    Parameters
    ----------
    wanted : Motion
        That other one.
    wishes : array (n, 4)
        When the controller wished for which twist: s, m/s, m/s, rad/s.
    """

    wanted: Motion | None = None
    wishes: FloatArray | None = None

    def errors(self, times: npt.ArrayLike) -> FloatArray:
        """By how much poses differ from the wanted ones, behind its end from its last one.

        Parameters
        ----------
        times : array_like (n,), s
            From 0 to the duration.

        Returns
        -------
        array (n, 3)
            x, y (m), θ (rad) in the world.

        Raises
        ------
        InputError
            The times fall, or lie outside the motion.

        Examples
        --------
        >>> import trundle
        >>> driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]))
        >>> float(trundle.pursue(driven, pose=(0, 0.1, 0)).errors([0.0])[0, 1])
        0.1
        """
        assert self.wanted is not None
        times = np.atleast_1d(as_numbers(times, "times"))
        return self.poses(times) - self.wanted.poses(np.minimum(times, self.wanted.duration))


def _require_pursued(driven: Driven, period: float) -> None:
    """InputError for what can't be pursued, or not in such periods."""
    if not isinstance(driven, Driven):
        hint = "trundle.follow(path) and trundle.drive(file) give it; .motion alone lacks the limits"
        raise InputError(f"pursue takes what was driven, not {kind_of(driven)}", key="driven", hint=hint)
    if driven.motion.kinematics.drive.trails.any():
        message = f"'{driven.robot.name}' goes on casters: pursue leads wheels that steer about their centres"
        raise InputError(
            message, key="driven", hint="trundle.track leads robots on casters along their motion"
        )
    if not (math.isfinite(period) and period > 0):
        raise InputError(f"expected a period > 0 s, got {period}", key="period")


def pursue(
    driven: Driven,
    *,
    pose: tuple[float, float, float] | None = None,
    gains: tuple[float, float] = (2.0, 2.0),
    period: float = 0.1,
    measured: Measured | None = None,
    grip: float | None = 0.95,
) -> Pursuit:
    """Follow a motion from a pose off it, all limits held: the controller's twists, reached as the planner can.

    Limits are declared ones, and what motors, battery and floor give where the description tells them.

    Once a period, and not before the last wish is reached, the controller asks for the twist of `holonomic_twist` with
    the wanted velocity of the time at which it will be reached. The wanted motion's end is gone to by `plan_to_pose`.

    Parameters
    ----------
    driven : Driven
        What is to be followed, by wheels that steer about their centres: of `follow` or `drive`.
    pose : tuple of three floats, optional
        Where the base begins, at rest: x, y (m), θ (rad). Default: where the motion does.
    gains : tuple of two floats, 1/s, optional
        Of position and heading.
    period : float, s, optional
        Between two wishes at least.
    measured : callable, optional
        (time, pose) → the pose as the controller sees it. Default: as it is.
    grip : float or None, optional
        The share of every wheel's friction that it uses at most. None: only declared limits count.

    Returns
    -------
    Pursuit
        The motion, and its errors.

    Raises
    ------
    InputError
        A gain or the period isn't positive, motors and floor give a way at no pace, or as `plan` does.

    Examples
    --------
    >>> import trundle
    >>> driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]))
    >>> pursuit = trundle.pursue(driven, pose=(0, 0.1, 0))
    >>> (pursuit.poses([pursuit.duration]).round(9) + 0.0).tolist()  # without a sign of zero
    [[1.0, 0.0, 0.0]]
    """
    _require_pursued(driven, period)
    wanted = driven.motion
    homing = Homing(wanted, gains)
    limits = dict(zip(driven.names, driven.limits, strict=True))
    real = None if grip is None else real_limits(wanted.kinematics, a_real(grip, "grip", above=0))
    real = None if real is None else checked(real)
    control = Control(wanted.kinematics, wanted.kinematics.drive.limited(limits), "scurve", True, real)
    begin = np.array(wanted.start if pose is None else three(pose, "pose", "x, y, θ", ("m", "m", "rad")))
    look = measured or (lambda _time, here: here)
    angles = wanted.samples(np.zeros(1)).angle[0]
    state, here, now, ahead = State(np.zeros(3), angles, np.zeros(len(angles))), begin, 0.0, period
    pieces: list[Piece] = []
    wishes: list[FloatArray] = []
    while now < wanted.duration:
        # The last wish took so long to be reached: this one will take about as long.
        seen = np.asarray(look(now, here), dtype=float)
        then = min(now + ahead, wanted.duration)
        wish = homing.twist(now, seen, reached=then)
        step = coordinated(control, state, Target(len(wishes), period, (wish[0], wish[1], wish[2])))
        moved = Motion(wanted.kinematics, step.pieces, (here[0], here[1], here[2]))
        here, state, ahead = moved.poses([moved.duration])[0], step.state, moved.duration
        wishes.append(np.array([now, *wish]))
        pieces += step.pieces
        now += ahead
    end = wanted.poses([wanted.duration])[0]
    # The plan ends where the base will be seen at the wanted end: an error of measurement stays.
    goal = end + here - np.asarray(look(now, here), dtype=float)

    def home(limits: Mapping[str, Limits]) -> Plan:
        """The planner's way to the wanted end."""
        return plan_to_pose(
            wanted.kinematics,
            (goal[0], goal[1], goal[2]),
            start=state.twist,
            angles=state.angles,
            limits=limits,
            pose=(here[0], here[1], here[2]),
        )

    last = slowed_plan(control, home)
    start = (begin[0], begin[1], begin[2])
    return Pursuit(
        wanted.kinematics, (*pieces, *last.pieces), start, angles, wanted=wanted, wishes=np.array(wishes)
    )

"""Control levels: how commands become motions.

module: every module's angle and speed by profiles over the command's time; what they don't agree on slips.
body: the body's twist by a profile over that time, the modules after it, without regard to limits.
limited: the same, slowed as far as limits ask, with profiles that their jerks allow.
coordinated: the planner's quickest motion within the limits (`trundle.motion.planning.planner`).
The last two keep declared limits, and what motors, battery and floor give where a `Control` has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import PROFILES, ProfileShape
from trundle.errors import InputError
from trundle.mechanics.modules import ALIGNED, turns_into_range
from trundle.mechanics.steering import STILL
from trundle.motion.commands.steps import Control, Goal, Maneuver, Setpoint, Slowdown
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.constraints.real_limits import of_reach
from trundle.motion.constraints.slowdown import PaceLimit, hold, slowdown
from trundle.motion.constraints.wheels import WheelLimits
from trundle.motion.drive.drive import QUANTITIES, Drive, Limits
from trundle.motion.forces.motor_limits import implied_at_rest
from trundle.motion.pieces.motion import Samples, total
from trundle.motion.pieces.pieces import ModulePiece, TwistLine
from trundle.motion.pieces.profiles import Profile, shaped, unit_shape
from trundle.motion.time_optimal import Axis, time_optimal

# Modules that contradict one rigid motion by less than this share of their speed are rounded numbers in a file.
_CONTRADICTION = 1e-3
# A straight way that takes so many times its time leads past a wheel's axis: braking first is quicker.
_PATIENCE = 10.0
# Where a line of twists begins in zero, its wheels' directions are those of a place so far along it.
_AHEAD = 1e-6
# Twists that are held take this share of what motors and floor have at most: with nothing left no pace leads to them.
HELD = 0.95
# Straight ways are told ahead so many at first.
_FEW = 4
_NO_PACE = "a slower twist, or plan within declared limits alone: grip=None"


def by_modules(control: Control, state: Setpoint, targets: Sequence[Goal]) -> Iterator[Maneuver]:
    """Every module by itself over the command's time, the shortest way that its range allows."""
    for target in targets:
        if target.modules is not None:
            (angles, speeds), period = target.modules, 2 * math.pi
        else:
            angles, speeds, _ = control.drive.followed(target.twist or (0, 0, 0), state.angles, state.speeds)
            period = math.pi
        placed = _placed(control, state, angles, period)
        speeds = np.where(np.round((placed - angles) / math.pi) % 2 == 1, -speeds, speeds)
        piece = _modules(control, state, placed, speeds, target.duration)
        twist = piece.samples(np.array([target.duration])).twist[0]
        state = Setpoint(twist, placed, speeds)
        yield Maneuver((piece,), state)


# A twist that is held, and notes of what is less than was commanded.
_Held = tuple[FloatArray, tuple[str, ...]]


class _Straight(NamedTuple):
    """Pieces from a state to another one over a command's time, and how much slower limits ask for them.

    Wheels that leave their steering range are `beyond` it by so much (m,).
    """

    start: Setpoint
    pieces: tuple[TwistLine | ModulePiece, ...]
    after: Setpoint
    beyond: FloatArray
    notes: tuple[str, ...] = ()
    slowed: tuple[PaceLimit, ...] = ()


def by_body(control: Control, state: Setpoint, targets: Sequence[Goal]) -> Iterator[Maneuver]:
    """The body's twists on straight lines, the modules after them; slowed for the limits where the drive holds them."""
    ahead: list[_Straight] = []
    count = len(targets)
    plain = [target for target in targets if target.modules is None]
    held = _feasible(control, [_twist(control, target) for target in plain])
    known = {target.place: own for target, own in zip(plain, held, strict=True)}
    for k, target in enumerate(targets):
        if target.modules is not None and np.abs(target.modules[1]).max() <= STILL:
            step = _steered(control, state, target, target.modules[0])
        else:
            if not (ahead and ahead[0].start is state):
                # where a command led elsewhere, a few are told ahead, and then ever more
                count = _FEW if ahead else 2 * count
                ahead = _ahead(control, state, targets[k : k + count], known)
            step = _straight(control, state, target, ahead.pop(0))
        state = step.state
        yield step


def _ahead(
    control: Control, state: Setpoint, targets: Sequence[Goal], known: Mapping[int, _Held]
) -> list[_Straight]:
    """The first straight way of commands to come, and more as far as they are certain, slowed in one batch; of plain
    twists what is held of them is known by their places.
    """
    ways: list[_Straight] = []
    for target in [targets[0], *takewhile(lambda each: each.modules is None, targets[1:])]:
        twist, notes = known.get(target.place) or _feasible(control, [_twist(control, target)])[0]
        try:
            way = _way(control, state, twist, target.duration)
        except InputError:
            if not ways:
                raise
            break
        ways.append(way._replace(notes=notes))
        state = way.after
    return _slowed(control, ways)


def _way(control: Control, state: Setpoint, twist: FloatArray, duration: float) -> _Straight:
    """A line of twists, after the turns that its start needs; `body` lets wheels jump there."""
    line = _line(control, state, twist, duration)
    angles, last = line.angles, line.samples(np.array([duration]))
    # a wheel's angle rises or falls along a whole line of twists, so its ends tell whether it stays in its range
    beyond = np.maximum(*(control.drive.beyond(end) for end in (angles, line.end_angles)))
    held = control.held and not beyond.any()
    turns = turned(control.bounded, control.shape, state, angles) if held else ()
    return _Straight(state, (*turns, line), Setpoint(line.end, last.angle[0], last.drive_speed[0]), beyond)


def _slowed(control: Control, ways: Sequence[_Straight]) -> list[_Straight]:
    """The same with how much slower they have to run, all in one batch."""
    pieces = [piece for way in ways for piece in way.pieces]
    if not control.held:
        return [way._replace(slowed=(PaceLimit(1.0, ""),)) for way in ways]
    found = iter(slowdown(pieces, control.constraints))
    return [way._replace(slowed=tuple(next(found) for _ in way.pieces)) for way in ways]


def _step(way: _Straight, place: int) -> Maneuver:
    """The step of a way, its pieces so much slower; one that has no pace stays, for `_require_pace` to refuse."""
    *turns, (factor, name) = way.slowed
    for turn in turns:
        if math.isinf(turn.factor):
            raise InputError(f"the {turn.name} doesn't turn the modules at any pace", hint=_NO_PACE)
    pieces = tuple(
        piece if math.isinf(slow.factor) else piece.slower(slow.factor)
        for piece, slow in zip(way.pieces, way.slowed, strict=True)
    )
    limit, _, owner = name.partition(" of ")
    return Maneuver(pieces, way.after, (Slowdown(place, factor, limit, owner),) if name else (), way.notes)


def _straight(control: Control, state: Setpoint, target: Goal, way: _Straight) -> Maneuver:
    """The step of a straight way, or the one through rest where that is out of range or far slower."""
    straight = None
    if way.beyond.any():
        why = "a straight way would take a wheel out of its steering range"
    else:
        straight = _step(way, target.place)
        if not any(each.factor > _PATIENCE for each in straight.slowdowns):
            return straight
        slowest = max(straight.slowdowns, key=lambda each: each.factor)
        past = f"past the axis of {slowest.module}"
        if slowest.limit not in QUANTITIES:
            past = f"within the {slowest.limit} of {slowest.module}"
        why = f"a straight way {past} would take {_PATIENCE:g} times its time"
    step = _through_rest(control, state, target, way.after.twist)
    if straight is not None and _lasts(straight) <= _lasts(step) < math.inf:
        return straight
    return replace(_require_pace(step), notes=(*way.notes, f"goes through rest: {why}"))


def _lasts(step: Maneuver) -> float:
    """How long a step takes (s); inf where motors and floor give it at no pace."""
    return math.inf if any(math.isinf(each.factor) for each in step.slowdowns) else total(step.pieces)


def coordinated(control: Control, state: Setpoint, targets: Sequence[Goal]) -> Iterator[Maneuver]:
    """The planner's quickest ways to twists, which are then held to the end of the command's time."""
    for target in targets:
        if target.modules is not None and np.abs(target.modules[1]).max() <= STILL:
            step = _steered(control, state, target, target.modules[0])
        else:
            ((twist, notes),) = _feasible(control, [_twist(control, target)], speeds=False)
            step = _planned(control, state, target, twist)
            step = replace(step, notes=(*notes, *step.notes))
        state = step.state
        yield step


def _planned(control: Control, state: Setpoint, target: Goal, twist: FloatArray) -> Maneuver:
    """The planner's quickest way to a twist, slowed as a whole as far as motors and floor ask."""
    from trundle.motion.planning.planner import plan  # late: the other levels don't wait for it

    drive = control.drive if control.real is None else implied_at_rest(control.drive, control.real.driven)
    limits = dict(zip(drive.names, drive.limits, strict=True))
    quickest = plan(control.kinematics, twist, start=state.twist, angles=state.angles, limits=limits)
    pieces = tuple(quickest.pieces)
    factor, name = max(slowdown(pieces, of_reach(control.drive, control.real)))
    if math.isinf(factor):
        raise InputError(f"the {name} gives the way to this twist at no pace", hint=_NO_PACE)
    pieces = tuple(piece.slower(factor) if factor > 1 else piece for piece in pieces)
    # the planner notes where it goes to another twist; without a note the end is exactly what was asked
    reached = quickest.samples([quickest.duration]).twist[0] if quickest.notes else twist
    after = agreeing_state(control, reached, quickest.transitions[-1].end_angles)
    notes = tuple(note.partition(": ")[2] for note in quickest.notes)
    spare = target.duration - total(pieces)
    if spare <= 0:
        notes += (f"takes {total(pieces):.4g} s, not {target.duration:g}: no quicker way was found",)
        return Maneuver(pieces, after, (), notes)
    hold = TwistLine(control.drive, reached, np.zeros(3), shaped("linear", 0.0, 0.0, spare), after.angles)
    return Maneuver((*pieces, hold), after, (), notes)


def _feasible(control: Control, twists: Sequence[FloatArray], speeds: bool = True) -> list[_Held]:
    """Twists in the same directions that wheels' speeds, motors and floor hold, with notes of what is less."""
    held: list[_Held] = [(twist, ()) for twist in twists]
    if not (control.held and held):
        return held
    rolling = Constraints((WheelLimits(control.drive.names, control.drive.limits),))
    for constraints, most in (
        (rolling if speeds else Constraints(()), 1.0),
        (of_reach(control.drive, control.real), HELD),
    ):
        steady = Samples.joined([_steady(control.drive, twist) for twist, _ in held])
        for k, (share, name) in enumerate(hold(steady, constraints, most)):
            if 0 < share < 1:  # what isn't held at all has no pace either
                twist, notes = held[k]
                less = (
                    f"the twist is {share:.4g} of what was asked: it takes more than {most:.0%} of the {name}"
                )
                held[k] = twist * share, (*notes, less)
    return held


def _steady(drive: Drive, twist: FloatArray) -> Samples:
    """A sample of a steady twist."""
    angles = drive.pointed(twist.tolist())[0]
    return TwistLine(drive, twist, np.zeros(3), unit_shape("linear"), angles).samples(np.array([0.5]))


def agreeing_state(control: Control, twist: FloatArray, angles: FloatArray) -> Setpoint:
    """The state at a twist, the modules' angles made exact where they move."""
    exact = entry_angles(control, Setpoint(twist, angles, np.zeros_like(angles)), np.zeros(3))
    along = control.drive.rolling_axes(exact)
    return Setpoint(twist, exact, (np.conj(along) * control.drive.velocities(twist)).real)


def _twist(control: Control, target: Goal) -> FloatArray:
    """A command's twist, or that its modules agree with; InputError says by how much others contradict it."""
    if target.modules is None:
        return np.array(target.twist)
    angles, speeds = target.modules
    twist = control.drive.agreeing(angles[None], speeds[None])[0]
    check_agreement(control.drive, twist, angles, speeds)
    return twist


def check_agreement(drive: Drive, twist: FloatArray, angles: FloatArray, speeds: FloatArray) -> None:
    """InputError where modules contradict a twist."""
    u = drive.velocities(twist)
    slip = drive.slips(u[None], angles, speeds)[0]
    worst = int(slip.argmax())
    if slip[worst] > _CONTRADICTION * max(np.abs(speeds).max(), np.abs(u).max()):
        raise InputError(
            f"the modules contradict one rigid motion: {drive.names[worst]} would slip at {slip[worst]:.4g} m/s",
            hint="kinematics.module_states(v_x, v_y, omega) gives angles and speeds that agree; the level `module` "
            "drives them as they are, and reports the slip",
        )


def _steered(control: Control, state: Setpoint, target: Goal, angles: FloatArray) -> Maneuver:
    """Wheels steered at rest over the command's time; of a drive that moves the first half is for braking."""
    ways, duration, notes = [], target.duration, ()
    if np.abs(state.twist).max() > STILL:
        duration, notes = duration / 2, ("brakes in the first half of its time, and steers in the second",)
        ways.append(_way(control, state, np.zeros(3), duration))
        state = ways[0].after
    still = np.zeros(len(angles))
    placed = _placed(control, state, angles, 2 * math.pi)
    piece = _modules(control, replace(state, speeds=still), placed, still, duration)
    ways.append(_Straight(state, (piece,), Setpoint(np.zeros(3), placed, still), still))
    return replace(_require_pace(_joined(control, ways, target.place)), notes=notes)


def _joined(control: Control, ways: Sequence[_Straight], place: int) -> Maneuver:
    """The step of ways one after the other."""
    step = Maneuver((), ways[0].start)
    for way in _slowed(control, ways):
        step = step.then(_step(way, place))
    return step


def _placed(control: Control, state: Setpoint, angles: FloatArray, period: float) -> FloatArray:
    """Angles that differ by periods, nearest to where the modules are and within their ranges."""
    placed = state.angles + turns_into_range(
        angles - state.angles, state.angles, control.drive.ranges, period
    )
    if np.isnan(placed).any():
        raise _out_of_range(control.drive, int(np.isnan(placed).argmax()), angles)
    return placed


def _out_of_range(drive: Drive, place: int, angles: FloatArray) -> InputError:
    """The error of a module that can't be steered to its angle."""
    low, high = (f"{math.degrees(end):.4g}°" for end in drive.ranges[:, place])
    name, angle = drive.names[place], angles[place]
    return InputError(
        f"{name} can't be steered to {math.degrees(angle):.4g}°: it turns from {low} to {high}",
        hint="a wider range of its limits (lower, upper), or another command",
    )


def _modules(
    control: Control, state: Setpoint, angles: FloatArray, speeds: FloatArray, duration: float
) -> ModulePiece:
    """All modules from a state to angles and speeds over a time."""

    def profiles(start: FloatArray, end: FloatArray) -> tuple[Profile, ...]:
        return tuple(shaped(control.shape, a, b, duration) for a, b in zip(start, end, strict=True))

    return ModulePiece(control.drive, profiles(state.angles, angles), profiles(state.speeds, speeds))


def _require_pace(step: Maneuver) -> Maneuver:
    """The same; InputError where motors and floor give it at no pace."""
    for each in step.slowdowns:
        if math.isinf(each.factor):
            raise InputError(
                f"the {each.limit} of {each.module} gives the way to this twist at no pace",
                hint=_NO_PACE,
            )
    return step


def _through_rest(control: Control, state: Setpoint, target: Goal, twist: FloatArray) -> Maneuver:
    """Brake, steer and go: half of the time for either line."""
    ways: list[_Straight] = []
    for goal in (np.zeros(3), twist):
        ways.append(_way(control, ways[-1].after if ways else state, goal, target.duration / 2))
        if (beyond := ways[-1].beyond).any():
            line = ways[-1].pieces[-1]
            raise _out_of_range(control.drive, int(beyond.argmax()), line.samples(np.zeros(1)).angle[0])
    return _joined(control, ways, target.place)


def _line(control: Control, state: Setpoint, twist: FloatArray, duration: float) -> TwistLine:
    """The straight line from the state's twist to another over a time."""
    change = twist - state.twist
    profile = shaped(control.shape, 0.0, 1.0, duration)
    line = TwistLine(control.drive, state.twist, change, profile, entry_angles(control, state, change))
    # between two twists that the wheels can roll along nothing slips, and the start is one: the end is looked at
    slip = line.samples(np.array([duration])).slip[0]
    worst = int(slip.argmax())
    if control.drive.slides:  # wheels that slide leave the base's origin on its way
        slip = np.abs(
            [twist[1] * math.cos(control.drive.headings[0]) - twist[0] * math.sin(control.drive.headings[0])]
        )
        worst = 0
    # the end is the twist but for rounding
    if slip[worst] > max(_CONTRADICTION * np.abs(twist).max(), STILL * np.abs(change).max()):
        asked = ", ".join(f"{part:g}" for part in twist)
        sliding = f"{control.drive.names[worst]} would slip at {slip[worst]:.4g} m/s"
        raise InputError(
            f"the wheels can't roll along the twist ({asked}): {sliding}",
            hint="wheels that don't steer leave a base few motions; `trundle check` tells which",
        )
    return line


def entry_angles(control: Control, state: Setpoint, change: FloatArray) -> FloatArray:
    """The angles at which modules begin a line: along their velocities, or against them where that is nearer; those
    that stand still along what their velocities will be, or as they are.
    """
    drive = control.drive
    start, later = drive.velocities(state.twist), drive.velocities(change)
    still = drive.still(start)
    along = np.where(still, later, start)
    moves = drive.points & ~drive.still(along)
    ahead = (state.twist + _AHEAD * change).tolist()
    guess, _, _ = drive.followed(ahead, state.angles, state.speeds)
    # the guess says which way round a module rolls, the velocity's angle its last digits
    turn = np.angle(along * np.exp(-1j * guess))
    exact = guess + turn - math.pi * np.round(turn / math.pi)
    angles = np.where(moves, exact, state.angles)
    line = TwistLine(drive, state.twist, change, unit_shape("linear"), angles)
    end = line.angles_at(np.array([line.duration]))[0]
    # those that begin at rest may begin the other way round, where their range holds only that
    leaves = still & moves & ((drive.beyond(angles) > 0) | (drive.beyond(end) > 0))
    swing = end - angles
    turns = turns_into_range(angles - state.angles, state.angles, drive.ranges, swing=(swing, swing))
    return np.where(leaves & ~np.isnan(turns), state.angles + turns, angles)


def turned(drive: Drive, shape: ProfileShape, state: Setpoint, angles: FloatArray) -> tuple[ModulePiece, ...]:
    """Wheels that stand still turn to angles as fast as their limits allow, arriving together; the others roll on.
    Nothing where no limit asks for time.
    """
    turning = np.abs(angles - state.angles) > ALIGNED
    rolling = turning & (np.abs(state.speeds) > STILL)
    if rolling.any():
        raise InputError(f"{drive.names[int(rolling.argmax())]} rolls, and would have to turn at once")
    ways = list(zip(state.angles, np.where(turning, angles, state.angles), strict=True))
    bounded = np.flatnonzero(np.isfinite(drive.steering).any(axis=0)).tolist()
    axes = [Axis((ways[k][0], 0, 0), (ways[k][1], 0, 0), *drive.steering[:, k].tolist()) for k in bounded]
    quickest = dict(zip(bounded, time_optimal(axes) if axes else (), strict=True))
    duration = max((profile.duration for profile in quickest.values()), default=0.0)
    if not duration:
        return ()
    turns = tuple(quickest.get(k) or shaped(shape, *way, duration) for k, way in enumerate(ways))
    return (ModulePiece(drive, turns, tuple(shaped("linear", v, v, duration) for v in state.speeds)),)


def smooth_shape(shape: ProfileShape, limits: Sequence[Limits]) -> ProfileShape:
    """The shape itself, or the nearest smoother one whose impulses no limit forbids.

    A twist along p(t) has ξ̇ as p′ and so on: where p′ jumps, the drive's jerk and steering's acceleration are impulses,
    where p″ does, steering's jerk is one.
    """
    declared = {name for held in limits for name in held.declared}
    needed: ProfileShape = "linear"
    if declared & {"steering_acceleration", "drive_jerk"}:
        needed = "trapezoidal"
    if "steering_jerk" in declared:
        needed = "scurve"
    return PROFILES[max(PROFILES.index(shape), PROFILES.index(needed))]

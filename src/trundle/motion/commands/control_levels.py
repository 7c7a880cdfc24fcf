"""Control levels: how commands become motions.

module: every module's angle and speed by profiles over the command's time; what they don't agree on slips.
body: the body's twist by a profile over that time, the modules after it, without regard to limits.
limited: the same, slowed as far as limits ask, with profiles that their jerks allow.
coordinated: the planner's quickest motion within the limits (`trundle.motion.planning.planner`).
The last two keep declared limits, and what motors, battery and floor give where a `Control` has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import PROFILES, Shape
from trundle.errors import InputError, NumericsError
from trundle.mechanics.modules import ALIGNED, turns_into_range
from trundle.mechanics.steering import STILL
from trundle.motion.commands.reach import at_pace, implied, implied_at_rest, within_reach
from trundle.motion.commands.steps import Control, State, Step, Stretch, Target
from trundle.motion.drive.drive import QUANTITIES, Drive, Limits
from trundle.motion.forces.pacing import slower
from trundle.motion.pieces.extremes import peaks, slowing
from trundle.motion.pieces.motion import Piece, total
from trundle.motion.pieces.pieces import ModulePiece, TwistLine
from trundle.motion.pieces.profiles import Profile, shaped, unit_shape
from trundle.motion.time_optimal import Axis, time_optimal

if TYPE_CHECKING:
    from trundle.motion.planning.planner import Plan

# Modules that contradict one rigid motion by less than this share of their speed are rounded numbers in a file.
_CONTRADICTION = 1e-3
# A straight way that takes so many times its time leads past a wheel's axis: braking first is quicker.
_PATIENCE = 10.0
# Where a line of twists begins in zero, its wheels' directions are those of a place so far along it.
_AHEAD = 1e-6
# In place of a speed of zero, so that its share of a limit is a number.
_SMALLEST = 1e-300
# Plans are made so often at most until motors and floor give them: the second is the first one slower.
_REPLANNED = 5
_NO_PACE = "a slower twist, or plan within declared limits alone: grip=None"
# Slowing is rounded up by so much, for the rounding in the largest values.
_SPARE = 1e-9


def by_modules(control: Control, state: State, target: Target) -> Step:
    """Every module by itself over the command's time, the shortest way that its range allows."""
    if target.modules is not None:
        (angles, speeds), period = target.modules, 2 * math.pi
    else:
        angles, speeds, _ = control.drive.followed(target.twist or (0, 0, 0), state.angles, state.speeds)
        period = math.pi
    placed = _placed(control, state, angles, period)
    speeds = np.where(np.round((placed - angles) / math.pi) % 2 == 1, -speeds, speeds)
    piece = _modules(control, state, placed, speeds, target.duration)
    twist = piece.samples(np.array([target.duration])).twist[0]
    return Step((piece,), State(twist, placed, speeds))


def by_body(control: Control, state: State, target: Target) -> Step:
    """The body's twist on a straight line, the modules after it; slowed for the limits where the drive holds them."""
    twist, notes = np.array(target.twist or _agreed(control, target)), ()
    if target.modules is not None and np.abs(target.modules[1]).max() <= STILL:
        return _steered(control, state, target, target.modules[0])
    if control.held:
        twist, notes = _within_speeds(control, twist)
        twist, more = _within_reach(control, state, twist)
        notes = (*notes, *more)
    line = _line(control, state, twist)
    ends = line(1.0).angles_at(np.array([0.0, 1.0]))
    straight = None
    # a wheel's angle rises or falls along a whole line of twists, so its ends tell whether it stays in its range
    if any(control.drive.beyond(end).any() for end in ends):
        why = "a straight way would take a wheel out of its steering range"
    else:
        straight = _along(control, state, line, target)
        if not any(stretch.factor > _PATIENCE for stretch in straight.stretches):
            return replace(straight, notes=notes)
        slowest = max(straight.stretches, key=lambda stretch: stretch.factor)
        past = f"past the axis of {slowest.module}"
        if slowest.limit not in QUANTITIES:
            past = f"within the {slowest.limit} of {slowest.module}"
        why = f"a straight way {past} would take {_PATIENCE:g} times its time"
    step = _through_rest(control, state, target, twist)
    if straight is not None and _lasts(straight) <= _lasts(step) < math.inf:
        return replace(straight, notes=notes)
    step = _require_pace(step)
    return replace(step, notes=(*notes, f"goes through rest: {why}"))


def _lasts(step: Step) -> float:
    """How long a step takes (s); inf where motors and floor give it at no pace."""
    return math.inf if any(math.isinf(stretch.factor) for stretch in step.stretches) else total(step.pieces)


def coordinated(control: Control, state: State, target: Target) -> Step:
    """The planner's quickest way to the twist, which is then held to the end of the command's time."""
    if target.modules is not None and np.abs(target.modules[1]).max() <= STILL:
        return _steered(control, state, target, target.modules[0])
    twist = np.array(target.twist or _agreed(control, target))
    twist, slowed = _within_reach(control, state, twist)
    quickest = _quickest(control, state, twist)
    # the planner notes where it goes to another twist; without a note the end is exactly what was asked
    reached = quickest.samples([quickest.duration]).twist[0] if quickest.notes else twist
    after = agreeing_state(control, reached, quickest.transitions[-1].end_angles)
    notes = slowed + tuple(note.partition(": ")[2] for note in quickest.notes)
    spare = target.duration - quickest.duration
    if spare <= 0:
        notes += (f"takes {quickest.duration:.4g} s, not {target.duration:g}: no quicker way was found",)
        return Step(tuple(quickest.pieces), after, (), notes)
    hold = TwistLine(control.drive, reached, np.zeros(3), shaped("linear", 0.0, 0.0, spare), after.angles)
    return Step((*quickest.pieces, hold), after, (), notes)


def _quickest(control: Control, state: State, twist: FloatArray) -> Plan:
    """The planner's way to a twist, slowed as a whole until motors and floor give it."""
    from trundle.motion.planning.planner import plan  # late: the other levels don't wait for it

    drive = control.drive if control.real is None else implied_at_rest(control.drive, control.real)
    for _ in range(_REPLANNED):
        limits = dict(zip(drive.names, drive.limits, strict=True))
        quickest = plan(control.kinematics, twist, start=state.twist, angles=state.angles, limits=limits)
        factor, name = (1.0, None) if control.real is None else slower(quickest.pieces, control.real)
        if name is None:
            return quickest
        if math.isinf(factor):
            raise InputError(f"the {name} gives the way to this twist at no pace", hint=_NO_PACE)
        drive = at_pace(drive, 1 / factor / (1 + _SPARE))
    raise NumericsError("the planner's ways take more than motors and floor give, however slow they are")


def _within_reach(control: Control, state: State, twist: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """A twist in the same direction that motors and floor hold."""
    if control.real is None:
        return twist, ()
    angles = agreeing_state(control, twist, _facing(control, state, twist)).angles
    return within_reach(control.drive, control.real, twist, angles)


def _facing(control: Control, state: State, twist: FloatArray) -> FloatArray:
    """The modules' angles along their velocities at a twist, nearest to those they have."""
    return control.drive.followed(twist.tolist(), state.angles, state.speeds)[0]


def agreeing_state(control: Control, twist: FloatArray, angles: FloatArray) -> State:
    """The state at a twist, the modules' angles made exact where they move."""
    exact = entry_angles(control, State(twist, angles, np.zeros_like(angles)), np.zeros(3))
    along = control.drive.rolling_axes(exact)
    return State(twist, exact, (np.conj(along) * control.drive.velocities(twist)).real)


def _agreed(control: Control, target: Target) -> FloatArray:
    """The twist of a command of modules that agree with one; InputError says by how much others contradict it."""
    assert target.modules is not None
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


def _within_speeds(control: Control, twist: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """A twist in the same direction at which no wheel is faster than its limit."""
    drive = control.drive
    u, along = drive.velocities(twist), drive.rolling_axes(drive.headings)
    speeds = np.where(drive.points, np.abs(u), np.abs((np.conj(along) * u).real))
    shares = drive.rolling[0] / np.maximum(speeds, _SMALLEST)  # at rest anything is allowed
    least = int(shares.argmin())
    if shares[least] >= 1:
        return twist, ()
    name, limit = drive.names[least], drive.rolling[0, least]
    faster = f"{name} would roll at {speeds[least]:.4g} m/s, of {limit:g}"
    note = f"the twist is {shares[least]:.4g} of what was asked: {faster}"
    return twist * shares[least], (note,)


def _steered(control: Control, state: State, target: Target, angles: FloatArray) -> Step:
    """Wheels steered at rest over the command's time; of a drive that moves the first half is for braking."""
    begun = Step((), state)
    if np.abs(state.twist).max() > STILL:
        target = replace(target, duration=target.duration / 2)
        begun = _along(control, state, _line(control, state, np.zeros(3)), target)
        begun = replace(begun, notes=("brakes in the first half of its time, and steers in the second",))
    placed = _placed(control, begun.state, angles, 2 * math.pi)
    still = np.zeros(len(angles))

    def over(duration: float) -> Piece:
        return _modules(control, replace(begun.state, speeds=still), placed, still, duration)

    piece, stretched = _paced(control, over, target)
    return _require_pace(begun.then(Step((piece,), State(np.zeros(3), placed, still), stretched)))


def _placed(control: Control, state: State, angles: FloatArray, period: float) -> FloatArray:
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
    control: Control, state: State, angles: FloatArray, speeds: FloatArray, duration: float
) -> ModulePiece:
    """All modules from a state to angles and speeds over a time."""

    def profiles(start: FloatArray, end: FloatArray) -> tuple[Profile, ...]:
        return tuple(shaped(control.shape, a, b, duration) for a, b in zip(start, end, strict=True))

    return ModulePiece(control.drive, profiles(state.angles, angles), profiles(state.speeds, speeds))


def _along(control: Control, state: State, line: Callable[[float], TwistLine], target: Target) -> Step:
    """A line of twists over the command's time, after the turns that its start needs; `body` lets wheels jump there."""
    angles = line(1.0).angles
    turn = steering(control, state, angles) if control.held else None
    first = () if turn is None else (turn,)
    piece, stretched = _paced(control, line, target)
    last = piece.samples(np.array([piece.duration]))
    after = State(line(1.0).end, last.angle[0], last.drive_speed[0])
    return Step((*first, piece), after, stretched)


def _paced(
    control: Control, over: Callable[[float], Piece], target: Target
) -> tuple[Piece, tuple[Stretch, ...]]:
    """A piece over the command's time, or as much longer as the limits ask where they are held."""
    piece = over(target.duration)
    if not control.held:
        return piece, ()
    factor, reason = slowing(peaks(piece), control.drive.limits)
    why = None if reason is None else (reason.quantity, control.drive.names[reason.module])
    if control.real is not None:
        more, name = slower((over(target.duration * factor),), control.real)
        if name is not None:
            factor, (limit, _, owner) = factor * more, name.partition(" of ")
            why = limit, owner
    if why is None:
        return piece, ()
    stretch = Stretch(target.place, factor, *why)
    return piece if math.isinf(factor) else over(target.duration * factor * (1 + _SPARE)), (stretch,)


def _require_pace(step: Step) -> Step:
    """The same; InputError where motors and floor give it at no pace."""
    for stretch in step.stretches:
        if math.isinf(stretch.factor):
            raise InputError(
                f"the {stretch.limit} of {stretch.module} gives the way to this twist at no pace",
                hint=_NO_PACE,
            )
    return step


def _through_rest(control: Control, state: State, target: Target, twist: FloatArray) -> Step:
    """Brake, steer and go: half of the time for either line."""
    step, half = Step((), state), replace(target, duration=target.duration / 2)
    for goal in (np.zeros(3), twist):
        line = _line(control, step.state, goal)
        beyond = control.drive.beyond(line(1.0).angles)
        if beyond.any():
            raise _out_of_range(control.drive, int(beyond.argmax()), line(1.0).angles)
        step = step.then(_along(control, step.state, line, half))
    return step


def _line(control: Control, state: State, twist: FloatArray) -> Callable[[float], TwistLine]:
    """The straight line from the state's twist to another, as a function of the time it takes."""
    change = twist - state.twist
    angles = entry_angles(control, state, change)

    def over(duration: float) -> TwistLine:
        profile = shaped(control.shape, 0.0, 1.0, duration)
        return TwistLine(control.drive, state.twist, change, profile, angles)

    # between two twists that the wheels can roll along nothing slips, and the start is one: the end is looked at
    slip = over(1.0).samples(np.array([1.0])).slip[0]
    worst = int(slip.argmax())
    if control.drive.slides:  # wheels that slide leave the base's origin on its way
        slip = np.abs(
            [twist[1] * math.cos(control.drive.headings[0]) - twist[0] * math.sin(control.drive.headings[0])]
        )
        worst = 0
    if slip[worst] > _CONTRADICTION * np.abs(twist).max():
        asked = ", ".join(f"{part:g}" for part in twist)
        sliding = f"{control.drive.names[worst]} would slip at {slip[worst]:.4g} m/s"
        raise InputError(
            f"the wheels can't roll along the twist ({asked}): {sliding}",
            hint="wheels that don't steer leave a base few motions; `trundle check` tells which",
        )
    return over


def entry_angles(control: Control, state: State, change: FloatArray) -> FloatArray:
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


def steering(control: Control, state: State, angles: FloatArray) -> ModulePiece | None:
    """Wheels that stand still turn to angles as fast as their limits allow, arriving together; the others roll on.
    None where no limit asks for time.
    """
    drive = control.drive if control.real is None else implied(control.drive, control.real)
    turn = _steered_by(control, drive, state, angles)
    if turn is None or control.real is None:
        return turn
    factor, name = slower((turn,), control.real)
    if math.isinf(factor):
        raise InputError(f"the {name} doesn't turn the modules at any pace", hint=_NO_PACE)
    return (
        turn
        if name is None
        else _steered_by(control, at_pace(drive, 1 / factor / (1 + _SPARE)), state, angles)
    )


def _steered_by(control: Control, drive: Drive, state: State, angles: FloatArray) -> ModulePiece | None:
    """The same within the limits of a drive."""
    turning = np.abs(angles - state.angles) > ALIGNED
    rolling = turning & (np.abs(state.speeds) > STILL)
    if rolling.any():
        raise InputError(
            f"{control.drive.names[int(rolling.argmax())]} rolls, and would have to turn at once"
        )
    free = math.inf, math.inf, math.inf
    bounds = [(held.steering_rate, held.steering_acceleration, held.steering_jerk) for held in drive.limits]
    ways = list(zip(state.angles, np.where(turning, angles, state.angles), strict=True))
    bounded = [k for k, bound in enumerate(bounds) if bound != free]
    axes = [Axis((ways[k][0], 0.0, 0.0), (ways[k][1], 0.0, 0.0), *bounds[k]) for k in bounded]
    quickest = dict(zip(bounded, time_optimal(axes), strict=True)) if axes else {}
    duration = max((profile.duration for profile in quickest.values()), default=0.0)
    if not duration:
        return None  # nothing limits it
    turns = tuple(quickest.get(k) or shaped(control.shape, *way, duration) for k, way in enumerate(ways))
    held = tuple(shaped("linear", speed, speed, duration) for speed in state.speeds)
    return ModulePiece(control.drive, turns, held)


def smooth_shape(shape: Shape, limits: Sequence[Limits]) -> Shape:
    """The shape itself, or the nearest smoother one whose impulses no limit forbids.

    A twist along p(t) has ξ̇ as p′ and so on: where p′ jumps, the drive's jerk and steering's acceleration are impulses,
    where p″ does, steering's jerk is one.
    """
    declared = {name for held in limits for name in held.declared}
    needed: Shape = "linear"
    if declared & {"steering_acceleration", "drive_jerk"}:
        needed = "trapezoidal"
    if "steering_jerk" in declared:
        needed = "scurve"
    return PROFILES[max(PROFILES.index(shape), PROFILES.index(needed))]

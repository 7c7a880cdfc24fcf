"""Control levels: how commands become motions.

module: each module's angle and speed by a profile of its own over the command's time; what they don't agree on slips.
body: the body's twist by a profile over that time, the modules after it, without regard to limits.
limited: the same, slowed as far as the declared limits ask, with profiles that their jerks allow.
coordinated: the planner's quickest motion within the limits (`trundle.motion.planning.planner`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.choices import PROFILES, Shape
from trundle.errors import InputError
from trundle.motion.commands.commands import Three
from trundle.motion.drive.kinematics import Kinematics, ModuleStates
from trundle.motion.drive.limits import Limits, Quantity
from trundle.motion.pieces.extremes import peaks, slowing
from trundle.motion.pieces.motion import Piece
from trundle.motion.pieces.motion_pieces import (
    ComplexArray,
    ModulePiece,
    TwistLine,
    agreed,
    rolling_axes,
    slips,
    velocities,
)
from trundle.motion.pieces.profiles import Profile, shaped, unit_shape
from trundle.motion.time_optimal import Axis, time_optimal
from trundle.results.arrays import FloatArray

# A module's velocity below this share of the largest is rounding: it stands on the centre of rotation.
_STILL = 1e-12
# Modules that contradict one rigid motion by less than this share of their speed are rounded numbers in a file.
_CONTRADICTION = 1e-3
# A straight way that takes so many times its time leads past a wheel's axis: braking first is quicker.
_PATIENCE = 10.0
# Where a line of twists begins in zero, its wheels' directions are those of a place so far along it.
_AHEAD = 1e-6
# A turn below this needs no time of its own (rad).
_ALIGNED = 1e-12
# Slowing is rounded up by so much, for the rounding in the largest values.
_SPARE = 1e-9


@dataclass(frozen=True, eq=False)
class State:
    """Where commands stand: the twist (3,), the modules' angles (m,) without jumps, and their speeds (m,)."""

    twist: FloatArray
    angles: FloatArray
    speeds: FloatArray


@dataclass(frozen=True)
class Target:
    """What a command asks for: a twist, or angles and speeds of the modules in the kinematics' order."""

    place: int
    duration: float
    twist: Three | None = None
    modules: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True)
class Stretch:
    """A command that takes longer than it was given, how many times, and which limit of which module asks for it."""

    command: int
    factor: float
    limit: Quantity
    module: str


@dataclass(frozen=True)
class Step:
    """The pieces of one command, the state after it, and what was changed of it."""

    pieces: tuple[Piece, ...]
    state: State
    stretches: tuple[Stretch, ...] = ()
    notes: tuple[str, ...] = ()

    def then(self, other: Step) -> Step:
        """This one and another behind it."""
        return Step(
            (*self.pieces, *other.pieces),
            other.state,
            (*self.stretches, *other.stretches),
            (*self.notes, *other.notes),
        )


@dataclass(frozen=True)
class Drive:
    """Who moves: the kinematics, the limits of each module, whether they are held, and the shape of profiles."""

    kinematics: Kinematics
    limits: tuple[Limits, ...]
    shape: Shape
    held: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The modules' names."""
        return self.kinematics.names

    def states(self, twist: FloatArray, state: State) -> ModuleStates:
        """The modules at a twist, on from a state."""
        now = ModuleStates(self.names, state.angles, state.speeds, np.zeros(len(self.names)))
        return self.kinematics.module_states(*twist, previous=now)

    def beyond(self, angles: FloatArray) -> FloatArray:
        """By how much angles (m,) are outside the modules' ranges, in rad."""
        ranges = [each.steering_range or (-math.inf, math.inf) for each in self.limits]
        return np.array([max(low - a, a - high, 0.0) for a, (low, high) in zip(angles, ranges, strict=True)])


def by_modules(drive: Drive, state: State, target: Target) -> Step:
    """Every module by itself over the command's time, the shortest way that its range allows."""
    if target.modules is not None:
        (angles, speeds), period = target.modules, 2 * math.pi
    else:
        found = drive.states(np.array(target.twist), state)
        angles, speeds, period = found.angles, found.speeds, math.pi
    placed = _placed(drive, state, angles, period)
    speeds = np.where(np.round((placed - angles) / math.pi) % 2 == 1, -speeds, speeds)
    piece = _modules(drive, state, placed, speeds, target.duration)
    twist = piece.samples(np.array([target.duration])).twist[0]
    return Step((piece,), State(twist, placed, speeds))


def by_body(drive: Drive, state: State, target: Target) -> Step:
    """The body's twist on a straight line, the modules after it; slowed for the limits where the drive holds them."""
    twist, notes = np.array(target.twist or _agreed(drive, target)), ()
    if target.modules is not None and np.abs(target.modules[1]).max() <= _STILL:
        return _steered(drive, state, target, target.modules[0])
    if drive.held:
        twist, notes = _within_speeds(drive, twist)
    line = _line(drive, state, twist)
    ends = line(1.0).angles_at(np.array([0.0, 1.0]))
    if any(drive.beyond(end).any() for end in ends):
        why = "a straight way would take a wheel out of its steering range"
        return replace(
            _through_rest(drive, state, target, twist), notes=(*notes, f"goes through rest: {why}")
        )
    found = _along(drive, state, line, target)
    if any(each.factor > _PATIENCE for each in found.stretches):
        why = f"a straight way past the axis of {found.stretches[0].module} would take {_PATIENCE:g} times its time"
        return replace(
            _through_rest(drive, state, target, twist), notes=(*notes, f"goes through rest: {why}")
        )
    return replace(found, notes=notes)


def coordinated(drive: Drive, state: State, target: Target) -> Step:
    """The planner's quickest way to the twist, which is then held to the end of the command's time."""
    from trundle.motion.planning.planner import plan  # late: the other levels don't wait for it

    if target.modules is not None and np.abs(target.modules[1]).max() <= _STILL:
        return _steered(drive, state, target, target.modules[0])
    twist = np.array(target.twist or _agreed(drive, target))
    limits = dict(zip(drive.names, drive.limits, strict=True))
    found = plan(drive.kinematics, twist, start=state.twist, angles=state.angles, limits=limits)
    reached = found.samples([found.duration]).twist[0] if found.notes else twist
    after = agreeing_state(drive, reached, found.transitions[-1].end_angles)
    notes = tuple(note.partition(": ")[2] for note in found.notes)
    spare = target.duration - found.duration
    if spare <= 0:
        least = f"the least time that limits allow is above {found.bound:.4g} s"
        notes += (f"takes {found.duration:.4g} s, not {target.duration:g}: {least}",)
        return Step(tuple(found.pieces), after, (), notes)
    hold = TwistLine(drive.kinematics, reached, np.zeros(3), shaped("linear", 0.0, 0.0, spare), after.angles)
    return Step((*found.pieces, hold), after, (), notes)


def agreeing_state(drive: Drive, twist: FloatArray, angles: FloatArray) -> State:
    """The state at a twist, the modules' angles made exact where they move."""
    exact = entry_angles(drive, State(twist, angles, np.zeros_like(angles)), np.zeros(3))
    along = rolling_axes(drive.kinematics, exact)
    return State(twist, exact, (np.conj(along) * velocities(drive.kinematics, twist)).real)


def _agreed(drive: Drive, target: Target) -> FloatArray:
    """The twist of a command of modules that agree with one; InputError says by how much others contradict it."""
    assert target.modules is not None
    angles, speeds = target.modules
    rims: ComplexArray = np.asarray(speeds * np.exp(1j * angles), dtype=np.complex128)[None]
    twist = agreed(drive.kinematics, rims)
    check_agreement(drive, twist[0], angles, speeds)
    return twist[0]


def check_agreement(drive: Drive, twist: FloatArray, angles: FloatArray, speeds: FloatArray) -> None:
    """InputError where modules contradict a twist."""
    slip = slips(drive.kinematics, velocities(drive.kinematics, twist)[None], angles, speeds)[0]
    worst = int(slip.argmax())
    if slip[worst] > _CONTRADICTION * max(
        np.abs(speeds).max(), np.abs(velocities(drive.kinematics, twist)).max()
    ):
        raise InputError(
            f"the modules contradict one rigid motion: {drive.names[worst]} would slip at {slip[worst]:.4g} m/s",
            hint="kinematics.module_states(v_x, v_y, omega) gives angles and speeds that agree; the level `module` "
            "drives them as they are, and reports the slip",
        )


def _within_speeds(drive: Drive, twist: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """A twist in the same direction at which no wheel is faster than its limit."""
    along = rolling_axes(drive.kinematics, drive.kinematics.headings)
    u = velocities(drive.kinematics, twist)
    points = np.array([module.points for module in drive.kinematics.modules])
    speeds = np.where(points, np.abs(u), np.abs((np.conj(along) * u).real))
    shares = [
        limits.drive_speed / max(speed, 1e-300) for limits, speed in zip(drive.limits, speeds, strict=True)
    ]
    least = int(np.argmin(shares))
    if shares[least] >= 1:
        return twist, ()
    name, limit = drive.names[least], drive.limits[least].drive_speed
    faster = f"{name} would roll at {speeds[least]:.4g} m/s, of {limit:g}"
    note = f"the twist is {shares[least]:.4g} of what was asked: {faster}"
    return twist * shares[least], (note,)


def _steered(drive: Drive, state: State, target: Target, angles: FloatArray) -> Step:
    """Wheels steered at rest over the command's time; of a drive that moves the first half is for braking."""
    begun = Step((), state)
    if np.abs(state.twist).max() > _STILL:
        target = replace(target, duration=target.duration / 2)
        begun = _along(drive, state, _line(drive, state, np.zeros(3)), target)
        begun = replace(begun, notes=("brakes in the first half of its time, and steers in the second",))
    placed = _placed(drive, begun.state, angles, 2 * math.pi)
    still = np.zeros(len(angles))

    def over(duration: float) -> Piece:
        return _modules(drive, replace(begun.state, speeds=still), placed, still, duration)

    piece, stretched = _paced(drive, over, target)
    return begun.then(Step((piece,), State(np.zeros(3), placed, still), stretched))


def _placed(drive: Drive, state: State, angles: FloatArray, period: float) -> FloatArray:
    """Angles that differ by periods, each nearest to where its module is and within its range."""
    found = []
    for now, angle, limits, name in zip(state.angles, angles, drive.limits, drive.names, strict=True):
        low, high = limits.steering_range or (-math.inf, math.inf)
        near = now + math.remainder(angle - now, period)
        kept = [near + k * period for k in range(-4, 5) if low <= near + k * period <= high]
        if not kept:
            raise _out_of_range(name, angle, limits)
        found.append(min(kept, key=lambda each: abs(each - now)))
    return np.array(found)


def _out_of_range(name: str, angle: float, limits: Limits) -> InputError:
    low, high = (f"{math.degrees(end):.4g}°" for end in limits.steering_range or (0.0, 0.0))
    return InputError(
        f"{name} can't be steered to {math.degrees(angle):.4g}°: it turns from {low} to {high}",
        hint="a wider range of its limits (lower, upper), or another command",
    )


def _modules(
    drive: Drive, state: State, angles: FloatArray, speeds: FloatArray, duration: float
) -> ModulePiece:
    """All modules from a state to angles and speeds over a time."""

    def profiles(start: FloatArray, end: FloatArray) -> tuple[Profile, ...]:
        return tuple(shaped(drive.shape, a, b, duration) for a, b in zip(start, end, strict=True))

    return ModulePiece(drive.kinematics, profiles(state.angles, angles), profiles(state.speeds, speeds))


def _along(drive: Drive, state: State, line: Callable[[float], TwistLine], target: Target) -> Step:
    """A line of twists over the command's time, after the turns that its start needs; `body` lets wheels jump there."""
    angles = line(1.0).angles
    turn = steering(drive, state, angles) if drive.held else None
    first = () if turn is None else (turn,)
    piece, stretched = _paced(drive, line, target)
    last = piece.samples(np.array([piece.duration]))
    after = State(line(1.0).end, last.angle[0], last.drive_speed[0])
    return Step((*first, piece), after, stretched)


def _paced(drive: Drive, over: Callable[[float], Piece], target: Target) -> tuple[Piece, tuple[Stretch, ...]]:
    """A piece over the command's time, or as much longer as the limits ask where they are held."""
    piece = over(target.duration)
    if not drive.held:
        return piece, ()
    factor, reason = slowing(peaks(piece), drive.limits)
    if reason is None:
        return piece, ()
    stretch = Stretch(target.place, factor, reason.quantity, drive.names[reason.module])
    return over(target.duration * factor * (1 + _SPARE)), (stretch,)


def _through_rest(drive: Drive, state: State, target: Target, twist: FloatArray) -> Step:
    """Brake, steer and go: half of the time for each of the two lines."""
    found, half = Step((), state), replace(target, duration=target.duration / 2)
    for goal in (np.zeros(3), twist):
        line = _line(drive, found.state, goal)
        beyond = drive.beyond(line(1.0).angles)
        if beyond.any():
            worst = int(beyond.argmax())
            raise _out_of_range(drive.names[worst], line(1.0).angles[worst], drive.limits[worst])
        found = found.then(_along(drive, found.state, line, half))
    return found


def _line(drive: Drive, state: State, twist: FloatArray) -> Callable[[float], TwistLine]:
    """The straight line from the state's twist to another, as a function of the time it takes."""
    change = twist - state.twist
    angles = entry_angles(drive, state, change)

    def over(duration: float) -> TwistLine:
        profile = shaped(drive.shape, 0.0, 1.0, duration)
        return TwistLine(drive.kinematics, state.twist, change, profile, angles)

    slip = over(1.0).samples(np.array([1.0])).slip[0]
    worst = int(slip.argmax())
    if slip[worst] > _CONTRADICTION * np.abs(twist).max():
        asked = ", ".join(f"{each:g}" for each in twist)
        sliding = f"{drive.names[worst]} would slip at {slip[worst]:.4g} m/s"
        raise InputError(
            f"the wheels can't roll along the twist ({asked}): {sliding}",
            hint="wheels that don't steer leave a base few motions; `trundle check` tells which",
        )
    return over


def entry_angles(drive: Drive, state: State, change: FloatArray) -> FloatArray:
    """The angles at which modules begin a line: along their velocities, or against them where that is nearer; those
    that stand still along what their velocities will be, or as they are.
    """
    start, later = velocities(drive.kinematics, state.twist), velocities(drive.kinematics, change)
    still = np.abs(start) <= _STILL * np.maximum(np.abs(later), np.abs(start).max())
    along = np.where(still, later, start)
    guess = drive.states(state.twist + _AHEAD * change, state).angles
    turn = np.angle(along * np.exp(-1j * guess))
    exact = guess + turn - math.pi * np.round(turn / math.pi)
    steered = np.array([module.points for module in drive.kinematics.modules])
    angles = np.where(steered & (np.abs(along) > 0), exact, state.angles)
    line = TwistLine(drive.kinematics, state.twist, change, unit_shape("linear"), angles)
    swing = line.angles_at(np.array([1.0]))[0] - angles
    for i in np.flatnonzero(still & (np.abs(along) > 0)):
        angles[i] = _half_in_range(angles[i], swing[i], state.angles[i], drive.limits[i])
    return angles


def _half_in_range(angle: float, swing: float, now: float, limits: Limits) -> float:
    """The same or turned by half turns, so that it starts and ends within the range, if one does."""
    low, high = limits.steering_range or (-math.inf, math.inf)
    if low <= min(angle, angle + swing) and max(angle, angle + swing) <= high:
        return angle
    ways = [angle + k * math.pi for k in range(-4, 5)]
    kept = [way for way in ways if low <= min(way, way + swing) and max(way, way + swing) <= high]
    return min(kept, key=lambda way: abs(way - now), default=angle)


def steering(drive: Drive, state: State, angles: FloatArray) -> ModulePiece | None:
    """Wheels that stand still turn to angles as fast as their limits allow, arriving together; the others roll on.
    None where no limit asks for time.
    """
    turning = np.abs(angles - state.angles) > _ALIGNED
    rolling = turning & (np.abs(state.speeds) > _STILL)
    if rolling.any():
        raise InputError(f"{drive.names[int(rolling.argmax())]} rolls, and would have to turn at once")
    free = math.inf, math.inf, math.inf
    bounds = [(each.steering_rate, each.steering_acceleration, each.steering_jerk) for each in drive.limits]
    ways = list(zip(state.angles, np.where(turning, angles, state.angles), strict=True))
    bounded = [k for k, each in enumerate(bounds) if each != free]
    axes = [Axis((ways[k][0], 0.0, 0.0), (ways[k][1], 0.0, 0.0), *bounds[k]) for k in bounded]
    quickest = dict(zip(bounded, time_optimal(axes), strict=True)) if axes else {}
    duration = max((profile.duration for profile in quickest.values()), default=0.0)
    if not duration:
        return None  # nothing limits it
    turns = tuple(quickest.get(k) or shaped(drive.shape, *way, duration) for k, way in enumerate(ways))
    held = tuple(shaped("linear", speed, speed, duration) for speed in state.speeds)
    return ModulePiece(drive.kinematics, turns, held)


def smooth_shape(shape: Shape, limits: Sequence[Limits]) -> Shape:
    """The shape itself, or the nearest smoother one whose impulses no declared limit forbids.

    A twist along p(t) has ξ̇ as p′ and so on: where p′ jumps, the drive's jerk and steering's acceleration are impulses,
    where p″ does, steering's jerk is one.
    """
    declared = {name for each in limits for name in each.declared}
    needed: Shape = "linear"
    if declared & {"steering_acceleration", "drive_jerk"}:
        needed = "trapezoidal"
    if "steering_jerk" in declared:
        needed = "scurve"
    return PROFILES[max(PROFILES.index(shape), PROFILES.index(needed))]

"""The search behind `trundle.fastest`: starts looked at coarsely, the promising ones finely, then certified."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.constraints.real_limits import ActuationLimits
from trundle.motion.constraints.slowdown import most_taken, slowdown
from trundle.motion.constraints.wheels import SteeringRanges, WheelLimits
from trundle.motion.constraints.zones import ZoneLimits
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.fastest.directed import Directed
from trundle.motion.fastest.guesses import guess_of
from trundle.motion.fastest.obstacles import Obstacle, clear_by
from trundle.motion.fastest.problem import Problem, Stop, phases_of
from trundle.motion.fastest.programme import Nodes
from trundle.motion.fastest.real import like_declared, repaced
from trundle.motion.fastest.starts import Guess, ways
from trundle.motion.paths.following import aligned
from trundle.motion.paths.retime import TooFastError
from trundle.motion.pieces.motion import Motion, Piece, Samples, total
from trundle.motion.planning.search import Candidate
from trundle.progress import Doing

# Intervals of a first look at a start, and of the motion itself: fewer where the true laws along it cut them on.
_FEW, _MANY, _CUT = 30, 100, 50
# Starts whose first look takes up to so many times the best one's time are looked at closer, so many at most.
_NEAR, _CLOSER = 1.1, 2
# Starts whose times differ by a smaller share than this led to the same motion.
_SAME = 1e-5
# A motion that takes so many times what its first look promised is another one.
_STRAYED = 1.02
# What is kept from obstacles at the programme's points (m): between them a way bends by less, or is tried again.
_KEPT = (1e-3, 4e-3, 16e-3)
# How often limits are drawn in at most, and by how much more than what was missed.
_DRAWN_IN, _SPARE = 4, 1 - 1e-4
# Ways at most until one is clear of obstacles, and passes poses as fast as is asked.
_ROUNDS = 8
# Poses are met to this share of how far they are apart (1 m at least), on up to so many intervals.
_MET, _MOST = 1e-8, 400
# Steering ranges are left by no more than this share.
_BEYOND = 1e-9
# Starts at most of which is asked what gives way.
_EASED = 2


@dataclass(frozen=True, eq=False)
class Search:
    """Whose motion is sought: its modules with their declared limits, its motors and floor where these bind, and the
    modules' angles before.
    """

    who: Kinematics
    declared: Drive
    real: ActuationLimits | None
    now: FloatArray | None

    @property
    def retimes(self) -> bool:
        """Whether more than wheels' declared limits counts, along the ways that are found without it."""
        return self.real is not None or bool(self.who.robot.constraints)

    def problem(
        self, stops: tuple[Stop, ...], obstacles: tuple[Obstacle, ...], outline: FloatArray
    ) -> Problem:
        """The problem in numbers, motors and floor taken for limits."""
        if self.real is None:
            return Problem(self.declared, stops, obstacles, outline)
        drive, hold = like_declared(self.declared, self.real)
        return Problem(drive, stops, obstacles, outline, hold)


@dataclass(frozen=True, eq=False)
class _Tried:
    """What a start led to: nodes on phases, the time that they promise, and the problem that they solve: steering
    ranges of more than half a turn may be narrower in it.
    """

    way: Guess
    phases: tuple[int, ...]
    nodes: Nodes
    time: float
    problem: Problem


@dataclass(frozen=True, eq=False)
class Reached:
    """A motion that a start led to: its pieces, and when it passes the stops (s)."""

    way: Guess
    pieces: tuple[Piece, ...]
    times: FloatArray

    @property
    def time(self) -> float:
        """How long it takes (s)."""
        return total(self.pieces)


def searched(problem: Problem, search: Search, doing: Doing) -> tuple[Reached, tuple[Candidate, ...]]:
    """The best of all starts: they are looked at on a coarse grid, the promising ones on a fine one.

    Those that turn the longer way round come last. They are left where one of them is slower than the best so far.
    """
    first: list[_Tried] = []
    lost: list[Candidate] = []
    slower = False
    for way in ways(problem):
        doing.at(way.name)
        if slower:
            lost.append(Candidate(way.name, math.inf, "another start that turns so is slower"))
            continue
        tried = _tried(problem, way)
        if tried is None:
            lost.append(Candidate(way.name, math.inf, "the search from it found no motion"))
        else:
            slower = way.longer and any(own.time < tried.time for own in first)
            first.append(tried)
    closer = _closer(search, first or [_eased(problem, doing)], lost, doing)
    told = [Candidate(own.way.name, own.time, "slower" if k else "") for k, own in enumerate(closer)]
    return closer[0], (*told, *lost)


def _closer(search: Search, first: list[_Tried], lost: list[Candidate], doing: Doing) -> list[Reached]:
    """The promising starts on a fine grid, the best one first; why others aren't among them is told in `lost`."""
    first.sort(key=lambda tried: tried.time)
    closer: list[Reached] = []
    looked: list[float] = []
    reasons: list[str] = []
    for tried in first:
        if any(abs(tried.time - time) < _SAME * time for time in looked):
            lost.append(Candidate(tried.way.name, tried.time, "leads to the same motion"))
            continue
        if len(closer) == _CLOSER or (tried.time > _NEAR * first[0].time and closer):
            lost.append(Candidate(tried.way.name, tried.time, "slower at a first look"))
            continue
        doing.at(tried.way.name)
        fine = _fine(tried, search)
        if not _strayed(tried, fine, search):
            looked.append(tried.time)
        if isinstance(fine, str):
            reasons.append(fine)
            lost.append(Candidate(tried.way.name, tried.time, fine))
        else:
            closer.append(fine)
    if not closer:
        raise NumericsError(
            f"no start of the search led to a motion: {reasons[0]}; give poses on the way, by `via`"
        )
    return sorted(closer, key=lambda own: own.time)


def _strayed(tried: _Tried, fine: Reached | str, search: Search) -> bool:
    """Whether the fine grid led to another motion than the first look did: another start may lead to that."""
    return not search.retimes and not isinstance(fine, str) and fine.time > _STRAYED * tried.time


def _eased(problem: Problem, doing: Doing) -> _Tried:
    """What the start that misses the least of what is asked leads to, if that is nothing; else NumericsError that says
    what gives way.
    """
    from trundle.motion.fastest.elastic import explain, least_missed

    least, why = math.inf, "no start of the search led to a motion"
    for way in islice(ways(problem), _EASED):
        doing.at(f"what gives way, {way.name}")
        own = replace(problem, parts=way.parts)
        phases, guess = _guess(own, way)
        found = least_missed(own, phases, own.solved(phases, guess)[0])
        if found is None:
            continue
        nodes, missed, whole = found
        if missed is None and (tried := _solved(own, way, phases, nodes)) is not None:
            return tried
        if missed is not None and whole < least:
            least = whole
            why = f"no motion keeps all that is asked, it seems: {explain(own, phases, missed)}"
    raise NumericsError(f"{why}; ask for less there, or give poses on the way, by `via`")


def _guess(problem: Problem, way: Guess) -> tuple[tuple[int, ...], Nodes]:
    """Phases of a first look, and nodes of a start on them."""
    phases = phases_of(way.lengths(problem.size), _FEW)
    return phases, guess_of(problem, phases, way.poses(phases, problem.size, problem.quickens), way.backward)


def _tried(problem: Problem, way: Guess) -> _Tried | None:
    """What a start leads to at a first look; None where that is no motion.

    Of steering ranges of more than half a turn a programme knows nothing: where one is left, half a turn counts.
    """
    problem = replace(problem, parts=way.parts)
    phases, guess = _guess(problem, way)
    tried = _solved(problem, way, phases, guess)
    if tried is None or not problem.wide or _swung(problem.piece(phases, tried.nodes, None)) <= 1 + _BEYOND:
        return tried
    return _solved(problem.narrowed(1.0, math.pi), way, phases, guess)


def _solved(problem: Problem, way: Guess, phases: tuple[int, ...], guess: Nodes) -> _Tried | None:
    """The local optimum beside a guess, if there is one."""
    grown = problem.grown(_KEPT[0])
    # a word is the motion itself, or near to it; starts that only lead past obstacles aren't
    nodes, found = grown.solved(phases, guess, warm=bool(way.parts))
    if way.parts and not found:
        nodes, found = grown.solved(phases, guess)
    time = float(nodes.durations @ np.array(phases)) * problem.second
    return _Tried(way, phases, nodes, time, problem) if found else None


def _fine(tried: _Tried, search: Search) -> Reached | str:
    """The motion of a start on the fine grid; or why there is none.

    Obstacles are touched however much is kept from them at the programme's points, no limit is certain, or motors and
    floor don't give what is asked.
    """
    problem, why, share, kept = tried.problem, "", 1.0, list(_KEPT)
    phases = phases_of(tried.phases, _CUT if search.retimes else _MANY)
    guess = tried.nodes.refined(problem.shape(tried.phases), phases)
    for _ in range(_ROUNDS):
        grown = problem.grown(kept[0])
        nodes, found = _finer(grown, phases, guess, share, tried.time)
        if not found:
            phases, nodes = tried.phases, tried.nodes
        way = _certified(grown, phases, nodes, search)
        if isinstance(way, str):
            return way
        motion = Motion(search.who, (way,), problem.start)
        if why := _missed(problem, phases, motion, way):
            if not found or sum(phases) > _MOST / 2:
                return why
            more = tuple(2 * count for count in phases)
            guess, phases = nodes.refined(problem.shape(phases), more), more
            continue
        if why := _touched(problem, motion):
            kept.pop(0)
        else:
            try:
                return _reached(tried, phases, motion, way, search)
            except TooFastError as error:
                # along a way that is as fast by less than motors and floor may give, bends are wider
                why, share = str(error), share * error.share * _SPARE
        if not (found and kept):
            break
        guess = nodes
    return why


def _finer(
    problem: Problem, phases: tuple[int, ...], guess: Nodes, share: float, promised: float
) -> tuple[Nodes, bool]:
    """The local optimum beside a guess from a coarser grid; where that takes longer than was promised, the one that a
    search from far leads to may be the one.
    """

    def time(nodes: Nodes) -> float:
        return float(nodes.durations @ np.array(phases)) * problem.second

    nodes, found = problem.solved(phases, guess, share, warm=True)
    if found and time(nodes) * share > _STRAYED * promised:
        other, better = problem.solved(phases, guess, share)
        if better and time(other) < time(nodes):
            return other, True
    return nodes, found


def _missed(problem: Problem, phases: tuple[int, ...], motion: Motion, way: Directed) -> str:
    """Which pose a motion misses, as its intervals turn too far for the programme's quadrature; nothing where none."""
    poses = motion.poses(way.breaks[problem.stop_nodes(phases)])
    places = np.array([[stop.x, stop.y] for stop in problem.stops])
    missed = np.hypot(*(poses[:, :2] - places).T)
    worst = int(missed.argmax())
    if missed[worst] <= _MET * max(1.0, float(np.hypot(*np.diff(places, axis=0).T).sum())):
        return ""
    return f"on a way so long {problem.keys[worst]} is missed by {missed[worst]:.2g} m"


def _touched(problem: Problem, motion: Motion) -> str:
    """Which obstacle a motion may touch; nothing where none."""
    for obstacle in problem.obstacles:
        if clear_by(motion, problem.outline, obstacle) <= 0:
            return f"between the programme's points it may touch keep_out[{obstacle.place}]"
    return ""


def _reached(
    tried: _Tried, phases: tuple[int, ...], motion: Motion, way: Directed, search: Search
) -> Reached:
    """A way at the pace that motors and floor let it be taken at, behind turns of wheels that stand otherwise."""
    times = way.breaks[tried.problem.stop_nodes(phases)]
    piece: Piece = way
    if search.retimes:
        piece = repaced(tried.problem, phases, motion, search.declared, search.real)
        times = np.array([piece.scaling.when(z) for z in times / way.duration])
    turns = aligned(search.declared, search.now, way.angles, search.real)
    return Reached(tried.way, (*turns, piece), times + total(turns))


def _certified(problem: Problem, phases: tuple[int, ...], nodes: Nodes, search: Search) -> Directed | str:
    """The piece of nodes, slowed by so much that all limits hold between the programme's points; or why not."""
    # slowing the whole would change the speeds asked for: the limits are drawn in instead
    exact = not search.retimes and any(stop.speed for stop in problem.stops)
    piece = problem.piece(phases, nodes, search.now)
    share = ranges = 1.0
    for _ in range(_DRAWN_IN):
        slower, swung = _slower(problem, phases, piece), _swung(piece)
        if math.isinf(slower):
            return (
                "no limit is certain between the programme's points: a wheel comes to the centre of rotation"
            )
        if swung <= 1 + _BEYOND and (slower == 1 or not exact):
            return piece.slowed(slower)
        share *= _SPARE / slower if exact else 1.0
        ranges *= _SPARE / max(swung, 1.0)
        tighter, found = problem.narrowed(ranges).solved(phases, nodes, share, warm=True)
        piece = problem.piece(phases, tighter, search.now) if found else piece
    if _swung(piece) > 1 + _BEYOND:
        return "modules leave their steering ranges"
    return "the limits between the programme's points leave less than the speeds asked for"


def _slower(problem: Problem, phases: tuple[int, ...], way: Directed) -> float:
    """How many times slower a way has to be taken for declared limits to hold; inf where a wheel may pass w = 0."""
    limits = WheelLimits(way.drive.names, way.drive.limits), ZoneLimits(problem.zones(phases, way.breaks))
    return slowdown((way,), Constraints(limits), Samples.along_way)[0].factor if way.turning else math.inf


def _swung(way: Directed) -> float:
    """The largest share of half of a steering range that a module is away from its middle."""
    return most_taken(way, Constraints((SteeringRanges(way.drive),)))[0]

"""Which body stands on which force plate and when: told, or found by the markers that are nearest to where it pushes.

A contact is a time over which a plate pushes with the threshold's force or more. One body has all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.errors import InputError, choose, require_known, warn
from trundle.limbs.capture.force_plates import ForcePlate
from trundle.limbs.capture.ground_reactions import GroundReaction
from trundle.limbs.capture.marker_model import Markers
from trundle.limbs.capture.plate_samples import denser, plate_smoothing
from trundle.limbs.capture.recording import PLATE, Recording
from trundle.limbs.capture.smoothing import Smoothing
from trundle.mechanics.assembly import Assembly
from trundle.wrenches import Frame, Wrench

PlateForces = ForcePlate | GroundReaction

# Bodies that a warning names.
_MOST_NAMED = 12
# How far (m) a foot's markers may be from where its load is, in the mean over a contact: a foot's length (0.152 of the
# height, Winter 2009), as far as the toes are from a heel that alone has a marker.
_REACH = 0.25
# How much nearer (m) than any other foot it has to be: half of a foot's width, which markers on skin are good for.
_MARGIN = 0.05
# The share of a contact's impulse that may be nearer to another foot: more is that foot's own.
_SHARED = 0.05
# A person's foot that is on a plate all the time has it loaded by more than this share of its greatest load at least:
# who stands on both feet shifts the weight by less.
_UNLOADED = 0.1
# Shorter contacts (s) that no foot is near to are noise, as in `trundle.contacts`.
_SHORTEST = 0.05


@dataclass(frozen=True)
class PlateContact:
    """A time over which a plate pushes a body.

    Parameters
    ----------
    plate, body : str
        What pushes, and which body.
    start, end : float, s
        Of its first and its last sample.
    by : "markers" or "external"
        Whether the body was found by its markers, or told.
    off : float, m, optional
        How far the outline of the body's markers is from the centre of pressure, in the mean weighted by the load;
        none without markers.
    margin : float, m, optional
        How much nearer that is than the next foot's; none where there is no other.
    """

    plate: str
    body: str
    start: float
    end: float
    by: str
    off: float | None = None
    margin: float | None = None


class PlateAssignment(NamedTuple):
    """Who stands on what: the contacts, of a plate and a body one wrench, and what pushes nobody, from when to when."""

    contacts: list[PlateContact]
    wrenches: list[Wrench]
    lonely: list[tuple[PlateForces, float, float]]


@dataclass(frozen=True, eq=False)
class _Load:
    """A plate's load during a contact: which samples (slice), where (k, 3), how much (k,), and from when to when."""

    plate: PlateForces
    samples: slice
    places: FloatArray
    weights: FloatArray
    start: float
    end: float

    @property
    def description(self) -> str:
        """For a sentence."""
        return f"'{self.plate.name}' from {self.start:.4g} to {self.end:.4g} s"


def by_name(plates: Sequence[PlateForces]) -> dict[str, PlateForces]:
    """Plates by their names, and as plate1, plate2, … by their numbers."""
    numbered = {f"plate{number}": plate for number, plate in zip(_numbers(plates), plates, strict=True)}
    return {plate.name: plate for plate in plates} | numbered


def _numbers(plates: Sequence[PlateForces]) -> list[int]:
    """The plates' numbers in the file, where some may not have been read, or else in their order."""
    numbers = [0]
    for plate in plates:
        numbers.append(plate.number or numbers[-1] + 1)
    return numbers[1:]


def floor_of(
    plates: Sequence[PlateForces], method: Smoothing | str | Mapping[str, object], times: FloatArray
) -> tuple[tuple[PlateForces, ...], dict[str, object]]:
    """Plates and ground reactions as they are smoothed, and what is done to them on the way to a motion's times."""
    chosen = plate_smoothing(method)
    floor = tuple(plates if chosen.name == "none" else (plate.smoothed(chosen) for plate in plates))
    onto = "mean" if any(denser(plate.time, times) for plate in floor) else "linear"
    return floor, {"smoothing": dict(chosen.record), "times": onto}


def feet_of(
    assembly: Assembly, seen: Mapping[str, FloatArray], markers: Markers, told: Sequence[str]
) -> dict[str, FloatArray]:
    """Where the markers of feet were seen (n, m, 3): bodies at the ends of limbs, and those told, which end theirs."""
    links, above = assembly.links, assembly.tree.ancestors
    names: dict[int, str] = {links[body]: body for body in (*(on for on, _ in markers.values()), *told)}
    marked = {links[body] for body, _ in markers.values()}
    said = {links[body] for body in told}
    carrying = {other for link in marked for other in above(link) if other != link}
    feet: dict[str, FloatArray] = {}
    for link in sorted(marked):
        rides = any(other in said for other in above(link) if other != link)
        if link in said or (link not in carrying and not rides):
            on = [seen[name] for name, (body, _) in markers.items() if links[body] == link]
            feet[names[link]] = np.stack(on, axis=1)
    return feet


def standing(
    plates: Sequence[PlateForces],
    pairs: Sequence[tuple[str, str]],
    feet: Mapping[str, FloatArray],
    times: FloatArray,
    threshold: float,
) -> PlateAssignment:
    """Who stands on what at these times: those who are told, by plate; on other plates the feet that are nearest.

    Raises InputError where two feet share a contact, and where it can't be said which one stands there.
    """
    found = PlateAssignment([], [], [])
    known, laboratory = by_name(plates), Frame("laboratory")
    for plate in plates:
        told = list(dict.fromkeys(body for body, name in pairs if known[name] is plate))
        if not told and not (feet and _pushes(plate, times, threshold)):
            found.lonely.extend(_alone(plate, times, threshold))
            continue
        there, samples = plate.at(times), dict.fromkeys(told, np.zeros(times.size, dtype=bool))
        for load in _loads(there, threshold):
            if contact := _contact(load, told, feet):
                found.contacts.append(contact)
                mine = samples.get(contact.body, np.zeros(times.size, dtype=bool)).copy()
                mine[_to_nothing(there.pressing, load.samples)] = True
                samples[contact.body] = mine
            elif load.end - load.start >= _SHORTEST:
                found.lonely.append((plate, load.start, load.end))
        for body, during in samples.items():
            found.wrenches.append(_push(there, body, during, threshold, laboratory))
    return found


def _to_nothing(load: FloatArray, samples: slice) -> slice:
    """A contact's samples with those before and behind it in which the load (n,) falls off towards nothing."""
    first, end = samples.start, samples.stop
    while first > 0 and 0 < load[first - 1] < load[first]:
        first -= 1
    while end < load.size and 0 < load[end] < load[end - 1]:
        end += 1
    return slice(first, end)


def _push(plate: PlateForces, body: str, samples: BoolArray, threshold: float, frame: Frame) -> Wrench:
    """What the plate does to a body in these samples (n,), at the centre of pressure.

    A load below the threshold, as it comes and goes, has no centre of its own: it acts where the nearest one was, with
    the moment that it has there.
    """
    known = np.flatnonzero(samples & (plate.pressing >= threshold))
    push = _during(plate, samples).wrench(body, threshold=np.finfo(float).tiny, frame=frame)
    if not known.size:
        return push
    each = np.arange(samples.size)
    after = np.clip(np.searchsorted(known, each), 0, known.size - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(each - known[before] < known[after] - each, before, after)
    places = np.asarray(push.point.position(frame=frame))[known[nearest]]
    return push.at(frame.point(f"centre of pressure on {plate.name}", places))


def _during(plate: PlateForces, samples: BoolArray) -> PlateForces:
    """The plate with no force and no moment but in these samples (n,)."""
    force = np.where(samples[:, None], plate.force, 0.0)
    if isinstance(plate, ForcePlate):
        return replace(plate, force=force, moment=np.where(samples[:, None], plate.moment, 0.0))
    return replace(plate, force=force, torque=np.where(samples[:, None], plate.torque, 0.0))


def _alone(
    plate: PlateForces, times: FloatArray, threshold: float
) -> Iterator[tuple[PlateForces, float, float]]:
    """From when to when a plate pushes nobody that is known, at its own times."""
    for load in _loads(plate, threshold):
        start, end = max(load.start, float(times[0])), min(load.end, float(times[-1]))
        if end - start >= _SHORTEST:
            yield plate, start, end


def _pushes(plate: PlateForces, times: FloatArray, threshold: float) -> bool:
    """Whether anything pushes on the plate during these times; one that was recorded at others is left alone."""
    during = (plate.time >= times[0]) & (plate.time <= times[-1])
    return bool((plate.pressing[during] >= threshold).any())


def _loads(plate: PlateForces, threshold: float) -> Iterator[_Load]:
    """The times over which a plate pushes."""
    push = plate.wrench("somebody", threshold=threshold)
    places, loaded = np.asarray(push.point.position(frame=push.frame)), plate.pressing >= threshold
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loaded, [False]]).astype(int)))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        at, when = slice(first, end), plate.time[[first, end - 1]].tolist()
        yield _Load(plate, at, places[at], plate.pressing[at], *when)


def _contact(load: _Load, told: Sequence[str], feet: Mapping[str, FloatArray]) -> PlateContact | None:
    """Whose contact it is: the body that was told, or the foot that is nearest; None where none is near."""
    name, span = load.plate.name, (load.start, load.end)
    off = {body: _distances(load.places, places[load.samples]) for body, places in feet.items()}
    means = {body: _mean(distances, load.weights) for body, distances in off.items()}
    means = {body: mean for body, mean in means.items() if mean is not None}
    if len(told) == 1:
        body = told[0]
        _warn_far(load, body, means)
        return PlateContact(name, body, *span, "external", means.get(body), _margin(means, body))
    if told:
        means = {body: mean for body, mean in means.items() if body in told}
        if not means:
            hint = f"give one of them alone ({', '.join(told)}), or markers on them"
            message = f"{load.description} pushes one of several bodies, and no markers tell which"
            raise InputError(message, key="external", hint=hint)
    best = min(means, key=lambda body: means[body], default=None)
    if best is None or means[best] > _REACH:
        return None
    _refuse_two({body: off[body] for body in means}, load, best)
    margin = _margin(means, best)
    if margin is not None and margin < _MARGIN:
        near = sorted(means, key=lambda body: means[body])[:2]
        far = " and ".join(f"'{body}' by {1e3 * means[body]:.0f} mm" for body in near)
        message = (
            f"{load.description}: the centre of pressure is off {far}, too alike to tell which stands there"
        )
        raise InputError(message, key="external", hint=_say(load, near))
    return PlateContact(name, best, *span, "markers", means[best], margin)


def _refuse_two(off: Mapping[str, FloatArray], load: _Load, best: str) -> None:
    """InputError where a part of a contact is another foot's: one plate can't tell what each of two has."""
    for other, distances in off.items():
        if other == best:
            continue
        theirs = np.nan_to_num(off[best] - distances) > _MARGIN
        if float(load.weights[theirs].sum()) > _SHARED * float(load.weights.sum()):
            times = load.plate.time[load.samples][theirs]
            shared = f"'{other}' from {times[0]:.4g} to {times[-1]:.4g} s"
            message = f"{load.description} has two feet on it: '{best}', and {shared}"
            hint = f"one plate can't tell two feet apart: cut the recording there, or {_say(load, (best, other))}"
            raise InputError(message, key="external", hint=hint)


def _say(load: _Load, bodies: Sequence[str]) -> str:
    """How the user says which body it is."""
    pairs = " or ".join(f"{{{body!r}: {load.plate.name!r}}}" for body in bodies)
    return f"say by which it is pushed: external={pairs} (--external {bodies[0]}={load.plate.name!r})"


def _warn_far(load: _Load, body: str, means: Mapping[str, float]) -> None:
    """Warn of a body that was told and is far away, where markers show it."""
    if body in means and means[body] > _REACH and load.end - load.start >= _SHORTEST:
        nearest = min(means, key=lambda other: means[other])
        near = "" if nearest == body else f"; nearest is '{nearest}', {1e3 * means[nearest]:.0f} mm"
        warn(
            f"{load.description} is said to push '{body}', whose markers are {1e3 * means[body]:.0f} mm from its "
            f"centre of pressure{near}"
        )


def _mean(distances: FloatArray, weights: FloatArray) -> float | None:
    """The mean by weight over the samples in which markers were seen."""
    seen = np.isfinite(distances)
    return float(np.average(distances[seen], weights=weights[seen])) if seen.any() else None


def _margin(means: Mapping[str, float], body: str) -> float | None:
    """How much nearer a body is than the next one."""
    others = [mean for other, mean in means.items() if other != body]
    return min(others) - means[body] if others and body in means else None


def _distances(places: FloatArray, markers: FloatArray) -> FloatArray:
    """From places (n, 3) to the lines between a body's markers (n, m, 3), (n,) m; NaN where none was seen."""
    count = markers.shape[1]
    pairs = list(combinations(range(count), 2)) or [(0, 0)]
    shortest = np.full(len(places), np.nan)
    for one, other in [*pairs, *((k, k) for k in range(count))]:
        start, along = markers[:, one], markers[:, other] - markers[:, one]
        square = (along**2).sum(axis=1)
        share = ((places - start) * along).sum(axis=1) / np.maximum(square, np.finfo(float).tiny)
        nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
        shortest = np.fmin(shortest, np.linalg.norm(places - nearest, axis=1))
    return shortest


def require_read(recording: Recording, pairs: Collection[tuple[str, str]]) -> None:
    """InputError for a plate that couldn't be read, where nobody says which plates to use, or names that one."""
    named = {name for _, name in pairs}
    for name, error in recording.unread_plates.items():
        if not pairs or named & {name, name.replace(f"{PLATE} ", "plate")}:
            hint = "external={BODY: 'plate1'} (--external BODY=plate1) says which plates to use"
            message = f"{name} could not be read: {error.message}"
            raise InputError(message, file=error.file, key=error.key, hint=hint)


def require_plates(
    pairs: Iterable[tuple[str, str]], plates: Sequence[PlateForces], bodies: Mapping[str, int]
) -> None:
    """InputError for a plate or a body that isn't there."""
    known = by_name(plates)
    for body, name in pairs:
        if name not in known:
            hint = choose(name, known) if known else "`plates` (--plates) names a recording that has some"
            message = f"there is no force plate or ground reaction {name!r}"
            raise InputError(message, key="external", hint=hint)
        require_known(body, bodies, f"there is no body '{body}', which {name!r} is to push", key="external")


def require_upright(
    plates: Sequence[PlateForces],
    pairs: Iterable[tuple[str, str]],
    found: PlateAssignment,
    robots: str | None,
) -> None:
    """InputError where a body's plate faces along y and the robot's gravity is along z, or the other way round."""
    known = by_name(plates)
    for plate in [
        known[name] for name in (*(name for _, name in pairs), *(each.plate for each in found.contacts))
    ]:
        faces = "xyz"[int(np.abs(plate.normal).argmax())]
        if plate.normal.any() and {faces, robots} == {"y", "z"}:
            message = f"'{plate.name}' pushes along {faces}, and the robot's gravity is along {robots}"
            kept = f"--up {robots} leaves them as they are"
            hint = f"--up {faces} turns the recordings so that their {faces} is up; {kept}"
            raise InputError(message, key="external", hint=hint)


def warn_unassigned(standing: PlateAssignment, plates: Sequence[PlateForces], bodies: Iterable[str]) -> None:
    """Warn of plates that push nobody, with how much, when, and who there is."""
    for number, plate in zip(_numbers(plates), plates, strict=True):
        spans = [(start, end) for lonely, start, end in standing.lonely if lonely is plate]
        if not spans:
            continue
        during = np.any([(plate.time >= start) & (plate.time <= end) for start, end in spans], axis=0)
        most = float(plate.pressing[during].max(initial=0.0))
        names = [name for name in bodies if name != "world"]
        listed = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
        when = ", ".join(f"{start:.4g} to {end:.4g} s" for start, end in spans[:_MOST_NAMED])
        warn(
            f"{plate.name!r} is pushed on with up to {most:.4g} N ({when}), and by no body: the loads leave it out. "
            f"external={{BODY: 'plate{number}'}} (--external BODY=plate{number}) says by which: {listed}"
        )


def warn_untared(plates: Sequence[PlateForces], threshold: float) -> None:
    """Warn of plates that always push a little, and never less than the threshold: their zero is off."""
    for plate in plates:
        least, most = float(plate.pressing.min()), float(plate.pressing.max())
        if threshold <= least < _UNLOADED * most:
            warn(
                f"{plate.name!r} pushes with {least:.3g} N at least all the time, {most:.4g} N at most, and so makes "
                "one contact: is its zero off? Tare it, or set the threshold (--threshold) above that"
            )

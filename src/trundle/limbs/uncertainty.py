"""Bands of net joint moments: what marker noise and segments' parameters do to them, by exact sensitivities.

A marker's noise goes the way that the marker went, in proportion: through the least squares of inverse kinematics,
∂q/∂y = E H⁻¹ (J E)ᵀ W²; through smoothing, a matrix over time for values, rates and accelerations; through the speeds,
q̇ = P u; and through τ(q, u, u̇). Noise of one marker, axis and sample is independent of any other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from trundle.arrays import FloatArray
from trundle.catalog.anthropometry import deviations
from trundle.errors import InputError, require_known
from trundle.expected import by_name
from trundle.limbs.bands import Bands
from trundle.limbs.capture.gaps import Filling, gaps_of
from trundle.limbs.capture.inverse_kinematics import FitSlopes, fit_slopes
from trundle.limbs.capture.joint_motion import known_of, marker_places, moving_of
from trundle.limbs.capture.marker_model import marker_model
from trundle.limbs.capture.response import Response, normalised_slopes, response_of, speed_slopes
from trundle.limbs.capture.smoothing import METHODS, Smoothing, smoothing
from trundle.limbs.capture.speeds import groups_of
from trundle.limbs.loads.as_run import named_along
from trundle.limbs.loads.loads import Loads
from trundle.limbs.loads.sensitivities import inertia_slopes, motion_slopes
from trundle.mechanics.tree import WORLD
from trundle.model.arguments import number
from trundle.model.constraints import follower_columns
from trundle.model.moving import MovingMechanism
from trundle.progress import Doing, Progress
from trundle.scalars import is_zero

if TYPE_CHECKING:
    from trundle.limbs.inverse_result import InverseDynamicsResult

RESIDUALS, PUBLISHED = "residuals", "published"
_PARTS = ("mass", "center", "inertia")
_SEGMENTS = "such as {'shank': {'mass': 0.2, 'center': 0.01, 'inertia': 0.1}} (kg, m, share)"
# Words in bodies' names that tell which of a person's segments they are, OpenSim's among them.
_WORDS = {
    "upper_trunk": ("upper_trunk", "thorax"),
    "middle_trunk": ("middle_trunk", "abdomen"),
    "lower_trunk": ("lower_trunk", "pelvis"),
    "upper_arm": ("upper_arm", "humerus"),
    "forearm": ("forearm", "radius"),
    "hand": ("hand",),
    "thigh": ("thigh", "femur"),
    "shank": ("shank", "tibia"),
    "foot": ("foot", "calcn"),
    "head": ("head",),
}


def uncertainty(
    found: InverseDynamicsResult,
    marker_noise: float | str | None,
    segments: str | Mapping[str, Mapping[str, float]] | None,
    sex: str | None,
    progress: bool,
) -> Bands:
    """See `InverseDynamicsResult.uncertainty`."""
    loads = found.loads
    if loads.recursion.mechanism.assembly.loops:
        message = "bands are those of trees, and this robot has closed loops"
        raise InputError(message, key="bands", hint="leave the loops out, or the bands")
    columns = _columns(loads)
    record: dict[str, object] = {}
    variances: dict[str, FloatArray] = {}
    if marker_noise is not None:
        noise, by_markers = _of_markers(found, marker_noise, progress)
        variances |= by_markers
        record |= {"noise": noise, "noise_from": RESIDUALS if marker_noise == RESIDUALS else "given"}
    if segments is not None:
        told = _segment_deviations(loads, segments, sex)
        record |= {"segments": {body: dict(each) for body, each in told.items()}}
        variances["segments"] = _of_segments(loads, told)
    speeds = loads.recursion.speeds
    sources = {
        source: {name: np.sqrt(table[:, speeds.index(speed)]) for name, speed in columns.items()}
        for source, table in variances.items()
    }
    units = {
        name: loads.recursion.mechanism.assembly.quantities[speed].effort_unit
        for name, speed in columns.items()
    }
    return Bands(
        loads.time,
        {name: loads.joint_moment[speed] for name, speed in columns.items()},
        sources,
        units,
        record,
    )


def _columns(loads: Loads) -> dict[str, str]:
    """The net moments' columns with their speeds; the base's are no joint's."""
    tree, free = loads.recursion.tree, _free(loads)
    named: dict[str, str] = {}
    for link, at in zip(tree.links, tree.speed_slices(), strict=True):
        if link.parent != WORLD:
            own = [speed for speed in loads.recursion.speeds[at] if speed in free]
            named |= dict(named_along("net", loads, own))
    return named


def _free(loads: Loads) -> list[str]:
    """The speeds that follow no others by couplings."""
    followers = follower_columns(loads.recursion.mechanism.assembly)
    return [speed for k, speed in enumerate(loads.recursion.speeds) if k not in followers]


def _of_markers(
    found: InverseDynamicsResult, given: float | str, progress: bool
) -> tuple[float, dict[str, FloatArray]]:
    """The noise (m) of a marker's coordinate, and the variances (n, s) of net moments that it gives, by itself and by
    what a smoothing that tells it may have taken away.
    """
    with Doing(progress, "bands") as doing:
        moving = moving_of(found.loads.recursion.mechanism.robot)
        doing.at("inverse kinematics")
        seen = _seen(found, moving, given)
        doing.at("inverse dynamics")
        slopes = _moment_slopes(found, moving, seen)
        doing.at("smoothing")
        responses = _responses(moving, found, seen.fit.postures)
        left = _left_open(moving, found, seen.fit.postures)
    together = None if seen.earlier is None else sparse.csr_array(seen.earlier @ seen.earlier.T)
    shape = (len(found.motion), len(found.loads.recursion.speeds))
    shares = {source: np.zeros(shape) for source in ("markers", *(() if left is None else ("smoothing",)))}
    with Progress(progress, len(found.motion), "bands", "samples") as bar:
        squares = seen.fit.slopes @ np.swapaxes(seen.fit.slopes, 1, 2)
        if together is None:
            variances = _variances(slopes, responses, squares)
        else:
            variances = _variances_together(slopes, responses, seen.fit.slopes, together)
        for t, variance in enumerate(variances):
            shares["markers"][t] = variance
            if left is not None:
                size = 1.0 if together is None else together[t, t]
                inner = size * np.einsum("ab,cd->acbd", left[t], squares[t])
                shares["smoothing"][t] = _quadratic(slopes[:, t], inner)
            bar.fraction((t + 1) / len(found.motion))
    return seen.noise, {source: seen.noise**2 * table for source, table in shares.items()}


class _MarkerFit(NamedTuple):
    """The fit to the markers, how these were smoothed before, and the noise of what was measured (m)."""

    fit: FitSlopes
    earlier: sparse.csr_array | None
    noise: float


def _seen(found: InverseDynamicsResult, moving: MovingMechanism, given: float | str) -> _MarkerFit:
    """The fit that the motion came from, once more, near it; and the noise, estimated where that is asked for.

    s² = Σ |p(q) − y|² / (3 m − t), what is left of the measured markers by what they tell beyond the t motions.
    """
    recording, motion, markers = found.recording, found.motion, found.markers
    if not markers:
        message = "the motion came from coordinates, so that there is no marker noise"
        raise InputError(message, key="marker_noise", hint="marker_noise=None (--bands none) leaves it out")
    earlier = _method(motion.smoothing.get("markers"))
    if earlier is not None and earlier.by_data:
        message = (
            f"'{earlier.name}' of markers chooses how much by every marker and axis, which bands don't follow"
        )
        raise InputError(
            message, key="marker_smoothing", hint="smooth the coordinates by it (smoothing, --smooth)"
        )
    known = known_of(recording, moving, whole=False)
    held = {name: motion[name] for name in known}
    model = marker_model(moving, markers, known)
    gaps = motion.smoothing.get("gaps")
    filling = gaps_of({key: gaps[key] for key in ("rule", "longest")} if isinstance(gaps, dict) else None)

    def fit(smoothed: Smoothing | None, fill: Filling) -> FitSlopes:
        places = {name: marker_places(recording, name, fill, smoothed) for name in markers}
        return fit_slopes(model, places, held, [1.0] * len(places), motion.positions)

    used = fit(earlier, Filling(filling))
    matrix = None
    if earlier is not None:
        block = np.concatenate([recording.markers[name] for name in markers], axis=1)
        matrix = response_of(earlier.linear(motion.time, [block]), len(motion)).matrix
    if given != RESIDUALS:
        noise = number(given, "marker_noise", "m")
        if not noise > 0:
            raise InputError(f"noise is a positive length, not {noise:g} m", key="marker_noise")
        return _MarkerFit(used, matrix, noise)
    raw = used if earlier is None and filling is None else fit(None, Filling(None))
    counted = sum(3 * np.isfinite(recording.markers[name][:, 0]) for name in markers) - raw.moving
    if not counted.sum() > 0:
        message = "the markers tell no more than the motion, so that their residuals tell no noise"
        raise InputError(
            message, key="marker_noise", hint='give it: marker_noise="0.5 mm" (--bands "0.5 mm")'
        )
    return _MarkerFit(used, matrix, float(np.sqrt((raw.residuals**2).sum() / counted.sum())))


def _method(record: object) -> Smoothing | None:
    """A smoothing from its record, of which other keys are left out."""
    if not isinstance(record, Mapping):
        return None
    numbers = METHODS[str(record["method"])].__dataclass_fields__
    return smoothing({key: value for key, value in record.items() if key == "method" or key in numbers})


def _moment_slopes(found: InverseDynamicsResult, moving: MovingMechanism, seen: _MarkerFit) -> FloatArray:
    """How net moments change with smoothed coordinates, their rates and accelerations, (3, n, s, c).

    δu = P⁺(δq̇ − ∂(P u)/∂q δq), and δu̇ so of q̈ = P u̇ + d; then δτ = ∂τ/∂q δq + ∂τ/∂u δu + ∂τ/∂u̇ δu̇.
    """
    loads, motion = found.loads, found.motion
    by = motion_slopes(loads)
    order = [loads.recursion.mechanism.names.index(name) for name in motion.names]
    places = [_free(loads).index(name) for name in motion.speeds]
    speed = speed_slopes(moving, motion)
    second = by.nu_dot[:, :, places] @ speed.back
    first = (by.nu[:, :, places] - second @ speed.drift) @ speed.back
    values = by.q[:, :, order] - first @ speed.rates - second @ speed.second
    slopes = np.array([values, first, second])
    chosen = _method(motion.smoothing) or smoothing("none")
    for group in _groups(found, moving):
        parts = chosen.together(motion.time, [seen.fit.postures[:, columns] for columns in group])
        for columns, smoothed in zip(group, parts, strict=True):
            if len(columns) == 4:
                # the curve in four dimensions, before its length is made 1
                turned = normalised_slopes(smoothed).reshape(-1, 3, 4, 3, 4)
                slopes[:, :, :, columns] = np.einsum("anoi,naibj->bnoj", slopes[:, :, :, columns], turned)
    return slopes


def _groups(found: InverseDynamicsResult, moving: MovingMechanism) -> list[list[list[int]]]:
    """The coordinates whose smoothing was chosen together."""
    known = known_of(found.recording, moving, whole=False)
    return groups_of(found.motion.names, moving.mechanism.assembly.quantities, known)


def _left_open(
    moving: MovingMechanism, found: InverseDynamicsResult, postures: FloatArray
) -> FloatArray | None:
    """What the smoothing of those coordinates that markers tell may have taken from them (n, 3, 3), or None."""
    motion, chosen = found.motion, _method(found.motion.smoothing) or smoothing("none")
    return chosen.left_open(motion.time, [postures[:, columns] for columns in _groups(found, moving)[0]])


def _responses(moving: MovingMechanism, found: InverseDynamicsResult, postures: FloatArray) -> list[Response]:
    """How the smoothing of every coordinate answers to its samples; alike where the method doesn't look at data."""
    motion, chosen = found.motion, _method(found.motion.smoothing) or smoothing("none")
    made: dict[int, Response] = {}
    for group in _groups(found, moving):
        if chosen.by_data or not made:
            blocks = [postures[:, columns] for columns in group]
            answer = response_of(chosen.linear(motion.time, blocks), len(motion))
        else:
            answer = next(iter(made.values()))
        made |= {k: answer for columns in group for k in columns}
    return [made[k] for k in range(len(motion.names))]


def _windows(responses: list[Response]) -> Iterator[tuple[slice, FloatArray]]:
    """Of every sample t in turn the samples i that it hears of, and the weights S⁽ᵃ⁾_ti of coordinates (3, c, w)."""
    for t in range(len(responses[0].first)):
        low = min(int(each.first[t]) for each in responses)
        high = max(int(each.first[t]) + each.weights.shape[2] for each in responses)
        weights = np.zeros((3, len(responses), high - low))
        for k, each in enumerate(responses):
            start = int(each.first[t]) - low
            weights[:, k, start : start + each.weights.shape[2]] = each.weights[:, t]
        yield slice(low, high), weights


def _variances(slopes: FloatArray, responses: list[Response], squares: FloatArray) -> Iterator[FloatArray]:
    """Variances (s,) of net moments sample by sample, by a noise of 1 that is independent of any other's.

    Σ_a ∂τ/∂q⁽ᵃ⁾ (Σ_i S⁽ᵃ⁾_ti G_i S⁽ᵇ⁾_ti) ∂τ/∂q⁽ᵇ⁾ᵀ over a and b, with G_i = ∂q/∂y ∂q/∂yᵀ, (n, c, c).
    """
    alike = [[k for k, each in enumerate(responses) if each is one] for one in dict.fromkeys(responses)]
    blocks = {
        (i, j): squares[:, here][:, :, there] for i, here in enumerate(alike) for j, there in enumerate(alike)
    }
    count = len(responses)
    for t, (window, weights) in enumerate(_windows(responses)):
        inner = np.empty((3, count, 3, count))
        for (i, j), block in blocks.items():
            pairs = weights[:, None, alike[i][0]] * weights[None, :, alike[j][0]]
            sums = pairs.reshape(9, -1) @ block[window].reshape(pairs.shape[2], -1)
            rows, columns = np.ix_(alike[i], alike[j])
            inner[:, rows, :, columns] = np.moveaxis(sums.reshape(3, 3, *block.shape[1:]), (0, 1), (2, 3))
        yield _quadratic(slopes[:, t], inner)


def _quadratic(slopes: FloatArray, inner: FloatArray) -> FloatArray:
    """The diagonal (s,) of S K Sᵀ, S being slopes (3, s, c) by values, rates and accelerations, K (3, c, 3, c)."""
    flat = np.swapaxes(slopes, 0, 1).reshape(slopes.shape[1], -1)
    return ((flat @ inner.reshape(flat.shape[1], -1)) * flat).sum(axis=1)


def _moments_by_markers(
    slopes: FloatArray, responses: list[Response], fit: FloatArray
) -> Iterator[tuple[slice, FloatArray]]:
    """Of every sample t the samples i that it hears of, and how its net moments change with where markers are then:
    Σ_a ∂τ/∂q⁽ᵃ⁾ S⁽ᵃ⁾_ti ∂q/∂y_i, (w, s, 3m).
    """
    for t, (window, weights) in enumerate(_windows(responses)):
        yield window, np.einsum("aoc,aci->ioc", slopes[:, t], weights) @ fit[window]


def _variances_together(
    slopes: FloatArray, responses: list[Response], fit: FloatArray, together: sparse.csr_array
) -> Iterator[FloatArray]:
    """The same of markers that were smoothed by A, so that their samples depend on one another by A Aᵀ (n, n)."""
    for window, moments in _moments_by_markers(slopes, responses, fit):
        flat = moments.reshape(len(moments), -1)
        yield (flat * (together[window, window] @ flat)).reshape(moments.shape).sum(axis=(0, 2))


def _segment_deviations(
    loads: Loads, segments: str | Mapping[str, Mapping[str, float]], sex: str | None
) -> dict[str, Mapping[str, float]]:
    """Standard deviations by body: of the mass (kg), the centre along its line to the joint (m), and of the moments of
    inertia about the centre, as a part of these.
    """
    links, tree = loads.recursion.mechanism.assembly.links, loads.recursion.tree
    bodies = [name for name, index in links.items() if not is_zero(tree.links[index].inertia.mass)]
    if not isinstance(segments, str):
        given = by_name(segments, "segments", _SEGMENTS)
        for body in given:
            require_known(body, bodies, f"there is no body with a mass called '{body}'", key="segments")
        return {body: _parts(body, each) for body, each in given.items()}
    require_known(segments, (PUBLISHED,), f"there are no deviations called '{segments}'", key="segments")
    table = deviations(sex)
    told: dict[str, Mapping[str, float]] = {}
    for body in bodies:
        named = next(
            (name for name, words in _WORDS.items() if any(word in body.lower() for word in words)), None
        )
        if named is not None and links[body] not in {links[other] for other in told}:
            mass, _, rotational = _about_center(loads, links[body])
            size = np.sqrt(float(np.linalg.eigvalsh(rotational)[-1]) / mass) * table[named].length
            row = table[named]
            told[body] = {"mass": row.mass * mass, "center": row.center * size, "inertia": row.inertia}
    if not told:
        listed = ", ".join(sum(_WORDS.values(), ()))
        hint = f"names tell them by {listed}; or {_SEGMENTS}"
        raise InputError("no body is called as a person's segment", key="segments", hint=hint)
    return told


def _parts(body: str, given: object) -> dict[str, float]:
    """A segment's deviations in SI."""
    units: dict[str, str] = dict(zip(_PARTS, ("kg", "m", ""), strict=True))
    parts = by_name(given, f"segments.{body}", _SEGMENTS)  # type: ignore[arg-type]  # looked at there
    for part in parts:
        require_known(part, units, f"a segment has no deviation of its '{part}'", key=f"segments.{body}")
    return {part: number(value, part, units[part]) for part, value in parts.items()}


def _about_center(loads: Loads, link: int) -> tuple[float, FloatArray, FloatArray]:
    """A link's mass, centre (3,) and moments of inertia about it (3, 3), in its frame."""
    inertia = loads.recursion.tree.links[link].inertia
    mass, center = float(inertia.mass), np.array(inertia.first_moment, dtype=float) / float(inertia.mass)
    return mass, center, np.array(inertia.rotational, dtype=float) - mass * _spread(center, center)


def _spread(a: FloatArray, b: FloatArray) -> FloatArray:
    """(a · b) 1 − (a bᵀ + b aᵀ)/2, which a point mass's moments of inertia are of its place, twice."""
    return float(a @ b) * np.eye(3) - (np.outer(a, b) + np.outer(b, a)) / 2


def _of_segments(loads: Loads, told: Mapping[str, Mapping[str, float]]) -> FloatArray:
    """The variances (n, s) that segments' deviations, independent of one another, give to the net moments."""
    links = loads.recursion.mechanism.assembly.links
    changes: dict[str, tuple[int, FloatArray]] = {}
    for body, each in told.items():
        mass, center, rotational = _about_center(loads, links[body])
        far = float(np.linalg.norm(center))
        along = center / far if far > 0 else np.zeros(3)
        grown: dict[str, tuple[float, FloatArray, FloatArray]] = {
            "mass": (1.0, center, _spread(center, center)),
            "center": (0.0, mass * along, 2 * mass * _spread(center, along)),
            "inertia": (0.0, np.zeros(3), rotational),
        }
        for part, deviation in each.items():
            m, h, i = grown[part]
            ten = deviation * np.array([m, *h, *i[np.triu_indices(3)]])
            changes[f"{body} {part}"] = links[body], ten
    return sum((np.square(table) for table in inertia_slopes(loads, changes).values()), np.zeros((1, 1)))

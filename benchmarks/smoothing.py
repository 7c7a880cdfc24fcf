"""What each way to smooth leaves of a noisy motion: the limb of examples/limb, seen by markers with noise.

The segments turn at 1, 2 and 4 rad/s for 5 s at 100 Hz. Each carries a marker on either side of its ends (`PLACES`:
m beside it, and the share of its length), whose coordinates have Gaussian noise of 0.5 mm: draws 0 to 49, the draw's
number its seed. Error: the root of the mean square of the moment at the hip less the true one, in percent of the true
one's peak, the median over the draws; inside, and in the first and last 0.5 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

import trundle
from benchmarks.measure import Row

Array = NDArray[np.float64]

RATES = {"hip.angle": 1.0, "knee.angle": 2.0, "ankle.angle": 4.0}
LENGTHS = {"hip": 0.8, "knee": 0.6, "ankle": 0.4}
PLACES = ((-0.05, 0.0), (0.05, 0.0), (-0.05, 1.0), (0.05, 1.0))
DURATION, STEP, NOISE, ENDS, DRAWS = 5.0, 0.01, 0.5e-3, 0.5, 50
MARKERS = {
    f"{joint}_{k}": (joint, (x, share * length, 0.0))
    for joint, length in LENGTHS.items()
    for k, (x, share) in enumerate(PLACES)
}
BUTTERWORTH: Mapping[str, object] = {"method": "butterworth", "cutoff": 6.0, "order": 2}
NOISE_SPLINE: Mapping[str, object] = {"method": "noise_spline", "noise": NOISE, "degree": 5}
CUBIC: Mapping[str, object] = {"method": "gcv_spline", "degree": 3}
QUINTIC: Mapping[str, object] = {"method": "gcv_spline", "degree": 5}
# What is smoothed, how, and the published errors inside and at the ends (%), where there are some. The noise of angles
# that come from markers is not known beforehand, so that spline smooths markers only.
CASES: tuple[tuple[str, Mapping[str, object], tuple[float, float] | None], ...] = (
    ("nothing", {"method": "none"}, (132.0, 170.0)),
    ("angles", BUTTERWORTH, (2.2, 3.2)),
    ("angles", {"method": "savitzky_golay", "window": 31, "degree": 5}, (1.0, 3.7)),
    ("angles", CUBIC, (2.9, 3.4)),
    ("angles", QUINTIC, None),
    ("markers", BUTTERWORTH, None),
    ("markers", CUBIC, None),
    ("markers", NOISE_SPLINE, (0.3, 2.5)),
)
# A figure counts as no worse within this share.
ALLOWED = 1.2


@cache
def limb() -> trundle.Model:
    """The limb, derived once."""
    return trundle.derive(trundle.load("examples/limb/limb.yaml"))


@cache
def truth() -> tuple[Array, Mapping[str, Array], Array]:
    """Times, where the markers are, and the moment at the hip."""
    time = np.linspace(0.0, DURATION, round(DURATION / STEP) + 1, dtype=np.float64)
    state = np.outer(list(RATES.values()), time)
    poses = {joint: limb().frame(joint)(state, np.zeros_like(state)) for joint in LENGTHS}
    markers = {
        name: (poses[joint].position + np.einsum("abn,b->an", poses[joint].rotation, place)).T
        for name, (joint, place) in MARKERS.items()
    }
    columns = {"time": time, **{name: rate * time for name, rate in RATES.items()}}
    return time, markers, _moment(columns)


def errors(draw: int) -> list[tuple[float, float]]:
    """The errors of one draw in every case (%), inside and at the ends."""
    time, clean, moment = truth()
    rng = np.random.default_rng(draw)
    noisy = trundle.Recording(
        time, {name: places + rng.normal(0, NOISE, places.shape) for name, places in clean.items()}
    )
    plain = trundle.joint_motion(noisy, limb(), markers=MARKERS)
    inside = (time >= ENDS) & (time <= DURATION - ENDS)
    found: list[tuple[float, float]] = []
    for smoothed, method, _ in CASES:
        if smoothed == "markers":
            motion = trundle.joint_motion(noisy, limb(), markers=MARKERS, marker_smoothing=method)
        else:
            columns = {"time": time, **{name: plain[name] for name in plain.names}}
            motion = trundle.joint_motion(columns, limb(), smoothing=method)
        off = 100 * (_moment(motion) - moment) / np.abs(moment).max()
        found.append((_rms(off[inside]), _rms(off[~inside])))
    return found


def medians(draws: int) -> list[tuple[float, float]]:
    """The medians over draws 0, 1, … of every case's errors (%)."""
    table = np.median([errors(draw) for draw in range(draws)], axis=0)
    return [(float(inside), float(ends)) for inside, ends in table]


def smoothing(quick: bool) -> list[Row]:
    """One row for each case; `quick` takes five draws."""
    draws = 5 if quick else DRAWS
    rows: list[Row] = []
    for (smoothed, method, published), found in zip(CASES, medians(draws), strict=True):
        numbers = ", ".join(f"{key} {value}" for key, value in method.items() if key != "method")
        target = "" if published is None else f"{published[0]:g} / {published[1]:g} %, × {ALLOWED}"
        met = None if published is None else no_worse(found, published)
        what = f"{smoothed} smoothed: {method['method']} {numbers}".strip()
        ours = f"{found[0]:.2g} / {found[1]:.2g} %"
        rows.append(Row(what, ours, target=target, met=met, note=f"inside / ends, {draws} draws"))
    return rows


def no_worse(found: tuple[float, float], published: tuple[float, float]) -> bool:
    """Whether both errors are within the allowed share of the published ones."""
    return all(ours <= ALLOWED * theirs for ours, theirs in zip(found, published, strict=True))


def _moment(motion: trundle.JointMotion | Mapping[str, Array]) -> Array:
    return trundle.joint_loads(limb(), motion).wrench("hip").moment[:, 2]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))

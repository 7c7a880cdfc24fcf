"""Segments posed one by one: the rotation and place that bring a body's markers closest to where they were seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, require_known
from trundle.expected import by_name, check_type
from trundle.frozen import Brief, Rebuilt
from trundle.limbs.capture.recording import Recording

# How far markers are off one line, relative to how far they are along it: less says nothing of a turn about it.
_COLLINEAR = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class SegmentPoses(Brief, Rebuilt):
    """Where a segment is over time, in the laboratory's frame.

    Parameters
    ----------
    time : array, shape (n,), s
        When.
    rotation : array, shape (n, 3, 3)
        From the segment's axes to the laboratory's.
    position : array, shape (n, 3), m
        The segment's origin.
    error : array, shape (n,), m
        The root of the mean square of the markers' distances.
    """

    time: FloatArray
    rotation: FloatArray
    position: FloatArray
    error: FloatArray


def segment_poses(
    recording: Recording, markers: Mapping[str, npt.ArrayLike], weights: Mapping[str, float] | None = None
) -> SegmentPoses:
    """Pose a segment by its markers alone: R and p with the least Σ w² |R x + p − y|² in every sample.

    Parameters
    ----------
    recording : Recording
        Where the markers were seen. In every sample three that are on no line must have been; others may be missing.
    markers : mapping of str to array_like, shape (3,), m
        Each marker's place in the segment's own frame.
    weights : mapping of str to float, optional
        w by marker, 1 by default.

    Returns
    -------
    SegmentPoses
        Rotation, position and error over the samples.

    Raises
    ------
    InputError
        A marker isn't in the recording; fewer than three markers, or all on a line, altogether or in a sample.

    References
    ----------
    Kabsch 1976; Söderkvist & Wedin 1993, Determining the movements of the skeleton using well-configured markers.

    Examples
    --------
    >>> import numpy as np, trundle
    >>> places = {"a": (0, 0, 0), "b": (0.1, 0, 0), "c": (0, 0.2, 0)}
    >>> seen = {name: np.tile(place, (2, 1)) + [0, 0, 1.0] for name, place in places.items()}
    >>> trundle.segment_poses(trundle.Recording([0.0, 0.1], markers=seen), places).position[1].round(9)
    array([0., 0., 1.])
    """
    check_type(recording, Recording, "recording")
    names = list(by_name(markers, "markers"))
    weights = {} if weights is None else by_name(weights, "weights")
    for name, known, where in [
        *((name, recording.markers, "the recording has") for name in names),
        *((name, markers, "there is") for name in weights),
    ]:
        require_known(name, known, f"{where} no marker '{name}'", key=name)
    body = np.array([_place(name, place) for name, place in markers.items()])
    _require_plane(body, names, "")
    squares = np.array([float(weights.get(name, 1.0)) ** 2 for name in names])
    rotation, position = np.empty((len(recording.time), 3, 3)), np.empty((len(recording.time), 3))
    error = np.empty(len(recording.time))
    for k, places in enumerate(np.stack([recording.markers[name] for name in names], axis=1)):
        there = ~np.isnan(places[:, 0])
        if not there.all():
            left = [name for name, one in zip(names, there.tolist(), strict=True) if one]
            _require_plane(body[there], left, f" at t = {recording.time[k]:g} s")
        rotation[k], position[k], error[k] = _posed(body[there], places[there], squares[there])
    return SegmentPoses(recording.time, rotation, position, error)


def _posed(own: FloatArray, seen: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """R, p and the error of one sample; the centres of the weighted markers coincide."""
    from scipy.spatial.transform import Rotation

    share = squares / squares.sum()
    middle, centre = share @ own, share @ seen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is symmetric: planes are asked for above
        turned = Rotation.align_vectors(seen - centre, own - middle, share)[0]
    rotation = turned.as_matrix()
    position = centre - rotation @ middle
    off = own @ rotation.T + position - seen
    return rotation, position, float(np.sqrt(np.mean((off**2).sum(axis=1))))


def _place(name: str, given: npt.ArrayLike) -> FloatArray:
    place = as_numbers(given, f"marker '{name}'")
    if place.shape != (3,) or not np.isfinite(place).all():
        raise InputError(f"expected a place (x, y, z) in m, got {given!r}", key=name)
    return place


def _require_plane(places: FloatArray, names: list[str], when: str) -> None:
    """InputError where markers don't span a plane."""
    listed = ", ".join(names) or "none"
    if len(places) < 3:
        raise InputError(f"a segment is posed by three markers at least, and there are {listed}{when}")
    spread = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if spread[1] <= _COLLINEAR * spread[0]:
        message = (
            f"the markers {listed} are on one line{when}: nothing says how the segment is turned about it"
        )
        raise InputError(message, hint="add a marker beside the line")

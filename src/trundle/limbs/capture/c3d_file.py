"""Recordings in C3D: labelled markers, force plates and events."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.files import read_bytes
from trundle.limbs.capture.c3d_content import C3dContent, read_content
from trundle.limbs.capture.c3d_plates import force_plates
from trundle.limbs.capture.number_table import marker_in_metres, metres_per
from trundle.limbs.capture.recording import Recording
from trundle.results.table import MOST_BYTES

# Labels of points that are no places but what a program made of them.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


def read_c3d(path: Path) -> Recording:
    """A C3D file; a marker is a gap where its residual is negative. Time 0 is that of frame 1, as for its events."""
    file = str(path)
    content = read_content(read_bytes(path, MOST_BYTES), file)
    rate = content.number("POINT:RATE", 0.0)
    if not 0 < rate < 1e6 or not len(content.points):
        message = f"{len(content.points)} frames at {rate:g} a second are no motion"
        raise InputError(message, file=file, key="POINT:RATE")
    said = content.texts("POINT:UNITS")
    unit = said[0] if said and said[0] else ""
    if not unit:
        hint = "write mm or m there"
        raise InputError("nothing says in which unit its points are", file=file, key="POINT:UNITS", hint=hint)
    metre = metres_per(unit, file, "POINT:UNITS")
    start = (content.first - 1) / rate
    frames = len(content.points)
    analog_rate = rate * (len(content.analogs) / frames)
    analog_time = (
        start + np.arange(len(content.analogs)) / analog_rate if len(content.analogs) else np.empty(0)
    )
    _check_analog_rate(content, analog_rate)
    markers = _markers(content, unit)
    return Recording(
        start + np.arange(frames) / rate,
        markers,
        plates=force_plates(content, analog_time, metre),
        events=_events(content),
        source=file,
        units=dict.fromkeys(markers, unit),
    )


def _check_analog_rate(content: C3dContent, counted: float) -> None:
    said = content.number("ANALOG:RATE", counted)
    if len(content.analogs) and said and abs(said - counted) > 1e-3 * counted:
        message = f"the analogue rate is {said:g} Hz, and there are {counted:g} samples a second"
        raise InputError(message, file=content.file, key="ANALOG:RATE")


def _markers(content: C3dContent, unit: str) -> dict[str, FloatArray]:
    """Positions by label, m: NaN where the residual is negative."""
    parts = [content.texts(f"POINT:LABELS{number or ''}") for number in (0, *range(2, 10))]
    labels = [label.strip() for part in parts for label in part][: content.points.shape[1]]
    computed = {label.strip() for group in _COMPUTED for label in _texts(content, f"POINT:{group}")}
    markers: dict[str, FloatArray] = {}
    for k, label in enumerate(labels):
        if not label or label in computed:
            continue
        if label in markers:
            raise InputError(f"the marker {label!r} comes twice", file=content.file, key="POINT:LABELS")
        seen = content.points[:, k, 3:] >= 0
        markers[label] = marker_in_metres(
            label, np.where(seen, content.points[:, k, :3], np.nan), unit, content.file
        )
    if content.points.shape[1] > len(labels):
        message = f"{content.points.shape[1]} points have {len(labels)} labels"
        raise InputError(message, file=content.file, key="POINT:LABELS")
    return markers


def _texts(content: C3dContent, name: str) -> tuple[str, ...]:
    return content.texts(name) if isinstance(content.parameters.get(name), tuple) else ()


def _events(content: C3dContent) -> dict[str, tuple[float, ...]]:
    """Times (s) by what the file calls them: "Left Foot Strike"."""
    count, times = content.count("EVENT:USED", 0), content.numbers("EVENT:TIMES")
    if not count:
        return {}
    labels, contexts = content.texts("EVENT:LABELS"), content.texts("EVENT:CONTEXTS")
    if (
        times is None
        or times.ndim != 2
        or times.shape[0] != 2
        or times.shape[1] < count
        or len(labels) < count
    ):
        message = f"there are {count} events, and fewer times or labels"
        raise InputError(message, file=content.file, key="EVENT:TIMES")
    events: dict[str, list[float]] = {}
    for k in range(count):
        name = f"{contexts[k] if k < len(contexts) else ''} {labels[k]}".strip()
        events.setdefault(name, []).append(60 * times[0, k] + times[1, k])
    return {name: tuple(sorted(moments)) for name, moments in events.items()}

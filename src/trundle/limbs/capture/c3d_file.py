"""Recordings in C3D: labelled markers, force plates and events.

In a plate's own axes x and y lie in its surface, by the order of its corners, and z points down into it. Channels give
a force and a moment about the sensors' origin, which ORIGIN leads from to the surface's centre: M_c = M + F × ORIGIN.
Source: The C3D File Format User Guide (c3d.org), "The FORCE_PLATFORM group"; Kistler, "Formulae for multicomponent
force plates" (type 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, warn
from trundle.files import read_bytes
from trundle.limbs.capture.c3d_content import C3dContent, read_content
from trundle.limbs.capture.force_plates import ForcePlate, surface_axes
from trundle.limbs.capture.recording import Recording, marker_in_metres, metres_per
from trundle.results.table import MOST_BYTES
from trundle.robot.units import Dimension
from trundle.robot.values import unit_in_si

# Exponents of (m, kg, s, A).
_LENGTH: Dimension = (1, 0, 0, 0)
_FORCE: Dimension = (1, 1, -2, 0)
_TORQUE: Dimension = (2, 1, -2, 0)  # a force times a length
# A plate that never carries so much (N) was not stepped on: its sign can't be told, and doesn't matter.
_LOADED = 10.0
# Half diagonals of a plate: where forces are noise the centre of pressure strays off it, but not most of the time.
_FAR = 10.0

PlateLoads = tuple[
    FloatArray, FloatArray
]  # force (k, 3) and moment (k, 3) about the surface's centre, N and N m


def force_plates(content: C3dContent, time: FloatArray, metre: float) -> tuple[ForcePlate, ...]:
    """The plates of a file, `time` that of its analogue samples; `metre` is its unit of length in m."""
    count = content.count("FORCE_PLATFORM:USED", 0)
    return tuple(_plate(content, index, time, metre) for index in range(count))


def _plate(content: C3dContent, index: int, time: FloatArray, metre: float) -> ForcePlate:
    """Read one force plate: its corners (m), and force (N) and moment (N m) in world axes on the person."""
    name = f"force plate {index + 1}"
    kind = float(_of_plate(content, "TYPE", index, ()))
    if kind not in _TYPES:
        message = f"{name} is of type {kind:g}, which isn't read"
        raise InputError(message, file=content.file, key="FORCE_PLATFORM:TYPE", hint="known: 1, 2, 3 and 4")
    corners = _of_plate(content, "CORNERS", index, (3, 4)).T * metre
    try:
        axes = surface_axes(corners, name)
    except InputError as error:
        raise error.at(file=content.file, key="FORCE_PLATFORM:CORNERS") from None
    outward = _outward(content, corners.mean(axis=0), axes[:, 2], metre)
    force, moment = _TYPES[kind](content, index, outward, metre)
    # A plate pushes and never pulls: a force into its surface is what the person does to it, which some files hold.
    pushed = force[:, 2] * outward
    sign = -1.0 if pushed[np.abs(pushed) > _LOADED].sum() < 0 else 1.0
    if not np.isfinite(force).all() or not np.isfinite(moment).all():
        sample = int(np.flatnonzero(~np.isfinite(np.hstack([force, moment])).all(axis=1))[0])
        raise InputError(f"{name} has no number at analogue sample {sample + 1}", file=content.file)
    plate = ForcePlate(name, corners, time, sign * force @ axes.T, sign * moment @ axes.T)
    _refuse_far_pressure(plate, content)
    return plate


def _refuse_far_pressure(plate: ForcePlate, content: C3dContent) -> None:
    """InputError where a person would mostly stand beside the plate: N m called N mm are a thousand times off."""
    places = plate.centre_of_pressure()
    places = places[np.isfinite(places).all(axis=1)]
    off = float(np.median(np.linalg.norm(places - plate.centre, axis=1))) if len(places) else 0.0
    if off > _FAR * np.linalg.norm(plate.corners[0] - plate.centre):
        message = f"{plate.name}: the centre of pressure is {off:.3g} m from the plate's centre"
        hint = "are its moments in the unit that ANALOG:UNITS says, N m or N mm?"
        raise InputError(message, file=content.file, key="ANALOG:UNITS", hint=hint)


def _outward(content: C3dContent, centre: FloatArray, z: FloatArray, metre: float) -> float:
    """Which way along z the person is, ±1: where the markers are, and without any against z, which points down."""
    seen = content.points[content.points[..., 3] >= 0][:, :3] * metre
    seen = seen[np.isfinite(seen).all(axis=1)]
    return 1.0 if len(seen) and np.median((seen - centre) @ z) > 0 else -1.0


def _of_plate(content: C3dContent, name: str, index: int, shape: tuple[int, ...]) -> FloatArray:
    """A plate's part of a parameter of FORCE_PLATFORM, whose last index counts plates (one alone may have none)."""
    key, size = f"FORCE_PLATFORM:{name}", math.prod(shape)
    values = content.numbers(key)
    if values is None or values.size % size or values.size < size * (index + 1):
        came = "is missing" if values is None else f"has the shape {values.shape}"
        wanted = f"{' × '.join(map(str, (*shape, 'plates')))} numbers are needed"
        raise InputError(f"force plate {index + 1}: {key} {came}", file=content.file, key=key, hint=wanted)
    return values.reshape((*shape, -1), order="F")[..., index]


def _channels(
    content: C3dContent, index: int, units: tuple[Dimension | None, ...], metre: float
) -> FloatArray:
    """(k, len(units)): a plate's analogue channels in SI where a dimension is given, else as they are."""
    key, name = "FORCE_PLATFORM:CHANNEL", f"force plate {index + 1}"
    channels = content.numbers(key)
    if channels is None or channels.shape[0] < len(units) or channels.size < channels.shape[0] * (index + 1):
        raise InputError(f"{name}: {len(units)} channels are needed", file=content.file, key=key)
    places = np.nan_to_num(channels.reshape(channels.shape[0], -1)[: len(units), index]).astype(int) - 1
    if places.min() < 0 or places.max() >= content.analogs.shape[1]:
        message = f"{name}: there is no channel {places.max() + 1} among {content.analogs.shape[1]}"
        raise InputError(message, file=content.file, key=key)
    factors = [
        1.0 if unit is None else _factor(content, int(place), unit, metre, name)
        for place, unit in zip(places, units, strict=True)
    ]
    return content.analogs[:, places] * factors


def _factor(content: C3dContent, channel: int, dimension: Dimension, metre: float, name: str) -> float:
    """A channel's unit in SI: what ANALOG:UNITS says, else N and the file's unit of length."""
    units, labels = content.texts("ANALOG:UNITS"), content.texts("ANALOG:LABELS")
    label = labels[channel] if channel < len(labels) else f"channel {channel + 1}"
    said = units[channel] if channel < len(units) else ""
    if not said:
        return 1.0 if dimension == _FORCE else metre
    try:
        factor, measured = unit_in_si(said)
    except InputError as error:
        raise error.at(file=content.file, key=f"ANALOG:UNITS of {label!r}") from None
    if measured != dimension:
        message = f"{name} has no calibration: its channel {label!r} is in {said}"
        hint = "scale the channels to N and N m (ANALOG:SCALE), or make it type 4 with its CAL_MATRIX"
        raise InputError(message, file=content.file, key=f"ANALOG:UNITS of {label!r}", hint=hint)
    return factor


def _type_1(content: C3dContent, index: int, outward: float, metre: float) -> PlateLoads:
    """Force, the centre of pressure on the surface, and the free moment: M_c = p × F + (0, 0, M_z)."""
    table = _channels(content, index, (_FORCE, _FORCE, _FORCE, _LENGTH, _LENGTH, _TORQUE), metre)
    places, free = np.zeros((len(table), 3)), np.zeros((len(table), 3))
    places[:, :2], free[:, 2] = table[:, 3:5], table[:, 5]
    return table[:, :3], np.cross(places, table[:, :3]) + free


def _type_2(content: C3dContent, index: int, outward: float, metre: float) -> PlateLoads:
    """Force and moment about the sensors' origin."""
    table = _channels(content, index, (_FORCE,) * 3 + (_TORQUE,) * 3, metre)
    return table[:, :3], table[:, 3:] + np.cross(table[:, :3], _origin(content, index, outward, metre))


def _type_3(content: C3dContent, index: int, outward: float, metre: float) -> PlateLoads:
    """Eight forces of four sensors at (±a, ±b), in the order of the corners, a and b being ORIGIN's x and y."""
    correction = content.numbers("FORCE_PLATFORM:FPCOPPOLY")
    if correction is not None and correction.any():
        where = f"{content.file}: force plate {index + 1}"
        warn(f"{where}: Kistler's correction of the centre of pressure (FPCOPPOLY) is not read")
    x12, x34, y14, y23, z1, z2, z3, z4 = _channels(content, index, (_FORCE,) * 8, metre).T
    a, b, depth = _of_plate(content, "ORIGIN", index, (3,)) * metre
    a, b, depth = abs(a), abs(b), abs(depth) * outward
    force = np.column_stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4])
    about_sensors = np.column_stack(
        [b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)]
    )
    return force, about_sensors + np.cross(force, (0.0, 0.0, depth))


def _type_4(content: C3dContent, index: int, outward: float, metre: float) -> PlateLoads:
    """As type 2, from the channels' volts by the calibration matrix: (F, M) = C v, M in N times the unit of length."""
    key = "FORCE_PLATFORM:CAL_MATRIX"
    given = content.numbers(key)
    if given is None or given.shape[:2] != (6, 6) or given.size < 36 * (index + 1):
        message = f"force plate {index + 1} has no calibration: it is of type 4, and {key} holds no 6 × 6 matrix for it"
        raise InputError(
            message, file=content.file, key=key, hint="the plate's maker gives one with each plate"
        )
    calibration = given.reshape(6, 6, -1)[:, :, index]
    if not np.isfinite(calibration).all() or np.linalg.matrix_rank(calibration) < 6:
        message = f"force plate {index + 1} has no calibration: its matrix in {key} is singular"
        raise InputError(message, file=content.file, key=key)
    table = _channels(content, index, (None,) * 6, metre) @ calibration.T
    force, moment = table[:, :3], table[:, 3:] * metre
    return force, moment + np.cross(force, _origin(content, index, outward, metre))


def _origin(content: C3dContent, index: int, outward: float, metre: float) -> FloatArray:
    """From the sensors' origin to the surface's centre, m. Sensors lie under the surface: where the vector leads down
    it was written the other way round, as makers once did.
    """
    origin = _of_plate(content, "ORIGIN", index, (3,)) * metre
    return -origin if origin[2] * outward < 0 else origin


_TYPES: Mapping[float, Callable[[C3dContent, int, float, float], PlateLoads]] = {
    1: _type_1,
    2: _type_2,
    3: _type_3,
    4: _type_4,
}


# Labels of points that are no places but what a program made of them.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


def read_c3d(path: Path) -> Recording:
    """A C3D file; a marker is a gap where its residual is negative. Time 0 is that of frame 1, as for its events."""
    file = str(path)
    content = read_content(read_bytes(path, MOST_BYTES), file)
    rate = content.number("POINT:RATE", 0.0)
    if not 0 < rate < 1e6 or not len(content.points):
        message = f"{len(content.points)} frames at {rate:g} a second are not a motion"
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
    groups = (content.parameters.get(f"POINT:{group}") for group in _COMPUTED)
    computed = {label.strip() for group in groups if isinstance(group, tuple) for label in group}
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

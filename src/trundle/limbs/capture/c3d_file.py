"""Recordings in C3D: labelled markers, force plates and events.

In a plate's own axes x and y lie in its surface, by the order of its corners, and z points down into it. Channels give
a force and a moment about the sensors' origin, which ORIGIN leads from to the surface's centre: M_c = M + F × ORIGIN.
Source: The C3D File Format User Guide (c3d.org), "The FORCE_PLATFORM group"; Kistler, "Formulae for multicomponent
force plates" (type 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, warn
from trundle.files import read_bytes
from trundle.limbs.capture.c3d_content import C3dContent, read_content
from trundle.limbs.capture.c3d_units import FORCE, LENGTH, TORQUE, known_unit
from trundle.limbs.capture.faults import Faults, printable
from trundle.limbs.capture.force_plates import ForcePlate, surface_axes
from trundle.limbs.capture.recording import MOST_METRES, PLATE, Recording, marker_in_metres
from trundle.results.table import MOST_BYTES
from trundle.robot.units import Dimension
from trundle.robot.values import unit_in_si

# A plate that never carries so much (N) was not stepped on: its sign can't be told, and doesn't matter.
_LOADED = 10.0
# Half diagonals of a plate: where forces are noise the centre of pressure strays off it, but not most of the time.
_FAR = 10.0
# A dimension of a parameter counts to 255.
_MOST_PLATES = 255

PlateLoads = tuple[
    FloatArray, FloatArray
]  # force (k, 3) and moment (k, 3) about the surface's centre, N and N m


def force_plates(content: C3dContent, time: FloatArray, faults: Faults) -> tuple[ForcePlate, ...]:
    """The plates of a file that can be read, `time` that of its analogue samples."""
    plates: list[ForcePlate] = []
    count = 0
    with faults.part(f"{PLATE}s"):
        count = content.parameters.count("FORCE_PLATFORM:USED", 0)
    for index in range(min(count, _MOST_PLATES)):
        with faults.part(f"{PLATE} {index + 1}"):
            plates.append(_plate(content, index, time, faults))
    return tuple(plates)


def _plate(content: C3dContent, index: int, time: FloatArray, faults: Faults) -> ForcePlate:
    """Read one force plate: its corners (m), and force (N) and moment (N m) in world axes on the person."""
    name, unit = f"{PLATE} {index + 1}", _unit_of_length(content, faults)
    metre = unit_in_si(unit)[0]
    kind = float(_of_plate(content, "TYPE", index, ()))
    if kind not in _TYPES:
        message = f"{name} is of type {kind:g}, which isn't read"
        raise InputError(message, key="FORCE_PLATFORM:TYPE", hint="known: 1, 2, 3 and 4")
    corners = _of_plate(content, "CORNERS", index, (3, 4)).T * metre
    if not np.abs(corners).max() < MOST_METRES:
        message = f"{name} has a corner {np.abs(corners).max():.4g} m away, in {unit}"
        raise InputError(message, key="FORCE_PLATFORM:CORNERS")
    try:
        axes = surface_axes(corners, name)
    except InputError as error:
        raise error.at(key="FORCE_PLATFORM:CORNERS") from None
    outward = _outward(content, corners.mean(axis=0), axes[:, 2], metre)
    force, moment = _TYPES[kind](_Sensors(content, index, outward, metre, faults))
    # A plate pushes and never pulls: a force into its surface is what the person does to it, which some files hold.
    pushed = force[:, 2] * outward
    sign = -1.0 if pushed[np.abs(pushed) > _LOADED].sum() < 0 else 1.0
    if not np.isfinite(force).all() or not np.isfinite(moment).all():
        sample = int(np.flatnonzero(~np.isfinite(np.hstack([force, moment])).all(axis=1))[0])
        raise InputError(f"{name} has no number at analogue sample {sample + 1}")
    plate = ForcePlate(name, corners, time, sign * force @ axes.T, sign * moment @ axes.T, index + 1)
    _refuse_far_pressure(plate)
    return plate


def _refuse_far_pressure(plate: ForcePlate) -> None:
    """InputError where a person would mostly stand beside the plate: N m called N mm are a thousand times off."""
    places = plate.centre_of_pressure()
    places = places[np.isfinite(places).all(axis=1)]
    off = float(np.median(np.linalg.norm(places - plate.centre, axis=1))) if len(places) else 0.0
    if off > _FAR * np.linalg.norm(plate.corners[0] - plate.centre):
        message = f"{plate.name}: the centre of pressure is {off:.3g} m from the plate's centre"
        hint = "are its moments in the unit that ANALOG:UNITS says, N m or N mm?"
        raise InputError(message, key="ANALOG:UNITS", hint=hint)


def _outward(content: C3dContent, centre: FloatArray, z: FloatArray, metre: float) -> float:
    """Which way along z the person is, ±1: where the markers are, and without any against z, which points down."""
    seen = content.points[content.points[..., 3] >= 0][:, :3] * metre
    seen = seen[np.isfinite(seen).all(axis=1)]
    return 1.0 if len(seen) and np.median((seen - centre) @ z) > 0 else -1.0


def _of_plate(content: C3dContent, name: str, index: int, shape: tuple[int, ...]) -> FloatArray:
    """A plate's part of a parameter of FORCE_PLATFORM, whose last index counts plates (one alone may have none)."""
    key, size = f"FORCE_PLATFORM:{name}", math.prod(shape)
    values = content.parameters.numbers(key)
    if values is None or values.size % size or values.size < size * (index + 1):
        came = "is missing" if values is None else f"has the shape {values.shape}"
        wanted = f"{' × '.join(map(str, (*shape, 'plates')))} numbers are needed"
        raise InputError(f"force plate {index + 1}: {key} {came}", key=key, hint=wanted)
    return values.reshape((*shape, -1), order="F")[..., index]


@dataclass(frozen=True)
class _Sensors:
    """What a plate's channels are read with: its place among plates, which way along its z the person is (±1), and
    the file's unit of length in m.
    """

    content: C3dContent
    index: int
    outward: float
    metre: float
    faults: Faults

    @property
    def name(self) -> str:
        """What the plate is called."""
        return f"{PLATE} {self.index + 1}"

    def channels(self, *dimensions: Dimension | None) -> FloatArray:
        """(k, n): the plate's analogue channels in SI where a dimension is given, else as they are."""
        key, count = "FORCE_PLATFORM:CHANNEL", len(dimensions)
        channels = self.content.parameters.numbers(key)
        if (
            channels is None
            or channels.shape[0] < count
            or channels.size < channels.shape[0] * (self.index + 1)
        ):
            raise InputError(f"{self.name}: {count} channels are needed", key=key)
        numbers = np.nan_to_num(channels.reshape(channels.shape[0], -1)[:count, self.index])
        places = (numbers.astype(int) - 1).tolist()
        try:
            samples = self.content.channels(places)
        except InputError as error:
            raise error.at(key=key) from None
        return samples * [
            1.0 if dimension is None else self._factor(place, dimension)
            for place, dimension in zip(places, dimensions, strict=True)
        ]

    def _factor(self, channel: int, dimension: Dimension) -> float:
        """A channel's unit in SI: what ANALOG:UNITS says, else N and the file's unit of length."""
        units, labels = (self.content.parameters.texts(f"ANALOG:{name}") for name in ("UNITS", "LABELS"))
        label = f"'{printable(labels[channel])}'" if channel < len(labels) else str(channel + 1)
        said = units[channel] if channel < len(units) else ""
        if not said:
            return 1.0 if dimension == FORCE else self.metre
        unit = known_unit(said, dimension, self.faults, "ANALOG:UNITS")
        if unit is None:
            message = f"{self.name} has no calibration: its channel {label} is in {printable(said)}"
            hint = "scale the channels to N and N m (ANALOG:SCALE), or make it type 4 with its CAL_MATRIX"
            raise InputError(message, key="ANALOG:UNITS", hint=hint)
        return unit_in_si(unit)[0]

    def parameter(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """The plate's part of a parameter of FORCE_PLATFORM."""
        return _of_plate(self.content, name, self.index, shape)

    def origin(self) -> FloatArray:
        """From the sensors' origin to the surface's centre, m. Sensors lie under the surface: where the vector leads
        down it was written the other way round, as makers once did.
        """
        origin = self.parameter("ORIGIN", (3,)) * self.metre
        return -origin if origin[2] * self.outward < 0 else origin


def _type_1(sensors: _Sensors) -> PlateLoads:
    """Force, the centre of pressure on the surface, and the free moment: M_c = p × F + (0, 0, M_z)."""
    table = sensors.channels(FORCE, FORCE, FORCE, LENGTH, LENGTH, TORQUE)
    places, free = np.zeros((len(table), 3)), np.zeros((len(table), 3))
    places[:, :2], free[:, 2] = table[:, 3:5], table[:, 5]
    return table[:, :3], np.cross(places, table[:, :3]) + free


def _type_2(sensors: _Sensors) -> PlateLoads:
    """Force and moment about the sensors' origin."""
    table = sensors.channels(FORCE, FORCE, FORCE, TORQUE, TORQUE, TORQUE)
    return table[:, :3], table[:, 3:] + np.cross(table[:, :3], sensors.origin())


def _type_3(sensors: _Sensors) -> PlateLoads:
    """Eight forces of four sensors at (±a, ±b), in the order of the corners, a and b being ORIGIN's x and y."""
    correction = sensors.content.parameters.numbers("FORCE_PLATFORM:FPCOPPOLY")
    if correction is not None and correction.any():
        where = f"{sensors.content.parameters.file}: {sensors.name}"
        warn(f"{where}: Kistler's correction of the centre of pressure (FPCOPPOLY) is not read")
    x12, x34, y14, y23, z1, z2, z3, z4 = sensors.channels(*[FORCE] * 8).T
    a, b, depth = abs(sensors.parameter("ORIGIN", (3,)) * sensors.metre)
    force = np.column_stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4])
    about_sensors = np.column_stack(
        [b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)]
    )
    return force, about_sensors + np.cross(force, (0.0, 0.0, depth * sensors.outward))


def _type_4(sensors: _Sensors) -> PlateLoads:
    """As type 2, from the channels' volts by the calibration matrix: (F, M) = C v, M in N times the unit of length."""
    calibration = sensors.parameter("CAL_MATRIX", (6, 6))
    if not np.isfinite(calibration).all() or np.linalg.matrix_rank(calibration) < 6:
        key = "FORCE_PLATFORM:CAL_MATRIX"
        message = f"{sensors.name} has no calibration: its matrix in {key} is singular"
        raise InputError(message, key=key, hint="the plate's maker gives one with each plate")
    table = sensors.channels(*[None] * 6) @ calibration.T
    force, moment = table[:, :3], table[:, 3:] * sensors.metre
    return force, moment + np.cross(force, sensors.origin())


_TYPES: Mapping[float, Callable[[_Sensors], PlateLoads]] = {1: _type_1, 2: _type_2, 3: _type_3, 4: _type_4}

# Labels of points that are no places but what a program made of them.
_COMPUTED = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")


def read_c3d(path: Path, strict: bool = False) -> Recording:
    """A C3D file; a marker is a gap where its residual is negative. Time 0 is that of frame 1, as for its events.

    What can't be read is left out with a warning; `strict` refuses the file.
    """
    file = str(path)
    faults = Faults(file, strict)
    try:
        content = read_content(read_bytes(path, MOST_BYTES), faults)
    except InputError as error:
        raise error.at(file=file) from None
    start = (content.first - 1) / content.rate
    markers: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    with faults.part("markers"):
        for label, positions, unit in _markers(content, faults):
            with faults.part(f"marker '{printable(label)}'"):
                markers[label] = marker_in_metres(printable(label), positions, unit, file)
                units[label] = unit
    layout = content.layout
    sampled = start + np.arange(layout.frames * layout.ratio) / (content.rate * max(layout.ratio, 1))
    plates = force_plates(content, sampled, faults)
    events: dict[str, tuple[float, ...]] = {}
    with faults.part("events"):
        events = _events(content, faults)
    if faults.unread and not markers and not plates:
        raise next(iter(faults.unread.values()))
    faults.tell()
    time = start + np.arange(layout.frames) / content.rate
    kept = {"plates": plates, "events": events, "units": units, "unread": faults.unread}
    return Recording(time, markers, source=file, **kept)


def _unit_of_length(content: C3dContent, faults: Faults) -> str:
    """The unit of points, and of all lengths that have none of their own."""
    key = "POINT:UNITS"
    said = (*content.parameters.texts(key), "")[0]
    if not said:
        raise InputError("nothing says in which unit its points are", key=key, hint="write mm or m there")
    unit = known_unit(said, LENGTH, faults, key)
    if unit is None:
        raise InputError(f"'{printable(said)}' is not a unit of length", key=key, hint="such as mm or m")
    return unit


def _markers(content: C3dContent, faults: Faults) -> Iterator[tuple[str, FloatArray, str]]:
    """Labels, positions (n, 3) and their unit: NaN where the residual is negative. What comes twice is numbered."""
    parameters, count, key = content.parameters, content.layout.points, "POINT:LABELS"
    if not count:
        return
    unit = _unit_of_length(content, faults)
    labels = [label.strip() for label in parameters.texts(key)][:count]
    groups = (parameters.values.get(f"POINT:{group}") for group in _COMPUTED)
    computed = {label.strip() for group in groups if isinstance(group, tuple) for label in group}
    names: set[str] = set()
    for k, label in enumerate(labels):
        if not label or label in computed:
            continue
        name, number = label, 1
        while name in names or (number > 1 and name in labels):
            name, number = f"{label}_{number + 1}", number + 1
        if number > 1:
            faults.note(f"the marker '{printable(label)}' comes again: it is called '{printable(name)}'", key)
        names.add(name)
        yield name, np.where(content.points[:, k, 3:] >= 0, content.points[:, k, :3], np.nan), unit
    if len(labels) < count:
        faults.note(f"{count} points have {len(labels)} labels: the others are left out", key)


def _events(content: C3dContent, faults: Faults) -> dict[str, tuple[float, ...]]:
    """Times (s) by what the file calls them: "Left Foot Strike"."""
    parameters, key = content.parameters, "EVENT:TIMES"
    count, times = parameters.count("EVENT:USED", 0), parameters.numbers(key)
    if not count:
        return {}
    labels, contexts = parameters.texts("EVENT:LABELS"), parameters.texts("EVENT:CONTEXTS")
    pairs = np.empty((0, 2)) if times is None or times.size % 2 else times.ravel(order="F").reshape(-1, 2)
    whole = min(len(pairs), len(labels), count)
    if whole < count:
        faults.note(f"there are {count} events, and times and labels of {whole}", key)
    events: dict[str, list[float]] = {}
    for k, (minutes, seconds) in enumerate(pairs[:whole]):
        name = f"{contexts[k] if k < len(contexts) else ''} {labels[k]}".strip()
        events.setdefault(name, []).append(60 * minutes + seconds)
    return {name: tuple(sorted(moments)) for name, moments in events.items()}

"""C3D files written with ezc3d: markers, force plates whose channels are made from known wrenches, events."""

import re
import struct
from dataclasses import dataclass, field

import numpy as np

CORNER_SIGNS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])


@dataclass
class Plate:
    """A plate as a file describes it; `channels` (k, c) as they are stored, lengths in the file's unit."""

    kind: int
    corners: np.ndarray
    channels: np.ndarray
    units: list[str]
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    matrix: np.ndarray = field(default_factory=lambda: np.eye(6))


def corners(centre, axes, half):
    """Four corners (4, 3) of a plate of half sides (2,), by the order of its own quadrants."""
    return centre + CORNER_SIGNS * half @ axes[:, :2].T


def encoded(kind, force, moment, origin, matrix=None):
    """Channels (k, c) that a plate of this type gives for force and moment about its surface's centre, in its axes."""
    about_origin = moment - np.cross(force, origin)
    if kind == 1:
        places = np.column_stack([-moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2]])
        free = moment[:, 2] - (places[:, 0] * force[:, 1] - places[:, 1] * force[:, 0])
        return np.column_stack([force, places, free])
    if kind in (2, 4):
        both = np.hstack([force, about_origin])
        return both if kind == 2 else both @ np.linalg.inv(matrix).T
    a, b, _ = origin
    about = moment - np.cross(force, (0, 0, origin[2]))
    # four sensors (+a, +b), (-a, +b), (-a, -b), (+a, -b): the least forces that give the wrench
    rows = np.array(
        [
            [1, 1, 0, 0, 0, 0, 0, 0],
            [0, 0, 1, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, 1, 1, 1, 1],
            [0, 0, 0, 0, b, b, -b, -b],
            [0, 0, 0, 0, -a, a, a, -a],
            [-b, b, a, -a, 0, 0, 0, 0],
        ]
    )
    return np.hstack([force, about]) @ np.linalg.pinv(rows).T


def write_c3d(
    path,
    markers,
    *,
    rate=100.0,
    unit="mm",
    plates=(),
    ratio=1,
    events=(),
    first=1,
    correction=None,
    analog=None,
):
    """Markers by label (n, 3) in the unit, NaN: not seen (residual -1); `events` are (context, label, seconds)."""
    import ezc3d

    file = ezc3d.c3d()
    group = file["parameters"]
    count = len(next(iter(markers.values())))
    points = np.ones((4, len(markers), count))
    points[:3] = np.stack(list(markers.values()), axis=1).T.transpose(0, 1, 2) if markers else 0
    residuals = np.where(np.isnan(points[0]), -1.0, 0.0)[None]
    points[:3] = np.nan_to_num(points[:3])
    group["POINT"]["LABELS"]["value"] = tuple(markers)
    group["POINT"]["UNITS"]["value"] = (unit,)
    group["POINT"]["RATE"]["value"] = [rate]
    file["data"]["points"] = points
    file["data"]["meta_points"]["residuals"] = residuals
    if plates:
        channels = np.hstack([plate.channels for plate in plates])
        starts = np.cumsum([1, *(plate.channels.shape[1] for plate in plates)])
        most = max(plate.channels.shape[1] for plate in plates)
        group["ANALOG"]["RATE"]["value"] = [rate * ratio]
        group["ANALOG"]["LABELS"]["value"] = tuple(f"ch{k + 1}" for k in range(channels.shape[1]))
        group["ANALOG"]["UNITS"]["value"] = tuple(unit for plate in plates for unit in plate.units)
        for name, value in (analog or {}).items():
            file.add_parameter("ANALOG", name, value)
        file["data"]["analogs"] = channels.T[None]
        places = np.zeros((most, len(plates)), int)
        for k, plate in enumerate(plates):
            places[: plate.channels.shape[1], k] = starts[k] + np.arange(plate.channels.shape[1])
        platforms = {
            "USED": [len(plates)],
            "TYPE": [plate.kind for plate in plates],
            "CORNERS": np.stack([plate.corners.T for plate in plates], axis=2),
            "ORIGIN": np.column_stack([plate.origin for plate in plates]),
            "CHANNEL": places,
            "CAL_MATRIX": np.stack([plate.matrix for plate in plates], axis=2),
        }
        for name, value in platforms.items():
            group["FORCE_PLATFORM"][name]["value"] = value
    if correction is not None:
        file.add_parameter("FORCE_PLATFORM", "FPCOPPOLY", np.asarray(correction, float))
    if events:
        file.add_parameter("EVENT", "USED", [len(events)])
        file.add_parameter("EVENT", "CONTEXTS", [context for context, _, _ in events])
        file.add_parameter("EVENT", "LABELS", [label for _, label, _ in events])
        file.add_parameter("EVENT", "TIMES", np.array([(when // 60, when % 60) for _, _, when in events]).T)
    file["header"]["points"]["first_frame"] = first - 1
    file.write(str(path))


def as_integers(content, unit, *, unsigned=False):
    """The bytes of such a file with its data as 16-bit integers, as many systems write it and ezc3d doesn't: points in
    steps of `unit`, channels in 1/30,000 of their largest values.
    """
    points, per_frame, first, last = struct.unpack_from("<4H", content, 2)
    (begin,) = struct.unpack_from("<H", content, 16)
    table = np.frombuffer(content, "<f4", offset=(begin - 1) * 512)
    table = table[: (last - first + 1) * (4 * points + per_frame)].reshape(last - first + 1, -1).astype(float)
    positions = table[:, : 4 * points].reshape(-1, points, 4)
    positions[..., :3] /= unit
    positions[..., 3] = np.where(
        positions[..., 3] < 0, -1, 0x1F03
    )  # five cameras, and three steps of residual
    head = bytearray(content[: (begin - 1) * 512])
    struct.pack_into("<f", head, 12, unit)
    struct.pack_into("<f", head, place_in(head, "POINT", "SCALE"), unit)
    count = head[place_in(head, "ANALOG", "SCALE") - 1]
    analogs = table[:, 4 * points :].reshape(-1, count)
    scales = np.abs(analogs).max(axis=0) / 30_000
    zero = 32768 if unsigned else -7
    struct.pack_into(f"<{count}f", head, place_in(head, "ANALOG", "SCALE"), *scales)
    struct.pack_into(f"<{count}H", head, place_in(head, "ANALOG", "OFFSET"), *[zero % 65536] * count)
    samples = (analogs / scales + zero).reshape(len(table), -1)
    written = np.hstack([positions.reshape(len(table), -1), samples]).round().astype(np.int64) % 65536
    return bytes(head) + written.astype("<u2").tobytes()


def place_in(head, group, name):
    """Where the numbers of a parameter of one dimension, or of a single one, begin."""
    (number,) = re.search(rb"[%b%b](.)%b" % (*_lengths(group), group.encode()), head, re.DOTALL).groups()
    own = bytes([256 - number[0]])
    found = re.search(rb"[%b%b]%b%b..." % (*_lengths(name), re.escape(own), name.encode()), head, re.DOTALL)
    return found.end() + 1 + head[found.end()]


def _lengths(name):
    """How a name's length may be written: negative, where it is locked."""
    return re.escape(bytes([len(name)])), re.escape(bytes([256 - len(name)]))

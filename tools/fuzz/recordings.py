"""Recordings of motions: good files of every format that is read, and what is done with what is taken."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import ezc3d
import numpy as np

import trundle
from tools.fuzz.mutations import mutate_bytes, mutate_text

_CSV = "time [ms],link_1 [deg],ankle.x [mm],ankle.y [mm],ankle.z [mm]\n0,0,1,2,3\n10,5,,,\n20,10,1,2,4\n30,12,1,2,5\n"
_STO = (
    "walk\nversion=1\nnRows=3\nnColumns=3\ninDegrees=yes\nendheader\n"
    "time\tlink_1\tpelvis_tx\n0\t10\t0.9\n0.01\t11\t0.91\n0.02\t12.5\t0.92\n"
)
_TRC = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t2\t1\tmm\n"
    "Frame#\tTime\tankle\t\t\n\t\tX1\tY1\tZ1\n\n1\t0.00\t100\t200\t300\n2\t0.01\t110\t210\t310\n"
)
Recorded = tuple[str, str | bytes]  # the file's suffix and what it holds


def bases() -> tuple[Recorded, ...]:
    """A file of each format; plates of types 1 to 4 in C3D."""
    return (
        (".csv", _CSV),
        (".sto", _STO),
        (".mot", _STO),
        (".trc", _TRC),
        *((".c3d", _c3d(k)) for k in (1, 2, 3, 4)),
    )


def _c3d(kind: int) -> bytes:
    file, channels = ezc3d.c3d(), 8 if kind == 3 else 6
    groups = file["parameters"]
    groups["POINT"]["LABELS"]["value"], groups["POINT"]["UNITS"]["value"] = ("ankle",), ("mm",)
    groups["POINT"]["RATE"]["value"], groups["ANALOG"]["RATE"]["value"] = [100.0], [200.0]
    file["data"]["points"] = np.full((4, 1, 4), 1000.0)
    groups["ANALOG"]["LABELS"]["value"] = tuple(f"c{k}" for k in range(channels))
    file["data"]["analogs"] = np.arange(1.0, 1 + 8 * channels).reshape(1, channels, 8)
    corners = np.array([[300, 200, 0], [-300, 200, 0], [-300, -200, 0], [300, -200, 0.0]])[::-1].T
    plate = {
        "USED": [1], "TYPE": [kind], "CORNERS": corners[:, :, None], "ORIGIN": np.array([[120.0], [80], [-40]]),
        "CHANNEL": np.arange(1, channels + 1)[:, None], "CAL_MATRIX": 2 * np.eye(6)[:, :, None],
    }  # fmt: skip
    for name, value in plate.items():
        groups["FORCE_PLATFORM"][name]["value"] = value
    file.add_parameter("EVENT", "USED", [1])
    file.add_parameter("EVENT", "LABELS", ["Foot Strike"])
    file.add_parameter("EVENT", "TIMES", np.array([[0.0], [0.01]]))
    with tempfile.TemporaryDirectory() as folder:
        file.write(f"{folder}/a.c3d")
        return Path(folder, "a.c3d").read_bytes()


def mutate(content: object, rng: Random) -> object:
    """The same file, a little damaged; rarely as if it were of another format."""
    assert isinstance(content, tuple)
    suffix, inside = content
    if rng.random() < 0.03:
        suffix = rng.choice((".csv", ".sto", ".trc", ".c3d"))
    return suffix, mutate_bytes(inside, rng) if isinstance(inside, bytes) else mutate_text(inside, rng)


def attempt(content: object, rng: Random) -> None:
    """Read it; what is taken has finite times and plates, and its channels are asked for as angles."""
    assert isinstance(content, tuple)
    suffix, inside = content
    path = Path(f"walk{suffix}")
    path.write_bytes(inside if isinstance(inside, bytes) else inside.encode())
    recording = trundle.read_recording(path)
    assert np.isfinite(recording.time).all(), "a recording's time is no number"
    for plate in recording.plates:
        wrench = plate.wrench("foot")
        assert np.isfinite(wrench.force).all(), "a plate's NaN unsaid"
        assert np.isfinite(wrench.moment).all(), "a plate's NaN unsaid"
    for name in recording.channels:
        recording.channel(name, rng.choice(("rad", "m")))
    if rng.random() < 0.3:
        trundle.write_recording(recording, rng.choice(("a.csv", "a.sto", "a.trc")))

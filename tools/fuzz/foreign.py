"""Files of other tools: teams' settings, OpenSim's set-ups, logs of messages; and what is done with what is taken."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random

import trundle
from tools.fuzz.expect import require_numbers
from tools.fuzz.mutations import mutate_bytes, mutate_text, mutate_tree
from trundle.documents.osim.osim_setups import osim_weights, read_external_loads, read_setup

Foreign = tuple[str, object]  # the file's name and what it holds

_SETTINGS = {
    "holonomicMode": True, "robotMass": 60.7, "robotMOI": 5.3, "robotTrackwidth": 0.6, "robotLength": 0.9,
    "robotWidth": 0.8, "driveWheelRadius": 0.05, "driveGearing": 6.1, "maxDriveSpeed": 4.4, "wheelCOF": 1.1,
    "driveMotorType": "krakenX60", "driveCurrentLimit": 70.0,
    **{f"{at}Module{k}": s * 0.3 for at, *signs in (("fl", 1, 1), ("fr", 1, -1), ("bl", -1, 1), ("br", -1, -1))
       for k, s in zip("XY", signs, strict=True)},
}  # fmt: skip
_CONFIG = {
    "mass": 55.5,
    "inertia": 4.8,
    "gearing": 6.5,
    "radius": 0.05,
    "vmax": 500.0,
    "tmax": 1.3,
    "cof": 1.2,
}
_PROJECT = {
    "name": "one", "version": 2, "type": "Differential", "variables": {"expressions": {}, "poses": {}},
    "config": {name: {"exp": str(value), "val": value} for name, value in
               {**_CONFIG, "differentialTrackWidth": 0.56}.items()},
    "generationFeatures": [],
}  # fmt: skip
_SETUP = """<?xml version="1.0"?><OpenSimDocument Version="40500"><InverseDynamicsTool name="walk">
<model_file>setup.xml</model_file><time_range>0.1 0.9</time_range><coordinates_file>loads.xml</coordinates_file>
<external_loads_file>Unassigned</external_loads_file><forces_to_exclude>Muscles</forces_to_exclude>
<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates></InverseDynamicsTool>
</OpenSimDocument>"""
_LOADS = """<?xml version="1.0"?><OpenSimDocument Version="40500"><ExternalLoads name="walk"><objects>
<ExternalForce name="right"><applied_to_body>calcn_r</applied_to_body><appliesForce>true</appliesForce>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>ground_force_v</force_identifier><point_identifier>ground_force_p</point_identifier>
<torque_identifier>ground_torque_</torque_identifier></ExternalForce></objects><datafile>setup.xml</datafile>
</ExternalLoads></OpenSimDocument>"""
_TASKS = """<?xml version="1.0"?><OpenSimDocument Version="40500"><IKTaskSet><objects><IKMarkerTask name="RASI">
<apply>true</apply><weight>20</weight></IKMarkerTask><IKCoordinateTask name="knee"/></objects></IKTaskSet>
</OpenSimDocument>"""
_ROBOT = trundle.catalog.differential_drive().with_sensors({"encoders": {"noise": 0.02}})
_COLUMNS = {f"{side}.angle": f"/{side}" for side in ("left", "right")}


def bases() -> tuple[Foreign, ...]:
    """A file of each."""
    return (
        ("settings.json", _SETTINGS), ("one.chor", _PROJECT), ("setup.xml", _SETUP), ("loads.xml", _LOADS),
        ("tasks.xml", _TASKS), ("drive.wpilog", _wpilog()),
    )  # fmt: skip


def _wpilog() -> bytes:
    """Both wheels' angles, ten times."""
    content = b"WPILOG\x00\x01\x00\x00\x00\x00"
    for number, side in enumerate(_COLUMNS.values(), 1):
        texts = b"".join(struct.pack("<I", len(text)) + text.encode() for text in (side, "double", ""))
        content += _record(0, 0, b"\x00" + struct.pack("<I", number) + texts)
    for k in range(20):
        content += _record(1 + k % 2, 10_000 * (1 + k // 2), struct.pack("<d", 0.1 * k))
    return content


def _record(entry: int, time: int, payload: bytes) -> bytes:
    return b"\x7f" + struct.pack("<IIQ", entry, len(payload), time) + payload


def mutate(content: object, rng: Random) -> object:
    """The same file, a little damaged."""
    assert isinstance(content, tuple)
    name, inside = content
    if isinstance(inside, bytes):
        return name, mutate_bytes(inside, rng)
    if isinstance(inside, str) or rng.random() < 0.2:
        return name, mutate_text(inside if isinstance(inside, str) else json.dumps(inside, indent=1), rng)
    return name, mutate_tree(inside, rng, (_SETTINGS, _PROJECT))


def attempt(content: object, rng: Random) -> None:
    """Read it; few robots are run."""
    assert isinstance(content, tuple)
    name, inside = content
    for other, good in (("setup.xml", _SETUP), ("loads.xml", _LOADS)):
        Path(other).write_text(good, encoding="utf-8")
    file = Path(name)
    if isinstance(inside, bytes):
        file.write_bytes(inside)
        require_numbers(trundle.estimate(_ROBOT, file, columns=_COLUMNS))
        return
    text = inside if isinstance(inside, str) else json.dumps(inside, indent=1, default=str)
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    readers = {"setup.xml": read_setup, "loads.xml": read_external_loads, "tasks.xml": osim_weights}
    if file.suffix == ".xml":
        readers[name](file)
        return
    robot = trundle.load(file)
    if rng.random() < 0.05:
        require_numbers(trundle.simulate(robot, 0.05, samples=5, progress=False))

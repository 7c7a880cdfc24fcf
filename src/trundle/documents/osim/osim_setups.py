"""OpenSim's set-up files: what its inverse dynamics is given, and which columns of a table push which body.

Paths are from the file that names them. Source: OpenSim 4.6, InverseDynamicsTool, DynamicsTool, ExternalLoads,
ExternalForce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from os.path import isfile
from pathlib import Path

from trundle.documents.document import near_files
from trundle.documents.osim.osim_elements import GROUND, OsimNode
from trundle.documents.urdf.to_robot import clean
from trundle.documents.urdf.xml_tree import XmlElement, read_xml
from trundle.errors import suggest, warn
from trundle.files import decoded, path_of, read_bytes

# A set-up has some 3 kB.
_MOST_BYTES = 1_000_000
# What stands where nothing is named.
_NOTHING = ("", "Unassigned")


@dataclass(frozen=True)
class InverseSetup:
    """What a set-up of inverse dynamics names: files, the times that count (s), and a cut-off (Hz), None where none."""

    model: Path
    motion: Path
    external: Path | None
    start: float | None
    end: float | None
    cutoff: float | None


@dataclass(frozen=True)
class ExternalForce:
    """A force on a body: what begins the names of its columns, torques "" where there are none."""

    name: str
    body: str
    force: str
    point: str
    torque: str
    node: OsimNode

    def columns(self, begin: str, names: Sequence[str]) -> list[str]:
        """The three columns x, y, z of a table whose names begin so."""
        found = [name for name in names if name.startswith(begin)]
        if len(found) != 3:
            message = (
                f"three columns begin with an identifier, and with {begin!r} {', '.join(found) or 'none'}"
            )
            raise self.node.fail(message, suggest(begin, names))
        return found


def read_setup(path: Path) -> InverseSetup:
    """The set-up in a file; raises InputError, also for files that it names and that aren't there."""
    tool = _element(path, "InverseDynamicsTool")
    (cutoff,) = tool.numbers("lowpass_cutoff_frequency_for_coordinates", 1, (-1.0,))
    start, end = _time_range(tool)
    model, motion = (_named_file(tool, path, tag) for tag in ("model_file", "coordinates_file"))
    if model is None or motion is None:
        raise tool.fail(f"needs its <{'model_file' if model is None else 'coordinates_file'}>")
    external = _named_file(tool, path, "external_loads_file")
    return InverseSetup(model, motion, external, start, end, None if cutoff < 0 else cutoff)


def read_external_loads(path: Path) -> tuple[Path, list[ExternalForce]]:
    """The table of a file of external loads, and the forces in it that are switched on; raises InputError."""
    loads = _element(path, "ExternalLoads")
    table, objects = _named_file(loads, path, "datafile"), loads.child("objects")
    if table is None:
        raise loads.fail("needs its <datafile>")
    forces: dict[str, ExternalForce] = {}
    for node in [] if objects is None else objects.children():
        if node.flag("isDisabled") or not node.flag("appliesForce", "true"):
            continue
        force = _force(OsimNode(node.element, node.file, f"force {node.name!r}"))
        if force.name in forces:
            raise force.node.fail("two forces have this name")
        forces[force.name] = force
    return table, list(forces.values())


def osim_weights(path: str | Path) -> dict[str, float]:
    """The markers that OpenSim's inverse kinematics fits, and their weights w as `trundle.joint_motion` takes them.

    OpenSim makes Σ W |p(q) − y|² least and Trundle ½ Σ w² |p(q) − y|²: w = √W.

    Parameters
    ----------
    path : str or pathlib.Path
        A set-up of inverse kinematics, or its tasks alone.

    Returns
    -------
    dict of str to float
        Of the marker tasks that apply; markers without one are not to be fitted.

    Raises
    ------
    InputError
        Where a file can't be read, has no tasks, or a weight is none.

    Warns
    -----
    UserWarning
        Tasks of coordinates are left out.
    """
    return {node.name: _weight(node) for node in _marker_tasks(path_of(path, "osim_weights"))}


def _marker_tasks(path: Path, named: bool = False) -> list[OsimNode]:
    """The marker tasks that apply, also those in another file that the set-up names; a `named` one names no other."""
    document = _document(path)
    found = next((part for part in document.element.iter("IKTaskSet") if isinstance(part, XmlElement)), None)
    if found is None:
        raise document.fail("there is no <IKTaskSet>", "give a set-up of InverseKinematicsTool")
    elsewhere = found.get("file", "").strip()
    if elsewhere and not named:
        return _marker_tasks(path.parent / elsewhere.replace("\\", "/"), named=True)
    objects = OsimNode(found, document.file).child("objects")
    tasks = [] if objects is None else objects.children()
    tasks = [node for node in tasks if node.flag("apply", "true")]
    markers = [node for node in tasks if node.element.tag == "IKMarkerTask"]
    if len(markers) < len(tasks):
        warn(f"{path}: tasks that aren't markers' are left out: {len(tasks) - len(markers)}")
    return markers


def _weight(node: OsimNode) -> float:
    """√W of a marker's task."""
    (weight,) = node.numbers("weight", 1, (1.0,))
    if weight <= 0:
        raise node.fail(
            f"the weight of marker {node.name!r} is {weight:g}", "switch its task off: <apply>false</apply>"
        )
    return sqrt(weight)


def _document(path: Path) -> OsimNode:
    """The root element of a file."""
    file = str(path)
    return OsimNode(read_xml(decoded(read_bytes(path, _MOST_BYTES), file), file)[0], file)


def _element(path: Path, tag: str) -> OsimNode:
    """The element of a document that is about it alone."""
    document = _document(path)
    found = document.child(tag)
    if document.element.tag != "OpenSimDocument" or found is None:
        inside = "".join(f" <{node.element.tag}>" for node in document.children()[:3])
        raise document.fail(f"expected <OpenSimDocument> with <{tag}>, got <{document.element.tag}>{inside}")
    return found


def _named_file(node: OsimNode, path: Path, tag: str) -> Path | None:
    """A file by its element, from the folder of the file that names it; InputError where there is none."""
    said = node.text(tag)
    if said in _NOTHING:
        return None
    named = path.parent / said.replace("\\", "/")
    if not isfile(named):  # Path.is_file raises for names that are too long
        message = f"there is no file '{named}', which <{tag}> names"
        raise (node.child(tag) or node).fail(message, near_files(named))
    return named


def _time_range(tool: OsimNode) -> tuple[float | None, float | None]:
    """The times that count, None where it is open: OpenSim writes -Inf and Inf."""
    said = tool.text("time_range", "-inf inf").split()
    try:
        start, end = (float(text) for text in said)
    except ValueError:
        raise tool.fail(f"expected two times in <time_range>, got {' '.join(said)[:60]!r}") from None
    return start if isfinite(start) else None, end if isfinite(end) else None


def _force(node: OsimNode) -> ExternalForce:
    """A force with its columns; InputError for one that has no force, no point, or other axes than the ground's."""
    if node.element.tag != "ExternalForce":
        raise node.fail(f"a <{node.element.tag}> is not read", "open it in OpenSim 4 and save it again")
    for tag in ("force_expressed_in_body", "point_expressed_in_body"):
        frame = node.text(tag).rpartition("/")[2]
        if frame not in ("", GROUND):
            message = f"<{tag}> is {frame!r}, and forces and points are read in the axes of the {GROUND} only"
            raise node.fail(message, f"write its columns in the {GROUND}'s axes")
    said = {key: node.text(f"{key}_identifier") for key in ("force", "point", "torque")}
    told = {key: "" if text in _NOTHING else text for key, text in said.items()}
    for key in ("force", "point"):
        if not told[key]:
            hint = (
                "give columns of zeros where it only turns"
                if key == "force"
                else "give columns of where it acts"
            )
            raise node.fail(f"has no <{key}_identifier>", hint)
    return ExternalForce(node.name, clean(node.text("applied_to_body").rpartition("/")[2]), **told, node=node)
